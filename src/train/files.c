/* files - the run directory: what is written, when, and how a run is taken up again. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/checkpoint_file.h"
#include "model/model.h"
#include "train/growth.h"
#include "train/state.h"

/* ---- checkpoints --------------------------------------------------------------------- */

enum { VALUES = 17 };

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
    return save_as(t, NULL);
}

sb_status sb_trainer_write_epoch(struct sb_trainer *t, const char *path)
{
    return save_as(t, path);
}

/* ---- taking up ------------------------------------------------------------------------ */

/* path NULL: the newest checkpoint, whose number is *number. */
static sb_status load_from(struct sb_trainer *t, const char *path, uint64_t *number)
{
    struct sb_checkpoint_value v[VALUES];
    list_values(t, v);
    struct sb_growth_arrays sums;
    sb_status st =
        sb_growth_to_load(&sums, &t->growth, &t->net, t->config->method.grow_batches);
    struct sb_checkpoint c = describe(t, v, &sums);
    if (st == SB_OK)
        st = path ? sb_checkpoint_read(&c, path)
                  : sb_checkpoint_load(&c, t->env, t->options->out, number);
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
    sb_status st = load_from(t, path, NULL);
    if (st != SB_OK)
        return st;
    sb_net_refresh(t->env, &t->net);
    return sb_trainer_cut_records(t);
}

static sb_status resume(struct sb_trainer *t)
{
    uint64_t number = 0;
    sb_status st = load_from(t, NULL, &number);
    if (st != SB_OK)
        return st;
    t->at.saves = number;
    if (!sb_trainer_done(t))
        sb_log_write(t->env->log, SB_LOG_INFO,
                     "going on at stage %llu of %u (%s), epoch %llu, batch %llu",
                     (unsigned long long)t->at.stage + 1, t->schedule.stages,
                     sb_trainer_stage(t)->name, (unsigned long long)t->at.epoch + 1,
                     (unsigned long long)t->at.batch + 1);
    return sb_trainer_cut_records(t);
}

sb_status sb_trainer_begin_files(struct sb_trainer *t)
{
    char path[SB_RUN_PATH], *text = NULL;
    bool go_on;
    sb_status st = sb_trainer_enter_directory(t, &go_on);
    if (st != SB_OK || go_on)
        return st == SB_OK ? resume(t) : st;
    st = sb_trainer_cut_records(t); /* not yet a checkpoint: from the start */
    if (st == SB_OK)
        st = sb_run_path(t->options->out, "recipe.ini", path);
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
    char path[SB_RUN_PATH];
    sb_status st = sb_trainer_model(t, t->trained, t->trained_count, &m);
    if (st == SB_OK)
        st = sb_run_path(t->options->out, "model.safetensors", path);
    if (st == SB_OK)
        st = sb_model_write(&m, path);
    sb_model_fini(&m);
    return st;
}

static json_t *scores_json(const struct sb_scores *s)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "acc", sb_json_real(s->accuracy), "nll",
                     sb_json_real(s->nll), "ece", sb_json_real(s->ece), "brier",
                     sb_json_real(s->brier));
}

sb_status sb_trainer_write_results(struct sb_trainer *t, const struct sb_run_result *r)
{
    char path[SB_RUN_PATH], *text = NULL;
    json_t *members = json_array();
    for (uint32_t i = 0; members && i < r->members; i++)
        json_array_append_new(members, scores_json(&r->member[i]));
    json_t *j = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I}",
        "method", t->method->name, "arch", t->config->model.arch, "density",
        sb_json_real(r->density), "members", members, "ensemble",
        scores_json(&r->ensemble), "train_seconds", sb_json_real(r->train_seconds),
        "images_per_second", sb_json_real(r->images_per_second), "training_flops",
        sb_json_real(r->training_flops), "dense_run_flops",
        sb_json_real(r->dense_run_flops), "cost",
        sb_json_real(r->training_flops / r->dense_run_flops), "dense_run_epochs",
        (json_int_t)t->schedule.dense_epochs, "training_runs",
        (json_int_t)t->schedule.trainings, "seed", (json_int_t)t->config->train.seed,
        "epochs", (json_int_t)(t->schedule.total_epochs - t->at.skipped), "ece_bins",
        (json_int_t)t->config->eval.bins);
    json_t *data = NULL;
    sb_status st = j ? sb_run_path(t->options->out, "results.json", path)
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
