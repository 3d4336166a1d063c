/* columns_odd - columns that are probably numbers but for a slip; see columns.h. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "data/columns.h"
#include "files/csv_text.h"

enum { SHOWN = 3, SHOWN_BYTES = 24 };

static bool is_number(const char *text)
{
    double x;
    return sb_csv_number(text, strlen(text), &x);
}

/* The texts that are no numbers, the first few of them. */
static void list_odd(const struct sb_words *w, char *out, size_t size)
{
    size_t used = 0;
    uint32_t shown = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < w->count && shown < SHOWN; i++) {
        const char *text = sb_words_at(w, i);
        if (is_number(text))
            continue;
        int n = snprintf(out + used, size - used, "%s'%.*s'", shown++ ? ", " : "",
                         sb_text_cut(text, SHOWN_BYTES), text);
        used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
    }
}

bool sb_columns_odd(const struct sb_columns *c, uint32_t i, char out[SB_COLUMN_ODD])
{
    const struct sb_column *column = &c->column[i];
    const struct sb_words *w = &column->words;
    char title[SB_COLUMN_TITLE], texts[SHOWN * (SHOWN_BYTES + 8)];
    uint32_t numbers = 0;
    if (column->kind != SB_COLUMN_CATEGORY || column->odd_line == 0)
        return false;
    for (uint32_t k = 0; k < w->count; k++)
        numbers += is_number(sb_words_at(w, k));
    if (numbers <= w->count - numbers)
        return false;
    list_odd(w, texts, sizeof texts);
    snprintf(out, SB_COLUMN_ODD,
             "line %llu, %s: no number (%s), but %u of the column's %u different texts "
             "are: it becomes %u categories; correct it if numbers are meant%s",
             (unsigned long long)column->odd_line, sb_columns_title(c, i, title), texts,
             numbers, w->count, w->count,
             !c->header && column->odd_line == 1
                 ? ", or say data.header = yes if the first line is names"
                 : "");
    return true;
}
