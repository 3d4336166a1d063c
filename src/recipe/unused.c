/* unused - options that somebody said and that this recipe does not use; see options.h.
 *
 * A dropout rate under a method without dropout is no mistake that could be refused: recipes
 * are kept and only their method changed, and a written recipe has every option. But who
 * says one that then does nothing should not take the result for that option's. */
#include <stdio.h>
#include <string.h>

#include "recipe/options.h"

enum use {
    GAUSS,      /* weights have a posterior */
    KL,         /* ... or scales */
    SHARED_OUT, /* the first support is random */
    MOVES,      /* ... and moves */
    LEAPS,      /* ... by p_L, too, between two members */
    TUNED,
    REWOUND,
    DROPOUT,
    MIMO,
    SCALES,
    SPREAD, /* scales that start normal */
    RANK_1,
    TREE,
    EXPLORES, /* there are epochs at train.lr */
    RHO,      /* ... or at train.lr_rho */
    CHOOSES,  /* a member is the best of several epochs */
    SAMPLES,  /* there is something to draw at test */
    DRAWS,    /* ... more than once */
    HALVES,   /* exploitation has rates of its own */
    MILESTONES,
    GROUPS, /* weights are drawn once a group */
    AUGMENT
};

static const struct {
    const char *name;
    enum use use;
} table[] = {
    {"data.augment_validation", AUGMENT},
    {"data.pad", AUGMENT},
    {"method.allocation", SHARED_OUT},
    {"method.prior_variance", GAUSS},
    {"method.rho_init", GAUSS},
    {"method.kl_anneal_epochs", KL},
    {"method.kl_anneal_by", KL},
    {"method.tune_epochs", TUNED},
    {"method.rewind_epoch", REWOUND},
    {"method.prune_rate", MOVES},
    {"method.prune_rate_large", LEAPS},
    {"method.delta_t", MOVES},
    {"method.rate_decay", MOVES},
    {"method.criterion", MOVES},
    {"method.grow_batches", MOVES},
    {"method.step_on_update", MOVES},
    {"method.dropout_rate", DROPOUT},
    {"method.dropout_mask", DROPOUT},
    {"method.passes", DROPOUT},
    {"method.repetitions", MIMO},
    {"method.same_share", MIMO},
    {"method.scale_start", SCALES},
    {"method.scale_spread", SPREAD},
    {"method.scale_rate", SCALES},
    {"method.scale_sd", RANK_1},
    {"method.scale_prior_sd", RANK_1},
    {"method.branch_at", TREE},
    {"train.group", GROUPS},
    {"train.lr", EXPLORES},
    {"train.lr_first", HALVES},
    {"train.lr_second", HALVES},
    {"train.lr_shape", HALVES},
    {"train.lr_tune", TUNED},
    {"train.lr_rho", RHO},
    {"train.rho_rate", GAUSS},
    {"train.milestone_factor", MILESTONES},
    {"train.choose", CHOOSES},
    {"eval.sampling", SAMPLES},
    {"eval.draws", DRAWS},
};

static bool uses(const struct sb_recipe *r, enum use use)
{
    const struct sb_config *c = &r->config;
    const struct sb_method *m = r->method;
    const bool gauss = m->posterior == SB_POSTERIOR_GAUSS;
    const bool moves = m->support == SB_SUPPORT_PRUNE_GROW;
    const bool rank_1 = m->form == SB_FORM_RANK_1;
    const bool scales = rank_1 || m->form == SB_FORM_BATCH_ENSEMBLE;
    const bool sequential = m->schedule == SB_SCHEDULE_SEQUENTIAL;
    const bool cycles = sequential && m->support == SB_SUPPORT_DENSE;
    const bool milestones = c->train.milestones.count > 0;
    const bool explores = c->method.explore_epochs > 0 || milestones;
    const bool constant = c->train.rho_rate == SB_CONFIG_RHO_CONSTANT;
    const bool draws = c->eval.sampling == SB_SAMPLE_DRAWS;
    const bool used[] = {
        [GAUSS] = gauss,
        [KL] = gauss || rank_1,
        [SHARED_OUT] = moves || m->support == SB_SUPPORT_STATIC,
        [MOVES] = moves,
        [LEAPS] = moves && sequential && c->method.members > 1,
        [TUNED] = m->support == SB_SUPPORT_FINE_TUNE,
        [REWOUND] = m->support == SB_SUPPORT_REWIND,
        [DROPOUT] = m->form == SB_FORM_DROPOUT,
        [MIMO] = m->form == SB_FORM_MIMO,
        [SCALES] = scales,
        [SPREAD] = scales && c->method.scale_start == SB_CONFIG_NORMAL,
        [RANK_1] = rank_1,
        [TREE] = m->form == SB_FORM_TREE,
        [EXPLORES] = explores || cycles,
        [RHO] = gauss && (explores || constant),
        [CHOOSES] = !cycles && c->data.validation > 0,
        [SAMPLES] = gauss || rank_1,
        [DRAWS] = (gauss || rank_1) && draws,
        [HALVES] = !milestones && !cycles,
        [MILESTONES] = milestones,
        [GROUPS] = c->train.estimator == SB_CONFIG_WEIGHTS,
        [AUGMENT] = c->data.augment != SB_CONFIG_AUGMENT_NONE,
    };
    return used[use];
}

/* The method's recipe if nothing else were said. */
static sb_status bare(const struct sb_recipe *r, struct sb_recipe *out)
{
    sb_recipe_init(out);
    out->config.method.posterior = r->config.method.posterior;
    out->config.method.support = r->config.method.support;
    sb_status st = sb_recipe_set(out, "method.name", r->method->name);
    if (st == SB_OK)
        st = sb_recipe_resolve(out);
    out->config.train.choose = SB_CONFIG_BY_ACCURACY; /* "auto", of images */
    return st;
}

/* Numbers count, also where the data decides them. */
static bool differs(const struct sb_recipe *a, const struct sb_recipe *b,
                    const struct sb_option *o)
{
    char x[SB_OPTION_VALUE], y[SB_OPTION_VALUE];
    sb_option_format(o, (const char *)&a->config + o->offset, x);
    sb_option_format(o, (const char *)&b->config + o->offset, y);
    return strcmp(x, y) != 0;
}

const char *sb_recipe_unused(const struct sb_recipe *r, bool table_of_numbers,
                             char out[SB_RECIPE_UNUSED])
{
    struct sb_recipe usual;
    size_t used = 0;
    out[0] = '\0';
    if (bare(r, &usual) != SB_OK)
        return out;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct sb_option *o = NULL;
        if (uses(r, table[i].use) || sb_option_find(table[i].name, &o) != SB_OK ||
            !r->given[o - sb_option_at(0)] || !differs(r, &usual, o) ||
            (table_of_numbers && (o->flags & SB_OPTION_AUTO)))
            continue;
        used += (size_t)snprintf(out + used, SB_RECIPE_UNUSED - used, "%s%s",
                                 used ? ", " : "", o->name);
    }
    return out;
}
