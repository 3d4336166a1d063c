/* neon - the kernels for 64-bit ARM. */
#include "kernels/lanes_dense.h"
#include "kernels/lanes_elementwise.h"
#include "kernels/lanes_gradient.h"
#include "kernels/lanes_sparse.h"

const struct sb_kernels sb_kernels_neon = {
    .name = "neon",
    .lanes = VF_LANES,
    SB_SPARSE_ROWS,
    SB_DENSE_ROWS,
    SB_ELEMENTWISE_ROWS,
};
