/* form - adding a form: docs/extending.md quotes this file, and this test runs it.
 *
 * "copies": members are whole networks side by side that share nothing but the input.
 *
 *     trained   input | copy0.* | copy1.* | ...     a head a copy
 *     member    input | the copy's nodes by their usual names
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "forms/form.h"
#include "nets.h"

/* ---- the form ------------------------------------------------------------------------ */

/* Plain nodes from 1 on, behind those that are there. */
static sb_status push_copy(struct sb_arch *out, const struct sb_arch *plain, uint32_t m)
{
    sb_status st = SB_OK;
    uint32_t shift = m * (plain->nodes - 1);
    for (uint32_t i = 1; i < plain->nodes && st == SB_OK; i++) {
        struct sb_arch_node n = plain->node[i];
        if (*n.name)
            snprintf(n.name, sizeof n.name, "copy%u.%.30s", m, plain->node[i].name);
        n.in += n.in > 0 ? shift : 0;
        n.other += n.other != SB_NODE_NONE && n.other > 0 ? shift : 0;
        st = sb_arch_push(out, &n);
    }
    return st;
}

static sb_status build(const struct sb_form_spec *s, const struct sb_arch_shape *shape,
                       enum sb_form_role role, struct sb_arch *out)
{
    struct sb_arch plain = {0};
    struct sb_arch_head head[SB_RNG_MEMBERS];
    sb_status st = sb_form_plain.build(s, shape, role, &plain);
    if (st != SB_OK || role == SB_FORM_MEMBER) {
        *out = plain;
        return st;
    }
    *out = (struct sb_arch){.classes = plain.classes};
    st = sb_arch_push(out, &plain.node[0]);
    for (uint32_t m = 0; m < s->members && st == SB_OK; m++) {
        st = push_copy(out, &plain, m);
        head[m] = (struct sb_arch_head){.node = out->nodes - 1};
    }
    if (st == SB_OK)
        st = sb_arch_set_heads(out, head, s->members);
    sb_arch_fini(&plain);
    return st;
}

/* Nothing is copied: the member's records point at the numbers of copy m. */
static sb_status member(const struct sb_form_spec *s, const struct sb_arch *trained,
                        const struct sb_arch *plain, const struct sb_trained *from,
                        uint32_t m, uint32_t draw, struct sb_trained *out)
{
    uint32_t shift = m * (plain->nodes - 1), w = 0;
    uint32_t *active = sb_malloc(plain->weights, sizeof *active);
    (void)s, (void)trained, (void)draw;
    if (!active)
        return sb_fail(SB_ENOMEM, "no memory for %u layers", plain->weights);
    for (uint32_t i = 1; i < plain->nodes; i++)
        if (plain->node[i].kind == SB_NODE_WEIGHT)
            active[w++] = sb_trained_find(from, i + shift, SB_PARAM_MU)->count;
    sb_status st = sb_trained_plan_shell(out, plain, active, from->gauss);
    sb_free(active);
    for (uint32_t i = 0; i < out->params.n && st == SB_OK; i++) {
        struct sb_param *to = &out->params.param[i];
        sb_form_point(from, sb_trained_find(from, to->node + shift, to->role), out, to);
    }
    return st;
}

const struct sb_form sb_form_copies = {
    .name = "copies", .build = build, .member = member};

/* ---- its test ------------------------------------------------------------------------ */

enum { MEMBERS = 3, BATCH = 5, CLASSES = 4, LANES = 8 };

static const struct sb_arch_shape shape = {
    "resnet-8", 2, 8, 8, CLASSES, SB_LIKELIHOOD_CATEGORICAL};
static const struct sb_form_spec spec = {.members = MEMBERS};
static const struct sb_pass means = {.training = false};

static void make_net(struct sb_net *net, struct sb_arch *arch)
{
    struct sb_net_options o = {
        .made = arch, .lanes = LANES, .max_batch = BATCH, .threads = 1, .gauss = true};
    assert_int_equal(sb_arch_check(arch), SB_OK);
    assert_int_equal(sb_net_init(net, &o), SB_OK);
}

/* A member predicts what its head of the trained network gives. */
static void members_are_the_heads(void **state)
{
    (void)state;
    const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    struct sb_arch arch = {0}, made = {0}, plain = {0};
    struct sb_net net, alone;
    struct sb_trained trained;
    struct sb_act x;
    size_t live = sb_mem_live();
    assert_int_equal(sb_act_init(&x, LANES, BATCH, 2, 8, 8), SB_OK);
    nets_randomise(x.data, sb_act_size(&x), 1, 99);
    assert_int_equal(sb_form_copies.build(&spec, &shape, SB_FORM_TRAINED, &arch), SB_OK);
    assert_int_equal(sb_form_copies.build(&spec, &shape, SB_FORM_TRAINED, &made), SB_OK);
    make_net(&net, &made);
    assert_int_equal(nets_fill(&env, &net, 7), SB_OK);
    sb_net_set_input(&net, &x);
    assert_int_equal(sb_net_forward(&env, &net, &means), SB_OK);
    assert_int_equal(sb_trained_init(&trained, &net), SB_OK);
    assert_int_equal(sb_trained_save(&trained, &net), SB_OK);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        struct sb_trained one;
        struct sb_arch copy = {0};
        assert_int_equal(sb_form_copies.build(&spec, &shape, SB_FORM_MEMBER, &plain),
                         SB_OK);
        assert_int_equal(sb_form_copies.build(&spec, &shape, SB_FORM_MEMBER, &copy),
                         SB_OK);
        make_net(&alone, &copy);
        assert_int_equal(
            sb_form_copies.member(&spec, &arch, &plain, &trained, m, 0, &one), SB_OK);
        assert_int_equal(sb_trained_load(&one, &env, &alone), SB_OK);
        sb_net_set_input(&alone, &x);
        assert_int_equal(sb_net_forward(&env, &alone, &means), SB_OK);
        for (uint32_t i = 0; i < BATCH; i++)
            for (uint32_t k = 0; k < CLASSES; k++)
                assert_true(*sb_act_image(&alone.head[0].logits, i, k) ==
                            *sb_act_image(&net.head[m].logits, i, k));
        sb_trained_fini(&one);
        sb_net_fini(&alone);
        sb_arch_fini(&plain);
    }
    sb_trained_fini(&trained);
    sb_net_fini(&net);
    sb_arch_fini(&arch);
    sb_act_fini(&x);
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(members_are_the_heads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
