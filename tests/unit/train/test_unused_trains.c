/* recipe/unused beside what training does: an option that is named as unused changes no
 * number of a run, one that is not named changes some. Every row of the method table is
 * trained with and without each option that a method can be without. */
#include "data_fixture.h"

#include "recipe/options.h"
#include "runs.h"

/* What is tried: values that no method has by itself and that show in a small run. */
static const char *const tried[][2] = {
    {"method.allocation", "uniform"},
    {"method.prior_variance", "0.3"},
    {"method.rho_init", "-2"},
    {"method.kl_anneal_epochs", "2"},
    {"method.tune_epochs", "3"},
    {"method.rewind_epoch", "2"},
    {"method.prune_rate", "0.9"},
    {"method.prune_rate_large", "0.1"},
    {"method.delta_t", "2"},
    {"method.grow_batches", "2"},
    {"method.dropout_rate", "0.4"},
    {"method.repetitions", "2"},
    {"method.same_share", "1"},
    {"method.scale_spread", "0.2"},
    {"method.scale_rate", "3"},
    {"method.scale_sd", "0.5"},
    {"method.scale_prior_sd", "0.5"},
    {"method.branch_at", "2"},
    {"train.lr", "0.7"},
    {"train.lr_first", "0.7"},
    {"train.lr_second", "0.7"},
    {"train.lr_shape", "cosine"},
    {"train.lr_tune", "0.7"},
    {"train.lr_rho", "3"},
    {"train.rho_rate", "constant"},
    {"train.milestone_factor", "0.7"},
};

enum { TRIED = sizeof tried / sizeof *tried, RATES = 18 /* the first of train */ };

enum { METHOD, EXPLORE, MEMBERS, TUNE, FIRST, SECOND, LAST, TRIAL, END, LISTED };

/* The assignments of a row beside what is usual (runs.h). */
struct row {
    char text[END][64];
    const char *list[LISTED];
};

static void put_row(struct row *w, const char *method, const char *explore,
                    uint32_t members)
{
    *w = (struct row){0};
    snprintf(w->text[METHOD], 64, "method.name=%s", method);
    snprintf(w->text[EXPLORE], 64, "method.explore_epochs=%s", explore);
    snprintf(w->text[TUNE], 64, "method.tune_epochs=1");
    snprintf(w->text[FIRST], 64, "train.lr_first=0.02"); /* else they follow train.lr */
    snprintf(w->text[LAST], 64, "data.validation=0");    /* members are the last epoch */
    snprintf(w->text[SECOND], 64, "train.lr_second=0.002");
    snprintf(w->text[MEMBERS], 64, "method.members=%u", members);
    for (int i = 0; i < TRIAL; i++)
        w->list[i] = w->text[i];
}

/* Whether the row can be; names: what of it is not used. */
static bool resolves(const struct row *w, char names[SB_RECIPE_UNUSED])
{
    const char *const *lists[] = {run_usual, w->list};
    struct sb_recipe r;
    sb_recipe_init(&r);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; lists[k][i]; i++)
            assert_int_equal(sb_recipe_assign(&r, lists[k][i]), SB_OK);
    if (sb_recipe_resolve(&r) != SB_OK)
        return false;
    sb_recipe_unused(&r, false, names);
    return true;
}

/* The arrays of a model file; its header has the recipe. */
static size_t skip_header(const struct sb_map *m)
{
    uint64_t header;
    assert_true(m->size > sizeof header);
    memcpy(&header, m->data, sizeof header);
    assert_true(header < m->size - sizeof header);
    return sizeof header + (size_t)header;
}

static bool same_numbers(void)
{
    struct sb_map a, b;
    assert_int_equal(sb_map_open(&a, "without/model.safetensors"), SB_OK);
    assert_int_equal(sb_map_open(&b, "with/model.safetensors"), SB_OK);
    size_t x = skip_header(&a), y = skip_header(&b);
    bool same =
        a.size - x == b.size - y &&
        memcmp((const char *)a.data + x, (const char *)b.data + y, a.size - x) == 0;
    sb_map_close(&a);
    sb_map_close(&b);
    return same;
}

/* Whether it is one of "a.b, a.c": others begin with some. */
static bool lists_name(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = names; at && *at; at = strstr(at, ", "), at += at ? 2 : 0)
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    return false;
}

/* The row with each of the options, the first `count` of the list from `first` on. */
static void try_options(struct row *w, size_t first, size_t count)
{
    char names[SB_RECIPE_UNUSED];
    assert_int_equal(run_train(w->list, "without", false, run_never), SEBAYS_OK);
    for (size_t i = first; i < first + count; i++) {
        snprintf(w->text[TRIAL], 64, "%s=%s", tried[i][0], tried[i][1]);
        w->list[TRIAL] = w->text[TRIAL];
        if (resolves(w, names)) {
            assert_int_equal(run_train(w->list, "with", false, run_never), SEBAYS_OK);
            bool named = lists_name(names, tried[i][0]);
            if (named != same_numbers())
                fail_msg("%s, %s, %s: %s, and the model is %s", w->text[METHOD],
                         w->text[EXPLORE], w->text[TRIAL],
                         named ? "named as unused" : "not named",
                         named ? "another" : "the same");
            assert_true(sb_file_remove_tree("with"));
        }
        w->list[TRIAL] = NULL;
    }
    assert_true(sb_file_remove_tree("without"));
}

static void try_row(const char *method, const char *explore, size_t first, size_t count)
{
    char names[SB_RECIPE_UNUSED];
    struct row w;
    for (uint32_t members = 1; members <= 2; members++) {
        put_row(&w, method, explore, members);
        if (resolves(&w, names))
            try_options(&w, first, count);
    }
}

static void what_is_named_changes_nothing_and_nothing_else_does(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    for (size_t i = 0; sb_method_at(i); i++) {
        try_row(sb_method_at(i)->name, "1", 0, TRIED);
        try_row(sb_method_at(i)->name, "0", RATES, TRIED - RATES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_is_named_changes_nothing_and_nothing_else_does, run_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
