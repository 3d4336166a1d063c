/* fuzz_recipe - any bytes as a recipe: read, and if that works, resolved, written and read
 * back the same. The recipes make a good first corpus. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "recipe/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_and_read_back(const struct sb_recipe *r)
{
    struct sb_recipe back;
    char *text, *again;
    sb_status st = sb_recipe_write(r, true, &text);
    assert(st == SB_OK);
    sb_recipe_init(&back);
    st = sb_recipe_parse(&back, "written", text, strlen(text));
    assert(st == SB_OK);
    (void)sb_recipe_resolve(&back); /* what is left open is known then */
    st = sb_recipe_write(&back, true, &again);
    assert(st == SB_OK && strcmp(text, again) == 0);
    (void)st;
    sb_free(text);
    sb_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_recipe r;
    sb_recipe_init(&r);
    if (sb_recipe_parse(&r, "fuzz", (const char *)data, size) == SB_OK) {
        (void)sb_recipe_resolve(&r);
        write_and_read_back(&r);
    } else {
        assert(strncmp(sb_message(), "fuzz:", 5) == 0);
    }
    assert(sb_mem_live() == 0);
    return 0;
}
