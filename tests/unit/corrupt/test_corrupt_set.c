/* corrupt/corrupt_set: files that the readers of CIFAR-10-C accept, from any kind of data set. */
#include "data_fixture.h"

#include "corrupt/cifar_c.h"
#include "corrupt/corrupt_set.h"
#include "kernels/kernels.h"

enum { N = 300, H = 6, W = 5 }; /* more than a block of images */

struct world {
    uint8_t images[N * 3 * H * W];
    uint32_t labels[N];
    struct sb_dataset data;
    struct sb_corrupt_set set;
    struct sb_env env;
};

static void make_world(struct world *w, uint32_t channels, const char *kinds)
{
    noise(w->images, sizeof w->images, 5);
    for (uint32_t i = 0; i < N; i++)
        w->labels[i] = i % 7;
    w->data = made_up(w->images, w->labels, N, channels, H, W, 7);
    w->set = (struct sb_corrupt_set){.data = &w->data, .first = 1, .last = 5, .seed = 3};
    assert_int_equal(sb_corrupt_set_kinds(kinds, w->set.kinds), SB_OK);
    w->env = (struct sb_env){.threads = 2};
    assert_int_equal(sb_kernels_choose("auto", &w->env.kernels), SB_OK);
}

/* What the file of a kind must hold for a severity. */
static void check_slice(const struct world *w, enum sb_corruption kind, uint32_t severity)
{
    static uint8_t want[N * 3 * H * W];
    struct sb_dataset d;
    struct sb_corrupt *c;
    size_t size = N * sb_dataset_elements(&w->data);
    assert_int_equal(sb_cifar_c_open(&d, "out", sb_corruption_name(kind), severity),
                     SB_OK);
    assert_int_equal(d.n, N);
    assert_int_equal(d.channels, w->data.channels);
    assert_int_equal(d.height, H);
    assert_int_equal(d.width, W);
    assert_int_equal(sb_corrupt_new(&c, &w->env, d.channels, H, W), SB_OK);
    assert_int_equal(sb_corrupt_choose(c, kind, severity, 3), SB_OK);
    assert_int_equal(sb_corrupt_images(c, 0, N, w->images, want), SB_OK);
    assert_memory_equal(d.images, want, size);
    assert_memory_equal(d.labels, w->labels, sizeof w->labels);
    sb_corrupt_free(c);
    sb_dataset_fini(&d);
}

static void sets_are_read_back(void **state)
{
    (void)state;
    static struct world w;
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        make_world(&w, channels, "fog,shot-noise");
        assert_int_equal(sb_corrupt_set_write(&w.set, &w.env, "out"), SB_OK);
        for (uint32_t s = 1; s <= 5; s++) {
            check_slice(&w, SB_FOG, s);
            check_slice(&w, SB_SHOT_NOISE, s);
        }
        assert_false(sb_file_exists("out/snow.npy"));
    }
}

static sb_status fetch(const struct sb_dataset *d, uint32_t i, uint8_t *out)
{
    const struct world *w = d->reader;
    if (i == N)
        return SB_EIO;
    memcpy(out, w->images + i * sb_dataset_elements(d), sb_dataset_elements(d));
    return SB_OK;
}

static void streamed_images_and_single_severities(void **state)
{
    (void)state;
    static struct world w;
    make_world(&w, 3, "contrast");
    w.data.images = NULL;
    w.data.fetch = fetch;
    w.data.reader = &w;
    assert_int_equal(sb_corrupt_set_write(&w.set, &w.env, "out"), SB_OK);
    for (uint32_t s = 1; s <= 5; s++)
        check_slice(&w, SB_CONTRAST, s);
    struct sb_map whole, part;
    size_t size = N * sb_dataset_elements(&w.data);
    w.set.first = w.set.last = 4;
    assert_int_equal(sb_corrupt_set_write(&w.set, &w.env, "part"), SB_OK);
    assert_int_equal(sb_map_open(&whole, "out/contrast.npy"), SB_OK);
    assert_int_equal(sb_map_open(&part, "part/contrast.npy"), SB_OK);
    assert_int_equal(whole.size - 4 * size, part.size);
    assert_memory_equal(part.data + part.size - size, whole.data + whole.size - 2 * size,
                        size);
    sb_map_close(&whole);
    sb_map_close(&part);
}

static void kinds_by_name(void **state)
{
    (void)state;
    bool kinds[SB_CORRUPTIONS];
    assert_int_equal(sb_corrupt_set_kinds("all", kinds), SB_OK);
    for (int k = 0; k < SB_CORRUPTIONS; k++)
        assert_true(kinds[k]);
    assert_int_equal(sb_corrupt_set_kinds("snow,frost,snow", kinds), SB_OK);
    for (int k = 0; k < SB_CORRUPTIONS; k++)
        assert_int_equal(kinds[k], k == SB_SNOW || k == SB_FROST);
    refused(sb_corrupt_set_kinds("snow,forst", kinds), SB_EARG,
            "there is no corruption 'forst'; the nearest is 'frost'");
    refused(sb_corrupt_set_kinds("snow,", kinds), SB_EARG,
            "there is no corruption ''; the nearest is 'fog'");
}

static bool stop_soon(void *context, const struct sb_progress_report *r)
{
    unsigned *calls = context;
    return r->done <= r->total && ++*calls < 4;
}

static void stops_when_told_to_and_leaves_no_half_file(void **state)
{
    (void)state;
    static struct world w;
    unsigned calls = 0;
    struct sb_progress progress = {.report = stop_soon, .context = &calls};
    make_world(&w, 3, "fog,snow");
    w.set.progress = &progress;
    assert_int_equal(sb_corrupt_set_write(&w.set, &w.env, "out"), SB_ECANCELED);
    assert_int_equal(calls, 4);
    assert_false(sb_file_exists("out/snow.npy"));
    assert_false(sb_file_exists("out/labels.npy"));
}

static void wrong_sets_are_refused(void **state)
{
    (void)state;
    static struct world w;
    make_world(&w, 3, "fog");
    w.set.last = 6;
    refused(sb_corrupt_set_write(&w.set, &w.env, "out"), SB_EARG,
            "severities 1 to 6; want some of 1 to 5");
    w.set.last = 5;
    w.data.element = SB_FLOATS;
    refused(sb_corrupt_set_write(&w.set, &w.env, "out"), SB_EARG,
            "made-up has numbers, not images; only images can be corrupted");
    w.data.element = SB_BYTES;
    refused(sb_corrupt_set_sheet(&w.set, &w.env, N, "sheet.png"), SB_EARG,
            "there is no image 300; the set has 300");
    assert_false(sb_file_exists("out"));
    put("out", "x", 1);
    assert_int_equal(sb_corrupt_set_write(&w.set, &w.env, "out"), SB_EIO);
}

static void sheets(void **state)
{
    (void)state;
    static struct world w;
    make_world(&w, 3, "fog,snow,frost");
#ifdef SB_HAVE_PNG
    assert_int_equal(sb_corrupt_set_sheet(&w.set, &w.env, 7, "sheet.png"), SB_OK);
    assert_true(sb_file_exists("sheet.png"));
#else
    assert_int_equal(sb_corrupt_set_sheet(&w.set, &w.env, 7, "sheet.png"), SB_EMISSING);
#endif
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    static struct world w;
    make_world(&w, 3, "fog");
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    int n = 0;
    for (; st != SB_OK && n < 200; n++) {
        sb_mem_fail_after(n);
        st = sb_corrupt_set_write(&w.set, &w.env, "out");
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_in_range(n, 9, 199); /* five for the corruption, three for blocks, files */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sets_are_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(streamed_images_and_single_severities, set_up,
                                        tear_down),
        cmocka_unit_test(kinds_by_name),
        cmocka_unit_test_setup_teardown(stops_when_told_to_and_leaves_no_half_file,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_sets_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sheets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_failed_allocation_is_survived, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
