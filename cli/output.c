/* output - see output.h. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
    int fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        o->temporary[0] = '\0'; /* it is not ours */
    else
        o->to = fdopen(fd, "wb");
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
