/* identity_compare - what of a run's data is not as it was; see identity.h. */
#include <stdio.h>
#include <string.h>

#include "data/identity.h"

enum { VALUE_BYTES = 128, TITLE_BYTES = 96 };

/* One difference: what of, then and now. */
struct difference {
    char what[TITLE_BYTES], then[VALUE_BYTES], now[VALUE_BYTES];
};

static const struct field {
    const char *key, *title;
    bool meaning; /* with another one the model's answers mean nothing */
    bool steps;   /* training cannot go on with another one */
    bool chosen;  /* a recipe's seed and shares have a part in it */
} fields[] = {
    {"class_names", "the name of class", true, true, false},
    {"target_names", "the name of target", true, true, false},
    {"columns", "column", true, true, false},
    {"shape", "the shape of an example", true, true, false},
    {"classes", "the number of classes", true, true, false},
    {"rows", "the number of training examples", false, true, false},
    {"tests", "the number of test examples", false, false, true},
    {"split", "the fingerprint of which examples train and test", false, true, true},
    {"train", "the fingerprint of the training set", false, false, false},
    {"test", "the fingerprint of the test set", false, false, false},
};

/* ---- values as text ------------------------------------------------------------------ */

static void say(const json_t *value, char out[VALUE_BYTES])
{
    memset(out, 0, VALUE_BYTES); /* what does not fit is left out */
    if (!value || json_dumpb(value, out, VALUE_BYTES - 1, JSON_ENCODE_ANY) == 0)
        snprintf(out, VALUE_BYTES, "none");
}

/* Of a column, as columns_text.c writes it. */
static void say_kind(const json_t *kind, char out[VALUE_BYTES])
{
    if (json_is_array(kind))
        snprintf(out, VALUE_BYTES, "%zu different texts", json_array_size(kind));
    else if (kind)
        snprintf(out, VALUE_BYTES, "%s",
                 json_is_true(json_object_get(kind, "boolean"))          ? "yes or no"
                 : json_is_object(kind) || json_integer_value(kind) == 0 ? "numbers"
                                                                         : "not used");
    else
        snprintf(out, VALUE_BYTES, "not there");
}

/* ---- lists and columns --------------------------------------------------------------- */

static size_t longer(const json_t *a, const json_t *b)
{
    size_t x = json_array_size(a), y = json_array_size(b);
    return x > y ? x : y;
}

/* The first element that differs; false: none. */
static bool differ_in_list(const json_t *then, const json_t *now, const char *title,
                           struct difference *d)
{
    for (size_t i = 0; i < longer(then, now); i++) {
        const json_t *a = json_array_get(then, i), *b = json_array_get(now, i);
        if (a && b && json_equal(a, b))
            continue;
        snprintf(d->what, sizeof d->what, "%s %zu", title, i + 1);
        say(a, d->then);
        say(b, d->now);
        return true;
    }
    return false;
}

/* What a column is, without what was learned of its numbers. */
static bool same_kind(const json_t *a, const json_t *b)
{
    bool x = json_is_object(a) || (json_is_integer(a) && json_integer_value(a) == 0);
    bool y = json_is_object(b) || (json_is_integer(b) && json_integer_value(b) == 0);
    if (x && y)
        return json_is_true(json_object_get(a, "boolean")) ==
               json_is_true(json_object_get(b, "boolean"));
    return a && b && json_equal(a, b);
}

static bool differ_in_kind(const json_t *then, const json_t *now, size_t i,
                           struct difference *d)
{
    char title[64];
    if (same_kind(then, now))
        return false;
    snprintf(title, sizeof title, "column %zu, text", i + 1);
    if (json_is_array(then) && json_is_array(now) &&
        json_array_size(then) == json_array_size(now))
        return differ_in_list(then, now, title, d);
    snprintf(d->what, sizeof d->what, "column %zu", i + 1);
    say_kind(then, d->then);
    say_kind(now, d->now);
    return true;
}

static bool differ_in_columns(const json_t *then, const json_t *now, struct difference *d)
{
    const json_t *a = json_object_get(then, "columns"),
                 *b = json_object_get(now, "columns");
    if (differ_in_list(json_object_get(then, "names"), json_object_get(now, "names"),
                       "the name of column", d))
        return true;
    for (size_t i = 0; i < longer(a, b); i++)
        if (differ_in_kind(json_array_get(a, i), json_array_get(b, i), i, d))
            return true;
    a = json_object_get(then, "label");
    b = json_object_get(now, "label");
    snprintf(d->what, sizeof d->what, "the place of the label");
    say(a, d->then);
    say(b, d->now);
    return !(a && b && json_equal(a, b));
}

static bool differ(const struct field *f, const json_t *then, const json_t *now,
                   struct difference *d)
{
    const json_t *a = json_object_get(then, f->key), *b = json_object_get(now, f->key);
    if ((!a && !b) || (a && b && json_equal(a, b)))
        return false;
    if (json_is_array(a) && json_is_array(b) && strcmp(f->key, "shape") != 0)
        return differ_in_list(a, b, f->title, d);
    if (json_is_object(a) && json_is_object(b))
        return differ_in_columns(a, b, d);
    snprintf(d->what, sizeof d->what, "%s", f->title);
    say(a, d->then);
    say(b, d->now);
    return true;
}

/* ---- the whole ----------------------------------------------------------------------- */

static const char *advice(const struct field *f, enum sb_identity_use use)
{
    if (use == SB_IDENTITY_FILES)
        return "restore the data, or start anew in another directory";
    if (use == SB_IDENTITY_RESUME)
        return f->steps ? "restore the data, or start anew in another directory"
                        : "restore the data, start anew in another directory, or go on "
                          "all the same with --force";
    return f->meaning
               ? "restore the data, or train anew"
               : "restore the data, or use --force; but examples that were trained "
                 "on may then be among the test's";
}

static bool matters(const struct field *f, enum sb_identity_use use, bool force)
{
    if (use == SB_IDENTITY_FILES && f->chosen)
        return false;
    if (use == SB_IDENTITY_RESUME || use == SB_IDENTITY_FILES)
        return f->steps || !force;
    return f->meaning || (use == SB_IDENTITY_EVAL && !force);
}

sb_status sb_identity_compare(const char *source, const json_t *then, const json_t *now,
                              enum sb_identity_use use, bool force)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct field *f = &fields[i];
        struct difference d;
        bool kept = json_object_get(then, f->key) || use == SB_IDENTITY_RESUME;
        if (kept && matters(f, use, force) && differ(f, then, now, &d))
            return sb_fail(SB_EARG,
                           "%s: the data is not what it was: %s was %s and is now %s; %s",
                           source, d.what, d.then, d.now, advice(f, use));
    }
    return SB_OK;
}

sb_status sb_identity_compare_text(const char *source, const char *then, const char *now,
                                   enum sb_identity_use use, bool force)
{
    json_t *a = NULL, *b = NULL;
    sb_status st = sb_json_parse(source, then, strlen(then), &a);
    if (st == SB_OK)
        st = sb_json_parse(source, now, strlen(now), &b);
    if (st == SB_OK)
        st = sb_identity_compare(source, a, b, use, force);
    json_decref(a);
    json_decref(b);
    return st;
}
