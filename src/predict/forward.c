/* forward - see forward.h. */
#include "predict/forward.h"

size_t sb_predict_images(const struct sb_net *net)
{
    return net->arch.bands ? 1 : net->input.batch;
}

/* Predictions, images outermost. */
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
    sb_net_predict(env, net);
    copy_out(&net->head[0].prediction, sb_predict_images(net), out);
    return SB_OK;
}

/* How many numbers a prediction has. */
static uint32_t prediction_size(const struct sb_net *net)
{
    return sb_likelihood_predictions(net->arch.likelihood, net->arch.classes);
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
    size_t size = prediction_size(net), n = images * size, half = size / 2;
    bool classes = net->arch.likelihood == SB_LIKELIHOOD_CATEGORICAL;
    for (size_t i = 0; classes && i < n; i++)
        sum[i] += draw[i] / (float)draws;
    for (size_t i = 0; !classes && i < images; i++)
        for (size_t t = i * size; t < i * size + half; t++)
            add_outcome(&sum[t], &sum[t + half], draw[t], draw[t + half], number);
}
