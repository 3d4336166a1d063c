/* recipe/unused: an option that does nothing under a method is named, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "recipe/auto.h"
#include "recipe/options.h"

/* What a recipe of such lines does not use. */
static void assert_unused(const char *const *said, bool table, const char *want)
{
    struct sb_recipe r;
    char names[SB_RECIPE_UNUSED];
    sb_recipe_init(&r);
    for (; *said; said++)
        assert_int_equal(sb_recipe_assign(&r, *said), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_OK);
    assert_string_equal(sb_recipe_unused(&r, table, names), want);
}

#define SAID(...) ((const char *const[]){__VA_ARGS__, NULL})

static void options_of_other_methods_are_named(void **state)
{
    (void)state;
    assert_unused(SAID("method.name=dnn", "method.dropout_rate=0.3", "train.lr=0.2"),
                  false, "method.dropout_rate");
    assert_unused(SAID("method.name=mc-dropout", "method.dropout_rate=0.3",
                       "train.lr_first=0.2", "method.branch_at=2"),
                  false, "method.branch_at, train.lr_first");
    assert_unused(SAID("method.name=bays", "method.prune_rate_large=0.5",
                       "method.prune_rate=0.3", "method.tune_epochs=3"),
                  false, "method.tune_epochs, method.prune_rate_large");
    assert_unused(SAID("method.name=rank1-bnn", "method.scale_spread=0.3",
                       "method.scale_sd=0.2", "method.kl_anneal_epochs=2",
                       "method.prior_variance=2"),
                  false, "method.prior_variance, method.scale_spread");
    assert_unused(SAID("method.name=snapshot", "train.lr_second=0.01",
                       "train.lr_shape=cosine", "method.rewind_epoch=2"),
                  false, "method.rewind_epoch, train.lr_second, train.lr_shape");
    assert_unused(SAID("train.group=32", "train.milestone_factor=0.5", "data.pad=2"),
                  false, "data.pad, train.group, train.milestone_factor");
}

/* ... also where the method would, of another length or with other members. */
static void options_of_nothing_are_named(void **state)
{
    (void)state;
    assert_unused(SAID("method.name=dnn", "method.explore_epochs=0", "train.lr=5"), false,
                  "train.lr");
    assert_unused(SAID("method.name=pf", "method.explore_epochs=0", "train.lr=5",
                       "train.milestones=1"),
                  false, "");
    assert_unused(SAID("method.name=mimo", "train.milestones=", "train.lr=5"), false,
                  "train.lr");
    assert_unused(SAID("method.name=snapshot", "train.lr=5", "train.choose=nll"), false,
                  "train.choose");
    assert_unused(SAID("train.choose=nll", "data.validation=0"), false, "train.choose");
    assert_unused(SAID("method.name=bnn", "method.explore_epochs=0", "train.lr_rho=1"),
                  false, "train.lr_rho");
    assert_unused(SAID("method.name=bnn", "method.explore_epochs=0", "train.lr_rho=1",
                       "train.rho_rate=constant"),
                  false, "");
    assert_unused(SAID("method.name=rank1-bnn", "train.lr_rho=1"), false, "train.lr_rho");
    assert_unused(SAID("method.members=1", "method.prune_rate_large=0.5"), false,
                  "method.prune_rate_large");
    assert_unused(SAID("method.name=dnn", "eval.sampling=mean", "eval.draws=3"), false,
                  "eval.sampling, eval.draws");
    assert_unused(SAID("eval.sampling=mean", "eval.draws=3"), false, "eval.draws");
}

/* Other columns use other options. */
static void relatives_use_what_their_columns_do(void **state)
{
    (void)state;
    assert_unused(SAID("method.name=mimo", "method.delta_t=5", "method.rho_init=-3"),
                  false, "method.rho_init, method.delta_t");
    assert_unused(SAID("method.name=mimo", "method.delta_t=5", "method.rho_init=-3",
                       "method.posterior=gauss", "method.support=prune-grow"),
                  false, "");
}

/* A written recipe says every option: at the method's default none of them is meant. */
static void a_written_recipe_is_all_used(void **state)
{
    (void)state;
    const struct sb_facts images = {.rows = 1000, .classes = 10};
    for (size_t i = 0; sb_method_at(i); i++) {
        struct sb_recipe r, again;
        char names[SB_RECIPE_UNUSED], *text;
        sb_recipe_init(&r);
        assert_int_equal(sb_recipe_set(&r, "method.name", sb_method_at(i)->name), SB_OK);
        assert_int_equal(sb_recipe_resolve(&r), SB_OK);
        assert_int_equal(sb_recipe_fit(&r, &images), SB_OK);
        assert_int_equal(sb_recipe_write(&r, false, &text), SB_OK);
        sb_recipe_init(&again);
        assert_int_equal(sb_recipe_parse(&again, "r", text, strlen(text)), SB_OK);
        assert_int_equal(sb_recipe_resolve(&again), SB_OK);
        assert_string_equal(sb_recipe_unused(&again, false, names), "");
        sb_free(text);
    }
}

/* Of tables the data chose some of what a written recipe has. */
static void what_a_table_may_have_chosen_is_passed_over(void **state)
{
    (void)state;
    assert_unused(SAID("method.name=dnn", "method.delta_t=12", "method.passes=3"), true,
                  "method.passes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_other_methods_are_named),
        cmocka_unit_test(options_of_nothing_are_named),
        cmocka_unit_test(relatives_use_what_their_columns_do),
        cmocka_unit_test(a_written_recipe_is_all_used),
        cmocka_unit_test(what_a_table_may_have_chosen_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
