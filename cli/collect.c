/* collect - see collect.h. */
#include "collect.h"

#include <stdlib.h>
#include <string.h>

bool cli_collect_init(struct cli_collect *c, struct sebays_ranks *ranks, FILE *output)
{
    *c = (struct cli_collect){.ranks = ranks, .output = output};
    c->sizes = calloc(sebays_ranks_size(ranks), sizeof *c->sizes);
    return c->sizes != NULL;
}

void cli_collect_fini(struct cli_collect *c)
{
    free(c->sizes);
    *c = (struct cli_collect){0};
}

/* The rows of this process as bytes, which the caller frees. False: no memory. */
static bool write_own(struct cli_predictions *a, struct sebays_feed *feed, size_t got,
                      char **bytes, size_t *size)
{
    struct cli_collect_head head = {sebays_feed_first(feed), got, a->rejected};
    FILE *output = a->to, *memory = open_memstream(bytes, size);
    if (!memory)
        return false;
    a->to = memory;
    a->count = head.first;
    fwrite(&head, sizeof head, 1, memory); /* rejected comes later */
    if (got > 0)
        cli_predictions_write(a, feed, got);
    a->to = output;
    bool good = ferror(memory) == 0;
    good = fclose(memory) == 0 && good;
    if (good) {
        head.rejected = a->rejected - head.rejected;
        memcpy(*bytes, &head, sizeof head);
    }
    return good;
}

/* Rank 0: everybody's rows, in order. False: they are not one behind the other. */
static bool write_all(struct cli_collect *c, const char *all)
{
    for (uint32_t r = 0; r < sebays_ranks_size(c->ranks); r++) {
        struct cli_collect_head head;
        memcpy(&head, all, sizeof head);
        if (head.count > 0 && head.first != c->count)
            return false;
        fwrite(all + sizeof head, 1, (size_t)c->sizes[r] - sizeof head, c->output);
        c->count += head.count;
        c->rejected += head.rejected;
        all += c->sizes[r];
    }
    return true;
}

sebays_status cli_collect_round(struct cli_collect *c, struct cli_predictions *a,
                                struct sebays_feed *feed, size_t got, bool *more,
                                bool *apart)
{
    char *bytes = NULL;
    size_t size = 0;
    const void *all = NULL;
    *more = *apart = false;
    bool written = write_own(a, feed, got, &bytes, &size);
    sebays_status st = written
                           ? sebays_ranks_collect(c->ranks, bytes, size, &all, c->sizes)
                           : SEBAYS_ENOMEM;
    free(bytes);
    if (st != SEBAYS_OK)
        return st;
    if (all && !write_all(c, all)) {
        *apart = true;
        return SEBAYS_EIO;
    }
    *more = c->sizes[0] > sizeof(struct cli_collect_head); /* rank 0's come first */
    if (!*more) {
        a->count = c->count;
        a->rejected = c->rejected;
    }
    return SEBAYS_OK;
}
