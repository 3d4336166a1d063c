/* prune - see prune.h. */
#include "tensor/prune.h"

#include <assert.h>
#include <math.h>

#include "tensor/select.h"

enum { KEY_BITS = 32, DIGIT = 8 };

static sb_status check(const struct sb_prune_layer *layer, size_t layers, double sparsity)
{
    if (layers == 0)
        return sb_fail(SB_EARG, "prune: a network without layers");
    if (!(sparsity >= 0 && sparsity < 1))
        return sb_fail(SB_EARG, "prune: sparsity %g is not in [0, 1)", sparsity);
    for (size_t l = 0; l < layers; l++) {
        bool finite = true;
        assert(layer[l].count > 0);
        for (uint32_t i = 0; i < layer[l].count; i++)
            finite &= isfinite(layer[l].value[i]) != 0;
        if (!finite)
            return sb_fail(SB_ENUMERIC,
                           "prune: layer %zu has a weight that is not finite", l);
    }
    return SB_OK;
}

/* The n-th smallest key of all layers, n from 1; *below: how many are smaller. */
static uint32_t nth_smallest(const struct sb_prune_layer *layer, size_t layers,
                             uint64_t n, uint64_t *below)
{
    uint32_t prefix = 0, known = 0; /* the digits found so far, and where they are */
    *below = 0;
    for (int shift = KEY_BITS - DIGIT; shift >= 0; shift -= DIGIT) {
        uint64_t count[1 << DIGIT] = {0};
        for (size_t l = 0; l < layers; l++)
            for (uint32_t i = 0; i < layer[l].count; i++) {
                uint32_t key = sb_key_of_float(layer[l].value[i]);
                if ((key & known) == prefix)
                    count[key >> shift & 255]++;
            }
        uint32_t digit = 0;
        while (*below + count[digit] < n)
            *below += count[digit++];
        prefix |= digit << shift;
        known |= (uint32_t)255 << shift;
    }
    return prefix;
}

static uint32_t largest(const struct sb_prune_layer *layer)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < layer->count; i++)
        if (fabsf(layer->value[i]) > fabsf(layer->value[best]))
            best = i;
    return best;
}

/* Of the ties that go, this layer takes as many as it has; returns what is left. */
static uint64_t cut_layer(const struct sb_prune_layer *layer, uint32_t key, uint64_t ties,
                          struct sb_prune_cut *cut)
{
    uint32_t smaller = 0, equal = 0;
    for (uint32_t i = 0; i < layer->count; i++) {
        uint32_t k = sb_key_of_float(layer->value[i]);
        smaller += k < key;
        equal += k == key;
    }
    uint32_t mine = equal < ties ? equal : (uint32_t)ties;
    uint32_t active = layer->count - smaller - mine;
    *cut = (struct sb_prune_cut){.key = key,
                                 .ties = mine,
                                 .active = active > 0 ? active : 1,
                                 .emptied = active == 0};
    return ties - mine;
}

sb_status sb_prune_global(const struct sb_prune_layer *layer, size_t layers,
                          double sparsity, struct sb_prune_cut *cut)
{
    sb_status st = check(layer, layers, sparsity);
    if (st != SB_OK)
        return st;
    uint64_t total = 0, below = 0;
    for (size_t l = 0; l < layers; l++)
        total += layer[l].count;
    uint64_t drop = (uint64_t)(sparsity * (double)total);
    uint32_t key = drop > 0 ? nth_smallest(layer, layers, drop, &below) : 0;
    uint64_t ties = drop - below;
    for (size_t l = 0; l < layers; l++)
        ties = cut_layer(&layer[l], key, ties, &cut[l]);
    return SB_OK;
}

void sb_prune_list(const struct sb_prune_layer *layer, const struct sb_prune_cut *cut,
                   uint32_t *index)
{
    uint32_t n = 0, seen = 0;
    if (cut->emptied) {
        index[0] = largest(layer);
        return;
    }
    for (uint32_t i = 0; i < layer->count; i++) {
        uint32_t k = sb_key_of_float(layer->value[i]);
        if (k > cut->key || (k == cut->key && seen++ >= cut->ties))
            index[n++] = i;
    }
    assert(n == cut->active);
}
