/* growth - see growth.h. */
#include "train/growth.h"

#include <stdio.h>

#include "base/mem.h"

enum { NAME_BYTES = 24 };

static sb_status list(struct sb_growth_arrays *a, const struct sb_growth *g)
{
    a->array = sb_calloc(g->layers, sizeof *a->array);
    a->names = sb_malloc(g->layers, NAME_BYTES);
    if (!a->array || !a->names)
        return sb_fail(SB_ENOMEM, "no memory to list the sums of %u layers", g->layers);
    for (uint32_t i = 0; i < g->layers; i++) {
        if (!g->sum[i])
            continue;
        char *name = a->names + (size_t)i * NAME_BYTES;
        snprintf(name, NAME_BYTES, "growth.%u", i);
        a->array[a->count++] =
            (struct sb_checkpoint_array){name, g->sum[i], g->weights[i]};
    }
    return SB_OK;
}

sb_status sb_growth_to_save(struct sb_growth_arrays *a, const struct sb_growth *g)
{
    *a = (struct sb_growth_arrays){.there = g->sum != NULL};
    return g->sum ? list(a, g) : SB_OK;
}

sb_status sb_growth_to_load(struct sb_growth_arrays *a, struct sb_growth *g,
                            const struct sb_net *n, uint32_t batches)
{
    *a = (struct sb_growth_arrays){0};
    if (batches <= 1)
        return SB_OK;
    sb_status st = sb_growth_start(g, n);
    return st == SB_OK ? list(a, g) : st;
}

void sb_growth_loaded(const struct sb_growth_arrays *a, struct sb_growth *g)
{
    if (!a->there)
        sb_growth_fini(g);
}

void sb_growth_arrays_fini(struct sb_growth_arrays *a)
{
    sb_free(a->array);
    sb_free(a->names);
    *a = (struct sb_growth_arrays){0};
}
