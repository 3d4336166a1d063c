/* sparse_epilogue - where the sums of a sparse product go when they leave the registers. */
#include "kernels/sparse_parts.h"

static bool same_planes(const struct sb_act *a, const struct sb_act *b)
{
    return !a || !b || (a->plane == b->plane && a->sliced == b->sliced);
}

bool sb_sparse_stores_directly(const struct sb_corr *r, const struct sb_epilogue *t)
{
    return r->tile.blocks == 1 && r->grid_height % r->tile.height == 0 &&
           r->grid_width % r->tile.width == 0 &&
           (!t || (same_planes(t->add, t->sum) && same_planes(t->sum, t->after) &&
                   same_planes(t->add, t->after)));
}

/* Where a tile's rows lie in an act; NULL stays NULL. */
static float *tile_in(const struct sb_act *a, const struct sb_box *at)
{
    return a ? sb_act_pixel(a, at->block, at->row, at->col) : NULL;
}

/* Floats in an act from a group of the tile to the next. */
static size_t group_pitch(const struct sb_corr *r, const struct sb_act *a)
{
    return r->tile.width > SB_GROUP ? (size_t)SB_GROUP * a->lanes : a->pitch;
}

/* Where columns at the sides of a slice are repeated. halves: a row of the tile is two
 * groups, not one. */
static void repeat_sides(struct sb_epilogue_at *l, const struct sb_act *y,
                         const struct sb_box *at, bool halves)
{
    const ptrdiff_t beside = y->lanes, over = (ptrdiff_t)y->slice - SB_SLICE * beside;
    uint32_t end = at->col + at->width;
    l->left_outer = at->col == 0;
    l->right_outer = end == y->width;
    if (at->col % SB_SLICE == 0) {
        l->left[0] = l->left_outer ? -beside : -over;
        l->left[1] = halves ? 0 : l->left[0];
    }
    if (end % SB_SLICE == 0) {
        l->right[1] = l->right_outer ? beside : over;
        l->right[0] = halves ? 0 : l->right[1];
    }
}

struct sb_epilogue_at sb_sparse_epilogue(const struct sb_corr *r,
                                         const struct sb_epilogue *t,
                                         const struct sb_act *y, const struct sb_box *at)
{
    struct sb_epilogue_at l = {
        .y = tile_in(y, at), .plane = y->plane, .pitch = group_pitch(r, y)};
    if (y->sliced)
        repeat_sides(&l, y, at, r->sliced);
    if (!t)
        return l;
    const struct sb_act *side = t->add ? t->add : t->sum ? t->sum : t->after;
    if (side) {
        l.side_plane = side->plane;
        l.side_pitch = group_pitch(r, side);
    }
    l.add = tile_in(t->add, at);
    l.sum = tile_in(t->sum, at);
    l.scale = t->scale;
    l.shift = t->shift;
    l.after = tile_in(t->after, at);
    l.relu = t->relu;
    return l;
}

void sb_sparse_epilogue_lower(struct sb_epilogue_at *l, const struct sb_epilogue *t,
                              const struct sb_act *y)
{
    l->y += y->pitch;
    if (l->sum)
        l->sum += t->sum->pitch;
    if (l->add)
        l->add += t->add->pitch;
    if (l->after)
        l->after += t->after->pitch;
}
