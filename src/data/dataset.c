/* dataset - see dataset.h and reader.h: choosing the reader, finding by name, what splits share. */
#include "data/dataset.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "data/catalogue.h"
#include "data/columns.h"
#include "data/reader.h"

/* Debian's dataset-* packages put theirs here. */
static const char debian_directory[] = "/usr/share/datasets";

static const struct {
    const char *name, *directory;
} aliases[] = {
    {"cifar10", "cifar-10-batches-bin"},
    {"cifar-10", "cifar-10-batches-bin"},
    {"cifar100", "cifar-100-binary"},
    {"cifar-100", "cifar-100-binary"},
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

/* ---- what readers share ---- */

const char *sb_split_name(enum sb_split split)
{
    return split == SB_SPLIT_TRAIN ? "train" : "test";
}

const char *sb_reader_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool sb_reader_locate(const char *directory, const char *name, char out[SB_PATH_BYTES])
{
    const char *slash = *directory && directory[strlen(directory) - 1] != '/' ? "/" : "";
    int n = snprintf(out, SB_PATH_BYTES, "%s%s%s.gz", directory, slash, name);
    if (n < 0 || n >= SB_PATH_BYTES) {
        out[0] = '\0';
        return false;
    }
    char *suffix = out + n - 3;
    *suffix = '\0';
    if (sb_file_exists(out)) /* plain wins: it needs no unpacking */
        return true;
    *suffix = '.';
    if (sb_file_exists(out))
        return true;
    *suffix = '\0';
    return false;
}

/* ---- opening ---- */

static sb_status look_at(struct sb_probe *p, const char *path)
{
    struct stat info;
    *p = (struct sb_probe){.path = path};
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        p->directory = true;
        return SB_OK;
    }
    return sb_bytes_head(path, p->head, sizeof p->head, &p->have);
}

static sb_status not_recognised(const struct sb_reader_list *list,
                                const struct sb_probe *p)
{
    char text[768] = "";
    size_t used = 0;
    for (size_t i = 0; i < list->count && used < sizeof text; i++) {
        const char *before = i == 0 ? "" : "; ";
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", before,
                                 list->reader[i]->wanted);
    }
    return sb_fail(SB_EFORMAT, "%s: no data set recognised in this %s; want %s", p->path,
                   p->directory ? "directory" : "file", text);
}

sb_status sb_reader_find(const struct sb_reader_list *list, const char *path,
                         struct sb_probe *p, const struct sb_reader **out)
{
    size_t i = 0;
    *out = NULL;
    sb_status st = look_at(p, path);
    if (st != SB_OK)
        return st;
    while (i < list->count && !list->reader[i]->probe(p))
        i++;
    if (i == list->count)
        return not_recognised(list, p);
    *out = list->reader[i];
    return SB_OK;
}

/* A file that is one split by its name must not pass for the other. */
static sb_status check_name(const char *path, enum sb_split split)
{
    static const char *const begins[2][2] = {{"train", "data_batch"}, {"t10k", "test"}};
    const char *name = sb_reader_basename(path);
    enum sb_split other = split == SB_SPLIT_TRAIN ? SB_SPLIT_TEST : SB_SPLIT_TRAIN;
    for (size_t i = 0; i < 2; i++)
        if (strncmp(name, begins[other][i], strlen(begins[other][i])) == 0)
            return sb_fail(SB_EARG,
                           "%s is a %s file by its name, but the %s split is wanted; "
                           "name the directory to have both",
                           path, sb_split_name(other), sb_split_name(split));
    return SB_OK;
}

static sb_status copy_path(struct sb_dataset *d, const char *path)
{
    size_t size = strlen(path) + 1;
    d->path = sb_malloc(size, 1);
    if (!d->path)
        return sb_fail(SB_ENOMEM, "%s: no memory for its name", path);
    memcpy(d->path, path, size);
    return SB_OK;
}

static sb_status check_size(const struct sb_dataset *d, const struct sb_open_options *o)
{
    if ((o->height == 0 || o->height == d->height) &&
        (o->width == 0 || o->width == d->width))
        return SB_OK;
    return sb_fail(SB_EARG,
                   "%s has %s of %u x %u, which cannot become %u x %u; only image files "
                   "can",
                   d->path, sb_dataset_tabular(d) ? "rows" : "images", d->height,
                   d->width, o->height, o->width);
}

sb_status sb_reader_open(const struct sb_reader_list *list, struct sb_dataset *d,
                         const char *path, const struct sb_open_options *o)
{
    struct sb_probe p;
    const struct sb_reader *reader;
    *d = (struct sb_dataset){0};
    sb_status st = sb_reader_find(list, path, &p, &reader);
    if (st != SB_OK)
        return st;
    if (!p.directory && !o->any_name)
        st = check_name(path, o->split);
    if (st == SB_OK)
        st = copy_path(d, path);
    if (st == SB_OK)
        st = reader->open(d, &p, o);
    if (st == SB_OK)
        st = check_size(d, o);
    if (st != SB_OK)
        sb_dataset_fini(d);
    return st;
}

void sb_dataset_fini(struct sb_dataset *d)
{
    if (!d)
        return;
    sb_bytes_close(&d->file);
    if (d->reader)
        d->reader_free(d->reader);
    sb_free(d->copy);
    sb_free(d->labels);
    sb_free(d->targets);
    sb_free(d->target_names);
    sb_free(d->groups);
    sb_free(d->weights);
    sb_free(d->class_names);
    sb_free(d->path);
    sb_columns_free(d->columns);
    *d = (struct sb_dataset){0};
}

static const char *element_name(const struct sb_dataset *d)
{
    return d->element == SB_BYTES ? "bytes" : "floats";
}

sb_status sb_dataset_match(const struct sb_dataset *d, struct sb_dataset *other)
{
    if (d->element != other->element)
        return sb_fail(SB_EARG, "%s has %s, %s has %s; they must be the same",
                       other->path, element_name(other), d->path, element_name(d));
    if (d->channels != other->channels || d->height != other->height ||
        d->width != other->width)
        return sb_fail(SB_EARG,
                       "%s has images of %u x %u x %u, %s of %u x %u x %u; they must be "
                       "the same",
                       other->path, other->channels, other->height, other->width, d->path,
                       d->channels, d->height, d->width);
    if (d->targets && sb_dataset_labelled(other) &&
        (!other->targets || other->target_count != d->target_count))
        return sb_fail(SB_EARG, "%s has %u continuous targets, %s has %u", other->path,
                       other->target_count, d->path, d->target_count);
    if (!other->labels)
        return SB_OK;
    for (uint32_t i = 0; i < other->n; i++)
        if (other->labels[i] >= d->classes)
            return sb_fail(SB_EARG,
                           "%s: image %u has label %u, but %s has only %u classes",
                           other->path, i, other->labels[i], d->path, d->classes);
    if (other->classes != d->classes) {
        sb_free(other->class_names); /* fewer than there are classes now */
        other->class_names = NULL;
        other->classes = d->classes;
    }
    return SB_OK;
}

/* ---- finding by name ---- */

/* Whether directory/name exists; out is then its path. */
static bool try_place(const char *directory, const char *name, char *out, size_t size)
{
    int n = snprintf(out, size, "%s/%s", directory, name);
    return n >= 0 && (size_t)n < size && sb_file_exists(out);
}

static bool try_directory(const char *directory, const char *name, char *out, size_t size)
{
    if (try_place(directory, name, out, size))
        return true;
    for (size_t i = 0; i < ALIASES; i++)
        if (strcmp(name, aliases[i].name) == 0 &&
            try_place(directory, aliases[i].directory, out, size))
            return true;
    return false;
}

static sb_status not_found(const char *name, const char *const *dirs, size_t ndirs)
{
    char list[512] = "";
    for (size_t i = 0, used = 0; i < ndirs && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", dirs[i],
                                 i + 1 < ndirs ? ", " : " or ");
    const struct sb_catalogue_row *row = sb_catalogue_find(name);
    if (row)
        return sb_fail(SB_EIO,
                       "there is no data set %s in %s%s; get it with 'sebays data fetch "
                       "%s', or give its path",
                       name, list, debian_directory, row->name);
    return sb_fail(SB_EIO,
                   "there is no file %s, and no data set of that name in %s%s; give its "
                   "path, or the directory that has it",
                   name, list, debian_directory);
}

sb_status sb_data_find(const char *name_or_path, const char *const *dirs, size_t ndirs,
                       char *out, size_t size)
{
    if (*name_or_path == '\0')
        return sb_fail(SB_EARG, "the data set's name is empty; give a name or a path");
    if (strchr(name_or_path, '/') || sb_file_exists(name_or_path)) {
        int n = snprintf(out, size, "%s", name_or_path);
        if (n < 0 || (size_t)n >= size)
            return sb_fail(SB_EARG, "a path of %zu bytes is too long",
                           strlen(name_or_path));
        return sb_file_exists(out)
                   ? SB_OK
                   : sb_fail(SB_EIO, "there is no data set at %s", name_or_path);
    }
    for (size_t i = 0; i < ndirs; i++)
        if (try_directory(dirs[i], name_or_path, out, size))
            return SB_OK;
    if (try_directory(debian_directory, name_or_path, out, size))
        return SB_OK;
    return not_found(name_or_path, dirs, ndirs);
}
