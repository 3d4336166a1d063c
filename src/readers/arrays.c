/* arrays - data sets of NumPy arrays: an .npy file, an .npz archive, or a directory.
 *
 *     with parts      x_train y_train x_test y_test        (also X_..., and MedMNIST's
 *                     train_images train_labels ...)
 *     in one          x y   (also X y, images labels, data labels)
 *
 * Each is a member name.npy of the archive, or a file name.npy[.gz] of the directory. One
 * .npy file has its labels beside it, under its name with x, X, images or data replaced.
 */
#include <stdio.h>
#include <string.h>

#include "data/targets.h"
#include "files/zip.h"
#include "readers/npy.h"
#include "readers/readers.h"

static const struct {
    const char *x[2], *y[2]; /* by split */
} parts[] = {
    {{"x_train", "x_test"}, {"y_train", "y_test"}},
    {{"X_train", "X_test"}, {"y_train", "y_test"}},
    {{"train_images", "test_images"}, {"train_labels", "test_labels"}},
};
enum { PARTS = sizeof parts / sizeof *parts };

static const struct {
    const char *x, *y;
} wholes[] = {{"x", "y"}, {"X", "y"}, {"images", "labels"}, {"data", "labels"}};
enum { WHOLES = sizeof wholes / sizeof *wholes };

/* An array's bytes, and what messages call it. */
struct array {
    struct sb_bytes bytes;
    char name[SB_PATH_BYTES];
    struct sb_npy npy;
};

static bool is_zip(const struct sb_probe *p)
{
    return p->have >= 4 && memcmp(p->head, "PK\3\4", 4) == 0;
}

static bool is_npy(const struct sb_probe *p)
{
    return p->have >= 6 && memcmp(p->head, "\x93NUMPY", 6) == 0;
}

/* ---- one array ---- */

static sb_status open_file(struct array *a, const char *path)
{
    size_t most = 0; /* of a compressed file: what its header says */
    snprintf(a->name, sizeof a->name, "%s", path);
    sb_status st = sb_npy_file_size(a->name, &most);
    return st == SB_OK ? sb_bytes_open(&a->bytes, path, most) : st;
}

static sb_status find_bytes(struct array *a, const struct sb_probe *p, const char *name,
                            bool *found)
{
    char file[64], path[SB_PATH_BYTES];
    snprintf(file, sizeof file, "%s.npy", name);
    if (p->directory) {
        *found = sb_reader_locate(p->path, file, path);
        return *found ? open_file(a, path) : SB_OK;
    }
    sb_status st = sb_path_join(a->name, p->path, file);
    return st == SB_OK ? sb_zip_open(&a->bytes, p->path, file, found) : st;
}

/* *found: whether the archive or directory has it. */
static sb_status find_array(struct array *a, const struct sb_probe *p, const char *name,
                            bool *found)
{
    a->bytes = (struct sb_bytes){0};
    *found = false;
    sb_status st = find_bytes(a, p, name, found);
    if (st == SB_OK && *found)
        st = sb_npy_parse(&a->npy, a->name, a->bytes.data, a->bytes.size);
    if (st != SB_OK)
        sb_bytes_close(&a->bytes);
    return st;
}

/* ---- a pair ---- */

/* Takes a's bytes over if the examples stay in them. */
static sb_status take_examples(struct sb_dataset *d, struct array *a, bool impute)
{
    const struct sb_npy *x = &a->npy;
    sb_status st = sb_npy_examples(d, x, 0, x->dims > 0 ? x->shape[0] : 0, impute);
    if (st == SB_OK && !d->copy) {
        d->file = a->bytes;
        a->bytes = (struct sb_bytes){0};
    }
    return st;
}

/* A test part has what the training part has. */
static enum sb_task task_of(const struct sb_open_options *o)
{
    if (!o->like || !sb_dataset_labelled(o->like))
        return o->task;
    return o->like->targets ? SB_TASK_OUTCOMES : SB_TASK_CLASSES;
}

static sb_status take_labels(struct sb_dataset *d, const struct array *a,
                             const char *examples, const struct sb_open_options *o)
{
    const struct sb_npy *y = &a->npy;
    if (y->dims > 0 && y->shape[0] != d->n)
        return sb_fail(SB_EFORMAT,
                       "%s has %llu labels, but %s has %u examples; they do not belong "
                       "together",
                       a->name, (unsigned long long)y->shape[0], examples, d->n);
    sb_status st = sb_npy_responses(d, y, task_of(o));
    return st == SB_OK && d->targets && !o->like && !o->unlabelled ? sb_targets_check(d)
                                                                   : st;
}

static sb_status open_labels(struct sb_dataset *d, const struct sb_probe *p,
                             const char *name, const struct array *x,
                             const struct sb_open_options *o)
{
    struct array y;
    bool found;
    sb_status st = find_array(&y, p, name, &found);
    if (st != SB_OK)
        return st;
    if (!found)
        return o->unlabelled
                   ? SB_OK
                   : sb_fail(SB_EIO, "%s has no labels: there is no %s.npy in %s",
                             x->name, name, p->path);
    st = take_labels(d, &y, x->name, o);
    sb_bytes_close(&y.bytes);
    return st;
}

/* Of a training set whose rows do not all count the same. */
static sb_status open_weights(struct sb_dataset *d, const struct sb_probe *p,
                              const char *name)
{
    struct array w;
    bool found;
    sb_status st = find_array(&w, p, name, &found);
    if (st != SB_OK)
        return st;
    if (!found)
        return sb_fail(SB_EARG, "data.weight = %s: there is no %s.npy in %s", name, name,
                       p->path);
    st = sb_npy_weights(d, &w.npy);
    sb_bytes_close(&w.bytes);
    return st;
}

/* ---- an archive or a directory ---- */

/* Of the names above, those that are there. */
struct choice {
    const char *x, *y;
    bool whole;
};

static sb_status choose(struct choice *c, const struct sb_probe *p, enum sb_split split,
                        struct array *x)
{
    bool found = false;
    sb_status st = SB_OK;
    for (size_t i = 0; i < PARTS && !found && st == SB_OK; i++) {
        *c = (struct choice){.x = parts[i].x[split], .y = parts[i].y[split]};
        st = find_array(x, p, c->x, &found);
    }
    for (size_t i = 0; i < WHOLES && !found && st == SB_OK; i++) {
        *c = (struct choice){.x = wholes[i].x, .y = wholes[i].y, .whole = true};
        st = find_array(x, p, c->x, &found);
    }
    if (st == SB_OK && !found)
        st = sb_fail(SB_EFORMAT,
                     "%s: there is no %s.npy in it (nor X_%s, %s_images, x, X, images or "
                     "data)",
                     p->path, parts[0].x[split], sb_split_name(split),
                     sb_split_name(split));
    return st;
}

static sb_status open_named(struct sb_dataset *d, const struct sb_probe *p,
                            const struct sb_open_options *o)
{
    struct array x = {0};
    struct choice c;
    sb_status st = choose(&c, p, o->split, &x);
    if (st != SB_OK)
        return st;
    d->whole = c.whole;
    st = take_examples(d, &x, o->impute);
    if (st == SB_OK)
        st = open_labels(d, p, c.y, &x, o);
    if (st == SB_OK && o->weight && *o->weight && o->split == SB_SPLIT_TRAIN)
        st = open_weights(d, p, o->weight);
    sb_bytes_close(&x.bytes);
    return st;
}

/* ---- one .npy file ---- */

/* out = what to call the label file of an example file, without .npy and directory. */
static bool label_name(const char *base, char out[SB_PATH_BYTES])
{
    static const char *const from[] = {"images", "data"};
    size_t n = strcspn(base, ".");
    snprintf(out, SB_PATH_BYTES, "%.*s", (int)n, base);
    for (size_t i = 0; i < 2; i++) {
        const char *at = strstr(out, from[i]);
        if (at) {
            char rest[SB_PATH_BYTES];
            snprintf(rest, sizeof rest, "%s", at + strlen(from[i]));
            snprintf(out + (at - out), SB_PATH_BYTES - (size_t)(at - out), "labels%s",
                     rest);
            return true;
        }
    }
    bool x = out[0] == 'x' || out[0] == 'X';
    if (x)
        out[0] = 'y';
    return x;
}

static sb_status open_beside(struct sb_dataset *d, const char *path,
                             const struct array *x, const struct sb_open_options *o)
{
    const char *base = sb_reader_basename(path);
    char directory[SB_PATH_BYTES], name[SB_PATH_BYTES], file[SB_PATH_BYTES];
    struct array y = {0};
    if (strlen(path) + 8 >= SB_PATH_BYTES)
        return sb_fail(SB_EARG, "a path of %zu bytes is too long", strlen(path));
    snprintf(directory, sizeof directory, "%.*s", (int)(base - path), path);
    bool known = label_name(base, name);
    size_t used = strlen(name);
    snprintf(name + used, sizeof name - used, ".npy");
    if (!known || !sb_reader_locate(directory, name, file))
        return o->unlabelled
                   ? SB_OK
                   : sb_fail(SB_EIO, "%s has no labels: %s%s", x->name,
                             known ? "there is no " : "name it x.npy and them y.npy",
                             known ? file : "");
    sb_status st = open_file(&y, file);
    if (st == SB_OK)
        st = sb_npy_parse(&y.npy, y.name, y.bytes.data, y.bytes.size);
    if (st == SB_OK)
        st = take_labels(d, &y, x->name, o);
    sb_bytes_close(&y.bytes);
    return st;
}

static sb_status open_single(struct sb_dataset *d, const struct sb_probe *p,
                             const struct sb_open_options *o)
{
    struct array x = {0};
    sb_status st = open_file(&x, p->path);
    if (st == SB_OK)
        st = sb_npy_parse(&x.npy, x.name, x.bytes.data, x.bytes.size);
    if (st == SB_OK)
        st = take_examples(d, &x, o->impute);
    if (st == SB_OK)
        st = open_beside(d, p->path, &x, o);
    sb_bytes_close(&x.bytes);
    d->whole = true;
    return st;
}

/* ---- the reader ---- */

static bool directory_has(const char *directory, const char *name)
{
    char file[64], path[SB_PATH_BYTES];
    snprintf(file, sizeof file, "%s.npy", name);
    return sb_reader_locate(directory, file, path);
}

static bool probe(const struct sb_probe *p)
{
    if (!p->directory)
        return is_zip(p) || is_npy(p);
    for (size_t i = 0; i < PARTS; i++)
        if (directory_has(p->path, parts[i].x[0]) ||
            directory_has(p->path, parts[i].x[1]))
            return true;
    for (size_t i = 0; i < WHOLES; i++)
        if (directory_has(p->path, wholes[i].x))
            return true;
    return false;
}

static sb_status open_arrays(struct sb_dataset *d, const struct sb_probe *p,
                             const struct sb_open_options *o)
{
    bool single = !p->directory && is_npy(p);
    d->format = !p->directory && is_zip(p) ? "npz" : "npy";
    sb_status st = single ? open_single(d, p, o) : open_named(d, p, o);
    char names[SB_PATH_BYTES];
    if (st == SB_OK && p->directory && d->labels &&
        sb_reader_locate(p->path, "class_names.txt", names))
        st = sb_names_read_all(d, names);
    return st;
}

const struct sb_reader sb_reader_arrays = {
    .name = "arrays",
    .wanted = "x_train.npy or x.npy (NumPy), also in an .npz",
    .probe = probe,
    .open = open_arrays,
};
