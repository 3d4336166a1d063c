/* Options that follow the data: what is open, what closes it, and that it can be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "recipe/auto.h"

static const struct sb_facts images = {
    .rows = 60000, .classes = 10, .usual = SB_HOLDOUT_TAIL};

static struct sb_facts table_of(uint32_t rows)
{
    return (struct sb_facts){
        .table = true, .rows = rows, .classes = 3, .usual = SB_HOLDOUT_STRATIFIED};
}

/* A resolved recipe with these assignments, NULL last. */
static void make(struct sb_recipe *r, const char *const *assignments)
{
    sb_recipe_init(r);
    for (; assignments && *assignments; assignments++)
        assert_int_equal(sb_recipe_assign(r, *assignments), SB_OK);
    assert_int_equal(sb_recipe_resolve(r), SB_OK);
}

static void fit(struct sb_recipe *r, const char *const *assignments,
                const struct sb_facts *facts)
{
    make(r, assignments);
    if (sb_recipe_fit(r, facts) != SB_OK)
        fail_msg("%u rows: %s", facts->rows, sb_message());
}

static void assert_value(const struct sb_recipe *r, const char *name, const char *value)
{
    char have[SB_OPTION_VALUE];
    assert_int_equal(sb_recipe_get(r, name, have), SB_OK);
    assert_string_equal(have, value);
}

static void auto_is_a_word_until_the_data_is_known(void **state)
{
    (void)state;
    struct sb_recipe r;
    const char *const said[] = {"train.batch=32", "train.lr=auto", NULL};
    make(&r, said);
    assert_value(&r, "train.batch", "32");
    assert_value(&r, "train.lr", "auto");
    assert_value(&r, "model.arch", "auto");
    assert_int_equal(sb_recipe_set(&r, "train.batch", "auto"), SB_OK); /* taken back */
    assert_int_equal(sb_recipe_resolve(&r), SB_OK);
    assert_value(&r, "train.batch", "auto");
    assert_int_equal(sb_recipe_set(&r, "train.momentum", "auto"), SB_EARG);
}

/* As before there was anything automatic. */
static void images_get_the_papers_numbers(void **state)
{
    (void)state;
    struct sb_recipe r;
    fit(&r, NULL, &images);
    assert_value(&r, "model.arch", "lenet");
    assert_value(&r, "method.explore_epochs", "150");
    assert_value(&r, "method.exploit_epochs", "100");
    assert_value(&r, "method.members", "3");
    assert_value(&r, "method.sparsity", "0.8");
    assert_value(&r, "method.delta_t", "1000");
    assert_value(&r, "train.batch", "128");
    assert_value(&r, "train.lr", "0.1");
    assert_value(&r, "train.choose", "accuracy");
    assert_value(&r, "train.patience", "0");
    assert_value(&r, "data.validation", "0.1");
    assert_value(&r, "data.split", "tail");
    const char *const bays[] = {"method.name=bays", NULL};
    fit(&r, bays, &images);
    assert_value(&r, "method.exploit_epochs", "125");
    assert_value(&r, "method.prior_variance", "1");
}

static void tables_go_by_their_rows(void **state)
{
    (void)state;
    struct sb_recipe few, some, many;
    struct sb_facts f = table_of(150), s = table_of(5000), m = table_of(1000000);
    fit(&few, NULL, &f);
    fit(&some, NULL, &s);
    fit(&many, NULL, &m);
    assert_value(&few, "data.numeric", "standard");
    assert_value(&few, "data.validation", "0");
    assert_value(&few, "train.patience", "0");
    assert_value(&few, "train.batch", "16");
    assert_value(&few, "train.choose", "nll");
    assert_value(&few, "data.split", "stratified");
    assert_value(&some, "data.numeric", "pieces");
    assert_value(&some, "data.validation", "500");
    assert_value(&many, "data.validation", "5000");
    assert_value(&many, "train.batch", "256");
    assert_true(many.config.method.explore_epochs < some.config.method.explore_epochs);
    assert_true(many.config.train.patience > 0);
}

/* Very wide rows of classes are learned with smaller steps. */
static void wide_rows(void **state)
{
    (void)state;
    static const struct {
        uint32_t features;
        double lr;
    } cases[] = {
        {999, 0.05}, {1000, 0.025}, {1999, 0.025}, {3000, 0.0125}, {20000, 0.0015625}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sb_facts f = table_of(150);
        struct sb_recipe r;
        f.features = cases[i].features;
        fit(&r, NULL, &f);
        assert_true(r.config.train.lr == cases[i].lr);
        f.classes = 0;
        f.usual = SB_HOLDOUT_RANDOM;
        fit(&r, NULL, &f);
        assert_true(r.config.train.lr == (cases[i].features < 1000 ? 0.01 : 0.005));
    }
}

/* Work is bounded: features times steps, and no pieces of very many columns. */
static void very_wide_rows(void **state)
{
    (void)state;
    static const struct {
        uint32_t rows, features, classes;
        const char *numeric, *explore, *exploit;
    } cases[] = {
        {480, 255, 0, "standard", "334", "67"}, {480, 511, 0, "standard", "334", "67"},
        {480, 512, 0, "standard", "167", "34"}, {480, 6000, 0, "standard", "15", "4"},
        {480, 60000, 0, "standard", "10", "4"}, {150, 60000, 3, "standard", "8", "4"},
        {3000, 255, 3, "pieces", "88", "44"},   {3000, 256, 3, "standard", "88", "44"},
        {3000, 1500, 3, "standard", "18", "9"}, {3000, 60000, 3, "standard", "14", "7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sb_facts f = table_of(cases[i].rows);
        struct sb_recipe r;
        f.features = f.columns = cases[i].features;
        f.classes = cases[i].classes;
        fit(&r, NULL, &f);
        assert_value(&r, "data.numeric", cases[i].numeric);
        assert_value(&r, "method.explore_epochs", cases[i].explore);
        assert_value(&r, "method.exploit_epochs", cases[i].exploit);
    }
    struct sb_facts texts = table_of(3000); /* few columns, of many texts */
    struct sb_recipe r;
    texts.columns = 10;
    texts.features = 500;
    fit(&r, NULL, &texts);
    assert_value(&r, "data.numeric", "pieces");
}

static struct sb_facts outcomes_of(uint32_t rows)
{
    return (struct sb_facts){.table = true, .rows = rows, .usual = SB_HOLDOUT_RANDOM};
}

/* Continuous targets have numbers of their own; a few rows are not seen without end. */
static void targets_are_not_classes(void **state)
{
    (void)state;
    struct sb_recipe tiny, few, some, many, classes;
    struct sb_facts t = outcomes_of(20), f = outcomes_of(500), s = outcomes_of(8000),
                    m = outcomes_of(1000000), c = table_of(500);
    fit(&tiny, NULL, &t);
    fit(&few, NULL, &f);
    fit(&some, NULL, &s);
    fit(&many, NULL, &m);
    fit(&classes, NULL, &c);
    assert_value(&few, "model.noise", "per-example");
    assert_value(&classes, "model.noise", "shared");
    assert_value(&few, "train.clip", "5");
    assert_value(&many, "train.clip", "5");
    assert_value(&classes, "train.clip", "0");
    assert_value(&few, "data.validation", "0");
    assert_value(&few, "data.split", "random");
    assert_value(&few, "train.patience", "0");
    assert_value(&some, "data.validation", "800");
    assert_value(&many, "data.validation", "5000");
    assert_true(some.config.train.patience > 0 && many.config.train.patience > 0);
    assert_true(few.config.train.lr < classes.config.train.lr);
    assert_true(few.config.method.explore_epochs > classes.config.method.explore_epochs);
    assert_int_equal(tiny.config.method.explore_epochs, 1000);
    assert_true(many.config.method.explore_epochs >= 4);
    const char *const point[] = {"method.name=edst", NULL};
    fit(&few, point, &f); /* nothing else keeps it from learning rows by heart */
    assert_value(&few, "data.validation", "50");
    assert_value(&few, "train.patience", "30");
    const char *const said[] = {"model.noise=shared", NULL};
    fit(&few, said, &f);
    assert_value(&few, "model.noise", "shared");
}

/* Where members come of one run, and rows tell it. */
static void intervals_get_a_width(void **state)
{
    static const struct {
        const char *said;
        uint32_t rows;
        bool classes, fitted;
    } cases[] = {
        {"method.name=sebays", 40, false, true},
        {"method.name=sebays", 39, false, false},
        {"method.name=sebays", 100000, false, true},
        {"method.name=sebays", 500, true, false},
        {"method.name=mc-dropout", 500, false, true},
        {"method.name=bays", 500, false, false},
        {"method.name=dnn-ensemble", 5000, false, false},
        {"model.width=none", 500, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const said[] = {cases[i].said, NULL};
        uint32_t rows = cases[i].rows;
        struct sb_facts f = cases[i].classes ? table_of(rows) : outcomes_of(rows);
        struct sb_recipe r;
        fit(&r, said, &f);
        assert_value(&r, "model.width", cases[i].fitted ? "fitted" : "none");
    }
}

/* Updates cost steps, and what they grow has to learn. */
static void updates_never_eat_the_steps(void **state)
{
    (void)state;
    struct sb_recipe r;
    const char *const said[] = {"method.explore_epochs=1", "method.grow_batches=12",
                                NULL};
    struct sb_facts f = table_of(100);
    fit(&r, said, &f);
    assert_int_equal(r.config.method.delta_t, 12);
    fit(&r, said + 2, &f);
    assert_true(r.config.method.delta_t >= 10);
}

static void what_is_said_stays_and_others_follow_it(void **state)
{
    (void)state;
    struct sb_recipe r;
    const char *const said[] = {"train.lr=0.5", "train.batch=50", "data.validation=0.5",
                                "method.sparsity=0.9", NULL};
    struct sb_facts f = table_of(200);
    fit(&r, said, &f);
    assert_value(&r, "train.lr_first", "0.1");
    assert_value(&r, "train.lr_second", "0.01");
    assert_value(&r, "method.sparsity", "0.9");
    assert_value(&r, "method.explore_epochs", "32"); /* 64 steps, two an epoch */
}

/* Every method, every size: what is chosen fits together, and reads back as it is. */
static void what_is_chosen_can_be_written(void **state)
{
    (void)state;
    const uint32_t rows[] = {2, 100, 1999, 2000, 30000, 1000000};
    const struct sb_method *m;
    for (size_t i = 0; (m = sb_method_at(i)); i++)
        for (size_t k = 0; k < 2 * sizeof rows / sizeof *rows; k++) {
            struct sb_recipe r, again;
            struct sb_facts f = k % 2 ? table_of(rows[k / 2]) : outcomes_of(rows[k / 2]);
            char name[128], *text, *twice;
            snprintf(name, sizeof name, "method.name=%s", m->name);
            const char *const said[] = {name, NULL};
            fit(&r, said, &f);
            assert_int_equal(sb_recipe_write(&r, false, &text), SB_OK);
            sb_recipe_init(&again);
            assert_int_equal(sb_recipe_parse(&again, "r", text, strlen(text)), SB_OK);
            assert_int_equal(sb_recipe_resolve(&again), SB_OK);
            assert_int_equal(sb_recipe_fit(&again, &f), SB_OK);
            assert_int_equal(sb_recipe_write(&again, false, &twice), SB_OK);
            assert_string_equal(text, twice);
            assert_int_equal(sb_recipe_same(&r, &again), SB_OK);
            sb_free(text);
            sb_free(twice);
        }
}

/* Where a set is says nothing; what it is called does. */
static void places_do_not_count(void **state)
{
    (void)state;
    struct sb_recipe a, b, c;
    char *x, *y;
    make(&a, (const char *const[]){"data.set=here/t.csv", NULL});
    make(&b, (const char *const[]){"data.set=/some/where/t.csv", NULL});
    make(&c, (const char *const[]){"data.set=here/u.csv", NULL});
    assert_int_equal(sb_recipe_same(&a, &b), SB_OK);
    assert_int_equal(sb_recipe_same(&a, &c), SB_EARG);
    assert_int_equal(sb_recipe_canonical(&a, &x), SB_OK);
    assert_int_equal(sb_recipe_canonical(&b, &y), SB_OK);
    assert_string_equal(x, y);
    assert_non_null(strstr(x, "\nset = t.csv\n"));
    sb_free(x);
    sb_free(y);
}

static void patience_needs_something_to_go_by(void **state)
{
    (void)state;
    struct sb_recipe r;
    sb_recipe_init(&r);
    assert_int_equal(sb_recipe_assign(&r, "train.patience=3"), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_OK);
    assert_int_equal(sb_recipe_assign(&r, "data.validation=0"), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_EARG);
    assert_string_equal(
        sb_message(),
        "train.patience = 3: without a validation part (data.validation = 0) "
        "nothing tells whether a phase improves; give one, or leave it out");
    assert_int_equal(sb_recipe_assign(&r, "data.validation=0.1"), SB_OK);
    assert_int_equal(sb_recipe_assign(&r, "train.lr_shape=cosine"), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_EARG);
}

/* No memory for the sentence, then success. */
static void chosen_says_what_was_open(void **state)
{
    (void)state;
    struct sb_recipe before, r;
    struct sb_facts f = table_of(150);
    char *text;
    make(&before, (const char *const[]){"train.batch=8", NULL});
    r = before;
    assert_int_equal(sb_recipe_fit(&r, &f), SB_OK);
    sb_mem_fail_after(0);
    assert_int_equal(sb_recipe_chosen(&before, &r, &text), SB_ENOMEM);
    sb_mem_fail_after(-1);
    assert_null(text);
    assert_int_equal(sb_recipe_chosen(&before, &r, &text), SB_OK);
    assert_non_null(strstr(text, "model.arch = mlp-"));
    assert_null(strstr(text, "train.batch"));
    sb_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_is_a_word_until_the_data_is_known),
        cmocka_unit_test(images_get_the_papers_numbers),
        cmocka_unit_test(tables_go_by_their_rows),
        cmocka_unit_test(wide_rows),
        cmocka_unit_test(very_wide_rows),
        cmocka_unit_test(targets_are_not_classes),
        cmocka_unit_test(intervals_get_a_width),
        cmocka_unit_test(updates_never_eat_the_steps),
        cmocka_unit_test(what_is_said_stays_and_others_follow_it),
        cmocka_unit_test(what_is_chosen_can_be_written),
        cmocka_unit_test(places_do_not_count),
        cmocka_unit_test(patience_needs_something_to_go_by),
        cmocka_unit_test(chosen_says_what_was_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
