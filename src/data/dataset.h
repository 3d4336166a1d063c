/* dataset - labelled examples, whatever file they came from.
 *
 * An example is an image or a row of a table, and there are three forms:
 *
 *     images  [n][channels][height][width]   bytes in memory or in the mapped file
 *     values  [n][channels][height][width]   floats, likewise; a table has height = width = 1
 *     fetch   gives image i as bytes when a batch needs it: files too many to decode ahead
 *     labels  [n]                            each below classes; NULL: none were asked for,
 *                                            or outcomes are continuous:
 *     targets [n][target_count]              finite numbers in place of labels
 *     groups  [n]                            which rows belong together; NULL: nobody said
 *     weights [n]                            how much each counts; NULL: nobody said
 *
 * Bytes count as themselves / 255, floats as themselves, until a batch is made. Images of
 * a plain IDX or NPY file stay in the mapped file; unpacked and interleaved formats are
 * copied once. A path is a directory, in which the files of the split are found by their
 * published names, or one file. Which format it is, the readers tell by looking
 * (reader.h).
 *
 * Every byte is untrusted: a data set that opened has all its examples (streamed ones may
 * still fail one by one), no value that is infinite, none that is NAN but those of a table
 * that are missing, where that was allowed, and no label that could index beyond an array
 * of classes.
 */
#ifndef SB_DATA_DATASET_H
#define SB_DATA_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "files/gzip.h"

enum sb_split { SB_SPLIT_TRAIN, SB_SPLIT_TEST };
enum sb_element { SB_BYTES, SB_FLOATS };

struct sb_columns; /* columns.h: what the columns of a table mean */

struct sb_dataset {
    enum sb_element element;
    const uint8_t *images; /* SB_BYTES, in file or copy; NULL: by fetch */
    const float *values;   /* SB_FLOATS, in file or copy */
    uint32_t *labels;      /* [n] owned */
    float *targets;        /* [n][target_count] owned; NULL: labels, or neither */
    uint32_t target_count;
    char **target_names; /* [target_count] owned, one block, UTF-8 */
    uint32_t *groups;    /* [n] owned; NULL: none */
    float *weights; /* [n] owned: how much a row counts, from 0; NULL: all the same */
    uint32_t n, channels, height, width;
    uint32_t classes;   /* at least 2; 0 without labels */
    char **class_names; /* [classes] owned, one block, UTF-8; NULL: unknown */
    char *path;         /* owned; as given to sb_dataset_open */
    const char *format; /* "idx", "cifar-10", "cifar-100", ... */
    bool whole;         /* it has no train and test part of its own: this is all of it */

    struct sb_bytes file;       /* images or values live here ... */
    void *copy;                 /* ... or here; owned */
    struct sb_columns *columns; /* of a table; owned */

    /* Streamed images: out = image i, [channels][height][width]. Called from several
     * threads at once; a failure's sentence names the file. */
    sb_status (*fetch)(const struct sb_dataset *d, uint32_t i, uint8_t *out);
    /* The file that example i is, within path, as UTF-8; NULL: examples are no files. */
    void (*name_of)(const struct sb_dataset *d, uint32_t i, char *out, size_t size);
    void *reader;                      /* what these need; owned ... */
    void (*reader_free)(void *reader); /* ... and given back by this; not NULL then */
};

/* What is to be predicted: one of some classes, or continuous outcomes. AUTO: outcomes if
 * they are numbers with fractions, or whole ones of very many values, or several columns. */
enum sb_task { SB_TASK_AUTO, SB_TASK_CLASSES, SB_TASK_OUTCOMES };

enum sb_header { SB_HEADER_AUTO, SB_HEADER_YES, SB_HEADER_NO };

struct sb_open_options {
    enum sb_split split;
    enum sb_task task; /* of tables and arrays; images as such have classes */
    /* Tables: the label column's name, or its number from 1; NULL or "": the last. Of outcomes
     * several, commas between. */
    const char *label;
    /* Tables as text: columns that are not used, by name or number, commas between; the
     * column whose values rows of a group share; whether the first row is names. */
    const char *ignore, *group;
    /* Tables: the column, or the NumPy array beside them, that says how much a row counts. */
    const char *weight;
    enum sb_header header;
    /* Tables: values may be missing, and are NAN then. */
    bool impute;
    /* Tables as text are only looked at: columns that nothing could be trained on are not
     * used, instead of a failure, and a label with fractions is a number like others. */
    bool look;
    /* A training set, borrowed: columns and class names mean what they mean there. */
    const struct sb_dataset *like;
    /* Labels may be missing, as for prediction: then labels is NULL and classes 0. */
    bool unlabelled;
    /* A file may be of either split by its name: nobody is tested. */
    bool any_name;
    /* Image files become this size; 0: that of the first one. */
    uint32_t height, width;
    /* Tables: bytes that their values may take, with a feature a category; 0: any. */
    size_t most_bytes;
};

/* Accepts NULL, zeroed and half-built ones. */
void sb_dataset_fini(struct sb_dataset *d);

/* Elements of one example: bytes or floats. */
static inline size_t sb_dataset_elements(const struct sb_dataset *d)
{
    return (size_t)d->channels * d->height * d->width;
}

/* What is right for its examples is known. */
static inline bool sb_dataset_labelled(const struct sb_dataset *d)
{
    return d->labels || d->targets;
}

/* A row of a table, not an image. */
static inline bool sb_dataset_tabular(const struct sb_dataset *d)
{
    return d->element == SB_FLOATS && d->height == 1 && d->width == 1;
}

/* *out = the bytes of image i of a SB_BYTES set, in place if it is in memory; else fetched
 * into buffer (sb_dataset_elements bytes), which may be NULL if d has no fetch. */
static inline sb_status sb_dataset_image(const struct sb_dataset *d, uint32_t i,
                                         uint8_t *buffer, const uint8_t **out)
{
    *out = d->fetch ? buffer : d->images + i * sb_dataset_elements(d);
    return d->fetch ? d->fetch(d, i, buffer) : SB_OK;
}

/* Makes other (a test split) agree with a training split d: the same shape of examples,
 * labels that d's classes cover or as many targets; other's class count becomes d's. SB_EARG
 * if they cannot. */
sb_status sb_dataset_match(const struct sb_dataset *d, struct sb_dataset *other);

/* Where a data set is: name_or_path itself if that exists or has a slash, else the first
 * of dirs[i]/name, then Debian's /usr/share/datasets/name. A few names have other
 * directory names too: cifar10 is cifar-10-batches-bin, cifar100 cifar-100-binary.
 * out[size] receives the path. */
sb_status sb_data_find(const char *name_or_path, const char *const *dirs, size_t ndirs,
                       char *out, size_t size);

/* Rows of weight 0 go; the others stay in their order. SB_EARG if none is left. */
sb_status sb_dataset_drop(struct sb_dataset *d);

#endif
