/* output - see output.h. */
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    OLD = 60
}; /* seconds; a younger file may belong to one that is about to lock it */

/* Nobody is writing it: whoever does holds a lock, which ends with the process. */
static bool abandoned(int fd)
{
    struct stat s;
    return fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && time(NULL) - s.st_mtime > OLD &&
           flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* "<name>.<pid>.tmp" */
static bool is_temporary(const char *entry, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(entry, name, n) != 0 || entry[n] != '.')
        return false;
    size_t digits = strspn(entry + n + 1, "0123456789");
    return digits > 0 && strcmp(entry + n + 1 + digits, ".tmp") == 0;
}

/* Removes what processes that are no more left half written beside path. */
static void clean_up(const char *path)
{
    char directory[CLI_PATH];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(name - path) : 1,
             slash ? path : ".");
    DIR *d = opendir(directory);
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (!is_temporary(e->d_name, name))
            continue;
        int fd =
            openat(dirfd(d), e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && abandoned(fd))
            (void)unlinkat(dirfd(d), e->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
}

bool cli_output_is(const char *out, const char *const *files, size_t count,
                   const char **which)
{
    struct stat a, b;
    if (!out || stat(out, &a) != 0 || !S_ISREG(a.st_mode))
        return false;
    for (size_t i = 0; i < count; i++) {
        *which = files[i];
        if (files[i] && stat(files[i], &b) == 0 && a.st_dev == b.st_dev &&
            a.st_ino == b.st_ino)
            return true;
    }
    return false;
}

bool cli_output_open(struct cli_output *o, const char *path)
{
    struct stat s;
    *o = (struct cli_output){.to = stdout, .path = path};
    if (!path)
        return true;
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) {
        o->to = fopen(path, "wb");
        return o->to != NULL;
    }
    int n =
        snprintf(o->temporary, sizeof o->temporary, "%s.%ld.tmp", path, (long)getpid());
    o->to = NULL;
    if (n < 0 || (size_t)n >= sizeof o->temporary) {
        o->temporary[0] = '\0';
        errno = ENAMETOOLONG;
        return false;
    }
    clean_up(path);
    int fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        o->temporary[0] = '\0'; /* it is not ours */
    else if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        o->to = fdopen(fd, "wb"); /* a system without locks writes all the same */
    if (fd >= 0 && !o->to)
        close(fd);
    return o->to != NULL;
}

bool cli_output_commit(struct cli_output *o)
{
    bool good = fflush(o->to) == 0 && !ferror(o->to);
    if (!o->path)
        return good;
    if (good && o->temporary[0])
        good = fsync(fileno(o->to)) == 0;
    int why = errno;
    if (fclose(o->to) != 0 && good) {
        why = errno;
        good = false;
    }
    o->to = NULL;
    if (good && o->temporary[0]) {
        good = rename(o->temporary, o->path) == 0;
        why = errno;
    }
    if (good)
        o->temporary[0] = '\0';
    cli_output_abort(o);
    errno = why;
    return good;
}

void cli_output_abort(struct cli_output *o)
{
    if (o->path && o->to)
        (void)fclose(o->to);
    if (o->temporary[0])
        (void)unlink(o->temporary);
    *o = (struct cli_output){0};
}
