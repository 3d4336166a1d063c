/* source_overlap - rows of a test part that are trained on, too: a copy of the file, a file
 * with every row several times, the training file itself. Figures on them say what was learned
 * by heart, whatever the paths are.
 *
 * Rows are the same by fingerprints (base/hash.h). Tables of few values have equal rows by
 * chance, as iris has, and are passed over: if columns were independent, how many rows of the
 * training part would a row be equal to? That is asked of a sample, each row once, and only
 * where there is something to explain. Columns that go together have more equal rows than
 * that, but with labels of their own, which copies have not.
 */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "train/source.h"

enum {
    FEW = 5,      /* rows, and ... */
    FEW_OF = 20,  /* ... one of so many: not worth a word */
    SEVERAL = 10, /* times that a row is copied, rather than one of few */
    SAMPLE = 1024 /* rows that chance is judged by */
};
#define BY_CHANCE 0.05 /* equal rows, of which those found are nothing new */

/* A row of the training part. */
struct print {
    uint64_t sum;
    uint32_t row;
};

static const float *row_of(const struct sb_dataset *d, uint32_t row)
{
    return d->values + (size_t)row * d->channels;
}

/* Of the features, or also of what is right for them. */
static uint64_t print_of(const struct sb_dataset *d, uint32_t row, bool whole)
{
    uint64_t sum = sb_hash_on(0, row_of(d, row), d->channels * sizeof *d->values);
    if (whole && d->labels)
        sum = sb_hash_on(sum, &d->labels[row], sizeof *d->labels);
    if (whole && d->targets)
        sum = sb_hash_on(sum, d->targets + (size_t)row * d->target_count,
                         d->target_count * sizeof *d->targets);
    return sum;
}

static int by_sum(const void *left, const void *right)
{
    const struct print *a = left, *b = right;
    return (a->sum > b->sum) - (a->sum < b->sum);
}

static int by_value(const void *left, const void *right)
{
    float a = *(const float *)left, b = *(const float *)right;
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

/* The share of pairs among value[n] that are equal; sorts them. */
static double share_of_pairs(float *value, uint32_t n)
{
    double pairs = 0;
    qsort(value, n, sizeof *value, by_value);
    for (uint32_t i = 0, run = 0; i < n; i++) {
        run = i > 0 && by_value(&value[i - 1], &value[i]) == 0 ? run + 1 : 0;
        pairs += run;
    }
    return pairs / (0.5 * n * (n - 1.0));
}

/* row[] = a sample of the different rows of print[n], sorted, as fingerprints are in no order
 * that values have; *rows of them, and how many there are. */
static uint32_t draw_sample(const struct print *print, uint32_t n, uint32_t row[SAMPLE],
                            uint32_t *rows)
{
    uint32_t different = 0;
    *rows = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && print[i].sum == print[i - 1].sum)
            continue;
        if (different++ < SAMPLE)
            row[(*rows)++] = print[i].row;
    }
    return different;
}

/* How many of the rows print[n], sorted, a row is equal to by chance. */
static double by_chance(const struct sb_dataset *d, const struct print *print, uint32_t n)
{
    float value[SAMPLE];
    uint32_t row[SAMPLE], rows;
    uint32_t different = draw_sample(print, n, row, &rows), vary = 0;
    double equal = different;
    if (rows < 2 || n > SEVERAL * different)
        return n;
    for (uint32_t c = 0; c < d->channels; c++) {
        for (uint32_t i = 0; i < rows; i++)
            value[i] = row_of(d, row[i])[c];
        double share = share_of_pairs(value, rows);
        equal *= share;
        vary += share < 1;
        if (vary > 1 && equal <= BY_CHANCE)
            return equal;
    }
    return vary > 1 ? equal : n; /* of one column nothing can be said */
}

/* print[] = the training part's, sorted; how many of the rows index[n] (NULL: the first n) of
 * test have a fingerprint among them. */
static uint32_t count_same(const struct sb_source *s, struct print *print, bool whole,
                           const struct sb_dataset *test, const uint32_t *index,
                           uint32_t n)
{
    const struct sb_indices *p = &s->part;
    uint32_t same = 0;
    for (uint32_t i = 0; i < p->train_count; i++)
        print[i] = (struct print){print_of(&s->train, p->train[i], whole), p->train[i]};
    qsort(print, p->train_count, sizeof *print, by_sum);
    for (uint32_t i = 0; i < n; i++) {
        struct print key = {.sum = print_of(test, index ? index[i] : i, whole)};
        same += bsearch(&key, print, p->train_count, sizeof *print, by_sum) != NULL;
    }
    return same;
}

/* Of those, how many are copies; 0: too few for a word. */
static uint32_t count_copies(const struct sb_source *s, struct print *print,
                             const struct sb_dataset *test, const uint32_t *index,
                             uint32_t n)
{
    uint32_t same = count_same(s, print, false, test, index, n);
    if (same < FEW || same < n / FEW_OF ||
        by_chance(&s->train, print, s->part.train_count) > BY_CHANCE)
        return 0;
    bool labelled =
        (s->train.labels && test->labels) || (s->train.targets && test->targets);
    uint32_t alike = labelled ? count_same(s, print, true, test, index, n) : same;
    return same >= n / 2 || same - alike <= same / FEW_OF ? same : 0;
}

void sb_source_warn_overlap(const struct sb_source *s, const struct sb_env *env,
                            const struct sb_dataset *test, const uint32_t *index,
                            uint32_t n)
{
    const struct sb_dataset *d = &s->train;
    if (n == 0 || !sb_dataset_tabular(d) || !sb_dataset_tabular(test) ||
        d->channels != test->channels)
        return;
    struct print *print = sb_malloc(s->part.train_count, sizeof *print);
    if (!print)
        return; /* a warning is not worth a failure */
    uint32_t same = count_copies(s, print, test, index, n);
    if (same > 0)
        sb_log_write(env->log, SB_LOG_WARN,
                     "%s: %u of the %u rows that are tested are trained on, too: figures "
                     "say what was learned by heart, not what is known of new rows; %s",
                     test->path, same, n,
                     test == d ? "leave copies of rows out of the file, or keep them "
                                 "together with data.group"
                               : "test on other rows");
    sb_free(print);
}
