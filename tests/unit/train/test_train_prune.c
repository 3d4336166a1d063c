/* train/prune: a pruned copy of a network has the right weights at the right places. */
#include "train/prune.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "nets.h"
#include "refused.h"

static const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};

/* A copy of a net of that density with random numbers. */
static void fill(struct sb_net *net, struct sb_trained *m, double density, bool gauss,
                 uint64_t seed)
{
    assert_int_equal(nets_init(net, "wrn-10-1", density, gauss), SB_OK);
    assert_int_equal(nets_fill(&env, net, seed), SB_OK);
    assert_int_equal(sb_trained_init(m, net), SB_OK);
    assert_int_equal(sb_trained_save(m, net), SB_OK);
}

static uint64_t count(const struct sb_trained *m)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < m->weights; i++)
        n += nets_mu(m, i)->count;
    return n;
}

/* The entry of a layer at a position, or their number. */
static uint32_t entry(const struct sb_trained *t, uint32_t layer, int32_t position)
{
    uint32_t k = 0;
    if (!t->position[layer])
        return (uint32_t)position;
    while (k < nets_mu(t, layer)->count && t->position[layer][k] != position)
        k++;
    return k;
}

/* Every weight of out is from's at its place, and no other of by is larger than one that
 * stays. */
static void check(const struct sb_trained *by, const struct sb_trained *from,
                  const struct sb_trained *out, double sparsity)
{
    float least = INFINITY, most = 0;
    uint64_t all = count(by), stays = count(out);
    assert_int_equal(stays, all - (uint64_t)(sparsity * (double)all));
    for (uint32_t i = 0; i < out->weights; i++) {
        const struct sb_param *o = nets_mu(out, i), *b = nets_mu(by, i);
        const struct sb_param *f = nets_mu(from, i);
        uint32_t gone = b->count - o->count;
        for (uint32_t k = 0; k < b->count; k++) {
            uint32_t j = entry(out, i, by->position[i] ? by->position[i][k] : (int32_t)k);
            if (j == o->count) {
                most = fmaxf(most, fabsf(b->value[k]));
                gone--;
                continue;
            }
            least = fminf(least, fabsf(b->value[k]));
            assert_true(o->value[j] == f->value[k]);
            assert_true(!out->gauss || nets_rho(out, i)[j] == nets_rho(from, i)[k]);
        }
        assert_int_equal(gone, 0);
    }
    assert_true(least >= most);
    for (uint32_t i = 0; i < out->params.n; i++)
        if (out->params.param[i].weight == SB_NODE_NONE)
            assert_memory_equal(out->params.param[i].value, from->params.param[i].value,
                                out->params.param[i].count * sizeof(float));
}

/* Dense layers become sparse; layers that were sparse lose some of what they had. */
static void a_cut_keeps_the_largest(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    for (int k = 0; k < 4; k++) {
        double density = k % 2 ? 0.3 : 1.0, sparsity = k % 2 ? 0.4 : 0.8;
        bool gauss = k / 2;
        struct sb_net net;
        struct sb_trained m, out;
        fill(&net, &m, density, gauss, 11);
        assert_int_equal(sb_prune_member(&net.arch, &m, &m, sparsity, &out), SB_OK);
        check(&m, &m, &out, sparsity);
        sb_trained_fini(&out);
        assert_int_equal(sb_prune_member(&net.arch, &m, &m, 0, &out), SB_OK);
        assert_int_equal(count(&out), count(&m));
        sb_trained_fini(&out);
        sb_trained_fini(&m);
        sb_net_fini(&net);
    }
    assert_int_equal(sb_mem_live(), live);
}

/* The places of one network's largest weights, the numbers of another: a rewind. */
static void numbers_may_come_from_elsewhere(void **state)
{
    (void)state;
    struct sb_net late, early;
    struct sb_trained by, from, out;
    fill(&late, &by, 1.0, false, 1);
    fill(&early, &from, 1.0, false, 2);
    assert_int_equal(sb_prune_member(&late.arch, &by, &from, 0.8, &out), SB_OK);
    check(&by, &from, &out, 0.8);
    sb_trained_fini(&out);
    sb_trained_fini(&from);
    sb_net_fini(&early);
    fill(&early, &from, 0.5, false, 2);
    refused(sb_prune_member(&late.arch, &by, &from, 0.8, &out), SB_EARG,
            "prune: layer 3 has two different supports");
    sb_trained_fini(&out);
    sb_trained_fini(&by);
    sb_trained_fini(&from);
    sb_net_fini(&late);
    sb_net_fini(&early);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    struct sb_net net;
    struct sb_trained m;
    fill(&net, &m, 1.0, false, 3);
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 50; n++) {
        struct sb_trained out;
        sb_mem_fail_after(n);
        st = sb_prune_member(&net.arch, &m, &m, 0.5, &out);
        sb_mem_fail_after(-1);
        sb_trained_fini(&out);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(st, SB_OK);
    assert_int_equal(n, 9); /* eight allocations, each failed once, then success */
    sb_trained_fini(&m);
    sb_net_fini(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_keeps_the_largest),
        cmocka_unit_test(numbers_may_come_from_elsewhere),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
