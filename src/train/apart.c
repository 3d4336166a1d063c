/* apart - members of a run trained at the same time by groups of a job's processes.
 *
 * Where a method trains its members apart, a job's processes are cut into groups, each of which
 * trains some members: as tasks (task.c), each in a directory member-K of the run directory,
 * with checkpoints of its own, and every batch shared within the group. At the end all make
 * the run of the tasks. A run that has such directories goes on with them, on any number of
 * processes.
 *
 * ltr's members begin with one dense run, which groups would have to repeat: its processes
 * stay together.
 */

#include <stdio.h>

#include "base/comm.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "train/pulse.h"
#include "train/state.h"
#include "train/together.h"

struct apart {
    const struct sb_env *env; /* of the job */
    const struct sb_recipe *recipe;
    const struct sb_run_options *o;
    uint32_t members, groups, group;
    struct sb_comm *comm;             /* owned: this process's group; NULL: alone */
    struct sb_lock lock;              /* rank 0's, on the run directory */
    struct sb_pulse pulse;            /* of the job */
    char (*directory)[SB_PATH_BYTES]; /* [members] owned */
};

/* ---- whether, and how many groups ------------------------------------------------------ */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

uint32_t sb_apart_groups(uint32_t members, uint32_t ranks, uint32_t shards)
{
    uint32_t best = 1, least = UINT32_MAX;
    for (uint32_t g = 1; g <= members && g <= ranks; g++) {
        if (divide_up(ranks, g) > shards)
            continue;
        uint32_t time = divide_up(members, g) * divide_up(shards, ranks / g);
        if (time <= least) {
            least = time;
            best = g;
        }
    }
    return best;
}

/* Whether the run directory was begun with tasks. */
static sb_status has_tasks(const struct sb_run_options *o, bool *out)
{
    char first[SB_PATH_BYTES];
    sb_status st = sb_run_member(o->out, 0, first);
    *out = st == SB_OK && o->resume && sb_run_has(first, SB_RUN_RECIPE) &&
           !sb_checkpoint_exists(o->out);
    return st;
}

/* Whether the method has members that can be trained apart, and all of them are wanted. */
static bool can_be(const struct sb_recipe *r, const struct sb_run_options *o)
{
    return r->method->schedule == SB_SCHEDULE_PARALLEL &&
           r->method->support != SB_SUPPORT_REWIND && !o->one_member;
}

/* a->groups, 0: they train together. All have rank 0's word on what is in the directory. */
static sb_status decide(struct apart *a, const struct sb_trainer *t)
{
    uint32_t rows = t->config->train.batch, size = sb_comm_size(a->env->comm);
    struct sb_shards s = {.width =
                              sb_shards_width(rows, t->config->train.shards,
                                              sb_config_shard_step(&t->config->train))};
    unsigned char word[2] = {0}; /* tasks; checkpoints */
    bool tasks = false;
    sb_status st = has_tasks(a->o, &tasks);
    word[0] = tasks;
    word[1] = a->o->resume && sb_checkpoint_exists(a->o->out);
    if (st == SB_OK)
        st = sb_comm_broadcast(a->env->comm, "the run directory", word, sizeof word, 0);
    a->members = t->config->method.members;
    a->groups = sb_apart_groups(a->members, size, sb_shards_of(&s, rows));
    /* A trajectory would stay with the tasks, so that who wants it trains together. */
    if (t->config->train.trajectory && size <= sb_shards_of(&s, rows))
        a->groups = 1;
    if (word[1] || (a->groups == 1 && !word[0]))
        a->groups = 0;
    return st;
}

/* The group of a rank; each has at least ranks / groups. */
static uint32_t group_of(const struct apart *a, uint32_t rank)
{
    uint32_t size = sb_comm_size(a->env->comm), g = 0;
    while ((uint64_t)size * (g + 1) / a->groups <= rank)
        g++;
    return g;
}

/* ---- training -------------------------------------------------------------------------- */

/* Takes the directory, and leaves the recipe there. */
static sb_status begin(struct apart *a, struct sb_trainer *t)
{
    sb_status st = sb_together_check(t);
    if (st == SB_OK)
        st = sb_trainer_begin_files(t);
    a->lock = t->lock;
    t->lock = (struct sb_lock){0};
    a->directory = sb_calloc(a->members, sizeof *a->directory);
    if (st == SB_OK && !a->directory)
        st = sb_fail(SB_ENOMEM, "no memory for the names of %u members", a->members);
    for (uint32_t k = 0; st == SB_OK && k < a->members; k++)
        st = sb_run_member(a->o->out, k, a->directory[k]);
    if (st == SB_OK)
        st = sb_pulse_init(&a->pulse, a->env->comm);
    a->group = group_of(a, sb_comm_rank(a->env->comm));
    if (st == SB_OK)
        st = sb_comm_split(a->env->comm, a->group, &a->comm);
    if (st == SB_OK && a->groups > 1)
        sb_log_write(a->env->log, SB_LOG_INFO,
                     "%u processes train %u members in %u groups, each into %s/member-K; "
                     "what is shown is the first group's",
                     sb_comm_size(a->env->comm), a->members, a->groups, a->o->out);
    return st;
}

/* Whether the task was finished before; its group has its first rank's word. */
static sb_status is_finished(const struct apart *a, uint32_t member, bool *out)
{
    unsigned char word = a->o->resume && sb_run_has(a->directory[member], SB_RUN_RESULTS);
    sb_status st = sb_comm_broadcast(a->comm, "finished members", &word, 1, 0);
    *out = word;
    return st;
}

static sb_status train_member(struct apart *a, uint32_t member)
{
    struct sb_env env = *a->env;
    struct sb_run_options o = *a->o;
    struct sb_run_result result;
    bool finished;
    sb_status st = is_finished(a, member, &finished);
    if (st != SB_OK || finished)
        return st;
    env.comm = a->comm;
    o.out = a->directory[member];
    o.one_member = true;
    o.member = member;
    o.pulse = &a->pulse;
    st = sb_trainer_train(&env, a->recipe, &o, &result);
    sb_run_result_fini(&result);
    return st;
}

/* This group's members; returns when no group has any left. */
static sb_status train_members(struct apart *a)
{
    sb_status st = SB_OK;
    for (uint32_t k = a->group; st == SB_OK && k < a->members; k += a->groups)
        st = train_member(a, k);
    if (st != SB_OK && st != SB_ECANCELED)
        return st;
    sb_status others =
        sb_pulse_end(&a->pulse, st == SB_OK ? SB_PULSE_DONE : SB_PULSE_STOPPED);
    if (others != SB_OK || !a->pulse.stop)
        return others;
    return sb_fail(SB_ECANCELED, "stopped while members were trained apart");
}

static sb_status merge(struct apart *a, struct sb_run_result *out)
{
    struct sb_run_options o = *a->o;
    const char **list = sb_calloc(a->members, sizeof *list);
    if (!list)
        return sb_fail(SB_ENOMEM, "no memory for the names of %u members", a->members);
    for (uint32_t k = 0; k < a->members; k++)
        list[k] = a->directory[k];
    o.resume = o.apart = true;
    sb_lock_release(&a->lock); /* the merge takes it */
    sb_status st = sb_run_merge(a->env, a->recipe, &o, list, a->members, out);
    sb_free(list);
    return st;
}

static void close_apart(struct apart *a)
{
    sb_lock_release(&a->lock);
    sb_pulse_fini(&a->pulse);
    sb_comm_release(a->comm);
    sb_free(a->directory);
}

/* *done: they were trained apart, whatever came of it. */
static sb_status train_apart(struct apart *a, struct sb_run_result *out, bool *done)
{
    struct sb_run_options o = *a->o;
    struct sb_trainer t;
    o.apart = true;
    sb_status st = sb_trainer_open_data(&t, a->env, a->recipe, &o);
    if (st == SB_OK)
        st = decide(a, &t);
    *done = st != SB_OK || a->groups > 0;
    if (st == SB_OK && *done)
        st = begin(a, &t);
    sb_trainer_close(&t); /* groups have the data themselves */
    if (st == SB_OK && *done)
        st = train_members(a);
    if (st == SB_OK && *done)
        st = merge(a, out);
    return st;
}

sb_status sb_run_train(const struct sb_env *env, const struct sb_recipe *recipe,
                       const struct sb_run_options *o, struct sb_run_result *out)
{
    struct apart a = {.env = env, .recipe = recipe, .o = o};
    bool tasks = false, done = false;
    *out = (struct sb_run_result){0};
    sb_status st = can_be(recipe, o) ? has_tasks(o, &tasks) : SB_OK;
    if (st == SB_OK && can_be(recipe, o) && (tasks || sb_comm_size(env->comm) > 1))
        st = train_apart(&a, out, &done);
    close_apart(&a);
    return st != SB_OK || done ? st : sb_trainer_train(env, recipe, o, out);
}
