/* split_groups - whole groups are held out, so that no patient, site or day is on both
 * sides.
 *
 * Groups are taken in a random order as long as they fit into what is wanted. Of several
 * orders the one counts whose held-out part is nearest to the whole in its classes; one
 * that leaves a class nothing to learn from counts last.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "data/split.h"

enum { TRIES = 32 };

struct groups {
    const struct sb_dataset *d;
    uint32_t n, count;    /* rows that are used; groups */
    uint32_t want;        /* rows to hold out, about */
    uint32_t *size;       /* [count] rows of a group; owned */
    uint32_t *order;      /* [count] owned */
    uint8_t *held, *best; /* [count] whether a group is held out; owned */
    uint32_t classes;     /* 1 where there are no labels */
    uint32_t *have;       /* [classes] owned: rows of a class */
    uint32_t *out;        /* [classes] owned: of them held out */
};

static void fini(struct groups *g)
{
    sb_free(g->size);
    sb_free(g->order);
    sb_free(g->held);
    sb_free(g->best);
    sb_free(g->have);
    sb_free(g->out);
}

static uint32_t class_of(const struct groups *g, uint32_t i)
{
    return g->d->labels ? g->d->labels[i] : 0;
}

static sb_status init(struct groups *g)
{
    const struct sb_dataset *d = g->d;
    for (uint32_t i = 0; i < g->n; i++)
        g->count = d->groups[i] >= g->count ? d->groups[i] + 1 : g->count;
    g->size = sb_calloc(g->count, sizeof *g->size);
    g->order = sb_malloc(g->count, sizeof *g->order);
    g->held = sb_malloc(g->count, 1);
    g->best = sb_malloc(g->count, 1);
    g->classes = d->labels ? d->classes : 1;
    g->have = sb_calloc(g->classes, sizeof *g->have);
    g->out = sb_calloc(g->classes, sizeof *g->out);
    if (!g->size || !g->order || !g->held || !g->best || !g->have || !g->out)
        return sb_fail(SB_ENOMEM, "no memory for %u groups", g->count);
    for (uint32_t i = 0; i < g->n; i++) {
        g->size[d->groups[i]]++;
        g->have[class_of(g, i)]++;
    }
    return SB_OK;
}

/* Marks g->held; how many rows that is. If no group fits, the smallest is taken. */
static uint32_t hold_out(struct groups *g, uint64_t seed, uint32_t try)
{
    struct sb_stream s = sb_rng_stream(seed, SB_RNG_SPLIT, 1, try, 0);
    uint32_t rows = 0, least = g->count;
    memset(g->held, 0, g->count);
    sb_rng_permutation(&s, g->count, g->order);
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t k = g->order[i];
        if (g->size[k] == 0)
            continue;
        if (least == g->count || g->size[k] < g->size[least])
            least = k;
        if (rows + g->size[k] <= g->want) {
            g->held[k] = 1;
            rows += g->size[k];
        }
    }
    if (rows == 0 && g->size[least] < g->n) {
        g->held[least] = 1;
        rows = g->size[least];
    }
    return rows;
}

/* How far the held-out part's classes and size are from what they should be. */
static double distance(struct groups *g, uint32_t rows)
{
    const struct sb_dataset *d = g->d;
    double sum = fabs((double)rows - g->want);
    memset(g->out, 0, g->classes * sizeof *g->out);
    for (uint32_t i = 0; i < g->n; i++)
        g->out[class_of(g, i)] += g->held[d->groups[i]];
    for (uint32_t c = 0; c < g->classes; c++) {
        sum += fabs(g->out[c] - (double)g->want * g->have[c] / g->n);
        if (g->have[c] > 0 && g->out[c] == g->have[c])
            sum += 2.0 * g->n; /* nothing is left to learn it from */
    }
    return sum;
}

static sb_status choose(struct groups *g, uint64_t seed, uint32_t *rows)
{
    double least = INFINITY;
    *rows = 0;
    for (uint32_t try = 0; try < TRIES; try++) {
        uint32_t have = hold_out(g, seed, try);
        double far = have > 0 ? distance(g, have) : INFINITY;
        if (far < least) {
            least = far;
            *rows = have;
            memcpy(g->best, g->held, g->count);
        }
    }
    return *rows > 0 ? SB_OK
                     : sb_fail(SB_EARG,
                               "%s: all %u rows are of one group (data.group); want "
                               "another one to hold out",
                               g->d->path, g->n);
}

sb_status sb_split_groups(struct sb_indices *s, const struct sb_dataset *d, uint64_t seed)
{
    struct groups g = {
        .d = d, .n = s->train_count + s->validation_count, .want = s->validation_count};
    uint32_t train = 0, validation = 0, rows = 0;
    sb_status st = init(&g);
    if (st == SB_OK)
        st = choose(&g, seed, &rows);
    if (st != SB_OK)
        goto done;
    s->validation_count = rows;
    s->train_count = g.n - rows;
    s->train = sb_malloc(s->train_count, sizeof *s->train);
    s->valid = sb_malloc(s->validation_count, sizeof *s->valid);
    if (!s->train || !s->valid) {
        st = sb_fail(SB_ENOMEM, "no memory for the indices of %u examples", d->n);
        goto done;
    }
    for (uint32_t i = 0; i < g.n; i++)
        if (g.best[d->groups[i]])
            s->valid[validation++] = i;
        else
            s->train[train++] = i;
done:
    fini(&g);
    return st;
}
