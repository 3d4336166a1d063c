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

static void products(struct trial *t, void *input)
{
    struct layer *l = input;
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
    sb_sparse_transpose(&l->sparse, l->mu, l->mu_t);
    sb_sparse_transpose(&l->sparse, l->s2, l->s2_t);
    trial_quiet(t, "transpose");
}

static void repattern(struct trial *t, struct layer *l)
{
    shorten(t, l, l->nnz / 2);
    products(t, l);
    shorten(t, l, 0);
    products(t, l);
}

/* Each run starts from a layer of its own. */
static void repattern_fresh(struct trial *t, void *input)
{
    struct layer l;
    layer_init(&l, input, 77, dice_mild);
    t->allocations = sb_mem_count();
    repattern(t, &l);
    layer_fini(&l);
}

static void run_case(const struct layer_case *shape, uint64_t seed)
{
    struct layer l;
    layer_init(&l, shape, seed, seed % 4 == 3 ? dice_wild : dice_mild);
    trial_run(products, &l, layer_name(shape));
    layer_fini(&l);
}

int main(void)
{
    struct dice d = {2024};
    for (uint64_t i = 0; i < LAYER_CASES; i++)
        run_case(&layer_cases[i], i);
    for (uint64_t i = 0; i < 40; i++) {
        struct layer_case shape = layer_random(&d);
        run_case(&shape, 100 + i);
    }
    for (int i = 2; i < LAYER_CASES; i += 7) {
        struct layer_case shape = layer_cases[i];
        trial_run(repattern_fresh, &shape, layer_name(&shape));
    }
    return trial_close();
}
