/* identity - what a run's data is, and whether it is what a model was trained on. */
#ifndef SB_TRAIN_IDENTITY_H
#define SB_TRAIN_IDENTITY_H

#include "data/identity.h"
#include "model/model.h"
#include "train/source.h"

/* SB_EARG: the data is not what the model at path says it was trained on, as far as the use
 * asks. force as in sb_identity_compare. */
sb_status sb_source_check(const struct sb_source *s, const char *path,
                          const struct sb_model_info *i, enum sb_identity_use use,
                          bool force);

#endif
