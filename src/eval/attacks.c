/* attacks - the whole ensemble on images that were made against each of its members. */
#include <string.h>

#include "base/mem.h"
#include "eval/attack.h"
#include "eval/parts.h"

struct work {
    struct sb_eval *a;
    struct sb_attack attack;
    float *clean, *bad;   /* [chunk] images */
    uint32_t *label;      /* [chunk] */
    float *prob;          /* [members][chunk][classes] */
    const float **member; /* [members] */
};

/* Pixels as numbers in [0, 1], as normalisation sees them. */
static sb_status copy_clean(struct work *w, uint32_t at, uint32_t n)
{
    const struct sb_chosen *t = &w->a->test;
    size_t size = sb_dataset_elements(t->data);
    uint8_t *buffer = (uint8_t *)w->bad; /* large enough, and free until the attack */
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *image;
        sb_status st = sb_dataset_image(t->data, t->index ? t->index[at + i] : at + i,
                                        buffer, &image);
        if (st != SB_OK)
            return st;
        for (size_t k = 0; k < size; k++)
            w->clean[i * size + k] = (float)image[k] / 255.0f;
        w->label[i] = (uint32_t)w->a->label[at + i];
    }
    return SB_OK;
}

static sb_status add_chunk(struct work *w, uint32_t at, uint32_t n, struct sb_metrics *m)
{
    struct sb_eval *a = w->a;
    size_t classes = a->probs.classes;
    struct sb_dataset bad = *a->test.data;
    bad.element = SB_FLOATS;
    bad.values = w->bad;
    bad.images = NULL;
    bad.fetch = NULL;
    bad.labels = NULL;
    bad.n = n;
    struct sb_chosen c = {.data = &bad, .n = n, .first = at};
    struct sb_probs p = {w->member, a->probs.members, n, classes};
    for (size_t i = 0; i < p.members; i++)
        w->member[i] = w->prob + i * n * classes;
    sb_status st = copy_clean(w, at, n);
    if (st == SB_OK)
        st = sb_attack_run(&w->attack, w->clean, w->label, at, n, w->bad);
    if (st == SB_OK)
        st = sb_ensemble_predict(&a->ensemble, &c, w->prob);
    return st == SB_OK ? sb_metrics_add(m, &p, a->label + at) : st;
}

/* The ensemble's accuracy on the images made against a member. */
static sb_status against(struct work *w, uint32_t member, double *accuracy)
{
    const struct sb_eval *a = w->a;
    struct sb_attack again = w->attack; /* kind and numbers */
    struct sb_metrics m;
    struct sb_scores s;
    sb_status st = sb_metrics_init(&m, 1);
    if (st == SB_OK)
        st = sb_attack_init(&w->attack, &a->ensemble, member, a->o->config->train.batch);
    for (uint32_t at = 0; at < a->test.n && st == SB_OK; at += SB_EVAL_CHUNK) {
        uint32_t left = a->test.n - at, n = left < SB_EVAL_CHUNK ? left : SB_EVAL_CHUNK;
        st = add_chunk(w, at, n, &m);
        if (st == SB_OK)
            st =
                sb_progress_update(a->o->progress, (uint64_t)member * a->test.n + at + n);
    }
    if (st == SB_OK)
        st = sb_metrics_scores(&m, &s);
    if (st == SB_OK)
        *accuracy = s.accuracy;
    sb_attack_fini(&w->attack);
    w->attack = again;
    return st;
}

static sb_status allocate(struct work *w)
{
    const struct sb_eval *a = w->a;
    size_t size = sb_dataset_elements(a->test.data), members = a->probs.members;
    w->clean = sb_malloc(SB_EVAL_CHUNK * size, sizeof *w->clean);
    w->bad = sb_malloc(SB_EVAL_CHUNK * size, sizeof *w->bad);
    w->label = sb_malloc(SB_EVAL_CHUNK, sizeof *w->label);
    w->prob = sb_malloc(members * SB_EVAL_CHUNK, a->probs.classes * sizeof *w->prob);
    w->member = sb_malloc(members, sizeof *w->member);
    if (!w->clean || !w->bad || !w->label || !w->prob || !w->member)
        return sb_fail(SB_ENOMEM, "no memory for %d attacked images", SB_EVAL_CHUNK);
    return SB_OK;
}

static void put_section(struct work *w, const double *accuracy)
{
    struct sb_eval *a = w->a;
    size_t members = a->probs.members;
    const char *kind = w->attack.kind == SB_ATTACK_FGSM ? "fgsm" : "pgd";
    double low = accuracy[0], high = accuracy[0], mean = 0;
    for (size_t m = 0; m < members; m++) {
        low = accuracy[m] < low ? accuracy[m] : low;
        high = accuracy[m] > high ? accuracy[m] : high;
        mean += accuracy[m] / (double)members;
    }
    json_t *j =
        json_pack("{s:s, s:o, s:I, s:o, s:o, s:o, s:o}", "kind", kind, "epsilon",
                  sb_json_real(w->attack.epsilon), "steps", (json_int_t)w->attack.steps,
                  "acc", sb_eval_numbers(a, accuracy, members), "min", sb_json_real(low),
                  "mean", sb_json_real(mean), "max", sb_json_real(high));
    sb_eval_put(a, a->sections, "attack", json_pack("[o]", j));
    sb_text_add(&a->table,
                "\n%-18s acc min %.4f, mean %.4f, max %.4f (%u step%s, epsilon 8/255)\n",
                kind, low, mean, high, w->attack.steps, w->attack.steps == 1 ? "" : "s");
}

sb_status sb_eval_attack(struct sb_eval *a, const char *kind)
{
    struct work w = {.a = a};
    uint32_t members = (uint32_t)a->probs.members;
    double *accuracy = sb_malloc(members, sizeof *accuracy);
    sb_status st = sb_eval_want_images(a, "attacks");
    if (st == SB_OK)
        st = sb_attack_parse(&w.attack, kind);
    if (st == SB_OK && !accuracy)
        st = sb_fail(SB_ENOMEM, "no memory for %u members", members);
    if (st == SB_OK)
        st = allocate(&w);
    sb_progress_begin(a->o->progress, "attack", 0, (uint64_t)members * a->test.n);
    for (uint32_t m = 0; m < members && st == SB_OK; m++)
        st = against(&w, m, &accuracy[m]);
    if (st == SB_OK)
        st = sb_progress_end(a->o->progress);
    if (st == SB_OK)
        put_section(&w, accuracy);
    sb_free(w.clean);
    sb_free(w.bad);
    sb_free(w.label);
    sb_free(w.prob);
    sb_free(w.member);
    sb_free(accuracy);
    return st;
}
