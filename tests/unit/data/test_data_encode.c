/* data/encode: what is learned from the rows that are trained on, features of rows, and
 * columns that survive being written. */
#include "data/encode.h"

#include "data_fixture.h"

#include <math.h>

#include "data/batch.h"
#include "data/columns.h"
#include "data/normalise.h"

static const struct sb_encode_options plain = {SB_SCALE_PLAIN, 0, true};

static void open_text(struct sb_dataset *d, const char *text)
{
    const struct sb_open_options o = {.impute = true};
    put("a.csv", text, strlen(text));
    sb_status st = sb_dataset_open_with(d, "a.csv", &o);
    if (st != SB_OK)
        print_message("%s\n", sb_message());
    assert_int_equal(st, SB_OK);
}

static void assert_features(const struct sb_dataset *d, uint32_t row,
                            enum sb_row_state state, const float *want)
{
    float have[64];
    const struct sb_columns *c = d->columns;
    assert_int_equal(sb_encode_row(c, d->values + (size_t)row * d->channels,
                                   sizeof(float), NULL, NULL, have, 1),
                     state);
    for (uint32_t k = 0; k < c->features; k++)
        if (have[k] != want[k])
            fail_msg("row %u, feature %u is %g, want %g", row, k, (double)have[k],
                     (double)want[k]);
}

/* ---- learning ---- */

static void training_rows_alone_teach(void **state)
{
    (void)state;
    struct sb_dataset d;
    /* Rows 4 and 5 are not trained on: blue and the number missing are new there. */
    open_text(&d, "size,tall,colour,k\n1,yes,red,a\n,no,green,b\n3,yes,,a\n8,,green,b\n"
                  "9,no,blue,a\n,yes,red,b\n");
    const uint32_t index[] = {0, 1, 2, 3};
    assert_int_equal(sb_encode_fit(&d, NULL, index, 4, &plain), SB_OK);
    const struct sb_columns *c = d.columns;
    assert_int_equal(c->inputs, 3);
    assert_int_equal(c->features, 2 + 2 + 3);
    assert_true(c->column[0].fill == 4.0f && c->column[0].indicator);
    assert_true(c->column[1].fill == 2.0f / 3 && c->column[1].indicator);
    assert_int_equal(c->column[2].words.count, 3); /* "", green, red */
    const float first[] = {1, 0, 1, 0, 0, 0, 1}, second[] = {4, 1, 0, 0, 0, 1, 0},
                third[] = {3, 0, 1, 0, 1, 0, 0}, fourth[] = {8, 0, 2.0f / 3, 1, 0, 1, 0},
                fifth[] = {9, 0, 0, 0, 0, 0, 0};
    assert_features(&d, 0, SB_ROW_GOOD, first);
    assert_features(&d, 1, SB_ROW_GOOD, second);
    assert_features(&d, 2, SB_ROW_GOOD, third);
    assert_features(&d, 3, SB_ROW_GOOD, fourth);
    assert_features(&d, 4, SB_ROW_GOOD, fifth); /* blue is none of them */
    uint32_t column;
    const uint32_t others[] = {4, 5};
    assert_int_equal(sb_encode_unknown(&d, c, others, 2, &column), 1);
    assert_int_equal(column, 2);
    assert_int_equal(sb_encode_unknown(&d, c, index, 4, &column), 0);
    sb_dataset_fini(&d);
}

static void missing_where_none_was(void **state)
{
    (void)state;
    struct sb_dataset d;
    open_text(&d, "1,2,a\n3,4,b\n,6,a\n");
    const uint32_t index[] = {0, 1};
    assert_int_equal(sb_encode_fit(&d, NULL, index, 2, &plain), SB_OK);
    const float want[] = {2, 6};
    assert_int_equal(d.columns->features, 2);
    assert_features(&d, 2, SB_ROW_NEW, want);
    d.columns->impute = false;
    assert_features(&d, 2, SB_ROW_BAD, want);
    sb_dataset_fini(&d);
}

/* A test file that was read like the other one keeps meaning the same. */
static void codes_change_in_both(void **state)
{
    (void)state;
    struct sb_dataset d, e;
    open_text(&d, "c,k\nz,a\ny,b\nx,a\nw,b\n");
    put("t.csv", "z,a\nw,b\nv,a\n", 12);
    const struct sb_open_options o = {.like = &d, .impute = true, .split = SB_SPLIT_TEST};
    assert_int_equal(sb_dataset_open_with(&e, "t.csv", &o), SB_OK);
    const uint32_t index[] = {0, 1}; /* z and y */
    assert_int_equal(sb_encode_fit(&d, &e, index, 2, &plain), SB_OK);
    assert_int_equal(d.columns->column[0].words.count, 2);
    assert_true(d.values[0] == 1.0f && d.values[1] == 0.0f);
    assert_true(isnan(d.values[2]) && isnan(d.values[3]));
    assert_true(e.values[0] == 1.0f && isnan(e.values[1]) && isnan(e.values[2]));
    uint32_t column;
    assert_int_equal(sb_encode_unknown(&e, d.columns, NULL, 3, &column), 2);
    sb_dataset_fini(&e);
    sb_dataset_fini(&d);
}

/* ---- scales ---- */

static void pieces_and_quantiles(void **state)
{
    (void)state;
    enum { N = 101 };
    static float x[2 * N];
    static uint32_t labels[N], index[N];
    char path[] = "made-up";
    for (uint32_t i = 0; i < N; i++) {
        x[2 * i] = (float)(i * i); /* quantiles 0, 625, 2500, 5625, 10000 */
        x[2 * i + 1] = i < 90 ? 0.0f : 1.0f;
        index[i] = i;
    }
    struct sb_dataset d = {.element = SB_FLOATS,
                           .values = x,
                           .labels = labels,
                           .n = N,
                           .channels = 2,
                           .height = 1,
                           .width = 1,
                           .classes = 2,
                           .path = path};
    const struct sb_encode_options pieces = {SB_SCALE_PIECES, 4, false};
    assert_int_equal(sb_encode_fit(&d, NULL, index, N, &pieces), SB_OK);
    const struct sb_column *c = &d.columns->column[0];
    const float cuts[] = {0, 625, 2500, 5625, 10000};
    assert_int_equal(c->cuts, 5);
    assert_memory_equal(c->cut, cuts, sizeof cuts);
    assert_int_equal(d.columns->column[1].scale, SB_SCALE_PLAIN); /* two values only */
    assert_int_equal(d.columns->features, 5);
    const float at50[] = {1, 1, 0, 0, 0}, at10[] = {100.0f / 625, 0, 0, 0, 0};
    assert_features(&d, 50, SB_ROW_GOOD, at50);
    assert_features(&d, 10, SB_ROW_GOOD, at10);
    float far[2] = {1e30f, 0}, out[5];
    const float end[] = {1, 1, 1, 1, 0};
    assert_int_equal(sb_encode_row(d.columns, far, sizeof *far, NULL, NULL, out, 1),
                     SB_ROW_GOOD);
    assert_memory_equal(out, end, sizeof end);
    far[0] = INFINITY;
    assert_int_equal(sb_encode_row(d.columns, far, sizeof *far, NULL, NULL, out, 1),
                     SB_ROW_BAD);
    const struct sb_encode_options quantile = {SB_SCALE_QUANTILE, 0, false};
    assert_int_equal(sb_encode_fit(&d, NULL, index, N, &quantile), SB_OK);
    assert_int_equal(d.columns->features, 2);
    float before = -1;
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(
            sb_encode_row(d.columns, x + 2 * i, sizeof *x, NULL, NULL, out, 1),
            SB_ROW_GOOD);
        assert_true(out[0] > before && fabsf(out[0] - (float)i / 100) < 0.02f);
        before = out[0];
    }
    sb_columns_free(d.columns);
}

/* Numbers that are all there and plain need no columns. */
static void plain_arrays_stay_as_they_are(void **state)
{
    (void)state;
    float x[] = {1, 2, 3, 4};
    const uint32_t index[] = {0, 1};
    char path[] = "made-up";
    struct sb_dataset d = {.element = SB_FLOATS,
                           .values = x,
                           .n = 2,
                           .channels = 2,
                           .height = 1,
                           .width = 1,
                           .path = path};
    assert_int_equal(sb_encode_fit(&d, NULL, index, 2, &plain), SB_OK);
    assert_null(d.columns);
    x[3] = NAN;
    assert_int_equal(sb_encode_fit(&d, NULL, index, 2, &plain), SB_OK);
    assert_int_equal(d.columns->features, 3);
    const float want[] = {3, 2, 1};
    assert_features(&d, 1, SB_ROW_GOOD, want);
    sb_columns_free(d.columns);
}

/* ---- use ---- */

/* A batch has the normalised features, whatever the number of threads. */
static void batches_of_features(void **state)
{
    (void)state;
    struct sb_dataset d;
    struct sb_normalise m, again;
    struct sb_act x;
    const struct sb_env env = {.threads = 1}, three = {.threads = 3};
    open_text(&d, "1,u,a\n2,v,b\n,w,a\n4,u,b\n5,v,a\n7,u,b\n1,u,a\n2,w,b\n3,u,a\n");
    const uint32_t index[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    assert_int_equal(sb_encode_fit(&d, NULL, index, 9, &plain), SB_OK);
    assert_int_equal(sb_normalise_computed(&m, &env, &d, index, 9), SB_OK);
    assert_int_equal(sb_normalise_computed(&again, &three, &d, index, 9), SB_OK);
    assert_int_equal(m.channels, 5);
    assert_memory_equal(m.mean, again.mean, 5 * sizeof *m.mean);
    assert_memory_equal(m.sd, again.sd, 5 * sizeof *m.sd);
    assert_true(m.mean[0] == 3.125f); /* the fill does not move it */
    assert_true(m.sd[1] > 0.2f && m.sd[1] < 0.4f);
    const struct sb_batch_source s = {.data = &d, .normal = &m};
    assert_int_equal(sb_act_init(&x, 8, 9, 5, 1, 1), SB_OK);
    assert_int_equal(sb_batch_fill(&s, 2, index, 9, &x, NULL), SB_OK);
    for (uint32_t i = 0; i < 9; i++) {
        float want[5];
        (void)sb_encode_row(d.columns, d.values + 2 * i, sizeof(float), m.mean, m.sd,
                            want, 1);
        for (uint32_t k = 0; k < 5; k++)
            assert_true(sb_act_plane(&x, i / 8, k)[i % 8] == want[k]);
    }
    for (uint32_t k = 0; k < 5; k++) /* lanes that are not used */
        assert_true(sb_act_plane(&x, 1, k)[8 - 1] == 0.0f);
    sb_act_fini(&x);
    sb_normalise_fini(&m);
    sb_normalise_fini(&again);
    sb_dataset_fini(&d);
}

/* A text that is rare is not blown up. */
static void rare_texts(void **state)
{
    (void)state;
    enum { N = 1000 };
    static char text[16 * N];
    static uint32_t index[N];
    size_t n = 0;
    struct sb_dataset d;
    struct sb_normalise m;
    const struct sb_env env = {.threads = 1};
    for (uint32_t i = 0; i < N; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%u,%s,%u\n", i,
                              i ? "often" : "once", i % 2);
        index[i] = i;
    }
    open_text(&d, text);
    assert_int_equal(sb_encode_fit(&d, NULL, index, N, &plain), SB_OK);
    assert_int_equal(sb_normalise_computed(&m, &env, &d, index, N), SB_OK);
    assert_true(m.sd[1] == SB_SD_LEAST && m.sd[2] == SB_SD_LEAST && m.sd[0] > 100);
    sb_normalise_fini(&m);
    sb_dataset_fini(&d);
}

/* ---- as text ---- */

static void columns_survive_being_written(void **state)
{
    (void)state;
    struct sb_dataset d;
    struct sb_columns *back;
    char *text, *again;
    open_text(&d,
              "size,on,colour,id,age,k\n1,yes,red,3,5,a\n,no,green,4,6,b\n3,yes,,5,9,a\n"
              "8,,green,6,2,b\n");
    d.columns->column[3].kind = SB_COLUMN_UNUSED;
    const struct sb_encode_options pieces = {SB_SCALE_PIECES, 3, true};
    assert_int_equal(sb_columns_write(d.columns, &text), SB_OK);
    assert_int_equal(sb_columns_read(&back, "m", text), SB_OK);
    assert_int_equal(sb_columns_write(back, &again), SB_OK);
    assert_string_equal(text, again);
    assert_non_null(strstr(text, "\"impute\":true"));
    assert_non_null(strstr(text, "[0,{\"boolean\":true},[\"\",\"green\",\"red\"],1,0,"));
    sb_columns_free(back);
    sb_free(text);
    sb_free(again);
    sb_dataset_fini(&d);
    open_text(&d, "1,5,a\n,6,b\n3,9,a\n8,2.5,b\n");
    const uint32_t all[] = {0, 1, 2, 3};
    assert_int_equal(sb_encode_fit(&d, NULL, all, 4, &pieces), SB_OK);
    assert_int_equal(sb_columns_write(d.columns, &text), SB_OK);
    assert_string_equal(text, "{\"columns\":[{\"cuts\":[1.0,3.0,8.0],\"fill\":4.0,"
                              "\"missing\":true,\"scale\":\"pieces\"},"
                              "{\"cuts\":[2.5,5.0,6.0,9.0],\"fill\":5.625,"
                              "\"scale\":\"pieces\"},[\"a\",\"b\"]],\"header\":false,"
                              "\"impute\":true,\"label\":2,\"names\":[]}");
    assert_int_equal(sb_columns_read(&back, "m", text), SB_OK);
    assert_int_equal(back->features, 2 + 1 + 3);
    for (uint32_t i = 0; i < 4; i++) {
        float want[6], have[6];
        (void)sb_encode_row(d.columns, d.values + 2 * i, 4, NULL, NULL, want, 1);
        (void)sb_encode_row(back, d.values + 2 * i, 4, NULL, NULL, have, 1);
        assert_memory_equal(have, want, sizeof want);
    }
    sb_columns_free(back);
    sb_free(text);
    sb_dataset_fini(&d);
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *column, *sentence;
    } cases[] = {
        {"{\"boolean\":false}", "want true for what is so, or nothing"},
        {"{\"missing\":1}", "want true for what is so, or nothing"},
        {"{\"fill\":\"x\"}", "want a finite number to fill in"},
        {"{\"fill\":1e300}", "want a finite number to fill in"},
        {"{\"scale\":\"plain\"}", "want quantile or pieces as the scale of a number"},
        {"{\"scale\":3}", "want quantile or pieces as the scale of a number"},
        {"{\"boolean\":true,\"scale\":\"pieces\",\"cuts\":[1,2]}",
         "want quantile or pieces as the scale of a number"},
        {"{\"scale\":\"pieces\"}", "want 2 to 1025 cuts"},
        {"{\"scale\":\"pieces\",\"cuts\":[1]}", "want 2 to 1025 cuts"},
        {"{\"scale\":\"pieces\",\"cuts\":[1,1]}", "want cuts that rise"},
        {"{\"scale\":\"pieces\",\"cuts\":[2,1]}", "want cuts that rise"},
        {"{\"scale\":\"pieces\",\"cuts\":[1,\"x\"]}", "want cuts that rise"},
        {"{\"scale\":\"pieces\",\"cuts\":[-3e38,3e38]}", "want cuts that rise"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sb_columns *c;
        char text[256], sentence[256];
        snprintf(text, sizeof text, "{\"columns\":[%s],\"names\":[],\"label\":1}",
                 cases[i].column);
        snprintf(sentence, sizeof sentence, "m: columns: column 0: %s",
                 cases[i].sentence);
        refused(sb_columns_read(&c, "m", text), SB_EFORMAT, sentence);
        assert_null(c);
    }
    struct sb_columns *c;
    refused(sb_columns_read(&c, "m",
                            "{\"columns\":[0],\"impute\":0,\"names\":[],\"label\":1}"),
            SB_EFORMAT, "m: columns: impute is neither true nor absent");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sb_status st = SB_ENOMEM;
    const struct sb_env env = {.threads = 1};
    const struct sb_encode_options pieces = {SB_SCALE_PIECES, 3, true};
    long n;
    for (n = 0; st != SB_OK && n < 200; n++) {
        struct sb_dataset d;
        struct sb_normalise m = {0};
        const uint32_t index[] = {0, 1, 2};
        char *text = NULL;
        open_text(&d, "1,x,a\n2,y,b\n3,x,a\n4,z,b\n");
        sb_mem_fail_after(n);
        st = sb_encode_fit(&d, NULL, index, 3, &pieces);
        if (st == SB_OK)
            st = sb_normalise_computed(&m, &env, &d, index, 3);
        if (st == SB_OK)
            st = sb_columns_write(d.columns, &text);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_free(text);
        sb_normalise_fini(&m);
        sb_dataset_fini(&d);
    }
    assert_in_range(n, 8, 199);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(training_rows_alone_teach, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_where_none_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(codes_change_in_both, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pieces_and_quantiles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plain_arrays_stay_as_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(batches_of_features, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rare_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_survive_being_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_numbers_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
