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

/* Old sections that belong with the new ones: of the same way of sampling. */
static json_t *old_sections(json_t *results, const char *sampling)
{
    json_t *old = json_object_get(results, "evaluation");
    const char *how = json_string_value(json_object_get(old, "sampling"));
    return how && strcmp(how, sampling) == 0 ? json_incref(old) : json_object();
}

sb_status sb_eval_write(struct sb_eval *a)
{
    char path[SB_RUN_PATH], sampling[32], *text = NULL;
    json_t *results = NULL, *all = NULL;
    sb_eval_sampling(a, sampling);
    sb_status st = sb_run_path(a->o->run, "results.json", path);
    if (st == SB_OK)
        st = read_results(path, &results);
    if (st != SB_OK)
        goto done;
    all = old_sections(results, sampling);
    bool ok = all && !a->failed && json_object_update(all, a->sections) == 0 &&
              json_object_set_new(all, "sampling", json_string(sampling)) == 0 &&
              json_object_set_new(all, "definitions", sb_eval_definitions(a)) == 0 &&
              json_object_set(results, "evaluation", all) == 0;
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
