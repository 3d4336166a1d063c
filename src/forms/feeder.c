/* feeder - see feeder.h. */
#include "forms/feeder.h"

#include <string.h>

#include "base/mem.h"

sb_status sb_feeder_init(struct sb_feeder *f, const struct sb_form_spec *s,
                         const struct sb_arch *a, uint32_t lanes, uint32_t max_batch)
{
    uint32_t rows = sb_form_rows(s, max_batch);
    size_t all = (size_t)a->heads * rows;
    const struct sb_arch_node *in = &a->node[0];
    bool classes = a->likelihood == SB_LIKELIHOOD_CATEGORICAL;
    *f = (struct sb_feeder){.form = *s, .heads = a->heads};
    f->targets = classes ? 0 : sb_likelihood_count(a->likelihood, a->classes);
    f->example = sb_calloc(all, sizeof *f->example);
    f->order = sb_calloc(rows, sizeof *f->order);
    if (classes)
        f->label = sb_calloc(all, sizeof *f->label);
    else
        f->target = sb_calloc(all, f->targets * sizeof *f->target);
    if (!f->example || !f->order || !(classes ? (void *)f->label : (void *)f->target))
        return sb_fail(SB_ENOMEM, "no memory for batches of %u rows", rows);
    return sb_form_of(s->kind)->feed
               ? sb_act_init(&f->rows, lanes, rows, in->channels, in->height, in->width)
               : SB_OK;
}

void sb_feeder_fini(struct sb_feeder *f)
{
    if (!f)
        return;
    sb_act_fini(&f->rows);
    sb_free(f->example);
    sb_free(f->label);
    sb_free(f->target);
    sb_free(f->order);
    *f = (struct sb_feeder){0};
}

/* What is right for each of n rows of all heads. */
static struct sb_truth gather(struct sb_feeder *f, const struct sb_truth *truth, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t example = f->example[i];
        if (f->label)
            f->label[i] = truth->label[example];
        else
            memcpy(f->target + i * f->targets, truth->target + example * f->targets,
                   f->targets * sizeof *f->target);
    }
    return (struct sb_truth){.label = f->label, .target = f->target};
}

struct sb_fed sb_feeder_run(struct sb_feeder *f, const struct sb_env *env, uint64_t seed,
                            uint32_t run, uint32_t step, const struct sb_act *x,
                            const struct sb_truth *truth)
{
    const struct sb_form *form = sb_form_of(f->form.kind);
    struct sb_form_batch b = {env, seed, run, step, x, &f->rows, f->example, f->order};
    if (!form->feed && f->heads == 1)
        return (struct sb_fed){x, *truth};
    if (form->feed)
        form->feed(&f->form, &b);
    for (uint32_t h = 0; !form->feed && h < f->heads; h++)
        for (uint32_t i = 0; i < x->batch; i++)
            f->example[(size_t)h * x->batch + i] = i;
    const struct sb_act *rows = form->feed ? &f->rows : x;
    return (struct sb_fed){rows, gather(f, truth, (size_t)f->heads * rows->batch)};
}

bool sb_feeder_plain(const struct sb_feeder *f)
{
    return sb_form_of(f->form.kind)->feed == NULL;
}

struct sb_fed sb_feeder_share(struct sb_feeder *f, struct sb_fed fed, uint32_t first,
                              uint32_t n)
{
    uint32_t rows = fed.rows->batch;
    if (sb_feeder_plain(f))
        return fed;
    f->some = f->rows;
    if (n > 0)
        f->some.data = sb_act_plane(&f->rows, first / f->rows.lanes, 0);
    sb_act_set_batch(&f->some, n);
    for (uint32_t h = 0; h < f->heads && n > 0; h++) { /* they come from behind */
        size_t to = (size_t)h * n, from = (size_t)h * rows + first, t = f->targets;
        if (f->label)
            memmove(f->label + to, f->label + from, n * sizeof *f->label);
        else
            memmove(f->target + to * t, f->target + from * t, n * t * sizeof *f->target);
    }
    return (struct sb_fed){&f->some, {.label = f->label, .target = f->target}};
}
