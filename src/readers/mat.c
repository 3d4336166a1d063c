/* mat - MATLAB 5 files with examples and labels: SVHN, and others like it.
 *
 *     X, x or data   [height][width][channels][n] uint8   images, as SVHN has them
 *                    [height][width][n] uint8             grey images
 *                    [n][features], any real type         a table
 *     y or labels    [n][1] or [1][n]                     whole numbers from 0
 *
 * MATLAB's first dimension varies fastest, so an image lies there column by column. Labels
 * are taken as they are: a file that counts from 1 has a class 0 without examples. Only
 * where images are 32 x 32 x 3 and all labels from 1 to 10 it is SVHN, whose 10 is the
 * digit 0. A directory has one file for each part, named train... and test..., .mat.
 */
#include <dirent.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "files/mat5.h"
#include "readers/listing.h"
#include "readers/readers.h"

enum {
    SIDE_MOST = 1 << 14,
    FEATURES_MOST = 1 << 24,
    CLASSES_MOST = 1 << 16,
    SVHN_SIDE = 32,
    SVHN_CLASSES = 10,
    PIECE = 512 /* numbers of a column at once */
};

static const char *const svhn_names[] = {"0", "1", "2", "3", "4",
                                         "5", "6", "7", "8", "9"};

/* The labels as they come: before or after the examples. */
struct labels {
    uint32_t *value; /* [count] owned */
    uint32_t count, least, most;
};

/* ---- which file ---- */

static bool ends_with_mat(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".mat") == 0;
}

/* *files of a directory are this part's; out = the path of the bytewise first one. */
static sb_status find_file(const char *directory, enum sb_split split, size_t *files,
                           char out[SB_PATH_BYTES])
{
    char first[256] = "";
    const char *begin = sb_split_name(split);
    DIR *d = opendir(directory);
    *files = 0;
    if (!d)
        return sb_fail(SB_EIO, "cannot read %s", directory);
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (strncmp(e->d_name, begin, strlen(begin)) != 0 || !ends_with_mat(e->d_name))
            continue;
        if ((*files)++ == 0 || strcmp(e->d_name, first) < 0)
            memcpy(first, e->d_name, strlen(e->d_name) + 1);
    }
    closedir(d);
    return *files ? sb_path_join(out, directory, first) : SB_OK;
}

static bool probe(const struct sb_probe *p)
{
    char path[SB_PATH_BYTES];
    size_t train = 0, test = 0;
    if (!p->directory)
        return ends_with_mat(p->path) ||
               (p->have >= 6 && memcmp(p->head, "MATLAB", 6) == 0);
    return find_file(p->path, SB_SPLIT_TRAIN, &train, path) == SB_OK &&
           find_file(p->path, SB_SPLIT_TEST, &test, path) == SB_OK && train + test > 0;
}

static sb_status choose_file(const struct sb_probe *p, enum sb_split split,
                             char out[SB_PATH_BYTES])
{
    size_t files, size = strlen(p->path) + 1;
    const char *part = sb_split_name(split);
    if (!p->directory) {
        if (size > SB_PATH_BYTES)
            return sb_fail(SB_EARG, "a path of %zu bytes is too long", size - 1);
        memcpy(out, p->path, size);
        return SB_OK;
    }
    sb_status st = find_file(p->path, split, &files, out);
    if (st == SB_OK && files == 0)
        st = sb_fail(SB_EIO, "there is no %s*.mat in %s: it has no %s split", part,
                     p->path, part);
    if (st == SB_OK && files > 1)
        st = sb_fail(SB_EARG, "%zu files in %s are named %s*.mat; want one, keep one",
                     files, p->path, part);
    return st;
}

/* ---- examples ---- */

static sb_status no_memory(const struct sb_mat_var *v)
{
    return sb_fail(SB_ENOMEM, "%s: no memory for %s", v->file->path, v->name);
}

/* planes[count][height][width] from columns. */
static sb_status read_planes(struct sb_mat_var *v, uint8_t *to, size_t count,
                             uint32_t height, uint32_t width)
{
    size_t size = (size_t)height * width;
    sb_status st = SB_OK;
    uint8_t *plane = sb_malloc(size, 1); /* [width][height] */
    if (!plane)
        return no_memory(v);
    for (size_t k = 0; k < count && st == SB_OK; k++, to += size) {
        st = sb_mat_bytes(v, plane, size);
        for (uint32_t y = 0; y < height && st == SB_OK; y++)
            for (uint32_t x = 0; x < width; x++)
                to[(size_t)y * width + x] = plane[(size_t)x * height + y];
    }
    sb_free(plane);
    return st;
}

static sb_status read_images(struct sb_dataset *d, struct sb_mat_var *v)
{
    bool grey = v->dims == 3;
    d->height = v->dim[0];
    d->width = v->dim[1];
    d->channels = grey ? 1 : v->dim[2];
    d->n = grey ? v->dim[2] : v->dim[3];
    if (v->count == 0 || d->height > SIDE_MOST || d->width > SIDE_MOST ||
        d->channels > SIDE_MOST)
        return sb_fail(SB_EFORMAT,
                       "%s: %s has %u images of %u x %u x %u; each number must be from 1 "
                       "to %d",
                       v->file->path, v->name, d->n, d->channels, d->height, d->width,
                       SIDE_MOST);
    d->copy = sb_malloc((size_t)v->count, 1);
    if (!d->copy)
        return no_memory(v);
    d->images = d->copy;
    return read_planes(v, d->copy, (size_t)d->n * d->channels, d->height, d->width);
}

static sb_status read_table(struct sb_dataset *d, struct sb_mat_var *v)
{
    double piece[PIECE];
    d->element = SB_FLOATS;
    d->n = v->dim[0];
    d->channels = v->dim[1];
    d->height = d->width = 1;
    if (v->count == 0 || d->channels > FEATURES_MOST)
        return sb_fail(SB_EFORMAT, "%s: %s has %u rows of %u; want 1 to %d numbers a row",
                       v->file->path, v->name, d->n, d->channels, FEATURES_MOST);
    float *to = d->copy = sb_malloc((size_t)v->count, sizeof(float));
    if (!to)
        return no_memory(v);
    d->values = to;
    for (uint32_t c = 0; c < d->channels; c++)
        for (uint32_t i = 0, got; i < d->n; i += got) {
            got = d->n - i < PIECE ? d->n - i : PIECE;
            sb_status st = sb_mat_doubles(v, piece, got);
            if (st != SB_OK)
                return st;
            for (uint32_t k = 0; k < got; k++) {
                float x = (float)piece[k];
                if (!isfinite(x))
                    return sb_fail(SB_EFORMAT,
                                   "%s: %s(%u,%u) is not finite as a 32-bit float",
                                   v->file->path, v->name, i + k + 1, c + 1);
                to[(size_t)(i + k) * d->channels + c] = x;
            }
        }
    return SB_OK;
}

static sb_status read_examples(struct sb_dataset *d, struct sb_mat_var *v)
{
    if (d->copy)
        return sb_fail(SB_EFORMAT,
                       "%s: %s is a second variable of examples; keep one of X, x, data",
                       v->file->path, v->name);
    if (v->numeric && v->dims == 2)
        return read_table(d, v);
    if (v->numeric && v->bytes)
        return read_images(d, v);
    return sb_fail(SB_EFORMAT,
                   "%s: %s is neither a matrix of real numbers nor uint8 images of "
                   "[height][width][channels][n]",
                   v->file->path, v->name);
}

/* ---- labels ---- */

static sb_status take_label(struct labels *l, const struct sb_mat_var *v, uint32_t i,
                            double x)
{
    if (!(x >= 0 && x < CLASSES_MOST) || x != floor(x))
        return sb_fail(SB_EFORMAT, "%s: %s(%u) is %g; want whole numbers from 0 to %d",
                       v->file->path, v->name, i + 1, x, CLASSES_MOST - 1);
    uint32_t label = (uint32_t)x;
    l->value[i] = label;
    l->least = i == 0 || label < l->least ? label : l->least;
    l->most = i == 0 || label > l->most ? label : l->most;
    return SB_OK;
}

static sb_status read_labels(struct labels *l, struct sb_mat_var *v)
{
    double piece[PIECE];
    if (l->value)
        return sb_fail(SB_EFORMAT,
                       "%s: %s is a second variable of labels; keep one of y, labels",
                       v->file->path, v->name);
    if (!v->numeric || v->dims != 2 || (v->dim[0] != 1 && v->dim[1] != 1))
        return sb_fail(SB_EFORMAT, "%s: %s is not a row or column of real numbers",
                       v->file->path, v->name);
    l->count = (uint32_t)v->count;
    l->value = sb_malloc(l->count, sizeof *l->value);
    if (!l->value)
        return no_memory(v);
    sb_status st = SB_OK;
    for (uint32_t i = 0, got; i < l->count && st == SB_OK; i += got) {
        got = l->count - i < PIECE ? l->count - i : PIECE;
        st = sb_mat_doubles(v, piece, got);
        for (uint32_t k = 0; k < got && st == SB_OK; k++)
            st = take_label(l, v, i + k, piece[k]);
    }
    return st;
}

/* l becomes d's. */
static sb_status use_labels(struct sb_dataset *d, struct labels *l)
{
    d->labels = l->value;
    l->value = NULL;
    bool svhn = d->images && d->channels == 3 && d->height == SVHN_SIDE &&
                d->width == SVHN_SIDE && l->least >= 1 && l->most <= SVHN_CLASSES;
    d->classes = l->most + 1 > 2 ? l->most + 1 : 2;
    if (!svhn)
        return SB_OK;
    for (uint32_t i = 0; i < d->n; i++)
        d->labels[i] %= SVHN_CLASSES;
    d->classes = SVHN_CLASSES;
    d->format = "svhn";
    return sb_names_copy(d, svhn_names);
}

/* ---- the file ---- */

static sb_status read_variable(struct sb_dataset *d, struct labels *l,
                               struct sb_mat_var *v)
{
    bool examples = strcmp(v->name, "X") == 0 || strcmp(v->name, "x") == 0 ||
                    strcmp(v->name, "data") == 0;
    bool labels = strcmp(v->name, "y") == 0 || strcmp(v->name, "labels") == 0;
    if (!examples && !labels)
        return SB_OK;
    sb_status st = examples ? read_examples(d, v) : read_labels(l, v);
    return st == SB_OK ? sb_mat_end(v) : st;
}

static sb_status read_variables(struct sb_dataset *d, struct labels *l, struct sb_mat *m)
{
    struct sb_mat_var v;
    bool end = false;
    sb_status st = SB_OK;
    while (st == SB_OK && !end) {
        st = sb_mat_next(m, &v, &end);
        if (st != SB_OK || end)
            break;
        st = read_variable(d, l, &v);
        sb_mat_close(&v);
    }
    return st;
}

static sb_status fit_together(struct sb_dataset *d, struct labels *l, const char *path,
                              const struct sb_open_options *o)
{
    if (!d->copy)
        return sb_fail(SB_EFORMAT, "%s has no variable X, x or data with the examples",
                       path);
    if (!l->value && o->unlabelled)
        return SB_OK;
    if (!l->value)
        return sb_fail(SB_EFORMAT, "%s has no variable y or labels", path);
    if (l->count != d->n)
        return sb_fail(SB_EFORMAT,
                       "%s has %u examples, but %u labels; they do not belong together",
                       path, d->n, l->count);
    return use_labels(d, l);
}

static sb_status open_mat(struct sb_dataset *d, const struct sb_probe *p,
                          const struct sb_open_options *o)
{
    char path[SB_PATH_BYTES];
    struct sb_map map = {0};
    struct sb_mat m;
    struct labels l = {0};
    const char *part = sb_split_name(o->split);
    d->format = sb_reader_mat.name;
    d->whole =
        !p->directory && strncmp(sb_reader_basename(p->path), part, strlen(part)) != 0;
    sb_status st = choose_file(p, o->split, path);
    if (st == SB_OK)
        st = sb_map_open(&map, path);
    if (st == SB_OK)
        st = sb_mat_open(&m, path, map.data, map.size);
    if (st == SB_OK)
        st = read_variables(d, &l, &m);
    if (st == SB_OK)
        st = fit_together(d, &l, path, o);
    sb_free(l.value);
    sb_map_close(&map);
    return st;
}

const struct sb_reader sb_reader_mat = {
    .name = "mat",
    .wanted = "train_32x32.mat (SVHN) or others of MATLAB",
    .probe = probe,
    .open = open_mat,
};
