/* draw - weights drawn once for each group of rows (method.md: estimators).
 *
 *     theta_G = mu + sigma eps_G,   eps_G standard normal, one for every existing weight
 *
 * eps of (group, weight) is a function of the stream and of that place alone, so backward
 * draws again what forward drew: that costs less than 1 % of a step, and keeping it would
 * take as much memory as all weights times the groups of a batch. Of 64 weights from 64 i
 * on, weight 16 a + b has number a of element (group << 32 | 16 i + b): what the kernels of
 * any width give in the order in which it is stored.
 *
 * Arrays of all groups are [groups][apart], apart >= n.
 */
#ifndef SB_KERNELS_DRAW_H
#define SB_KERNELS_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "kernels/noise.h"

struct sb_draw {
    const struct sb_noise *noise; /* its image is the batch's first row; its `weights`, if
                                   * not NULL, are what would be drawn: [groups][n] */
    uint32_t rows;                /* of a group */
    uint32_t groups;              /* of the batch; the last one may have fewer rows */
    size_t n, apart;              /* weights; floats from a group's to the next one's */
};

/* eps of all groups. */
void sb_draw_noise(const struct sb_env *env, const struct sb_draw *d, float *eps);

/* theta[g][k] = mu[k] + sigma[k] eps[g][k] */
void sb_draw_weights(const struct sb_env *env, const struct sb_draw *d, const float *mu,
                     const float *sigma, float *theta);

/* The same in another order, with mu and sigma given in it: theta[g][k] has eps[g][order[k]].
 * order NULL: eps is in that order, too, and may be theta itself. */
void sb_draw_ordered(const struct sb_env *env, const struct sb_draw *d, const float *mu,
                     const float *sigma, const float *eps, const uint32_t *order,
                     float *theta);

#endif
