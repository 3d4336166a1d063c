/* members - see members.h. */
#include "figures/members.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"
#include "base/rng.h"

sb_status sb_members_matrices(const struct sb_probs *p, double *disagreement, double *kl)
{
    for (size_t a = 0; a < p->members; a++)
        for (size_t b = 0; b < p->members; b++) {
            sb_status st =
                sb_metrics_disagreement(p, a, b, &disagreement[a * p->members + b]);
            if (st == SB_OK)
                st = sb_metrics_kl(p, a, b, &kl[a * p->members + b]);
            if (st != SB_OK)
                return st;
        }
    return SB_OK;
}

/* ---- size ---------------------------------------------------------------------------- */

struct sizes {
    const struct sb_probs *p;
    const int32_t *label;
    unsigned bins;
    uint64_t seed;
    uint32_t *chosen;        /* [members] */
    const float **member;    /* [members] */
    struct sb_scores *score; /* [SB_SUBSETS] */
};

/* n over k, but SB_SUBSETS + 1 where that is more. */
static uint32_t subsets_of(uint64_t n, uint64_t k)
{
    uint64_t count = 1;
    k = k < n - k ? k : n - k; /* so that it grows all the way */
    for (uint64_t i = 1; i <= k && count <= SB_SUBSETS; i++)
        count = count * (n - i + 1) / i;
    return count > SB_SUBSETS ? SB_SUBSETS + 1 : (uint32_t)count;
}

/* The next k of n in lexical order. */
static void next_subset(uint32_t *chosen, uint32_t k, uint32_t n)
{
    uint32_t i = k;
    while (i > 0 && chosen[i - 1] == n - k + i - 1)
        i--;
    if (i == 0)
        return;
    chosen[i - 1]++;
    for (; i < k; i++)
        chosen[i] = chosen[i - 1] + 1;
}

static sb_status choose(const struct sizes *s, uint32_t k, uint32_t subset, bool all)
{
    uint32_t members = (uint32_t)s->p->members;
    struct sb_stream r = sb_rng_stream(s->seed, SB_RNG_SUBSET, 0, subset, k);
    if (!all)
        return sb_rng_choose(&r, members, k, s->chosen);
    for (uint32_t i = 0; subset == 0 && i < k; i++)
        s->chosen[i] = i;
    if (subset > 0)
        next_subset(s->chosen, k, members);
    return SB_OK;
}

static struct sb_spread spread(const struct sizes *s, uint32_t subsets, size_t field)
{
    struct sb_spread r = {0};
    const char *first = (const char *)s->score + field;
    for (uint32_t i = 0; i < subsets; i++)
        r.mean += *(const double *)(first + i * sizeof *s->score) / subsets;
    for (uint32_t i = 0; i < subsets; i++) {
        double d = *(const double *)(first + i * sizeof *s->score) - r.mean;
        r.sd += d * d / subsets;
    }
    r.sd = sqrt(r.sd);
    return r;
}

static sb_status one_size(const struct sizes *s, uint32_t k, struct sb_size_row *out)
{
    uint32_t subsets = subsets_of(s->p->members, k);
    bool all = subsets <= SB_SUBSETS;
    subsets = all ? subsets : SB_SUBSETS;
    for (uint32_t i = 0; i < subsets; i++) {
        sb_status st = choose(s, k, i, all);
        for (uint32_t m = 0; m < k; m++)
            s->member[m] = s->p->member[s->chosen[m]];
        struct sb_probs part = {s->member, k, s->p->n, s->p->classes};
        if (st == SB_OK)
            st = sb_metrics_of(&part, s->label, s->bins, &s->score[i]);
        if (st != SB_OK)
            return st;
    }
    *out = (struct sb_size_row){
        .k = k,
        .subsets = subsets,
        .accuracy = spread(s, subsets, offsetof(struct sb_scores, accuracy)),
        .nll = spread(s, subsets, offsetof(struct sb_scores, nll)),
        .ece = spread(s, subsets, offsetof(struct sb_scores, ece)),
    };
    return SB_OK;
}

sb_status sb_members_sizes(const struct sb_probs *p, const int32_t *label, unsigned bins,
                           uint64_t seed, struct sb_size_row *out)
{
    sb_status st = SB_OK;
    struct sizes s = {.p = p, .label = label, .bins = bins, .seed = seed};
    s.chosen = sb_malloc(p->members, sizeof *s.chosen);
    s.member = sb_malloc(p->members, sizeof *s.member);
    s.score = sb_malloc(SB_SUBSETS, sizeof *s.score);
    if (!s.chosen || !s.member || !s.score)
        st = sb_fail(SB_ENOMEM, "no memory for subsets of %zu members", p->members);
    for (uint32_t k = 1; k <= p->members && st == SB_OK; k++)
        st = one_size(&s, k, &out[k - 1]);
    sb_free(s.chosen);
    sb_free(s.member);
    sb_free(s.score);
    return st;
}
