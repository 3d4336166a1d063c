/* schedule - see schedule.h. */
#include "train/schedule.h"

#include <assert.h>
#include <math.h>

struct sb_schedule sb_schedule_make(const struct sb_config *config,
                                    const struct sb_method *method, uint64_t images)
{
    assert(images > 0 && config->train.batch > 0 && config->method.members > 0);
    uint32_t members = config->method.members, batch = config->train.batch;
    struct sb_schedule s = {.config = config, .method = method, .runs = 1, .phases = 2};
    if (method->schedule == SB_SCHEDULE_PARALLEL)
        s.runs = members;
    if (method->schedule == SB_SCHEDULE_SEQUENTIAL)
        s.phases = 1 + members;
    s.run_epochs = sb_schedule_first_epoch(&s, s.phases);
    s.epoch_steps = images / batch + (images % batch != 0);
    s.run_steps = s.epoch_steps * s.run_epochs;
    s.total_epochs = (uint64_t)s.run_epochs * s.runs;
    s.total_steps = s.run_steps * s.runs;
    return s;
}

uint32_t sb_schedule_epochs(const struct sb_schedule *s, uint32_t phase)
{
    const struct sb_config_method *m = &s->config->method;
    return phase == 0 ? m->explore_epochs : m->exploit_epochs;
}

uint32_t sb_schedule_first_epoch(const struct sb_schedule *s, uint32_t phase)
{
    const struct sb_config_method *m = &s->config->method;
    return phase == 0 ? 0 : m->explore_epochs + (phase - 1) * m->exploit_epochs;
}

uint32_t sb_schedule_phase_of(const struct sb_schedule *s, uint32_t run_epoch)
{
    const struct sb_config_method *m = &s->config->method;
    assert(run_epoch < s->run_epochs);
    if (run_epoch < m->explore_epochs)
        return 0;
    return 1 + (run_epoch - m->explore_epochs) / m->exploit_epochs;
}

uint32_t sb_schedule_member(const struct sb_schedule *s, uint32_t run, uint32_t phase)
{
    return run * (s->phases - 1) + (phase > 0 ? phase - 1 : 0);
}

/* How many milestones the epoch has reached. */
static uint32_t milestones_passed(const struct sb_schedule *s, uint32_t phase,
                                  uint32_t epoch)
{
    const struct sb_config_list *at = &s->config->train.milestones;
    uint32_t run_epoch = sb_schedule_first_epoch(s, phase) + epoch, passed = 0;
    while (passed < at->count && (double)run_epoch >= at->value[passed])
        passed++;
    return passed;
}

double sb_schedule_lr(const struct sb_schedule *s, uint32_t phase, uint32_t epoch,
                      uint64_t batch)
{
    const struct sb_config_train *t = &s->config->train;
    if (t->milestones.count > 0) {
        double lr = t->lr;
        for (uint32_t k = milestones_passed(s, phase, epoch); k > 0; k--)
            lr *= t->milestone_factor;
        return lr;
    }
    if (phase == 0)
        return t->lr;
    uint64_t all = sb_schedule_epochs(s, phase) * s->epoch_steps;
    uint64_t done = epoch * s->epoch_steps + batch;
    return done < all - all / 2 ? t->lr_first : t->lr_second;
}

double sb_schedule_lr_rho(const struct sb_schedule *s, uint32_t phase, uint32_t epoch,
                          uint64_t batch)
{
    const struct sb_config_train *t = &s->config->train;
    bool exploring =
        t->milestones.count > 0 ? milestones_passed(s, phase, epoch) == 0 : phase == 0;
    if (exploring || t->rho_rate == SB_CONFIG_RHO_CONSTANT)
        return t->lr_rho;
    return sb_schedule_lr(s, phase, epoch, batch);
}

double sb_schedule_beta(const struct sb_schedule *s, uint32_t phase, uint32_t epoch)
{
    uint32_t anneal = s->config->method.kl_anneal_epochs;
    uint32_t from_one = sb_schedule_first_epoch(s, phase) + epoch + 1;
    return from_one >= anneal ? 1.0 : (double)from_one / anneal;
}

bool sb_schedule_is_update(const struct sb_schedule *s, uint64_t step)
{
    return s->method->support == SB_SUPPORT_PRUNE_GROW && step > 0 &&
           step % s->config->method.delta_t == 0;
}

bool sb_schedule_large_after(const struct sb_schedule *s, uint32_t phase)
{
    return s->method->support == SB_SUPPORT_PRUNE_GROW &&
           s->method->schedule == SB_SCHEDULE_SEQUENTIAL && phase > 0 &&
           phase + 1 < s->phases;
}

static double decayed(const struct sb_schedule *s, double rate, uint64_t step)
{
    const double pi = 3.14159265358979323846;
    if (s->config->method.rate_decay == SB_CONFIG_DECAY_NONE)
        return rate;
    return rate / 2 * (1 + cos(pi * (double)step / (double)s->run_steps));
}

double sb_schedule_rate(const struct sb_schedule *s, uint64_t step)
{
    return decayed(s, s->config->method.prune_rate, step);
}

double sb_schedule_rate_large(const struct sb_schedule *s, uint64_t step)
{
    return decayed(s, s->config->method.prune_rate_large, step);
}
