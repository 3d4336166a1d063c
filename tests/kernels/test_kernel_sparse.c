/* test_kernel_sparse - packing and the sparse products of every kernel table give scalar's
 * bits.
 */
#include "cases.h"
#include "check.h"
#include "kernels/kernels.h"
#include "tables.h"

static const struct sb_kernels *const scalar = &sb_kernels_scalar;

/* A part of a window's strip: what scalar makes of the first or last eight lanes. */
static void pack_lanes(const struct sb_window *wide, const struct sb_act *a, size_t first,
                       size_t n, float *strip)
{
    float *data = check_floats(sb_act_size(a)), *half = check_floats(n);
    struct sb_window w = *wide;
    take_lanes(a->data, sb_act_size(a), a->lanes, first, data);
    w.data = data + (size_t)(wide->data - a->data) * 8 / a->lanes;
    w.plane = w.plane * 8 / a->lanes;
    w.block = w.block * 8 / a->lanes;
    take_lanes(strip, n, a->lanes, first, half);
    scalar->pack(&w, half);
    give_lanes(half, n, a->lanes, first, strip);
    sb_free(data);
    sb_free(half);
}

/* Every strip of one side of a layer. */
static void compare_pack(const struct sb_kernels *k, const struct sb_corr *r,
                         uint32_t batch, const char *name)
{
    struct sb_act a;
    struct dice d = {batch};
    check_must(
        sb_act_init(&a, k->lanes, batch, r->from.channels, r->from.height, r->from.width),
        name);
    layer_deal_act(&a, &d, dice_wild, true);
    size_t n = r->block_channels * r->tile.strip_plane;
    float *strip = check_floats(n), *copy = check_floats(n);
    uint32_t tiles = sb_corr_tiles(r, a.blocks, 0);
    for (uint32_t t = 0; t < tiles; t++)
        for (uint32_t c = 0; c < a.channels; c += r->block_channels) {
            struct sb_box at = sb_corr_tile(r, t, 0);
            uint32_t left = a.blocks - at.block, end = c + r->block_channels;
            struct sb_window w = {
                .data = sb_act_plane(&a, at.block, 0),
                .plane = a.plane,
                .block = a.block,
                .side = &r->from,
                .tile = &r->tile,
                .blocks = left < r->tile.blocks ? left : r->tile.blocks,
                .row = at.row,
                .col = at.col,
                .channel = c,
                .channel_end = end < a.channels ? end : a.channels,
            };
            for (size_t first = 0; first < k->lanes; first += 8)
                pack_lanes(&w, &a, first, n, copy);
            k->pack(&w, strip);
            check_same(strip, copy, n, k->name, "pack", name);
        }
    sb_free(strip);
    sb_free(copy);
    sb_act_fini(&a);
}

static void compare_packs(const struct sb_kernels *k)
{
    for (int i = 0; i < LAYER_CASES; i++) {
        const struct layer_case *l = &layer_cases[i];
        struct sb_conv c;
        struct sb_corr r;
        check_must(sb_conv_init(&c, l->in, l->out, l->kh, l->kw, l->stride, l->pad,
                                l->height, l->width),
                   layer_name(l));
        struct sb_corr_use use = {
            .lanes = k->lanes, .max_batch = l->batch, .capacity = 1};
        for (int gradient = 0; gradient < 2; gradient++) {
            use.gradient = gradient;
            check_must(sb_corr_init_forward(&r, &c, &use), layer_name(l));
            compare_pack(k, &r, l->batch, layer_name(l));
            sb_corr_fini(&r);
        }
        check_must(sb_corr_init_backward(&r, &c, &use), layer_name(l));
        compare_pack(k, &r, l->batch, layer_name(l));
        sb_corr_fini(&r);
    }
}

/* Runs of all the lengths below on rows in no order, places anywhere in the strip. Sizes
 * are in vectors. */
enum { ROWS = 7, ROW0 = 5, STRIP = 300, MOST_WEIGHTS = 256 };

struct product {
    struct sb_runs runs;
    struct sb_run run[16];
    uint16_t off[MOST_WEIGHTS];
    uint32_t nnz;
};

static void make_product(struct product *p, uint32_t groups, uint32_t pitch,
                         uint32_t step, struct dice *d)
{
    static const uint32_t length[] = {31, 17, 16, 15, 12, 9, 8, 8, 7, 5, 4, 3, 2, 1, 1};
    enum { RUNS = sizeof length / sizeof *length };
    *p = (struct product){0};
    for (uint32_t i = 0; i < RUNS; i++) {
        p->run[i] = (struct sb_run){ROW0 + (3 * i + 2) % ROWS, p->nnz, length[i]};
        p->nnz += length[i];
    }
    uint32_t reach = (groups - 1) * pitch + step * (uint32_t)(SB_GROUP - 1) + 1;
    for (uint32_t k = 0; k < p->nnz; k++)
        p->off[k] = (uint16_t)dice_below(d, STRIP - reach + 1);
    p->runs = (struct sb_runs){
        .run = p->run,
        .count = RUNS,
        .row0 = ROW0,
        .groups = groups,
        .step = step,
        .pitch = pitch,
        .off = p->off,
    };
}

/* Where sums begin and end, as bits of `form`: from zeros or from given numbers, going to
 * acc or on to an output, with any of what may happen to them on the way there. */
enum {
    FIRST = 1,
    START = 2,
    LANDS = 4,
    ADD = 8,
    SUM = 16,
    NORM = 32,
    AFTER = 64,
    RELU = 128,
    FORMS = 256
};

enum {
    PLANE = 43,
    PITCH = 9,
    SIDE_PLANE = 37, /* of what is added or kept: not as in the output */
    SIDE_PITCH = 7,
    LANDING = (ROW0 + ROWS) * PLANE,
    ACC = ROWS * 4 * SB_GROUP,
    DY_ROW = 37,
    DY_PITCH = 9,
    DY = ROWS * DY_ROW
};

/* What products take and give, in vectors of so many lanes. */
enum { IN_STRIP, IN_DY, IN_ADD, IN_AFTER, OUT_ACC, OUT_SUM, OUT_Y, BUFFERS };

static const size_t buffer_vectors[BUFFERS] = {STRIP, DY,      LANDING, LANDING,
                                               ACC,   LANDING, LANDING};

struct world {
    uint32_t lanes;
    float *buffer[BUFFERS];
};

static void world_init(struct world *w, uint32_t lanes)
{
    w->lanes = lanes;
    for (int i = 0; i < BUFFERS; i++)
        w->buffer[i] = check_floats(buffer_vectors[i] * lanes);
}

static void world_deal(struct world *w, dice_fn *fn, struct dice *d)
{
    for (int i = 0; i < BUFFERS; i++)
        dice_fill(d, fn, w->buffer[i], buffer_vectors[i] * w->lanes);
}

static void world_fini(struct world *w)
{
    for (int i = 0; i < BUFFERS; i++)
        sb_free(w->buffer[i]);
}

/* Eight lanes of a wide world, or back. */
static void world_lanes(const struct world *wide, size_t first, struct world *narrow,
                        bool back)
{
    for (int i = 0; i < BUFFERS; i++) {
        size_t n = buffer_vectors[i] * wide->lanes;
        if (back)
            give_lanes(narrow->buffer[i], n, wide->lanes, first, wide->buffer[i]);
        else
            take_lanes(wide->buffer[i], n, wide->lanes, first, narrow->buffer[i]);
    }
}

/* Numbers of a weight or row: the same for all lanes. */
struct numbers {
    const float *weight;       /* [nnz] */
    float row[3][ROW0 + ROWS]; /* start, scale, shift */
};

static struct sb_epilogue_at landing(const struct world *w, const struct numbers *n,
                                     int form)
{
    ptrdiff_t lanes = w->lanes;
    return (struct sb_epilogue_at){
        .add = form & ADD ? w->buffer[IN_ADD] : NULL,
        .sum = form & SUM ? w->buffer[OUT_SUM] : NULL,
        .scale = form & NORM ? n->row[1] : NULL,
        .shift = form & NORM ? n->row[2] : NULL,
        .after = form & AFTER ? w->buffer[IN_AFTER] : NULL,
        .relu = form & RELU,
        .y = w->buffer[OUT_Y],
        .plane = (size_t)PLANE * w->lanes,
        .pitch = (size_t)PITCH * w->lanes,
        .side_plane = (size_t)SIDE_PLANE * w->lanes,
        .side_pitch = (size_t)SIDE_PITCH * w->lanes,
        .left = {form & FIRST ? -lanes : 0,
                 0}, /* columns are repeated, or zeros beside */
        .right = {0, form & FIRST ? lanes : 0},
        .left_outer = form & START,
        .right_outer = form & ADD,
    };
}

static struct sb_runs runs_in(const struct product *p, const struct world *w)
{
    struct sb_runs r = p->runs;
    r.strip = w->buffer[IN_STRIP];
    r.pitch *= w->lanes;
    return r;
}

static void accumulate(const struct sb_kernels *k, const struct product *p,
                       struct world *w, const struct numbers *n, int form)
{
    struct sb_runs r = runs_in(p, w);
    struct sb_epilogue_at end = landing(w, n, form);
    r.first = form & FIRST;
    r.start = form & START ? n->row[0] : NULL;
    r.epilogue = form & LANDS ? &end : NULL;
    k->accumulate(&r, n->weight, w->buffer[OUT_ACC]);
}

static void compare_accumulate(const struct sb_kernels *k, const struct product *p,
                               const float *weight, int form, dice_fn *fn,
                               const char *what)
{
    struct dice d = {(uint64_t)form};
    struct numbers n = {.weight = weight};
    struct world have, want, part;
    world_init(&have, k->lanes);
    world_init(&want, k->lanes);
    world_init(&part, 8);
    world_deal(&have, fn, &d);
    for (int i = 0; i < BUFFERS; i++)
        memcpy(want.buffer[i], have.buffer[i],
               buffer_vectors[i] * k->lanes * sizeof(float));
    for (int i = 0; i < 3; i++)
        dice_fill(&d, fn, n.row[i], ROW0 + ROWS);
    accumulate(k, p, &have, &n, form);
    for (size_t first = 0; first < k->lanes; first += 8) {
        world_lanes(&want, first, &part, false);
        accumulate(scalar, p, &part, &n, form);
        world_lanes(&want, first, &part, true);
    }
    for (int i = OUT_ACC; i < BUFFERS; i++)
        check_same(have.buffer[i], want.buffer[i], buffer_vectors[i] * k->lanes, k->name,
                   i == OUT_ACC ? "accumulate"
                   : i == OUT_Y ? "accumulate: y"
                                : "accumulate: sum",
                   what);
    world_fini(&have);
    world_fini(&want);
    world_fini(&part);
}

static void compare_contract(const struct sb_kernels *k, const struct product *p,
                             dice_fn *fn, const char *what)
{
    struct dice d = {p->nnz};
    struct world have, part;
    float *a[2], *b[2];
    world_init(&have, k->lanes);
    world_init(&part, 8);
    world_deal(&have, fn, &d);
    for (int i = 0; i < 2; i++) {
        a[i] = check_floats(p->nnz);
        b[i] = check_floats(p->nnz);
        dice_fill(&d, fn, a[i], p->nnz);
        memcpy(b[i], a[i], p->nnz * sizeof *a[i]);
    }
    struct sb_runs r = runs_in(p, &have);
    k->contract(&r, have.buffer[IN_DY], (size_t)DY_ROW * k->lanes,
                (size_t)DY_PITCH * k->lanes, a);
    for (size_t i = 0; i < k->lanes / 8; i++) {
        world_lanes(&have, 8 * i, &part, false);
        r = runs_in(p, &part);
        scalar->contract(&r, part.buffer[IN_DY], DY_ROW * 8, DY_PITCH * 8, &b[i]);
    }
    for (int i = 0; i < 2; i++) {
        check_same(a[i], b[i], p->nnz, k->name, "contract", what);
        sb_free(a[i]);
        sb_free(b[i]);
    }
    world_fini(&have);
    world_fini(&part);
}

static void compare_product(const struct sb_kernels *k, const struct product *p,
                            dice_fn *fn, const char *what)
{
    struct dice d = {p->nnz};
    float *weight = check_floats(p->nnz);
    dice_fill(&d, fn, weight, p->nnz);
    int step = p->runs.count >= 2 * ROWS ? 1 : p->runs.dense ? 5 : 37;
    for (int form = 0; form < FORMS; form += step)
        if (form & LANDS || form < LANDS)
            compare_accumulate(k, p, weight, form, fn, what);
    compare_contract(k, p, fn, what);
    sb_free(weight);
}

/* Runs of one length with the same places: all weights of ROWS rows. */
static void make_dense(struct product *p, uint32_t length)
{
    p->nnz = ROWS * length;
    for (uint32_t i = 0; i < ROWS; i++) {
        p->run[i] = (struct sb_run){ROW0 + (3 * i + 2) % ROWS, i * length, length};
        memcpy(p->off + (size_t)i * length, p->off, length * sizeof *p->off);
    }
    p->runs.count = ROWS;
    p->runs.dense = 1;
}

/* Tiles of 1 group have only wide kernels; a step of 2 only tiles of 2 groups or, in the
 * weight gradient of narrow ones, of 1. */
static void compare_products(const struct sb_kernels *k)
{
    static const uint32_t pitch[] = {4, 5, 6, 11}, tile[] = {1, 2, 4};
    struct product p;
    for (uint32_t i = 0; i < 48; i++) {
        struct dice d = {i};
        dice_fn *fn = i % 2 ? dice_wild : dice_mild;
        uint32_t groups = tile[i / 2 % 3], step = i < 24 ? 1 : 2;
        char what[64];
        snprintf(what, sizeof what, "%u groups %u apart, step %u", groups,
                 pitch[i / 6 % 4], step);
        make_product(&p, groups, step * pitch[i / 6 % 4], step, &d);
        if (groups == 1 && (k->lanes == 8 || step == 2)) {
            compare_contract(k, &p, fn, what);
            continue;
        }
        for (size_t count = p.runs.count;; count /= step == 1 ? 2 : 8) {
            p.runs.count = count; /* fewer runs, down to none */
            compare_product(k, &p, fn, what);
            if (count == 0)
                break;
        }
        make_dense(&p, 9);
        for (; p.runs.count > 3; p.runs.count -= step)
            compare_product(k, &p, fn, what);
    }
}

int main(void)
{
    const struct sb_kernels *table[SB_MOST_KERNELS];
    size_t n = sb_kernels_list(table, SB_MOST_KERNELS);
    for (size_t i = 1; i < n; i++) {
        compare_packs(table[i]);
        compare_products(table[i]);
        printf("%s equals scalar in the sparse kernels\n", table[i]->name);
    }
    check_absent(table, n);
    return check_close();
}
