/* schedules - method.md's schedules, to test stages and rates. Include cmocka.h before. */
#ifndef SB_TESTS_SCHEDULES_H
#define SB_TESTS_SCHEDULES_H

#include <math.h>

#include "train/stage.h"

/* In double; cmocka's own compares floats. */
static inline void assert_near(double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance))
        fail_msg("have %.17g, want %.17g", have, want);
}

/* WRN-28-10 on CIFAR as the paper trains it: 45000 images, 352 steps an epoch. */
static inline struct sb_config paper(uint32_t members, uint32_t explore, uint32_t exploit)
{
    return (struct sb_config){
        .method = {.members = members,
                   .explore_epochs = explore,
                   .exploit_epochs = exploit,
                   .tune_epochs = 250,
                   .prune_rate = 0.5,
                   .prune_rate_large = 0.8,
                   .delta_t = 1000},
        .train = {.batch = 128,
                  .lr = 0.1,
                  .lr_first = 0.01,
                  .lr_second = 0.001,
                  .lr_tune = 0.001,
                  .lr_rho = 0.01,
                  .milestone_factor = 0.1},
    };
}

/* The caller calls sb_schedule_fini. */
static inline struct sb_schedule make(const struct sb_config *c, const char *method)
{
    const struct sb_method *m;
    struct sb_schedule s;
    assert_int_equal(sb_method_find(method, &m), SB_OK);
    assert_int_equal(sb_schedule_init(&s, c, m, 45000), SB_OK);
    return s;
}

#endif
