/* test_kernel_exact - every function of every kernel table gives scalar's bits.
 *
 * Inputs are dealt once; scalar works on `want`, the table under test on `have`, and whole
 * buffers are compared, so that a write beyond the end shows as well.
 */
#include <assert.h>

#include "base/fmath.h"
#include "cases.h"
#include "check.h"
#include "kernels/kernels.h"

static_assert(sizeof(struct sb_kernels) == 26 * sizeof(void *),
              "a new kernel needs its comparison here");

enum { MOST = 100, FLOATS = 8 * MOST + 64 };

static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 64, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static _Alignas(64) float in[4][FLOATS], have[3][FLOATS], want[3][FLOATS];
static const struct sb_kernels *const scalar = &sb_kernels_scalar;

static void deal(uint64_t seed, dice_fn *fn)
{
    struct dice d = {seed * 7919 + 1};
    for (int i = 0; i < 4; i++)
        dice_fill(&d, fn, in[i], FLOATS);
    for (int i = 0; i < 3; i++)
        dice_fill(&d, fn, have[i], FLOATS);
    memcpy(want, have, sizeof want);
}

static void settle(const struct sb_kernels *k, const char *op, size_t n, int form)
{
    char what[64];
    for (int i = 0; i < 3; i++) {
        snprintf(what, sizeof what, "%zu long, form %d, output %d", n, form, i);
        check_same(have[i], want[i], FLOATS, k->name, op, what);
    }
}

/* Both signs of NaN and infinity among odd numbers: for what must pass them on. */
static float broken(struct dice *d)
{
    static const float special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0f, -0.0f};
    return dice_below(d, 3) == 0 ? special[dice_below(d, 6)] : dice_wild(d);
}

/* Few values: ties. */
static float coarse(struct dice *d)
{
    return (float)dice_below(d, 3) - 1.0f;
}

static void absolute(float *x)
{
    for (size_t i = 0; i < FLOATS; i++)
        x[i] = fabsf(x[i]);
}

/* ---- element-wise -------------------------------------------------------------------- */

static void compare_unary(const struct sb_kernels *k)
{
    for (size_t i = 0; i < SIZES; i++) {
        size_t n = sizes[i];
        deal(i, dice_wild);
        scalar->square(want[0], n), k->square(have[0], n);
        settle(k, "square", n, 0);
        deal(i, broken);
        scalar->relu(want[0], in[0], n), k->relu(have[0], in[0], n);
        settle(k, "relu", n, 0);
        scalar->relu_gradient(want[1], in[0], n), k->relu_gradient(have[1], in[0], n);
        settle(k, "relu_gradient", n, 0);
    }
}

static void compare_binary(const struct sb_kernels *k)
{
    for (size_t i = 0; i < SIZES; i++) {
        size_t n = sizes[i];
        deal(i, dice_wild);
        scalar->multiply(want[0], in[0], n), k->multiply(have[0], in[0], n);
        scalar->add(want[1], in[0], n), k->add(have[1], in[0], n);
        scalar->axpy2(want[2], in[0], in[1], n), k->axpy2(have[2], in[0], in[1], n);
        settle(k, "multiply, add, axpy2", n, 0);
        deal(i + 50, dice_wild);
        absolute(want[1]), absolute(have[1]);
        scalar->mix(want[0], want[1], in[0], n), k->mix(have[0], have[1], in[0], n);
        settle(k, "mix", n, 0);
    }
}

/* Of several quads at once, too, whose numbers wrap around. */
static void compare_normal(const struct sb_kernels *k)
{
    static const uint32_t place[] = {0, 1, 7, 8, 4096, 0x7fffffff, UINT32_MAX - 7};
    for (uint32_t i = 0; i < 49; i++) {
        struct sb_stream s = sb_rng_stream(i * 0x123456789abcu, SB_RNG_TEST, i, i, 49);
        size_t n = i % 5;
        deal(i, dice_mild);
        scalar->normal(&s, place[i % 7], place[i / 7], i, n, want[0]);
        k->normal(&s, place[i % 7], place[i / 7], i, n, have[0]);
        settle(k, "normal", n, (int)i);
        for (uint32_t v = 0; v < 8 * n; v++) {
            float z[4];
            uint64_t quad = place[i / 7] + v / 8 * i, image = place[i % 7] + v % 8;
            sb_rng_normal4(&s, (quad & UINT32_MAX) << 32 | (image & UINT32_MAX), z);
            for (uint32_t word = 0; word < 4; word++)
                if (have[0][v / 8 * 32 + word * 8 + v % 8] != z[word])
                    check(false, "%s: normal: quad %u of %zu", k->name, v / 8, n);
        }
    }
}

/* ---- batch norm ---------------------------------------------------------------------- */

static void compare_norm_forward(const struct sb_kernels *k)
{
    for (size_t i = 0; i < SIZES; i++) {
        size_t n = sizes[i];
        deal(i, dice_wild);
        scalar->moments(in[0], n, 0.75f, want[0], want[1]);
        k->moments(in[0], n, 0.75f, have[0], have[1]);
        settle(k, "moments", n, 0);
        for (int form = 0; form < 8; form++) {
            const float *more = form & 1 ? in[1] : NULL;
            bool in_place = form & 4;
            deal(i + 10, dice_wild);
            scalar->normalise(in_place ? want[0] : in[0], more, want[0], n, 1.7f, -0.3f,
                              form & 2);
            k->normalise(in_place ? have[0] : in[0], more, have[0], n, 1.7f, -0.3f,
                         form & 2);
            settle(k, "normalise", n, form);
        }
    }
}

/* y, behind whose ReLU the gradient goes: has both zeros, and NaN. */
static const float *relu_result(int with)
{
    struct dice d = {99};
    dice_fill(&d, broken, in[2], FLOATS);
    scalar->relu(in[2], in[2], MOST);
    return with ? in[2] : NULL;
}

static void gradient_form(const struct sb_kernels *k, float out[3][FLOATS], size_t n,
                          int form)
{
    static const int32_t mask[8] = {-1, -1, -1, 0, 0, -1, 0, 0};
    static const float abc_mean[4] = {1.3f, -0.02f, 0.7f, 0.4f};
    const float *y = relu_result(form & 1);
    float *keep = form & 2 ? out[1] : NULL;
    const float *dy = in[0];
    if (form & 8) { /* dy is what receives the gradient */
        memcpy(out[form & 4 ? 1 : 0], in[0], sizeof in[0]);
        dy = out[form & 4 ? 1 : 0];
        keep = form & 4 ? out[1] : keep;
    }
    k->norm_gradient(dy, y, in[1], out[0], keep, n, abc_mean, mask,
                     form & 4 && !(form & 8));
}

static void compare_norm_backward(const struct sb_kernels *k)
{
    for (size_t i = 0; i < SIZES; i++) {
        size_t n = sizes[i];
        for (int form = 0; form < 2; form++) {
            const float *y = relu_result(form);
            deal(i, dice_wild);
            relu_result(1);
            scalar->norm_sums(in[0], y, in[1], n, -0.25f, want[0], want[1]);
            k->norm_sums(in[0], y, in[1], n, -0.25f, have[0], have[1]);
            settle(k, "norm_sums", n, form);
        }
        for (int form = 0; form < 16; form++) {
            deal(i, dice_wild);
            gradient_form(scalar, want, n, form);
            gradient_form(k, have, n, form);
            settle(k, "norm_gradient", n, form);
        }
    }
}

/* ---- pooling and loss ---------------------------------------------------------------- */

static void compare_max_pool(const struct sb_kernels *k)
{
    static const uint32_t plane[][3] = {{1, 1, 1}, {2, 2, 2}, {3, 3, 2}, {5, 7, 2},
                                        {5, 7, 3}, {9, 6, 3}, {4, 4, 4}, {2, 5, 3},
                                        {8, 8, 2}, {1, 9, 1}, {13, 5, 5}};
    dice_fn *dealer[] = {dice_wild, coarse, broken};
    for (size_t i = 0; i < sizeof plane / sizeof *plane; i++)
        for (int form = 0; form < 3; form++) {
            const uint32_t *p = plane[i];
            deal(i, dealer[form]);
            scalar->max_pool(in[0], p[0], p[1], p[2], want[0]);
            k->max_pool(in[0], p[0], p[1], p[2], have[0]);
            settle(k, "max_pool", i, form);
            scalar->max_pool_gradient(in[0], want[0], in[1], p[0], p[1], p[2], want[1]);
            k->max_pool_gradient(in[0], want[0], in[1], p[0], p[1], p[2], have[1]);
            settle(k, "max_pool_gradient", i, form);
        }
}

static void compare_mean_pool(const struct sb_kernels *k)
{
    for (size_t i = 1; i < SIZES; i++) {
        deal(i, dice_wild);
        scalar->mean_pool(in[0], sizes[i], want[0]);
        k->mean_pool(in[0], sizes[i], have[0]);
        scalar->mean_pool_gradient(in[1], sizes[i], want[1]);
        k->mean_pool_gradient(in[1], sizes[i], have[1]);
        settle(k, "mean_pool, mean_pool_gradient", sizes[i], 0);
    }
}

static void compare_softmax(const struct sb_kernels *k)
{
    static const uint32_t classes[] = {1, 2, 3, 7, 10, 33};
    dice_fn *dealer[] = {dice_mild, dice_wild, coarse};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        for (int form = 0; form < 6; form++) {
            size_t stride = form < 3 ? 8 : 24;
            uint32_t label[8];
            struct dice d = {i + 1};
            for (int l = 0; l < 8; l++)
                label[l] = dice_below(&d, classes[i]);
            deal(i, dealer[form % 3]);
            scalar->softmax(want[0], classes[i], stride, label, want[1]);
            k->softmax(have[0], classes[i], stride, label, have[1]);
            settle(k, "softmax", classes[i], form);
        }
}

/* ---- parameters: any length, any alignment ------------------------------------------- */

static void compare_posterior(const struct sb_kernels *k)
{
    const float sd[] = {1.0f, 0.1f, 3.0f};
    struct sb_stream stream = sb_rng_stream(9, SB_RNG_TEST, 1, 2, 3);
    for (size_t n = 0; n < 36; n++)
        for (int form = 0; form < 6; form++) {
            size_t at = (size_t)form;
            deal(n, form % 2 ? dice_wild : dice_mild);
            scalar->variance(in[1] + at, want[0] + at, n);
            k->variance(in[1] + at, have[0] + at, n);
            settle(k, "variance", n, form);
            scalar->sample(&stream, 4 * (uint32_t)form, in[0] + at, in[1] + at,
                           want[0] + at, n);
            k->sample(&stream, 4 * (uint32_t)form, in[0] + at, in[1] + at, have[0] + at,
                      n);
            settle(k, "sample", n, form);
            double a = scalar->kl(in[0] + at, in[1] + at, sd[form / 2], n);
            double b = k->kl(in[0] + at, in[1] + at, sd[form / 2], n);
            check(memcmp(&a, &b, sizeof a) == 0, "%s: kl of %zu: %a, not %a", k->name, n,
                  b, a);
            const float *ds2_want = form < 3 ? in[2] + at : want[2] + at;
            const float *ds2_have = form < 3 ? in[2] + at : have[2] + at;
            scalar->posterior_gradient(in[0] + at, in[1] + at, ds2_want, 0.01f,
                                       sd[form / 2], want[1] + at, want[2] + at, n);
            k->posterior_gradient(in[0] + at, in[1] + at, ds2_have, 0.01f, sd[form / 2],
                                  have[1] + at, have[2] + at, n);
            settle(k, "posterior_gradient", n, form);
        }
}

static void compare_sgd(const struct sb_kernels *k)
{
    for (size_t n = 0; n < 36; n++)
        for (int form = 0; form < 8; form++) {
            float momentum = form & 2 ? 0.9f : 0.0f, decay = form & 4 ? 5e-4f : 0.0f;
            size_t at = (size_t)form;
            deal(n, dice_wild);
            scalar->sgd(want[0] + at, in[0] + at, want[1] + at, 0.1f, momentum, decay,
                        form & 1, n);
            k->sgd(have[0] + at, in[0] + at, have[1] + at, 0.1f, momentum, decay,
                   form & 1, n);
            settle(k, "sgd", n, form);
        }
}

/* ---- sparse products ----------------------------------------------------------------- */

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
            check_must(sb_corr_init_forward(&r, &c, l->batch, 1, gradient),
                       layer_name(l));
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

static void make_product(struct product *p, uint32_t groups, size_t pitch,
                         const float *strip, struct dice *d)
{
    static const uint32_t length[] = {31, 17, 16, 15, 12, 9, 8, 8, 7, 5, 4, 3, 2, 1, 1};
    enum { RUNS = sizeof length / sizeof *length };
    *p = (struct product){0};
    for (uint32_t i = 0; i < RUNS; i++) {
        p->run[i] = (struct sb_run){ROW0 + (3 * i + 2) % ROWS, p->nnz, length[i]};
        p->nnz += length[i];
    }
    uint32_t reach = (uint32_t)((groups - 1) * pitch / 8) + SB_GROUP;
    for (uint32_t k = 0; k < p->nnz; k++)
        p->off[k] = (uint16_t)dice_below(d, STRIP - reach + 1);
    p->runs = (struct sb_runs){
        .run = p->run,
        .count = RUNS,
        .row0 = ROW0,
        .groups = groups,
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

enum { PLANE = 8 * 43, PITCH = 8 * 9, LANDING = (ROW0 + ROWS) * PLANE };

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
    for (int i = 0; i < 16; i++) {
        struct dice d = {(uint64_t)i};
        dice_fn *fn = i % 2 ? dice_wild : dice_mild;
        uint32_t groups = i & 2 ? 4 : 2;
        char what[64];
        snprintf(what, sizeof what, "%u groups %zu apart", groups, pitch[i / 4]);
        dice_fill(&d, fn, strip, STRIP * 8);
        make_product(&p, groups, pitch[i / 4], strip, &d);
        for (size_t count = p.runs.count;; count /= 2) {
            p.runs.count = count; /* fewer runs, down to none */
            compare_product(k, &p, fn, what);
            if (count == 0)
                break;
        }
        make_dense(&p, 9);
        for (; p.runs.count > 3; p.runs.count--)
            compare_product(k, &p, fn, what);
    }
    sb_free(strip);
}

/* ---- what every table, scalar too, must mean ----------------------------------------- */

static void check_meaning(const struct sb_kernels *k)
{
    _Alignas(32) float x[8] = {NAN, -NAN, -0.0f, 0.0f, -1e-42f, 1e-42f, -INFINITY, 2.0f};
    _Alignas(32) float dy[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    k->relu(x, x, 1);
    check(isnan(x[0]) && isnan(x[1]) && x[2] == 0.0f && x[3] == 0.0f && x[4] == 0.0f &&
              x[5] == 1e-42f && x[6] == 0.0f && x[7] == 2.0f,
          "%s: relu keeps NaN and what is above 0", k->name);
    k->relu_gradient(dy, x, 1);
    const float masked[8] = {1, 2, 0, 0, 0, 6, 0, 8};
    check_same(dy, masked, 8, k->name, "relu_gradient", "where y is NaN or above 0");
    struct dice d = {5};
    for (int i = 0; i < 500; i++) {
        float rho = i % 2 ? dice_wild(&d) : 30.0f * dice_mild(&d), s2, s;
        k->variance(&rho, &s2, 1);
        s = sb_softplus(rho);
        check(s2 == s * s, "%s: variance of rho %g: %a, not %a", k->name, (double)rho,
              (double)s2, (double)(s * s));
    }
}

int main(void)
{
    const struct sb_kernels *table[8];
    size_t n = sb_kernels_list(table, 8);
    check(table[0] == scalar, "the first table is scalar");
    for (size_t i = 0; i < n; i++)
        check_meaning(table[i]);
    for (size_t i = 1; i < n; i++) {
        compare_unary(table[i]);
        compare_binary(table[i]);
        compare_normal(table[i]);
        compare_norm_forward(table[i]);
        compare_norm_backward(table[i]);
        compare_max_pool(table[i]);
        compare_mean_pool(table[i]);
        compare_softmax(table[i]);
        compare_posterior(table[i]);
        compare_sgd(table[i]);
        compare_packs(table[i]);
        compare_products(table[i]);
        printf("%s equals scalar in every kernel\n", table[i]->name);
    }
    if (n == 1)
        puts("NOT TESTED: vector kernels (this machine runs scalar only)");
    return check_close();
}
