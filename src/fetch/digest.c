/* digest - see digest.h. */
#include "fetch/digest.h"

#include "base/file.h"

#ifdef SB_HAVE_FETCH

#include <openssl/evp.h>

enum { PIECE = 1 << 20, SUM_BYTES = 32 };

static sb_status add_all(EVP_MD_CTX *context, const struct sb_map *m,
                         struct sb_progress *progress)
{
    sb_status st = SB_OK;
    sb_progress_begin_bytes(progress, "check", 0, m->size);
    for (size_t at = 0; at < m->size && st == SB_OK; at += PIECE) {
        size_t n = m->size - at < PIECE ? m->size - at : PIECE;
        if (EVP_DigestUpdate(context, m->data + at, n) != 1)
            return sb_fail(SB_EMISSING, "libcrypto refuses to compute a SHA-256");
        st = sb_progress_update(progress, at + n);
    }
    return st == SB_OK ? sb_progress_end(progress) : st;
}

sb_status sb_digest_file(const char *path, struct sb_progress *progress,
                         char hex[SB_DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sum[EVP_MAX_MD_SIZE];
    struct sb_map m;
    hex[0] = '\0';
    sb_status st = sb_map_open(&m, path);
    if (st != SB_OK)
        return st;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context)
        st = sb_fail(SB_ENOMEM, "no memory for the SHA-256 of %s", path);
    else if (EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1)
        st = sb_fail(SB_EMISSING, "libcrypto has no SHA-256");
    else
        st = add_all(context, &m, progress);
    if (st == SB_OK && EVP_DigestFinal_ex(context, sum, NULL) != 1)
        st = sb_fail(SB_EMISSING, "libcrypto refuses to compute a SHA-256");
    for (size_t i = 0; st == SB_OK && i < SUM_BYTES; i++) {
        hex[2 * i] = digits[sum[i] >> 4];
        hex[2 * i + 1] = digits[sum[i] & 15];
    }
    hex[st == SB_OK ? 2 * SUM_BYTES : 0] = '\0';
    EVP_MD_CTX_free(context);
    sb_map_close(&m);
    return st;
}

#else

sb_status sb_digest_file(const char *path, struct sb_progress *progress,
                         char hex[SB_DIGEST_HEX])
{
    (void)progress;
    hex[0] = '\0';
    return sb_fail(SB_EMISSING,
                   "cannot check %s: this build has no libcrypto; install libssl-dev, "
                   "configure and build again",
                   path);
}

#endif
