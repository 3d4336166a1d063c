/* sizes - ensembles of other sizes that cost as much to train (docs/evaluation.md).
 *
 * The cost of members and sparsity is that of the stages that sb_run_plan prints (but not of a
 * run that finds a width), from shapes alone: no network is planned and nothing is timed. It falls with sparsity, so the one that is asked for is
 * found by halving.
 */
#include <math.h>

#include "base/rng.h"
#include "train/state.h"

enum {
    STEPS = 10000, /* of sparsity: four decimals */
    MOST = 1000    /* ensembles that are asked for */
};

/* What training so many members takes, in FLOP. */
static sb_status cost_of(struct sb_trainer *t, uint32_t members, double sparsity,
                         double *cost)
{
    struct sb_schedule s;
    double rows = t->source.part.train_count;
    t->recipe.config.method.members = members;
    t->recipe.config.method.sparsity = sparsity;
    *cost = 0.0;
    sb_status st = sb_schedule_init(&s, t->config, t->method, t->source.part.train_count);
    for (uint32_t i = 0; i < s.stages && st == SB_OK; i++) {
        double macs = 0.0;
        st = sb_trainer_fresh_macs(t, s.stage[i].support, &macs);
        *cost += 2.0 * macs * 3.0 * rows * s.stage[i].epochs;
    }
    sb_schedule_fini(&s);
    return st;
}

/* The sparsity whose cost is nearest to `wanted`. */
static sb_status find_sparsity(struct sb_trainer *t, uint32_t members, double wanted,
                               double *sparsity, double *cost)
{
    int dear = 0, cheap = STEPS - 1; /* the cost of `dear` is above, where any is */
    double above, below;
    sb_status st = cost_of(t, members, 0.0, &above);
    if (st == SB_OK)
        st = cost_of(t, members, (double)cheap / STEPS, &below);
    while (st == SB_OK && cheap - dear > 1 && above > wanted) {
        int middle = (dear + cheap) / 2;
        double at = 0.0;
        st = cost_of(t, members, (double)middle / STEPS, &at);
        if (at > wanted) {
            dear = middle;
            above = at;
        } else {
            cheap = middle;
            below = at;
        }
    }
    if (st != SB_OK)
        return st;
    bool dense = fabs(above - wanted) <= fabs(below - wanted);
    *sparsity = (double)(dense ? dear : cheap) / STEPS;
    *cost = dense ? above : below;
    return SB_OK;
}

static sb_status check(const struct sb_recipe *r, const uint32_t *members, size_t count)
{
    enum sb_support s = r->method->support;
    if (r->method->form != SB_FORM_PLAIN ||
        (s != SB_SUPPORT_PRUNE_GROW && s != SB_SUPPORT_STATIC))
        return sb_fail(SB_EARG,
                       "%s has no sparsity that its cost follows from before it is "
                       "trained; sebays, bays, edst, dst and static have",
                       r->method->name);
    if (count > MOST)
        return sb_fail(SB_EARG, "%zu sizes of ensembles: want at most %d", count, MOST);
    for (size_t i = 0; i < count; i++)
        if (members[i] == 0 || members[i] > SB_RNG_MEMBERS)
            return sb_fail(SB_EARG, "an ensemble of %u members: want 1 to %d", members[i],
                           SB_RNG_MEMBERS);
    return SB_OK;
}

sb_status sb_run_sizes(const struct sb_env *env, const struct sb_recipe *recipe,
                       const uint32_t *members, size_t count, double *sparsity,
                       double *cost)
{
    struct sb_run_options o = {0};
    struct sb_trainer t = {0};
    double wanted = 0.0, dense = 0.0;
    sb_status st = check(recipe, members, count);
    if (st != SB_OK)
        return st;
    st = sb_trainer_open_data(&t, env, recipe, &o);
    if (st == SB_OK) {
        const struct sb_config_method *m = &t.config->method;
        t.schedule.dense_epochs = m->explore_epochs + m->exploit_epochs;
        st = cost_of(&t, m->members, m->sparsity, &wanted);
    }
    if (st == SB_OK)
        st = sb_trainer_dense_run(&t, &dense);
    for (size_t i = 0; i < count && st == SB_OK; i++) {
        st = find_sparsity(&t, members[i], wanted, &sparsity[i], &cost[i]);
        cost[i] /= dense;
    }
    sb_trainer_close(&t);
    return st;
}
