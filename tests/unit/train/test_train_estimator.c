/* train.estimator = weights where there is nothing to draw: an mlp says so, once, and has the
 * figures that local has; convolutions say nothing, and have others. */
#include "small_images.h"

#include "runs.h"

static char said[256];
static int lines;

static void keep_line(void *context, enum sebays_level level, const char *line)
{
    (void)context;
    if (level != SEBAYS_WARN)
        return;
    snprintf(said, sizeof said, "%s", line);
    lines++;
}

/* Trains three members of arch into out; how many warnings there were. */
static int train(const char *arch, const char *estimator, const char *out)
{
    const char *const options[] = {"data.set=.",
                                   "data.validation=8",
                                   "method.members=3",
                                   "train.batch=24",
                                   arch,
                                   estimator,
                                   NULL};
    struct sebays_recipe *r = run_recipe(options);
    struct sebays_result *result;
    struct sebays_run_options o = {.out = out, .log = keep_line};
    lines = 0;
    assert_int_equal(sebays_train(r, &o, &result), SEBAYS_OK);
    sebays_result_free(result);
    sebays_recipe_free(r);
    return lines;
}

/* Whether two runs recorded the same losses: the lines of metrics.jsonl up to their times. */
static bool same_losses(const char *a, const char *b)
{
    char path[2][64], line[2][1024];
    FILE *f[2];
    bool same = true;
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/metrics.jsonl", i ? b : a);
        f[i] = fopen(path[i], "r");
        assert_non_null(f[i]);
    }
    while (fgets(line[0], sizeof line[0], f[0]) && fgets(line[1], sizeof line[1], f[1])) {
        const char *loss[2] = {strstr(line[0], "loss"), strstr(line[1], "loss")};
        assert_true(loss[0] && loss[1]);
        same = same && strncmp(loss[0], loss[1], strcspn(loss[0], ",}")) == 0;
    }
    fclose(f[0]);
    fclose(f[1]);
    return same;
}

static void an_mlp_says_that_nothing_changes(void **state)
{
    (void)state;
    write_small_images(40, 12);
    assert_int_equal(train("model.arch=mlp-8", "train.estimator=local", "local"), 0);
    assert_int_equal(train("model.arch=mlp-8", "train.estimator=weights", "weights"), 1);
    assert_string_equal(said, "train.estimator = weights changes nothing: it is for "
                              "convolutions, and mlp-8 has none");
    assert_true(same_losses("local", "weights"));
}

static void convolutions_draw(void **state)
{
    (void)state;
    write_small_images(40, 12);
    assert_int_equal(train("model.arch=resnet-8", "train.estimator=local", "local"), 0);
    assert_int_equal(train("model.arch=resnet-8", "train.estimator=weights", "weights"),
                     0);
    assert_false(same_losses("local", "weights"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_mlp_says_that_nothing_changes, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(convolutions_draw, run_set_up, tear_down),
    };
    return cmocka_run_group_tests_name("train/estimator", tests, NULL, NULL);
}
