/* files/protobuf: bytes as the format's documentation has them. */
#include "files/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void same(const struct sb_pb *p, const void *want, size_t size)
{
    assert_int_equal(sb_pb_status(p), SB_OK);
    assert_int_equal(p->used, size);
    assert_memory_equal(p->data, want, size);
}

static void numbers(void **state)
{
    (void)state;
    struct sb_pb p = {0};
    sb_pb_integer(&p, 1, 150);
    sb_pb_integer(&p, 2, 0);
    sb_pb_integer(&p, 15, 127);
    sb_pb_integer(&p, 16, 128);
    sb_pb_integer(&p, 20, UINT64_MAX);
    sb_pb_float(&p, 3, 1.5f);
    same(
        &p,
        "\x08\x96\x01\x10\x00\x78\x7f\x80\x01\x80\x01\xa0\x01\xff\xff\xff\xff\xff\xff\xff"
        "\xff\xff\x01\x1d\x00\x00\xc0\x3f",
        28);
    sb_pb_fini(&p);
}

static void texts_and_messages(void **state)
{
    (void)state;
    struct sb_pb p = {0};
    sb_pb_text(&p, 2, "testing");
    sb_pb_text(&p, 2, "");
    size_t outer = sb_pb_begin(&p, 3), inner = sb_pb_begin(&p, 1);
    sb_pb_integer(&p, 1, 150);
    sb_pb_end(&p, inner);
    sb_pb_end(&p, outer);
    sb_pb_end(&p, sb_pb_begin(&p, 4));
    sb_pb_announce(&p, 9, 300);
    same(&p, "\x12\x07testing\x12\x00\x1a\x05\x0a\x03\x08\x96\x01\x22\x00\x4a\xac\x02",
         23);
    sb_pb_fini(&p);
}

/* Bytes of a field of so many, with its key and the length in groups of seven bits. */
static uint64_t field_size(uint64_t size)
{
    return 1u + (size < 1 << 7 ? 1u : size < 1 << 14 ? 2u : 3u) + size;
}

/* A message whose length takes two bytes or three, which move what is there already. */
static void long_messages(void **state)
{
    (void)state;
    static char text[20000];
    struct sb_pb p = {0};
    memset(text, 'x', sizeof text - 1);
    for (size_t n = 120; n < sizeof text; n *= 3) {
        text[n] = '\0';
        p.used = 0;
        size_t outer = sb_pb_begin(&p, 1);
        sb_pb_text(&p, 2, text);
        sb_pb_end(&p, outer);
        assert_int_equal(p.used, field_size(field_size(n)));
        assert_int_equal(p.data[0], 0x0a);
        assert_memory_equal(p.data + p.used - n, text, n);
        text[n] = 'x';
    }
    sb_pb_fini(&p);
}

static void no_memory_is_remembered(void **state)
{
    (void)state;
    struct sb_pb p = {0};
    size_t live = sb_mem_live();
    sb_mem_fail_after(0);
    size_t begun = sb_pb_begin(&p, 1);
    sb_mem_fail_after(-1);
    sb_pb_text(&p, 2, "lost");
    sb_pb_end(&p, begun);
    assert_int_equal(sb_pb_status(&p), SB_ENOMEM);
    assert_string_equal(sb_message(), "no memory for a message of over 0 bytes");
    sb_pb_fini(&p);
    assert_int_equal(sb_pb_status(&p), SB_OK);
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(texts_and_messages),
        cmocka_unit_test(long_messages),
        cmocka_unit_test(no_memory_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
