/* spread - see spread.h. */
#include "kernels/spread.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"

/* ---- life ---------------------------------------------------------------------------- */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

sb_status sb_spread_init(struct sb_spread *s, const struct sb_comm *comm, uint32_t width,
                         uint32_t rows)
{
    uint32_t size = sb_comm_size(comm);
    *s = (struct sb_spread){
        .comm = comm, .width = width, .shards = width ? divide_up(rows, width) : 1};
    if (size > s->shards)
        return sb_fail(SB_EARG,
                       "%u processes cannot share batches of %u shard%s: start fewer, or "
                       "train with a larger train.shards (a shard has at least %d rows)",
                       size, s->shards, s->shards == 1 ? "" : "s", SB_PARTIALS);
    s->part = sb_calloc(size, sizeof *s->part);
    s->to = sb_calloc(size, sizeof *s->to);
    s->from = sb_calloc(size, sizeof *s->from);
    return s->part && s->to && s->from
               ? SB_OK
               : sb_fail(SB_ENOMEM, "no memory for exchanges of %u processes", size);
}

void sb_spread_fini(struct sb_spread *s)
{
    if (!s)
        return;
    sb_free(s->part);
    sb_free(s->to);
    sb_free(s->from);
    sb_free(s->in);
    for (int i = 0; i < SB_SPREAD_LANES; i++) {
        sb_free(s->lane[i].out);
        sb_free(s->lane[i].in);
    }
    *s = (struct sb_spread){0};
}

/* ---- who has what -------------------------------------------------------------------- */

static uint32_t bound(const struct sb_spread *s, uint32_t rank)
{
    return (uint32_t)((uint64_t)s->shards * rank / s->comm->size);
}

uint32_t sb_spread_shards(const struct sb_spread *s, uint32_t rows, uint32_t rank,
                          uint32_t *first)
{
    uint32_t there = divide_up(rows, s->width);
    uint32_t begin = bound(s, rank), end = bound(s, rank + 1);
    *first = begin;
    end = end < there ? end : there;
    return end > begin ? end - begin : 0;
}

uint32_t sb_spread_rows(const struct sb_spread *s, uint32_t rows, uint32_t *first)
{
    uint32_t shard, n = sb_spread_shards(s, rows, s->comm->rank, &shard);
    uint32_t left = rows > shard * s->width ? rows - shard * s->width : 0;
    *first = shard * s->width;
    return n * s->width < left ? n * s->width : left;
}

void sb_spread_set(struct sb_spread *s, uint32_t rows)
{
    for (uint32_t r = 0; r < s->comm->size; r++) {
        uint32_t first, n = sb_spread_shards(s, rows, r, &first);
        s->part[r].parts = 0;
        for (uint32_t i = 0; i < n; i++)
            (void)sb_tree_push(&s->part[r], (struct sb_subtree){0, first + i});
    }
}

uint32_t sb_spread_parts(const struct sb_spread *s)
{
    return s->part[s->comm->rank].parts;
}

/* Floats of an array before slice r, whole cache lines. */
static size_t slice(const struct sb_spread *s, size_t n, uint32_t r)
{
    return r == s->comm->size ? n : n * r / s->comm->size / 16 * 16;
}

/* Contents are not kept. */
static sb_status grow(char **memory, size_t bytes)
{
    sb_free(*memory);
    *memory = sb_calloc(bytes, 1);
    return *memory
               ? SB_OK
               : sb_fail(SB_ENOMEM, "no memory to exchange %zu MB with other processes",
                         bytes >> 20);
}

static sb_status grow_lanes(struct sb_spread *s, size_t out, size_t in)
{
    sb_status st = SB_OK;
    for (int i = 0; st == SB_OK && i < SB_SPREAD_LANES; i++) {
        assert(!s->lane[i].first);
        st = grow(&s->lane[i].out, out);
        if (st == SB_OK)
            st = grow(&s->lane[i].in, in);
    }
    s->lane_out_bytes = st == SB_OK ? out : 0;
    s->lane_in_bytes = st == SB_OK ? in : 0;
    return st;
}

sb_status sb_spread_reserve(struct sb_spread *s, size_t sums, size_t floats)
{
    uint32_t first, own = sb_spread_shards(s, UINT32_MAX, s->comm->rank, &first);
    size_t longest = floats / s->comm->size + 32; /* slice */
    size_t pairs = sums * s->shards * 2 * sizeof(double);
    size_t in = longest * s->shards * sizeof(float), out = floats * own * sizeof(float);
    sb_status st = SB_OK;
    if (pairs > s->in_bytes) {
        st = grow(&s->in, pairs);
        s->in_bytes = st == SB_OK ? pairs : 0;
    }
    if (st == SB_OK && (in > s->lane_in_bytes || out > s->lane_out_bytes))
        st = grow_lanes(s, out, in);
    return st;
}

/* ---- few numbers --------------------------------------------------------------------- */

double *sb_spread_begin(struct sb_spread *s, size_t n)
{
    size_t at = 0;
    s->sums = n;
    for (uint32_t r = 0; r < s->comm->size; r++) {
        size_t bytes = n * s->part[r].parts * 2 * sizeof(double);
        s->from[r] = (struct sb_comm_span){at, bytes};
        at += bytes;
    }
    assert(at <= s->in_bytes);
    return (double *)(void *)(s->in + s->from[s->comm->rank].offset);
}

sb_status sb_spread_gather(struct sb_spread *s, const char *what)
{
    return sb_comm_all_gather(s->comm, what, NULL, s->in, s->from);
}

void sb_spread_sum(const struct sb_spread *s, size_t i, struct sb_tree_sums *out)
{
    out->tree.parts = 0;
    for (uint32_t r = 0; r < s->comm->size; r++) {
        const struct sb_tree *t = &s->part[r];
        const double *sum =
            (const double *)(const void *)(s->in + s->from[r].offset) + i * t->parts * 2;
        for (uint32_t k = 0; k < t->parts; k++)
            sb_tree_sums_push(out, t->part[k], sum[2 * k], sum[2 * k + 1]);
    }
    sb_tree_sums_end(out);
}

/* ---- arrays -------------------------------------------------------------------------- */

/* Slice r of this process's subtrees, for every r: [process][subtree][slice]. */
static void pack_slices(struct sb_spread *s, const struct sb_fold *f, char *out)
{
    size_t at = 0;
    for (uint32_t r = 0; r < s->comm->size; r++) {
        size_t begin = slice(s, f->n, r), n = slice(s, f->n, r + 1) - begin;
        s->to[r] = (struct sb_comm_span){at, n * f->tree.parts * sizeof(float)};
        for (uint32_t k = 0; k < f->tree.parts; k++, at += n * sizeof(float))
            memcpy(out + at, sb_fold_place(f, k) + begin, n * sizeof(float));
    }
    assert(at <= s->lane_out_bytes);
}

/* What comes from each process: [process][its subtrees][own slice]. */
static void expect_slices(struct sb_spread *s, size_t n)
{
    size_t at = 0;
    for (uint32_t r = 0; r < s->comm->size; r++) {
        s->from[r] = (struct sb_comm_span){at, n * s->part[r].parts * sizeof(float)};
        at += s->from[r].bytes;
    }
    assert(at <= s->lane_in_bytes);
}

enum { PIECE = 2048 }; /* floats of a chunk */

struct ending {
    const struct sb_spread *s;
    float *all;    /* [subtrees of all][n] */
    size_t n;      /* of the slice */
    float *result; /* [n] */
};

static void add(float *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

/* The trees of some floats of the slice, from the left to the right. */
static void end_piece(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct ending *e = context;
    const struct sb_spread *s = e->s;
    size_t begin = chunk * PIECE, n = e->n - begin < PIECE ? e->n - begin : PIECE;
    float *all = e->all + begin;
    size_t at[SB_TREE_MOST] = {0}; /* where those of the tree are */
    struct sb_tree tree = {.parts = 0};
    size_t next = 0;
    for (uint32_t r = 0; r < s->comm->size; r++)
        for (uint32_t k = 0; k < s->part[r].parts; k++, next += e->n) {
            uint32_t last = tree.parts;
            at[last] = next;
            for (uint32_t m = sb_tree_push(&tree, s->part[r].part[k]); m > 0; m--, last--)
                add(all + at[last - 1], all + at[last], n);
        }
    for (uint32_t last = tree.parts; last > 1; last--)
        add(all + at[last - 2], all + at[last - 1], n);
    memcpy(e->result + begin, all, n * sizeof(float));
}

/* Has the subtrees come, ends the own slice's trees, and sends it to all. */
static sb_status send_slice(const struct sb_env *env, struct sb_spread *s,
                            struct sb_spread_lane *l)
{
    size_t begin = slice(s, l->n, s->comm->rank);
    struct ending e = {s, (float *)(void *)l->in,
                       slice(s, l->n, s->comm->rank + 1) - begin, l->first + begin};
    if (!l->first || l->sent)
        return SB_OK;
    sb_status st = sb_comm_wait(s->comm, &l->request);
    if (st != SB_OK)
        return st;
    sb_threads_run(env->threads, (e.n + PIECE - 1) / PIECE, end_piece, &e);
    for (uint32_t r = 0; r < s->comm->size; r++) {
        size_t at = slice(s, l->n, r);
        s->from[r] = (struct sb_comm_span){at * sizeof(float),
                                           (slice(s, l->n, r + 1) - at) * sizeof(float)};
    }
    l->sent = true;
    return sb_comm_start_all_gather(s->comm, l->what, NULL, l->first, s->from,
                                    &l->request);
}

/* The lane is free then. */
static sb_status end_lane(const struct sb_env *env, struct sb_spread *s,
                          struct sb_spread_lane *l)
{
    sb_status st = send_slice(env, s, l);
    if (st == SB_OK && l->first)
        st = sb_comm_wait(s->comm, &l->request);
    if (st == SB_OK)
        l->first = NULL;
    return st;
}

sb_status sb_spread_start(const struct sb_env *env, struct sb_spread *s,
                          const struct sb_fold *f, const char *what)
{
    uint32_t before = (s->next + SB_SPREAD_LANES - 1) % SB_SPREAD_LANES;
    struct sb_spread_lane *l = &s->lane[s->next];
    size_t own = slice(s, f->n, s->comm->rank + 1) - slice(s, f->n, s->comm->rank);
    assert(f->tree.parts == sb_spread_parts(s));
    sb_status st = send_slice(env, s, &s->lane[before]);
    if (st == SB_OK)
        st = end_lane(env, s, l);
    if (st != SB_OK)
        return st;
    pack_slices(s, f, l->out);
    expect_slices(s, own);
    l->first = f->first;
    l->n = f->n;
    l->sent = false;
    l->what = what;
    s->next = (s->next + 1) % SB_SPREAD_LANES;
    return sb_comm_start_exchange(s->comm, what, l->out, s->to, l->in, s->from,
                                  &l->request);
}

sb_status sb_spread_settle(const struct sb_env *env, struct sb_spread *s)
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; st == SB_OK && i < SB_SPREAD_LANES; i++) /* oldest first */
        st = end_lane(env, s, &s->lane[(s->next + i) % SB_SPREAD_LANES]);
    return st;
}
