/* fetch - a data set of the catalogue, downloaded, checked and unpacked.
 *
 *     DIR/NAME.part/FILE.part    arriving (download.h)
 *     DIR/NAME.part/FILE         its size and SHA-256 are right
 *     DIR/NAME.part/unpacked/    being unpacked
 *     DIR/NAME/                  done: one rename made it appear, whole
 *
 * A fetch that was stopped is taken up by the next one. Two at once exclude each other by
 * a lock on DIR/NAME.part.
 */
#ifndef SB_FETCH_FETCH_H
#define SB_FETCH_FETCH_H

#include <stdbool.h>

#include "base/log.h"
#include "base/path.h"
#include "base/progress.h"
#include "base/status.h"
#include "data/catalogue.h"

struct sb_fetch_options {
    const struct sb_catalogue_row *row; /* borrowed, as all here */
    const char *directory;              /* DIR; made if need be */
    const char *base;                   /* URL instead of the row's; NULL: the row's */
    double pause;                       /* see download.h */
    struct sb_progress *progress;       /* may be NULL, as log */
    const struct sb_log *log;
};

/* out = DIR/NAME, where it is now. *there: it was there before, nothing was done. */
sb_status sb_fetch(const struct sb_fetch_options *o, char out[SB_PATH_BYTES],
                   bool *there);

#endif
