/* table_texts - texts of a table that stand for something else: dates, numbers with marks,
 * true and false. Internal to readers/. */
#ifndef SB_READERS_TABLE_TEXTS_H
#define SB_READERS_TABLE_TEXTS_H

#include <stdbool.h>

#include "files/words.h"

/* 2024-03-01, 1.3.24, 03/01/2024, 12:30, each perhaps with a time behind it; 5 Mar 2024,
 * Mar 5, 2024, Mar-24, 2024-03, 2024Q1. */
bool sb_text_is_date(const char *s);

/* One of the texts, if all that are not empty are dates; else NULL. */
const char *sb_texts_dates(const struct sb_words *w);

/* One of the texts with a mark, if all are numbers, plain or with a decimal comma, marks at
 * thousands, per cent or a sign of money, and there are more than a few; else NULL. */
const char *sb_texts_marked(const struct sb_words *w);

/* One of the texts, if all that are not empty are numbers with the same unit behind them, as
 * 12 mg, and there are more than a few; else NULL. */
const char *sb_texts_with_unit(const struct sb_words *w);

/* Both words of one pair (true and false, yes and no) are there, and no other, but perhaps in
 * several spellings. */
bool sb_texts_booleans(const struct sb_words *w);

#endif
