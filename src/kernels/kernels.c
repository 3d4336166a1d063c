/* kernels - which table this machine runs. See kernels.h. */
#include "kernels/kernels.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t sb_kernels_list(const struct sb_kernels *out[], size_t capacity)
{
    const struct sb_kernels *have[SB_MOST_KERNELS];
    size_t n = 0;
    have[n++] = &sb_kernels_scalar;
    have[n++] = &sb_kernels_scalar16;
#if defined(__x86_64__)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2)
        have[n++] = &sb_kernels_avx2;
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        have[n++] = &sb_kernels_avx512;
#elif defined(__aarch64__)
    have[n++] = &sb_kernels_neon;
#endif
    n = n < capacity ? n : capacity;
    memcpy(out, have, n * sizeof *out);
    return n;
}

sb_status sb_kernels_choose(const char *name, const struct sb_kernels **out)
{
    const struct sb_kernels *have[SB_MOST_KERNELS];
    size_t n = sb_kernels_list(have, SB_MOST_KERNELS);
    char names[128] = "";
    if (!name || strcmp(name, "auto") == 0) {
        bool vectors = have[n - 1] != &sb_kernels_scalar16;
        *out = have[vectors ? n - 1 : 0];
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
