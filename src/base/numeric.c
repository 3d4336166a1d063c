/* numeric - see numeric.h.
 *
 * glibc has one C locale for all, which costs nothing to get. Where a system has no memory for
 * it, the program's own is used: wrong only where that has a decimal comma.
 */
#include "base/numeric.h"

locale_t sb_numeric_begin(void)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c == (locale_t)0 ? (locale_t)0 : uselocale(c);
}

void sb_numeric_end(locale_t before)
{
    if (before == (locale_t)0)
        return;
    freelocale(uselocale(before));
}
