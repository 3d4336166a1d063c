/* kernels - the three products of single layers: time, rate on existing weights, share of
 * the machine's multiply-add peak, and the speed a dense kernel would need to keep up.
 *
 * Shapes are the 3x3 layers of a wide residual network, batch 32 unless told otherwise.
 * The layers of one run are measured round-robin, so that a slow moment of a shared machine
 * does not fall on one of them alone; the best of all rounds counts.
 *
 * forward with mean+variance gives both sums; forward+noise draws and mixes the noise, too. A
 * step is forward and both gradients; training does step+noise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "bench.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "kernels/sparse.h"
#include "kernels/speed.h"

enum { FORWARD, NOISE, INPUT, WEIGHT, STEP, NOISY_STEP, OPS };

static const char *const op_name[OPS] = {
    [FORWARD] = "forward",        [NOISE] = "forward+noise", [INPUT] = "input_gradient",
    [WEIGHT] = "weight_gradient", [STEP] = "step",           [NOISY_STEP] = "step+noise",
};

/* Ops that only a layer with variance has. */
static int noisy(int op)
{
    return op == NOISE || op == NOISY_STEP;
}

struct shape {
    uint32_t channels, size, kernel;
};

static const struct shape shapes[] = {{160, 32, 3}, {320, 16, 3}, {640, 8, 3}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

struct layer {
    struct sb_conv conv;
    struct sb_sparse sparse;
    int dense; /* all weights exist */
    struct sb_act x, y, slope, dx;
    uint32_t nnz;
    uint32_t *row_ptr, *col;
    float *mu, *s2, *mu_t, *s2_t, *dmu, *ds2; /* [nnz] */
    void *scratch;
    double best[2][OPS]; /* seconds; [form] 0 mean, 1 mean+variance */
};

static void fill(struct sb_act *a, uint32_t seed)
{
    struct sb_stream s = sb_rng_stream(seed, SB_RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < sb_act_size(a); i++)
        a->data[i] = sb_rng_uniform(&s, i) - 0.5f;
}

static sb_status random_pattern(struct layer *l, double density)
{
    uint32_t n = sb_conv_weights(&l->conv), cols = sb_conv_cols(&l->conv);
    struct sb_stream s = sb_rng_stream(1, SB_RNG_TEST, 0, 0, 1);
    l->nnz = (uint32_t)((double)n * density + 0.5);
    l->row_ptr = sb_calloc((size_t)l->conv.out + 1, sizeof *l->row_ptr);
    l->col = sb_malloc(l->nnz, sizeof *l->col);
    if (!l->row_ptr || !l->col)
        return sb_fail(SB_ENOMEM, "no memory for a pattern of %u weights", l->nnz);
    sb_status st = sb_rng_choose(&s, n, l->nnz, l->col);
    if (st != SB_OK)
        return st;
    for (uint32_t k = 0; k < l->nnz; k++) {
        l->row_ptr[l->col[k] / cols + 1]++;
        l->col[k] %= cols;
    }
    for (uint32_t r = 0; r < l->conv.out; r++)
        l->row_ptr[r + 1] += l->row_ptr[r];
    return SB_OK;
}

static sb_status layer_memory(struct layer *l, const struct sb_env *env, uint32_t batch)
{
    const struct sb_conv *c = &l->conv;
    float **arrays[] = {&l->mu, &l->s2, &l->mu_t, &l->s2_t, &l->dmu, &l->ds2};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = sb_calloc(l->nnz, sizeof(float));
        if (!*arrays[i])
            return sb_fail(SB_ENOMEM, "no memory for %u weights", l->nnz);
        for (uint32_t k = 0; k < l->nnz; k++)
            (*arrays[i])[k] = 0.01f;
    }
    size_t scratch = l->dense ? sb_dense_scratch(c) : sb_sparse_scratch(&l->sparse);
    l->scratch = sb_malloc(scratch, (size_t)env->threads);
    if (!l->scratch)
        return sb_fail(SB_ENOMEM, "no memory for scratch");
    uint32_t lanes = env->kernels->lanes;
    sb_status st = sb_act_init(&l->x, lanes, batch, c->in, c->height, c->width);
    if (st == SB_OK)
        st = sb_act_init(&l->dx, lanes, batch, c->in, c->height, c->width);
    if (st == SB_OK)
        st = sb_act_init(&l->y, lanes, batch, c->out, c->out_height, c->out_width);
    if (st == SB_OK)
        st = sb_act_init(&l->slope, lanes, batch, c->out, c->out_height, c->out_width);
    return st;
}

static sb_status layer_init(struct layer *l, const struct sb_env *env, struct shape s,
                            double density, uint32_t batch)
{
    *l = (struct layer){.dense = density >= 1.0};
    sb_status st = sb_conv_init(&l->conv, s.channels, s.channels, s.kernel, s.kernel, 1,
                                s.kernel / 2, s.size, s.size);
    if (st == SB_OK)
        st = random_pattern(l, density);
    if (st == SB_OK)
        st = sb_sparse_init(&l->sparse, &l->conv, env->kernels->lanes, batch, l->nnz);
    if (st == SB_OK)
        st = sb_sparse_set_pattern(&l->sparse, l->row_ptr, l->col);
    if (st == SB_OK)
        st = layer_memory(l, env, batch);
    if (st != SB_OK)
        return st;
    fill(&l->x, 1);
    fill(&l->y, 2);
    fill(&l->slope, 3);
    for (int op = 0; op < OPS; op++)
        l->best[0][op] = l->best[1][op] = 1e30;
    return SB_OK;
}

static void layer_fini(struct layer *l)
{
    sb_sparse_fini(&l->sparse);
    sb_act_fini(&l->x);
    sb_act_fini(&l->y);
    sb_act_fini(&l->slope);
    sb_act_fini(&l->dx);
    void *owned[] = {l->row_ptr, l->col, l->mu,  l->s2,     l->mu_t,
                     l->s2_t,    l->dmu, l->ds2, l->scratch};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        sb_free(owned[i]);
}

static sb_status run_dense(struct layer *l, const struct sb_env *env, int op,
                           const struct sb_forward *w, const struct sb_backward *b)
{
    if (op <= NOISE)
        return sb_dense_forward(env, &l->conv, w, &l->x, &l->y, &l->slope, l->scratch);
    if (op == WEIGHT)
        return sb_dense_weight_gradient(env, &l->conv, b, l->dmu, l->ds2, l->scratch);
    sb_dense_transpose(env, &l->conv, l->mu, l->mu_t);
    if (b->dv)
        sb_dense_transpose(env, &l->conv, l->s2, l->s2_t);
    return sb_dense_input_gradient(env, &l->conv, b, l->mu_t, l->s2_t, &l->dx, 0,
                                   l->scratch);
}

static sb_status run_sparse(struct layer *l, const struct sb_env *env, int op,
                            const struct sb_forward *w, const struct sb_backward *b)
{
    if (op <= NOISE)
        return sb_sparse_forward(env, &l->sparse, w, &l->x, &l->y, &l->slope, l->scratch);
    if (op == WEIGHT)
        return sb_sparse_weight_gradient(env, &l->sparse, b, l->dmu, l->ds2, l->scratch);
    sb_sparse_arrange(&l->sparse, l->mu, l->mu_t);
    if (b->dv)
        sb_sparse_arrange(&l->sparse, l->s2, l->s2_t);
    return sb_sparse_input_gradient(env, &l->sparse, b, l->mu_t, l->s2_t, &l->dx, 0,
                                    l->scratch);
}

/* What a training step does with one layer: transposing the values and forming dv belong
 * to the gradients. */
static sb_status run_op(struct layer *l, const struct sb_env *env, int op, int form)
{
    struct sb_noise noise = {.stream = sb_rng_stream(1, SB_RNG_NOISE, 0, 1, 0)};
    struct sb_forward w = {
        .mu = l->mu, .s2 = form ? l->s2 : NULL, .noise = op == NOISE ? &noise : NULL};
    struct sb_backward b = {&l->y, form ? &l->slope : NULL, &l->x};
    if (op == INPUT && form)
        sb_act_multiply(env, &l->slope, &l->y);
    return l->dense ? run_dense(l, env, op, &w, &b) : run_sparse(l, env, op, &w, &b);
}

static void keep_best(double *best, double t)
{
    *best = t < *best ? t : *best;
}

static sb_status measure(struct layer *l, const struct sb_env *env, int form)
{
    double t[OPS] = {0}, *best = l->best[form];
    for (int op = FORWARD; op < STEP; op++) {
        if (noisy(op) && !form)
            continue;
        double start = bench_now();
        sb_status st = run_op(l, env, op, form);
        t[op] = bench_now() - start;
        if (st != SB_OK)
            return st;
        keep_best(&best[op], t[op]);
    }
    keep_best(&best[STEP], t[FORWARD] + t[INPUT] + t[WEIGHT]);
    keep_best(&best[NOISY_STEP], t[NOISE] + t[INPUT] + t[WEIGHT]);
    return SB_OK;
}

static void print_row(const struct layer *l, const struct sb_env *env, double density,
                      double peak, int form, int op, int json)
{
    double macs = (double)l->nnz * l->x.batch * l->conv.out_height * l->conv.out_width;
    double flops = 2.0 * macs * (form ? 2 : 1) * (op >= STEP ? 3 : 1);
    double s = l->best[form][op], rate = flops / s / 1e9;
    const char *form_name = form ? "mean+variance" : "mean";
    if (json)
        printf(
            "{\"op\": \"%s\", \"form\": \"%s\", \"channels\": %u, \"size\": %u, "
            "\"kernel\": "
            "%u, \"density\": %g, \"batch\": %u, \"threads\": %d, \"isa\": \"%s\", "
            "\"seconds\": %.6f, \"gflops\": %.2f, \"peak_gflops\": %.2f, \"peak_share\": "
            "%.4f}\n",
            op_name[op], form_name, l->conv.in, l->conv.height, l->conv.kh, density,
            l->x.batch, env->threads, env->kernels->name, s, rate, peak, rate / peak);
    else
        printf(
            "%4u ch %2ux%-2u  %4.0f %%  %-13s  %-15s %8.2f ms  %6.1f GFLOP/s  %5.1f %%  "
            "%7.0f dense-equivalent\n",
            l->conv.in, l->conv.height, l->conv.width, 100 * density, form_name,
            op_name[op], 1e3 * s, rate, 100 * rate / peak, rate / density);
    fflush(stdout);
}

static sb_status bench_density(const struct sb_env *env, const struct bench_options *o,
                               double density, double *peak)
{
    struct layer layers[SHAPES] = {0};
    sb_status st = SB_OK;
    for (int i = 0; i < SHAPES && st == SB_OK; i++)
        st = layer_init(&layers[i], env, shapes[i], density, o->batch);
    for (int r = 0; r < o->repeat && st == SB_OK; r++)
        for (int i = 0; i < 2 * SHAPES && st == SB_OK; i++)
            st = measure(&layers[i / 2], env, i % 2);
    double again =
        1e-9 * sb_speed_arithmetic(env); /* a slow moment must not lower the ceiling */
    *peak = again > *peak ? again : *peak;
    for (int i = 0; i < 2 * SHAPES && st == SB_OK; i++)
        for (int op = 0; op < OPS; op++)
            if (!noisy(op) || i >= SHAPES)
                print_row(&layers[i % SHAPES], env, density, *peak, i / SHAPES, op,
                          o->json);
    for (int i = 0; i < SHAPES; i++)
        layer_fini(&layers[i]);
    return st;
}

int bench_kernels(const struct sb_env *env, const struct bench_options *o)
{
    static const double densities[] = {0.05, 0.1, 0.2, 0.4};
    double peak = 1e-9 * sb_speed_arithmetic(env);
    sb_status st = SB_OK;
    if (!o->json)
        printf("multiply-add peak %.1f GFLOP/s on %d threads, kernels %s, batch %u\n",
               peak, env->threads, env->kernels->name, o->batch);
    if (o->density > 0.0)
        st = bench_density(env, o, o->density, &peak);
    for (size_t i = 0; o->density <= 0.0 && i < 4 && st == SB_OK; i++)
        st = bench_density(env, o, densities[i], &peak);
    if (st != SB_OK)
        fprintf(stderr, "bench: %s\n", sb_message());
    return st == SB_OK ? 0 : 1;
}
