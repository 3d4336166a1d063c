/* pulse - see pulse.h. */
#include "train/pulse.h"

#include <time.h>

#include "base/mem.h"
#include "train/state.h"

static const double usual = 1.0; /* seconds between two */

sb_status sb_pulse_init(struct sb_pulse *p, const struct sb_comm *comm)
{
    uint32_t size = sb_comm_size(comm);
    *p = (struct sb_pulse){.comm = size > 1 ? comm : NULL, .ended = size < 2};
    if (!p->comm)
        return SB_OK;
    p->word = sb_calloc(size, 1);
    p->part = sb_calloc(size, sizeof *p->part);
    if (!p->word || !p->part)
        return sb_fail(SB_ENOMEM, "no memory for words of %u processes", size);
    sb_comm_equal_spans(p->part, size, 1);
    return SB_OK;
}

void sb_pulse_fini(struct sb_pulse *p)
{
    if (!p)
        return;
    sb_free(p->word);
    sb_free(p->part);
    *p = (struct sb_pulse){0};
}

static sb_status start(struct sb_pulse *p, enum sb_pulse_word mine, double now)
{
    p->word[p->comm->rank] = (unsigned char)mine;
    p->since = now;
    p->under_way = true;
    return sb_comm_start_all_gather(p->comm, "signs of life", NULL, p->word, p->part,
                                    &p->request);
}

static void read_words(struct sb_pulse *p)
{
    p->ended = true;
    for (uint32_t r = 0; r < p->comm->size; r++) {
        p->stop = p->stop || p->word[r] == SB_PULSE_STOPPED;
        p->ended = p->ended && p->word[r] != SB_PULSE_WORKS;
    }
}

static sb_status look(struct sb_pulse *p, double now)
{
    bool done = false;
    sb_status st = sb_comm_test(p->comm, &p->request, &done);
    if (st == SB_OK && !done && p->comm->limit > 0.0 && now - p->since > p->comm->limit)
        st = sb_fail(SB_EIO,
                     "rank %u of %u had no sign of life from all others for %g s, "
                     "longer than one exchange may take: a rank hangs, is gone or is cut "
                     "off",
                     p->comm->rank, p->comm->size, p->comm->limit);
    if (st != SB_OK || !done)
        return st;
    p->under_way = false;
    st = sb_comm_wait(p->comm, &p->request);
    read_words(p);
    return st;
}

sb_status sb_pulse_beat(struct sb_pulse *p, enum sb_pulse_word mine)
{
    if (!p || !p->comm)
        return SB_OK;
    double now = sb_trainer_clock(), limit = p->comm->limit;
    double every = limit > 0.0 && limit / 8.0 < usual ? limit / 8.0 : usual;
    if (p->under_way)
        return look(p, now);
    return now - p->since >= every ? start(p, mine, now) : SB_OK;
}

sb_status sb_pulse_end(struct sb_pulse *p, enum sb_pulse_word mine)
{
    const struct timespec moment = {.tv_nsec = 10000000L};
    sb_status st = SB_OK;
    p->stop = p->stop || mine == SB_PULSE_STOPPED;
    p->ended = !p->comm;
    while (st == SB_OK && !p->ended) {
        st = sb_pulse_beat(p, mine);
        if (st == SB_OK && !p->ended)
            (void)nanosleep(&moment, NULL);
    }
    return st;
}
