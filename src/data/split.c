/* split - see split.h. */
#include "data/split.h"

#include <assert.h>

#include "base/mem.h"
#include "base/rng.h"

/* ---- stratified ---- */

struct strata {
    uint32_t *have;   /* [classes] examples of a class */
    uint32_t *quota;  /* [classes] of them to validation */
    uint32_t *start;  /* [classes] where a class begins in chosen */
    uint32_t *chosen; /* [validation_count] by class: which of the class' examples */
    uint8_t *held;    /* [n] 1: validation */
};

static sb_status strata_init(struct strata *t, const struct sb_dataset *d, uint32_t n,
                             uint32_t validation_count)
{
    t->have = sb_calloc(d->classes, sizeof *t->have);
    t->quota = sb_calloc(d->classes, sizeof *t->quota);
    t->start = sb_calloc(d->classes, sizeof *t->start);
    t->chosen = sb_malloc(validation_count, sizeof *t->chosen);
    t->held = sb_calloc(n, 1);
    if (!t->have || !t->quota || !t->start || !t->chosen || !t->held)
        return sb_fail(SB_ENOMEM, "no memory to split %u examples", n);
    return SB_OK;
}

static void strata_fini(struct strata *t)
{
    sb_free(t->have);
    sb_free(t->quota);
    sb_free(t->start);
    sb_free(t->chosen);
    sb_free(t->held);
}

/* quota[c] = have[c] * validation_count / n, rounded down, and one more for the classes with the
 * largest remainders (the lower class first) until the sum is validation_count. */
static void apportion(struct strata *t, uint32_t classes, uint32_t n,
                      uint32_t validation_count)
{
    uint32_t given = 0;
    assert(n > validation_count);
    for (uint32_t c = 0; c < classes; c++) {
        t->quota[c] = (uint32_t)((uint64_t)t->have[c] * validation_count / n);
        given += t->quota[c];
    }
    for (uint64_t below = n; given < validation_count;) {
        uint64_t largest = 0; /* remainder that is below the one before */
        for (uint32_t c = 0; c < classes; c++) {
            uint64_t rest = (uint64_t)t->have[c] * validation_count % n;
            if (rest < below && rest > largest)
                largest = rest;
        }
        for (uint32_t c = 0; c < classes && given < validation_count; c++) {
            if ((uint64_t)t->have[c] * validation_count % n == largest) {
                t->quota[c]++;
                given++;
            }
        }
        below = largest;
    }
}

/* Draws each class' examples by its own stream, then marks them in file order. */
static sb_status draw(struct strata *t, const struct sb_dataset *d, uint32_t n,
                      uint64_t seed)
{
    for (uint32_t c = 0, at = 0; c < d->classes; c++) {
        struct sb_stream s = sb_rng_stream(seed, SB_RNG_SPLIT, 0, c, 0);
        sb_status st = sb_rng_choose(&s, t->have[c], t->quota[c], t->chosen + at);
        if (st != SB_OK)
            return st;
        t->start[c] = at;
        at += t->quota[c];
        t->have[c] = 0; /* from here on: how many were seen */
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = d->labels[i];
        if (t->quota[c] > 0 && t->chosen[t->start[c]] == t->have[c]) {
            t->held[i] = 1;
            t->start[c]++;
            t->quota[c]--;
        }
        t->have[c]++;
    }
    return SB_OK;
}

static sb_status split_stratified(struct sb_indices *s, const struct sb_dataset *d,
                                  uint64_t seed)
{
    uint32_t n = s->train_count + s->validation_count, train = 0, validation = 0;
    struct strata t = {0};
    sb_status st = strata_init(&t, d, n, s->validation_count);
    if (st != SB_OK)
        goto done;
    for (uint32_t i = 0; i < n; i++)
        t.have[d->labels[i]]++;
    apportion(&t, d->classes, n, s->validation_count);
    st = draw(&t, d, n, seed);
    if (st != SB_OK)
        goto done;
    for (uint32_t i = 0; i < n; i++) {
        if (t.held[i])
            s->valid[validation++] = i;
        else
            s->train[train++] = i;
    }
done:
    strata_fini(&t);
    return st;
}

/* ---- random ---- */

static sb_status split_random(struct sb_indices *s, uint64_t seed)
{
    uint32_t n = s->train_count + s->validation_count, train = 0, validation = 0;
    struct sb_stream stream = sb_rng_stream(seed, SB_RNG_SPLIT, 0, 0, 0);
    sb_status st = sb_rng_choose(&stream, n, s->validation_count, s->valid);
    for (uint32_t i = 0; i < n && st == SB_OK; i++) {
        if (validation < s->validation_count && s->valid[validation] == i)
            validation++;
        else
            s->train[train++] = i;
    }
    return st;
}

/* ---- all ---- */

static void split_tail(struct sb_indices *s)
{
    for (uint32_t i = 0; i < s->train_count; i++)
        s->train[i] = i;
    for (uint32_t i = 0; i < s->validation_count; i++)
        s->valid[i] = s->train_count + i;
}

static sb_status count(struct sb_indices *s, const struct sb_dataset *d,
                       const struct sb_holdout_options *o)
{
    uint32_t n = o->limit > 0 && o->limit < d->n ? o->limit : d->n;
    if (!(o->fraction >= 0.0 && o->fraction < 1.0))
        return sb_fail(SB_EARG, "a validation share of %g; want one from 0 to below 1",
                       o->fraction);
    s->validation_count = o->count > 0 ? o->count : (uint32_t)(n * o->fraction + 0.5);
    if (s->validation_count >= n)
        return sb_fail(SB_EARG,
                       "%u validation examples of %u used from %s leave none to train on",
                       s->validation_count, n, d->path);
    s->train_count = n - s->validation_count;
    return SB_OK;
}

sb_status sb_indices_init(struct sb_indices *s, const struct sb_dataset *d,
                          const struct sb_holdout_options *o)
{
    *s = (struct sb_indices){0};
    sb_status st = count(s, d, o);
    if (st != SB_OK)
        return st;
    if (d->groups && s->validation_count > 0) {
        st = sb_split_groups(s, d, o->seed);
        if (st != SB_OK)
            sb_indices_fini(s);
        return st;
    }
    s->train = sb_malloc(s->train_count, sizeof *s->train);
    s->valid = sb_malloc(s->validation_count, sizeof *s->valid);
    if (!s->train || !s->valid)
        st = sb_fail(SB_ENOMEM, "no memory for the indices of %u examples", d->n);
    else if (o->kind == SB_HOLDOUT_STRATIFIED && !d->labels)
        st = sb_fail(SB_EARG,
                     "%s has no classes to be held out by shares (data.split = "
                     "stratified); say data.split = random",
                     d->path);
    else if (o->kind == SB_HOLDOUT_STRATIFIED)
        st = split_stratified(s, d, o->seed);
    else if (o->kind == SB_HOLDOUT_RANDOM)
        st = split_random(s, o->seed);
    else
        split_tail(s);
    if (st != SB_OK)
        sb_indices_fini(s);
    return st;
}

void sb_indices_fini(struct sb_indices *s)
{
    if (!s)
        return;
    sb_free(s->train);
    sb_free(s->valid);
    *s = (struct sb_indices){0};
}
