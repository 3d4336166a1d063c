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

/* Probabilities, images outermost. */
static void copy_out(const struct sb_act *p, size_t images, float *out)
{
    for (uint32_t i = 0; i < images; i++)
        for (uint32_t c = 0; c < p->channels; c++)
            *out++ = *sb_act_image(p, i, c);
}

sb_status sb_predict_forward(const struct sb_env *env, struct sb_net *net,
                             const struct sb_pass *pass, uint32_t first, float *out)
{
    sb_status st = sb_net_forward_part(env, net, pass, first, net->arch.nodes);
    if (st != SB_OK)
        return st;
    sb_net_softmax(env, net);
    copy_out(&net->head[0].probabilities, sb_predict_images(net), out);
    return SB_OK;
}

void sb_predict_add(float *mean, const float *draw, size_t n, uint32_t draws)
{
    for (size_t i = 0; i < n; i++)
        mean[i] += draw[i] / (float)draws;
}

sb_status sb_predict_run(const struct sb_predict *p, float *probabilities, int32_t *label)
{
    struct sb_net *net = p->net;
    struct buffers b;
    sb_status st = init_buffers(&b, net);
    for (uint32_t at = 0; at < p->n && st == SB_OK; at += net->max_batch) {
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
        st = sb_predict_forward(p->env, net, &pass, 0,
                                probabilities + (size_t)at * net->arch.classes);
        for (uint32_t i = 0; label && i < count; i++)
            label[at + i] = (int32_t)b.label[i];
    }
    fini_buffers(&b);
    return st;
}
