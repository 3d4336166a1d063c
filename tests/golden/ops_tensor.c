/* ops_tensor - golden cases of tensor/: allocation, ranking, prune-grow, one cut through all
 * layers. */
#include <stdio.h>
#include <string.h>

#include "case.h"
#include "masks.h"
#include "tensor/prune.h"
#include "tensor/topology.h"

static void run_snr_abs(struct golden_case *c)
{
    const struct sb_st_tensor *t = golden_input(c, "mu");
    if (!t)
        return;
    size_t n = t->count;
    const double *mu = golden_f64(c, "mu", n), *sigma = golden_f64(c, "sigma", n);
    double *snr = golden_alloc(c, n, sizeof *snr);
    if (!mu || !sigma || !snr)
        return;
    for (size_t i = 0; i < n; i++)
        snr[i] = sb_snr_abs(mu[i], sigma[i]);
    golden_check_f64(c, "snr", snr, n, GOLDEN_TOL_LAYER);
}

/* Shapes in the file are padded to four numbers with ones, so a linear layer looks like a
 * 1x1 convolution; the architecture tells how many of the last layers are linear. */
static size_t linear_layers(struct golden_case *c, size_t layers)
{
    const char *arch = golden_text(c, "arch");
    if (!arch)
        return 0;
    if (strncmp(arch, "mlp", 3) == 0)
        return layers;
    return strncmp(arch, "lenet", 5) == 0 ? 2 : 1;
}

static struct sb_weight_shape *read_shapes(struct golden_case *c, size_t layers)
{
    const int32_t *dim = golden_i32(c, "shapes", 4 * layers);
    struct sb_weight_shape *shape = golden_alloc(c, layers, sizeof *shape);
    size_t linear = linear_layers(c, layers);
    if (!dim || !shape)
        return NULL;
    for (size_t l = 0; l < layers; l++) {
        shape[l].ndim = l + linear >= layers ? 2 : 4;
        for (size_t i = 0; i < 4; i++)
            shape[l].dim[i] = (uint32_t)dim[4 * l + i];
    }
    return shape;
}

static void run_erk(struct golden_case *c)
{
    const struct sb_st_tensor *t = golden_input(c, "shapes");
    double target;
    if (!t || !golden_number(c, "density", 0, 1, &target))
        return;
    size_t layers = t->count / 4;
    const struct sb_weight_shape *shape = read_shapes(c, layers);
    struct sb_allocation *a = golden_alloc(c, layers, sizeof *a);
    double *density = golden_alloc(c, layers, sizeof *density);
    double *active = golden_alloc(c, layers, sizeof *active);
    if (c->failed || !golden_ok(c, sb_topology_erk(shape, layers, target, a)))
        return;
    for (size_t l = 0; l < layers; l++) {
        density[l] = a[l].density;
        active[l] = a[l].active;
    }
    golden_check_f64(c, "density", density, layers, GOLDEN_TOL_LAYER);
    golden_check_f64(c, "active", active, layers, 0);
}

/* dense [rows * cols] -> the weights of the support, and back with zeros elsewhere */
static void take(const uint8_t *mask, size_t n, const float *dense, float *sparse)
{
    for (size_t i = 0; i < n; i++)
        if (mask[i])
            *sparse++ = dense[i];
}

static void put(const uint8_t *mask, size_t n, const float *sparse, float *dense)
{
    for (size_t i = 0; i < n; i++)
        dense[i] = mask[i] ? *sparse++ : 0;
}

/* What a weight has: its mu, perhaps its rho and the momentum of either. */
enum { ARRAYS = 4 };
static const char *const array_name[ARRAYS] = {"mu", "rho", "momentum", "rho_momentum"};

/* Runs the update on p and checks what it leaves. dense: [n] each, or NULL; mask: [n]; both
 * overwritten. */
static void update(struct golden_case *c, struct sb_pattern *p, float *dense[ARRAYS],
                   uint8_t *mask)
{
    size_t n = (size_t)p->rows * p->cols, states = 0;
    float *sparse[ARRAYS] = {NULL}, *state[2];
    int32_t *support = golden_alloc(c, n, sizeof *support);
    const float *grad = golden_f32(c, "grad", n);
    enum sb_criterion criterion;
    double rate;
    if (!golden_number(c, "rate", 0, 1, &rate) || !golden_criterion(c, &criterion) ||
        c->failed)
        return;
    for (int i = 0; i < ARRAYS; i++) {
        if (!dense[i])
            continue;
        if (!(sparse[i] = golden_alloc(c, p->nnz, sizeof(float))))
            return;
        take(mask, n, dense[i], sparse[i]);
        if (i >= 2)
            state[states++] = sparse[i];
    }
    struct sb_topology_layer layer = {.pattern = p,
                                      .mu = sparse[0],
                                      .rho = sparse[1],
                                      .state = state,
                                      .states = states};
    if (!golden_ok(c, sb_topology_prune_grow(&layer, grad, rate, criterion, NULL)) ||
        !golden_ok(c, sb_pattern_check(p)))
        return;
    mask_of_pattern(p, mask);
    for (size_t i = 0; i < n; i++)
        support[i] = mask[i];
    golden_check_i32(c, "mask", support, n);
    for (int i = 0; i < ARRAYS; i++) {
        if (!dense[i])
            continue;
        put(mask, n, sparse[i], dense[i]);
        golden_check_f32(c, array_name[i], dense[i], n, GOLDEN_TOL_LAYER);
    }
}

static void run_prune_grow(struct golden_case *c)
{
    const struct sb_st_tensor *t = golden_input(c, "mask");
    if (!t)
        return;
    if (t->ndim < 2 || t->count == 0 || t->count > UINT32_MAX) {
        golden_fail(c, "in.mask does not have the shape of a layer");
        return;
    }
    uint32_t rows = (uint32_t)t->shape[0], cols = (uint32_t)(t->count / rows);
    float *dense[ARRAYS] = {NULL};
    for (int i = 0; i < ARRAYS; i++)
        if (i == 0 || golden_input_optional(c, array_name[i]))
            dense[i] = golden_f32(c, array_name[i], t->count);
    uint8_t *mask = golden_mask(c, "mask", t->count);
    struct sb_pattern p = {0};
    if (!c->failed && golden_ok(c, pattern_of_mask(&p, rows, cols, mask)))
        update(c, &p, dense, mask);
    sb_pattern_fini(&p);
}

/* "in.<layer>.mu" -> <layer>; false for any other name. */
static bool layer_of(const char *tensor, char *out, size_t size)
{
    size_t n = strlen(tensor);
    if (n <= 6 || strncmp(tensor, "in.", 3) != 0 || strcmp(tensor + n - 3, ".mu") != 0)
        return false;
    snprintf(out, size, "%.*s", (int)(n - 6), tensor + 3);
    return true;
}

static void check_cut(struct golden_case *c, const char *name,
                      const struct sb_prune_layer *layer, const struct sb_prune_cut *cut)
{
    char mask_name[96];
    int32_t *mask = golden_alloc(c, layer->count, sizeof *mask);
    uint32_t *index = golden_alloc(c, cut->active, sizeof *index);
    if (!mask || !index)
        return;
    sb_prune_list(layer, cut, index);
    for (uint32_t i = 0; i < cut->active; i++)
        mask[index[i]] = 1;
    snprintf(mask_name, sizeof mask_name, "%s.mask", name);
    golden_check_i32(c, mask_name, mask, layer->count);
}

/* Layers are those of the file, in its order. */
static void run_global_prune(struct golden_case *c)
{
    size_t most = c->file.tensors, layers = 0;
    char(*name)[80] = golden_alloc(c, most, sizeof *name);
    struct sb_prune_layer *layer = golden_alloc(c, most, sizeof *layer);
    struct sb_prune_cut *cut = golden_alloc(c, most, sizeof *cut);
    double sparsity;
    if (!name || !layer || !cut || !golden_number(c, "sparsity", 0, 1, &sparsity))
        return;
    for (size_t i = 0; i < most; i++) {
        const struct sb_st_tensor *t = &c->file.tensor[i];
        if (!layer_of(t->name, name[layers], sizeof *name))
            continue;
        layer[layers].count = (uint32_t)t->count;
        layer[layers].value = golden_f32(c, t->name + 3, t->count);
        if (!layer[layers++].value)
            return;
    }
    if (!golden_ok(c, sb_prune_global(layer, layers, sparsity, cut)))
        return;
    for (size_t i = 0; i < layers; i++)
        check_cut(c, name[i], &layer[i], &cut[i]);
}

const struct golden_op golden_tensor_ops[] = {{"snr_abs", run_snr_abs},
                                              {"erk", run_erk},
                                              {"prune_grow", run_prune_grow},
                                              {"global_prune", run_global_prune},
                                              {NULL, NULL}};
