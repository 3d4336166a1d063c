/* model/inspect: figures of layers against what the definitions give, and the lines. */
#include "model/inspect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/topology.h"

/* mlp-2 on 1 x 2 x 2 images, 2 classes; of layer 0's eight weights four exist, with
 * |mu| = 1, 2, 3, 4 and sigma = 0.5. */
static void make(struct sb_model *m, bool gauss, uint32_t members)
{
    static const float mean[] = {0}, sd[] = {1};
    static const uint32_t active[] = {4, 4};
    const struct sb_model_info info = {
        .arch = "mlp-2",
        .method = gauss ? "bays" : "static",
        .recipe = "",
        .channels = 1,
        .height = 2,
        .width = 2,
        .classes = 2,
        .mean = mean,
        .sd = sd,
        .gauss = gauss,
    };
    assert_int_equal(sb_model_init(m, &info), SB_OK);
    for (uint32_t i = 0; i < members; i++) {
        struct sb_trained x;
        assert_int_equal(sb_trained_plan(&x, &m->arch, active, gauss), SB_OK);
        for (int k = 0; k < 4; k++) {
            x.position[0][k] = 2 * k;
            x.params.param[0].value[k] = (float)(k % 2 ? -1 - k : 1 + k);
            if (gauss)
                x.params.param[1].value[k] = (float)sb_rho_of_sigma(0.5);
        }
        x.sample_seed = 40 + i;
        x.figures = (struct sb_trained_figures){
            sb_figures_of_classes(0.5, INFINITY, NAN, NAN), 3};
        assert_int_equal(sb_model_add(m, &x), SB_OK);
    }
}

static void layers_have_the_figures_of_their_weights(void **state)
{
    (void)state;
    struct sb_model m;
    struct sb_inspect_layer l[2];
    make(&m, true, 2);
    assert_int_equal(sb_inspect_layers(&m, l), SB_OK);
    assert_string_equal(l[0].name, "0");
    assert_string_equal(l[0].shape, "2 x 4");
    assert_int_equal(l[0].active, 8);
    assert_int_equal(l[0].all, 16);
    assert_int_equal(l[0].bytes, 2 * (3 * 4 + 2) * 4);
    assert_int_equal(l[1].bytes, 2 * (2 * 4 + 2) * 4); /* dense: no positions */
    assert_true(fabs(l[0].mean_mu - 2.5) < 1e-12);
    assert_true(fabs(l[0].mean_sigma - 0.5) < 1e-6);
    for (int q = 0; q < 3; q++)
        assert_true(fabs(l[0].snr[q] - sb_snr_abs(q + 1, 0.5)) < 1e-4);
    assert_true(fabs(l[1].snr[1] - 1.3236) < 1e-4); /* mu = 0 */
    /* no spread at all */
    m.network[0].params.param[1].value[3] = -1e30f;
    assert_int_equal(sb_inspect_layers(&m, l), SB_OK);
    assert_true(isfinite(l[0].mean_sigma) && l[0].snr[0] > 0 && !isnan(l[0].snr[2]));
    sb_model_fini(&m);
}

static char text[2000];

static void keep(void *context, const char *line)
{
    (void)context;
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s\n", line);
}

static void tables_have_features(void **state)
{
    (void)state;
    struct sb_model m;
    text[0] = '\0';
    make(&m, true, 2);
    m.info.channels = 4;
    m.info.height = m.info.width = 1;
    assert_int_equal(sb_inspect_model(&m, 1234, keep, NULL), SB_OK);
    sb_model_fini(&m);
    assert_int_equal(strncmp(text, "network   mlp-2, 4 features, 2 classes\n", 39), 0);
}

static void the_lines_are_these(void **state)
{
    (void)state;
    struct sb_model m;
    text[0] = '\0';
    make(&m, true, 2);
    assert_int_equal(sb_inspect_model(&m, 1234, keep, NULL), SB_OK);
    sb_model_fini(&m);
    assert_string_equal(
        text, "network   mlp-2, images 1 x 2 x 2, 2 classes\n"
              "method    bays, 2 members, Gaussian posterior\n"
              "weights   8 of 12 a network, density 0.6667\n"
              "file      1234 bytes\n"
              "\n"
              "network epoch  val acc  val nll  val ece  sample seed\n"
              "      0      3   0.5000      inf        -  40\n"
              "      1      3   0.5000      inf        -  41\n"
              "\n"
              "layer  shape      active          of  density  mean |mu|  mean sigma"
              "   SNR 25%   SNR 50%   SNR 75%        bytes\n"
              "0      2 x 4           4           8   0.5000        2.5         0.5"
              "      2.09         4         6          112\n"
              "2      2 x 2           4           4   1.0000          0       0.693"
              "     1.324     1.324     1.324           80\n");
}

static void a_point_model_has_no_sigma(void **state)
{
    (void)state;
    struct sb_model m;
    text[0] = '\0';
    make(&m, false, 1);
    assert_int_equal(sb_inspect_model(&m, 0, keep, NULL), SB_OK);
    sb_model_fini(&m);
    assert_non_null(strstr(text, "method    static, 1 member, point weights\n"));
    assert_non_null(
        strstr(text, "0      2 x 4           4           8   0.5000        2.5          "
                     " -         -         -         -           40\n"));
    assert_null(strstr(text, "file"));
}

/* rank-1: every scale -2 with sigma 0.5, every bias 3. */
static void make_scaled(struct sb_model *m)
{
    static const float mean[4] = {0}, sd[] = {1, 1, 1, 1};
    const struct sb_model_info info = {
        .arch = "mlp-2",
        .method = "rank1-bnn",
        .recipe = "",
        .channels = 4,
        .height = 1,
        .width = 1,
        .classes = 2,
        .mean = mean,
        .sd = sd,
        .form = {.kind = SB_FORM_RANK_1,
                 .members = 3,
                 .scale_sd = 0.1f,
                 .scale_prior_sd = 0.1f},
    };
    static const uint32_t active[] = {8, 4};
    struct sb_trained x;
    assert_int_equal(sb_model_init(m, &info), SB_OK);
    assert_int_equal(sb_trained_plan(&x, &m->trained, active, false), SB_OK);
    for (uint32_t i = 0; i < x.params.n; i++) {
        struct sb_param *p = &x.params.param[i];
        for (uint32_t k = 0; k < p->count; k++)
            p->value[k] = p->role == SB_PARAM_SCALE        ? -2.0f
                          : p->role == SB_PARAM_SCALE_BIAS ? 3.0f
                          : p->role == SB_PARAM_SCALE_RHO  ? (float)sb_rho_of_sigma(0.5)
                                                           : p->value[k];
    }
    x.figures =
        (struct sb_trained_figures){sb_figures_of_classes(0.5, INFINITY, NAN, NAN), 3};
    assert_int_equal(sb_model_add(m, &x), SB_OK);
}

static void scales_have_lines_of_their_own(void **state)
{
    (void)state;
    struct sb_model m;
    text[0] = '\0';
    make_scaled(&m);
    assert_int_equal(sb_inspect_model(&m, 0, keep, NULL), SB_OK);
    sb_model_fini(&m);
    assert_non_null(strstr(
        text, "\nmethod    rank1-bnn, 3 members, point weights, Gaussian scales\n"));
    assert_non_null(strstr(
        text, "\n\nscale  of members    mean |mu|  mean sigma  mean |bias|        bytes\n"
              "0.r    3 x 4                 2         0.5            -           96\n"
              "0.s    3 x 2                 2         0.5            3           72\n"
              "2.r    3 x 2                 2         0.5            -           48\n"
              "2.s    3 x 2                 2         0.5            3           72\n"));
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    struct sb_model m;
    make(&m, true, 1);
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 20; n++) {
        text[0] = '\0';
        sb_mem_fail_after(n);
        st = sb_inspect_model(&m, 0, keep, NULL);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || (st == SB_ENOMEM && text[0] == '\0'));
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(n, 4); /* the list and two layers */
    sb_model_fini(&m);
    make(&m, true, 0);
    assert_int_equal(sb_inspect_model(&m, 0, keep, NULL), SB_EARG);
    assert_string_equal(sb_message(), "inspect: the model has no members");
    sb_model_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_have_the_figures_of_their_weights),
        cmocka_unit_test(tables_have_features),
        cmocka_unit_test(the_lines_are_these),
        cmocka_unit_test(a_point_model_has_no_sigma),
        cmocka_unit_test(scales_have_lines_of_their_own),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
