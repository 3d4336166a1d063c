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
    sb_free(s->out);
    sb_free(s->in);
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

static sb_status grow(char **memory, size_t *have, size_t bytes)
{
    if (bytes <= *have)
        return SB_OK;
    sb_free(*memory);
    *have = 0;
    *memory = sb_calloc(bytes, 1);
    if (!*memory)
        return sb_fail(SB_ENOMEM, "no memory to exchange %zu MB with other processes",
                       bytes >> 20);
    *have = bytes;
    return SB_OK;
}

sb_status sb_spread_reserve(struct sb_spread *s, size_t sums, size_t floats)
{
    uint32_t first, own = sb_spread_shards(s, UINT32_MAX, s->comm->rank, &first);
    size_t longest = floats / s->comm->size + 32; /* slice */
    size_t pairs = sums * s->shards * 2 * sizeof(double);
    size_t slices = longest * s->shards * sizeof(float);
    sb_status st = grow(&s->in, &s->in_bytes, pairs > slices ? pairs : slices);
    return st == SB_OK ? grow(&s->out, &s->out_bytes, floats * own * sizeof(float)) : st;
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
static void pack_slices(struct sb_spread *s, const struct sb_fold *f)
{
    size_t at = 0;
    for (uint32_t r = 0; r < s->comm->size; r++) {
        size_t begin = slice(s, f->n, r), n = slice(s, f->n, r + 1) - begin;
        s->to[r] = (struct sb_comm_span){at, n * f->tree.parts * sizeof(float)};
        for (uint32_t k = 0; k < f->tree.parts; k++, at += n * sizeof(float))
            memcpy(s->out + at, sb_fold_place(f, k) + begin, n * sizeof(float));
    }
    assert(at <= s->out_bytes);
}

/* What comes from each process: [process][its subtrees][own slice]. */
static void expect_slices(struct sb_spread *s, size_t n)
{
    size_t at = 0;
    for (uint32_t r = 0; r < s->comm->size; r++) {
        s->from[r] = (struct sb_comm_span){at, n * s->part[r].parts * sizeof(float)};
        at += s->from[r].bytes;
    }
    assert(at <= s->in_bytes);
}

enum { PIECE = 2048 }; /* floats of a chunk */

struct ending {
    const struct sb_spread *s;
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
    float *all = (float *)(void *)s->in + begin; /* [subtrees of all][e->n] */
    size_t at[SB_TREE_MOST] = {0};               /* where those of the tree are */
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

sb_status sb_spread_fold(const struct sb_env *env, struct sb_spread *s, struct sb_fold *f,
                         const char *what)
{
    size_t begin = slice(s, f->n, s->comm->rank);
    struct ending e = {s, slice(s, f->n, s->comm->rank + 1) - begin, f->first + begin};
    assert(f->tree.parts == sb_spread_parts(s));
    pack_slices(s, f);
    expect_slices(s, e.n);
    sb_status st = sb_comm_exchange(s->comm, what, s->out, s->to, s->in, s->from);
    if (st != SB_OK)
        return st;
    sb_threads_run(env->threads, (e.n + PIECE - 1) / PIECE, end_piece, &e);
    for (uint32_t r = 0; r < s->comm->size; r++) {
        size_t at = slice(s, f->n, r);
        s->from[r] = (struct sb_comm_span){at * sizeof(float),
                                           (slice(s, f->n, r + 1) - at) * sizeof(float)};
    }
    f->tree.parts = 1;
    return sb_comm_all_gather(s->comm, what, NULL, f->first, s->from);
}
