/* results - see results.h. */
#include "train/results.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

sb_status sb_results_open(const char *path, json_t **out)
{
    struct sb_map map;
    *out = NULL;
    if (!sb_file_exists(path))
        return SB_OK;
    sb_status st = sb_map_open(&map, path);
    if (st != SB_OK)
        return st;
    st = sb_json_parse(path, map.data, map.size, out);
    sb_map_close(&map);
    if (st == SB_OK && !json_is_object(*out)) {
        json_decref(*out);
        *out = NULL;
        st = sb_fail(SB_EFORMAT, "%s: want an object; remove it and try again", path);
    }
    return st;
}

sb_status sb_results_keep(const char *path, json_t *results)
{
    json_t *old;
    sb_status st = sb_results_open(path, &old);
    static const char *const kept[] = {"evaluation", "other_tests"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept && st == SB_OK; i++) {
        json_t *section = json_object_get(old, kept[i]);
        if (section && json_object_set(results, kept[i], section) != 0)
            st = sb_fail(SB_ENOMEM, "no memory for %s", path);
    }
    json_decref(old);
    return st;
}

/* ---- figures ------------------------------------------------------------------------- */

/* A number, or null for one that JSON cannot say. */
static sb_status number(const json_t *j, const char *path, const char *key, double *out)
{
    *out = NAN;
    return json_is_null(json_object_get(j, key)) ? SB_OK
                                                 : sb_json_number(j, path, key, out);
}

/* Files that are older than regression do not say which task it was. */
static enum sb_likelihood_kind task_of(const json_t *j)
{
    const char *task = json_string_value(json_object_get(j, "task"));
    return task && strcmp(task, "regression") == 0 ? SB_LIKELIHOOD_GAUSS_SHARED
                                                   : SB_LIKELIHOOD_CATEGORICAL;
}

static sb_status figures(const json_t *j, const char *path, enum sb_likelihood_kind task,
                         struct sb_figures *out)
{
    sb_status st = SB_OK;
    *out = sb_figures_none(task);
    for (uint32_t i = 0; i < out->list->count && st == SB_OK; i++)
        st = number(j, path, out->list->kind[i].name, &out->value[i]);
    return st;
}

static sb_status read_members(const json_t *j, const char *path,
                              struct sb_run_result *out)
{
    const json_t *list;
    sb_status st = sb_json_array(j, path, "members", &list);
    if (st != SB_OK)
        return st;
    size_t n = json_array_size(list);
    out->member = sb_calloc(n, sizeof *out->member);
    if (!out->member)
        return sb_fail(SB_ENOMEM, "no memory for %zu members", n);
    out->members = (uint32_t)n;
    for (size_t i = 0; i < n && st == SB_OK; i++)
        st = figures(json_array_get(list, i), path, task_of(j), &out->member[i]);
    return st;
}

static sb_status read_figures(const json_t *j, const char *path,
                              struct sb_run_result *out)
{
    const json_t *ensemble;
    sb_status st = read_members(j, path, out);
    if (st == SB_OK)
        st = sb_json_object(j, path, "ensemble", &ensemble);
    if (st == SB_OK)
        st = figures(ensemble, path, task_of(j), &out->ensemble);
    if (st == SB_OK)
        st = number(j, path, "density", &out->density);
    if (st == SB_OK)
        st = number(j, path, "train_seconds", &out->train_seconds);
    if (st == SB_OK)
        st = number(j, path, "images_per_second", &out->images_per_second);
    return st == SB_OK ? number(j, path, "training_flops", &out->training_flops) : st;
}

sb_status sb_results_read(const char *path, struct sb_run_result *out)
{
    json_t *j;
    *out = (struct sb_run_result){0};
    sb_status st = sb_results_open(path, &j);
    if (st == SB_OK && !j)
        st = sb_fail(SB_EIO, "there is no %s: the run is not finished", path);
    if (st == SB_OK)
        st = read_figures(j, path, out);
    json_decref(j);
    return st;
}
