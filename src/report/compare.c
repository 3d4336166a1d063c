/* compare - see compare.h: rows and their figures. */
#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "base/numeric.h"
#include "recipe/method.h"

static const struct figure {
    const char *name;
    double scale; /* shown is value * scale */
    int digits;
    bool more;  /* more is better */
    bool score; /* it can be best */
} figures[] = {
    [SB_FIGURE_ACC] = {"acc", 100.0, 2, true, true},
    [SB_FIGURE_NLL] = {"nll", 1.0, 4, false, true},
    [SB_FIGURE_ECE] = {"ece", 1.0, 4, false, true},
    [SB_FIGURE_CACC] = {"cacc", 100.0, 2, true, true},
    [SB_FIGURE_CNLL] = {"cnll", 1.0, 4, false, true},
    [SB_FIGURE_CECE] = {"cece", 1.0, 4, false, true},
    [SB_FIGURE_COST] = {"cost", 1.0, 2, false, false},
    [SB_FIGURE_UNIT] = {"dense_run_epochs", 1.0, 0, false, false},
    [SB_FIGURE_RUNS] = {"training_runs", 1.0, 0, false, false},
    [SB_FIGURE_SECONDS] = {"seconds", 1.0, 1, false, false},
    [SB_FIGURE_RMSE] = {"rmse", 1.0, 4, false, true},
    [SB_FIGURE_MAE] = {"mae", 1.0, 4, false, true},
    [SB_FIGURE_CRPS] = {"crps", 1.0, 4, false, true},
};

const char *sb_figure_name(enum sb_figure f)
{
    return figures[f].name;
}

int sb_figure_digits(enum sb_figure f)
{
    return figures[f].digits;
}

double sb_figure_scale(enum sb_figure f)
{
    return figures[f].scale;
}

double sb_figure_of_paper(const struct sb_paper_row *p, enum sb_figure f)
{
    const double value[SB_FIGURE_SCORES] = {p->acc,  p->nll,  p->ece,
                                            p->cacc, p->cnll, p->cece};
    return f < SB_FIGURE_SCORES ? value[f] : f == SB_FIGURE_COST ? sb_paper_cost(p) : NAN;
}

/* ---- figures of a run ---------------------------------------------------------------- */

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void figures_of(const struct sb_report_run *r, double out[SB_FIGURES])
{
    static const char *const keys[] = {"acc", "nll", "ece"};
    const json_t *test = sb_report_section(r, "test");
    const json_t *pooled = json_object_get(sb_report_section(r, "corruption"), "pooled");
    const json_t *ensemble = json_object_get(test ? test : r->results, "ensemble");
    for (int i = 0; i < 3; i++) {
        out[SB_FIGURE_ACC + i] = number(ensemble, keys[i]);
        out[SB_FIGURE_CACC + i] = number(pooled, keys[i]);
    }
    for (int f = SB_FIGURE_RMSE; f <= SB_FIGURE_CRPS; f++)
        out[f] = number(ensemble, figures[f].name);
    double dense = number(r->results, "dense_run_flops");
    out[SB_FIGURE_COST] =
        dense > 0.0 ? number(r->results, "training_flops") / dense : NAN;
    out[SB_FIGURE_UNIT] = number(r->results, "dense_run_epochs");
    out[SB_FIGURE_RUNS] = number(r->results, "training_runs");
    out[SB_FIGURE_SECONDS] = number(r->results, "train_seconds");
}

/* The best member of a run; NULL: its figures are not there. */
static const json_t *best_member(const struct sb_report_run *r)
{
    const json_t *test = sb_report_section(r, "test"), *best = NULL;
    const json_t *list = json_object_get(test, "members");
    if (!list)
        list = json_object_get(r->results, "members");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *m = json_array_get(list, i);
        double acc = number(m, "acc") - number(best, "acc");
        if (!best || acc > 0 || (acc == 0 && number(m, "nll") < number(best, "nll")))
            best = m;
    }
    return best;
}

/* A member's training is not told apart from the others', nor are corrupted images
 * evaluated member by member. */
static void figures_of_member(const struct sb_report_run *r, double out[SB_FIGURES])
{
    const json_t *m = best_member(r);
    for (int f = 0; f < SB_FIGURES; f++)
        out[f] = NAN;
    out[SB_FIGURE_ACC] = number(m, "acc");
    out[SB_FIGURE_NLL] = number(m, "nll");
    out[SB_FIGURE_ECE] = number(m, "ece");
}

/* ---- ways of evaluation -------------------------------------------------------------- */

/* What figures depend on besides the model. */
struct way {
    char sampling[32]; /* as sebays eval says it; empty: weights are points */
    size_t bins;       /* of the calibration error; 0: there is none */
};

static bool draws(const struct sb_config_method *m)
{
    const struct sb_method *row = NULL;
    return m->posterior == SB_CONFIG_GAUSS || sb_method_find(m->name, &row) != SB_OK ||
           row->posterior == SB_POSTERIOR_GAUSS || row->form == SB_FORM_RANK_1;
}

/* Drawn scales have no noise of activations: to them it is a draw. */
static bool scales_only(const struct sb_config_method *m)
{
    const struct sb_method *row = NULL;
    return sb_method_find(m->name, &row) == SB_OK && row->form == SB_FORM_RANK_1;
}

static struct way way_of(const struct sb_report_run *r)
{
    const json_t *test = sb_report_section(r, "test");
    const json_t *bins = json_object_get(json_object_get(test, "bins"), "ensemble");
    const char *sampling = json_string_value(sb_report_section(r, "sampling"));
    double before = number(r->results, "ece_bins");
    struct way w = {.bins = before > 0 ? (size_t)before : 0};
    if (bins)
        w.bins = json_array_size(bins);
    if (draws(&r->recipe.config.method) && test && sampling)
        snprintf(w.sampling, sizeof w.sampling, "%s", sampling);
    else if (draws(&r->recipe.config.method)) {
        struct sb_sampling of_recipe = sb_config_sampling(&r->recipe.config.eval);
        sb_sampling_name(&of_recipe, w.sampling);
    }
    if (scales_only(&r->recipe.config.method) &&
        strcmp(w.sampling, "activation-noise") == 0)
        snprintf(w.sampling, sizeof w.sampling, "draw");
    return w;
}

static bool alike(const struct sb_report_run *a, const struct sb_report_run *b)
{
    struct way x = way_of(a), y = way_of(b);
    bool drawn = x.sampling[0] && y.sampling[0], binned = x.bins > 0 && y.bins > 0;
    return (!drawn || strcmp(x.sampling, y.sampling) == 0) &&
           (!binned || x.bins == y.bins);
}

static void say_way(const struct sb_report_run *r, char out[SB_COMPARE_UNLIKE / 4])
{
    struct way w = way_of(r);
    char bins[32] = "";
    if (w.bins > 0)
        snprintf(bins, sizeof bins, "%s%zu bins", w.sampling[0] ? " and " : "", w.bins);
    snprintf(out, SB_COMPARE_UNLIKE / 4, "%.180s with %s%s", r->path, w.sampling, bins);
}

const char *sb_compare_unlike(const struct sb_compare *c, char out[SB_COMPARE_UNLIKE])
{
    char a[SB_COMPARE_UNLIKE / 4], b[SB_COMPARE_UNLIKE / 4];
    out[0] = '\0';
    if (!c->unlike[0])
        return out;
    say_way(c->unlike[0], a);
    say_way(c->unlike[1], b);
    snprintf(
        out, SB_COMPARE_UNLIKE,
        "not evaluated alike: %s, %s; use sebays eval in one way for all before their "
        "figures are compared",
        a, b);
    return out;
}

/* ---- rows ---------------------------------------------------------------------------- */

const char *sb_compare_method(const struct sb_compare_row *r,
                              char out[SB_CONFIG_NAME + 8])
{
    snprintf(out, SB_CONFIG_NAME + 8, "%s%s", r->first->recipe.config.method.name,
             r->single ? " single" : "");
    return out;
}

uint32_t sb_compare_members(const struct sb_compare_row *r)
{
    return r->single ? 1 : r->first->recipe.config.method.members;
}

/* The row of a run's recipe, a new one if need be. */
static struct sb_compare_row *row_of(struct sb_compare *c, const struct sb_report_run *r,
                                     bool single)
{
    const struct sb_config *config = &r->recipe.config;
    for (size_t i = 0; i < c->rows; i++) {
        if (c->row[i].single == single &&
            strcmp(c->row[i].first->recipe.group, r->recipe.group) == 0)
            return &c->row[i];
    }
    struct sb_compare_row *row = &c->row[c->rows++];
    *row = (struct sb_compare_row){.first = r,
                                   .single = single,
                                   .paper = single ? sb_paper_single(config)
                                                   : sb_paper_find(config)};
    return row;
}

/* Mean and spread by Welford's recurrence: sd holds the sum of squares until finish. */
static void add(struct sb_compare_row *row, const struct sb_report_run *r)
{
    double x[SB_FIGURES];
    (row->single ? figures_of_member : figures_of)(r, x);
    row->runs++;
    for (int f = 0; f < SB_FIGURES; f++) {
        double before = x[f] - row->mean[f];
        row->mean[f] += before / (double)row->runs;
        row->sd[f] += before * (x[f] - row->mean[f]);
    }
}

/* Where a row stands: the paper's before others. */
static size_t place_of(const struct sb_compare_row *r)
{
    return r->paper ? sb_paper_index(r->paper) : SIZE_MAX;
}

/* By insertion, so that rows of one place stay as they are. */
static void order_rows(struct sb_compare *c)
{
    for (size_t i = 1; i < c->rows; i++) {
        struct sb_compare_row row = c->row[i];
        size_t at = i;
        for (; at > 0 && place_of(&c->row[at - 1]) > place_of(&row); at--)
            c->row[at] = c->row[at - 1];
        c->row[at] = row;
    }
}

/* A table for each data set and task, in the order of their first rows. */
static void count_tables(struct sb_compare *c)
{
    for (size_t i = 0; i < c->rows; i++) {
        size_t before = i;
        while (before > 0 &&
               !sb_compare_same_data(c->row[before - 1].first, c->row[i].first))
            before--;
        c->row[i].table = before > 0 ? c->row[before - 1].table : c->tables++;
    }
}

static double shown(const struct sb_compare_row *row, int f)
{
    double unit = pow(10.0, figures[f].digits) * figures[f].scale;
    return round(row->mean[f] * unit);
}

static void find_unlike(struct sb_compare *c, const struct sb_report_run *run,
                        size_t runs)
{
    for (size_t i = 1; i < runs && !c->unlike[0]; i++)
        for (size_t k = 0; k < i && !c->unlike[0]; k++)
            if (sb_compare_same_data(&run[k], &run[i]) && !alike(&run[k], &run[i])) {
                c->unlike[0] = &run[k];
                c->unlike[1] = &run[i];
            }
}

static void mark_best(struct sb_compare *c, size_t table, int f)
{
    size_t n = 0;
    double best = NAN;
    for (size_t i = 0; i < c->rows; i++) {
        double x = shown(&c->row[i], f);
        if (c->row[i].table != table || isnan(x))
            continue;
        n++;
        best = isnan(best) ? x : figures[f].more ? fmax(best, x) : fmin(best, x);
    }
    for (size_t i = 0; n > 1 && i < c->rows; i++)
        if (c->row[i].table == table)
            c->row[i].best[f] = shown(&c->row[i], f) == best;
}

static void finish(struct sb_compare *c)
{
    for (size_t i = 0; i < c->rows; i++)
        for (int f = 0; f < SB_FIGURES; f++) {
            struct sb_compare_row *r = &c->row[i];
            r->sd[f] = r->runs > 1 ? sqrt(r->sd[f] / (double)(r->runs - 1)) : NAN;
        }
    for (size_t t = 0; t < c->tables; t++)
        for (int f = 0; f < SB_FIGURES; f++)
            if (figures[f].score)
                mark_best(c, t, f);
}

sb_status sb_compare_init(struct sb_compare *c, const struct sb_report_run *run,
                          size_t runs)
{
    *c = (struct sb_compare){0};
    for (size_t i = 0; i < runs; i++) {
        sb_status st = sb_report_run_finished(&run[i]);
        if (st != SB_OK)
            return st;
    }
    c->row = sb_calloc(2 * runs, sizeof *c->row);
    if (!c->row)
        return sb_fail(SB_ENOMEM, "no memory to compare %zu runs", runs);
    for (size_t i = 0; i < runs; i++) {
        add(row_of(c, &run[i], false), &run[i]);
        if (sb_paper_single(&run[i].recipe.config) && best_member(&run[i]))
            add(row_of(c, &run[i], true), &run[i]);
    }
    order_rows(c);
    count_tables(c);
    finish(c);
    find_unlike(c, run, runs);
    return SB_OK;
}

void sb_compare_fini(struct sb_compare *c)
{
    if (!c)
        return;
    sb_free(c->row);
    *c = (struct sb_compare){0};
}

/* ---- formats ------------------------------------------------------------------------- */

sb_status sb_compare_format_find(const char *name, enum sb_compare_format *out)
{
    static const char *const names[] = {
        [SB_COMPARE_TEXT] = "text",   [SB_COMPARE_MARKDOWN] = "markdown",
        [SB_COMPARE_LATEX] = "latex", [SB_COMPARE_CSV] = "csv",
        [SB_COMPARE_JSON] = "json",
    };
    struct sb_nearest nearest = sb_nearest_begin(name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sb_nearest_offer(&nearest, names[i]);
        if (strcmp(names[i], name) == 0) {
            *out = (enum sb_compare_format)i;
            return SB_OK;
        }
    }
    return sb_fail(SB_EARG,
                   "there is no format '%s'; the nearest is '%s', of text, markdown, "
                   "latex, csv and json",
                   name, nearest.best);
}

sb_status sb_compare_write(const struct sb_compare *c, enum sb_compare_format format,
                           char **out)
{
    json_t *json = NULL;
    *out = NULL;
    if (format == SB_COMPARE_CSV)
        return sb_compare_csv(c, out);
    if (format != SB_COMPARE_JSON) {
        locale_t before = sb_numeric_begin();
        sb_status tables = sb_compare_tables(c, format, out);
        sb_numeric_end(before);
        return tables;
    }
    sb_status st = sb_compare_json(c, &json);
    if (st == SB_OK)
        st = sb_json_write(json, true, out);
    json_decref(json);
    return st;
}
