/* part - see part.h. */
#include "base/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static const char suffix[] = ".part";

static sb_status open_end(struct sb_part *p)
{
    struct stat info;
    p->fd = open(p->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (p->fd < 0 || fstat(p->fd, &info) != 0)
        return sb_file_failed("open", p->path);
    if (!S_ISREG(info.st_mode))
        return sb_fail(SB_EIO, "cannot open %s: it is not a regular file", p->path);
    p->size = (uint64_t)info.st_size;
    return SB_OK;
}

sb_status sb_part_open(struct sb_part *p, const char *path)
{
    size_t length = strlen(path);
    *p = (struct sb_part){.fd = -1};
    p->path = sb_malloc(length + sizeof suffix, 1);
    if (!p->path)
        return sb_fail(SB_ENOMEM, "no memory for the name of %s%s", path, suffix);
    memcpy(p->path, path, length);
    memcpy(p->path + length, suffix, sizeof suffix);
    sb_status st = open_end(p);
    if (st != SB_OK)
        sb_part_close(p);
    return st;
}

sb_status sb_part_append(struct sb_part *p, const void *data, size_t size)
{
    const unsigned char *next = data;
    while (size > 0) {
        ssize_t n = write(p->fd, next, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return sb_file_failed("write", p->path);
        next += n;
        size -= (size_t)n;
        p->size += (uint64_t)n;
    }
    return SB_OK;
}

sb_status sb_part_restart(struct sb_part *p)
{
    if (ftruncate(p->fd, 0) != 0)
        return sb_file_failed("empty", p->path);
    p->size = 0;
    return SB_OK;
}

/* The directory need not be synced: after a power cut the part is there instead. */
sb_status sb_part_commit(struct sb_part *p)
{
    size_t length = strlen(p->path) - strlen(suffix);
    sb_status st = SB_OK;
    char *path = sb_malloc(length + 1, 1);
    if (!path) {
        st = sb_fail(SB_ENOMEM, "no memory for a name beside %s", p->path);
    } else {
        memcpy(path, p->path, length);
        path[length] = '\0';
        if (fsync(p->fd) != 0)
            st = sb_file_failed("write", p->path);
        else if (rename(p->path, path) != 0)
            st = sb_file_failed("rename", p->path);
    }
    sb_free(path);
    sb_part_close(p);
    return st;
}

void sb_part_remove(struct sb_part *p)
{
    (void)unlink(p->path); /* nothing better to do if that fails */
    sb_part_close(p);
}

void sb_part_close(struct sb_part *p)
{
    if (!p || !p->path)
        return;
    if (p->fd >= 0)
        close(p->fd);
    sb_free(p->path);
    *p = (struct sb_part){.fd = -1};
}
