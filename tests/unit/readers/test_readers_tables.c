/* readers/table: what real tables have: missing values, booleans, dates, marks at numbers,
 * names of texts alone and names that are numbers, columns that are not used, groups, quotes, very many columns. */
#include "data_fixture.h"

#include <math.h>

#include "data/columns.h"
#include "data/split.h"

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

/* want: NAN where a value is missing. */
static void assert_values(const struct sb_dataset *d, const float *want)
{
    for (uint32_t i = 0; i < d->n * d->channels; i++)
        if (isnan(want[i]) ? !isnan(d->values[i]) : d->values[i] != want[i])
            fail_msg("value %u is %g, want %g", i, (double)d->values[i], (double)want[i]);
}

/* ---- missing values ---- */

static void missing_values(void **state)
{
    (void)state;
    struct sb_dataset d;
    const struct sb_open_options o = {.impute = true}, strict = {0};
    const char text[] = "size,colour,class\n1,red,a\nNA,?,b\n,null,a\nN/A,green,b\n";
    const float want[] = {1, 2, NAN, 0, NAN, 0, NAN, 1}; /* "", green, red */
    assert_int_equal(open_text(&d, text, &o), SB_OK);
    assert_int_equal(d.channels, 2);
    assert_values(&d, want);
    assert_true(d.columns->impute);
    assert_int_equal(d.columns->column[1].words.count, 3);
    assert_string_equal(sb_words_at(&d.columns->column[1].words, 0), "");
    sb_dataset_fini(&d);
    REFUSED(text, &strict, SB_EFORMAT,
            "a.csv: line 3, column 1 (size): the value is missing; fill it in or leave "
            "the row out, or train with data.missing = impute");
    REFUSED("1,a\n2,\n", &o, SB_EFORMAT,
            "a.csv: line 2, column 2: the value is missing; fill it in or leave the row "
            "out");
}

/* ---- booleans and dates ---- */

static void booleans(void **state)
{
    (void)state;
    struct sb_dataset d, e;
    const struct sb_open_options o = {.impute = true};
    const char text[] = "on,ok,t,k\nTrue,yes,1,a\nFALSE,no,2,b\ntrue,,3,a\n";
    const float want[] = {1, 1, 1, 0, 0, 2, 1, NAN, 3};
    assert_int_equal(open_text(&d, text, &o), SB_OK);
    assert_int_equal(d.channels, 3);
    assert_values(&d, want);
    assert_int_equal(d.columns->column[0].kind, SB_COLUMN_BOOLEAN);
    assert_int_equal(d.columns->column[1].kind, SB_COLUMN_BOOLEAN);
    assert_int_equal(d.columns->column[2].kind, SB_COLUMN_NUMBER);
    const struct sb_open_options like = {.impute = true, .like = &d};
    const float again[] = {0, 1, 7};
    assert_int_equal(open_text(&e, "on,ok,t,k\nf,Y,7,b\n", &like), SB_OK);
    assert_values(&e, again);
    sb_dataset_fini(&e);
    REFUSED(
        "on,ok,t,k\nmaybe,yes,7,b\n", &like, SB_EFORMAT,
        "a.csv: line 2, column 1 (on): maybe is neither true nor false, as the column "
        "has in a.csv");
    sb_dataset_fini(&d);
    /* One word alone, or words of two pairs, are texts. */
    assert_int_equal(open_text(&d, "p,q,k\nyes,yes,a\nyes,false,b\n", &o), SB_OK);
    assert_int_equal(d.columns->column[0].kind, SB_COLUMN_CATEGORY);
    assert_int_equal(d.columns->column[1].kind, SB_COLUMN_CATEGORY);
    sb_dataset_fini(&d);
}

static void dates_are_refused_with_advice(void **state)
{
    (void)state;
    const struct sb_open_options o = {.impute = true};
    static const char *const dates[] = {
        "2024-03-01",       "1/3/24",         "01.03.2024", "12:30",
        "2024-03-01 12:30", "2024/3/1T09:00", "09:30:15",   "5 Mar 2024",
        "September-24",     "2024-03",        "2024Q1",     "1999/q4"};
    static const char *const others[] = {"1-2",    "A-3-4", "2024-1",     "1.2.3.4",
                                         "3/4",    "12:x",  "555-1234-9", "2024-13",
                                         "2024Q5", "Mar",   "5 Marbles",  "3024-03"};
    char text[256], sentence[512];
    struct sb_dataset d;
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        snprintf(text, sizeof text, "when,x,k\n%s,1,a\n,2,b\n", dates[i]);
        snprintf(sentence, sizeof sentence,
                 "a.csv: column 1 (when) has dates or times, such as %s in line 2; make "
                 "numbers of them (a year, a month, days since some day), or leave the "
                 "column out with data.ignore = when",
                 dates[i]);
        REFUSED(text, &o, SB_EFORMAT, sentence);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(text, sizeof text, "when,x,k\n%s,1,a\n,2,b\n", others[i]);
        assert_int_equal(open_text(&d, text, &o), SB_OK);
        sb_dataset_fini(&d);
    }
    const struct sb_open_options without = {.ignore = "1"};
    assert_int_equal(open_text(&d, "2024-03-01,1,a\n2024-03-02,2,b\n", &without), SB_OK);
    assert_int_equal(d.channels, 1);
    sb_dataset_fini(&d);
    /* More of them than a category may have. */
    static char many[60000];
    size_t n = 0;
    for (int i = 0; i < 1200; i++)
        n += (size_t)snprintf(many + n, sizeof many - n, "%d-%02d-%02d,%d,a%d\n",
                              1900 + i / 28, 1 + i % 12, 1 + i % 28, i, i % 2);
    struct sb_dataset e;
    assert_int_equal(open_text(&e, many, &o), SB_EFORMAT);
    assert_non_null(strstr(sb_message(), "has dates or times"));
}

/* ---- numbers with marks ---- */

static void marked_numbers_are_refused_with_advice(void **state)
{
    (void)state;
    const struct sb_open_options o = {.impute = true};
    static const char *const marked[] = {
        "1,5",   "1,234", "-1,234,567.8", "1.234,5",   "12%",
        "3.5 %", "$3.20", "-$4",          "1.234.567", "\xe2\x82\xac 5"};
    static const char *const others[] = {"1,2,3", "12,34,5", "5 kg", "5 EUR",
                                         "a1",    "%",       "$",    "1.2.3"};
    char text[256], sentence[512];
    struct sb_dataset d;
    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++) {
        snprintf(text, sizeof text, "p;x;k\n1;1;a\n2;2;b\n3;2;b\n;2;b\n4;2;b\n%s;3;a\n",
                 marked[i]);
        snprintf(sentence, sizeof sentence,
                 "a.csv: column 1 (p) has numbers with commas, per cent or signs of "
                 "money, such as %s, the first in line 7; write them with a point and "
                 "without marks, as in 1234.5, or leave the column out (data.ignore)",
                 marked[i]);
        REFUSED(text, &o, SB_EFORMAT, sentence);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(text, sizeof text, "p;x;k\n1;1;a\n2;2;b\n3;2;b\n4;2;b\n5;1;a\n%s;3;a\n",
                 others[i]);
        assert_int_equal(open_text(&d, text, &o), SB_OK);
        assert_int_equal(d.columns->column[0].kind, SB_COLUMN_CATEGORY);
        sb_dataset_fini(&d);
    }
    /* A few are steps, and classes if somebody says so. */
    assert_int_equal(open_text(&d, "p,k\n5 %,a\n10 %,b\n20 %,a\n", &o), SB_OK);
    assert_int_equal(d.columns->column[0].words.count, 3);
    sb_dataset_fini(&d);
    const char labels[] = "x;k\n1;1,5\n2;2,5\n3;3,5\n4;4,5\n5;5,5\n";
    REFUSED(
        labels, &o, SB_EFORMAT,
        "a.csv: column 2 (k) has numbers with commas, per cent or signs of money, such "
        "as 1,5, the first in line 2; write them with a point and without marks, as in "
        "1234.5, or say data.task = classification if they are names of classes");
    const struct sb_open_options classes = {.task = SB_TASK_CLASSES};
    assert_int_equal(open_text(&d, labels, &classes), SB_OK);
    assert_int_equal(d.classes, 5);
    sb_dataset_fini(&d);
    const struct sb_open_options look = {.impute = true, .look = true};
    assert_int_equal(open_text(&d, labels, &look), SB_OK);
    sb_dataset_fini(&d);
}

/* ---- which columns ---- */

static void columns_that_are_not_used(void **state)
{
    (void)state;
    struct sb_dataset d;
    const char text[] = "id,age,note,k\nx1,30,\"a, b\",n\nx2,40,c,y\nx3,50,,n\n";
    const float want[] = {30, 40, 50};
    const struct sb_open_options by_name = {.ignore = " id , note "};
    assert_int_equal(open_text(&d, text, &by_name), SB_OK);
    assert_int_equal(d.channels, 1);
    assert_values(&d, want);
    sb_dataset_fini(&d);
    const struct sb_open_options by_number = {.ignore = "3,1,"};
    assert_int_equal(open_text(&d, text, &by_number), SB_OK);
    assert_values(&d, want);
    sb_dataset_fini(&d);
    REFUSED(
        text, &(struct sb_open_options){.ignore = "id,name"}, SB_EARG,
        "a.csv: data.ignore: there is no column name; want a name of its first row or "
        "a number from 1 to 4; the nearest is age");
    REFUSED(text, &(struct sb_open_options){.ignore = "k"}, SB_EARG,
            "a.csv: data.ignore: column 4 (k) is the label");
    REFUSED(text, &(struct sb_open_options){.ignore = "1,2,3"}, SB_EFORMAT,
            "a.csv: it has 0 features; want 1 to 1048576");
}

static const struct {
    const char *text;
    enum sb_header how;
    uint32_t rows;
    bool header;
} header_cases[] = {
    /* texts alone: names do not come again */
    {"colour,shape,fruit\nred,round,apple\ngreen,round,apple\nyellow,long,banana\n",
     SB_HEADER_AUTO, 3, true},
    {"red,round,apple\ngreen,round,apple\nyellow,long,banana\nred,long,banana\n",
     SB_HEADER_AUTO, 4, false},
    {"colour,shape,fruit\nred,round,apple\ngreen,long,banana\n", SB_HEADER_AUTO, 3,
     false}, /* nothing comes again: who can tell */
    {"colour,shape,fruit\nred,round,apple\ngreen,long,banana\n", SB_HEADER_YES, 2, true},
    {"2019,2020,k\n1,2,a\n3,4,b\n", SB_HEADER_YES, 2, true},
    {"2019,2020,k\n1,2,a\n3,4,b\n", SB_HEADER_AUTO, 3, false},
    {"a,b,k\n1,2,a\n3,4,b\n", SB_HEADER_NO, 3, false},
    {"a,b,k\n1,2,a\n3,4,b\n", SB_HEADER_AUTO, 2, true},
    {"a,b,k\n,,x\n1,2,y\n", SB_HEADER_AUTO, 2, true}, /* over numbers alone */
    {"red,round,x1\ngreen,long,7\nblue,long,x2\nred,long,x3\n", SB_HEADER_NO, 4, false},
    /* names that are numbers: as pandas writes them, and years */
    {"0,1,2,3\n5.1,3,1,a\n4.9,3,1,b\n", SB_HEADER_AUTO, 2, true},
    {",0,1,2,3\n0,5.1,3,1,a\n1,4.9,3,1,b\n", SB_HEADER_AUTO, 2, true},
    {"0,1,2,k\n5.1,3,1,a\n4.9,3,1,b\n4.7,3,1,b\n", SB_HEADER_AUTO, 3, true},
    {"0,1,2,k\n5.1,3,1,7\n4.9,3,1,5\n", SB_HEADER_AUTO, 2, true},
    {"land,1990,1995,2000,k\nA,1,2,3,a\nB,3,4,5,b\nC,3,5,6,b\n", SB_HEADER_AUTO, 3, true},
    {"2019,2020,2021,2022\n1,2,3,a\n4,5,6,b\n", SB_HEADER_AUTO, 2, true},
    /* rows of values that are a little like them */
    {"0,1,2\n3,4,5\n6,7,8\n", SB_HEADER_AUTO, 3, false},
    {"0,1,2,3\n0,1,2,3\n5,1,2,4\n", SB_HEADER_AUTO, 3, false},
    {"1,2,3,4\n2,1,4,3\n4,3,2,1\n", SB_HEADER_AUTO, 3, false},
    {"0,1,,2,3\n3,1,5,1,1\n6,7,8,2,1\n", SB_HEADER_AUTO, 3, false},
    {"0,1,?,2,3\n3,1,5,1,1\n6,7,8,2,1\n", SB_HEADER_AUTO, 3, false},
    {"0,1,2,a\n3,5,5,b\n6,8,8,a\n", SB_HEADER_AUTO, 3, false},
    {"0,1,2,a\n3,5,5,b\n6,8,8,c\n", SB_HEADER_AUTO, 3, false},
    {"1990,1,2,a\n1991,3,4,b\n1992,3,4,b\n", SB_HEADER_AUTO, 3, false},
    {"2000,1990,1995,a\n1,2,3,b\n1,2,3,b\n", SB_HEADER_AUTO, 3, false},
    {"A,1901,1950,1999,x\nB,1902,1951,1980,y\nC,1900,1901,1902,x\n", SB_HEADER_AUTO, 3,
     false},
    {"-,3,5,a\n1,4,6,b\n2,4,6,b\n", SB_HEADER_AUTO, 3, false},
};

static void headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof header_cases / sizeof *header_cases; i++) {
        struct sb_dataset d;
        const struct sb_open_options o = {.header = header_cases[i].how, .impute = true};
        if (open_text(&d, header_cases[i].text, &o) != SB_OK)
            fail_msg("%s: %s", header_cases[i].text, sb_message());
        if (d.n != header_cases[i].rows || d.columns->header != header_cases[i].header)
            fail_msg("%s: %u rows, header %d", header_cases[i].text, d.n,
                     d.columns->header);
        sb_dataset_fini(&d);
    }
    /* A file of texts that is read like another has names if they are that one's. */
    struct sb_dataset d, e;
    assert_int_equal(open_text(&d, header_cases[0].text, &(struct sb_open_options){0}),
                     SB_OK);
    const struct sb_open_options like = {.like = &d};
    assert_int_equal(open_text(&e, "colour,shape,fruit\nred,long,apple\n", &like), SB_OK);
    assert_int_equal(e.n, 1);
    sb_dataset_fini(&e);
    assert_int_equal(open_text(&e, "red,long,apple\n", &like), SB_OK);
    assert_int_equal(e.n, 1);
    sb_dataset_fini(&e);
    sb_dataset_fini(&d);
}

static void names_that_are_taken_for_values(void **state)
{
    (void)state;
    struct sb_dataset d;
    char odd[SB_COLUMN_ODD];
    assert_int_equal(
        open_text(&d, "p,2001,k\n1,2,a\n3,4,b\n", &(struct sb_open_options){0}), SB_OK);
    assert_true(sb_columns_odd(d.columns, 0, odd));
    assert_string_equal(
        odd, "line 1, column 1: no number ('p'), but 2 of the column's 3 different texts "
             "are: it becomes 3 categories; correct it if numbers are meant, or say "
             "data.header = yes if the first line is names");
    sb_dataset_fini(&d);
    REFUSED("a,b,k\r1,2,x\r3,4,y\r", &(struct sb_open_options){0}, SB_EFORMAT,
            "a.csv: its lines end with CR alone; save it with LF or CR LF");
}

static void quotes_and_very_many_columns(void **state)
{
    (void)state;
    enum { COLUMNS = 20000, ROWS = 3, BYTES = 1 << 20 };
    struct sb_dataset d;
    const struct sb_open_options o = {.impute = true};
    char *text = malloc(BYTES);
    size_t n = 0;
    assert_non_null(text);
    for (int i = 0; i < COLUMNS; i++)
        n += (size_t)snprintf(text + n, BYTES - n, "\"a, %d\",", i);
    n += (size_t)snprintf(text + n, BYTES - n, "\"the\n\"\"class\"\"\"\n");
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < COLUMNS; i++)
            n += (size_t)snprintf(text + n, BYTES - n, "\"%d\",", (r * i) % 7);
        n += (size_t)snprintf(text + n, BYTES - n, "\"a \"\"b%d\"\"\"\n", r % 2);
    }
    put("a.csv", text, n);
    free(text);
    assert_int_equal(sb_dataset_open_with(&d, "a.csv", &o), SB_OK);
    assert_int_equal(d.n, ROWS);
    assert_int_equal(d.channels, COLUMNS);
    assert_true(d.values[2 * COLUMNS + 4] == 1.0f);
    assert_string_equal(d.class_names[1], "a \"b1\"");
    assert_string_equal(sb_words_at(&d.columns->names, COLUMNS), "the\n\"class\"");
    assert_string_equal(sb_words_at(&d.columns->names, 17), "a, 17");
    sb_dataset_fini(&d);
}

/* ---- groups ---- */

enum { PATIENTS = 40, VISITS = 5, ALL = PATIENTS * VISITS };

static void open_patients(struct sb_dataset *d)
{
    static char text[1 << 16];
    size_t n = (size_t)snprintf(text, sizeof text, "patient,x,sick\n");
    for (int i = 0; i < ALL; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "p%d,%d,%s\n", i % PATIENTS, i,
                              i % PATIENTS % 4 ? "no" : "yes");
    const struct sb_open_options o = {.group = "patient"};
    assert_int_equal(open_text(d, text, &o), SB_OK);
}

static void groups_do_not_cross(void **state)
{
    (void)state;
    struct sb_dataset d;
    struct sb_indices first = {0};
    open_patients(&d);
    assert_int_equal(d.channels, 1);
    assert_non_null(d.groups);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sb_indices s;
        uint8_t side[PATIENTS] = {0};
        uint32_t sick = 0;
        const struct sb_holdout_options o = {
            .kind = SB_HOLDOUT_STRATIFIED, .fraction = 0.2, .seed = seed};
        assert_int_equal(sb_indices_init(&s, &d, &o), SB_OK);
        assert_int_equal(s.validation_count, ALL / 5);
        assert_int_equal(s.train_count + s.validation_count, ALL);
        for (uint32_t i = 0; i < s.train_count; i++)
            side[d.groups[s.train[i]]] |= 1;
        for (uint32_t i = 0; i < s.validation_count; i++) {
            side[d.groups[s.valid[i]]] |= 2;
            sick += d.labels[s.valid[i]];
        }
        for (int i = 0; i < PATIENTS; i++)
            assert_true(side[i] == 1 || side[i] == 2);
        assert_in_range(sick, 5, 15); /* of 40, a quarter: 10 */
        if (seed == 0)
            first = s;
        else
            sb_indices_fini(&s);
    }
    struct sb_indices again;
    const struct sb_holdout_options o = {.kind = SB_HOLDOUT_TAIL, .count = 40};
    assert_int_equal(sb_indices_init(&again, &d, &o), SB_OK);
    assert_memory_equal(first.valid, again.valid, 40 * sizeof *again.valid);
    sb_indices_fini(&again);
    sb_indices_fini(&first);
    sb_dataset_fini(&d);
}

static void groups_that_cannot_be_split(void **state)
{
    (void)state;
    struct sb_dataset d;
    struct sb_indices s;
    const struct sb_open_options o = {.group = "1"};
    const struct sb_holdout_options half = {.kind = SB_HOLDOUT_STRATIFIED,
                                            .fraction = 0.5};
    assert_int_equal(open_text(&d, "g,1,a\ng,2,b\ng,3,a\n", &o), SB_OK);
    refused(sb_indices_init(&s, &d, &half), SB_EARG,
            "a.csv: all 3 rows are of one group (data.group); want another one to hold "
            "out");
    sb_dataset_fini(&d);
    /* Two groups, each more than is wanted: the smaller one. */
    assert_int_equal(open_text(&d, "g,1,a\ng,2,b\ng,3,a\nh,1,a\nh,2,b\n", &o), SB_OK);
    const struct sb_holdout_options few = {.kind = SB_HOLDOUT_STRATIFIED, .count = 1};
    assert_int_equal(sb_indices_init(&s, &d, &few), SB_OK);
    assert_int_equal(s.validation_count, 2);
    assert_int_equal(s.valid[0], 3);
    sb_indices_fini(&s);
    sb_dataset_fini(&d);
    REFUSED("g,1,a\n,2,b\n", &o, SB_EFORMAT,
            "a.csv: line 2, column 1: the value is missing; fill it in or leave the row "
            "out");
    REFUSED("g,1,a\nh,2,b\n", &(struct sb_open_options){.group = "site"}, SB_EARG,
            "a.csv: data.group: there is no column site; want a number from 1 to 3");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sb_status st = SB_ENOMEM;
    long n;
    for (n = 0; st != SB_OK && n < 400; n++) {
        struct sb_dataset d;
        struct sb_indices s = {0};
        const struct sb_open_options o = {.impute = true, .group = "g", .ignore = "i"};
        const struct sb_holdout_options half = {.kind = SB_HOLDOUT_STRATIFIED,
                                                .fraction = 0.5};
        sb_mem_fail_after(n);
        st = open_text(&d, "i,g,b,c,k\nq,1,yes,u,n\nr,1,no,,p\ns,2,yes,u,n\nt,3,,v,p\n",
                       &o);
        if (st == SB_OK)
            st = sb_indices_init(&s, &d, &half);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_indices_fini(&s);
        sb_dataset_fini(&d);
    }
    assert_true(n > 20 && n < 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(missing_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(booleans, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dates_are_refused_with_advice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(marked_numbers_are_refused_with_advice, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(columns_that_are_not_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_that_are_taken_for_values, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(quotes_and_very_many_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(groups_do_not_cross, set_up, tear_down),
        cmocka_unit_test_setup_teardown(groups_that_cannot_be_split, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
