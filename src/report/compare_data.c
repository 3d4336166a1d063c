/* compare_data - comparisons for programs: CSV and JSON. Numbers are as they were computed,
 * accuracies as shares; what is missing is empty or null. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/compare.h"

/* ---- CSV (RFC 4180) ------------------------------------------------------------------ */

static void add_quoted(struct sb_text *t, const char *text)
{
    sb_text_add(t, "\"");
    for (const char *c = text; *c; c++)
        sb_text_add(t, "%s%c", *c == '"' ? "\"" : "", *c);
    sb_text_add(t, "\"");
}

static void add_number(struct sb_text *t, double x)
{
    sb_text_add(t, ",");
    if (!isnan(x))
        sb_text_add(t, "%.10g", x);
}

static void add_names(struct sb_text *t)
{
    sb_text_add(t, "data,arch,method,members,sparsity,runs");
    for (int f = 0; f < SB_FIGURES; f++)
        sb_text_add(t, ",%s,%s_sd", sb_figure_name(f), sb_figure_name(f));
    for (int f = 0; f < SB_FIGURE_SCORES; f++)
        sb_text_add(t, ",paper_%s", sb_figure_name(f));
    sb_text_add(t, ",paper_cost,run");
    sb_text_add(t, "\r\n");
}

static void add_row(struct sb_text *t, const struct sb_compare_row *r, const char *data)
{
    const struct sb_config *config = &r->first->recipe.config;
    char method[SB_CONFIG_NAME + 8];
    add_quoted(t, data);
    sb_text_add(t, ",");
    add_quoted(t, config->model.arch);
    sb_text_add(t, ",%s,%u,%g,%zu", sb_compare_method(r, method), sb_compare_members(r),
                config->method.sparsity, r->runs);
    for (int f = 0; f < SB_FIGURES; f++) {
        add_number(t, r->mean[f]);
        add_number(t, r->sd[f]);
    }
    for (int f = 0; f < SB_FIGURE_SCORES; f++)
        add_number(t, r->paper ? sb_figure_of_paper(r->paper, f) : NAN);
    add_number(t, r->paper ? sb_paper_cost(r->paper) : NAN);
    sb_text_add(t, ",");
    add_quoted(t, r->first->path);
    sb_text_add(t, "\r\n");
}

sb_status sb_compare_csv(const struct sb_compare *c, char **out)
{
    struct sb_text t = {0};
    add_names(&t);
    for (size_t i = 0; i < c->rows; i++) {
        char *data = NULL;
        sb_status st = sb_compare_title(c, c->row[i].table, &data);
        if (st != SB_OK) {
            sb_text_fini(&t);
            return st;
        }
        add_row(&t, &c->row[i], data);
        sb_free(data);
    }
    return sb_text_take(&t, out);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static json_t *figures_json(const struct sb_compare_row *r)
{
    json_t *out = json_object();
    for (int f = 0; out && f < SB_FIGURES; f++)
        json_object_set_new(out, sb_figure_name(f),
                            json_pack("{s:o, s:o, s:b}", "mean", sb_json_real(r->mean[f]),
                                      "sd", sb_json_real(r->sd[f]), "best", r->best[f]));
    return out;
}

static json_t *paper_json(const struct sb_paper_row *p)
{
    json_t *out = p ? json_object() : json_null();
    for (int f = 0; p && out && f < SB_FIGURE_SCORES; f++)
        json_object_set_new(out, sb_figure_name(f),
                            sb_json_real(sb_figure_of_paper(p, f)));
    if (p && out)
        json_object_set_new(out, "cost", sb_json_real(sb_paper_cost(p)));
    return out;
}

static json_t *row_json(const struct sb_compare_row *r, const char *data)
{
    const struct sb_config *c = &r->first->recipe.config;
    char method[SB_CONFIG_NAME + 8];
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:o, s:I, s:o, s:o}", "data",
                     sb_report_string(data), "run", sb_report_string(r->first->path),
                     "arch", sb_report_string(c->model.arch), "method",
                     sb_report_string(sb_compare_method(r, method)), "members",
                     (json_int_t)sb_compare_members(r), "sparsity",
                     sb_json_real(c->method.sparsity), "runs", (json_int_t)r->runs,
                     "figures", figures_json(r), "paper", paper_json(r->paper));
}

sb_status sb_compare_json(const struct sb_compare *c, json_t **out)
{
    sb_status st = SB_OK;
    *out = json_array();
    for (size_t i = 0; i < c->rows && st == SB_OK; i++) {
        char *data = NULL;
        st = sb_compare_title(c, c->row[i].table, &data);
        if (st == SB_OK && json_array_append_new(*out, row_json(&c->row[i], data)) != 0)
            st = sb_fail(SB_ENOMEM, "no memory for a comparison of %zu rows", c->rows);
        sb_free(data);
    }
    if (st != SB_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return st;
}
