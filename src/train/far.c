/* far - where the training rows are to the finished ensemble (figures/far.h).
 *
 * Some rows of the training part, evenly spaced, go through all members as examples do; a
 * Gaussian is fitted to what is seen in each place, and the rows' own scores, each without
 * itself, become the quantiles that later examples are measured by. A function of the networks
 * and the data: a run that was resumed or merged comes to the same numbers, and so do
 * processes that train together, each of which sees all rows' places.
 */
#include "figures/far.h"
#include "base/mem.h"
#include "train/judge.h"
#include "train/state.h"

enum { ROWS = 4096, FEWEST = 3 };

/* Rows, and what is seen of them. */
struct survey {
    uint32_t *index; /* [n] owned, like the rest */
    uint32_t n;
    float *places; /* [1 + members][n][SB_FAR_WIDTH] */
    double *input, *features;
};

static sb_status survey_init(struct survey *s, const struct sb_trainer *t,
                             uint32_t members)
{
    const struct sb_indices *part = &t->source.part;
    s->index = sb_malloc(s->n, sizeof *s->index);
    s->places = sb_malloc((size_t)s->n * (1 + members), SB_FAR_WIDTH * sizeof *s->places);
    s->input = sb_malloc(s->n, sizeof *s->input);
    s->features = sb_calloc(s->n, sizeof *s->features);
    if (!s->index || !s->places || !s->input || !s->features)
        return sb_fail(SB_ENOMEM, "no memory to see where %u training rows are", s->n);
    for (uint32_t i = 0; i < s->n; i++)
        s->index[i] = part->train[(uint64_t)i * part->train_count / s->n];
    return SB_OK;
}

static void survey_fini(struct survey *s)
{
    sb_free(s->index);
    sb_free(s->places);
    sb_free(s->input);
    sb_free(s->features);
}

/* Fits the Gaussian of a place and adds up what rows are to it without themselves. */
static sb_status fit_place(struct survey *s, const struct sb_far *f, float *number,
                           uint32_t place)
{
    const float *z = s->places + (size_t)place * s->n * SB_FAR_WIDTH;
    uint32_t width = sb_far_place_width(f, place);
    sb_status st = sb_far_fit(z, s->n, width, number + sb_far_mean_at(f, place),
                              number + sb_far_factor_at(f, place));
    for (uint32_t i = 0; i < s->n && st == SB_OK; i++) {
        double d = sb_far_left_out(sb_far_away(f, place, z + (size_t)i * SB_FAR_WIDTH),
                                   width, s->n);
        if (place == 0)
            s->input[i] = d;
        else
            s->features[i] += d;
    }
    return st;
}

static sb_status fit(struct sb_trainer *t, struct survey *s, const struct sb_model *m)
{
    struct sb_far f = {.input = sb_far_width(sb_far_elements(&m->arch, 0)),
                       .feature =
                           sb_far_width(sb_far_elements(&m->arch, sb_far_node(&m->arch))),
                       .members = m->members,
                       .quantiles = s->n < SB_FAR_QUANTILES ? s->n : SB_FAR_QUANTILES};
    float *number = sb_malloc(sb_far_floats(&f), sizeof *number);
    sb_status st = number ? SB_OK
                          : sb_fail(SB_ENOMEM, "no memory for %zu numbers of places",
                                    sb_far_floats(&f));
    f.number = t->far_number = number;
    for (uint32_t p = 0; p <= f.members && st == SB_OK; p++)
        st = fit_place(s, &f, number, p);
    if (st != SB_OK)
        return st;
    for (uint32_t i = 0; i < s->n; i++)
        s->input[i] = sb_far_score(s->input[i], s->features[i] / f.members);
    (void)sb_far_quantiles(s->input, s->n, number + sb_far_quantile_at(&f));
    t->far = f;
    return SB_OK;
}

sb_status sb_trainer_locate(struct sb_trainer *t)
{
    uint32_t rows = t->source.part.train_count;
    struct survey s = {.n = rows < ROWS ? rows : ROWS};
    struct sb_model model = {0};
    struct sb_judging j = {0};
    if (rows < FEWEST)
        return SB_OK;
    sb_status st = sb_trainer_model(t, t->trained, t->trained_count, &model);
    if (st == SB_OK)
        st = survey_init(&s, t, model.members);
    struct sb_job job = {.source = &t->source.train_clean, .index = s.index, .n = s.n};
    if (st == SB_OK)
        st = sb_judging_init(&j, t, &model, &job);
    j.places = s.places;
    if (st == SB_OK)
        st = sb_judging_run(&j, &job, sb_config_sampling(&t->config->eval));
    if (st == SB_OK)
        st = fit(t, &s, &model);
    sb_judging_fini(&j);
    sb_model_fini(&model);
    survey_fini(&s);
    return st;
}
