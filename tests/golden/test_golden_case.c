/* tests/golden/case: the judge itself. A comparison that could not fail would prove
 * nothing, so each way to be wrong must be found, with its exact words. */
#include "case.c" /* the runner is a program, not a library */

#include <setjmp.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/sebays-test-XXXXXX";

/* in.x = {1, 2}, in.mask = {0, 2}, out.y = {1, -4}, out.zero = {0}, out.n = {3},
 * out.far = {INFINITY, 2}. */
static int make_case(void **state)
{
    (void)state;
    static const float x[] = {1, 2}, y[] = {1, -4}, zero[] = {0}, far[] = {INFINITY, 2};
    static const int32_t mask[] = {0, 2}, n[] = {3};
    const size_t one[] = {1}, two[] = {2};
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    struct sb_st_writer w;
    sb_status st = sb_st_writer_init(&w);
    st = st ? st : sb_st_writer_meta(&w, "rate", "0.5");
    st = st ? st : sb_st_writer_meta(&w, "bad", "0.5x");
    st = st ? st : sb_st_writer_add(&w, "in.x", SB_F32, 1, two, x);
    st = st ? st : sb_st_writer_add(&w, "in.mask", SB_I32, 1, two, mask);
    st = st ? st : sb_st_writer_add(&w, "out.y", SB_F32, 1, two, y);
    st = st ? st : sb_st_writer_add(&w, "out.zero", SB_F32, 1, one, zero);
    st = st ? st : sb_st_writer_add(&w, "out.n", SB_I32, 1, one, n);
    st = st ? st : sb_st_writer_add(&w, "out.far", SB_F32, 1, two, far);
    st = st ? st : sb_st_writer_write(&w, path);
    sb_st_writer_fini(&w);
    return st == SB_OK ? 0 : -1;
}

static int remove_case(void **state)
{
    (void)state;
    return unlink(path);
}

static void open_case(struct golden_case *c)
{
    assert_true(golden_open(c, NULL, path));
    assert_false(c->failed);
}

static void close_case(struct golden_case *c, const char *reason)
{
    assert_string_equal(c->reason, reason);
    assert_int_equal(c->failed, reason[0] != '\0');
    golden_close(c);
    assert_int_equal(sb_mem_live(), 0);
}

static void exact_and_close_pass(void **state)
{
    (void)state;
    struct golden_case c;
    const float y[] = {1, -4.00002f}, zero[] = {1e-6f};
    const float far[] = {INFINITY, 2.00001f};
    const int32_t n[] = {3};
    open_case(&c);
    golden_check_f32(&c, "y", y, 2, 1e-5);
    assert_true(c.worst > 4e-6 && c.worst < 6e-6); /* of the largest, not of each */
    golden_check_f32(&c, "zero", zero, 1, 1e-5);   /* absolute: all is 0 */
    golden_check_i32(&c, "n", n, 1);
    golden_check_f32(&c, "far", far, 2, 1e-5);
    golden_check_complete(&c);
    close_case(&c, "");
}

static void check_one(const float *y, const char *reason)
{
    struct golden_case c;
    open_case(&c);
    golden_check_f32(&c, "y", y, 2, 1e-5);
    close_case(&c, reason);
}

static void wrong_numbers_fail(void **state)
{
    (void)state;
    const float off[] = {1.01f, -4}, not_a_number[] = {NAN, -4},
                infinite[] = {1, -INFINITY};
    check_one(off, "out.y: error 2.50e-03, tolerance 1e-05");
    check_one(not_a_number, "out.y: error inf, tolerance 1e-05");
    check_one(infinite, "out.y: error inf, tolerance 1e-05");
    struct golden_case c;
    const float near[] = {3e38f, 2}, other[] = {INFINITY, 2.1f}; /* of infinity and 2 */
    open_case(&c);
    golden_check_f32(&c, "far", near, 2, 1e-5);
    golden_check_f32(&c, "far", other, 2, 1e-5);
    close_case(&c, "out.far: error inf, tolerance 1e-05; "
                   "out.far: error 5.00e-02, tolerance 1e-05");
}

static void wrong_outputs_fail(void **state)
{
    (void)state;
    struct golden_case c;
    const float y[] = {1, -4, 0};
    const int32_t n[] = {4};
    open_case(&c);
    golden_check_i32(&c, "n", n, 1);
    golden_check_f32(&c, "absent", y, 2, 1e-5);
    golden_check_complete(&c);
    assert_false(golden_wants(&c, "absent"));
    assert_true(golden_wants(&c, "y"));
    close_case(&c, "out.n: error 3.33e-01, tolerance 0; out.absent is missing; "
                   "out.y: this op does not compute it; "
                   "out.zero: this op does not compute it; "
                   "out.far: this op does not compute it");
    open_case(&c);
    golden_check_f32(&c, "y", y, 3, 1e-5);
    assert_non_null(strstr(c.reason, "tensor \"out.y\": has 2 elements, want 3"));
    golden_close(&c);
}

static void wrong_inputs_fail(void **state)
{
    (void)state;
    struct golden_case c;
    double rate;
    open_case(&c);
    assert_non_null(golden_f32(&c, "x", 2));
    assert_null(golden_input_optional(&c, "w"));
    assert_true(golden_number(&c, "rate", 0, 1, &rate) && rate == 0.5);
    assert_false(c.failed);
    assert_null(golden_f32(&c, "w", 2));
    assert_null(golden_mask(&c, "mask", 2));
    assert_false(golden_number(&c, "bad", 0, 1, &rate));
    assert_false(golden_number(&c, "rate", 1, 2, &rate));
    close_case(&c, "in.w is missing; in.mask has 2 at 1, want 0 or 1; "
                   "metadata \"bad\" is \"0.5x\", want a number from 0 to 1; "
                   "metadata \"rate\" is \"0.5\", want a number from 1 to 2");
    assert_false(golden_open(&c, NULL, "/nonexistent/file"));
    assert_true(c.failed);
    golden_close(&c);
}

static void long_reasons_are_cut(void **state)
{
    (void)state;
    struct golden_case c;
    open_case(&c);
    for (int i = 0; i < 500; i++)
        golden_fail(&c, "reason %d", i);
    assert_true(strlen(c.reason) < sizeof c.reason);
    golden_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_and_close_pass), cmocka_unit_test(wrong_numbers_fail),
        cmocka_unit_test(wrong_outputs_fail),   cmocka_unit_test(wrong_inputs_fail),
        cmocka_unit_test(long_reasons_are_cut),
    };
    return cmocka_run_group_tests(tests, make_case, remove_case);
}
