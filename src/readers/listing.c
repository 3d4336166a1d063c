/* listing - see listing.h. */
#include "readers/listing.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"

enum { FIRST_CAPACITY = 4096 };
enum kind { IMAGE, DIRECTORY, OTHER };

/* ---- names ---- */

static sb_status no_memory(const struct sb_listing *l)
{
    return sb_fail(SB_ENOMEM, "no memory for %zu file names", l->count + 1);
}

sb_status sb_listing_add(struct sb_listing *l, const char *name)
{
    size_t size = strlen(name) + 1;
    if (size > l->buffer - l->used) {
        size_t buffer = 2 * l->buffer + FIRST_CAPACITY + size;
        char *text = sb_malloc(buffer, 1);
        if (!text)
            return no_memory(l);
        if (l->used > 0)
            memcpy(text, l->text, l->used);
        sb_free(l->text);
        l->text = text;
        l->buffer = buffer;
    }
    memcpy(l->text + l->used, name, size);
    l->used += size;
    l->count++;
    return SB_OK;
}

sb_status sb_listing_finish(struct sb_listing *l)
{
    l->name = sb_malloc(l->count, sizeof *l->name);
    if (!l->name)
        return no_memory(l);
    const char *at = l->text;
    for (size_t i = 0; i < l->count; i++, at += strlen(at) + 1)
        l->name[i] = at;
    return SB_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void sb_listing_sort(struct sb_listing *l, size_t first, size_t end)
{
    if (end > first)
        qsort(l->name + first, end - first, sizeof *l->name, compare);
}

void sb_listing_fini(struct sb_listing *l)
{
    if (!l)
        return;
    sb_free(l->text);
    sb_free(l->name);
    *l = (struct sb_listing){0};
}

/* ---- directories ---- */

static bool is_image(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".jpg") == 0 ||
                   strcasecmp(dot, ".jpeg") == 0);
}

static sb_status classify(const char *directory, const struct dirent *e, enum kind *kind)
{
    char path[SB_PATH_BYTES];
    struct stat info;
    bool file = e->d_type == DT_REG, folder = e->d_type == DT_DIR;
    if (e->d_type == DT_LNK || e->d_type == DT_UNKNOWN) {
        sb_status st = sb_path_join(path, directory, e->d_name);
        if (st != SB_OK)
            return st;
        if (stat(path, &info) != 0)
            return sb_file_failed("read", path);
        file = S_ISREG(info.st_mode);
        folder = S_ISDIR(info.st_mode);
    }
    *kind = folder ? DIRECTORY : file && is_image(e->d_name) ? IMAGE : OTHER;
    return SB_OK;
}

static sb_status take(struct sb_content *c, const char *name, enum kind kind)
{
    if (kind != IMAGE && (c->other[0] == '\0' || strcmp(name, c->other) < 0))
        snprintf(c->other, sizeof c->other, "%s", name);
    if (kind == OTHER) {
        c->other_count++;
        return SB_OK;
    }
    struct sb_listing *l = kind == IMAGE ? c->images : c->directories;
    if (kind == IMAGE)
        c->image_count++;
    else
        c->directory_count++;
    return l ? sb_listing_add(l, name) : SB_OK;
}

/* *e = the next entry that is not hidden; NULL at the end. */
static sb_status next_entry(DIR *d, const char *directory, const struct dirent **e)
{
    do {
        errno = 0;
        *e = readdir(d); /* the stream is ours alone */
    } while (*e && (*e)->d_name[0] == '.');
    return *e || errno == 0 ? SB_OK : sb_file_failed("read", directory);
}

sb_status sb_content_scan(struct sb_content *c, const char *directory)
{
    DIR *d = opendir(directory);
    if (!d)
        return sb_file_failed("read", directory);
    const struct dirent *e;
    enum kind kind;
    sb_status st = next_entry(d, directory, &e);
    while (st == SB_OK && e) {
        st = classify(directory, e, &kind);
        if (st == SB_OK)
            st = take(c, e->d_name, kind);
        if (st == SB_OK)
            st = next_entry(d, directory, &e);
    }
    closedir(d);
    return st;
}

/* Looking, not reading: what cannot be read has no image. */
bool sb_content_has_image(const char *directory, bool deep)
{
    char path[SB_PATH_BYTES];
    const struct dirent *e;
    enum kind kind = OTHER;
    bool found = false;
    DIR *d = opendir(directory);
    if (!d)
        return false;
    while (!found && next_entry(d, directory, &e) == SB_OK && e) {
        if (classify(directory, e, &kind) != SB_OK)
            continue;
        found = kind == IMAGE;
        if (kind == DIRECTORY && deep &&
            sb_path_join(path, directory, e->d_name) == SB_OK)
            found = sb_content_has_image(path, false);
    }
    closedir(d);
    return found;
}
