/* path - see path.h. */
#include "base/path.h"

#include <stdio.h>
#include <string.h>

sb_status sb_path_join(char out[SB_PATH_BYTES], const char *directory, const char *name)
{
    size_t length = strlen(directory);
    const char *slash = length > 0 && directory[length - 1] == '/' ? "" : "/";
    int n = snprintf(out, SB_PATH_BYTES, "%s%s%s", directory, slash, name);
    if (n < 0 || n >= SB_PATH_BYTES)
        return sb_fail(SB_EARG, "a path of %d bytes is too long: it begins with %.200s",
                       n, out);
    return SB_OK;
}
