/* split_order - how a set is split when nobody says, and whether the split makes sense.
 *
 * A file that is sorted by class has a tail of one class: what is left has none of it to
 * learn from, or the validation says nothing about the others. Both happen by chance, too,
 * where classes are rare or parts are small; the two odds below tell one from the other.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/split.h"

static const double CHANCE = 1e-3; /* less likely than that is no chance */
enum { FEW = 8 };                  /* fewer of one class may always be */

enum sb_holdout sb_indices_usual(const struct sb_dataset *d)
{
    static const char *const shuffled[] = {"idx", "cifar-10", "cifar-100"};
    for (size_t i = 0; d->format && i < sizeof shuffled / sizeof *shuffled; i++)
        if (strcmp(d->format, shuffled[i]) == 0)
            return SB_HOLDOUT_TAIL;
    return d->labels ? SB_HOLDOUT_STRATIFIED : SB_HOLDOUT_RANDOM;
}

/* Examples of each class. */
struct tally {
    uint32_t *train, *valid; /* [classes] owned */
};

static bool sorted(const struct tally *t, const struct sb_indices *s, uint32_t classes)
{
    double all = (double)s->train_count + s->validation_count;
    double share = s->validation_count / all;
    for (uint32_t c = 0; c < classes; c++) {
        uint32_t mine = t->valid[c];
        if (t->train[c] == 0 && mine > 0 && classes * pow(share, mine) < CHANCE)
            return true;
        if (mine == s->validation_count && mine >= FEW &&
            pow((t->train[c] + mine) / all, mine) < CHANCE)
            return true;
    }
    return false;
}

sb_status sb_indices_check_order(const struct sb_indices *s, const struct sb_dataset *d)
{
    struct tally t = {0};
    sb_status st = SB_OK;
    if (!d->labels || d->classes == 0 || s->validation_count == 0)
        return SB_OK;
    t.train = sb_calloc(d->classes, sizeof *t.train);
    t.valid = sb_calloc(d->classes, sizeof *t.valid);
    if (!t.train || !t.valid) {
        st = sb_fail(SB_ENOMEM, "no memory for %u classes", d->classes);
        goto done;
    }
    for (uint32_t i = 0; i < s->train_count; i++)
        t.train[d->labels[s->train[i]]]++;
    for (uint32_t i = 0; i < s->validation_count; i++)
        t.valid[d->labels[s->valid[i]]]++;
    if (sorted(&t, s, d->classes))
        st = sb_fail(SB_EARG,
                     "%s is sorted by class: its last %u examples, which data.split = "
                     "tail takes for validation, are of one class or all of it; say "
                     "data.split = stratified",
                     d->path, s->validation_count);
done:
    sb_free(t.train);
    sb_free(t.valid);
    return st;
}
