/* sebays_report - the part of include/sebays.h about finished runs. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/need.h"
#include "base/file.h"
#include "base/mem.h"
#include "model/run_files.h"
#include "recipe/options.h"
#include "report/compare.h"
#include "report/page.h"
#include "sebays.h"

/* The recipe of a run directory: as it is, resolved, and without its seed. */
static sb_status read_recipe(const char *path, struct sb_report_recipe *out)
{
    struct sb_recipe r;
    sb_recipe_init(&r);
    sb_status st = sb_recipe_read(&r, path);
    if (st != SB_OK)
        return st;
    st = sb_recipe_resolve(&r);
    if (st != SB_OK)
        return sb_fail(st, "%s: %s", path, sb_message());
    out->config = r.config;
    st = sb_recipe_write(&r, false, &out->text);
    r.config.train.seed = 0;
    return st == SB_OK ? sb_recipe_canonical(&r, &out->group) : st;
}

static sb_status open_run(struct sb_report_run *run, const char *path)
{
    char recipe[SB_PATH_BYTES];
    sb_status st = sb_run_find(path, SB_RUN_RECIPE, recipe);
    if (st == SB_OK)
        st = sb_report_run_init(run, path);
    return st == SB_OK ? read_recipe(recipe, &run->recipe) : st;
}

static void close_runs(struct sb_report_run *run, size_t count)
{
    for (size_t i = 0; run && i < count; i++)
        sb_report_run_fini(&run[i]);
    sb_free(run);
}

/* *out: [count]; close_runs gives it back. */
static sb_status open_runs(const char *const *paths, size_t count,
                           struct sb_report_run **out)
{
    *out = NULL;
    if (count == 0)
        return sb_fail(SB_EARG, "want at least one run directory");
    struct sb_report_run *run = sb_calloc(count, sizeof *run);
    if (!run)
        return sb_fail(SB_ENOMEM, "no memory for %zu runs", count);
    for (size_t i = 0; i < count; i++) {
        sb_status st = paths[i] ? open_run(&run[i], paths[i])
                                : sb_fail(SB_EARG, "run directory %zu is NULL", i);
        if (st != SB_OK) {
            close_runs(run, count);
            return st;
        }
    }
    *out = run;
    return SB_OK;
}

sebays_status sebays_compare(const char *const *runs, size_t count, const char *format,
                             char **out)
{
    struct sb_report_run *run = NULL;
    struct sb_compare c = {0};
    enum sb_compare_format how;
    SB_NEED(out);
    *out = NULL;
    SB_NEED(runs);
    SB_NEED(format);
    sb_status st = sb_compare_format_find(format, &how);
    if (st == SB_OK)
        st = open_runs(runs, count, &run);
    if (st == SB_OK)
        st = sb_compare_init(&c, run, count);
    if (st == SB_OK)
        st = sb_compare_write(&c, how, out);
    sb_compare_fini(&c);
    close_runs(run, count);
    return (sebays_status)st;
}

/* A run is not to be lost by a slip: the page is none of its files but an older page. */
static sb_status check_other(const char *const *runs, size_t count, const char *html)
{
    struct stat page, file;
    char path[SB_PATH_BYTES];
    if (stat(html, &page) != 0)
        return SB_OK;
    for (size_t i = 0; i < count * SB_RUN_FILES; i++)
        if (sb_run_path(runs[i % count], (enum sb_run_file)(i / count), path) == SB_OK &&
            stat(path, &file) == 0 && file.st_dev == page.st_dev &&
            file.st_ino == page.st_ino)
            return sb_fail(SB_EARG, "%s is a file of the run; give the page another name",
                           html);
    return SB_OK;
}

sebays_status sebays_report(const char *const *runs, size_t count, const char *html)
{
    struct sb_report_run *run = NULL;
    char *page = NULL;
    SB_NEED(runs);
    sb_status st = open_runs(runs, count, &run);
    if (st == SB_OK && html)
        st = check_other(runs, count, html);
    if (st == SB_OK)
        st = sb_page_make(run, count, sebays_version(), &page);
    if (st == SB_OK && html)
        st = sb_file_put(html, page, strlen(page));
    sb_free(page);
    close_runs(run, count);
    return (sebays_status)st;
}
