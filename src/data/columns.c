/* columns - see columns.h. */
#include "data/columns.h"

#include <stdio.h>

#include "base/mem.h"

sb_status sb_columns_new(struct sb_columns **out, uint32_t count)
{
    struct sb_columns *c = sb_calloc(1, sizeof *c);
    *out = NULL;
    if (c)
        c->column = sb_calloc(count, sizeof *c->column);
    if (!c || !c->column) {
        sb_free(c);
        return sb_fail(SB_ENOMEM, "no memory for %u columns", count);
    }
    c->count = c->label = count;
    *out = c;
    return SB_OK;
}

void sb_columns_free(struct sb_columns *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->count; i++)
        sb_words_fini(&c->column[i].words);
    sb_words_fini(&c->names);
    sb_free(c->column);
    sb_free(c);
}

const char *sb_columns_title(const struct sb_columns *c, uint32_t i,
                             char out[SB_COLUMN_TITLE])
{
    if (c->names.count > i)
        snprintf(out, SB_COLUMN_TITLE, "column %u (%.64s)", i + 1,
                 sb_words_at(&c->names, i));
    else
        snprintf(out, SB_COLUMN_TITLE, "column %u", i + 1);
    return out;
}
