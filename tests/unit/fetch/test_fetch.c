/* base/part, fetch/digest, data/catalogue, and fetch as far as it needs no server (tests/cli/fetch.py has
 * one). */
#include "data_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/part.h"
#include "fetch/digest.h"
#include "fetch/fetch.h"

/* ---- part ---- */

static void a_part_grows_over_several_runs(void **state)
{
    (void)state;
    struct sb_part p;
    struct sb_map m;
    assert_int_equal(sb_part_open(&p, "f"), SB_OK);
    assert_int_equal(p.size, 0);
    assert_int_equal(sb_part_append(&p, "one ", 4), SB_OK);
    sb_part_close(&p);
    assert_int_equal(sb_part_open(&p, "f"), SB_OK);
    assert_int_equal(p.size, 4);
    assert_int_equal(sb_part_append(&p, "two", 3), SB_OK);
    assert_false(sb_file_exists("f"));
    assert_int_equal(sb_part_commit(&p), SB_OK);
    assert_false(sb_file_exists("f.part"));
    assert_int_equal(sb_map_open(&m, "f"), SB_OK);
    assert_memory_equal(m.data, "one two", 7);
    sb_map_close(&m);
}

static void a_part_can_be_emptied_and_removed(void **state)
{
    (void)state;
    struct sb_part p;
    put("f.part", "wrong", 5);
    assert_int_equal(sb_part_open(&p, "f"), SB_OK);
    assert_int_equal(sb_part_restart(&p), SB_OK);
    assert_int_equal(sb_part_append(&p, "ok", 2), SB_OK);
    assert_int_equal(p.size, 2);
    sb_part_remove(&p);
    sb_part_close(&p);
    assert_false(sb_file_exists("f.part"));
}

static void parts_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct sb_part p;
    refused(sb_part_open(&p, "none/f"), SB_EIO,
            "cannot open none/f.part: No such file or directory");
    assert_int_equal(mkdir("d.part", 0777), 0);
    refused(sb_part_open(&p, "d"), SB_EIO, "cannot open d.part: Is a directory");
    assert_int_equal(symlink("target", "l.part"), 0);
    refused(sb_part_open(&p, "l"), SB_EIO,
            "cannot open l.part: Too many levels of symbolic links");
    sb_mem_fail_after(0);
    sb_status st = sb_part_open(&p, "f");
    sb_mem_fail_after(-1);
    assert_int_equal(st, SB_ENOMEM);
    assert_int_equal(sb_part_open(&p, "f"), SB_OK);
    sb_mem_fail_after(0);
    st = sb_part_commit(&p);
    sb_mem_fail_after(-1);
    assert_int_equal(st, SB_ENOMEM);
    assert_true(sb_file_exists("f.part"));
}

/* A limit on the size of files stands in for a full disk. */
static void a_full_disk_is_said_plainly(void **state)
{
    (void)state;
    struct sb_part p;
    struct rlimit was, small;
    char bytes[100] = {0};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    small = (struct rlimit){.rlim_cur = 50, .rlim_max = was.rlim_max};
    assert_int_equal(sb_part_open(&p, "f"), SB_OK);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    (void)sb_fail(SB_OK, "nothing was said");
    sb_status st = sb_part_append(&p, bytes, sizeof bytes);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(st, SB_EIO);
    assert_string_equal(sb_message(), "cannot write f.part: File too large");
    assert_int_equal(p.size, 50); /* what did fit counts */
    sb_part_close(&p);
}

static void trees_are_removed_but_not_what_links_lead_to(void **state)
{
    (void)state;
    assert_int_equal(mkdir("keep", 0777), 0);
    put("keep/file", "x", 1);
    assert_int_equal(mkdir("tree", 0777), 0);
    assert_int_equal(mkdir("tree/deep", 0777), 0);
    put("tree/deep/file", "x", 1);
    assert_int_equal(symlink("../keep", "tree/link"), 0);
    assert_true(sb_file_remove_tree("tree"));
    assert_false(sb_file_exists("tree"));
    assert_true(sb_file_exists("keep/file"));
    assert_true(sb_file_remove_tree("none"));
}

/* ---- catalogue ---- */

static bool is_hex(const char *s)
{
    return strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

static void check_row(const struct sb_catalogue_row *row)
{
    size_t files = 0;
    assert_non_null(row->what);
    assert_true(strncmp(row->base, "http", 4) == 0);
    assert_int_equal(row->base[strlen(row->base) - 1], '/');
    assert_null(strchr(row->name, '/'));
    assert_ptr_equal(sb_catalogue_find(row->name), row);
    for (; files < SB_CATALOGUE_FILES && row->file[files].name; files++) {
        const struct sb_catalogue_file *f = &row->file[files];
        assert_null(strchr(f->name, '/'));
        assert_true(f->size > 0);
        assert_true(is_hex(f->sha256));
    }
    assert_true(files > 0);
    if (row->pack == SB_PACK_TAR)
        assert_int_equal(files, 1);
    else
        assert_true(row->unpacked >= sb_catalogue_size(row));
}

static void the_catalogue_is_consistent(void **state)
{
    (void)state;
    assert_int_equal(sb_catalogue_rows(), 8);
    for (size_t i = 0; i < sb_catalogue_rows(); i++)
        check_row(sb_catalogue_row(i));
    assert_ptr_equal(sb_catalogue_find("cifar-10"), sb_catalogue_find("cifar10"));
    assert_ptr_equal(sb_catalogue_find("cifar-100-c"), sb_catalogue_find("cifar100-c"));
    assert_null(sb_catalogue_find("cifar"));
    assert_null(sb_catalogue_find("cifar--10"));
    assert_null(sb_catalogue_find("-10"));
}

/* ---- fetch without a server ---- */

static const struct sb_catalogue_row small_row = {
    .name = "small",
    .what = "a set",
    .base = "http://127.0.0.1:9/",
    .unpacked = 10,
    .file = {{"f", 3,
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}},
};

static void what_is_there_is_not_fetched(void **state)
{
    (void)state;
    char path[SB_PATH_BYTES];
    bool there;
    struct sb_fetch_options o = {.row = &small_row, .directory = "dir"};
    assert_int_equal(sb_file_make_directory("dir/small"), SB_OK);
    assert_int_equal(sb_fetch(&o, path, &there), SB_OK);
    assert_true(there);
    assert_string_equal(path, "dir/small");
    assert_false(sb_file_exists("dir/small.part"));
}

static void two_at_once_exclude_each_other(void **state)
{
    (void)state;
    char path[SB_PATH_BYTES];
    bool there;
    struct sb_fetch_options o = {.row = &small_row, .directory = "dir"};
    assert_int_equal(sb_file_make_directory("dir/small.part"), SB_OK);
    int fd = open("dir/small.part", O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    refused(sb_fetch(&o, path, &there), SB_EIO,
            "small is being fetched into dir by another process; wait for it");
    close(fd);
}

static void too_little_room_is_said_before(void **state)
{
    (void)state;
    char path[SB_PATH_BYTES];
    bool there;
    struct sb_catalogue_row huge = small_row;
    huge.file[0].size = (uint64_t)1 << 62;
    struct sb_fetch_options o = {.row = &huge, .directory = "dir"};
    assert_int_equal(sb_fetch(&o, path, &there), SB_EIO);
    const char *want = "small needs 4611686018427 MB more in dir, where ";
    assert_memory_equal(sb_message(), want, strlen(want));
}

#ifdef SB_HAVE_FETCH

static void sums_are_the_published_ones(void **state)
{
    (void)state;
    char hex[SB_DIGEST_HEX];
    put("abc", "abc", 3);
    put("empty", "", 0);
    assert_int_equal(sb_digest_file("abc", NULL, hex), SB_OK);
    assert_string_equal(hex, small_row.file[0].sha256); /* FIPS 180-4's example */
    assert_int_equal(sb_digest_file("empty", NULL, hex), SB_OK);
    assert_string_equal(
        hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    refused(sb_digest_file("none", NULL, hex), SB_EIO,
            "cannot read none: No such file or directory");
    assert_string_equal(hex, "");
}

/* The part is whole already: nothing is asked of any server. */
static void a_whole_part_is_checked_and_taken(void **state)
{
    (void)state;
    char path[SB_PATH_BYTES];
    bool there;
    struct sb_fetch_options o = {.row = &small_row, .directory = "dir"};
    assert_int_equal(sb_file_make_directory("dir/small.part"), SB_OK);
    put("dir/small.part/f.part", "xyz", 3);
    refused(sb_fetch(&o, path, &there), SB_EFORMAT,
            "http://127.0.0.1:9/f: its SHA-256 is "
            "3608bca1e44ea6c4d268eb6db02260269892c0b42b86bbf1e77a6fa16c3c9282, want "
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad; what was "
            "fetched is removed, nothing of it is used: try again, or give another place "
            "with --url");
    assert_false(sb_file_exists("dir/small.part/f.part"));
    assert_false(sb_file_exists("dir/small"));
    put("dir/small.part/f.part", "abc", 3);
    assert_int_equal(sb_fetch(&o, path, &there), SB_OK);
    assert_false(there);
    assert_true(sb_file_exists("dir/small/f"));
    assert_false(sb_file_exists("dir/small.part"));
}

/* By the name it was fetched by. */
static void what_was_fetched_is_found(void **state)
{
    (void)state;
    const char *dirs[] = {"dir"};
    char path[SB_PATH_BYTES];
    for (size_t i = 0; i < sb_catalogue_rows(); i++) {
        char made[64];
        snprintf(made, sizeof made, "dir/%s", sb_catalogue_row(i)->name);
        assert_int_equal(sb_file_make_directory(made), SB_OK);
        assert_int_equal(
            sb_data_find(sb_catalogue_row(i)->name, dirs, 1, path, sizeof path), SB_OK);
        assert_string_equal(path, made);
    }
    refused(sb_data_find("mnist", dirs, 0, path, sizeof path), SB_EIO,
            "there is no data set mnist in /usr/share/datasets; get it with 'sebays data "
            "fetch mnist', or give its path");
}

static void fetching_survives_failing_allocations(void **state)
{
    (void)state;
    char path[SB_PATH_BYTES];
    bool there;
    struct sb_fetch_options o = {.row = &small_row, .directory = "dir"};
    assert_int_equal(sb_file_make_directory("dir/small.part"), SB_OK);
    put("dir/small.part/f.part", "abc", 3);
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 100; n++) {
        size_t live = sb_mem_live();
        assert_false(sb_file_exists("dir/small"));
        sb_mem_fail_after(n);
        st = sb_fetch(&o, path, &there);
        sb_mem_fail_after(-1);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(n, 4); /* a directory's name, the part's, the file's; then success */
}

#else

static void fetching_is_missing(void **state)
{
    (void)state;
    char path[SB_PATH_BYTES];
    bool there;
    struct sb_fetch_options o = {.row = &small_row, .directory = "dir"};
    refused(
        sb_fetch(&o, path, &there), SB_EMISSING,
        "cannot fetch http://127.0.0.1:9/f: this build has no libcurl or no libcrypto; "
        "install libcurl4-openssl-dev and libssl-dev, configure and build again");
}

#endif

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_part_grows_over_several_runs),
        TEST(a_part_can_be_emptied_and_removed),
        TEST(parts_that_cannot_be_are_refused),
        TEST(a_full_disk_is_said_plainly),
        TEST(trees_are_removed_but_not_what_links_lead_to),
        TEST(the_catalogue_is_consistent),
        TEST(what_is_there_is_not_fetched),
        TEST(two_at_once_exclude_each_other),
        TEST(too_little_room_is_said_before),
#ifdef SB_HAVE_FETCH
        TEST(sums_are_the_published_ones),
        TEST(a_whole_part_is_checked_and_taken),
        TEST(what_was_fetched_is_found),
        TEST(fetching_survives_failing_allocations),
#else
        TEST(fetching_is_missing),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
