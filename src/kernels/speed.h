/* speed - what the machine can do at best, measured: arithmetic from registers, and moving
 * memory. What a step would take by one alone tells what it is limited by. */
#ifndef SB_KERNELS_SPEED_H
#define SB_KERNELS_SPEED_H

#include "base/env.h"
#include "base/status.h"

/* Floating-point operations a second (a multiply-add is two) of these kernels' vectors, all
 * operands in registers, on all of env's threads; the best of several runs. */
double sb_speed_arithmetic(const struct sb_env *env);

/* Bytes a second, read and written counted, of copying arrays that no cache holds on all
 * of env's threads; the best of several runs. SB_ENOMEM where there are none. */
sb_status sb_speed_memory(const struct sb_env *env, double *out);

#endif
