/* norm - batch normalisation with what surrounds it: ReLU and the residual sum.
 *
 *     training   y = relu?((x - mean) * inv_sd * gamma + beta + residual?)
 *                with the batch's mean and biased variance, per channel over images and
 *                pixels; running averages move towards them (variance unbiased)
 *     inference  the same with the running averages
 *
 * A chunk is one channel: its planes are read for the sums and again, from cache, for the
 * result. A result that nobody stores (act.h) is a scale and a shift of each channel. Sums are taken about the channel's running mean, which every process that holds
 * some of the batch knows, so that float partial sums do not cancel, and added up in double,
 * see partials.h and shards.h. Padding lanes do not count.
 */
#ifndef SB_KERNELS_NORM_H
#define SB_KERNELS_NORM_H

#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"
#include "kernels/shards.h"

#define SB_NORM_EPSILON 1e-5f /* of every network */

struct sb_norm {
    uint32_t channels;
    float epsilon, momentum;
    float *gamma, *beta;               /* [channels] */
    float *running_mean, *running_var; /* [channels] */
    float *mean, *inv_sd;              /* [channels] of the last training batch */
    float *scale, *shift; /* [channels] of the last result that was not stored */
    const struct sb_shards *shards; /* of the batch; NULL: its rows are one */
};

enum { SB_NORM_RELU = 1 };

/* y may be x. residual may be NULL. */
sb_status sb_norm_train(const struct sb_env *env, struct sb_norm *n,
                        const struct sb_act *x, const struct sb_act *residual,
                        struct sb_act *y, int flags);
sb_status sb_norm_infer(const struct sb_env *env, const struct sb_norm *n,
                        const struct sb_act *x, const struct sb_act *residual,
                        struct sb_act *y, int flags);

/* As sb_norm_train or, without training, sb_norm_infer, but leaves the result to who reads
 * it, who needs x, n->scale and n->shift. */
sb_status sb_norm_prepare(const struct sb_env *env, struct sb_norm *n,
                          const struct sb_act *x, int training);

/* What sb_norm_infer multiplies with and then adds: [channels] each. */
void sb_norm_affine(const struct sb_norm *n, float *scale, float *shift);

struct sb_norm_backward {
    const struct sb_act *dy;
    const struct sb_act *y;  /* the result, where a ReLU ended a sum with a residual */
    int relu;                /* without y: there was no residual, but a ReLU */
    const struct sb_act *x;  /* what went in */
    struct sb_act *dx;       /* may be dy */
    struct sb_act *residual; /* receives the residual's gradient; may be NULL, or dy */
    int add;                 /* dx += instead of dx = */
    int inference;           /* after sb_norm_infer: the averages are constants */
    float *dgamma, *dbeta;   /* [channels] */
};

/* After sb_norm_train, or sb_norm_infer, on the same x. */
sb_status sb_norm_backward(const struct sb_env *env, const struct sb_norm *n,
                           const struct sb_norm_backward *b);

#endif
