/* checkpoint - which files there are, to keep and to take; see checkpoint.h. */
#include "model/checkpoint.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "model/fields.h"

static const char head[] = "checkpoint-", tail[] = ".safetensors", temporary[] = ".tmp";

enum { NAME_BYTES = 64, SENTENCE_BYTES = 1024 };

/* ---- the directory ----------------------------------------------------------------- */

/* "checkpoint-<step>.safetensors"; numbers with leading zeros are not ours. */
static bool step_of(const char *name, uint64_t *step)
{
    char digits[24];
    size_t length = strlen(name), around = sizeof head - 1 + sizeof tail - 1;
    if (length <= around || length - around >= sizeof digits ||
        strncmp(name, head, sizeof head - 1) != 0 ||
        strcmp(name + length - (sizeof tail - 1), tail) != 0)
        return false;
    memcpy(digits, name + sizeof head - 1, length - around);
    digits[length - around] = '\0';
    return sb_parse_decimal(digits, UINT64_MAX, step) &&
           (digits[0] != '0' || digits[1] == '\0');
}

/* What a killed process left behind of a checkpoint (base/file.h). */
static bool is_leftover(const char *name)
{
    size_t length = strlen(name), end = sizeof temporary - 1;
    return strncmp(name, head, sizeof head - 1) == 0 && strstr(name, tail) &&
           length > end && strcmp(name + length - end, temporary) == 0;
}

static sb_status open_directory(const char *directory, DIR **out)
{
    *out = opendir(directory);
    return *out ? SB_OK : sb_file_failed("read", directory);
}

/* The largest step below the bound (or equal to it, if at). */
static sb_status newest(const char *directory, uint64_t bound, bool at, uint64_t *step,
                        bool *found)
{
    DIR *d;
    sb_status st = open_directory(directory, &d);
    *found = false;
    if (st != SB_OK)
        return st;
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        uint64_t s;
        if (step_of(e->d_name, &s) && (s < bound || (at && s == bound)) &&
            (!*found || s > *step)) {
            *step = s;
            *found = true;
        }
    }
    closedir(d);
    return SB_OK;
}

static sb_status path_of(const char *directory, uint64_t step, char out[SB_PATH_BYTES])
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s%llu%s", head, (unsigned long long)step, tail);
    return sb_path_join(out, directory, name);
}

bool sb_checkpoint_exists(const char *directory)
{
    uint64_t step;
    bool found;
    return newest(directory, UINT64_MAX, true, &step, &found) == SB_OK && found;
}

/* ---- saving ------------------------------------------------------------------------ */

/* Removes every file of the directory that `unwanted` says. That is housekeeping: what
 * cannot be removed stays. */
typedef bool unwanted_fn(const char *name, const uint64_t *keep);

static void remove_files(const char *directory, unwanted_fn *unwanted,
                         const uint64_t *keep)
{
    DIR *d = opendir(directory);
    if (!d)
        return;
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        char path[SB_PATH_BYTES];
        if (unwanted(e->d_name, keep) &&
            sb_path_join(path, directory, e->d_name) == SB_OK)
            (void)unlink(path);
    }
    closedir(d);
}

static bool leftover(const char *name, const uint64_t *keep)
{
    (void)keep;
    return is_leftover(name);
}

/* Checkpoints beyond the one just written go too: they were passed over as damaged, or
 * the run would be there. */
static bool neither(const char *name, const uint64_t *keep)
{
    uint64_t step;
    return step_of(name, &step) && step != keep[0] && step != keep[1];
}

sb_status sb_checkpoint_save(const struct sb_checkpoint *c, const char *directory,
                             uint64_t step)
{
    uint64_t keep[2] = {step, step};
    bool found;
    char path[SB_PATH_BYTES];
    sb_status st = path_of(directory, step, path);
    if (st != SB_OK)
        return st;
    remove_files(directory, leftover, NULL); /* they may be what fills the disk */
    st = sb_checkpoint_write(c, path);
    if (st == SB_OK)
        st = newest(directory, step, false, &keep[1], &found);
    if (st == SB_OK)
        remove_files(directory, neither, keep);
    return st;
}

/* ---- loading ----------------------------------------------------------------------- */

/* One candidate. *passed: it is damaged, and the one before should be tried. */
static sb_status try(struct sb_checkpoint *c, const struct sb_env *env,
                     const char *directory, uint64_t step, char *reason, bool *passed)
{
    char path[SB_PATH_BYTES];
    *passed = false;
    sb_status st = path_of(directory, step, path);
    if (st != SB_OK)
        return st;
    st = sb_checkpoint_read(c, path);
    *passed = st == SB_EFORMAT || st == SB_EIO;
    if (*passed && !*reason)
        snprintf(reason, SENTENCE_BYTES, "%s", sb_message());
    else if (st == SB_OK && *reason)
        sb_log_write(env->log, SB_LOG_WARN, "%s; going on from %s", reason, path);
    return st;
}

sb_status sb_checkpoint_load(struct sb_checkpoint *c, const struct sb_env *env,
                             const char *directory, uint64_t *step)
{
    char reason[SENTENCE_BYTES] = ""; /* why the newest was passed over */
    uint64_t bound = UINT64_MAX;
    for (bool at = true;; at = false) {
        bool found, passed;
        sb_status st = newest(directory, bound, at, step, &found);
        if (st != SB_OK)
            return st;
        if (!found)
            break;
        st = try(c, env, directory, *step, reason, &passed);
        if (st == SB_OK)
            sb_net_refresh(env, c->net);
        if (!passed)
            return st;
        bound = *step;
    }
    if (*reason)
        return sb_fail(SB_EFORMAT, "%s; there is no other intact checkpoint", reason);
    return sb_fail(SB_EIO, "%s: has no checkpoint", directory);
}

/* ---- recipes ----------------------------------------------------------------------- */

struct line {
    const char *text;
    int length;
    bool end;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next line that says something; *at moves behind it. */
static struct line next_line(const char **at)
{
    while (**at) {
        const char *begin = *at, *end = begin + strcspn(begin, "\n");
        *at = *end ? end + 1 : end;
        while (begin < end && is_space(*begin))
            begin++;
        while (end > begin && is_space(end[-1]))
            end--;
        if (begin < end && *begin != ';' && *begin != '#')
            return (struct line){begin, (int)(end - begin), false};
    }
    return (struct line){"nothing", 7, true};
}

static bool same(struct line a, struct line b)
{
    return a.end == b.end && a.length == b.length &&
           memcmp(a.text, b.text, (size_t)a.length) == 0;
}

struct change {
    struct line section, then, now;
};

/* The first line that differs; false: none. */
static bool differ(const char *then, const char *now, struct change *c)
{
    c->section = (struct line){"its first section", 17, false};
    do {
        c->then = next_line(&then);
        c->now = next_line(&now);
        if (!same(c->then, c->now))
            return true;
        if (*c->then.text == '[')
            c->section = c->then;
    } while (!c->then.end);
    return false;
}

sb_status sb_recipe_diff(const char *path, const char *then, const char *now)
{
    struct change c;
    if (!differ(then, now, &c))
        return SB_OK;
    return sb_fail(SB_EARG,
                   "%s: belongs to another recipe: \"%.*s\" then, \"%.*s\" now, "
                   "in %.*s; go on with the same recipe, or start anew in another "
                   "directory",
                   path, c.then.length, c.then.text, c.now.length, c.now.text,
                   c.section.length, c.section.text);
}

bool sb_recipe_reads_otherwise(const char *then, const char *now)
{
    static const char *const follow[] = {"validation ", "numeric ", "pieces "};
    const struct line data = {"[data]", 6, false};
    struct change c;
    if (!differ(then, now, &c) || !same(c.section, data))
        return false;
    for (size_t i = 0; i < sizeof follow / sizeof *follow; i++)
        if (strncmp(c.now.text, follow[i], strlen(follow[i])) == 0)
            return false;
    return true;
}
