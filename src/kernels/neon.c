/* neon - the kernels for 64-bit ARM. */
#include "kernels/lanes_elementwise.h"
#include "kernels/lanes_sparse.h"

const struct sb_kernels sb_kernels_neon = {
    .name = "neon",
    .pack = pack,
    .accumulate = accumulate,
    .contract = contract,
    SB_ELEMENTWISE_ROWS,
};
