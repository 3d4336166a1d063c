/* ood - out-of-distribution data sets: does the ensemble doubt them more than the test set? */
#include "figures/ood.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "data/adapt.h"
#include "eval/parts.h"
#include "readers/readers.h"

enum { BINS = 20, NAME = 64, MAX_PROBABILITY = 0, MEMBER_MEAN, FAR, WAYS };

/* What is out-of-distribution to a known set. */
static const struct {
    const char *set, *other[3];
} known[] = {
    {"fashion-mnist", {"mnist", "kmnist", "notmnist"}},
    {"mnist", {"fashion-mnist", "kmnist", "notmnist"}},
    {"kmnist", {"fashion-mnist", "mnist", "notmnist"}},
    {"cifar10", {"svhn", "cifar100", NULL}},
    {"cifar100", {"svhn", "cifar10", NULL}},
};

/* Scores of both sides, in all ways; far only of a model that knows it. */
struct work {
    struct sb_eval *a;
    double *in[WAYS], *out[WAYS]; /* [test.n], [n] */
    bool far;
    size_t n;
    json_t *list;
};

/* ---- predictions --------------------------------------------------------------------- */

/* scratch: [n] */
static sb_status score_far(struct sb_eval *a, const struct sb_chosen *c, float *scratch,
                           double *out)
{
    sb_status st = sb_ensemble_far(&a->ensemble, c, scratch);
    for (uint32_t i = 0; i < c->n && st == SB_OK; i++)
        out[i] = (double)scratch[i];
    return st;
}

static sb_status score_out(struct work *w, const struct sb_dataset *d)
{
    struct sb_eval *a = w->a;
    size_t size = (size_t)d->n * a->probs.classes, members = a->probs.members;
    float *prob = sb_malloc(size * members, sizeof *prob);
    const float **member = sb_malloc(members, sizeof *member);
    double *score = sb_malloc(d->n, WAYS * sizeof *score);
    sb_status st = SB_OK;
    struct sb_chosen all = {.data = d, .n = d->n};
    if (!prob || !member || !score)
        st = sb_fail(SB_ENOMEM, "no memory for predictions of %u examples", d->n);
    if (st == SB_OK)
        st = sb_ensemble_predict(&a->ensemble, &all, prob);
    if (st == SB_OK) {
        for (size_t m = 0; m < members; m++)
            member[m] = prob + m * size;
        struct sb_probs p = {member, members, d->n, a->probs.classes};
        st = sb_ood_scores(&p, score, score + d->n);
    }
    for (size_t i = 0; i < WAYS; i++)
        w->out[i] = score ? score + i * d->n : NULL;
    w->n = d->n;
    if (st == SB_OK && w->far)
        st = score_far(a, &all, prob, w->out[FAR]);
    sb_free(prob);
    sb_free(member);
    return st;
}

/* ---- figures ------------------------------------------------------------------------- */

static sb_status figures(struct work *w, int way, json_t **out, struct sb_ood *o)
{
    struct sb_ood_sides s = {w->in[way], w->out[way], w->a->test.n, w->n};
    sb_status st = sb_ood_detect(&s, o);
    if (st == SB_OK)
        *out = json_pack("{s:o, s:o, s:o}", "auroc", sb_json_real(o->auroc), "aupr",
                         sb_json_real(o->aupr), "fpr95", sb_json_real(o->fpr95));
    return st;
}

static sb_status curve(struct work *w, json_t *to)
{
    struct sb_ood_sides s = {w->in[0], w->out[0], w->a->test.n, w->n};
    struct sb_roc_point point[SB_ROC_POINTS];
    size_t count;
    json_t *list = json_array();
    sb_eval_put(w->a, to, "roc", list);
    sb_status st = sb_ood_roc(&s, point, &count);
    for (size_t i = 0; st == SB_OK && i < count; i++)
        sb_eval_push(w->a, list, json_pack("[f, f]", point[i].fpr, point[i].tpr));
    return st;
}

static sb_status histogram(struct work *w, json_t *to)
{
    struct sb_ood_sides s = {w->in[0], w->out[0], w->a->test.n, w->n};
    size_t in[BINS], out[BINS];
    json_t *edges = json_array(), *a = json_array(), *b = json_array();
    sb_status st = sb_ood_histogram(&s, BINS, in, out);
    for (int i = 0; i <= BINS && st == SB_OK; i++)
        sb_eval_push(w->a, edges, sb_json_real((double)i / BINS));
    for (int i = 0; i < BINS && st == SB_OK; i++) {
        sb_eval_push(w->a, a, json_integer((json_int_t)in[i]));
        sb_eval_push(w->a, b, json_integer((json_int_t)out[i]));
    }
    sb_eval_put(w->a, to, "histogram",
                json_pack("{s:o, s:o, s:o}", "edges", edges, "in", a, "out", b));
    return st;
}

static sb_status put_set(struct work *w, const char *name, const char *path)
{
    static const char *const key[WAYS] = {"max_probability", "member_mean", "far"};
    json_t *j =
        json_pack("{s:s, s:s, s:I}", "name", name, "path", path, "n", (json_int_t)w->n);
    sb_status st = SB_OK;
    sb_eval_push(w->a, w->list, j);
    sb_text_add(&w->a->table, "  %-16s", name);
    for (int way = 0; way < (w->far ? WAYS : FAR) && st == SB_OK; way++) {
        struct sb_ood o;
        json_t *of = NULL;
        st = figures(w, way, &of, &o);
        if (st != SB_OK)
            break;
        sb_eval_put(w->a, j, key[way], of);
        sb_text_add(&w->a->table, "%s %8.4f %8.4f %8.4f", way > 0 ? "  " : "", o.auroc,
                    o.aupr, o.fpr95);
    }
    sb_text_add(&w->a->table, "\n");
    if (st == SB_OK)
        st = histogram(w, j);
    return st == SB_OK ? curve(w, j) : st;
}

/* ---- sets ---------------------------------------------------------------------------- */

static sb_status one_set(struct work *w, const char *name, const char *path)
{
    const struct sb_model_info *info = &w->a->model.info;
    const struct sb_dataset *train = &w->a->source.train;
    const struct sb_image_shape shape = {sb_ensemble_inputs(&w->a->ensemble),
                                         info->height, info->width};
    struct sb_open_options o = {.split = SB_SPLIT_TEST,
                                .unlabelled = true,
                                .like = train->columns ? train : NULL,
                                .impute = sb_missing_taken(info, train->columns)};
    struct sb_dataset set, view;
    sb_status st = sb_dataset_open_with(&set, path, &o);
    if (st != SB_OK)
        return st;
    st = sb_adapt(&view, &set, &shape);
    if (st == SB_OK)
        st = sb_ensemble_check(&w->a->ensemble, &view);
    if (st == SB_OK)
        st = score_out(w, &view);
    if (st == SB_OK)
        st = put_set(w, name, path);
    sb_free(w->out[0]);
    w->out[0] = NULL;
    sb_dataset_fini(&set);
    return st;
}

/* Whether there are figures of that name already: results.json keeps them by it. */
static bool has_set(const struct work *w, const char *name)
{
    for (size_t i = 0; i < json_array_size(w->list); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(w->list, i), "name")),
                   name) == 0)
            return true;
    return false;
}

/* "NAME=PATH", or a name that is looked for. */
static sb_status named_set(struct work *w, const char *text)
{
    char name[NAME], path[SB_PATH_BYTES];
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    if (n == 0 || n >= NAME)
        return sb_fail(SB_EARG, "'%s': want NAME=PATH, or the name of a known data set",
                       text);
    memcpy(name, text, n);
    name[n] = '\0';
    if (has_set(w, name))
        return sb_fail(SB_EARG, "'%s': there are two sets of that name; give one another",
                       name);
    sb_status st =
        sb_source_find(w->a->o->config, equals ? equals + 1 : name, path, sizeof path);
    return st == SB_OK ? one_set(w, name, path) : st;
}

/* Those that are there. */
static sb_status known_sets(struct work *w)
{
    const struct sb_config *c = w->a->o->config;
    const char *const *other = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(c->data.set, known[i].set) == 0)
            other = known[i].other;
    for (int i = 0; other && i < 3 && other[i]; i++) {
        char path[SB_PATH_BYTES];
        sb_status st = sb_source_find(c, other[i], path, sizeof path);
        if (st != SB_OK)
            sb_log_write(w->a->env->log, SB_LOG_INFO, "without %s: %s", other[i],
                         sb_message());
        else if ((st = one_set(w, other[i], path)) != SB_OK)
            return st;
    }
    return SB_OK;
}

static void head(struct sb_eval *a, bool far)
{
    sb_text_add(&a->table, "\n%-18s", "out-of-distribution");
    for (int way = 0; way < (far ? WAYS : FAR); way++)
        sb_text_add(&a->table, "%s%8s %8s %8s", way > 0 ? "   " : " ", "auroc", "aupr",
                    "fpr95");
    sb_text_add(&a->table, "   (1 - max of the mean; mean of 1 - max%s)\n",
                far ? "; far" : "");
}

sb_status sb_eval_ood(struct sb_eval *a)
{
    struct work w = {.a = a, .list = json_array()};
    w.in[0] = sb_malloc(a->test.n, WAYS * sizeof *w.in[0]);
    float *scratch = sb_malloc(a->test.n, sizeof *scratch);
    if (!w.in[0] || !w.list || !scratch) {
        sb_free(scratch);
        sb_free(w.in[0]);
        json_decref(w.list);
        return sb_fail(SB_ENOMEM, "no memory for the scores of %u examples", a->test.n);
    }
    w.in[MEMBER_MEAN] = w.in[0] + a->test.n;
    w.in[FAR] = w.in[0] + FAR * (size_t)a->test.n;
    w.far = a->model.far.members > 0;
    head(a, w.far);
    sb_status st = sb_ood_scores(&a->probs, w.in[MAX_PROBABILITY], w.in[MEMBER_MEAN]);
    if (st == SB_OK && w.far)
        st = score_far(a, &a->test, scratch, w.in[FAR]);
    sb_free(scratch);
    for (size_t i = 0; i < a->o->oods && st == SB_OK; i++)
        st = named_set(&w, a->o->ood[i]);
    if (st == SB_OK && a->o->all && a->o->oods == 0)
        st = known_sets(&w);
    if (json_array_size(w.list) > 0)
        sb_eval_put(a, a->sections, "ood", json_incref(w.list));
    else
        sb_text_add(&a->table,
                    "  no set that is known to go with %s was found; name one with --ood "
                    "NAME=PATH\n",
                    a->o->config->data.set);
    sb_free(w.in[0]);
    json_decref(w.list);
    return st;
}
