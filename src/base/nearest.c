/* nearest - see nearest.h. */
#include "base/nearest.h"

#include <stdint.h>

enum { LETTERS = 63 };

/* Not tolower(): the answer must not depend on the locale. */
static char fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return (char)(c == '_' ? '-' : c);
}

static size_t read_word(const char *word, char folded[LETTERS])
{
    size_t n = 0;
    for (; n < LETTERS && word[n] != '\0'; n++)
        folded[n] = fold(word[n]);
    return n;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

size_t sb_nearest_distance(const char *a, const char *b)
{
    char x[LETTERS], y[LETTERS];
    size_t n = read_word(a, x), m = read_word(b, y);
    size_t row[3]
              [LETTERS + 1]; /* of prefixes of x with every prefix of y, the last three */
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *before = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = least(before[j] + 1, now[j - 1] + 1,
                           before[j - 1] + (x[i - 1] != y[j - 1]));
            if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
                now[j] = least(now[j], two[j - 2] + 1, SIZE_MAX);
        }
    }
    return row[n % 3][m];
}

struct sb_nearest sb_nearest_begin(const char *word)
{
    return (struct sb_nearest){.word = word, .best = "", .distance = SIZE_MAX};
}

void sb_nearest_offer(struct sb_nearest *n, const char *word)
{
    size_t d = sb_nearest_distance(n->word, word);
    if (d < n->distance) {
        n->distance = d;
        n->best = word;
    }
}
