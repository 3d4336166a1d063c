/* member - one trained member of an ensemble, as a compact copy of a network's numbers.
 *
 * Per weight layer the positions of the weights that exist (none for a dense layer), mu,
 * rho of a Gaussian posterior and the bias; per batch norm its scale, shift and running
 * averages. No gradients, momenta or kernel order. Everything lies in one block that is
 * sized once, so saving the best epoch of a phase allocates nothing.
 *
 * A member also keeps the seed of its sample: METHOD 6 predicts with one draw of the
 * weights per member, and the seed makes that draw repeat. Weight k of layer l is
 *
 *     theta = mu + softplus(rho) z,   z = normal number k mod 4 of element k div 4 of the
 *                                         stream (seed, SB_RNG_SAMPLE, draw, layer l)
 *
 * and the network then runs as a point network.
 */
#ifndef SB_MODEL_MEMBER_H
#define SB_MODEL_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "nn/arch.h"
#include "nn/net.h"

struct sb_member_weight {
    uint32_t nnz;      /* weights that exist */
    uint32_t out;      /* length of bias, 0: none */
    int32_t *position; /* [nnz] increasing; NULL: all weights exist */
    float *mu, *rho;   /* [nnz]; rho NULL: point */
    float *bias;       /* [out], NULL: none */
};

struct sb_member_norm {
    uint32_t channels;
    float *gamma, *beta, *running_mean, *running_var; /* [channels] */
};

/* How good it was on the validation part, and when. */
struct sb_member_figures {
    double accuracy, nll, ece; /* NAN: not measured */
    uint64_t epoch;            /* of its phase, as the trainer counts */
};

struct sb_member {
    struct sb_member_weight *weight; /* [weights] owned */
    struct sb_member_norm *norm;     /* [norms] owned */
    uint32_t weights, norms;
    bool gauss;
    uint64_t sample_seed;
    struct sb_member_figures figures;
    void *memory; /* owned: all arrays; NULL: they are somebody else's */
    size_t bytes; /* of memory */
};

/* Memory for a copy of net, numbers zero. The caller calls sb_member_fini, also after a
 * failure. */
sb_status sb_member_init(struct sb_member *m, const struct sb_net *net);

/* The same without a network: active [a->weights] is how many weights of each layer
 * exist, NULL: all. */
sb_status sb_member_plan(struct sb_member *m, const struct sb_arch *a,
                         const uint32_t *active, bool gauss);

/* The same without memory for the numbers: the caller sets the arrays, which then are his
 * and not the member's. Such a member is only read; it cannot be saved to or copied. */
sb_status sb_member_plan_shell(struct sb_member *m, const struct sb_arch *a,
                               const uint32_t *active, bool gauss);

/* Accepts NULL, zeroed and half-built ones. */
void sb_member_fini(struct sb_member *m);

/* Copies net's numbers and supports; seed and figures are the caller's to set. Allocates
 * nothing. SB_EARG when m was made for another layout. */
sb_status sb_member_save(struct sb_member *m, const struct sb_net *net);

/* *to = a copy of m with its own memory. The caller calls sb_member_fini(to), also after
 * a failure. */
sb_status sb_member_copy(const struct sb_member *m, struct sb_member *to);

/* Copies m into a network of the same layout and refreshes it; momenta become 0. The net
 * may be a point network although m is Gaussian: it gets mu, the posterior mean. */
sb_status sb_member_load(const struct sb_member *m, const struct sb_env *env,
                         struct sb_net *net);

/* The same with draw number `draw` (from 0; 0 is the one kept with the member) of the
 * weights in place of mu; for a forward without noise. A point member has one draw, its
 * weights. */
sb_status sb_member_draw(const struct sb_member *m, const struct sb_env *env,
                         struct sb_net *net, uint32_t draw);

/* Weights of the layer that has most. */
size_t sb_member_largest(const struct sb_member *m);

/* The weights of one layer of that draw: out [nnz]. A point member's are its weights. */
void sb_member_draw_layer(const struct sb_member *m, const struct sb_env *env,
                          uint32_t layer, uint32_t draw, float *out);

/* Whether the two fit the same networks: layers, and weights that exist in each. (Members
 * of methods that prune over all layers at once need not.) */
bool sb_member_alike(const struct sb_member *a, const struct sb_member *b);

/* Weights that exist, for sb_net_options.active: [m->weights]. */
void sb_member_active(const struct sb_member *m, uint32_t *active);

#endif
