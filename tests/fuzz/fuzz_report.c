/* fuzz_report - any bytes as results.json and as metrics.jsonl of a run: refused with a
 * sentence, or a page in which the data stays in its block. */
#include "fuzz_file.h"
#include "report/compare.h"
#include "report/page.h"

static size_t scripts(const char *page)
{
    size_t n = 0;
    for (; (page = strstr(page, "</script")); page++)
        n++;
    return n;
}

static void check_page(struct sb_report_run *r)
{
    struct sb_compare c;
    char *text;
    sb_status st = sb_page_make(r, 1, "0", &text);
    assert(st == SB_OK && scripts(text) == 3);
    sb_free(text);
    for (int f = SB_COMPARE_TEXT; r->results && f <= SB_COMPARE_JSON; f++) {
        st = sb_compare_init(&c, r, 1);
        if (st == SB_OK)
            st = sb_compare_write(&c, (enum sb_compare_format)f, &text);
        assert(st == SB_OK);
        sb_free(text);
        sb_compare_fini(&c);
    }
}

static char *copy(const char *text)
{
    char *out = sb_malloc(strlen(text) + 1, 1);
    assert(out);
    return memcpy(out, text, strlen(text) + 1);
}

static void try(const char *name, const uint8_t *data, size_t size)
{
    struct sb_report_run r;
    char path[128];
    fuzz_put(name, data, size);
    (void)sb_fail(SB_OK, "%s", "");
    sb_status st = sb_report_run_init(&r, fuzz_path(".", path));
    r.recipe.text = copy("[data]\n");
    r.recipe.group = copy("one");
    if (st == SB_OK)
        check_page(&r);
    else
        assert(strstr(sb_message(), name));
    sb_report_run_fini(&r);
    fuzz_remove(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try("results.json", data, size);
    try("metrics.jsonl", data, size);
    assert(sb_mem_live() == 0);
    return 0;
}
