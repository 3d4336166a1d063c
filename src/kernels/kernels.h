/* kernels - the table of inner loops, one per instruction set.
 *
 * scalar.c is the definition of correct; the others give exactly the same bits, faster. A
 * table is chosen once, when an env is made, and travels with it. Kernels cannot fail,
 * allocate nothing and know no threads: the drivers (sparse.c, norm.c, ...) cut the work and
 * hand out memory.
 *
 * A vector is a pixel of `lanes` images side by side. Buffers named as vectors count in
 * these and are aligned to one.
 */
#ifndef SB_KERNELS_KERNELS_H
#define SB_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "kernels/corr.h"
#include "kernels/partials.h"

/* What a strip is filled from: some channels of some image blocks, seen from one tile. */
struct sb_window {
    const float *data;          /* channel 0 of the tile's first image block */
    size_t plane, block;        /* floats to the next channel, to the next image block */
    const struct sb_side *side; /* plane size, step and phases */
    const struct sb_tile *tile;
    uint32_t blocks;               /* image blocks there are, up to tile->blocks */
    uint32_t row, col;             /* the tile's place in the grid */
    uint32_t channel, channel_end; /* what to pack */
    const float *scale, *shift; /* [channels] pack relu(pixel * scale + shift); or NULL */
};

/* Where finished sums go, and what happens to them on the way, in this order; a pointer
 * that is NULL leaves its part out. Pointers to activations are to the tile's first vector
 * in row 0. */
struct sb_epilogue_at {
    const float *add;           /* sums += add */
    float *sum;                 /* the sums as they are then are kept here */
    const float *scale, *shift; /* [rows] sums = sums * scale + shift */
    const float *after;         /* sums += after */
    int relu;
    float *y;                      /* what comes out */
    size_t plane, pitch;           /* floats of y from a row to the next, of a group */
    size_t side_plane, side_pitch; /* of add, sum and after */
    /* floats from the first vector of even and odd groups of y, and from the last, to where
     * it is repeated for the slice beside; 0: nowhere. At an outer side zeros are stored */
    ptrdiff_t left[2], right[2];
    int left_outer, right_outer;
};

/* The runs of one (block, part), with their places in the strip. */
struct sb_runs {
    const struct sb_run *run; /* [count] */
    size_t count;
    uint32_t row0;   /* rows are counted from here in acc and dy */
    uint32_t groups; /* of the tile: 1, 2 or 4; of single vectors any number */
    uint32_t single; /* contract: a group is one vector, and not SB_GROUP */
    uint32_t step;   /* vectors in the strip from one of a group to the next: 1 or 2 */
    size_t pitch;    /* floats in the strip from a group to the next */
    const uint16_t *off; /* [nnz] vectors */
    const float *strip;
    int dense;          /* all rows have all weights: the same places */
    int in_order;       /* weights follow each other as runs do */
    int first;          /* sums begin here; else they go on from acc */
    const float *start; /* [rows] with this, or NULL: 0 */
    const struct sb_epilogue_at *epilogue; /* they end here; NULL: they go to acc */
};

/* Output rows [row, row + rows) of a product with all weights, over a strip: row r adds
 * weight[r * weight_row + k] * strip[off[k] + ...] for k = 0, 1, ... cols - 1. */
struct sb_dense_rows {
    uint32_t row, rows;
    const float *weight; /* of row 0 */
    size_t weight_row;   /* floats from a row to the next */
    const uint32_t *off; /* [cols] floats */
    uint32_t cols;
    const float *strip;
    uint32_t groups;    /* of the tile */
    size_t pitch;       /* floats in the strip from a group to the next */
    float *acc;         /* [rows][groups][4 vectors], from `row` on */
    size_t acc_row;     /* floats from a row to the next */
    int first;          /* sums begin here; else they go on from acc */
    const float *start; /* [row + rows] with this, or NULL: 0 */
    const struct sb_epilogue_at *epilogue; /* they end here; NULL: they go to acc */
};

/* The share of some pixels of some image blocks in a gradient of all weights, of outs
 * outputs and cols columns: row r of the pixels is `width` vectors from dy_row[r] on in
 * dy, and x_row[r] floats behind each column's place in the strip. */
struct sb_dense_outer {
    const float *strip;
    const uint32_t *off;  /* [cols] floats */
    const float *dy;      /* of the first output */
    size_t dy_out;        /* floats from an output to the next */
    const size_t *x_row;  /* [rows] floats */
    const size_t *dy_row; /* [rows] floats */
    uint32_t outs, cols, rows, width;
    float *acc; /* [outs][cols][SB_PARTIALS], from the first lane's sum on */
    int first;  /* sums begin with 0; else they go on from acc */
};

/* The gradient of a linear layer's weights, of outs outputs and cols inputs: sums over
 * images of dy[out][image] * x[image][input]. */
struct sb_dense_linear {
    const float *dy; /* [outs][images] */
    size_t dy_out;   /* floats from an output to the next */
    const float *x;  /* [images][whole groups of inputs], vectors */
    size_t x_image;  /* floats from an image to the next */
    uint32_t images, outs, cols;
    float *out;     /* [outs][cols] */
    size_t out_row; /* floats from an output to the next */
};

/* What the gradient of batch norm reads of one plane of one image block. g is the gradient
 * before the ReLU: dy, or 0 where the ReLU's outcome is 0. */
struct sb_norm_plane {
    const float *dy, *x;
    const float *y; /* the outcome itself; NULL: see affine */
    /* It is that of x * affine[0] + affine[1], which costs less than reading it; NULL, too:
     * there is no ReLU. */
    const float *affine;
    float mean;
    size_t n; /* vectors */
};

enum { SB_SPIN_CHAINS = 10 }; /* latency times width of two units, and a margin */

struct sb_kernels {
    const char *name;
    uint32_t lanes; /* images of a vector: 8 or 16 */
    const struct sb_kernels
        *narrow; /* of 16 lanes: the same with 8, for few images; of 8: NULL */

    /* -- sparse products over a strip -- */
    /* strip = the window's pixels or what its scale and shift make of them, zero outside the
     * plane and for absent image blocks */
    void (*pack)(const struct sb_window *w, float *strip);
    /* acc[row][group][4 vectors] += weight[k] * strip[off[k] + group ...] over each run;
     * see sb_runs for where sums begin and end */
    void (*accumulate)(const struct sb_runs *r, const float *weight, float *acc);
    /* to[part][k] += sum over the tile of dy[row] * strip[off ...], for the k-th weight of all
     * runs, one after the other: part 0 the sum of lanes 0 to 7, part 1 of lanes 8 to 15, if
     * there are any. dy's groups of 4 vectors are dy_pitch floats apart, its rows dy_row
     * floats; its vectors are as far apart as the strip's. */
    void (*contract)(const struct sb_runs *r, const float *dy, size_t dy_row,
                     size_t dy_pitch, float *const to[2]);

    /* -- products with all weights, over a strip -- */
    void (*dense)(const struct sb_dense_rows *r);
    /* acc[out][col][lane] += dy[out] * strip[col], pixel after pixel */
    void (*outer)(const struct sb_dense_outer *o);
    /* out[i] = the partial sums s[SB_PARTIALS] of sum i in one number: first s[j] + s[j + 8],
     * then neighbours, three times */
    void (*fold)(const float *partial, size_t n, float *out);
    /* out = such sums, folded */
    void (*linear)(const struct sb_dense_linear *l);

    /* -- noise -- */
    /* out[n][4][lanes]: four standard normals for each of images image, image + 1, ... and quads
     * quad, quad + step, ...; the bits of sb_rng_normal4 at element (quad << 32 | image) */
    void (*normal)(const struct sb_stream *s, uint32_t image, uint32_t quad,
                   uint32_t step, size_t n, float *out);
    /* y = mean + sqrt(var + 1e-8) * eps, slope = eps / (2 sqrt(var + 1e-8)); y may be mean,
     * and slope var */
    void (*mix)(const float *mean, const float *var, const float *eps, float *y,
                float *slope, size_t vectors);

    /* rounds of SB_SPIN_CHAINS multiply-adds of vectors that depend on none of the same round,
     * and on nothing in memory; what comes out says nothing */
    float (*spin)(uint32_t rounds, float start);

    /* -- element-wise, n vectors -- */
    void (*square)(float *x, size_t n);                   /* x = x^2 */
    void (*multiply)(float *a, const float *b, size_t n); /* a *= b */
    void (*add)(float *a, const float *b, size_t n);      /* a += b */
    /* dx = mean, with var mean + 2 x var; add: dx += that. What is NULL is var and x. With
     * affine x is relu(x * affine[0] + affine[1]) */
    void (*input_gradient)(float *dx, const float *mean, const float *x,
                           const float *affine, const float *var, size_t n, int add);
    void (*relu)(float *y, const float *x, size_t n);           /* y may be x */
    void (*relu_gradient)(float *dy, const float *y, size_t n); /* dy = 0 where y <= 0 */

    /* -- batch norm over one plane of one image block, n vectors -- */
    /* sum[lanes] += x - pivot, sum_sq[lanes] += (x - pivot)^2 */
    void (*moments)(const float *x, size_t n, float pivot, float *sum, float *sum_sq);
    /* y = x * scale + shift (+ add, if not NULL), then ReLU if asked */
    void (*normalise)(const float *x, const float *add, float *y, size_t n, float scale,
                      float shift, int relu);
    /* sum[lanes] += g, sum_x[lanes] += g * (x - mean) */
    void (*norm_sums)(const struct sb_norm_plane *p, float *sum, float *sum_x);
    /* dx = a * g + b * (x - mean) + c; lane_mask clears padding lanes. add: dx += instead.
     * keep, if not NULL, receives g itself (the residual's gradient) */
    void (*norm_gradient)(const struct sb_norm_plane *p, const float *abc,
                          const int32_t *lane_mask, float *dx, float *keep, int add);

    /* -- pooling, one plane of one image block; affine as above, or NULL -- */
    void (*max_pool)(const float *x, const float *affine, uint32_t height, uint32_t width,
                     uint32_t size, float *y);
    void (*max_pool_gradient)(const float *x, const float *affine, const float *y,
                              const float *dy, uint32_t height, uint32_t width,
                              uint32_t size, float *dx);
    void (*mean_pool)(const float *x, size_t n, float *y); /* y = mean of n vectors */
    void (*mean_pool_gradient)(const float *dy, size_t n, float *dx); /* dx = dy / n */

    /* -- loss: logits[classes][lanes] of an image block -> probabilities in place, loss[lanes] */
    void (*softmax)(float *logits, uint32_t classes, size_t stride, const uint32_t *label,
                    float *loss);

    /* -- parameters: plain arrays of n floats, any alignment -- */
    /* out = mu + softplus(rho) z for weights first, first + 1, ... of a draw, first a
     * multiple of 4; z of weight k is number k mod 4 of element k div 4 of the stream */
    void (*sample)(const struct sb_stream *s, uint32_t first, const float *mu,
                   const float *rho, float *out, size_t n);
    /* s2 = softplus(rho)^2 */
    void (*variance)(const float *rho, float *s2, size_t n);
    /* s = softplus(rho) */
    void (*deviation)(const float *rho, float *s, size_t n);
    /* sum of the KL terms; sixteen partial sums per call, by the
     * place in the array; the caller folds calls in order */
    double (*kl)(const float *mu, const float *rho, float prior_sd, size_t n);
    /* dmu += factor * mu / prior_var; drho = (2 s ds2 + factor * (s / prior_var - 1 / s))
     * * sigmoid(rho), s = softplus(rho), ds2 the gradient of s^2 (may be drho itself) */
    void (*posterior_gradient)(const float *mu, const float *rho, const float *ds2,
                               float factor, float prior_sd, float *dmu, float *drho,
                               size_t n);
    /* The same with ds, the gradient of s itself, in place of 2 s ds2. */
    void (*deviation_gradient)(const float *mu, const float *rho, const float *ds,
                               float factor, float prior_sd, float *dmu, float *drho,
                               size_t n);
    /* m = momentum * m + (g + decay * w); w -= rate * (nesterov ? g' + momentum * m : m) */
    void (*sgd)(float *w, const float *g, float *m, float rate, float momentum,
                float decay, int nesterov, size_t n);
};

extern const struct sb_kernels sb_kernels_scalar;   /* the definition of correct */
extern const struct sb_kernels sb_kernels_scalar16; /* 16 lanes anywhere: for tests */
extern const struct sb_kernels sb_kernels_avx2;
extern const struct sb_kernels sb_kernels_avx512; /* 16 lanes */
extern const struct sb_kernels sb_kernels_neon;

/* The one with 8 lanes that has a table's instructions. */
static inline const struct sb_kernels *sb_kernels_narrow(const struct sb_kernels *k)
{
    return k->narrow ? k->narrow : k;
}

/* The table of that name if this build has it and this machine runs it; NULL or "auto" is
 * the best there is. SB_EARG names what there is to choose from. */
sb_status sb_kernels_choose(const char *name, const struct sb_kernels **out);

enum { SB_MOST_KERNELS = 4 }; /* tables of a build */

/* Tables this build has and this machine runs, worst first; returns how many. */
size_t sb_kernels_list(const struct sb_kernels *out[], size_t capacity);

#endif
