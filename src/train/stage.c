/* stage - see stage.h: one function a kind of schedule. */
#include "train/stage.h"

#include <assert.h>

#include "base/mem.h"

/* ---- parts of the lists -------------------------------------------------------------- */

static bool begins_training(const struct sb_stage *g)
{
    return g->begin == SB_STAGE_FRESH || g->begin == SB_STAGE_REWIND ||
           g->begin == SB_STAGE_GLOBAL_PRUNE;
}

/* A stage without epochs is left out; one that would go on where nothing was before it in
 * its run starts that run. */
static void add(struct sb_schedule *s, struct sb_stage g)
{
    const struct sb_stage *last = s->stages > 0 ? &s->stage[s->stages - 1] : NULL;
    if (g.epochs == 0)
        return;
    g.first_epoch = last && last->run == g.run ? last->first_epoch + last->epochs : 0;
    if (g.begin == SB_STAGE_GO_ON && g.first_epoch == 0)
        g.begin = SB_STAGE_FRESH;
    s->trainings += begins_training(&g);
    s->total_epochs += g.epochs;
    if (g.run == 0)
        s->run_epochs += g.epochs;
    s->stage[s->stages++] = g;
}

static enum sb_stage_support usual_support(const struct sb_schedule *s)
{
    return s->method->support == SB_SUPPORT_DENSE ? SB_STAGE_DENSE : SB_STAGE_SHARED;
}

static struct sb_stage explore(const struct sb_schedule *s, uint32_t run)
{
    const struct sb_config *c = s->config;
    return (struct sb_stage){
        .name = "explore",
        .run = run,
        .member = run,
        .epochs = c->method.explore_epochs,
        .begin = SB_STAGE_FRESH,
        .leaves = SB_STAGE_NOTHING,
        .support = usual_support(s),
        .rates = {.hold = c->method.explore_epochs,
                  .lr = c->train.lr,
                  .milestones = true},
    };
}

static struct sb_stage exploit(const struct sb_schedule *s, uint32_t run, uint32_t member)
{
    const struct sb_config *c = s->config;
    return (struct sb_stage){
        .name = "exploit",
        .run = run,
        .member = member,
        .epochs = c->method.exploit_epochs,
        .begin = SB_STAGE_GO_ON,
        .leaves = SB_STAGE_MEMBER,
        .support = usual_support(s),
        .rates = {.first = c->train.lr_first,
                  .second = c->train.lr_second,
                  .cosine = c->train.lr_shape == SB_CONFIG_COSINE,
                  .milestones = true},
    };
}

/* Exploration and exploitation as one stage, for runs that are prepared or repeated. */
static struct sb_stage whole_run(const struct sb_schedule *s, const char *name,
                                 uint32_t run, uint32_t member)
{
    struct sb_stage g = exploit(s, run, member);
    g.name = name;
    g.choose_from = g.rates.hold = s->config->method.explore_epochs;
    g.rates.lr = s->config->train.lr;
    g.epochs += g.rates.hold;
    return g;
}

/* ---- the lists ----------------------------------------------------------------------- */

/* Networks trained apart: each explores and exploits once. One that stands for all members
 * is one run. */
static void parallel(struct sb_schedule *s)
{
    uint32_t networks = s->method->form == SB_FORM_PLAIN ? s->config->method.members : 1;
    for (uint32_t m = 0; m < networks; m++) {
        add(s, explore(s, m));
        add(s, exploit(s, m, m));
    }
}

/* Algorithm 1: exploration, then exploitations, each of which leaves a member; between two
 * of them a large prune-grow carries the network elsewhere. */
static void sequential(struct sb_schedule *s)
{
    add(s, explore(s, 0));
    for (uint32_t m = 0; m < s->config->method.members; m++) {
        struct sb_stage g = exploit(s, 0, m);
        g.begin = m == 0 ? SB_STAGE_GO_ON : SB_STAGE_LARGE_UPDATE;
        add(s, g);
    }
}

/* Snapshots: a learning rate that falls along a cosine leaves a member and, back at its
 * top, the region it was found in. */
static void cycles(struct sb_schedule *s)
{
    for (uint32_t m = 0; m < s->config->method.members; m++) {
        struct sb_stage g = exploit(s, 0, m);
        g.name = "cycle";
        g.choose_from = g.epochs - 1;
        g.rates = (struct sb_stage_rates){.first = s->config->train.lr, .cosine = true};
        add(s, g);
    }
}

/* Prune and fine-tune: dense networks trained apart, each cut once and trained on. */
static void fine_tuned(struct sb_schedule *s)
{
    const struct sb_config *c = s->config;
    for (uint32_t m = 0; m < c->method.members; m++) {
        struct sb_stage dense = whole_run(s, "dense", m, m);
        struct sb_stage tune = dense;
        dense.begin = SB_STAGE_FRESH;
        dense.leaves = SB_STAGE_NOTHING;
        dense.support = SB_STAGE_DENSE;
        add(s, dense);
        tune.name = "fine-tune";
        tune.epochs = c->method.tune_epochs;
        tune.begin = SB_STAGE_GLOBAL_PRUNE;
        tune.support = SB_STAGE_PRUNED;
        tune.choose_from = 0;
        tune.rates = (struct sb_stage_rates){.first = c->train.lr_tune,
                                             .second = c->train.lr_tune};
        add(s, tune);
    }
}

/* The epochs after which ltr's dense run is early: as given, or 2 % of it, at least 1. */
static uint32_t keep_epoch(const struct sb_config_method *m, uint32_t epochs)
{
    uint32_t share = epochs / 50;
    return m->rewind_epoch > 0 ? m->rewind_epoch : share > 0 ? share : 1;
}

/* Lottery-ticket rewinding: one dense run gives a mask and early weights; members are
 * trained from these with the whole schedule, each in a data order of its own. */
static void rewound(struct sb_schedule *s)
{
    struct sb_stage dense = whole_run(s, "dense", 0, 0);
    dense.begin = SB_STAGE_FRESH;
    dense.leaves = SB_STAGE_KEPT;
    dense.support = SB_STAGE_DENSE;
    dense.keep_epoch = keep_epoch(&s->config->method, dense.epochs);
    add(s, dense);
    for (uint32_t m = 0; m < s->config->method.members; m++) {
        struct sb_stage g = whole_run(s, "retrain", m + 1, m);
        g.begin = SB_STAGE_REWIND;
        g.support = SB_STAGE_PRUNED;
        add(s, g);
    }
}

/* ---- the schedule -------------------------------------------------------------------- */

static void list_stages(struct sb_schedule *s)
{
    const struct sb_method *m = s->method;
    if (m->support == SB_SUPPORT_FINE_TUNE)
        fine_tuned(s);
    else if (m->support == SB_SUPPORT_REWIND)
        rewound(s);
    else if (m->schedule != SB_SCHEDULE_SEQUENTIAL)
        parallel(s);
    else if (m->support == SB_SUPPORT_PRUNE_GROW)
        sequential(s);
    else
        cycles(s);
}

sb_status sb_schedule_init(struct sb_schedule *s, const struct sb_config *config,
                           const struct sb_method *method, uint64_t images)
{
    uint32_t members = config->method.members, batch = config->train.batch;
    assert(images > 0 && batch > 0 && members > 0);
    *s = (struct sb_schedule){.config = config, .method = method};
    s->stage =
        sb_calloc(2 * (size_t)members + 1, sizeof *s->stage); /* no list has more */
    if (!s->stage)
        return sb_fail(SB_ENOMEM, "no memory for the stages of %u members", members);
    list_stages(s);
    s->epoch_steps = images / batch + (images % batch != 0);
    s->run_steps = s->epoch_steps * s->run_epochs;
    s->total_steps = s->epoch_steps * s->total_epochs;
    s->dense_epochs = config->method.explore_epochs + config->method.exploit_epochs;
    return SB_OK;
}

void sb_schedule_only(struct sb_schedule *s, uint32_t member, bool dense)
{
    uint32_t kept = 0;
    s->total_epochs = s->trainings = 0;
    for (uint32_t i = 0; i < s->stages; i++) {
        const struct sb_stage *g = &s->stage[i];
        bool shared = g->leaves == SB_STAGE_KEPT;
        if (shared ? !dense : g->member != member)
            continue;
        s->total_epochs += g->epochs;
        s->trainings += begins_training(g);
        s->stage[kept++] = *g;
    }
    s->stages = kept;
    s->total_steps = s->epoch_steps * s->total_epochs;
}

void sb_schedule_fini(struct sb_schedule *s)
{
    if (!s)
        return;
    sb_free(s->stage);
    *s = (struct sb_schedule){0};
}

const struct sb_stage *sb_schedule_at(const struct sb_schedule *s, uint64_t of_all,
                                      uint32_t *epoch)
{
    uint32_t i = 0;
    assert(of_all < s->total_epochs);
    while (of_all >= s->stage[i].epochs)
        of_all -= s->stage[i++].epochs;
    *epoch = (uint32_t)of_all;
    return &s->stage[i];
}
