/* fuzz_csv - any bytes as a table: read, and if that works, read again like itself, which
 * must work too and give the same. The first byte chooses the label column, the second what
 * else is said about columns, the third what is predicted. Then features are learned from
 * every other row, and written. */
#include <math.h>

#include "data/columns.h"
#include "data/encode.h"
#include "fuzz_file.h"
#include "readers/table.h"

static void read_again(const struct sb_dataset *d, const char *text, size_t size,
                       struct sb_open_options o)
{
    o.like = d;
    struct sb_dataset e = {.path = d->path};
    sb_status st = sb_table_read(&e, "again", text, size, &o);
    assert(st == SB_OK && e.n == d->n && e.channels == d->channels);
    for (size_t i = 0; i < (size_t)d->n * d->channels; i++)
        assert(e.values[i] == d->values[i] ||
               (isnan(e.values[i]) && isnan(d->values[i])));
    assert(!e.labels == !d->labels && e.target_count == d->target_count);
    if (d->labels)
        assert(memcmp(e.labels, d->labels, d->n * sizeof *d->labels) == 0);
    for (size_t i = 0; i < (size_t)d->n * d->target_count; i++)
        assert(isfinite(d->targets[i]) && e.targets[i] == d->targets[i]);
    e.path = NULL;
    sb_dataset_fini(&e);
}

/* What was learned makes finite features of every row, and survives being written. */
static void encode(struct sb_dataset *d, uint8_t how)
{
    const struct sb_encode_options o = {(enum sb_scale)(how % 3), 2 + how % 5, how & 64};
    uint32_t n = (d->n + 1) / 2, *index = malloc(n * sizeof *index);
    struct sb_columns *back;
    char *text;
    assert(index);
    for (uint32_t i = 0; i < n; i++)
        index[i] = 2 * i;
    sb_status st = sb_encode_fit(d, NULL, index, n, &o);
    free(index);
    assert(st == SB_OK);
    st = sb_columns_write(d->columns, &text);
    assert(st == SB_OK);
    st = sb_columns_read(&back, "written", text);
    assert(st == SB_OK && back->features == d->columns->features);
    float *x = malloc(2 * back->features * sizeof *x), *y = x + back->features;
    assert(x);
    for (uint32_t r = 0; r < d->n; r++) {
        const float *row = d->values + (size_t)r * d->channels;
        (void)sb_encode_row(d->columns, row, sizeof *row, NULL, NULL, x, 1);
        (void)sb_encode_row(back, row, sizeof *row, NULL, NULL, y, 1);
        assert(memcmp(x, y, back->features * sizeof *x) == 0);
        for (uint32_t k = 0; k < back->features; k++)
            assert(isfinite(x[k]));
    }
    free(x);
    sb_columns_free(back);
    sb_free(text);
}

/* Classes, outcomes or what it looks like; of several columns; and what rows count. */
static void choose_task(struct sb_open_options *o, uint8_t how)
{
    o->task = (enum sb_task)(how % 3);
    o->label = how & 4 ? "1,2" : o->label;
    o->weight = how & 8 ? "3" : NULL;
}

static void check_weights(const struct sb_dataset *d)
{
    for (uint32_t i = 0; d->weights && i < d->n; i++)
        assert(isfinite(d->weights[i]) && d->weights[i] >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[] = "fuzz";
    char label[] = {(char)('0' + (size ? data[0] % 10 : 0)), '\0'};
    struct sb_open_options o = {.label = label[0] == '0' ? NULL : label};
    struct sb_dataset d = {.path = path};
    if (size < 3)
        return 0;
    uint8_t how = data[0] < 128 ? 0 : data[1]; /* older inputs have one byte */
    size_t skip = data[0] < 128 ? 1 : data[0] < 192 ? 2 : 3;
    o.impute = how & 1;
    o.header = (enum sb_header)(how / 2 % 3);
    o.group = how & 8 ? "2" : NULL;
    o.ignore = how & 16 ? "1" : NULL;
    choose_task(&o, skip == 3 ? data[2] : 0);
    const char *text = (const char *)data + skip;
    sb_mem_peak_reset();
    sb_status st = sb_table_read(&d, "fuzz", text, size - skip, &o);
    /* Rows times columns: at most the square of the text. */
    assert(sb_mem_peak() <= FUZZ_FIXED_BYTES + 4 * size * size);
    if (st == SB_OK) {
        if (!o.impute)
            fuzz_check(&d);
        check_weights(&d);
        read_again(&d, text, size - skip, o);
        encode(&d, how);
    } else {
        assert(strncmp(sb_message(), "fuzz: ", 6) == 0);
    }
    d.path = NULL;
    sb_dataset_fini(&d);
    assert(sb_mem_live() == 0);
    return 0;
}
