/* tensor/topology's prune-grow and tensor/select: against naive versions that sort, and
 * what must never happen to a layer. */
#include "tensor/topology.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "masks.h"
#include "tensor/select.h"

static struct sb_stream stream(uint32_t step)
{
    return sb_rng_stream(7, SB_RNG_TEST, 0, step, 0);
}

/* In double; cmocka's own compares floats. */
static void assert_near(double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance))
        fail_msg("have %.17g, want %.17g", have, want);
}

/* ---- select ---- */

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static void select_agrees_with_sorting(void **state)
{
    (void)state;
    enum { N = 300 };
    for (uint32_t round = 0; round < 4; round++) {
        struct sb_stream s = stream(round);
        uint64_t key[N], sorted[N];
        for (uint32_t i = 0; i < N; i++) { /* rounds 0 and 1 have many ties */
            uint32_t bits[4];
            sb_rng_bits(&s, i, bits);
            key[i] = round < 2 ? bits[0] % (5 + 200 * round)
                               : (uint64_t)bits[0] << 32 | bits[1];
            sorted[i] = key[i];
        }
        qsort(sorted, N, sizeof *sorted, descending);
        for (size_t k = 0; k <= N; k++) {
            struct sb_cut cut = sb_select_largest(key, N, k, round < 2 ? 16 : 64);
            size_t taken = 0, above = 0;
            for (size_t i = 0; i < N; i++) {
                above += k > 0 && key[i] > sorted[k - 1];
                taken += sb_cut_takes(&cut, key[i]);
            }
            assert_int_equal(taken, k);
            assert_int_equal(cut.ties, 0);
            assert_true(k == 0 || (cut.key == sorted[k - 1] && above < k));
        }
    }
}

static void select_takes_the_first_of_equals(void **state)
{
    (void)state;
    const uint64_t key[] = {5, 9, 5, 5, 1};
    const int want[] = {1, 1, 1, 0, 0};
    struct sb_cut cut = sb_select_largest(key, 5, 3, 64);
    for (int i = 0; i < 5; i++)
        assert_int_equal(sb_cut_takes(&cut, key[i]), want[i]);
}

static void keys_order_like_magnitudes(void **state)
{
    (void)state;
    const double rising[] = {0, 5e-324, 1e-300, 1.0, -1.5, 1e300, -INFINITY};
    for (int i = 1; i < 7; i++)
        assert_true(sb_key_of_double(rising[i]) > sb_key_of_double(rising[i - 1]));
    assert_true(sb_key_of_double(-0.0) == 0);
    assert_true(sb_key_of_float(-2.0f) > sb_key_of_float(1.9f));
    assert_true(sb_key_of_float(-0.0f) == 0);
}

/* ---- prune-grow ---- */

enum { ROWS = 9, COLS = 14, SIZE = ROWS * COLS };

/* A layer with its arrays; `dense` arrays are by position, with 0 where nothing is. */
struct fixture {
    struct sb_pattern p;
    float mu[SIZE], rho[SIZE], m0[SIZE], m1[SIZE], grad[SIZE];
    float *momenta[2];
    struct sb_topology_layer layer;
};

static float between(const struct sb_stream *s, uint64_t element, float low, float high)
{
    return low + (high - low) * sb_rng_uniform(s, element);
}

/* levels > 0: values are multiples of 1 / levels, so that many are equal. */
static void setup(struct fixture *f, uint32_t nnz, uint32_t seed, int levels)
{
    struct sb_stream s = stream(seed);
    assert_int_equal(sb_pattern_random(&f->p, ROWS, COLS, nnz, &s), SB_OK);
    for (uint32_t i = 0; i < SIZE; i++) {
        f->mu[i] = between(&s, 1000 + i, -1, 1);
        f->grad[i] = between(&s, 2000 + i, -1, 1);
        f->rho[i] = levels ? -2.0f : between(&s, 3000 + i, -6, 1);
        f->m0[i] = between(&s, 4000 + i, 1, 2);
        f->m1[i] = between(&s, 5000 + i, 1, 2);
        if (levels) {
            f->mu[i] = rintf(f->mu[i] * (float)levels) / (float)levels;
            f->grad[i] = rintf(f->grad[i] * (float)levels) / (float)levels;
        }
    }
    f->momenta[0] = f->m0;
    f->momenta[1] = f->m1;
    f->layer = (struct sb_topology_layer){&f->p, f->mu, f->rho, f->momenta, 2};
}

struct ranked {
    double value;
    uint32_t position;
};

/* Best first; the lower position among equals. */
static int best_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->position < y->position ? -1 : 1;
}

/* The update as one would write it down, by position. entry[i] is the old entry at i. */
struct naive {
    uint8_t mask[SIZE];
    int entry[SIZE]; /* -1: absent before */
    uint32_t drop, returned;
    double mean_sigma;
};

static void naive_keep(struct naive *o, const struct fixture *f, double rate,
                       enum sb_criterion criterion)
{
    struct ranked weight[SIZE];
    int32_t position[SIZE];
    assert_int_equal(sb_pattern_positions(&f->p, position), SB_OK);
    for (int i = 0; i < SIZE; i++)
        o->entry[i] = -1;
    for (uint32_t k = 0; k < f->p.nnz; k++) {
        double sigma = f->layer.rho ? log1p(exp((double)f->rho[k])) : 1;
        double divisor = criterion == SB_PRUNE_SNR ? sigma : 1;
        weight[k] =
            (struct ranked){fabs((double)f->mu[k]) / divisor, (uint32_t)position[k]};
        o->entry[position[k]] = (int)k;
        o->mean_sigma += sigma / f->p.nnz;
    }
    o->drop = (uint32_t)floor(f->p.nnz * rate);
    qsort(weight, f->p.nnz, sizeof *weight, best_first);
    for (uint32_t k = 0; k + o->drop < f->p.nnz; k++)
        o->mask[weight[k].position] = 1;
}

static void naive_update(struct naive *o, const struct fixture *f, double rate,
                         enum sb_criterion criterion)
{
    *o = (struct naive){0};
    naive_keep(o, f, rate, criterion);
    struct ranked candidate[SIZE];
    uint32_t n = 0;
    for (uint32_t i = 0; i < SIZE; i++)
        if (!o->mask[i])
            candidate[n++] = (struct ranked){fabs((double)f->grad[i]), i};
    qsort(candidate, n, sizeof *candidate, best_first);
    for (uint32_t j = 0; j < o->drop; j++) {
        o->mask[candidate[j].position] = 1;
        o->returned += o->entry[candidate[j].position] >= 0;
    }
}

static void assert_follows(const struct naive *o, const struct fixture *old,
                           const struct fixture *new)
{
    uint8_t mask[SIZE];
    uint32_t k = 0;
    assert_int_equal(sb_pattern_check(&new->p), SB_OK);
    assert_int_equal(new->p.nnz, old->p.nnz);
    mask_of_pattern(&new->p, mask);
    assert_memory_equal(mask, o->mask, sizeof mask);
    double rho = log(expm1(o->mean_sigma));
    for (uint32_t i = 0; i < SIZE; i++) {
        if (!mask[i])
            continue;
        int e = o->entry[i];
        assert_true(new->mu[k] == (e < 0 ? 0 : old->mu[e]));
        assert_true(new->m0[k] == (e < 0 ? 0 : old->m0[e]));
        assert_true(new->m1[k] == (e < 0 ? 0 : old->m1[e]));
        if (new->layer.rho && e < 0)
            assert_near((double)new->rho[k], rho, 1e-6 * fabs(rho));
        else if (new->layer.rho)
            assert_true(new->rho[k] == old->rho[e]);
        k++;
    }
}

/* One random layer through both, with and without rho. */
static void compare(uint32_t nnz, double rate, int levels, enum sb_criterion criterion,
                    int point, uint32_t seed)
{
    struct fixture old, new;
    struct naive want;
    struct sb_topology_stats stats;
    setup(&old, nnz, seed, levels);
    setup(&new, nnz, seed, levels);
    if (point)
        old.layer.rho = new.layer.rho = NULL;
    naive_update(&want, &old, rate, criterion);
    size_t live = sb_mem_live();
    assert_int_equal(
        sb_topology_prune_grow(&new.layer, new.grad, rate, criterion, &stats), SB_OK);
    assert_int_equal(sb_mem_live(), live);
    assert_follows(&want, &old, &new);
    assert_int_equal(stats.dropped, want.drop);
    assert_int_equal(stats.grown, want.drop);
    assert_int_equal(stats.returned, want.returned);
    sb_pattern_fini(&old.p);
    sb_pattern_fini(&new.p);
}

static void prune_grow_agrees_with_sorting(void **state)
{
    (void)state;
    const uint32_t counts[] = {0, 1, 2, 37, 100, SIZE - 1, SIZE};
    const double rates[] = {0, 0.1, 0.5, 0.8, 0.999, 1};
    uint32_t seed = 0;
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 6; j++)
            for (int levels = 0; levels <= 3; levels += 3)
                for (int mode = 0; mode < 4; mode++)
                    compare(counts[i], rates[j], levels,
                            mode % 2 ? SB_PRUNE_MAGNITUDE : SB_PRUNE_SNR, mode / 2,
                            10 + seed++ % 5);
}

static void rate_0_and_dense_layers_change_nothing(void **state)
{
    (void)state;
    const struct {
        uint32_t nnz;
        double rate;
    } still[] = {{40, 0}, {SIZE, 0.5}, {SIZE, 1}};
    for (int i = 0; i < 3; i++) {
        struct fixture old, new;
        struct sb_topology_stats stats;
        setup(&old, still[i].nnz, 3, 0);
        setup(&new, still[i].nnz, 3, 0);
        assert_int_equal(sb_topology_prune_grow(&new.layer, new.grad, still[i].rate,
                                                SB_PRUNE_SNR, &stats),
                         SB_OK);
        assert_int_equal(stats.returned, stats.dropped);
        assert_memory_equal(old.p.col, new.p.col, old.p.nnz * sizeof(uint32_t));
        assert_memory_equal(old.mu, new.mu, sizeof old.mu);
        assert_memory_equal(old.rho, new.rho, sizeof old.rho);
        assert_memory_equal(old.m1, new.m1, sizeof old.m1);
        sb_pattern_fini(&old.p);
        sb_pattern_fini(&new.p);
    }
}

/* 100 * 0.29 is below 29 in double and would be 29 in float. */
static void drop_count_is_floor_in_double(void **state)
{
    (void)state;
    const struct {
        uint32_t nnz;
        double rate;
        uint32_t drop;
    } known[] = {
        {30, 0.1, 3}, {100, 0.29, 28}, {100, 0.57, 56}, {7, 0.5, 3}, {10, 0.3, 3}};
    for (int i = 0; i < 5; i++) {
        struct fixture f;
        struct sb_topology_stats stats;
        setup(&f, known[i].nnz, 1, 0);
        assert_int_equal(
            sb_topology_prune_grow(&f.layer, f.grad, known[i].rate, SB_PRUNE_SNR, &stats),
            SB_OK);
        assert_int_equal(stats.dropped, known[i].drop);
        sb_pattern_fini(&f.p);
    }
}

/* Strong weights whose SNR, as written in the paper, would cancel to nothing. */
static void huge_ratios_are_kept(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 20, 4, 0);
    for (int k = 0; k < 20; k++) {
        f.mu[k] = k < 10 ? 1.0f : 1e-3f;
        f.rho[k] = k < 10 ? (k < 5 ? -120.0f : -900.0f) : -3.0f;
    }
    memset(f.grad, 0, sizeof f.grad);
    assert_int_equal(sb_topology_prune_grow(&f.layer, f.grad, 0.5, SB_PRUNE_SNR, NULL),
                     SB_OK);
    int strong = 0;
    for (int k = 0; k < 20; k++) {
        strong += f.mu[k] == 1.0f;
        assert_true(isfinite(f.rho[k]));
    }
    assert_int_equal(strong, 10);
    sb_pattern_fini(&f.p);
}

static void refuse(struct fixture *f, double rate, sb_status want, const char *sentence)
{
    struct fixture before = *f;
    uint32_t col[SIZE];
    memcpy(col, f->p.col, f->p.nnz * sizeof *col);
    size_t live = sb_mem_live();
    assert_int_equal(sb_topology_prune_grow(&f->layer, f->grad, rate, SB_PRUNE_SNR, NULL),
                     want);
    assert_string_equal(sb_message(), sentence);
    assert_int_equal(sb_mem_live(), live);
    assert_memory_equal(col, f->p.col, f->p.nnz * sizeof *col);
    assert_memory_equal(before.mu, f->mu, sizeof f->mu);
    assert_memory_equal(before.rho, f->rho, sizeof f->rho);
    assert_memory_equal(before.m0, f->m0, sizeof f->m0);
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, 30, 6, 0);
    refuse(&f, -0.1, SB_EARG, "prune-grow: rate -0.1 is not in [0, 1]");
    refuse(&f, 1.1, SB_EARG, "prune-grow: rate 1.1 is not in [0, 1]");
    f.rho[4] = -6;
    f.mu[4] = NAN;
    refuse(&f, 0.5, SB_ENUMERIC, "prune-grow: weight 4 of 30 has mu nan, rho -6");
    f.mu[4] = 0.5f;
    f.rho[4] = INFINITY;
    refuse(&f, 0.5, SB_ENUMERIC, "prune-grow: weight 4 of 30 has mu 0.5, rho inf");
    f.rho[4] = -6;
    f.grad[2 * COLS + 3] = NAN;
    refuse(&f, 0.5, SB_ENUMERIC, "prune-grow: the gradient of row 2, column 3 is nan");
    f.grad[2 * COLS + 3] = -INFINITY;
    refuse(&f, 0.5, SB_ENUMERIC, "prune-grow: the gradient of row 2, column 3 is -inf");
    sb_pattern_fini(&f.p);
}

static void allocation_failures_are_survived(void **state)
{
    (void)state;
    struct fixture f, before;
    setup(&f, 30, 8, 0);
    setup(&before, 30, 8, 0);
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    int n = 0;
    for (; st != SB_OK && n < 100; n++) {
        sb_mem_fail_after(n);
        st = sb_topology_prune_grow(&f.layer, f.grad, 0.5, SB_PRUNE_SNR, NULL);
        sb_mem_fail_after(-1);
        assert_int_equal(sb_mem_live(), live);
        if (st != SB_OK) {
            assert_int_equal(st, SB_ENOMEM);
            assert_memory_equal(f.mu, before.mu, sizeof f.mu);
            assert_memory_equal(f.p.col, before.p.col, f.p.nnz * sizeof *f.p.col);
        }
    }
    assert_int_equal(n, 7); /* four arrays and a pattern of two */
    sb_pattern_fini(&f.p);
    sb_pattern_fini(&before.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select_agrees_with_sorting),
        cmocka_unit_test(select_takes_the_first_of_equals),
        cmocka_unit_test(keys_order_like_magnitudes),
        cmocka_unit_test(prune_grow_agrees_with_sorting),
        cmocka_unit_test(rate_0_and_dense_layers_change_nothing),
        cmocka_unit_test(drop_count_is_floor_in_double),
        cmocka_unit_test(huge_ratios_are_kept),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(allocation_failures_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
