/* test_kernel_exact - every function of every kernel table gives scalar's bits; the
 * sparse products are in test_kernel_sparse.
 *
 * Inputs are dealt once; scalar works on `want`, the table under test on `have`, and whole
 * buffers are compared, so that a write beyond the end shows as well. Of a table with sixteen
 * lanes, scalar does eight after the other.
 */
#include <assert.h>

#include "base/fmath.h"
#include "cases.h"
#include "check.h"
#include "kernels/kernels.h"
#include "tables.h"

static_assert(sizeof(struct sb_kernels) == 35 * sizeof(void *),
              "a new kernel needs its comparison here");

enum { MOST = 100, FLOATS = SB_MAX_LANES * MOST + 64 };

static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 64, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

enum { OUTS = 4 };

/* What an operation reads and writes. */
struct world {
    float in[4][FLOATS], out[OUTS][FLOATS];
};

static _Alignas(64) struct world have, want, part;
static const struct sb_kernels *const scalar = &sb_kernels_scalar;

static void deal(uint64_t seed, dice_fn *fn)
{
    struct dice d = {seed * 7919 + 1};
    for (int i = 0; i < 4; i++)
        dice_fill(&d, fn, have.in[i], FLOATS);
    for (int i = 0; i < OUTS; i++)
        dice_fill(&d, fn, have.out[i], FLOATS);
    want = have;
}

/* One call of a kernel: on vectors of k's lanes, of which the first is lane `first` of the
 * comparison. */
struct call {
    size_t n;
    int form;
    const uint32_t *given; /* what else it takes */
};

typedef void call_fn(const struct sb_kernels *k, struct world *w, size_t first,
                     const struct call *c);

/* The table runs on all lanes, scalar on eight after the other. */
static void compare(const struct sb_kernels *k, const char *op, call_fn *fn,
                    const struct call *c)
{
    fn(k, &have, 0, c);
    for (size_t first = 0; first < k->lanes; first += 8) {
        for (int i = 0; i < 4; i++)
            take_lanes(want.in[i], FLOATS, k->lanes, first, part.in[i]);
        for (int i = 0; i < OUTS; i++)
            take_lanes(want.out[i], FLOATS, k->lanes, first, part.out[i]);
        fn(scalar, &part, first, c);
        for (int i = 0; i < OUTS; i++)
            give_lanes(part.out[i], FLOATS, k->lanes, first, want.out[i]);
    }
    for (int i = 0; i < OUTS; i++) {
        char what[64];
        snprintf(what, sizeof what, "%zu long, form %d, output %d", c->n, c->form, i);
        check_same(have.out[i], want.out[i], FLOATS, k->name, op, what);
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

/* ---- element-wise -------------------------------------------------------------------- */

static void unary(const struct sb_kernels *k, struct world *w, size_t first,
                  const struct call *c)
{
    (void)first;
    k->square(w->out[0], c->n);
    k->relu(w->out[1], w->in[0], c->n);
    k->relu_gradient(w->out[2], w->in[0], c->n);
}

static void binary(const struct sb_kernels *k, struct world *w, size_t first,
                   const struct call *c)
{
    (void)first;
    k->multiply(w->out[0], w->in[0], c->n);
    k->add(w->out[1], w->in[0], c->n);
}

static void gradients(const struct sb_kernels *k, struct world *w, size_t first,
                      const struct call *c)
{
    (void)first;
    static const float affine[] = {-0.75f, 0.125f};
    k->input_gradient(w->out[0], w->in[0], w->in[1], NULL, w->in[2], c->n, 0);
    k->input_gradient(w->out[1], w->in[0], w->in[1], NULL, w->in[2], c->n, 1);
    k->input_gradient(w->out[2], w->in[0], w->in[1], affine, w->in[2], c->n, 0);
    k->input_gradient(w->out[2], w->in[0], w->in[1], affine, w->in[2], c->n, 1);
    k->input_gradient(w->out[3], w->in[0], NULL, NULL, NULL, c->n, 1);
}

static void mix(const struct sb_kernels *k, struct world *w, size_t first,
                const struct call *c)
{
    (void)first;
    k->mix(w->out[0], w->out[1], w->in[0], w->out[0], w->out[1], c->n);
    k->mix(w->in[1], w->in[2], w->in[0], w->out[2], w->out[3], c->n);
}

static float not_negative(struct dice *d)
{
    return fabsf(dice_wild(d));
}

static void compare_element_wise(const struct sb_kernels *k)
{
    for (size_t i = 0; i < SIZES; i++) {
        struct call c = {.n = sizes[i]};
        deal(i, broken);
        compare(k, "square, relu, relu_gradient", unary, &c);
        deal(i, dice_wild);
        compare(k, "multiply, add", binary, &c);
        compare(k, "input_gradient", gradients, &c);
        deal(i, not_negative);
        compare(k, "mix", mix, &c);
    }
}

/* ---- noise --------------------------------------------------------------------------- */

static void normal(const struct sb_kernels *k, struct world *w, size_t first,
                   const struct call *c)
{
    uint32_t i = c->given[2];
    struct sb_stream s = sb_rng_stream(i * 0x123456789abcu, SB_RNG_TEST, i, i, 49);
    k->normal(&s, c->given[0] + (uint32_t)first, c->given[1], i, c->n, w->out[0]);
    for (uint32_t v = 0; v < k->lanes * c->n; v++) {
        float z[4];
        uint64_t quad = c->given[1] + v / k->lanes * i,
                 image = c->given[0] + first + v % k->lanes;
        sb_rng_normal4(&s, (quad & UINT32_MAX) << 32 | (image & UINT32_MAX), z);
        for (uint32_t word = 0; word < 4; word++)
            if (w->out[0][(v / k->lanes * 4 + word) * k->lanes + v % k->lanes] != z[word])
                check(false, "%s: normal: quad %u of %zu", k->name, v / k->lanes, c->n);
    }
}

/* Of several quads at once, too, whose numbers wrap around. */
static void compare_normal(const struct sb_kernels *k)
{
    static const uint32_t place[] = {0, 1, 7, 8, 4096, 0x7fffffff, UINT32_MAX - 7};
    for (uint32_t i = 0; i < 49; i++) {
        const uint32_t given[] = {place[i % 7], place[i / 7], i};
        struct call c = {.n = i % 5, .form = (int)i, .given = given};
        deal(i, dice_mild);
        compare(k, "normal", normal, &c);
    }
}

/* ---- batch norm ---------------------------------------------------------------------- */

static void moments(const struct sb_kernels *k, struct world *w, size_t first,
                    const struct call *c)
{
    (void)first;
    k->moments(w->in[0], c->n, 0.75f, w->out[0], w->out[1]);
}

static void normalise(const struct sb_kernels *k, struct world *w, size_t first,
                      const struct call *c)
{
    (void)first;
    k->normalise(c->form & 4 ? w->out[0] : w->in[0], c->form & 1 ? w->in[1] : NULL,
                 w->out[0], c->n, 1.7f, -0.3f, c->form & 2);
}

/* Behind no ReLU, one whose outcome is given, one whose input is. */
static struct sb_norm_plane plane(const struct world *w, const struct call *c, int relu,
                                  float mean)
{
    static const float affine[2] = {0.6f, -0.1f};
    return (struct sb_norm_plane){.dy = w->in[0],
                                  .x = w->in[1],
                                  .y = relu == 1 ? w->in[2] : NULL,
                                  .affine = relu == 2 ? affine : NULL,
                                  .mean = mean,
                                  .n = c->n};
}

static void norm_sums(const struct sb_kernels *k, struct world *w, size_t first,
                      const struct call *c)
{
    (void)first;
    struct sb_norm_plane p = plane(w, c, c->form, -0.25f);
    k->norm_sums(&p, w->out[0], w->out[1]);
}

static void norm_gradient(const struct sb_kernels *k, struct world *w, size_t first,
                          const struct call *c)
{
    static const int32_t mask[SB_MAX_LANES] = {-1, -1, -1, 0, 0, -1, 0,  0,
                                               0,  -1, -1, 0, 0, 0,  -1, 0};
    static const float abc[] = {1.3f, -0.02f, 0.7f};
    int form = c->form % 16;
    struct sb_norm_plane p = plane(w, c, form & 1 ? 1 + c->form / 16 : 0, 0.4f);
    float *keep = form & 2 ? w->out[1] : NULL;
    if (form & 8) { /* dy is what receives the gradient */
        memcpy(w->out[form & 4 ? 1 : 0], w->in[0], sizeof w->in[0]);
        p.dy = w->out[form & 4 ? 1 : 0];
        keep = form & 4 ? w->out[1] : keep;
    }
    k->norm_gradient(&p, abc, mask + first, w->out[0], keep, form & 4 && !(form & 8));
}

/* What a ReLU left, behind which the gradient goes: has both zeros, and NaN. */
static void deal_behind_relu(uint64_t seed)
{
    struct dice d = {99};
    deal(seed, dice_wild);
    dice_fill(&d, broken, have.in[2], FLOATS);
    scalar->relu(have.in[2], have.in[2], FLOATS / 8);
    want = have;
}

static void compare_norm(const struct sb_kernels *k)
{
    for (size_t i = 0; i < SIZES; i++) {
        struct call c = {.n = sizes[i]};
        deal(i, dice_wild);
        compare(k, "moments", moments, &c);
        for (c.form = 0; c.form < 8; c.form++) {
            deal(i + 10, dice_wild);
            compare(k, "normalise", normalise, &c);
        }
        for (c.form = 0; c.form < 3; c.form++) {
            deal_behind_relu(i);
            compare(k, "norm_sums", norm_sums, &c);
        }
        for (c.form = 0; c.form < 32; c.form++) {
            deal_behind_relu(i);
            compare(k, "norm_gradient", norm_gradient, &c);
        }
    }
}

/* ---- pooling and loss ---------------------------------------------------------------- */

static void max_pool(const struct sb_kernels *k, struct world *w, size_t first,
                     const struct call *c)
{
    const uint32_t *p = c->given;
    (void)first;
    static const float affine[] = {-0.75f, 0.125f};
    k->max_pool(w->in[0], NULL, p[0], p[1], p[2], w->out[0]);
    k->max_pool_gradient(w->in[0], NULL, w->out[0], w->in[1], p[0], p[1], p[2],
                         w->out[1]);
    k->max_pool(w->in[0], affine, p[0], p[1], p[2], w->out[2]);
    k->max_pool_gradient(w->in[0], affine, w->out[2], w->in[1], p[0], p[1], p[2],
                         w->out[3]);
}

static void mean_pool(const struct sb_kernels *k, struct world *w, size_t first,
                      const struct call *c)
{
    (void)first;
    k->mean_pool(w->in[0], c->n, w->out[0]);
    k->mean_pool_gradient(w->in[1], c->n, w->out[1]);
}

static void compare_pools(const struct sb_kernels *k)
{
    static const uint32_t plane[][3] = {{1, 1, 1}, {2, 2, 2}, {3, 3, 2}, {5, 7, 2},
                                        {5, 7, 3}, {9, 6, 3}, {4, 4, 4}, {2, 5, 3},
                                        {8, 8, 2}, {1, 9, 1}, {13, 5, 5}};
    dice_fn *dealer[] = {dice_wild, coarse, broken};
    for (size_t i = 0; i < sizeof plane / sizeof *plane; i++)
        for (int form = 0; form < 3; form++) {
            struct call c = {.n = i, .form = form, .given = plane[i]};
            deal(i, dealer[form]);
            compare(k, "max_pool, max_pool_gradient", max_pool, &c);
        }
    for (size_t i = 1; i < SIZES; i++) {
        struct call c = {.n = sizes[i]};
        deal(i, dice_wild);
        compare(k, "mean_pool, mean_pool_gradient", mean_pool, &c);
    }
}

static void softmax(const struct sb_kernels *k, struct world *w, size_t first,
                    const struct call *c)
{
    size_t stride = (c->form < 3 ? 1 : 3) * k->lanes;
    k->softmax(w->out[0], (uint32_t)c->n, stride, c->given + first, w->out[1]);
}

static void compare_softmax(const struct sb_kernels *k)
{
    static const uint32_t classes[] = {1, 2, 3, 7, 10, 33};
    dice_fn *dealer[] = {dice_mild, dice_wild, coarse};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        for (int form = 0; form < 6; form++) {
            uint32_t label[SB_MAX_LANES];
            struct dice d = {i + 1};
            struct call c = {.n = classes[i], .form = form, .given = label};
            for (int l = 0; l < SB_MAX_LANES; l++)
                label[l] = dice_below(&d, classes[i]);
            deal(i, dealer[form % 3]);
            compare(k, "softmax", softmax, &c);
        }
}

/* ---- parameters: any length, any alignment, no lanes --------------------------------- */

static void settle(const struct sb_kernels *k, const char *op, size_t n, int form)
{
    char what[64];
    for (int i = 0; i < OUTS; i++) {
        snprintf(what, sizeof what, "%zu long, form %d, output %d", n, form, i);
        check_same(have.out[i], want.out[i], FLOATS, k->name, op, what);
    }
}

static void posterior(const struct sb_kernels *k, struct world *w, size_t n, int form,
                      double *kl)
{
    const float sd[] = {1.0f, 0.1f, 3.0f};
    struct sb_stream stream = sb_rng_stream(9, SB_RNG_TEST, 1, 2, 3);
    size_t at = (size_t)form;
    const float *mu = w->in[0] + at, *rho = w->in[1] + at;
    *kl = k->kl(mu, rho, sd[form / 2], n);
    (form % 3 ? k->posterior_gradient : k->deviation_gradient)(
        mu, rho, (form < 3 ? w->in[2] : w->out[2]) + at, 0.01f, sd[form / 2],
        w->out[1] + at, w->out[2] + at, n);
    if (form % 2)
        (form == 1 ? k->deviation : k->variance)(rho, w->out[0] + at, n);
    else
        k->sample(&stream, 4 * (uint32_t)form, mu, rho, w->out[0] + at, n);
}

static void compare_parameters(const struct sb_kernels *k)
{
    for (size_t n = 0; n < 70; n++) {
        for (int form = 0; form < 6; form++) {
            double a, b;
            deal(n, n % 2 ? dice_wild : dice_mild);
            posterior(scalar, &want, n, form, &a);
            posterior(k, &have, n, form, &b);
            settle(k, "gradients of the posterior, variance, deviation, sample", n, form);
            check(memcmp(&a, &b, sizeof a) == 0, "%s: kl of %zu: %a, not %a", k->name, n,
                  b, a);
        }
        for (int form = 0; form < 8; form++) {
            float momentum = form & 2 ? 0.9f : 0.0f, decay = form & 4 ? 5e-4f : 0.0f;
            size_t at = (size_t)form;
            deal(n, dice_wild);
            scalar->sgd(want.out[0] + at, want.in[0] + at, want.out[1] + at, 0.1f,
                        momentum, decay, form & 1, n);
            k->sgd(have.out[0] + at, have.in[0] + at, have.out[1] + at, 0.1f, momentum,
                   decay, form & 1, n);
            settle(k, "sgd", n, form);
        }
    }
}

/* ---- what every table, scalar too, must mean ----------------------------------------- */

static void check_meaning(const struct sb_kernels *k)
{
    _Alignas(64) float x[SB_MAX_LANES] = {NAN,     -NAN,   -0.0f,     0.0f,
                                          -1e-42f, 1e-42f, -INFINITY, 2.0f};
    _Alignas(64) float dy[SB_MAX_LANES] = {1, 2, 3, 4, 5, 6, 7, 8};
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
    const struct sb_kernels *table[SB_MOST_KERNELS];
    size_t n = sb_kernels_list(table, SB_MOST_KERNELS);
    check(table[0] == scalar, "the first table is scalar");
    for (size_t i = 0; i < n; i++)
        check_meaning(table[i]);
    for (size_t i = 1; i < n; i++) {
        compare_element_wise(table[i]);
        compare_normal(table[i]);
        compare_norm(table[i]);
        compare_pools(table[i]);
        compare_softmax(table[i]);
        compare_parameters(table[i]);
        check(table[i]->spin(100, 3.0f) == scalar->spin(100, 3.0f), "spin");
        printf("%s equals scalar in every kernel\n", table[i]->name);
    }
    check_absent(table, n);
    return check_close();
}
