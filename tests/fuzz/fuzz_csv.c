/* fuzz_csv - any bytes as a table: read, and if that works, read again like itself, which
 * must work too and give the same. The first byte chooses the label column. */
#include "fuzz_file.h"
#include "readers/table.h"

static void read_again(const struct sb_dataset *d, const char *text, size_t size)
{
    const struct sb_open_options o = {.like = d};
    struct sb_dataset e = {0};
    sb_status st = sb_table_read(&e, "again", text, size, &o);
    assert(st == SB_OK && e.n == d->n && e.channels == d->channels);
    assert(memcmp(e.values, d->values, d->n * d->channels * sizeof(float)) == 0);
    assert(memcmp(e.labels, d->labels, d->n * sizeof *d->labels) == 0);
    sb_dataset_fini(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[] = "fuzz";
    char label[] = {(char)('0' + (size ? data[0] % 10 : 0)), '\0'};
    const struct sb_open_options o = {.label = label[0] == '0' ? NULL : label};
    struct sb_dataset d = {0};
    if (size == 0)
        return 0;
    sb_mem_peak_reset();
    sb_status st = sb_table_read(&d, "fuzz", (const char *)data + 1, size - 1, &o);
    /* Rows times one-hot features: at most the square of the text. */
    assert(sb_mem_peak() <= FUZZ_FIXED_BYTES + 4 * size * size);
    if (st == SB_OK) {
        fuzz_check(&d);
        d.path = path;
        read_again(&d, (const char *)data + 1, size - 1);
        d.path = NULL;
    } else {
        assert(strncmp(sb_message(), "fuzz: ", 6) == 0);
    }
    sb_dataset_fini(&d);
    assert(sb_mem_live() == 0);
    return 0;
}
