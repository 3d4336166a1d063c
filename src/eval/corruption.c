/* corruption - figures on corrupted test images: nineteen kinds at five severities.
 *
 * Images are corrupted a chunk at a time and predicted at once; nothing is kept but sums.
 * Ready-made sets are read from a directory like CIFAR-10-C's.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "corrupt/cifar_c.h"
#include "corrupt/corrupt.h"
#include "eval/parts.h"

enum { SEED = 1 }; /* as sebays data corrupt has it: the same images for every run */

struct work {
    struct sb_eval *a;
    const char *directory;      /* NULL: generated */
    struct sb_corrupt *corrupt; /* generated only, like the next two */
    uint8_t *clean, *bad;       /* [chunk] images */
    float *prob;                /* [members][chunk][classes] */
    const float **member;       /* [members] */
    struct sb_metrics pooled, set;
    struct sb_scores sum; /* of the sets' figures */
    uint32_t sets;
    uint64_t done;
    json_t *list;
};

/* ---- one set ------------------------------------------------------------------------- */

/* Predicts the examples and adds them to both sums. */
static sb_status add_chunk(struct work *w, const struct sb_chosen *c,
                           const int32_t *label)
{
    struct sb_eval *a = w->a;
    size_t classes = a->probs.classes;
    struct sb_probs p = {w->member, a->probs.members, c->n, classes};
    for (size_t m = 0; m < p.members; m++)
        w->member[m] = w->prob + m * c->n * classes;
    sb_status st = sb_ensemble_predict(&a->ensemble, c, w->prob);
    if (st == SB_OK)
        st = sb_metrics_add(&w->pooled, &p, label);
    if (st == SB_OK)
        st = sb_metrics_add(&w->set, &p, label);
    w->done += c->n;
    return st == SB_OK ? sb_progress_update(a->o->progress, w->done) : st;
}

static sb_status copy_clean(struct work *w, uint32_t at, uint32_t n)
{
    const struct sb_chosen *t = &w->a->test;
    size_t size = sb_dataset_elements(t->data);
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *image;
        uint8_t *to = w->clean + i * size;
        sb_status st =
            sb_dataset_image(t->data, t->index ? t->index[at + i] : at + i, to, &image);
        if (st != SB_OK)
            return st;
        if (image != to)
            memcpy(to, image, size);
    }
    return SB_OK;
}

static sb_status generate_set(struct work *w)
{
    const struct sb_eval *a = w->a;
    struct sb_dataset bad = *a->test.data;
    bad.images = w->bad;
    bad.fetch = NULL;
    sb_status st = SB_OK;
    for (uint32_t at = 0; at < a->test.n && st == SB_OK; at += SB_EVAL_CHUNK) {
        uint32_t left = a->test.n - at, n = left < SB_EVAL_CHUNK ? left : SB_EVAL_CHUNK;
        struct sb_chosen c = {.data = &bad, .n = n, .first = at};
        bad.n = n;
        bad.labels = NULL; /* they are given beside */
        st = copy_clean(w, at, n);
        if (st == SB_OK)
            st = sb_corrupt_images(w->corrupt, at, n, w->clean, w->bad);
        if (st == SB_OK)
            st = add_chunk(w, &c, a->label + at);
    }
    return st;
}

static sb_status read_set(struct work *w, const char *kind, uint32_t severity)
{
    struct sb_dataset d = {0};
    uint32_t index[SB_EVAL_CHUNK];
    int32_t label[SB_EVAL_CHUNK];
    sb_status st = sb_cifar_c_open(&d, w->directory, kind, severity);
    if (st == SB_OK)
        st = sb_ensemble_check(&w->a->ensemble, &d);
    for (uint32_t at = 0; st == SB_OK && at < d.n; at += SB_EVAL_CHUNK) {
        uint32_t n = d.n - at < SB_EVAL_CHUNK ? d.n - at : SB_EVAL_CHUNK;
        struct sb_chosen c = {.data = &d, .index = index, .n = n, .first = at};
        for (uint32_t i = 0; i < n; i++) {
            index[i] = at + i;
            label[i] = (int32_t)d.labels[at + i];
        }
        st = add_chunk(w, &c, label);
    }
    sb_dataset_fini(&d);
    return st;
}

/* ---- all of them --------------------------------------------------------------------- */

static sb_status end_set(struct work *w, const char *kind, uint32_t severity)
{
    struct sb_scores s;
    sb_status st = sb_metrics_scores(&w->set, &s);
    if (st != SB_OK)
        return st;
    w->sum.accuracy += s.accuracy;
    w->sum.nll += s.nll;
    w->sum.ece += s.ece;
    w->sets++;
    sb_eval_push(w->a, w->list,
                 json_pack("{s:s, s:I, s:o, s:o, s:o}", "kind", kind, "severity",
                           (json_int_t)severity, "acc", sb_json_real(s.accuracy), "nll",
                           sb_json_real(s.nll), "ece", sb_json_real(s.ece)));
    if (severity == 1)
        sb_text_add(&w->a->table, "  %-18s", kind);
    sb_text_add(&w->a->table, " %8.4f%s", s.accuracy,
                severity == SB_SEVERITIES ? "\n" : "");
    return SB_OK;
}

static sb_status one_kind(struct work *w, enum sb_corruption kind)
{
    const char *name = sb_corruption_name(kind);
    unsigned bins = w->a->o->config->eval.bins;
    for (uint32_t severity = 1; severity <= SB_SEVERITIES; severity++) {
        sb_status st = sb_metrics_init(&w->set, bins);
        if (st == SB_OK && w->corrupt)
            st = sb_corrupt_choose(w->corrupt, kind, severity, SEED);
        if (st == SB_EMISSING) { /* this build has no libjpeg */
            sb_log_write(w->a->env->log, SB_LOG_WARN, "%s is left out: %s", name,
                         sb_message());
            return SB_OK;
        }
        if (st == SB_OK)
            st = w->corrupt ? generate_set(w) : read_set(w, name, severity);
        if (st == SB_OK)
            st = end_set(w, name, severity);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

/* Whether the directory has that kind. */
static bool has_kind(const struct work *w, enum sb_corruption kind)
{
    char path[SB_PATH_BYTES];
    int n =
        snprintf(path, sizeof path, "%s/%s.npy", w->directory, sb_corruption_name(kind));
    return n > 0 && (size_t)n < sizeof path && sb_file_exists(path);
}

static sb_status all_kinds(struct work *w)
{
    struct sb_eval *a = w->a;
    sb_progress_begin(a->o->progress, "corruption", 0,
                      w->corrupt ? (uint64_t)a->test.n * SB_CORRUPTIONS * SB_SEVERITIES
                                 : 0);
    sb_text_add(&a->table, "\n%-20s %8s %8s %8s %8s %8s   accuracy by severity\n",
                "corruption", "1", "2", "3", "4", "5");
    for (int kind = 0; kind < SB_CORRUPTIONS; kind++) {
        if (w->directory && !has_kind(w, (enum sb_corruption)kind))
            continue;
        sb_status st = one_kind(w, (enum sb_corruption)kind);
        if (st != SB_OK)
            return st;
    }
    if (w->sets == 0)
        return sb_fail(
            SB_EIO,
            "%s: no file of a corruption in it (gaussian_noise.npy, ...); want "
            "a directory like CIFAR-10-C's, or --corrupt generate",
            w->directory ? w->directory : "this build");
    return sb_progress_end(a->o->progress);
}

static sb_status put_section(struct work *w)
{
    struct sb_eval *a = w->a;
    struct sb_scores pooled, mean = w->sum;
    sb_status st = sb_metrics_scores(&w->pooled, &pooled);
    if (st != SB_OK)
        return st;
    mean.accuracy /= w->sets;
    mean.nll /= w->sets;
    mean.ece /= w->sets;
    sb_eval_put(a, a->sections, "corruption",
                json_pack("{s:s, s:I, s:o, s:o, s:O}", "source",
                          w->directory ? w->directory : "generated", "seed",
                          (json_int_t)SEED, "pooled", sb_eval_scores(&pooled, false),
                          "mean", sb_eval_scores(&mean, false), "sets", w->list));
    bool first = a->o->config->eval.corruption == SB_CONFIG_POOLED;
    const struct sb_scores *s = first ? &pooled : &mean;
    sb_text_add(&a->table, "  cacc %.4f, cnll %.4f, cece %.4f (%s, %u sets)\n",
                s->accuracy, s->nll, s->ece, first ? "pooled" : "mean of sets", w->sets);
    return SB_OK;
}

static sb_status allocate(struct work *w)
{
    const struct sb_eval *a = w->a;
    const struct sb_dataset *d = a->test.data;
    size_t size = sb_dataset_elements(d), members = a->probs.members;
    w->prob = sb_malloc(members * SB_EVAL_CHUNK, a->probs.classes * sizeof *w->prob);
    w->member = sb_malloc(members, sizeof *w->member);
    bool ok = w->prob && w->member;
    if (!w->directory) {
        w->clean = sb_malloc(SB_EVAL_CHUNK, size);
        w->bad = sb_malloc(SB_EVAL_CHUNK, size);
        ok = ok && w->clean && w->bad;
    }
    if (!ok)
        return sb_fail(SB_ENOMEM, "no memory for %d corrupted images", SB_EVAL_CHUNK);
    return w->directory
               ? SB_OK
               : sb_corrupt_new(&w->corrupt, a->env, d->channels, d->height, d->width);
}

sb_status sb_eval_corruption(struct sb_eval *a, const char *source)
{
    bool generate = strcmp(source, "generate") == 0;
    struct work w = {.a = a, .directory = generate ? NULL : source, .list = json_array()};
    sb_status st = generate ? sb_eval_want_images(a, "corruptions") : SB_OK;
    if (st == SB_OK)
        st = sb_metrics_init(&w.pooled, a->o->config->eval.bins);
    if (st == SB_OK)
        st = allocate(&w);
    if (st == SB_OK)
        st = all_kinds(&w);
    if (st == SB_OK)
        st = put_section(&w);
    sb_corrupt_free(w.corrupt);
    sb_free(w.clean);
    sb_free(w.bad);
    sb_free(w.prob);
    sb_free(w.member);
    json_decref(w.list);
    return st;
}
