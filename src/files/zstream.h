/* zstream - zlib's streams on our memory: counted, and tests can fail it (base/mem.h). */
#ifndef SB_FILES_ZSTREAM_H
#define SB_FILES_ZSTREAM_H

#define ZLIB_CONST /* what is read stays as it is */
#include <zlib.h>

#include "base/mem.h"

static inline voidpf sb_zstream_alloc(voidpf opaque, uInt items, uInt size)
{
    (void)opaque;
    return sb_malloc(items, size);
}

static inline void sb_zstream_free(voidpf opaque, voidpf block)
{
    (void)opaque;
    sb_free(block);
}

/* Nothing to read or write yet; to be begun by zlib's inflateInit2 and the like. */
static inline z_stream sb_zstream(void)
{
    return (z_stream){.zalloc = sb_zstream_alloc, .zfree = sb_zstream_free};
}

#endif
