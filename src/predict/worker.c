/* worker - see worker.h. */
#include "predict/worker.h"

#include "base/mem.h"
#include "kernels/kernels.h"

static sb_status init_net(const struct sb_predictor *p, uint32_t images, int threads,
                          bool single, struct sb_net *out)
{
    struct sb_arch arch;
    sb_status st = sb_model_arch(p->model, &arch);
    struct sb_net_options net = {
        .made = &arch,
        .lanes = p->env.kernels->lanes,
        .max_batch = images,
        .threads = threads,
        .gauss = p->sampling.kind == SB_SAMPLE_NOISE,
        .inference = true,
        .single = single,
        .shared = p->loaded->member,
        .shared_count = p->loaded->members,
    };
    if (st == SB_OK)
        st = sb_net_init(out, &net);
    sb_arch_fini(&arch);
    return st;
}

static sb_status init_draw(const struct sb_predictor *p, struct sb_predict_worker *w)
{
    size_t most = 0, largest = 0;
    for (uint32_t i = 0; i < p->model->members; i++) {
        const struct sb_net *net = &p->loaded->member[i];
        size_t sum = 0, layer = sb_trained_largest(&p->model->member[i]);
        for (uint32_t k = 0; k < net->arch.weights; k++)
            sum += sb_weight_placed(&net->weight[k]);
        most = sum > most ? sum : most;
        largest = layer > largest ? layer : largest;
    }
    w->theta = sb_malloc(most, sizeof *w->theta);
    w->layer = sb_malloc(largest, sizeof *w->layer);
    w->scratch = sb_malloc(sb_model_draw_scratch(p->model), sizeof *w->scratch);
    return w->theta && w->layer && w->scratch
               ? SB_OK
               : sb_fail(SB_ENOMEM, "no memory to draw %zu weights", most);
}

static sb_status init_buffers(const struct sb_predictor *p, struct sb_predict_worker *w)
{
    const struct sb_model *m = p->model;
    size_t batch = (size_t)p->at_once * sb_model_prediction_size(&m->info);
    w->draw = sb_malloc(batch, sizeof *w->draw);
    w->prob = sb_malloc(sb_worker_floats(p), sizeof *w->prob);
    w->member = sb_malloc(m->members, 3 * sizeof *w->member);
    w->bad = sb_malloc((size_t)p->at_once + SB_MAX_LANES, 1); /* or the bands of one */
    if (!w->draw || !w->prob || !w->member || !w->bad)
        return sb_fail(SB_ENOMEM, "no memory to predict %u examples at once", p->at_once);
    return sb_worker_draws(p) ? init_draw(p, w) : SB_OK;
}

sb_status sb_worker_init(struct sb_predict_worker *w, const struct sb_predictor *p,
                         int threads, bool single)
{
    sb_status st = init_net(p, p->at_once, threads, single, &w->net);
    return st == SB_OK ? init_buffers(p, w) : st;
}

void sb_worker_fini(struct sb_predict_worker *w)
{
    sb_net_fini(&w->net);
    sb_free(w->theta);
    sb_free(w->layer);
    sb_free(w->scratch);
    sb_free(w->draw);
    sb_free(w->prob);
    sb_free(w->member);
    sb_free(w->bad);
}
