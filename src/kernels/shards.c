/* shards - see shards.h. */
#include "kernels/shards.h"

#include <assert.h>

#include "base/threads.h"
#include "kernels/spread.h"

/* ---- rows ---------------------------------------------------------------------------- */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

uint32_t sb_shards_width(uint32_t rows, uint32_t shards, uint32_t step)
{
    return divide_up(divide_up(rows, shards ? shards : 1), step) * step;
}

uint32_t sb_shards_of(const struct sb_shards *s, uint32_t rows)
{
    return s && s->width ? divide_up(rows, s->width) : rows > 0;
}

struct sb_act sb_shards_view(const struct sb_shards *s, const struct sb_act *a,
                             uint32_t i)
{
    struct sb_act view = *a;
    if (!s || !s->width)
        return view;
    uint32_t row = i * s->width, left = a->batch - row;
    assert(row % a->lanes == 0 && row < a->batch);
    view.data = a->data ? a->data + (size_t)(row / a->lanes) * a->block : NULL;
    sb_act_set_batch(&view, left < s->width ? left : s->width);
    return view;
}

void sb_shards_blocks(const struct sb_shards *s, const struct sb_act *a, uint32_t i,
                      uint32_t *begin, uint32_t *end)
{
    uint32_t blocks = s && s->width ? s->width / a->lanes : a->blocks;
    *begin = i * blocks;
    *end = *begin + blocks < a->blocks ? *begin + blocks : a->blocks;
}

/* ---- the tree ------------------------------------------------------------------------ */

uint32_t sb_tree_push(struct sb_tree *t, struct sb_subtree part)
{
    uint32_t merges = 0;
    while (t->parts > 0 && part.index % 2 == 1) {
        struct sb_subtree left = t->part[t->parts - 1];
        if (left.level != part.level || left.index + 1 != part.index)
            break;
        part = (struct sb_subtree){part.level + 1, part.index / 2};
        t->parts--;
        merges++;
    }
    assert(t->parts < SB_TREE_MOST);
    t->part[t->parts++] = part;
    return merges;
}

uint32_t sb_tree_places(uint32_t first, uint32_t n)
{
    struct sb_tree t = {.parts = 0};
    uint32_t most = 1;
    for (uint32_t i = 0; i < n; i++) {
        most = t.parts + 1 > most ? t.parts + 1 : most;
        (void)sb_tree_push(&t, (struct sb_subtree){0, first + i});
    }
    return most;
}

static void add_last(struct sb_tree_sums *t, uint32_t last)
{
    for (int k = 0; k < 2; k++)
        t->sum[last - 1][k] += t->sum[last][k];
}

void sb_tree_sums_push(struct sb_tree_sums *t, struct sb_subtree part, double a, double b)
{
    uint32_t last = t->tree.parts;
    assert(last < SB_TREE_MOST);
    t->sum[last][0] = a;
    t->sum[last][1] = b;
    for (uint32_t merges = sb_tree_push(&t->tree, part); merges > 0; merges--)
        add_last(t, last--);
}

void sb_tree_sums_end(struct sb_tree_sums *t)
{
    while (t->tree.parts > 1)
        add_last(t, --t->tree.parts);
}

/* ---- sums of arrays ------------------------------------------------------------------ */

enum { PIECE = 4096 }; /* floats a chunk adds */

struct addition {
    const struct sb_fold *f;
    uint32_t last, times; /* which sum is added to the one before it, and how often on */
};

float *sb_fold_place(const struct sb_fold *f, uint32_t i)
{
    return i == 0 ? f->first : f->more + (i - 1) * f->stride;
}

static void add_piece(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct addition *a = context;
    size_t begin = chunk * PIECE, left = a->f->n - begin, n = left < PIECE ? left : PIECE;
    for (uint32_t k = 0; k < a->times; k++) {
        float *to = sb_fold_place(a->f, a->last - k - 1) + begin;
        const float *from = sb_fold_place(a->f, a->last - k) + begin;
        for (size_t i = 0; i < n; i++)
            to[i] += from[i];
    }
}

static void add_sums(const struct sb_env *env, const struct sb_fold *f, uint32_t last,
                     uint32_t times)
{
    struct addition a = {f, last, times};
    if (times > 0)
        sb_threads_run(env->threads, (f->n + PIECE - 1) / PIECE, add_piece, &a);
}

float *sb_fold_next(const struct sb_fold *f)
{
    return sb_fold_place(f, f->tree.parts);
}

void sb_fold_push(const struct sb_env *env, struct sb_fold *f, struct sb_subtree part)
{
    uint32_t last = f->tree.parts;
    add_sums(env, f, last, sb_tree_push(&f->tree, part));
}

sb_status sb_fold_start(const struct sb_env *env, const struct sb_shards *s,
                        struct sb_fold *f, const char *what)
{
    if (s && s->spread)
        return sb_spread_start(env, s->spread, f, what);
    if (f->tree.parts > 1)
        add_sums(env, f, f->tree.parts - 1, f->tree.parts - 1);
    f->tree.parts = f->tree.parts > 0;
    return SB_OK;
}

sb_status sb_shards_settle(const struct sb_env *env, const struct sb_shards *s)
{
    return s && s->spread ? sb_spread_settle(env, s->spread) : SB_OK;
}

void sb_shards_poll(const struct sb_shards *s)
{
    if (s && s->spread)
        sb_comm_poll(s->spread->comm);
}
