/* need - arguments that must not be NULL, checked where a caller comes in. */
#ifndef SB_API_NEED_H
#define SB_API_NEED_H

#include "base/status.h"
#include "sebays.h"

/* Leaves a function that returns a status if p is NULL: "sebays_compare: format is NULL". */
#define SB_NEED(p)                                                                       \
    do {                                                                                 \
        if (!(p))                                                                        \
            return (sebays_status)sb_fail(SB_EARG, "%s: " #p " is NULL", __func__);      \
    } while (0)

enum { SB_API_THREADS = 4096 }; /* that a caller may ask for */

#endif
