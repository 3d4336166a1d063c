/* sampling - see sampling.h. */
#include "predict/sampling.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS_MOST = 1000000, DIGITS_MOST = 7 };

const char *const sb_sampling_words[] = {[SB_SAMPLE_DRAW] = "draw",
                                         [SB_SAMPLE_DRAWS] = "draws",
                                         [SB_SAMPLE_MEAN] = "mean",
                                         [SB_SAMPLE_NOISE] = "activation-noise",
                                         NULL};

void sb_sampling_name(const struct sb_sampling *s, char out[32])
{
    if (s->kind == SB_SAMPLE_DRAWS)
        snprintf(out, 32, "%s:%u", sb_sampling_words[s->kind], s->draws);
    else
        snprintf(out, 32, "%s", sb_sampling_words[s->kind]);
}

/* N, or draws:N. */
static bool parse_draws(const char *text, uint32_t *out)
{
    size_t word = strlen(sb_sampling_words[SB_SAMPLE_DRAWS]);
    if (strncmp(text, sb_sampling_words[SB_SAMPLE_DRAWS], word) == 0 && text[word] == ':')
        text += word + 1;
    size_t n = strlen(text);
    if (n == 0 || n > DIGITS_MOST || strspn(text, "0123456789") != n)
        return false;
    *out = (uint32_t)strtoul(text, NULL, 10);
    return *out > 0 && *out <= DRAWS_MOST;
}

sb_status sb_sampling_parse(const char *text, struct sb_sampling *out)
{
    *out = (struct sb_sampling){SB_SAMPLE_DRAW, 1};
    if (parse_draws(text, &out->draws)) {
        out->kind = out->draws > 1 ? SB_SAMPLE_DRAWS : SB_SAMPLE_DRAW;
        return SB_OK;
    }
    for (int k = 0; sb_sampling_words[k]; k++)
        if (k != SB_SAMPLE_DRAWS && strcmp(text, sb_sampling_words[k]) == 0) {
            out->kind = (enum sb_sample_kind)k;
            return SB_OK;
        }
    if (strcmp(text, "noise") == 0) {
        out->kind = SB_SAMPLE_NOISE;
        return SB_OK;
    }
    return sb_fail(SB_EARG,
                   "samples %s: want a number of draws from 1 to %d, draw, mean or noise",
                   text, DRAWS_MOST);
}
