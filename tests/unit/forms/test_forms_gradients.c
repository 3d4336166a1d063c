/* forms: gradients of the loss (heads summed, KL of scales and weights included) by finite
 * differences, for every record of every form's parameters.
 *
 * Twice a record: all of its numbers together along their gradient, which sees small ones,
 * too; and a few numbers of it alone, which sees whatever part of a gradient is missing.
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

static struct sb_env env;

static int choose_kernels(void **state)
{
    (void)state;
    env = forms_env();
    return 0;
}

enum { EXAMPLES = 6, ALONE = 2 };

static const float kl_factor = 1e-4f, prior_sd = 0.2f;

struct setup {
    const struct forms_case *c;
    struct sb_net net;
    struct sb_feeder feeder;
    struct sb_act x;
    uint32_t label[EXAMPLES];
    struct sb_fed fed;
};

static void setup_init(struct setup *s, const struct forms_case *c, double density,
                       bool gauss)
{
    struct sb_form_spec spec = forms_spec(c);
    struct sb_arch_shape shape = forms_shape(c->arch);
    *s = (struct setup){.c = c};
    assert_int_equal(forms_net(&s->net, c, density, gauss, sb_form_rows(&spec, EXAMPLES)),
                     SB_OK);
    assert_int_equal(forms_fill(&env, &s->net, 11), SB_OK);
    assert_int_equal(sb_feeder_init(&s->feeder, &spec, &s->net.arch, 8, EXAMPLES), SB_OK);
    assert_int_equal(
        sb_act_init(&s->x, 8, EXAMPLES, shape.channels, shape.height, shape.width),
        SB_OK);
    forms_images(&s->x, 5);
    for (uint32_t i = 0; i < EXAMPLES; i++)
        s->label[i] = (3 * i + 1) % FORMS_CLASSES;
    s->fed = sb_feeder_run(&s->feeder, &env, 5, 0, 2, &s->x,
                           &(struct sb_truth){.label = s->label});
}

static void setup_fini(struct setup *s)
{
    sb_act_fini(&s->x);
    sb_feeder_fini(&s->feeder);
    sb_net_fini(&s->net);
}

/* The loss of the network as it is, always with the same noise and masks. */
static double loss_of(struct setup *s)
{
    struct sb_pass pass = {.training = true, .sample = true, .seed = 21, .step = 4};
    double loss;
    sb_net_refresh(&env, &s->net);
    sb_net_set_input(&s->net, s->fed.rows);
    assert_int_equal(sb_net_forward(&env, &s->net, &pass), SB_OK);
    assert_int_equal(sb_net_loss(&env, &s->net, &s->fed.truth, &loss), SB_OK);
    return loss + (double)kl_factor * sb_net_kl(&env, &s->net, prior_sd);
}

/* Gradients of all records, one behind the other; the caller frees. */
static float *gradients(struct setup *s)
{
    size_t n = 0;
    loss_of(s);
    assert_int_equal(sb_net_backward(&env, &s->net, NULL, NULL), SB_OK);
    sb_net_add_kl(&env, &s->net, kl_factor, prior_sd);
    for (uint32_t i = 0; i < s->net.params.n; i++)
        n += s->net.params.param[i].count;
    float *out = sb_calloc(n, sizeof *out), *at = out;
    assert_non_null(out);
    for (uint32_t i = 0; i < s->net.params.n; i++) {
        const struct sb_param *p = &s->net.params.param[i];
        if (p->gradient)
            memcpy(at, p->gradient, p->count * sizeof *at);
        at += p->count;
    }
    return out;
}

/* The difference quotient along `direction`, or of number `one` alone (direction NULL). */
static double quotient(struct setup *s, const struct sb_param *p, const float *direction,
                       uint32_t one, double step)
{
    double loss[2];
    float *kept = sb_malloc(p->count, sizeof *kept);
    assert_non_null(kept);
    memcpy(kept, p->value, p->count * sizeof *kept);
    for (int side = 0; side < 2; side++) {
        float h = (float)(side ? step : -step);
        for (uint32_t i = 0; direction && i < p->count; i++)
            p->value[i] = kept[i] + h * direction[i];
        if (!direction)
            p->value[one] = kept[one] + h;
        loss[side] = loss_of(s);
    }
    memcpy(p->value, kept, p->count * sizeof *kept);
    sb_free(kept);
    return (loss[1] - loss[0]) / (2.0 * step);
}

static void wrong(const struct setup *s, const struct sb_param *p, const char *what,
                  double have, double want)
{
    fail_msg("%s of %s%s%s: %s.%s, %s: gradient %.6g, finite differences %.6g",
             sb_form_of(s->c->kind)->name, s->c->arch, *s->c->branch_at ? " at " : "",
             s->c->branch_at, p->layer, p->part, what, have, want);
}

/* A kink within the step spoils a quotient, rounding one whose step is small: the nearest to
 * `want` of up to four steps, each a third of the
 * one before. */
static double nearest(struct setup *s, const struct sb_param *p, const float *direction,
                      uint32_t one, double step, double want)
{
    double best = INFINITY;
    for (int k = 0; k < 4 && !(fabs(best - want) < 0.02 * fabs(want)); k++) {
        double q = quotient(s, p, direction, one, step);
        best = fabs(q - want) < fabs(best - want) ? q : best;
        step /= 3.0;
    }
    return best;
}

static void check_record(struct setup *s, uint32_t record, const float *g)
{
    const struct sb_param *p = &s->net.params.param[record];
    struct sb_stream pick = sb_rng_stream(1, SB_RNG_TEST, 2, record, 0);
    double square = 0.0, most = 0.0;
    for (uint32_t i = 0; i < p->count; i++) {
        square += (double)g[i] * (double)g[i];
        most = fmax(most, fabs((double)g[i]));
    }
    double norm = sqrt(square), rms = norm / sqrt(p->count);
    if (norm == 0.0)
        wrong(s, p, "all", 0.0, NAN);
    /* it changes the loss by about 2 % of a nat, and no number by more than 0.1 */
    double step = fmin(0.01 / square, 0.1 / most);
    double along = nearest(s, p, g, 0, step, square) / norm;
    if (!(fabs(along - norm) <= 0.05 * norm + 2e-5))
        wrong(s, p, "all numbers", norm, along);
    int alone = strcmp(s->c->arch, "lenet") == 0 ? 1 : ALONE; /* it takes its time */
    for (int k = 0; k < alone; k++) {
        uint32_t i = sb_rng_below(&pick, (uint64_t)k, p->count);
        double have = (double)g[i], want = nearest(s, p, NULL, i, 0.01, have);
        if (!(fabs(have - want) <= 0.15 * fmax(fabs(have), rms) + 3e-4))
            wrong(s, p, "one number", have, want);
    }
}

static void check_case(const struct forms_case *c, double density, bool gauss)
{
    struct setup s;
    setup_init(&s, c, density, gauss);
    float *all = gradients(&s), *g = all;
    for (uint32_t i = 0; i < s.net.params.n; i++) {
        if (s.net.params.param[i].gradient)
            check_record(&s, i, g);
        g += s.net.params.param[i].count;
    }
    sb_free(all);
    setup_fini(&s);
}

/* Where only a FEW are wanted: a form with convolutions once, in one architecture. */
static bool wanted(const struct forms_case *c, bool plain)
{
    bool wide = strncmp(c->arch, "mlp", 3) != 0;
    return !FEW || !wide || (strcmp(c->arch, "wrn-10-1") == 0 && c->plain == plain);
}

static void dense_points(void **state)
{
    (void)state;
    for (int i = 0; i < FORMS_CASES;
         i++) /* lenet drops what linear layers read, anyway */
        if ((!forms_cases[i].channels || strcmp(forms_cases[i].arch, "lenet") != 0) &&
            wanted(&forms_cases[i], true))
            check_case(&forms_cases[i], 1.0, false);
}

static void sparse_gaussian(void **state)
{
    (void)state;
    for (int i = 0; i < FORMS_CASES; i++)
        if (!forms_cases[i].plain && strcmp(forms_cases[i].arch, "lenet") != 0 &&
            wanted(&forms_cases[i], false))
            check_case(&forms_cases[i], 0.3, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_points),
        cmocka_unit_test(sparse_gaussian),
    };
    return cmocka_run_group_tests(tests, choose_kernels, NULL);
}
