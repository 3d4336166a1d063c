/* history - what the run wrote down as it went: the trajectory, and the support's moves. */
#include <string.h>

#include "assess/parts.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "eval/tsne.h"
#include "model/inspect.h"
#include "readers/npy.h"
#include "train/schedule.h"

/* ---- the trajectory ------------------------------------------------------------------ */

/* Row i of the file is the i-th epoch of all runs. */
static json_t *point(const struct sb_schedule *s, uint32_t i, const double y[2])
{
    uint32_t run = i / s->run_epochs, epoch = i % s->run_epochs;
    uint32_t phase = sb_schedule_phase_of(s, epoch);
    return json_pack("{s:s, s:I, s:I, s:o, s:o}", "phase",
                     phase == 0 ? "explore" : "exploit", "member",
                     (json_int_t)sb_schedule_member(s, run, phase), "epoch",
                     (json_int_t)(epoch - sb_schedule_first_epoch(s, phase) + 1), "x",
                     sb_json_real(y[0]), "y", sb_json_real(y[1]));
}

static sb_status embed(struct sb_assess *a, const struct sb_npy *x)
{
    const struct sb_tsne_options standard = {0};
    struct sb_schedule s = sb_schedule_make(a->o->config, a->o->method, 1);
    size_t n = (size_t)x->shape[0], dimensions = (size_t)(x->shape[1] * x->shape[2]);
    double *y = sb_malloc(n, 2 * sizeof *y);
    if (!y)
        return sb_fail(SB_ENOMEM, "no memory for %zu points", n);
    sb_status st = sb_tsne(a->env, (const float *)(const void *)x->data, n, dimensions,
                           &standard, y);
    json_t *points = json_array();
    for (size_t i = 0; i < n && st == SB_OK; i++)
        sb_assess_push(a, points, point(&s, (uint32_t)i, y + 2 * i));
    if (st == SB_OK) {
        sb_assess_put(a, a->sections, "trajectory", json_pack("{s:O}", "points", points));
        sb_text_add(&a->table, "\n%-18s t-SNE of %zu epochs\n", "trajectory", n);
    }
    json_decref(points);
    sb_free(y);
    return st;
}

/* What the run would have written: a file of another kind is somebody else's. */
static bool expected(const struct sb_assess *a, const struct sb_npy *x)
{
    struct sb_schedule s = sb_schedule_make(a->o->config, a->o->method, 1);
    return x->kind == 'f' && x->size == 4 && !x->swap && !x->fortran && x->dims == 3 &&
           x->shape[0] == s.total_epochs && x->shape[1] > 0 && x->shape[1] <= 1000 &&
           x->shape[2] == a->model.info.classes;
}

sb_status sb_assess_trajectory(struct sb_assess *a)
{
    char path[SB_RUN_PATH];
    struct sb_map map;
    struct sb_npy x;
    sb_status st = sb_run_path(a->o->run, "trajectory.npy", path);
    if (st != SB_OK || !sb_file_exists(path))
        return st;
    st = sb_map_open(&map, path);
    if (st != SB_OK)
        return st;
    st = sb_npy_parse(&x, path, map.data, map.size);
    if (st == SB_OK && !expected(a, &x))
        st = sb_fail(SB_EFORMAT,
                     "%s is not what this run's recipe would have recorded; remove it",
                     path);
    if (st == SB_OK && x.shape[0] < SB_TSNE_LEAST)
        sb_log_write(a->env->log, SB_LOG_INFO,
                     "no t-SNE of the trajectory: it has fewer than %d epochs",
                     SB_TSNE_LEAST);
    else if (st == SB_OK)
        st = embed(a, &x);
    sb_map_close(&map);
    return st;
}

/* ---- the support --------------------------------------------------------------------- */

static sb_status put_layers(struct sb_assess *a, json_t *support)
{
    uint32_t layers = a->model.arch.weights, members = a->model.members;
    struct sb_inspect_layer *l = sb_malloc(layers, sizeof *l);
    if (!l)
        return sb_fail(SB_ENOMEM, "no memory for %u layers", layers);
    json_t *list = json_array();
    sb_assess_put(a, support, "layers", list);
    sb_status st = sb_inspect_layers(&a->model, l);
    for (uint32_t i = 0; i < layers && st == SB_OK; i++)
        sb_assess_push(a, list,
                       json_pack("{s:s, s:s, s:I, s:I, s:o}", "name", l[i].name, "shape",
                                 l[i].shape, "weights", (json_int_t)(l[i].all / members),
                                 "exist", (json_int_t)(l[i].active / members), "density",
                                 sb_json_real((double)l[i].active / (double)l[i].all)));
    sb_free(l);
    return st;
}

/* One line of updates.jsonl, checked. */
static sb_status push_update(struct sb_assess *a, json_t *list, const char *path,
                             const char *line, size_t size)
{
    json_t *j;
    const char *phase;
    int64_t step, member, moved, returned;
    double rate;
    sb_status st = sb_json_parse(path, line, size, &j);
    if (st != SB_OK)
        return st;
    st = sb_json_string(j, path, "phase", &phase);
    if (st == SB_OK)
        st = sb_json_integer(j, path, "step", 0, INT64_MAX, &step);
    if (st == SB_OK)
        st = sb_json_integer(j, path, "member", 0, INT64_MAX, &member);
    if (st == SB_OK)
        st = sb_json_number(j, path, "rate", &rate);
    if (st == SB_OK)
        st = sb_json_integer(j, path, "moved", 0, INT64_MAX, &moved);
    if (st == SB_OK)
        st = sb_json_integer(j, path, "returned", 0, INT64_MAX, &returned);
    if (st == SB_OK)
        sb_assess_push(a, list,
                       json_pack("{s:s, s:I, s:I, s:o, s:I, s:I}", "phase", phase, "step",
                                 (json_int_t)step, "member", (json_int_t)member, "rate",
                                 sb_json_real(rate), "moved", (json_int_t)moved,
                                 "returned", (json_int_t)returned));
    json_decref(j);
    return st;
}

static sb_status put_updates(struct sb_assess *a, json_t *support)
{
    char path[SB_RUN_PATH];
    struct sb_map map;
    json_t *list = json_array();
    sb_assess_put(a, support, "updates", list);
    sb_status st = sb_run_path(a->o->run, "updates.jsonl", path);
    if (st != SB_OK || !sb_file_exists(path))
        return st;
    st = sb_map_open(&map, path);
    if (st != SB_OK)
        return st;
    const char *at = (const char *)map.data, *end = at + map.size;
    while (st == SB_OK && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        st = push_update(a, list, path, at, (size_t)(stop - at));
        at = stop < end ? stop + 1 : end;
    }
    sb_map_close(&map);
    return st;
}

sb_status sb_assess_support(struct sb_assess *a)
{
    json_t *support = json_object();
    sb_assess_put(a, a->sections, "support", support);
    sb_status st = put_layers(a, support);
    return st == SB_OK ? put_updates(a, support) : st;
}
