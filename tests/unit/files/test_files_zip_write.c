/* files/zip_write: what was added is found again, limits, and failures. */
#include "data_fixture.h"

#include "files/zip.h"
#include "files/zip_write.h"

static void what_was_added_is_found(void **state)
{
    (void)state;
    enum { MEMBERS = 300 }; /* the directory grows several times */
    struct sb_zip_writer w;
    struct sb_map map;
    struct sb_zip z;
    char name[32];
    assert_int_equal(sb_zip_create(&w, "a.zip"), SB_OK);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        snprintf(name, sizeof name, "member.%u", i);
        assert_int_equal(sb_zip_add(&w, name, "head", i % 5, &i, sizeof i), SB_OK);
    }
    assert_int_equal(sb_zip_add(&w, "empty", NULL, 0, NULL, 0), SB_OK);
    assert_false(sb_file_exists("a.zip"));
    assert_int_equal(sb_zip_finish(&w), SB_OK);
    assert_int_equal(sb_map_open(&map, "a.zip"), SB_OK);
    assert_int_equal(sb_zip_init(&z, "a.zip", map.data, map.size), SB_OK);
    assert_int_equal(z.entries, MEMBERS + 1);
    for (uint32_t i = 0; i <= MEMBERS; i++) {
        struct sb_zip_member m;
        bool found;
        snprintf(name, sizeof name, i == MEMBERS ? "empty" : "member.%u", i);
        assert_int_equal(sb_zip_find(&z, name, &m, &found), SB_OK);
        assert_true(found);
        assert_int_equal(sb_zip_read(&z, name, &m, NULL), SB_OK);
        assert_int_equal(m.size, i == MEMBERS ? 0 : i % 5 + 4);
        if (i == MEMBERS)
            continue;
        assert_memory_equal(m.data, "head", i % 5);
        assert_memory_equal(m.data + i % 5, &i, sizeof i);
    }
    sb_map_close(&map);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    struct sb_zip_writer w;
    char name[300] = {0};
    memset(name, 'n', sizeof name - 1);
    assert_int_equal(sb_zip_create(&w, "a.zip"), SB_OK);
    refused(sb_zip_add(&w, name, "", 0, "", 0), SB_EARG,
            "a.zip: a member's name of 299 bytes; at most 256 work");
    refused(sb_zip_add(&w, "x", "", 1, "", UINT32_MAX - 100), SB_EARG,
            "a.zip: with x it would be larger than 4 GB, which a ZIP archive cannot be");
    refused(sb_zip_add(&w, "x", "", SIZE_MAX, "", SIZE_MAX), SB_EARG,
            "a.zip: with x it would be larger than 4 GB, which a ZIP archive cannot be");
    w.members = SB_ZIP_MEMBERS;
    refused(sb_zip_add(&w, "x", "", 0, "", 0), SB_EARG, "a.zip: more than 65534 members");
    sb_zip_abort(&w);
    sb_zip_abort(&w);
    sb_zip_abort(NULL);
    assert_false(sb_file_exists("a.zip"));
    refused(sb_zip_create(&w, "none/a.zip"), SB_EIO,
            "cannot create none/a.zip: No such file or directory");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sb_status st = SB_ENOMEM;
    long n;
    for (n = 0; st != SB_OK && n < 100; n++) {
        struct sb_zip_writer w;
        sb_mem_fail_after(n);
        st = sb_zip_create(&w, "a.zip");
        for (int i = 0; i < 100 && st == SB_OK; i++)
            st = sb_zip_add(&w, "member", "head", 4, "data", 4);
        if (st == SB_OK)
            st = sb_zip_finish(&w);
        sb_mem_fail_after(-1);
        sb_zip_abort(&w);
        assert_true(st == SB_OK || st == SB_ENOMEM);
    }
    assert_true(n > 3 && n < 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_added_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_cannot_be, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
