/* reader - adding a data format: docs/extending.md quotes this file, and this test opens
 * files of it.
 *
 * "dots": DOTS, then a byte each of n, height, width, classes, then n labels, then n grey
 * images of height x width bytes.
 */
#include "data_fixture.h"

/* ---- the format ---------------------------------------------------------------------- */

enum { HEADER = 8 };

static bool probe(const struct sb_probe *p)
{
    return p->have >= 4 && memcmp(p->head, "DOTS", 4) == 0;
}

static sb_status read_labels(struct sb_dataset *d, const char *path)
{
    d->labels = sb_malloc(d->n, sizeof *d->labels);
    if (!d->labels)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u labels", path, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        d->labels[i] = d->file.data[HEADER + i];
        if (d->labels[i] >= d->classes)
            return sb_fail(SB_EFORMAT, "%s: image %u has label %u of %u classes", path, i,
                           d->labels[i], d->classes);
    }
    return SB_OK;
}

/* The images stay where they are in the file. A failure leaves d to the caller. */
static sb_status open_dots(struct sb_dataset *d, const struct sb_probe *p,
                           const struct sb_open_options *o)
{
    (void)o; /* one file, no parts: whatever split is asked for */
    sb_status st = sb_bytes_open(&d->file, p->path, 1 << 24);
    if (st != SB_OK)
        return st;
    const unsigned char *head = d->file.data;
    if (d->file.size < HEADER)
        return sb_fail(SB_EFORMAT, "%s: ends within its header", p->path);
    d->n = head[4];
    d->channels = 1;
    d->height = head[5];
    d->width = head[6];
    d->classes = head[7];
    size_t want = HEADER + (size_t)d->n * (1 + (size_t)d->height * d->width);
    if (d->n == 0 || d->height == 0 || d->width == 0 || d->classes < 2 ||
        d->file.size != want)
        return sb_fail(
            SB_EFORMAT, "%s: %u images of %u x %u in %u classes make %zu bytes, have %zu",
            p->path, d->n, d->height, d->width, d->classes, want, d->file.size);
    d->format = "dots";
    d->whole = true;
    d->images = head + HEADER + d->n;
    return read_labels(d, p->path);
}

const struct sb_reader sb_reader_dots = {
    .name = "dots",
    .wanted = "a file that begins with DOTS",
    .probe = probe,
    .open = open_dots,
};

/* ---- its test ------------------------------------------------------------------------ */

static const struct sb_reader *const two[] = {&sb_reader_dots, &sb_reader_csv};
static const struct sb_reader_list readers = {two, 2};
static const struct sb_open_options all = {.split = SB_SPLIT_TRAIN};

static void a_file_opens(void **state)
{
    (void)state;
    struct sb_dataset d;
    put("set", "DOTS\2\1\3\2\0\1abcdef", 16);
    assert_int_equal(sb_reader_open(&readers, &d, "set", &all), SB_OK);
    assert_int_equal(d.n, 2);
    assert_int_equal(d.labels[1], 1);
    assert_memory_equal(d.images, "abcdef", 6);
    sb_dataset_fini(&d);
}

static void others_are_asked_next(void **state)
{
    (void)state;
    struct sb_dataset d;
    put("t.csv", "1,a\n2,b\n", 8);
    assert_int_equal(sb_reader_open(&readers, &d, "t.csv", &all), SB_OK);
    assert_string_equal(d.format, "csv");
    sb_dataset_fini(&d);
}

static void damage_is_a_sentence(void **state)
{
    (void)state;
    struct sb_dataset d;
    put("set", "DOTS\2\1", 6);
    refused(sb_reader_open(&readers, &d, "set", &all), SB_EFORMAT,
            "set: ends within its header");
    put("set", "DOTS\2\1\3\2\0\1abcde", 15);
    refused(sb_reader_open(&readers, &d, "set", &all), SB_EFORMAT,
            "set: 2 images of 1 x 3 in 2 classes make 16 bytes, have 15");
    put("set", "DOTS\2\1\3\2\0\2abcdef", 16);
    refused(sb_reader_open(&readers, &d, "set", &all), SB_EFORMAT,
            "set: image 1 has label 2 of 2 classes");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(a_file_opens), TEST(others_are_asked_next),
                                       TEST(damage_is_a_sentence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
