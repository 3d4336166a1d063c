/* arch - see arch.h. */
#include "nn/arch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "kernels/act.h"

/* Adding a node returns its index. A failure is remembered and makes later calls do
 * nothing, so that an architecture reads as a list; the caller looks once, at the end. */
struct builder {
    struct sb_arch *a;
    sb_status st;
};

enum { MAX_NODES = 100000 };

static sb_status grow(struct sb_arch *a)
{
    uint32_t capacity = a->capacity ? 2 * a->capacity : 32;
    struct sb_arch_node *more = sb_malloc(capacity, sizeof *more);
    if (!more || capacity > MAX_NODES) {
        sb_free(more);
        return sb_fail(SB_ENOMEM, "no memory for an architecture of %u nodes", capacity);
    }
    if (a->nodes)
        memcpy(more, a->node, a->nodes * sizeof *more);
    sb_free(a->node);
    a->node = more;
    a->capacity = capacity;
    return SB_OK;
}

sb_status sb_arch_push(struct sb_arch *a, const struct sb_arch_node *node)
{
    struct sb_arch_node copy = *node; /* it may be one of a's own */
    sb_status st = a->nodes == a->capacity ? grow(a) : SB_OK;
    if (st != SB_OK)
        return st;
    if (copy.kind == SB_NODE_WEIGHT && a->weights == SB_RNG_LAYERS)
        return sb_fail(SB_EARG, "an architecture of more than %d layers", SB_RNG_LAYERS);
    a->weights += copy.kind == SB_NODE_WEIGHT;
    a->norms += copy.kind == SB_NODE_NORM;
    a->scales += copy.kind == SB_NODE_SCALE;
    a->masks += copy.kind == SB_NODE_MASK;
    a->node[a->nodes++] = copy;
    return SB_OK;
}

static uint32_t push(struct builder *b, struct sb_arch_node node)
{
    if (b->st == SB_OK)
        b->st = sb_arch_push(b->a, &node);
    return b->st == SB_OK ? b->a->nodes - 1 : 0;
}

/* A node that keeps its input's shape. */
static struct sb_arch_node like(const struct builder *b, uint32_t in,
                                enum sb_node_kind kind)
{
    struct sb_arch_node n = {.kind = kind, .in = in, .other = SB_NODE_NONE};
    if (b->st == SB_OK) {
        n.channels = b->a->node[in].channels;
        n.height = b->a->node[in].height;
        n.width = b->a->node[in].width;
    }
    return n;
}

static uint32_t weight(struct builder *b, const char *name, uint32_t in, uint32_t out,
                       uint32_t kernel, uint32_t stride, uint32_t pad, bool linear)
{
    struct sb_arch_node n = like(b, in, SB_NODE_WEIGHT);
    if (b->st == SB_OK)
        b->st = sb_conv_init(&n.conv, n.channels, out, kernel, kernel, stride, pad,
                             n.height, n.width);
    if (b->st != SB_OK)
        return 0;
    snprintf(n.name, sizeof n.name, "%s", name);
    n.linear = n.bias = linear;
    n.channels = out;
    n.height = n.conv.out_height;
    n.width = n.conv.out_width;
    return push(b, n);
}

static uint32_t conv(struct builder *b, const char *name, uint32_t in, uint32_t out,
                     uint32_t kernel, uint32_t stride, uint32_t pad)
{
    return weight(b, name, in, out, kernel, stride, pad, false);
}

static uint32_t linear(struct builder *b, const char *name, uint32_t in, uint32_t out)
{
    return weight(b, name, in, out, 1, 1, 0, true);
}

static uint32_t norm(struct builder *b, const char *name, uint32_t in, uint32_t other,
                     bool relu)
{
    struct sb_arch_node n = like(b, in, SB_NODE_NORM);
    snprintf(n.name, sizeof n.name, "%s", name);
    n.other = other;
    n.relu = relu;
    return push(b, n);
}

static uint32_t relu(struct builder *b, uint32_t in)
{
    return push(b, like(b, in, SB_NODE_RELU));
}

static uint32_t add(struct builder *b, uint32_t in, uint32_t other)
{
    struct sb_arch_node n = like(b, in, SB_NODE_ADD);
    n.other = other;
    return push(b, n);
}

static uint32_t max_pool(struct builder *b, uint32_t in)
{
    struct sb_arch_node n = like(b, in, SB_NODE_MAX_POOL);
    n.height /= 2;
    n.width /= 2;
    if (b->st == SB_OK && (n.height == 0 || n.width == 0))
        b->st = sb_fail(SB_EARG,
                        "images are too small for this architecture: %u x %u is left "
                        "to pool 2 x 2",
                        b->a->node[in].height, b->a->node[in].width);
    return push(b, n);
}

static uint32_t mean_pool(struct builder *b, uint32_t in)
{
    struct sb_arch_node n = like(b, in, SB_NODE_MEAN_POOL);
    n.height = n.width = 1;
    return push(b, n);
}

static uint32_t flatten(struct builder *b, uint32_t in)
{
    struct sb_arch_node n = like(b, in, SB_NODE_FLATTEN);
    uint32_t features = 0;
    if (b->st == SB_OK && (__builtin_mul_overflow(n.channels, n.height, &features) ||
                           __builtin_mul_overflow(features, n.width, &features)))
        b->st = sb_fail(SB_EARG, "an image of %u x %u x %u has too many features",
                        n.channels, n.height, n.width);
    if (b->st != SB_OK || n.height * n.width == 1)
        return in;
    n.channels = features;
    n.height = n.width = 1;
    return push(b, n);
}

/* ---- the architectures --------------------------------------------------------------- */

enum { MAX_NUMBERS = 32 };

struct numbers {
    uint32_t n, value[MAX_NUMBERS];
};

static void build_mlp(struct builder *b, const struct numbers *hidden)
{
    uint32_t x = flatten(b, 0);
    char name[16];
    for (uint32_t i = 0; i < hidden->n; i++) {
        snprintf(name, sizeof name, "%u", 2 * i); /* the ReLUs take the odd places */
        x = relu(b, linear(b, name, x, hidden->value[i]));
    }
    snprintf(name, sizeof name, "%u", 2 * hidden->n);
    linear(b, name, x, b->a->classes);
}

/* What two convolutions and two pools leave something of. */
static sb_status check_lenet(const struct sb_arch *a)
{
    enum { LEAST = 16 };
    uint32_t height = a->node[0].height, width = a->node[0].width;
    if (height >= LEAST && width >= LEAST)
        return SB_OK;
    return sb_fail(
        SB_EARG,
        "architecture 'lenet' on %u x %u: it is for images of %d x %d or more; "
        "want mlp-H1-H2..., such as mlp-128-64",
        height, width, LEAST, LEAST);
}

static void build_lenet(struct builder *b)
{
    uint32_t x = conv(b, "conv1", 0, 20, 5, 1, 0);
    x = max_pool(b, norm(b, "bn1", x, SB_NODE_NONE, true));
    x = conv(b, "conv2", x, 50, 5, 1, 0);
    x = max_pool(b, norm(b, "bn2", x, SB_NODE_NONE, true));
    x = relu(b, linear(b, "fc1", flatten(b, x), 500));
    linear(b, "fc2", x, b->a->classes);
}

/* Writes "group.block.part" into name. */
static const char *path(char *name, uint32_t group, uint32_t block, const char *part)
{
    snprintf(name, SB_NODE_NAME, "group%u.%u.%s", group, block, part);
    return name;
}

static uint32_t resnet_block(struct builder *b, uint32_t group, uint32_t block,
                             uint32_t x, uint32_t width, uint32_t stride)
{
    char s[SB_NODE_NAME];
    bool change = b->st == SB_OK && (stride != 1 || b->a->node[x].channels != width);
    uint32_t y = conv(b, path(s, group, block, "conv1"), x, width, 3, stride, 1),
             other = x;
    y = norm(b, path(s, group, block, "bn1"), y, SB_NODE_NONE, true);
    y = conv(b, path(s, group, block, "conv2"), y, width, 3, 1, 1);
    if (change) {
        other = conv(b, path(s, group, block, "shortcut"), x, width, 1, stride, 0);
        other = norm(b, path(s, group, block, "shortcut_bn"), other, SB_NODE_NONE, false);
    }
    return norm(b, path(s, group, block, "bn2"), y, other, true);
}

static uint32_t wrn_block(struct builder *b, uint32_t group, uint32_t block, uint32_t x,
                          uint32_t width, uint32_t stride)
{
    char s[SB_NODE_NAME];
    bool change = b->st == SB_OK && b->a->node[x].channels != width;
    uint32_t a = norm(b, path(s, group, block, "bn1"), x, SB_NODE_NONE, true);
    uint32_t y = conv(b, path(s, group, block, "conv1"), a, width, 3, stride, 1);
    y = norm(b, path(s, group, block, "bn2"), y, SB_NODE_NONE, true);
    y = conv(b, path(s, group, block, "conv2"), y, width, 3, 1, 1);
    uint32_t other =
        change ? conv(b, path(s, group, block, "shortcut"), a, width, 1, stride, 0) : x;
    return add(b, y, other);
}

typedef uint32_t block_fn(struct builder *b, uint32_t group, uint32_t block, uint32_t x,
                          uint32_t width, uint32_t stride);

static uint32_t three_groups(struct builder *b, block_fn *make, uint32_t blocks,
                             uint32_t x, uint32_t width)
{
    for (uint32_t g = 1; g <= 3; g++, width *= 2)
        for (uint32_t i = 0; i < blocks; i++)
            x = make(b, g, i, x, width, g > 1 && i == 0 ? 2 : 1);
    return x;
}

static void build_resnet(struct builder *b, uint32_t depth)
{
    uint32_t x = norm(b, "bn1", conv(b, "conv1", 0, 16, 3, 1, 1), SB_NODE_NONE, true);
    x = three_groups(b, resnet_block, (depth - 2) / 6, x, 16);
    linear(b, "fc", mean_pool(b, x), b->a->classes);
}

static void build_wrn(struct builder *b, uint32_t depth, uint32_t widen)
{
    uint32_t x = conv(b, "conv1", 0, 16, 3, 1, 1);
    x = three_groups(b, wrn_block, (depth - 4) / 6, x, 16 * widen);
    x = mean_pool(b, norm(b, "bn", x, SB_NODE_NONE, true));
    linear(b, "fc", x, b->a->classes);
}

/* ---- names --------------------------------------------------------------------------- */

static const char known[] =
    "mlp-H1-H2..., lenet, resnet-D (D = 6n + 2), wrn-D-K (D = 6n + 4)";

/* "-12-34" -> 12, 34; false for anything else. */
static bool read_numbers(const char *s, struct numbers *out)
{
    out->n = 0;
    while (*s == '-' && out->n < MAX_NUMBERS) {
        char *end;
        if (s[1] < '1' || s[1] > '9')
            return false;
        unsigned long x = strtoul(s + 1, &end, 10);
        if (x > 1000000)
            return false;
        out->value[out->n++] = (uint32_t)x;
        s = end;
    }
    return *s == '\0';
}

static sb_status build(struct builder *b, const char *name)
{
    struct numbers n;
    size_t kind = strcspn(name, "-");
    bool plain = read_numbers(name + kind, &n);
    if (plain && kind == 3 && strncmp(name, "mlp", 3) == 0)
        build_mlp(b, &n);
    else if (strcmp(name, "lenet") == 0) {
        b->st = check_lenet(b->a);
        if (b->st == SB_OK)
            build_lenet(b);
    } else if (plain && kind == 6 && strncmp(name, "resnet", 6) == 0 && n.n == 1 &&
               n.value[0] >= 8 && n.value[0] <= 10000 && n.value[0] % 6 == 2)
        build_resnet(b, n.value[0]);
    else if (plain && kind == 3 && strncmp(name, "wrn", 3) == 0 && n.n == 2 &&
             n.value[0] >= 10 && n.value[0] <= 10000 && n.value[0] % 6 == 4 &&
             n.value[1] <= 1000)
        build_wrn(b, n.value[0], n.value[1]);
    else
        return sb_fail(SB_EARG, "architecture '%s': want one of %s", name, known);
    return b->st;
}

sb_status sb_arch_init(struct sb_arch *a, const struct sb_arch_shape *shape)
{
    *a = (struct sb_arch){.classes = shape->classes};
    struct builder b = {a, SB_OK};
    if (shape->channels == 0 || shape->height == 0 || shape->width == 0 ||
        shape->classes == 0)
        return sb_fail(SB_EARG,
                       "%s on images of %u x %u x %u with %u outputs: sizes must be at "
                       "least 1, outputs too",
                       shape->name, shape->channels, shape->height, shape->width,
                       shape->classes);
    push(&b, (struct sb_arch_node){.kind = SB_NODE_INPUT,
                                   .name = "input",
                                   .other = SB_NODE_NONE,
                                   .channels = shape->channels,
                                   .height = shape->height,
                                   .width = shape->width});
    sb_status st = b.st == SB_OK ? build(&b, shape->name) : b.st;
    if (st == SB_OK)
        st = sb_arch_end(a);
    return st == SB_OK ? sb_arch_set_likelihood(a, shape->likelihood) : st;
}

sb_status sb_arch_set_likelihood(struct sb_arch *a, enum sb_likelihood_kind kind)
{
    uint32_t count = sb_likelihood_count(kind, a->classes);
    uint32_t least = kind == SB_LIKELIHOOD_CATEGORICAL ? 2 : 1;
    if (count < least || count * sb_likelihood_row(kind)->outputs != a->classes)
        return sb_fail(SB_EARG, "a network with %u outputs for %u %s; want at least %u",
                       a->classes, count, least == 2 ? "classes" : "targets", least);
    a->likelihood = kind;
    return SB_OK;
}

sb_status sb_arch_set_heads(struct sb_arch *a, const struct sb_arch_head *head,
                            uint32_t heads)
{
    struct sb_arch_head *copy = sb_malloc(heads, sizeof *copy);
    if (!copy)
        return sb_fail(SB_ENOMEM, "no memory for %u heads", heads);
    memcpy(copy, head, heads * sizeof *copy);
    sb_free(a->head);
    a->head = copy;
    a->heads = heads;
    return SB_OK;
}

sb_status sb_arch_end(struct sb_arch *a)
{
    return sb_arch_set_heads(a, &(struct sb_arch_head){.node = a->nodes - 1}, 1);
}

static bool reads(const struct sb_arch_node *n, uint32_t i)
{
    return n->kind != SB_NODE_INPUT && (n->in == i || n->other == i);
}

sb_status sb_arch_check(const struct sb_arch *a)
{
    for (uint32_t i = 1; i < a->nodes; i++) {
        const struct sb_arch_node *n = &a->node[i];
        bool alone = n->kind == SB_NODE_RELU || n->kind == SB_NODE_ADD ||
                     n->kind == SB_NODE_FLATTEN || n->kind == SB_NODE_MAX_POOL ||
                     n->kind == SB_NODE_MEAN_POOL;
        uint32_t readers = 0;
        for (uint32_t j = 1; alone && j < a->nodes; j++)
            readers += reads(&a->node[j], n->in);
        if (n->in >= i || (n->other != SB_NODE_NONE && n->other >= i))
            return sb_fail(SB_EARG, "node %u (%s) reads one that comes after it", i,
                           n->name);
        if (alone && readers > 1 && n->in != 0)
            return sb_fail(SB_EARG,
                           "node %u works in the place of node %u (%s), which %u others "
                           "read; branch at a layer",
                           i, n->in, a->node[n->in].name, readers - 1);
        if (i >= a->shared && n->in < a->shared && n->in != 0 &&
            (n->kind == SB_NODE_RELU || n->kind == SB_NODE_ADD))
            return sb_fail(SB_EARG,
                           "node %u works in the place of node %u (%s), which members "
                           "of a network share; branch at a layer",
                           i, n->in, a->node[n->in].name);
    }
    return SB_OK;
}

void sb_arch_fini(struct sb_arch *a)
{
    if (!a)
        return;
    sb_free(a->node);
    sb_free(a->head);
    *a = (struct sb_arch){0};
}

/* Whether every plane can be cut into so many bands. */
static bool band_fits(const struct sb_arch *a, uint32_t bands)
{
    for (uint32_t i = 0; i < a->nodes; i++) {
        const struct sb_arch_node *n = &a->node[i];
        struct sb_conv copy = n->conv;
        if (n->kind == SB_NODE_MEAN_POOL)
            return true;
        if (n->kind == SB_NODE_MAX_POOL || n->kind == SB_NODE_FLATTEN ||
            n->kind == SB_NODE_MASK || /* which has whole planes */
            n->height % bands ||
            (n->kind == SB_NODE_WEIGHT && !sb_conv_band(&copy, bands)))
            return false;
    }
    return false;
}

uint32_t sb_arch_band(struct sb_arch *a, uint32_t most)
{
    uint32_t bands = most;
    while (bands > 1 && !band_fits(a, bands))
        bands--;
    for (uint32_t i = 0; bands > 1 && a->node[i].kind != SB_NODE_MEAN_POOL; i++) {
        a->node[i].height /= bands;
        if (a->node[i].kind == SB_NODE_WEIGHT)
            (void)sb_conv_band(&a->node[i].conv, bands);
    }
    a->bands = bands > 1 ? bands : 0;
    return bands;
}

double sb_arch_macs(const struct sb_arch *a)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < a->nodes; i++) {
        const struct sb_conv *c = &a->node[i].conv;
        if (a->node[i].kind == SB_NODE_WEIGHT)
            sum += (double)sb_conv_weights(c) * c->out_height * c->out_width;
    }
    return sum;
}

void sb_arch_weight_shapes(const struct sb_arch *a, struct sb_weight_shape *out)
{
    for (uint32_t i = 0; i < a->nodes; i++) {
        const struct sb_arch_node *n = &a->node[i];
        if (n->kind != SB_NODE_WEIGHT)
            continue;
        *out++ = (struct sb_weight_shape){
            .ndim = n->linear ? 2 : 4,
            .dim = {n->conv.out, n->conv.in, n->conv.kh, n->conv.kw}};
    }
}
