/* sebays_model - the part of include/sebays.h about model files. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "model/inspect.h"
#include "model/model.h"
#include "sebays.h"

enum { PATH_BYTES = 4096 };

/* The model file that path means: itself, or the one in that run directory. */
static sb_status find_model(const char *path, char out[PATH_BYTES], uint64_t *bytes)
{
    struct stat s;
    int n = snprintf(out, PATH_BYTES, "%s", path);
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        n = snprintf(out, PATH_BYTES, "%s/model.safetensors", path);
    if (n < 0 || n >= PATH_BYTES)
        return sb_fail(SB_EARG, "a path of more than %d bytes", PATH_BYTES);
    *bytes = stat(out, &s) == 0 ? (uint64_t)s.st_size : 0;
    return SB_OK;
}

/* Lines in one text: counted first, then copied. */
struct text {
    char *to; /* NULL: count only */
    size_t used;
};

static void add_line(void *context, const char *line)
{
    struct text *t = context;
    size_t n = strlen(line);
    if (t->to) {
        memcpy(t->to + t->used, line, n);
        t->to[t->used + n] = '\n';
    }
    t->used += n + 1;
}

sebays_status sebays_inspect(const char *path, char **out)
{
    char file[PATH_BYTES];
    uint64_t bytes = 0;
    struct sb_model m = {0};
    struct text t = {0};
    *out = NULL;
    sb_status st = find_model(path, file, &bytes);
    if (st == SB_OK)
        st = sb_model_read(&m, file);
    if (st == SB_OK)
        st = sb_inspect_model(&m, bytes, add_line, &t);
    if (st != SB_OK)
        goto done;
    t.to = sb_malloc(t.used + 1, 1);
    if (!t.to) {
        st = sb_fail(SB_ENOMEM, "no memory for %zu bytes of text", t.used);
        goto done;
    }
    t.used = 0;
    st = sb_inspect_model(&m, bytes, add_line, &t);
    t.to[t.used] = '\0';
    *out = t.to;
done:
    sb_model_fini(&m);
    return (sebays_status)st;
}
