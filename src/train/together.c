/* together - see together.h. */
#include "train/together.h"

#include <string.h>

#include "base/comm.h"
#include "base/mem.h"
#include "train/pulse.h"

bool sb_together_writes(const struct sb_trainer *t)
{
    return sb_comm_rank(t->env->comm) == 0;
}

static sb_status same_text(const struct sb_trainer *t, const char *what, const char *text)
{
    return text ? sb_comm_same(t->env->comm, what, text, strlen(text)) : SB_OK;
}

sb_status sb_together_check(const struct sb_trainer *t)
{
    sb_status st = same_text(t, "version of sebays", t->options->version);
    if (st == SB_OK)
        st = same_text(t, "recipe", t->canonical);
    return st == SB_OK ? same_text(t, "data set", t->data) : st;
}

sb_status sb_together_check_position(const struct sb_trainer *t)
{
    const uint64_t at[] = {t->at.stage, t->at.epoch, t->at.batch,
                           t->at.step,  t->at.saves, t->trained_count};
    return sb_comm_same(t->env->comm, "newest checkpoint", at, sizeof at);
}

sb_status sb_together_decide(const struct sb_trainer *t, sb_status st, bool *save)
{
    if (st != SB_OK && st != SB_ECANCELED)
        return st;
    struct sb_pulse *pulse = t->options->pulse;
    sb_status alive = sb_pulse_beat(pulse, SB_PULSE_WORKS);
    if (alive != SB_OK)
        return alive;
    if (pulse && pulse->stop)
        st = SB_ECANCELED;
    unsigned char word[] = {st == SB_ECANCELED, *save};
    sb_status sent =
        sb_comm_broadcast(t->env->comm, "what comes next", word, sizeof word, 0);
    if (sent != SB_OK)
        return sent;
    *save = word[1];
    return word[0] ? SB_ECANCELED : SB_OK;
}

sb_status sb_together_agree(const struct sb_trainer *t, const char *what, bool *flag)
{
    unsigned char word = *flag;
    sb_status st = sb_comm_broadcast(t->env->comm, what, &word, 1, 0);
    *flag = word;
    return st;
}

/* ---- examples that are judged -------------------------------------------------------- */

static uint32_t bound(const struct sb_trainer *t, uint32_t n, uint32_t rank)
{
    return (uint32_t)((uint64_t)n * rank / sb_comm_size(t->env->comm));
}

void sb_together_part(const struct sb_trainer *t, uint32_t n, uint32_t *first,
                      uint32_t *end)
{
    uint32_t rank = sb_comm_rank(t->env->comm);
    *first = bound(t, n, rank);
    *end = bound(t, n, rank + 1);
}

sb_status sb_together_gather(const struct sb_trainer *t, const char *what, uint32_t n,
                             size_t bytes, void *data)
{
    uint32_t size = sb_comm_size(t->env->comm);
    if (size == 1)
        return SB_OK;
    struct sb_comm_span *part = sb_malloc(size, sizeof *part);
    if (!part)
        return sb_fail(SB_ENOMEM, "no memory for exchanges of %u processes", size);
    for (uint32_t r = 0; r < size; r++) {
        size_t first = bound(t, n, r), end = bound(t, n, r + 1);
        part[r] = (struct sb_comm_span){first * bytes, (end - first) * bytes};
    }
    sb_status st = sb_comm_all_gather(t->env->comm, what, NULL, data, part);
    sb_free(part);
    return st;
}
