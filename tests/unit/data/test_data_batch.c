/* data/augment and data/batch: against the plainest implementation there is. */
#include "data_fixture.h"

#include "data/batch.h"

enum { N = 30, C = 3, H = 9, W = 7, PIXELS = C * H * W, COUNT = 19 };

struct world {
    uint8_t images[N * PIXELS];
    uint32_t labels[N], index[COUNT];
    struct sb_dataset data;
    struct sb_normalise normal;
    struct sb_batch_source source;
};

static void make_world(struct world *w, uint32_t pad, bool flip)
{
    const float mean[C] = {0.1f, 0.5f, 0.7f}, sd[C] = {0.3f, 0.25f, 1.5f};
    noise(w->images, sizeof w->images, 8);
    for (uint32_t i = 0; i < N; i++)
        w->labels[i] = i % 4;
    for (uint32_t i = 0; i < COUNT; i++)
        w->index[i] = i * 11 % N;
    w->data = made_up(w->images, w->labels, N, C, H, W, 4);
    sb_normalise_fini(&w->normal);
    assert_int_equal(sb_normalise_given(&w->normal, SB_BYTES, C, mean, sd), SB_OK);
    w->source = (struct sb_batch_source){.data = &w->data,
                                         .normal = &w->normal,
                                         .augment = {.pad = pad, .flip = flip},
                                         .seed = 21,
                                         .member = 2,
                                         .step = 5};
}

/* Pads in pixel space, crops, flips, normalises: one pixel at a time. */
static float naive(const struct world *w, uint32_t example, uint32_t c, int y, int x)
{
    const struct sb_batch_source *s = &w->source;
    int pad = (int)s->augment.pad, row = y, column = x;
    uint8_t value = 0;
    if (pad > 0 || s->augment.flip) {
        struct sb_stream stream =
            sb_rng_stream(s->seed, SB_RNG_AUGMENT, s->member, s->step, 0);
        uint32_t bits[4];
        sb_rng_bits(&stream, example, bits);
        if (s->augment.flip && bits[2] >= 0x80000000u)
            column = W - 1 - column;
        uint64_t places = 2 * (uint64_t)pad + 1;
        row += (int)(bits[0] * places / 4294967296u) - pad;
        column += (int)(bits[1] * places / 4294967296u) - pad;
    }
    if (row >= 0 && row < H && column >= 0 && column < W)
        value = w->images[example * PIXELS + c * (H * W) + (uint32_t)(row * W + column)];
    return ((float)value / 255.0f - w->normal.mean[c]) / w->normal.sd[c];
}

static void check_batch(const struct world *w, const struct sb_act *x, uint32_t count)
{
    assert_int_equal(x->batch, count);
    assert_int_equal(x->blocks, (count + x->lanes - 1) / x->lanes);
    for (uint32_t b = 0; b < x->blocks; b++)
        for (uint32_t c = 0; c < C; c++)
            for (uint32_t p = 0; p < H * W; p++)
                for (uint32_t l = 0; l < x->lanes; l++) {
                    uint32_t i = b * x->lanes + l;
                    float have = sb_act_plane(x, b, c)[p * x->lanes + l], want = 0.0f;
                    if (i < count)
                        want = naive(w, w->index[i], c, (int)(p / W), (int)(p % W));
                    assert_true(have == want);
                }
}

static void compare_with_naive(uint32_t lanes)
{
    static struct world w;
    struct sb_act x;
    uint32_t labels[COUNT];
    assert_int_equal(sb_act_init(&x, lanes, COUNT, C, H, W), SB_OK);
    const struct sb_augment ways[] = {{0, false}, {0, true},  {2, false},
                                      {4, true},  {20, true}, {7, false}};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        make_world(&w, ways[k].pad, ways[k].flip);
        for (uint32_t count = 1; count <= COUNT; count += 3) {
            memset(x.data, 0x7f, sb_act_size(&x) * sizeof *x.data);
            assert_int_equal(sb_batch_fill(&w.source, 1, w.index, count, &x, labels),
                             SB_OK);
            check_batch(&w, &x, count);
            for (uint32_t i = 0; i < count; i++)
                assert_int_equal(labels[i], w.labels[w.index[i]]);
        }
        sb_act_set_batch(&x, COUNT);
    }
    sb_act_fini(&x);
}

static void batches_equal_the_naive_ones(void **state)
{
    (void)state;
    compare_with_naive(8);
    compare_with_naive(16);
}

static void threads_and_company_do_not_matter(void **state)
{
    (void)state;
    static struct world w;
    struct sb_act one, x;
    make_world(&w, 3, true);
    assert_int_equal(sb_act_init(&one, 8, COUNT, C, H, W), SB_OK);
    assert_int_equal(sb_act_init(&x, 8, COUNT, C, H, W), SB_OK);
    assert_int_equal(sb_batch_fill(&w.source, 1, w.index, COUNT, &one, NULL), SB_OK);
    for (int threads = 1; threads <= 4; threads++) {
        size_t allocations = sb_mem_count();
        assert_int_equal(sb_batch_fill(&w.source, threads, w.index, COUNT, &x, NULL),
                         SB_OK);
        assert_int_equal(sb_mem_count(), allocations);
        assert_memory_equal(x.data, one.data, sb_act_size(&x) * sizeof(float));
    }
    /* An example's crop is its own, wherever in a batch it stands. */
    assert_int_equal(sb_batch_fill(&w.source, 1, w.index + 13, 1, &x, NULL), SB_OK);
    for (uint32_t p = 0; p < H * W; p++)
        assert_true(sb_act_image(&x, 0, 1)[p * x.lanes] ==
                    sb_act_image(&one, 13, 1)[p * x.lanes]);
    sb_act_fini(&one);
    sb_act_fini(&x);
}

/* ---- the other forms ---- */

/* The bytes of the world as floats v / 255: the same batch, since the table does the same
 * arithmetic. */
static void floats_equal_bytes(void **state)
{
    (void)state;
    static struct world w;
    static float values[N * PIXELS];
    struct sb_act bytes, floats;
    const struct sb_augment ways[] = {{0, false}, {3, true}, {6, false}};
    assert_int_equal(sb_act_init(&bytes, 16, COUNT, C, H, W), SB_OK);
    assert_int_equal(sb_act_init(&floats, 16, COUNT, C, H, W), SB_OK);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        make_world(&w, ways[k].pad, ways[k].flip);
        struct sb_normalise normal;
        assert_int_equal(
            sb_normalise_given(&normal, SB_FLOATS, C, w.normal.mean, w.normal.sd), SB_OK);
        assert_null(normal.table);
        for (size_t i = 0; i < sizeof w.images; i++)
            values[i] = (float)w.images[i] / 255.0f;
        assert_int_equal(sb_batch_fill(&w.source, 2, w.index, COUNT, &bytes, NULL),
                         SB_OK);
        w.data.element = SB_FLOATS;
        w.data.images = NULL;
        w.data.values = values;
        w.source.normal = &normal;
        assert_int_equal(sb_batch_fill(&w.source, 2, w.index, COUNT, &floats, NULL),
                         SB_OK);
        assert_memory_equal(floats.data, bytes.data, sb_act_size(&bytes) * sizeof(float));
        sb_normalise_fini(&normal);
    }
    sb_act_fini(&bytes);
    sb_act_fini(&floats);
}

/* A table: features are channels. */
static void tables_are_features(void **state)
{
    (void)state;
    enum { FEATURES = 5, ROWS = 9 };
    float values[ROWS * FEATURES], mean[FEATURES], sd[FEATURES];
    uint32_t index[ROWS], labels[ROWS];
    struct sb_normalise normal;
    struct sb_act x;
    for (uint32_t i = 0; i < ROWS * FEATURES; i++)
        values[i] = (float)i * 0.5f;
    for (uint32_t i = 0; i < FEATURES; i++) {
        mean[i] = (float)i;
        sd[i] = 2.0f + (float)i;
    }
    for (uint32_t i = 0; i < ROWS; i++)
        index[i] = ROWS - 1 - i;
    struct sb_dataset d = made_up(NULL, NULL, ROWS, FEATURES, 1, 1, 0);
    d.element = SB_FLOATS;
    d.values = values;
    assert_true(sb_dataset_tabular(&d));
    assert_int_equal(sb_normalise_given(&normal, SB_FLOATS, FEATURES, mean, sd), SB_OK);
    assert_int_equal(sb_act_init(&x, 8, ROWS, FEATURES, 1, 1), SB_OK);
    struct sb_batch_source source = {.data = &d, .normal = &normal};
    assert_int_equal(sb_batch_fill(&source, 1, index, ROWS, &x, labels), SB_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(labels[i], 0); /* there are none */
        for (uint32_t c = 0; c < FEATURES; c++)
            assert_true(*sb_act_image(&x, i, c) ==
                        (values[index[i] * FEATURES + c] - mean[c]) / sd[c]);
    }
    sb_act_fini(&x);
    sb_normalise_fini(&normal);
}

static sb_status fetch_some(const struct sb_dataset *d, uint32_t i, uint8_t *out)
{
    const uint8_t *images = d->reader;
    memcpy(out, images + i * sb_dataset_elements(d), sb_dataset_elements(d));
    return i >= 25 ? sb_fail(SB_EIO, "cannot read %u.png", i) : SB_OK;
}

/* Images by fetch equal those in memory; of several failures the first in the batch is
 * told, on any number of threads; memory may run out. */
static void streamed_images(void **state)
{
    (void)state;
    static struct world w;
    struct sb_act memory, x;
    make_world(&w, 2, true);
    assert_int_equal(sb_act_init(&memory, 8, COUNT, C, H, W), SB_OK);
    assert_int_equal(sb_act_init(&x, 8, COUNT, C, H, W), SB_OK);
    for (uint32_t i = 0; i < COUNT; i++)
        w.index[i] = i;
    assert_int_equal(sb_batch_fill(&w.source, 1, w.index, COUNT, &memory, NULL), SB_OK);
    w.data.images = NULL;
    w.data.fetch = fetch_some;
    w.data.reader = w.images;
    for (int threads = 1; threads <= 4; threads++) {
        size_t live = sb_mem_live();
        assert_int_equal(sb_batch_fill(&w.source, threads, w.index, COUNT, &x, NULL),
                         SB_OK);
        assert_int_equal(sb_mem_live(), live);
        assert_memory_equal(x.data, memory.data, sb_act_size(&x) * sizeof(float));
        w.index[10] = 27;
        w.index[17] = 25;
        refused(sb_batch_fill(&w.source, threads, w.index, COUNT, &x, NULL), SB_EIO,
                "cannot read 27.png");
        w.index[10] = 10;
        w.index[17] = 17;
        sb_mem_fail_after(0);
        refused(sb_batch_fill(&w.source, threads, w.index, COUNT, &x, NULL), SB_ENOMEM,
                "made-up: no memory for 8 images");
        sb_mem_fail_after(-1);
        assert_int_equal(sb_mem_live(), live);
    }
    sb_act_fini(&memory);
    sb_act_fini(&x);
}

/* All (2 pad + 1)^2 x 2 outcomes are about equally frequent; another step is another. */
static void draws_are_even(void **state)
{
    (void)state;
    enum { DRAWS = 100000, PAD = 2, SIDE = 2 * PAD + 1 };
    const struct sb_augment a = {.pad = PAD, .flip = true};
    struct sb_stream s = sb_rng_stream(1, SB_RNG_AUGMENT, 0, 0, 0);
    struct sb_stream next = sb_rng_stream(1, SB_RNG_AUGMENT, 0, 1, 0);
    uint32_t seen[SIDE][SIDE][2] = {0}, same = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct sb_crop c = sb_augment_draw(&a, &s, i), n = sb_augment_draw(&a, &next, i);
        assert_in_range(c.dy + PAD, 0, 2 * PAD);
        assert_in_range(c.dx + PAD, 0, 2 * PAD);
        seen[c.dy + PAD][c.dx + PAD][c.flip]++;
        same += c.dy == n.dy && c.dx == n.dx && c.flip == n.flip;
    }
    const double mean = (double)DRAWS / (SIDE * SIDE * 2); /* 2000, its sd 44.3 */
    for (int i = 0; i < SIDE * SIDE * 2; i++)
        assert_true(seen[i / 2 / SIDE][i / 2 % SIDE][i % 2] > mean - 250 &&
                    seen[i / 2 / SIDE][i / 2 % SIDE][i % 2] < mean + 250);
    assert_true(same > mean - 250 && same < mean + 250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_equal_the_naive_ones),
        cmocka_unit_test(threads_and_company_do_not_matter),
        cmocka_unit_test(floats_equal_bytes),
        cmocka_unit_test(tables_are_features),
        cmocka_unit_test(streamed_images),
        cmocka_unit_test(draws_are_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
