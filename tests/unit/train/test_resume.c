/* A training that is killed after any of its batches, in any of its stages, and taken up
 * again leaves the model of one that was not, byte for byte, whatever the number of threads.
 *
 * Every training is a process of its own, which kills itself (SIGKILL) when progress is
 * reported for the n-th time: after a batch, before the checkpoint that belongs to it. So a
 * kill after the first batch of a stage resumes from the end of the stage before, which has
 * other weights where methods prune or rewind.
 */
#include <signal.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "sebays.h"
#include "small_images.h"

enum { TRAIN = 40, TEST = 12, MOST_SETTINGS = 24 };

/* ---- a training in a process of its own ---- */

struct watch {
    unsigned reports, kill_at; /* kill_at 0: never */
};

static bool watch(void *context, const struct sebays_progress *p)
{
    struct watch *w = context;
    if (!p->ended && ++w->reports == w->kill_at)
        (void)raise(SIGKILL);
    return true;
}

struct job {
    const char *const *settings; /* NULL-terminated */
    const char *out;
    const char *threads; /* "train.threads=2" */
    bool resume;
    unsigned kill_at;
};

static sebays_status assign_all(struct sebays_recipe *r, const struct job *j)
{
    static const char *const common[] = {"data.set=.",
                                         "data.validation=8",
                                         "model.arch=resnet-8",
                                         "train.batch=8",
                                         "train.lr=0.05",
                                         "method.explore_epochs=1",
                                         "method.exploit_epochs=1",
                                         NULL};
    const char *const threads[] = {j->threads, NULL};
    const char *const *const lists[] = {common, j->settings, threads};
    sebays_status st = SEBAYS_OK;
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; st == SEBAYS_OK && lists[k][i]; i++)
            st = sebays_recipe_assign(r, lists[k][i]);
    return st == SEBAYS_OK ? sebays_recipe_check(r) : st;
}

static sebays_status train(const struct job *j)
{
    struct sebays_recipe *recipe;
    struct sebays_result *result = NULL;
    struct watch w = {0, j->kill_at};
    struct sebays_run_options o = {
        .out = j->out, .resume = j->resume, .progress = watch, .progress_context = &w};
    sebays_status st = sebays_recipe_new(&recipe);
    if (st == SEBAYS_OK)
        st = assign_all(recipe, j);
    if (st == SEBAYS_OK)
        st = sebays_train(recipe, &o, &result);
    if (st != SEBAYS_OK)
        fprintf(stderr, "%s\n", sebays_message());
    sebays_result_free(result);
    sebays_recipe_free(recipe);
    return st;
}

/* Whether it was killed; anything but that or success fails. The parent itself never trains:
 * threads of OpenMP do not survive a fork. */
static bool was_killed(const struct job *j)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(train(j) == SEBAYS_OK ? 0 : 1);
    assert_true(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

/* ---- what it left ---- */

static void same_file(const char *a, const char *b, const char *name)
{
    char path[2][64];
    struct sb_map map[2];
    snprintf(path[0], sizeof path[0], "%s/%s", a, name);
    snprintf(path[1], sizeof path[1], "%s/%s", b, name);
    for (int i = 0; i < 2; i++)
        assert_int_equal(sb_map_open(&map[i], path[i]), SB_OK);
    if (map[0].size != map[1].size || memcmp(map[0].data, map[1].data, map[0].size) != 0)
        fail_msg("%s and %s differ", path[0], path[1]);
    for (int i = 0; i < 2; i++)
        sb_map_close(&map[i]);
}

static void remove_run(const char *name)
{
    assert_int_equal(chdir(name), 0);
    empty_directory();
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(rmdir(name), 0);
}

/* Kills after every `stride`-th of the batches, resumes with another number of threads. */
static void survives_kills(const char *const *settings, unsigned batches, unsigned stride)
{
    static const char *const threads[] = {"train.threads=1", "train.threads=2",
                                          "train.threads=3"};
    static const char *const whole[] = {"whole1", "whole2", "whole3"};
    write_small_images(TRAIN, TEST);
    for (int i = 0; i < 3; i++) {
        assert_false(was_killed(&(struct job){settings, whole[i], threads[i], false, 0}));
        same_file(whole[0], whole[i], "model.safetensors");
    }
    for (unsigned k = 1; k <= batches; k += stride) {
        struct job j = {settings, "killed", threads[k % 3], false, k};
        assert_true(was_killed(&j));
        assert_false(sb_file_exists("killed/model.safetensors"));
        j = (struct job){settings, "killed", threads[(k + 1) % 3], true, 0};
        assert_false(was_killed(&j));
        same_file(whole[0], "killed", "model.safetensors");
        remove_run("killed");
    }
    /* so many batches and no more: the kills above came in every stage */
    struct job after = {settings, "killed", threads[0], false, batches + 1};
    assert_false(was_killed(&after));
    remove_run("killed");
    for (int i = 0; i < 3; i++)
        remove_run(whole[i]);
}

/* ---- methods: 4 batches an epoch ---- */

static void pf(void **state)
{
    (void)state;
    const char *const settings[] = {
        "method.name=pf",       "method.members=2",
        "method.tune_epochs=1", "train.checkpoint_seconds=1e-9",
        "method.sparsity=0.7",  NULL};
    survives_kills(settings, 2 * (2 + 1) * 4, 2);
}

static void pf_by_epochs(void **state)
{
    (void)state;
    const char *const settings[] = {"method.name=pf",
                                    "method.members=2",
                                    "method.tune_epochs=2",
                                    "train.checkpoint_seconds=0",
                                    "train.checkpoint_epochs=1",
                                    "train.trajectory=yes",
                                    NULL};
    survives_kills(settings, 2 * (2 + 2) * 4, 3);
}

static void ltr(void **state)
{
    (void)state;
    const char *const settings[] = {"method.name=ltr", "method.members=2",
                                    "train.checkpoint_seconds=1e-9", NULL};
    survives_kills(settings, (1 + 2) * 2 * 4, 2);
}

/* Killed between the epoch that is kept and the mask, nothing saved in between. */
static void ltr_by_stages(void **state)
{
    (void)state;
    const char *const settings[] = {
        "method.name=ltr",         "method.members=2",           "method.rewind_epoch=2",
        "method.exploit_epochs=2", "train.checkpoint_seconds=0", NULL};
    survives_kills(settings, (1 + 2) * 3 * 4, 5);
}

static void snapshot(void **state)
{
    (void)state;
    const char *const settings[] = {
        "method.name=snapshot",          "method.members=3",
        "method.explore_epochs=0",       "method.exploit_epochs=2",
        "train.checkpoint_seconds=1e-9", NULL};
    survives_kills(settings, 3 * 2 * 4, 4);
}

static void cosine_and_warm_up(void **state)
{
    (void)state;
    const char *const settings[] = {"method.name=bays",
                                    "method.members=2",
                                    "train.lr_shape=cosine",
                                    "train.lr_second=0",
                                    "train.warmup_epochs=1",
                                    "method.kl_anneal_epochs=2",
                                    "method.kl_anneal_by=step",
                                    "method.delta_t=3",
                                    "train.checkpoint_seconds=1e-9",
                                    NULL};
    survives_kills(settings, 2 * 2 * 4, 3);
}

/* Growth gradients of several batches, collected across the end of a stage and of a run. */
static void collected_gradients(void **state)
{
    (void)state;
    const char *const sequential[] = {
        "method.name=sebays",         "method.members=2",
        "method.delta_t=5",           "method.grow_batches=3",
        "method.sparsity=0.5",        "train.checkpoint_epochs=1",
        "train.checkpoint_seconds=0", NULL};
    const char *const parallel[] = {"method.name=dst",
                                    "method.members=2",
                                    "method.delta_t=5",
                                    "method.grow_batches=4",
                                    "method.sparsity=0.5",
                                    "train.checkpoint_epochs=1",
                                    "train.checkpoint_seconds=0",
                                    NULL};
    survives_kills(sequential, 12, 2);
    survives_kills(parallel, 16, 3);
}

/* Weights drawn for groups, in batches of two groups and of a part of one. */
static void drawn_weights(void **state)
{
    (void)state;
    const char *const settings[] = {"method.name=sebays",
                                    "method.members=2",
                                    "method.delta_t=3",
                                    "method.sparsity=0.5",
                                    "train.estimator=weights",
                                    "train.batch=20",
                                    "train.checkpoint_seconds=1e-9",
                                    NULL};
    survives_kills(settings, (1 + 2) * 2, 1);
}

#define TEST_CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CASE(pf),
        TEST_CASE(pf_by_epochs),
        TEST_CASE(ltr),
        TEST_CASE(ltr_by_stages),
        TEST_CASE(snapshot),
        TEST_CASE(cosine_and_warm_up),
        TEST_CASE(collected_gradients),
        TEST_CASE(drawn_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
