/* files/words: texts that were chosen to collide do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files/words.h"

/* FNV-1a, which tables of texts often use; one collision of six letters at each of STAGES
 * places gives 2^STAGES texts of one hash, by choosing at each place. */
enum { STAGES = 12, LETTERS = 6, TRIES = 1 << 18, SLOTS = 1 << 19 };

static uint32_t fnv(uint32_t h, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h;
}

static void letters(uint32_t number, char out[LETTERS])
{
    uint32_t k = number * 2654435761u; /* any of 20^6, not the first ones */
    for (int i = 0; i < LETTERS; i++, k /= 20)
        out[i] = (char)('a' + k % 20);
}

/* Two different pieces that lead from state to the same next one, which is returned. */
static uint32_t collide(uint32_t state, char a[LETTERS], char b[LETTERS], uint32_t *seen)
{
    memset(seen, 0, SLOTS * sizeof *seen);
    for (uint32_t k = 1; k < TRIES; k++) {
        letters(k, a);
        uint32_t h = fnv(state, a, LETTERS), at = h % SLOTS;
        for (; seen[at]; at = (at + 1) % SLOTS) {
            letters(seen[at], b);
            if (fnv(state, b, LETTERS) == h)
                return h;
        }
        seen[at] = k;
    }
    fail_msg("no collision found");
    return 0;
}

static void chosen_texts_do_not_collide(void **state)
{
    (void)state;
    char piece[STAGES][2][LETTERS], text[STAGES * LETTERS];
    uint32_t h = 2166136261u, *seen = malloc(SLOTS * sizeof *seen), same = 0, number;
    struct sb_words w = {0};
    assert_non_null(seen);
    for (int i = 0; i < STAGES; i++)
        h = collide(h, piece[i][0], piece[i][1], seen);
    free(seen);
    for (uint32_t k = 0; k < 1u << STAGES; k++) {
        for (int i = 0; i < STAGES; i++)
            memcpy(text + (size_t)i * LETTERS, piece[i][k >> i & 1], LETTERS);
        same += fnv(2166136261u, text, sizeof text) == h;
        assert_int_equal(sb_words_add(&w, text, sizeof text, &number), SB_OK);
        assert_int_equal(number, k);
    }
    assert_int_equal(same, 1u << STAGES); /* they would have */
    uint32_t longest = 0, run = 0;
    for (uint32_t i = 0; i < w.slots; i++) {
        run = w.slot[i] ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    assert_true(longest < 200); /* of 4096, at most half full */
    sb_words_fini(&w);
}

static void keys_differ_numbers_do_not(void **state)
{
    (void)state;
    struct sb_words a = {0}, b = {0};
    for (uint32_t i = 0; i < 100; i++) {
        char text[16];
        uint32_t x, y;
        int n = snprintf(text, sizeof text, "text %u", i * 7 % 60);
        assert_int_equal(sb_words_add(&a, text, (size_t)n, &x), SB_OK);
        assert_int_equal(sb_words_add(&b, text, (size_t)n, &y), SB_OK);
        assert_int_equal(x, y);
    }
    assert_memory_not_equal(&a.key, &b.key, sizeof a.key);
    sb_words_fini(&a);
    sb_words_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_texts_do_not_collide),
        cmocka_unit_test(keys_differ_numbers_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
