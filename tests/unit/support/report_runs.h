/* report_runs - runs made of texts, for tests of reports. */
#ifndef SB_TESTS_REPORT_RUNS_H
#define SB_TESTS_REPORT_RUNS_H

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "recipe/options.h"
#include "report/run.h"
#include "report/schema.h"

static inline char *runs_copy(const char *text)
{
    char *out = sb_malloc(strlen(text) + 1, 1);
    assert_non_null(out);
    return memcpy(out, text, strlen(text) + 1);
}

/* What a recipe of these says, the rest as the method has it. */
static inline struct sb_config runs_config(const char *data, const char *arch,
                                           const char *method, uint32_t members,
                                           double sparsity)
{
    struct sb_recipe r;
    sb_recipe_init(&r);
    if (sb_recipe_set(&r, "method.name", method) == SB_OK)
        (void)sb_recipe_resolve(&r);
    struct sb_config *c = &r.config;
    snprintf(c->data.set, sizeof c->data.set, "%s", data);
    snprintf(c->model.arch, sizeof c->model.arch, "%s", arch);
    snprintf(c->method.name, sizeof c->method.name, "%s", method);
    c->method.members = members;
    c->method.sparsity = sparsity;
    return *c;
}

/* A run of a recipe that is said in short; results as JSON, NULL: none. */
static inline struct sb_report_run runs_make(const char *path, const char *data,
                                             const char *arch, const char *method,
                                             uint32_t members, double sparsity,
                                             const char *results)
{
    struct sb_report_run r = {.path = path, .metrics = json_array()};
    struct sb_config *c = &r.recipe.config;
    char group[256];
    *c = runs_config(data, arch, method, members, sparsity);
    snprintf(group, sizeof group, "%.90s %.60s %.60s %u %g", data, arch, method, members,
             sparsity);
    r.recipe.group = runs_copy(group);
    r.recipe.text = runs_copy("[data]\n");
    if (results) {
        json_t *all = NULL;
        assert_int_equal(sb_json_parse("runs", results, strlen(results), &all), SB_OK);
        assert_int_equal(sb_schema_read(&sb_schema_results, "runs", all, &r.results),
                         SB_OK);
        json_decref(all);
    }
    return r;
}

/* What training writes, and more after it. */
#define RUNS_RESULTS(acc, nll, ece, cost, more)                                          \
    "{\"method\": \"m\", \"arch\": \"a\", \"density\": 0.2, \"members\": [], "           \
    "\"ensemble\": {\"acc\": " #acc ", \"nll\": " #nll ", \"ece\": " #ece "}, "          \
    "\"train_seconds\": 90, \"images_per_second\": 10, \"training_flops\": " #cost ", "  \
    "\"dense_run_flops\": 100, \"seed\": 1, \"epochs\": 3, \"ece_bins\": 15" more "}"

#define RUNS_CORRUPTED(acc, nll, ece)                                                    \
    ", \"evaluation\": {\"corruption\": {\"pooled\": {\"acc\": " #acc ", \"nll\": " #nll \
    ", \"ece\": " #ece "}}}"

#endif
