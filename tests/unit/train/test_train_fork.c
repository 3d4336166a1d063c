/* Training and predicting in a child after fork(), and where no thread can be had: the
 * parent's answers, bit for bit. */
#include "data_fixture.h"

#include <sys/wait.h>

#include "base/threads.h"
#include "sebays.h"

enum { N = 30, SIDE = 28, CLASSES = 3, THREADS = 3 };

struct world {
    const char *method;
    struct sebays_model *model;         /* that the parent trained */
    struct sebays_predictor *predictor; /* and has used */
    float want[N * CLASSES];
};

static unsigned char images[16 + N * SIDE * SIDE], labels[8 + N];

static void put_set(void)
{
    put("train-images-idx3-ubyte", images, idx_images(images, N, SIDE, SIDE));
    put("train-labels-idx1-ubyte", labels, idx_labels(labels, N, CLASSES));
    put("t10k-images-idx3-ubyte", images, idx_images(images, N, SIDE, SIDE));
    put("t10k-labels-idx1-ubyte", labels, idx_labels(labels, N, CLASSES));
}

static bool train(const char *method, const char *out)
{
    static const char *const lines[] = {
        "data.set=.",       "data.validation=6",       "train.batch=12",
        "method.members=2", "method.explore_epochs=1", "method.exploit_epochs=1",
        "model.arch=lenet", "method.delta_t=1"};
    struct sebays_recipe *r = NULL;
    struct sebays_result *result = NULL;
    struct sebays_run_options o = {.out = out};
    bool good = sebays_recipe_new(&r) == SEBAYS_OK &&
                sebays_recipe_set(r, "method.name", method) == SEBAYS_OK &&
                sebays_recipe_set(r, "train.threads", "3") == SEBAYS_OK;
    for (size_t i = 0; good && i < sizeof lines / sizeof *lines; i++)
        good = sebays_recipe_assign(r, lines[i]) == SEBAYS_OK;
    good = good && sebays_recipe_check(r) == SEBAYS_OK &&
           sebays_train(r, &o, &result) == SEBAYS_OK;
    if (!good)
        fprintf(stderr, "%s\n", sebays_message());
    sebays_result_free(result);
    sebays_recipe_free(r);
    return good;
}

static bool same_file(const char *a, const char *b)
{
    struct sb_map x, y;
    if (sb_map_open(&x, a) != SB_OK || sb_map_open(&y, b) != SB_OK)
        return false;
    bool same = x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
    sb_map_close(&x);
    sb_map_close(&y);
    return same;
}

static bool predict(struct sebays_predictor *p, float out[N * CLASSES])
{
    struct sebays_examples e = {.data = images + 16, .count = N, .type = SEBAYS_U8};
    struct sebays_prediction answers = {.probabilities = out};
    return sebays_predict(p, &e, &answers) == SEBAYS_OK;
}

static struct sebays_predictor *make_predictor(const struct sebays_model *m)
{
    struct sebays_predictor_options o = {.threads = THREADS, .max_batch = 32};
    struct sebays_predictor *p;
    return sebays_predictor_new(m, &o, &p) == SEBAYS_OK ? p : NULL;
}

/* With the parent's predictor, and with one of its own. */
static bool predicts_the_same(const struct world *w)
{
    static float have[N * CLASSES];
    bool good = predict(w->predictor, have) && memcmp(have, w->want, sizeof have) == 0;
    struct sebays_predictor *p = make_predictor(w->model);
    memset(have, 0, sizeof have);
    good = good && p && predict(p, have) && memcmp(have, w->want, sizeof have) == 0;
    sebays_predictor_free(p);
    return good;
}

static bool trains_the_same(const struct world *w, const char *out)
{
    char file[64];
    snprintf(file, sizeof file, "%s/model.safetensors", out);
    return train(w->method, out) && same_file("parent/model.safetensors", file);
}

static bool in_child(const struct world *w, bool threads)
{
    pid_t child = fork();
    if (child == 0) {
        sb_threads_fail_after(threads ? -1 : 0);
        bool good = predicts_the_same(w) &&
                    trains_the_same(w, threads ? "child" : "alone") &&
                    predicts_the_same(w);
        _exit(good ? 0 : 1);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void check(const char *method)
{
    static struct world w;
    w.method = method;
    put_set();
    assert_true(train(method, "parent"));
    assert_int_equal(sebays_model_open("parent", &w.model), SEBAYS_OK);
    w.predictor = make_predictor(w.model);
    assert_non_null(w.predictor);
    assert_true(predict(w.predictor, w.want));
    assert_true(in_child(&w, true));
    assert_true(in_child(&w, false));
    assert_true(predicts_the_same(&w)); /* the parent goes on */
    sebays_predictor_free(w.predictor);
    sebays_model_free(w.model);
}

static void sparse_networks(void **state)
{
    (void)state;
    check("sebays");
}

static void dense_networks(void **state)
{
    (void)state;
    check("dnn-ensemble");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sparse_networks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dense_networks, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("train/fork", tests, NULL, NULL);
}
