/* model/checkpoint: exact resumption, files kept, other recipes and contents, and every
 * allocation failed once. */
#include "model/checkpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "checkpoint_run.h"
#include "refused.h"

/* ---- resumption ---- */

static void a_run_resumes_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        bool gauss;
        uint32_t members;
        bool has_best;
    } kinds[] = {{"lenet", true, 2, true},
                 {"wrn-10-1", true, 0, false},
                 {"wrn-10-1", false, 3, true},
                 {"mlp-5", true, 1, false}};
    size_t live = sb_mem_live();
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct run a, b;
        uint64_t step;
        run_init(&a, kinds[i].arch, kinds[i].gauss);
        run_init(&b, kinds[i].arch, kinds[i].gauss);
        run_fill(&a, 7, kinds[i].members, kinds[i].has_best);
        run_fill(&b, 8, 3, true);
        sb_trained_fini(&b.member[0]); /* members of the list may also be empty */
        assert_int_equal(sb_checkpoint_save(&a.c, directory, 10 + i), SB_OK);
        assert_int_equal(sb_checkpoint_load(&b.c, &env, directory, &step), SB_OK);
        assert_true(step == 10 + i);
        assert_true(same_run(&a, &b));
        assert_string_equal(logged, "");
        run_fini(&a);
        run_fini(&b);
    }
    assert_int_equal(sb_mem_live(), live);
}

static void the_last_two_are_kept(void **state)
{
    (void)state;
    struct run r, other;
    run_init(&r, "mlp-5", true);
    run_init(&other, "mlp-5", true);
    assert_false(sb_checkpoint_exists(directory));
    save(&r, 1);
    assert_true(sb_checkpoint_exists(directory));
    assert_int_equal(count_files(), 1);
    save(&r, 9);
    assert_int_equal(count_files(), 2);
    save(&r, 10); /* by number: 10 is after 9 */
    assert_int_equal(count_files(), 2);
    assert_true(sb_file_exists(file_of(9)) && sb_file_exists(file_of(10)));
    resumes_at(&r, &other, 10);
    save(&r, 10); /* the same again */
    assert_int_equal(count_files(), 2);
    /* what a kill leaves goes, what is not ours stays */
    assert_int_equal(
        sb_file_put(in_directory("checkpoint-11.safetensors.123-0.tmp"), "x", 1), SB_OK);
    assert_int_equal(sb_file_put(in_directory("checkpoint-x.safetensors"), "x", 1),
                     SB_OK);
    assert_int_equal(sb_file_put(in_directory("checkpoint-012.safetensors"), "x", 1),
                     SB_OK);
    assert_int_equal(sb_file_put(in_directory("model.safetensors"), "x", 1), SB_OK);
    save(&r, 11);
    assert_int_equal(count_files(), 5);
    assert_true(sb_file_exists(file_of(10)) && sb_file_exists(file_of(11)));
    run_fini(&r);
    run_fini(&other);
}

/* ---- a number of weights that changed on the way ---- */

struct plan {
    struct sb_net *net;
    const char *arch;
    int calls;
};

static sb_status plan(void *context, const uint32_t *active)
{
    struct plan *p = context;
    struct sb_net_options o = nets_options(p->arch, false);
    o.active = active;
    p->calls++;
    sb_net_fini(p->net);
    return sb_net_init(p->net, &o);
}

/* a has other weights than b was planned for, and something to rewind to. */
static void the_net_is_planned_for_what_is_there(void **state)
{
    (void)state;
    static const double densities[] = {0.3, 1.0};
    size_t live = sb_mem_live();
    for (unsigned i = 0; i < 2; i++) {
        struct run a, b;
        struct sb_trained kept, read = {0};
        uint64_t step;
        run_init(&a, "wrn-10-1", false);
        run_init(&b, "wrn-10-1", false);
        run_fill(&a, 7, 1, true);
        assert_int_equal(sb_trained_copy(&a.best, &kept), SB_OK);
        sb_net_fini(&a.net);
        assert_int_equal(nets_init(&a.net, "wrn-10-1", densities[i], false), SB_OK);
        assert_int_equal(nets_fill(&env, &a.net, 3), SB_OK);
        a.c.kept = &kept;
        a.c.has_kept = true;
        struct plan p = {&b.net, "wrn-10-1", 0};
        b.c.kept = &read;
        assert_int_equal(sb_checkpoint_save(&a.c, directory, 1 + i), SB_OK);
        assert_int_equal(sb_checkpoint_load(&b.c, &env, directory, &step), SB_EFORMAT);
        b.c.plan = plan;
        b.c.context = &p;
        if (sb_checkpoint_load(&b.c, &env, directory, &step) != SB_OK)
            fail_msg("%s", sb_message());
        assert_int_equal(p.calls, 1);
        assert_true(same_run(&a, &b) && b.c.has_kept && same_member(&kept, &read));
        a.c.has_kept = false; /* nothing is kept, and the net is as it should be */
        assert_int_equal(sb_checkpoint_save(&a.c, directory, 1 + i), SB_OK);
        assert_int_equal(sb_checkpoint_load(&b.c, &env, directory, &step), SB_OK);
        assert_int_equal(p.calls, 1);
        assert_false(b.c.has_kept);
        sb_trained_fini(&kept);
        sb_trained_fini(&read);
        run_fini(&a);
        run_fini(&b);
        assert_int_equal(unlink(file_of(1 + i)), 0);
    }
    assert_int_equal(sb_mem_live(), live);
}

/* ---- what does not belong together ---- */

static void other_recipes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *recipe, *sentence;
    } cases[] = {
        {"[data]\nset = x\n[train]\nlr = 0.2\n",
         "\"lr = 0.1\" then, \"lr = 0.2\" now, in [train]"},
        {"[data]\nset = y\n[train]\nlr = 0.1\n",
         "\"set = x\" then, \"set = y\" now, in [data]"},
        {"[data]\nset = x\n[train]\n", "\"lr = 0.1\" then, \"nothing\" now, in [train]"},
        {"[data]\nset = x\n[train]\nlr = 0.1\nseed = 1",
         "\"nothing\" then, \"seed = 1\" now, in [train]"},
        {"set = x", "\"[data]\" then, \"set = x\" now, in its first section"},
    };
    struct run r, other;
    uint64_t step;
    char want[512];
    run_init(&r, "mlp-5", true);
    run_init(&other, "mlp-5", true);
    save(&r, 1);
    save(&r, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        other.c.recipe = cases[i].recipe;
        snprintf(want, sizeof want,
                 "%s/checkpoint-2.safetensors: belongs to another recipe: %s; go on with "
                 "the same recipe, or start anew in another directory",
                 directory, cases[i].sentence);
        refused(sb_checkpoint_load(&other.c, &env, directory, &step), SB_EARG, want);
    }
    other.c.recipe = "; a note\n\n[data]\n  set = x\r\n# more\n[train]\nlr = 0.1";
    resumes_at(&r, &other, 2);
    run_fini(&r);
    run_fini(&other);
}

static void refuse_load(struct run *r, const char *sentence)
{
    uint64_t step;
    char want[512];
    snprintf(want, sizeof want,
             "%s/checkpoint-1.safetensors: %s; there is no other intact checkpoint",
             directory, sentence);
    refused(sb_checkpoint_load(&r->c, &env, directory, &step), SB_EFORMAT, want);
}

/* The same recipe on other data, or a trainer that counts other things. */
static void other_contents_are_refused(void **state)
{
    (void)state;
    struct run r, other;
    run_init(&r, "mlp-5", true);
    save(&r, 1);
    run_init(&other, "mlp-6", true);
    refuse_load(&other, "tensor \"net.0.mu\": its shape is [94], want [113]");
    run_fini(&other);
    run_init(&other, "mlp-5-5", true);
    refuse_load(&other, "metadata \"active\": has 2 layers, want 3");
    run_fini(&other);
    run_init(&other, "mlp-5", false);
    refuse_load(&other, "tensor \"net.0.rho\": belongs to no part of the checkpoint");
    run_fini(&other);
    run_init(&other, "mlp-5", true);
    other.value[1].name = "step";
    refuse_load(&other, "has no metadata \"state.step\"");
    other.value[1].name = "batch";
    other.value[0] = (struct sb_checkpoint_value){.name = "epoch", .real = &other.loss};
    refuse_load(&other, "metadata \"state.epoch\": want 16 hexadecimal digits");
    other.value[0] =
        (struct sb_checkpoint_value){.name = "epoch", .integer = &other.epoch};
    other.array.count = ARRAY - 1;
    refuse_load(&other, "tensor \"array.sums\": its shape is [5], want [4]");
    other.array.count = ARRAY;
    other.c.capacity = 0;
    refuse_load(&other, "has 1 finished networks, at most 0 are expected");
    other.c.capacity = ROOM;
    other.c.best = NULL;
    refuse_load(&other, "tensor \"best.0.mu\": belongs to no part of the checkpoint");
    run_fini(&other);
    run_fini(&r);
    run_init(&r, "mlp-50", true);
    save(&r, 1);
    run_init(&other, "mlp-1", true);
    refuse_load(&other, "metadata \"active\": 810 weights in a layer of 192");
    run_fini(&other);
    run_fini(&r);
}

/* ---- memory ---- */

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    struct run r, other;
    run_init(&r, "mlp-5", true);
    run_init(&other, "mlp-5", true);
    run_fill(&other, 5, 0, false);
    save(&r, 1);
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 200; n++) {
        uint64_t step;
        sb_mem_fail_after(n);
        st = sb_checkpoint_save(&r.c, directory, 2);
        if (st == SB_OK)
            st = sb_checkpoint_load(&other.c, &env, directory, &step);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(st, SB_OK);
    assert_in_range(n, 10, 199);
    assert_true(same_run(&r, &other));
    run_fini(&r);
    run_fini(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_resumes_exactly),
        TEST(the_last_two_are_kept),
        TEST(the_net_is_planned_for_what_is_there),
        TEST(other_recipes_are_refused),
        TEST(other_contents_are_refused),
        TEST(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
