/* failure - see failure.h. */
#include "base/failure.h"

#include <string.h>

void sb_failure_note(struct sb_failure *f, size_t chunk, sb_status st)
{
    if (st == SB_OK)
        return;
    pthread_mutex_lock(&f->lock);
    if (f->status == SB_OK || chunk < f->chunk) {
        const char *sentence = sb_message();
        f->status = st;
        f->chunk = chunk;
        memcpy(f->sentence, sentence, strlen(sentence) + 1);
    }
    pthread_mutex_unlock(&f->lock);
}

sb_status sb_failure_raise(const struct sb_failure *f)
{
    return f->status == SB_OK ? SB_OK : sb_fail(f->status, "%s", f->sentence);
}
