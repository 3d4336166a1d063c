/* cifar - the binary versions of CIFAR-10 and CIFAR-100.
 *
 *     CIFAR-10    label | 1024 red | 1024 green | 1024 blue           3073 bytes
 *     CIFAR-100   coarse | fine | 1024 red | 1024 green | 1024 blue   3074 bytes
 *
 * There is no header: the size tells how many records, and which of the two a single file
 * is. Planes are row by row, which is our layout; labels are cut out, so this copies. The
 * fine label of CIFAR-100 is the class.
 */
#include <string.h>

#include "base/mem.h"
#include "readers/readers.h"

enum {
    CHANNELS = 3,
    SIDE = 32,
    PIXELS = CHANNELS * SIDE * SIDE,
    FILES_MOST = 5,
    RECORDS_MOST = 1 << 20 /* of one file: bounds what a compressed one may claim */
};

struct kind {
    const char *name;
    uint32_t label_bytes; /* before the pixels; the last one is the class */
    uint32_t label_limit[2];
    const char *files[2][FILES_MOST + 1]; /* of a split, in order */
    const char *names;                    /* class names, one a line */
    const char *const *known;             /* names if that file is absent */
};

static const char *const cifar10_names[] = {"airplane", "automobile", "bird", "cat",
                                            "deer",     "dog",        "frog", "horse",
                                            "ship",     "truck"};

static const struct kind kinds[] = {
    {.name = "cifar-10",
     .label_bytes = 1,
     .label_limit = {10},
     .files = {{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                "data_batch_4.bin", "data_batch_5.bin"},
               {"test_batch.bin"}},
     .names = "batches.meta.txt",
     .known = cifar10_names},
    {.name = "cifar-100",
     .label_bytes = 2,
     .label_limit = {20, 100},
     .files = {{"train.bin"}, {"test.bin"}},
     .names = "fine_label_names.txt"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The files of a split, open at once. */
struct parts {
    size_t count;
    struct sb_bytes bytes[FILES_MOST];
    char path[FILES_MOST][SB_PATH_BYTES];
};

static size_t record_bytes(const struct kind *k)
{
    return k->label_bytes + (size_t)PIXELS;
}

/* ---- which of the two ---- */

static bool has_split(const struct kind *k, const char *directory, enum sb_split split)
{
    char path[SB_PATH_BYTES];
    for (size_t i = 0; k->files[split][i]; i++)
        if (sb_reader_locate(directory, k->files[split][i], path))
            return true;
    return false;
}

static const struct kind *kind_of_directory(const char *path)
{
    for (size_t i = 0; i < KINDS; i++)
        if (has_split(&kinds[i], path, SB_SPLIT_TRAIN) ||
            has_split(&kinds[i], path, SB_SPLIT_TEST))
            return &kinds[i];
    return NULL;
}

static const struct kind *kind_of_size(size_t size)
{
    for (size_t i = 0; i < KINDS; i++)
        if (size > 0 && size % record_bytes(&kinds[i]) == 0)
            return &kinds[i];
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), n = strlen(end);
    return length >= n && strcmp(text + length - n, end) == 0;
}

static bool probe(const struct sb_probe *p)
{
    if (p->directory)
        return kind_of_directory(p->path) != NULL;
    return ends_with(p->path, ".bin") || ends_with(p->path, ".bin.gz");
}

/* ---- reading ---- */

static sb_status open_parts(struct parts *p, const struct kind *k, const char *directory,
                            enum sb_split split)
{
    const size_t limit = RECORDS_MOST * record_bytes(k);
    for (; k->files[split][p->count]; p->count++) {
        size_t i = p->count;
        if (!sb_reader_locate(directory, k->files[split][i], p->path[i]))
            return sb_fail(SB_EIO, "there is no %s or .gz: the %s split of %s in %s %s",
                           p->path[i], sb_split_name(split), k->name, directory,
                           has_split(k, directory, split) ? "is not complete"
                                                          : "is not there");
        sb_status st = sb_bytes_open(&p->bytes[i], p->path[i], limit);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

static sb_status count_records(const struct parts *p, const struct kind *k, uint32_t *n)
{
    size_t total = 0;
    for (size_t i = 0; i < p->count; i++) {
        size_t size = p->bytes[i].size, records = size / record_bytes(k);
        if (records == 0 || size % record_bytes(k) != 0 || records > RECORDS_MOST)
            return sb_fail(SB_EFORMAT,
                           "%s: %zu bytes are not a whole number (1 to %d) of %s records "
                           "of %zu; the file is truncated or another one, fetch it again",
                           p->path[i], size, RECORDS_MOST, k->name, record_bytes(k));
        total += records;
    }
    *n = (uint32_t)total;
    return SB_OK;
}

static sb_status copy_part(struct sb_dataset *d, uint32_t *at, const struct sb_bytes *b,
                           const char *path, const struct kind *k)
{
    const unsigned char *from = b->data;
    size_t records = b->size / record_bytes(k);
    for (size_t r = 0; r < records; r++, (*at)++, from += record_bytes(k)) {
        for (uint32_t i = 0; i < k->label_bytes; i++)
            if (from[i] >= k->label_limit[i])
                return sb_fail(SB_EFORMAT,
                               "%s: record %zu has %slabel %u, want less than %u; the "
                               "file is damaged or not %s",
                               path, r, i + 1 < k->label_bytes ? "coarse " : "", from[i],
                               k->label_limit[i], k->name);
        d->labels[*at] = from[k->label_bytes - 1];
        memcpy((uint8_t *)d->copy + (size_t)*at * PIXELS, from + k->label_bytes, PIXELS);
    }
    return SB_OK;
}

static sb_status read_parts(struct sb_dataset *d, const struct parts *p,
                            const struct kind *k)
{
    sb_status st = count_records(p, k, &d->n);
    if (st != SB_OK)
        return st;
    d->format = k->name;
    d->channels = CHANNELS;
    d->height = d->width = SIDE;
    d->classes = k->label_limit[k->label_bytes - 1];
    d->labels = sb_malloc(d->n, sizeof *d->labels);
    d->copy = sb_malloc(d->n, PIXELS);
    if (!d->labels || !d->copy)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u images", d->path, d->n);
    d->images = d->copy;
    uint32_t at = 0;
    for (size_t i = 0; i < p->count && st == SB_OK; i++)
        st = copy_part(d, &at, &p->bytes[i], p->path[i], k);
    return st;
}

static sb_status read_names(struct sb_dataset *d, const struct kind *k,
                            const char *directory)
{
    char path[SB_PATH_BYTES];
    if (sb_reader_locate(directory, k->names, path))
        return sb_names_read(d, path);
    return k->known ? sb_names_copy(d, k->known) : SB_OK;
}

/* p = the one file, directory = what it lies in. */
static sb_status open_single(struct parts *p, const struct kind **k, const char *path,
                             char *directory)
{
    size_t before = (size_t)(sb_reader_basename(path) - path), size = strlen(path) + 1;
    if (size > SB_PATH_BYTES)
        return sb_fail(SB_EARG, "a path of %zu bytes is too long", size - 1);
    memcpy(directory, path, before);
    directory[before] = '\0';
    memcpy(p->path[0], path, size);
    sb_status st =
        sb_bytes_open(&p->bytes[0], path, RECORDS_MOST * record_bytes(&kinds[1]));
    if (st != SB_OK)
        return st;
    p->count = 1;
    *k = kind_of_size(p->bytes[0].size);
    if (!*k)
        return sb_fail(
            SB_EFORMAT,
            "%s: %zu bytes are no whole number of CIFAR-10 (3073) or CIFAR-100 "
            "(3074) records; the file is truncated or something else",
            path, p->bytes[0].size);
    return SB_OK;
}

static sb_status open_records(struct sb_dataset *d, const struct sb_probe *probed,
                              const struct sb_open_options *o)
{
    char directory[SB_PATH_BYTES];
    const struct kind *k = NULL;
    const char *place = directory;
    sb_status st;
    struct parts *p = sb_calloc(1, sizeof *p);
    if (!p)
        return sb_fail(SB_ENOMEM, "%s: no memory to read it", probed->path);
    if (probed->directory) {
        place = probed->path;
        k = kind_of_directory(place);
        st = k ? open_parts(p, k, place, o->split)
               : sb_fail(SB_EIO, "%s: its files are gone", place);
    } else {
        st = open_single(p, &k, probed->path, directory);
    }
    if (st == SB_OK)
        st = read_parts(d, p, k);
    if (st == SB_OK)
        st = read_names(d, k, place);
    for (size_t i = 0; i < FILES_MOST; i++)
        sb_bytes_close(&p->bytes[i]);
    sb_free(p);
    return st;
}

const struct sb_reader sb_reader_cifar = {
    .name = "cifar",
    .wanted = "data_batch_1.bin (CIFAR-10), train.bin (CIFAR-100)",
    .probe = probe,
    .open = open_records,
};
