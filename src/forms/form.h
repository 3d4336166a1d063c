/* form - how one trained network stands for several members of an ensemble.
 *
 *     plain           it is the member
 *     dropout         a member is a pass with one mask for all examples
 *     mimo            several images go in side by side, a head answers for each
 *     batch-ensemble  members share weights and have scales of their own
 *     rank-1          the same, and scales have a posterior
 *     tree            members share a trunk and have branches of their own
 *
 * A form is one file with three functions:
 *
 *     build    the architecture that is trained, or that of a member (a plain network)
 *     feed     what goes into the trained network for a batch of examples
 *     member   the numbers of member m, from those of the trained network
 *
 * Files keep what was trained, once. A member becomes a plain network when it is loaded, so
 * prediction, evaluation and exports know plain networks only. (A plain network may hold
 * masks that are given, where dropout's elements cannot be folded into weights.)
 */
#ifndef SB_FORMS_FORM_H
#define SB_FORMS_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"
#include "nn/arch.h"
#include "nn/trained.h"

enum sb_form_kind {
    SB_FORM_PLAIN,
    SB_FORM_DROPOUT,
    SB_FORM_MIMO,
    SB_FORM_BATCH_ENSEMBLE,
    SB_FORM_RANK_1,
    SB_FORM_TREE,
    SB_FORM_COUNT
};

/* What a form needs to know, as plain values. Zeroed is a plain one. */
struct sb_form_spec {
    enum sb_form_kind kind;
    uint32_t members;             /* that come of one network; 0 is 1 */
    char branch_at[SB_NODE_NAME]; /* tree: the first block or layer of a branch; "": the
                                   * default (method.md 5.2) */
    float rate;                   /* dropout: share of elements that are dropped ... */
    bool channels;                /* ... or of whole channels */
    /* for training alone: */
    float spread;         /* scales start as N(1, spread^2); 0: as random signs */
    float scale_sd;       /* rank-1: deviation of the posterior at the start, ... */
    float scale_prior_sd; /* ... and of the prior */
    uint32_t repetitions; /* mimo: rows an image is in */
    float same;           /* mimo: share of rows that hold one image only */
};

/* Whose architecture is built. */
enum sb_form_role { SB_FORM_TRAINED, SB_FORM_MEMBER };

/* A batch on its way into a network. What is random follows from the seed, run and step. */
struct sb_form_batch {
    const struct sb_env *env;
    uint64_t seed;
    uint32_t run, step;
    const struct sb_act *x; /* examples, in their own shape */
    struct sb_act *rows;    /* what the network takes, its batch set by feed */
    /* [heads][rows] which of x a row is to a head: whose truth counts */
    uint32_t *example;
    uint32_t *order; /* scratch: [rows of a full batch] */
};

struct sb_form {
    const char *name;
    sb_status (*build)(const struct sb_form_spec *s, const struct sb_arch_shape *shape,
                       enum sb_form_role role, struct sb_arch *out);
    uint32_t (*rows)(const struct sb_form_spec *s, uint32_t batch);
    /* NULL: examples are rows, and every head answers for them */
    void (*feed)(const struct sb_form_spec *s, const struct sb_form_batch *b);
    /* NULL: the trained network is the member */
    sb_status (*member)(const struct sb_form_spec *s, const struct sb_arch *trained,
                        const struct sb_arch *plain, const struct sb_trained *from,
                        uint32_t m, uint32_t draw, struct sb_trained *out);
};

const struct sb_form *sb_form_of(enum sb_form_kind kind);

/* The kind of that name; SB_EARG. */
sb_status sb_form_find(const char *name, enum sb_form_kind *out);

/* The form's architecture. The caller calls sb_arch_fini, also after a failure. */
sb_status sb_form_build(const struct sb_form_spec *s, const struct sb_arch_shape *shape,
                        enum sb_form_role role, struct sb_arch *out);

/* Members that come of one network. */
static inline uint32_t sb_form_members(const struct sb_form_spec *s)
{
    return s->members > 1 ? s->members : 1;
}

/* Whether members are draws although weights are points: what surrounds those is not. */
static inline bool sb_form_draws(const struct sb_form_spec *s)
{
    return s->kind == SB_FORM_RANK_1;
}

/* In place of a draw's number: the posterior mean. */
#define SB_FORM_MEAN UINT32_MAX

/* Rows that a batch of so many examples becomes. */
uint32_t sb_form_rows(const struct sb_form_spec *s, uint32_t batch);

/* Member m (draw: of what the form draws, 0 being the member's own). The numbers may be
 * from's own: it must stay. The caller calls sb_trained_fini, also after a failure; the
 * result is only read. */
sb_status sb_form_member(const struct sb_form_spec *s, const struct sb_arch *trained,
                         const struct sb_arch *plain, const struct sb_trained *from,
                         uint32_t m, uint32_t draw, struct sb_trained *out);

extern const struct sb_form sb_form_plain, sb_form_dropout, sb_form_mimo,
    sb_form_batch_ensemble, sb_form_rank_1, sb_form_tree;

/* The weights of one layer of that member, where sb_form_draws: out [nnz]; scratch: twice
 * the most channels of a layer. Everything else is alike in all draws. */
void sb_form_draw_layer(const struct sb_arch *trained, const struct sb_trained *from,
                        uint32_t m, uint32_t layer, uint32_t draw, float *out,
                        float *scratch);

/* ---- what forms share ---------------------------------------------------------------- */

/* Node i of plain as it reads where node k of plain has become moved[k]. */
struct sb_arch_node sb_form_moved(const struct sb_arch *plain, uint32_t i,
                                  const uint32_t *moved);

/* Points record `to` at from's numbers. */
void sb_form_point(const struct sb_trained *from, const struct sb_param *record,
                   struct sb_trained *out, struct sb_param *to);

/* A member each of whose records is pointed at the one of from that has its role and its
 * number among those; what has none is left to the caller. Memory for `extra` floats of its
 * own is out->memory. */
sb_status sb_form_shell(const struct sb_arch *plain, const struct sb_trained *from,
                        const uint32_t *active, size_t extra, struct sb_trained *out);

#endif
