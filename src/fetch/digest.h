/* digest - the SHA-256 of a file, through libcrypto, which is optional. */
#ifndef SB_FETCH_DIGEST_H
#define SB_FETCH_DIGEST_H

#include "base/progress.h"
#include "base/status.h"

enum { SB_DIGEST_HEX = 65 };

/* hex = 64 small hexadecimal digits. progress may be NULL; it is counted in bytes. */
sb_status sb_digest_file(const char *path, struct sb_progress *progress,
                         char hex[SB_DIGEST_HEX]);

#endif
