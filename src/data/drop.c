/* drop - rows that count nothing are as if they had not been in the file. */
#include <string.h>

#include "base/mem.h"
#include "data/dataset.h"

/* rows[to] = rows[from], of size bytes each; rows may be NULL. */
static void move(void *rows, size_t size, uint32_t to, uint32_t from)
{
    if (rows && to != from)
        memcpy((char *)rows + to * size, (char *)rows + from * size, size);
}

sb_status sb_dataset_drop(struct sb_dataset *d)
{
    size_t size = sb_dataset_elements(d) * (d->element == SB_BYTES ? 1 : sizeof(float));
    const void *from = d->element == SB_BYTES ? (const void *)d->images : d->values;
    uint32_t kept = 0;
    for (uint32_t i = 0; d->weights && i < d->n; i++)
        kept += d->weights[i] > 0;
    if (!d->weights || kept == d->n || !from)
        return SB_OK;
    if (kept == 0)
        return sb_fail(SB_EARG, "%s: all weights are 0; no row is left", d->path);
    char *copy = sb_malloc(kept, size);
    if (!copy)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u rows", d->path, kept);
    kept = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        if (!(d->weights[i] > 0))
            continue;
        memcpy(copy + kept * size, (const char *)from + i * size, size);
        move(d->labels, sizeof *d->labels, kept, i);
        move(d->targets, d->target_count * sizeof *d->targets, kept, i);
        move(d->groups, sizeof *d->groups, kept, i);
        move(d->weights, sizeof *d->weights, kept++, i);
    }
    sb_free(d->copy);
    d->copy = copy;
    d->images = d->element == SB_BYTES ? (uint8_t *)copy : NULL;
    d->values = d->element == SB_BYTES ? NULL : (float *)copy;
    d->n = kept;
    return SB_OK;
}
