/* batch - how fast a data set opens, and how fast one thread prepares augmented batches of
 * it: the loader's background thread must be far ahead of training. */
#include <stdio.h>

#include "base/mem.h"
#include "bench.h"
#include "data/batch.h"
#include "kernels/kernels.h"
#include "readers/readers.h"

struct world {
    struct sb_dataset data;
    struct sb_normalise normal;
    struct sb_act x;
    uint32_t *index; /* [batch] */
};

/* Anywhere in the set, as a shuffled epoch does. */
static void deal(struct world *w, uint32_t batch, uint32_t round)
{
    for (uint32_t i = 0; i < batch; i++)
        w->index[i] = (uint32_t)((round * batch + i) * UINT64_C(2654435761) % w->data.n);
}

static sb_status prepare(struct world *w, const struct sb_env *env,
                         const struct bench_options *o, double *open)
{
    sb_status st = SB_OK;
    *open = 1e30;
    for (int i = 0; i < o->repeat && st == SB_OK; i++) {
        sb_dataset_fini(&w->data);
        double began = bench_now();
        st = sb_dataset_open(&w->data, o->data, SB_SPLIT_TRAIN);
        double took = bench_now() - began;
        *open = took < *open ? took : *open;
    }
    w->index = sb_malloc(o->batch, sizeof *w->index);
    if (st == SB_OK && !w->index)
        st = sb_fail(SB_ENOMEM, "no memory for a batch of %u", o->batch);
    if (st == SB_OK)
        st = sb_act_init(&w->x, env->kernels->lanes, o->batch, w->data.channels,
                         w->data.height, w->data.width);
    return st;
}

/* Seconds of one batch on one thread, the best of several. */
static sb_status fill(struct world *w, const struct sb_env *env,
                      const struct bench_options *o, double *seconds)
{
    sb_status st = SB_OK;
    *seconds = 1e30;
    deal(w, o->batch, 0);
    if (sb_normalise_computed(&w->normal, env, &w->data, w->index, o->batch) != SB_OK)
        return SB_EARG;
    for (uint32_t i = 0; i < 20 * (uint32_t)o->repeat && st == SB_OK; i++) {
        struct sb_batch_source s = {.data = &w->data,
                                    .normal = &w->normal,
                                    .augment = {.pad = 4, .flip = true},
                                    .seed = 1,
                                    .step = i};
        deal(w, o->batch, i);
        double began = bench_now();
        st = sb_batch_fill(&s, 1, w->index, o->batch, &w->x, NULL);
        double took = bench_now() - began;
        *seconds = took < *seconds ? took : *seconds;
    }
    return st;
}

int bench_batch(const struct sb_env *env, const struct bench_options *o)
{
    struct world w = {0};
    double open = 0.0, seconds = 0.0;
    if (!o->data) {
        fprintf(stderr, "bench batch: want --data DIR, a data set\n");
        return 2;
    }
    sb_status st = prepare(&w, env, o, &open);
    if (st == SB_OK)
        st = fill(&w, env, o, &seconds);
    if (st != SB_OK)
        fprintf(stderr, "bench batch: %s\n", sb_message());
    else if (o->json)
        printf("{\"data\": \"%s\", \"examples\": %u, \"open_seconds\": %.4f, "
               "\"batch\": %u, \"images_per_second\": %.0f}\n",
               w.data.format, w.data.n, open, o->batch, o->batch / seconds);
    else
        printf("%s: %u examples open in %.3f s; one thread prepares %.0f a second "
               "(crop, flip, normalise), batches of %u\n",
               w.data.format, w.data.n, open, o->batch / seconds, o->batch);
    sb_act_fini(&w.x);
    sb_normalise_fini(&w.normal);
    sb_dataset_fini(&w.data);
    sb_free(w.index);
    return st == SB_OK ? 0 : 1;
}
