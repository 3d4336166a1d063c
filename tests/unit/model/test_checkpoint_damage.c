/* model/checkpoint: what is left after damage of every kind, a full disk and kills. */
#include "model/checkpoint.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "checkpoint_run.h"
#include "refused.h"

static void flip(const char *path, long at, unsigned char mask)
{
    FILE *f = fopen(path, "r+b");
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    int byte = fgetc(f);
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    fputc(byte ^ mask, f);
    assert_int_equal(fclose(f), 0);
}

static long size_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return (long)info.st_size;
}

/* ---- damage ---- */

static void a_damaged_one_is_passed_over(void **state)
{
    (void)state;
    struct run r, other;
    char want[512];
    run_init(&r, "wrn-10-1", true);
    run_init(&other, "wrn-10-1", true);
    save(&r, 1);
    save(&r, 2);
    flip(file_of(2), -1, 0x80);
    resumes_at(&r, &other, 1);
    snprintf(want, sizeof want,
             "%s/checkpoint-2.safetensors: damaged: its checksum does not fit its "
             "contents; going on from %s/checkpoint-1.safetensors",
             directory, directory);
    assert_string_equal(logged, want);
    /* going on from 1, the damaged one is not taken for the newest of the two */
    run_fill(&r, 1, 1, true);
    assert_int_equal(sb_checkpoint_save(&r.c, directory, 1), SB_OK);
    assert_false(sb_file_exists(file_of(2)));
    save(&r, 3);
    assert_int_equal(truncate(file_of(3), size_of(file_of(3)) - 1), 0);
    resumes_at(&r, &other, 1);
    assert_int_equal(truncate(file_of(3), 0), 0);
    resumes_at(&r, &other, 1);
    snprintf(want, sizeof want,
             "%s/checkpoint-3.safetensors: 0 bytes are too few for a safetensors file; "
             "going on from %s/checkpoint-1.safetensors",
             directory, directory);
    assert_string_equal(logged, want);
    run_fini(&r);
    run_fini(&other);
}

/* A flipped bit anywhere is noticed. */
static void every_flipped_byte_is_noticed(void **state)
{
    (void)state;
    struct run r, other;
    run_init(&r, "wrn-10-1", true);
    run_init(&other, "wrn-10-1", true);
    save(&r, 1);
    save(&r, 2);
    long size = size_of(file_of(2));
    for (long i = 0; i < 40; i++) {
        long at = i < 20 ? i * 97 : size / 41 * i; /* the header, and all over the data */
        unsigned char mask = (unsigned char)(1 << i % 8);
        flip(file_of(2), at, mask);
        resumes_at(&r, &other, 1);
        assert_string_not_equal(logged, "");
        flip(file_of(2), at, mask);
    }
    resumes_at(&r, &other, 2);
    run_fini(&r);
    run_fini(&other);
}

/* Every bit of a small file: refused, or (in the padding) without effect. */
static void no_flipped_bit_changes_what_is_loaded(void **state)
{
    (void)state;
    struct run r, other;
    uint64_t step;
    run_init(&r, "mlp-1", false);
    run_init(&other, "mlp-1", false);
    run_fill(&r, 1, 0, false);
    assert_int_equal(sb_checkpoint_save(&r.c, directory, 1), SB_OK);
    long size = size_of(file_of(1));
    for (long at = 0; at < size; at++) {
        unsigned char mask = (unsigned char)(1 << at % 8);
        flip(file_of(1), at, mask);
        sb_status st = sb_checkpoint_load(&other.c, &env, directory, &step);
        assert_true(st == SB_EFORMAT || (st == SB_OK && same_run(&r, &other)));
        flip(file_of(1), at, mask);
    }
    run_fini(&r);
    run_fini(&other);
}

static void nothing_intact_is_an_error(void **state)
{
    (void)state;
    struct run r;
    uint64_t step;
    char want[512];
    run_init(&r, "mlp-5", true);
    snprintf(want, sizeof want, "%s: has no checkpoint", directory);
    refused(sb_checkpoint_load(&r.c, &env, directory, &step), SB_EIO, want);
    refused(sb_checkpoint_load(&r.c, &env, "/nonexistent", &step), SB_EIO,
            "cannot read /nonexistent: No such file or directory");
    assert_false(sb_checkpoint_exists("/nonexistent"));
    save(&r, 1);
    save(&r, 2);
    flip(file_of(1), -1, 1);
    flip(file_of(2), -1, 1);
    snprintf(want, sizeof want,
             "%s/checkpoint-2.safetensors: damaged: its checksum does not fit its "
             "contents; there is no other intact checkpoint",
             directory);
    refused(sb_checkpoint_load(&r.c, &env, directory, &step), SB_EFORMAT, want);
    run_fini(&r);
}

/* ---- disasters ---- */

/* A limit on file sizes is a disk that is full. */
static void a_full_disk_leaves_the_old_ones(void **state)
{
    (void)state;
    struct run r, other;
    struct rlimit old, small = {1000, 0};
    char want[512];
    run_init(&r, "mlp-5", true);
    run_init(&other, "mlp-5", true);
    save(&r, 1);
    save(&r, 2);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    snprintf(want, sizeof want,
             "cannot write %s/checkpoint-3.safetensors: File too large", directory);
    sb_status st = sb_checkpoint_save(&r.c, directory, 3);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(st, SB_EIO);
    assert_string_equal(sb_message(), want);
    assert_int_equal(count_files(), 2);
    resumes_at(&r, &other, 2);
    run_fini(&r);
    run_fini(&other);
}

/* Saves on and on, with a byte to the parent at each; never returns. */
static void save_until_killed(struct run *r, int fd)
{
    for (uint64_t step = 2;; step++) {
        if (write(fd, "", 1) != 1)
            _exit(1);
        run_fill(r, step, 1, true);
        if (sb_checkpoint_save(&r->c, directory, step) != SB_OK)
            _exit(2);
    }
}

static void a_kill_leaves_an_intact_one(void **state)
{
    (void)state;
    struct run r, other;
    run_init(&r, "wrn-10-1", true);
    run_init(&other, "wrn-10-1", true);
    for (int round = 0; round < 10; round++) {
        save(&r, 1);
        int ends[2], status;
        char byte;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            save_until_killed(&r, ends[1]);
        close(ends[1]);
        for (int i = 0; i <= round % 4; i++)
            assert_int_equal(read(ends[0], &byte, 1), 1);
        for (volatile int i = 0; i < round * 100000; i++)
            ; /* another moment each time */
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        close(ends[0]);
        uint64_t step;
        logged[0] = '\0';
        assert_int_equal(sb_checkpoint_load(&other.c, &env, directory, &step), SB_OK);
        assert_string_equal(logged, "");
        resumes_at(&r, &other, step);
    }
    run_fini(&r);
    run_fini(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_damaged_one_is_passed_over),          TEST(every_flipped_byte_is_noticed),
        TEST(no_flipped_bit_changes_what_is_loaded), TEST(nothing_intact_is_an_error),
        TEST(a_full_disk_leaves_the_old_ones),       TEST(a_kill_leaves_an_intact_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
