/* words - see words.h. */
#include "files/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "files/csv_text.h"

enum { FIRST_SLOTS = 16, FIRST_BYTES = 64 };

/* The slot where s[n] is, or would be. */
static uint32_t *place(const struct sb_words *w, const char *s, size_t n)
{
    for (uint32_t i = (uint32_t)sb_hash(w->key, s, n);; i++) {
        uint32_t *slot = &w->slot[i & (w->slots - 1)];
        if (*slot == 0)
            return slot;
        const char *have = sb_words_at(w, *slot - 1);
        if (strncmp(have, s, n) == 0 && have[n] == '\0')
            return slot;
    }
}

bool sb_words_find(const struct sb_words *w, const char *s, size_t n, uint32_t *number)
{
    uint32_t found = w->slots > 0 ? *place(w, s, n) : 0;
    *number = found - 1;
    return found > 0;
}

/* A block twice as large, or more, with what is in the old one. */
static void *grown(const void *old, size_t used, size_t want)
{
    void *block = sb_malloc(want, 1);
    if (block && used > 0)
        memcpy(block, old, used);
    return block;
}

static sb_status reserve(struct sb_words *w, size_t n)
{
    if (w->used + n + 1 > w->capacity) {
        size_t capacity = 2 * (w->used + n + FIRST_BYTES);
        char *text = grown(w->text, w->used, capacity);
        if (!text)
            return sb_fail(SB_ENOMEM, "no memory for %u texts", w->count);
        sb_free(w->text);
        w->text = text;
        w->capacity = capacity;
    }
    if (w->count == w->starts) {
        uint32_t starts = 2 * w->starts + FIRST_SLOTS / 2;
        size_t *start = grown(w->start, w->count * sizeof *start, starts * sizeof *start);
        if (!start)
            return sb_fail(SB_ENOMEM, "no memory for %u texts", w->count);
        sb_free(w->start);
        w->start = start;
        w->starts = starts;
    }
    return SB_OK;
}

static sb_status make_slots(struct sb_words *w)
{
    if (2 * (w->count + 1) <= w->slots)
        return SB_OK;
    uint32_t slots = w->slots ? 2 * w->slots : FIRST_SLOTS;
    uint32_t *slot = sb_calloc(slots, sizeof *slot);
    if (!slot)
        return sb_fail(SB_ENOMEM, "no memory for %u texts", w->count);
    if (w->slots == 0)
        w->key = sb_hash_secret();
    sb_free(w->slot);
    w->slot = slot;
    w->slots = slots;
    for (uint32_t i = 0; i < w->count; i++) {
        const char *s = sb_words_at(w, i);
        *place(w, s, strlen(s)) = i + 1;
    }
    return SB_OK;
}

sb_status sb_words_add(struct sb_words *w, const char *s, size_t n, uint32_t *number)
{
    if (sb_words_find(w, s, n, number))
        return SB_OK;
    sb_status st = reserve(w, n);
    if (st == SB_OK)
        st = make_slots(w);
    if (st != SB_OK)
        return st;
    uint32_t *slot = place(w, s, n);
    w->start[w->count] = w->used;
    memcpy(w->text + w->used, s, n);
    w->text[w->used + n] = '\0';
    w->used += n + 1;
    *number = w->count++;
    *slot = w->count;
    return SB_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "1" and "1.0" are two texts of one value: their bytes decide. */
static int by_value(const void *a, const void *b)
{
    double x = 0, y = 0;
    const char *s = *(const char *const *)a, *t = *(const char *const *)b;
    (void)sb_csv_number(s, strlen(s), &x);
    (void)sb_csv_number(t, strlen(t), &y);
    return x < y ? -1 : x > y ? 1 : strcmp(s, t);
}

sb_status sb_words_sort(struct sb_words *w)
{
    struct sb_words sorted = {0};
    sb_status st = SB_OK;
    bool numbers = true;
    const char **list = sb_malloc(w->count, sizeof *list);
    if (!list)
        return sb_fail(SB_ENOMEM, "no memory for %u texts", w->count);
    for (uint32_t i = 0; i < w->count; i++) {
        double x;
        list[i] = sb_words_at(w, i);
        numbers = numbers && sb_csv_number(list[i], strlen(list[i]), &x);
    }
    qsort(list, w->count, sizeof *list, numbers ? by_value : by_bytes);
    for (uint32_t i = 0, number; i < w->count && st == SB_OK; i++)
        st = sb_words_add(&sorted, list[i], strlen(list[i]), &number);
    sb_free(list);
    if (st != SB_OK) {
        sb_words_fini(&sorted);
        return st;
    }
    sb_words_fini(w);
    *w = sorted;
    return SB_OK;
}

void sb_words_fini(struct sb_words *w)
{
    if (!w)
        return;
    sb_free(w->text);
    sb_free(w->start);
    sb_free(w->slot);
    *w = (struct sb_words){0};
}
