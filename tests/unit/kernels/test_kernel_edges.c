/* kernels/ at its edges: what cannot be chosen, shaped, planned or taken as a pattern is
 * refused with its code and sentence and changes nothing; every allocation fails once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../kernels/cases.h"
#include "kernels/kernels.h"
#include "refused.h"

/* Lets an allocation beyond the address space fail under the sanitizer too. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* ---- instruction sets ---------------------------------------------------------------- */

static void instruction_sets(void **state)
{
    (void)state;
    const struct sb_kernels *have[SB_MOST_KERNELS], *k = NULL;
    size_t n = sb_kernels_list(have, SB_MOST_KERNELS);
    char names[128] = "", sentence[192];
    assert_string_equal(have[0]->name, "scalar");
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sb_kernels_choose(have[i]->name, &k), SB_OK);
        assert_ptr_equal(k, have[i]);
        strcat(strcat(names, ", "), have[i]->name);
        assert_true(have[i]->lanes == 8 ? !have[i]->narrow : have[i]->narrow->lanes == 8);
    }
    /* the portable table of 16 lanes is for tests alone */
    const struct sb_kernels *best = have[n > 2 ? n - 1 : 0];
    assert_int_equal(sb_kernels_choose(NULL, &k), SB_OK);
    assert_ptr_equal(k, best);
    assert_int_equal(sb_kernels_choose("auto", &k), SB_OK);
    assert_ptr_equal(k, best);
    static const char *const unknown[] = {"mmx", "", "Scalar", "avx2 "};
    for (int i = 0; i < 4; i++) {
        k = NULL;
        snprintf(sentence, sizeof sentence,
                 "instruction set '%s': this machine and build have auto%s", unknown[i],
                 names);
        refused(sb_kernels_choose(unknown[i], &k), SB_EARG, sentence);
        assert_null(k);
    }
    assert_int_equal(sb_kernels_list(have, 1), 1);
    assert_int_equal(sb_kernels_list(have, 0), 0);
}

/* ---- shapes -------------------------------------------------------------------------- */

static void activations(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    struct sb_act a;
    refused(sb_act_init(&a, 4, 1, 1, 1, 1), SB_EARG,
            "activations with 4 images side by side; kernels have 8 or 16");
    refused(sb_act_init(&a, 8, 0, 1, 1, 1), SB_EARG,
            "activations of 0 x 1 x 1 x 1: every size must be at least 1");
    refused(sb_act_init(&a, 8, 2, 0, 3, 4), SB_EARG,
            "activations of 2 x 0 x 3 x 4: every size must be at least 1");
    refused(sb_act_init(&a, 8, 2, 3, 0, 4), SB_EARG,
            "activations of 2 x 3 x 0 x 4: every size must be at least 1");
    refused(sb_act_shape(&a, 8, 2, 3, 4, 0), SB_EARG,
            "activations of 2 x 3 x 4 x 0: every size must be at least 1");
    refused(sb_act_init(&a, 8, UINT32_MAX, 1, 1, 1), SB_EARG,
            "a batch of 4294967295 images is too large");
    refused(
        sb_act_init(&a, 8, 1, 1, UINT32_MAX, UINT32_MAX), SB_EARG,
        "activations of 1 x 1 x 4294967295 x 4294967295 do not fit the address space");
    refused(sb_act_init(&a, 8, 1, UINT32_MAX, 1 << 14, 1 << 14), SB_EARG,
            "activations of 1 x 4294967295 x 16384 x 16384 do not fit the address space");
    refused(
        sb_act_init(&a, 8, UINT32_MAX - 8, UINT32_MAX, 4, 1), SB_EARG,
        "activations of 4294967287 x 4294967295 x 4 x 1 do not fit the address space");
    assert_null(a.data);
    assert_int_equal(a.batch, 0);
    refused(sb_act_init(&a, 8, 8, 1u << 31, 1 << 10, 1 << 10), SB_ENOMEM,
            "no memory for activations of 8 x 2147483648 x 1024 x 1024");
    sb_act_fini(&a);
    assert_int_equal(sb_mem_live(), live);
}

static void geometry(void **state)
{
    (void)state;
    struct sb_conv c;
    refused(sb_conv_init(&c, 0, 1, 1, 1, 1, 0, 1, 1), SB_EARG,
            "convolution 0 -> 1, kernel 1 x 1 on 1 x 1: every size must be at least 1");
    refused(sb_conv_init(&c, 1, 0, 1, 1, 1, 0, 1, 1), SB_EARG,
            "convolution 1 -> 0, kernel 1 x 1 on 1 x 1: every size must be at least 1");
    refused(sb_conv_init(&c, 1, 1, 0, 3, 1, 0, 5, 5), SB_EARG,
            "convolution 1 -> 1, kernel 0 x 3 on 5 x 5: every size must be at least 1");
    refused(sb_conv_init(&c, 1, 1, 3, 0, 1, 0, 5, 5), SB_EARG,
            "convolution 1 -> 1, kernel 3 x 0 on 5 x 5: every size must be at least 1");
    refused(sb_conv_init(&c, 1, 1, 3, 3, 1, 0, 0, 5), SB_EARG,
            "convolution 1 -> 1, kernel 3 x 3 on 0 x 5: every size must be at least 1");
    refused(sb_conv_init(&c, 1, 1, 3, 3, 1, 0, 5, 0), SB_EARG,
            "convolution 1 -> 1, kernel 3 x 3 on 5 x 0: every size must be at least 1");
    refused(sb_conv_init(&c, 1, 1, 1, 1, 1, 0, (1 << 20) + 1, 5), SB_EARG,
            "planes of 1048577 x 5: at most 1048576 pixels a side");
    refused(sb_conv_init(&c, 1, 1, 1, 1, 1, 0, 5, UINT32_MAX), SB_EARG,
            "planes of 5 x 4294967295: at most 1048576 pixels a side");
    refused(sb_conv_init(&c, 1u << 16, 1u << 16, 1, 1, 1, 0, 5, 5), SB_EARG,
            "convolution 65536 -> 65536, kernel 1 x 1: more than 2^32 - 1 weights");
    refused(sb_conv_init(&c, 1, 1, 1u << 16, 1u << 16, 1, 0, 5, 5), SB_EARG,
            "convolution 1 -> 1, kernel 65536 x 65536: more than 2^32 - 1 weights");
    refused(sb_conv_init(&c, 1, 1, 3, 3, 0, 1, 5, 5), SB_EARG,
            "stride 0: must be 1 to 4");
    refused(sb_conv_init(&c, 1, 1, 3, 3, 5, 1, 5, 5), SB_EARG,
            "stride 5: must be 1 to 4");
    refused(sb_conv_init(&c, 1, 1, 3, 5, 1, 3, 5, 5), SB_EARG,
            "padding 3: must be smaller than the kernel, 3 x 5");
    refused(sb_conv_init(&c, 1, 1, 5, 1, 1, 1, 5, 5), SB_EARG,
            "padding 1: must be smaller than the kernel, 5 x 1");
    refused(sb_conv_init(&c, 1, 1, 6, 3, 1, 1, 3, 5), SB_EARG,
            "kernel 6 x 3: larger than the padded plane, 5 x 7");
    refused(sb_conv_init(&c, 1, 1, 3, 8, 1, 1, 3, 5), SB_EARG,
            "kernel 3 x 8: larger than the padded plane, 5 x 7");
    refused(sb_conv_init_linear(&c, 0, 10), SB_EARG,
            "convolution 0 -> 10, kernel 1 x 1 on 1 x 1: every size must be at least 1");
    assert_int_equal(sb_conv_weights(&c), 0);
    assert_int_equal(sb_conv_init_linear(&c, UINT32_MAX, 1), SB_OK);
    assert_int_equal(sb_conv_init(&c, 1, 1, 3, 8, 4, 2, 1 << 20, 4), SB_OK);
    assert_int_equal(c.out_height, (1 << 18) + 1);
    assert_int_equal(c.out_width, 1);
}

static void planning(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    struct sb_conv c;
    struct sb_sparse s;
    assert_int_equal(sb_conv_init(&c, 2, 3, 3, 3, 1, 1, 5, 5), SB_OK);
    refused(sb_sparse_init(&s, &c, 32, 9, 10), SB_EARG,
            "a layer for kernels with 32 lanes; there are 8 or 16");
    sb_sparse_fini(&s);
    refused(sb_sparse_init(&s, &c, 8, 0, 10), SB_EARG,
            "a layer for batches of 0 images: must be at least 1");
    sb_sparse_fini(&s);
    refused(sb_sparse_init(&s, &c, 8, 8, 0), SB_EARG,
            "0 of 54 weights: must be at least 1 and at most all");
    sb_sparse_fini(&s);
    refused(sb_sparse_init(&s, &c, 8, 8, 55), SB_EARG,
            "55 of 54 weights: must be at least 1 and at most all");
    sb_sparse_fini(&s);
    assert_int_equal(sb_conv_init(&c, 1, 1, 300, 300, 1, 0, 300, 300), SB_OK);
    refused(sb_sparse_init(&s, &c, 8, 8, 1), SB_EARG,
            "kernel too large: one channel needs 720000 vectors of a strip, at most "
            "65535");
    sb_sparse_fini(&s);
    struct sb_conv nothing = {0};
    refused(sb_sparse_init(&s, &nothing, 8, 8, 1), SB_EARG,
            "1 of 0 weights: must be at least 1 and at most all");
    sb_sparse_fini(&s);
    assert_int_equal(sb_mem_live(), live);
}

/* ---- patterns ------------------------------------------------------------------------ */

static const struct layer_case small = {3, 4, 3, 3, 1, 1, 5, 6, 2, 0.3f, 0};

/* y of the layer as it is set now. */
static float *layer_result(struct layer *l, size_t *n)
{
    struct sb_env env = {.threads = 1, .kernels = &sb_kernels_scalar};
    struct sb_forward w = {.mu = l->mu, .bias = l->bias};
    assert_int_equal(
        sb_sparse_forward(&env, &l->sparse, &w, &l->x, &l->y, NULL, layer_scratch(l, 1)),
        SB_OK);
    *n = (size_t)l->y.batch * l->y.channels * l->y.height * l->y.width;
    float *flat = check_floats(*n);
    sb_act_store(&l->y, flat);
    return flat;
}

static void patterns(void **state)
{
    (void)state;
    struct layer l;
    size_t n = 0;
    layer_init(&l, 8, &small, 9, dice_mild);
    float *before = layer_result(&l, &n);
    char sentence[128];
    uint32_t cap = l.nnz, col[200] = {0};
    const uint32_t late[5] = {1, 1, 2, 2, 2}, down[5] = {0, 2, 1, 2, 2};
    const uint32_t high[5] = {0, 1, 1, 1, cap + 1}, top[5] = {0, 0, UINT32_MAX, 0, 0};
    const uint32_t two[5] = {0, 0, 0, 2, 2};
    assert_true(cap < 100);
    refused(sb_sparse_set_pattern(&l.sparse, late, col), SB_EARG,
            "pattern: row 0 begins at 1, not 0");
    snprintf(sentence, sizeof sentence, "pattern: row 1 ends at 1; must be 2 to %u", cap);
    refused(sb_sparse_set_pattern(&l.sparse, down, col), SB_EARG, sentence);
    snprintf(sentence, sizeof sentence, "pattern: row 3 ends at %u; must be 1 to %u",
             cap + 1, cap);
    refused(sb_sparse_set_pattern(&l.sparse, high, col), SB_EARG, sentence);
    snprintf(sentence, sizeof sentence, "pattern: row 1 ends at %u; must be 0 to %u",
             UINT32_MAX, cap);
    refused(sb_sparse_set_pattern(&l.sparse, top, col), SB_EARG, sentence);
    col[1] = 27;
    refused(sb_sparse_set_pattern(&l.sparse, two, col), SB_EARG,
            "pattern: row 2 has column 27 of 27");
    col[0] = 5;
    col[1] = 5;
    refused(sb_sparse_set_pattern(&l.sparse, two, col), SB_EARG,
            "pattern: row 2 has column 5 after column 5");
    col[1] = 4;
    refused(sb_sparse_set_pattern(&l.sparse, two, col), SB_EARG,
            "pattern: row 2 has column 4 after column 5");
    float *after = layer_result(&l, &n);
    assert_memory_equal(after, before, n * sizeof *after);
    sb_free(before);
    sb_free(after);
    layer_fini(&l);
}

/* ---- memory -------------------------------------------------------------------------- */

static const struct sb_corr_use use = {
    .lanes = 8, .max_batch = 9, .capacity = 10, .gradient = true};

static sb_status init_act(void *object, const struct sb_conv *c)
{
    return sb_act_init(object, 8, 9, c->in, c->height, c->width);
}

static void fini_act(void *object)
{
    sb_act_fini(object);
}

static sb_status init_forward(void *object, const struct sb_conv *c)
{
    return sb_corr_init_forward(object, c, &use);
}

static sb_status init_backward(void *object, const struct sb_conv *c)
{
    return sb_corr_init_backward(object, c, &use);
}

static void fini_corr(void *object)
{
    sb_corr_fini(object);
}

static sb_status init_sparse(void *object, const struct sb_conv *c)
{
    return sb_sparse_init(object, c, 8, 9, 10);
}

static void fini_sparse(void *object)
{
    sb_sparse_fini(object);
}

struct constructor {
    const char *name;
    size_t size;
    sb_status (*init)(void *object, const struct sb_conv *c);
    void (*fini)(void *object);
};

static const struct constructor constructors[] = {
    {"act", sizeof(struct sb_act), init_act, fini_act},
    {"corr forward", sizeof(struct sb_corr), init_forward, fini_corr},
    {"corr backward", sizeof(struct sb_corr), init_backward, fini_corr},
    {"sparse", sizeof(struct sb_sparse), init_sparse, fini_sparse},
};
enum { CONSTRUCTORS = sizeof constructors / sizeof *constructors };

/* Allocations of an init that succeeds. */
static size_t allocations(const struct constructor *m, void *object,
                          const struct sb_conv *c)
{
    size_t before = sb_mem_count();
    assert_int_equal(m->init(object, c), SB_OK);
    m->fini(object);
    return sb_mem_count() - before;
}

/* Every allocation fails once, each time with a sentence, and nothing stays behind. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct sb_conv c;
    size_t live = sb_mem_live();
    assert_int_equal(sb_conv_init(&c, 5, 20, 3, 3, 2, 1, 7, 5), SB_OK);
    for (int i = 0; i < CONSTRUCTORS; i++) {
        const struct constructor *m = &constructors[i];
        void *object = malloc(m->size);
        sb_status st = SB_ENOMEM;
        long n = 0;
        assert_non_null(object);
        size_t count = allocations(m, object, &c);
        assert_true(count >= 1);
        for (; st != SB_OK && n < 100; n++) {
            memset(object, 0xa5, m->size);
            (void)sb_fail(SB_EIO, "nothing was said");
            sb_mem_fail_after(n);
            st = m->init(object, &c);
            sb_mem_fail_after(-1);
            if (st != SB_OK) {
                assert_int_equal(st, SB_ENOMEM);
                assert_int_equal(strncmp(sb_message(), "no memory ", 10), 0);
            }
            m->fini(object);
            assert_int_equal(sb_mem_live(), live);
        }
        assert_int_equal(n, count + 1); /* each of `count` failed once, then success */
        free(object);
    }
}

static void no_memory_sentences(void **state)
{
    (void)state;
    struct sb_conv c;
    struct sb_act a;
    struct sb_sparse s;
    assert_int_equal(sb_conv_init(&c, 5, 20, 3, 3, 2, 1, 7, 5), SB_OK);
    sb_mem_fail_after(0);
    refused(sb_act_init(&a, 8, 1, 2, 3, 4), SB_ENOMEM,
            "no memory for activations of 1 x 2 x 3 x 4");
    refused(sb_sparse_init(&s, &c, 8, 9, 10), SB_ENOMEM,
            "no memory for the kernel order of 10 weights");
    sb_mem_fail_after(-1);
    sb_act_fini(&a);
    sb_sparse_fini(&s);
}

static void fini_takes_anything(void **state)
{
    (void)state;
    struct sb_conv c;
    size_t live = sb_mem_live();
    assert_int_equal(sb_conv_init(&c, 5, 3, 1, 1, 1, 0, 2, 2), SB_OK);
    for (int i = 0; i < CONSTRUCTORS; i++) {
        const struct constructor *m = &constructors[i];
        void *object = calloc(1, m->size), *zero = calloc(1, m->size);
        assert_non_null(object);
        assert_non_null(zero);
        m->fini(NULL);
        m->fini(object); /* zeroed */
        assert_int_equal(m->init(object, &c), SB_OK);
        m->fini(object);
        m->fini(object); /* twice */
        assert_memory_equal(object, zero, m->size);
        free(object);
        free(zero);
    }
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_sets),
        cmocka_unit_test(activations),
        cmocka_unit_test(geometry),
        cmocka_unit_test(planning),
        cmocka_unit_test(patterns),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(no_memory_sentences),
        cmocka_unit_test(fini_takes_anything),
    };
    return cmocka_run_group_tests_name("kernels/edges", tests, NULL, NULL);
}
