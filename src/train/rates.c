/* rates - see rates.h. */
#include "train/rates.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Steps of the run before this one. */
static uint64_t steps_done(const struct sb_schedule *s, const struct sb_place *at)
{
    return (at->stage->first_epoch + (uint64_t)at->epoch) * s->epoch_steps + at->batch;
}

/* ---- learning rates ------------------------------------------------------------------ */

static bool has_milestones(const struct sb_schedule *s, const struct sb_place *at)
{
    return at->stage->rates.milestones && s->config->train.milestones.count > 0;
}

/* How many milestones are reached: a share of the run at a step, an epoch with its first. */
static uint32_t milestones_passed(const struct sb_schedule *s, const struct sb_place *at)
{
    const struct sb_config_list *list = &s->config->train.milestones;
    double epoch = (double)at->stage->first_epoch + at->epoch;
    double steps = (double)steps_done(s, at);
    double all = (double)s->dense_epochs * (double)s->epoch_steps;
    uint32_t n = 0;
    while (n < list->count &&
           (list->value[n] < 1 ? steps >= list->value[n] * all : epoch >= list->value[n]))
        n++;
    return n;
}

/* What is left of the learning rates while a run warms up. */
static double warmth(const struct sb_schedule *s, const struct sb_place *at)
{
    double steps = (double)steps_done(s, at) + 1;
    double warm = s->config->train.warmup_epochs * (double)s->epoch_steps;
    return steps < warm ? steps / warm : 1.0;
}

static double lr_of_stage(const struct sb_schedule *s, const struct sb_place *at)
{
    const struct sb_stage_rates *r = &at->stage->rates;
    if (at->epoch < r->hold)
        return r->lr;
    uint64_t all = (at->stage->epochs - r->hold) * s->epoch_steps;
    uint64_t done = (at->epoch - r->hold) * s->epoch_steps + at->batch;
    if (r->cosine)
        return r->second +
               (r->first - r->second) / 2 * (1 + cos(pi * (double)done / (double)all));
    return done < all - all / 2 ? r->first : r->second;
}

static double lr_of_milestones(const struct sb_schedule *s, const struct sb_place *at)
{
    double lr = s->config->train.lr;
    for (uint32_t k = milestones_passed(s, at); k > 0; k--)
        lr *= s->config->train.milestone_factor;
    return lr;
}

static double lr_when_warm(const struct sb_schedule *s, const struct sb_place *at)
{
    return has_milestones(s, at) ? lr_of_milestones(s, at) : lr_of_stage(s, at);
}

double sb_rates_lr(const struct sb_schedule *s, const struct sb_place *at)
{
    return lr_when_warm(s, at) * warmth(s, at);
}

double sb_rates_lr_rho(const struct sb_schedule *s, const struct sb_place *at)
{
    const struct sb_config_train *t = &s->config->train;
    bool exploring = has_milestones(s, at) ? milestones_passed(s, at) == 0
                                           : at->epoch < at->stage->rates.hold;
    bool own = exploring || t->rho_rate == SB_CONFIG_RHO_CONSTANT;
    return (own ? t->lr_rho : lr_when_warm(s, at)) * warmth(s, at);
}

/* ---- the KL term --------------------------------------------------------------------- */

double sb_rates_beta(const struct sb_schedule *s, const struct sb_place *at)
{
    const struct sb_config_method *m = &s->config->method;
    double done = (double)at->stage->first_epoch + at->epoch + 1;
    double anneal = m->kl_anneal_epochs;
    if (anneal < 1.0)
        anneal *= s->run_epochs;
    if (m->kl_anneal_by == SB_CONFIG_ANNEAL_STEP) {
        done = (double)steps_done(s, at) + 1;
        anneal *= (double)s->epoch_steps;
    }
    return done >= anneal ? 1.0 : done / anneal;
}

/* ---- the support --------------------------------------------------------------------- */

bool sb_rates_is_update(const struct sb_schedule *s, uint64_t step)
{
    return s->method->support == SB_SUPPORT_PRUNE_GROW && step > 0 &&
           step % s->config->method.delta_t == 0;
}

static double decayed(const struct sb_schedule *s, double rate, uint64_t step)
{
    if (s->config->method.rate_decay == SB_CONFIG_DECAY_NONE)
        return rate;
    return rate / 2 * (1 + cos(pi * (double)step / (double)s->run_steps));
}

double sb_rates_prune(const struct sb_schedule *s, uint64_t step)
{
    return decayed(s, s->config->method.prune_rate, step);
}

double sb_rates_prune_large(const struct sb_schedule *s, uint64_t step)
{
    return decayed(s, s->config->method.prune_rate_large, step);
}
