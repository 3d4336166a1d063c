/* source_classes - whether the labels of a set are classes that can be learned: what nobody can
 * tell apart is refused, what may be meant otherwise is told. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "files/csv_text.h"
#include "train/source.h"

enum { SHOWN = 64 /* bytes of a name */ };

/* *with: classes that have an example; first[1]: the first of them, first[0]: of the others. */
static void count(const struct sb_dataset *d, const bool *there, uint32_t *with,
                  uint32_t first[2])
{
    *with = 0;
    first[0] = first[1] = d->classes;
    for (uint32_t c = 0; c < d->classes; c++) {
        first[there[c]] = first[there[c]] == d->classes ? c : first[there[c]];
        *with += there[c];
    }
}

/* out = what class c is called. */
static void name_of(const struct sb_dataset *d, uint32_t c, char out[SHOWN + 1])
{
    const char *name = d->class_names ? d->class_names[c] : "";
    if (d->class_names)
        snprintf(out, SHOWN + 1, "%.*s", sb_text_cut(name, SHOWN), name);
    else
        snprintf(out, SHOWN + 1, "%u", c);
}

/* Readers of arrays know of classes only what their numbers say. */
static sb_status check_there(const struct sb_dataset *d, const bool *there,
                             const struct sb_env *env)
{
    char name[SHOWN + 1];
    uint32_t with, first[2];
    count(d, there, &with, first);
    if (with < 2) {
        name_of(d, first[1], name);
        return sb_fail(SB_EFORMAT, "%s: every row has the label %s; want two or more",
                       d->path, name);
    }
    if (with < d->classes) {
        name_of(d, first[0], name);
        sb_log_write(env->log, SB_LOG_WARN,
                     "%s: %u of %u classes %s no example, such as %s: nothing can be "
                     "learned of %s, and yet %s a probability; labels are numbers from 0 "
                     "without gaps",
                     d->path, d->classes - with, d->classes,
                     d->classes - with == 1 ? "has" : "have", name,
                     d->classes - with == 1 ? "it" : "them",
                     d->classes - with == 1 ? "it gets" : "they get");
    }
    return SB_OK;
}

sb_status sb_source_check_classes(const struct sb_dataset *d, const struct sb_env *env)
{
    bool *there = d->labels ? sb_calloc(d->classes, sizeof *there) : NULL;
    if (!d->labels)
        return SB_OK;
    if (!there)
        return sb_fail(SB_ENOMEM, "no memory to count %u classes", d->classes);
    for (uint32_t i = 0; i < d->n; i++)
        there[d->labels[i]] = true;
    sb_status st = check_there(d, there, env);
    sb_free(there);
    return st;
}

/* ---- numbers as classes ---- */

static bool all_whole(const struct sb_dataset *d)
{
    double x;
    uint32_t c = 0;
    while (d->class_names && c < d->classes &&
           sb_csv_number(d->class_names[c], strlen(d->class_names[c]), &x) &&
           x == floor(x))
        c++;
    return !d->class_names || c == d->classes;
}

/* Ten digits are classes, and so may be numbers of some streets; rings of a tree are not. */
void sb_source_tell_whole(const struct sb_dataset *d, const struct sb_env *env)
{
    enum { FEW_CLASSES = 10 };
    if (d->labels && sb_dataset_tabular(d) && d->classes > FEW_CLASSES && all_whole(d))
        sb_log_write(env->log, SB_LOG_INFO,
                     "%s: the label has whole numbers, which are taken as %u classes; "
                     "data.task = regression predicts them as numbers",
                     d->path, d->classes);
}
