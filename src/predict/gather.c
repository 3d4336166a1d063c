/* gather - see gather.h. */
#include "predict/gather.h"

#include <string.h>

#include "base/failure.h"
#include "base/threads.h"

struct job {
    const struct sb_dataset *d;
    const uint32_t *index; /* NULL: in order */
    uint32_t at;
    size_t size;           /* bytes of an example */
    unsigned char *buffer; /* [n] */
    struct sb_failure failure;
};

size_t sb_gather_bytes(const struct sb_dataset *d)
{
    return sb_dataset_elements(d) * (d->element == SB_BYTES ? 1 : sizeof(float));
}

static void gather_one(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct job *j = context;
    const struct sb_dataset *d = j->d;
    uint32_t i = j->index ? j->index[chunk] : j->at + (uint32_t)chunk;
    unsigned char *to = j->buffer + chunk * j->size;
    const uint8_t *from = NULL;
    sb_status st = SB_OK;
    if (d->element == SB_FLOATS)
        from = (const uint8_t *)(d->values + i * sb_dataset_elements(d));
    else
        st = sb_dataset_image(d, i, to, &from);
    if (st == SB_OK && from != to)
        memcpy(to, from, j->size);
    sb_failure_note(&j->failure, chunk, st);
}

sb_status sb_gather_run(const struct sb_dataset *d, const uint32_t *index, uint32_t at,
                        uint32_t n, int threads, unsigned char *buffer)
{
    struct job j = {.d = d,
                    .index = index,
                    .at = at,
                    .size = sb_gather_bytes(d),
                    .buffer = buffer,
                    .failure = SB_FAILURE_NONE};
    sb_threads_run(threads, n, gather_one, &j);
    return sb_failure_raise(&j.failure);
}

struct sb_input sb_gather_input(const struct sb_dataset *d, const void *data)
{
    bool bytes = d->element == SB_BYTES;
    ptrdiff_t one = bytes ? 1 : (ptrdiff_t)sizeof(float);
    ptrdiff_t row = one * d->width, plane = row * d->height;
    return (struct sb_input){.data = data,
                             .type = bytes ? SB_INPUT_U8 : SB_INPUT_F32,
                             .stride = {plane * d->channels, plane, row, one}};
}
