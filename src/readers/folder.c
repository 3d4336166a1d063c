/* folder - images in one folder per class, decoded when a batch needs them.
 *
 *     pets/cat/1.png pets/cat/2.jpg pets/dog/7.jpeg     all there is, no test part
 *     pets/train/cat/... pets/test/dog/...              or val/ where there is no test/
 *     pets/1.png pets/2.png                             without labels, for prediction
 *     pets/1.png                                        one file, likewise
 *
 * Class names are the folders', which must be UTF-8, in bytewise order; a test part has
 * the classes of the training part, in whole or in part. Within a class, files are in
 * bytewise order too. Beside class folders, files are nobody's business; images there, and
 * anything but images within a class, are refused: nobody should lose a hundred .webp files
 * without knowing. Hidden entries are passed over everywhere.
 *
 * Opening reads names, and headers of up to 64 images at even distances: if one of them has
 * colour, all get three channels. The size is the given one, the training set's, or that of
 * the very first image.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "files/image.h"
#include "readers/listing.h"
#include "readers/readers.h"

enum { LOOKED_AT = 64 };

struct folder {
    char directory[SB_PATH_BYTES]; /* that has the class folders */
    struct sb_listing folders;     /* sorted; none: files lie in directory itself */
    struct sb_listing files;       /* [n] by folder, sorted within each */
    size_t *first;                 /* [folders + 1] where a folder's files begin; owned */
};

static void folder_free(void *reader)
{
    struct folder *f = reader;
    if (!f)
        return;
    sb_listing_fini(&f->folders);
    sb_listing_fini(&f->files);
    sb_free(f->first);
    sb_free(f);
}

/* ---- an image ---- */

/* The folder that file i lies in. */
static size_t folder_of(const struct folder *f, uint32_t i)
{
    size_t low = 0, high = f->folders.count; /* first[low] <= i < first[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (f->first[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static sb_status path_of(const struct folder *f, uint32_t i, char out[SB_PATH_BYTES])
{
    char within[SB_PATH_BYTES];
    if (f->folders.count == 0)
        return sb_path_join(out, f->directory, f->files.name[i]);
    sb_status st = sb_path_join(within, f->directory, f->folders.name[folder_of(f, i)]);
    if (st == SB_OK)
        st = sb_path_join(out, within, f->files.name[i]);
    return st;
}

/* Decodes into out, or only looks at the shape if out is NULL. */
static sb_status read_image(const struct sb_dataset *d, uint32_t i,
                            struct sb_image_shape *shape, uint8_t *out)
{
    char path[SB_PATH_BYTES];
    struct sb_map map;
    sb_status st = path_of(d->reader, i, path);
    if (st == SB_OK)
        st = sb_map_open(&map, path);
    if (st != SB_OK)
        return st;
    struct sb_image_file file = {.name = path, .data = map.data, .size = map.size};
    st = out ? sb_image_decode(&file, shape, out) : sb_image_look(&file, shape);
    sb_map_close(&map);
    return st;
}

static sb_status fetch(const struct sb_dataset *d, uint32_t i, uint8_t *out)
{
    struct sb_image_shape shape = {
        .channels = d->channels, .height = d->height, .width = d->width};
    return read_image(d, i, &shape, out);
}

/* A name that may not be UTF-8, for a text that must be. */
static void spell(const char *name, char *out, size_t size)
{
    bool fine = sb_names_valid(name, strlen(name));
    size_t used = 0;
    for (const char *s = name; *s != '\0' && used + 5 < size; s++) {
        unsigned char c = (unsigned char)*s;
        bool plain = fine || (c >= 0x20 && c < 0x7f);
        used += (size_t)snprintf(out + used, size - used, plain ? "%c" : "\\x%02x", c);
    }
}

/* Within the data set: "cat/1.png". */
static void name_of(const struct sb_dataset *d, uint32_t i, char *out, size_t size)
{
    const struct folder *f = d->reader;
    size_t used = 0;
    if (f->folders.count > 0) {
        spell(f->folders.name[folder_of(f, i)], out, size);
        used = strlen(out);
        used += (size_t)snprintf(out + used, size - used, "/");
    }
    spell(f->files.name[i], out + used, size - used);
}

static sb_status shape_like(struct sb_dataset *d, const struct sb_dataset *like)
{
    if (like->element != SB_BYTES || (like->channels != 1 && like->channels != 3))
        return sb_fail(
            SB_EARG, "%s has image files, which cannot become examples like those of %s",
            d->path, like->path);
    d->channels = like->channels;
    d->height = like->height;
    d->width = like->width;
    return SB_OK;
}

static sb_status decide_shape(struct sb_dataset *d, const struct sb_open_options *o)
{
    uint32_t looks = d->n < LOOKED_AT ? d->n : LOOKED_AT;
    struct sb_image_shape shape;
    if (o->like)
        return shape_like(d, o->like);
    d->channels = 1;
    for (uint32_t k = 0; k < looks && (k == 0 || d->channels == 1); k++) {
        sb_status st =
            read_image(d, (uint32_t)((uint64_t)k * d->n / looks), &shape, NULL);
        if (st != SB_OK)
            return st;
        if (k == 0) {
            d->height = o->height ? o->height : shape.height;
            d->width = o->width ? o->width : shape.width;
        }
        d->channels = shape.channels;
    }
    return SB_OK;
}

/* ---- which directory ---- */

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Whether path/name is a part of a data set: a directory that has directories. A class
 * may have that name too, but then it has none. */
static bool is_part(const char *path, const char *name, char out[SB_PATH_BYTES])
{
    struct sb_content c = {0};
    return sb_path_join(out, path, name) == SB_OK && is_directory(out) &&
           sb_content_scan(&c, out) == SB_OK && c.directory_count > 0;
}

static bool find_part(const char *path, enum sb_split split, char out[SB_PATH_BYTES])
{
    if (split == SB_SPLIT_TRAIN)
        return is_part(path, "train", out);
    return is_part(path, "test", out) || is_part(path, "val", out);
}

static bool probe(const struct sb_probe *p)
{
    char part[SB_PATH_BYTES];
    if (!p->directory)
        return sb_image_is(p->head, p->have);
    for (int split = SB_SPLIT_TRAIN; split <= SB_SPLIT_TEST; split++)
        if (find_part(p->path, (enum sb_split)split, part) &&
            sb_content_has_image(part, true))
            return true;
    return sb_content_has_image(p->path, true);
}

/* f->directory, and whether it is all there is. */
static sb_status choose_directory(struct folder *f, struct sb_dataset *d,
                                  enum sb_split split)
{
    char other[SB_PATH_BYTES];
    if (find_part(d->path, split, f->directory))
        return SB_OK;
    if (find_part(d->path, split == SB_SPLIT_TRAIN ? SB_SPLIT_TEST : SB_SPLIT_TRAIN,
                  other))
        return sb_fail(SB_EIO, "%s has a folder %s, but none for the %s split; want %s",
                       d->path, sb_reader_basename(other), sb_split_name(split),
                       split == SB_SPLIT_TRAIN ? "train" : "test or val");
    d->whole = true;
    size_t size = strlen(d->path) + 1;
    if (size > sizeof f->directory)
        return sb_fail(SB_EARG, "a path of %zu bytes is too long", size - 1);
    memcpy(f->directory, d->path, size);
    return SB_OK;
}

/* ---- classes ---- */

static sb_status check_names(const struct sb_listing *l, const char *directory)
{
    char name[4 * SB_NAME_BYTES];
    for (size_t i = 0; i < l->count; i++) {
        if (sb_names_valid(l->name[i], strlen(l->name[i])))
            continue;
        spell(l->name[i], name, sizeof name);
        return sb_fail(SB_EFORMAT,
                       "%s: the class folder %s has a name that is not UTF-8; rename it",
                       directory, name);
    }
    return SB_OK;
}

/* The directories of a directory, sorted; none if it has images instead. */
static sb_status list_folders(struct sb_listing *l, const char *directory)
{
    struct sb_content c = {.directories = l};
    sb_status st = sb_content_scan(&c, directory);
    if (st == SB_OK && c.image_count > 0 && c.directory_count > 0)
        st = sb_fail(SB_EFORMAT,
                     "%s: images lie beside its %zu class folders; move them into one",
                     directory, c.directory_count);
    if (st == SB_OK)
        st = sb_listing_finish(l);
    if (st != SB_OK)
        return st;
    sb_listing_sort(l, 0, l->count);
    return check_names(l, directory);
}

static sb_status copy_names(struct sb_listing *l, char **names, uint32_t count)
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; i < count && st == SB_OK; i++)
        st = sb_listing_add(l, names[i]);
    return st == SB_OK ? sb_listing_finish(l) : st;
}

/* The classes of the training set if that is known, else the folders. */
static sb_status list_classes(struct sb_listing *classes, const struct folder *f,
                              const struct sb_dataset *d, const struct sb_open_options *o)
{
    char train[SB_PATH_BYTES];
    if (o->like && o->like->class_names)
        return copy_names(classes, o->like->class_names, o->like->classes);
    bool parts = !d->whole && find_part(d->path, SB_SPLIT_TRAIN, train);
    sb_status st = list_folders(classes, parts ? train : f->directory);
    if (st == SB_OK && classes->count < 2 && !o->unlabelled)
        st = sb_fail(SB_EFORMAT, "%s has one class folder, %s; want two or more",
                     parts ? train : f->directory, classes->name[0]);
    return st;
}

static bool find_name(const struct sb_listing *l, const char *name, uint32_t *at)
{
    for (*at = 0; *at < l->count; ++*at)
        if (strcmp(l->name[*at], name) == 0)
            return true;
    return false;
}

/* A folder that is no class means other classes, which is fine if nobody wants labels. */
static sb_status take_labels(struct sb_dataset *d, const struct sb_listing *classes,
                             const struct sb_open_options *o)
{
    const struct folder *f = d->reader;
    uint32_t label;
    if (classes->count < 2) /* of an unlabelled set */
        return SB_OK;
    d->labels = sb_malloc(d->n, sizeof *d->labels);
    if (!d->labels)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u labels", d->path, d->n);
    for (size_t c = 0; c < f->folders.count; c++) {
        if (find_name(classes, f->folders.name[c], &label)) {
            for (size_t i = f->first[c]; i < f->first[c + 1]; i++)
                d->labels[i] = label;
        } else if (o->unlabelled) {
            sb_free(d->labels);
            d->labels = NULL;
            return SB_OK;
        } else {
            return sb_fail(SB_EARG,
                           "%s/%s is not one of the %zu classes of the training set",
                           f->directory, f->folders.name[c], classes->count);
        }
    }
    d->classes = (uint32_t)classes->count;
    return sb_names_copy(d, (const char *const *)classes->name);
}

static sb_status label_files(struct sb_dataset *d, const struct sb_open_options *o)
{
    struct sb_listing classes = {0};
    sb_status st = list_classes(&classes, d->reader, d, o);
    if (st == SB_OK)
        st = take_labels(d, &classes, o);
    sb_listing_fini(&classes);
    return st;
}

/* ---- files ---- */

static sb_status list_directory(struct sb_listing *files, const char *directory)
{
    char name[4 * SB_NAME_BYTES];
    struct sb_content c = {.images = files};
    sb_status st = sb_content_scan(&c, directory);
    size_t others = c.other_count + c.directory_count;
    if (st != SB_OK)
        return st;
    if (others > 0) {
        spell(c.other, name, sizeof name);
        return sb_fail(SB_EFORMAT,
                       "%s: %zu entries are not .png, .jpg or .jpeg files, the first is "
                       "%s; convert or remove them",
                       directory, others, name);
    }
    if (c.image_count == 0)
        return sb_fail(SB_EFORMAT, "%s: there are no images in this folder; remove it",
                       directory);
    return SB_OK;
}

/* The files of all folders, or of the directory itself. */
static sb_status list_files(struct folder *f)
{
    char path[SB_PATH_BYTES];
    size_t folders = f->folders.count;
    f->first = sb_malloc(folders + 1, sizeof *f->first);
    if (!f->first)
        return sb_fail(SB_ENOMEM, "%s: no memory for %zu folders", f->directory, folders);
    sb_status st = folders == 0 ? list_directory(&f->files, f->directory) : SB_OK;
    for (size_t c = 0; c < folders && st == SB_OK; c++) {
        f->first[c] = f->files.count;
        st = sb_path_join(path, f->directory, f->folders.name[c]);
        if (st == SB_OK)
            st = list_directory(&f->files, path);
    }
    f->first[folders] = f->files.count;
    if (st == SB_OK)
        st = sb_listing_finish(&f->files);
    if (st != SB_OK)
        return st;
    if (folders == 0)
        sb_listing_sort(&f->files, 0, f->files.count);
    for (size_t c = 0; c < folders; c++)
        sb_listing_sort(&f->files, f->first[c], f->first[c + 1]);
    return SB_OK;
}

static sb_status list_all(struct sb_dataset *d, const struct sb_open_options *o)
{
    struct folder *f = d->reader;
    sb_status st = choose_directory(f, d, o->split);
    if (st == SB_OK)
        st = list_folders(&f->folders, f->directory);
    if (st != SB_OK)
        return st;
    if (f->folders.count == 0 && !o->unlabelled)
        return sb_fail(SB_EFORMAT,
                       "%s: its images are in no class folders, so they have no labels; "
                       "put each class into a folder of its own",
                       f->directory);
    st = list_files(f);
    if (st == SB_OK && f->files.count > UINT32_MAX)
        st = sb_fail(SB_EFORMAT, "%s: %zu images are too many", d->path, f->files.count);
    d->n = (uint32_t)f->files.count;
    return st;
}

/* A single file is all that its directory has. */
static sb_status list_one(struct sb_dataset *d, const struct sb_open_options *o)
{
    struct folder *f = d->reader;
    const char *base = sb_reader_basename(d->path);
    if (!o->unlabelled)
        return sb_fail(SB_EFORMAT, "%s is one image, which has no label; want a folder",
                       d->path);
    int n = snprintf(f->directory, sizeof f->directory, "%.*s", (int)(base - d->path),
                     d->path);
    if (n == 0)
        memcpy(f->directory, "./", sizeof "./");
    f->first = sb_calloc(1, sizeof *f->first);
    if (!f->first || n < 0 || (size_t)n >= sizeof f->directory)
        return sb_fail(f->first ? SB_EARG : SB_ENOMEM, "%s: no room for its name",
                       d->path);
    sb_status st = sb_listing_add(&f->files, base);
    d->n = 1;
    d->whole = true;
    return st == SB_OK ? sb_listing_finish(&f->files) : st;
}

static sb_status open_folder(struct sb_dataset *d, const struct sb_probe *p,
                             const struct sb_open_options *o)
{
    struct folder *f = sb_calloc(1, sizeof *f);
    if (!f)
        return sb_fail(SB_ENOMEM, "%s: no memory to list it", d->path);
    d->reader = f;
    d->reader_free = folder_free;
    d->fetch = fetch;
    d->format = sb_reader_folder.name;
    d->name_of = name_of;
    sb_status st = p->directory ? list_all(d, o) : list_one(d, o);
    if (st == SB_OK && f->folders.count > 0)
        st = label_files(d, o);
    return st == SB_OK ? decide_shape(d, o) : st;
}

const struct sb_reader sb_reader_folder = {
    .name = "folder",
    .wanted = "a folder of .png or .jpg files per class",
    .probe = probe,
    .open = open_folder,
};
