/* sampling - see sampling.h. */
#include "predict/sampling.h"

#include <stdio.h>

void sb_sampling_name(const struct sb_sampling *s, char out[32])
{
    static const char *const names[] = {
        [SB_SAMPLE_DRAW] = "draw",
        [SB_SAMPLE_DRAWS] = "draws:",
        [SB_SAMPLE_MEAN] = "mean",
        [SB_SAMPLE_NOISE] = "activation-noise",
    };
    if (s->kind == SB_SAMPLE_DRAWS)
        snprintf(out, 32, "%s%u", names[s->kind], s->draws);
    else
        snprintf(out, 32, "%s", names[s->kind]);
}
