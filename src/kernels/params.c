/* params - see params.h. Arrays are cut into CHUNKS pieces at most, whatever the number of
 * threads, and sums are folded in the order of the pieces. */
#include "kernels/params.h"

#include "base/threads.h"
#include "kernels/kernels.h"

enum { CHUNKS = 64, LEAST = 4096 };

struct params_job {
    const struct sb_kernels *k;
    const float *mu, *rho, *g, *ds2;
    float *s2, *w, *m, *dmu, *drho;
    const struct sb_sgd *sgd;
    const struct sb_stream *stream;
    float factor, prior_sd;
    size_t n, piece;
    double sum[CHUNKS];
};

static size_t piece_size(size_t n)
{
    size_t piece = (n / CHUNKS + 8) / 8 * 8;
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

static void sample_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct params_job *j = context;
    size_t at = chunk * j->piece;
    j->k->sample(j->stream, (uint32_t)at, j->mu + at, j->rho + at, j->w + at,
                 length(j, at));
}

static void kl_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct params_job *j = context;
    size_t at = chunk * j->piece;
    j->sum[chunk] = j->k->kl(j->mu + at, j->rho + at, j->prior_sd, length(j, at));
}

static void gradient_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct params_job *j = context;
    size_t at = chunk * j->piece;
    j->k->posterior_gradient(j->mu + at, j->rho + at, j->ds2 + at, j->factor, j->prior_sd,
                             j->dmu + at, j->drho + at, length(j, at));
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

void sb_params_sample(const struct sb_env *env, const struct sb_stream *s,
                      const float *mu, const float *rho, float *out, size_t n)
{
    struct params_job j = {.stream = s, .mu = mu, .rho = rho, .w = out};
    run(env, &j, n, sample_chunk);
}

double sb_params_kl(const struct sb_env *env, const float *mu, const float *rho,
                    float prior_sd, size_t n)
{
    struct params_job j = {.mu = mu, .rho = rho, .prior_sd = prior_sd};
    size_t chunks = run(env, &j, n, kl_chunk);
    double sum = 0.0;
    for (size_t i = 0; i < chunks; i++)
        sum += j.sum[i];
    return sum;
}

void sb_params_gradient(const struct sb_env *env, const float *mu, const float *rho,
                        const float *ds2, float factor, float prior_sd, float *dmu,
                        float *drho, size_t n)
{
    struct params_job j = {.mu = mu,
                           .rho = rho,
                           .ds2 = ds2,
                           .factor = factor,
                           .prior_sd = prior_sd,
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
