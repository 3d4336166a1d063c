/* readers/table: numbers with a unit behind them, and labels that are dates. */
#include "data_fixture.h"

static sb_status open_text(struct sb_dataset *d, const char *text,
                           const struct sb_open_options *o)
{
    put("a.csv", text, strlen(text));
    return sb_dataset_open_with(d, "a.csv", o);
}

#define REFUSED(text, options, code, sentence)                                           \
    do {                                                                                 \
        struct sb_dataset refused_set;                                                   \
        refused(open_text(&refused_set, text, options), code, sentence);                 \
        sb_dataset_fini(&refused_set);                                                   \
    } while (0)

/* out[size] = rows of a text and a class, or, for label, of a class and the text: the label. */
static void write_rows(char *out, size_t size, int rows, const char *before,
                       const char *behind, bool label)
{
    size_t used = (size_t)snprintf(out, size, "x;k\n");
    for (int i = 1; i <= rows; i++) {
        const char *class = i % 2 ? "a" : "b";
        used += (size_t)snprintf(out + used, size - used, "%s%s%s%02d%s%s%s\n",
                                 label ? class : "", label ? ";" : "", before, i + 10,
                                 behind, label ? "" : ";", label ? "" : class);
    }
}

static void numbers_with_a_unit_are_refused(void **state)
{
    (void)state;
    struct sb_dataset d;
    const struct sb_open_options o = {.impute = true}, look = {.look = true},
                                 classes = {.task = SB_TASK_CLASSES};
    static const char *const units[] = {" mg", ".5kg", " \xc2\xb5g"};
    static const char *const others[] = {" Elm Street", "x7", " kilometres", " m 3"};
    char text[512];
    for (size_t i = 0; i < 3; i++) {
        write_rows(text, sizeof text, 12, i ? "-" : "", units[i], false);
        assert_int_equal(open_text(&d, text, &o), SB_EFORMAT);
        assert_non_null(
            strstr(sb_message(), "a.csv: column 1 (x) has numbers with a unit, such as"));
        assert_int_equal(open_text(&d, text, &look), SB_EFORMAT); /* no feature is left */
    }
    for (size_t i = 0; i < 4; i++) {
        write_rows(text, sizeof text, 12, "", others[i], false);
        assert_int_equal(open_text(&d, text, &o), SB_OK);
        sb_dataset_fini(&d);
    }
    write_rows(text, sizeof text, 9, "", " mg", false); /* a few are kinds */
    assert_int_equal(open_text(&d, text, &o), SB_OK);
    sb_dataset_fini(&d);
    write_rows(text, sizeof text, 12, "", " mg", true);
    assert_int_equal(open_text(&d, text, &classes), SB_OK);
    assert_int_equal(d.classes, 12);
    sb_dataset_fini(&d);
    text[4] = '1'; /* a feature that is a number */
    REFUSED(text, &o, SB_EFORMAT,
            "a.csv: column 2 (k) has numbers with a unit, such as 11 mg, the first in "
            "line 2; write them with a point and without the unit, as in 1234.5, or say "
            "data.task = classification if they are names of classes");
}

static void dates_as_label_are_refused(void **state)
{
    (void)state;
    struct sb_dataset d;
    const struct sb_open_options o = {.impute = true}, look = {.look = true},
                                 classes = {.task = SB_TASK_CLASSES};
    char text[512];
    write_rows(text, sizeof text, 12, "2024-01-", "", true);
    REFUSED(text, &o, SB_EFORMAT,
            "a.csv: column 2 (k) has dates or times, such as 2024-01-11 in line 2; make "
            "numbers of them (a year, a month, days since some day), or say data.task = "
            "classification if they are names of classes");
    assert_int_equal(open_text(&d, text, &classes), SB_OK);
    assert_int_equal(d.classes, 12);
    sb_dataset_fini(&d);
    assert_int_equal(open_text(&d, text, &look), SB_OK);
    sb_dataset_fini(&d);
    write_rows(text, sizeof text, 9, "2024-01-", "", true); /* days of a survey, say */
    assert_int_equal(open_text(&d, text, &o), SB_OK);
    sb_dataset_fini(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_with_a_unit_are_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(dates_as_label_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
