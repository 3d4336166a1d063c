/* quota - see quota.h. Of every mounted hierarchy that has a processor controller, the
 * process's own group and its parents are read up to the mount point:
 *
 *     version 2   cpu.max                               "150000 100000" or "max 100000"
 *     version 1   cpu.cfs_quota_us, cpu.cfs_period_us   "150000" or "-1", "100000"
 *
 * Where groups are mounted is in mountinfo, the process's own in /proc/self/cgroup. Inside
 * a container the mount's root is often the group itself, or the name of the group begins
 * above what can be seen; then the mount point is the group. What cannot be read or does
 * not look like this sets no limit.
 */
#include "base/quota.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 4096, NAME = 1024, PATH = 3 * NAME, MOST = 1 << 20 };

struct mount {
    bool second;      /* version 2 of control groups */
    char root[NAME];  /* the group that is seen at */
    char point[NAME]; /* this place */
};

/* ---- lines of a file, without memory of its own -------------------------------------- */

struct lines {
    int fd;
    size_t have, used; /* bytes of text that are read, and that were handed out */
    char text[LINE];
};

static bool open_lines(struct lines *l, const char *root, const char *path,
                       const char *file)
{
    char name[PATH + NAME];
    int n = snprintf(name, sizeof name, "%s%s%s", root, path, file);
    l->have = l->used = 0;
    l->fd = n > 0 && (size_t)n < sizeof name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    return l->fd >= 0;
}

/* Makes room behind what is not handed out yet, and fills it. */
static bool read_more(struct lines *l)
{
    l->have -= l->used;
    memmove(l->text, l->text + l->used, l->have);
    l->used = 0;
    if (l->have == LINE)
        l->have = 0; /* no line we look for is this long: what follows is no better */
    ssize_t n = read(l->fd, l->text + l->have, LINE - l->have);
    l->have += n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* The next line without its end, valid until the next call; NULL: there is none. */
static char *next_line(struct lines *l)
{
    for (;;) {
        char *line = l->text + l->used, *end = memchr(line, '\n', l->have - l->used);
        if (end) {
            *end = '\0';
            l->used = (size_t)(end + 1 - l->text);
            return line;
        }
        if (!read_more(l))
            return NULL;
    }
}

/* ---- groups --------------------------------------------------------------------------- */

/* Whether a comma-separated list has "cpu". */
static bool has_cpu(const char *list)
{
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "cpu", 3) == 0 && (at[3] == ',' || at[3] == '\0'))
            return true;
    }
    return false;
}

/* "36 35 0:30 /root /point rw shared:1 - type source options" */
static bool parse_mount(const char *line, struct mount *m)
{
    char type[16], options[NAME];
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %1023s %1023s", m->root, m->point) != 2 ||
        sscanf(rest, " - %15s %*s %1023s", type, options) != 2)
        return false;
    m->second = strcmp(type, "cgroup2") == 0;
    return m->second || (strcmp(type, "cgroup") == 0 && has_cpu(options));
}

/* The process's group in the second version, or in the first one's hierarchy with cpu.
 * Lines are "4:cpu,cpuacct:/group"; the second version's is "0::/group". */
static bool find_group(const char *root, bool second, char group[NAME])
{
    struct lines l;
    bool found = false;
    if (!open_lines(&l, root, "/proc/self/cgroup", ""))
        return false;
    for (char *line = next_line(&l); line && !found; line = next_line(&l)) {
        char *list = strchr(line, ':'), *name = list ? strchr(list + 1, ':') : NULL;
        if (!name || strlen(name + 1) >= NAME)
            continue;
        *name = '\0';
        found = second ? list[1] == '\0' : has_cpu(list + 1);
        if (found)
            memcpy(group, name + 1, strlen(name + 1) + 1);
    }
    (void)close(l.fd);
    return found;
}

/* Where a group lies below its mount point: "" or "/a/b". */
static const char *below_mount(const struct mount *m, const char *group)
{
    size_t n = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);
    if (strncmp(group, m->root, n) != 0 || group[n] != '/' || group[n + 1] == '\0' ||
        strncmp(group + n, "/..", 3) == 0)
        return "";
    return group + n;
}

/* The number a text begins with, and where it ends; 0: none, or none above 0. */
static long long read_number(const char **text)
{
    char *end;
    long long n = strtoll(*text, &end, 10);
    *text = end;
    return n > 0 ? n : 0;
}

/* Two numbers, in one file or one in each of two; 0 where there is none ("max", -1). */
static void read_numbers(const char *root, const char *group, const char *const file[2],
                         long long number[2])
{
    struct lines l;
    const char *text = NULL;
    for (int i = 0; i < 2; i++) {
        if (file[i] && open_lines(&l, root, group, file[i])) {
            text = next_line(&l);
            (void)close(l.fd);
        }
        number[i] = text ? read_number(&text) : 0;
    }
}

/* Processors that one group grants; 0: any number. */
static int granted(const char *root, const char *group, bool second)
{
    static const char *const files[2][2] = {{"/cpu.cfs_quota_us", "/cpu.cfs_period_us"},
                                            {"/cpu.max", NULL}};
    long long time[2];
    read_numbers(root, group, files[second], time);
    if (time[0] == 0 || time[1] == 0)
        return 0;
    long long whole = (time[0] - 1) / time[1] + 1;
    return whole < MOST ? (int)whole : MOST;
}

/* The least of two limits, where 0 is none. */
static int least(int a, int b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* The least that the groups from `group` up to the mount point grant. */
static int granted_along(const char *root, const struct mount *m, const char *group)
{
    char path[PATH];
    size_t top = strlen(m->point);
    int n = snprintf(path, sizeof path, "%s%s", m->point, below_mount(m, group));
    if (n < 0 || (size_t)n >= sizeof path)
        return 0;
    int limit = granted(root, path, m->second);
    while (strlen(path) > top) {
        *strrchr(path, '/') = '\0';
        limit = least(limit, granted(root, path, m->second));
    }
    return limit;
}

int sb_quota_processors(const char *root)
{
    char group[NAME];
    struct lines l;
    struct mount m;
    int limit = 0;
    if (!open_lines(&l, root, "/proc/self/mountinfo", ""))
        return 0;
    for (const char *line = next_line(&l); line; line = next_line(&l))
        if (parse_mount(line, &m) && find_group(root, m.second, group))
            limit = least(limit, granted_along(root, &m, group));
    (void)close(l.fd);
    return limit;
}
