/* draw - see draw.h. */
#include "kernels/draw.h"

#include <string.h>

#include "base/threads.h"

enum {
    SPAN = 64,    /* weights whose noise is drawn at once: four numbers of 16 elements */
    WIDE = 16,    /* elements of a span */
    AT_ONCE = 16, /* groups whose noise is */
    CHUNK = 1024, /* weights of a piece of work */
};

struct job {
    const struct sb_kernels *k;
    const struct sb_draw *d;
    const float *mu, *sigma, *eps; /* mu NULL: the noise itself */
    const uint32_t *order;
    float *out;
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Weights first, first + 1, ... of a group, whose noise is z. */
static void settle(const struct job *j, uint32_t group, size_t first, size_t n,
                   const float *z)
{
    float *out = j->out + group * j->d->apart + first;
    if (!j->mu) {
        memcpy(out, z, n * sizeof *out);
        return;
    }
    const float *mu = j->mu + first, *sigma = j->sigma + first;
    for (size_t k = 0; k < n; k++)
        out[k] = mu[k] + sigma[k] * z[k];
}

/* Weights [first, first + SPAN) of some groups. */
static void draw_span(const struct job *j, size_t first, uint32_t group, uint32_t groups)
{
    _Alignas(64) float z[AT_ONCE * 4 * WIDE]; /* [groups][4][lanes] */
    const struct sb_draw *d = j->d;
    uint32_t lanes = j->k->lanes, before = d->noise->image / d->rows;
    for (uint32_t b = 0; b < WIDE; b += lanes) {
        j->k->normal(&d->noise->stream, (uint32_t)(first / 4) + b, before + group, 1,
                     groups, z);
        for (uint32_t i = 0; i < 4 * groups; i++) {
            size_t at = first + i % 4 * (size_t)WIDE + b;
            if (at < d->n)
                settle(j, group + i / 4, at, smaller(lanes, d->n - at),
                       z + (size_t)i * lanes);
        }
    }
}

static void draw_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct job *j = context;
    const struct sb_draw *d = j->d;
    size_t first = chunk * CHUNK, end = smaller(first + CHUNK, d->n);
    for (uint32_t g = 0; g < d->groups && d->noise->weights; g++)
        settle(j, g, first, end - first, d->noise->weights + g * d->n + first);
    if (d->noise->weights)
        return;
    for (; first < end; first += SPAN)
        for (uint32_t g = 0; g < d->groups; g += AT_ONCE)
            draw_span(j, first, g, (uint32_t)smaller(AT_ONCE, d->groups - g));
}

static size_t chunks_of(const struct sb_draw *d)
{
    return (d->n + CHUNK - 1) / CHUNK;
}

void sb_draw_noise(const struct sb_env *env, const struct sb_draw *d, float *eps)
{
    struct job j = {.k = env->kernels, .d = d, .out = eps};
    sb_threads_run(env->threads, chunks_of(d), draw_chunk, &j);
}

void sb_draw_weights(const struct sb_env *env, const struct sb_draw *d, const float *mu,
                     const float *sigma, float *theta)
{
    struct job j = {.k = env->kernels, .d = d, .mu = mu, .sigma = sigma, .out = theta};
    sb_threads_run(env->threads, chunks_of(d), draw_chunk, &j);
}

static void order_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct job *j = context;
    const struct sb_draw *d = j->d;
    size_t first = chunk * CHUNK, end = smaller(first + CHUNK, d->n);
    for (uint32_t g = 0; g < d->groups; g++) {
        const float *eps = j->eps + g * d->apart;
        float *out = j->out + g * d->apart;
        if (j->order)
            for (size_t k = first; k < end; k++)
                out[k] = j->mu[k] + j->sigma[k] * eps[j->order[k]];
        else
            settle(j, g, first, end - first, eps + first);
    }
}

void sb_draw_ordered(const struct sb_env *env, const struct sb_draw *d, const float *mu,
                     const float *sigma, const float *eps, const uint32_t *order,
                     float *theta)
{
    struct job j = {
        .d = d, .mu = mu, .sigma = sigma, .eps = eps, .order = order, .out = theta};
    sb_threads_run(env->threads, chunks_of(d), order_chunk, &j);
}
