/* net - a network planned once: parameters, buffers, forward and backward.
 *
 * Everything a step touches is sized in sb_net_init; a step allocates nothing. Values that
 * backward needs stay (each node's output, and a Gaussian layer's slope); gradients live
 * only from the first node that writes them to the node that consumes them, and share
 * buffers accordingly. Some need none of their own:
 *
 *     norm         its input's gradient takes the place of its output's
 *     add          both inputs' gradients are its output's: the same buffer
 *     flatten      a view
 *
 * A buffer that several nodes write into is written by the first and added to by the rest;
 * which is which is settled by the plan.
 *
 * A net for inference keeps no value longer than the last node that reads it, and stores
 * none that a weight can pass on in registers (fuse.h). Parameters and the memory to run
 * them may also be two nets: one of parameters only, and any number that borrow them,
 * each on its own thread. Of members that have a prefix in common (arch.shared) one has
 * its parameters, and the others borrow those.
 */
#ifndef SB_NN_NET_H
#define SB_NN_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"
#include "kernels/norm.h"
#include "kernels/shards.h"
#include "nn/arch.h"
#include "nn/param.h"
#include "tensor/weight.h"

/* Batch norm's numbers, with gradients and momenta. */
struct sb_net_norm {
    struct sb_norm norm;
    float *memory; /* owned: 12 arrays of channels */
    float *dgamma, *dbeta, *gamma_momentum, *beta_momentum;
};

/* Factors of a scale, with gradients and momenta, and what a pass makes of them. */
struct sb_net_scale {
    float *memory;                    /* owned; the arrays below, [members][channels] */
    float *mu, *dmu, *mu_momentum;    /* the factors, or their means */
    float *rho, *drho, *rho_momentum; /* NULL: points */
    float *bias, *dbias, *bias_momentum; /* NULL: none */
    struct sb_act factor, shift;         /* of every row, 1 x 1; shift: its bias */
    struct sb_act dfactor, dshift, eps;  /* the same; eps: its noise */
};

/* What a mask multiplies with. */
struct sb_net_mask {
    float *keep;        /* [channels][height][width] owned; NULL: drawn for every row */
    struct sb_act drop; /* of every row, where it is drawn; in the net's memory */
};

/* Log-variances that all examples share; NULL where the likelihood has none. */
struct sb_net_noise {
    float *memory;                      /* owned; the arrays below */
    float *value, *gradient, *momentum; /* [targets] */
};

struct sb_net_head {
    struct sb_act logits; /* a view of its node's value */
    /* After the loss or sb_net_predict: probabilities, or means and variances
     * (likelihood.h); own memory. */
    struct sb_act prediction;
};

struct sb_net_node {
    struct sb_act y;     /* value; data borrowed from the net's memory or another node */
    struct sb_act slope; /* of a Gaussian weight that has no groups */
    struct sb_act dy;    /* gradient, in a shared buffer */
    uint32_t param;      /* index of the weight, norm, scale or mask */
    bool add_in, add_other; /* its gradient adds to that input's instead of setting it */
    bool in_wanted;         /* whether its input's gradient is needed */
    uint32_t fused_into; /* the node it is computed with: itself, or a weight before it */
    uint32_t add, end;   /* of a weight: what it computes, too, see fuse.h: a sum; a norm
                          * or ReLU. SB_NODE_NONE: nothing */
    bool stored; /* its value goes to memory; a norm's that does not is read through
                  * its input, see fuse.h */
    bool sliced; /* its value is, see act.h */
};

struct sb_net {
    struct sb_arch arch;        /* owned */
    struct sb_net_node *node;   /* [arch.nodes] */
    struct sb_weight *weight;   /* [arch.weights], in node order */
    uint32_t *weight_node;      /* [arch.weights] its node */
    struct sb_net_norm *norm;   /* [arch.norms] */
    uint32_t *norm_node;        /* [arch.norms] */
    struct sb_net_scale *scale; /* [arch.scales] */
    struct sb_net_mask *mask;   /* [arch.masks] */
    struct sb_net_noise noise;
    struct sb_param_list params; /* all of the above's numbers; see param.h */
    struct sb_act input;         /* a view of the first node's value */
    struct sb_net_head *head;    /* [arch.heads] */
    uint32_t lanes, max_batch;
    struct sb_shards shards; /* of the batch */
    /* owned: of batches that several processes share; NULL: none */
    struct sb_spread *spread;
    float *sums;       /* owned: [places of their tree - 1][sum_floats] */
    size_t sum_floats; /* of the longest array that is summed over shards */
    bool trained;      /* the last forward used batch statistics: backward follows them */
    bool sampled;      /* ... drew noise */
    struct sb_noise *drawn; /* [arch.weights] ... this, of weights that are drawn again */
    uint32_t borrowed; /* what weight[] and norm[] of the first so many nodes point to is
                        * another net's */
    int threads;       /* scratch is there for this many */
    void *scratch;     /* owned */
    /* owned: the scale and shift of one norm; NULL: of a net that trains */
    float *affine;
    float *values;    /* owned: values and slopes */
    float *gradients; /* owned */
    size_t value_floats, gradient_floats, scratch_bytes;
};

struct sb_net_options {
    struct sb_arch *made;       /* an architecture taken over (zeroed); NULL: ... */
    struct sb_arch_shape shape; /* ... the one of this shape */
    uint32_t lanes;             /* of the kernels it will run on: kernels.h */
    uint32_t max_batch;
    uint32_t shard; /* rows of a shard (shards.h); 0: a batch is one */
    /* processes that share every training batch; NULL: one. The net is then planned
     * for its share of max_batch rows */
    const struct sb_comm *comm;
    int threads;
    bool gauss;
    uint32_t group;         /* rows a convolution draws its weights for; 0: it draws its
                             * outputs, as linear layers do */
    bool inference;         /* no memory for gradients: forward only */
    bool parameters;        /* no memory for values either: others borrow from it */
    bool input_gradient;    /* keep the gradient of the images, too */
    bool single;            /* for one image at a time, see sb_net_init */
    const uint32_t *active; /* [weights] how many exist; NULL: all */
    /* [shared_count] nets of the same architecture, for inference, whose parameters are to be
     * borrowed; the first one's are, to begin with. NULL: parameters of its own. */
    const struct sb_net *shared;
    uint32_t shared_count;
    /* A net of the same architecture, whose parameters of the first arch.shared nodes are
     * borrowed; it must stay. Loading leaves them as they are. NULL: none. */
    const struct sb_net *prefix;
};

/* single, which implies inference: where the architecture allows it, the lanes hold bands
 * of rows of one image instead of images (arch.bands of them, 0: it does not). n->input
 * then has arch.bands "images" of 1 / arch.bands of the height, which are those rows, and
 * the image's logits are in lane 0. The bits are those of any other batch; there is no
 * activation noise. The caller calls sb_net_fini, also after a failure. */
sb_status sb_net_init(struct sb_net *n, const struct sb_net_options *o);
void sb_net_fini(struct sb_net *n);

/* The next forward runs with from's parameters, one of the shared_count; from is only read, and
 * must stay. */
void sb_net_share(struct sb_net *n, const struct sb_net *from);

/* Fresh parameters for a member: see sb_weight_start; norms are gamma 1, beta 0, running
 * mean 0, running variance 1; log-variances 0, shared ones as well as outputs. */
sb_status sb_net_start(struct sb_net *n, uint64_t seed, uint32_t member, float rho_init);

/* After parameters or patterns changed. */
void sb_net_refresh(const struct sb_env *env, struct sb_net *n);

/* Images in the next forward; at most max_batch. */
void sb_net_set_batch(struct sb_net *n, uint32_t batch);

/* The next batch has so many rows over all processes that share it; images here are the
 * share that sb_net_share_of says. For one process that is sb_net_set_batch. */
void sb_net_set_rows(struct sb_net *n, uint32_t rows);

/* Of a batch of so many rows, those that belong here: [*first, *first + return). */
uint32_t sb_net_share_of(const struct sb_net *n, uint32_t rows, uint32_t *first);

/* The next forward reads x, which must stay until backward is done; at most max_batch
 * images of the network's shape. */
void sb_net_set_input(struct sb_net *n, const struct sb_act *x);

/* How a forward treats noise and batch norm. */
struct sb_pass {
    bool training; /* batch statistics, and running averages move */
    bool sample;   /* draw activation noise; else the posterior mean */
    uint64_t seed; /* of the noise ... */
    uint32_t member, step;
    uint32_t image;                  /* what the noise counts the batch's images from */
    const struct sb_act *const *eps; /* ... or the noise itself, [weights]; NULL: drawn */
    const float *const
        *weight_eps; /* [weights] the same of weights that are drawn for groups,
                                     * [groups][existing]; stays until backward is done */
    const struct sb_act *const *scale_eps; /* [scales] the same of scales */
    const struct sb_act *const *drop; /* [masks] what masks multiply with; NULL: drawn */
};

/* From n->input to the heads' outputs. */
sb_status sb_net_forward(const struct sb_env *env, struct sb_net *n,
                         const struct sb_pass *p);

/* Nodes [first, end) of it. */
sb_status sb_net_forward_part(const struct sb_env *env, struct sb_net *n,
                              const struct sb_pass *p, uint32_t first, uint32_t end);

/* Mean of -log p(truth) of the last forward, summed over heads. Fills the heads' predictions and
 * the gradients that sb_net_backward starts from. */
sb_status sb_net_loss(const struct sb_env *env, struct sb_net *n,
                      const struct sb_truth *truth, double *loss);

/* The predictions alone. */
void sb_net_predict(const struct sb_env *env, struct sb_net *n);

/* Gradients of all parameters' data term (a Gaussian's drho is that of its variance, with
 * groups of its deviation, until sb_net_add_kl), after forward and loss. visit, if not NULL,
 * is called for each weight as soon as its gradients are there, last layer first, while its
 * input and its output's gradient still are: growth computes its dense gradient and moves
 * the support there. */
typedef sb_status sb_net_visit_fn(void *context, uint32_t weight, const struct sb_act *x,
                                  const struct sb_act *dy);
sb_status sb_net_backward(const struct sb_env *env, struct sb_net *n,
                          sb_net_visit_fn *visit, void *context);

/* Of everything that has a posterior; prior_sd is that of weights, whose prior mean is 0. */
double sb_net_kl(const struct sb_env *env, const struct sb_net *n, float prior_sd);
void sb_net_add_kl(const struct sb_env *env, struct sb_net *n, float factor,
                   float prior_sd);

/* How parameters move: momentum and decay are everybody's, rate is that of SB_RATE_MU. */
struct sb_step_rates {
    struct sb_sgd sgd;
    float rho, scale;
    float clip; /* gradients that step together are at most so long; 0: as they are */
};

/* One optimiser step of everything; derived values are refreshed. */
void sb_net_step(const struct sb_env *env, struct sb_net *n,
                 const struct sb_step_rates *r);

/* One weight layer's part of it, with its KL's gradient: an update of the support steps
 * layer by layer, so that what is clipped there is a layer, ... */
void sb_net_step_weight(const struct sb_env *env, struct sb_net *n, uint32_t weight,
                        const struct sb_step_rates *r, float kl_factor, float prior_sd);

/* ... and the rest afterwards. */
void sb_net_step_others(const struct sb_env *env, struct sb_net *n,
                        const struct sb_step_rates *r, float kl_factor);

/* Weights that exist, and all there could be. */
uint64_t sb_net_active(const struct sb_net *n);
uint64_t sb_net_weights(const struct sb_net *n);

/* Multiply-adds of one image's forward, on existing weights / if all existed. */
double sb_net_macs(const struct sb_net *n, bool dense);

/* Multiply-adds of one row's forward in training as they are computed: mean and variance of
 * a Gaussian weight, one product if it is drawn for groups or a point. Gradients: twice that. */
double sb_net_work(const struct sb_net *n);

/* Bytes of parameters (with momenta, gradients and kernel order) and of activations. */
size_t sb_net_bytes(const struct sb_net *n);

/* Name of the first parameter that is not finite, or NULL. */
const char *sb_net_not_finite(const struct sb_net *n);

#endif
