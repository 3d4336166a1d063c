/* scalar16 - the source of the 16-wide kernels, built without instructions for it. Slow: it
 * is there so that every processor can test what AVX-512 runs. */
#define VF_LANES 16
#include "kernels/lanes_dense.h"
#include "kernels/lanes_elementwise.h"
#include "kernels/lanes_gradient.h"
#include "kernels/lanes_sparse.h"

const struct sb_kernels sb_kernels_scalar16 = {
    .name = "scalar16",
    .lanes = VF_LANES,
    .narrow = &sb_kernels_scalar,
    SB_SPARSE_ROWS,
    SB_DENSE_ROWS,
    SB_ELEMENTWISE_ROWS,
};
