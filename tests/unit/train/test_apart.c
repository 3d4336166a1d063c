/* train/apart: how processes are cut into groups, and what they say to each other. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "threads_comm.h"
#include "train/pulse.h"
#include "train/state.h"

static void groups_end_first(void **state)
{
    static const struct {
        uint32_t members, ranks, shards, groups;
    } cases[] = {
        {2, 2, 8, 2},  /* a member a process: nothing is exchanged */
        {2, 4, 8, 2},  /* two of them share a member */
        {2, 1, 8, 1},  /* alone */
        {3, 2, 8, 1},  /* a group would have two members, the other one */
        {3, 2, 1, 2},  /* but where batches cannot be shared ... */
        {3, 7, 1, 1},  /* too many: who shares says so */
        {8, 3, 8, 3},  /* as long together, but this exchanges nothing */
        {8, 16, 4, 8}, /* more than shards together, not in a group */
        {7, 14, 8, 7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            sb_apart_groups(cases[i].members, cases[i].ranks, cases[i].shards),
            cases[i].groups);
}

static void one_process_says_nothing(void **state)
{
    struct sb_pulse p;
    (void)state;
    assert_int_equal(sb_pulse_beat(NULL, SB_PULSE_WORKS), SB_OK);
    assert_int_equal(sb_pulse_init(&p, NULL), SB_OK);
    assert_int_equal(sb_pulse_beat(&p, SB_PULSE_WORKS), SB_OK);
    assert_int_equal(sb_pulse_end(&p, SB_PULSE_DONE), SB_OK);
    assert_false(p.stop);
    assert_int_equal(sb_pulse_end(&p, SB_PULSE_STOPPED), SB_OK);
    assert_true(p.stop);
    sb_pulse_fini(&p);
    assert_int_equal(sb_mem_live(), 0);
}

struct process {
    const struct sb_comm *comm;
    enum sb_pulse_word last;
    bool stop;
    sb_status st;
};

static void *live(void *context)
{
    struct process *me = context;
    struct sb_pulse p;
    me->st = sb_pulse_init(&p, me->comm);
    for (int i = 0; me->st == SB_OK && i < 5; i++)
        me->st = sb_pulse_beat(&p, SB_PULSE_WORKS);
    if (me->st == SB_OK)
        me->st = sb_pulse_end(&p, me->last);
    me->stop = p.stop;
    sb_pulse_fini(&p);
    return NULL;
}

static void all_hear_that_one_was_stopped(void **state)
{
    (void)state;
    for (int stopped = 0; stopped < 2; stopped++) {
        struct threads_comm hub;
        pthread_t thread[3];
        struct process process[3];
        threads_comm_init(&hub, 3);
        for (int i = 0; i < 3; i++) {
            process[i] = (struct process){.comm = &hub.comm[i],
                                          .last = stopped && i == 1 ? SB_PULSE_STOPPED
                                                                    : SB_PULSE_DONE};
            assert_int_equal(pthread_create(&thread[i], NULL, live, &process[i]), 0);
        }
        for (int i = 0; i < 3; i++) {
            assert_int_equal(pthread_join(thread[i], NULL), 0);
            assert_int_equal(process[i].st, SB_OK);
            assert_int_equal(process[i].stop, stopped);
        }
        threads_comm_fini(&hub);
    }
}

/* Nobody else comes: it is noticed after the limit. */
static sb_status start_nothing(const struct sb_comm *c, const void *mine, void *all,
                               const struct sb_comm_span *part, struct sb_comm_request *r)
{
    (void)c, (void)mine, (void)all, (void)part, (void)r;
    return SB_OK;
}

static sb_status never(const struct sb_comm *c, struct sb_comm_request *r, bool *done)
{
    (void)c, (void)r;
    *done = false;
    return SB_OK;
}

static void silence_ends(void **state)
{
    struct sb_comm c = {.rank = 1,
                        .size = 2,
                        .limit = 0.05,
                        .start_all_gather = start_nothing,
                        .test = never};
    struct sb_pulse p;
    (void)state;
    assert_int_equal(sb_pulse_init(&p, &c), SB_OK);
    assert_int_equal(sb_pulse_end(&p, SB_PULSE_DONE), SB_EIO);
    assert_string_equal(
        sb_message(),
        "rank 1 of 2 had no sign of life from all others for 0.05 s, longer "
        "than one exchange may take: a rank hangs, is gone or is cut "
        "off");
    sb_pulse_fini(&p);
}

static void without_memory(void **state)
{
    struct sb_comm c = {.size = 2};
    struct sb_pulse p;
    sb_status st = SB_ENOMEM;
    long n = 0;
    (void)state;
    for (; st != SB_OK && n < 10; n++) {
        sb_mem_fail_after(n);
        st = sb_pulse_init(&p, &c);
        sb_mem_fail_after(-1);
        sb_pulse_fini(&p);
    }
    assert_int_equal(n, 3); /* two allocations */
    assert_int_equal(sb_mem_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_end_first),
        cmocka_unit_test(one_process_says_nothing),
        cmocka_unit_test(all_hear_that_one_was_stopped),
        cmocka_unit_test(silence_ends),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests_name("train/apart", tests, NULL, NULL);
}
