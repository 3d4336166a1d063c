/* download - a file from the web, in as many pieces as it takes.
 *
 * Through libcurl, which is optional. What arrives is appended to "<path>.part" (part.h)
 * and taken up there by the next try or the next run, by HTTP's Range. The name path
 * appears when size and SHA-256 are what they should be; what has the wrong sum is removed.
 *
 *     connection lost, timeout, 408, 429, 5xx   tried again, with growing pauses
 *     the server ignores Range, or 416          tried again, from the beginning
 *     another size, other 4xx, a full disk      given up at once
 */
#ifndef SB_FETCH_DOWNLOAD_H
#define SB_FETCH_DOWNLOAD_H

#include <stdint.h>

#include "base/log.h"
#include "base/progress.h"
#include "base/status.h"

enum { SB_DOWNLOAD_TRIES = 5 }; /* in a row that bring nothing, or nearly nothing */

struct sb_download {
    const char *url, *path;       /* borrowed, as all here */
    uint64_t size;                /* what it must have */
    const char *sha256;           /* 64 small hexadecimal digits */
    double pause;                 /* seconds before the second try; doubled each time */
    struct sb_progress *progress; /* may be NULL, as log */
    const struct sb_log *log;
};

/* SB_ECANCELED if progress said so; the part is kept then. */
sb_status sb_download_file(const struct sb_download *d);

#endif
