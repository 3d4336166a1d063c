/* run - see run.h. */
#include "report/run.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/run_files.h"
#include "report/schema.h"

enum { PICTURE_SIDE = 4096, PICTURE_CHANNELS = 64 };

/* ---- pictures ------------------------------------------------------------------------ */

static bool is_base64(const char *text, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = strspn(text, letters);
    return n + 2 >= size && n + strspn(text + n, "=") == size;
}

static sb_status check_picture(const char *source, const char *list, size_t i,
                               const json_t *example)
{
    const json_t *pixels = json_object_get(example, "pixels");
    char where[SB_PATH_BYTES + 64];
    int64_t c = 0, h = 0, w = 0;
    snprintf(where, sizeof where, "%s: evaluation.examples.%s[%zu]", source, list, i);
    sb_status st = sb_json_integer(example, where, "channels", 1, PICTURE_CHANNELS, &c);
    if (st == SB_OK)
        st = sb_json_integer(example, where, "height", 1, PICTURE_SIDE, &h);
    if (st == SB_OK)
        st = sb_json_integer(example, where, "width", 1, PICTURE_SIDE, &w);
    if (st != SB_OK)
        return st;
    size_t want = ((size_t)(c * h * w) + 2) / 3 * 4, have = json_string_length(pixels);
    if (have == want && is_base64(json_string_value(pixels), have))
        return SB_OK;
    return sb_fail(SB_EFORMAT,
                   "%s: pixels: want %zu bytes of base64 for %d x %d x %d, have %zu%s",
                   where, want, (int)c, (int)h, (int)w, have,
                   have == want ? " of something else" : "");
}

static sb_status check_pictures(const char *source, const struct sb_report_run *r)
{
    static const char *const lists[] = {"uncertain", "wrong"};
    const json_t *examples = sb_report_section(r, "examples");
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        const json_t *list = json_object_get(examples, lists[l]);
        for (size_t i = 0; i < json_array_size(list); i++) {
            sb_status st = check_picture(source, lists[l], i, json_array_get(list, i));
            if (st != SB_OK)
                return st;
        }
    }
    return SB_OK;
}

/* ---- files --------------------------------------------------------------------------- */

static sb_status parse(const struct sb_schema *schema, const char *source,
                       const void *text, size_t size, json_t **out)
{
    json_t *all = NULL;
    *out = NULL;
    sb_status st = sb_json_parse(source, text, size, &all);
    if (st == SB_OK)
        st = sb_schema_read(schema, source, all, out);
    json_decref(all);
    return st;
}

static sb_status read_results(struct sb_report_run *r)
{
    char path[SB_PATH_BYTES];
    struct sb_map m = {0};
    sb_status st = sb_run_path(r->path, SB_RUN_RESULTS, path);
    if (st != SB_OK || !sb_file_exists(path))
        return st;
    st = sb_map_open(&m, path);
    if (st == SB_OK)
        st = parse(&sb_schema_results, path, m.data, m.size, &r->results);
    if (st == SB_OK)
        st = check_pictures(path, r);
    sb_map_close(&m);
    return st;
}

static sb_status read_lines(json_t *to, const char *path, const struct sb_map *m)
{
    const char *at = (const char *)m->data, *end = at + m->size, *next;
    for (size_t n = 1; (next = memchr(at, '\n', (size_t)(end - at)));
         n++, at = next + 1) {
        char source[SB_PATH_BYTES + 32];
        json_t *line;
        snprintf(source, sizeof source, "%s:%zu", path, n);
        sb_status st = parse(&sb_schema_metric, source, at, (size_t)(next - at), &line);
        if (st != SB_OK)
            return st;
        if (json_array_append_new(to, line) != 0)
            return sb_fail(SB_ENOMEM, "%s: no memory for its lines", path);
    }
    return SB_OK;
}

static sb_status read_metrics(struct sb_report_run *r)
{
    char path[SB_PATH_BYTES];
    struct sb_map m = {0};
    r->metrics = json_array();
    if (!r->metrics)
        return sb_fail(SB_ENOMEM, "no memory for a list");
    sb_status st = sb_run_path(r->path, SB_RUN_METRICS, path);
    if (st != SB_OK || !sb_file_exists(path))
        return st;
    st = sb_map_open(&m, path);
    if (st == SB_OK)
        st = read_lines(r->metrics, path, &m);
    sb_map_close(&m);
    return st;
}

sb_status sb_report_run_init(struct sb_report_run *r, const char *path)
{
    *r = (struct sb_report_run){.path = path};
    sb_status st = read_results(r);
    return st == SB_OK ? read_metrics(r) : st;
}

void sb_report_run_fini(struct sb_report_run *r)
{
    if (!r)
        return;
    json_decref(r->results);
    json_decref(r->metrics);
    sb_free(r->recipe.text);
    sb_free(r->recipe.group);
    *r = (struct sb_report_run){0};
}

sb_status sb_report_run_finished(const struct sb_report_run *r)
{
    return r->results ? SB_OK : sb_run_unfinished(r->path, SB_RUN_RESULTS);
}

const json_t *sb_report_section(const struct sb_report_run *r, const char *name)
{
    return json_object_get(json_object_get(r->results, "evaluation"), name);
}

json_t *sb_report_string(const char *text)
{
    json_t *out = json_string(text);
    size_t n = strlen(text);
    char *plain = out ? NULL : sb_malloc(n + 1, 1);
    if (!plain)
        return out;
    for (size_t i = 0; i <= n; i++)
        plain[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
    out = json_string(plain);
    sb_free(plain);
    return out;
}
