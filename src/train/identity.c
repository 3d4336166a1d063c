/* identity - what a run's data is (data/identity.h), for its checkpoints, model and results. */
#include <string.h>

#include "base/mem.h"
#include "train/state.h"

/* The caller owns *out (json_decref); it is NULL after a failure. */
static sb_status identity_of(const struct sb_source *s, json_t **out)
{
    struct sb_identity_of of = {.train = &s->train,
                                .test = s->test_index ? NULL : &s->test,
                                .part = &s->part,
                                .test_index = s->test_index,
                                .tests = s->tests,
                                .calibration = s->calibration,
                                .calibrations = s->calibrations};
    return sb_identity_make(&of, out);
}

sb_status sb_trainer_identify(struct sb_trainer *t)
{
    sb_status st = identity_of(&t->source, &t->identity);
    return st == SB_OK ? sb_json_write(t->identity, false, &t->data) : st;
}

sb_status sb_trainer_data(const struct sb_trainer *t, json_t **out)
{
    *out = json_copy(t->identity);
    if (!*out)
        return sb_fail(SB_ENOMEM, "no memory to say what the data is");
    (void)json_object_del(*out, "class_names");
    (void)json_object_del(*out, "target_names");
    (void)json_object_del(*out, "columns");
    return SB_OK;
}

/* ---- of a model ---------------------------------------------------------------------- */

static sb_status no_memory(void)
{
    return sb_fail(SB_ENOMEM, "no memory to compare what the data is");
}

static sb_status add_names(json_t *then, const char *key, const char *const *name,
                           uint32_t n)
{
    return !name || json_object_set_new(then, key, sb_json_texts(name, n)) == 0
               ? SB_OK
               : no_memory();
}

/* What a model says of its data, in all its keys; without the key "data" that is what its
 * predictions mean. */
static sb_status of_model(const char *path, const struct sb_model_info *i, json_t **out)
{
    json_t *columns = NULL;
    sb_status st = SB_OK;
    *out = NULL;
    if (i->data)
        st = sb_json_parse(path, i->data, strlen(i->data), out);
    else if (!(*out = json_object()))
        st = no_memory();
    if (st == SB_OK && !json_is_object(*out))
        st = sb_fail(SB_EFORMAT, "%s: metadata \"data\": want an object", path);
    if (st == SB_OK)
        st = add_names(*out, "class_names", i->class_name, i->classes);
    if (st == SB_OK)
        st = add_names(*out, "target_names", i->target_name, i->targets);
    if (st == SB_OK && i->columns)
        st = sb_json_parse(path, i->columns, strlen(i->columns), &columns);
    if (st == SB_OK && columns && json_object_set(*out, "columns", columns) != 0)
        st = no_memory();
    json_decref(columns);
    return st;
}

sb_status sb_source_check(const struct sb_source *s, const char *path,
                          const struct sb_model_info *i, enum sb_identity_use use,
                          bool force)
{
    json_t *then = NULL, *now = NULL;
    sb_status st = of_model(path, i, &then);
    if (st == SB_OK)
        st = identity_of(s, &now);
    if (st == SB_OK)
        st = sb_identity_compare(path, then, now, use, force);
    json_decref(then);
    json_decref(now);
    return st;
}
