/* loaded - see loaded.h. */
#include "predict/loaded.h"

#include "base/failure.h"
#include "base/mem.h"
#include "base/threads.h"
#include "kernels/kernels.h"

/* Images that a plan is made for. Linear layers take 64 images at once, or 128 where there
 * are that many (kernels/corr.h). */
static const uint32_t plan_images[SB_PLAN_COUNT] = {1, 64, 1 << 20};

uint32_t sb_plan_share(uint64_t n, uint32_t threads, uint32_t lanes)
{
    uint64_t each = (n + threads - 1) / threads;
    return (uint32_t)((each + lanes - 1) / lanes * lanes);
}

enum sb_plan sb_plan_for(const struct sb_env *env, enum sb_load load, uint32_t max_batch)
{
    uint32_t threads = (uint32_t)env->threads, lanes = env->kernels->lanes;
    if (max_batch == 1 && load != SB_LOAD_GAUSS) /* which has no activation noise */
        return SB_PLAN_SINGLE;
    return sb_plan_share(max_batch, threads, lanes) <= plan_images[SB_PLAN_FEW]
               ? SB_PLAN_FEW
               : SB_PLAN_MANY;
}

enum sb_load sb_load_for(const struct sb_model *m, const struct sb_sampling *s)
{
    if (!sb_model_draws(m) || s->kind == SB_SAMPLE_MEAN)
        return SB_LOAD_MEAN;
    if (s->kind == SB_SAMPLE_NOISE && m->info.gauss)
        return SB_LOAD_GAUSS;
    return s->draws == 1 ? SB_LOAD_DRAW : SB_LOAD_MEAN; /* later draws replace the mean */
}

struct loading {
    const struct sb_model *model;
    struct sb_model_plan plan;
    enum sb_load load;
    struct sb_env env; /* that a member is loaded in */
    struct sb_net *member;
    uint32_t group;
    struct sb_failure failure;
};

/* Member i; one that is not the first of its group borrows from that. */
static void load_member(struct loading *j, size_t i)
{
    struct sb_net *net = &j->member[i];
    struct sb_model_plan plan = j->plan;
    plan.prefix = i % j->group > 0 ? &j->member[i - i % j->group] : NULL;
    sb_status st = sb_model_net(j->model, (uint32_t)i, &plan, net);
    if (st == SB_OK)
        st = sb_model_load(j->model, (uint32_t)i, j->load != SB_LOAD_DRAW, &j->env, net);
    sb_failure_note(&j->failure, i, st);
    for (uint32_t k = 0; st == SB_OK && k < net->arch.weights; k++)
        if (net->weight_node[k] >= net->borrowed)
            sb_pattern_fini(&net->weight[k].pattern); /* the kernel order is enough */
}

static void load_first(void *context, size_t i, int worker)
{
    struct loading *j = context;
    (void)worker;
    load_member(j, i * j->group);
}

static void load_other(void *context, size_t i, int worker)
{
    struct loading *j = context;
    size_t others = j->group - 1;
    (void)worker;
    load_member(j, i / others * j->group + 1 + i % others);
}

/* Threads share out members: meeting once costs less than meeting at every layer. */
sb_status sb_loaded_init(struct sb_loaded *l, const struct sb_env *env,
                         const struct sb_model *m, enum sb_load load, enum sb_plan plan)
{
    *l = (struct sb_loaded){.members = m->members, .group = sb_model_group(m)};
    l->member = sb_calloc(m->members, sizeof *l->member);
    if (!l->member)
        return sb_fail(SB_ENOMEM, "no memory for %u members", m->members);
    struct loading j = {
        .model = m,
        .plan = {.lanes = env->kernels->lanes,
                 .max_batch = plan_images[plan],
                 .threads = 1,
                 .parameters = true,
                 .single = plan == SB_PLAN_SINGLE,
                 .gauss = load == SB_LOAD_GAUSS},
        .load = load,
        .env = *env,
        .member = l->member,
        .group = l->group,
        .failure = SB_FAILURE_NONE,
    };
    size_t groups = m->members / l->group;
    j.env.threads = 1;
    sb_threads_run(env->threads, groups, load_first, &j);
    if (j.failure.status == SB_OK)
        sb_threads_run(env->threads, m->members - groups, load_other, &j);
    return sb_failure_raise(&j.failure);
}

void sb_loaded_fini(struct sb_loaded *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; l->member && i < l->members; i++)
        sb_net_fini(&l->member[i]);
    sb_free(l->member);
    *l = (struct sb_loaded){0};
}
