/* tree - members share the blocks before a branch point; from there on each has its own.
 *
 *     trained   input ... trunk | branch0.* | branch1.* | ...     a head a branch
 *     member    input ... trunk | the branch's nodes by their usual names
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "forms/form.h"

/* ---- where it branches --------------------------------------------------------------- */

/* Whether a node belongs to the block or layer of that name. */
static bool belongs(const struct sb_arch_node *n, const char *name)
{
    size_t length = strlen(name);
    return strncmp(n->name, name, length) == 0 &&
           (n->name[length] == '\0' || n->name[length] == '.');
}

/* Writes "group2.1" of "group2.1.conv1"; false: it is in no block. */
static bool block_of(const struct sb_arch_node *n, char out[SB_NODE_NAME])
{
    const char *dot = strncmp(n->name, "group", 5) == 0 ? strchr(n->name, '.') : NULL;
    dot = dot ? strchr(dot + 1, '.') : NULL;
    if (!dot)
        return false;
    memcpy(out, n->name, (size_t)(dot - n->name));
    out[dot - n->name] = '\0';
    return true;
}

/* The first of the last quarter of the residual blocks. False: there are none. */
static bool default_block(const struct sb_arch *a, char out[SB_NODE_NAME])
{
    uint32_t blocks = 0, at = 0;
    for (int round = 0; round < 2; round++) {
        char now[SB_NODE_NAME], before[SB_NODE_NAME] = "";
        uint32_t number = 0;
        for (uint32_t i = 0; i < a->nodes; i++) {
            if (!block_of(&a->node[i], now) || strcmp(now, before) == 0)
                continue;
            memcpy(before, now, sizeof now);
            if (round == 1 && number == at)
                memcpy(out, now, sizeof now);
            number++;
        }
        blocks = number;
        at = blocks - (blocks + 3) / 4;
    }
    return blocks > 0;
}

/* The first linear layer of lenet; the last hidden layer of an mlp. */
static void default_layer(const struct sb_arch *a, char out[SB_NODE_NAME])
{
    const char *last = "", *before = "";
    for (uint32_t i = 0; i < a->nodes; i++) {
        if (a->node[i].kind != SB_NODE_WEIGHT || !a->node[i].linear)
            continue;
        if (*last)
            before = last;
        last = a->node[i].name;
    }
    snprintf(out, SB_NODE_NAME, "%s", *before ? before : last);
}

static sb_status check_hidden(const char *name, const struct sb_arch *a)
{
    return a->weights > 1 ? SB_OK
                          : sb_fail(SB_EARG,
                                    "treenet needs a network with a hidden layer; %s has "
                                    "none",
                                    name);
}

static sb_status find_branch(const struct sb_form_spec *s, const char *name,
                             const struct sb_arch *a, uint32_t *at)
{
    char point[SB_NODE_NAME];
    memcpy(point, s->branch_at, sizeof point);
    if (!*point && !default_block(a, point))
        default_layer(a, point);
    for (*at = 1; *at < a->nodes; ++*at)
        if (belongs(&a->node[*at], point))
            return check_hidden(name, a);
    return sb_fail(
        SB_EARG,
        "method.branch_at = %s: %s has no such block or layer; want one such as "
        "'%s'",
        point, name, a->node[a->nodes - 1].name);
}

/* ---- architectures ------------------------------------------------------------------- */

static sb_status push_branch(struct sb_arch *out, const struct sb_arch *plain,
                             uint32_t at, uint32_t m)
{
    sb_status st = SB_OK;
    uint32_t shift = m * (plain->nodes - at);
    for (uint32_t i = at; i < plain->nodes && st == SB_OK; i++) {
        struct sb_arch_node n = plain->node[i];
        if (*n.name)
            snprintf(n.name, sizeof n.name, "branch%u.%.30s", m, plain->node[i].name);
        n.in += n.in >= at ? shift : 0;
        n.other += n.other != SB_NODE_NONE && n.other >= at ? shift : 0;
        st = sb_arch_push(out, &n);
    }
    return st;
}

/* Layers are numbered, each branch's own. */
static sb_status check_members(const struct sb_form_spec *s, const char *name,
                               const struct sb_arch *plain, uint32_t at)
{
    uint32_t trunk = 0, branch = 0;
    for (uint32_t i = 0; i < plain->nodes; i++)
        *(i < at ? &trunk : &branch) += plain->node[i].kind == SB_NODE_WEIGHT;
    uint32_t most = branch > 0 ? (SB_RNG_LAYERS - trunk) / branch : s->members;
    return s->members <= most
               ? SB_OK
               : sb_fail(SB_EARG,
                         "method.members = %u: a branch of %s has %u layers, its trunk "
                         "%u; want at most %u members, %d layers in all",
                         s->members, name, branch, trunk, most, SB_RNG_LAYERS);
}

/* The two ways through a residual block cannot be parted anywhere. */
static sb_status check_point(const struct sb_form_spec *s, const struct sb_arch *plain,
                             uint32_t at, const struct sb_arch *out)
{
    char block[SB_NODE_NAME];
    if (!*s->branch_at || sb_arch_check(out) == SB_OK)
        return SB_OK;
    if (!block_of(&plain->node[at], block))
        return SB_EARG;
    return sb_fail(SB_EARG,
                   "method.branch_at = %s: a branch would begin within block %s, whose "
                   "two ways meet further on; want '%s', the whole block",
                   s->branch_at, block, block);
}

static sb_status build(const struct sb_form_spec *s, const struct sb_arch_shape *shape,
                       enum sb_form_role role, struct sb_arch *out)
{
    struct sb_arch plain = {0};
    struct sb_arch_head *head = sb_calloc(s->members, sizeof *head);
    uint32_t at = 0;
    sb_status st = head ? sb_form_plain.build(s, shape, role, &plain)
                        : sb_fail(SB_ENOMEM, "no memory for %u branches", s->members);
    if (st == SB_OK)
        st = find_branch(s, shape->name, &plain, &at);
    if (st == SB_OK)
        st = check_members(s, shape->name, &plain, at);
    plain.shared = at;
    if (st != SB_OK || role == SB_FORM_MEMBER) {
        *out = plain;
        sb_free(head);
        return st;
    }
    *out = (struct sb_arch){.classes = plain.classes};
    for (uint32_t i = 0; i < at && st == SB_OK; i++)
        st = sb_arch_push(out, &plain.node[i]);
    for (uint32_t m = 0; m < s->members && st == SB_OK; m++) {
        st = push_branch(out, &plain, at, m);
        head[m].node = out->nodes - 1;
    }
    if (st == SB_OK)
        st = sb_arch_set_heads(out, head, s->members);
    if (st == SB_OK)
        st = check_point(s, &plain, at, out);
    sb_arch_fini(&plain);
    sb_free(head);
    return st;
}

/* ---- a member ------------------------------------------------------------------------ */

static sb_status member(const struct sb_form_spec *s, const struct sb_arch *trained,
                        const struct sb_arch *plain, const struct sb_trained *from,
                        uint32_t m, uint32_t draw, struct sb_trained *out)
{
    uint32_t *active = sb_calloc(plain->weights, sizeof *active), w = 0;
    uint32_t shift = m * (plain->nodes - plain->shared);
    (void)s;
    (void)trained;
    (void)draw;
    if (!active)
        return sb_fail(SB_ENOMEM, "no memory for %u layers", plain->weights);
    for (uint32_t i = 0; i < plain->nodes; i++)
        if (plain->node[i].kind == SB_NODE_WEIGHT)
            active[w++] =
                sb_trained_find(from, i + (i < plain->shared ? 0 : shift), SB_PARAM_MU)
                    ->count;
    sb_status st = sb_trained_plan_shell(out, plain, active, from->gauss);
    sb_free(active);
    for (uint32_t i = 0; i < out->params.n && st == SB_OK; i++) {
        struct sb_param *to = &out->params.param[i];
        bool common = to->node == SB_NODE_NONE || to->node < plain->shared;
        uint32_t node = to->node + (common ? 0 : shift);
        sb_form_point(from, sb_trained_find(from, node, to->role), out, to);
    }
    return st;
}

const struct sb_form sb_form_tree = {.name = "tree", .build = build, .member = member};
