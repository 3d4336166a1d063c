/* files - the run directory: what is written, when, and how a run is taken up again. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/checkpoint.h"
#include "model/model.h"
#include "train/growth.h"
#include "train/state.h"
#include "train/together.h"

/* ---- checkpoints --------------------------------------------------------------------- */

enum { VALUES = 18 };

static void list_values(struct sb_trainer *t, struct sb_checkpoint_value v[VALUES])
{
    struct sb_position *p = &t->at;
    const struct sb_checkpoint_value list[VALUES] = {
        {"stage", &p->stage, NULL},
        {"epoch", &p->epoch, NULL},
        {"batch", &p->batch, NULL},
        {"step", &p->step, NULL},
        {"saves", &p->saves, NULL},
        {"metrics_bytes", &p->metrics_bytes, NULL},
        {"updates_bytes", &p->updates_bytes, NULL},
        {"trajectory_bytes", &p->trajectory_bytes, NULL},
        {"images", &p->images, NULL},
        {"flops", NULL, &p->flops},
        {"halvings", &p->halvings, NULL},
        {"skipped", &p->skipped, NULL},
        {"waited", &p->waited, NULL},
        {"waited_for", NULL, &p->waited_for},
        {"growth_batches", &t->growth.count, NULL},
        {"loss_sum", NULL, &p->loss_sum},
        {"seconds", NULL, &p->seconds},
        {"task", &p->task, NULL},
    };
    memcpy(v, list, sizeof list);
}

static sb_status plan(void *context, const uint32_t *active)
{
    return sb_trainer_plan(context, active);
}

static struct sb_checkpoint describe(struct sb_trainer *t,
                                     const struct sb_checkpoint_value v[VALUES],
                                     struct sb_growth_arrays *sums)
{
    return (struct sb_checkpoint){
        .recipe = t->canonical,
        .data = t->data,
        .force = t->options->force,
        .net = &t->net,
        .value = v,
        .values = VALUES,
        .array = sums->array,
        .arrays = sums->count,
        .has_arrays = &sums->there,
        .trained = t->trained,
        .trained_count = t->trained_count,
        .capacity = sb_trainer_networks(t),
        .best = &t->best,
        .has_best = t->has_best,
        .kept = &t->kept,
        .has_kept = t->has_kept,
        .plan = plan,
        .context = t,
    };
}

/* path NULL: the next checkpoint. */
static sb_status save_as(struct sb_trainer *t, const char *path)
{
    struct sb_checkpoint_value v[VALUES];
    double before = t->at.seconds;
    list_values(t, v);
    struct sb_growth_arrays sums;
    sb_status st = sb_growth_to_save(&sums, &t->growth);
    struct sb_checkpoint c = describe(t, v, &sums);
    t->at.seconds +=
        sb_trainer_clock() - t->began; /* what this process has spent so far */
    if (st == SB_OK)
        st = sb_trainer_sync_records(t);
    if (st == SB_OK)
        st = path ? sb_checkpoint_write(&c, path)
                  : sb_checkpoint_save(&c, t->options->out, t->at.saves);
    t->at.seconds = before;
    sb_growth_arrays_fini(&sums);
    return st;
}

sb_status sb_trainer_save(struct sb_trainer *t)
{
    t->at.saves++;
    t->saved = sb_trainer_clock();
    return sb_together_writes(t) ? save_as(t, NULL) : SB_OK;
}

sb_status sb_trainer_write_epoch(struct sb_trainer *t, const char *path)
{
    return sb_together_writes(t) ? save_as(t, path) : SB_OK;
}

/* ---- taking up ------------------------------------------------------------------------ */

/* path NULL: the newest checkpoint of the directory, whose number is *number. */
static sb_status load_from(struct sb_trainer *t, const char *path, const char *directory,
                           uint64_t *number)
{
    struct sb_checkpoint_value v[VALUES];
    list_values(t, v);
    struct sb_growth_arrays sums;
    sb_status st =
        sb_growth_to_load(&sums, &t->growth, &t->net, t->config->method.grow_batches);
    struct sb_checkpoint c = describe(t, v, &sums);
    if (st == SB_OK)
        st = path ? sb_checkpoint_read(&c, path)
                  : sb_checkpoint_load(&c, t->env, directory, number);
    sb_growth_loaded(&sums, &t->growth);
    sb_growth_arrays_fini(&sums);
    if (st != SB_OK)
        return st;
    t->trained_count = c.trained_count;
    t->has_best = c.has_best;
    t->has_kept = c.has_kept;
    return SB_OK;
}

sb_status sb_trainer_go_back(struct sb_trainer *t, const char *path)
{
    sb_status st = load_from(t, path, NULL, NULL);
    if (st != SB_OK)
        return st;
    sb_net_refresh(t->env, &t->net);
    return sb_together_writes(t) ? sb_trainer_cut_records(t) : SB_OK;
}

/* Of a run of ltr in that directory: t->kept is what its dense stage left. */
static sb_status read_kept(struct sb_trainer *t, const char *directory)
{
    uint64_t number, task = t->at.task;
    sb_status st = load_from(t, NULL, directory, &number);
    bool finished = st == SB_OK && t->has_kept && t->at.stage > 0;
    for (uint32_t i = 0; i < t->trained_count; i++)
        sb_trained_fini(&t->trained[i]);
    sb_growth_fini(&t->growth);
    t->trained_count = 0;
    t->has_best = false;
    t->at = (struct sb_position){.task = task};
    if (st != SB_OK || finished)
        return st;
    return sb_fail(
        SB_EARG,
        "%s has no dense stage that is finished; wait for it, or train without "
        "--from, which repeats that stage",
        directory);
}

static sb_status other_task(const struct sb_trainer *t, uint64_t now)
{
    char has[80];
    if (t->at.task)
        snprintf(has, sizeof has, "member %llu alone (--member %llu)",
                 (unsigned long long)t->at.task, (unsigned long long)t->at.task - 1);
    else
        snprintf(has, sizeof has, "all members (no --member)");
    return sb_fail(SB_EARG, "%s holds a run of %s; %s, or choose another --out",
                   t->options->out, has,
                   now ? "go on with that" : "go on as it was begun");
}

static sb_status resume(struct sb_trainer *t)
{
    uint64_t number = 0, task = t->at.task;
    sb_status st = load_from(t, NULL, t->options->out, &number);
    if (st == SB_OK && t->at.task != task)
        st = other_task(t, task);
    if (st != SB_OK)
        return st;
    t->at.saves = number;
    if (!sb_trainer_done(t))
        sb_log_write(t->env->log, SB_LOG_INFO,
                     "going on at stage %llu of %u (%s), epoch %llu, batch %llu",
                     (unsigned long long)t->at.stage + 1, t->schedule.stages,
                     sb_trainer_stage(t)->name, (unsigned long long)t->at.epoch + 1,
                     (unsigned long long)t->at.batch + 1);
    else
        sb_log_write(t->env->log, SB_LOG_INFO,
                     "%s has been trained to its end; nothing is left to do",
                     t->options->out);
    st = sb_together_check_position(t);
    return st == SB_OK && sb_together_writes(t) ? sb_trainer_cut_records(t) : st;
}

sb_status sb_trainer_begin_files(struct sb_trainer *t)
{
    const struct sb_run_options *o = t->options;
    char path[SB_PATH_BYTES], *text = NULL;
    bool go_on = false;
    sb_status st = sb_together_writes(t) ? sb_trainer_enter_directory(t, &go_on) : SB_OK;
    if (st == SB_OK)
        st = sb_together_agree(t, "the run directory", &go_on);
    if (st != SB_OK || go_on)
        return st == SB_OK ? resume(t) : st;
    if (o->dense_from)
        st = read_kept(t, o->dense_from);
    if (st != SB_OK)
        return st;
    if (!sb_together_writes(t))
        return SB_OK;
    st = sb_trainer_cut_records(t); /* not yet a checkpoint: from the start */
    if (st == SB_OK)
        st = sb_run_path(t->options->out, SB_RUN_RECIPE, path);
    if (st == SB_OK)
        st = sb_recipe_write(&t->recipe, false, &text);
    if (st == SB_OK)
        st = sb_file_put(path, text, strlen(text));
    sb_free(text);
    return st;
}

/* ---- the end ------------------------------------------------------------------------- */

sb_status sb_trainer_write_model(struct sb_trainer *t)
{
    struct sb_model m;
    char path[SB_PATH_BYTES];
    if (!sb_together_writes(t))
        return SB_OK;
    sb_status st = sb_trainer_model(t, t->trained, t->trained_count, &m);
    if (st == SB_OK)
        st = sb_run_path(t->options->out, SB_RUN_MODEL, path);
    if (st == SB_OK)
        st = sb_model_write(&m, path);
    sb_model_fini(&m);
    return st;
}

static json_t *figures_json(const struct sb_figures *f)
{
    json_t *j = json_object();
    for (uint32_t i = 0; j && i < f->list->count; i++)
        if (json_object_set_new(j, f->list->kind[i].name, sb_json_real(f->value[i])) !=
            0) {
            json_decref(j);
            return NULL;
        }
    return j;
}

sb_status sb_trainer_write_results(struct sb_trainer *t, const struct sb_run_result *r)
{
    char path[SB_PATH_BYTES], *text = NULL;
    if (!sb_together_writes(t))
        return SB_OK;
    json_t *members = json_array();
    for (uint32_t i = 0; members && i < r->members; i++)
        json_array_append_new(members, figures_json(&r->member[i]));
    json_t *j = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, "
        "s:I}",
        "task", t->source.train.targets ? "regression" : "classification", "method",
        t->method->name, "arch", t->config->model.arch, "density",
        sb_json_real(r->density), "members", members, "ensemble",
        figures_json(&r->ensemble), "train_seconds", sb_json_real(r->train_seconds),
        "images_per_second", sb_json_real(r->images_per_second), "training_flops",
        sb_json_real(r->training_flops), "dense_run_flops",
        sb_json_real(r->dense_run_flops), "cost",
        sb_json_real(r->training_flops / r->dense_run_flops), "dense_run_epochs",
        (json_int_t)t->schedule.dense_epochs, "training_runs",
        (json_int_t)t->schedule.trainings + (t->before.flops > 0), "seed",
        (json_int_t)t->config->train.seed, "epochs",
        (json_int_t)(t->schedule.total_epochs - t->at.skipped), "ece_bins",
        (json_int_t)t->config->eval.bins);
    json_t *data = NULL;
    sb_status st = j ? sb_run_path(t->options->out, SB_RUN_RESULTS, path)
                     : sb_fail(SB_ENOMEM, "no memory for results.json");
    if (st == SB_OK)
        st = sb_trainer_data(t, &data);
    if (st == SB_OK && json_object_set_new(j, "data", data) != 0)
        st = sb_fail(SB_ENOMEM, "no memory for results.json");
    if (st == SB_OK)
        st = sb_results_keep(path, j);
    if (st == SB_OK)
        st = sb_json_write(j, true, &text);
    if (st == SB_OK)
        st = sb_file_put(path, text, strlen(text));
    json_decref(j);
    sb_free(text);
    return st;
}
