/* readers/folder, listing: layouts, order, shapes, and folders that are refused. */
#include <sys/stat.h>

#include "data/batch.h"

#include "data_fixture.h"

enum { MOST = 1 << 14, SIDE = 32 };

/* A file of tests/images under another name. */
static void place(const char *fixture, const char *path)
{
    char from[512];
    unsigned char bytes[MOST];
    snprintf(from, sizeof from, IMAGES "/%s", fixture);
    FILE *f = fopen(from, "rb");
    assert_non_null(f);
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    put(path, bytes, size);
}

static void folder(const char *path)
{
    assert_int_equal(mkdir(path, 0777), 0);
}

/* set/{cat,dog}: names whose order is not that of making. */
static void make_pets(void)
{
    folder("set");
    folder("set/dog");
    folder("set/cat");
    folder("set/.git");
    place("photo.jpg", "set/dog/b.JPG");
    place("rgb8.png", "set/dog/a.png");
    place("grey8.png", "set/dog/\xc3\xa9.PNG");
    place("photo-grey.jpg", "set/cat/10.jpeg");
    place("grey8.png", "set/cat/9.png");
    put("set/cat/.hidden", "x", 1);
    put("set/README", "x", 1);
}

static void classes_are_folders(void **state)
{
    (void)state;
    struct sb_dataset d;
    make_pets();
    assert_int_equal(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(d.n, 5);
    assert_int_equal(d.classes, 2);
    assert_string_equal(d.class_names[0], "cat");
    assert_string_equal(d.class_names[1], "dog");
    assert_string_equal(d.format, "folder");
    assert_true(d.whole);
    assert_int_equal(d.channels, 3); /* some have colour */
    assert_int_equal(d.height, SIDE);
    assert_int_equal(d.width, SIDE);
    assert_memory_equal(d.labels, ((uint32_t[]){0, 0, 1, 1, 1}), 5 * sizeof(uint32_t));
    static const char *const files[] = {"photo-grey.raw", "photo.raw"};
    static const uint32_t at[] = {0, 3};
    for (int k = 0; k < 2; k++) {
        uint8_t out[3 * SIDE * SIDE], want[3 * SIDE * SIDE];
        place(files[k], "raw");
        FILE *f = fopen("raw", "rb");
        assert_non_null(f);
        size_t size = fread(want, 1, sizeof want, f);
        fclose(f);
        assert_int_equal(d.fetch(&d, at[k], out), SB_OK);
        for (size_t i = 0; i < sizeof want; i++)
            assert_in_range(out[i] - want[i % size] + 2, 0, 4);
    }
    sb_dataset_fini(&d);
}

static void two_parts(void **state)
{
    (void)state;
    struct sb_dataset train, test;
    uint8_t out[3 * 20 * 10];
    make_pets();
    folder("all");
    assert_int_equal(rename("set", "all/train"), 0);
    refused(sb_dataset_open(&test, "all", SB_SPLIT_TEST), SB_EIO,
            "all has a folder train, but none for the test split; want test or val");
    folder("all/val");
    folder("all/val/dog");
    place("grey8.png", "all/val/dog/1.png");
    assert_int_equal(sb_dataset_open(&test, "all", SB_SPLIT_TEST), SB_OK);
    assert_false(test.whole);
    assert_int_equal(test.n, 1);
    assert_int_equal(test.classes, 2); /* those of train/ */
    assert_int_equal(test.labels[0], 1);
    assert_int_equal(test.channels, 1);
    sb_dataset_fini(&test);
    struct sb_open_options o = {.split = SB_SPLIT_TRAIN, .height = 20, .width = 10};
    assert_int_equal(sb_dataset_open_with(&train, "all", &o), SB_OK);
    assert_int_equal(train.height, 20);
    assert_int_equal(train.width, 10);
    o = (struct sb_open_options){.split = SB_SPLIT_TEST, .like = &train};
    assert_int_equal(sb_dataset_open_with(&test, "all", &o), SB_OK);
    assert_int_equal(sb_dataset_match(&train, &test), SB_OK);
    assert_int_equal(test.fetch(&test, 0, out), SB_OK);
    sb_dataset_fini(&test);
    folder("all/test"); /* wins over val once it has a class */
    folder("all/test/fish");
    place("grey8.png", "all/test/fish/1.png");
    refused(sb_dataset_open_with(&test, "all", &o), SB_EARG,
            "all/test/fish is not one of the 2 classes of the training set");
    o.unlabelled = true; /* as for data from elsewhere */
    assert_int_equal(sb_dataset_open_with(&test, "all", &o), SB_OK);
    assert_null(test.labels);
    assert_int_equal(test.classes, 0);
    assert_int_equal(test.n, 1);
    sb_dataset_fini(&test);
    sb_dataset_fini(&train);
}

static void without_labels(void **state)
{
    (void)state;
    struct sb_dataset d;
    folder("flat");
    place("rgb8.png", "flat/b.png");
    place("grey8.png", "flat/a.png");
    refused(sb_dataset_open(&d, "flat", SB_SPLIT_TEST), SB_EFORMAT,
            "flat: its images are in no class folders, so they have no labels; put each "
            "class into a folder of its own");
    struct sb_open_options o = {.split = SB_SPLIT_TEST, .unlabelled = true};
    assert_int_equal(sb_dataset_open_with(&d, "flat", &o), SB_OK);
    assert_int_equal(d.n, 2);
    assert_null(d.labels);
    assert_int_equal(d.classes, 0);
    assert_int_equal(d.height, 11);
    assert_int_equal(d.width, 13);
    sb_dataset_fini(&d);
    put("flat/c.gif", "x", 1);
    refused(sb_dataset_open_with(&d, "flat", &o), SB_EFORMAT,
            "flat: 1 entries are not .png, .jpg or .jpeg files, the first is c.gif; "
            "convert or remove them");
}

static void strange_folders(void **state)
{
    (void)state;
    struct sb_dataset d;
    folder("set");
    assert_int_equal(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_EFORMAT);
    assert_non_null(
        strstr(sb_message(), "set: no data set recognised in this directory"));
    folder("set/cat");
    place("rgb8.png", "set/cat/1.png");
    refused(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_EFORMAT,
            "set has one class folder, cat; want two or more");
    folder("set/dog");
    refused(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_EFORMAT,
            "set/dog: there are no images in this folder; remove it");
    place("rgb8.png", "set/dog/1.png");
    put("set/dog/z.webp", "x", 1);
    put("set/dog/Thumbs.db", "x", 1);
    folder("set/dog/a");
    refused(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_EFORMAT,
            "set/dog: 3 entries are not .png, .jpg or .jpeg files, the first is "
            "Thumbs.db; convert or remove them");
    assert_int_equal(remove("set/dog/z.webp"), 0);
    assert_int_equal(remove("set/dog/Thumbs.db"), 0);
    assert_int_equal(remove("set/dog/a"), 0);
    place("rgb8.png", "set/1.png");
    refused(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_EFORMAT,
            "set: images lie beside its 2 class folders; move them into one");
    assert_int_equal(remove("set/1.png"), 0);
    folder("set/k\xe4se");
    refused(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_EFORMAT,
            "set: the class folder k\\xe4se has a name that is not UTF-8; rename it");
    assert_int_equal(remove("set/k\xe4se"), 0);
    folder("set/a\nb");
    refused(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_EFORMAT,
            "set: the class folder a\\x0ab has a name that is not UTF-8; rename it");
}

static void links(void **state)
{
    (void)state;
    struct sb_dataset d;
    folder("set");
    folder("set/cat");
    place("rgb8.png", "set/cat/1.png");
    assert_int_equal(symlink("cat", "set/dog"), 0); /* a class may be a link */
    assert_int_equal(symlink("1.png", "set/cat/2.png"), 0);
    assert_int_equal(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(d.n, 4);
    sb_dataset_fini(&d);
    assert_int_equal(symlink("3.png", "set/cat/3.png"), 0);
    refused(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_EIO,
            "cannot read set/cat/3.png: Too many levels of symbolic links");
    assert_int_equal(remove("set/cat/3.png"), 0);
    assert_int_equal(symlink("..", "set/fish"), 0);
    refused(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_EFORMAT,
            "set/fish: 1 entries are not .png, .jpg or .jpeg files, the first is set; "
            "convert or remove them");
}

static void images_that_go_bad(void **state)
{
    (void)state;
    struct sb_dataset d;
    uint8_t out[3 * SIDE * SIDE];
    make_pets();
    assert_int_equal(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_OK);
    put("set/dog/b.JPG", "GIF89a", 6);
    refused(d.fetch(&d, 3, out), SB_EFORMAT,
            "set/dog/b.JPG: it does not begin like a PNG or JPEG file");
    put("set/dog/b.JPG", "", 0);
    refused(d.fetch(&d, 3, out), SB_EFORMAT,
            "set/dog/b.JPG: it does not begin like a PNG or JPEG file");
    assert_int_equal(remove("set/dog/b.JPG"), 0);
    refused(d.fetch(&d, 3, out), SB_EIO,
            "cannot read set/dog/b.JPG: No such file or directory");
    sb_dataset_fini(&d);
    put("set/cat/10.jpeg", "x", 1); /* the first one: its size is needed */
    refused(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_EFORMAT,
            "set/cat/10.jpeg: it does not begin like a PNG or JPEG file");
}

static void sizes_that_do_not_fit(void **state)
{
    (void)state;
    unsigned char b[2 * 3073];
    struct sb_dataset d, like = {.element = SB_FLOATS, .channels = 5, .path = "table"};
    put("test_batch.bin", b, cifar_records(b, 2, false, 1));
    struct sb_open_options o = {.split = SB_SPLIT_TEST, .height = 32, .width = 16};
    refused(sb_dataset_open_with(&d, ".", &o), SB_EARG,
            ". has images of 32 x 32, which cannot become 32 x 16; only image files can");
    make_pets();
    o = (struct sb_open_options){.like = &like};
    refused(sb_dataset_open_with(&d, "set", &o), SB_EARG,
            "set has image files, which cannot become examples like those of table");
}

/* Batches are the same on any number of threads, and a bad file is named. */
static void batches(void **state)
{
    (void)state;
    enum { N = 20 };
    struct sb_dataset d;
    char path[64];
    make_pets();
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "set/cat/%d.png", 100 + i);
        place(i % 2 ? "rgb16.png" : "palette8.png", path);
    }
    assert_int_equal(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_OK);
    struct sb_normalise m;
    uint32_t index[N];
    const struct sb_env env = {.threads = 3};
    for (uint32_t i = 0; i < N; i++)
        index[i] = N - i;
    assert_int_equal(sb_normalise_computed(&m, &env, &d, index, N), SB_OK);
    struct sb_batch_source s = {.data = &d, .normal = &m};
    struct sb_act x[2];
    size_t floats = 0;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(sb_act_init(&x[k], 8, N, 3, SIDE, SIDE), SB_OK);
        assert_int_equal(sb_batch_fill(&s, k == 0 ? 1 : 3, index, N, &x[k], NULL), SB_OK);
        floats = (size_t)x[k].blocks * x[k].lanes * 3 * SIDE * SIDE;
    }
    assert_memory_equal(x[0].data, x[1].data, floats * sizeof(float));
    put("set/cat/107.png", "x", 1);
    refused(sb_batch_fill(&s, 3, index, N, &x[0], NULL), SB_EFORMAT,
            "set/cat/107.png: it does not begin like a PNG or JPEG file");
    for (int k = 0; k < 2; k++)
        sb_act_fini(&x[k]);
    sb_normalise_fini(&m);
    sb_dataset_fini(&d);
}

static void many_files(void **state)
{
    (void)state;
    enum { N = 3000 };
    struct sb_dataset d;
    uint8_t out[3 * SIDE * SIDE];
    char path[64];
    make_pets();
    place("rgb8.png", "set/cat/0.png"); /* the first one has colour: no need for others */
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "set/dog/z%04d.png", (i * 7) % N);
        put(path, "", 0);
    }
    assert_int_equal(sb_dataset_open(&d, "set", SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(d.n, N + 6);
    refused(d.fetch(&d, 5 + 1234, out), SB_EFORMAT,
            "set/dog/z1234.png: it does not begin like a PNG or JPEG file");
    sb_dataset_fini(&d);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct sb_dataset d;
    uint8_t out[3 * SIDE * SIDE];
    make_pets();
    sb_status st = SB_ENOMEM;
    int n = 0;
    for (; st != SB_OK && n < 200; n++) {
        sb_mem_fail_after(n);
        st = sb_dataset_open(&d, "set", SB_SPLIT_TRAIN);
        if (st == SB_OK)
            st = d.fetch(&d, 2, out);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_dataset_fini(&d);
    }
    assert_in_range(n, 12, 199);
}

#define test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
#if !defined SB_HAVE_PNG || !defined SB_HAVE_JPEG
    puts("NOT TESTED: folders of images (needs libpng and libjpeg)");
    return 77; /* skipped */
#endif
    const struct CMUnitTest tests[] = {
        test(classes_are_folders),       test(two_parts), test(without_labels),
        test(strange_folders),           test(links),     test(images_that_go_bad),
        test(sizes_that_do_not_fit),     test(batches),   test(many_files),
        test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
