/* corrupt_set - see corrupt_set.h. Images pass in blocks: read, corrupted on all threads,
 * interleaved, written. */
#include "corrupt/corrupt_set.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "corrupt/corrupt.h"
#include "data/sheet.h"
#include "files/npy_write.h"

enum { IMAGES = 256, BLOCK_BYTES = 1 << 26, NAME_BYTES = 64 };

sb_status sb_corrupt_set_kinds(const char *text, bool kinds[SB_CORRUPTIONS])
{
    bool all = strcmp(text, "all") == 0;
    for (int k = 0; k < SB_CORRUPTIONS; k++)
        kinds[k] = all;
    while (!all) {
        char name[NAME_BYTES];
        size_t n = strcspn(text, ",");
        enum sb_corruption kind;
        snprintf(name, sizeof name, "%.*s", (int)(n < NAME_BYTES ? n : NAME_BYTES - 1),
                 text);
        sb_status st = sb_corruption_find(name, &kind);
        if (st != SB_OK)
            return st;
        kinds[kind] = true;
        if (text[n] == '\0')
            break;
        text += n + 1;
    }
    return SB_OK;
}

/* ---- one run ---- */

struct run {
    const struct sb_corrupt_set *set;
    struct sb_corrupt *corrupt;
    uint32_t block; /* images at a time: IMAGES, or fewer if they are large */
    uint8_t *clean; /* [block][channels][height][width], like the next one */
    uint8_t *bad;
    uint8_t *mixed; /* [block][height][width][channels] */
};

static void run_fini(struct run *r)
{
    sb_free(r->mixed);
    sb_free(r->bad);
    sb_free(r->clean);
    sb_corrupt_free(r->corrupt);
}

static sb_status run_init(struct run *r, const struct sb_corrupt_set *s,
                          const struct sb_env *env)
{
    const struct sb_dataset *d = s->data;
    *r = (struct run){.set = s};
    if (d->element != SB_BYTES)
        return sb_fail(
            SB_EARG, "%s has numbers, not images; only images can be corrupted", d->path);
    if (s->first < 1 || s->first > s->last || s->last > SB_SEVERITIES)
        return sb_fail(SB_EARG, "severities %u to %u; want some of 1 to %d", s->first,
                       s->last, SB_SEVERITIES);
    sb_status st = sb_corrupt_new(&r->corrupt, env, d->channels, d->height, d->width);
    /* If libjpeg is missing, that is said before the other kinds are written. */
    if (st == SB_OK && s->kinds[SB_JPEG_COMPRESSION])
        st = sb_corrupt_choose(r->corrupt, SB_JPEG_COMPRESSION, s->first, s->seed);
    if (st != SB_OK)
        return st;
    size_t size = sb_dataset_elements(d), most = BLOCK_BYTES / size;
    r->block = most < 1 ? 1 : most < IMAGES ? (uint32_t)most : IMAGES;
    r->clean = sb_malloc(r->block, size);
    r->bad = sb_malloc(r->block, size);
    r->mixed = sb_malloc(r->block, size);
    if (!r->clean || !r->bad || !r->mixed)
        return sb_fail(SB_ENOMEM, "no memory for %u images of %zu bytes", r->block, size);
    return SB_OK;
}

/* *out = n images from first on, where they are if they are in memory. */
static sb_status read_block(struct run *r, uint32_t first, uint32_t n,
                            const uint8_t **out)
{
    const struct sb_dataset *d = r->set->data;
    size_t size = sb_dataset_elements(d);
    *out = d->fetch ? r->clean : d->images + first * size;
    for (uint32_t i = 0; d->fetch && i < n; i++) {
        sb_status st = d->fetch(d, first + i, r->clean + i * size);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

static void interleave(const struct sb_dataset *d, const uint8_t *from, uint8_t *to)
{
    size_t plane = (size_t)d->height * d->width;
    for (size_t p = 0; p < plane; p++)
        for (uint32_t c = 0; c < d->channels; c++)
            to[p * d->channels + c] = from[c * plane + p];
}

static sb_status write_block(struct run *r, struct sb_npy_writer *w, uint32_t first,
                             uint32_t n)
{
    const struct sb_dataset *d = r->set->data;
    size_t size = sb_dataset_elements(d);
    const uint8_t *clean;
    sb_status st = read_block(r, first, n, &clean);
    if (st == SB_OK)
        st = sb_corrupt_images(r->corrupt, first, n, clean, r->bad);
    for (uint32_t i = 0; i < n; i++)
        interleave(d, r->bad + i * size, r->mixed + i * size);
    return st == SB_OK ? sb_npy_append(w, r->mixed, n) : st;
}

static sb_status write_severity(struct run *r, struct sb_npy_writer *w,
                                enum sb_corruption kind, uint32_t severity)
{
    const struct sb_corrupt_set *s = r->set;
    uint32_t n = s->data->n;
    uint64_t before = (uint64_t)(severity - s->first) * n;
    sb_status st = sb_corrupt_choose(r->corrupt, kind, severity, s->seed);
    for (uint32_t i = 0; i < n && st == SB_OK; i += r->block) {
        uint32_t count = n - i < r->block ? n - i : r->block;
        st = write_block(r, w, i, count);
        if (st == SB_OK)
            st = sb_progress_update(s->progress, before + i + count);
    }
    return st;
}

static sb_status path_of(char path[SB_PATH_BYTES], const char *directory,
                         const char *name)
{
    char file[NAME_BYTES];
    snprintf(file, sizeof file, "%s.npy", name);
    return sb_path_join(path, directory, file);
}

static sb_status write_kind(struct run *r, enum sb_corruption kind, const char *directory)
{
    const struct sb_corrupt_set *s = r->set;
    const struct sb_dataset *d = s->data;
    uint64_t rows = (uint64_t)(s->last - s->first + 1) * d->n;
    const uint64_t shape[] = {rows, d->height, d->width, d->channels};
    struct sb_npy_writer w = {0};
    char path[SB_PATH_BYTES];
    sb_status st = path_of(path, directory, sb_corruption_name(kind));
    if (st == SB_OK)
        st = sb_npy_create(&w, path, SB_NPY_U8, shape, 4);
    if (st == SB_OK)
        sb_progress_begin(s->progress, sb_corruption_name(kind), 0, rows);
    for (uint32_t i = s->first; i <= s->last && st == SB_OK; i++)
        st = write_severity(r, &w, kind, i);
    if (st == SB_OK)
        st = sb_npy_finish(&w);
    if (st == SB_OK)
        st = sb_progress_end(s->progress);
    sb_npy_abort(&w);
    return st;
}

/* Bytes if they fit, as in CIFAR-10-C. */
static sb_status append_labels(const struct sb_dataset *d, bool bytes,
                               struct sb_npy_writer *w)
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; i < d->n && st == SB_OK; i++) {
        uint8_t narrow = (uint8_t)d->labels[i];
        int32_t wide = (int32_t)d->labels[i];
        st = sb_npy_append(w, bytes ? (const void *)&narrow : &wide, 1);
    }
    return st;
}

static sb_status write_labels(const struct sb_corrupt_set *s, const char *directory)
{
    const uint64_t rows = (uint64_t)(s->last - s->first + 1) * s->data->n;
    struct sb_npy_writer w = {0};
    bool bytes = s->data->classes <= 256;
    char path[SB_PATH_BYTES];
    sb_status st = path_of(path, directory, "labels");
    if (st == SB_OK)
        st = sb_npy_create(&w, path, bytes ? SB_NPY_U8 : SB_NPY_I32, &rows, 1);
    for (uint32_t i = s->first; i <= s->last && st == SB_OK; i++)
        st = append_labels(s->data, bytes, &w);
    if (st == SB_OK)
        st = sb_npy_finish(&w);
    sb_npy_abort(&w);
    return st;
}

sb_status sb_corrupt_set_write(const struct sb_corrupt_set *s, const struct sb_env *env,
                               const char *directory)
{
    struct run r;
    sb_status st = run_init(&r, s, env);
    if (st == SB_OK)
        st = sb_file_make_directory(directory);
    for (int k = 0; k < SB_CORRUPTIONS && st == SB_OK; k++)
        if (s->kinds[k])
            st = write_kind(&r, (enum sb_corruption)k, directory);
    if (st == SB_OK && s->data->labels)
        st = write_labels(s, directory);
    run_fini(&r);
    return st;
}

/* ---- contact sheet ---- */

static sb_status draw_row(struct run *r, struct sb_sheet *sheet, uint32_t row,
                          enum sb_corruption kind, uint32_t image)
{
    const struct sb_corrupt_set *s = r->set;
    const uint8_t *clean;
    sb_status st = read_block(r, image, 1, &clean);
    if (st != SB_OK)
        return st;
    sb_sheet_name(sheet, row, sb_corruption_name(kind));
    sb_sheet_put(sheet, row, 0, clean);
    for (uint32_t i = s->first; i <= s->last && st == SB_OK; i++) {
        st = sb_corrupt_choose(r->corrupt, kind, i, s->seed);
        if (st == SB_OK)
            st = sb_corrupt_images(r->corrupt, image, 1, clean, r->bad);
        if (st == SB_OK)
            sb_sheet_put(sheet, row, 1 + i - s->first, r->bad);
    }
    return st;
}

sb_status sb_corrupt_set_sheet(const struct sb_corrupt_set *s, const struct sb_env *env,
                               uint32_t image, const char *path)
{
    const struct sb_dataset *d = s->data;
    struct sb_sheet sheet = {0};
    struct run r;
    uint32_t rows = 0, letters = 0;
    for (int k = 0; k < SB_CORRUPTIONS; k++) {
        uint32_t n = (uint32_t)strlen(sb_corruption_name((enum sb_corruption)k));
        rows += s->kinds[k];
        letters = s->kinds[k] && n > letters ? n : letters;
    }
    sb_status st = run_init(&r, s, env);
    if (st == SB_OK && image >= d->n)
        st = sb_fail(SB_EARG, "there is no image %u; the set has %u", image, d->n);
    if (st == SB_OK)
        st = sb_sheet_init(&sheet, rows, s->last - s->first + 2, d->channels, d->height,
                           d->width, letters);
    for (int k = 0, row = 0; k < SB_CORRUPTIONS && st == SB_OK; k++)
        if (s->kinds[k])
            st = draw_row(&r, &sheet, (uint32_t)row++, (enum sb_corruption)k, image);
    if (st == SB_OK)
        st = sb_sheet_write(&sheet, path);
    sb_sheet_fini(&sheet);
    run_fini(&r);
    return st;
}
