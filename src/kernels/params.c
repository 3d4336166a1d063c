/* params - see params.h. Arrays are cut into CHUNKS pieces at most, whatever the number of
 * threads, and sums are folded in the order of the pieces. */
#include "kernels/params.h"

#include <stdbool.h>

#include "base/threads.h"
#include "kernels/kernels.h"

enum { CHUNKS = 64, LEAST = 4096, SHIFT = 1024 };

struct params_job {
    const struct sb_kernels *k;
    const float *mu, *rho, *g, *ds2;
    float *s2, *w, *m, *dmu, *drho;
    bool of_s; /* ds2 is the gradient of s itself */
    const struct sb_sgd *sgd;
    const struct sb_stream *stream;
    float factor;
    struct sb_prior prior;
    size_t n, piece;
    double sum[CHUNKS];
};

static size_t piece_size(size_t n)
{
    size_t piece = (n / CHUNKS + 16) / 16 * 16;
    return piece > LEAST ? piece : LEAST;
}

static size_t run(const struct sb_env *env, struct params_job *j, size_t n,
                  sb_chunk_fn *fn)
{
    j->k = env->kernels;
    j->n = n;
    j->piece = piece_size(n);
    size_t chunks = (n + j->piece - 1) / j->piece;
    sb_threads_run(env->threads, chunks, fn, j);
    return chunks;
}

static size_t length(const struct params_job *j, size_t at)
{
    return j->n - at < j->piece ? j->n - at : j->piece;
}

static void variance_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct params_job *j = context;
    size_t at = chunk * j->piece;
    j->k->variance(j->rho + at, j->s2 + at, length(j, at));
}

static void deviation_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct params_job *j = context;
    size_t at = chunk * j->piece;
    j->k->deviation(j->rho + at, j->s2 + at, length(j, at));
}

static void sample_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct params_job *j = context;
    size_t at = chunk * j->piece;
    j->k->sample(j->stream, (uint32_t)at, j->mu + at, j->rho + at, j->w + at,
                 length(j, at));
}

/* mu - prior mean, `n` of at most SHIFT; mu itself where that is 0. */
static const float *centred(const struct params_job *j, size_t at, size_t n,
                            float shifted[SHIFT])
{
    if (j->prior.mean == 0.0f)
        return j->mu + at;
    for (size_t i = 0; i < n; i++)
        shifted[i] = j->mu[at + i] - j->prior.mean;
    return shifted;
}

/* How many are taken at once: all, where nothing is shifted. */
static size_t stride_of(const struct params_job *j)
{
    return j->prior.mean == 0.0f ? j->piece : SHIFT;
}

static void kl_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct params_job *j = context;
    float shifted[SHIFT];
    size_t at = chunk * j->piece, end = at + length(j, at), stride = stride_of(j);
    double sum = 0.0;
    for (; at < end; at += stride) {
        size_t n = end - at < stride ? end - at : stride;
        sum += j->k->kl(centred(j, at, n, shifted), j->rho + at, j->prior.sd, n);
    }
    j->sum[chunk] = sum;
}

static void gradient_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct params_job *j = context;
    float shifted[SHIFT];
    size_t at = chunk * j->piece, end = at + length(j, at), stride = stride_of(j);
    for (; at < end; at += stride) {
        size_t n = end - at < stride ? end - at : stride;
        (j->of_s ? j->k->deviation_gradient : j->k->posterior_gradient)(
            centred(j, at, n, shifted), j->rho + at, j->ds2 + at, j->factor, j->prior.sd,
            j->dmu + at, j->drho + at, n);
    }
}

static void sgd_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct params_job *j = context;
    size_t at = chunk * j->piece;
    const struct sb_sgd *o = j->sgd;
    j->k->sgd(j->w + at, j->g + at, j->m + at, o->rate, o->momentum, o->decay,
              o->nesterov, length(j, at));
}

void sb_params_variance(const struct sb_env *env, const float *rho, float *s2, size_t n)
{
    struct params_job j = {.rho = rho, .s2 = s2};
    run(env, &j, n, variance_chunk);
}

void sb_params_deviation(const struct sb_env *env, const float *rho, float *s, size_t n)
{
    struct params_job j = {.rho = rho, .s2 = s};
    run(env, &j, n, deviation_chunk);
}

void sb_params_sample(const struct sb_env *env, const struct sb_stream *s,
                      const float *mu, const float *rho, float *out, size_t n)
{
    struct params_job j = {.stream = s, .mu = mu, .rho = rho, .w = out};
    run(env, &j, n, sample_chunk);
}

double sb_params_kl(const struct sb_env *env, const float *mu, const float *rho,
                    struct sb_prior prior, size_t n)
{
    struct params_job j = {.mu = mu, .rho = rho, .prior = prior};
    size_t chunks = run(env, &j, n, kl_chunk);
    double sum = 0.0;
    for (size_t i = 0; i < chunks; i++)
        sum += j.sum[i];
    return sum;
}

void sb_params_gradient(const struct sb_env *env, const float *mu, const float *rho,
                        const float *ds2, float factor, struct sb_prior prior, float *dmu,
                        float *drho, size_t n)
{
    struct params_job j = {.mu = mu,
                           .rho = rho,
                           .ds2 = ds2,
                           .factor = factor,
                           .prior = prior,
                           .dmu = dmu,
                           .drho = drho};
    run(env, &j, n, gradient_chunk);
}

void sb_params_deviation_gradient(const struct sb_env *env, const float *mu,
                                  const float *rho, const float *ds, float factor,
                                  struct sb_prior prior, float *dmu, float *drho,
                                  size_t n)
{
    struct params_job j = {.mu = mu,
                           .rho = rho,
                           .ds2 = ds,
                           .of_s = true,
                           .factor = factor,
                           .prior = prior,
                           .dmu = dmu,
                           .drho = drho};
    run(env, &j, n, gradient_chunk);
}

void sb_params_sgd(const struct sb_env *env, const struct sb_sgd *o, float *w,
                   const float *g, float *m, size_t n)
{
    struct params_job j = {.sgd = o, .w = w, .g = g, .m = m};
    run(env, &j, n, sgd_chunk);
}
