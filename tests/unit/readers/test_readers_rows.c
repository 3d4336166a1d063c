/* readers/rows: rows of a table as they come, in pieces of any size, by name and by place;
 * what is refused, and when. */
#include "data_fixture.h"

#include <sys/socket.h>

#include "readers/rows.h"

/* size (a number), colour (a category), an unused one, the class. */
static const char with_names[] =
    "{\"columns\": [1, 0, [\"green\", \"red\"], [\"no\", \"yes\"]], \"header\": true,"
    " \"label\": 3, \"names\": [\"\", \"size\", \"colour\", \"class\"]}";
static const char without_names[] =
    "{\"columns\": [[\"no\", \"yes\"], 0, [\"green\", \"red\"]], \"header\": false,"
    " \"label\": 0, \"names\": []}";
static const char words_only[] =
    "{\"columns\": [[\"a\", \"b\"], [\"c\", \"d\"], [\"x\", \"y\"]], \"header\": true,"
    " \"label\": 2, \"names\": [\"one\", \"two\", \"class\"]}";

enum { FEATURES = 3, MOST = 8 };

/* A descriptor that gives text in pieces: each read is one of them. */
static int pieces(const char *text, size_t length, size_t piece)
{
    int end[2], buffer = 1 << 20;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, end), 0);
    (void)setsockopt(end[0], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    for (size_t at = 0; at < length; at += piece) {
        size_t n = length - at < piece ? length - at : piece;
        assert_int_equal(write(end[0], text + at, n), n);
    }
    assert_int_equal(close(end[0]), 0);
    return end[1];
}

struct reading {
    struct sb_columns *columns;
    struct sb_rows rows;
    int fd;
};

static sb_status begin(struct reading *r, const char *meaning, const char *text,
                       size_t length, size_t piece)
{
    *r = (struct reading){.fd = -1};
    sb_status st = sb_columns_read(&r->columns, "columns", meaning);
    if (st != SB_OK)
        return st;
    if (piece > 0)
        r->fd = pieces(text, length, piece);
    else
        put("a.csv", text, length);
    struct sb_rows_options o = {
        .path = "a.csv", .fd = r->fd, .columns = r->columns, .like = "the first one"};
    return sb_rows_init(&r->rows, &o);
}

static void end(struct reading *r)
{
    sb_rows_fini(&r->rows);
    sb_columns_free(r->columns);
    if (r->fd >= 0)
        close(r->fd);
}

/* text gives these values, however it comes. */
static void gives(const char *meaning, const char *text, size_t n, const float *values)
{
    for (size_t piece = 0; piece < 40; piece += piece < 8 ? 1 : 7) {
        struct reading r;
        float x[MOST * 4] = {0};
        size_t all = 0, got = 1;
        assert_int_equal(begin(&r, meaning, text, strlen(text), piece), SB_OK);
        uint32_t inputs = r.columns->inputs;
        for (; got > 0; all += got) {
            sb_status st = sb_rows_next(&r.rows, x + all * inputs, MOST - all, &got);
            if (st != SB_OK)
                print_message("%s\n", sb_message());
            assert_int_equal(st, SB_OK);
        }
        assert_int_equal(all, n);
        assert_memory_equal(x, values, n * inputs * sizeof *x);
        end(&r);
    }
}

static void columns_by_name_and_by_place(void **state)
{
    (void)state;
    const float v[] = {1.5f, 1, -2, 0};
    gives(with_names, ",size,colour,class\n0,1.5,red,no\n1,-2,green,yes\n", 2, v);
    gives(with_names, "size,colour\n1.5,red\n-2,green", 2, v);
    gives(with_names, "colour;note;size\nred;\"a\nb\";1.5\ngreen;;-2\n", 2, v);
    gives(with_names, "0,1.5,red,no\n1,-2,green,what\n", 2, v);
    gives(with_names, "\xef\xbb\xbf\n\n0\t1.5\tred\r\n\r\n1\t-2\t\"green\"\r\n", 2, v);
    gives(with_names, "\tsize\tcolour\n0\t1.5\tred\n1\t-2\tgreen\n", 2, v);
    gives(with_names, "\"si\nze\";size;colour\n;1.5;red\n;-2;green\n", 2, v);
    gives(without_names, "no,1.5,red\n?,-2,green\n", 2, v);
    gives(without_names, "1.5 red\n -2   green \n", 2, v);
    gives(without_names, "a,b\n1.5,red\n-2,green\n", 2, v);
    const float w[] = {0, 1};
    gives(words_only, "two,one\nd,a\n", 1, w);
    gives(words_only, "a,d\n", 1, w);
    gives(words_only, "a,d,x\n", 1, w);
    gives(with_names, "", 0, v);
    gives(with_names, "size,colour\n", 0, v);
}

/* After `before` rows, text is refused with that sentence, again and again. */
static void refuses(const char *meaning, const char *text, size_t before,
                    const char *sentence)
{
    for (size_t piece = 0; piece < 30; piece += 5) {
        struct reading r;
        float x[MOST * FEATURES];
        size_t all = 0, got = 0;
        sb_status st = begin(&r, meaning, text, strlen(text), piece);
        for (; st == SB_OK && (all == 0 || got > 0); all += got)
            st = sb_rows_next(&r.rows, x, MOST, &got);
        assert_int_equal(st, SB_EFORMAT);
        assert_string_equal(sb_message(), sentence);
        assert_int_equal(all, before);
        if (before > 0)
            refused(sb_rows_next(&r.rows, x, MOST, &got), SB_EFORMAT, sentence);
        end(&r);
    }
}

static void refusals(void **state)
{
    (void)state;
    refuses(with_names, "0,1,red\n1,x,red\n0,1,red\n", 1,
            "a.csv: line 2, column 2 (size): x is no number, as the column has in the "
            "first one");
    refuses(with_names, "size,colour\n1,red\n2,\n", 1,
            "a.csv: line 3, column 2 (colour): the value is missing; fill it in or leave "
            "the row out, or train with data.missing = impute");
    refuses(with_names, "size,colour\n1e39,red\n", 0,
            "a.csv: line 2, column 1 (size): 1e39 is too large for a 32-bit float");
    refuses(with_names, "size,hue\n1,red\n", 0,
            "a.csv: line 1: there is no column colour, which the first one has");
    refuses(with_names, "size,colour,size\n1,red,2\n", 0,
            "a.csv: line 1: two columns have the name size");
    refuses(with_names, "1,red\n", 0,
            "a.csv: line 1 has 2 fields; want the 4 columns of the first one, with or "
            "without the label");
    refuses(without_names, "1,red\n1,red,2\n", 1,
            "a.csv: line 2 has 3 fields, the first row has 2; every row must have as "
            "many");
    refuses(without_names, "1,red\n1,\"red\n", 1, "a.csv: line 2: a quote is not closed");
    refuses(without_names, "1,\"red\"x\n", 0,
            "a.csv: line 1: text follows a closing quote");
    refuses(with_names, "\xff\xfe,\n", 0, "a.csv: it is UTF-16; save it as UTF-8");
    refuses(with_names, "size,colour\r1,red\r2,red\r", 0,
            "a.csv: its lines end with CR alone; save it with LF or CR LF");
}

/* Rows that are longer than the first buffer, quoted or not, and more rows than it has. */
static void long_rows(void **state)
{
    (void)state;
    enum { LONG = 300000, ROWS = 30000 };
    struct reading r;
    float x[FEATURES];
    size_t got;
    char *text = malloc(2 * LONG + 100);
    assert_non_null(text);
    for (int quoted = 0; quoted < 2; quoted++) {
        int n = sprintf(text, "size,colour,note\n2,red,%s", quoted ? "\"\n" : "");
        memset(text + n, quoted ? '\n' : 'z', LONG);
        n += LONG + sprintf(text + n + LONG, "%s\n3,green,\n", quoted ? "\"" : "");
        assert_int_equal(begin(&r, with_names, text, (size_t)n, 0), SB_OK);
        for (int row = 2; row < 4; row++) {
            assert_int_equal(sb_rows_next(&r.rows, x, 1, &got), SB_OK);
            assert_true(got == 1 && x[0] == (float)row);
        }
        assert_int_equal(sb_rows_next(&r.rows, x, 1, &got), SB_OK);
        assert_int_equal(got, 0);
        end(&r);
    }
    size_t used = 0;
    for (int i = 0; i < ROWS; i++)
        used += (size_t)sprintf(text + used, "%d,red\n", i);
    assert_int_equal(begin(&r, without_names, text, used, 0), SB_OK);
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(sb_rows_next(&r.rows, x, 1, &got), SB_OK);
        assert_true(got == 1 && x[0] == (float)i);
    }
    uint64_t done, total;
    sb_rows_place(&r.rows, &done, &total);
    assert_true(done == used && total == used);
    end(&r);
    free(text);
}

static sb_status no_patience(void *context)
{
    return ++*(int *)context < 2 ? SB_OK : sb_fail(SB_ECANCELED, "enough");
}

static void rows_do_not_wait_for_others(void **state)
{
    (void)state;
    int ends[2], asked = 0;
    float x[MOST * FEATURES];
    size_t got;
    struct sb_rows r;
    struct sb_columns *columns;
    assert_int_equal(sb_columns_read(&columns, "columns", without_names), SB_OK);
    assert_int_equal(pipe(ends), 0);
    struct sb_rows_options o = {.path = "pipe",
                                .fd = ends[0],
                                .columns = columns,
                                .like = "it",
                                .idle = no_patience,
                                .context = &asked};
    assert_int_equal(sb_rows_init(&r, &o), SB_OK);
    assert_int_equal(write(ends[1], "1,red\n2,green\n3,", 16), 16);
    assert_int_equal(sb_rows_next(&r, x, MOST, &got), SB_OK);
    assert_int_equal(got, 2);
    assert_int_equal(asked, 0);
    refused(sb_rows_next(&r, x, MOST, &got), SB_ECANCELED, "enough");
    assert_int_equal(write(ends[1], "red\n", 4), 4);
    assert_int_equal(sb_rows_next(&r, x, MOST, &got), SB_OK);
    assert_true(got == 1 && x[0] == 3.0f);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(sb_rows_next(&r, x, MOST, &got), SB_OK);
    assert_int_equal(got, 0);
    sb_rows_fini(&r);
    close(ends[0]);
    refused(sb_rows_init(&r, &(struct sb_rows_options){.path = "none", .fd = -1}), SB_EIO,
            "cannot read none: No such file or directory");
    sb_rows_fini(&r);
    sb_columns_free(columns);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    enum { LONG = 40000 };
    static char text[LONG + 100];
    sb_status st = SB_ENOMEM;
    int n = sprintf(text, "size,colour,note\n2,red,");
    memset(text + n, 'z', LONG);
    sprintf(text + n + LONG, "\n");
    int i = 0;
    for (; st != SB_OK && i < 100; i++) {
        struct reading r = {.fd = -1};
        float x[FEATURES];
        size_t got;
        sb_mem_fail_after(i);
        st = begin(&r, with_names, text, strlen(text), 0);
        if (st == SB_OK)
            st = sb_rows_next(&r.rows, x, 1, &got);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        end(&r);
    }
    assert_true(i > 5 && i < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_by_name_and_by_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_do_not_wait_for_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_failed_allocation_is_survived, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
