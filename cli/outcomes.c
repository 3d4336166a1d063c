/* outcomes - predictions of continuous targets; see predictions.h. */
#include "predictions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"

enum { ENDS = 2 }; /* of the interval: the first levels */

bool cli_outcomes_init(struct cli_predictions *a)
{
    size_t targets = sebays_model_targets(a->model), n = SEBAYS_FEED_BATCH * targets;
    size_t levels = ENDS + a->quantile_count;
    struct sebays_outcomes *o = &a->outcome;
    a->levels = calloc(levels, sizeof *a->levels);
    if (!a->levels)
        return false;
    a->levels[0] = (1 - a->coverage) / 2;
    a->levels[1] = (1 + a->coverage) / 2;
    if (a->quantile_count > 0)
        memcpy(a->levels + ENDS, a->quantiles, a->quantile_count * sizeof *a->levels);
    *o = (struct sebays_outcomes){
        .levels = a->levels, .level_count = levels, .mean = calloc(n, sizeof *o->mean)};
    if (a->format == CLI_PREDICTIONS_NPY)
        return o->mean;
    o->sd = calloc(n, sizeof *o->sd);
    o->aleatoric = calloc(n, sizeof *o->aleatoric);
    o->epistemic = calloc(n, sizeof *o->epistemic);
    o->quantiles = calloc(n * levels, sizeof *o->quantiles);
    o->far = a->far ? calloc(SEBAYS_FEED_BATCH, sizeof *o->far) : NULL;
    if (a->members) {
        size_t all = n * sebays_model_members(a->model);
        o->member_means = calloc(all, sizeof *o->member_means);
        o->member_variances = calloc(all, sizeof *o->member_variances);
    }
    return o->mean && o->sd && o->aleatoric && o->epistemic && o->quantiles &&
           (!a->members || (o->member_means && o->member_variances)) &&
           (!a->far || o->far);
}

void cli_outcomes_fini(struct cli_predictions *a)
{
    free(a->outcome.mean);
    free(a->outcome.sd);
    free(a->outcome.aleatoric);
    free(a->outcome.epistemic);
    free(a->outcome.quantiles);
    free(a->outcome.member_means);
    free(a->outcome.member_variances);
    free(a->outcome.far);
    free(a->levels);
    free(a->factor);
    a->outcome = (struct sebays_outcomes){0};
    a->levels = a->factor = NULL;
}

/* One target of an example. */
struct cell {
    double mean, sd, aleatoric, epistemic, low, high;
    const float *quantiles;         /* those that were asked for */
    const float *means, *variances; /* of member 0; NULL: not wanted */
    size_t next;                    /* from one member's to the next one's */
};

static struct cell cell_at(const struct cli_predictions *a, size_t i, size_t n,
                           uint32_t t)
{
    const struct sebays_outcomes *o = &a->outcome;
    size_t targets = sebays_model_targets(a->model), at = i * targets + t;
    const float *quantile = o->quantiles + at * o->level_count;
    struct cell c = {.mean = (double)o->mean[at],
                     .sd = (double)o->sd[at],
                     .aleatoric = (double)o->aleatoric[at],
                     .epistemic = (double)o->epistemic[at],
                     .low = (double)quantile[0],
                     .high = (double)quantile[1],
                     .quantiles = quantile + ENDS,
                     .means = a->members ? o->member_means + at : NULL,
                     .variances = a->members ? o->member_variances + at : NULL,
                     .next = n * targets};
    if (a->conformal) {
        c.low = c.mean - a->factor[t] * c.sd;
        c.high = c.mean + a->factor[t] * c.sd;
    }
    return c;
}

/* ---- CSV ---- */

/* ",prefix_name", or the name alone if there is one target. */
static void put_name(const struct cli_predictions *a, uint32_t t, const char *name,
                     bool first)
{
    char prefix[256] = "";
    if (sebays_model_targets(a->model) > 1)
        snprintf(prefix, sizeof prefix, "%s_", sebays_model_target_name(a->model, t));
    size_t used = strlen(prefix);
    snprintf(prefix + used, sizeof prefix - used, "%s", name);
    fputs(first ? "" : ",", a->to);
    cli_put_cell(cli_csv_of(a), "", prefix);
}

void cli_outcomes_head(const struct cli_predictions *a, const struct sebays_feed *feed)
{
    static const char *const names[] = {"mean",      "sd",  "aleatoric",
                                        "epistemic", "low", "high"};
    cli_put_head(cli_csv_of(a), feed);
    for (uint32_t t = 0; t < sebays_model_targets(a->model); t++) {
        char name[64];
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            put_name(a, t, names[k], t == 0 && k == 0);
        for (size_t k = 0; k < a->quantile_count; k++) {
            snprintf(name, sizeof name, "q%g", a->quantiles[k]);
            put_name(a, t, name, false);
        }
        for (uint32_t m = 1; a->members && m <= sebays_model_members(a->model); m++) {
            snprintf(name, sizeof name, "mean_%u", m);
            put_name(a, t, name, false);
            snprintf(name, sizeof name, "sd_%u", m);
            put_name(a, t, name, false);
        }
    }
    fputs(a->far ? ",far\n" : "\n", a->to);
}

static void csv_cell(const struct cli_predictions *a, const struct cell *c)
{
    fprintf(a->to, "%.9g,%.9g,%.9g,%.9g,%.9g,%.9g", c->mean, c->sd, c->aleatoric,
            c->epistemic, c->low, c->high);
    cli_put_floats(a->to, ",", c->quantiles, a->quantile_count);
    for (uint32_t m = 0; a->members && m < sebays_model_members(a->model); m++)
        fprintf(a->to, ",%.9g,%.9g", (double)c->means[m * c->next],
                sqrt((double)c->variances[m * c->next]));
}

/* ---- JSON lines ---- */

static void json_members(const struct cli_predictions *a, const struct cell *c)
{
    fputs(",\"members\":[", a->to);
    for (uint32_t m = 0; m < sebays_model_members(a->model); m++)
        fprintf(a->to, "%s{\"mean\":%.9g,\"sd\":%.9g}", m > 0 ? "," : "",
                (double)c->means[m * c->next], sqrt((double)c->variances[m * c->next]));
    fputc(']', a->to);
}

static void json_cell(const struct cli_predictions *a, const struct cell *c, uint32_t t)
{
    fputs("{\"target\":", a->to);
    cli_put_string(a->to, sebays_model_target_name(a->model, t));
    fprintf(a->to, ",\"mean\":%.9g,\"sd\":%.9g,\"aleatoric\":%.9g,\"epistemic\":%.9g",
            c->mean, c->sd, c->aleatoric, c->epistemic);
    fputs(",\"low\":", a->to);
    cli_put_number(a->to, c->low);
    fputs(",\"high\":", a->to);
    cli_put_number(a->to, c->high);
    for (size_t k = 0; k < a->quantile_count; k++)
        fprintf(a->to, "%s\"%g\":%.9g", k > 0 ? "," : ",\"quantiles\":{", a->quantiles[k],
                (double)c->quantiles[k]);
    fputs(a->quantile_count > 0 ? "}" : "", a->to);
    if (a->members)
        json_members(a, c);
    fputc('}', a->to);
}

void cli_outcomes_row(const struct cli_predictions *a, struct sebays_feed *feed, size_t i,
                      size_t n)
{
    const char *file = a->files ? sebays_feed_name(feed, i) : NULL;
    bool json = a->format == CLI_PREDICTIONS_JSON;
    if (json)
        cli_put_json_front(a->to, a->count, file, feed, i);
    else
        cli_put_front(cli_csv_of(a), a->count, file, feed, i);
    fputs(json ? "\"targets\":[" : "", a->to);
    for (uint32_t t = 0; t < sebays_model_targets(a->model); t++) {
        struct cell c = cell_at(a, i, n, t);
        fputs(t > 0 ? "," : "", a->to);
        if (json)
            json_cell(a, &c, t);
        else
            csv_cell(a, &c);
    }
    fputs(json ? "]" : "", a->to);
    if (a->far)
        fprintf(a->to, "%s%.9g", json ? ",\"far\":" : ",", (double)a->outcome.far[i]);
    fputs(json ? "}\n" : "\n", a->to);
}
