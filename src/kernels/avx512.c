/* avx512 - the kernels for AVX-512 (F, BW, DQ and VL), 16 images wide, compiled with those
 * flags alone. */
#define VF_LANES 16
#include "kernels/lanes_dense.h"
#include "kernels/lanes_elementwise.h"
#include "kernels/lanes_gradient.h"
#include "kernels/lanes_sparse.h"

const struct sb_kernels sb_kernels_avx512 = {
    .name = "avx512",
    .lanes = VF_LANES,
    .narrow = &sb_kernels_avx2,
    SB_SPARSE_ROWS,
    SB_DENSE_ROWS,
    SB_ELEMENTWISE_ROWS,
};
