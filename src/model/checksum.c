/* checksum - see checksum.h. */
#include "model/checksum.h"

uint64_t sb_checksum(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ byte[i]) * 0x100000001b3u;
    return sum;
}

static int add(const char *text, size_t size, void *sum)
{
    *(uint64_t *)sum = sb_checksum(*(uint64_t *)sum, text, size);
    return 0;
}

sb_status sb_checksum_header(const json_t *header, uint64_t *out)
{
    *out = SB_CHECKSUM_START;
    if (json_dump_callback(header, add, out, JSON_COMPACT) != 0)
        return sb_fail(SB_ENOMEM, "no memory for the checksum of a header");
    return SB_OK;
}
