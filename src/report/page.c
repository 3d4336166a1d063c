/* page - see page.h. */
#include "report/page.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/assets.h"
#include "report/compare.h"

/* ---- the data ------------------------------------------------------------------------ */

static json_t *settings_json(const struct sb_config *c)
{
    const struct sb_config_method *m = &c->method;
    return json_pack(
        "{s:o, s:o, s:o, s:I, s:o, s:I, s:I, s:I}", "data", sb_report_string(c->data.set),
        "arch", sb_report_string(c->model.arch), "method", sb_report_string(m->name),
        "members", (json_int_t)m->members, "sparsity", sb_json_real(m->sparsity), "seed",
        (json_int_t)c->train.seed, "explore_epochs", (json_int_t)m->explore_epochs,
        "exploit_epochs", (json_int_t)m->exploit_epochs);
}

static json_t *run_json(const struct sb_report_run *r)
{
    return json_pack("{s:o, s:o, s:o, s:O?, s:O}", "path", sb_report_string(r->path),
                     "recipe", sb_report_string(r->recipe.text), "settings",
                     settings_json(&r->recipe.config), "results", r->results, "metrics",
                     r->metrics);
}

/* The rows of the runs that have ended, an empty array if none has, and the sentence about
 * runs that were not evaluated alike. */
static sb_status comparison_json(const struct sb_report_run *run, size_t runs,
                                 json_t **out, char unlike[SB_COMPARE_UNLIKE])
{
    struct sb_report_run *ended = sb_malloc(runs, sizeof *ended); /* borrows from run */
    struct sb_compare c = {0};
    size_t n = 0;
    *out = NULL;
    if (!ended)
        return sb_fail(SB_ENOMEM, "no memory for %zu runs", runs);
    for (size_t i = 0; i < runs; i++)
        if (run[i].results)
            ended[n++] = run[i];
    sb_status st = sb_compare_init(&c, ended, n);
    if (st == SB_OK)
        st = sb_compare_json(&c, out);
    sb_compare_unlike(&c, unlike);
    sb_compare_fini(&c);
    sb_free(ended);
    return st;
}

static sb_status data_json(const struct sb_report_run *run, size_t runs,
                           const char *version, char **out)
{
    json_t *list = json_array(), *comparison = NULL, *all = NULL;
    char unlike[SB_COMPARE_UNLIKE] = "";
    sb_status st = comparison_json(run, runs, &comparison, unlike);
    for (size_t i = 0; st == SB_OK && i < runs; i++)
        if (json_array_append_new(list, run_json(&run[i])) != 0)
            st = sb_fail(SB_ENOMEM, "%s: no memory for its page", run[i].path);
    if (st == SB_OK) {
        all = json_pack("{s:s, s:O, s:O, s:o}", "version", version, "runs", list,
                        "comparison", comparison, "unlike", sb_report_string(unlike));
        st = all ? sb_json_write(all, false, out)
                 : sb_fail(SB_ENOMEM, "no memory for a page about %zu runs", runs);
    }
    json_decref(all);
    json_decref(list);
    json_decref(comparison);
    return st;
}

/* ---- the frame ----------------------------------------------------------------------- */

/* These characters are in strings only, where JSON lets them be written this way. */
static void add_data(struct sb_text *to, const char *json)
{
    while (*json) {
        size_t n = strcspn(json, "<>&");
        sb_text_add(to, "%.*s", (int)n, json);
        json += n;
        if (*json)
            sb_text_add(to, "\\u%04x", (unsigned)*json++);
    }
}

static const char *asset(const unsigned char *bytes)
{
    return (const char *)bytes;
}

/* Adds the part that a marker names. */
static void add_part(struct sb_text *to, const char *name, size_t length,
                     const char *data)
{
    const struct {
        const char *name;
        const unsigned char *bytes;
    } parts[] = {
        {"STYLE", sb_asset_style},       {"CHART", sb_asset_chart},
        {"DOM", sb_asset_dom},           {"CHARTS", sb_asset_charts},
        {"SECTIONS", sb_asset_sections}, {"EVALUATED", sb_asset_evaluated},
        {"OUTCOMES", sb_asset_outcomes}, {"MAIN", sb_asset_main},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strlen(parts[i].name) == length && memcmp(parts[i].name, name, length) == 0)
            sb_text_add(to, "%s", asset(parts[i].bytes));
    if (length == 4 && memcmp("DATA", name, length) == 0)
        add_data(to, data);
}

sb_status sb_page_make(const struct sb_report_run *run, size_t runs, const char *version,
                       char **out)
{
    struct sb_text to = {0};
    const char *at = asset(sb_asset_page), *mark, *end;
    char *data = NULL;
    *out = NULL;
    sb_status st = data_json(run, runs, version, &data);
    if (st != SB_OK)
        return st;
    while ((mark = strstr(at, "@@")) && (end = strstr(mark + 2, "@@"))) {
        sb_text_add(&to, "%.*s", (int)(mark - at), at);
        add_part(&to, mark + 2, (size_t)(end - mark - 2), data);
        at = end + 2;
    }
    sb_text_add(&to, "%s", at);
    sb_free(data);
    return sb_text_take(&to, out);
}
