/* Eight threads predict with one model at once, each with a predictor of its own that it
 * makes and frees meanwhile: the bits are those of one thread alone.
 *
 * Built with -fsanitize=thread (CMAKE_C_FLAGS and CMAKE_EXE_LINKER_FLAGS) it shows whether
 * the library races. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "models.h"
#include "sebays.h"

enum { THREADS = 8, TIMES = 2, EXAMPLES = 10, CLASSES = 10, PIXELS = 28 * 28 };

static char path[] = "/tmp/sebays-test-XXXXXX";
static uint8_t pixels[EXAMPLES * PIXELS];

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    models_pixels(pixels, sizeof pixels);
    return fd < 0 || close(fd) ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

struct worker {
    const struct sebays_model *model;
    struct sebays_predictor_options options;
    const float *want; /* [EXAMPLES][CLASSES]; NULL: this is the first */
    float have[EXAMPLES * CLASSES];
    bool failed;
    pthread_t thread;
};

static bool predict(struct worker *w)
{
    struct sebays_predictor *p;
    struct sebays_examples e = {.data = pixels, .count = EXAMPLES, .type = SEBAYS_U8};
    struct sebays_prediction out = {.probabilities = w->have};
    if (sebays_predictor_new(w->model, &w->options, &p) != SEBAYS_OK)
        return false;
    bool good = true;
    for (int i = 0; i < TIMES && good; i++) {
        memset(w->have, 0, sizeof w->have);
        good = sebays_predict(p, &e, &out) == SEBAYS_OK &&
               (!w->want || memcmp(w->have, w->want, sizeof w->have) == 0);
    }
    sebays_predictor_free(p);
    return good;
}

static void *work(void *context)
{
    struct worker *w = context;
    for (int i = 0; i < TIMES && !w->failed; i++)
        w->failed = !predict(w);
    return NULL;
}

/* Ways differ from thread to thread: they share some of what is loaded, not all. */
static void run(const char *arch, double density, enum sebays_sampling sampling,
                uint32_t threads)
{
    static struct worker w[THREADS], first;
    struct sebays_model *m;
    assert_int_equal(models_write(path, arch, density, true, 2), SB_OK);
    assert_int_equal(sebays_model_open(path, &m), SEBAYS_OK);
    first = (struct worker){
        .model = m,
        .options = {.max_batch = 7, .threads = 1, .sampling = sampling, .draws = 2}};
    assert_true(predict(&first));
    sebays_model_free(m);
    assert_int_equal(sebays_model_open(path, &m), SEBAYS_OK); /* nothing is loaded yet */
    for (uint32_t i = 0; i < THREADS; i++) {
        w[i] = first;
        w[i].model = m;
        w[i].want = first.have;
        w[i].options.max_batch = i % 3 == 0 ? 1 : i % 3 == 1 ? 5 : 100;
        w[i].options.threads = threads;
        assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
        assert_false(w[i].failed);
    }
    sebays_model_free(m);
}

static void eight_threads_share_a_model(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    run("mlp-50-20", 0.2, SEBAYS_DRAW, 1);
    run("mlp-50-20", 1.0, SEBAYS_DRAWS, 1);
    run("lenet", 0.1, SEBAYS_NOISE, 1);
    run("resnet-8", 0.3, SEBAYS_MEAN, 1);
    assert_int_equal(sb_mem_live(), live);
}

static void threads_with_threads_of_their_own(void **state)
{
    (void)state;
    run("resnet-8", 0.3, SEBAYS_DRAW, 2);
    run("mlp-50-20", 0.2, SEBAYS_MEAN, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_share_a_model),
        cmocka_unit_test(threads_with_threads_of_their_own),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
