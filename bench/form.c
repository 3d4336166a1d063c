/* form - which network a bench is of: a plain one, or one of the forms that stand for
 * several members. */
#include <string.h>

#include "base/mem.h"
#include "bench.h"
#include "forms/form.h"
#include "tensor/topology.h"

enum { CLASSES = 10 };

bool bench_gauss(const struct bench_options *o)
{
    return !o->form || strcmp(o->form, "gauss") == 0;
}

bool bench_form_known(const char *name)
{
    enum sb_form_kind kind;
    return strcmp(name, "gauss") == 0 || strcmp(name, "point") == 0 ||
           sb_form_find(name, &kind) == SB_OK;
}

struct sb_form_spec bench_form(const struct bench_options *o)
{
    struct sb_form_spec s = {.members = o->members,
                             .rate = 0.1f,
                             .spread = 0.5f,
                             .scale_sd = 0.0316f,
                             .scale_prior_sd = 0.1f,
                             .repetitions = 1};
    if (!o->form || strcmp(o->form, "gauss") == 0 || strcmp(o->form, "point") == 0 ||
        sb_form_find(o->form, &s.kind) != SB_OK || s.kind == SB_FORM_PLAIN)
        return (struct sb_form_spec){0};
    s.channels = s.kind == SB_FORM_DROPOUT && o->channels;
    return s;
}

struct sb_arch_shape bench_shape(const struct bench_options *o)
{
    const char *arch = o->arch ? o->arch : "wrn-28-10";
    bool small = strncmp(arch, "lenet", 5) == 0 || strncmp(arch, "mlp", 3) == 0;
    uint32_t side = small ? 28 : 32;
    return (struct sb_arch_shape){.name = arch,
                                  .channels = small ? 1 : 3,
                                  .height = side,
                                  .width = side,
                                  .classes = CLASSES};
}

sb_status bench_active(const struct sb_arch *arch, double density, uint32_t **out)
{
    struct sb_weight_shape *shape = sb_malloc(arch->weights, sizeof *shape);
    struct sb_allocation *a = sb_malloc(arch->weights, sizeof *a);
    *out = sb_malloc(arch->weights, sizeof **out);
    sb_status st = SB_OK;
    if (!shape || !a || !*out) {
        st = sb_fail(SB_ENOMEM, "no memory for %u layers", arch->weights);
        goto done;
    }
    sb_arch_weight_shapes(arch, shape);
    st = sb_topology_erk(shape, arch->weights, density, a);
    for (uint32_t i = 0; i < arch->weights && st == SB_OK; i++)
        (*out)[i] = a[i].active;
done:
    sb_free(shape);
    sb_free(a);
    return st;
}
