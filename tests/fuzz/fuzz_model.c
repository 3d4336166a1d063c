/* fuzz_model - any bytes as a model file: read, and if that works, inspected, and used for
 * a prediction. The models of a few tiny runs make a good first corpus. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "model/inspect.h"
#include "model/model.h"
#include "predict/predictor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIXED_BYTES = 32 << 20, FACTOR = 16, MOST_PIXELS = 1 << 12 };

static void drop(void *context, const char *line)
{
    (void)context;
    assert(!strchr(line, '\n') || line[0]);
}

/* What a table's columns mean is looked at by who predicts. */
static bool other_columns(const struct sb_model *m, sb_status st)
{
    return m->info.columns && st == SB_EFORMAT &&
           strncmp(sb_message(), "the model: ", 11) == 0;
}

/* One example through every member. Whatever finite numbers a model has, the answer is
 * probabilities, or a sentence that says why not. */
static void predict(const struct sb_model *m, struct sb_sampling s)
{
    const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    static const float zeros[MOST_PIXELS];
    enum sb_load load = sb_load_for(m, &s);
    struct sb_loaded loaded;
    struct sb_predictor p = {0};
    struct sb_predictor_options o = {
        .env = &env, .model = m, .loaded = &loaded, .sampling = s, .max_batch = 1};
    struct sb_input in = {.data = zeros, .type = SB_INPUT_F32, .stride = {0, 0, 0, 4}};
    struct sb_predictions none = {0};
    sb_status st = sb_loaded_init(&loaded, &env, m, load, sb_plan_for(&env, load, 1));
    if (st == SB_OK)
        st = sb_predictor_init(&p, &o);
    assert(st == SB_OK || st == SB_ENOMEM || other_columns(m, st));
    if (st == SB_OK)
        st = sb_predictor_run(&p, &in, 1, 0, &none);
    assert(st == SB_OK || st == SB_ENOMEM || st == SB_ENUMERIC || other_columns(m, st));
    sb_predictor_fini(&p);
    sb_loaded_fini(&loaded);
}

/* Activations are the user's business, not the file's, so large images are left out. */
static void use(const struct sb_model *m)
{
    if ((uint64_t)m->info.height * m->info.width * m->info.channels > MOST_PIXELS)
        return;
    predict(m, (struct sb_sampling){SB_SAMPLE_DRAWS, 1});
    predict(m, (struct sb_sampling){SB_SAMPLE_NOISE, 1});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_model m;
    sb_mem_peak_reset();
    sb_status st = sb_model_read_bytes(&m, "fuzz", data, size);
    assert(sb_mem_peak() <= FIXED_BYTES + FACTOR * size);
    if (st == SB_OK) {
        assert(m.members > 0);
        assert(sb_inspect_model(&m, size, drop, NULL) == SB_OK);
        sb_model_fini(&m);
        st = sb_model_map_bytes(&m, "fuzz", data, size);
        assert(st == SB_OK);
        use(&m);
    } else {
        assert(strncmp(sb_message(), "fuzz: ", 6) == 0);
    }
    sb_model_fini(&m);
    assert(sb_mem_live() == 0);
    return 0;
}
