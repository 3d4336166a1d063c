/* fuzz_columns - any bytes as the JSON of a table's columns: read, and if that works,
 * written, read again, and written the same; and rows of odd numbers encoded. */
#include <math.h>

#include "data/columns.h"
#include "data/encode.h"
#include "fuzz_file.h"

static void encode(const struct sb_columns *c)
{
    static const float odd[] = {0, -1, NAN, INFINITY, 3e38f, 1e-40f, 2, 1000};
    enum { ODD = sizeof odd / sizeof *odd };
    float *row = malloc((c->inputs + c->features) * sizeof *row), *x = row + c->inputs;
    assert(row);
    for (uint32_t k = 0; k < ODD; k++) {
        for (uint32_t i = 0; i < c->inputs; i++)
            row[i] = odd[(i + k) % ODD];
        (void)sb_encode_row(c, row, sizeof *row, NULL, NULL, x, 1);
        for (uint32_t i = 0; i < c->features; i++)
            assert(isfinite(x[i]));
    }
    free(row);
}

static void write_and_read_back(const struct sb_columns *c)
{
    struct sb_columns *back;
    char *first, *second;
    if (sb_columns_write(c, &first) != SB_OK)
        abort();
    if (sb_columns_read(&back, "written", first) != SB_OK ||
        sb_columns_write(back, &second) != SB_OK)
        abort();
    assert(strcmp(first, second) == 0);
    encode(back);
    sb_columns_free(back);
    sb_free(first);
    sb_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_columns *c;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    sb_status st = sb_columns_read(&c, "fuzz", text);
    if (st == SB_OK)
        write_and_read_back(c);
    else
        assert(strncmp(sb_message(), "fuzz", 4) == 0);
    sb_columns_free(c);
    free(text);
    assert(sb_mem_live() == 0);
    return 0;
}
