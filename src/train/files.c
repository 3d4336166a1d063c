/* files - the run directory: what is written, when, and how a run is taken up again. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "data/columns.h"
#include "model/model.h"
#include "train/state.h"

/* ---- checkpoints --------------------------------------------------------------------- */

enum { VALUES = 12 };

static void list_values(struct sb_trainer *t, struct sb_checkpoint_value v[VALUES])
{
    struct sb_position *p = &t->at;
    const struct sb_checkpoint_value list[VALUES] = {
        {"run", &p->run, NULL},
        {"phase", &p->phase, NULL},
        {"epoch", &p->epoch, NULL},
        {"batch", &p->batch, NULL},
        {"step", &p->step, NULL},
        {"saves", &p->saves, NULL},
        {"metrics_bytes", &p->metrics_bytes, NULL},
        {"updates_bytes", &p->updates_bytes, NULL},
        {"trajectory_bytes", &p->trajectory_bytes, NULL},
        {"images", &p->images, NULL},
        {"loss_sum", NULL, &p->loss_sum},
        {"seconds", NULL, &p->seconds},
    };
    memcpy(v, list, sizeof list);
}

static struct sb_checkpoint describe(struct sb_trainer *t,
                                     const struct sb_checkpoint_value v[VALUES])
{
    return (struct sb_checkpoint){
        .recipe = t->options->essence,
        .net = &t->net,
        .value = v,
        .values = VALUES,
        .member = t->member,
        .members = t->members,
        .room = t->config->method.members,
        .best = &t->best,
        .has_best = t->has_best,
    };
}

sb_status sb_trainer_save(struct sb_trainer *t)
{
    struct sb_checkpoint_value v[VALUES];
    double before = t->at.seconds, now = sb_trainer_clock();
    list_values(t, v);
    struct sb_checkpoint c = describe(t, v);
    t->at.saves++;
    t->at.seconds += now - t->began; /* what this process has spent so far */
    sb_status st = sb_checkpoint_save(&c, t->options->out, t->at.saves);
    t->at.seconds = before;
    t->saved = now;
    return st;
}

/* ---- beginning ----------------------------------------------------------------------- */

static sb_status resume(struct sb_trainer *t)
{
    struct sb_checkpoint_value v[VALUES];
    uint64_t number = 0;
    list_values(t, v);
    struct sb_checkpoint c = describe(t, v);
    sb_status st = sb_checkpoint_load(&c, t->env, t->options->out, &number);
    if (st != SB_OK)
        return st;
    t->members = c.members;
    t->has_best = c.has_best;
    t->at.saves = number;
    sb_log_write(t->env->log, SB_LOG_INFO,
                 "going on at run %llu, phase %llu, epoch %llu, batch %llu",
                 (unsigned long long)t->at.run + 1, (unsigned long long)t->at.phase,
                 (unsigned long long)t->at.epoch + 1,
                 (unsigned long long)t->at.batch + 1);
    return sb_trainer_cut_records(t);
}

static sb_status refuse_used_directory(const struct sb_trainer *t)
{
    static const char *const names[] = {"recipe.ini",        "metrics.jsonl",
                                        "updates.jsonl",     "trajectory.npy",
                                        "model.safetensors", "results.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[SB_RUN_PATH];
        sb_status st = sb_run_path(t->options->out, names[i], path);
        if (st != SB_OK)
            return st;
        if (sb_file_exists(path))
            return sb_fail(SB_EARG,
                           "%s already holds a run (%s); go on with --resume, or choose "
                           "another --out",
                           t->options->out, names[i]);
    }
    return SB_OK;
}

sb_status sb_trainer_begin_files(struct sb_trainer *t)
{
    const struct sb_run_options *o = t->options;
    char path[SB_RUN_PATH];
    sb_status st = o->resume ? SB_OK : refuse_used_directory(t);
    if (st == SB_OK)
        st = sb_file_make_directory(o->out);
    if (st == SB_OK && o->resume && sb_checkpoint_exists(o->out))
        return resume(t);
    if (st == SB_OK) /* not yet a checkpoint: from the start */
        st = sb_trainer_cut_records(t);
    if (st == SB_OK)
        st = sb_run_path(t->options->out, "recipe.ini", path);
    return st == SB_OK ? sb_file_put(path, o->recipe, strlen(o->recipe)) : st;
}

/* ---- the end ------------------------------------------------------------------------- */

sb_status sb_trainer_write_model(struct sb_trainer *t)
{
    const struct sb_dataset *d = &t->source.train;
    struct sb_model_info info = {
        .arch = t->config->model.arch,
        .method = t->method->name,
        .recipe = t->options->essence,
        .channels = d->channels,
        .height = d->height,
        .width = d->width,
        .classes = d->classes,
        .class_name = (const char *const *)d->class_names,
        .mean = t->source.normal.mean,
        .sd = t->source.normal.sd,
        .gauss = t->method->posterior == SB_POSTERIOR_GAUSS,
    };
    struct sb_model m = {0};
    char path[SB_RUN_PATH], *columns = NULL;
    sb_status st = d->columns ? sb_columns_write(d->columns, &columns) : SB_OK;
    info.columns = columns;
    if (st == SB_OK)
        st = sb_model_init(&m, &info);
    for (uint32_t i = 0; i < t->members && st == SB_OK; i++) {
        struct sb_member copy;
        st = sb_member_copy(&t->member[i], &copy);
        if (st == SB_OK)
            st = sb_model_add(&m, &copy);
        sb_member_fini(&copy);
    }
    if (st == SB_OK)
        st = sb_run_path(t->options->out, "model.safetensors", path);
    if (st == SB_OK)
        st = sb_model_write(&m, path);
    sb_model_fini(&m);
    sb_free(columns);
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
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "method",
        t->method->name, "arch", t->config->model.arch, "density",
        sb_json_real(r->density), "members", members, "ensemble",
        scores_json(&r->ensemble), "train_seconds", sb_json_real(r->train_seconds),
        "images_per_second", sb_json_real(r->images_per_second), "training_flops",
        sb_json_real(r->training_flops), "dense_run_flops",
        sb_json_real(r->dense_run_flops), "seed", (json_int_t)t->config->train.seed,
        "epochs", (json_int_t)t->schedule.total_epochs, "ece_bins",
        (json_int_t)t->config->eval.bins);
    sb_status st = j ? sb_run_path(t->options->out, "results.json", path)
                     : sb_fail(SB_ENOMEM, "no memory for results.json");
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
