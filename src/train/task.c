/* task - one member of a run alone, and the run made of all of them.
 *
 * Where a method trains its members apart, each is a function of the recipe and its own
 * number: which weights it starts with, its data order and its noise are counted by its run.
 * So a cluster may train them at the same time, each in a directory of its own, which is a
 * whole run directory with a model of one member. A member's number is in its sample seed,
 * which the model file has.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/checkpoint.h"
#include "train/state.h"
#include "train/together.h"

/* ---- one member ----------------------------------------------------------------------- */

static bool rewinds(const struct sb_trainer *t)
{
    return t->method->support == SB_SUPPORT_REWIND;
}

sb_status sb_trainer_only(struct sb_trainer *t)
{
    const struct sb_run_options *o = t->options;
    uint32_t members = t->config->method.members;
    if (o->dense_from && !(o->one_member && rewinds(t)))
        return sb_fail(
            SB_EARG, "only a single member (--member) of ltr begins with the dense stage "
                     "of another run (--from)");
    if (!o->one_member)
        return SB_OK;
    if (t->method->schedule != SB_SCHEDULE_PARALLEL)
        return sb_fail(
            SB_EARG,
            "%s %s, so that no member can be trained alone (--member); those of "
            "dnn-ensemble, bnn-ensemble, static, dst, bays, pf and ltr can",
            t->method->name,
            t->method->schedule == SB_SCHEDULE_SEQUENTIAL
                ? "trains its members one out of the other"
                : "trains one network");
    if (o->member >= members)
        return sb_fail(SB_EARG, "member %u: the recipe has %u, counted from 0", o->member,
                       members);
    t->at.task = (uint64_t)o->member + 1;
    sb_schedule_only(&t->schedule, o->member, !o->dense_from);
    return SB_OK;
}

/* ---- all of them ---------------------------------------------------------------------- */

/* Members that were found. */
struct merge {
    struct sb_trainer *trainer;
    const char **of; /* [members] owned: whose directory it is; NULL: not found yet */
    bool has_dense;  /* the dense stage's lines are in the records */
};

/* Which member a network is; SB_EARG if it cannot be one of this run. */
static sb_status number_of(const struct sb_trainer *t, const char *path,
                           const struct sb_model *m, uint32_t *out)
{
    uint64_t seed = m->networks > 0 ? m->network[0].sample_seed : 0;
    *out = (uint32_t)(seed & 0xffff);
    if (m->networks == 1 && seed >> 16 == t->config->train.seed &&
        *out < t->config->method.members)
        return SB_OK;
    return sb_fail(SB_EARG,
                   "%s has %u members of its own; want the model of one, made with "
                   "'sebays train --member'",
                   path, m->networks);
}

/* The network of a task's model becomes member number *k of the run. */
static sb_status merge_member(struct merge *g, const char *directory, uint32_t *k)
{
    struct sb_trainer *t = g->trainer;
    struct sb_model m = {0};
    char path[SB_PATH_BYTES];
    sb_status st = sb_run_path(directory, SB_RUN_MODEL, path);
    if (st == SB_OK && !sb_file_exists(path))
        st = sb_fail(SB_EIO,
                     "%s has no model.safetensors: its training is not finished; "
                     "go on with --member and --resume",
                     directory);
    if (st == SB_OK)
        st = sb_model_read(&m, path);
    if (st == SB_OK)
        st = sb_recipe_diff(path, m.info.recipe, t->canonical);
    if (st == SB_OK)
        st = sb_source_check(&t->source, path, &m.info, SB_IDENTITY_RESUME, false);
    if (st == SB_OK)
        st = number_of(t, path, &m, k);
    if (st == SB_OK && g->of[*k])
        st = sb_fail(SB_EARG, "%s and %s both have member %u; give each once", g->of[*k],
                     directory, *k);
    if (st == SB_OK) {
        t->trained[*k] = m.network[0];
        m.network[0] = (struct sb_trained){0};
        g->of[*k] = directory;
    }
    sb_model_fini(&m);
    return st;
}

/* What it cost. A dense stage that every task repeated was paid for as often. */
static sb_status add_costs(struct sb_trainer *t, const char *directory)
{
    struct sb_run_result r;
    char path[SB_PATH_BYTES];
    sb_status st = sb_run_path(directory, SB_RUN_RESULTS, path);
    if (st == SB_OK)
        st = sb_results_read(path, &r);
    if (st != SB_OK)
        return st;
    t->at.flops += r.training_flops;
    t->at.seconds += r.train_seconds;
    t->at.images += (uint64_t)(r.images_per_second * r.train_seconds + 0.5);
    sb_run_result_fini(&r);
    return SB_OK;
}

static sb_status no_gaps(const struct merge *g)
{
    char list[256] = "";
    size_t at = 0;
    for (uint32_t k = 0; k < g->trainer->config->method.members; k++)
        if (!g->of[k] && at < sizeof list - 16)
            at +=
                (size_t)snprintf(list + at, sizeof list - at, "%s%u", at ? ", " : "", k);
    return at == 0 ? SB_OK
                   : sb_fail(SB_EARG,
                             "of %u members these are missing, counted from 0: %s; train "
                             "them with --member and give their directories",
                             g->trainer->config->method.members, list);
}

/* ---- records -------------------------------------------------------------------------- */

/* Whether the line is of a dense stage that is in the records already. */
static bool repeats(const struct merge *g, const char *path, const char *line,
                    size_t size, bool *dense)
{
    json_t *j = NULL;
    if (!rewinds(g->trainer) || sb_json_parse(path, line, size, &j) != SB_OK)
        return false;
    bool first_run = json_integer_value(json_object_get(j, "run")) == 0;
    json_decref(j);
    *dense = *dense || first_run;
    return first_run && g->has_dense;
}

/* Adds a task's lines to the run's, those that are whole. */
static sb_status copy_lines(struct merge *g, const char *directory, enum sb_run_file file,
                            bool *dense)
{
    char from[SB_PATH_BYTES], to[SB_PATH_BYTES];
    struct sb_map m = {0};
    sb_status st = sb_run_path(directory, file, from);
    if (st == SB_OK)
        st = sb_run_path(g->trainer->options->out, file, to);
    if (st != SB_OK || !sb_file_exists(from))
        return st;
    st = sb_map_open(&m, from);
    for (size_t at = 0; st == SB_OK && at < m.size;) {
        const char *line = (const char *)m.data + at;
        const char *end = memchr(line, '\n', m.size - at);
        if (!end) {
            sb_log_write(g->trainer->env->log, SB_LOG_WARN,
                         "%s was damaged: its last line is cut short and left out", from);
            break;
        }
        size_t size = (size_t)(end - line) + 1;
        if (!repeats(g, from, line, size, dense))
            st = sb_file_append(to, line, size);
        at += size;
    }
    sb_map_close(&m);
    return st;
}

static sb_status copy_records(struct merge *g)
{
    sb_status st = SB_OK;
    for (uint32_t k = 0; st == SB_OK && k < g->trainer->config->method.members; k++) {
        bool dense = false;
        st = copy_lines(g, g->of[k], SB_RUN_METRICS, &dense);
        if (st == SB_OK)
            st = copy_lines(g, g->of[k], SB_RUN_UPDATES, &dense);
        g->has_dense = g->has_dense || dense;
    }
    if (st == SB_OK && g->trainer->config->train.trajectory)
        sb_log_write(g->trainer->env->log, SB_LOG_WARN,
                     "trajectories stay with their members: %s has no trajectory.npy",
                     g->trainer->options->out);
    return st;
}

/* ---- the run -------------------------------------------------------------------------- */

static sb_status gather(struct merge *g, const char *const *directory, uint32_t count)
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; st == SB_OK && i < count; i++) {
        uint32_t k = 0;
        st = merge_member(g, directory[i], &k);
        if (st == SB_OK)
            st = add_costs(g->trainer, directory[i]);
    }
    if (st == SB_OK)
        st = no_gaps(g);
    g->trainer->trained_count = g->trainer->config->method.members;
    return st;
}

/* Nothing is written before all members are there. */
static sb_status merge_into(struct sb_trainer *t, const char *const *directory,
                            uint32_t count, struct sb_run_result *out)
{
    struct merge g = {.trainer = t};
    g.of = sb_calloc(t->config->method.members, sizeof *g.of);
    sb_status st = g.of ? gather(&g, directory, count)
                        : sb_fail(SB_ENOMEM, "no memory for the names of members");
    if (st == SB_OK)
        st = sb_trainer_begin_files(t);
    if (st == SB_OK && sb_together_writes(t))
        st = copy_records(&g);
    sb_free(g.of);
    return st == SB_OK ? sb_trainer_conclude(t, out) : st;
}

sb_status sb_run_merge(const struct sb_env *env, const struct sb_recipe *recipe,
                       const struct sb_run_options *o, const char *const *directory,
                       uint32_t count, struct sb_run_result *out)
{
    struct sb_trainer t;
    struct sb_run_options again = *o; /* one that was killed has no checkpoints */
    *out = (struct sb_run_result){0};
    again.resume = !sb_checkpoint_exists(o->out);
    if (recipe->method->schedule != SB_SCHEDULE_PARALLEL)
        return sb_fail(SB_EARG,
                       "%s does not train members apart: there is nothing to merge",
                       recipe->method->name);
    sb_status st = sb_trainer_open(&t, env, recipe, &again);
    if (st == SB_OK)
        st = merge_into(&t, directory, count, out);
    sb_trainer_close(&t);
    return st;
}
