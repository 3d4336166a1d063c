/* report/run and report/page: hostile files, hostile names, the frame of the page. */
#include "report/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "refused.h"
#include "report_runs.h"

static const char good[] = RUNS_RESULTS(0.9, 0.4, 0.1, 100, "");

/* ---- files --------------------------------------------------------------------------- */

static int make_directory(void **state)
{
    static char place[] = "/tmp/sebays-report.XXXXXX";
    *state = place;
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)unlink("results.json");
    (void)unlink("metrics.jsonl");
    return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

static sb_status read_texts(const char *results, const char *metrics)
{
    struct sb_report_run r;
    (void)unlink("results.json");
    (void)unlink("metrics.jsonl");
    if (results)
        assert_int_equal(sb_file_put("results.json", results, strlen(results)), SB_OK);
    if (metrics)
        assert_int_equal(sb_file_put("metrics.jsonl", metrics, strlen(metrics)), SB_OK);
    sb_status st = sb_report_run_init(&r, ".");
    sb_report_run_fini(&r);
    return st;
}

#define LINE                                                                             \
    "{\"phase\": \"explore\", \"run\": 0, \"member\": 0, \"epoch\": 1, \"val_acc\": "    \
    "0.5}"

static void sound_files_are_read(void **state)
{
    (void)state;
    struct sb_report_run r;
    assert_int_equal(read_texts(NULL, NULL), SB_OK);
    assert_int_equal(read_texts(good, LINE "\n" LINE "\n{\"pha"), SB_OK);
    assert_int_equal(sb_report_run_init(&r, "."), SB_OK);
    assert_int_equal(json_array_size(r.metrics), 2); /* the third is being written */
    assert_int_equal(sb_report_run_finished(&r), SB_OK);
    assert_null(sb_report_section(&r, "test"));
    sb_report_run_fini(&r);
}

static void wrong_types_are_refused(void **state)
{
    (void)state;
    refused(read_texts("[1]", NULL), SB_EFORMAT,
            "./results.json: the whole: want an object, have an array");
    refused(read_texts("{\"method\": \"m\"}", NULL), SB_EFORMAT,
            "./results.json: arch is missing, want a string");
    refused(read_texts("{\"method\": 7}", NULL), SB_EFORMAT,
            "./results.json: method: want a string, have a number");
    refused(read_texts("{", NULL), SB_EFORMAT,
            "./results.json: line 1, column 1: string or '}' expected near end of file");
    refused(read_texts(RUNS_RESULTS(true, 0, 0, 0, ""), NULL), SB_EFORMAT,
            "./results.json: ensemble.acc: want a number, have true or false");
    refused(read_texts(RUNS_RESULTS(0, 0, 0, 0,
                                    ", \"evaluation\": {\"size\": [{\"k\": "
                                    "1}]}"),
                       NULL),
            SB_EFORMAT,
            "./results.json: evaluation.size[0].acc is missing, want an object");
    refused(read_texts(RUNS_RESULTS(0, 0, 0, 0,
                                    ", \"evaluation\": {\"diversity\": {\"kl_matrix\": "
                                    "[[0, 1], [\"x\", 0]]}}"),
                       NULL),
            SB_EFORMAT,
            "./results.json: evaluation.diversity.kl_matrix[1][0]: want a number, have a "
            "string");
    refused(read_texts(RUNS_RESULTS(0, 0, 0, 0,
                                    ", \"evaluation\": {\"definitions\": {\"a\": 1}}"),
                       NULL),
            SB_EFORMAT,
            "./results.json: evaluation.definitions.a: want a string, have a number");
    refused(read_texts(good, LINE "\n\n"), SB_EFORMAT,
            "./metrics.jsonl:2: line 1, column 0: '[' or '{' expected near end of file");
    refused(read_texts(good, "{\"phase\": \"explore\"}\n"), SB_EFORMAT,
            "./metrics.jsonl:1: run is missing, want a number");
}

static void huge_arrays_are_refused(void **state)
{
    (void)state;
    char *text = sb_malloc(1 << 16, 1);
    int used = sprintf(text, "{\"method\": \"m\", \"arch\": \"a\", \"density\": 1, "
                             "\"members\": [0");
    for (int i = 0; i < 4096; i++)
        used += sprintf(text + used, ",0");
    sprintf(text + used, "]}");
    refused(read_texts(text, NULL), SB_EFORMAT,
            "./results.json: members: want at most 4096 items, have 4097");
    memset(text + 12, 'x', 5000);
    strcpy(text + 5012, "\"}");
    refused(read_texts(text, NULL), SB_EFORMAT,
            "./results.json: method: want at most 4096 bytes, have 5000");
    sb_free(text);
}

#define EXAMPLE(h, pixels)                                                               \
    RUNS_RESULTS(0, 0, 0, 0,                                                             \
                 ", \"evaluation\": {\"examples\": {\"wrong\": [{\"index\": 0, "         \
                 "\"label\": 0, \"predicted\": 1, \"probability\": 1, \"channels\": 1, " \
                 "\"height\": " #h ", \"width\": 2, \"pixels\": \"" pixels "\"}]}}")

static void pictures_have_their_pixels(void **state)
{
    (void)state;
    assert_int_equal(read_texts(EXAMPLE(2, "AAECAw=="), NULL), SB_OK);
    refused(read_texts(EXAMPLE(2, "AAECAwQF"), NULL), SB_OK, "nothing was said");
    refused(
        read_texts(EXAMPLE(2, "AAEC"), NULL), SB_EFORMAT,
        "./results.json: evaluation.examples.wrong[0]: pixels: want 8 bytes of base64 "
        "for 1 x 2 x 2, have 4");
    refused(
        read_texts(EXAMPLE(2, "AAEC<w=="), NULL), SB_EFORMAT,
        "./results.json: evaluation.examples.wrong[0]: pixels: want 8 bytes of base64 "
        "for 1 x 2 x 2, have 8 of something else");
    refused(
        read_texts(EXAMPLE(2, "AAECA==="), NULL), SB_EFORMAT,
        "./results.json: evaluation.examples.wrong[0]: pixels: want 8 bytes of base64 "
        "for 1 x 2 x 2, have 8 of something else");
    refused(
        read_texts(EXAMPLE(99999999999, "AAEC"), NULL), SB_EFORMAT,
        "./results.json: evaluation.examples.wrong[0]: key \"height\": want an integer "
        "from 1 to 4096, have 99999999999");
    refused(
        read_texts(EXAMPLE(0.5, "AAEC"), NULL), SB_EFORMAT,
        "./results.json: evaluation.examples.wrong[0]: key \"height\": want an integer, "
        "have a real number");
}

/* ---- the page ------------------------------------------------------------------------ */

static char *page_of(const struct sb_report_run *run)
{
    char *page;
    assert_int_equal(sb_page_make(run, 1, "9.9", &page), SB_OK);
    return page;
}

static size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void names_cannot_leave_the_data(void **state)
{
    (void)state;
    struct sb_report_run calm = runs_make("a", "x", "lenet", "dnn", 1, 0, good);
    struct sb_report_run wild = runs_make("a</script><script>alert(1)</script><!--&\xff",
                                          "x</SCRIPT >", "lenet", "dnn", 1, 0, good);
    char *a = page_of(&calm), *b = page_of(&wild);
    assert_int_equal(occurrences(a, "</script"), 3);
    assert_int_equal(occurrences(b, "</script"), 3);
    assert_int_equal(occurrences(b, "<!--"), occurrences(a, "<!--"));
    assert_int_equal(occurrences(b, "</SCRIPT"), 0);
    assert_non_null(strstr(b, "\"path\":\"a\\u003c/script\\u003e\\u003cscript\\u003e"
                              "alert(1)\\u003c/script\\u003e\\u003c!--\\u0026?\""));
    assert_null(strstr(a, "@@"));
    assert_non_null(strstr(a, "\"version\":\"9.9\""));
    assert_int_equal(occurrences(a, "</html>"), 1);
    sb_free(a);
    sb_free(b);
    sb_report_run_fini(&calm);
    sb_report_run_fini(&wild);
}

static void a_page_fetches_nothing(void **state)
{
    (void)state;
    struct sb_report_run run = runs_make("a", "x", "lenet", "dnn", 1, 0, NULL);
    char *page = page_of(&run);
    assert_null(strstr(page, " src="));
    assert_null(strstr(page, "href=\"http"));
    assert_null(strstr(page, "url(http"));
    assert_null(strstr(page, "@import"));
    assert_null(strstr(page, "innerHTML"));
    assert_non_null(strstr(page, "default-src 'none'"));
    sb_free(page);
    sb_report_run_fini(&run);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    struct sb_report_run run = runs_make("a", "x\xff", "lenet", "dnn", 1, 0, good);
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK; n++) {
        char *page = NULL;
        assert_true(n < 200);
        sb_mem_fail_after(n);
        st = sb_page_make(&run, 1, "9.9", &page);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || (st == SB_ENOMEM && !page));
        sb_free(page);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_true(n > 4);
    sb_report_run_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_files_are_read),
        cmocka_unit_test(wrong_types_are_refused),
        cmocka_unit_test(huge_arrays_are_refused),
        cmocka_unit_test(pictures_have_their_pixels),
        cmocka_unit_test(names_cannot_leave_the_data),
        cmocka_unit_test(a_page_fetches_nothing),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
