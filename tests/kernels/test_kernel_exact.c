/* test_kernel_exact - every function of every kernel table gives scalar's bits; the
 * sparse products are in test_kernel_sparse.
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
        printf("%s equals scalar in every kernel\n", table[i]->name);
    }
    if (n == 1)
        puts("NOT TESTED: vector kernels (this machine runs scalar only)");
    return check_close();
}
