/* examples - images to look at: where the ensemble is least sure, and its surest mistakes. */
#include <stdlib.h>

#include "base/mem.h"
#include "eval/parts.h"
#include "figures/uncertainty.h"

enum { MOST = 16 };

struct rank {
    double score;
    uint32_t i;
};

/* Largest score first, equals in order. */
static int order(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->i > y->i) - (x->i < y->i);
}

/* RFC 4648. */
static json_t *base64(const uint8_t *x, size_t n)
{
    static const char digit[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = sb_malloc((n + 2) / 3, 4);
    size_t at = 0;
    if (!text)
        return NULL;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)x[i] << 16;
        v |= i + 1 < n ? (uint32_t)x[i + 1] << 8 : 0;
        v |= i + 2 < n ? x[i + 2] : 0;
        text[at++] = digit[v >> 18];
        text[at++] = digit[v >> 12 & 63];
        text[at++] = i + 1 < n ? digit[v >> 6 & 63] : '=';
        text[at++] = i + 2 < n ? digit[v & 63] : '=';
    }
    json_t *j = json_stringn(text, at);
    sb_free(text);
    return j;
}

static sb_status push_example(struct sb_eval *a, json_t *list, uint32_t i, double entropy,
                              uint8_t *buffer)
{
    const struct sb_dataset *d = a->test.data;
    uint32_t index = a->test.index ? a->test.index[i] : i;
    const uint8_t *image;
    double top;
    size_t called = sb_metrics_top(&a->probs, i, &top);
    sb_status st = sb_dataset_image(d, index, buffer, &image);
    if (st == SB_OK)
        sb_eval_push(a, list,
                     json_pack("{s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:o}", "index",
                               (json_int_t)index, "label", (json_int_t)a->label[i],
                               "predicted", (json_int_t)called, "probability",
                               sb_json_real(top), "entropy", sb_json_real(entropy),
                               "channels", (json_int_t)d->channels, "height",
                               (json_int_t)d->height, "width", (json_int_t)d->width,
                               "pixels", base64(image, sb_dataset_elements(d))));
    return st;
}

struct work {
    float *entropy;    /* [n] */
    struct rank *rank; /* [n] */
    uint8_t *buffer;   /* an image */
};

/* The first MOST of `count` ranked. */
static sb_status put_list(struct sb_eval *a, json_t *to, const char *name,
                          const struct work *w, size_t count)
{
    json_t *list = json_array();
    sb_eval_put(a, to, name, list);
    qsort(w->rank, count, sizeof *w->rank, order);
    sb_status st = SB_OK;
    for (size_t k = 0; k < count && k < MOST && st == SB_OK; k++)
        st = push_example(a, list, w->rank[k].i, (double)w->entropy[w->rank[k].i],
                          w->buffer);
    return st;
}

static sb_status put_lists(struct sb_eval *a, json_t *to, const struct work *w)
{
    size_t n = a->probs.n, wrong = 0;
    struct sb_uncertainty u = {.total = w->entropy};
    sb_status st = sb_uncertainty_of(&a->probs, 0, &u);
    for (uint32_t i = 0; i < n && st == SB_OK; i++)
        w->rank[i] = (struct rank){(double)w->entropy[i], i};
    if (st == SB_OK)
        st = put_list(a, to, "uncertain", w, n);
    for (uint32_t i = 0; i < n && st == SB_OK; i++) {
        double top;
        if (sb_metrics_top(&a->probs, i, &top) != (size_t)a->label[i])
            w->rank[wrong++] = (struct rank){top, i};
    }
    return st == SB_OK ? put_list(a, to, "wrong", w, wrong) : st;
}

sb_status sb_eval_examples(struct sb_eval *a)
{
    size_t n = a->probs.n;
    if (a->test.data->element != SB_BYTES)
        return SB_OK; /* nothing to look at */
    struct work w = {.entropy = sb_malloc(n, sizeof *w.entropy),
                     .rank = sb_malloc(n, sizeof *w.rank),
                     .buffer = sb_malloc(sb_dataset_elements(a->test.data), 1)};
    sb_status st = SB_OK;
    if (!w.entropy || !w.rank || !w.buffer)
        st = sb_fail(SB_ENOMEM, "no memory to rank %zu examples", n);
    json_t *examples = json_object();
    sb_eval_put(a, a->sections, "examples", examples);
    if (st == SB_OK)
        st = put_lists(a, examples, &w);
    sb_free(w.entropy);
    sb_free(w.rank);
    sb_free(w.buffer);
    return st;
}
