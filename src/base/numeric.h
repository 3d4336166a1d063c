/* numeric - numbers as text mean the same whatever locale the program around the library
 * has set: 0.5 is never 0,5.
 *
 *     locale_t before = sb_numeric_begin();
 *     snprintf(...), strtod(...)
 *     sb_numeric_end(before);
 *
 * Only the calling thread is in the C locale meanwhile. sb_text_add, sb_fail and
 * sb_log_write do this themselves.
 */
#ifndef SB_BASE_NUMERIC_H
#define SB_BASE_NUMERIC_H

#include <locale.h>

locale_t sb_numeric_begin(void);
void sb_numeric_end(locale_t before);

#endif
