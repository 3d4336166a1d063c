/* Records and checkpoints of a run agree: they are on the disk in that order, and what is
 * damaged is repaired, with a warning. */
#include "data_fixture.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include "runs.h"

static const char *const options[] = {"method.members=2", "train.trajectory=yes",
                                      "train.checkpoint_epochs=1", NULL};

/* ---- order ---- */

static const char *const records[] = {"metrics.jsonl", "updates.jsonl", "trajectory.npy"};
static off_t synced[3];
static int checkpoints;
static bool behind; /* a checkpoint reached the disk before a record */

static void look(int fd)
{
    char link[64], path[512] = "";
    struct stat s;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) <= 0)
        return;
    const char *name = strrchr(path, '/');
    for (int i = 0; name && i < 3; i++)
        if (strcmp(name + 1, records[i]) == 0 && fstat(fd, &s) == 0)
            synced[i] = s.st_size;
    if (!name || strncmp(name + 1, "checkpoint-", 11) != 0)
        return;
    checkpoints++;
    for (int i = 0; i < 3; i++) {
        snprintf(link, sizeof link, "run/%s", records[i]);
        behind |= stat(link, &s) == 0 && s.st_size > synced[i];
    }
}

/* The library's calls come here. */
int fsync(int fd)
{
    look(fd);
    return (int)syscall(SYS_fsync, fd);
}

static void records_reach_the_disk_first(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(options, "run", false, run_never), SEBAYS_OK);
    assert_true(checkpoints >= 5);
    assert_true(synced[0] > 0 && synced[1] > 0 && synced[2] > 0);
    assert_false(behind);
}

/* ---- damage ---- */

static char logged[3][1024];
static int lines;

static void keep_line(void *context, enum sebays_level level, const char *line)
{
    (void)context;
    if (level == SEBAYS_WARN && lines < 3)
        snprintf(logged[lines++], sizeof logged[0], "%s", line);
}

static sebays_status resume(void)
{
    struct sebays_recipe *r = run_recipe(options);
    struct sebays_result *result;
    struct sebays_run_options o = {.out = "run", .resume = true, .log = keep_line};
    lines = 0;
    sebays_status st = sebays_train(r, &o, &result);
    sebays_result_free(result);
    sebays_recipe_free(r);
    return st;
}

static off_t size_of(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? s.st_size : -1;
}

static size_t count_lines(const char *path)
{
    struct sb_map m;
    size_t n = 0;
    assert_int_equal(sb_map_open(&m, path), SB_OK);
    for (size_t i = 0; i < m.size; i++)
        n += m.data[i] == '\n';
    sb_map_close(&m);
    return n;
}

static void what_is_short_is_repaired(void **state)
{
    (void)state;
    const char *const run[] = {"run"};
    char *table;
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(options, "whole", false, run_never), SEBAYS_OK);
    assert_true(run_killed(options, "run", false, 8)); /* after two epochs of three */
    off_t metrics = size_of("run/metrics.jsonl"), rows = size_of("run/trajectory.npy");
    assert_true(metrics > 0 && rows > 0);
    /* a line torn, and zeros in the place of its end; rows cut in the middle of one */
    assert_int_equal(truncate("run/metrics.jsonl", metrics - 10), 0);
    assert_int_equal(truncate("run/metrics.jsonl", metrics), 0);
    assert_int_equal(truncate("run/updates.jsonl", 5), 0);
    assert_int_equal(truncate("run/trajectory.npy", rows - 20), 0);
    assert_int_equal(resume(), SEBAYS_OK);
    assert_int_equal(lines, 3);
    assert_non_null(strstr(logged[0], "run/metrics.jsonl was damaged: of "));
    assert_non_null(strstr(logged[1], "run/updates.jsonl was damaged: of "));
    assert_non_null(strstr(logged[2], "run/trajectory.npy was damaged: 1 of 2 epochs"));
    same_files("whole", "run", "model.safetensors");
    assert_int_equal(size_of("whole/trajectory.npy"), size_of("run/trajectory.npy"));
    assert_int_equal(count_lines("run/metrics.jsonl") + 1,
                     count_lines("whole/metrics.jsonl"));
    assert_int_equal(sebays_compare(run, 1, "csv", &table), SEBAYS_OK);
    sebays_text_free(table);
    assert_int_equal(sebays_report(run, 1, "report.html"), SEBAYS_OK);
}

/* Files that are gone altogether. */
static void what_is_gone_is_begun_anew(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(options, "whole", false, run_never), SEBAYS_OK);
    assert_true(run_killed(options, "run", false, 8));
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "run/%s", records[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(resume(), SEBAYS_OK);
    assert_int_equal(lines, 3);
    same_files("whole", "run", "model.safetensors");
    assert_int_equal(size_of("whole/trajectory.npy"), size_of("run/trajectory.npy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_reach_the_disk_first, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_short_is_repaired, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_gone_is_begun_anew, run_set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
