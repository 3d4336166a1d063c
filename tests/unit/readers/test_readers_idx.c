/* readers/idx, files/gzip, data/dataset: the MNIST family, good and malformed; finding by name. */
#include "data_fixture.h"

#include <sys/stat.h>

#include "data/reader.h"

enum { N = 7, H = 5, W = 4, IMAGES = 16 + N * H * W, LABELS = 8 + N };

static const char images_name[] = "train-images-idx3-ubyte";
static const char labels_name[] = "train-labels-idx1-ubyte";

struct pair {
    unsigned char images[IMAGES], labels[LABELS];
};

static void make_pair(struct pair *p)
{
    assert_int_equal(idx_images(p->images, N, H, W), IMAGES);
    assert_int_equal(idx_labels(p->labels, N, 3), LABELS);
}

static void check_pair(const struct pair *p, const char *path, enum sb_split split)
{
    struct sb_dataset d;
    assert_int_equal(sb_dataset_open(&d, path, split), SB_OK);
    assert_int_equal(d.n, N);
    assert_int_equal(d.channels, 1);
    assert_int_equal(d.height, H);
    assert_int_equal(d.width, W);
    assert_int_equal(d.classes, 3);
    assert_null(d.class_names);
    assert_string_equal(d.path, path);
    assert_string_equal(d.format, "idx");
    assert_memory_equal(d.images, p->images + 16, IMAGES - 16);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(d.labels[i], i % 3);
    sb_dataset_fini(&d);
}

/* ---- good files ---- */

static void plain_packed_and_mixed(void **state)
{
    (void)state;
    struct pair p;
    make_pair(&p);
    put(images_name, p.images, IMAGES);
    put(labels_name, p.labels, LABELS);
    check_pair(&p, ".", SB_SPLIT_TRAIN);
    check_pair(&p, images_name, SB_SPLIT_TRAIN);
    assert_int_equal(remove(labels_name), 0);
    put_gzip("train-labels-idx1-ubyte.gz", p.labels, LABELS);
    check_pair(&p, ".", SB_SPLIT_TRAIN);
    assert_int_equal(remove(images_name), 0);
    put_gzip("train-images-idx3-ubyte.gz", p.images, IMAGES);
    check_pair(&p, "./", SB_SPLIT_TRAIN);
    check_pair(&p, "./train-images-idx3-ubyte.gz", SB_SPLIT_TRAIN);
    put("t10k-images.idx3-ubyte", p.images, IMAGES);
    put("t10k-labels.idx1-ubyte", p.labels, LABELS);
    check_pair(&p, ".", SB_SPLIT_TEST);
}

/* Two members and tape padding; a trailer that lies about the size. */
static void odd_gzip_files(void **state)
{
    (void)state;
    struct pair p;
    unsigned char packed[2000] = {0};
    make_pair(&p);
    put(labels_name, p.labels, LABELS);
    size_t size = pack(p.images, 50, packed, 1000);
    size += pack(p.images + 50, IMAGES - 50, packed + size, 1000);
    put("train-images-idx3-ubyte.gz", packed, size);
    check_pair(&p, ".", SB_SPLIT_TRAIN);
    put("train-images-idx3-ubyte.gz", packed, size + 100);
    check_pair(&p, ".", SB_SPLIT_TRAIN);
}

/* A buffer that must grow: zeros pack a thousand to one, beyond the first guess. */
static void packed_bytes_grow_up_to_the_limit(void **state)
{
    (void)state;
    enum { SIZE = 300000 };
    unsigned char *zeros = calloc(SIZE, 1), *packed = malloc(SIZE);
    struct sb_bytes b;
    size_t size = pack(zeros, SIZE - 10, packed, SIZE);
    size += pack(zeros, 10, packed + size, SIZE - size); /* trailer says 10 */
    put("x.gz", packed, size);
    assert_int_equal(sb_bytes_open(&b, "x.gz", SIZE), SB_OK);
    assert_int_equal(b.size, SIZE);
    assert_memory_equal(b.data, zeros, SIZE);
    sb_bytes_close(&b);
    assert_int_equal(sb_bytes_open(&b, "x.gz", SIZE * 2), SB_OK);
    assert_int_equal(b.size, SIZE);
    sb_bytes_close(&b);
    refused(sb_bytes_open(&b, "x.gz", SIZE - 1), SB_EFORMAT,
            "x.gz: it unpacks to more than the 299999 bytes expected; is it the right "
            "file? If it is, unpack it first (gunzip)");
    assert_null(b.data);
    free(zeros);
    free(packed);
}

static void fashion_mnist(void **state)
{
    (void)state;
    struct sb_dataset train, test;
    if (!sb_file_exists(FASHION)) {
        print_message("NOT TESTED: dataset-fashion-mnist is not installed\n");
        skip();
    }
    assert_int_equal(sb_dataset_open(&train, FASHION, SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(sb_dataset_open(&test, FASHION, SB_SPLIT_TEST), SB_OK);
    assert_int_equal(train.n, 60000);
    assert_int_equal(test.n, 10000);
    assert_int_equal(train.height, 28);
    assert_int_equal(train.width, 28);
    assert_int_equal(train.classes, 10);
    assert_string_equal(train.class_names[9], "Ankle boot");
    assert_string_equal(test.class_names[0], "T-shirt/top");
    assert_int_equal(train.labels[0], 9);
    assert_int_equal(sb_dataset_match(&train, &test), SB_OK);
    uint32_t per_class[10] = {0};
    for (uint32_t i = 0; i < train.n; i++)
        per_class[train.labels[i]]++;
    for (int c = 0; c < 10; c++)
        assert_int_equal(per_class[c], 6000);
    sb_dataset_fini(&train);
    sb_dataset_fini(&test);
}

/* ---- malformed ---- */

/* Sets the last four of n bytes so that the checksum of all is sum. */
static void forge(unsigned char *bytes, uint32_t n, uint32_t sum)
{
    const z_crc_t *table = get_crc_table();
    uint32_t before = (uint32_t)crc32(0, bytes, n - 4) ^ UINT32_MAX;
    uint32_t after = sum ^ UINT32_MAX, entry[4];
    for (int i = 3; i >= 0; i--) {
        for (entry[i] = 0; table[entry[i]] >> 24 != after >> 24;)
            entry[i]++;
        after = (uint32_t)(after ^ table[entry[i]]) << 8;
    }
    for (uint32_t i = 0; i < 4; i++) {
        bytes[n - 4 + i] = (unsigned char)(before ^ entry[i]);
        before = (uint32_t)(before >> 8 ^ table[entry[i]]);
    }
    assert_int_equal(crc32(0, bytes, n), sum);
}

/* Labels that pass for Fashion-MNIST's but have more classes than it has names. */
static void forged_fashion_labels(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    static unsigned char images[16 + COUNT], labels[8 + COUNT];
    struct sb_dataset d;
    put(images_name, images, idx_images(images, COUNT, 1, 1));
    size_t size = idx_labels(labels, COUNT, 256);
    forge(labels + 8, COUNT, 0x242bc73fu);
    put(labels_name, labels, size);
    assert_int_equal(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(d.classes, 256);
    assert_null(d.class_names);
    sb_dataset_fini(&d);
}

/* Writes the pair, with what the test changed in it, and expects the sentence. */
static void refuse_pair(const struct pair *p, size_t images, size_t labels,
                        const char *sentence)
{
    struct sb_dataset d;
    put(images_name, p->images, images);
    put(labels_name, p->labels, labels);
    refused(sb_dataset_open(&d, "d/..", SB_SPLIT_TRAIN), SB_EFORMAT, sentence);
    sb_dataset_fini(&d);
}

#define IMG "d/../train-images-idx3-ubyte: "
#define LAB "d/../train-labels-idx1-ubyte: "

static void lying_headers(void **state)
{
    (void)state;
    struct pair p;
    assert_int_equal(mkdir("d", 0777), 0);
    make_pair(&p);
    refuse_pair(&p, 0, LABELS,
                IMG "0 bytes are too few for an IDX header of 16; the file is truncated, "
                    "fetch it again");
    refuse_pair(&p, 15, LABELS,
                IMG
                "15 bytes are too few for an IDX header of 16; the file is truncated, "
                "fetch it again");
    refuse_pair(&p, IMAGES - 1, LABELS,
                IMG "its header says 7 x 5 x 4, which is 156 bytes with the header, but "
                    "there are 155; the file is truncated, fetch it again");
    put_u32(p.images, 0x802);
    refuse_pair(&p, IMAGES, LABELS,
                IMG "begins with 00 00 08 02, want 00 00 08 03 (IDX, bytes, 3 "
                    "dimensions); is it the right file?");
    make_pair(&p);
    put_u32(p.images + 4, 6);
    refuse_pair(&p, IMAGES, LABELS,
                IMG "its header says 6 x 5 x 4, which is 136 bytes with the header, but "
                    "there are 156; the file is damaged, fetch it again");
    put_u32(p.images + 4, 0);
    refuse_pair(&p, IMAGES, LABELS, IMG "its header says there is nothing in it");
    put_u32(p.images + 4, UINT32_MAX);
    refuse_pair(&p, IMAGES, LABELS,
                IMG "its header says 4294967295 x 5 x 4, which is 85899345916 bytes with "
                    "the header, but there are 156; the file is truncated, fetch it "
                    "again");
    put_u32(p.images + 8, 0);
    refuse_pair(&p, IMAGES, LABELS,
                IMG "its header says images of 0 x 4; each side must be from 1 to 16384");
    put_u32(p.images + 8, UINT32_MAX);
    refuse_pair(&p, IMAGES, LABELS,
                IMG "its header says images of 4294967295 x 4; each side must be from 1 "
                    "to 16384");
}

static void wrong_labels(void **state)
{
    (void)state;
    struct pair p;
    struct sb_dataset d;
    assert_int_equal(mkdir("d", 0777), 0);
    make_pair(&p);
    put_u32(p.labels + 4, N - 1);
    refuse_pair(&p, IMAGES, LABELS - 1,
                "d/../train-labels-idx1-ubyte has 6 labels, but "
                "d/../train-images-idx3-ubyte has 7 images; they do not belong together");
    refuse_pair(&p, IMAGES, LABELS,
                LAB "its header says 6 x 1 x 1, which is 14 bytes with the header, but "
                    "there are 15; the file is damaged, fetch it again");
    put_u32(p.labels, 0x803);
    refuse_pair(&p, IMAGES, LABELS,
                LAB "begins with 00 00 08 03, want 00 00 08 01 (IDX, bytes, 1 "
                    "dimension); is it the right file?");
    assert_int_equal(remove(labels_name), 0);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EIO,
            "there is no label file ./train-labels-idx1-ubyte or "
            "./train-labels-idx1-ubyte.gz beside ./train-images-idx3-ubyte");
}

static void damaged_gzip(void **state)
{
    (void)state;
    struct pair p;
    struct sb_dataset d;
    unsigned char packed[1000];
    const char *name = "train-images-idx3-ubyte.gz";
    make_pair(&p);
    put(labels_name, p.labels, LABELS);
    size_t size = pack(p.images, IMAGES, packed, sizeof packed);
    put(name, packed, size - 3);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EFORMAT,
            "./train-images-idx3-ubyte.gz: its gzip data stops short after 176 bytes; "
            "the file is truncated, fetch it again");
    put(name, packed, 2);
    refused(sb_dataset_open(&d, name, SB_SPLIT_TRAIN), SB_EFORMAT,
            "train-images-idx3-ubyte.gz: its gzip data stops short after 2 bytes; the "
            "file is truncated, fetch it again");
    packed[size] = 'x';
    put(name, packed, size + 1);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EFORMAT,
            "./train-images-idx3-ubyte.gz: 1 bytes follow the end of its gzip data; "
            "fetch it again");
    packed[size - 6] ^= 1; /* the checksum */
    put(name, packed, size);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EFORMAT,
            "./train-images-idx3-ubyte.gz: its gzip data is damaged; fetch it again");
    put_u32(p.images + 4, N - 1); /* more inside than the header says */
    put_gzip(name, p.images, IMAGES);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EFORMAT,
            "./train-images-idx3-ubyte.gz: it unpacks to more than the 136 bytes "
            "expected; is it the right file? If it is, unpack it first (gunzip)");
}

/* Every cut and every flipped bit of a small packed pair: refused or the same, no crash. */
static void every_cut_and_flip(void **state)
{
    (void)state;
    struct pair p;
    unsigned char packed[1000];
    make_pair(&p);
    put(labels_name, p.labels, LABELS);
    size_t size = pack(p.images, IMAGES, packed, sizeof packed);
    for (size_t i = 0; i < size * 9; i++) {
        struct sb_dataset d;
        if (i >= size)
            packed[(i - size) / 8] ^= (unsigned char)(1u << (i - size) % 8);
        put("train-images-idx3-ubyte.gz", packed, i < size ? i : size);
        if (sb_dataset_open(&d, ".", SB_SPLIT_TRAIN) == SB_OK)
            assert_memory_equal(d.images, p.images + 16, IMAGES - 16);
        sb_dataset_fini(&d);
        if (i >= size)
            packed[(i - size) / 8] ^= (unsigned char)(1u << (i - size) % 8);
    }
}

static void wrong_paths(void **state)
{
    (void)state;
    struct sb_dataset d;
    struct pair p;
    make_pair(&p);
    refused(sb_dataset_open(&d, "absent", SB_SPLIT_TRAIN), SB_EIO,
            "cannot read absent: No such file or directory");
    static const char known[] =
        ".: no data set recognised in this directory; want "
        "train-images-idx3-ubyte[.gz] (MNIST, Fashion-MNIST, KMNIST); "
        "data_batch_1.bin (CIFAR-10), train.bin (CIFAR-100); "; /* and others */
    assert_int_equal(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EFORMAT);
    assert_int_equal(strncmp(sb_message(), known, sizeof known - 1), 0);
    put("notes", "\1\2\3\4\5", 5);
    assert_int_equal(sb_dataset_open(&d, "notes", SB_SPLIT_TRAIN), SB_EFORMAT);
    assert_non_null(strstr(sb_message(), "notes: no data set recognised in this file; "));
    put("pixels", p.images, IMAGES);
    refused(sb_dataset_open(&d, "pixels", SB_SPLIT_TRAIN), SB_EARG,
            "pixels: its name has no \"images\" to become \"labels\", so its label file "
            "is unknown; name both like train-images-idx3-ubyte");
    put("t10k-images-idx3-ubyte", p.images, IMAGES);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EIO,
            "there is no ./train-images-idx3-ubyte or .gz: . has no train split");
    refused(sb_dataset_open(&d, "t10k-images-idx3-ubyte", SB_SPLIT_TRAIN), SB_EARG,
            "t10k-images-idx3-ubyte is a test file by its name, but the train split is "
            "wanted; name the directory to have both");
    put(labels_name, p.labels, LABELS);
    refused(sb_dataset_open(&d, labels_name, SB_SPLIT_TRAIN), SB_EFORMAT,
            "train-labels-idx1-ubyte: begins with 00 00 08 01, want 00 00 08 03 (IDX, "
            "bytes, 3 dimensions); is it the right file?");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct pair p;
    sb_status st = SB_ENOMEM;
    long n;
    make_pair(&p);
    put_gzip("train-images-idx3-ubyte.gz", p.images, IMAGES);
    put_gzip("train-labels-idx1-ubyte.gz", p.labels, LABELS);
    size_t live = sb_mem_live();
    for (n = 0; st != SB_OK && n < 100; n++) {
        struct sb_dataset d;
        sb_mem_fail_after(n);
        st = sb_dataset_open(&d, ".", SB_SPLIT_TRAIN);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_dataset_fini(&d);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(st, SB_OK);
    assert_true(n > 8);
    sb_dataset_fini(NULL);
}

/* ---- two splits, names ---- */

static void splits_must_match(void **state)
{
    (void)state;
    uint8_t images[24] = {0};
    uint32_t labels[2] = {0, 1}, others[2] = {3, 0};
    struct sb_dataset d = made_up(images, labels, 2, 1, 3, 4, 3);
    struct sb_dataset e = made_up(images, others, 2, 1, 4, 3, 4);
    refused(sb_dataset_match(&d, &e), SB_EARG,
            "made-up has images of 1 x 4 x 3, made-up of 1 x 3 x 4; they must be the "
            "same");
    e = made_up(images, others, 2, 1, 3, 4, 4);
    refused(sb_dataset_match(&d, &e), SB_EARG,
            "made-up: image 0 has label 3, but made-up has only 3 classes");
    others[0] = 1;
    e.classes = 2;
    assert_int_equal(sb_dataset_match(&d, &e), SB_OK);
    assert_int_equal(e.classes, 3);
}

static void names_are_looked_up(void **state)
{
    (void)state;
    const char *const dirs[] = {"a", "b"};
    char out[64];
    assert_int_equal(sb_file_make_directory("b/cifar-10-batches-bin"), SB_OK);
    assert_int_equal(sb_file_make_directory("b/mine"), SB_OK);
    assert_int_equal(sb_data_find("mine", dirs, 2, out, sizeof out), SB_OK);
    assert_string_equal(out, "b/mine");
    assert_int_equal(sb_data_find("cifar10", dirs, 2, out, sizeof out), SB_OK);
    assert_string_equal(out, "b/cifar-10-batches-bin");
    assert_int_equal(sb_data_find("b", dirs, 2, out, sizeof out), SB_OK);
    assert_string_equal(out, "b");
    if (sb_file_exists(FASHION)) {
        assert_int_equal(sb_data_find("fashion-mnist", NULL, 0, out, sizeof out), SB_OK);
        assert_string_equal(out, FASHION);
    }
    refused(sb_data_find("other", dirs, 2, out, sizeof out), SB_EIO,
            "there is no file other, and no data set of that name in a, b or "
            "/usr/share/datasets; give its path, "
            "or the directory that has it");
    refused(sb_data_find("./other", dirs, 2, out, sizeof out), SB_EIO,
            "there is no data set at ./other");
    refused(sb_data_find("b/mine", dirs, 2, out, 6), SB_EARG,
            "a path of 6 bytes is too long");
    refused(sb_data_find("", dirs, 2, out, sizeof out), SB_EARG,
            "the data set's name is empty; give a name or a path");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain_packed_and_mixed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_gzip_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(packed_bytes_grow_up_to_the_limit, set_up,
                                        tear_down),
        cmocka_unit_test(fashion_mnist),
        cmocka_unit_test_setup_teardown(lying_headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forged_fashion_labels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_labels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_gzip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_cut_and_flip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
        cmocka_unit_test(splits_must_match),
        cmocka_unit_test_setup_teardown(names_are_looked_up, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
