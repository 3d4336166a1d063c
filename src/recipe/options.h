/* options - the one table behind recipes, --set, the C API, help texts and the manual.
 *
 * An option is a row: "section.key", type, range or choices, default, help, and where in
 * struct sb_config its value lives. A recipe is an INI file of such keys. What is not
 * given comes from the method (method.h, implied) and else from the table:
 *
 *     init -> read a file, set by name, in any order, the last word counts -> resolve
 *          -> when the data is known: fit (auto.h)
 *
 * Only a resolved recipe is checked, and only a fitted one complete: until then options that
 * follow the data are open, and written as auto. Written out a recipe names every option,
 * so that reading it back gives the same config, whatever the defaults are by then.
 *
 * Sentences name the place (file and line, when there is one), what was found and what
 * was expected, and for a name that does not exist the nearest one that does.
 */
#ifndef SB_OPTIONS_H
#define SB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "recipe/config.h"
#include "recipe/method.h"

enum sb_option_type {
    SB_OPTION_CHOICE, /* an enum field; the value is an index of choices */
    SB_OPTION_SWITCH, /* bool: yes, no */
    SB_OPTION_COUNT,  /* uint32_t */
    SB_OPTION_REAL,   /* double, finite */
    SB_OPTION_LIST,   /* struct sb_config_list, blanks or commas between */
    SB_OPTION_TEXT    /* char [size] */
};

/* Which ends of the range are not in it, and: */
enum {
    SB_OPTION_ABOVE_MIN = 1, /* (min, ...  */
    SB_OPTION_BELOW_MAX = 2, /* ..., max)  */
    SB_OPTION_FREE = 4,      /* does not change results: may differ when a run resumes */
    SB_OPTION_EMPTY = 8,     /* a text that may be empty */
    SB_OPTION_AUTO = 16,     /* may be "auto": what suits the data, see auto.h */
    SB_OPTION_PLACE = 32,    /* a path: only its last part says what is there */
};

struct sb_option {
    const char *name; /* "section.key" */
    enum sb_option_type type;
    unsigned flags;
    double min, max;            /* numbers, and each number of a list */
    const char *const *choices; /* NULL-terminated, by value */
    const char *initial;        /* the default, as in a recipe; of one that may be auto:
                                 * what images get */
    const char *help;           /* one line, without a full stop */
    size_t offset, size;        /* of the field in struct sb_config */
};

enum { SB_OPTION_MAX = 128, SB_OPTION_VALUE = SB_CONFIG_PATH + 64 };

struct sb_recipe {
    struct sb_config config;
    const struct sb_method *method; /* borrowed; NULL until resolved */
    bool given[SB_OPTION_MAX];      /* by option: somebody said it */
    uint32_t shards_asked, shards;  /* of a batch: wanted; and there are, see check.c */
    bool open[SB_OPTION_MAX];       /* nobody did, and what it is the data decides */
};

/* Row i of the table, in the order of the sections; NULL when there are not so many. */
const struct sb_option *sb_option_at(size_t i);

/* Every option at the table's default, none given. */
void sb_recipe_init(struct sb_recipe *r);

/* One option by its name; SB_EARG. "train.batch=64" is the form of --set. */
sb_status sb_recipe_set(struct sb_recipe *r, const char *name, const char *value);
sb_status sb_recipe_assign(struct sb_recipe *r, const char *assignment);

/* Reads a recipe file, or one in memory that messages call source. SB_EIO, SB_EFORMAT
 * (not an INI file), SB_EARG (a name or a value); r may then have some of it. */
sb_status sb_recipe_read(struct sb_recipe *r, const char *path);
sb_status sb_recipe_parse(struct sb_recipe *r, const char *source, const char *text,
                          size_t size);

/* Fills in what was not given and checks that all fits together; what is open is as for
 * images. May be repeated after further changes. SB_EARG. */
sb_status sb_recipe_resolve(struct sb_recipe *r);

/* Whether the option whose place in r->config field is was open; it no longer is, and the
 * caller says what it is. */
bool sb_recipe_close(struct sb_recipe *r, const void *field);

/* The whole recipe as INI, options in the table's order; with comments each has its help
 * above it. The caller owns *out (sb_free). */
sb_status sb_recipe_write(const struct sb_recipe *r, bool comments, char **out);

/* The same with every option that does not change results at its default, and of paths
 * their last part alone: equal for runs that must give equal models. The caller owns *out. */
sb_status sb_recipe_canonical(const struct sb_recipe *r, char **out);

/* An option's value as text, as sb_recipe_write gives it. */
sb_status sb_recipe_get(const struct sb_recipe *r, const char *name,
                        char out[SB_OPTION_VALUE]);

/* SB_OK when a run of recipe a may be resumed with b; SB_EARG names the first difference
 * among the options that change results. What is open may become the same. */
sb_status sb_recipe_same(const struct sb_recipe *a, const struct sb_recipe *b);

/* Names of the options that somebody said and that a resolved recipe does not use, with
 * commas between; empty: none. One at the method's own default does not count, nor, for
 * tables, one that the data may have chosen when the recipe was written. */
enum { SB_RECIPE_UNUSED = 1024 };
const char *sb_recipe_unused(const struct sb_recipe *r, bool table_of_numbers,
                             char out[SB_RECIPE_UNUSED]);

/* Every option with its default, range and help, for people. The caller owns *out. */
sb_status sb_options_list(char **out);

/* ---- between the files of options ---- */

/* text -> *field and back; field is o's place in a config. The sentence of a failure is
 * "section.key = value: want ...". Formatting gives what parsing reads, exactly. */
sb_status sb_option_parse(const struct sb_option *o, const char *text, void *field);
void sb_option_format(const struct sb_option *o, const void *field,
                      char out[SB_OPTION_VALUE]);

/* "a number in (0, 1]", "one of erk, uniform", ...; cut to size. */
void sb_option_expected(const struct sb_option *o, char *out, size_t size);

/* The row of a name; SB_EARG. */
sb_status sb_option_find(const char *name, const struct sb_option **out);

/* The checks of sb_recipe_resolve that take more than one option. */
sb_status sb_recipe_check(const struct sb_recipe *r);

/* Whether stages consist of parts with one learning rate: what patience can end. */
bool sb_recipe_has_phases(const struct sb_method *row, const struct sb_config_train *t);

/* Numbers that are as large as others allow. */
void sb_recipe_limit(struct sb_recipe *r);

#endif
