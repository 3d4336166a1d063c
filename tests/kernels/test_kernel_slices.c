/* test_kernel_slices - sliced activations: a product that reads or writes them has the bits
 * of one on planes, from every kernel table and number of threads.
 *
 * All memory of a slice that nobody may rely on is NaN: what lies behind channels, above
 * and below planes, and, in outputs, everything that is not written.
 */
#include "cases.h"
#include "trial.h"

/* clang-format off */
static const struct layer_case slice_cases[] = {
    /* in out kh kw  s  p   h   w batch density gaps */
    {   3,  7, 3, 3, 1, 1,  4,  8,   3, 0.5f,  0 }, /* one slice */
    {   5,  5, 3, 3, 1, 1,  2, 16,   9, 0.7f,  1 }, /* two rows: both are edges */
    {  33, 17, 3, 3, 1, 1,  7, 24,   9, 0.1f,  1 }, /* three slices, rows one by one */
    {  71, 97, 3, 3, 1, 1,  4,  8,   9, 0.05f, 0 }, /* several blocks and parts */
    {   4, 10, 3, 3, 1, 1,  8, 16,   8, 1.0f,  0 }, /* all weights */
    {  37,  8, 3, 3, 2, 1,  8, 16,   9, 0.2f,  0 }, /* strides */
    {   5,  6, 3, 3, 2, 1, 16, 32,   9, 0.5f,  1 },
    {   6, 11, 3, 3, 2, 1,  2, 16,   7, 1.0f,  0 },
    {   9,  5, 1, 1, 1, 0,  4, 16,   9, 0.4f,  0 }, /* no edges */
    {  35, 10, 1, 1, 2, 0,  8, 16,   9, 1.0f,  0 },
};
/* clang-format on */

/* ---- slices ---------------------------------------------------------------------------- */

static float *slices_init(struct sb_act *a, const struct sb_act *like)
{
    check_must(sb_act_shape_sliced(a, like->lanes, like->batch, like->channels,
                                   like->height, like->width),
               "slices");
    float *memory = sb_malloc(sb_act_size(a), sizeof *memory);
    memset(memory, 0xff, sb_act_size(a) * sizeof *memory);
    a->data = memory + sb_act_lead(a);
    return memory;
}

/* Column col of a plane, or zeros beside it; col counts from -1. */
static void plain_column(const struct sb_act *a, uint32_t b, uint32_t c, uint32_t row,
                         int64_t col, float out[SB_MAX_LANES])
{
    memset(out, 0, a->lanes * sizeof *out);
    if (col >= 0 && col < (int64_t)a->width)
        memcpy(out, sb_act_plane(a, b, c) + (row * a->width + (size_t)col) * a->lanes,
               a->lanes * sizeof *out);
}

typedef void column_fn(float *slice, const float *plain, size_t lanes, void *context);

/* Calls fn for every column of every slice of a, with the one of planes it stands for. */
static void each_column(const struct sb_act *a, const struct sb_act *planes,
                        column_fn *fn, void *context)
{
    for (uint32_t b = 0; b < a->blocks; b++)
        for (uint32_t c = 0; c < a->channels; c++)
            for (uint32_t row = 0; row < a->height; row++)
                for (uint32_t s = 0; s < a->width; s += SB_SLICE)
                    for (int64_t i = -1; i <= SB_SLICE; i++) {
                        float plain[SB_MAX_LANES];
                        float *at = sb_act_pixel(a, b, row, s) + c * a->plane;
                        plain_column(planes, b, c, row, (int64_t)s + i, plain);
                        fn(at + i * (int64_t)a->lanes, plain, a->lanes, context);
                    }
}

static void copy_column(float *slice, const float *plain, size_t lanes, void *context)
{
    (void)context;
    memcpy(slice, plain, lanes * sizeof *slice);
}

static void compare_column(float *slice, const float *plain, size_t lanes, void *context)
{
    size_t *different = context;
    *different += memcmp(slice, plain, lanes * sizeof *slice) != 0;
}

static void same_slices(const struct trial *t, const char *what, const struct sb_act *got,
                        const struct sb_act *want)
{
    size_t different = 0;
    each_column(got, want, compare_column, &different);
    check(different == 0, "%s: %s: %s: %zu columns differ from those of planes",
          t->env.kernels->name, t->name, what, different);
}

/* ---- products -------------------------------------------------------------------------- */

/* A plan of forward alone, with its weights. */
struct plan {
    struct sb_sparse sparse;
    float *mu;
    unsigned char *scratch;
};

static void plan_init(struct plan *p, const struct trial *t, struct layer *l, bool sliced)
{
    check_must(sb_sparse_init_forward(&p->sparse, &l->conv, l->x.lanes, l->x.batch,
                                      l->nnz, sliced),
               t->name);
    check_must(sb_sparse_set_pattern(&p->sparse, l->row_ptr, l->col), t->name);
    p->mu = check_floats(sb_sparse_room_for(&p->sparse));
    p->scratch = check_alloc(MOST_THREADS, sb_sparse_scratch(&p->sparse));
    sb_sparse_arrange(&p->sparse, l->mu, p->mu);
}

static void plan_fini(struct plan *p)
{
    sb_sparse_fini(&p->sparse);
    sb_free(p->mu);
    sb_free(p->scratch);
}

static void run(struct trial *t, struct plan *p, const struct sb_forward *as,
                const struct sb_act *x, struct sb_act *y)
{
    struct sb_forward w = *as;
    w.mu = p->mu;
    t->allocations = sb_mem_count();
    check_must(sb_sparse_forward(&t->env, &p->sparse, &w, x, y, NULL, p->scratch),
               t->name);
    trial_quiet(t, "forward");
}

static void compare_form(struct trial *t, struct layer *l, struct plan *plain,
                         struct plan *sliced, int form)
{
    struct sb_act x, y, *add = &l->dy, *after = &l->dv, *sum = &l->eps, *sums = &l->slope;
    struct sb_epilogue epilogue = {.add = form & 1 ? add : NULL,
                                   .sum = form & 2 ? sum : NULL,
                                   .scale = form & 4 ? l->bias : NULL,
                                   .shift = form & 4 ? l->bias : NULL,
                                   .after = form & 8 ? after : NULL,
                                   .relu = form & 16};
    struct sb_forward w = {.bias = form % 2 ? l->bias : NULL,
                           .epilogue = form ? &epilogue : NULL};
    float *xs = slices_init(&x, &l->x), *ys = slices_init(&y, &l->y);
    each_column(&x, &l->x, copy_column, NULL);
    run(t, plain, &w, &l->x, &l->y);
    bool lands = l->y.height % 4 == 0; /* tiles of planes */
    if (lands) {
        run(t, plain, &w, &l->x, &y);
        same_slices(t, "planes to slices", &y, &l->y);
        memset(ys, 0xff, sb_act_size(&y) * sizeof *ys);
    }
    epilogue.sum = form & 2 ? sums : NULL;
    run(t, sliced, &w, &x, &y);
    same_slices(t, "slices to slices", &y, &l->y);
    if (epilogue.sum)
        check_same(sums->data, sum->data, sb_act_size(sum), t->env.kernels->name,
                   "the sum of slices", t->name);
    run(t, sliced, &w, &x, sums);
    check_same(sums->data, l->y.data, sb_act_size(sums), t->env.kernels->name,
               "slices to planes", t->name);
    trial_keep_act(t, "y", &l->y);
    sb_free(xs);
    sb_free(ys);
}

static void products(struct trial *t, void *input)
{
    struct layer l;
    struct plan plain, sliced;
    layer_init(&l, t->env.kernels->lanes, input, 5, dice_mild);
    check(sb_corr_reads_slices(&l.conv), "%s should read slices", t->name);
    plan_init(&plain, t, &l, false);
    plan_init(&sliced, t, &l, true);
    if (l.conv.out_width % SB_SLICE == 0)
        for (int form = 0; form < 32; form += 3)
            compare_form(t, &l, &plain, &sliced, form);
    plan_fini(&plain);
    plan_fini(&sliced);
    layer_fini(&l);
    t->allocations = sb_mem_count();
}

/* ---- what has no slices ------------------------------------------------------------------ */

static void refuse(void)
{
    static const struct layer_case no[] = {
        {3, 3, 3, 3, 1, 1, 4, 12, 1, 1.0f, 0}, /* half a slice */
        {3, 3, 3, 3, 2, 1, 4, 8, 1, 1.0f, 0},  /* half a tile */
        {3, 3, 3, 3, 1, 1, 1, 8, 1, 1.0f, 0},  /* first and last row are one */
        {3, 3, 5, 5, 1, 2, 8, 8, 1, 1.0f, 0},  {3, 3, 3, 3, 1, 0, 8, 8, 1, 1.0f, 0},
        {3, 3, 1, 3, 1, 0, 8, 8, 1, 1.0f, 0},  {3, 3, 3, 3, 2, 1, 7, 16, 1, 1.0f, 0},
        {3, 3, 3, 3, 4, 1, 8, 32, 1, 1.0f, 0}, {2184, 1, 3, 3, 1, 1, 2, 8, 1, 1.0f, 0},
    };
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        const struct layer_case *l = &no[i];
        struct sb_conv c;
        check_must(sb_conv_init(&c, l->in, l->out, l->kh, l->kw, l->stride, l->pad,
                                l->height, l->width),
                   layer_name(l));
        check(!sb_corr_reads_slices(&c), "%s should not read slices", layer_name(l));
    }
    struct sb_act a;
    check(sb_act_shape_sliced(&a, 8, 1, 1, 1, 12) == SB_EARG, "slices of 12 columns");
}

/* Slices where planes were planned for, the other way round, and with variances. */
static void mistakes(struct trial *t, void *input)
{
    struct layer l;
    struct plan plain, sliced;
    struct sb_act x;
    layer_init(&l, t->env.kernels->lanes, input, 5, dice_mild);
    plan_init(&plain, t, &l, false);
    plan_init(&sliced, t, &l, true);
    float *xs = slices_init(&x, &l.x);
    struct sb_noise noise = {.eps = &l.eps};
    struct sb_forward mean = {.mu = sliced.mu};
    struct sb_forward both = {.mu = sliced.mu, .s2 = sliced.mu, .noise = &noise};
    check(sb_sparse_forward(&t->env, &plain.sparse, &mean, &x, &l.y, NULL,
                            plain.scratch) == SB_EARG,
          "slices into planes");
    check(sb_sparse_forward(&t->env, &sliced.sparse, &mean, &l.x, &l.y, NULL,
                            sliced.scratch) == SB_EARG,
          "planes into slices");
    check(sb_sparse_forward(&t->env, &sliced.sparse, &both, &x, &l.y, &l.slope,
                            sliced.scratch) == SB_EARG,
          "variances of slices");
    sb_free(xs);
    plan_fini(&plain);
    plan_fini(&sliced);
    layer_fini(&l);
    t->allocations = sb_mem_count();
}

int main(void)
{
    for (size_t i = 0; i < sizeof slice_cases / sizeof *slice_cases; i++) {
        struct layer_case shape = slice_cases[i];
        trial_run(products, &shape, layer_name(&shape));
    }
    struct layer_case shape = slice_cases[0];
    trial_run(mistakes, &shape, layer_name(&shape));
    refuse();
    return trial_close();
}
