/* inspect - a model as lines of text for a person: what it is, how good its members were,
 * and for each layer how many weights exist and how sure the posterior is of them; of forms
 * with scales these, too.
 *
 * Figures of a layer are over the weights of all members together. SNR is E|theta| /
 * sd|theta| (method.md 3), at the quarter, half and three quarters of them; its least
 * possible value is 1.3236.
 */
#ifndef SB_MODEL_INSPECT_H
#define SB_MODEL_INSPECT_H

#include <stdint.h>

#include "base/status.h"
#include "model/model.h"

/* line has no newline and is valid during the call only. */
typedef void sb_inspect_fn(void *context, const char *line);

/* file_bytes: the size of the file, 0: unknown. Fails for lack of memory only, before the
 * layers' lines. */
sb_status sb_inspect_model(const struct sb_model *m, uint64_t file_bytes,
                           sb_inspect_fn *line, void *context);

/* One layer's figures, over all networks. */
struct sb_inspect_layer {
    const char *name;          /* borrowed from the model */
    char shape[64];            /* "20 x 1 x 5 x 5" */
    uint64_t active;           /* weights that exist, of all networks */
    uint64_t all;              /* weights there could be, of all networks */
    uint64_t bytes;            /* in the file */
    double mean_mu;            /* mean |mu| */
    double mean_sigma, snr[3]; /* NAN in a point model */
};

/* Of what was trained. out: [m->trained.weights]. */
sb_status sb_inspect_layers(const struct sb_model *m, struct sb_inspect_layer *out);

#endif
