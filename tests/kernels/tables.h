/* tables - which kernel tables a test could not run, and wide ones beside scalar's.
 *
 * scalar has eight lanes. A table with sixteen is compared with it on the first and on the
 * last eight lanes of every vector, one after the other.
 */
#ifndef SB_TESTS_TABLES_H
#define SB_TESTS_TABLES_H

#include <stdio.h>
#include <string.h>

#include "kernels/kernels.h"

/* Says which of the tables that this architecture's builds have were not in the list. */
static inline void check_absent(const struct sb_kernels *const table[], size_t n)
{
#if defined(__x86_64__)
    static const char *const name[] = {"avx2", "avx512"};
#else
    static const char *const name[] = {"neon"};
#endif
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        size_t k = 0;
        while (k < n && strcmp(table[k]->name, name[i]) != 0)
            k++;
        if (k == n)
            printf("NOT TESTED: %s kernels (this processor lacks them)\n", name[i]);
    }
}

/* to[n / lanes][8] = lanes first .. first + 7 of from[n / lanes][lanes] */
static inline void take_lanes(const float *from, size_t n, size_t lanes, size_t first,
                              float *to)
{
    for (size_t i = 0; i < n / lanes; i++)
        memcpy(to + 8 * i, from + i * lanes + first, 8 * sizeof *to);
}

/* And the way back. */
static inline void give_lanes(const float *from, size_t n, size_t lanes, size_t first,
                              float *to)
{
    for (size_t i = 0; i < n / lanes; i++)
        memcpy(to + i * lanes + first, from + 8 * i, 8 * sizeof *to);
}

#endif
