/* fuzz_stages - any bytes as a recipe that is then planned: its list of stages holds together,
 * whatever method and numbers the recipe has. One recipe a kind of schedule is a good first
 * corpus. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "recipe/options.h"
#include "train/stage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { IMAGES = 1000 };

/* What the trainer takes for granted. */
static void check(const struct sb_schedule *s)
{
    uint64_t epochs = 0;
    uint32_t within;
    assert(s->stages > 0 && s->epoch_steps > 0);
    for (uint32_t i = 0; i < s->stages; i++) {
        const struct sb_stage *now = &s->stage[i], *before = i > 0 ? now - 1 : NULL;
        assert(now->epochs > 0 && now->name);
        assert(before ? now->run - before->run <= 1 : now->run == 0);
        assert(!before || before->run == now->run || now->first_epoch == 0);
        assert(now->leaves != SB_STAGE_MEMBER || now->choose_from < now->epochs);
        assert(now->leaves != SB_STAGE_KEPT ||
               (now->keep_epoch >= 1 && now->keep_epoch <= now->epochs));
        assert(sb_schedule_at(s, epochs, &within) == now && within == 0);
        epochs += now->epochs;
    }
    assert(epochs == s->total_epochs);
    assert(s->total_steps == s->total_epochs * s->epoch_steps);
}

static void plan(const struct sb_recipe *r)
{
    const struct sb_method *method;
    struct sb_schedule s = {0};
    if (sb_method_find(r->config.method.name, &method) == SB_OK &&
        sb_schedule_init(&s, &r->config, method, IMAGES) == SB_OK)
        check(&s);
    sb_schedule_fini(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_recipe r;
    sb_recipe_init(&r);
    if (sb_recipe_parse(&r, "fuzz", (const char *)data, size) == SB_OK &&
        sb_recipe_resolve(&r) == SB_OK)
        plan(&r);
    assert(sb_mem_live() == 0);
    return 0;
}
