/* predictions - see predictions.h. */
#include "predictions.h"

#include <stdlib.h>
#include <string.h>

#include "cells.h"

/* ---- buffer ---- */

bool cli_predictions_init(struct cli_predictions *a)
{
    if (sebays_model_targets(a->model) > 0)
        return cli_outcomes_init(a);
    size_t n = SEBAYS_FEED_BATCH, classes = sebays_model_classes(a->model);
    a->out = (struct sebays_prediction){.probabilities = calloc(n * classes, 4)};
    a->order = calloc(classes, sizeof *a->order);
    if (a->format == CLI_PREDICTIONS_NPY)
        return a->out.probabilities && a->order;
    a->out.total = calloc(n, sizeof *a->out.total);
    a->out.aleatoric = calloc(n, sizeof *a->out.aleatoric);
    a->out.epistemic = calloc(n, sizeof *a->out.epistemic);
    a->out.votes = calloc(n * classes, sizeof *a->out.votes);
    a->out.far = a->far ? calloc(n, sizeof *a->out.far) : NULL;
    if (a->members)
        a->out.members =
            calloc(n * classes * sebays_model_members(a->model), sizeof *a->out.members);
    return a->out.probabilities && a->order && a->out.total && a->out.aleatoric &&
           a->out.epistemic && a->out.votes && (!a->members || a->out.members) &&
           (!a->far || a->out.far);
}

void cli_predictions_fini(struct cli_predictions *a)
{
    free(a->out.probabilities);
    free(a->out.members);
    free(a->out.total);
    free(a->out.aleatoric);
    free(a->out.epistemic);
    free(a->out.votes);
    free(a->out.far);
    free(a->order);
    cli_outcomes_fini(a);
    a->out = (struct sebays_prediction){0};
    a->order = NULL;
}

/* ---- classes ---- */

/* The name of class i, or its number in buffer. */
static const char *class_name(const struct cli_predictions *a, uint32_t i,
                              char buffer[16])
{
    const char *name = sebays_model_class_name(a->model, i);
    snprintf(buffer, 16, "%u", i);
    return name ? name : buffer;
}

static int by_probability(const void *left, const void *right)
{
    const struct cli_class *a = left, *b = right;
    if (a->probability != b->probability)
        return a->probability > b->probability ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* a->order begins with the a->top most probable classes of p, equal ones by number. */
static void find_top(struct cli_predictions *a, const float *p)
{
    uint32_t classes = sebays_model_classes(a->model), best = 0;
    for (uint32_t i = 0; i < classes; i++) {
        a->order[i] = (struct cli_class){p[i], i};
        best = p[i] > p[best] ? i : best;
    }
    if (a->top > 1 || a->conformal)
        qsort(a->order, classes, sizeof *a->order, by_probability);
    else
        a->order[0] = (struct cli_class){p[best], best};
}

/* One example's predictions. */
struct row {
    const float *p;        /* [classes] */
    const uint32_t *votes; /* [classes] */
    const float *members;  /* of member 0: [classes]; NULL: not wanted */
    size_t next;           /* from one member's to the next one's */
    float total, aleatoric, epistemic;
    const char *file;               /* NULL: none */
    const struct sebays_feed *feed; /* for what is kept of it */
    size_t number;                  /* in the last call */
    bool rejected;
};

static struct row row_at(const struct cli_predictions *a, struct sebays_feed *feed,
                         size_t i, size_t n)
{
    size_t classes = sebays_model_classes(a->model);
    struct row r = {.p = a->out.probabilities + i * classes,
                    .votes = a->out.votes + i * classes,
                    .members = a->members ? a->out.members + i * classes : NULL,
                    .next = n * classes,
                    .total = a->out.total[i],
                    .aleatoric = a->out.aleatoric[i],
                    .epistemic = a->out.epistemic[i],
                    .file = a->files ? sebays_feed_name(feed, i) : NULL,
                    .feed = feed,
                    .number = i};
    r.rejected = a->rejects && (double)r.total > a->reject_above;
    return r;
}

/* ---- CSV ---- */

static void put_names(const struct cli_predictions *a, const char *prefix)
{
    char number[16];
    for (uint32_t i = 0; i < sebays_model_classes(a->model); i++) {
        fputc(',', a->to);
        cli_put_cell(cli_csv_of(a), prefix, class_name(a, i, number));
    }
}

static void csv_head(const struct cli_predictions *a, const struct sebays_feed *feed)
{
    cli_put_head(cli_csv_of(a), feed);
    fprintf(a->to, "class,probability,total,aleatoric,epistemic,votes%s%s%s",
            a->far ? ",far" : "", a->rejects ? ",rejected" : "",
            a->conformal ? ",set" : "");
    for (uint32_t k = 2; k <= a->top; k++)
        fprintf(a->to, ",class_%u,probability_%u", k, k);
    if (a->probabilities)
        put_names(a, "p_");
    for (uint32_t m = 1; a->members && m <= sebays_model_members(a->model); m++) {
        char prefix[16];
        snprintf(prefix, sizeof prefix, "p%u_", m);
        put_names(a, prefix);
    }
    fputc('\n', a->to);
}

/* The classes of a conformal set, most probable first: at least 1 - factor each. */
static void put_set(const struct cli_predictions *a, const struct row *r,
                    const char *between, void (*put)(FILE *to, const char *text))
{
    size_t written = 0;
    for (uint32_t k = 0; k < sebays_model_classes(a->model); k++) {
        char number[16];
        const struct cli_class *c = &a->order[k];
        if (1.0 - (double)r->p[c->number] > a->factor[0])
            continue;
        fputs(written++ > 0 ? between : "", a->to);
        put(a->to, class_name(a, c->number, number));
    }
}

static void put_plain(FILE *to, const char *text)
{
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, to);
}

static void csv_row(const struct cli_predictions *a, const struct row *r)
{
    const struct cli_class *best = a->order;
    size_t classes = sebays_model_classes(a->model);
    char number[16];
    cli_put_front(cli_csv_of(a), a->count, r->file, r->feed, r->number);
    cli_put_cell(cli_csv_of(a), "",
                 r->rejected ? "" : class_name(a, best->number, number));
    fprintf(a->to, ",%.9g,%.9g,%.9g,%.9g,%u", (double)best->probability, (double)r->total,
            (double)r->aleatoric, (double)r->epistemic, r->votes[best->number]);
    if (a->far)
        fprintf(a->to, ",%.9g", (double)a->out.far[r->number]);
    if (a->rejects)
        fprintf(a->to, ",%d", r->rejected);
    if (a->conformal) {
        fputs(",\"", a->to);
        put_set(a, r, "|", put_plain);
        fputc('"', a->to);
    }
    for (uint32_t k = 1; k < a->top; k++) {
        fputc(',', a->to);
        cli_put_cell(cli_csv_of(a), "", class_name(a, best[k].number, number));
        fprintf(a->to, ",%.9g", (double)best[k].probability);
    }
    if (a->probabilities)
        cli_put_floats(a->to, ",", r->p, classes);
    for (uint32_t m = 0; a->members && m < sebays_model_members(a->model); m++)
        cli_put_floats(a->to, ",", r->members + m * r->next, classes);
    fputc('\n', a->to);
}

/* ---- JSON lines ---- */

/* {"class": ..., "label": ...} without the brackets; NULL: no class. */
static void put_class(const struct cli_predictions *a, const struct cli_class *c)
{
    char number[16];
    fputs("\"class\":", a->to);
    if (c)
        cli_put_string(a->to, class_name(a, c->number, number));
    else
        fputs("null", a->to);
    if (c)
        fprintf(a->to, ",\"label\":%u", c->number);
    else
        fputs(",\"label\":null", a->to);
}

static void put_members(const struct cli_predictions *a, const struct row *r)
{
    uint32_t members = sebays_model_members(a->model);
    fputs(",\"members\":[", a->to);
    for (uint32_t m = 0; m < members; m++) {
        fputs(m > 0 ? ",[" : "[", a->to);
        cli_put_floats(a->to, "", r->members + m * r->next,
                       sebays_model_classes(a->model));
        fputc(']', a->to);
    }
    fputc(']', a->to);
}

static void put_top(const struct cli_predictions *a)
{
    fputs(",\"top\":[", a->to);
    for (uint32_t k = 0; k < a->top; k++) {
        fputs(k > 0 ? ",{" : "{", a->to);
        put_class(a, &a->order[k]);
        fprintf(a->to, ",\"probability\":%.9g}", (double)a->order[k].probability);
    }
    fputc(']', a->to);
}

static void json_row(const struct cli_predictions *a, const struct row *r)
{
    uint32_t classes = sebays_model_classes(a->model);
    cli_put_json_front(a->to, a->count, r->file, r->feed, r->number);
    put_class(a, r->rejected ? NULL : a->order);
    fprintf(a->to,
            ",\"probability\":%.9g,\"total\":%.9g,\"aleatoric\":%.9g,\"epistemic\":%.9g",
            (double)a->order->probability, (double)r->total, (double)r->aleatoric,
            (double)r->epistemic);
    if (a->far)
        fprintf(a->to, ",\"far\":%.9g", (double)a->out.far[r->number]);
    if (a->rejects)
        fprintf(a->to, ",\"rejected\":%s", r->rejected ? "true" : "false");
    for (uint32_t i = 0; i < classes; i++)
        fprintf(a->to, "%s%u", i > 0 ? "," : ",\"votes\":[", r->votes[i]);
    fputc(']', a->to);
    if (a->conformal) {
        fputs(",\"set\":[", a->to);
        put_set(a, r, ",", cli_put_string);
        fputc(']', a->to);
    }
    if (a->top > 1)
        put_top(a);
    if (a->probabilities) {
        cli_put_floats(a->to, ",\"probabilities\":[", r->p, classes);
        fputc(']', a->to);
    }
    if (a->members)
        put_members(a, r);
    fputs("}\n", a->to);
}

/* ---- all of them ---- */

/* Numbers of a row of an array. */
static uint32_t width_of(const struct cli_predictions *a)
{
    uint32_t targets = sebays_model_targets(a->model);
    return targets > 0 ? targets : sebays_model_classes(a->model);
}

void cli_predictions_begin(struct cli_predictions *a, const struct sebays_feed *feed,
                           uint64_t count)
{
    if (a->format == CLI_PREDICTIONS_CSV && sebays_model_targets(a->model) > 0)
        cli_outcomes_head(a, feed);
    else if (a->format == CLI_PREDICTIONS_CSV)
        csv_head(a, feed);
    else if (a->format == CLI_PREDICTIONS_NPY)
        cli_put_npy_head(a->to, count, width_of(a));
}

void cli_predictions_write(struct cli_predictions *a, struct sebays_feed *feed, size_t n)
{
    bool outcomes = sebays_model_targets(a->model) > 0;
    if (a->format == CLI_PREDICTIONS_NPY) {
        (void)fwrite(outcomes ? a->outcome.mean : a->out.probabilities, sizeof(float),
                     n * width_of(a), a->to);
        a->count += n;
        return;
    }
    for (size_t i = 0; outcomes && i < n; i++, a->count++)
        cli_outcomes_row(a, feed, i, n);
    if (outcomes)
        return;
    for (size_t i = 0; i < n; i++, a->count++) {
        struct row r = row_at(a, feed, i, n);
        a->rejected += r.rejected;
        find_top(a, r.p);
        if (a->format == CLI_PREDICTIONS_JSON)
            json_row(a, &r);
        else
            csv_row(a, &r);
    }
}

void cli_predictions_end(struct cli_predictions *a, uint64_t count)
{
    if (a->format == CLI_PREDICTIONS_NPY && count != a->count &&
        fseek(a->to, 0, SEEK_SET) == 0)
        cli_put_npy_head(a->to, a->count, width_of(a));
}
