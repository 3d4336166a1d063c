/* failure - a sentence carried from the thread where it happened to the one that asked.
 *
 * Sentences belong to the thread that failed (status.h). Work that is spread over threads
 * notes its failures here, and the caller raises them as its own. Of several, the one of
 * the lowest chunk stays: what is said does not depend on who was faster.
 */
#ifndef SB_BASE_FAILURE_H
#define SB_BASE_FAILURE_H

#include <pthread.h>
#include <stddef.h>

#include "base/status.h"

struct sb_failure {
    pthread_mutex_t lock;
    sb_status status; /* SB_OK: none so far */
    size_t chunk;     /* whose it is */
    char sentence[SB_MESSAGE_BYTES];
};

#define SB_FAILURE_NONE                                                                  \
    {                                                                                    \
        .lock = PTHREAD_MUTEX_INITIALIZER, .status = SB_OK                               \
    }

/* Keeps st and this thread's sentence, if st is a failure and no lower chunk's is kept. Any
 * thread. */
void sb_failure_note(struct sb_failure *f, size_t chunk, sb_status st);

/* What was noted, recorded again for the calling thread; after the threads are done. */
sb_status sb_failure_raise(const struct sb_failure *f);

#endif
