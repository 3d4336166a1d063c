/* recipes/: every one is valid, and says what its name and its comment promise. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nn/arch.h"
#include "recipe/options.h"
#include "train/stage.h"

enum { CIFAR_TRAIN = 45000 };

/* Reads recipes/<name>, resolved. */
static void load(struct sb_recipe *r, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", RECIPES, name);
    sb_recipe_init(r);
    if (sb_recipe_read(r, path) != SB_OK || sb_recipe_resolve(r) != SB_OK)
        fail_msg("%s: %s", path, sb_message());
}

static uint64_t epochs(const struct sb_recipe *r)
{
    struct sb_schedule s;
    assert_int_equal(sb_schedule_init(&s, &r->config, r->method, CIFAR_TRAIN), SB_OK);
    uint64_t all = s.total_epochs;
    sb_schedule_fini(&s);
    return all;
}

static void assert_arch(const struct sb_recipe *r)
{
    struct sb_arch a;
    bool grey = strcmp(r->config.data.set, "fashion-mnist") == 0;
    uint32_t side = grey ? 28 : 32, channels = grey ? 1 : 3;
    const struct sb_arch_shape shape = {
        r->config.model.arch, channels, side, side, 10, SB_LIKELIHOOD_CATEGORICAL};
    sb_status st = sb_arch_init(&a, &shape);
    sb_arch_fini(&a);
    assert_int_equal(st, SB_OK);
}

static void every_recipe_is_valid(void **state)
{
    (void)state;
    const char *const patterns[] = {RECIPES "/*.ini", RECIPES "/paper/*.ini"};
    const size_t want[] = {36, 44};
    for (size_t k = 0; k < 2; k++) {
        glob_t g;
        assert_int_equal(glob(patterns[k], 0, NULL, &g), 0);
        assert_true(g.gl_pathc >= want[k]);
        for (size_t i = 0; i < g.gl_pathc; i++) {
            struct sb_recipe r;
            char unused[SB_RECIPE_UNUSED];
            load(&r, g.gl_pathv[i] + strlen(RECIPES) + 1);
            assert_arch(&r);
            assert_string_equal(sb_recipe_unused(&r, false, unused), "");
        }
        globfree(&g);
    }
}

/* One budget for all methods, so that their results can stand side by side. */
static void families_have_one_budget(void **state)
{
    (void)state;
    struct sb_recipe r;
    char name[64];
    uint64_t fashion = 0, cifar = 0;
    for (size_t i = 0; sb_method_at(i); i++) {
        snprintf(name, sizeof name, "fashion-%s.ini", sb_method_at(i)->name);
        load(&r, name);
        assert_ptr_equal(r.method, sb_method_at(i));
        fashion = fashion ? fashion : epochs(&r);
        assert_int_equal(epochs(&r), fashion);
        snprintf(name, sizeof name, "cifar10-wrn-16-2-%s.ini", sb_method_at(i)->name);
        load(&r, name);
        assert_ptr_equal(r.method, sb_method_at(i));
        cifar = cifar ? cifar : epochs(&r);
        assert_int_equal(epochs(&r), cifar);
    }
}

static void the_reference_is_the_reference(void **state)
{
    (void)state;
    struct sb_recipe r;
    load(&r, "fashion-reference.ini");
    const struct sb_config_method *m = &r.config.method;
    assert_string_equal(m->name, "sebays");
    assert_int_equal(m->members, 3);
    assert_int_equal(m->explore_epochs, 3);
    assert_int_equal(m->exploit_epochs, 2);
    assert_int_equal(m->delta_t, 200);
    assert_int_equal(m->rate_decay, SB_CONFIG_DECAY_COSINE);
    assert_true(m->sparsity == 0.8 && m->prior_variance == 0.04);
    assert_int_equal(r.config.train.batch, 128);
    assert_int_equal(r.config.data.augment, SB_CONFIG_AUGMENT_NONE);
    assert_true(r.config.data.validation == 0.1);
    assert_int_equal(r.config.eval.sampling, SB_SAMPLE_NOISE);
}

/* docs/method.md 4's table; 0 where a point network has no prior. */
static void the_papers_rows(void **state)
{
    (void)state;
    static const struct {
        const char *name, *method;
        uint32_t members, epochs, anneal[2];
        double sparsity, prior[2];
    } rows[] = {
        {"sebays-m3-s80", "sebays", 3, 450, {150, 150}, 0.8, {0.04, 0.04}},
        {"sebays-m7-s90", "sebays", 7, 850, {0, 0}, 0.9, {0.04, 0.04}},
        {"sebays-single-s80", "sebays", 1, 250, {150, 150}, 0.8, {0.04, 0.04}},
        {"sebays-single-s90", "sebays", 1, 250, {0, 0}, 0.9, {0.04, 0.04}},
        {"bays-m3-s80", "bays", 3, 750, {0, 0}, 0.8, {1, 0.04}},
        {"bays-single-s80", "bays", 1, 250, {0, 0}, 0.8, {1, 0.04}},
        {"bnn", "bnn", 1, 250, {150, 0}, 0, {1, 1}},
        {"bnn-ensemble-m3", "bnn-ensemble", 3, 750, {150, 0}, 0, {1, 1}},
        {"edst-m3-s80", "edst", 3, 450, {0, 0}, 0.8, {0, 0}},
        {"edst-m7-s90", "edst", 7, 850, {0, 0}, 0.9, {0, 0}},
        {"dst-m3-s80", "dst", 3, 750, {0, 0}, 0.8, {0, 0}},
        {"static-m3-s80", "static", 3, 750, {0, 0}, 0.8, {0, 0}},
        {"ltr-m3-s80", "ltr", 3, 1000, {0, 0}, 0.8, {0, 0}},
        {"pf-m3-s80", "pf", 3, 1500, {0, 0}, 0.8, {0, 0}},
        {"dnn", "dnn", 1, 250, {0, 0}, 0, {0, 0}},
        {"dnn-ensemble-m4", "dnn-ensemble", 4, 1000, {0, 0}, 0, {0, 0}},
        {"mc-dropout", "mc-dropout", 1, 200, {0, 0}, 0, {0, 0}},
        {"mimo-m3", "mimo", 3, 250, {0, 0}, 0, {0, 0}},
        {"batch-ensemble-m4", "batch-ensemble", 4, 250, {0, 0}, 0, {0, 0}},
        {"rank1-bnn-m4", "rank1-bnn", 4, 250, {0, 0}, 0, {0, 0}},
        {"treenet-m3", "treenet", 3, 250, {0, 0}, 0, {0, 0}},
        {"snapshot-m5", "snapshot", 5, 250, {0, 0}, 0, {0, 0}},
    };
    static const char *const sets[] = {"cifar10", "cifar100"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < 2; k++) {
            struct sb_recipe r;
            char name[64];
            snprintf(name, sizeof name, "paper/%s-%s.ini", sets[k], rows[i].name);
            load(&r, name);
            const struct sb_config_method *m = &r.config.method;
            assert_string_equal(r.config.data.set, sets[k]);
            assert_string_equal(r.config.model.arch, "wrn-28-10");
            assert_string_equal(m->name, rows[i].method);
            assert_int_equal(m->members, rows[i].members);
            assert_int_equal(epochs(&r), rows[i].epochs);
            assert_true(m->sparsity == rows[i].sparsity);
            assert_int_equal(m->kl_anneal_epochs, rows[i].anneal[k]);
            if (rows[i].prior[k] > 0)
                assert_true(m->prior_variance == rows[i].prior[k]);
            assert_int_equal(m->rate_decay, SB_CONFIG_DECAY_NONE);
        }
}

/* docs/method.md 5: the schedules of those that are one network, and what is their own. */
static void the_papers_rows_of_one_network(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double lr, milestone[3], decay;
    } rows[] = {
        {"mc-dropout", 0.05, {0.3, 0.6, 0.8}, 6e-4},
        {"mimo-m3", 0.1, {0.4, 0.8, 0.9}, 6e-4},
        {"batch-ensemble-m4", 0.1, {0.4, 0.8, 0.9}, 6e-4},
        {"rank1-bnn-m4", 0.1, {0.4, 0.8, 0.9}, 2e-4},
    };
    struct sb_recipe r;
    char name[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "paper/cifar10%s-%s.ini", k ? "0" : "",
                     rows[i].name);
            load(&r, name);
            const struct sb_config_train *t = &r.config.train;
            assert_true(t->lr == rows[i].lr && t->weight_decay == rows[i].decay);
            assert_true(t->nesterov && t->momentum == 0.9 && t->milestone_factor == 0.2);
            assert_int_equal(t->warmup_epochs, 1);
            assert_int_equal(t->milestones.count, 3);
            for (int e = 0; e < 3; e++)
                assert_true(t->milestones.value[e] == rows[i].milestone[e]);
        }
    load(&r, "paper/cifar10-mc-dropout.ini");
    assert_int_equal(r.config.method.passes, 1);
    assert_true(r.config.method.dropout_rate == 0.1);
    load(&r, "paper/cifar10-mimo-m3.ini");
    assert_int_equal(r.config.method.repetitions, 4);
    load(&r, "paper/cifar10-batch-ensemble-m4.ini");
    assert_true(r.config.method.scale_rate == 0.5 && r.config.method.scale_spread == 0.5);
    load(&r, "paper/cifar10-rank1-bnn-m4.ini");
    assert_true(r.config.method.kl_anneal_epochs == 0.8);
    assert_int_equal(r.config.method.kl_anneal_by, SB_CONFIG_ANNEAL_STEP);
    assert_int_equal(r.config.method.scale_start, SB_CONFIG_SIGNS);
}

/* docs/method.md 4: what all other rows have in common, and the rates of those that move. */
static void the_papers_rows_of_two_steps(void **state)
{
    (void)state;
    glob_t g;
    assert_int_equal(glob(RECIPES "/paper/*.ini", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct sb_recipe r;
        load(&r, g.gl_pathv[i] + strlen(RECIPES) + 1);
        const struct sb_config_train *t = &r.config.train;
        const struct sb_config_method *m = &r.config.method;
        assert_int_equal(t->batch, 128);
        assert_true(t->momentum == 0.9);
        assert_int_equal(r.config.data.augment, SB_CONFIG_CROP_FLIP);
        if (t->milestones.count > 0)
            continue; /* above */
        assert_true(t->lr == 0.1 && t->weight_decay == 5e-4 && !t->nesterov);
        assert_int_equal(t->warmup_epochs, 0);
        if (strcmp(m->name, "snapshot") != 0)
            assert_true(t->lr_first == 0.01 && t->lr_second == 0.001);
        if (r.method->posterior == SB_POSTERIOR_GAUSS)
            assert_true(t->lr_rho == 0.01 && t->rho_rate == SB_CONFIG_RHO_AS_MU);
        if (r.method->support == SB_SUPPORT_PRUNE_GROW)
            assert_true(m->delta_t == 1000 && m->prune_rate == 0.5 &&
                        m->prune_rate_large == 0.8);
        if (r.method->support == SB_SUPPORT_FINE_TUNE)
            assert_true(t->lr_tune == 0.001 && m->tune_epochs == 250);
        if (r.method->support == SB_SUPPORT_REWIND)
            assert_int_equal(m->rewind_epoch, 5); /* 2 % of 250 */
    }
    globfree(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recipe_is_valid),
        cmocka_unit_test(families_have_one_budget),
        cmocka_unit_test(the_reference_is_the_reference),
        cmocka_unit_test(the_papers_rows),
        cmocka_unit_test(the_papers_rows_of_one_network),
        cmocka_unit_test(the_papers_rows_of_two_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
