/* results - merging what was computed into results.json. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "eval/parts.h"

/* results.json as it is; an empty object if there is none. */
static sb_status read_results(const char *path, json_t **out)
{
    sb_status st = sb_results_open(path, out);
    if (st == SB_OK && !*out && !(*out = json_object()))
        st = sb_fail(SB_ENOMEM, "no memory for %s", path);
    return st;
}

/* Whether training judged the ensemble on a test part of its own. */
static bool judged(const json_t *results)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(results, "ensemble"), key,
                        value) if (json_is_number(value)) return true;
    return false;
}

/* The object that this evaluation becomes a member of, borrowed, and under which key. The
 * figures on another test set stay apart, so that those of the run are on the test set that
 * its recipe names. */
static json_t *place_of(const struct sb_eval *a, json_t *results, const char **key)
{
    *key = "evaluation";
    if (!a->o->test || !judged(results))
        return results;
    *key = a->test.data->path;
    json_t *others = json_object_get(results, "other_tests");
    if (json_is_object(others))
        return others;
    others = json_object();
    return json_object_set_new(results, "other_tests", others) == 0 ? others : NULL;
}

/* Whether two entries of a list are about the same: all that names them is alike. */
static bool same_entry(const json_t *a, const json_t *b, const char *const name[2])
{
    for (int i = 0; i < 2 && name[i]; i++)
        if (!json_equal(json_object_get(a, name[i]), json_object_get(b, name[i])))
            return false;
    return true;
}

/* Puts an entry in the place of that of the same name, or behind the others. */
static bool put_entry(json_t *list, json_t *entry, const char *const name[2])
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (same_entry(json_array_get(list, i), entry, name))
            return json_array_set(list, i, entry) == 0;
    return json_array_append(list, entry) == 0;
}

/* all becomes the old sections with the new ones in their places; lists of things that have
 * names are merged by them, so that figures of another set or attack stay. */
static bool merge(json_t *all, json_t *sections)
{
    static const struct {
        const char *section, *name[2];
    } lists[] = {{"ood", {"name", NULL}}, {"attack", {"kind", "steps"}}};
    bool ok = true;
    const char *key;
    json_t *value;
    json_object_foreach(sections, key, value)
    {
        json_t *old = json_object_get(all, key);
        const char *const *name = NULL;
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            if (strcmp(key, lists[i].section) == 0 && json_is_array(old))
                name = lists[i].name;
        if (!name)
            ok = ok && json_object_set(all, key, value) == 0;
        for (size_t i = 0; name && i < json_array_size(value); i++)
            ok = ok && put_entry(old, json_array_get(value, i), name);
    }
    return ok;
}

/* Old sections that belong with the new ones: of the same way of sampling. */
static json_t *old_sections(const json_t *old, const char *sampling)
{
    const char *how = json_string_value(json_object_get(old, "sampling"));
    return how && strcmp(how, sampling) == 0 ? json_deep_copy(old) : json_object();
}

sb_status sb_eval_write(struct sb_eval *a)
{
    char path[SB_PATH_BYTES], sampling[32], *text = NULL;
    const char *key = NULL;
    json_t *results = NULL, *place, *all = NULL;
    sb_eval_sampling(a, sampling);
    sb_status st = sb_run_path(a->o->run, SB_RUN_RESULTS, path);
    if (st == SB_OK)
        st = read_results(path, &results);
    if (st != SB_OK)
        goto done;
    place = place_of(a, results, &key);
    all = old_sections(json_object_get(place, key), sampling);
    bool ok = place && all && !a->failed && merge(all, a->sections) &&
              json_object_set_new(all, "sampling", json_string(sampling)) == 0 &&
              json_object_set_new(all, "definitions", sb_eval_definitions(a)) == 0 &&
              json_object_set(place, key, all) == 0;
    st = ok ? sb_json_write(results, true, &text)
            : sb_fail(SB_ENOMEM, "no memory for %s", path);
    if (st == SB_OK)
        st = sb_file_put(path, text, strlen(text));
done:
    json_decref(results);
    json_decref(all);
    sb_free(text);
    return st;
}
