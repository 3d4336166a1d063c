/* source - see source.h. */
#include "predict/source.h"

#include "base/mem.h"

struct buffers {
    struct sb_act x;
    uint32_t *index, *label; /* [batch] */
};

static sb_status init_buffers(struct buffers *b, const struct sb_net *n)
{
    const struct sb_act *in = &n->node[0].y;
    *b = (struct buffers){0};
    sb_status st =
        sb_act_init(&b->x, n->lanes, n->max_batch, in->channels, in->height, in->width);
    b->index = sb_malloc(n->max_batch, sizeof *b->index);
    b->label = sb_malloc(n->max_batch, sizeof *b->label);
    if (st == SB_OK && (!b->index || !b->label))
        st = sb_fail(SB_ENOMEM, "no memory for a batch of %u images", n->max_batch);
    return st;
}

static void fini_buffers(struct buffers *b)
{
    sb_act_fini(&b->x);
    sb_free(b->index);
    sb_free(b->label);
}

size_t sb_predict_images(const struct sb_net *net)
{
    return net->arch.bands ? 1 : net->input.batch;
}

/* Answers, images outermost. */
static void copy_out(const struct sb_act *p, size_t images, float *out)
{
    for (uint32_t i = 0; i < images; i++)
        for (uint32_t c = 0; c < p->channels; c++)
            *out++ = *sb_act_image(p, i, c);
}

sb_status sb_predict_forward(const struct sb_env *env, struct sb_net *net,
                             const struct sb_pass *pass, float *out)
{
    sb_status st = sb_net_forward(env, net, pass);
    if (st != SB_OK)
        return st;
    sb_net_answer(env, net);
    copy_out(&net->head[0].answer, sb_predict_images(net), out);
    return SB_OK;
}

uint32_t sb_predict_answers(const struct sb_net *net)
{
    return sb_likelihood_answers(net->arch.likelihood, net->arch.classes);
}

/* N(sum) of k draws and one more, N(draw), each counting the same: total variance. */
static void add_outcome(float *mean, float *var, float x, float v, uint32_t k)
{
    float weight = 1.0f / (float)(k + 1), rest = 1.0f - weight, miss = x - *mean;
    *var = rest * *var + weight * v + rest * weight * miss * miss;
    *mean += weight * miss;
}

void sb_predict_add(const struct sb_net *net, float *sum, const float *draw,
                    size_t images, uint32_t number, uint32_t draws)
{
    size_t answers = sb_predict_answers(net), n = images * answers, half = answers / 2;
    bool classes = net->arch.likelihood == SB_LIKELIHOOD_CATEGORICAL;
    for (size_t i = 0; classes && i < n; i++)
        sum[i] += draw[i] / (float)draws;
    for (size_t i = 0; !classes && i < images; i++)
        for (size_t t = i * answers; t < i * answers + half; t++)
            add_outcome(&sum[t], &sum[t + half], draw[t], draw[t + half], number);
}

sb_status sb_predict_run(const struct sb_predict *p, float *answers, int32_t *label)
{
    struct sb_net *net = p->net;
    struct buffers b;
    sb_status st = init_buffers(&b, net);
    for (uint32_t at = p->first; at < p->n && st == SB_OK; at += net->max_batch) {
        uint32_t count = p->n - at < net->max_batch ? p->n - at : net->max_batch;
        struct sb_pass pass = {.sample = p->noise,
                               .seed = p->seed,
                               .member = p->member,
                               .step = p->draw,
                               .image = at};
        for (uint32_t i = 0; i < count; i++)
            b.index[i] = p->index ? p->index[at + i] : at + i;
        sb_act_set_batch(&b.x, count);
        st = sb_batch_fill(p->source, p->env->threads, b.index, count, &b.x, b.label);
        if (st != SB_OK)
            break;
        sb_net_set_input(net, &b.x);
        st = sb_predict_forward(p->env, net, &pass,
                                answers + (size_t)at * sb_predict_answers(net));
        for (uint32_t i = 0; label && i < count; i++)
            label[at + i] = (int32_t)b.label[i];
    }
    fini_buffers(&b);
    return st;
}
