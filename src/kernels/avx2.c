/* avx2 - the kernels for AVX2 with FMA, compiled with those flags alone. */
#include "kernels/lanes_dense.h"
#include "kernels/lanes_elementwise.h"
#include "kernels/lanes_gradient.h"
#include "kernels/lanes_sparse.h"

const struct sb_kernels sb_kernels_avx2 = {
    .name = "avx2",
    .lanes = VF_LANES,
    SB_SPARSE_ROWS,
    SB_DENSE_ROWS,
    SB_ELEMENTWISE_ROWS,
};
