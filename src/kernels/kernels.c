/* kernels - which table this machine runs. See kernels.h. */
#include "kernels/kernels.h"

#include <stdio.h>
#include <string.h>

size_t sb_kernels_list(const struct sb_kernels *out[], size_t capacity)
{
    const struct sb_kernels *have[4];
    size_t n = 0;
    have[n++] = &sb_kernels_scalar;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        have[n++] = &sb_kernels_avx2;
#elif defined(__aarch64__)
    have[n++] = &sb_kernels_neon;
#endif
    n = n < capacity ? n : capacity;
    memcpy(out, have, n * sizeof *out);
    return n;
}

sb_status sb_kernels_choose(const char *name, const struct sb_kernels **out)
{
    const struct sb_kernels *have[4];
    size_t n = sb_kernels_list(have, 4);
    char names[128] = "";
    if (!name || strcmp(name, "auto") == 0) {
        *out = have[n - 1];
        return SB_OK;
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, have[i]->name) == 0) {
            *out = have[i];
            return SB_OK;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", have[i]->name);
    }
    return sb_fail(SB_EARG, "instruction set '%s': this machine and build have auto%s",
                   name, names);
}
