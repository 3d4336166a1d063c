/* sebays - implements include/sebays.h; see there. Thin: every function checks for NULL what
 * it needs, nothing else that the library does not check itself, and translates names. */
#include "sebays.h"

#include <string.h>

#include "api/handles.h"
#include "api/need.h"
#include "base/mem.h"
#include "base/status.h"
#include "recipe/options.h"

/* The public codes are the internal ones. */
#define SAME(a, b) _Static_assert((int)(a) == (int)(b), "status codes differ")
SAME(SEBAYS_OK, SB_OK);
SAME(SEBAYS_ENOMEM, SB_ENOMEM);
SAME(SEBAYS_EARG, SB_EARG);
SAME(SEBAYS_EIO, SB_EIO);
SAME(SEBAYS_EFORMAT, SB_EFORMAT);
SAME(SEBAYS_ENUMERIC, SB_ENUMERIC);
SAME(SEBAYS_ECANCELED, SB_ECANCELED);
SAME(SEBAYS_EMISSING, SB_EMISSING);
SAME(SEBAYS_EMISSING + 1, SB_STATUS_COUNT);

const char *sebays_version(void)
{
    return SB_VERSION;
}

const char *sebays_message(void)
{
    return sb_message();
}

const char *sebays_status_name(sebays_status st)
{
    return sb_status_name((sb_status)st);
}

void sebays_text_free(char *text)
{
    sb_free(text);
}

/* ---- recipes ---- */

static sebays_status make(const char *source, struct sebays_recipe **out)
{
    size_t n = strlen(source) + 1;
    *out = sb_malloc(sizeof **out + n, 1);
    if (!*out)
        return (sebays_status)sb_fail(SB_ENOMEM, "no memory for a recipe");
    sb_recipe_init(&(*out)->recipe);
    memcpy((*out)->source, source, n);
    return SEBAYS_OK;
}

sebays_status sebays_recipe_new(struct sebays_recipe **out)
{
    SB_NEED(out);
    return make("", out);
}

sebays_status sebays_recipe_load(const char *path, struct sebays_recipe **out)
{
    SB_NEED(out);
    *out = NULL;
    SB_NEED(path);
    sebays_status st = make(path, out);
    if (st == SEBAYS_OK)
        st = (sebays_status)sb_recipe_read(&(*out)->recipe, path);
    if (st != SEBAYS_OK) {
        sebays_recipe_free(*out);
        *out = NULL;
    }
    return st;
}

void sebays_recipe_free(struct sebays_recipe *recipe)
{
    sb_free(recipe);
}

sebays_status sebays_recipe_set(struct sebays_recipe *recipe, const char *name,
                                const char *value)
{
    SB_NEED(recipe);
    SB_NEED(name);
    SB_NEED(value);
    return (sebays_status)sb_recipe_set(&recipe->recipe, name, value);
}

sebays_status sebays_recipe_assign(struct sebays_recipe *recipe, const char *assignment)
{
    SB_NEED(recipe);
    SB_NEED(assignment);
    return (sebays_status)sb_recipe_assign(&recipe->recipe, assignment);
}

sebays_status sebays_recipe_check(struct sebays_recipe *recipe)
{
    SB_NEED(recipe);
    sb_status st = sb_recipe_resolve(&recipe->recipe);
    if (st != SB_OK && recipe->source[0])
        sb_fail(st, "%s: %s", recipe->source, sb_message());
    return (sebays_status)st;
}

sebays_status sebays_recipe_get(const struct sebays_recipe *recipe, const char *name,
                                char *out, size_t size)
{
    SB_NEED(recipe);
    SB_NEED(name);
    SB_NEED(out);
    char value[SB_OPTION_VALUE];
    sb_status st = sb_recipe_get(&recipe->recipe, name, value);
    if (st == SB_OK && strlen(value) >= size)
        st = sb_fail(SB_EARG, "%s has %zu bytes; there is room for %zu", name,
                     strlen(value), size ? size - 1 : 0);
    if (st == SB_OK)
        memcpy(out, value, strlen(value) + 1);
    return (sebays_status)st;
}

sebays_status sebays_recipe_text(const struct sebays_recipe *recipe, bool comments,
                                 char **out)
{
    SB_NEED(out);
    *out = NULL;
    SB_NEED(recipe);
    return (sebays_status)sb_recipe_write(&recipe->recipe, comments, out);
}

sebays_status sebays_recipe_same(const struct sebays_recipe *recipe,
                                 const struct sebays_recipe *other)
{
    SB_NEED(recipe);
    SB_NEED(other);
    return (sebays_status)sb_recipe_same(&recipe->recipe, &other->recipe);
}

sebays_status sebays_options_text(char **out)
{
    SB_NEED(out);
    return (sebays_status)sb_options_list(out);
}
