/* data/split and data/normalise: tail and stratified, given and computed. */
#include "data_fixture.h"

#include <math.h>

#include "data/normalise.h"
#include "data/split.h"

enum { N = 97, CLASSES = 5 };

static void make_labels(uint32_t labels[N])
{
    for (uint32_t i = 0; i < N; i++)
        labels[i] = i * i % 7 % CLASSES; /* uneven on purpose */
}

/* Both sides together are 0 .. n-1, each in increasing order. */
static void check_cover(const struct sb_indices *s, uint32_t n)
{
    uint8_t seen[N] = {0};
    assert_int_equal(s->train_count + s->validation_count, n);
    for (uint32_t i = 0; i < s->train_count; i++) {
        assert_true(i == 0 || s->train[i] > s->train[i - 1]);
        seen[s->train[i]]++;
    }
    for (uint32_t i = 0; i < s->validation_count; i++) {
        assert_true(i == 0 || s->valid[i] > s->valid[i - 1]);
        seen[s->valid[i]]++;
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(seen[i], 1);
}

static void tail_is_the_end_of_the_file(void **state)
{
    (void)state;
    uint32_t labels[N];
    make_labels(labels);
    struct sb_dataset d = made_up(NULL, labels, N, 1, 1, 1, CLASSES);
    static const struct {
        uint32_t limit, count;
        double fraction;
        uint32_t train_count, validation_count;
    } cases[] = {
        {0, 0, 0.0, 97, 0},  {0, 0, 0.1, 87, 10}, {0, 10, 0.5, 87, 10},
        {50, 0, 0.1, 45, 5}, {1000, 1, 0, 96, 1}, {1, 0, 0.4, 1, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct sb_indices s;
        struct sb_holdout_options o = {.limit = cases[k].limit,
                                       .count = cases[k].count,
                                       .fraction = cases[k].fraction};
        assert_int_equal(sb_indices_init(&s, &d, &o), SB_OK);
        assert_int_equal(s.train_count, cases[k].train_count);
        assert_int_equal(s.validation_count, cases[k].validation_count);
        check_cover(&s, s.train_count + s.validation_count);
        if (s.validation_count > 0)
            assert_int_equal(s.valid[0], s.train_count);
        sb_indices_fini(&s);
    }
}

static void strata_give_equal_shares(void **state)
{
    (void)state;
    uint32_t labels[N], have[CLASSES] = {0}, give[CLASSES] = {0};
    make_labels(labels);
    struct sb_dataset d = made_up(NULL, labels, N, 1, 1, 1, CLASSES);
    struct sb_holdout_options o = {
        .kind = SB_HOLDOUT_STRATIFIED, .count = 20, .limit = 90, .seed = 3};
    struct sb_indices s, again, other;
    assert_int_equal(sb_indices_init(&s, &d, &o), SB_OK);
    assert_int_equal(sb_indices_init(&again, &d, &o), SB_OK);
    o.seed = 4;
    assert_int_equal(sb_indices_init(&other, &d, &o), SB_OK);
    check_cover(&s, 90);
    check_cover(&other, 90);
    for (uint32_t i = 0; i < 90; i++)
        have[labels[i]]++;
    for (uint32_t i = 0; i < s.validation_count; i++)
        give[labels[s.valid[i]]]++;
    for (int c = 0; c < CLASSES; c++)
        assert_true(fabs(give[c] - have[c] * 20.0 / 90.0) < 1.0);
    assert_memory_equal(s.valid, again.valid, 20 * sizeof *s.valid);
    assert_memory_not_equal(s.valid, other.valid, 20 * sizeof *s.valid);
    assert_true(s.valid[0] < 60); /* not the tail */
    sb_indices_fini(&s);
    sb_indices_fini(&again);
    sb_indices_fini(&other);
}

static void random_needs_no_labels(void **state)
{
    (void)state;
    struct sb_dataset d = made_up(NULL, NULL, N, 1, 1, 1, 0);
    struct sb_holdout_options o = {.kind = SB_HOLDOUT_RANDOM, .count = 20, .seed = 3};
    struct sb_indices s, again, other;
    assert_int_equal(sb_indices_init(&s, &d, &o), SB_OK);
    assert_int_equal(sb_indices_init(&again, &d, &o), SB_OK);
    o.seed = 4;
    assert_int_equal(sb_indices_init(&other, &d, &o), SB_OK);
    check_cover(&s, N);
    check_cover(&other, N);
    assert_memory_equal(s.valid, again.valid, 20 * sizeof *s.valid);
    assert_memory_not_equal(s.valid, other.valid, 20 * sizeof *s.valid);
    assert_true(s.valid[0] < 60); /* not the tail */
    sb_indices_fini(&s);
    sb_indices_fini(&again);
    sb_indices_fini(&other);
}

static void the_usual_split_goes_by_format(void **state)
{
    (void)state;
    uint32_t label = 0;
    static const struct {
        const char *format;
        enum sb_holdout usual;
    } cases[] = {{"idx", SB_HOLDOUT_TAIL},       {"cifar-10", SB_HOLDOUT_TAIL},
                 {"cifar-100", SB_HOLDOUT_TAIL}, {"csv", SB_HOLDOUT_STRATIFIED},
                 {"npy", SB_HOLDOUT_STRATIFIED}, {"folder", SB_HOLDOUT_STRATIFIED},
                 {NULL, SB_HOLDOUT_STRATIFIED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sb_dataset d = {.format = cases[i].format, .labels = &label, .classes = 2};
        assert_int_equal(sb_indices_usual(&d), cases[i].usual);
    }
    struct sb_dataset continuous = {.format = "csv"};
    assert_int_equal(sb_indices_usual(&continuous), SB_HOLDOUT_RANDOM);
}

/* What the check says of the last validation of n examples. */
static sb_status order_of(uint32_t *labels, uint32_t n, uint32_t validation,
                          uint32_t classes)
{
    struct sb_dataset d = made_up(NULL, labels, n, 1, 1, 1, classes);
    struct sb_indices s;
    assert_int_equal(
        sb_indices_init(&s, &d, &(struct sb_holdout_options){.count = validation}),
        SB_OK);
    sb_status st = sb_indices_check_order(&s, &d);
    sb_indices_fini(&s);
    return st;
}

static void sorted_files_are_noticed(void **state)
{
    (void)state;
    uint32_t labels[N];
    for (uint32_t i = 0; i < N; i++)
        labels[i] = i * 4 / N; /* sorted */
    refused(order_of(labels, N, 24, 4), SB_EARG,
            "made-up is sorted by class: its last 24 examples, which data.split = tail "
            "takes for validation, are of one class or all of it; say data.split = "
            "stratified");
    assert_int_equal(order_of(labels, N, 12, 4), SB_EARG); /* one class, half of it */
    assert_int_equal(order_of(labels, N, 40, 4), SB_EARG); /* one whole, one in part */
    assert_int_equal(order_of(labels, N, 2, 4), SB_OK);    /* too few to tell */
    assert_int_equal(order_of(labels, N, 0, 4), SB_OK);
    make_labels(labels);
    assert_int_equal(order_of(labels, N, 24, CLASSES), SB_OK);
    labels[N - 1] = CLASSES; /* a class of one example, in the tail by chance */
    assert_int_equal(order_of(labels, N, 24, CLASSES + 1), SB_OK);
    for (uint32_t i = 0; i < N; i++)
        labels[i] = i == 5; /* a class that is nearly all there is */
    assert_int_equal(order_of(labels, N, 24, 2), SB_OK);
    struct sb_dataset unlabelled = made_up(NULL, NULL, N, 1, 1, 1, 0);
    struct sb_indices none = {.validation_count = 1};
    assert_int_equal(sb_indices_check_order(&none, &unlabelled), SB_OK);
}

static void impossible_splits(void **state)
{
    (void)state;
    uint32_t labels[N] = {0};
    struct sb_dataset d = made_up(NULL, labels, N, 1, 1, 1, CLASSES);
    struct sb_indices s;
    refused(sb_indices_init(&s, &d, &(struct sb_holdout_options){.count = 97}), SB_EARG,
            "97 validation examples of 97 used from made-up leave none to train on");
    refused(sb_indices_init(&s, &d, &(struct sb_holdout_options){.limit = 5, .count = 6}),
            SB_EARG,
            "6 validation examples of 5 used from made-up leave none to train on");
    refused(sb_indices_init(&s, &d, &(struct sb_holdout_options){.fraction = 1.0}),
            SB_EARG, "a validation share of 1; want one from 0 to below 1");
    refused(sb_indices_init(&s, &d, &(struct sb_holdout_options){.fraction = -0.5}),
            SB_EARG, "a validation share of -0.5; want one from 0 to below 1");
    assert_int_equal(
        sb_indices_init(&s, &d, &(struct sb_holdout_options){.fraction = (double)NAN}),
        SB_EARG);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint32_t labels[N];
    make_labels(labels);
    struct sb_dataset d = made_up(NULL, labels, N, 1, 1, 1, CLASSES);
    struct sb_holdout_options o = {.kind = SB_HOLDOUT_STRATIFIED, .count = 20};
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n;
    for (n = 0; st != SB_OK && n < 100; n++) {
        struct sb_indices s;
        sb_mem_fail_after(n);
        st = sb_indices_init(&s, &d, &o);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_indices_fini(&s);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(n, 8); /* seven arrays */
    sb_indices_fini(NULL);
}

/* ---- normalisation ---- */

static void computed_is_the_naive_sum(void **state)
{
    (void)state;
    enum { C = 2, H = 70, W = 90, USED = 40 };
    static uint8_t images[N * C * H * W];
    uint32_t index[USED];
    noise(images, sizeof images, 5);
    memset(images + H * W, 255, H * W); /* of image 0, channel 1 */
    for (uint32_t i = 0; i < USED; i++)
        index[i] = i * 2;
    struct sb_dataset d = made_up(images, NULL, N, C, H, W, 2);
    struct sb_normalise first, m;
    for (int threads = 1; threads <= 4; threads++) {
        struct sb_env env = {.threads = threads};
        assert_int_equal(sb_normalise_computed(&m, &env, &d, index, USED), SB_OK);
        if (threads == 1)
            first = m;
        assert_memory_equal(m.mean, first.mean, C * sizeof *m.mean);
        assert_memory_equal(m.sd, first.sd, C * sizeof *m.sd);
        if (threads > 1 && threads < 4)
            sb_normalise_fini(&m);
    }
    for (int c = 0; c < C; c++) {
        double sum = 0.0, squares = 0.0, n = (double)USED * H * W;
        for (int i = 0; i < USED; i++)
            for (int p = 0; p < H * W; p++)
                sum +=
                    images[(index[i] * C + (uint32_t)c) * (H * W) + (uint32_t)p] / 255.0;
        for (int i = 0; i < USED; i++)
            for (int p = 0; p < H * W; p++) {
                double v =
                    images[(index[i] * C + (uint32_t)c) * (H * W) + (uint32_t)p] / 255.0 -
                    sum / n;
                squares += v * v;
            }
        assert_true(fabs((double)m.mean[c] - sum / n) < 1e-7);
        assert_true(fabs((double)m.sd[c] - sqrt(squares / n)) < 1e-7);
        for (int v = 0; v < 256; v++)
            assert_true(m.table[c * 256 + v] ==
                        ((float)v / 255.0f - m.mean[c]) / m.sd[c]);
    }
    sb_normalise_fini(&m);
    sb_normalise_fini(&first);
}

/* A plane whose squares do not fit 32 bits. */
static void large_planes_do_not_overflow(void **state)
{
    (void)state;
    enum { SIDE = 400 };
    static uint8_t image[SIDE * SIDE];
    const uint32_t index[] = {0};
    struct sb_env env = {.threads = 1};
    struct sb_dataset d = made_up(image, NULL, 1, 1, SIDE, SIDE, 2);
    struct sb_normalise m;
    memset(image, 255, sizeof image / 2);
    assert_int_equal(sb_normalise_computed(&m, &env, &d, index, 1), SB_OK);
    assert_true(m.mean[0] == 0.5f && m.sd[0] == 0.5f);
    sb_normalise_fini(&m);
}

static void constant_and_wrong_channels(void **state)
{
    (void)state;
    uint8_t images[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    uint32_t index[2] = {0, 1};
    struct sb_env env = {.threads = 1};
    struct sb_dataset d = made_up(images, NULL, 2, 1, 2, 2, 2);
    struct sb_normalise m;
    assert_int_equal(sb_normalise_computed(&m, &env, &d, index, 2), SB_OK);
    assert_true(m.sd[0] == 1.0f);
    sb_normalise_fini(&m);
    refused(sb_normalise_computed(&m, &env, &d, index, 0), SB_EARG,
            "cannot normalise by 0 examples of 1 channels");
    const float mean[] = {0.5f}, sd[] = {0.0f}, odd[] = {NAN};
    refused(sb_normalise_given(&m, SB_BYTES, 1, mean, sd), SB_EARG,
            "channel 0 has mean 0.5 and sd 0; want finite ones, sd above 0");
    assert_int_equal(sb_normalise_given(&m, SB_BYTES, 1, odd, mean), SB_EARG);
    refused(sb_normalise_given(&m, SB_FLOATS, 0, mean, mean), SB_EARG,
            "there are no channels to normalise");
    assert_int_equal(sb_normalise_given(&m, SB_BYTES, 1, mean, mean), SB_OK);
    assert_true(m.table[255] == 1.0f);
    sb_normalise_fini(&m);
}

/* Floats: the naive two passes, the same bits on any number of threads, and no division by
 * a deviation that is none. */
static void computed_of_floats(void **state)
{
    (void)state;
    enum { D = 5, ROWS = 1000 };
    static float v[ROWS * D];
    static uint32_t index[ROWS];
    struct sb_stream s = sb_rng_stream(3, SB_RNG_TEST, 0, 0, 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        float z[4];
        sb_rng_normal4(&s, i, z);
        v[i * D] = 1e6f + 3.0f * z[0]; /* a sum of squares would lose it */
        v[i * D + 1] = 0.1f;           /* constant, and not a sum of halves */
        v[i * D + 2] = -1e-3f * z[1];
        v[i * D + 3] = 0.0f;
        v[i * D + 4] = 1.7e9f + 128.0f * (float)(i % 2); /* neighbours */
        index[i] = i;
    }
    struct sb_dataset d = made_up(NULL, NULL, ROWS, D, 1, 1, 2);
    d.element = SB_FLOATS;
    d.values = v;
    struct sb_normalise first = {0}, m;
    for (int threads = 1; threads <= 4; threads++) {
        struct sb_env env = {.threads = threads};
        assert_int_equal(sb_normalise_computed(&m, &env, &d, index, ROWS), SB_OK);
        if (threads > 1) {
            assert_memory_equal(m.mean, first.mean, D * sizeof *m.mean);
            assert_memory_equal(m.sd, first.sd, D * sizeof *m.sd);
            sb_normalise_fini(&first);
        }
        first = m;
    }
    for (int c = 0; c < 3; c += 2) {
        double sum = 0.0, squares = 0.0;
        for (int i = 0; i < ROWS; i++)
            sum += (double)v[i * D + c];
        for (int i = 0; i < ROWS; i++)
            squares += pow((double)v[i * D + c] - sum / ROWS, 2);
        assert_true(fabs((double)m.mean[c] / (sum / ROWS) - 1.0) < 1e-6);
        assert_true(fabs((double)m.sd[c] / sqrt(squares / ROWS) - 1.0) < 1e-6);
    }
    assert_true(m.mean[1] == 0.1f && m.sd[1] == SB_SD_CONSTANT);
    assert_true(m.mean[3] == 0.0f && m.sd[3] == SB_SD_CONSTANT);
    assert_true(m.sd[4] == SB_SD_CONSTANT);
    sb_normalise_fini(&m);
}

static sb_status fetch_bytes(const struct sb_dataset *d, uint32_t i, uint8_t *out)
{
    const uint8_t *images = d->reader;
    memcpy(out, images + i * sb_dataset_elements(d), sb_dataset_elements(d));
    return i == 90 ? sb_fail(SB_EFORMAT, "90.png: damaged") : SB_OK;
}

static void computed_of_streams(void **state)
{
    (void)state;
    enum { C = 3, SIDE = 11 };
    static uint8_t images[N * C * SIDE * SIDE];
    uint32_t index[N];
    noise(images, sizeof images, 6);
    for (uint32_t i = 0; i < N; i++)
        index[i] = i;
    struct sb_dataset d = made_up(images, NULL, N, C, SIDE, SIDE, 2);
    struct sb_normalise want, m;
    struct sb_env env = {.threads = 1};
    assert_int_equal(sb_normalise_computed(&want, &env, &d, index, 90), SB_OK);
    d.images = NULL;
    d.fetch = fetch_bytes;
    d.reader = images;
    for (env.threads = 1; env.threads <= 4; env.threads++) {
        size_t live = sb_mem_live();
        assert_int_equal(sb_normalise_computed(&m, &env, &d, index, 90), SB_OK);
        assert_memory_equal(m.mean, want.mean, C * sizeof *m.mean);
        assert_memory_equal(m.sd, want.sd, C * sizeof *m.sd);
        sb_normalise_fini(&m);
        refused(sb_normalise_computed(&m, &env, &d, index, N), SB_EFORMAT,
                "90.png: damaged");
        assert_int_equal(sb_mem_live(), live);
    }
    sb_normalise_fini(&want);
    sb_status st = SB_ENOMEM;
    long n;
    env.threads = 1;
    size_t live = sb_mem_live();
    for (n = 0; st != SB_OK && n < 200; n++) {
        sb_mem_fail_after(n);
        st = sb_normalise_computed(&m, &env, &d, index, 90);
        sb_mem_fail_after(-1);
        sb_normalise_fini(&m);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(n, 3 + 64 + 1 + 1); /* sums, an image a chunk, the result */
}

static void fashion_has_its_known_mean(void **state)
{
    (void)state;
    struct sb_dataset d;
    struct sb_indices s;
    struct sb_normalise m;
    struct sb_env env = {.threads = 2};
    if (!sb_file_exists(FASHION)) {
        print_message("NOT TESTED: dataset-fashion-mnist is not installed\n");
        skip();
    }
    assert_int_equal(sb_dataset_open(&d, FASHION, SB_SPLIT_TRAIN), SB_OK);
    struct sb_holdout_options all = {.kind = SB_HOLDOUT_TAIL};
    assert_int_equal(sb_indices_init(&s, &d, &all), SB_OK);
    assert_int_equal(sb_normalise_computed(&m, &env, &d, s.train, s.train_count), SB_OK);
    assert_true(fabs((double)m.mean[0] - 0.2860) < 5e-5); /* the published figures */
    assert_true(fabs((double)m.sd[0] - 0.3530) < 5e-5);
    sb_normalise_fini(&m);
    sb_indices_fini(&s);
    sb_dataset_fini(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tail_is_the_end_of_the_file),
        cmocka_unit_test(strata_give_equal_shares),
        cmocka_unit_test(random_needs_no_labels),
        cmocka_unit_test(the_usual_split_goes_by_format),
        cmocka_unit_test(sorted_files_are_noticed),
        cmocka_unit_test(impossible_splits),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(computed_is_the_naive_sum),
        cmocka_unit_test(large_planes_do_not_overflow),
        cmocka_unit_test(constant_and_wrong_channels),
        cmocka_unit_test(computed_of_floats),
        cmocka_unit_test(computed_of_streams),
        cmocka_unit_test(fashion_has_its_known_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
