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
 * Nodes stand in the order they are computed; a node names the nodes it reads by index.
 * Names of weights and norms are those of the file formats (group1.0.conv1, bn, fc, ...).
 */
#ifndef SB_NN_ARCH_H
#define SB_NN_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "kernels/conv.h"
#include "tensor/topology.h"

enum sb_node_kind {
    SB_NODE_INPUT,
    SB_NODE_WEIGHT,    /* convolution or linear layer */
    SB_NODE_NORM,      /* batch norm, then + other, then ReLU, each where asked for */
    SB_NODE_RELU,      /* in place of its input */
    SB_NODE_ADD,       /* in + other, in place of in */
    SB_NODE_MAX_POOL,  /* 2 x 2 */
    SB_NODE_MEAN_POOL, /* over the whole plane */
    SB_NODE_FLATTEN    /* channels * height * width features: a view of its input */
};

enum { SB_NODE_NAME = 48 };
#define SB_NODE_NONE UINT32_MAX

struct sb_arch_node {
    enum sb_node_kind kind;
    char name[SB_NODE_NAME];
    uint32_t in, other;  /* nodes; other is SB_NODE_NONE where there is none */
    bool relu;           /* of a norm */
    bool bias;           /* of a weight */
    struct sb_conv conv; /* of a weight */
    uint32_t channels, height, width; /* of what comes out */
};

struct sb_arch {
    struct sb_arch_node *node; /* [nodes] owned; the first is the input */
    uint32_t nodes, capacity;
    uint32_t weights, norms; /* nodes of these kinds */
    uint32_t classes;
    uint32_t bands; /* of one image; 0: lanes are images */
};

/* SB_EARG with a sentence for a name that is none of the above, or an input too small. The
 * caller calls sb_arch_fini, also after a failure. */
sb_status sb_arch_init(struct sb_arch *a, const char *name, uint32_t channels,
                       uint32_t height, uint32_t width, uint32_t classes);
void sb_arch_fini(struct sb_arch *a);

/* Cuts the planes of one image into bands, a lane each (see kernels/conv.h), for forward
 * only: as many as divide every plane, up to 8. Returns how many; 1: the architecture or
 * its input's height does not allow it, and nothing changed. */
uint32_t sb_arch_band(struct sb_arch *a);

/* Shapes of the weights in node order, for an allocation: [a->weights]. */
void sb_arch_shapes(const struct sb_arch *a, struct sb_weight_shape *out);

#endif
