/* file - see file.h for the promise.
 *
 * The temporary is opened with O_EXCL under a name of our own rather than by mkstemp(),
 * whose files only the owner may read: what we write should obey the umask like any file.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    REASON_BYTES = 128,
    SUFFIX_BYTES = 48,     /* ".<pid>-<n>.tmp" */
    ATTEMPTS = 1000,       /* of finding a free temporary name */
    WRITE_BYTES = 1 << 30, /* of one system call; Linux stops at 2 GiB anyway */
};

sb_status sb_file_failed(const char *verb, const char *path)
{
    int error = errno;
    char reason[REASON_BYTES];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", error);
    return sb_fail(SB_EIO, "cannot %s %s: %s", verb, path, reason);
}

/* ---- writing ---- */

static void forget(struct sb_file *f)
{
    sb_free(f->path);
    sb_free(f->temporary);
    *f = (struct sb_file){.fd = -1};
}

static sb_status open_temporary(struct sb_file *f, size_t capacity)
{
    for (int n = 0; n < ATTEMPTS; n++) {
        snprintf(f->temporary, capacity, "%s.%ld-%d.tmp", f->path, (long)getpid(), n);
        f->fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd >= 0)
            return SB_OK;
        if (errno != EEXIST)
            break;
    }
    return sb_file_failed("create", f->path);
}

sb_status sb_file_create(struct sb_file *f, const char *path)
{
    *f = (struct sb_file){.fd = -1};
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return sb_fail(SB_EIO, "cannot create %s: it exists and is not a regular file",
                       path);
    size_t length = strlen(path), capacity = length + SUFFIX_BYTES;
    f->path = sb_malloc(length + 1, 1);
    f->temporary = sb_malloc(capacity, 1);
    sb_status st;
    if (!f->path || !f->temporary) {
        st = sb_fail(SB_ENOMEM, "cannot create %s: no memory for its name", path);
    } else {
        memcpy(f->path, path, length + 1);
        st = open_temporary(f, capacity);
    }
    if (st != SB_OK)
        forget(f);
    return st;
}

sb_status sb_file_write(struct sb_file *f, const void *data, size_t size)
{
    const unsigned char *next = data;
    while (size > 0) {
        ssize_t n = write(f->fd, next, size < WRITE_BYTES ? size : WRITE_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = EIO;
            f->failed = true;
            return sb_file_failed("write", f->path);
        }
        next += n;
        size -= (size_t)n;
    }
    return SB_OK;
}

/* Makes a rename durable: fsync of the directory that holds path. Some file systems have
 * no such thing (EINVAL), and a directory may be writable without being readable. */
static sb_status sync_directory(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = '\0'; /* "/name" lies in "/" */
    const char *directory = slash ? path : ".";
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? SB_OK : sb_file_failed("sync directory", directory);
    sb_status st = SB_OK;
    if (fsync(fd) != 0 && errno != EINVAL)
        st = sb_file_failed("sync directory", directory);
    close(fd);
    return st;
}

sb_status sb_file_commit(struct sb_file *f)
{
    if (!f->temporary)
        return sb_fail(SB_EARG, "commit: the file is not open");
    sb_status st = SB_OK;
    if (f->failed)
        st = sb_fail(SB_EIO, "cannot write %s: an earlier part of it failed", f->path);
    else if (fsync(f->fd) != 0)
        st = sb_file_failed("write", f->path);
    if (st != SB_OK)
        goto abort;
    int fd = f->fd;
    f->fd = -1;
    if (close(fd) != 0) {
        st = sb_file_failed("write", f->path);
        goto abort;
    }
    if (rename(f->temporary, f->path) != 0) {
        st = sb_file_failed("create", f->path);
        goto abort;
    }
    st = sync_directory(f->path);
    forget(f);
    return st;
abort:
    sb_file_abort(f);
    return st;
}

void sb_file_abort(struct sb_file *f)
{
    if (!f || !f->temporary)
        return;
    if (f->fd >= 0)
        close(f->fd);
    (void)unlink(f->temporary); /* nothing better to do if that fails */
    forget(f);
}

sb_status sb_file_put(const char *path, const void *data, size_t size)
{
    struct sb_file f;
    sb_status st = sb_file_create(&f, path);
    if (st == SB_OK)
        st = sb_file_write(&f, data, size);
    if (st == SB_OK)
        st = sb_file_commit(&f);
    sb_file_abort(&f);
    return st;
}

sb_status sb_file_append_line(const char *path, const char *line)
{
    if (strchr(line, '\n'))
        return sb_fail(SB_EARG, "cannot append to %s: the line has a newline", path);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return sb_file_failed("append to", path);
    size_t length = strlen(line);
    struct iovec parts[2] = {{(void *)(uintptr_t)line, length}, {"\n", 1}};
    ssize_t n;
    do
        n = writev(fd, parts, 2);
    while (n < 0 && errno == EINTR);
    sb_status st = SB_OK;
    if (n < 0)
        st = sb_file_failed("append to", path);
    else if ((size_t)n != length + 1)
        st = sb_fail(SB_EIO, "cannot append to %s: only %zd of %zu bytes fit", path, n,
                     length + 1);
    if (close(fd) != 0 && st == SB_OK)
        st = sb_file_failed("append to", path);
    return st;
}

sb_status sb_file_append(const char *path, const void *data, size_t size)
{
    struct sb_file f = {.path = (char *)(uintptr_t)path};
    f.fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (f.fd < 0)
        return sb_file_failed("append to", path);
    sb_status st = sb_file_write(&f, data, size);
    if (close(f.fd) != 0 && st == SB_OK)
        st = sb_file_failed("append to", path);
    return st;
}

sb_status sb_file_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? SB_OK : sb_file_failed("sync", path);
    sb_status st = SB_OK;
    if (fsync(fd) != 0 && errno != EINVAL)
        st = sb_file_failed("sync", path);
    close(fd);
    return st;
}

sb_status sb_file_cut(const char *path, uint64_t size)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return SB_OK;
    if (S_ISLNK(info.st_mode))
        return sb_fail(SB_EIO, "cannot cut %s: it is a link", path);
    if ((uint64_t)info.st_size <= size)
        return SB_OK;
    return truncate(path, (off_t)size) == 0 ? SB_OK : sb_file_failed("cut", path);
}

/* ---- directories ---- */

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static sb_status make_one(const char *path)
{
    if (mkdir(path, 0777) == 0)
        return SB_OK;
    int error = errno; /* several errors are possible for a directory that exists */
    if (is_directory(path))
        return SB_OK;
    errno = error;
    return sb_file_failed("make directory", path);
}

sb_status sb_file_make_directory(const char *path)
{
    size_t length = strlen(path);
    char *prefix = sb_malloc(length + 1, 1);
    if (!prefix)
        return sb_fail(SB_ENOMEM, "cannot make directory %s: no memory for its name",
                       path);
    sb_status st = SB_OK;
    for (size_t i = 1; i < length && st == SB_OK; i++) {
        if (path[i] != '/' || path[i - 1] == '/')
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        st = make_one(prefix);
    }
    if (st == SB_OK)
        st = make_one(path);
    sb_free(prefix);
    return st;
}

bool sb_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* ---- reading ---- */

bool sb_stamp_of(const char *path, struct sb_stamp *out)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return false;
    *out = (struct sb_stamp){.device = (uint64_t)info.st_dev,
                             .number = (uint64_t)info.st_ino,
                             .size = (uint64_t)info.st_size,
                             .seconds = (int64_t)info.st_mtim.tv_sec,
                             .nanoseconds = (int64_t)info.st_mtim.tv_nsec};
    return true;
}

static sb_status read_fd(int fd, const char *path, unsigned char *out, size_t size)
{
    for (size_t have = 0; have < size;) {
        ssize_t n = read(fd, out + have, size - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return sb_file_failed("read", path);
        if (n == 0)
            return sb_fail(SB_EIO, "cannot read %s: it was cut to %zu bytes meanwhile",
                           path, have);
        have += (size_t)n;
    }
    return SB_OK;
}

sb_status sb_file_read(const char *path, size_t most, unsigned char **out, size_t *size)
{
    struct stat info;
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0) {
        sb_status st = sb_file_failed("read", path);
        if (fd >= 0)
            close(fd);
        return st;
    }
    sb_status st = SB_OK;
    if (!S_ISREG(info.st_mode))
        st = sb_fail(SB_EIO, "cannot read %s: it is %s", path,
                     S_ISDIR(info.st_mode) ? "a directory" : "not a regular file");
    else if ((uintmax_t)info.st_size > most)
        st = sb_fail(SB_EIO, "cannot read %s: it has more than %zu bytes", path, most);
    *size = st == SB_OK ? (size_t)info.st_size : 0;
    *out = st == SB_OK ? sb_malloc(*size, 1) : NULL;
    if (st == SB_OK && !*out)
        st = sb_fail(SB_ENOMEM, "no memory to read %s, %zu bytes", path, *size);
    if (st == SB_OK)
        st = read_fd(fd, path, *out, *size);
    close(fd);
    if (st != SB_OK) {
        sb_free(*out);
        *out = NULL;
    }
    return st;
}

static sb_status map_fd(struct sb_map *m, int fd, const char *path)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return sb_file_failed("read", path);
    if (S_ISDIR(info.st_mode))
        return sb_fail(SB_EIO, "cannot read %s: it is a directory", path);
    if (!S_ISREG(info.st_mode))
        return sb_fail(SB_EIO, "cannot read %s: it is not a regular file", path);
    if ((uintmax_t)info.st_size > SIZE_MAX)
        return sb_fail(SB_EIO, "cannot read %s: too large for this machine", path);
    size_t size = (size_t)info.st_size;
    if (size == 0) { /* mmap refuses these */
        *m = (struct sb_map){.data = (const unsigned char *)"", .size = 0};
        return SB_OK;
    }
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return sb_file_failed("read", path);
    *m = (struct sb_map){.data = data, .size = size};
    return SB_OK;
}

sb_status sb_map_open(struct sb_map *m, const char *path)
{
    *m = (struct sb_map){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block us */
    if (fd < 0)
        return sb_file_failed("read", path);
    sb_status st = map_fd(m, fd, path);
    close(fd);
    return st;
}

void sb_map_close(struct sb_map *m)
{
    if (!m)
        return;
    if (m->size > 0)
        munmap((void *)(uintptr_t)m->data, m->size);
    *m = (struct sb_map){0};
}
