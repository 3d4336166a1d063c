/* fuzz_identity - any bytes, cut at the first zero, as what a run keeps of its data and what
 * the data is now: the same, or a sentence that names a difference; what equals itself never
 * differs, and who is forced is refused no more often. */
#include "data/identity.h"
#include "fuzz_file.h"

static char *copy(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

static bool same(const char *then, const char *now, int use, bool force)
{
    (void)sb_fail(SB_OK, "%s", "");
    sb_status st =
        sb_identity_compare_text("fuzz", then, now, (enum sb_identity_use)use, force);
    assert(st == SB_OK || strncmp(sb_message(), "fuzz: ", 6) == 0);
    return st == SB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t first = zero ? (size_t)(zero - data) : size;
    char *then = copy(data, first);
    char *now = zero ? copy(zero + 1, size - first - 1) : copy(data, size);
    json_t *object = NULL;
    bool parsed = sb_json_parse("fuzz", then, strlen(then), &object) == SB_OK;
    json_decref(object);
    for (int use = SB_IDENTITY_RESUME; use <= SB_IDENTITY_OTHER; use++) {
        bool strict = same(then, now, use, false);
        assert(!strict || same(then, now, use, true));
        assert(!parsed || same(then, then, use, false));
    }
    free(then);
    free(now);
    assert(sb_mem_live() == 0);
    return 0;
}
