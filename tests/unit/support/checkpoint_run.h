/* checkpoint_run - a run directory and what a trainer would keep in it, for the tests of
 * checkpoints. Include cmocka.h before. */
#ifndef SB_TESTS_CHECKPOINT_RUN_H
#define SB_TESTS_CHECKPOINT_RUN_H

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "model/checkpoint.h"
#include "nets.h"

/* ---- a run directory of its own for each test ---- */

static char directory[64];

static inline int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/sebays-test-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static inline const char *in_directory(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static inline const char *file_of(unsigned step)
{
    char name[64];
    snprintf(name, sizeof name, "checkpoint-%u.safetensors", step);
    return in_directory(name);
}

static inline int count_files(void)
{
    DIR *d = opendir(directory);
    int n = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static inline int remove_directory(void **state)
{
    (void)state;
    DIR *d = opendir(directory);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (e->d_name[0] != '.')
            unlink(in_directory(e->d_name));
    closedir(d);
    return rmdir(directory);
}

/* ---- a run ---- */

static char logged[1024];

static inline void keep_line(void *context, enum sb_log_level level, const char *line)
{
    (void)context;
    assert_int_equal(level, SB_LOG_WARN);
    snprintf(logged, sizeof logged, "%s", line);
}

static const struct sb_log log_lines = {.level = SB_LOG_DEBUG, .write = keep_line};
static const struct sb_env env = {
    .kernels = &sb_kernels_scalar, .log = &log_lines, .threads = 1};

enum { ROOM = 3, ARRAY = 5 };

/* What a trainer would have. */
struct run {
    struct sb_net net;
    uint64_t epoch, batch;
    double best_accuracy, loss;
    float sums[ARRAY];
    struct sb_trained member[ROOM], best;
    struct sb_checkpoint_value value[4];
    struct sb_checkpoint_array array;
    struct sb_checkpoint c;
};

static inline void run_fill(struct run *r, uint64_t seed, uint32_t members, bool has_best)
{
    for (uint32_t i = 0; i <= members; i++) {
        struct sb_trained *m = i < members ? &r->member[i] : &r->best;
        assert_int_equal(nets_fill(&env, &r->net, seed + 1 + i), SB_OK);
        assert_int_equal(sb_trained_save(m, &r->net), SB_OK);
        m->sample_seed = seed << 32 | i;
        m->figures = (struct sb_trained_figures){
            sb_figures_of_classes(0.1 * i, INFINITY, 1e-310, NAN), i};
    }
    assert_int_equal(nets_fill(&env, &r->net, seed), SB_OK);
    nets_randomise(r->sums, ARRAY, seed, 99);
    r->epoch = seed;
    r->batch = UINT64_MAX - seed;
    r->best_accuracy = 1.0 / (double)(seed + 3);
    r->loss = -0.0;
    r->c.trained_count = members;
    r->c.has_best = has_best;
}

static inline void run_init(struct run *r, const char *arch, bool gauss)
{
    memset(r, 0, sizeof *r);
    assert_int_equal(nets_init(&r->net, arch, 0.1, gauss), SB_OK);
    for (int i = 0; i < ROOM; i++)
        assert_int_equal(sb_trained_init(&r->member[i], &r->net), SB_OK);
    assert_int_equal(sb_trained_init(&r->best, &r->net), SB_OK);
    r->value[0] = (struct sb_checkpoint_value){.name = "epoch", .integer = &r->epoch};
    r->value[1] = (struct sb_checkpoint_value){.name = "batch", .integer = &r->batch};
    r->value[2] = (struct sb_checkpoint_value){.name = "best", .real = &r->best_accuracy};
    r->value[3] = (struct sb_checkpoint_value){.name = "loss", .real = &r->loss};
    r->array = (struct sb_checkpoint_array){"sums", r->sums, ARRAY};
    r->c = (struct sb_checkpoint){.recipe = "[data]\nset = x\n[train]\nlr = 0.1\n",
                                  .net = &r->net,
                                  .value = r->value,
                                  .values = 4,
                                  .array = &r->array,
                                  .arrays = 1,
                                  .trained = r->member,
                                  .capacity = ROOM,
                                  .best = &r->best};
}

static inline void run_fini(struct run *r)
{
    for (int i = 0; i < ROOM; i++)
        sb_trained_fini(&r->member[i]);
    sb_trained_fini(&r->best);
    sb_net_fini(&r->net);
}

static inline bool same_member(const struct sb_trained *a, const struct sb_trained *b)
{
    return nets_alike(a, b) && memcmp(a->memory, b->memory, a->bytes) == 0 &&
           a->sample_seed == b->sample_seed &&
           memcmp(&a->figures, &b->figures, sizeof a->figures) == 0;
}

static inline bool same_run(const struct run *a, const struct run *b)
{
    bool same = nets_same(&a->net, &b->net, true) && a->epoch == b->epoch &&
                a->batch == b->batch && a->best_accuracy == b->best_accuracy &&
                memcmp(&a->loss, &b->loss, sizeof a->loss) == 0 &&
                memcmp(a->sums, b->sums, sizeof a->sums) == 0 &&
                a->c.trained_count == b->c.trained_count &&
                a->c.has_best == b->c.has_best;
    for (uint32_t i = 0; same && i < a->c.trained_count; i++)
        same = same_member(&a->member[i], &b->member[i]);
    return same && (!a->c.has_best || same_member(&a->best, &b->best));
}

static inline void save(struct run *r, uint64_t step)
{
    run_fill(r, step, 1, true);
    assert_int_equal(sb_checkpoint_save(&r->c, directory, step), SB_OK);
}

/* b takes up the newest and must be as a is after filling it for `want`. */
static inline void resumes_at(struct run *a, struct run *b, uint64_t want)
{
    uint64_t step = 0;
    run_fill(a, want, 1, true);
    run_fill(b, 1000, 0, false);
    logged[0] = '\0';
    assert_int_equal(sb_checkpoint_load(&b->c, &env, directory, &step), SB_OK);
    assert_true(step == want);
    assert_true(same_run(a, b));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_directory, remove_directory)

#endif
