/* extract - a tar archive, plain or gzip'd, unpacked into a directory. */
#ifndef SB_FETCH_EXTRACT_H
#define SB_FETCH_EXTRACT_H

#include <stdint.h>

#include "base/progress.h"
#include "base/status.h"

/* The archive's files go to directory, which is made, without their topmost directory:
 * "cifar-10-batches-bin/test_batch.bin" becomes "test_batch.bin". limit is for all bytes
 * together. What is there after a failure is the caller's to remove. */
sb_status sb_extract_tar(const char *archive, const char *directory, uint64_t limit,
                         struct sb_progress *progress);

#endif
