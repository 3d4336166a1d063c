/* kernels/: operations on activations that do not fit are refused with a sentence that names
 * which, and leave the operation usable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../kernels/cases.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "kernels/loss.h"
#include "kernels/norm.h"
#include "kernels/pool.h"
#include "refused.h"

static struct sb_env best_env(void)
{
    struct sb_env env = {.threads = 1};
    assert_int_equal(sb_kernels_choose("auto", &env.kernels), SB_OK);
    return env;
}

/* ---- products ------------------------------------------------------------------------ */

static const struct layer_case small = {3, 4, 3, 3, 1, 1, 5, 6, 2, 0.3f, 0};

enum { X, Y, SLOPE, EPS, DY, DV, DX, ACTS };

struct rig {
    struct layer l;
    struct sb_env env;
    bool dense;
    struct sb_act *act[ACTS]; /* what the next call gets */
    float *dense_weights;     /* [weights] zeros, for whatever is asked */
    void *dense_scratch;
};

static void rig_reset(struct rig *r)
{
    struct layer *l = &r->l;
    struct sb_act *act[] = {&l->x, &l->y, &l->slope, &l->eps, &l->dy, &l->dv, &l->dx};
    memcpy(r->act, act, sizeof act);
}

static void rig_init(struct rig *r)
{
    *r = (struct rig){.env = best_env()};
    layer_init(&r->l, r->env.kernels->lanes, &small, 4, dice_mild);
    r->dense_weights = check_floats(sb_conv_weights(&r->l.conv));
    r->dense_scratch = check_alloc(1, sb_dense_scratch(&r->l.conv));
    rig_reset(r);
}

static void rig_fini(struct rig *r)
{
    sb_free(r->dense_weights);
    sb_free(r->dense_scratch);
    layer_fini(&r->l);
}

typedef sb_status rig_fn(struct rig *r);

static sb_status call_forward(struct rig *r)
{
    struct sb_noise noise = {.eps = r->act[EPS]};
    struct sb_forward w = {.mu = r->l.mu, .s2 = r->l.s2, .noise = &noise};
    if (!r->dense)
        return sb_sparse_forward(&r->env, &r->l.sparse, &w, r->act[X], r->act[Y],
                                 r->act[SLOPE], layer_scratch(&r->l, 1));
    w.mu = w.s2 = r->dense_weights;
    return sb_dense_forward(&r->env, &r->l.conv, &w, r->act[X], r->act[Y], r->act[SLOPE],
                            r->dense_scratch);
}

static sb_status call_input_gradient(struct rig *r)
{
    struct sb_backward b = {.dy = r->act[DY], .dv = r->act[DV], .x = r->act[X]};
    const float *w = r->dense_weights;
    return r->dense
               ? sb_dense_input_gradient(&r->env, &r->l.conv, &b, w, w, r->act[DX], 0,
                                         r->dense_scratch)
               : sb_sparse_input_gradient(&r->env, &r->l.sparse, &b, r->l.mu_t, r->l.s2_t,
                                          r->act[DX], 0, layer_scratch(&r->l, 1));
}

static sb_status call_weight_gradient(struct rig *r)
{
    struct sb_backward b = {.dy = r->act[DY], .dv = r->act[DV], .x = r->act[X]};
    float *w = r->dense_weights;
    return r->dense
               ? sb_dense_weight_gradient(&r->env, &r->l.conv, &b, w, w, r->dense_scratch)
               : sb_sparse_weight_gradient(&r->env, &r->l.sparse, &b, r->l.dmu, r->l.ds2,
                                           layer_scratch(&r->l, 1));
}

/* One act of a call in every wrong shape. leads: the batch is read off this act, so that
 * another batch is what the others then do not have. */
static void wrong_shapes(struct rig *r, rig_fn *call, int slot, const char *name,
                         bool leads)
{
    struct sb_act right = *r->act[slot], wrong, *null = NULL;
    uint32_t s[4] = {right.batch, right.channels, right.height, right.width};
    char sentence[160];
    for (int i = leads ? 1 : 0; i < 4; i++)
        for (int by = -1; by <= 1; by += 2) {
            uint32_t t[4] = {s[0], s[1], s[2], s[3]};
            t[i] += (uint32_t)by;
            snprintf(sentence, sizeof sentence,
                     "%s is %u x %u x %u x %u; want %u x %u x %u x %u", name, t[0], t[1],
                     t[2], t[3], s[0], s[1], s[2], s[3]);
            check_must(sb_act_init(&wrong, right.lanes, t[0], t[1], t[2], t[3]), "act");
            r->act[slot] = &wrong;
            refused(call(r), SB_EARG, sentence);
            sb_act_fini(&wrong);
        }
    for (int missing = 0; missing < 2; missing++) {
        if (missing && (slot == EPS || slot == DV || slot == DX))
            break; /* absent, these ask for another form */
        uint32_t batch = leads && missing ? 1 : s[0];
        snprintf(sentence, sizeof sentence, "%s is missing; want %u x %u x %u x %u", name,
                 batch, s[1], s[2], s[3]);
        wrong = right;
        wrong.data = NULL;
        r->act[slot] = missing ? null : &wrong;
        refused(call(r), SB_EARG, sentence);
    }
    rig_reset(r);
    assert_int_equal(call(r), SB_OK);
}

static void products_refuse_other_shapes(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    struct rig r;
    rig_init(&r);
    for (int dense = 0; dense < 2; dense++) {
        r.dense = dense;
        wrong_shapes(&r, call_forward, X, "input", true);
        wrong_shapes(&r, call_forward, Y, "output", false);
        wrong_shapes(&r, call_forward, SLOPE, "slope", false);
        wrong_shapes(&r, call_forward, EPS, "noise", false);
        wrong_shapes(&r, call_input_gradient, DY, "output gradient", true);
        wrong_shapes(&r, call_input_gradient, DV, "variance gradient", false);
        wrong_shapes(&r, call_input_gradient, X, "input", false);
        wrong_shapes(&r, call_input_gradient, DX, "input gradient", false);
        wrong_shapes(&r, call_weight_gradient, DY, "output gradient", true);
        wrong_shapes(&r, call_weight_gradient, DV, "variance gradient", false);
        wrong_shapes(&r, call_weight_gradient, X, "input", false);
    }
    rig_fini(&r);
    assert_int_equal(sb_mem_live(), live);
}

static void products_refuse_a_batch_beyond_the_plan(void **state)
{
    (void)state;
    struct rig r;
    struct sb_act x, dy;
    const char *sentence = "a batch of 3 images; the layer was planned for up to 2";
    rig_init(&r);
    check_must(sb_act_init(&x, r.l.x.lanes, 3, 3, 5, 6), "act");
    check_must(sb_act_init(&dy, r.l.x.lanes, 3, 4, 5, 6), "act");
    r.act[X] = &x;
    r.act[DY] = &dy;
    refused(call_forward(&r), SB_EARG, sentence);
    refused(call_input_gradient(&r), SB_EARG, sentence);
    refused(call_weight_gradient(&r), SB_EARG, sentence);
    sb_act_fini(&x);
    sb_act_fini(&dy);
    rig_fini(&r);
}

/* Without noise a Gaussian layer gives its mean, the bits of the mean-only form, and its
 * variance. */
static void without_noise_mean_and_variance(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    struct sb_act *y = &r.l.y, *v = &r.l.slope;
    size_t n = sb_act_size(y), positive = 0;
    struct sb_forward both = {.mu = r.l.mu, .s2 = r.l.s2}, mean = {.mu = r.l.mu};
    float *first = sb_malloc(n, sizeof *first);
    assert_non_null(first);
    assert_int_equal(sb_sparse_forward(&r.env, &r.l.sparse, &both, &r.l.x, y, v,
                                       layer_scratch(&r.l, 1)),
                     SB_OK);
    memcpy(first, y->data, n * sizeof *first);
    assert_int_equal(sb_sparse_forward(&r.env, &r.l.sparse, &mean, &r.l.x, y, NULL,
                                       layer_scratch(&r.l, 1)),
                     SB_OK);
    assert_memory_equal(first, y->data, n * sizeof *first);
    for (size_t i = 0; i < n; i++) {
        assert_true(v->data[i] >= 0.0f);
        positive += v->data[i] > 0.0f;
    }
    assert_true(positive > 0);
    sb_free(first);
    rig_fini(&r);
}

/* ---- batch norm, pooling, loss ------------------------------------------------------- */

/* a[0] is as wanted, each other one differs in one size. */
enum { SHAPES = 5 };

static void init_shapes(struct sb_act a[SHAPES])
{
    static const uint32_t s[SHAPES][4] = {
        {2, 3, 4, 5}, {3, 3, 4, 5}, {2, 4, 4, 5}, {2, 3, 5, 5}, {2, 3, 4, 6}};
    for (int i = 0; i < SHAPES; i++)
        check_must(sb_act_init(&a[i], best_env().kernels->lanes, s[i][0], s[i][1],
                               s[i][2], s[i][3]),
                   "act");
}

static void fini_shapes(struct sb_act a[SHAPES])
{
    for (int i = 0; i < SHAPES; i++)
        sb_act_fini(&a[i]);
}

struct norm_rig {
    struct sb_env env;
    float per_channel[8][3];
    struct sb_norm n;
    struct sb_act a[SHAPES];
};

static void init_norm(struct norm_rig *r)
{
    *r = (struct norm_rig){.env = best_env()};
    float(*p)[3] = r->per_channel;
    r->n = (struct sb_norm){3,    1e-5f, 0.1f, p[0], p[1], p[2],
                            p[3], p[4],  p[5], p[6], p[7], NULL};
    init_shapes(r->a);
}

static const char *norm_sentence(const char *what, const struct sb_act *a)
{
    static char sentence[160];
    snprintf(sentence, sizeof sentence,
             "batch norm: %s is %u x %u x %u x %u, the input 2 x 3 x 4 x 5", what,
             a->batch, a->channels, a->height, a->width);
    return sentence;
}

static void norm_refuses_other_shapes(void **state)
{
    (void)state;
    struct norm_rig r;
    init_norm(&r);
    struct sb_act *good = &r.a[0], *channels = &r.a[2];
    const char *sentence = "batch norm of 3 channels on an input of 4";
    refused(sb_norm_train(&r.env, &r.n, channels, NULL, channels, 0), SB_EARG, sentence);
    refused(sb_norm_infer(&r.env, &r.n, channels, NULL, channels, 0), SB_EARG, sentence);
    for (int i = 1; i < SHAPES; i++) {
        struct sb_act *bad = &r.a[i];
        sentence = norm_sentence("the output", bad);
        refused(sb_norm_train(&r.env, &r.n, good, NULL, bad, 0), SB_EARG, sentence);
        refused(sb_norm_infer(&r.env, &r.n, good, NULL, bad, 0), SB_EARG, sentence);
        sentence = norm_sentence("the residual", bad);
        refused(sb_norm_train(&r.env, &r.n, good, bad, good, 0), SB_EARG, sentence);
        refused(sb_norm_infer(&r.env, &r.n, good, bad, good, 0), SB_EARG, sentence);
    }
    assert_int_equal(sb_norm_train(&r.env, &r.n, good, good, good, 0), SB_OK);
    fini_shapes(r.a);
}

static void norm_backward_refuses_other_shapes(void **state)
{
    (void)state;
    struct norm_rig r;
    init_norm(&r);
    const struct sb_norm_backward good = {.dy = &r.a[0],
                                          .y = &r.a[0],
                                          .x = &r.a[0],
                                          .dx = &r.a[0],
                                          .residual = &r.a[0],
                                          .dgamma = r.per_channel[6],
                                          .dbeta = r.per_channel[7]};
    struct sb_norm_backward b = good;
    b.x = &r.a[2];
    refused(sb_norm_backward(&r.env, &r.n, &b), SB_EARG,
            "batch norm of 3 channels on an input of 4");
    for (int i = 1; i < SHAPES; i++) {
        struct sb_act *bad = &r.a[i];
        b = good;
        b.dy = bad;
        refused(sb_norm_backward(&r.env, &r.n, &b), SB_EARG,
                norm_sentence("the output's gradient", bad));
        b = good;
        b.dx = bad;
        refused(sb_norm_backward(&r.env, &r.n, &b), SB_EARG,
                norm_sentence("the input's gradient", bad));
        b = good;
        b.y = bad;
        refused(sb_norm_backward(&r.env, &r.n, &b), SB_EARG,
                norm_sentence("the output", bad));
        b = good;
        b.residual = bad;
        refused(sb_norm_backward(&r.env, &r.n, &b), SB_EARG,
                norm_sentence("the residual's gradient", bad));
    }
    assert_int_equal(sb_norm_backward(&r.env, &r.n, &good), SB_OK);
    fini_shapes(r.a);
}

static const char *pool_sentence(const char *what, const struct sb_act *a,
                                 uint32_t height, uint32_t width)
{
    static char sentence[160];
    snprintf(sentence, sizeof sentence,
             "pooling: %s is %u x %u x %u x %u; want 2 x 3 x %u x %u", what, a->batch,
             a->channels, a->height, a->width, height, width);
    return sentence;
}

static void max_pool_refuses_other_shapes(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    struct sb_act a[SHAPES], x, dx, small_plane;
    init_shapes(a);
    check_must(sb_act_init(&x, best_env().kernels->lanes, 2, 3, 8, 11),
               "act"); /* windows of 2: 4 x 5 */
    check_must(sb_act_init(&dx, best_env().kernels->lanes, 2, 3, 8, 11), "act");
    check_must(sb_act_init(&small_plane, best_env().kernels->lanes, 2, 3, 1, 9), "act");
    refused(sb_pool_max(&env, &x, 0, &a[0]), SB_EARG,
            "pooling: a window of size 0; must be at least 1");
    refused(sb_pool_max_backward(&env, &x, &a[0], &a[0], 0, &dx), SB_EARG,
            "pooling: a window of size 0; must be at least 1");
    refused(sb_pool_max(&env, &small_plane, 2, &a[0]), SB_EARG,
            "pooling: planes of 1 x 9 are smaller than a window");
    refused(sb_pool_max(&env, &x, UINT32_MAX, &a[0]), SB_EARG,
            "pooling: planes of 8 x 11 are smaller than a window");
    for (int i = 1; i < SHAPES; i++) {
        const char *sentence = pool_sentence("output", &a[i], 4, 5);
        refused(sb_pool_max(&env, &x, 2, &a[i]), SB_EARG, sentence);
        refused(sb_pool_max_backward(&env, &x, &a[i], &a[0], 2, &dx), SB_EARG, sentence);
        sentence = pool_sentence("output gradient", &a[i], 4, 5);
        refused(sb_pool_max_backward(&env, &x, &a[0], &a[i], 2, &dx), SB_EARG, sentence);
        sentence = pool_sentence("input gradient", &a[i], 8, 11);
        refused(sb_pool_max_backward(&env, &x, &a[0], &a[0], 2, &a[i]), SB_EARG,
                sentence);
    }
    assert_int_equal(sb_pool_max(&env, &x, 2, &a[0]), SB_OK);
    assert_int_equal(sb_pool_max_backward(&env, &x, &a[0], &a[0], 2, &dx), SB_OK);
    sb_act_fini(&x);
    sb_act_fini(&dx);
    sb_act_fini(&small_plane);
    fini_shapes(a);
}

static void mean_pool_refuses_other_shapes(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    static const uint32_t s[][4] = {
        {3, 3, 1, 1}, {2, 4, 1, 1}, {2, 3, 2, 1}, {2, 3, 1, 2}};
    struct sb_act a[SHAPES], y;
    init_shapes(a);
    for (int i = 0; i < 4; i++) {
        check_must(sb_act_init(&y, best_env().kernels->lanes, s[i][0], s[i][1], s[i][2],
                               s[i][3]),
                   "act");
        refused(sb_pool_mean(&env, &a[0], &y), SB_EARG,
                pool_sentence("output", &y, 1, 1));
        refused(sb_pool_mean_backward(&env, &y, &a[0]), SB_EARG,
                pool_sentence("output gradient", &y, 1, 1));
        sb_act_fini(&y);
    }
    fini_shapes(a);
}

static void softmax_refuses_labels_and_shapes(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    struct sb_act z, d, plane;
    const uint32_t good[3] = {0, 9, 5}, bad[3] = {0, 10, 11};
    static const uint32_t s[][4] = {{2, 10, 1, 1}, {3, 9, 1, 1}, {3, 10, 2, 1}};
    double loss = -1.0;
    char sentence[96];
    check_must(sb_act_init(&z, best_env().kernels->lanes, 3, 10, 1, 1), "act");
    check_must(sb_act_init(&plane, best_env().kernels->lanes, 3, 10, 1, 2), "act");
    refused(sb_loss_softmax(&env, NULL, &z, bad, NULL, &loss, NULL), SB_EARG,
            "softmax: image 1 has label 10 of 10 classes");
    refused(sb_loss_softmax(&env, NULL, &plane, good, NULL, &loss, NULL), SB_EARG,
            "softmax: logits are planes of 1 x 2; want 1 x 1");
    for (int i = 0; i < 3; i++) {
        check_must(sb_act_init(&d, best_env().kernels->lanes, s[i][0], s[i][1], s[i][2],
                               s[i][3]),
                   "act");
        snprintf(sentence, sizeof sentence,
                 "softmax: the gradient is %u x %u; want 3 x 10", s[i][0], s[i][1]);
        refused(sb_loss_softmax(&env, NULL, &z, good, NULL, &loss, &d), SB_EARG,
                sentence);
        sb_act_fini(&d);
    }
    assert_true(loss == -1.0 && z.data[0] == 0.0f); /* nothing was touched */
    assert_int_equal(sb_loss_softmax(&env, NULL, &z, good, NULL, &loss, NULL), SB_OK);
    assert_true(fabs(loss - log(10.0)) < 1e-6);
    sb_act_fini(&z);
    sb_act_fini(&plane);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_refuse_other_shapes),
        cmocka_unit_test(products_refuse_a_batch_beyond_the_plan),
        cmocka_unit_test(without_noise_mean_and_variance),
        cmocka_unit_test(norm_refuses_other_shapes),
        cmocka_unit_test(norm_backward_refuses_other_shapes),
        cmocka_unit_test(max_pool_refuses_other_shapes),
        cmocka_unit_test(mean_pool_refuses_other_shapes),
        cmocka_unit_test(softmax_refuses_labels_and_shapes),
    };
    return cmocka_run_group_tests_name("kernels/edges of operations", tests, NULL, NULL);
}
