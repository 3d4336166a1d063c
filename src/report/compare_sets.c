/* compare_sets - which runs were tested on the same examples for the same answers: figures of
 * others stand in tables of their own. One file can be many tasks.
 *
 * What a recipe says of the set decides, and where that is not enough, what results.json says
 * of the data: how many examples test, and the fingerprint of the set they are of. Columns
 * that are left out make another fingerprint and no other task, so that it only ever says that
 * labels named in two ways are the same.
 */
#include <string.h>

#include "base/text.h"
#include "report/compare.h"

static const char *task_of(const struct sb_report_run *r)
{
    const char *task = json_string_value(json_object_get(r->results, "task"));
    return task ? task : "classification";
}

/* results.json's data.KEY; NULL: written before there was one. */
static const json_t *fact(const struct sb_report_run *r, const char *key)
{
    return json_object_get(json_object_get(r->results, "data"), key);
}

static bool same_tests(const struct sb_report_run *a, const struct sb_report_run *b)
{
    const json_t *x = fact(a, "tests"), *y = fact(b, "tests");
    return !x || !y || json_number_value(x) == json_number_value(y);
}

/* The last column, say, and its name. */
static bool same_label(const struct sb_report_run *a, const struct sb_report_run *b)
{
    const char *x = json_string_value(fact(a, "test")),
               *y = json_string_value(fact(b, "test"));
    return strcmp(a->recipe.config.data.label, b->recipe.config.data.label) == 0 ||
           (x && y && strcmp(x, y) == 0);
}

static bool same_set(const struct sb_report_run *a, const struct sb_report_run *b)
{
    return strcmp(a->recipe.config.data.set, b->recipe.config.data.set) == 0;
}

static bool same_test_set(const struct sb_report_run *a, const struct sb_report_run *b)
{
    return strcmp(a->recipe.config.data.test, b->recipe.config.data.test) == 0;
}

static bool same_group(const struct sb_report_run *a, const struct sb_report_run *b)
{
    return strcmp(a->recipe.config.data.group, b->recipe.config.data.group) == 0;
}

static bool same_task(const struct sb_report_run *a, const struct sb_report_run *b)
{
    return strcmp(task_of(a), task_of(b)) == 0;
}

bool sb_compare_same_data(const struct sb_report_run *a, const struct sb_report_run *b)
{
    return same_set(a, b) && same_label(a, b) && same_task(a, b) && same_test_set(a, b) &&
           same_group(a, b) && same_tests(a, b);
}

/* Whether a table of the same set is of another kind than r's. */
static bool another(const struct sb_compare *c, const struct sb_report_run *r,
                    bool (*same)(const struct sb_report_run *,
                                 const struct sb_report_run *))
{
    size_t i = 0;
    while (i < c->rows && (!same_set(c->row[i].first, r) || same(c->row[i].first, r)))
        i++;
    return i < c->rows;
}

sb_status sb_compare_title(const struct sb_compare *c, size_t table, char **out)
{
    size_t first = 0;
    while (c->row[first].table != table)
        first++;
    const struct sb_report_run *r = c->row[first].first;
    const struct sb_config_data *d = &r->recipe.config.data;
    struct sb_text t = {0};
    sb_text_add(&t, "%s", d->set);
    if (another(c, r, same_label))
        sb_text_add(&t, ", %s%s", *d->label ? "label " : "label in the last column",
                    d->label);
    if (another(c, r, same_task))
        sb_text_add(&t, ", %s", task_of(r));
    if (another(c, r, same_test_set))
        sb_text_add(&t, ", %s%s", *d->test ? "tested on " : "tested on a part of it",
                    d->test);
    if (another(c, r, same_group))
        sb_text_add(&t, ", %s%s", *d->group ? "rows apart by " : "rows each apart",
                    d->group);
    if (another(c, r, same_tests))
        sb_text_add(&t, ", %.0f test examples", json_number_value(fact(r, "tests")));
    return sb_text_take(&t, out);
}
