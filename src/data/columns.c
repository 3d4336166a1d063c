/* columns - see columns.h. */
#include "data/columns.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "base/text.h"

enum { TITLE_NAME = 64 }; /* bytes of a name that a title has room for */

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
    for (uint32_t i = 0; i < c->count; i++) {
        sb_words_fini(&c->column[i].words);
        sb_free(c->column[i].cut);
    }
    sb_words_fini(&c->names);
    sb_free(c->column);
    sb_free(c);
}

static uint32_t width_of(const struct sb_column *c)
{
    if (c->kind == SB_COLUMN_CATEGORY)
        return c->words.count;
    if (!sb_column_has_input(c))
        return 0;
    return (c->scale == SB_SCALE_PIECES ? c->cuts - 1 : 1) + c->indicator;
}

sb_status sb_columns_number(struct sb_columns *c, const char *source)
{
    uint64_t features = 0;
    c->inputs = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct sb_column *column = &c->column[i];
        if (column->kind != SB_COLUMN_TARGET)
            column->input = c->inputs;
        column->feature = (uint32_t)features;
        column->width = width_of(column);
        c->inputs += sb_column_has_input(column);
        features += column->width;
        if (features > SB_FEATURES_MOST)
            break;
    }
    c->features = (uint32_t)features;
    if (features == 0 || features > SB_FEATURES_MOST)
        return sb_fail(SB_EFORMAT, "%s: it has %s%u features; want 1 to %d", source,
                       features ? "more than " : "",
                       features ? (unsigned)SB_FEATURES_MOST : 0, SB_FEATURES_MOST);
    return SB_OK;
}

void sb_columns_without_responses(const struct sb_columns *c, uint32_t *column)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (!sb_column_is_response(&c->column[i]))
            *column++ = i;
}

static size_t trimmed(const char **text, size_t size)
{
    for (; size > 0 && **text == ' '; size--)
        ++*text;
    while (size > 0 && (*text)[size - 1] == ' ')
        size--;
    return size;
}

/* The one column that is called so but for blanks at the ends, which options cannot say;
 * count: none or several. */
static uint32_t find_trimmed(const struct sb_columns *c, const char *name, size_t size)
{
    uint32_t found = c->count;
    size = trimmed(&name, size);
    for (uint32_t i = 0; i < c->names.count && size > 0; i++) {
        const char *other = sb_words_at(&c->names, i);
        size_t n = trimmed(&other, strlen(other));
        if (n != size || memcmp(other, name, n) != 0)
            continue;
        if (found < c->count)
            return c->count;
        found = i;
    }
    return found;
}

uint32_t sb_columns_find(const struct sb_columns *c, const char *name, size_t size)
{
    uint32_t at = 0;
    uint64_t number = 0;
    if (size > 0 && sb_words_find(&c->names, name, size, &at))
        return at;
    at = find_trimmed(c, name, size);
    if (at < c->count)
        return at;
    for (size_t i = 0; i < size; i++) {
        if (name[i] < '0' || name[i] > '9' || number > c->count)
            return c->count;
        number = 10 * number + (uint64_t)(name[i] - '0');
    }
    return number >= 1 && number <= c->count ? (uint32_t)number - 1 : c->count;
}

const char *sb_columns_wanted(const struct sb_columns *c, const char *name, size_t size,
                              char out[SB_COLUMN_WANTED])
{
    char word[TITLE_NAME] = "";
    memcpy(word, name, size < sizeof word ? size : sizeof word - 1);
    struct sb_nearest near = sb_nearest_begin(word);
    for (uint32_t i = 0; i < c->names.count; i++)
        if (sb_words_at(&c->names, i)[0])
            sb_nearest_offer(&near, sb_words_at(&c->names, i));
    bool alike = c->names.count > 0 && near.distance <= strlen(word) / 2;
    snprintf(out, SB_COLUMN_WANTED, "want %sa number from 1 to %u%s%.*s",
             c->header ? "a name of its first row or " : "", c->count,
             alike ? "; the nearest is " : "",
             alike ? sb_text_cut(near.best, TITLE_NAME) : 0, near.best);
    return out;
}

const char *sb_columns_title_at(const struct sb_columns *c, uint32_t i, uint32_t place,
                                char out[SB_COLUMN_TITLE])
{
    if (c->names.count > i)
        snprintf(out, SB_COLUMN_TITLE, "column %u (%.*s)", place,
                 sb_text_cut(sb_words_at(&c->names, i), TITLE_NAME),
                 sb_words_at(&c->names, i));
    else
        snprintf(out, SB_COLUMN_TITLE, "column %u", place);
    return out;
}

const char *sb_columns_title(const struct sb_columns *c, uint32_t i,
                             char out[SB_COLUMN_TITLE])
{
    return sb_columns_title_at(c, i, i + 1, out);
}
