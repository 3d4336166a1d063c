/* far - the places of a network at which an example is compared with training rows
 * (model/far.h), as few numbers.
 *
 * A place of more than SB_FAR_WIDTH numbers becomes that many sums: number j goes to one of
 * them with a sign, both fixed by j and the kind of place alone (a count sketch). Each sum has
 * as many numbers as the others, or one more.
 */
#ifndef SB_PREDICT_FAR_H
#define SB_PREDICT_FAR_H

#include <stdint.h>

#include "model/far.h"
#include "nn/net.h"

/* Kinds of places. */
enum { SB_FAR_INPUT, SB_FAR_FEATURES, SB_FAR_KINDS };

struct sb_far_places {
    /* [elements] owned: the sum a number goes to, 128 more if it is taken off; NULL:
     * there are no more than sums */
    uint8_t *code[SB_FAR_KINDS];
    uint32_t elements[SB_FAR_KINDS];
    uint32_t node; /* whose value the features are */
};

/* Of a member's architecture. The caller calls sb_far_places_fini, also after a failure. */
sb_status sb_far_places_init(struct sb_far_places *p, const struct sb_arch *a);
void sb_far_places_fini(struct sb_far_places *p);

/* z: those of an image in the net; of features, after its forward. */
void sb_far_look(const struct sb_far_places *p, const struct sb_net *net, int kind,
                 uint32_t image, float z[SB_FAR_WIDTH]);

#endif
