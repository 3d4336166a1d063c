/* trained - the numbers of a trained network, as a compact copy.
 *
 * The records of the network's list (param.h) with their values, and per weight layer the
 * positions of the weights that exist (none for a dense layer). No gradients, momenta or
 * kernel order. Everything lies in one block that is sized once, so saving the best epoch
 * of a stage allocates nothing.
 *
 * One trained network may stand for several members of an ensemble (forms/form.h); each of
 * those is the numbers of a plain network, in the same struct.
 *
 * It also keeps the seed of its sample: method.md 6 predicts with one draw of weights per
 * member, and the seed makes that draw repeat. Weight k of layer l is
 *
 *     theta = mu + softplus(rho) z,   z = normal number k mod 4 of element k div 4 of the
 *                                         stream (seed, SB_RNG_SAMPLE, branch, draw, l)
 *
 * and the network then runs as a point network. branch tells members of one network apart,
 * and is 0 in layers that they have in common.
 */
#ifndef SB_NN_TRAINED_H
#define SB_NN_TRAINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "nn/arch.h"
#include "nn/figures.h"
#include "nn/net.h"
#include "nn/param.h"

/* How good it was on the validation part, and when. */
struct sb_trained_figures {
    struct sb_figures of;
    uint64_t epoch; /* of its phase, as the trainer counts */
};

struct sb_trained {
    struct sb_param_list params; /* owned; no gradients or momenta */
    uint32_t *mu;                /* [weights] owned: the record of a layer's mu */
    int32_t **position; /* [weights] owned; of a layer: [nnz] increasing, NULL: all
                         * weights exist */
    uint32_t weights;
    bool gauss;
    uint64_t sample_seed;
    uint32_t branch,
        shared; /* of a member: its number, and nodes in common with others */
    struct sb_trained_figures figures;
    void *memory; /* owned: all arrays; NULL: they are somebody else's */
    size_t bytes; /* of memory */
};

/* Memory for a copy of net, numbers zero. The caller calls sb_trained_fini, also after a
 * failure. */
sb_status sb_trained_init(struct sb_trained *t, const struct sb_net *net);

/* The same without a network: active [a->weights] is how many weights of each layer
 * exist, NULL: all. */
sb_status sb_trained_plan(struct sb_trained *t, const struct sb_arch *a,
                          const uint32_t *active, bool gauss);

/* The same without memory for the numbers: the caller sets the arrays, which then are his.
 * Such a copy is only read; it cannot be saved to or copied. */
sb_status sb_trained_plan_shell(struct sb_trained *t, const struct sb_arch *a,
                                const uint32_t *active, bool gauss);

/* Accepts NULL, zeroed and half-built ones. */
void sb_trained_fini(struct sb_trained *t);

/* Copies net's numbers and supports; seed and figures are the caller's to set. Allocates
 * nothing. SB_EARG when t was made for another layout. */
sb_status sb_trained_save(struct sb_trained *t, const struct sb_net *net);

/* *to = a copy of t with its own memory. The caller calls sb_trained_fini(to), also after
 * a failure. */
sb_status sb_trained_copy(const struct sb_trained *t, struct sb_trained *to);

/* *to = a shell of t: its records, whose numbers stay t's. */
sb_status sb_trained_view(const struct sb_trained *t, struct sb_trained *to);

/* Copies t into a network of the same layout and refreshes it; momenta become 0. The net
 * may be a point network although t is Gaussian: it gets mu, the posterior mean. */
sb_status sb_trained_load(const struct sb_trained *t, const struct sb_env *env,
                          struct sb_net *net);

/* The same with draw number `draw` (from 0; 0 is the one kept with the member) of the
 * weights in place of mu; for a forward without noise. A point network has one draw, its
 * weights. */
sb_status sb_trained_draw(const struct sb_trained *t, const struct sb_env *env,
                          struct sb_net *net, uint32_t draw);

/* Weights of the layer that has most. */
size_t sb_trained_largest(const struct sb_trained *t);

/* The weights of one layer of that draw: out [nnz]. A point network's are its weights. */
void sb_trained_draw_layer(const struct sb_trained *t, const struct sb_env *env,
                           uint32_t layer, uint32_t draw, float *out);

/* Weights that exist, for sb_net_options.active: [t->weights]. */
void sb_trained_active(const struct sb_trained *t, uint32_t *active);

/* The record of that role of a node, or NULL. */
struct sb_param *sb_trained_find(const struct sb_trained *t, uint32_t node,
                                 enum sb_param_role role);

#endif
