/* fuzz_model - any bytes as a model file: read, and if that works, inspected, and every
 * member loaded into a network. The models of a few tiny runs make a good first corpus. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "model/inspect.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIXED_BYTES = 32 << 20, FACTOR = 16, MOST_PIXELS = 1 << 12 };

static void drop(void *context, const char *line)
{
    (void)context;
    assert(!strchr(line, '\n') || line[0]);
}

/* What opened must fit a network. Activations are the user's business, not the file's, so
 * large images are left out. */
static void load_members(const struct sb_model *m)
{
    const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    const struct sb_model_plan plan = {.max_batch = 1, .threads = 1, .inference = true};
    if ((uint64_t)m->info.height * m->info.width * m->info.channels > MOST_PIXELS)
        return;
    for (uint32_t i = 0; i < m->members; i++) {
        struct sb_net net;
        sb_status st = sb_model_net(m, i, &plan, &net);
        if (st == SB_OK)
            st = sb_member_draw(&m->member[i], &env, &net, 0);
        assert(st == SB_OK || st == SB_ENOMEM);
        sb_net_fini(&net);
    }
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
        load_members(&m);
    } else {
        assert(strncmp(sb_message(), "fuzz: ", 6) == 0);
    }
    sb_model_fini(&m);
    assert(sb_mem_live() == 0);
    return 0;
}
