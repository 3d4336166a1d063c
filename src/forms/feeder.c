/* feeder - see feeder.h. */
#include "forms/feeder.h"

#include <string.h>

#include "base/mem.h"

sb_status sb_feeder_init(struct sb_feeder *f, const struct sb_form_spec *s,
                         const struct sb_arch *a, uint32_t lanes, uint32_t max_batch)
{
    uint32_t rows = sb_form_rows(s, max_batch);
    const struct sb_arch_node *in = &a->node[0];
    *f = (struct sb_feeder){.form = *s, .heads = a->heads};
    f->label = sb_calloc((size_t)a->heads * rows, sizeof *f->label);
    f->order = sb_calloc(rows, sizeof *f->order);
    if (!f->label || !f->order)
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
    sb_free(f->label);
    sb_free(f->order);
    *f = (struct sb_feeder){0};
}

struct sb_fed sb_feeder_run(struct sb_feeder *f, const struct sb_env *env, uint64_t seed,
                            uint32_t run, uint32_t step, const struct sb_act *x,
                            const uint32_t *label)
{
    const struct sb_form *form = sb_form_of(f->form.kind);
    struct sb_form_batch b = {env,   seed,     run,      step,    x,
                              label, &f->rows, f->label, f->order};
    if (form->feed) {
        form->feed(&f->form, &b);
        return (struct sb_fed){&f->rows, f->label};
    }
    for (uint32_t h = 0; f->heads > 1 && h < f->heads; h++)
        memcpy(f->label + (size_t)h * x->batch, label, x->batch * sizeof *label);
    return (struct sb_fed){x, f->heads > 1 ? f->label : label};
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
    for (uint32_t h = 0; h < f->heads && n > 0; h++) /* where they come from is behind */
        memmove(f->label + (size_t)h * n, f->label + (size_t)h * rows + first,
                n * sizeof *f->label);
    return (struct sb_fed){&f->some, f->label};
}
