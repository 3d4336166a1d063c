/* tensor/prune: one cut through all layers, its ties, and layers that would be empty. */
#include "tensor/prune.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"

enum { LAYERS = 3, MOST = 4000 };

/* The indices that stay of layer l, checked against want. */
static void stays(const struct sb_prune_layer *layer, const struct sb_prune_cut *cut,
                  const uint32_t *want, uint32_t n)
{
    uint32_t index[MOST];
    assert_int_equal(cut->active, n);
    sb_prune_list(layer, cut, index);
    assert_memory_equal(index, want, n * sizeof *want);
}

static void the_least_of_all_layers_go(void **state)
{
    (void)state;
    const float a[] = {0.5f, -3, 0.1f}, b[] = {-0.2f, 4, 0.3f, -0.05f};
    const struct sb_prune_layer layer[] = {{a, 3}, {b, 4}};
    struct sb_prune_cut cut[2];
    assert_int_equal(sb_prune_global(layer, 2, 0.6, cut), SB_OK); /* 4 of 7 */
    stays(&layer[0], &cut[0], (uint32_t[]){0, 1}, 2);
    stays(&layer[1], &cut[1], (uint32_t[]){1}, 1);
    assert_int_equal(sb_prune_global(layer, 2, 0, cut), SB_OK);
    stays(&layer[0], &cut[0], (uint32_t[]){0, 1, 2}, 3);
    stays(&layer[1], &cut[1], (uint32_t[]){0, 1, 2, 3}, 4);
}

static void of_equal_ones_the_first_goes_first(void **state)
{
    (void)state;
    const float a[] = {1, -1, 2, 1}, b[] = {1, 0, 1};
    const struct sb_prune_layer layer[] = {{a, 4}, {b, 3}};
    struct sb_prune_cut cut[2];
    assert_int_equal(sb_prune_global(layer, 2, 3.0 / 7, cut), SB_OK); /* 0 and two ones */
    stays(&layer[0], &cut[0], (uint32_t[]){2, 3}, 2);
    stays(&layer[1], &cut[1], (uint32_t[]){0, 2}, 2);
    assert_int_equal(sb_prune_global(layer, 2, 5.0 / 7, cut), SB_OK); /* four ones */
    stays(&layer[0], &cut[0], (uint32_t[]){2}, 1);
    stays(&layer[1], &cut[1], (uint32_t[]){2}, 1);
}

static void an_empty_layer_keeps_its_largest(void **state)
{
    (void)state;
    const float a[] = {5, 6, -7, 8}, b[] = {0.25f, -0.5f, 0.5f}, zero[] = {0, 0, -0.0f};
    const struct sb_prune_layer layer[LAYERS] = {{a, 4}, {b, 3}, {zero, 3}};
    struct sb_prune_cut cut[LAYERS];
    assert_int_equal(sb_prune_global(layer, LAYERS, 0.7, cut), SB_OK);
    stays(&layer[0], &cut[0], (uint32_t[]){1, 2, 3}, 3); /* no other pays for it */
    stays(&layer[1], &cut[1], (uint32_t[]){1}, 1);
    stays(&layer[2], &cut[2], (uint32_t[]){0}, 1);
}

static int by_magnitude(const void *a, const void *b)
{
    float x = fabsf(*(const float *)a), y = fabsf(*(const float *)b);
    return (x > y) - (x < y);
}

/* Against sorting: few distinct values, so that there are ties everywhere. */
static void as_sorting_would_have_it(void **state)
{
    (void)state;
    static float value[LAYERS][MOST], all[LAYERS * MOST];
    const uint32_t count[LAYERS] = {MOST, 17, 2001};
    struct sb_prune_layer layer[LAYERS];
    struct sb_stream s = sb_rng_stream(5, SB_RNG_TEST, 0, 0, 0);
    size_t total = 0;
    for (uint32_t l = 0; l < LAYERS; l++) {
        for (uint32_t i = 0; i < count[l]; i++, total++)
            all[total] = value[l][i] =
                ldexpf((float)sb_rng_below(&s, total, 50) - 25.0f, -(int)l);
        layer[l] = (struct sb_prune_layer){value[l], count[l]};
    }
    qsort(all, total, sizeof *all, by_magnitude);
    for (double sparsity = 0.05; sparsity < 1; sparsity += 0.05) {
        struct sb_prune_cut cut[LAYERS];
        size_t drop = (size_t)(sparsity * (double)total), kept = 0, gone = 0;
        assert_int_equal(sb_prune_global(layer, LAYERS, sparsity, cut), SB_OK);
        for (uint32_t l = 0; l < LAYERS; l++) {
            uint32_t index[MOST];
            sb_prune_list(&layer[l], &cut[l], index);
            for (uint32_t i = 0; i < cut[l].active; i++)
                assert_true(cut[l].emptied ||
                            fabsf(value[l][index[i]]) >= fabsf(all[drop]));
            kept += cut[l].active - cut[l].emptied;
            gone += count[l] - cut[l].active + cut[l].emptied;
        }
        assert_int_equal(gone, drop);
        assert_int_equal(kept, total - drop);
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    const float good[] = {1, 2}, bad[] = {1, NAN};
    const struct sb_prune_layer layer[] = {{good, 2}, {bad, 2}};
    struct sb_prune_cut cut[2];
    size_t live = sb_mem_live();
    assert_int_equal(sb_prune_global(layer, 2, 0.5, cut), SB_ENUMERIC);
    assert_string_equal(sb_message(), "prune: layer 1 has a weight that is not finite");
    assert_int_equal(sb_prune_global(layer, 1, 1, cut), SB_EARG);
    assert_string_equal(sb_message(), "prune: sparsity 1 is not in [0, 1)");
    assert_int_equal(sb_prune_global(layer, 0, 0.5, cut), SB_EARG);
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_all_layers_go),
        cmocka_unit_test(of_equal_ones_the_first_goes_first),
        cmocka_unit_test(an_empty_layer_keeps_its_largest),
        cmocka_unit_test(as_sorting_would_have_it),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
