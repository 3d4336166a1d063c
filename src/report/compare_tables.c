/* compare_tables - comparisons for people: aligned text, Markdown and LaTeX.
 *
 * The same cells, dressed for each format:
 *
 *     text       *96.21 ± 0.05     the best of a column
 *     Markdown   **96.21 ± 0.05**
 *     LaTeX      \textbf{96.21 $\pm$ 0.05}
 *
 * A column that is empty throughout is left out, and so are the unit of costs where it is the
 * same for all, and the runs' paths where each row has its own method, architecture, members
 * and sparsity. Names come from recipes, that is from
 * anywhere: they are escaped, and control characters do not pass.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/compare.h"

enum column {
    RUN, /* where rows would look alike without it */
    METHOD,
    ARCH,
    MEMBERS,
    SPARSITY,
    RUNS,
    FIGURE, /* SB_FIGURES of them */
    PAPER = FIGURE + SB_FIGURES,
    COLUMNS
};

enum { CELL = 1024 };

/* One table's cells. */
struct table {
    enum sb_compare_format format;
    char (*cell)[COLUMNS][CELL]; /* [rows + 1] owned; row 0 has the names */
    size_t rows;
    bool shown[COLUMNS];
    size_t width[COLUMNS];
};

/* ---- cells --------------------------------------------------------------------------- */

/* What stands for a character; "": itself. */
static const char *stand_in(enum sb_compare_format format, char c)
{
    static const struct {
        char c;
        const char *latex, *markdown;
    } special[] = {
        {'\\', "\\textbackslash{}", "\\\\"},
        {'~', "\\textasciitilde{}", "\\~"},
        {'^', "\\textasciicircum{}", ""},
        {'_', "\\_", "\\_"},
        {'&', "\\&", "&amp;"},
        {'%', "\\%", ""},
        {'$', "\\$", ""},
        {'#', "\\#", "\\#"},
        {'{', "\\{", ""},
        {'}', "\\}", ""},
        {'|', "", "\\|"},
        {'*', "", "\\*"},
        {'<', "", "&lt;"},
        {'`', "", "\\`"},
        {'[', "", "\\["},
        {']', "", "\\]"},
    };
    if ((unsigned char)c < 0x20 || c == 0x7f)
        return "?";
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (special[i].c == c && format != SB_COMPARE_TEXT)
            return format == SB_COMPARE_LATEX ? special[i].latex : special[i].markdown;
    return "";
}

static void put_name(enum sb_compare_format format, const char *name, char out[CELL])
{
    size_t used = 0;
    out[0] = '\0';
    for (const char *c = name; *c && used + 24 < CELL; c++) {
        const char itself[] = {*c, '\0'}, *other = stand_in(format, *c);
        used +=
            (size_t)snprintf(out + used, CELL - used, "%s", other[0] ? other : itself);
    }
}

/* 78 s, 12.3 min, 4.5 h */
static int put_time(double seconds, char *out, size_t size)
{
    if (seconds < 120.0)
        return snprintf(out, size, "%.0f s", seconds);
    if (seconds < 7200.0)
        return snprintf(out, size, "%.1f min", seconds / 60.0);
    return snprintf(out, size, "%.1f h", seconds / 3600.0);
}

static void put_figure(enum sb_compare_format format, const struct sb_compare_row *r,
                       enum sb_figure f, char out[CELL])
{
    static const char *const before[] = {[SB_COMPARE_TEXT] = "*",
                                         [SB_COMPARE_MARKDOWN] = "**",
                                         [SB_COMPARE_LATEX] = "\\textbf{"};
    static const char *const after[] = {
        [SB_COMPARE_TEXT] = "", [SB_COMPARE_MARKDOWN] = "**", [SB_COMPARE_LATEX] = "}"};
    const char *sign = format == SB_COMPARE_LATEX ? "$\\pm$" : "±";
    double scale = sb_figure_scale(f);
    int digits = sb_figure_digits(f);
    char mean[64], sd[64] = "";
    if (isnan(r->mean[f])) {
        snprintf(out, CELL, "-");
        return;
    }
    if (f == SB_FIGURE_SECONDS) {
        put_time(r->mean[f], out, CELL);
        return;
    }
    snprintf(mean, sizeof mean, "%.*f", digits, r->mean[f] * scale);
    if (!isnan(r->sd[f]) && f != SB_FIGURE_RUNS && f != SB_FIGURE_UNIT)
        snprintf(sd, sizeof sd, " %s %.*f", sign, digits, r->sd[f] * scale);
    snprintf(out, CELL, "%s%s%s%s", r->best[f] ? before[format] : "", mean, sd,
             r->best[f] ? after[format] : "");
}

static void put_paper(const struct sb_paper_row *p, char out[CELL])
{
    double cost = p ? sb_paper_cost(p) : NAN;
    snprintf(out, CELL, "-");
    if (!p)
        return;
    int n = snprintf(out, CELL, "%.1f %.3f %.3f / %.1f %.3f %.3f", 100.0 * p->acc, p->nll,
                     p->ece, 100.0 * p->cacc, p->cnll, p->cece);
    if (!isnan(cost) && n > 0)
        snprintf(out + n, CELL - (size_t)n, " / %.2f", cost);
}

static void put_names(char cell[COLUMNS][CELL])
{
    static const char *const names[] = {"run", "method", "arch", "M", "S", "seeds"};
    static const char *const other[SB_FIGURES] = {[SB_FIGURE_SECONDS] = "time",
                                                  [SB_FIGURE_RUNS] = "runs",
                                                  [SB_FIGURE_UNIT] = "unit"};
    for (int i = 0; i < FIGURE; i++)
        snprintf(cell[i], CELL, "%s", names[i]);
    for (int f = 0; f < SB_FIGURES; f++)
        snprintf(cell[FIGURE + f], CELL, "%s", other[f] ? other[f] : sb_figure_name(f));
    snprintf(cell[PAPER], CELL, "paper");
}

static void put_row(enum sb_compare_format format, const struct sb_compare_row *r,
                    char cell[COLUMNS][CELL])
{
    const struct sb_config *c = &r->first->recipe.config;
    char method[SB_CONFIG_NAME + 8];
    char path[CELL];
    snprintf(path, sizeof path, "%s%s", r->first->path, r->runs > 1 ? ", ..." : "");
    put_name(format, path, cell[RUN]);
    put_name(format, sb_compare_method(r, method), cell[METHOD]);
    put_name(format, c->model.arch, cell[ARCH]);
    snprintf(cell[MEMBERS], CELL, "%u", sb_compare_members(r));
    snprintf(cell[SPARSITY], CELL, "%g", c->method.sparsity);
    snprintf(cell[RUNS], CELL, "%zu", r->runs);
    for (int f = 0; f < SB_FIGURES; f++)
        put_figure(format, r, f, cell[FIGURE + f]);
    put_paper(r->paper, cell[PAPER]);
}

/* ---- a table ------------------------------------------------------------------------- */

/* Characters, not bytes. */
static size_t width_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Whether two rows differ in nothing that a table shows of recipes. */
static bool rows_alike(const struct table *t)
{
    for (size_t a = 1; a <= t->rows; a++)
        for (size_t b = 1; b < a; b++) {
            int k = METHOD;
            while (k <= SPARSITY && strcmp(t->cell[a][k], t->cell[b][k]) == 0)
                k++;
            if (k > SPARSITY)
                return true;
        }
    return false;
}

/* Whether two rows have other figures of that kind. */
static bool figures_differ(const struct sb_compare *c, size_t number, enum sb_figure f)
{
    double first = NAN;
    for (size_t i = 0; i < c->rows; i++) {
        double x = c->row[i].mean[f];
        if (c->row[i].table != number || isnan(x))
            continue;
        if (!isnan(first) && x != first)
            return true;
        first = x;
    }
    return false;
}

static sb_status fill(struct table *t, const struct sb_compare *c, size_t number)
{
    t->cell = sb_calloc(c->rows + 1, sizeof *t->cell);
    if (!t->cell)
        return sb_fail(SB_ENOMEM, "no memory for a table of %zu rows", c->rows);
    put_names(t->cell[0]);
    for (size_t i = 0; i < c->rows; i++)
        if (c->row[i].table == number)
            put_row(t->format, &c->row[i], t->cell[++t->rows]);
    for (int k = 0; k < COLUMNS; k++)
        for (size_t i = 0; i <= t->rows; i++) {
            const char *cell = t->cell[i][k];
            size_t width = width_of(cell);
            t->width[k] = width > t->width[k] ? width : t->width[k];
            if (i > 0 && strcmp(cell, "-") != 0 && (k != RUNS || strcmp(cell, "1") != 0))
                t->shown[k] = true;
        }
    t->shown[RUN] = rows_alike(t);
    t->shown[FIGURE + SB_FIGURE_UNIT] = figures_differ(c, number, SB_FIGURE_UNIT);
    return SB_OK;
}

static void add_row(struct sb_text *to, const struct table *t, size_t row)
{
    static const char *const begin[] = {
        [SB_COMPARE_TEXT] = "", [SB_COMPARE_MARKDOWN] = "| ", [SB_COMPARE_LATEX] = ""};
    static const char *const between[] = {[SB_COMPARE_TEXT] = "  ",
                                          [SB_COMPARE_MARKDOWN] = " | ",
                                          [SB_COMPARE_LATEX] = " & "};
    static const char *const end[] = {[SB_COMPARE_TEXT] = "\n",
                                      [SB_COMPARE_MARKDOWN] = " |\n",
                                      [SB_COMPARE_LATEX] = " \\\\\n"};
    sb_text_add(to, "%s", begin[t->format]);
    const int first = t->shown[RUN] ? RUN : METHOD;
    for (int k = first; k < COLUMNS; k++) {
        const char *cell = t->cell[row][k];
        int pad = (int)(t->width[k] - width_of(cell));
        if (!t->shown[k])
            continue;
        sb_text_add(to, "%s", k > first ? between[t->format] : "");
        if (k <= ARCH)
            sb_text_add(to, "%s%*s", cell, pad, "");
        else
            sb_text_add(to, "%*s%s", pad, "", cell);
    }
    sb_text_add(to, "%s", end[t->format]);
}

static void add_markdown_rule(struct sb_text *to, const struct table *t)
{
    for (int k = 0; k < COLUMNS; k++)
        if (t->shown[k])
            sb_text_add(to, k <= ARCH ? "| --- " : "| ---: ");
    sb_text_add(to, "|\n");
}

static void add_latex_begin(struct sb_text *to, const struct table *t)
{
    sb_text_add(to, "\\begin{tabular}{");
    for (int k = 0; k < COLUMNS; k++)
        if (t->shown[k])
            sb_text_add(to, k <= ARCH ? "l" : "r");
    sb_text_add(to, "}\n\\hline\n");
}

static void add_table(struct sb_text *to, const struct table *t, const char *data)
{
    char name[CELL];
    static const char *const heading[] = {[SB_COMPARE_TEXT] = "%s\n\n",
                                          [SB_COMPARE_MARKDOWN] = "### %s\n\n",
                                          [SB_COMPARE_LATEX] = "%% %s\n"};
    put_name(t->format, data, name);
    sb_text_add(to, heading[t->format], name);
    if (t->format == SB_COMPARE_LATEX)
        add_latex_begin(to, t);
    add_row(to, t, 0);
    if (t->format == SB_COMPARE_MARKDOWN)
        add_markdown_rule(to, t);
    if (t->format == SB_COMPARE_LATEX)
        sb_text_add(to, "\\hline\n");
    for (size_t i = 1; i <= t->rows; i++)
        add_row(to, t, i);
    if (t->format == SB_COMPARE_LATEX)
        sb_text_add(to, "\\hline\n\\end{tabular}\n");
    sb_text_add(to, "\n");
}

/* ---- what the columns mean ----------------------------------------------------------- */

static bool any_best(const struct sb_compare *c)
{
    for (size_t i = 0; i < c->rows; i++)
        for (int f = 0; f < SB_FIGURES; f++)
            if (c->row[i].best[f])
                return true;
    return false;
}

static void add_notes(struct sb_text *to, enum sb_compare_format format, bool stars,
                      const bool shown[COLUMNS])
{
    const char *lead = format == SB_COMPARE_LATEX ? "% " : "";
    if (stars)
        sb_text_add(to, "* best of its column; ");
    sb_text_add(to, "%s%s%s%sS is the share of absent weights\n", lead,
                shown[FIGURE + SB_FIGURE_ACC] ? "acc" : "",
                shown[FIGURE + SB_FIGURE_CACC] ? " and cacc" : "",
                shown[FIGURE + SB_FIGURE_ACC] ? " in %; " : "");
    if (shown[FIGURE + SB_FIGURE_RMSE])
        sb_text_add(to, "%srmse, mae, crps: in the units of the targets\n", lead);
    if (shown[RUNS])
        sb_text_add(to, "%smean ± standard deviation over seeds\n", lead);
    if (shown[FIGURE + SB_FIGURE_CACC])
        sb_text_add(to, "%scacc, cnll, cece: all corrupted test images pooled\n", lead);
    if (shown[FIGURE + SB_FIGURE_COST])
        sb_text_add(to,
                    "%scost: FLOPs of training, in dense networks explored and exploited "
                    "once\n",
                    lead);
    if (shown[FIGURE + SB_FIGURE_UNIT])
        sb_text_add(
            to, "%sunit: epochs of that dense run; costs compare where it is the same\n",
            lead);
    if (shown[FIGURE + SB_FIGURE_RUNS])
        sb_text_add(to, "%sruns: how often a curve of the learning rate was begun anew\n",
                    lead);
    if (shown[PAPER])
        sb_text_add(to, "%spaper: acc nll ece / cacc cnll cece / cost, as reported\n",
                    lead);
}

static void add_unlike(struct sb_text *to, enum sb_compare_format format,
                       const struct sb_compare *c)
{
    char sentence[SB_COMPARE_UNLIKE], name[CELL];
    put_name(format, sb_compare_unlike(c, sentence), name);
    if (sentence[0])
        sb_text_add(to, "%s%s\n", format == SB_COMPARE_LATEX ? "% " : "", name);
}

sb_status sb_compare_tables(const struct sb_compare *c, enum sb_compare_format format,
                            char **out)
{
    struct sb_text to = {0};
    bool shown[COLUMNS] = {0};
    *out = NULL;
    for (size_t n = 0; n < c->tables; n++) {
        struct table t = {.format = format};
        char *data = NULL;
        sb_status st = fill(&t, c, n);
        if (st == SB_OK)
            st = sb_compare_title(c, n, &data);
        if (st == SB_OK)
            add_table(&to, &t, data);
        sb_free(data);
        for (int k = 0; k < COLUMNS; k++)
            shown[k] = shown[k] || t.shown[k];
        sb_free(t.cell);
        if (st != SB_OK) {
            sb_text_fini(&to);
            return st;
        }
    }
    add_notes(&to, format, format == SB_COMPARE_TEXT && any_best(c), shown);
    add_unlike(&to, format, c);
    return sb_text_take(&to, out);
}
