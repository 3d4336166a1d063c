/* recipe_diff - see recipe_diff.h. */
#include "model/recipe_diff.h"

#include <stdbool.h>
#include <string.h>

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

sb_status sb_recipe_diff(const char *path, const char *then, const char *now)
{
    struct line section = {"its first section", 17, false}, a, b;
    do {
        a = next_line(&then);
        b = next_line(&now);
        if (!same(a, b))
            return sb_fail(
                SB_EARG,
                "%s: belongs to another recipe: \"%.*s\" then, \"%.*s\" now, "
                "in %.*s; go on with the same recipe, or start anew in another "
                "directory",
                path, a.length, a.text, b.length, b.text, section.length, section.text);
        if (*a.text == '[')
            section = a;
    } while (!a.end);
    return SB_OK;
}
