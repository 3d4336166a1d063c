/* dataset - labelled images in memory, whatever file they came from.
 *
 *     images  [n][channels][height][width]   bytes, as in the file, until a batch is made
 *     labels  [n]                            each below classes
 *
 * Images of a plain IDX file stay in the mapped file; unpacked and interleaved formats
 * are copied once. A path is a directory, in which the files of the split are found by
 * their published names, or one file. Which format it is, the readers tell by looking
 * (reader.h).
 *
 * Every byte is untrusted: a data set that opened has all its images, and no label that
 * could index beyond an array of classes.
 */
#ifndef SB_DATA_DATASET_H
#define SB_DATA_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "data/gzip.h"

enum sb_split { SB_SPLIT_TRAIN, SB_SPLIT_TEST };

struct sb_dataset {
    const uint8_t *images; /* [n][channels][height][width] in file or copy */
    uint32_t *labels;      /* [n] owned */
    uint32_t n, channels, height, width;
    uint32_t classes;   /* at least 2 */
    char **class_names; /* [classes] owned, one block, UTF-8; NULL: unknown */
    char *path;         /* owned; as given to sb_dataset_open */
    const char *format; /* "idx", "cifar-10", "cifar-100" */

    struct sb_bytes file; /* images live here ... */
    uint8_t *copy;        /* ... or here; owned */
};

/* Opens one split of a directory, or one file; a file whose name says that it is the
 * other split (train-..., t10k-..., data_batch_..., test...) is refused, so that nobody
 * is tested on what he learned from. d needs no fini after a failure, but may have it. */
sb_status sb_dataset_open(struct sb_dataset *d, const char *path, enum sb_split split);

/* Accepts NULL, zeroed and half-built ones. */
void sb_dataset_fini(struct sb_dataset *d);

/* Bytes of one image. */
static inline size_t sb_dataset_image_bytes(const struct sb_dataset *d)
{
    return (size_t)d->channels * d->height * d->width;
}

/* Makes other (a test split) agree with a training split d: the same image shape, labels
 * that d's classes cover; other's class count becomes d's. SB_EARG if they cannot. */
sb_status sb_dataset_match(const struct sb_dataset *d, struct sb_dataset *other);

/* Where a data set is: name_or_path itself if that exists or has a slash, else the first
 * of dirs[i]/name, then Debian's /usr/share/datasets/name. A few names have other
 * directory names too: cifar10 is cifar-10-batches-bin, cifar100 cifar-100-binary.
 * out[size] receives the path. */
sb_status sb_data_find(const char *name_or_path, const char *const *dirs, size_t ndirs,
                       char *out, size_t size);

#endif
