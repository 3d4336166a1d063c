/* files/tar: archives made on the spot, whole, damaged and hostile. */
#include "data_fixture.h"

#include "fetch/extract.h"
#include "files/tar.h"

enum { BLOCK = 512, ROOM = 1 << 16 };

/* ---- making archives ---- */

struct archive {
    unsigned char bytes[ROOM];
    size_t used;
};

static void seal(unsigned char *h)
{
    unsigned sum = 0;
    memset(h + 148, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += h[i];
    snprintf((char *)h + 148, 8, "%06o", sum);
}

/* A header and size bytes of content, padded. */
static unsigned char *add(struct archive *a, const char *name, char type,
                          const void *content, size_t size)
{
    unsigned char *h = a->bytes + a->used;
    memset(h, 0, BLOCK);
    memcpy(h, name, strlen(name));
    snprintf((char *)h + 124, 12, "%011o", (unsigned)size);
    h[156] = (unsigned char)type;
    memcpy(h + 257,
           "ustar\0"
           "00",
           8);
    seal(h);
    a->used += BLOCK;
    memset(a->bytes + a->used, 0, (size + BLOCK - 1) / BLOCK * BLOCK);
    memcpy(a->bytes + a->used, content, size);
    a->used += (size + BLOCK - 1) / BLOCK * BLOCK;
    assert_true(a->used + 2 * BLOCK <= ROOM);
    return h;
}

static void finish(struct archive *a)
{
    memset(a->bytes + a->used, 0, 2 * BLOCK);
    a->used += 2 * BLOCK;
}

/* ---- reading them into a line of text ---- */

struct seen {
    const struct archive *a;
    size_t at;
    char text[4096];
    sb_status refuse; /* what begin answers */
};

static sb_status on_read(void *context, void *to, size_t size, size_t *got)
{
    struct seen *s = context;
    size_t left = s->a->used - s->at;
    *got = size < left ? size : left;
    memcpy(to, s->a->bytes + s->at, *got);
    s->at += *got;
    return SB_OK;
}

static void say(struct seen *s, const char *a, const char *b)
{
    size_t used = strlen(s->text);
    snprintf(s->text + used, sizeof s->text - used, "%s%s", a, b);
}

static sb_status on_directory(void *context, const char *path)
{
    say(context, path, "/ ");
    return SB_OK;
}

static sb_status on_begin(void *context, const char *path, uint64_t size)
{
    struct seen *s = context;
    char number[32];
    snprintf(number, sizeof number, "(%llu)=", (unsigned long long)size);
    say(s, path, number);
    return s->refuse == SB_OK ? SB_OK : sb_fail(s->refuse, "no");
}

static sb_status on_write(void *context, const void *data, size_t size)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)(size < 200 ? size : 200),
             (const char *)data);
    say(context, text, "");
    return SB_OK;
}

static sb_status on_end(void *context)
{
    say(context, "", "; ");
    return SB_OK;
}

static sb_status read_archive(const struct archive *a, struct seen *s, uint64_t limit)
{
    *s = (struct seen){.a = a, .refuse = s->refuse};
    struct sb_tar_source source = {on_read, s};
    struct sb_tar_sink sink = {on_directory, on_begin, on_write, on_end, s};
    return sb_tar_read("a.tar", &source, &sink, limit);
}

static void assert_reads(const struct archive *a, const char *want)
{
    struct seen s = {.refuse = SB_OK};
    assert_int_equal(read_archive(a, &s, 1000), SB_OK);
    assert_string_equal(s.text, want);
}

static void assert_refuses(const struct archive *a, const char *sentence)
{
    struct seen s = {.refuse = SB_OK};
    refused(read_archive(a, &s, 1000), SB_EFORMAT, sentence);
}

/* ---- what is read ---- */

static void files_and_directories_are_read(void **state)
{
    (void)state;
    struct archive a = {0};
    add(&a, "./", '5', "", 0);
    add(&a, "top/", '5', "", 0);
    add(&a, "top/one.txt", '0', "first", 5);
    add(&a, "./top//deep/./two.txt", '\0', "", 0);
    add(&a, "top/old/", '0', "", 0); /* a directory of the oldest format */
    finish(&a);
    assert_reads(&a, "top/ top/one.txt(5)=first; top/deep/two.txt(0)=; top/old/ ");
}

static void long_names_are_read(void **state)
{
    (void)state;
    struct archive a = {0};
    add(&a, "PaxHeaders/x", 'x', "17 path=far/away\n13 comment=a\n16 mtime=12.345\n", 46);
    add(&a, "cut", '0', "1", 1);
    add(&a, "pax_global_header", 'g',
        "52 comment=0123456789012345678901234567890123456789\n", 52);
    add(&a, "././@LongLink", 'L', "gnu/long/name", 14);
    add(&a, "cut", '0', "2", 1);
    unsigned char *h = add(&a, "name", '0', "3", 1);
    memcpy(h + 345, "some/prefix", 11);
    seal(h);
    add(&a, "PaxHeaders/y", 'x', "9 size=2\n", 9);
    h = add(&a, "sized", '0', "45", 2);
    memcpy(h + 124, "00000000000", 11);
    seal(h);
    add(&a, "last", '0', "6", 1); /* what was said of others does not hold for it */
    finish(&a);
    assert_reads(&a, "far/away(1)=1; gnu/long/name(1)=2; some/prefix/name(1)=3; "
                     "sized(2)=45; last(1)=6; ");
}

static void a_sink_that_refuses_is_heard(void **state)
{
    (void)state;
    struct archive a = {0};
    struct seen s = {.refuse = SB_EIO};
    add(&a, "f", '0', "x", 1);
    finish(&a);
    refused(read_archive(&a, &s, 1000), SB_EIO, "no");
}

/* ---- what is refused ---- */

static void refuse_path(const char *path)
{
    struct archive a = {0};
    char sentence[512];
    add(&a, path, '0', "x", 1);
    finish(&a);
    snprintf(
        sentence, sizeof sentence,
        "a.tar: the archive has a file \"%s\", which would not stay in its directory; "
        "nothing of it is used",
        path);
    sb_plain(sentence); /* of a newline, say */
    assert_refuses(&a, sentence);
}

static void paths_that_lead_out_are_refused(void **state)
{
    (void)state;
    refuse_path("/etc/passwd");
    refuse_path("../up");
    refuse_path("top/../../up");
    refuse_path("top/..");
    refuse_path("..");
    refuse_path(".");
    refuse_path("");
    refuse_path("a\nb");
}

static void links_and_devices_are_refused(void **state)
{
    (void)state;
    const char types[] = "12346S";
    for (const char *t = types; *t; t++) {
        struct archive a = {0};
        char sentence[256];
        add(&a, "odd", *t, "", 0);
        finish(&a);
        snprintf(sentence, sizeof sentence,
                 "a.tar: odd is neither a file nor a directory (type %d); nothing of the "
                 "archive is used",
                 *t);
        assert_refuses(&a, sentence);
    }
}

static void sizes_are_checked(void **state)
{
    (void)state;
    struct archive a = {0};
    unsigned char *h = add(&a, "big", '0', "", 0);
    memcpy(h + 124, "77777777777", 11);
    seal(h);
    finish(&a);
    assert_refuses(&a, "a.tar: big has 8589934591 bytes, which is more than all of the "
                       "archive may have; it is not what it should be");
    a.used = 0;
    char content[600] = {0};
    add(&a, "one", '0', content, 600);
    add(&a, "two", '0', content, 401);
    finish(&a);
    assert_refuses(&a, "a.tar: two has 401 bytes, which is more than all of the archive "
                       "may have; it is not what it should be");
    memcpy(a.bytes + 124, "\x80\0\0\0\0\0\0\0\0\0\2", 12); /* GNU's binary size */
    seal(a.bytes);
    assert_refuses(&a, "a.tar: not a tar archive, or damaged: header 1 cannot be read");
}

static void refuse_extra(char type, const char *text, size_t size)
{
    struct archive a = {0};
    add(&a, "x", type, text, size);
    add(&a, "f", '0', "1", 1);
    finish(&a);
    assert_refuses(&a,
                   "a.tar: an extended header cannot be read; the archive is damaged");
}

static void damaged_extended_headers_are_refused(void **state)
{
    (void)state;
    refuse_extra('x', "17 path=far/away", 16);
    refuse_extra('x', "99 path=far/away\n", 17);
    refuse_extra('x', "path=far/away\n", 14);
    refuse_extra('x', "7 path\n", 7);
    refuse_extra('x', "3 \n", 3);
    refuse_extra('x', "8 path=\n", 8);
    refuse_extra('x', "9 size=x\n", 9);
    refuse_extra('x', "28 size=9999999999999999999\n", 28);
    refuse_extra('x', "10 path=a\0\n", 11);
    refuse_extra('L', "", 0);
    static char far[SB_TAR_PATH + 1];
    memset(far, 'a', sizeof far);
    refuse_extra('L', far, sizeof far);
    struct archive a = {0};
    unsigned char *h = add(&a, "x", 'x', "", 0);
    memcpy(h + 124, "00000200000", 11);
    seal(h);
    assert_refuses(&a, "a.tar: 65536 bytes describe one file; the archive is damaged");
}

static void every_cut_is_noticed(void **state)
{
    (void)state;
    struct archive a = {0};
    add(&a, "one", '0', "first", 5);
    add(&a, "x", 'x', "17 path=far/away\n", 17);
    add(&a, "two", '0', "second", 6);
    size_t whole = a.used;
    finish(&a);
    for (a.used = 0; a.used < whole + BLOCK; a.used++)
        assert_refuses(&a, "a.tar: the archive stops short; fetch it again");
    assert_reads(&a, "one(5)=first; far/away(6)=second; ");
}

/* Any byte of a header changed: refused, never a crash. */
static void every_damaged_header_is_refused(void **state)
{
    (void)state;
    struct archive a = {0};
    add(&a, "one", '0', "", 0);
    finish(&a);
    for (size_t i = 0; i < BLOCK; i++) {
        struct seen s = {.refuse = SB_OK};
        unsigned char was = a.bytes[i];
        a.bytes[i] = (unsigned char)(was + 1);
        /* Blanks and the like beside the sum itself may be anything. */
        if (i < 148 || i >= 154)
            (void)read_archive(&a, &s, 1000);
        if (i < 148 || i >= 156)
            assert_int_equal(read_archive(&a, &s, 1000), SB_EFORMAT);
        a.bytes[i] = was;
    }
}

/* ---- onto the disk ---- */

static void make_set(struct archive *a)
{
    a->used = 0;
    add(a, "set/", '5', "", 0);
    add(a, "set/labels.txt", '0', "cat\ndog\n", 8);
    add(a, "set/deep/er/x.bin", '0', "123", 3);
    add(a, "README", '0', "?", 1);
    finish(a);
}

static void assert_file(const char *path, const char *content)
{
    struct sb_map m;
    assert_int_equal(sb_map_open(&m, path), SB_OK);
    assert_int_equal(m.size, strlen(content));
    assert_memory_equal(m.data, content, m.size);
    sb_map_close(&m);
}

static void archives_are_unpacked(void **state)
{
    (void)state;
    struct archive a = {0};
    make_set(&a);
    put("a.tar", a.bytes, a.used);
    put_gzip("a.tar.gz", a.bytes, a.used);
    assert_int_equal(sb_extract_tar("a.tar", "plain", 100, NULL), SB_OK);
    assert_int_equal(sb_extract_tar("a.tar.gz", "packed", 100, NULL), SB_OK);
    assert_file("plain/labels.txt", "cat\ndog\n");
    assert_file("plain/deep/er/x.bin", "123");
    assert_file("plain/README", "?");
    assert_file("packed/deep/er/x.bin", "123");
}

static void a_cut_gzip_is_refused(void **state)
{
    (void)state;
    struct archive a = {0};
    unsigned char packed[4096];
    make_set(&a);
    size_t size = pack(a.bytes, a.used, packed, sizeof packed);
    put("a.tar.gz", packed, size / 2);
    char sentence[256];
    snprintf(
        sentence, sizeof sentence,
        "a.tar.gz: its gzip data stops short after %zu bytes; the file is truncated, "
        "fetch it again",
        size / 2);
    refused(sb_extract_tar("a.tar.gz", "out", 100, NULL), SB_EFORMAT, sentence);
}

static void unpacking_survives_failing_allocations(void **state)
{
    (void)state;
    struct archive a = {0};
    make_set(&a);
    put_gzip("a.tar.gz", a.bytes, a.used);
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 100; n++) {
        size_t live = sb_mem_live();
        sb_mem_fail_after(n);
        st = sb_extract_tar("a.tar.gz", "out", 100, NULL);
        sb_mem_fail_after(-1);
        assert_int_equal(sb_mem_live(), live);
        assert_true(sb_file_remove_tree("out") || st == SB_OK);
    }
    assert_in_range(n, 8, 99);
}

static bool stop(void *context, const struct sb_progress_report *r)
{
    (void)context;
    return r->done == 0;
}

static void unpacking_can_be_canceled(void **state)
{
    (void)state;
    struct archive a = {0};
    struct sb_progress p = {.report = stop};
    make_set(&a);
    put("a.tar", a.bytes, a.used);
    refused(sb_extract_tar("a.tar", "out", 100, &p), SB_ECANCELED,
            "unpack: canceled on request");
    assert_false(sb_file_exists("out/labels.txt"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(files_and_directories_are_read),
        TEST(long_names_are_read),
        TEST(a_sink_that_refuses_is_heard),
        TEST(paths_that_lead_out_are_refused),
        TEST(links_and_devices_are_refused),
        TEST(sizes_are_checked),
        TEST(damaged_extended_headers_are_refused),
        TEST(every_cut_is_noticed),
        TEST(every_damaged_header_is_refused),
        TEST(archives_are_unpacked),
        TEST(a_cut_gzip_is_refused),
        TEST(unpacking_survives_failing_allocations),
        TEST(unpacking_can_be_canceled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
