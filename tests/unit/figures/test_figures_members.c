/* eval/calibration and eval/members: bins, classes, matrices, subsets. */
#include "figures/members.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "figures/calibration.h"
#include "refused.h"

static void assert_near(double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance))
        fail_msg("have %.17g, want %.17g", have, want);
}

enum { N = 200, CLASSES = 4, MEMBERS = 10 };

struct made {
    float prob[MEMBERS][N][CLASSES];
    const float *member[MEMBERS];
    int32_t label[N];
    struct sb_probs p;
};

/* Members that know the label, more or less. */
static void make(struct made *m, uint32_t members)
{
    struct sb_stream s = sb_rng_stream(1, SB_RNG_TEST, 0, 0, 0);
    uint64_t at = 0;
    for (uint32_t i = 0; i < N; i++)
        m->label[i] = (int32_t)sb_rng_below(&s, 1000000 + i, CLASSES - 1);
    for (uint32_t k = 0; k < members; k++) {
        m->member[k] = &m->prob[k][0][0];
        for (uint32_t i = 0; i < N; i++) {
            float sum = 0;
            for (int32_t c = 0; c < CLASSES; c++)
                sum += m->prob[k][i][c] =
                    sb_rng_uniform(&s, at++) + (c == m->label[i] ? 0.3f : 0.01f);
            for (uint32_t c = 0; c < CLASSES; c++)
                m->prob[k][i][c] /= sum;
        }
    }
    m->p = (struct sb_probs){m->member, members, N, CLASSES};
}

static void bins_give_the_calibration_error(void **state)
{
    (void)state;
    static struct made m;
    struct sb_bin bin[15];
    struct sb_scores s;
    size_t count = 0;
    double ece = 0, correct = 0;
    make(&m, 3);
    assert_int_equal(sb_metrics_of(&m.p, m.label, 15, &s), SB_OK);
    assert_int_equal(sb_calibration_bins(&m.p, m.label, 15, bin), SB_OK);
    for (unsigned b = 0; b < 15; b++) {
        double n = (double)bin[b].count;
        assert_near(bin[b].low, b / 15.0, 1e-15);
        assert_near(bin[b].high, (b + 1) / 15.0, 1e-15);
        assert_int_equal(isnan(bin[b].accuracy), bin[b].count == 0);
        count += bin[b].count;
        if (n > 0) {
            assert_true(bin[b].confidence > bin[b].low &&
                        bin[b].confidence <= bin[b].high);
            ece += fabs(n * (bin[b].accuracy - bin[b].confidence)) / N;
            correct += n * bin[b].accuracy;
        }
    }
    assert_int_equal(count, N);
    assert_near(ece, s.ece, 1e-12);
    assert_near(correct / N, s.accuracy, 1e-12);
    refused(sb_calibration_bins(&m.p, m.label, 101, bin), SB_EARG,
            "metrics: 101 bins; 1 to 100 are possible");
}

static void classes_by_hand(void **state)
{
    (void)state;
    const float p[] = {0.75f, 0.25f, 0, 0.5f, 0.25f, 0.25f, 0.25f, 0.75f, 0};
    const float *const member[] = {p};
    const struct sb_probs probs = {member, 1, 3, 3};
    const int32_t label[] = {0, 1, 1};
    struct sb_class_row row[3];
    assert_int_equal(sb_calibration_classes(&probs, label, row), SB_OK);
    assert_int_equal(row[0].n, 1);
    assert_int_equal(row[1].n, 2);
    assert_int_equal(row[2].n, 0);
    assert_near(row[0].accuracy, 1, 0);
    assert_near(row[0].precision, 0.5, 0);
    assert_near(row[1].accuracy, 0.5, 0);
    assert_near(row[1].precision, 1, 0);
    assert_near(row[1].confidence, 0.625, 0);
    assert_true(isnan(row[2].accuracy) && isnan(row[2].precision));
    size_t live = sb_mem_live();
    sb_mem_fail_after(0);
    sb_status st = sb_calibration_classes(&probs, label, row);
    sb_mem_fail_after(-1);
    assert_int_equal(st, SB_ENOMEM);
    assert_int_equal(sb_mem_live(), live);
}

static void matrices_are_of_pairs(void **state)
{
    (void)state;
    static struct made m;
    double d[9], kl[9], one;
    struct sb_diversity mean;
    make(&m, 3);
    assert_int_equal(sb_members_matrices(&m.p, d, kl), SB_OK);
    assert_int_equal(sb_metrics_diversity(&m.p, &mean), SB_OK);
    assert_int_equal(sb_metrics_kl(&m.p, 2, 1, &one), SB_OK);
    assert_true(kl[2 * 3 + 1] == one && kl[1 * 3 + 2] != one);
    assert_true(d[0] == 0 && d[4] == 0 && kl[8] == 0 && d[1] == d[3]);
    assert_near(mean.disagreement, (d[1] + d[2] + d[5]) / 3, 1e-15);
    assert_near(mean.kl, (kl[1] + kl[2] + kl[3] + kl[5] + kl[6] + kl[7]) / 6, 1e-15);
}

/* ---- size ---- */

static void all_subsets_where_they_are_few(void **state)
{
    (void)state;
    static struct made m;
    struct sb_size_row row[MEMBERS];
    struct sb_scores s;
    double sum = 0, squares = 0;
    make(&m, 4);
    assert_int_equal(sb_members_sizes(&m.p, m.label, 15, 1, row), SB_OK);
    const uint32_t want[] = {4, 6, 4, 1};
    for (uint32_t k = 0; k < 4; k++) {
        assert_int_equal(row[k].k, k + 1);
        assert_int_equal(row[k].subsets, want[k]);
    }
    for (uint32_t a = 0; a < 4; a++) /* by hand: pairs */
        for (uint32_t b = a + 1; b < 4; b++) {
            const float *const pair[] = {m.member[a], m.member[b]};
            const struct sb_probs p = {pair, 2, N, CLASSES};
            assert_int_equal(sb_metrics_of(&p, m.label, 15, &s), SB_OK);
            sum += s.nll;
            squares += s.nll * s.nll;
        }
    assert_near(row[1].nll.mean, sum / 6, 1e-13);
    assert_near(row[1].nll.sd, sqrt(squares / 6 - sum * sum / 36), 1e-7);
    assert_int_equal(sb_metrics_of(&m.p, m.label, 15, &s), SB_OK);
    assert_true(row[3].accuracy.mean == s.accuracy && row[3].ece.mean == s.ece);
    assert_true(row[3].nll.sd == 0);
    assert_true(row[3].nll.mean < row[0].nll.mean); /* an ensemble is worth it */
}

static void random_subsets_where_they_are_many(void **state)
{
    (void)state;
    static struct made m;
    struct sb_size_row a[MEMBERS], b[MEMBERS], c[MEMBERS];
    make(&m, MEMBERS);
    assert_int_equal(sb_members_sizes(&m.p, m.label, 15, 1, a), SB_OK);
    assert_int_equal(sb_members_sizes(&m.p, m.label, 15, 1, b), SB_OK);
    assert_int_equal(sb_members_sizes(&m.p, m.label, 15, 2, c), SB_OK);
    const uint32_t want[] = {10, 45, 100, 100, 100, 100, 100, 45, 10, 1};
    for (uint32_t k = 0; k < MEMBERS; k++)
        assert_int_equal(a[k].subsets, want[k]);
    assert_memory_equal(a, b, sizeof a);
    assert_true(a[4].nll.mean != c[4].nll.mean); /* another choice ... */
    assert_near(a[4].nll.mean, c[4].nll.mean, 0.01);
    assert_true(a[1].nll.mean == c[1].nll.mean); /* ... where there is one */
}

static void allocation_failures_are_survived(void **state)
{
    (void)state;
    static struct made m;
    struct sb_size_row row[MEMBERS];
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    make(&m, 3);
    for (; st != SB_OK && n < 10; n++) {
        sb_mem_fail_after(n);
        st = sb_members_sizes(&m.p, m.label, 15, 1, row);
        sb_mem_fail_after(-1);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(n, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_give_the_calibration_error),
        cmocka_unit_test(classes_by_hand),
        cmocka_unit_test(matrices_are_of_pairs),
        cmocka_unit_test(all_subsets_where_they_are_few),
        cmocka_unit_test(random_subsets_where_they_are_many),
        cmocka_unit_test(allocation_failures_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
