/* nearest - "did you mean": the word of a list that is closest to what was written.
 *
 *     struct sb_nearest n = sb_nearest_begin("learning-rat");
 *     for (each valid word)
 *         sb_nearest_offer(&n, word);
 *     ... n.best ...
 *
 * The distance is the number of letters to insert, remove, replace or swap with their
 * neighbour (optimal string alignment); capitals count as small letters and '_' as '-'.
 * Of equals the first offered wins.
 */
#ifndef SB_BASE_NEAREST_H
#define SB_BASE_NEAREST_H

#include <stddef.h>

struct sb_nearest {
    const char *word; /* borrowed */
    const char *best; /* borrowed from the offers; "" before the first */
    size_t distance;
};

struct sb_nearest sb_nearest_begin(const char *word);
void sb_nearest_offer(struct sb_nearest *n, const char *word);

/* The distance itself; of very long words only the first 63 letters are compared. */
size_t sb_nearest_distance(const char *a, const char *b);

#endif
