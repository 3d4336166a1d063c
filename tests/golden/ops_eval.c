/* ops_eval - golden cases of eval/: metrics of an ensemble, OoD detection. */
#include <stdio.h>

#include "case.h"
#include "figures/metrics.h"
#include "figures/ood.h"

enum { MOST_MEMBERS = 100, NAME_BYTES = 64 };

static void check_number(struct golden_case *c, const char *name, double have)
{
    golden_check_f64(c, name, &have, 1, GOLDEN_TOL_METRIC);
}

/* in.member0, in.member1, ... as far as they go. */
static bool read_members(struct golden_case *c, struct sb_probs *p,
                         const float *member[MOST_MEMBERS])
{
    const struct sb_st_tensor *first = golden_input(c, "member0");
    if (!first)
        return false;
    if (first->ndim != 2) {
        golden_fail(c, "in.member0 has %zu dimensions, want examples x classes",
                    first->ndim);
        return false;
    }
    *p = (struct sb_probs){
        .member = member, .n = first->shape[0], .classes = first->shape[1]};
    for (int m = 0; m < MOST_MEMBERS; m++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "member%d", m);
        if (!golden_input_optional(c, name))
            break;
        member[p->members++] = golden_f32(c, name, first->count);
    }
    return !c->failed;
}

static void check_pairs(struct golden_case *c, const struct sb_probs *p)
{
    struct sb_diversity diversity;
    if (!golden_ok(c, sb_metrics_diversity(p, &diversity)))
        return;
    check_number(c, "disagreement", diversity.disagreement);
    for (size_t a = 0; a < p->members; a++) {
        for (size_t b = 0; b < p->members; b++) {
            char name[NAME_BYTES];
            snprintf(name, sizeof name, "kl%zu%zu", a, b);
            double kl;
            if (a != b && golden_ok(c, sb_metrics_kl(p, a, b, &kl)))
                check_number(c, name, kl);
        }
    }
}

static void run_metrics(struct golden_case *c)
{
    const float *member[MOST_MEMBERS];
    struct sb_probs p;
    struct sb_scores s;
    double bins;
    if (!read_members(c, &p, member) ||
        !golden_number(c, "bins", 1, SB_METRICS_BINS, &bins))
        return;
    const int32_t *label = golden_i32(c, "label", p.n);
    if (!label || !golden_ok(c, sb_metrics_of(&p, label, (unsigned)bins, &s)))
        return;
    check_number(c, "accuracy", s.accuracy);
    check_number(c, "nll", s.nll);
    check_number(c, "ece", s.ece);
    if (golden_wants(c, "brier"))
        check_number(c, "brier", s.brier);
    if (p.members > 1)
        check_pairs(c, &p);
}

static void run_auroc(struct golden_case *c)
{
    const struct sb_st_tensor *in = golden_input(c, "score_in");
    const struct sb_st_tensor *out = golden_input(c, "score_out");
    if (!in || !out)
        return;
    const double *score_in = golden_f64(c, "score_in", in->count);
    const double *score_out = golden_f64(c, "score_out", out->count);
    struct sb_ood_sides sides = {score_in, score_out, in->count, out->count};
    struct sb_ood ood;
    if (!score_in || !score_out || !golden_ok(c, sb_ood_detect(&sides, &ood)))
        return;
    check_number(c, "auroc", ood.auroc);
    if (golden_wants(c, "aupr"))
        check_number(c, "aupr", ood.aupr);
    if (golden_wants(c, "fpr95"))
        check_number(c, "fpr95", ood.fpr95);
}

const struct golden_op golden_eval_ops[] = {
    {"metrics", run_metrics}, {"auroc", run_auroc}, {NULL, NULL}};
