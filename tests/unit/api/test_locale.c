/* Texts that the library makes are the same in a program whose locale has a decimal comma. */
#include "data_fixture.h"

#include <locale.h>

#include "base/log.h"
#include "base/text.h"
#include "runs.h"

/* Made by tests/CMakeLists.txt, where there is localedef. */
#define COMMA "de_DE.UTF-8"

static bool enter_comma(void)
{
    char text[16];
    if (!setlocale(LC_ALL, COMMA)) {
        print_message("NOT TESTED: a decimal comma (needs localedef; Debian: locales)\n");
        return false;
    }
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5"); /* it is one */
    return true;
}

typedef sebays_status text_fn(char **out);

static sebays_status recipe_text(char **out)
{
    struct sebays_recipe *r;
    assert_int_equal(sebays_recipe_load("run/recipe.ini", &r), SEBAYS_OK);
    assert_int_equal(sebays_recipe_assign(r, "train.lr=0.125"), SEBAYS_OK);
    assert_int_equal(sebays_recipe_check(r), SEBAYS_OK);
    sebays_status st = sebays_recipe_text(r, true, out);
    sebays_recipe_free(r);
    return st;
}

static sebays_status inspection(char **out)
{
    return sebays_inspect("run", out);
}

static sebays_status information(bool json, char **out)
{
    struct sebays_data *d;
    struct sebays_data_options o = {0};
    assert_int_equal(sebays_data_open("./train.csv", &o, &d), SEBAYS_OK);
    sebays_status st = sebays_data_info(d, json, out);
    sebays_data_free(d);
    return st;
}

static sebays_status information_text(char **out)
{
    return information(false, out);
}

static sebays_status information_json(char **out)
{
    return information(true, out);
}

static sebays_status evaluation(char **out)
{
    struct sebays_eval_options o = {.threads = 1};
    return sebays_eval("run", &o, out);
}

static sebays_status comparison(const char *format, char **out)
{
    const char *const runs[] = {"run"};
    return sebays_compare(runs, 1, format, out);
}

static sebays_status compared_text(char **out)
{
    return comparison("text", out);
}

static sebays_status compared_markdown(char **out)
{
    return comparison("markdown", out);
}

static sebays_status compared_latex(char **out)
{
    return comparison("latex", out);
}

static sebays_status compared_csv(char **out)
{
    return comparison("csv", out);
}

static sebays_status compared_json(char **out)
{
    return comparison("json", out);
}

static void texts_do_not_depend_on_it(void **state)
{
    (void)state;
    text_fn *const make[] = {recipe_text,       inspection,         information_text,
                             information_json,  evaluation,         compared_text,
                             compared_markdown, compared_latex,     compared_csv,
                             compared_json,     sebays_options_text};
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(NULL, "run", false, run_never), SEBAYS_OK);
    for (size_t i = 0; i < sizeof make / sizeof *make; i++) {
        char *point, *comma;
        assert_int_equal(make[i](&point), SEBAYS_OK);
        bool there = enter_comma();
        sebays_status st = make[i](&comma);
        setlocale(LC_ALL, "C");
        assert_int_equal(st, SEBAYS_OK);
        assert_string_equal(point, comma);
        sebays_text_free(point);
        sebays_text_free(comma);
        if (!there)
            return;
    }
}

/* Training in such a program writes the same files. */
static void files_do_not_depend_on_it(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(NULL, "point", false, run_never), SEBAYS_OK);
    enter_comma();
    sebays_status st = run_train(NULL, "comma", false, run_never);
    setlocale(LC_ALL, "C");
    assert_int_equal(st, SEBAYS_OK);
    same_models("point", "comma");
    same_files("point", "comma", "recipe.ini");
}

static char logged[64];

static void keep_line(void *context, enum sb_log_level level, const char *line)
{
    (void)context, (void)level;
    snprintf(logged, sizeof logged, "%s", line);
}

static void sentences_and_lines(void **state)
{
    (void)state;
    const struct sb_log log = {.write = keep_line};
    struct sb_text t = {0};
    char *text;
    enter_comma();
    (void)sb_fail(SB_EARG, "%g", 0.5);
    sb_log_write(&log, SB_LOG_WARN, "%g", 0.25);
    sb_text_add(&t, "%.3f", 0.125);
    setlocale(LC_ALL, "C");
    assert_string_equal(sb_message(), "0.5");
    assert_string_equal(logged, "0.25");
    assert_int_equal(sb_text_take(&t, &text), SB_OK);
    assert_string_equal(text, "0.125");
    sb_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_do_not_depend_on_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_do_not_depend_on_it, set_up, tear_down),
        cmocka_unit_test(sentences_and_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
