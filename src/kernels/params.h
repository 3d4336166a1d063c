/* params - passes over the weights that exist: variance, KL to the prior, gradients of the
 * posterior's parameters, and the optimiser's step. Plain arrays of n floats; n may be 0.
 */
#ifndef SB_KERNELS_PARAMS_H
#define SB_KERNELS_PARAMS_H

#include <stddef.h>

#include "base/env.h"
#include "base/rng.h"

/* s2 = softplus(rho)^2 */
void sb_params_variance(const struct sb_env *env, const float *rho, float *s2, size_t n);

/* s = softplus(rho) */
void sb_params_deviation(const struct sb_env *env, const float *rho, float *s, size_t n);

/* out = mu + softplus(rho) z, z of weight k being number k mod 4 of element k div 4 of the
 * stream; n < 2^32. */
void sb_params_sample(const struct sb_env *env, const struct sb_stream *s,
                      const float *mu, const float *rho, float *out, size_t n);

/* N(mean, sd^2) for every weight. */
struct sb_prior {
    float mean, sd;
};

/* sum of log(sd / s) + (s^2 + (mu - mean)^2) / (2 sd^2) - 1/2, s = softplus(rho) */
double sb_params_kl(const struct sb_env *env, const float *mu, const float *rho,
                    struct sb_prior prior, size_t n);

/* Adds factor times the KL's gradient and passes the variance's on to rho:
 *     dmu += factor (mu - mean) / sd^2
 *     drho = (2 s ds2 + factor (s / sd^2 - 1 / s)) sigmoid(rho)
 * drho may be ds2. */
void sb_params_gradient(const struct sb_env *env, const float *mu, const float *rho,
                        const float *ds2, float factor, struct sb_prior prior, float *dmu,
                        float *drho, size_t n);

/* The same with ds, the gradient of s itself, in place of 2 s ds2. */
void sb_params_deviation_gradient(const struct sb_env *env, const float *mu,
                                  const float *rho, const float *ds, float factor,
                                  struct sb_prior prior, float *dmu, float *drho,
                                  size_t n);

struct sb_sgd {
    float rate, momentum, decay;
    int nesterov;
};

/* m = momentum m + (g + decay w); w -= rate m (Nesterov: rate (g + decay w + momentum m)) */
void sb_params_sgd(const struct sb_env *env, const struct sb_sgd *o, float *w,
                   const float *g, float *m, size_t n);

#endif
