/* forward - see forward.h. */
#include "predict/forward.h"

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
