/* feeder - memory for a form to lay out batches in, and doing it.
 *
 * A form says which example each row is to each head; what is right for the rows is gathered
 * here, so that forms know nothing of labels and targets. Where examples are a network's rows
 * nothing is copied; heads beyond the first get the same truth.
 */
#ifndef SB_FORMS_FEEDER_H
#define SB_FORMS_FEEDER_H

#include "forms/form.h"

struct sb_feeder {
    struct sb_form_spec form;
    struct sb_act rows; /* owned; without memory where examples are rows */
    struct sb_act some; /* a view of rows */
    uint32_t *example;  /* [heads][rows] owned */
    uint32_t *label;    /* [heads][rows] owned; NULL: outcomes */
    float *target;      /* [heads][rows][targets] owned; NULL: classes */
    uint32_t *order;    /* [rows] owned */
    uint32_t heads, targets;
};

/* For batches of up to max_batch examples into a network of architecture a. The caller calls
 * sb_feeder_fini, also after a failure. */
sb_status sb_feeder_init(struct sb_feeder *f, const struct sb_form_spec *s,
                         const struct sb_arch *a, uint32_t lanes, uint32_t max_batch);
void sb_feeder_fini(struct sb_feeder *f);

/* What the network takes for examples x and what is right for them; valid until the next
 * call. */
struct sb_fed {
    const struct sb_act *rows;
    struct sb_truth truth; /* of every head's rows */
};
struct sb_fed sb_feeder_run(struct sb_feeder *f, const struct sb_env *env, uint64_t seed,
                            uint32_t run, uint32_t step, const struct sb_act *x,
                            const struct sb_truth *truth);

/* Rows [first, first + n) of what was fed, where several processes share a batch. Where
 * examples are rows, x was that share already. Once after each sb_feeder_run. */
struct sb_fed sb_feeder_share(struct sb_feeder *f, struct sb_fed fed, uint32_t first,
                              uint32_t n);

/* Whether examples are rows. */
bool sb_feeder_plain(const struct sb_feeder *f);

#endif
