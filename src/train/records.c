/* records - what a run writes down as it goes: a line a validation, a line an update of the
 * support and, if it is asked to, its predictions after each epoch.
 *
 *     metrics.jsonl     one object a validation
 *     updates.jsonl     one object an update: rate; moved, the weights that left (as many
 *                       came); returned, those that were dropped and grown back at once
 *     trajectory.npy    float32 [epochs of all runs][images][classes]: log-probabilities
 *                       of the posterior mean on the first 1000 test images
 *
 * A checkpoint knows how long each file was; see repair.c for what that is good for.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "files/npy_write.h"
#include "train/state.h"
#include "train/together.h"

/* ---- lines --------------------------------------------------------------------------- */

/* Takes line, which may be NULL: no memory. */
static sb_status append(const struct sb_trainer *t, enum sb_run_file file, json_t *line,
                        uint64_t *bytes)
{
    char path[SB_PATH_BYTES], *text = NULL;
    sb_status st =
        line ? sb_json_write(line, false, &text)
             : sb_fail(SB_ENOMEM, "no memory for a line of %s", sb_run_file_name(file));
    if (st == SB_OK)
        st = sb_run_path(t->options->out, file, path);
    if (st == SB_OK)
        st = sb_file_append_line(path, text);
    if (st == SB_OK)
        *bytes += strlen(text) + 1;
    json_decref(line);
    sb_free(text);
    return st;
}

/* "val_acc", ... of every figure of the task. */
static bool put_figures(json_t *line, const struct sb_figures *v)
{
    bool good = line != NULL;
    for (uint32_t i = 0; good && i < v->list->count; i++) {
        char key[32];
        snprintf(key, sizeof key, "val_%s", v->list->kind[i].name);
        good = json_object_set_new(line, key, sb_json_real(v->value[i])) == 0;
    }
    return good;
}

sb_status sb_trainer_log_validation(struct sb_trainer *t, const struct sb_figures *v,
                                    double loss)
{
    const struct sb_schedule *s = &t->schedule;
    const struct sb_stage *g = sb_trainer_stage(t);
    struct sb_place at = {g, (uint32_t)t->at.epoch, s->epoch_steps - 1};
    float prior_sd = (float)sqrt(t->config->method.prior_variance);
    double seconds = t->at.seconds + sb_trainer_clock() - t->began;
    if (!sb_together_writes(t))
        return SB_OK;
    json_t *j = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:I, s:o, s:o}", "phase", g->name,
        "run", (json_int_t)g->run, "member", (json_int_t)g->member, "epoch",
        (json_int_t)t->at.epoch + 1, "step", (json_int_t)t->at.step, "loss",
        sb_json_real(loss), "kl", sb_json_real(sb_net_kl(t->env, &t->net, prior_sd)),
        "lr", sb_json_real(sb_divergence_factor(t) * sb_rates_lr(s, &at)), "halved",
        (json_int_t)t->at.halvings, "beta", sb_json_real(sb_rates_beta(s, &at)),
        "images_per_second", sb_json_real((double)t->at.images / seconds));
    if (!put_figures(j, v)) {
        json_decref(j);
        j = NULL;
    }
    return append(t, SB_RUN_METRICS, j, &t->at.metrics_bytes);
}

/* Of the step that was just done. */
sb_status sb_trainer_log_update(struct sb_trainer *t, double rate)
{
    const struct sb_growth *g = &t->growth;
    const struct sb_stage *at = sb_trainer_stage(t);
    if (!sb_together_writes(t))
        return SB_OK;
    json_t *j =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:I, s:I}", "phase", at->name, "run",
                  (json_int_t)at->run, "member", (json_int_t)at->member, "epoch",
                  (json_int_t)t->at.epoch + 1, "step", (json_int_t)t->at.step, "rate",
                  sb_json_real(rate), "moved", (json_int_t)(g->dropped - g->returned),
                  "returned", (json_int_t)g->returned);
    return append(t, SB_RUN_UPDATES, j, &t->at.updates_bytes);
}

/* ---- the trajectory ------------------------------------------------------------------ */

enum { IMAGES = 1000 };

static sb_status append_bytes(struct sb_trainer *t, const void *data, size_t size)
{
    char path[SB_PATH_BYTES];
    sb_status st = sb_run_path(t->options->out, SB_RUN_TRAJECTORY, path);
    if (st == SB_OK && sb_together_writes(t))
        st = sb_file_append(path, data, size);
    if (st == SB_OK)
        t->at.trajectory_bytes += size;
    return st;
}

uint32_t sb_trainer_trajectory_head(const struct sb_trainer *t,
                                    unsigned char head[SB_NPY_HEAD], size_t *size)
{
    uint32_t images = t->source.tests < IMAGES ? t->source.tests : IMAGES;
    const uint64_t shape[] = {t->schedule.total_epochs, images, t->net.arch.classes};
    sb_npy_head(head, SB_NPY_F32, shape, 3, size);
    return images;
}

sb_status sb_trainer_log_trajectory(struct sb_trainer *t)
{
    unsigned char head[SB_NPY_HEAD];
    size_t head_size;
    uint32_t images = sb_trainer_trajectory_head(t, head, &head_size);
    size_t n = (size_t)images * t->net.arch.classes;
    float *row = sb_malloc(n, sizeof *row);
    if (!row)
        return sb_fail(SB_ENOMEM, "no memory to predict %u images", images);
    sb_status st = sb_trainer_predict_test(t, images, row);
    for (size_t i = 0; st == SB_OK && i < n; i++)
        row[i] = (float)log((double)fmaxf(row[i], FLT_MIN)); /* 0 is less than that */
    if (st == SB_OK && t->at.trajectory_bytes == 0)
        st = append_bytes(t, head, head_size);
    if (st == SB_OK)
        st = append_bytes(t, row, n * sizeof *row);
    sb_free(row);
    return st;
}
