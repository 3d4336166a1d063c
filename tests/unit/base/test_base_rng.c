/* base/rng: known answers, moments, independence of streams, orders and subsets. All
 * seeds are fixed, so a statistical bound either holds for ever or never. */
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmath.h"
#include "base/mem.h"

enum { DRAWS = 100000 };

static struct sb_stream test_stream(uint32_t step)
{
    return sb_rng_stream(20240607, SB_RNG_TEST, 0, step, 0);
}

/* ---- bits ---- */

static void check_bits(const struct sb_stream *s, uint64_t element,
                       const uint32_t want[4])
{
    uint32_t have[4];
    sb_rng_bits(s, element, have);
    for (int i = 0; i < 4; i++)
        assert_int_equal(have[i], want[i]);
}

/* The vectors of Random123's kat_vectors for philox4x32 with 10 rounds. */
static void philox_known_answers(void **state)
{
    (void)state;
    const uint32_t zeros[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    const uint32_t ones[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    const uint32_t pi[] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    struct sb_stream s = sb_rng_stream(0, (enum sb_purpose)0, 0, 0, 0);
    check_bits(&s, 0, zeros);
    s = sb_rng_stream(UINT64_MAX, SB_RNG_TEST, SB_RNG_MEMBERS - 1, UINT32_MAX,
                      SB_RNG_LAYERS - 1);
    check_bits(&s, UINT64_MAX, ones);
    s = (struct sb_stream){{0xa4093822, 0x299f31d0}, 0x13198a2e, 0x03707344};
    check_bits(&s, 0x85a308d3243f6a88u, pi);
}

static void tag_is_purpose_member_layer(void **state)
{
    (void)state;
    struct sb_stream s = sb_rng_stream(0x0123456789abcdefu, SB_RNG_NOISE, 5, 77, 9);
    assert_int_equal(s.key[0], 0x89abcdef);
    assert_int_equal(s.key[1], 0x01234567);
    assert_int_equal(s.step, 77);
    assert_int_equal(s.tag, 3u << 26 | 5u << 14 | 9u);
}

static void streams_differ_in_every_coordinate(void **state)
{
    (void)state;
    const struct sb_stream streams[] = {
        sb_rng_stream(1, SB_RNG_INIT, 1, 1, 1),
        sb_rng_stream(2, SB_RNG_INIT, 1, 1, 1),
        sb_rng_stream(1 + (1ull << 32), SB_RNG_INIT, 1, 1, 1),
        sb_rng_stream(1, SB_RNG_NOISE, 1, 1, 1),
        sb_rng_stream(1, SB_RNG_INIT, 2, 1, 1),
        sb_rng_stream(1, SB_RNG_INIT, 1, 2, 1),
        sb_rng_stream(1, SB_RNG_INIT, 1, 1, 2),
    };
    const uint64_t elements[] = {1, 2, 1 + (1ull << 32)};
    enum { STREAMS = sizeof streams / sizeof *streams, ALL = STREAMS * 3 };
    uint32_t words[ALL][4];
    for (size_t i = 0; i < ALL; i++)
        sb_rng_bits(&streams[i / 3], elements[i % 3], words[i]);
    for (size_t i = 0; i < ALL; i++)
        for (size_t j = 0; j < i; j++)
            for (int w = 0; w < 4; w++)
                assert_int_not_equal(words[i][w], words[j][w]);
}

static void numbers_have_no_state(void **state)
{
    (void)state;
    struct sb_stream s = test_stream(0);
    uint32_t first[4];
    float z[4];
    sb_rng_bits(&s, 12, first);
    sb_rng_normal4(&s, 5, z);
    (void)sb_rng_below(&s, 99, 3000000000u);
    check_bits(&s, 12, first);
}

/* ---- distributions ---- */

static void uniforms_have_the_right_moments(void **state)
{
    (void)state;
    struct sb_stream s = test_stream(1);
    double sum = 0.0, squares = 0.0;
    size_t bins[16] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        float u = sb_rng_uniform(&s, i);
        assert_true(u >= 0.0f && u < 1.0f);
        uint32_t bits[4];
        sb_rng_bits(&s, i, bits);
        assert_true(u == (float)(bits[0] >> 8) / 16777216.0f);
        sum += (double)u;
        squares += (double)u * (double)u;
        bins[(size_t)(u * 16.0f)]++;
    }
    double mean = sum / DRAWS, variance = squares / DRAWS - mean * mean, chi2 = 0.0;
    assert_true(fabs(mean - 0.5) < 4.0 * sqrt(1.0 / 12.0 / DRAWS));
    assert_true(fabs(variance - 1.0 / 12.0) < 4.0 * sqrt(1.0 / 180.0 / DRAWS));
    for (int b = 0; b < 16; b++) {
        double d = (double)bins[b] - DRAWS / 16.0;
        chi2 += d * d / (DRAWS / 16.0);
    }
    assert_true(chi2 < 37.7); /* 15 degrees of freedom, one run in 1000 */
}

static void normals_have_the_right_moments(void **state)
{
    (void)state;
    struct sb_stream s = test_stream(2);
    double moment[5] = {0}, cross = 0.0;
    for (uint64_t i = 0; i < DRAWS / 4; i++) {
        float z[4];
        sb_rng_normal4(&s, i, z);
        for (int k = 0; k < 4; k++) {
            double power = 1.0;
            for (int m = 1; m <= 4; m++)
                moment[m] += power *= (double)z[k];
        }
        cross += (double)(z[0] * z[1] + z[1] * z[2] + z[2] * z[3] + z[3] * z[0]);
    }
    const double want[5] = {0, 0, 1, 0, 3}, variance[5] = {0, 1, 2, 15, 96};
    for (int m = 1; m <= 4; m++)
        assert_true(fabs(moment[m] / DRAWS - want[m]) < 4.0 * sqrt(variance[m] / DRAWS));
    assert_true(fabs(cross / DRAWS) < 4.0 * sqrt(1.0 / DRAWS));
}

/* These bits are part of every recorded run: they may never change. */
static void normals_keep_their_bits(void **state)
{
    (void)state;
    struct sb_stream s = sb_rng_stream(1, SB_RNG_NOISE, 2, 3, 4);
    const uint32_t want[4] = {0xbfc6a33f, 0xbf049778, 0x3fbbe291, 0xbec26d29};
    float z[4];
    sb_rng_normal4(&s, 5, z);
    for (int i = 0; i < 4; i++)
        assert_int_equal(sb_float_bits(z[i]), want[i]);
}

static void below_stays_below(void **state)
{
    (void)state;
    struct sb_stream s = test_stream(3);
    const uint32_t bounds[] = {1, 2, 3, 10, 65537, 0x80000001u, UINT32_MAX};
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        for (uint64_t i = 0; i < 1000; i++)
            assert_true(sb_rng_below(&s, i, bounds[b]) < bounds[b]);
}

/* 3 * 2^30: the remainder of a word would be below 2^30 half of the time, the high half
 * of a product would be a multiple of 3 half of the time. Both should be a third. */
static void below_has_no_modulo_bias(void **state)
{
    (void)state;
    struct sb_stream s = test_stream(4);
    const uint32_t bound = 3u << 30;
    double low = 0.0, multiples = 0.0, deviation = sqrt(2.0 / 9.0 / DRAWS);
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint32_t x = sb_rng_below(&s, i, bound);
        low += x < 1u << 30;
        multiples += x % 3 == 0;
    }
    assert_true(fabs(low / DRAWS - 1.0 / 3.0) < 4.0 * deviation);
    assert_true(fabs(multiples / DRAWS - 1.0 / 3.0) < 4.0 * deviation);
}

/* Every second word is refused here, and one element in 16 needs a second round. */
static void below_goes_on_when_words_are_refused(void **state)
{
    (void)state;
    struct sb_stream s = test_stream(5);
    const uint32_t bound = 0x80000001u;
    double sum = 0.0;
    size_t second_rounds = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint32_t w[4];
        size_t refused = 0;
        sb_rng_bits(&s, i, w);
        for (int k = 0; k < 4; k++)
            refused += (uint32_t)((uint64_t)w[k] * bound) < 0x7fffffffu;
        second_rounds += refused == 4;
        sum += (double)sb_rng_below(&s, i, bound) / (double)bound;
    }
    assert_true(second_rounds > DRAWS / 20 && second_rounds < DRAWS / 13);
    assert_true(fabs(sum / DRAWS - 0.5) < 4.0 * sqrt(1.0 / 12.0 / DRAWS));
}

/* ---- orders and subsets ---- */

static void permutation_is_one(void **state)
{
    (void)state;
    static uint32_t out[10000];
    static unsigned char seen[10000];
    const uint32_t lengths[] = {0, 1, 2, 3, 100, 10000};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        struct sb_stream s = test_stream(6);
        uint32_t n = lengths[l];
        out[0] = 12345;
        sb_rng_permutation(&s, n, out);
        if (n == 0)
            assert_int_equal(out[0], 12345);
        memset(seen, 0, sizeof seen);
        for (uint32_t i = 0; i < n; i++) {
            assert_true(out[i] < n);
            assert_int_equal(seen[out[i]], 0);
            seen[out[i]] = 1;
        }
    }
}

static void permutation_is_uniform(void **state)
{
    (void)state;
    enum { N = 8, TRIALS = 8000 };
    size_t count[N][N] = {{0}};
    for (uint32_t t = 0; t < TRIALS; t++) {
        struct sb_stream s = sb_rng_stream(7, SB_RNG_SHUFFLE, 0, t, 0);
        uint32_t out[N];
        sb_rng_permutation(&s, N, out);
        for (int i = 0; i < N; i++)
            count[i][out[i]]++;
    }
    double chi2 = 0.0, expected = (double)TRIALS / N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            chi2 += pow((double)count[i][j] - expected, 2.0) / expected;
    assert_true(chi2 > 23.0 && chi2 < 85.0); /* 49 degrees of freedom, one run in 1000 */
}

static void check_subset(uint32_t n, uint32_t k)
{
    uint32_t *out = sb_malloc((size_t)k + 1, sizeof *out);
    assert_non_null(out);
    out[k] = 4242; /* one too many would show */
    struct sb_stream s = sb_rng_stream(8, SB_RNG_SUPPORT, 0, k, 0);
    assert_int_equal(sb_rng_choose(&s, n, k, out), SB_OK);
    for (uint32_t i = 0; i < k; i++) {
        assert_true(out[i] < n);
        assert_true(i == 0 || out[i] > out[i - 1]);
    }
    assert_int_equal(out[k], 4242);
    sb_free(out);
}

static void choose_is_sorted_distinct_and_complete(void **state)
{
    (void)state;
    for (uint32_t k = 0; k <= 40; k++)
        check_subset(40, k);
    check_subset(0, 0);
    check_subset(50000, 0);
    check_subset(50000, 1);
    check_subset(50000, 5000);
    check_subset(50000, 49999);
    check_subset(50000, 50000);
}

static void choose_more_than_there_are(void **state)
{
    (void)state;
    struct sb_stream s = test_stream(9);
    uint32_t out[1] = {77};
    assert_int_equal(sb_rng_choose(&s, 3, 4, out), SB_EARG);
    assert_string_equal(sb_message(), "choose: want 4 different numbers of 3");
    assert_int_equal(out[0], 77);
}

/* All 120 subsets of three of ten. */
static void choose_is_unbiased(void **state)
{
    (void)state;
    enum { N = 10, K = 3, SUBSETS = 120, TRIALS = 12000 };
    static size_t count[N][N][N];
    for (uint32_t t = 0; t < TRIALS; t++) {
        struct sb_stream s = sb_rng_stream(10, SB_RNG_SUPPORT, 0, t, 0);
        uint32_t out[K];
        assert_int_equal(sb_rng_choose(&s, N, K, out), SB_OK);
        count[out[0]][out[1]][out[2]]++;
    }
    double chi2 = 0.0, expected = (double)TRIALS / SUBSETS;
    for (int a = 0; a < N; a++)
        for (int b = a + 1; b < N; b++)
            for (int c = b + 1; c < N; c++)
                chi2 += pow((double)count[a][b][c] - expected, 2.0) / expected;
    assert_true(chi2 > 76.0 && chi2 < 173.0); /* 119 degrees of freedom, one in 1000 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(tag_is_purpose_member_layer),
        cmocka_unit_test(streams_differ_in_every_coordinate),
        cmocka_unit_test(numbers_have_no_state),
        cmocka_unit_test(uniforms_have_the_right_moments),
        cmocka_unit_test(normals_have_the_right_moments),
        cmocka_unit_test(normals_keep_their_bits),
        cmocka_unit_test(below_stays_below),
        cmocka_unit_test(below_has_no_modulo_bias),
        cmocka_unit_test(below_goes_on_when_words_are_refused),
        cmocka_unit_test(permutation_is_one),
        cmocka_unit_test(permutation_is_uniform),
        cmocka_unit_test(choose_is_sorted_distinct_and_complete),
        cmocka_unit_test(choose_more_than_there_are),
        cmocka_unit_test(choose_is_unbiased),
    };
    return cmocka_run_group_tests_name("base/rng", tests, NULL, NULL);
}
