/* predictions - see predictions.h. */
#include "predictions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NPY_HEAD = 128, NPY_BEFORE_TEXT = 10 };

/* ---- buffer ---- */

bool cli_predictions_init(struct cli_predictions *a)
{
    size_t n = SEBAYS_FEED_BATCH, classes = sebays_model_classes(a->model);
    a->out = (struct sebays_prediction){.probabilities = calloc(n * classes, 4)};
    a->order = calloc(classes, sizeof *a->order);
    if (a->format == CLI_ANSWERS_NPY)
        return a->out.probabilities && a->order;
    a->out.total = calloc(n, sizeof *a->out.total);
    a->out.aleatoric = calloc(n, sizeof *a->out.aleatoric);
    a->out.epistemic = calloc(n, sizeof *a->out.epistemic);
    a->out.votes = calloc(n * classes, sizeof *a->out.votes);
    if (a->members)
        a->out.members =
            calloc(n * classes * sebays_model_members(a->model), sizeof *a->out.members);
    return a->out.probabilities && a->order && a->out.total && a->out.aleatoric &&
           a->out.epistemic && a->out.votes && (!a->members || a->out.members);
}

void cli_predictions_fini(struct cli_predictions *a)
{
    free(a->out.probabilities);
    free(a->out.members);
    free(a->out.total);
    free(a->out.aleatoric);
    free(a->out.epistemic);
    free(a->out.votes);
    free(a->order);
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
    if (a->top > 1)
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
    size_t number;                  /* in the last answer */
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

static void put_floats(FILE *to, const char *before, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%s%.9g", i > 0 ? "," : before, (double)x[i]);
}

/* ---- CSV ---- */

/* A text in quotes if it needs them, prefix first. Spreadsheets compute what begins with
 * one of = + - @ or a tab; behind an apostrophe, if that is asked for, it is a text. */
static void put_cell(const struct cli_predictions *a, const char *prefix,
                     const char *text)
{
    FILE *to = a->to;
    bool formula = a->csv_safe && !prefix[0] && text[0] && strchr("=+-@\t\r", text[0]);
    bool quote = strpbrk(text, ",;\t\"\r\n") || text[0] == ' ';
    fprintf(to, "%s%s%s", quote ? "\"" : "", formula ? "'" : "", prefix);
    for (; *text; text++) {
        fputs(*text == '"' ? "\"" : "", to);
        fputc(*text, to);
    }
    fputs(quote ? "\"" : "", to);
}

static void put_names(const struct cli_predictions *a, const char *prefix)
{
    char number[16];
    for (uint32_t i = 0; i < sebays_model_classes(a->model); i++) {
        fputc(',', a->to);
        put_cell(a, prefix, class_name(a, i, number));
    }
}

static void csv_head(const struct cli_predictions *a, const struct sebays_feed *feed)
{
    fprintf(a->to, "index,%s", a->files ? "file," : "");
    for (uint32_t k = 0; k < sebays_feed_keeps(feed); k++) {
        put_cell(a, "", sebays_feed_keep_name(feed, k));
        fputc(',', a->to);
    }
    fprintf(a->to, "class,probability,total,aleatoric,epistemic,votes%s",
            a->rejects ? ",rejected" : "");
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

static void csv_row(const struct cli_predictions *a, const struct row *r)
{
    const struct cli_class *best = a->order;
    size_t classes = sebays_model_classes(a->model);
    char number[16];
    fprintf(a->to, "%" PRIu64 ",", a->count);
    if (a->files) {
        put_cell(a, "", r->file ? r->file : "");
        fputc(',', a->to);
    }
    for (uint32_t k = 0; k < sebays_feed_keeps(r->feed); k++) {
        put_cell(a, "", sebays_feed_keep_text(r->feed, r->number, k));
        fputc(',', a->to);
    }
    put_cell(a, "", r->rejected ? "" : class_name(a, best->number, number));
    fprintf(a->to, ",%.9g,%.9g,%.9g,%.9g,%u", (double)best->probability, (double)r->total,
            (double)r->aleatoric, (double)r->epistemic, r->votes[best->number]);
    if (a->rejects)
        fprintf(a->to, ",%d", r->rejected);
    for (uint32_t k = 1; k < a->top; k++) {
        fputc(',', a->to);
        put_cell(a, "", class_name(a, best[k].number, number));
        fprintf(a->to, ",%.9g", (double)best[k].probability);
    }
    if (a->probabilities)
        put_floats(a->to, ",", r->p, classes);
    for (uint32_t m = 0; a->members && m < sebays_model_members(a->model); m++)
        put_floats(a->to, ",", r->members + m * r->next, classes);
    fputc('\n', a->to);
}

/* ---- JSON lines ---- */

/* Texts are UTF-8 already. */
static void put_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

/* {"class": ..., "label": ...} without the brackets; NULL: no class. */
static void put_class(const struct cli_predictions *a, const struct cli_class *c)
{
    char number[16];
    fputs("\"class\":", a->to);
    if (c)
        put_string(a->to, class_name(a, c->number, number));
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
        put_floats(a->to, "", r->members + m * r->next, sebays_model_classes(a->model));
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

/* "kept":{"id":"a17"}, */
static void put_kept(const struct cli_predictions *a, const struct row *r)
{
    fputs("\"kept\":{", a->to);
    for (uint32_t k = 0; k < sebays_feed_keeps(r->feed); k++) {
        fputs(k > 0 ? "," : "", a->to);
        put_string(a->to, sebays_feed_keep_name(r->feed, k));
        fputc(':', a->to);
        put_string(a->to, sebays_feed_keep_text(r->feed, r->number, k));
    }
    fputs("},", a->to);
}

static void json_row(const struct cli_predictions *a, const struct row *r)
{
    uint32_t classes = sebays_model_classes(a->model);
    fprintf(a->to, "{\"index\":%" PRIu64 ",", a->count);
    if (r->file) {
        fputs("\"file\":", a->to);
        put_string(a->to, r->file);
        fputc(',', a->to);
    }
    if (sebays_feed_keeps(r->feed) > 0)
        put_kept(a, r);
    put_class(a, r->rejected ? NULL : a->order);
    fprintf(a->to,
            ",\"probability\":%.9g,\"total\":%.9g,\"aleatoric\":%.9g,\"epistemic\":%.9g",
            (double)a->order->probability, (double)r->total, (double)r->aleatoric,
            (double)r->epistemic);
    if (a->rejects)
        fprintf(a->to, ",\"rejected\":%s", r->rejected ? "true" : "false");
    for (uint32_t i = 0; i < classes; i++)
        fprintf(a->to, "%s%u", i > 0 ? "," : ",\"votes\":[", r->votes[i]);
    fputc(']', a->to);
    if (a->top > 1)
        put_top(a);
    if (a->probabilities) {
        put_floats(a->to, ",\"probabilities\":[", r->p, classes);
        fputc(']', a->to);
    }
    if (a->members)
        put_members(a, r);
    fputs("}\n", a->to);
}

/* ---- NumPy ---- */

static void npy_head(const struct cli_predictions *a, uint64_t count)
{
    static const unsigned char magic[NPY_BEFORE_TEXT] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, NPY_HEAD - NPY_BEFORE_TEXT, 0};
    const uint16_t one = 1;
    unsigned char head[NPY_HEAD], little;
    char text[NPY_HEAD];
    memcpy(&little, &one, 1);
    int n = snprintf(text, sizeof text,
                     "{'descr': '%cf4', 'fortran_order': False, 'shape': (%" PRIu64
                     ", %u), }",
                     little ? '<' : '>', count, sebays_model_classes(a->model));
    memset(head, ' ', sizeof head);
    memcpy(head, magic, sizeof magic);
    memcpy(head + sizeof magic, text, (size_t)n); /* at most 95 of 118 bytes */
    head[NPY_HEAD - 1] = '\n';
    (void)fwrite(head, 1, sizeof head, a->to); /* the stream remembers a failure */
}

/* ---- all of them ---- */

void cli_predictions_begin(struct cli_predictions *a, const struct sebays_feed *feed,
                           uint64_t count)
{
    if (a->format == CLI_ANSWERS_CSV)
        csv_head(a, feed);
    else if (a->format == CLI_ANSWERS_NPY)
        npy_head(a, count);
}

void cli_predictions_write(struct cli_predictions *a, struct sebays_feed *feed, size_t n)
{
    size_t classes = sebays_model_classes(a->model);
    if (a->format == CLI_ANSWERS_NPY) {
        (void)fwrite(a->out.probabilities, sizeof(float), n * classes, a->to);
        a->count += n;
        return;
    }
    for (size_t i = 0; i < n; i++, a->count++) {
        struct row r = row_at(a, feed, i, n);
        a->rejected += r.rejected;
        find_top(a, r.p);
        if (a->format == CLI_ANSWERS_JSON)
            json_row(a, &r);
        else
            csv_row(a, &r);
    }
}

void cli_predictions_end(struct cli_predictions *a, uint64_t count)
{
    if (a->format == CLI_ANSWERS_NPY && count != a->count &&
        fseek(a->to, 0, SEEK_SET) == 0)
        npy_head(a, a->count);
}
