/* Data that somebody rewrites while it is in use: small files are not concerned, of large
 * ones it is said; nobody dies of SIGBUS. */
#include "data_fixture.h"

#include "data/identity.h"
#include "data/normalise.h"
#include "files/gzip.h"
#include "readers/readers.h"
#include "runs.h"

enum { SIDE = 28, IMAGES = 90000, SMALL = 80 };

/* IDX files of so many black images, as holes; labels i % 3. */
static void put_images(uint32_t n)
{
    static unsigned char labels[8 + IMAGES];
    unsigned char head[16];
    put_u32(head, 0x803);
    put_u32(head + 4, n);
    put_u32(head + 8, SIDE);
    put_u32(head + 12, SIDE);
    put("train-images-idx3-ubyte", head, sizeof head);
    put("t10k-images-idx3-ubyte", head, sizeof head);
    off_t size = 16 + (off_t)n * SIDE * SIDE;
    assert_int_equal(truncate("train-images-idx3-ubyte", size), 0);
    put_u32(head + 4, SMALL);
    put("t10k-images-idx3-ubyte", head, sizeof head);
    assert_int_equal(truncate("t10k-images-idx3-ubyte", 16 + SMALL * SIDE * SIDE), 0);
    put("train-labels-idx1-ubyte", labels, idx_labels(labels, n, 3));
    put("t10k-labels-idx1-ubyte", labels, idx_labels(labels, SMALL, 3));
}

/* After the third batch the training file is cut. */
static bool cut(void *context, const struct sebays_progress *p)
{
    int *reports = context;
    (void)p;
    if (++*reports == 3)
        assert_int_equal(truncate("train-images-idx3-ubyte", 16), 0);
    return true;
}

static sebays_status train_while_it_is_cut(const char *out)
{
    static const char *const options[] = {"data.set=.",       "train.limit=200",
                                          "data.split=tail",  "train.batch=10",
                                          "method.members=1", NULL};
    int reports = 0;
    struct sebays_recipe *r = run_recipe(options);
    struct sebays_result *result;
    struct sebays_run_options o = {
        .out = out, .progress = cut, .progress_context = &reports};
    sebays_status st = sebays_train(r, &o, &result);
    sebays_result_free(result);
    sebays_recipe_free(r);
    return st;
}

static void small_files_are_ours(void **state)
{
    (void)state;
    put_images(300);
    assert_int_equal(train_while_it_is_cut("run"), SEBAYS_OK);
}

static void of_large_ones_it_is_said(void **state)
{
    (void)state;
    put_images(IMAGES);
    refused((int)train_while_it_is_cut("run"), SEBAYS_EIO,
            "./train-images-idx3-ubyte was changed while it was in use: it had 70560016 "
            "bytes and has 16 now; write a new file and rename it over the old one");
}

/* Before the first batch all of it is looked at, twice. */
static void before_the_first_batch_too(void **state)
{
    (void)state;
    static const char *const sentence =
        "./train-images-idx3-ubyte was changed while it was in use: it had 70560016 "
        "bytes "
        "and has 16 now; write a new file and rename it over the old one";
    const struct sb_env env = {.threads = 2};
    const struct sb_open_options o = {.split = SB_SPLIT_TRAIN};
    struct sb_dataset d;
    struct sb_indices part;
    struct sb_holdout_options none = {.kind = SB_HOLDOUT_TAIL};
    struct sb_normalise normal;
    json_t *identity;
    put_images(IMAGES);
    assert_int_equal(sb_dataset_open_with(&d, ".", &o), SB_OK);
    assert_int_equal(sb_indices_init(&part, &d, &none), SB_OK);
    assert_int_equal(truncate("train-images-idx3-ubyte", 16), 0);
    refused(sb_normalise_computed(&normal, &env, &d, part.train, part.train_count),
            SB_EIO, sentence);
    sb_normalise_fini(&normal);
    const struct sb_identity_of of = {.train = &d, .part = &part};
    refused(sb_identity_make(&of, &identity), SB_EIO, sentence);
    assert_null(identity);
    sb_indices_fini(&part);
    sb_dataset_fini(&d);
}

/* Written in place, replaced, removed. */
static void what_counts_as_a_change(void **state)
{
    (void)state;
    struct sb_bytes b;
    unsigned char byte = 1;
    put_images(IMAGES);
    const char *path = "train-images-idx3-ubyte";
    assert_int_equal(sb_bytes_open(&b, path, 1), SB_OK);
    assert_null(b.copy);
    assert_int_equal(sb_bytes_check(&b), SB_OK);
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, 1000, SEEK_SET), 0);
    assert_int_equal(fwrite(&byte, 1, 1, f), 1);
    assert_int_equal(fclose(f), 0);
    refused(sb_bytes_check(&b), SB_EIO,
            "train-images-idx3-ubyte was written while it was in use; write a new file "
            "and rename it over the old one");
    sb_bytes_close(&b);
    assert_int_equal(sb_bytes_open(&b, path, 1), SB_OK);
    put("new", &byte, 1);
    assert_int_equal(rename("new", path), 0);
    assert_int_equal(sb_bytes_check(&b), SB_OK);
    assert_int_equal(b.data[3], 3); /* still there */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sb_bytes_check(&b), SB_OK);
    sb_bytes_close(&b);
    put("small", "abc", 3);
    assert_int_equal(sb_bytes_open(&b, "small", 1), SB_OK);
    put("small", "", 0);
    assert_int_equal(sb_bytes_check(&b), SB_OK);
    assert_memory_equal(b.data, "abc", 3);
    sb_bytes_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(small_files_are_ours, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_large_ones_it_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(before_the_first_batch_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_counts_as_a_change, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
