/* lock - see lock.h.
 *
 * The file is removed by who holds it. Somebody may have opened it before and get the lock
 * of a file without a name: so whoever got a lock looks whether it is still the one under
 * that name.
 */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { ATTEMPTS = 100, NUMBER_BYTES = 24 };

static bool still_there(int fd, const char *path)
{
    struct stat mine, named;
    return fstat(fd, &mine) == 0 && stat(path, &named) == 0 &&
           mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

static long owner_of(int fd)
{
    char text[NUMBER_BYTES] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    long pid = n > 0 ? strtol(text, NULL, 10) : 0;
    return pid > 0 ? pid : -1;
}

/* The number is for people: if it cannot be written, the lock holds all the same. */
static void sign(int fd)
{
    char text[NUMBER_BYTES];
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) != n)
        (void)ftruncate(fd, 0);
}

/* One attempt; *again: the file was removed meanwhile. */
static sb_status attempt(struct sb_lock *l, const char *path, long *owner, bool *again)
{
    *again = false;
    l->fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (l->fd < 0)
        return sb_file_failed("create", path);
    if (flock(l->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        *owner = owner_of(l->fd);
        close(l->fd);
        return SB_OK;
    }
    *again = !still_there(l->fd, path);
    if (*again)
        close(l->fd);
    else
        sign(l->fd);
    return SB_OK;
}

sb_status sb_lock_take(struct sb_lock *l, const char *path, long *owner)
{
    size_t size = strlen(path) + 1;
    char *copy = sb_malloc(size, 1);
    bool again = true;
    sb_status st = SB_OK;
    *l = (struct sb_lock){.fd = -1};
    *owner = 0;
    if (!copy)
        return sb_fail(SB_ENOMEM, "no memory for the name of %s", path);
    memcpy(copy, path, size);
    for (int i = 0; again && i < ATTEMPTS && st == SB_OK; i++)
        st = attempt(l, path, owner, &again);
    if (st == SB_OK && again)
        *owner = -1;
    if (st == SB_OK && *owner == 0) {
        l->path = copy;
        return SB_OK;
    }
    l->fd = -1;
    sb_free(copy);
    return st;
}

void sb_lock_release(struct sb_lock *l)
{
    if (!l || !l->path)
        return;
    (void)unlink(l->path);
    close(l->fd);
    sb_free(l->path);
    *l = (struct sb_lock){.fd = -1};
}
