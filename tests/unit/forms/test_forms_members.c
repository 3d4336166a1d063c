/* forms: a member made of a trained network predicts what the network's own forward gives,
 * for every form, architecture, support and posterior that go together.
 *
 *     tree             head m
 *     mimo             head m, when all inputs are the same image
 *     batch-ensemble   the rows of member m
 *     rank-1           the same, with the member's draw as the noise of its rows
 *     dropout          with the mask of pass m for every row
 *
 * Weights with a posterior get the same noise on both sides.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "forms.h"
#include "model/model.h"

static struct sb_env env;

static int choose_kernels(void **state)
{
    (void)state;
    env = forms_env();
    return 0;
}

enum { EXAMPLES = 5, SEED = 99 };

/* A network, what it is given, and the model its members come from. */
struct setup {
    const struct forms_case *c;
    struct sb_form_spec spec;
    bool gauss, noisy;
    struct sb_net net;
    struct sb_model model;
    struct sb_act x;                /* the examples */
    struct sb_act eps[NETS_LAYERS]; /* of every weight of the trained network */
    struct sb_act scale_eps[FORMS_SCALES], drop[FORMS_MASKS];
    const struct sb_act *eps_list[NETS_LAYERS], *scale_list[FORMS_SCALES],
        *drop_list[FORMS_MASKS];
};

static float *element(const struct sb_act *a, uint32_t row, uint32_t channel,
                      size_t pixel)
{
    return sb_act_image(a, row, channel) + pixel * a->lanes;
}

static void make_model(struct setup *s)
{
    static const float mean[] = {0, 0, 0}, sd[] = {1, 1, 1};
    struct sb_arch_shape shape = forms_shape(s->c->arch);
    struct sb_model_info info = {.arch = s->c->arch,
                                 .method = "test",
                                 .recipe = "",
                                 .channels = shape.channels,
                                 .height = shape.height,
                                 .width = shape.width,
                                 .classes = shape.classes,
                                 .mean = mean,
                                 .sd = sd,
                                 .gauss = s->gauss,
                                 .form = s->spec};
    struct sb_trained t;
    assert_int_equal(sb_model_init(&s->model, &info), SB_OK);
    assert_int_equal(sb_trained_init(&t, &s->net), SB_OK);
    assert_int_equal(sb_trained_save(&t, &s->net), SB_OK);
    t.sample_seed = SEED;
    assert_int_equal(sb_model_add(&s->model, &t), SB_OK);
    sb_trained_fini(&t);
    assert_int_equal(s->model.members, FORMS_MEMBERS);
}

static void make_noise(struct setup *s, uint32_t rows)
{
    for (uint32_t i = 0; i < s->net.arch.weights; i++) {
        const struct sb_conv *v = &s->net.weight[i].conv;
        assert_int_equal(
            sb_act_init(&s->eps[i], 8, rows, v->out, v->out_height, v->out_width), SB_OK);
        forms_images(&s->eps[i], 1000 + i);
        s->eps_list[i] = &s->eps[i];
    }
}

/* The draw that a member keeps: stream (seed, SCALE, member, draw 0, number of the scale),
 * the same for all its rows. */
static void make_scale_noise(struct setup *s, uint32_t rows)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < s->net.arch.nodes; i++) {
        if (s->net.arch.node[i].kind != SB_NODE_SCALE)
            continue;
        uint32_t channels = s->net.arch.node[i].channels;
        assert_in_range(k, 0, FORMS_SCALES - 1);
        assert_int_equal(sb_act_init(&s->scale_eps[k], 8, rows, channels, 1, 1), SB_OK);
        for (uint32_t row = 0; row < rows; row++) {
            struct sb_stream from =
                sb_rng_stream(SEED, SB_RNG_SCALE, row / EXAMPLES, 0, k);
            for (uint32_t c = 0; c < channels; c++) {
                float z[4];
                sb_rng_normal4(&from, c / 4, z);
                *element(&s->scale_eps[k], row, c, 0) = z[c % 4];
            }
        }
        s->scale_list[k] = &s->scale_eps[k];
        k++;
    }
}

/* The masks of a pass: stream (seed, DROPOUT, 0, pass, number of the site), a word an element
 * or channel, the same for all rows. */
static void make_masks(struct setup *s, uint32_t pass, uint32_t rows)
{
    uint32_t k = 0, least = (uint32_t)((double)s->spec.rate * 4294967296.0);
    for (uint32_t i = 0; i < s->net.arch.nodes; i++) {
        const struct sb_arch_node *d = &s->net.arch.node[i];
        if (d->kind != SB_NODE_MASK)
            continue;
        uint32_t pixels = d->height * d->width;
        struct sb_stream from = sb_rng_stream(SEED, SB_RNG_DROPOUT, 0, pass, k);
        sb_act_fini(&s->drop[k]);
        assert_int_equal(
            sb_act_init(&s->drop[k], 8, rows, d->channels, d->height, d->width), SB_OK);
        for (uint32_t e = 0; e < d->channels * pixels; e++) {
            uint32_t word[4], number = s->spec.channels ? e / pixels : e;
            sb_rng_bits(&from, number / 4, word);
            float f = word[number % 4] < least ? 0.0f : 1.0f / (1.0f - s->spec.rate);
            for (uint32_t row = 0; row < rows; row++)
                *element(&s->drop[k], row, e / pixels, e % pixels) = f;
        }
        s->drop_list[k] = &s->drop[k];
        k++;
    }
    assert_true(k > 0);
}

static void setup_init(struct setup *s, const struct forms_case *c, double density,
                       bool gauss)
{
    struct sb_arch_shape shape = forms_shape(c->arch);
    *s = (struct setup){.c = c, .spec = forms_spec(c), .gauss = gauss};
    bool copies = c->kind == SB_FORM_BATCH_ENSEMBLE || c->kind == SB_FORM_RANK_1;
    uint32_t rows = copies ? EXAMPLES * FORMS_MEMBERS : EXAMPLES;
    /* a weight's noise has a floor (method.md 1), which a channel that is dropped in the rows
     * of a convolution keeps: there the means are compared */
    s->noisy = (gauss && !c->channels) || c->kind == SB_FORM_RANK_1;
    assert_int_equal(forms_net(&s->net, c, density, gauss, rows), SB_OK);
    assert_int_equal(forms_fill(&env, &s->net, 7), SB_OK);
    assert_int_equal(
        sb_act_init(&s->x, 8, EXAMPLES, shape.channels, shape.height, shape.width),
        SB_OK);
    forms_images(&s->x, 3);
    make_model(s);
    make_noise(s, rows);
    make_scale_noise(s, rows);
}

static void setup_fini(struct setup *s)
{
    for (int i = 0; i < NETS_LAYERS; i++)
        sb_act_fini(&s->eps[i]);
    for (int i = 0; i < FORMS_SCALES; i++)
        sb_act_fini(&s->scale_eps[i]);
    for (int i = 0; i < FORMS_MASKS; i++)
        sb_act_fini(&s->drop[i]);
    sb_act_fini(&s->x);
    sb_net_fini(&s->net);
    sb_model_fini(&s->model);
}

/* ---- both sides ---------------------------------------------------------------------- */

/* Row r of a becomes example i of x, in channels from `first` on. */
static void put(const struct sb_act *x, uint32_t i, struct sb_act *a, uint32_t r,
                uint32_t first)
{
    for (uint32_t c = 0; c < x->channels; c++)
        for (size_t p = 0; p < (size_t)x->height * x->width; p++)
            *element(a, r, first + c, p) = *element(x, i, c, p);
}

/* The trained network's answer for member m: out [EXAMPLES][classes]. */
static void run_trained(struct setup *s, uint32_t m, float *out)
{
    struct sb_act *in = &s->net.input;
    bool mimo = s->c->kind == SB_FORM_MIMO, tree = s->c->kind == SB_FORM_TREE;
    uint32_t rows = s->net.max_batch, head = mimo || tree ? m : 0;
    struct sb_pass pass = {.sample = s->noisy,
                           .eps = s->gauss ? s->eps_list : NULL,
                           .scale_eps = s->scale_list};
    sb_net_set_batch(&s->net, rows);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t k = 0; k < (mimo ? FORMS_MEMBERS : 1); k++)
            put(&s->x, r % EXAMPLES, in, r, k * s->x.channels);
    if (s->c->kind == SB_FORM_DROPOUT) {
        make_masks(s, m, rows);
        pass.drop = s->drop_list;
    }
    assert_int_equal(sb_net_forward(&env, &s->net, &pass), SB_OK);
    uint32_t first = rows > EXAMPLES ? m * EXAMPLES : 0;
    for (uint32_t i = 0; i < EXAMPLES; i++)
        for (uint32_t k = 0; k < FORMS_CLASSES; k++)
            out[i * FORMS_CLASSES + k] =
                *element(&s->net.head[head].logits, first + i, k, 0);
}

/* Which weight of the trained network weight i of member m is. */
static uint32_t weight_of(const struct setup *s, uint32_t m, uint32_t i)
{
    uint32_t trunk = 0;
    for (uint32_t k = 0; k < s->model.arch.shared; k++)
        trunk += s->model.arch.node[k].kind == SB_NODE_WEIGHT;
    bool branch = s->c->kind == SB_FORM_TREE && i >= trunk;
    return branch ? i + m * (s->model.arch.weights - trunk) : i;
}

/* The noise of a member's weights, where that is not the trained network's: mimo's head. */
static void member_noise(const struct setup *s, uint32_t m, struct sb_act *head,
                         const struct sb_act **list)
{
    uint32_t last = s->model.arch.weights - 1;
    for (uint32_t i = 0; i <= last; i++)
        list[i] = s->eps_list[weight_of(s, m, i)];
    if (s->c->kind != SB_FORM_MIMO)
        return;
    assert_int_equal(sb_act_init(head, 8, EXAMPLES, FORMS_CLASSES, 1, 1), SB_OK);
    for (uint32_t i = 0; i < EXAMPLES; i++)
        for (uint32_t k = 0; k < FORMS_CLASSES; k++)
            *element(head, i, k, 0) = *element(list[last], i, m * FORMS_CLASSES + k, 0);
    list[last] = head;
}

static void run_member(const struct setup *s, uint32_t m, bool inference, float *out)
{
    struct sb_net net;
    struct sb_act head = {0};
    const struct sb_act *list[NETS_LAYERS];
    bool noisy = s->noisy && s->gauss;
    struct sb_model_plan plan = {.lanes = 8,
                                 .max_batch = EXAMPLES,
                                 .threads = 1,
                                 .inference = inference,
                                 .gauss = noisy};
    struct sb_pass pass = {.sample = noisy, .eps = noisy ? list : NULL};
    member_noise(s, m, &head, list);
    assert_int_equal(sb_model_net(&s->model, m, &plan, &net), SB_OK);
    assert_int_equal(sb_trained_load(&s->model.member[m], &env, &net), SB_OK);
    sb_net_set_batch(&net, EXAMPLES);
    for (uint32_t i = 0; i < EXAMPLES; i++)
        put(&s->x, i, &net.input, i, 0);
    assert_int_equal(sb_net_forward(&env, &net, &pass), SB_OK);
    for (uint32_t i = 0; i < EXAMPLES; i++)
        for (uint32_t k = 0; k < FORMS_CLASSES; k++)
            out[i * FORMS_CLASSES + k] = *element(&net.head[0].logits, i, k, 0);
    sb_act_fini(&head);
    sb_net_fini(&net);
}

/* ---- tests --------------------------------------------------------------------------- */

static void compare(struct setup *s, uint32_t m, bool inference)
{
    float want[EXAMPLES * FORMS_CLASSES], have[EXAMPLES * FORMS_CLASSES];
    float largest = 0.0f;
    run_trained(s, m, want);
    run_member(s, m, inference, have);
    for (int i = 0; i < EXAMPLES * FORMS_CLASSES; i++)
        largest = fmaxf(largest, fabsf(want[i]));
    assert_true(largest > 0.01f && isfinite(largest));
    for (int i = 0; i < EXAMPLES * FORMS_CLASSES; i++)
        if (!(fabsf(want[i] - have[i]) <= 1e-5f * largest))
            fail_msg("%s of %s%s%s, %s, member %u: logit %d is %.8g, the network's %.8g",
                     sb_form_of(s->c->kind)->name, s->c->arch,
                     *s->c->branch_at ? " at " : "", s->c->branch_at,
                     s->gauss ? "Gaussian" : "points", m, i, (double)have[i],
                     (double)want[i]);
}

static void members_predict_what_the_network_does(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    for (int i = 0; i < FORMS_CASES; i++)
        for (int kind = 0; kind < (forms_cases[i].plain ? 1 : 4); kind++) {
            struct setup s;
            setup_init(&s, &forms_cases[i], kind & 1 ? 0.3 : 1.0, kind & 2);
            for (uint32_t m = 0; m < FORMS_MEMBERS; m++) {
                compare(&s, m, false);
                compare(&s, m, true);
            }
            setup_fini(&s);
        }
    assert_int_equal(sb_mem_live(), live);
}

/* Members of one network differ, or there would be nothing to test above. */
static void members_differ(void **state)
{
    (void)state;
    for (int i = 0; i < FORMS_CASES; i++) {
        struct setup s;
        float a[EXAMPLES * FORMS_CLASSES], b[EXAMPLES * FORMS_CLASSES];
        setup_init(&s, &forms_cases[i], 1.0, false);
        run_member(&s, 0, true, a);
        run_member(&s, 1, true, b);
        assert_memory_not_equal(a, b, sizeof a);
        setup_fini(&s);
    }
}

/* Another draw of a rank-1 network is another member; a member's own repeats. */
static void rank_1_has_as_many_members_as_draws(void **state)
{
    (void)state;
    struct setup s;
    struct sb_trained again, other;
    const struct forms_case c = {"mlp-12-9", "", SB_FORM_RANK_1, false, true};
    setup_init(&s, &c, 1.0, false);
    const struct sb_trained *from = &s.model.network[0], *first = &s.model.member[1];
    assert_int_equal(
        sb_form_member(&s.spec, &s.model.trained, &s.model.arch, from, 1, 0, &again),
        SB_OK);
    assert_int_equal(
        sb_form_member(&s.spec, &s.model.trained, &s.model.arch, from, 1, 1, &other),
        SB_OK);
    size_t bytes = nets_mu(first, 0)->count * sizeof(float);
    assert_memory_equal(nets_mu(&again, 0)->value, nets_mu(first, 0)->value, bytes);
    assert_memory_not_equal(nets_mu(&other, 0)->value, nets_mu(first, 0)->value, bytes);
    sb_trained_fini(&again);
    sb_trained_fini(&other);
    setup_fini(&s);
}

/* Every number of every member is one that a file may hold. */
static void members_are_finite(void **state)
{
    (void)state;
    for (int i = 0; i < FORMS_CASES; i++) {
        struct setup s;
        setup_init(&s, &forms_cases[i], 0.3, !forms_cases[i].plain);
        for (uint32_t m = 0; m < s.model.members; m++)
            for (uint32_t k = 0; k < s.model.member[m].params.n; k++) {
                const struct sb_param *p = &s.model.member[m].params.param[k];
                for (uint32_t e = 0; e < p->count; e++)
                    assert_true(isfinite(p->value[e]));
            }
        setup_fini(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_predict_what_the_network_does),
        cmocka_unit_test(members_differ),
        cmocka_unit_test(rank_1_has_as_many_members_as_draws),
        cmocka_unit_test(members_are_finite),
    };
    return cmocka_run_group_tests(tests, choose_kernels, NULL);
}
