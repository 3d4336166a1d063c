/* extract - see extract.h. */
#include "fetch/extract.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "files/gzip.h"
#include "files/tar.h"

struct extract {
    const char *directory;
    struct sb_unpack *from;
    struct sb_file file; /* being written */
    struct sb_progress *progress;
};

/* out = where path goes, without its topmost directory; "" for that itself. */
static sb_status place(const struct extract *x, const char *path, bool is_file,
                       char out[SB_PATH_BYTES])
{
    const char *slash = strchr(path, '/');
    out[0] = '\0';
    if (!slash && !is_file)
        return SB_OK;
    int n = snprintf(out, SB_PATH_BYTES, "%s/%s", x->directory, slash ? slash + 1 : path);
    if (n < 0 || n >= SB_PATH_BYTES)
        return sb_fail(SB_EFORMAT, "cannot unpack %.200s...: its path is too long", path);
    return SB_OK;
}

static sb_status on_directory(void *context, const char *path)
{
    char to[SB_PATH_BYTES];
    sb_status st = place(context, path, false, to);
    return st == SB_OK && to[0] ? sb_file_make_directory(to) : st;
}

static sb_status on_begin(void *context, const char *path, uint64_t size)
{
    struct extract *x = context;
    char to[SB_PATH_BYTES];
    (void)size;
    sb_status st = place(x, path, true, to);
    if (st != SB_OK)
        return st;
    char *slash = strrchr(to, '/'); /* an archive need not name its directories */
    *slash = '\0';
    st = sb_file_make_directory(to);
    *slash = '/';
    return st == SB_OK ? sb_file_create(&x->file, to) : st;
}

static sb_status on_write(void *context, const void *data, size_t size)
{
    struct extract *x = context;
    sb_status st = sb_file_write(&x->file, data, size);
    return st == SB_OK ? sb_progress_update(x->progress, sb_unpack_position(x->from))
                       : st;
}

static sb_status on_end(void *context)
{
    struct extract *x = context;
    return sb_file_commit(&x->file);
}

static sb_status on_read(void *context, void *to, size_t size, size_t *got)
{
    struct extract *x = context;
    return sb_unpack_read(x->from, to, size, got);
}

sb_status sb_extract_tar(const char *archive, const char *directory, uint64_t limit,
                         struct sb_progress *progress)
{
    struct extract x = {.directory = directory, .progress = progress};
    struct sb_tar_source source = {.read = on_read, .context = &x};
    struct sb_tar_sink sink = {.directory = on_directory,
                               .begin = on_begin,
                               .write = on_write,
                               .end = on_end,
                               .context = &x};
    struct sb_map m;
    sb_status st = sb_map_open(&m, archive); /* for its size */
    size_t size = m.size;
    sb_map_close(&m);
    if (st == SB_OK)
        st = sb_file_make_directory(directory);
    if (st == SB_OK)
        st = sb_unpack_new(&x.from, archive);
    if (st != SB_OK)
        return st;
    sb_progress_begin_bytes(progress, "unpack", 0, size);
    st = sb_tar_read(archive, &source, &sink, limit);
    if (st == SB_OK)
        st = sb_progress_end(progress);
    sb_file_abort(&x.file);
    sb_unpack_free(x.from);
    return st;
}
