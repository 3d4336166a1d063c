/* base/file: whole files or none, exact sentences, mapping. Each test gets an empty
 * directory "test_base_file.XXXXXX" as its working directory. */
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/lock.h"
#include "base/mem.h"

/* ---- scratch directory ---- */

struct scratch {
    char name[32];
    size_t live; /* bytes at the start */
};

static int set_up(void **state)
{
    struct scratch *s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    strcpy(s->name, "test_base_file.XXXXXX");
    s->live = sb_mem_live();
    *state = s;
    return mkdtemp(s->name) && chdir(s->name) == 0 ? 0 : -1;
}

static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (d)
        closedir(d);
    return d ? n : -1;
}

/* Removes what a test may have left: files, and directories nested under "a". */
static int tear_down(void **state)
{
    struct scratch *s = *state;
    const char *const names[] = {"a/b/c", "a/b", "a", "x", "y", "link", "pipe"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)remove(names[i]);
    int left = entries("."), leaked = sb_mem_live() != s->live;
    int bad = chdir("..") != 0 || rmdir(s->name) != 0;
    free(s);
    return left != 0 || leaked || bad ? -1 : 0;
}

static void check_content(const char *path, const char *want)
{
    struct sb_map m;
    assert_int_equal(sb_map_open(&m, path), SB_OK);
    assert_int_equal(m.size, strlen(want));
    assert_memory_equal(m.data, want, m.size);
    sb_map_close(&m);
}

static void check_failure(sb_status st, const char *sentence)
{
    assert_int_equal(st, SB_EIO);
    assert_string_equal(sb_message(), sentence);
}

/* ---- atomic writing ---- */

static void pieces_appear_only_at_commit(void **state)
{
    (void)state;
    struct sb_file f;
    assert_int_equal(sb_file_create(&f, "x"), SB_OK);
    assert_int_equal(sb_file_write(&f, "one ", 4), SB_OK);
    assert_int_equal(sb_file_write(&f, "", 0), SB_OK);
    assert_int_equal(sb_file_write(&f, "two", 3), SB_OK);
    assert_false(sb_file_exists("x"));
    assert_int_equal(sb_file_commit(&f), SB_OK);
    check_content("x", "one two");
    assert_int_equal(entries("."), 1);
    sb_file_abort(&f);
    assert_int_equal(sb_file_commit(&f), SB_EARG);
}

static void old_content_stays_when_aborted(void **state)
{
    (void)state;
    struct sb_file f;
    assert_int_equal(sb_file_put("x", "old", 3), SB_OK);
    assert_int_equal(sb_file_create(&f, "x"), SB_OK);
    assert_int_equal(sb_file_write(&f, "newer", 5), SB_OK);
    check_content("x", "old");
    assert_int_equal(entries("."), 2);
    sb_file_abort(&f);
    check_content("x", "old");
    assert_int_equal(entries("."), 1);
    assert_int_equal(sb_file_put("x", "new", 3), SB_OK);
    check_content("x", "new");
}

static void abort_accepts_anything(void **state)
{
    (void)state;
    struct sb_file f = {0}; /* its fd is 0, and 0 is not ours to close */
    int zero = fcntl(0, F_GETFD);
    sb_file_abort(NULL);
    sb_file_abort(&f);
    assert_int_equal(fcntl(0, F_GETFD), zero);
    assert_int_equal(sb_file_create(&f, "nowhere/x"), SB_EIO);
    sb_file_abort(&f);
}

/* A file-size limit stands in for a full disk: a write fails in the middle. Nothing may
 * fail a test while the limit is on, or the report itself would be cut. */
struct limit {
    struct rlimit old;
    void (*handler)(int);
};

static struct limit limit_file_size(rlim_t bytes)
{
    struct limit l;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &l.old), 0);
    struct rlimit small = {.rlim_cur = bytes, .rlim_max = l.old.rlim_max};
    l.handler = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    return l;
}

static void lift(const struct limit *l)
{
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l->old), 0);
    signal(SIGXFSZ, l->handler);
}

static void full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    static char block[8192];
    memset(block, 'n', sizeof block);
    assert_int_equal(sb_file_put("x", "old", 3), SB_OK);
    struct sb_file f;
    assert_int_equal(sb_file_create(&f, "x"), SB_OK);
    struct limit limit = limit_file_size(12000);
    sb_status first = sb_file_write(&f, block, sizeof block);
    sb_status second = sb_file_write(&f, block, sizeof block);
    lift(&limit);
    assert_int_equal(first, SB_OK);
    check_failure(second, "cannot write x: File too large");
    sb_file_abort(&f);
    check_content("x", "old");
    assert_int_equal(entries("."), 1);

    limit = limit_file_size(1000);
    sb_status put = sb_file_put("x", block, sizeof block);
    lift(&limit);
    check_failure(put, "cannot write x: File too large");
    check_content("x", "old");
    assert_int_equal(entries("."), 1);
}

static void commit_refuses_after_a_failed_write(void **state)
{
    (void)state;
    struct sb_file f;
    assert_int_equal(sb_file_put("x", "old", 3), SB_OK);
    assert_int_equal(sb_file_create(&f, "x"), SB_OK);
    assert_int_equal(sb_file_write(&f, "new", 3), SB_OK);
    int fd = f.fd;
    f.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(f.fd >= 0);
    check_failure(sb_file_write(&f, "more", 4),
                  "cannot write x: No space left on device");
    close(f.fd);
    f.fd = fd;
    check_failure(sb_file_commit(&f), "cannot write x: an earlier part of it failed");
    check_content("x", "old");
    assert_int_equal(entries("."), 1);
}

static void create_says_why_not(void **state)
{
    (void)state;
    struct sb_file f;
    check_failure(sb_file_create(&f, "nowhere/x"),
                  "cannot create nowhere/x: No such file or directory");
    assert_int_equal(mkdir("a", 0777), 0);
    check_failure(sb_file_create(&f, "a"),
                  "cannot create a: it exists and is not a regular file");
    assert_int_equal(mkfifo("pipe", 0666),
                     0); /* like /dev/null, it must not be replaced */
    check_failure(sb_file_put("pipe", "", 0),
                  "cannot create pipe: it exists and is not a regular file");
    assert_int_equal(entries("a"), 0);
}

static void commit_says_why_not(void **state)
{
    (void)state;
    struct sb_file f;
    assert_int_equal(sb_file_create(&f, "x"), SB_OK);
    assert_int_equal(mkdir("x", 0777), 0); /* someone takes the name meanwhile */
    check_failure(sb_file_commit(&f), "cannot create x: Is a directory");
    assert_int_equal(entries("."), 1);
}

static void files_obey_the_umask(void **state)
{
    (void)state;
    struct stat info;
    mode_t mask = umask(027);
    assert_int_equal(sb_file_put("x", "", 0), SB_OK);
    umask(mask);
    assert_int_equal(stat("x", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(info.st_size, 0);
}

static void two_writers_do_not_meet(void **state)
{
    (void)state;
    struct sb_file f, g;
    assert_int_equal(sb_file_create(&f, "x"), SB_OK);
    assert_int_equal(sb_file_create(&g, "x"), SB_OK);
    assert_int_equal(sb_file_write(&f, "first", 5), SB_OK);
    assert_int_equal(sb_file_write(&g, "second", 6), SB_OK);
    assert_int_equal(sb_file_commit(&g), SB_OK);
    check_content("x", "second");
    assert_int_equal(sb_file_commit(&f), SB_OK);
    check_content("x", "first");
    assert_int_equal(entries("."), 1);
}

static void directory_part_is_found(void **state)
{
    (void)state;
    char path[4096];
    assert_int_equal(mkdir("a", 0777), 0);
    assert_int_equal(sb_file_put("a/b", "1", 1), SB_OK);
    check_content("a/b", "1");
    assert_non_null(getcwd(path, sizeof path - 8));
    strcat(path, "/a/b");
    assert_int_equal(sb_file_put(path, "22", 2), SB_OK);
    check_content("a/b", "22");
    assert_int_equal(entries("a"), 1);
}

static void writing_survives_failed_allocations(void **state)
{
    struct scratch *s = *state;
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 100; n++) {
        sb_mem_fail_after(n);
        st = sb_file_put("x", "data", 4);
        sb_mem_fail_after(-1);
        assert_int_equal(sb_mem_live(), s->live);
        assert_int_equal(entries("."), st == SB_OK);
        if (st != SB_OK) {
            assert_int_equal(st, SB_ENOMEM);
            assert_string_equal(sb_message(), "cannot create x: no memory for its name");
        }
    }
    assert_int_equal(n, 3); /* two names, each failed once, then success */
    check_content("x", "data");
}

/* ---- lines ---- */

static void lines_are_appended(void **state)
{
    (void)state;
    assert_int_equal(sb_file_append_line("x", "{\"a\":1}"), SB_OK);
    assert_int_equal(sb_file_append_line("x", ""), SB_OK);
    assert_int_equal(sb_file_append_line("x", "{\"a\":2}"), SB_OK);
    check_content("x", "{\"a\":1}\n\n{\"a\":2}\n");
}

static void bytes_are_appended_and_cut(void **state)
{
    (void)state;
    assert_int_equal(sb_file_append("x", "01234", 5), SB_OK);
    assert_int_equal(sb_file_append("x", "56789", 5), SB_OK);
    assert_int_equal(sb_file_cut("x", 11), SB_OK);
    check_content("x", "0123456789");
    assert_int_equal(sb_file_cut("x", 7), SB_OK);
    check_content("x", "0123456");
    assert_int_equal(sb_file_cut("nothing", 7), SB_OK);
    assert_false(sb_file_exists("nothing"));
    check_failure(sb_file_append("nowhere/x", "1", 1),
                  "cannot append to nowhere/x: No such file or directory");
    check_failure(sb_file_append("/dev/full", "1", 1),
                  "cannot write /dev/full: No space left on device");
}

/* A run directory that somebody else prepared leads to no file of ours. */
static void links_are_not_followed(void **state)
{
    (void)state;
    struct sb_lock lock;
    long owner;
    assert_int_equal(sb_file_put("x", "kept", 4), SB_OK);
    assert_int_equal(symlink("x", "link"), 0);
    check_failure(sb_file_append("link", "x", 1),
                  "cannot append to link: Too many levels of symbolic links");
    check_failure(sb_file_append_line("link", "x"),
                  "cannot append to link: Too many levels of symbolic links");
    check_failure(sb_file_cut("link", 1), "cannot cut link: it is a link");
    check_failure(sb_lock_take(&lock, "link", &owner),
                  "cannot create link: Too many levels of symbolic links");
    check_content("x", "kept");
}

static void append_says_why_not(void **state)
{
    (void)state;
    check_failure(sb_file_append_line("nowhere/x", "1"),
                  "cannot append to nowhere/x: No such file or directory");
    check_failure(sb_file_append_line("/dev/full", "1"),
                  "cannot append to /dev/full: No space left on device");
    assert_int_equal(sb_file_append_line("x", "1\n2"), SB_EARG);
    assert_string_equal(sb_message(), "cannot append to x: the line has a newline");
    assert_false(sb_file_exists("x"));
}

static void append_reports_a_cut_line(void **state)
{
    (void)state;
    struct limit limit = limit_file_size(5);
    sb_status st = sb_file_append_line("x", "0123456789");
    lift(&limit);
    check_failure(st, "cannot append to x: only 5 of 11 bytes fit");
}

/* ---- directories ---- */

static void directories_are_made_with_parents(void **state)
{
    (void)state;
    assert_int_equal(sb_file_make_directory("a//b/c/"), SB_OK);
    assert_true(sb_file_exists("a/b/c"));
    assert_int_equal(sb_file_make_directory("a/b/c"), SB_OK);
    assert_int_equal(sb_file_make_directory("/"), SB_OK);
    assert_int_equal(sb_file_make_directory("."), SB_OK);
    char path[4096];
    assert_non_null(getcwd(path, sizeof path - 8));
    assert_int_equal(rmdir("a/b/c"), 0);
    strcat(path, "/a/b/c");
    assert_int_equal(sb_file_make_directory(path), SB_OK);
    assert_true(sb_file_exists("a/b/c"));
}

static void make_directory_says_why_not(void **state)
{
    (void)state;
    assert_int_equal(sb_file_put("x", "", 0), SB_OK);
    check_failure(sb_file_make_directory("x"), "cannot make directory x: File exists");
    check_failure(sb_file_make_directory("x/y/z"),
                  "cannot make directory x: File exists");
    check_failure(sb_file_make_directory(""),
                  "cannot make directory : No such file or directory");
}

static void make_directory_survives_failed_allocation(void **state)
{
    struct scratch *s = *state;
    sb_mem_fail_after(0);
    sb_status st = sb_file_make_directory("a/b");
    sb_mem_fail_after(-1);
    assert_int_equal(st, SB_ENOMEM);
    assert_string_equal(sb_message(),
                        "cannot make directory a/b: no memory for its name");
    assert_int_equal(sb_mem_live(), s->live);
    assert_false(sb_file_exists("a"));
}

static void exists_follows_links(void **state)
{
    (void)state;
    assert_false(sb_file_exists("x"));
    assert_int_equal(symlink("x", "link"), 0);
    assert_false(sb_file_exists("link"));
    assert_int_equal(sb_file_put("x", "", 0), SB_OK);
    assert_true(sb_file_exists("x"));
    assert_true(sb_file_exists("link"));
    assert_true(sb_file_exists("."));
}

/* ---- mapping ---- */

static void empty_file_is_mapped(void **state)
{
    (void)state;
    struct sb_map m;
    assert_int_equal(sb_file_put("x", NULL, 0), SB_OK);
    assert_int_equal(sb_map_open(&m, "x"), SB_OK);
    assert_non_null(m.data);
    assert_int_equal(m.size, 0);
    sb_map_close(&m);
    assert_null(m.data);
    sb_map_close(&m);
    sb_map_close(NULL);
}

static void map_outlives_replacement(void **state)
{
    (void)state;
    struct sb_map m;
    assert_int_equal(sb_file_put("x", "old", 3), SB_OK);
    assert_int_equal(sb_map_open(&m, "x"), SB_OK);
    assert_int_equal(sb_file_put("x", "", 0), SB_OK);
    assert_int_equal(m.size, 3);
    assert_memory_equal(m.data, "old", 3);
    sb_map_close(&m);
}

static void map_says_why_not(void **state)
{
    (void)state;
    struct sb_map m = {(const unsigned char *)"x", 1};
    check_failure(sb_map_open(&m, "x"), "cannot read x: No such file or directory");
    assert_null(m.data);
    assert_int_equal(m.size, 0);
    check_failure(sb_map_open(&m, "."), "cannot read .: it is a directory");
    assert_int_equal(mkfifo("pipe", 0666), 0);
    check_failure(sb_map_open(&m, "pipe"), "cannot read pipe: it is not a regular file");
    sb_map_close(&m);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(pieces_appear_only_at_commit),
        FILE_TEST(old_content_stays_when_aborted),
        FILE_TEST(abort_accepts_anything),
        FILE_TEST(full_disk_leaves_the_old_file),
        FILE_TEST(commit_refuses_after_a_failed_write),
        FILE_TEST(create_says_why_not),
        FILE_TEST(commit_says_why_not),
        FILE_TEST(files_obey_the_umask),
        FILE_TEST(two_writers_do_not_meet),
        FILE_TEST(directory_part_is_found),
        FILE_TEST(writing_survives_failed_allocations),
        FILE_TEST(lines_are_appended),
        FILE_TEST(bytes_are_appended_and_cut),
        FILE_TEST(links_are_not_followed),
        FILE_TEST(append_says_why_not),
        FILE_TEST(append_reports_a_cut_line),
        FILE_TEST(directories_are_made_with_parents),
        FILE_TEST(make_directory_says_why_not),
        FILE_TEST(make_directory_survives_failed_allocation),
        FILE_TEST(exists_follows_links),
        FILE_TEST(empty_file_is_mapped),
        FILE_TEST(map_outlives_replacement),
        FILE_TEST(map_says_why_not),
    };
    return cmocka_run_group_tests_name("base/file", tests, NULL, NULL);
}
