/* readers/csv: separators, headers, quotes, categories, labels, files read like others, and
 * what is refused. tests/tables/ has a whole UCI file, and the beginning of another. */
#include "data_fixture.h"

#include <math.h>

#include "data/columns.h"
#include "files/csv_text.h"

static sb_status open_text(struct sb_dataset *d, const char *text,
                           const struct sb_open_options *o)
{
    put("a.csv", text, strlen(text));
    return sb_dataset_open_with(d, "a.csv", o);
}

static const struct sb_open_options plain = {0};

/* text gives these values [n][features] and labels. */
static void gives(const char *text, const char *label, uint32_t n, uint32_t features,
                  const float *values, const uint32_t *labels)
{
    struct sb_dataset d;
    const struct sb_open_options o = {.label = label};
    sb_status st = open_text(&d, text, &o);
    if (st != SB_OK)
        print_message("%s\n", sb_message());
    assert_int_equal(st, SB_OK);
    assert_int_equal(d.n, n);
    assert_int_equal(d.channels, features);
    assert_true(sb_dataset_tabular(&d) && d.whole);
    for (uint32_t i = 0; i < n * features; i++)
        assert_true(d.values[i] == values[i]);
    assert_memory_equal(d.labels, labels, n * sizeof *labels);
    sb_dataset_fini(&d);
}

#define REFUSED(text, code, sentence)                                                    \
    do {                                                                                 \
        struct sb_dataset refused_set;                                                   \
        refused(open_text(&refused_set, text, &plain), code, sentence);                  \
        sb_dataset_fini(&refused_set);                                                   \
    } while (0)

/* ---- texts ---- */

static void separators_and_headers(void **state)
{
    (void)state;
    const float v[] = {1, 2.5f, -3, 4e-3f};
    const uint32_t y[] = {1, 0};
    static const char *const texts[] = {
        "1,2.5,b\n-3,4e-3,a\n",
        "1\t2.5\tb\n-3\t4e-3\ta",
        "1;2.5;b\r\n-3;4e-3;a\r\n",
        "  1   2.5 b\n\t-3 4e-3\ta  \n",
        "\xef\xbb\xbf"
        "width,height,kind\n1,2.5,b\n-3,4e-3,a\n",
        "\n\n1 , 2.5 , b\n\n\n -3,  4e-3,a\n\n",
        "\"1\",\"2.5\",\"b\"\n\"-3\",\"4e-3\",\"a\"\n",
        ",width,height,kind\n0,1,2.5,b\n1,-3,4e-3,a\n", /* pandas' row number */
        "+1,02.50,b\n-3.,.004E+0,a\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        gives(texts[i], NULL, 2, 2, v, y);
    gives("kind,width,height\nb,1,2.5\na,-3,4e-3\n", "kind", 2, 2, v, y);
    gives("kind,width,height\nb,1,2.5\na,-3,4e-3\n", "1", 2, 2, v, y);
    gives("b,1,2.5\na,-3,4e-3\n", "1", 2, 2, v, y);
    /* Numbers only, and a header that only its label tells. */
    gives("1,2.5,7\n-3,4e-3,5\n", NULL, 2, 2, v, y);
    const float codes[] = {1, 0};
    gives("c,k\nz,b\ny,a\n", "k", 2, 1, codes, y);
}

static void categories_and_labels(void **state)
{
    (void)state;
    static const char text[] = "size,colour,class\n"
                               "1,red,10\n2,\"green, dark\",9\n3,\"a \"\"b\"\"\nc\",9\n"
                               "4,red,100\n";
    const float v[] = {1, 2, 2, 1, 3, 0, 4, 2};
    const uint32_t y[] = {1, 0, 0, 2}; /* 9, 10, 100: by value */
    struct sb_dataset d;
    gives(text, NULL, 4, 2, v, y);
    assert_int_equal(open_text(&d, text, &plain), SB_OK);
    assert_int_equal(d.classes, 3);
    assert_string_equal(d.class_names[1], "10");
    assert_string_equal(sb_words_at(&d.columns->column[1].words, 0), "a \"b\"\nc");
    assert_string_equal(sb_words_at(&d.columns->names, 1), "colour");
    assert_string_equal(d.format, "csv");
    sb_dataset_fini(&d);
}

/* ---- real files ---- */

static void iris_and_wine(void **state)
{
    (void)state;
    struct sb_dataset d;
    assert_int_equal(sb_dataset_open(&d, TABLES "/iris.csv", SB_SPLIT_TRAIN), SB_OK);
    assert_true(d.n == 150 && d.channels == 4 && d.classes == 3);
    assert_string_equal(d.class_names[2], "Iris-virginica");
    assert_true(d.values[0] == 5.1f && d.values[149 * 4 + 3] == 1.8f);
    assert_true(d.labels[0] == 0 && d.labels[50] == 1 && d.labels[149] == 2);
    sb_dataset_fini(&d);
    assert_int_equal(sb_dataset_open(&d, TABLES "/wine.txt", SB_SPLIT_TRAIN), SB_OK);
    assert_true(d.n == 40 && d.channels == 11 && d.values[0] == 7.4f);
    assert_string_equal(d.class_names[0], "4");
    sb_dataset_fini(&d);
}

static void parts_and_gzip(void **state)
{
    (void)state;
    struct sb_dataset train, test;
    const char first[] = "a,b,k\n1,x,n\n2,y,p\n", second[] = "a,b,k\n5,y,n\n";
    put("train.csv", first, strlen(first));
    put_gzip("test.csv.gz", second, strlen(second));
    assert_int_equal(sb_dataset_open(&train, ".", SB_SPLIT_TRAIN), SB_OK);
    assert_false(train.whole);
    const struct sb_open_options o = {.split = SB_SPLIT_TEST, .like = &train};
    assert_int_equal(sb_dataset_open_with(&test, ".", &o), SB_OK);
    const float want[] = {5, 1};
    assert_memory_equal(test.values, want, sizeof want);
    assert_true(test.classes == 2 && test.labels[0] == 0);
    assert_int_equal(sb_dataset_match(&train, &test), SB_OK);
    sb_dataset_fini(&test);
    sb_dataset_fini(&train);
    remove("test.csv.gz");
    refused(sb_dataset_open(&test, ".", SB_SPLIT_TEST), SB_EIO,
            "there is no test.csv (nor .tsv or .txt) in .");
}

/* ---- like another ---- */

static void like_another(void **state)
{
    (void)state;
    struct sb_dataset train, d;
    put("t.csv", "a,b,k\n1,x,n\n2,y,p\n", 18);
    assert_int_equal(sb_dataset_open(&train, "t.csv", SB_SPLIT_TRAIN), SB_OK);
    struct sb_open_options o = {.split = SB_SPLIT_TEST, .like = &train};
    assert_int_equal(open_text(&d, "3,y,p\n", &o), SB_OK); /* no header: by place */
    const float want[] = {3, 1};
    assert_memory_equal(d.values, want, sizeof want);
    assert_true(d.labels[0] == 1 && d.classes == 2);
    assert_string_equal(d.class_names[1], "p");
    sb_dataset_fini(&d);
    assert_int_equal(open_text(&d, "3,z,p\n", &o), SB_OK); /* a text that is new */
    assert_true(d.values[0] == 3.0f && isnan(d.values[1]));
    sb_dataset_fini(&d);
    refused(open_text(&d, "3,y,q\n", &o), SB_EFORMAT,
            "a.csv: line 1, column 3 (k): q is not among the classes of t.csv");
    refused(open_text(&d, "w,y,p\n", &o), SB_EFORMAT,
            "a.csv: line 1, column 1 (a): w is no number, as the column has in t.csv");
    refused(open_text(&d, "a,c,k\n3,y,p\n", &o), SB_EFORMAT,
            "a.csv: there is no column b, which t.csv has; columns are found by their "
            "names, in any order");
    refused(open_text(&d, "a,b,b,k\n3,y,y,p\n", &o), SB_EFORMAT,
            "a.csv: line 1: columns 2 and 3 are both named 'b'; rename one of them, or "
            "leave it out of the file");
    refused(
        open_text(&d, "b,a,c\ny,3,1\n", &o), SB_EFORMAT,
        "a.csv: there is no column k, the label of t.csv, without which nothing can be "
        "compared");
    refused(open_text(&d, "k,b\np,y\n", &o), SB_EFORMAT,
            "a.csv: there is no column a, which t.csv has; columns are found by their "
            "names, in any order");
    assert_int_equal(open_text(&d, "k,note,b,a\np,,y,3\n", &o), SB_OK); /* by name */
    assert_memory_equal(d.values, want, sizeof want);
    assert_true(d.labels[0] == 1 && d.n == 1);
    sb_dataset_fini(&d);
    refused(open_text(&d, "3,y\n", &o), SB_EFORMAT,
            "a.csv has 2 columns, but t.csv has 3: the label is missing, without which "
            "nothing can be compared");
    o.unlabelled = true;
    assert_int_equal(open_text(&d, "b,a\ny,3\n", &o), SB_OK);
    assert_true(d.n == 1 && !d.labels);
    assert_memory_equal(d.values, want, sizeof want);
    sb_dataset_fini(&d);
    assert_int_equal(open_text(&d, "a,b\n3,y\n4,x\n", &o), SB_OK);
    assert_true(d.n == 2 && !d.labels && d.classes == 0 && d.values[1] == 1.0f);
    sb_dataset_fini(&d);
    sb_dataset_fini(&train);
}

/* Options have no blanks at their ends, names in quotes may. */
static void names_with_blanks_at_their_ends(void **state)
{
    (void)state;
    struct sb_dataset d;
    const struct sb_open_options o = {.label = "final outcome"};
    assert_int_equal(open_text(&d, "\"final outcome \",size\nyes,1\nno,2\nyes,3\n", &o),
                     SB_OK);
    assert_int_equal(d.classes, 2);
    assert_int_equal(d.columns->label, 0);
    sb_dataset_fini(&d);
    assert_int_not_equal(
        open_text(&d, "\"final outcome \",\" final outcome\",size\nyes,1,1\nno,2,1\n",
                  &o),
        SB_OK);
    sb_dataset_fini(&d);
}

/* ---- malformed ---- */

static void refuses_what_is_no_table(void **state)
{
    (void)state;
    REFUSED("1,2,b\n3,4,b\n", SB_EFORMAT,
            "a.csv: every row has the label b; want two or more");
    REFUSED("a,b\n", SB_EFORMAT,
            "a.csv: it has a single row, whose label is b; want rows of two or more "
            "classes; if these are the names of columns, no values follow");
    REFUSED(
        "sep=;\n1;2;a\n3;4;b\n", SB_EFORMAT,
        "a.csv: line 1 says what is between fields, as Excel writes it, and is no row "
        "of the table; remove it");
    REFUSED("# of x, y, z, u\n1,2,a\n3,4,b\n", SB_EFORMAT,
            "a.csv: line 2 has 3 fields, the first row, which begins with '#', has 4; if "
            "that is a comment, remove it: tables have none");
    REFUSED("#made,by\n1,2,a\n3,4,b\n", SB_EFORMAT,
            "a.csv: line 2 has 3 fields, the first row, which begins with '#', has 2; if "
            "that is a comment, remove it: tables have none");
    REFUSED("\xff\xfe"
            "1",
            SB_EFORMAT, "a.csv: it is UTF-16; save it as UTF-8");
    REFUSED("w,h,k\n", SB_EFORMAT,
            "a.csv: it has a single row, whose label is k; want rows of two or more "
            "classes; if these are the names of columns, no values follow");
}

static void refuses(void **state)
{
    (void)state;
    REFUSED("", SB_EFORMAT, "a.csv: it is empty");
    REFUSED(" \n\n", SB_EFORMAT, "a.csv: it is empty");
    REFUSED("hello\n", SB_EFORMAT,
            "a.csv: its first row has 1 field; want 2 to 65536, separated by comma, tab, "
            "semicolon or blanks");
    REFUSED(
        "1,2,a\n3,b\n", SB_EFORMAT,
        "a.csv: line 2 has 2 fields, the first row has 3; every row must have as many");
    REFUSED(
        "1,2,a\n3,4,5,b\n", SB_EFORMAT,
        "a.csv: line 2 has 4 fields, the first row has 3; every row must have as many");
    REFUSED("1,2,a\n\n3,,b\n", SB_EFORMAT,
            "a.csv: line 3, column 2: the value is missing; fill it in or leave the row "
            "out, or train with data.missing = impute");
    REFUSED("w,h,k\n1,2,a\n3,NA,b\n", SB_EFORMAT,
            "a.csv: line 3, column 2 (h): the value is missing; fill it in or leave the "
            "row out, or train with data.missing = impute");
    REFUSED("1,nan,a\n3,4,b\n", SB_EFORMAT,
            "a.csv: line 1, column 2: the value is missing; fill it in or leave the row "
            "out, or train with data.missing = impute");
    REFUSED("1,2,a\n3,4,?\n", SB_EFORMAT,
            "a.csv: line 2, column 3: the value is missing; fill it in or leave the row "
            "out");
    REFUSED("1,2,a\n3,4,1.5\n", SB_EFORMAT,
            "a.csv: line 2, column 3: the label 1.5 has a fraction; labels are classes, "
            "and data.label says which column has them");
    REFUSED("1,1e39,a\n3,4,b\n", SB_EFORMAT,
            "a.csv: line 1, column 2: 1e39 is too large for a 32-bit float");
    REFUSED("1,\"2,a\n3,4,b\n", SB_EFORMAT, "a.csv: line 1: a quote is not closed");
    REFUSED("1,\"2\"x,a\n3,4,b\n", SB_EFORMAT,
            "a.csv: line 1: text follows a closing quote");
    REFUSED(
        "w,w,k\n1,2,a\n", SB_EFORMAT,
        "a.csv: line 1: columns 1 and 2 are both named 'w'; rename one of them, or leave "
        "it out of the file");
    REFUSED("1,2,\xff\n3,4,b\n", SB_EFORMAT,
            "a.csv: line 1, column 3: the text is not UTF-8 without control characters");
    REFUSED("1,\xff,a\n3,4,b\n", SB_EFORMAT,
            "a.csv: line 1, column 2: the text is not UTF-8");
    REFUSED("w,\xc3,k\n1,2,a\n", SB_EFORMAT,
            "a.csv: line 1: the name of column 2 is not UTF-8");
    struct sb_dataset d;
    refused(open_text(&d, "w,h,k\n1,2,a\n", &(struct sb_open_options){.label = "colour"}),
            SB_EARG,
            "a.csv: there is no column colour to be the label; want a name of its first "
            "row or a number from 1 to 3");
    refused(open_text(&d, "1,2,3\n", &(struct sb_open_options){.label = "4"}), SB_EARG,
            "a.csv: there is no column 4 to be the label; want a number from 1 to 3");
    put("train.csv", "1,a\n", 4);
    refused(sb_dataset_open(&d, "train.csv", SB_SPLIT_TEST), SB_EARG,
            "train.csv is a train file by its name, but the test split is wanted; name "
            "the directory to have both");
}

/* A typo in a column of numbers, and texts that are no categories. */
static void too_many_texts(void **state)
{
    (void)state;
    static char text[40000];
    size_t n = 0;
    for (int i = 0; i < 1500; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%d.5%s,a%d\n", i,
                              i == 700 ? "x" : "", i % 2);
    REFUSED(text, SB_EFORMAT,
            "a.csv: column 1 has more than 1000 different texts; the first that is no "
            "number is in line 701. Correct it, or leave the column out (data.ignore)");
    memset(text, 'x', 5000);
    strcpy(text + 5000, ",a\n1,b\n");
    REFUSED(text, SB_EFORMAT, "a.csv: line 1: a text of 5000 bytes is too long");
}

static void numbers(void **state)
{
    (void)state;
    static const char *const good[] = {
        "0",
        "-0",
        "1",
        "+1.5",
        ".5",
        "5.",
        "1e5",
        "1E-5",
        "0.1",
        "123456789.123456789",
        "1e22",
        "1e-22",
        "9007199254740993",
        "3.4028235e38",
        "1e-45",
        "00012",
        "179769313486231570000000000000000000000",
        "2.2250738585072014e-308",
        "0.00000000000000000000000000000001234567890123456789"};
    static const char *const bad[] = {"",    "-",   "+",     ".",    "e5",  "1e",
                                      "1e+", "1x",  "0x1",   "inf",  "nan", "1 2",
                                      "1,5", "--1", "1.2.3", "1e5.5"};
    double x;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(sb_csv_number(good[i], strlen(good[i]), &x));
        double want = strtod(good[i], NULL);
        assert_true((float)x == (float)want);
        assert_true(fabs(x - want) <= 1e-15 * fabs(want));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(sb_csv_number(bad[i], strlen(bad[i]), &x));
    struct sb_stream s = sb_rng_stream(1, SB_RNG_TEST, 0, 0, 0);
    for (uint32_t i = 0; i < 100000; i++) { /* what programs print */
        char text[64];
        uint32_t bits[4];
        float f;
        sb_rng_bits(&s, i, bits);
        memcpy(&f, bits, sizeof f);
        if (!isfinite(f))
            continue;
        snprintf(text, sizeof text, i % 2 ? "%.9g" : "%.17g", (double)f);
        assert_true(sb_csv_number(text, strlen(text), &x) && (float)x == f);
    }
}

/* Columns survive being written, and read tables as before. */
static void columns_as_text(void **state)
{
    (void)state;
    struct sb_dataset d, e;
    struct sb_columns *columns;
    char *text, *again, path[] = "model";
    assert_int_equal(
        open_text(&d, ",size,colour,class\n0,1,red,b\n1,2,green,a\n", &plain), SB_OK);
    assert_int_equal(sb_columns_write(d.columns, &text), SB_OK);
    assert_string_equal(text, "{\"columns\":[1,0,[\"green\",\"red\"],[\"a\",\"b\"]],"
                              "\"header\":true,\"label\":3,"
                              "\"names\":[\"\",\"size\",\"colour\",\"class\"]}");
    assert_int_equal(sb_columns_read(&columns, "m", text), SB_OK);
    assert_int_equal(sb_columns_write(columns, &again), SB_OK);
    assert_string_equal(text, again);
    const struct sb_dataset like = {.columns = columns, .path = path};
    const struct sb_open_options o = {.like = &like, .unlabelled = true};
    assert_int_equal(open_text(&e, "7,5,red\n", &o), SB_OK);
    const float want[] = {5, 1};
    assert_true(e.channels == 2 && !e.labels);
    assert_memory_equal(e.values, want, sizeof want);
    sb_dataset_fini(&e);
    sb_dataset_fini(&d);
    sb_columns_free(columns);
    sb_free(text);
    sb_free(again);
}

static void wrong_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"{\"columns\":[],\"names\":[],\"label\":0}",
         "m: columns: 0 of them and 0 names"},
        {"{\"columns\":[0],\"names\":[\"a\",\"b\"],\"label\":0}",
         "m: columns: 1 of them and 2 names"},
        {"{\"columns\":[0,0],\"names\":[\"a\",\"a\"],\"label\":2}",
         "m: columns: text 1 is there twice"},
        {"{\"columns\":[0,[\"a\",3]],\"names\":[],\"label\":1}",
         "m: columns: text 1 is not a string"},
        {"{\"columns\":[0,0],\"names\":[],\"label\":1}",
         "m: columns: column 1 is neither 0, 1 nor texts"},
        {"{\"columns\":[2],\"names\":[],\"label\":1}",
         "m: columns: column 0 is neither 0, 1 nor texts"},
        {"{\"columns\":[[]],\"names\":[],\"label\":1}",
         "m: columns: column 0 is neither 0, 1 nor texts"},
        {"{\"columns\":[1,[\"a\"]],\"names\":[],\"label\":1}",
         "m: it has 0 features; want 1 to 1048576"},
    };
    struct sb_columns *c;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refused(sb_columns_read(&c, "m", cases[i].text), SB_EFORMAT, cases[i].sentence);
        assert_null(c);
    }
    assert_int_equal(sb_columns_read(&c, "m", "{"), SB_EFORMAT);
    assert_int_equal(
        sb_columns_read(&c, "m", "{\"columns\":[0],\"names\":[],\"label\":2}"),
        SB_EFORMAT);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sb_status st = SB_ENOMEM;
    long n;
    for (n = 0; st != SB_OK && n < 200; n++) {
        struct sb_dataset d;
        sb_mem_fail_after(n);
        st = open_text(&d, "a,b,k\n1,x,n\n2,y,p\n3,z,q\n", &plain);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_dataset_fini(&d);
    }
    assert_true(n > 20 && n < 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(separators_and_headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(categories_and_labels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(iris_and_wine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_and_gzip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(like_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_with_blanks_at_their_ends, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_is_no_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_texts, set_up, tear_down),
        cmocka_unit_test(numbers),
        cmocka_unit_test_setup_teardown(columns_as_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
