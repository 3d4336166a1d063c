/* readers/cifar, data/names: both binary versions, good and malformed. */
#include "data_fixture.h"

enum { N = 3, MOST = 2 * N * 3074 };

static void put_training_batches(void)
{
    unsigned char b[MOST];
    for (int i = 1; i <= 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "data_batch_%d.bin", i);
        put(name, b, cifar_records(b, N, false, (uint64_t)i));
    }
}

static void put_hundred_names(void)
{
    char text[1000] = "\xc3\xa9t\xc3\xa9\r\n"; /* UTF-8, and an end of line of others */
    for (int i = 1; i < 100; i++)
        sprintf(text + strlen(text), "c%d\n", i);
    put("fine_label_names.txt", text, strlen(text));
}

static void cifar_10_has_five_training_files(void **state)
{
    (void)state;
    unsigned char b[MOST];
    struct sb_dataset d;
    put_training_batches();
    assert_int_equal(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(d.n, 5 * N);
    assert_int_equal(d.channels, 3);
    assert_int_equal(d.height, 32);
    assert_int_equal(d.width, 32);
    assert_int_equal(d.classes, 10);
    assert_string_equal(d.format, "cifar-10");
    assert_string_equal(d.class_names[9], "truck");
    for (uint32_t i = 0; i < d.n; i++) {
        if (i % N == 0)
            cifar_records(b, N, false, i / N + 1);
        assert_int_equal(d.labels[i], i % N);
        assert_memory_equal(d.images + i * 3072, b + i % N * 3073 + 1, 3072);
    }
    sb_dataset_fini(&d);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TEST), SB_EIO,
            "there is no ./test_batch.bin or .gz: the test split of cifar-10 in . is not "
            "there");
    put("test_batch.bin", b, cifar_records(b, 1, false, 9));
    put("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj", 19);
    assert_int_equal(sb_dataset_open(&d, ".", SB_SPLIT_TEST), SB_OK);
    assert_int_equal(d.n, 1);
    assert_string_equal(d.class_names[9], "j");
    sb_dataset_fini(&d);
    assert_int_equal(sb_dataset_open(&d, "data_batch_2.bin", SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(d.n, N);
    sb_dataset_fini(&d);
}

static void cifar_100_takes_the_fine_label(void **state)
{
    (void)state;
    unsigned char b[MOST];
    struct sb_dataset d;
    size_t size = cifar_records(b, N, true, 5);
    put_gzip("test.bin.gz", b, size);
    put_hundred_names();
    const char *const paths[] = {".", "test.bin.gz", "./test.bin.gz"};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(sb_dataset_open(&d, paths[k], SB_SPLIT_TEST), SB_OK);
        assert_int_equal(d.n, N);
        assert_int_equal(d.classes, 100);
        assert_string_equal(d.format, "cifar-100");
        assert_string_equal(d.class_names[0], "\xc3\xa9t\xc3\xa9");
        assert_string_equal(d.class_names[99], "c99");
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(d.labels[i], i * 7);
            assert_memory_equal(d.images + i * 3072, b + i * 3074 + 2, 3072);
        }
        sb_dataset_fini(&d);
    }
    assert_int_equal(remove("fine_label_names.txt"), 0);
    assert_int_equal(sb_dataset_open(&d, ".", SB_SPLIT_TEST), SB_OK);
    assert_null(d.class_names);
    sb_dataset_fini(&d);
    refused(sb_dataset_open(&d, "test.bin.gz", SB_SPLIT_TRAIN), SB_EARG,
            "test.bin.gz is a test file by its name, but the train split is wanted; name "
            "the directory to have both");
}

static void malformed_records(void **state)
{
    (void)state;
    unsigned char b[MOST];
    struct sb_dataset d;
    put_training_batches();
    assert_int_equal(remove("data_batch_4.bin"), 0);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EIO,
            "there is no ./data_batch_4.bin or .gz: the train split of cifar-10 in . is "
            "not complete");
    size_t size = cifar_records(b, N, false, 4);
    put("data_batch_4.bin", b, size - 1);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EFORMAT,
            "./data_batch_4.bin: 9218 bytes are not a whole number (1 to 1048576) of "
            "cifar-10 records of 3073; the file is truncated or another one, fetch it "
            "again");
    put("data_batch_4.bin", b, 0);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EFORMAT,
            "./data_batch_4.bin: 0 bytes are not a whole number (1 to 1048576) of "
            "cifar-10 records of 3073; the file is truncated or another one, fetch it "
            "again");
    b[3073] = 10;
    put("data_batch_4.bin", b, size);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EFORMAT,
            "./data_batch_4.bin: record 1 has label 10, want less than 10; the file is "
            "damaged or not cifar-10");
    refused(sb_dataset_open(&d, "data_batch_4.bin", SB_SPLIT_TRAIN), SB_EFORMAT,
            "data_batch_4.bin: record 1 has label 10, want less than 10; the file is "
            "damaged or not cifar-10");
    put("x.bin", b, 100);
    refused(sb_dataset_open(&d, "x.bin", SB_SPLIT_TEST), SB_EFORMAT,
            "x.bin: 100 bytes are no whole number of CIFAR-10 (3073) or CIFAR-100 (3074) "
            "records; the file is truncated or something else");
    size = cifar_records(b, N, true, 4);
    b[0] = 20;
    put("y.bin", b, size);
    refused(sb_dataset_open(&d, "y.bin", SB_SPLIT_TEST), SB_EFORMAT,
            "y.bin: record 0 has coarse label 20, want less than 20; the file is damaged "
            "or not cifar-100");
    b[0] = 19;
    b[1] = 255;
    put("y.bin", b, size);
    refused(sb_dataset_open(&d, "y.bin", SB_SPLIT_TEST), SB_EFORMAT,
            "y.bin: record 0 has label 255, want less than 100; the file is damaged or "
            "not cifar-100");
}

static void malformed_names(void **state)
{
    (void)state;
    unsigned char b[MOST];
    struct sb_dataset d;
    put("test_batch.bin", b, cifar_records(b, 1, false, 9));
    put("batches.meta.txt", "a\nb\n\n", 5);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TEST), SB_EFORMAT,
            "./batches.meta.txt: 2 class names, want 10; fetch it again or remove it");
    put("batches.meta.txt", "a\na\na\na\na\na\na\na\na\na\na\n", 22);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TEST), SB_EFORMAT,
            "./batches.meta.txt: 11 class names, want 10; fetch it again or remove it");
    const char *const bad[] = {"\xff",     "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                               "\xe2\x82", "a\x1b[1m", "\x80",         "\xe0\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[16];
        int n = snprintf(text, sizeof text, "ok\n%s\n", bad[i]);
        put("batches.meta.txt", text, (size_t)n);
        refused(sb_dataset_open(&d, ".", SB_SPLIT_TEST), SB_EFORMAT,
                "./batches.meta.txt: line 2 is not a class name in UTF-8");
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    unsigned char b[MOST];
    sb_status st = SB_ENOMEM;
    long n;
    put_gzip("test.bin.gz", b, cifar_records(b, N, true, 5));
    put_hundred_names();
    size_t live = sb_mem_live();
    for (n = 0; st != SB_OK && n < 100; n++) {
        struct sb_dataset d;
        sb_mem_fail_after(n);
        st = sb_dataset_open(&d, ".", SB_SPLIT_TEST);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_dataset_fini(&d);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(st, SB_OK);
    assert_true(n > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cifar_10_has_five_training_files, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(cifar_100_takes_the_fine_label, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(malformed_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(malformed_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
