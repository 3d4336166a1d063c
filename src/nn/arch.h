/* arch - architectures by name, as a list of nodes.
 *
 *     mlp-H1-H2...   linear layers with ReLU between them
 *     lenet          conv5 20, pool, conv5 50, pool, linear 500, linear; batch norm and
 *                    ReLU behind each convolution
 *     resnet-D       D = 6n + 2: post-activation blocks, widths 16, 32, 64
 *     wrn-D-K        D = 6n + 4: pre-activation blocks, widths 16, 16K, 32K, 64K; the
 *                    shortcut, where the width changes, is a 1x1 convolution of the
 *                    activated input
 *
 * A plain architecture has one head, its last node. Forms (forms/form.h) make others of it:
 * several heads, branches, scales, masks.
 *
 * Nodes stand in the order they are computed; a node names the nodes it reads by index.
 * Names of weights and norms are those of the file formats (group1.0.conv1, bn, fc, ...).
 */
#ifndef SB_NN_ARCH_H
#define SB_NN_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "kernels/conv.h"
#include "nn/likelihood.h"
#include "tensor/topology.h"

enum sb_node_kind {
    SB_NODE_INPUT,
    SB_NODE_WEIGHT,    /* convolution or linear layer */
    SB_NODE_NORM,      /* batch norm, then + other, then ReLU, each where asked for */
    SB_NODE_RELU,      /* in place of its input */
    SB_NODE_ADD,       /* in + other, in place of in */
    SB_NODE_MAX_POOL,  /* 2 x 2 */
    SB_NODE_MEAN_POOL, /* over the whole plane */
    SB_NODE_FLATTEN,   /* channels * height * width features: a view of its input */
    SB_NODE_SCALE, /* channel c of a row times its member's factor c, then + its bias */
    SB_NODE_MASK   /* elements times keep / (1 - rate), or times a given mask */
};

enum { SB_NODE_NAME = 48 };
#define SB_NODE_NONE UINT32_MAX

/* Factors of a scale: one row of them a member, rows of the batch in as many equal parts. */
struct sb_arch_scale {
    uint32_t members;
    char part;    /* 'r': what its weight reads, 's': what its weight gives */
    bool gauss;   /* factors have a posterior, and every row of the batch draws its own */
    float spread; /* factors start as N(1, spread^2); 0: as random signs */
    float sd;     /* of the posterior, at the start */
    uint32_t fan_in; /* of its weight: a bias starts within +-1 / sqrt(fan_in) */
    float prior_sd;  /* the prior is N(1, prior_sd^2) */
};

struct sb_arch_mask {
    float rate;    /* share of elements that become 0 */
    bool channels; /* whole channels do */
    bool given;    /* the mask is a parameter; else drawn, for every row its own */
};

struct sb_arch_node {
    enum sb_node_kind kind;
    char name[SB_NODE_NAME];
    uint32_t in, other;         /* nodes; other is SB_NODE_NONE where there is none */
    bool relu;                  /* of a norm */
    bool linear;                /* of a weight: not a convolution */
    bool bias;                  /* of a weight or scale */
    struct sb_conv conv;        /* of a weight */
    struct sb_arch_scale scale; /* of a scale */
    struct sb_arch_mask mask;   /* of a mask */
    uint32_t channels, height, width; /* of what comes out */
};

/* Where a prediction comes out: channels [first, first + classes) of a node. */
struct sb_arch_head {
    uint32_t node, first;
};

struct sb_arch {
    struct sb_arch_node *node; /* [nodes] owned; the first is the input */
    uint32_t nodes, capacity;
    uint32_t weights, norms, scales, masks; /* nodes of these kinds */
    struct sb_arch_head *head;              /* [heads] owned */
    uint32_t heads;                         /* at least 1; losses are summed over them */
    /* outputs of each head: classes or, of outcomes, what the likelihood makes of the
     * targets */
    uint32_t classes;
    enum sb_likelihood_kind likelihood; /* of every head */
    uint32_t shared; /* members of one network have the first so many nodes in common */
    uint32_t bands;  /* of one image; 0: lanes are images */
};

/* An architecture by its name, with what goes in and what comes out. */
struct sb_arch_shape {
    const char *name;
    uint32_t channels, height, width; /* of an example */
    uint32_t classes;                 /* as in struct sb_arch */
    enum sb_likelihood_kind likelihood;
};

/* SB_EARG with a sentence for a name that is none of the above, an input too small, or
 * outputs that the likelihood has no use for. The caller calls sb_arch_fini, also after a
 * failure. */
sb_status sb_arch_init(struct sb_arch *a, const struct sb_arch_shape *shape);
void sb_arch_fini(struct sb_arch *a);

/* Sets what outputs mean. SB_EARG unless there are at least two classes, or a target. */
sb_status sb_arch_set_likelihood(struct sb_arch *a, enum sb_likelihood_kind kind);

/* For those who edit an architecture: appends a node (SB_ENOMEM, or SB_EARG for too many
 * layers; its index is a->nodes - 1), and sets heads, copied, or one on the last node. */
sb_status sb_arch_push(struct sb_arch *a, const struct sb_arch_node *node);
sb_status sb_arch_set_heads(struct sb_arch *a, const struct sb_arch_head *head,
                            uint32_t heads);
sb_status sb_arch_end(struct sb_arch *a);

/* SB_EARG with a sentence where the graph breaks a rule that networks rely on: a node that
 * works in the place of its input must be the only one to read it, and what is pooled or
 * flattened must have one reader; no member works in the place of what all members share. */
sb_status sb_arch_check(const struct sb_arch *a);

/* Cuts the planes of one image into bands, a lane each (see kernels/conv.h), for forward
 * only: as many as divide every plane, up to `most`. Returns how many; 1: the architecture
 * or its input's height does not allow it, and nothing changed. */
uint32_t sb_arch_band(struct sb_arch *a, uint32_t most);

/* Multiply-adds of one row's forward if every weight existed. */
double sb_arch_macs(const struct sb_arch *a);

/* Shapes of the weights in node order, for an allocation: [a->weights]. */
void sb_arch_weight_shapes(const struct sb_arch *a, struct sb_weight_shape *out);

#endif
