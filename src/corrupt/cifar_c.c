/* cifar_c - see cifar_c.h. */
#include "corrupt/cifar_c.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/reader.h"
#include "readers/npy.h"

static sb_status open_array(struct sb_bytes *b, struct sb_npy *a, const char *directory,
                            const char *name, char path[SB_PATH_BYTES])
{
    char file[256];
    snprintf(file, sizeof file, "%s.npy", name);
    if (!sb_reader_locate(directory, file, path))
        return sb_fail(SB_EIO,
                       "there is no %s in %s; CIFAR-10-C has one file a kind, such "
                       "as %s.npy, and labels.npy",
                       file, directory, sb_corruption_name(0));
    size_t most = 0;
    sb_status st = sb_npy_file_size(path, &most);
    if (st == SB_OK)
        st = sb_bytes_open(b, path, most);
    return st == SB_OK ? sb_npy_parse(a, path, b->data, b->size) : st;
}

/* The rows of a severity. */
static sb_status slice(const struct sb_npy *a, uint32_t severity, uint64_t *first,
                       uint64_t *count)
{
    uint64_t n = a->dims > 0 ? a->shape[0] : 0;
    if (n == 0 || n % SB_SEVERITIES != 0)
        return sb_fail(SB_EFORMAT,
                       "%s: it has %llu rows; want the same number for each of %d "
                       "severities",
                       a->name, (unsigned long long)n, SB_SEVERITIES);
    *count = n / SB_SEVERITIES;
    *first = (severity - 1) * *count;
    return SB_OK;
}

static sb_status read_slice(struct sb_dataset *d, struct sb_bytes b[2],
                            const char *directory, const char *kind, uint32_t severity)
{
    char images[SB_PATH_BYTES], labels[SB_PATH_BYTES];
    struct sb_npy x, y;
    uint64_t first = 0, count = 0;
    sb_status st = open_array(&b[0], &x, directory, kind, images);
    if (st == SB_OK)
        st = open_array(&b[1], &y, directory, "labels", labels);
    if (st == SB_OK)
        st = slice(&x, severity, &first, &count);
    if (st == SB_OK && (y.dims == 0 || y.shape[0] != x.shape[0]))
        st = sb_fail(SB_EFORMAT, "%s has %llu labels, but %s has %llu images", labels,
                     (unsigned long long)(y.dims ? y.shape[0] : 0), images,
                     (unsigned long long)x.shape[0]);
    if (st == SB_OK)
        st = sb_npy_examples(d, &x, first, count, false);
    if (st == SB_OK)
        st = sb_npy_labels(d, &y, first);
    return st;
}

sb_status sb_cifar_c_open(struct sb_dataset *d, const char *directory, const char *kind,
                          uint32_t severity)
{
    struct sb_bytes b[2] = {0};
    *d = (struct sb_dataset){.format = "cifar-c"};
    if (severity < 1 || severity > SB_SEVERITIES)
        return sb_fail(SB_EARG, "severity %u; want 1 to %d", severity, SB_SEVERITIES);
    size_t size = strlen(directory) + strlen(kind) + 32;
    d->path = sb_malloc(size, 1);
    if (!d->path)
        return sb_fail(SB_ENOMEM, "no memory for the name of %s", directory);
    snprintf(d->path, size, "%s/%s.npy, severity %u", directory, kind, severity);
    sb_status st = read_slice(d, b, directory, kind, severity);
    if (st == SB_OK && !d->copy) {
        d->file = b[0];
        b[0] = (struct sb_bytes){0};
    }
    sb_bytes_close(&b[0]);
    sb_bytes_close(&b[1]);
    if (st != SB_OK)
        sb_dataset_fini(d);
    return st;
}
