/* evaluate - validation while training, and members and ensemble on the test set. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "predict/sampling.h"
#include "predict/source.h"
#include "train/state.h"

sb_status sb_trainer_validate(struct sb_trainer *t, struct sb_scores *out)
{
    uint32_t n = t->source.part.valids, classes = t->net.arch.classes;
    *out = (struct sb_scores){NAN, NAN, NAN, NAN};
    if (n == 0)
        return SB_OK;
    float *p = sb_malloc((size_t)n * classes, sizeof *p);
    int32_t *label = sb_malloc(n, sizeof *label);
    sb_status st = SB_OK;
    if (!p || !label) {
        st = sb_fail(SB_ENOMEM, "no memory to validate on %u images", n);
        goto done;
    }
    struct sb_batch_source source = t->source.validation;
    source.member = (uint32_t)t->at.run;
    source.step = (uint32_t)t->at.step;
    struct sb_predict job = {.env = t->env,
                             .net = &t->net,
                             .source = &source,
                             .index = t->source.part.valid,
                             .n = n};
    st = sb_predict_run(&job, p, label);
    const float *members[1] = {p};
    struct sb_probs probs = {members, 1, n, classes};
    if (st == SB_OK)
        st = sb_metrics_of(&probs, label, t->config->eval.bins, out);
done:
    sb_free(p);
    sb_free(label);
    return st;
}

/* ---- the test set -------------------------------------------------------------------- */

/* The recipe's way of using a posterior. */
static struct sb_sampling sampling_of(const struct sb_trainer *t)
{
    const struct sb_config_eval *e = &t->config->eval;
    struct sb_sampling s = {SB_SAMPLE_DRAWS, 1};
    if (t->method->posterior != SB_POSTERIOR_GAUSS || e->sampling == SB_CONFIG_MEAN)
        s.kind = SB_SAMPLE_MEAN;
    else if (e->sampling == SB_CONFIG_ACTIVATION_NOISE)
        s.kind = SB_SAMPLE_NOISE;
    else if (e->sampling == SB_CONFIG_DRAWS)
        s.draws = e->draws;
    return s;
}

/* A network for predicting with a member, as those who use the model have it: so they get
 * the bits that are judged here. */
static sb_status open_net(const struct sb_trainer *t, const struct sb_member *m,
                          bool noise, struct sb_net *net)
{
    const struct sb_arch_node *input = &t->net.arch.node[0];
    *net = (struct sb_net){0};
    uint32_t *active = sb_malloc(m->weights, sizeof *active);
    if (!active)
        return sb_fail(SB_ENOMEM, "no memory to test %u layers", m->weights);
    sb_member_active(m, active);
    struct sb_net_options o = {
        .arch = t->config->model.arch,
        .channels = input->channels,
        .height = input->height,
        .width = input->width,
        .classes = t->net.arch.classes,
        .max_batch = t->config->train.batch,
        .threads = t->env->threads,
        .gauss = noise,
        .inference = true,
        .active = active,
    };
    sb_status st = sb_net_init(net, &o);
    sb_free(active);
    return st;
}

/* Member m's probabilities on the test set. */
static sb_status predict_member(struct sb_trainer *t, uint32_t m, float *out, float *draw,
                                int32_t *label)
{
    const struct sb_member *member = &t->member[m];
    struct sb_sampling s = sampling_of(t);
    size_t n = (size_t)t->source.tests * t->net.arch.classes;
    struct sb_net net;
    struct sb_predict job = {.env = t->env,
                             .net = &net,
                             .source = &t->source.test_clean,
                             .index = t->source.test_index,
                             .n = t->source.tests,
                             .noise = s.kind == SB_SAMPLE_NOISE,
                             .seed = member->sample_seed,
                             .member = m};
    sb_status st = open_net(t, member, s.kind == SB_SAMPLE_NOISE, &net);
    memset(out, 0, n * sizeof *out);
    for (uint32_t d = 0; d < s.draws && st == SB_OK; d++) {
        st = s.kind == SB_SAMPLE_DRAWS ? sb_member_draw(member, t->env, &net, d)
                                       : sb_member_load(member, t->env, &net);
        if (st == SB_OK)
            st = sb_predict_run(&job, draw, label);
        if (st == SB_OK)
            sb_predict_add(out, draw, n, s.draws);
    }
    sb_net_fini(&net);
    return st;
}

static sb_status test_members(struct sb_trainer *t, float *p, float *draw, int32_t *label,
                              const float **members, struct sb_run_result *out)
{
    uint32_t n = t->source.tests, classes = t->net.arch.classes;
    unsigned bins = t->config->eval.bins;
    sb_status st = SB_OK;
    for (uint32_t m = 0; m < out->members && st == SB_OK; m++) {
        float *mine = p + (size_t)m * n * classes;
        members[m] = mine;
        struct sb_probs one = {&members[m], 1, n, classes};
        st = predict_member(t, m, mine, draw, label);
        if (st == SB_OK)
            st = sb_metrics_of(&one, label, bins, &out->member[m]);
    }
    struct sb_probs all = {members, out->members, n, classes};
    return st == SB_OK ? sb_metrics_of(&all, label, bins, &out->ensemble) : st;
}

/* What costs are a multiple of: a dense network, one exploration and one exploitation. */
static double dense_run_flops(const struct sb_trainer *t)
{
    const struct sb_config_method *m = &t->config->method;
    double epochs = (double)m->explore_epochs + m->exploit_epochs;
    return 2.0 * sb_net_macs(&t->net, true) * 3.0 * epochs * t->source.part.trains;
}

sb_status sb_trainer_test(struct sb_trainer *t, struct sb_run_result *out)
{
    size_t n = (size_t)t->source.tests * t->net.arch.classes;
    uint32_t members = t->members;
    float *p = sb_malloc(n * members, sizeof *p), *draw = sb_malloc(n, sizeof *draw);
    int32_t *label = sb_malloc(t->source.tests, sizeof *label);
    const float **list = sb_calloc(members, sizeof *list);
    sb_status st = SB_OK;
    out->members = members;
    out->member = sb_calloc(members, sizeof *out->member);
    if (!p || !draw || !label || !list || !out->member)
        st = sb_fail(SB_ENOMEM, "no memory to test %u members on %u images", members,
                     t->source.tests);
    if (st == SB_OK)
        st = test_members(t, p, draw, label, list, out);
    double images = (double)t->at.images, macs = sb_net_macs(&t->net, false);
    out->density = (double)sb_net_active(&t->net) / (double)sb_net_weights(&t->net);
    out->train_seconds = t->at.seconds;
    out->images_per_second = images / t->at.seconds;
    out->training_flops = 2.0 * macs * 3.0 * images; /* METHOD 6: means only */
    out->dense_run_flops = dense_run_flops(t);
    sb_free(p);
    sb_free(draw);
    sb_free(label);
    sb_free(list);
    return st;
}
