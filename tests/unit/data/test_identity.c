/* data/identity: every difference is told, with both values, and what may be forced. */
#include "data_fixture.h"

#include "data/identity.h"

enum { N = 40, CLASSES = 3 };

/* A table of two numbers and a class, with parts. */
struct made {
    struct sb_dataset set;
    uint32_t labels[N];
    float values[2 * N];
    struct sb_indices part;
    char *names[CLASSES];
};

static void fill(struct made *m)
{
    static char a[] = "ant", b[] = "bee", c[] = "cat";
    for (uint32_t i = 0; i < N; i++) {
        m->labels[i] = i % CLASSES;
        m->values[2 * i] = (float)i;
        m->values[2 * i + 1] = (float)(i * i % 7);
    }
    m->names[0] = a, m->names[1] = b, m->names[2] = c;
    m->set = made_up(NULL, m->labels, N, 2, 1, 1, CLASSES);
    m->set.element = SB_FLOATS;
    m->set.values = m->values;
    m->set.class_names = m->names;
}

static void make(struct made *m)
{
    fill(m);
    struct sb_holdout_options o = {.count = 8};
    assert_int_equal(sb_indices_init(&m->part, &m->set, &o), SB_OK);
}

static json_t *identity(const struct made *m, const uint32_t *tests, uint32_t count)
{
    json_t *out;
    struct sb_identity_of of = {
        .train = &m->set, .part = &m->part, .test_index = tests, .tests = count};
    assert_int_equal(sb_identity_make(&of, &out), SB_OK);
    return out;
}

static const uint32_t some[] = {1, 2, 3}, others[] = {1, 2, 4};

/* What changes, and what the three uses say, without and with force. */
struct change {
    const char *what; /* in the sentence */
    bool resume, eval, other, resume_forced, eval_forced;
};

static void check(const json_t *then, const json_t *now, const struct change *c)
{
    static const enum sb_identity_use use[] = {SB_IDENTITY_RESUME, SB_IDENTITY_EVAL,
                                               SB_IDENTITY_OTHER, SB_IDENTITY_RESUME,
                                               SB_IDENTITY_EVAL};
    const bool bad[] = {c->resume, c->eval, c->other, c->resume_forced, c->eval_forced};
    for (int i = 0; i < 5; i++) {
        sb_status st = sb_identity_compare("here", then, now, use[i], i > 2);
        assert_int_equal(st, bad[i] ? SB_EARG : SB_OK);
        if (bad[i] && i <= 2) /* what is passed over may hide the next */
            assert_non_null(strstr(sb_message(), c->what));
    }
}

static void other_content_is_told(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    json_t *then = identity(&m, some, 3), *now = identity(&m, some, 3);
    check(then, now, &(struct change){.what = "nothing"});
    json_decref(now);

    static char kat[] = "kat";
    m.names[2] = kat;
    now = identity(&m, some, 3);
    check(then, now,
          &(struct change){"the name of class 3 was \"cat\" and is now \"kat\"", true,
                           true, true, true, true});
    json_decref(now);
    fill(&m);

    m.values[5] += 1;
    now = identity(&m, some, 3);
    check(then, now,
          &(struct change){"the fingerprint of the training set was ", true, true, false,
                           false, false});
    json_decref(now);
    fill(&m);

    m.labels[5] ^= 1;
    now = identity(&m, some, 3);
    check(then, now,
          &(struct change){"the fingerprint of the training set was ", true, true, false,
                           false, false});
    json_decref(now);
    json_decref(then);
    sb_indices_fini(&m.part);
}

/* Rows that count for more make another model. */
static void other_weights_are_told(void **state)
{
    (void)state;
    struct made m;
    float weights[N];
    make(&m);
    for (uint32_t i = 0; i < N; i++)
        weights[i] = 1;
    json_t *without = identity(&m, some, 3);
    m.set.weights = weights;
    json_t *then = identity(&m, some, 3);
    const struct change training = {
        "the fingerprint of the training set was ", true, true, false, false, false};
    check(without, then, &training);
    weights[7] = 2;
    json_t *now = identity(&m, some, 3);
    check(then, now, &training);
    json_decref(without);
    json_decref(then);
    json_decref(now);
    sb_indices_fini(&m.part);
}

/* Targets of arrays have names of their own. */
static void other_targets_are_told(void **state)
{
    (void)state;
    static char height[] = "height", weight[] = "weight";
    char *names[] = {height};
    float targets[N] = {0};
    struct made m;
    make(&m);
    m.set.labels = NULL;
    m.set.classes = 0;
    m.set.class_names = NULL;
    m.set.targets = targets;
    m.set.target_count = 1;
    m.set.target_names = names;
    json_t *then = identity(&m, some, 3);
    names[0] = weight;
    json_t *now = identity(&m, some, 3);
    check(then, now,
          &(struct change){"the name of target 1 was \"height\" and is now \"weight\"",
                           true, true, true, true, true});
    json_decref(then);
    json_decref(now);
    sb_indices_fini(&m.part);
}

static void other_parts_are_told(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    json_t *then = identity(&m, some, 3), *now = identity(&m, others, 3);
    check(then, now,
          &(struct change){"the fingerprint of which examples train and test was ", true,
                           true, false, true, false});
    json_decref(now);

    m.set.n--;
    now = identity(&m, some, 3);
    check(then, now,
          &(struct change){"the number of training examples was 40 and is now 39", true,
                           true, false, true, false});
    json_decref(now);

    m.set.n++;
    now = identity(&m, some, 2);
    check(then, now,
          &(struct change){"the number of test examples was 3 and is now 2", true, true,
                           false, true, false});
    json_decref(now);

    m.set.class_names = NULL;
    m.set.classes = 4;
    now = identity(&m, some, 3);
    check(then, now,
          &(struct change){
              "the name of class was [\"ant\", \"bee\", \"cat\"] and is now none", true,
              true, true, true, true});
    json_decref(now);
    json_decref(then);
    sb_indices_fini(&m.part);
}

/* Models of earlier builds kept less: what is there is compared. */
static void what_was_not_kept_is_not_compared(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    json_t *now = identity(&m, some, 3), *then = json_pack("{s:i}", "classes", 3);
    assert_int_equal(sb_identity_compare("here", then, now, SB_IDENTITY_EVAL, false),
                     SB_OK);
    assert_int_equal(json_object_set_new(then, "classes", json_integer(5)), 0);
    refused(
        sb_identity_compare("here", then, now, SB_IDENTITY_EVAL, false), SB_EARG,
        "here: the data is not what it was: the number of classes was 5 and is now 3; "
        "restore the data, or train anew");
    refused(sb_identity_compare_text("here", "no", "{}", SB_IDENTITY_RESUME, false),
            SB_EFORMAT, "here: line 1, column 2: '[' or '{' expected near 'no'");
    json_decref(then);
    json_decref(now);
    sb_indices_fini(&m.part);
}

/* Of much data pieces stand for all, the first and the last byte among them. */
static void large_sets_are_sampled(void **state)
{
    (void)state;
    size_t size = ((size_t)1 << 26) + 12345;
    uint8_t *images = calloc(size, 1);
    uint32_t label = 0;
    assert_non_null(images);
    struct made m;
    make(&m);
    m.set = made_up(images, &label, 1, 1, 1, (uint32_t)size, 2);
    json_t *then = identity(&m, NULL, 3);
    const size_t at[] = {0, size - 1};
    for (int i = 0; i < 2; i++) {
        images[at[i]] = 1;
        json_t *now = identity(&m, NULL, 3);
        assert_false(json_equal(then, now));
        json_decref(now);
        images[at[i]] = 0;
    }
    json_decref(then);
    sb_indices_fini(&m.part);
    free(images);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_content_is_told),
        cmocka_unit_test(other_weights_are_told),
        cmocka_unit_test(other_targets_are_told),
        cmocka_unit_test(other_parts_are_told),
        cmocka_unit_test(what_was_not_kept_is_not_compared),
        cmocka_unit_test(large_sets_are_sampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
