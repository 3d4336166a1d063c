/* convert - see convert.h. */
#include "data/convert.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/columns.h"
#include "data/reader.h"
#include "files/npy_write.h"

enum { NAME_BYTES = 32 };

/* out = directory/kind_split.npy, or directory/kind.npy. */
static sb_status name_file(const struct sb_dataset *d, enum sb_split split,
                           const char *directory, const char *kind,
                           char out[SB_PATH_BYTES])
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s%s%s.npy", kind, d->whole ? "" : "_",
             d->whole ? "" : sb_split_name(split));
    return sb_path_join(out, directory, name);
}

/* to[height][width][channels] = from[channels][height][width], elements of size bytes. */
static void interleave(const struct sb_dataset *d, size_t size, const unsigned char *from,
                       unsigned char *to)
{
    size_t plane = (size_t)d->height * d->width;
    for (size_t k = 0; k < plane; k++)
        for (uint32_t c = 0; c < d->channels; c++) {
            memcpy(to, from + (c * plane + k) * size, size);
            to += size;
        }
}

/* A table's row with a column a text of each category; a number that is missing is NAN. */
static void spread_row(const struct sb_columns *c, const float *row, float *to)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const struct sb_column *column = &c->column[i];
        bool category = column->kind == SB_COLUMN_CATEGORY;
        for (uint32_t k = 0; sb_column_has_input(column) && k < column->width; k++)
            *to++ = !category                        ? row[column->input]
                    : row[column->input] == (float)k ? 1.0f
                                                     : 0.0f;
    }
}

/* Appends every example; row and buffer have space for one. */
static sb_status append_all(const struct sb_dataset *d, struct sb_npy_writer *w,
                            unsigned char *row, uint8_t *buffer)
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; i < d->n && st == SB_OK; i++) {
        const uint8_t *image;
        if (d->element == SB_FLOATS) {
            const float *x = d->values + i * sb_dataset_elements(d);
            if (d->columns)
                spread_row(d->columns, x, (float *)(void *)row);
            else
                interleave(d, sizeof *x, (const unsigned char *)x, row);
        } else {
            st = sb_dataset_image(d, i, buffer, &image);
            if (st == SB_OK)
                interleave(d, 1, image, row);
        }
        if (st == SB_OK)
            st = sb_npy_append(w, row, 1);
    }
    return st;
}

static sb_status write_x(const struct sb_dataset *d, const char *path)
{
    uint64_t image[] = {d->n, d->height, d->width, d->channels};
    uint64_t row_of[] = {d->n, d->columns ? d->columns->features : d->channels};
    bool table = sb_dataset_tabular(d);
    size_t n = d->columns ? d->columns->features : sb_dataset_elements(d);
    struct sb_npy_writer w = {0};
    unsigned char *row = sb_malloc(n, sizeof(float));
    uint8_t *buffer = sb_malloc(d->fetch ? n : 1, 1);
    sb_status st = row && buffer ? SB_OK : sb_fail(SB_ENOMEM, "no memory for an example");
    if (st == SB_OK)
        st = sb_npy_create(&w, path, d->element == SB_BYTES ? SB_NPY_U8 : SB_NPY_F32,
                           table ? row_of : image, table ? 2 : 4);
    if (st == SB_OK)
        st = append_all(d, &w, row, buffer);
    if (st == SB_OK)
        st = sb_npy_finish(&w);
    sb_npy_abort(&w);
    sb_free(row);
    sb_free(buffer);
    return st;
}

static sb_status write_y(const struct sb_dataset *d, const char *path)
{
    uint64_t shape = d->n;
    struct sb_npy_writer w;
    sb_status st = sb_npy_create(&w, path, SB_NPY_I64, &shape, 1);
    for (uint32_t i = 0; i < d->n && st == SB_OK; i++) {
        int64_t label = d->labels[i];
        st = sb_npy_append(&w, &label, 1);
    }
    if (st == SB_OK)
        st = sb_npy_finish(&w);
    sb_npy_abort(&w);
    return st;
}

/* Continuous targets: [n], or [n][targets] of several. */
static sb_status write_targets(const struct sb_dataset *d, const char *path)
{
    const uint64_t shape[] = {d->n, d->target_count};
    struct sb_npy_writer w;
    sb_status st =
        sb_npy_create(&w, path, SB_NPY_F32, shape, d->target_count > 1 ? 2 : 1);
    for (uint32_t i = 0; i < d->n && st == SB_OK; i++)
        st = sb_npy_append(&w, d->targets + (size_t)i * d->target_count, 1);
    if (st == SB_OK)
        st = sb_npy_finish(&w);
    sb_npy_abort(&w);
    return st;
}

static sb_status write_names(const struct sb_dataset *d, const char *directory)
{
    char path[SB_PATH_BYTES];
    struct sb_text t = {0};
    char *text;
    sb_status st = sb_path_join(path, directory, "class_names.txt");
    if (st != SB_OK)
        return st;
    for (uint32_t c = 0; c < d->classes; c++)
        sb_text_add(&t, "%s\n", d->class_names[c]);
    st = sb_text_take(&t, &text);
    if (st == SB_OK)
        st = sb_file_put(path, text, strlen(text));
    sb_free(text);
    return st;
}

/* What is converted is not written over: it would be lost if we were killed on the way. */
static sb_status check_other(const struct sb_dataset *d, const char *path)
{
    struct sb_stamp from, to;
    if (!d->path || !sb_stamp_of(d->path, &from) || !sb_stamp_of(path, &to) ||
        from.device != to.device || from.number != to.number)
        return SB_OK;
    return sb_fail(SB_EARG, "%s is what is to be converted; give another directory",
                   path);
}

sb_status sb_convert_npy(const struct sb_dataset *d, enum sb_split split,
                         const char *directory)
{
    char x[SB_PATH_BYTES], y[SB_PATH_BYTES];
    sb_status st = name_file(d, split, directory, "x", x);
    if (st == SB_OK)
        st = name_file(d, split, directory, "y", y);
    if (st == SB_OK)
        st = check_other(d, directory);
    if (st == SB_OK)
        st = check_other(d, x);
    if (st == SB_OK)
        st = sb_file_make_directory(directory);
    if (st == SB_OK)
        (void)remove(y); /* labels of other examples never lie beside these */
    if (st == SB_OK)
        st = write_x(d, x);
    if (st == SB_OK && d->labels)
        st = write_y(d, y);
    if (st == SB_OK && d->targets)
        st = write_targets(d, y);
    if (st == SB_OK && d->class_names)
        st = write_names(d, directory);
    return st;
}
