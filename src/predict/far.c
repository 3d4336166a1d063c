/* far - see far.h. */
#include "predict/far.h"

#include "base/mem.h"
#include "base/rng.h"

enum { TAKEN_OFF = 128 };

static sb_status draw_codes(uint8_t **out, uint32_t n, uint32_t kind)
{
    struct sb_stream s = sb_rng_stream(0, SB_RNG_FAR, 0, 0, kind);
    struct sb_stream sign = sb_rng_stream(0, SB_RNG_FAR, 0, 1, kind);
    uint32_t *order = sb_malloc(n, sizeof *order);
    *out = sb_malloc(n, 1);
    if (order && *out) {
        sb_rng_permutation(&s, n, order);
        for (uint32_t i = 0; i < n; i++)
            (*out)[order[i]] =
                (uint8_t)(i % SB_FAR_WIDTH | (sb_rng_below(&sign, i, 2) ? TAKEN_OFF : 0));
    }
    sb_status st = order && *out
                       ? SB_OK
                       : sb_fail(SB_ENOMEM, "no memory for the places of %u numbers", n);
    sb_free(order);
    return st;
}

sb_status sb_far_places_init(struct sb_far_places *p, const struct sb_arch *a)
{
    sb_status st = SB_OK;
    *p = (struct sb_far_places){.node = sb_far_node(a)};
    p->elements[SB_FAR_INPUT] = sb_far_elements(a, 0);
    p->elements[SB_FAR_FEATURES] = sb_far_elements(a, p->node);
    for (uint32_t k = 0; k < SB_FAR_KINDS && st == SB_OK; k++)
        if (p->elements[k] > SB_FAR_WIDTH)
            st = draw_codes(&p->code[k], p->elements[k], k);
    return st;
}

void sb_far_places_fini(struct sb_far_places *p)
{
    for (int k = 0; k < SB_FAR_KINDS; k++)
        sb_free(p->code[k]);
    *p = (struct sb_far_places){0};
}

void sb_far_look(const struct sb_far_places *p, const struct sb_net *net, int kind,
                 uint32_t image, float z[SB_FAR_WIDTH])
{
    const struct sb_act *x = kind == SB_FAR_INPUT ? &net->input : &net->node[p->node].y;
    const uint8_t *code = p->code[kind];
    /* One image may be there as bands of its rows, a lane each. */
    uint32_t bands = kind == SB_FAR_INPUT && net->arch.bands ? net->arch.bands : 1, j = 0;
    size_t pixels = (size_t)x->height * x->width;
    for (uint32_t k = 0; k < SB_FAR_WIDTH; k++)
        z[k] = 0.0f;
    for (uint32_t c = 0; c < x->channels; c++)
        for (uint32_t b = 0; b < bands; b++) {
            const float *from = sb_act_image(x, image + b, c);
            for (size_t i = 0; i < pixels; i++, j++) {
                float v = from[i * x->lanes];
                uint8_t to = code ? code[j] : (uint8_t)j;
                z[to & (SB_FAR_WIDTH - 1)] += to & TAKEN_OFF ? -v : v;
            }
        }
}
