/* columns - see columns.h. */
#include "predict/columns.h"

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
