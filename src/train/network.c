/* network - the network of a stage: which weights exist, and what it begins with.
 *
 * A network is planned for the number of weights that each layer has. A stage that begins
 * with another number (after a prune, for the next member's dense run, or when a run is
 * taken up in such a stage) has it planned anew; between stages nothing but the members, the
 * kept weights and the position survives that.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "train/prune.h"
#include "train/state.h"

/* ---- planning ------------------------------------------------------------------------ */

struct sb_form_spec sb_trainer_form(const struct sb_config *c, const struct sb_method *m)
{
    const struct sb_config_method *o = &c->method;
    struct sb_form_spec s = {
        .kind = m->form,
        .members = m->form == SB_FORM_PLAIN     ? 1
                   : m->form == SB_FORM_DROPOUT ? o->passes
                                                : o->members,
        .rate = (float)o->dropout_rate,
        .channels = o->dropout_mask == SB_CONFIG_CHANNELS,
        .spread = o->scale_start == SB_CONFIG_SIGNS ? 0.0f : (float)o->scale_spread,
        .scale_sd = (float)o->scale_sd,
        .scale_prior_sd = (float)o->scale_prior_sd,
        .repetitions = o->repetitions,
        .same = (float)o->same_share,
    };
    memcpy(s.branch_at, o->branch_at, sizeof s.branch_at);
    return s;
}

uint32_t sb_trainer_group(const struct sb_config *c)
{
    return c->train.estimator == SB_CONFIG_WEIGHTS ? c->train.group : 0;
}

/* How many weights each layer of a fresh network gets. */
static sb_status share_out(const struct sb_trainer *t, const struct sb_arch *a,
                           enum sb_stage_support support, uint32_t *active)
{
    const struct sb_config_method *m = &t->config->method;
    struct sb_weight_shape *shape = sb_malloc(a->weights, sizeof *shape);
    struct sb_allocation *plan = sb_malloc(a->weights, sizeof *plan);
    sb_status st = SB_OK;
    if (!shape || !plan) {
        st = sb_fail(SB_ENOMEM, "no memory to plan %u layers", a->weights);
        goto done;
    }
    sb_arch_weight_shapes(a, shape);
    double density = support == SB_STAGE_DENSE ? 1.0 : 1.0 - m->sparsity;
    st = m->allocation == SB_CONFIG_ERK
             ? sb_topology_erk(shape, a->weights, density, plan)
             : sb_topology_uniform(shape, a->weights, density, plan);
    for (uint32_t i = 0; st == SB_OK && i < a->weights; i++)
        active[i] = plan[i].active;
done:
    sb_free(shape);
    sb_free(plan);
    return st;
}

/* The architecture that is trained. */
static sb_status build_arch(const struct sb_trainer *t, struct sb_arch *out)
{
    struct sb_arch_shape shape = sb_source_shape(&t->source, t->config);
    return sb_form_build(&t->form, &shape, SB_FORM_TRAINED, out);
}

sb_status sb_trainer_plan(struct sb_trainer *t, const uint32_t *active)
{
    struct sb_arch a = {0};
    uint32_t rows = sb_form_rows(&t->form, t->config->train.batch);
    struct sb_net_options o = {
        .made = &a,
        .lanes = t->env->kernels->lanes,
        .max_batch = rows,
        .shard = sb_shards_width(rows, t->config->train.shards,
                                 sb_config_shard_step(&t->config->train)),
        .comm = t->options->apart ? NULL : t->env->comm,
        .threads = t->env->threads,
        .gauss = t->method->posterior == SB_POSTERIOR_GAUSS,
        .group = sb_trainer_group(t->config),
        .active = active,
    };
    sb_growth_fini(&t->growth);
    sb_trained_fini(&t->best);
    sb_trained_fini(&t->now);
    sb_net_fini(&t->net);
    sb_feeder_fini(&t->feeder);
    t->has_best = false;
    sb_status st = build_arch(t, &a);
    if (st == SB_OK)
        st = sb_feeder_init(&t->feeder, &t->form, &a, t->env->kernels->lanes,
                            t->config->train.batch);
    if (st == SB_OK)
        st = sb_net_init(&t->net, &o);
    sb_arch_fini(&a);
    if (st == SB_OK)
        st = sb_trained_init(&t->best, &t->net);
    return st == SB_OK ? sb_trained_init(&t->now, &t->net) : st;
}

/* Whether the network already has so many weights. */
static bool has_active(const struct sb_net *n, const uint32_t *active)
{
    bool same = n->weight != NULL;
    for (uint32_t i = 0; same && i < n->arch.weights; i++)
        same = n->weight[i].nnz == active[i];
    return same;
}

/* The architecture that is trained, and how many weights each layer of a fresh network gets,
 * which the caller frees; also after a failure. */
static sb_status plan_weights(const struct sb_trainer *t, enum sb_stage_support support,
                              struct sb_arch *a, uint32_t **active)
{
    *active = NULL;
    sb_status st = build_arch(t, a);
    if (st != SB_OK)
        return st;
    *active = sb_calloc(a->weights, sizeof **active);
    return *active ? share_out(t, a, support, *active)
                   : sb_fail(SB_ENOMEM, "no memory to plan %u layers", a->weights);
}

sb_status sb_trainer_plan_fresh(struct sb_trainer *t, enum sb_stage_support support)
{
    struct sb_arch a;
    uint32_t *active;
    sb_status st = plan_weights(t, support, &a, &active);
    if (st == SB_OK && !has_active(&t->net, active))
        st = sb_trainer_plan(t, active);
    sb_arch_fini(&a);
    sb_free(active);
    return st;
}

sb_status sb_trainer_fresh_macs(const struct sb_trainer *t, enum sb_stage_support support,
                                double *macs)
{
    struct sb_arch a;
    uint32_t *active;
    sb_status st = plan_weights(t, support, &a, &active);
    *macs = 0.0;
    for (uint32_t i = 0, weight = 0; i < a.nodes && st == SB_OK; i++)
        if (a.node[i].kind == SB_NODE_WEIGHT)
            *macs += (double)active[weight++] * a.node[i].conv.out_height *
                     a.node[i].conv.out_width;
    sb_arch_fini(&a);
    sb_free(active);
    return st;
}

/* ---- what a stage begins with -------------------------------------------------------- */

/* The network becomes m, planned anew if need be; momenta are 0. */
static sb_status become(struct sb_trainer *t, const struct sb_trained *m)
{
    uint32_t *active = sb_malloc(m->weights, sizeof *active);
    if (!active)
        return sb_fail(SB_ENOMEM, "no memory to plan %u layers", m->weights);
    sb_trained_active(m, active);
    sb_status st = has_active(&t->net, active) ? SB_OK : sb_trainer_plan(t, active);
    if (st == SB_OK)
        st = sb_trained_load(m, t->env, &t->net);
    sb_free(active);
    return st;
}

/* *out = a copy of the network as it is. */
static sb_status copy_net(const struct sb_trainer *t, struct sb_trained *out)
{
    sb_status st = sb_trained_init(out, &t->net);
    return st == SB_OK ? sb_trained_save(out, &t->net) : st;
}

sb_status sb_trainer_prune(struct sb_trainer *t)
{
    struct sb_trained whole, pruned = {0};
    sb_status st = copy_net(t, &whole);
    if (st == SB_OK)
        st = sb_prune_member(&t->net.arch, &whole, &whole, t->config->method.sparsity,
                             &pruned);
    sb_trained_fini(&whole);
    if (st == SB_OK)
        st = become(t, &pruned);
    sb_trained_fini(&pruned);
    return st;
}

static sb_status start(struct sb_trainer *t, const struct sb_stage *g)
{
    sb_status st = sb_trainer_plan_fresh(t, g->support);
    if (st == SB_OK)
        st = sb_net_start(&t->net, t->config->train.seed, g->run,
                          (float)t->config->method.rho_init);
    if (st == SB_OK)
        sb_net_refresh(t->env, &t->net);
    return st;
}

sb_status sb_trainer_enter(struct sb_trainer *t, const struct sb_stage *g)
{
    switch (g->begin) {
    case SB_STAGE_FRESH:
        t->at.step = 0;
        return start(t, g);
    case SB_STAGE_REWIND:
        t->at.step = 0;
        return become(t, &t->kept);
    case SB_STAGE_GLOBAL_PRUNE:
        return sb_trainer_prune(t);
    case SB_STAGE_GO_ON:
    case SB_STAGE_LARGE_UPDATE: /* its first batch: update_rate */
        break;
    }
    return SB_OK;
}

/* ---- what others rewind to ----------------------------------------------------------- */

sb_status sb_trainer_keep(struct sb_trainer *t)
{
    sb_trained_fini(&t->kept);
    sb_status st = copy_net(t, &t->kept);
    t->has_kept = st == SB_OK;
    return st;
}

sb_status sb_trainer_mask_kept(struct sb_trainer *t)
{
    struct sb_trained last, masked = {0};
    sb_status st = copy_net(t, &last);
    if (st == SB_OK)
        st = sb_prune_member(&t->net.arch, &last, &t->kept, t->config->method.sparsity,
                             &masked);
    sb_trained_fini(&last);
    if (st != SB_OK) {
        sb_trained_fini(&masked);
        return st;
    }
    sb_trained_fini(&t->kept);
    t->kept = masked;
    return SB_OK;
}
