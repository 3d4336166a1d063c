/* kept - see kept.h. */
#include "predict/kept.h"

#include "base/mem.h"
#include "figures/conformal.h"

sb_status sb_predict_columns(const struct sb_model_info *i, struct sb_columns **out)
{
    *out = NULL;
    if (!i->columns)
        return SB_OK;
    sb_status st = sb_columns_read(out, "the model", i->columns);
    if (st == SB_OK &&
        ((*out)->features != i->channels || i->height != 1 || i->width != 1)) {
        st = sb_fail(SB_EFORMAT,
                     "the model: its columns have %u features, but it takes %u",
                     (*out)->features, i->channels);
        sb_columns_free(*out);
        *out = NULL;
    }
    return st;
}

sb_status sb_predict_conformal(const struct sb_model_info *i, uint32_t row,
                               double coverage, double *out)
{
    if (i->scores == 0)
        return sb_fail(SB_EARG, "the model was trained without a calibration part, which "
                                "conformal prediction needs; train it with "
                                "data.calibration, such as 0.15");
    if (row >= sb_model_score_rows(i))
        return sb_fail(SB_EARG, "conformal: target %u of %u", row,
                       sb_model_score_rows(i));
    double *score = sb_malloc(i->scores, sizeof *score);
    if (!score)
        return sb_fail(SB_ENOMEM, "no memory for %u scores", i->scores);
    for (uint32_t k = 0; k < i->scores; k++)
        score[k] = (double)i->score[(size_t)row * i->scores + k];
    sb_status st = sb_conformal_quantile(score, i->scores, coverage, out);
    sb_free(score);
    return st;
}
