/* test_kernel_passes - everything but the products: batch norm, pooling, loss, passes over
 * activations and parameters. The same bits from every kernel table and number of threads,
 * and no allocation. Results begin as NaN; padding lanes hold arbitrary numbers where they
 * may.
 */
#include "cases.h"
#include "kernels/loss.h"
#include "kernels/norm.h"
#include "kernels/params.h"
#include "kernels/pool.h"
#include "trial.h"

struct shape {
    uint32_t batch, channels, height, width;
};

/* clang-format off */
static const struct shape shapes[] = {
    {   1,  1,  1, 1 }, {  2,  3,  1, 1 }, {  7, 97, 1, 1 }, { 130, 33, 1, 1 },
    {   9,  5,  1, 5 }, { 33,  3,  2, 2 }, {  8,  7, 3, 3 }, {   7, 33, 4, 4 },
    {   9, 33,  5, 7 }, {  1, 97,  8, 8 }, {  2,  5, 9, 6 }, {  33,  7, 13, 5 },
    { 130,  1, 32, 3 },
};
/* clang-format on */
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *shape_name(const struct shape *s)
{
    static char name[64];
    snprintf(name, sizeof name, "%u x %u x %u x %u", s->batch, s->channels, s->height,
             s->width);
    return name;
}

static void init_act(struct sb_act *a, uint32_t lanes, const struct shape *s)
{
    check_must(sb_act_init(a, lanes, s->batch, s->channels, s->height, s->width), "act");
}

static void spoil(struct sb_act *a)
{
    memset(a->data, 0xff, sb_act_size(a) * sizeof(float));
}

static void copy_act(struct sb_act *to, const struct sb_act *from)
{
    memcpy(to->data, from->data, sb_act_size(from) * sizeof(float));
}

/* ---- batch norm ---------------------------------------------------------------------- */

enum { PER_CHANNEL = 6 };

struct norm_rig {
    struct sb_norm n;
    float *start, *now;             /* [PER_CHANNEL][channels] */
    float *dgamma, *dbeta;          /* [channels] */
    struct sb_act x, residual, dy;  /* given */
    struct sb_act y, dx, dresidual; /* results */
};

static void init_norm(struct norm_rig *r, uint32_t lanes, const struct shape *s)
{
    struct dice d = {s->channels};
    size_t n = s->channels;
    struct sb_act *act[] = {&r->x, &r->residual, &r->dy, &r->y, &r->dx, &r->dresidual};
    for (size_t i = 0; i < sizeof act / sizeof *act; i++)
        init_act(act[i], lanes, s);
    layer_deal_act(&r->x, &d, dice_mild, true);
    layer_deal_act(&r->residual, &d, dice_mild, true);
    layer_deal_act(&r->dy, &d, dice_mild, false);
    r->start = check_floats(PER_CHANNEL * n);
    r->now = check_floats(PER_CHANNEL * n);
    r->dgamma = check_floats(n);
    r->dbeta = check_floats(n);
    dice_fill(&d, dice_mild, r->start, PER_CHANNEL * n);
    for (size_t i = 0; i < n; i++)
        r->start[3 * n + i] = fabsf(r->start[3 * n + i]); /* a variance */
    r->n = (struct sb_norm){.channels = s->channels,
                            .epsilon = 1e-5f,
                            .momentum = 0.1f,
                            .gamma = r->now,
                            .beta = r->now + n,
                            .running_mean = r->now + 2 * n,
                            .running_var = r->now + 3 * n,
                            .mean = r->now + 4 * n,
                            .inv_sd = r->now + 5 * n};
}

static void fini_norm(struct norm_rig *r)
{
    struct sb_act *act[] = {&r->x, &r->residual, &r->dy, &r->y, &r->dx, &r->dresidual};
    for (size_t i = 0; i < sizeof act / sizeof *act; i++)
        sb_act_fini(act[i]);
    sb_free(r->start);
    sb_free(r->now);
    sb_free(r->dgamma);
    sb_free(r->dbeta);
}

static void norm_forward(struct trial *t, struct norm_rig *r, int relu,
                         const struct sb_act *residual, bool in_place)
{
    size_t n = r->n.channels;
    memcpy(r->now, r->start, PER_CHANNEL * n * sizeof(float));
    spoil(&r->y);
    check_must(sb_norm_infer(&t->env, &r->n, &r->x, residual, &r->y, relu), t->name);
    trial_quiet(t, "norm, inference");
    trial_keep_act(t, "norm, inference", &r->y);
    trial_lanes(t, "norm, inference", &r->y, false);
    spoil(&r->y);
    if (in_place)
        copy_act(&r->y, &r->x);
    check_must(
        sb_norm_train(&t->env, &r->n, in_place ? &r->y : &r->x, residual, &r->y, relu),
        t->name);
    trial_quiet(t, "norm, training");
    trial_keep_act(t, "norm, training", &r->y);
    trial_lanes(t, "norm, training", &r->y, false);
    trial_keep_floats(t, "norm, averages", r->now, PER_CHANNEL * n);
}

enum { SPLIT, DX_IS_DY, RESIDUAL_IS_DY, ADDED, NORM_FORMS };

static void norm_backward(struct trial *t, struct norm_rig *r, int relu, int form)
{
    struct sb_norm_backward b = {.dy = &r->dy,
                                 .y = relu ? &r->y : NULL,
                                 .x = &r->x,
                                 .dx = &r->dx,
                                 .residual = &r->dresidual,
                                 .add = form == ADDED,
                                 .dgamma = r->dgamma,
                                 .dbeta = r->dbeta};
    spoil(&r->dx);
    spoil(&r->dresidual);
    if (form == DX_IS_DY) {
        copy_act(&r->dx, &r->dy);
        b.dy = &r->dx;
    } else if (form == RESIDUAL_IS_DY) {
        copy_act(&r->dresidual, &r->dy);
        b.dy = &r->dresidual;
    } else if (form == ADDED) {
        copy_act(&r->dx, &r->dy);
        b.residual = NULL;
    }
    check_must(sb_norm_backward(&t->env, &r->n, &b), t->name);
    trial_quiet(t, "norm, backward");
    trial_keep_act(t, "norm, dx", &r->dx);
    trial_lanes(t, "norm, dx", &r->dx, true);
    if (b.residual) {
        trial_keep_act(t, "norm, residual's gradient", &r->dresidual);
        trial_lanes(t, "norm, residual's gradient", &r->dresidual, true);
    }
    trial_keep_floats(t, "norm, dgamma", r->dgamma, r->n.channels);
    trial_keep_floats(t, "norm, dbeta", r->dbeta, r->n.channels);
}

static void norm(struct trial *t, void *input)
{
    struct norm_rig r;
    init_norm(&r, t->env.kernels->lanes, input);
    t->allocations = sb_mem_count();
    for (int form = 0; form < 4; form++) {
        int relu = form & 1 ? SB_NORM_RELU : 0;
        norm_forward(t, &r, relu, form & 2 ? &r.residual : NULL, form == 3);
        for (int back = 0; back < NORM_FORMS; back++)
            norm_backward(t, &r, relu, back);
    }
    fini_norm(&r);
}

/* In place, or the gradient over the incoming one: the same as apart. */
static void norm_aliases(struct trial *t, void *input)
{
    struct norm_rig r;
    init_norm(&r, t->env.kernels->lanes, input);
    t->allocations = sb_mem_count();
    struct trial plain = *t, alias = *t;
    plain.first = true;
    alias.first = false;
    norm_forward(&plain, &r, SB_NORM_RELU, &r.residual, false);
    norm_forward(&alias, &r, SB_NORM_RELU, &r.residual, true);
    plain.used = alias.used = 0;
    norm_backward(&plain, &r, SB_NORM_RELU, SPLIT);
    norm_backward(&alias, &r, SB_NORM_RELU, DX_IS_DY);
    alias.used = 0;
    norm_backward(&alias, &r, SB_NORM_RELU, RESIDUAL_IS_DY);
    fini_norm(&r);
}

/* ---- pooling ------------------------------------------------------------------------- */

struct pool_rig {
    struct sb_act x, y, dy, dx, mean, dmean;
    uint32_t size; /* 0: no window fits */
};

static void init_pool(struct pool_rig *r, uint32_t lanes, const struct shape *s,
                      uint32_t size)
{
    struct dice d = {s->batch};
    struct shape small = {s->batch, s->channels, s->height / size, s->width / size};
    *r = (struct pool_rig){.size = small.height && small.width ? size : 0};
    init_act(&r->x, lanes, s);
    init_act(&r->dx, lanes, s);
    layer_deal_act(&r->x, &d, dice_wild, true);
    if (r->size) {
        init_act(&r->y, lanes, &small);
        init_act(&r->dy, lanes, &small);
        layer_deal_act(&r->dy, &d, dice_mild, false);
    }
    small.height = small.width = 1;
    init_act(&r->mean, lanes, &small);
    init_act(&r->dmean, lanes, &small);
    layer_deal_act(&r->dmean, &d, dice_mild, false);
}

static void fini_pool(struct pool_rig *r)
{
    struct sb_act *act[] = {&r->x, &r->y, &r->dy, &r->dx, &r->mean, &r->dmean};
    for (size_t i = 0; i < sizeof act / sizeof *act; i++)
        sb_act_fini(act[i]);
}

static void pool(struct trial *t, struct pool_rig *r)
{
    if (r->size) {
        spoil(&r->y);
        spoil(&r->dx);
        check_must(sb_pool_max(&t->env, &r->x, r->size, &r->y), t->name);
        check_must(sb_pool_max_backward(&t->env, &r->x, &r->y, &r->dy, r->size, &r->dx),
                   t->name);
        trial_quiet(t, "max pool");
        trial_keep_act(t, "max pool", &r->y);
        trial_keep_act(t, "max pool, dx", &r->dx);
        trial_lanes(t, "max pool", &r->y, false);
        trial_lanes(t, "max pool, dx", &r->dx, true);
    }
    spoil(&r->mean);
    spoil(&r->dx);
    check_must(sb_pool_mean(&t->env, &r->x, &r->mean), t->name);
    check_must(sb_pool_mean_backward(&t->env, &r->dmean, &r->dx), t->name);
    trial_quiet(t, "mean pool");
    trial_keep_act(t, "mean pool", &r->mean);
    trial_keep_act(t, "mean pool, dx", &r->dx);
    trial_lanes(t, "mean pool", &r->mean, false);
    trial_lanes(t, "mean pool, dx", &r->dx, true);
}

static void pools(struct trial *t, void *input)
{
    for (uint32_t size = 1; size <= 3; size++) {
        struct pool_rig r;
        init_pool(&r, t->env.kernels->lanes, input, size);
        t->allocations = sb_mem_count();
        pool(t, &r);
        fini_pool(&r);
    }
}

/* ---- loss, and passes over activations ----------------------------------------------- */

struct act_rig {
    struct sb_act start, a, b;
    uint32_t *label; /* [batch] */
    float *nchw, *sums;
};

static void init_acts(struct act_rig *r, uint32_t lanes, const struct shape *s)
{
    struct dice d = {s->width};
    init_act(&r->start, lanes, s);
    init_act(&r->a, lanes, s);
    init_act(&r->b, lanes, s);
    r->label = check_alloc(s->batch, sizeof *r->label);
    r->nchw = check_floats((size_t)s->batch * s->channels * s->height * s->width);
    r->sums = check_floats(s->channels);
    layer_deal_act(&r->start, &d, dice_mild, true);
    for (uint32_t i = 0; i < s->batch; i++)
        r->label[i] = dice_below(&d, s->channels);
}

static void fini_acts(struct act_rig *r)
{
    sb_act_fini(&r->start);
    sb_act_fini(&r->a);
    sb_act_fini(&r->b);
    sb_free(r->label);
    sb_free(r->nchw);
    sb_free(r->sums);
}

static void loss(struct trial *t, struct act_rig *r)
{
    for (int with = 0; with < 2; with++) {
        double value = -1.0;
        copy_act(&r->a, &r->start);
        spoil(&r->b);
        check_must(sb_loss_softmax(&t->env, NULL, &r->a, r->label, NULL, &value,
                                   with ? &r->b : NULL),
                   t->name);
        trial_quiet(t, "softmax");
        trial_keep(t, "softmax, loss", &value, sizeof value);
        trial_keep_act(t, "softmax, probabilities", &r->a);
        trial_lanes(t, "softmax, probabilities", &r->a, false);
        if (with) {
            trial_keep_act(t, "softmax, gradient", &r->b);
            trial_lanes(t, "softmax, gradient", &r->b, true);
        }
    }
}

static void act(struct trial *t, struct act_rig *r)
{
    sb_act_store(&r->start, r->nchw);
    spoil(&r->b);
    sb_act_load(&r->b, r->nchw);
    trial_quiet(t, "store, load");
    trial_keep_act(t, "loaded", &r->b);
    trial_lanes(t, "loaded", &r->b, true);
    copy_act(&r->a, &r->start);
    sb_act_multiply(&t->env, &r->a, &r->b);
    trial_quiet(t, "multiply");
    trial_keep_act(t, "product", &r->a);
    trial_lanes(t, "product", &r->a, true);
    sb_act_channel_sums(&t->env, &r->start, r->sums);
    trial_quiet(t, "channel sums");
    trial_keep_floats(t, "channel sums", r->sums, r->start.channels);
}

static void acts(struct trial *t, void *input)
{
    const struct shape *s = input;
    struct act_rig r;
    init_acts(&r, t->env.kernels->lanes, s);
    t->allocations = sb_mem_count();
    act(t, &r);
    if (s->height * s->width == 1)
        loss(t, &r);
    fini_acts(&r);
}

/* ---- parameters ---------------------------------------------------------------------- */

struct params_rig {
    size_t n;
    float *mu, *rho, *ds2, *start, *dmu, *drho;
};

static void params(struct trial *t, void *input)
{
    struct params_rig *r = input;
    size_t bytes = r->n * sizeof(float);
    memset(r->drho, 0xff, bytes);
    sb_params_variance(&t->env, r->rho, r->drho, r->n);
    trial_keep(t, "variance", r->drho, bytes);
    double kl = sb_params_kl(&t->env, r->mu, r->rho, (struct sb_prior){0.0f, 0.3f}, r->n);
    trial_keep(t, "kl", &kl, sizeof kl);
    for (int in_place = 0; in_place < 2; in_place++) {
        memcpy(r->dmu, r->start, bytes);
        memcpy(r->drho, r->ds2, bytes);
        sb_params_gradient(&t->env, r->mu, r->rho, in_place ? r->drho : r->ds2, 0.01f,
                           (struct sb_prior){0.0f, 0.3f}, r->dmu, r->drho, r->n);
        trial_keep(t, "dmu", r->dmu, bytes);
        trial_keep(t, "drho", r->drho, bytes);
    }
    for (int form = 0; form < 2; form++) {
        struct sb_sgd o = {0.1f, 0.9f, form ? 5e-4f : 0.0f, form};
        memcpy(r->dmu, r->mu, bytes);
        memcpy(r->drho, r->start, bytes);
        sb_params_sgd(&t->env, &o, r->dmu, r->ds2, r->drho, r->n);
        trial_keep(t, "weights", r->dmu, bytes);
        trial_keep(t, "momenta", r->drho, bytes);
    }
    trial_quiet(t, "passes over parameters");
}

static void run_params(size_t n)
{
    struct params_rig r = {.n = n};
    float **array[] = {&r.mu, &r.rho, &r.ds2, &r.start, &r.dmu, &r.drho};
    struct dice d = {n};
    char name[64];
    snprintf(name, sizeof name, "%zu parameters", n);
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        *array[i] = check_floats(n);
        dice_fill(&d, i == 1 ? dice_wild : dice_mild, *array[i], n);
    }
    trial_run(params, &r, name);
    for (size_t i = 0; i < sizeof array / sizeof *array; i++)
        sb_free(*array[i]);
}

static void run_shape(struct shape s)
{
    trial_run(norm, &s, shape_name(&s));
    trial_run(norm_aliases, &s, shape_name(&s));
    trial_run(pools, &s, shape_name(&s));
    trial_run(acts, &s, shape_name(&s));
}

int main(void)
{
    /* Pieces of parameter arrays begin at 4096 floats and grow beyond 64 of them. */
    static const size_t lengths[] = {0, 1, 7, 8, 9, 4095, 4096, 4097, 40001, 270001};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        run_params(lengths[i]);
    for (int i = 0; i < SHAPES; i++)
        run_shape(shapes[i]);
    for (uint32_t batch = 1; batch <= 40; batch++) {
        run_shape((struct shape){batch, 3, 3, 5});
        run_shape((struct shape){batch, 4, 1, 1});
    }
    return trial_close();
}
