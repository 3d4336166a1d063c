/* records - what a run writes down as it goes: a line a validation, a line an update of the
 * support and, if it is asked to, its predictions after each epoch.
 *
 *     metrics.jsonl     one object a validation
 *     updates.jsonl     one object an update: rate; moved, the weights that left (as many
 *                       came); returned, those that were dropped and grown back at once
 *     trajectory.npy    float32 [epochs of all runs][images][classes]: log-probabilities
 *                       of the posterior mean on the first 1000 test images
 *
 * A checkpoint knows how long each file was; what a killed run wrote after it is cut off
 * when the run is taken up again, and written again.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "files/npy_write.h"
#include "predict/source.h"
#include "train/state.h"

sb_status sb_trainer_cut_records(const struct sb_trainer *t)
{
    const struct {
        const char *name;
        uint64_t bytes;
    } file[] = {{"metrics.jsonl", t->at.metrics_bytes},
                {"updates.jsonl", t->at.updates_bytes},
                {"trajectory.npy", t->at.trajectory_bytes}};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char path[SB_RUN_PATH];
        sb_status st = sb_run_path(t->options->out, file[i].name, path);
        if (st == SB_OK)
            st = sb_file_cut(path, file[i].bytes);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

/* ---- lines --------------------------------------------------------------------------- */

/* Takes line, which may be NULL: no memory. */
static sb_status append(const struct sb_trainer *t, const char *name, json_t *line,
                        uint64_t *bytes)
{
    char path[SB_RUN_PATH], *text = NULL;
    sb_status st = line ? sb_json_write(line, false, &text)
                        : sb_fail(SB_ENOMEM, "no memory for a line of %s", name);
    if (st == SB_OK)
        st = sb_run_path(t->options->out, name, path);
    if (st == SB_OK)
        st = sb_file_append_line(path, text);
    if (st == SB_OK)
        *bytes += strlen(text) + 1;
    json_decref(line);
    sb_free(text);
    return st;
}

static const char *phase_name(const struct sb_trainer *t)
{
    return t->at.phase == 0 ? "explore" : "exploit";
}

sb_status sb_trainer_log_validation(struct sb_trainer *t, const struct sb_scores *v,
                                    double loss)
{
    const struct sb_schedule *s = &t->schedule;
    uint32_t phase = (uint32_t)t->at.phase, epoch = (uint32_t)t->at.epoch;
    float prior_sd = (float)sqrt(t->config->method.prior_variance);
    double seconds = t->at.seconds + sb_trainer_clock() - t->began;
    json_t *j = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "phase",
        phase_name(t), "run", (json_int_t)t->at.run, "member",
        (json_int_t)sb_schedule_member(s, (uint32_t)t->at.run, phase), "epoch",
        (json_int_t)epoch + 1, "step", (json_int_t)t->at.step, "loss", sb_json_real(loss),
        "kl", sb_json_real(sb_net_kl(t->env, &t->net, prior_sd)), "lr",
        sb_json_real(sb_schedule_lr(s, phase, epoch, s->epoch_steps - 1)), "beta",
        sb_json_real(sb_schedule_beta(s, phase, epoch)), "val_acc",
        sb_json_real(v->accuracy), "val_nll", sb_json_real(v->nll), "val_ece",
        sb_json_real(v->ece), "images_per_second",
        sb_json_real((double)t->at.images / seconds));
    return append(t, "metrics.jsonl", j, &t->at.metrics_bytes);
}

/* Of the step that was just done. */
sb_status sb_trainer_log_update(struct sb_trainer *t, double rate)
{
    const struct sb_growth *g = &t->growth;
    uint32_t member =
        sb_schedule_member(&t->schedule, (uint32_t)t->at.run, (uint32_t)t->at.phase);
    json_t *j =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:I, s:I}", "phase", phase_name(t),
                  "run", (json_int_t)t->at.run, "member", (json_int_t)member, "epoch",
                  (json_int_t)t->at.epoch + 1, "step", (json_int_t)t->at.step, "rate",
                  sb_json_real(rate), "moved", (json_int_t)(g->dropped - g->returned),
                  "returned", (json_int_t)g->returned);
    return append(t, "updates.jsonl", j, &t->at.updates_bytes);
}

/* ---- the trajectory ------------------------------------------------------------------ */

enum { IMAGES = 1000 };

static sb_status append_bytes(struct sb_trainer *t, const void *data, size_t size)
{
    char path[SB_RUN_PATH];
    sb_status st = sb_run_path(t->options->out, "trajectory.npy", path);
    if (st == SB_OK)
        st = sb_file_append(path, data, size);
    if (st == SB_OK)
        t->at.trajectory_bytes += size;
    return st;
}

static sb_status begin_trajectory(struct sb_trainer *t, uint32_t images)
{
    unsigned char head[SB_NPY_HEAD];
    const uint64_t shape[] = {t->schedule.total_epochs, images, t->net.arch.classes};
    size_t size;
    sb_npy_head(head, SB_NPY_F32, shape, 3, &size);
    return append_bytes(t, head, size);
}

sb_status sb_trainer_log_trajectory(struct sb_trainer *t)
{
    uint32_t images = t->source.tests < IMAGES ? t->source.tests : IMAGES;
    size_t n = (size_t)images * t->net.arch.classes;
    float *row = sb_malloc(n, sizeof *row);
    if (!row)
        return sb_fail(SB_ENOMEM, "no memory to predict %u images", images);
    struct sb_predict job = {.env = t->env,
                             .net = &t->net,
                             .source = &t->source.test_clean,
                             .index = t->source.test_index,
                             .n = images};
    sb_status st = sb_predict_run(&job, row, NULL);
    for (size_t i = 0; st == SB_OK && i < n; i++)
        row[i] = (float)log((double)fmaxf(row[i], FLT_MIN)); /* 0 is less than that */
    if (st == SB_OK && t->at.trajectory_bytes == 0)
        st = begin_trajectory(t, images);
    if (st == SB_OK)
        st = append_bytes(t, row, n * sizeof *row);
    sb_free(row);
    return st;
}
