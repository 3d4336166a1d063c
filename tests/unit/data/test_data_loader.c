/* data/loader: order, resuming, threads, shutdown, and life without a helper. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "data_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "data/loader.h"
#include "kernels/kernels.h"

enum { N = 53, USED = 41, BATCH = 12, BATCHES = 4, C = 2, H = 6, W = 5 };

/* The system's, or none: stands before libc's for the whole program. */
static bool no_threads;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *context)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return no_threads ? EAGAIN : real(thread, attributes, run, context);
}

struct world {
    uint8_t images[N * C * H * W];
    uint32_t labels[N], index[USED];
    struct sb_dataset data;
    struct sb_normalise normal;
    struct sb_env env;
    struct sb_loader_options options;
};

static void make_world(struct world *w)
{
    const float mean[C] = {0.4f, 0.5f}, sd[C] = {0.2f, 0.3f};
    noise(w->images, sizeof w->images, 8);
    for (uint32_t i = 0; i < N; i++)
        w->labels[i] = i % 4;
    for (uint32_t i = 0; i < USED; i++)
        w->index[i] = i + i / 4;
    w->data = made_up(w->images, w->labels, N, C, H, W, 4);
    sb_normalise_fini(&w->normal);
    assert_int_equal(sb_normalise_given(&w->normal, SB_BYTES, C, mean, sd), SB_OK);
    w->env = (struct sb_env){.kernels = &sb_kernels_scalar16, .threads = 1};
    w->options = (struct sb_loader_options){.data = &w->data,
                                            .normal = &w->normal,
                                            .index = w->index,
                                            .n = USED,
                                            .batch = BATCH,
                                            .augment = {.pad = 2, .flip = true},
                                            .shuffle = true,
                                            .background = true,
                                            .seed = 7,
                                            .env = &w->env};
}

static struct sb_loader *make_loader(const struct world *w)
{
    struct sb_loader *l;
    assert_int_equal(sb_loader_new(&l, &w->options), SB_OK);
    return l;
}

static bool next_batch(struct sb_loader *l, struct sb_batch *b)
{
    assert_int_equal(sb_loader_next(l, b), SB_OK);
    return b->count > 0;
}

/* A batch as one number, but for what lies between planes. */
static uint32_t digest(const struct sb_batch *b, uint32_t sum)
{
    unsigned long s = crc32(sum, (const unsigned char *)b->labels,
                            (uInt)(b->count * sizeof *b->labels));
    s = crc32(s, (const unsigned char *)b->index, (uInt)(b->count * sizeof *b->index));
    for (uint32_t k = 0; k < b->x->blocks; k++)
        for (uint32_t c = 0; c < C; c++)
            s = crc32(s, (const unsigned char *)sb_act_plane(b->x, k, c),
                      (uInt)(H * W * b->x->lanes * sizeof(float)));
    return (uint32_t)s;
}

/* out[i] = the digest of batch i of an epoch. */
static void epoch_digests(struct sb_loader *l, uint32_t member, uint32_t epoch,
                          uint32_t first, uint32_t out[BATCHES])
{
    struct sb_batch b;
    sb_loader_start(l, member, epoch, first);
    for (uint32_t i = first; i < BATCHES; i++) {
        assert_true(next_batch(l, &b));
        assert_int_equal(b.number, i);
        assert_int_equal(b.count, i + 1 < BATCHES ? BATCH : USED % BATCH);
        out[i] = digest(&b, 0);
    }
    assert_false(next_batch(l, &b));
    assert_false(next_batch(l, &b));
}

static void each_example_once_an_epoch(void **state)
{
    (void)state;
    static struct world w;
    struct sb_batch b;
    make_world(&w);
    struct sb_loader *l = make_loader(&w);
    assert_true(sb_loader_in_background(l));
    assert_false(next_batch(l, &b)); /* not started */
    uint32_t orders[3][USED], n = 0;
    for (uint32_t epoch = 0; epoch < 3; epoch++) {
        uint32_t seen[N] = {0};
        n = 0;
        sb_loader_start(l, 0, epoch, 0);
        while (next_batch(l, &b))
            for (uint32_t i = 0; i < b.count; i++) {
                seen[b.index[i]]++;
                orders[epoch][n++] = b.index[i];
                assert_int_equal(b.labels[i], w.labels[b.index[i]]);
            }
        assert_int_equal(n, USED);
        for (uint32_t i = 0; i < USED; i++)
            assert_int_equal(seen[w.index[i]], 1);
    }
    assert_memory_not_equal(orders[0], orders[1], sizeof orders[0]);
    assert_memory_not_equal(orders[0], w.index, sizeof orders[0]);
    sb_loader_free(l);
}

static void unshuffled_is_the_given_order(void **state)
{
    (void)state;
    static struct world w;
    struct sb_batch b;
    uint32_t n = 0;
    make_world(&w);
    w.options.shuffle = false;
    struct sb_loader *l = make_loader(&w);
    sb_loader_start(l, 0, 0, 0);
    while (next_batch(l, &b))
        for (uint32_t i = 0; i < b.count; i++)
            assert_int_equal(b.index[i], w.index[n++]);
    assert_int_equal(n, USED);
    sb_loader_free(l);
}

/* Crops are keyed by the epoch and the member, not only by the example. */
static void augments_by_member_and_epoch(void **state)
{
    (void)state;
    static struct world w;
    struct sb_batch b;
    struct sb_act x;
    uint32_t labels[BATCH];
    make_world(&w);
    struct sb_loader *l = make_loader(&w);
    assert_int_equal(sb_act_init(&x, w.env.kernels->lanes, BATCH, C, H, W), SB_OK);
    sb_loader_start(l, 3, 11, 0);
    while (next_batch(l, &b)) {
        struct sb_batch_source s = {.data = &w.data,
                                    .normal = &w.normal,
                                    .augment = w.options.augment,
                                    .seed = w.options.seed,
                                    .member = 3,
                                    .step = 11};
        struct sb_batch want = {
            .x = &x, .labels = labels, .index = b.index, .count = b.count};
        assert_int_equal(sb_batch_fill(&s, 1, b.index, b.count, &x, labels), SB_OK);
        assert_int_equal(digest(&b, 0), digest(&want, 0));
    }
    sb_act_fini(&x);
    sb_loader_free(l);
}

/* The whole run's digests, by helper and inline, on 1 to 4 threads, from any batch. */
static void same_bits_whatever_the_machine_does(void **state)
{
    (void)state;
    static struct world w;
    uint32_t want[3][BATCHES], have[BATCHES];
    make_world(&w);
    struct sb_loader *l = make_loader(&w);
    for (uint32_t epoch = 0; epoch < 3; epoch++)
        epoch_digests(l, 1, epoch, 0, want[epoch]);
    epoch_digests(l, 2, 0, 0, have); /* another member is another order */
    assert_int_not_equal(have[0], want[0][0]);
    sb_loader_free(l);
    for (int threads = 1; threads <= 4; threads++)
        for (int background = 0; background < 2; background++) {
            w.env.threads = threads;
            w.options.background = background;
            l = make_loader(&w);
            for (uint32_t epoch = 0; epoch < 3; epoch++)
                for (uint32_t first = 0; first <= BATCHES; first++) {
                    epoch_digests(l, 1, epoch, first, have);
                    for (uint32_t i = first; i < BATCHES; i++)
                        assert_int_equal(have[i], want[epoch][i]);
                }
            sb_loader_free(l);
        }
}

/* A batch stays as it is while the helper works ahead. */
static void a_batch_stays_until_the_next_call(void **state)
{
    (void)state;
    static struct world w;
    struct sb_batch b;
    make_world(&w);
    struct sb_loader *l = make_loader(&w);
    for (uint32_t epoch = 0; epoch < 200; epoch++) {
        sb_loader_start(l, 0, epoch, 0);
        while (next_batch(l, &b)) {
            uint32_t before = digest(&b, 0);
            for (int i = 0; i < 5; i++)
                assert_int_equal(digest(&b, 0), before);
        }
    }
    sb_loader_free(l);
}

static void stopped_anywhere(void **state)
{
    (void)state;
    static struct world w;
    struct sb_batch b;
    uint32_t want[BATCHES], have[BATCHES];
    make_world(&w);
    struct sb_loader *l = make_loader(&w);
    epoch_digests(l, 0, 9, 0, want);
    for (uint32_t k = 0; k < 100; k++) { /* left in the middle, started anew */
        sb_loader_start(l, 0, k, k % 3);
        for (uint32_t i = 0; i < k % 4; i++)
            (void)next_batch(l, &b);
    }
    epoch_digests(l, 0, 9, 0, have);
    assert_memory_equal(have, want, sizeof want);
    sb_loader_start(l, 0, 0, UINT32_MAX);
    assert_false(next_batch(l, &b));
    sb_loader_free(l);
    for (uint32_t k = 0; k < 100; k++) { /* freed in the middle */
        l = make_loader(&w);
        if (k % 5 > 0)
            sb_loader_start(l, 0, k, 0);
        for (uint32_t i = 1; i < k % 5; i++)
            (void)next_batch(l, &b);
        sb_loader_free(l);
    }
    sb_loader_free(NULL);
}

static void works_without_threads(void **state)
{
    (void)state;
    static struct world w;
    uint32_t want[BATCHES], have[BATCHES];
    sigset_t before, after;
    make_world(&w);
    struct sb_loader *l = make_loader(&w);
    epoch_digests(l, 0, 3, 0, want);
    sb_loader_free(l);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    no_threads = true;
    l = make_loader(&w);
    no_threads = false;
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    assert_int_equal(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
    assert_false(sb_loader_in_background(l));
    epoch_digests(l, 0, 3, 0, have);
    assert_memory_equal(have, want, sizeof want);
    sb_loader_free(l);
}

static void an_epoch_allocates_nothing(void **state)
{
    (void)state;
    static struct world w;
    uint32_t digests[BATCHES];
    make_world(&w);
    struct sb_loader *l = make_loader(&w);
    size_t count = sb_mem_count();
    for (uint32_t epoch = 0; epoch < 5; epoch++)
        epoch_digests(l, 0, epoch, 0, digests);
    assert_int_equal(sb_mem_count(), count);
    sb_loader_free(l);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static struct world w;
    make_world(&w);
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n;
    for (n = 0; st != SB_OK && n < 100; n++) {
        struct sb_loader *l;
        sb_mem_fail_after(n);
        st = sb_loader_new(&l, &w.options);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || (st == SB_ENOMEM && !l));
        sb_loader_free(l);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(n, 9); /* loader, order, two slots of three arrays */
}

/* Image 20 of a streamed set does not decode: the batches before it come, then the
 * sentence, as often as it is asked for; another epoch may go further. */
static sb_status fetch_but_one(const struct sb_dataset *d, uint32_t i, uint8_t *out)
{
    const struct world *w = d->reader;
    memcpy(out, w->images + i * sb_dataset_elements(d), sb_dataset_elements(d));
    return i == 20 ? sb_fail(SB_EFORMAT, "pictures/20.png: it is damaged") : SB_OK;
}

static void streamed_images_may_fail(void **state)
{
    (void)state;
    static struct world w;
    struct sb_batch b;
    uint32_t want[BATCHES];
    make_world(&w);
    w.options.shuffle = false;
    struct sb_loader *l = make_loader(&w);
    epoch_digests(l, 0, 0, 0, want);
    sb_loader_free(l);
    w.data.images = NULL;
    w.data.fetch = fetch_but_one;
    w.data.reader = &w;
    for (int background = 0; background < 2; background++)
        for (w.env.threads = 1; w.env.threads <= 3; w.env.threads++) {
            w.options.background = background;
            l = make_loader(&w);
            for (int epoch = 0; epoch < 2; epoch++) {
                sb_loader_start(l, 0, 0, 0); /* index[16] is 20: in batch 1 */
                assert_true(next_batch(l, &b));
                assert_int_equal(digest(&b, 0), want[0]);
                for (int i = 0; i < 3; i++) {
                    refused(sb_loader_next(l, &b), SB_EFORMAT,
                            "pictures/20.png: it is damaged");
                    assert_int_equal(b.count, 0);
                }
            }
            sb_loader_start(l, 0, 0, 2); /* past it */
            assert_true(next_batch(l, &b));
            assert_int_equal(digest(&b, 0), want[2]);
            sb_loader_free(l);
        }
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    static struct world w;
    struct sb_loader *l;
    make_world(&w);
    w.options.batch = 0;
    refused(sb_loader_new(&l, &w.options), SB_EARG,
            "batches of 0 from 41 examples; both must be at least 1");
    assert_null(l);
    make_world(&w);
    w.options.augment.pad = 6;
    refused(sb_loader_new(&l, &w.options), SB_EARG,
            "padding of 6 pixels around images of 6 x 5; want at most the image's size");
    make_world(&w);
    w.index[3] = N;
    refused(sb_loader_new(&l, &w.options), SB_EARG,
            "example 53 of made-up, which has 53");
    make_world(&w);
    w.normal.channels = 1;
    refused(sb_loader_new(&l, &w.options), SB_EARG,
            "made-up has 2 channels, its normalisation has 1");
    make_world(&w);
    w.data.labels = NULL;
    refused(sb_loader_new(&l, &w.options), SB_EARG, "made-up has no labels to train on");
    make_world(&w);
    w.data.element = w.normal.element = SB_FLOATS;
    w.data.height = w.data.width = 1;
    refused(sb_loader_new(&l, &w.options), SB_EARG,
            "made-up is a table; only images can be padded, cropped and mirrored: say "
            "data.augment = none");
    make_world(&w);
    w.options.batch = 1000; /* more than there are: one batch */
    assert_int_equal(sb_loader_new(&l, &w.options), SB_OK);
    struct sb_batch b;
    sb_loader_start(l, 0, 0, 0);
    assert_true(next_batch(l, &b) && b.count == USED);
    assert_false(next_batch(l, &b));
    sb_loader_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_example_once_an_epoch),
        cmocka_unit_test(unshuffled_is_the_given_order),
        cmocka_unit_test(augments_by_member_and_epoch),
        cmocka_unit_test(same_bits_whatever_the_machine_does),
        cmocka_unit_test(a_batch_stays_until_the_next_call),
        cmocka_unit_test(stopped_anywhere),
        cmocka_unit_test(works_without_threads),
        cmocka_unit_test(an_epoch_allocates_nothing),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(streamed_images_may_fail),
        cmocka_unit_test(refuses_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
