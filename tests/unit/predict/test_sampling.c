/* predict/sampling: one reader of what people write, for the recipe's words, the command
 * line's and those of results.json. */
#include "predict/sampling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recipe/options.h"

static void assert_read(const char *text, enum sb_sample_kind kind, uint32_t draws)
{
    struct sb_sampling s;
    assert_int_equal(sb_sampling_parse(text, &s), SB_OK);
    assert_int_equal(s.kind, kind);
    assert_int_equal(s.draws, draws);
}

static void words_and_numbers_are_read(void **state)
{
    (void)state;
    assert_read("draw", SB_SAMPLE_DRAW, 1);
    assert_read("1", SB_SAMPLE_DRAW, 1);
    assert_read("20", SB_SAMPLE_DRAWS, 20);
    assert_read("draws:20", SB_SAMPLE_DRAWS, 20);
    assert_read("mean", SB_SAMPLE_MEAN, 1);
    assert_read("noise", SB_SAMPLE_NOISE, 1);
    assert_read("activation-noise", SB_SAMPLE_NOISE, 1);
}

static void names_are_read_back(void **state)
{
    (void)state;
    const struct sb_sampling all[] = {{SB_SAMPLE_DRAW, 1},
                                      {SB_SAMPLE_DRAWS, 1000000},
                                      {SB_SAMPLE_MEAN, 1},
                                      {SB_SAMPLE_NOISE, 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char name[32];
        sb_sampling_name(&all[i], name);
        assert_read(name, all[i].kind, all[i].draws);
    }
}

static void a_recipe_has_the_same_words(void **state)
{
    (void)state;
    for (int k = 0; sb_sampling_words[k]; k++) {
        struct sb_recipe r;
        sb_recipe_init(&r);
        assert_int_equal(sb_recipe_set(&r, "eval.sampling", sb_sampling_words[k]), SB_OK);
        assert_int_equal(r.config.eval.sampling, k);
    }
}

static void others_are_refused(void **state)
{
    (void)state;
    const char *const none[] = {"",    "0",     "-1",      "1.5",     "1000001",
                                "few", "draws", "draws:",  "draws:0", "drawn",
                                "1 ",  "Mean",  "99999999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct sb_sampling s;
        assert_int_equal(sb_sampling_parse(none[i], &s), SB_EARG);
    }
    struct sb_sampling s;
    assert_int_equal(sb_sampling_parse("few", &s), SB_EARG);
    assert_string_equal(sb_message(),
                        "samples few: want a number of draws from 1 to 1000000, draw, "
                        "mean or noise");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_numbers_are_read),
        cmocka_unit_test(names_are_read_back),
        cmocka_unit_test(a_recipe_has_the_same_words),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
