/* test_kernel_noise - the noise a layer draws is a function of the place alone.
 *
 * A layer whose pre-activations have mean 0 and variance 1 exactly (one weight a row, mean
 * 0 and variance 1, on inputs of 1) returns its noise: y = 0 + sqrt(1 + 1e-8) eps = eps in
 * float. That is compared with sb_rng_normal4, image by image, at the element noise.h
 * documents; then batches cut differently must give the same results.
 */
#include "base/rng.h"
#include "cases.h"
#include "kernels/kernels.h"
#include "tables.h"

struct source {
    uint32_t channels, height, width, batch, stride;
};

/* clang-format off */
static const struct source sources[] = {
    {  1,  1,  1,   1, 1 }, {  5,  1,  1,   7, 1 }, { 33, 1, 1,   9, 1 },
    { 97,  1,  1, 130, 1 }, {  7,  1,  5,   2, 1 }, {  3, 2, 2,  33, 1 },
    {  5,  3,  3,   9, 1 }, {  3,  4,  4,   8, 1 }, { 33, 5, 7,  17, 1 },
    {  7,  8,  8,   7, 2 }, { 97,  9,  6,   1, 1 }, {  3, 13, 5,  9, 3 },
    {  5, 32,  3,  33, 1 }, {  1,  1, 70,   2, 1 }, {  5,  5, 1,  40, 1 },
};
/* clang-format on */

/* The library's eps for (image, channel, row, column) of outputs height x width. */
static float documented(const struct sb_stream *s, uint32_t image, uint32_t channel,
                        uint32_t row, uint32_t col, uint32_t height, uint32_t width)
{
    float z[4];
    uint32_t quads = (width + 3) / 4, word = col % 4;
    uint64_t quad = ((uint64_t)channel * height + row) * quads + col / 4;
    if (height * width == 1) {
        quad = channel / 4;
        word = channel % 4;
    }
    sb_rng_normal4(s, quad << 32 | image, z);
    return z[word];
}

/* One weight a row, at input channel 0. */
static void set_unit_layer(struct layer *l)
{
    for (uint32_t r = 0; r <= l->conv.out; r++)
        l->row_ptr[r] = r;
    memset(l->col, 0, l->conv.out * sizeof *l->col);
    check_must(sb_sparse_set_pattern(&l->sparse, l->row_ptr, l->col), "unit layer");
    for (uint32_t k = 0; k < l->conv.out; k++) {
        l->mu[k] = 0.0f;
        l->s2[k] = 1.0f;
    }
    for (size_t i = 0; i < sb_act_size(&l->x); i++)
        l->x.data[i] = 1.0f;
}

static void init_unit_layer(struct layer *l, uint32_t lanes, struct layer_case *shape,
                            const struct source *s)
{
    *shape = (struct layer_case){.in = 1,
                                 .out = s->channels,
                                 .kh = 1,
                                 .kw = 1,
                                 .stride = s->stride,
                                 .height = s->height,
                                 .width = s->width,
                                 .batch = s->batch,
                                 .density = 1.0f};
    layer_init(l, lanes, shape, 1, dice_mild);
    set_unit_layer(l);
}

static void draw(const struct sb_env *env, struct layer *l, const struct sb_noise *noise)
{
    struct sb_forward w = {.mu = l->mu, .s2 = l->s2, .noise = noise};
    check_must(sb_sparse_forward(env, &l->sparse, &w, &l->x, &l->y, &l->slope,
                                 layer_scratch(l, env->threads)),
               layer_name(l->shape));
}

static void compare_draw(const struct sb_env *env, struct layer *l,
                         const struct sb_noise *noise)
{
    const struct sb_act *y = &l->y;
    unsigned long wrong = 0, slopes = 0;
    for (uint32_t n = 0; n < y->batch; n++)
        for (uint32_t c = 0; c < y->channels; c++)
            for (uint32_t p = 0; p < y->height * y->width; p++) {
                size_t at = (size_t)p * y->lanes;
                float eps = documented(&noise->stream, noise->image + n, c, p / y->width,
                                       p % y->width, y->height, y->width);
                wrong += sb_act_image(y, n, c)[at] != eps;
                slopes += sb_act_image(&l->slope, n, c)[at] != eps * 0.5f;
            }
    check(wrong == 0, "%s: %s: %lu numbers are not those of their place",
          env->kernels->name, layer_name(l->shape), wrong);
    check(slopes == 0, "%s: %s: %lu slopes are not eps / 2", env->kernels->name,
          layer_name(l->shape), slopes);
}

static void noise_is_that_of_its_place(const struct sb_kernels *k)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct layer l;
        struct layer_case shape;
        init_unit_layer(&l, k->lanes, &shape, &sources[i]);
        for (int threads = 1; threads <= 3; threads += 2) {
            struct sb_env env = {.kernels = k, .threads = threads};
            struct sb_noise noise = {.stream =
                                         sb_rng_stream(i << 40 | 5, SB_RNG_NOISE, 3,
                                                       1000 + (uint32_t)i, (uint32_t)i),
                                     .image = (uint32_t)i * 8};
            draw(&env, &l, &noise);
            compare_draw(&env, &l, &noise);
        }
        layer_fini(&l);
    }
}

/* ---- batches cut differently --------------------------------------------------------- */

/* Images [first, first + n) of `whole`, in place; first is a multiple of 16. */
static struct sb_act images(const struct sb_act *whole, uint32_t first, uint32_t n)
{
    struct sb_act part = *whole;
    part.data += first / part.lanes * part.block;
    sb_act_set_batch(&part, n);
    return part;
}

/* y of a batch, and of its pieces on a layer planned for just the piece: the tiles differ,
 * the bits must not. */
static void compare_pieces(const struct sb_env *env, struct layer *l)
{
    static const uint32_t cut[] = {0, 16, 32, 130};
    struct sb_noise noise = {.stream = sb_rng_stream(3, SB_RNG_NOISE, 0, 0, 0),
                             .image = 64};
    struct sb_act whole = l->y;
    check_must(sb_act_init(&l->y, whole.lanes, whole.batch, whole.channels, whole.height,
                           whole.width),
               "output");
    draw(env, l, &noise);
    for (int i = 0; i < 3 && cut[i] < whole.batch; i++) {
        uint32_t end = cut[i + 1] < whole.batch ? cut[i + 1] : whole.batch;
        struct sb_act x = images(&l->x, cut[i], end - cut[i]);
        struct sb_act y = images(&whole, cut[i], end - cut[i]);
        struct sb_act slope = images(&l->slope, cut[i], end - cut[i]);
        struct sb_sparse s;
        struct sb_noise part = noise;
        struct sb_forward w = {.mu = l->mu, .s2 = l->s2, .noise = &part};
        part.image += cut[i];
        check_must(sb_sparse_init(&s, &l->conv, x.lanes, end - cut[i], l->nnz), "piece");
        check_must(sb_sparse_set_pattern(&s, l->row_ptr, l->col), "piece");
        void *scratch = check_alloc((size_t)env->threads, sb_sparse_scratch(&s));
        check_must(sb_sparse_forward(env, &s, &w, &x, &y, &slope, scratch), "piece");
        sb_free(scratch);
        sb_sparse_fini(&s);
    }
    size_t n = (size_t)whole.batch * whole.channels * whole.height * whole.width;
    float *a = check_floats(n), *b = check_floats(n);
    sb_act_store(&l->y, a);
    sb_act_store(&whole, b);
    check_same(b, a, n, env->kernels->name, "a batch in pieces", layer_name(l->shape));
    sb_free(a);
    sb_free(b);
    sb_act_fini(&whole);
}

static void images_do_not_depend_on_their_batch(const struct sb_kernels *k)
{
    const struct sb_env env = {.kernels = k, .threads = 1};
    for (int i = 0; i < LAYER_CASES; i++) {
        struct layer l;
        if (layer_cases[i].batch <= 8)
            continue;
        layer_init(&l, k->lanes, &layer_cases[i], 5, dice_mild);
        compare_pieces(&env, &l);
        layer_fini(&l);
    }
}

/* ---- moments ------------------------------------------------------------------------- */

/* Of n numbers the mean, variance and the correlation with the number `lag` further on have
 * standard deviations near 1/sqrt(n), sqrt(2/n) and 1/sqrt(n); five of them are allowed. */
static void check_moments(const char *what, const float *z, size_t n, size_t lag)
{
    double sum = 0.0, sum_sq = 0.0, with_next = 0.0, fourth = 0.0, root = sqrt((double)n);
    for (size_t i = 0; i < n; i++) {
        double a = (double)z[i];
        sum += a;
        sum_sq += a * a;
        fourth += a * a * a * a;
        with_next += a * (double)z[(i + lag) % n];
    }
    double mean = sum / (double)n, var = sum_sq / (double)n - mean * mean;
    check(fabs(mean) < 5.0 / root, "%s: mean %g", what, mean);
    check(fabs(var - 1.0) < 5.0 * sqrt(2.0) / root, "%s: variance %g", what, var);
    check(fabs(fourth / (double)n - 3.0) < 5.0 * sqrt(96.0) / root, "%s: kurtosis %g",
          what, fourth / (double)n);
    check(fabs(with_next / (double)n) < 5.0 / root, "%s: correlation %g at distance %zu",
          what, with_next / (double)n, lag);
}

static void noise_is_standard_normal(const struct sb_kernels *k)
{
    const struct source s[] = {{8, 16, 12, 64, 1}, {777, 1, 1, 128, 1}};
    const struct sb_env env = {.kernels = k, .threads = 1};
    for (int i = 0; i < 2; i++) {
        struct layer l;
        struct layer_case shape;
        struct sb_noise noise = {.stream = sb_rng_stream(11, SB_RNG_NOISE, 0, 0, 0)};
        init_unit_layer(&l, k->lanes, &shape, &s[i]);
        draw(&env, &l, &noise);
        size_t image = (size_t)l.y.channels * l.y.height * l.y.width;
        size_t n = image * l.y.batch;
        float *z = check_floats(n);
        sb_act_store(&l.y, z);
        check_moments("next pixel or channel", z, n, 1);
        check_moments("two further", z, n, 2);
        check_moments("next row", z, n, l.y.width);
        check_moments("next image", z, n, image);
        sb_free(z);
        layer_fini(&l);
    }
}

int main(void)
{
    const struct sb_kernels *table[SB_MOST_KERNELS];
    size_t n = sb_kernels_list(table, SB_MOST_KERNELS);
    for (size_t i = 0; i < n; i++) {
        noise_is_that_of_its_place(table[i]);
        images_do_not_depend_on_their_batch(table[i]);
    }
    check_absent(table, n);
    noise_is_standard_normal(table[n - 1]);
    return check_close();
}
