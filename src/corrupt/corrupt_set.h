/* corrupt_set - a whole data set, corrupted, as files in the layout of CIFAR-10-C.
 *
 *     DIR/KIND.npy    [severities * n][height][width][channels] bytes, severity by severity
 *     DIR/labels.npy  [severities * n]                          the labels, as many times
 *
 * With all five severities, cifar_c.h and everything else made for CIFAR-10-C reads them. Or
 * as a contact sheet: a row a kind, the clean image first, then its severities.
 */
#ifndef SB_CORRUPT_CORRUPT_SET_H
#define SB_CORRUPT_CORRUPT_SET_H

#include <stdbool.h>

#include "base/progress.h"
#include "corrupt/corrupt.h"
#include "data/dataset.h"

struct sb_corrupt_set {
    const struct sb_dataset *data; /* borrowed, as all pointers here; images of bytes */
    bool kinds[SB_CORRUPTIONS];    /* which */
    uint32_t first, last;          /* severities, 1 to SB_SEVERITIES */
    uint64_t seed;
    struct sb_progress *progress; /* in images, a phase a kind; may be NULL */
};

/* kinds = those that text names: "all", or names with commas between. SB_EARG names the
 * nearest of an unknown one. */
sb_status sb_corrupt_set_kinds(const char *text, bool kinds[SB_CORRUPTIONS]);

/* Makes the directory and writes a file a kind, each whole or not at all, and the labels.
 * SB_EARG if the data set has no images; SB_ECANCELED when progress said so. */
sb_status sb_corrupt_set_write(const struct sb_corrupt_set *s, const struct sb_env *env,
                               const char *directory);

/* A PNG file of what happens to one image of the data set. */
sb_status sb_corrupt_set_sheet(const struct sb_corrupt_set *s, const struct sb_env *env,
                               uint32_t image, const char *path);

#endif
