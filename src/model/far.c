/* far - see far.h. */
#include "model/far.h"

#include "base/mem.h"
#include "model/fields.h"

uint32_t sb_far_node(const struct sb_arch *a)
{
    uint32_t i = a->head[0].node;
    while (a->node[i].kind != SB_NODE_WEIGHT)
        i = a->node[i].in;
    return a->node[i].in;
}

uint32_t sb_far_elements(const struct sb_arch *a, uint32_t node)
{
    const struct sb_arch_node *d = &a->node[node];
    return d->channels * d->height * d->width;
}

uint32_t sb_far_width(uint32_t elements)
{
    return elements < SB_FAR_WIDTH ? elements : SB_FAR_WIDTH;
}

uint32_t sb_far_place_width(const struct sb_far *f, uint32_t place)
{
    return place == 0 ? f->input : f->feature;
}

size_t sb_far_mean_at(const struct sb_far *f, uint32_t place)
{
    return place == 0
               ? 0
               : f->input + sb_far_triangle(f->input) + (size_t)(place - 1) * f->feature;
}

size_t sb_far_factor_at(const struct sb_far *f, uint32_t place)
{
    return place == 0 ? f->input
                      : sb_far_mean_at(f, 1 + f->members) +
                            (place - 1) * sb_far_triangle(f->feature);
}

size_t sb_far_quantile_at(const struct sb_far *f)
{
    return sb_far_factor_at(f, 1 + f->members);
}

size_t sb_far_floats(const struct sb_far *f)
{
    return f->members > 0 ? sb_far_quantile_at(f) + f->quantiles : 0;
}

/* ---- the file ------------------------------------------------------------------------ */

enum { TENSORS = 5 };

struct tensor {
    const char *name;
    size_t at;
    struct sb_shape shape;
};

static void tensors_of(const struct sb_far *f, struct tensor out[TENSORS])
{
    const size_t members = f->members;
    out[0] = (struct tensor){"far.input.mean", 0, {1, {f->input}}};
    out[1] = (struct tensor){
        "far.input.factor", sb_far_factor_at(f, 0), {1, {sb_far_triangle(f->input)}}};
    out[2] = (struct tensor){
        "far.features.mean", sb_far_mean_at(f, 1), {2, {members, f->feature}}};
    out[3] = (struct tensor){"far.features.factor",
                             sb_far_factor_at(f, 1),
                             {2, {members, sb_far_triangle(f->feature)}}};
    out[4] = (struct tensor){"far.quantiles", sb_far_quantile_at(f), {1, {f->quantiles}}};
}

sb_status sb_far_put(struct sb_st_writer *w, const struct sb_far *f)
{
    struct tensor t[TENSORS];
    sb_status st = SB_OK;
    tensors_of(f, t);
    for (int i = 0; i < TENSORS && st == SB_OK && f->members > 0; i++)
        st = sb_st_writer_add(w, t[i].name, SB_F32, t[i].shape.ndim, t[i].shape.dim,
                              f->number + t[i].at);
    return st;
}

/* Diagonals of factors are above 0, quantiles rise. */
static sb_status check(const char *path, const struct sb_far *f)
{
    for (uint32_t p = 0; p <= f->members; p++) {
        const float *factor = f->number + sb_far_factor_at(f, p);
        for (uint32_t i = 0; i < sb_far_place_width(f, p); i++)
            if (!(factor[sb_far_triangle(i) + i] > 0))
                return sb_fail(
                    SB_EFORMAT,
                    "%s: tensor \"far.%s.factor\": a diagonal has a number that "
                    "is not above 0",
                    path, p == 0 ? "input" : "features");
    }
    const float *q = f->number + sb_far_quantile_at(f);
    for (uint32_t i = 0; i < f->quantiles; i++)
        if (q[i] < 0 || (i > 0 && q[i] < q[i - 1]))
            return sb_fail(SB_EFORMAT,
                           "%s: tensor \"far.quantiles\": number %u is negative or below "
                           "the one before",
                           path, i);
    return SB_OK;
}

/* Before memory is asked for: sizes in texts alone must not make it much. */
static sb_status check_sizes(struct sb_fields *fields, const struct tensor t[TENSORS])
{
    sb_status st = SB_OK;
    for (int i = 0; i < TENSORS && st == SB_OK; i++) {
        const struct sb_st_tensor *have = sb_fields_lookup(fields, t[i].name);
        if (!have || have->count != sb_shape_count(&t[i].shape))
            st = sb_fields_f32(fields, t[i].name, &t[i].shape, NULL); /* says it */
    }
    return st;
}

sb_status sb_far_get(struct sb_fields *fields, const struct sb_arch *a, uint32_t members,
                     struct sb_far *f, float **number)
{
    const struct sb_st_tensor *quantiles = sb_fields_lookup(fields, "far.quantiles");
    const char *path = fields->st->path;
    struct tensor t[TENSORS];
    sb_status st = SB_OK;
    *f = (struct sb_far){0};
    *number = NULL;
    fields->next = 0;
    if (!quantiles)
        return SB_OK;
    if (quantiles->count == 0 || quantiles->count > SB_FAR_QUANTILES)
        return sb_fail(SB_EFORMAT, "%s: tensor \"far.quantiles\": want 1 to %d of them",
                       path, SB_FAR_QUANTILES);
    *f = (struct sb_far){.input = sb_far_width(sb_far_elements(a, 0)),
                         .feature = sb_far_width(sb_far_elements(a, sb_far_node(a))),
                         .members = members,
                         .quantiles = (uint32_t)quantiles->count};
    tensors_of(f, t);
    st = check_sizes(fields, t);
    if (st != SB_OK)
        return st;
    *number = sb_malloc(sb_far_floats(f), sizeof **number);
    if (!*number)
        return sb_fail(SB_ENOMEM, "%s: no memory for %zu numbers", path,
                       sb_far_floats(f));
    for (int i = 0; i < TENSORS && st == SB_OK; i++)
        st = sb_fields_f32(fields, t[i].name, &t[i].shape, *number + t[i].at);
    f->number = *number;
    return st == SB_OK ? check(path, f) : st;
}
