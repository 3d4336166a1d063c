/* pulse - a sign of life between processes that work apart. Internal to train/.
 *
 * Groups of a job's processes that train members of their own exchange nothing for hours, and
 * one may be done long before another; still a process that hangs must end the job within its
 * limit, and who is asked to stop must stop all. So every process gives the others a word
 * about once a second, in an exchange that goes on beside its work: it is started and looked
 * at between batches, and never waited for. All see the words of one exchange alike.
 */
#ifndef SB_TRAIN_PULSE_H
#define SB_TRAIN_PULSE_H

#include <stdbool.h>

#include "base/comm.h"
#include "base/status.h"

enum sb_pulse_word { SB_PULSE_WORKS, SB_PULSE_STOPPED, SB_PULSE_DONE };

struct sb_pulse {
    const struct sb_comm *comm; /* of all; NULL: one process, nothing happens */
    unsigned char *word;        /* [size] owned: enum sb_pulse_word */
    struct sb_comm_span *part;  /* [size] owned */
    bool under_way;
    double since; /* clock: when the last one was started */
    struct sb_comm_request request;
    bool stop;  /* some process was asked to stop */
    bool ended; /* nobody works any more */
};

/* The caller calls sb_pulse_fini, also after a failure. */
sb_status sb_pulse_init(struct sb_pulse *p, const struct sb_comm *comm);
void sb_pulse_fini(struct sb_pulse *p);

/* Between two batches. SB_EIO, and a sentence: somebody has said nothing for longer than an
 * exchange may take. */
sb_status sb_pulse_beat(struct sb_pulse *p, enum sb_pulse_word mine);

/* Until nobody works any more. */
sb_status sb_pulse_end(struct sb_pulse *p, enum sb_pulse_word mine);

#endif
