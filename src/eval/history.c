/* history - what the run wrote down as it went: the trajectory, and the support's moves. */
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "eval/parts.h"
#include "figures/tsne.h"
#include "model/inspect.h"
#include "readers/npy.h"
#include "train/stage.h"

/* ---- the trajectory ------------------------------------------------------------------ */

/* Row i of the file is the i-th epoch of all runs. */
static json_t *point(const struct sb_schedule *s, uint32_t i, const double y[2])
{
    uint32_t epoch;
    const struct sb_stage *g = sb_schedule_at(s, i, &epoch);
    return json_pack("{s:s, s:I, s:I, s:o, s:o}", "phase", g->name, "member",
                     (json_int_t)g->member, "epoch", (json_int_t)epoch + 1, "x",
                     sb_json_real(y[0]), "y", sb_json_real(y[1]));
}

static sb_status embed(struct sb_eval *a, const struct sb_schedule *s,
                       const struct sb_npy *x)
{
    const struct sb_tsne_options standard = {0};
    size_t n = (size_t)x->shape[0], dimensions = (size_t)(x->shape[1] * x->shape[2]);
    double *y = sb_malloc(n, 2 * sizeof *y);
    if (!y)
        return sb_fail(SB_ENOMEM, "no memory for %zu points", n);
    sb_status st = sb_tsne(a->env, (const float *)(const void *)x->data, n, dimensions,
                           &standard, y);
    json_t *points = json_array();
    for (size_t i = 0; i < n && st == SB_OK; i++)
        sb_eval_push(a, points, point(s, (uint32_t)i, y + 2 * i));
    if (st == SB_OK) {
        sb_eval_put(a, a->sections, "trajectory", json_pack("{s:O}", "points", points));
        sb_text_add(&a->table, "\n%-18s t-SNE of %zu epochs\n", "trajectory", n);
    }
    json_decref(points);
    sb_free(y);
    return st;
}

/* What the run would have written: a file of another kind is somebody else's. */
static bool expected(const struct sb_eval *a, const struct sb_schedule *s,
                     const struct sb_npy *x)
{
    return x->kind == 'f' && x->size == 4 && !x->swap && !x->fortran && x->dims == 3 &&
           x->shape[0] == s->total_epochs && x->shape[1] > 0 && x->shape[1] <= 1000 &&
           x->shape[2] == a->model.info.classes;
}

static sb_status embed_file(struct sb_eval *a, const struct sb_map *map, const char *path)
{
    struct sb_npy x;
    struct sb_schedule s = {0};
    sb_status st = sb_npy_parse(&x, path, map->data, map->size);
    if (st == SB_OK)
        st = sb_schedule_init(&s, a->o->config, a->o->method, 1);
    if (st == SB_OK && !expected(a, &s, &x))
        st = sb_fail(SB_EFORMAT,
                     "%s is not what this run's recipe would have recorded; remove it",
                     path);
    if (st == SB_OK && x.shape[0] < SB_TSNE_LEAST)
        sb_log_write(a->env->log, SB_LOG_INFO,
                     "no t-SNE of the trajectory: it has fewer than %d epochs",
                     SB_TSNE_LEAST);
    else if (st == SB_OK)
        st = embed(a, &s, &x);
    sb_schedule_fini(&s);
    return st;
}

sb_status sb_eval_trajectory(struct sb_eval *a)
{
    char path[SB_PATH_BYTES];
    struct sb_map map;
    sb_status st = sb_run_path(a->o->run, SB_RUN_TRAJECTORY, path);
    if (st != SB_OK || !sb_file_exists(path))
        return st;
    st = sb_map_open(&map, path);
    if (st != SB_OK)
        return st;
    st = embed_file(a, &map, path);
    sb_map_close(&map);
    return st;
}

/* ---- the support --------------------------------------------------------------------- */

static sb_status put_layers(struct sb_eval *a, json_t *support)
{
    uint32_t layers = a->model.trained.weights, networks = a->model.networks;
    struct sb_inspect_layer *l = sb_malloc(layers, sizeof *l);
    if (!l)
        return sb_fail(SB_ENOMEM, "no memory for %u layers", layers);
    json_t *list = json_array();
    sb_eval_put(a, support, "layers", list);
    sb_status st = sb_inspect_layers(&a->model, l);
    for (uint32_t i = 0; i < layers && st == SB_OK; i++)
        sb_eval_push(a, list,
                     json_pack("{s:s, s:s, s:I, s:I, s:o}", "name", l[i].name, "shape",
                               l[i].shape, "weights", (json_int_t)(l[i].all / networks),
                               "exist", (json_int_t)(l[i].active / networks), "density",
                               sb_json_real((double)l[i].active / (double)l[i].all)));
    sb_free(l);
    return st;
}

/* One line of updates.jsonl, checked. */
static sb_status push_update(struct sb_eval *a, json_t *list, const char *path,
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
        sb_eval_push(a, list,
                     json_pack("{s:s, s:I, s:I, s:o, s:I, s:I}", "phase", phase, "step",
                               (json_int_t)step, "member", (json_int_t)member, "rate",
                               sb_json_real(rate), "moved", (json_int_t)moved, "returned",
                               (json_int_t)returned));
    json_decref(j);
    return st;
}

static sb_status put_updates(struct sb_eval *a, json_t *support)
{
    char path[SB_PATH_BYTES];
    struct sb_map map;
    json_t *list = json_array();
    sb_eval_put(a, support, "updates", list);
    sb_status st = sb_run_path(a->o->run, SB_RUN_UPDATES, path);
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

sb_status sb_eval_support(struct sb_eval *a)
{
    json_t *support = json_object();
    sb_eval_put(a, a->sections, "support", support);
    sb_status st = put_layers(a, support);
    return st == SB_OK ? put_updates(a, support) : st;
}
