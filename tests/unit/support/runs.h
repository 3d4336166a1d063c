/* runs - small runs on a table, through include/sebays.h, for tests of run directories.
 * Include data_fixture.h before: everything happens in its scratch directory. */
#ifndef SB_TESTS_RUNS_H
#define SB_TESTS_RUNS_H

#include <sys/wait.h>

#include "sebays.h"

enum { RUN_ROWS = 64, RUN_OPTIONS = 32 };

/* As set_up, but in memory where there is a place for it: every checkpoint waits for the
 * disk. */
static inline int run_set_up(void **state)
{
    const char *memory = "/dev/shm";
    if (access(memory, W_OK | X_OK) == 0 && chdir(memory) != 0)
        return -1;
    return set_up(state);
}

/* Two numbers and one of three classes, not sorted. */
static inline void put_table(const char *path, uint32_t rows)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < rows; i++)
        fprintf(f, "%u,%u,c%u\n", i * 7 % 23, i * i % 11 + i % 3, i % 3);
    assert_int_equal(fclose(f), 0);
}

static const char *const run_usual[] = {
    "data.set=train.csv",      "model.arch=mlp-8",
    "train.batch=16",          "method.explore_epochs=1",
    "method.exploit_epochs=2", "method.delta_t=3",
    "train.threads=1",         "train.checkpoint_seconds=0",
    "data.validation=0.1",     NULL};

/* A recipe: what is usual, then the assignments up to NULL. */
static inline struct sebays_recipe *run_recipe(const char *const *assignments)
{
    struct sebays_recipe *r;
    const char *const *lists[] = {run_usual, assignments};
    assert_int_equal(sebays_recipe_new(&r), SEBAYS_OK);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; lists[k] && lists[k][i]; i++)
            assert_int_equal(sebays_recipe_assign(r, lists[k][i]), SEBAYS_OK);
    assert_int_equal(sebays_recipe_check(r), SEBAYS_OK);
    return r;
}

/* How often progress may be reported, which is after every batch; negative: always. With
 * kill the process ends there and then, else it is asked to stop. */
struct run_stop {
    long after;
    bool kill;
};

static inline bool run_report(void *context, const struct sebays_progress *p)
{
    struct run_stop *s = context;
    (void)p;
    if (s->after < 0 || s->after-- > 0)
        return true;
    if (s->kill)
        _exit(77);
    s->after = 0;
    return false;
}

static inline sebays_status run_train(const char *const *assignments, const char *out,
                                      bool resume, struct run_stop stop)
{
    struct sebays_recipe *r = run_recipe(assignments);
    struct sebays_result *result;
    struct sebays_run_options o = {
        .out = out, .resume = resume, .progress = run_report, .progress_context = &stop};
    sebays_status st = sebays_train(r, &o, &result);
    sebays_result_free(result);
    sebays_recipe_free(r);
    return st;
}

static const struct run_stop run_never = {.after = -1};

/* Trains in a process of its own that is gone after so many batches; whether it was. */
static inline bool run_killed(const char *const *assignments, const char *out,
                              bool resume, long after)
{
    int code;
    pid_t child = fork();
    if (child == 0)
        _exit(run_train(assignments, out, resume,
                        (struct run_stop){.after = after, .kill = true}) == SEBAYS_OK
                  ? 0
                  : 1);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && (WEXITSTATUS(code) == 77 || WEXITSTATUS(code) == 0));
    return WEXITSTATUS(code) == 77;
}

static inline void same_files(const char *a, const char *b, const char *name)
{
    char x[256], y[256];
    struct sb_map m, n;
    snprintf(x, sizeof x, "%s/%s", a, name);
    snprintf(y, sizeof y, "%s/%s", b, name);
    assert_int_equal(sb_file_exists(x), sb_file_exists(y));
    if (!sb_file_exists(x))
        return;
    assert_int_equal(sb_map_open(&m, x), SB_OK);
    assert_int_equal(sb_map_open(&n, y), SB_OK);
    assert_int_equal(m.size, n.size);
    assert_memory_equal(m.data, n.data, m.size);
    sb_map_close(&m);
    sb_map_close(&n);
}

static inline void same_models(const char *a, const char *b)
{
    same_files(a, b, "model.safetensors");
    same_files(a, b, "updates.jsonl");
}

#endif
