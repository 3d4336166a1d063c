/* prune - one cut by magnitude through all layers of a network (method.md 5.3: pf, ltr). */
#ifndef SB_TRAIN_PRUNE_H
#define SB_TRAIN_PRUNE_H

#include "base/status.h"
#include "nn/arch.h"
#include "nn/trained.h"

/* *out = the weights of `from` at the places that the cut through the weights of `by` leaves
 * (tensor/prune.h), and everything else of `from` as it is. The two have the same layers and
 * supports, and may be one. A layer that was sparse stays sparse on the way: only what exists
 * is looked at. The caller calls sb_trained_fini(out), also after a failure. */
sb_status sb_prune_member(const struct sb_arch *a, const struct sb_trained *by,
                          const struct sb_trained *from, double sparsity,
                          struct sb_trained *out);

#endif
