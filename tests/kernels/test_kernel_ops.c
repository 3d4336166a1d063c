/* test_kernel_ops - the sparse products: the same bits from every kernel table and number
 * of threads, on layers of odd shapes, and no allocation.
 *
 * Scratch and results begin as NaN, so that nothing left over from an earlier call can
 * stand in for something that was not written. x has arbitrary numbers in its padding
 * lanes, dy and dv have zeros, as act.h promises.
 */
#include "cases.h"
#include "trial.h"

/* A NaN in every float. */
static void spoil(void *block, size_t bytes)
{
    memset(block, 0xff, bytes);
}

static void spoil_act(struct sb_act *a)
{
    spoil(a->data, sb_act_size(a) * sizeof(float));
}

static void *spoiled_scratch(const struct trial *t, struct layer *l)
{
    void *scratch = layer_scratch(l, t->env.threads);
    spoil(scratch, (size_t)t->env.threads * sb_sparse_scratch(&l->sparse));
    return scratch;
}

static void forward_form(struct trial *t, struct layer *l, const struct sb_forward *w)
{
    void *scratch = spoiled_scratch(t, l);
    spoil_act(&l->y);
    spoil_act(&l->slope);
    struct sb_act *slope = w->s2 ? &l->slope : NULL;
    check_must(sb_sparse_forward(&t->env, &l->sparse, w, &l->x, &l->y, slope, scratch),
               t->name);
    trial_quiet(t, "forward");
    trial_lanes(t, "y", &l->y, false);
    trial_keep_act(t, "y", &l->y);
    if (!slope)
        return;
    trial_lanes(t, "slope", slope, false);
    trial_keep_act(t, "slope", slope);
}

static void forward(struct trial *t, struct layer *l)
{
    struct sb_noise noise = {.stream = sb_rng_stream(7, SB_RNG_NOISE, 1, 2, 3),
                             .image = 16};
    struct sb_noise given = {.eps = &l->eps};
    struct sb_forward form[] = {
        {.mu = l->mu},
        {.mu = l->mu, .bias = l->bias},
        {.mu = l->mu, .s2 = l->s2, .noise = &given},
        {.mu = l->mu, .s2 = l->s2, .bias = l->bias, .noise = &noise},
    };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++)
        forward_form(t, l, &form[i]);
}

/* ---- an epilogue ---------------------------------------------------------------------------- */

/* What an epilogue takes; of a layer's outputs' shape. */
struct tail_acts {
    struct sb_act add, after, sum, y;
    float *scale, *shift;
};

static void tail_init(struct tail_acts *a, const struct layer *l)
{
    struct dice d = {23};
    struct sb_act *act[] = {&a->add, &a->after, &a->sum, &a->y};
    for (size_t i = 0; i < 4; i++) {
        check_must(sb_act_init(act[i], l->y.lanes, l->y.batch, l->y.channels, l->y.height,
                               l->y.width),
                   "an epilogue");
        layer_deal_act(act[i], &d, dice_mild, true);
    }
    a->scale = check_floats(l->conv.out);
    a->shift = check_floats(l->conv.out);
    dice_fill(&d, dice_mild, a->scale, l->conv.out);
    dice_fill(&d, dice_mild, a->shift, l->conv.out);
}

static void tail_fini(struct tail_acts *a)
{
    sb_act_fini(&a->add);
    sb_act_fini(&a->after);
    sb_act_fini(&a->sum);
    sb_act_fini(&a->y);
    sb_free(a->scale);
    sb_free(a->shift);
}

/* The same, one pass after the other. */
static void tail_slowly(const struct trial *t, const struct sb_epilogue *epilogue,
                        struct sb_act *y, struct sb_act *sum)
{
    const struct sb_kernels *k = t->env.kernels;
    size_t pixels = (size_t)y->height * y->width;
    if (epilogue->add)
        sb_act_add(&t->env, y, epilogue->add);
    memcpy(sum->data, y->data, sb_act_size(y) * sizeof(float));
    for (uint32_t b = 0; b < y->blocks && epilogue->scale; b++)
        for (uint32_t c = 0; c < y->channels; c++)
            k->normalise(sb_act_plane(y, b, c), NULL, sb_act_plane(y, b, c), pixels,
                         epilogue->scale[c], epilogue->shift[c], 0);
    if (epilogue->after)
        sb_act_add(&t->env, y, epilogue->after);
    if (epilogue->relu)
        sb_act_relu(&t->env, y);
}

static void same_act(const struct trial *t, const char *what, const struct sb_act *got,
                     const struct sb_act *want)
{
    for (uint32_t b = 0; b < want->blocks; b++)
        for (uint32_t c = 0; c < want->channels; c++)
            check_same(sb_act_plane(got, b, c), sb_act_plane(want, b, c),
                       (size_t)want->height * want->width * want->lanes,
                       t->env.kernels->name, what, t->name);
}

/* A forward with an epilogue has the bits of a forward and what follows it; with and without
 * room for gradients, and when the sum takes the place of what is added. */
static void forward_tail(struct trial *t, struct layer *l)
{
    struct sb_noise noise = {.eps = &l->eps};
    struct sb_sparse alone;
    check_must(sb_sparse_init_forward(&alone, &l->conv, l->x.lanes, l->x.batch,
                                      l->sparse.forward.capacity, false),
               t->name);
    check_must(sb_sparse_set_pattern(&alone, l->row_ptr, l->col), t->name);
    float *mu = sb_malloc(l->nnz, sizeof *mu), *s2 = sb_malloc(l->nnz, sizeof *s2);
    sb_sparse_arrange(&alone, l->mu, mu);
    sb_sparse_arrange(&alone, l->s2, s2);
    for (int form = 1; form < 32; form += 3) {
        struct tail_acts a;
        tail_init(&a, l);
        struct sb_act kept = form & 2 ? a.add : a.sum;
        struct sb_epilogue epilogue = {.add = form & 1 ? &a.add : NULL,
                                       .sum = form & 4 ? &kept : NULL,
                                       .scale = form & 8 ? a.scale : NULL,
                                       .shift = form & 8 ? a.shift : NULL,
                                       .after = form & 16 ? &a.after : NULL,
                                       .relu = form & 2};
        struct sb_forward w = {.mu = l->mu, .bias = form % 3 ? l->bias : NULL};
        if (form % 5 == 0) {
            w.s2 = l->s2;
            w.noise = &noise;
        }
        check_must(sb_sparse_forward(&t->env, &l->sparse, &w, &l->x, &l->y,
                                     w.s2 ? &l->slope : NULL, spoiled_scratch(t, l)),
                   t->name);
        struct sb_act sum;
        check_must(sb_act_init(&sum, l->y.lanes, l->y.batch, l->y.channels, l->y.height,
                               l->y.width),
                   t->name);
        tail_slowly(t, &epilogue, &l->y, &sum);
        w.epilogue = &epilogue;
        if (form % 7) {
            w.mu = mu;
            w.s2 = w.s2 ? s2 : NULL;
        }
        t->allocations = sb_mem_count();
        check_must(sb_sparse_forward(&t->env, form % 7 ? &alone : &l->sparse, &w, &l->x,
                                     &a.y, w.s2 ? &l->slope : NULL,
                                     spoiled_scratch(t, l)),
                   t->name);
        trial_quiet(t, "forward with an epilogue");
        same_act(t, "y behind an epilogue", &a.y, &l->y);
        if (epilogue.sum)
            same_act(t, "the sum of an epilogue", &kept, &sum);
        sb_act_fini(&sum);
        tail_fini(&a);
    }
    sb_sparse_fini(&alone);
    sb_free(mu);
    sb_free(s2);
    t->allocations = sb_mem_count();
}

static void input_gradient(struct trial *t, struct layer *l, const struct sb_act *dv,
                           int add)
{
    const struct sb_backward b = {.dy = &l->dy, .dv = dv, .x = dv ? &l->x : NULL};
    void *scratch = spoiled_scratch(t, l);
    spoil_act(&l->dx);
    if (add) {
        struct dice d = {11};
        layer_deal_act(&l->dx, &d, dice_mild, false);
    }
    check_must(sb_sparse_input_gradient(&t->env, &l->sparse, &b, l->mu_t,
                                        dv ? l->s2_t : NULL, &l->dx, add, scratch),
               t->name);
    trial_quiet(t, "input gradient");
    trial_lanes(t, "dx", &l->dx, true);
    trial_keep_act(t, add ? "dx, added" : "dx", &l->dx);
}

static void weight_gradient(struct trial *t, struct layer *l, const struct sb_act *dv)
{
    const struct sb_backward b = {.dy = &l->dy, .dv = dv, .x = &l->x};
    void *scratch = spoiled_scratch(t, l);
    spoil(l->dmu, l->nnz * sizeof(float));
    spoil(l->ds2, l->nnz * sizeof(float));
    check_must(sb_sparse_weight_gradient(&t->env, &l->sparse, &b, l->dmu,
                                         dv ? l->ds2 : NULL, scratch),
               t->name);
    trial_quiet(t, "weight gradient");
    trial_keep_floats(t, "dmu", l->dmu, l->nnz);
    if (dv)
        trial_keep_floats(t, "ds2", l->ds2, l->nnz);
    for (uint32_t k = 0; k < l->nnz; k++)
        if (!isfinite(l->dmu[k]) || (dv && !isfinite(l->ds2[k]))) {
            check(false, "%s: weight %u has no gradient", t->name, k);
            return;
        }
}

static void products(struct trial *t, struct layer *l)
{
    forward(t, l);
    for (int form = 0; form < 4; form++)
        input_gradient(t, l, form & 1 ? &l->dv : NULL, form & 2);
    weight_gradient(t, l, NULL);
    weight_gradient(t, l, &l->dv);
}

/* A new pattern on a planned layer: the first n weights of the old one. */
static void shorten(struct trial *t, struct layer *l, uint32_t n)
{
    for (uint32_t r = 0; r <= l->conv.out; r++)
        l->row_ptr[r] = l->row_ptr[r] < n ? l->row_ptr[r] : n;
    l->nnz = n;
    check_must(sb_sparse_set_pattern(&l->sparse, l->row_ptr, l->col), t->name);
    trial_quiet(t, "set pattern");
    sb_sparse_arrange(&l->sparse, l->mu, l->mu_t);
    sb_sparse_arrange(&l->sparse, l->s2, l->s2_t);
    trial_quiet(t, "transpose");
}

static void repattern(struct trial *t, struct layer *l)
{
    shorten(t, l, l->nnz / 2);
    products(t, l);
    forward_tail(t, l);
    shorten(t, l, 0);
    products(t, l);
    forward_tail(t, l);
}

/* Each run starts from a layer of its own. */
static void repattern_fresh(struct trial *t, void *input)
{
    struct layer l;
    layer_init(&l, t->env.kernels->lanes, input, 77, dice_mild);
    t->allocations = sb_mem_count();
    repattern(t, &l);
    layer_fini(&l);
}

struct seeded {
    const struct layer_case *shape;
    uint64_t seed;
    bool tails; /* with epilogues, too */
};

static void products_fresh(struct trial *t, void *input)
{
    const struct seeded *s = input;
    struct layer l;
    layer_init(&l, t->env.kernels->lanes, s->shape, s->seed,
               s->seed % 4 == 3 ? dice_wild : dice_mild);
    t->allocations = sb_mem_count();
    products(t, &l);
    if (s->tails)
        forward_tail(t, &l);
    layer_fini(&l);
}

static void run_case(const struct layer_case *shape, uint64_t seed, bool tails)
{
    struct seeded s = {shape, seed, tails};
    trial_run(products_fresh, &s, layer_name(shape));
}

/* Batches of 1 to 40 images on planes, narrow planes and linear layers. */
static void run_batches(void)
{
    static const struct layer_case shapes[] = {
        {5, 7, 3, 3, 1, 1, 5, 6, 0, 0.4f, 0},
        {5, 4, 3, 3, 2, 1, 4, 2, 0, 0.5f, 0},
        {9, 7, 1, 1, 1, 0, 1, 1, 0, 0.5f, 0},
    };
    for (uint32_t batch = 1; batch <= 40; batch++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            struct layer_case shape = shapes[i];
            shape.batch = batch;
            run_case(&shape, batch, false);
        }
}

int main(void)
{
    struct dice d = {2024};
    for (uint64_t i = 0; i < LAYER_CASES; i++)
        run_case(&layer_cases[i], i, true);
    for (uint64_t i = 0; i < 40; i++) {
        struct layer_case shape = layer_random(&d);
        run_case(&shape, 100 + i, true);
    }
    run_batches();
    for (int i = 2; i < LAYER_CASES; i += 7) {
        struct layer_case shape = layer_cases[i];
        trial_run(repattern_fresh, &shape, layer_name(&shape));
    }
    return trial_close();
}
