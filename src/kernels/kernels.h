/* kernels - the table of inner loops, one per instruction set.
 *
 * scalar.c is the definition of correct; avx2.c and neon.c give exactly the same bits,
 * faster. A table is chosen once, when an env is made, and travels with it. Kernels cannot
 * fail, allocate nothing and know no threads: the drivers (sparse.c, norm.c, ...) cut the
 * work and hand out memory.
 *
 * Buffers named as vectors are 32-byte aligned and count in vectors of 8 floats.
 */
#ifndef SB_KERNELS_KERNELS_H
#define SB_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"
#include "kernels/corr.h"

/* What a strip is filled from: some channels of some image blocks, seen from one tile. */
struct sb_window {
    const float *data;          /* channel 0 of the tile's first image block */
    size_t plane, block;        /* floats to the next channel, to the next image block */
    const struct sb_side *side; /* plane size, step and phases */
    const struct sb_tile *tile;
    uint32_t blocks;               /* image blocks there are, up to tile->blocks */
    uint32_t row, col;             /* the tile's place in the grid */
    uint32_t channel, channel_end; /* what to pack */
};

/* Where finished sums go, and what happens to them on the way, in this order; a pointer
 * that is NULL leaves its part out. Pointers to activations are to the tile's first vector
 * in row 0. */
struct sb_landing {
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
    uint32_t groups; /* of the tile: 2 or 4 */
    uint32_t step;   /* vectors in the strip from one of a group to the next: 1 or 2 */
    size_t pitch;    /* floats in the strip from a group to the next */
    const uint16_t *off; /* [nnz] vectors */
    const float *strip;
    int dense;                        /* all rows have all weights: the same places */
    int in_order;                     /* weights follow each other as runs do */
    int first;                        /* sums begin here; else they go on from acc */
    const float *start;               /* [rows] with this, or NULL: 0 */
    const struct sb_landing *landing; /* they end here; NULL: they go to acc */
};

struct sb_kernels {
    const char *name;

    /* -- sparse products over a strip -- */
    /* strip = the window's pixels, zero outside the plane and for absent image blocks */
    void (*pack)(const struct sb_window *w, float *strip);
    /* acc[row][group][4 vectors] += weight[k] * strip[off[k] + group ...] over each run;
     * see sb_runs for where sums begin and end */
    void (*accumulate)(const struct sb_runs *r, const float *weight, float *acc);
    /* gradient[k] += sum over the tile of dy[row] * strip[off[k] ...]. dy's groups of 4
     * vectors are dy_pitch floats apart, its rows dy_row floats. */
    void (*contract)(const struct sb_runs *r, const float *dy, size_t dy_row,
                     size_t dy_pitch, float *gradient);

    /* -- noise -- */
    /* out[n][4][8]: four standard normals for each of images image .. image + 7 and quads
     * quad, quad + step, ...; the bits of sb_rng_normal4 at element (quad << 32 | image) */
    void (*normal)(const struct sb_stream *s, uint32_t image, uint32_t quad,
                   uint32_t step, size_t n, float *out);
    /* mean -> y = mean + sqrt(var + 1e-8) * eps, var -> eps / (2 sqrt(var + 1e-8)) */
    void (*mix)(float *mean, float *var, const float *eps, size_t vectors);

    /* -- element-wise, n vectors -- */
    void (*square)(float *x, size_t n);                                /* x = x^2 */
    void (*multiply)(float *a, const float *b, size_t n);              /* a *= b */
    void (*add)(float *a, const float *b, size_t n);                   /* a += b */
    void (*axpy2)(float *a, const float *x, const float *b, size_t n); /* a += 2 x b */
    void (*relu)(float *y, const float *x, size_t n);                  /* y may be x */
    void (*relu_gradient)(float *dy, const float *y, size_t n); /* dy = 0 where y <= 0 */

    /* -- batch norm over one plane of one image block, n vectors -- */
    /* sum[8] += x - pivot, sum_sq[8] += (x - pivot)^2 */
    void (*moments)(const float *x, size_t n, float pivot, float *sum, float *sum_sq);
    /* y = x * scale + shift (+ add, if not NULL), then ReLU if asked */
    void (*normalise)(const float *x, const float *add, float *y, size_t n, float scale,
                      float shift, int relu);
    /* g = dy, or 0 where y <= 0 (y may be NULL: no ReLU); sum[8] += g,
     * sum_x[8] += g * (x - mean) */
    void (*norm_sums)(const float *dy, const float *y, const float *x, size_t n,
                      float mean, float *sum, float *sum_x);
    /* dx = a * g + b * (x - mean) + c with g as above; lane_mask clears padding lanes.
     * add: dx += instead. keep, if not NULL, receives g itself (the residual's gradient) */
    void (*norm_gradient)(const float *dy, const float *y, const float *x, float *dx,
                          float *keep, size_t n, const float *abc_mean,
                          const int32_t *lane_mask, int add);

    /* -- pooling, one plane of one image block -- */
    void (*max_pool)(const float *x, uint32_t height, uint32_t width, uint32_t size,
                     float *y);
    void (*max_pool_gradient)(const float *x, const float *y, const float *dy,
                              uint32_t height, uint32_t width, uint32_t size, float *dx);
    void (*mean_pool)(const float *x, size_t n, float *y); /* y = mean of n vectors */
    void (*mean_pool_gradient)(const float *dy, size_t n, float *dx); /* dx = dy / n */

    /* -- loss: logits[classes][8] of one image block -> probabilities in place, loss[8] */
    void (*softmax)(float *logits, uint32_t classes, size_t stride, const uint32_t *label,
                    float *loss);

    /* -- parameters: plain arrays of n floats, any alignment -- */
    /* out = mu + softplus(rho) z for weights first, first + 1, ... of a draw, first a
     * multiple of 4; z of weight k is number k mod 4 of element k div 4 of the stream */
    void (*sample)(const struct sb_stream *s, uint32_t first, const float *mu,
                   const float *rho, float *out, size_t n);
    /* s2 = softplus(rho)^2 */
    void (*variance)(const float *rho, float *s2, size_t n);
    /* sum of the KL terms; 8 partial sums per call, the caller folds calls in order */
    double (*kl)(const float *mu, const float *rho, float prior_sd, size_t n);
    /* dmu += factor * mu / prior_var; drho = (2 s ds2 + factor * (s / prior_var - 1 / s))
     * * sigmoid(rho), s = softplus(rho), ds2 the gradient of s^2 (may be drho itself) */
    void (*posterior_gradient)(const float *mu, const float *rho, const float *ds2,
                               float factor, float prior_sd, float *dmu, float *drho,
                               size_t n);
    /* m = momentum * m + (g + decay * w); w -= rate * (nesterov ? g' + momentum * m : m) */
    void (*sgd)(float *w, const float *g, float *m, float rate, float momentum,
                float decay, int nesterov, size_t n);
};

extern const struct sb_kernels sb_kernels_scalar;
extern const struct sb_kernels sb_kernels_avx2;
extern const struct sb_kernels sb_kernels_neon;

/* The table of that name if this build has it and this machine runs it; NULL or "auto" is
 * the best there is. SB_EARG names what there is to choose from. */
sb_status sb_kernels_choose(const char *name, const struct sb_kernels **out);

/* Tables this build has and this machine runs, worst first; returns how many. */
size_t sb_kernels_list(const struct sb_kernels *out[], size_t capacity);

#endif
