/* test_kernel_sparse - packing and the sparse products of every kernel table give scalar's
 * bits.
 */
#include "cases.h"
#include "check.h"
#include "kernels/kernels.h"

static const struct sb_kernels *const scalar = &sb_kernels_scalar;

/* Every strip of one side of a layer. */
static void compare_pack(const struct sb_kernels *k, const struct sb_corr *r,
                         uint32_t batch, const char *name)
{
    struct sb_act a;
    struct dice d = {batch};
    check_must(sb_act_init(&a, batch, r->from.channels, r->from.height, r->from.width),
               name);
    layer_deal_act(&a, &d, dice_wild, true);
    size_t n = r->block_channels * r->tile.strip_plane;
    float *strip = check_floats(n), *copy = check_floats(n);
    for (uint32_t b = 0; b < a.blocks; b += r->tile.blocks)
        for (uint32_t y = 0; y < r->grid_height; y += r->tile.height)
            for (uint32_t x = 0; x < r->grid_width; x += r->tile.width)
                for (uint32_t c = 0; c < a.channels; c += r->block_channels) {
                    uint32_t left = a.blocks - b, end = c + r->block_channels;
                    struct sb_window w = {
                        .data = sb_act_plane(&a, b, 0),
                        .plane = a.plane,
                        .block = a.block,
                        .side = &r->from,
                        .tile = &r->tile,
                        .blocks = left < r->tile.blocks ? left : r->tile.blocks,
                        .row = y,
                        .col = x,
                        .channel = c,
                        .channel_end = end < a.channels ? end : a.channels,
                    };
                    scalar->pack(&w, copy);
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
        for (int gradient = 0; gradient < 2; gradient++) {
            const struct sb_corr_use use = {.gradient = gradient};
            check_must(sb_corr_init_forward(&r, &c, l->batch, 1, &use), layer_name(l));
            compare_pack(k, &r, l->batch, layer_name(l));
            sb_corr_fini(&r);
        }
        check_must(sb_corr_init_backward(&r, &c, l->batch, 1), layer_name(l));
        compare_pack(k, &r, l->batch, layer_name(l));
        sb_corr_fini(&r);
    }
}

/* Runs of all the lengths below on rows in no order, places anywhere in the strip. */
enum { ROWS = 7, ROW0 = 5, STRIP = 300, MOST_WEIGHTS = 256 };

struct product {
    struct sb_runs runs;
    struct sb_run run[16];
    uint16_t off[MOST_WEIGHTS];
    uint32_t nnz;
};

static void make_product(struct product *p, uint32_t groups, size_t pitch, uint32_t step,
                         const float *strip, struct dice *d)
{
    static const uint32_t length[] = {31, 17, 16, 15, 12, 9, 8, 8, 7, 5, 4, 3, 2, 1, 1};
    enum { RUNS = sizeof length / sizeof *length };
    *p = (struct product){0};
    for (uint32_t i = 0; i < RUNS; i++) {
        p->run[i] = (struct sb_run){ROW0 + (3 * i + 2) % ROWS, p->nnz, length[i]};
        p->nnz += length[i];
    }
    uint32_t reach =
        (uint32_t)((groups - 1) * pitch / 8) + step * (uint32_t)(SB_GROUP - 1) + 1;
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
        .strip = strip,
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
    PLANE = 8 * 43,
    PITCH = 8 * 9,
    SIDE_PLANE = 8 * 37, /* of what is added or kept: not as in the output */
    SIDE_PITCH = 8 * 7,
    LANDING = (ROW0 + ROWS) * PLANE
};

struct ends {
    float *row[3];                      /* [ROW0 + ROWS] start, scale, shift */
    float *add, *after, *sum[2], *y[2]; /* [LANDING], of scalar and of the other */
    struct sb_landing landing[2];
};

static void ends_init(struct ends *e, int form, dice_fn *fn, struct dice *d)
{
    float **whole[] = {&e->add, &e->after, &e->sum[0], &e->y[0], &e->sum[1], &e->y[1]};
    for (int i = 0; i < 3; i++) {
        e->row[i] = check_floats(ROW0 + ROWS);
        dice_fill(d, fn, e->row[i], ROW0 + ROWS);
    }
    for (int i = 0; i < 6; i++) {
        *whole[i] = check_floats(LANDING);
        dice_fill(d, fn, *whole[i], LANDING);
    }
    for (int i = 0; i < 2; i++)
        e->landing[i] = (struct sb_landing){
            .add = form & ADD ? e->add : NULL,
            .sum = form & SUM ? e->sum[i] : NULL,
            .scale = form & NORM ? e->row[1] : NULL,
            .shift = form & NORM ? e->row[2] : NULL,
            .after = form & AFTER ? e->after : NULL,
            .relu = form & RELU,
            .y = e->y[i],
            .plane = PLANE,
            .pitch = PITCH,
            .side_plane = SIDE_PLANE,
            .side_pitch = SIDE_PITCH,
            .left = {form & FIRST ? -8 : 0,
                     0}, /* columns are repeated, or zeros beside */
            .right = {0, form & FIRST ? 8 : 0},
            .left_outer = form & START,
            .right_outer = form & ADD,
        };
    memcpy(e->y[1], e->y[0], LANDING * sizeof(float));
    memcpy(e->sum[1], e->sum[0], LANDING * sizeof(float));
}

static void ends_fini(struct ends *e)
{
    float *all[] = {e->row[0], e->row[1], e->row[2], e->add, e->after,
                    e->sum[0], e->sum[1], e->y[0],   e->y[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sb_free(all[i]);
}

enum { ACC = ROWS * 4 * SB_GROUP * 8 };

static void compare_accumulate(const struct sb_kernels *k, const struct product *p,
                               const float *weight, int form, dice_fn *fn,
                               const char *what)
{
    struct dice d = {(uint64_t)form};
    struct sb_runs r = p->runs;
    struct ends e;
    float *acc[2] = {check_floats(ACC), check_floats(ACC)};
    ends_init(&e, form, fn, &d);
    dice_fill(&d, fn, acc[0], ACC);
    memcpy(acc[1], acc[0], ACC * sizeof(float));
    r.first = form & FIRST;
    r.start = form & START ? e.row[0] : NULL;
    for (int i = 0; i < 2; i++) {
        r.landing = form & LANDS ? &e.landing[i] : NULL;
        (i == 0 ? scalar : k)->accumulate(&r, weight, acc[i]);
    }
    check_same(acc[1], acc[0], ACC, k->name, "accumulate", what);
    check_same(e.y[1], e.y[0], LANDING, k->name, "accumulate: y", what);
    check_same(e.sum[1], e.sum[0], LANDING, k->name, "accumulate: sum", what);
    ends_fini(&e);
    sb_free(acc[0]);
    sb_free(acc[1]);
}

static void compare_product(const struct sb_kernels *k, const struct product *p,
                            dice_fn *fn, const char *what)
{
    enum { DY_ROW = 8 * 37, DY_PITCH = 8 * 9 };
    struct dice d = {p->nnz};
    float *weight = check_floats(p->nnz), *dy = check_floats(ROWS * DY_ROW);
    float *a = check_floats(p->nnz), *b = check_floats(p->nnz);
    dice_fill(&d, fn, weight, p->nnz);
    dice_fill(&d, fn, dy, ROWS * DY_ROW);
    int step = p->runs.count >= 2 * ROWS || p->runs.dense ? 1 : 37;
    for (int form = 0; form < FORMS; form += step)
        if (form & LANDS || form < LANDS)
            compare_accumulate(k, p, weight, form, fn, what);
    dice_fill(&d, fn, a, p->nnz);
    memcpy(b, a, p->nnz * sizeof *a);
    scalar->contract(&p->runs, dy, DY_ROW, DY_PITCH, a);
    k->contract(&p->runs, dy, DY_ROW, DY_PITCH, b);
    check_same(b, a, p->nnz, k->name, "contract", what);
    sb_free(weight);
    sb_free(dy);
    sb_free(a);
    sb_free(b);
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

static void compare_products(const struct sb_kernels *k)
{
    static const size_t pitch[] = {8 * 4, 8 * 5, 8 * 6, 8 * 11};
    float *strip = check_floats(STRIP * 8);
    struct product p;
    for (int i = 0; i < 32; i++) {
        struct dice d = {(uint64_t)i};
        dice_fn *fn = i % 2 ? dice_wild : dice_mild;
        uint32_t groups = i & 2 ? 4 : 2, step = i < 16 ? 1 : 2;
        char what[64];
        snprintf(what, sizeof what, "%u groups %zu apart, step %u", groups,
                 pitch[i / 4 % 4], step);
        dice_fill(&d, fn, strip, STRIP * 8);
        make_product(&p, groups, pitch[i / 4 % 4], step, strip, &d);
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
    sb_free(strip);
}

int main(void)
{
    const struct sb_kernels *table[8];
    size_t n = sb_kernels_list(table, 8);
    for (size_t i = 1; i < n; i++) {
        compare_packs(table[i]);
        compare_products(table[i]);
        printf("%s equals scalar in the sparse kernels\n", table[i]->name);
    }
    if (n == 1)
        puts("NOT TESTED: vector kernels (this machine runs scalar only)");
    return check_close();
}
