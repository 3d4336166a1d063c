/* remove - sb_file_remove_tree of file.h.
 *
 * Goes by descriptors, so that nobody can put a link in the way between looking and
 * removing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { DEPTH_MOST = 64 }; /* a descriptor each */

static void remove_below(int parent, const char *name, int depth)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT || depth > DEPTH_MOST)
        return;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_below(fd, e->d_name, depth + 1);
    closedir(d);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

bool sb_file_remove_tree(const char *path)
{
    remove_below(AT_FDCWD, path, 0);
    return !sb_file_exists(path);
}
