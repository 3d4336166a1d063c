/* fuzz_rows - any bytes as rows of a table whose columns are known: from a descriptor in
 * pieces, which must give what the bytes give at once. The first byte chooses the size of
 * the pieces and the columns. */
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz_file.h"
#include "readers/rows.h"

enum { PIECES = 100, MOST = 64, FEATURES = 2 };

static const char *const meanings[] = {
    "{\"columns\": [0, [\"b\", \"c\"], [\"n\", \"y\"]], \"header\": true, \"label\": 2,"
    " \"names\": [\"s\", \"t\", \"u\"]}",
    "{\"columns\": [[\"n\", \"y\"], [\"\", \"b\", \"c\"], 0], \"header\": false, "
    "\"label\": 0,"
    " \"impute\": true, \"names\": []}",
    "{\"columns\": [{\"target\": 0}, {\"boolean\": true, \"fill\": 1}, {\"fill\": 2.5,"
    " \"missing\": true}, 1, {\"target\": 1}], \"header\": true, \"impute\": true,"
    " \"label\": 5, \"names\": [\"s\", \"t\", \"u\", \"v\", \"w\"]}",
    "{\"columns\": [{\"cuts\": [0.5, 2, 7], \"scale\": \"pieces\"}, {\"target\": 0},"
    " {\"cuts\": [-1, 1], \"scale\": \"quantile\"}], \"header\": false, \"label\": 3,"
    " \"names\": []}"};

/* The bytes of all rows, and the status they end with. */
struct outcome {
    float x[MOST * FEATURES];
    size_t rows, kept;
    struct sb_table_odd odd;
    sb_status status;
    char sentence[SB_MESSAGE_BYTES];
};

static void give(int fd, const uint8_t *data, size_t size, size_t piece)
{
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        ssize_t written = write(fd, data + at, n);
        assert(written == (ssize_t)n);
    }
    close(fd);
}

static void take(const char *meaning, const uint8_t *data, size_t size, size_t piece,
                 struct outcome *o)
{
    int end[2];
    struct sb_columns *columns;
    struct sb_rows r;
    size_t got = 1;
    memset(o, 0, sizeof *o);
    int made = socketpair(AF_UNIX, SOCK_SEQPACKET, 0, end);
    assert(made == 0);
    give(end[0], data, size, piece);
    sb_status st = sb_columns_read(&columns, "columns", meaning);
    struct sb_rows_options options = {
        .path = "fuzz", .fd = end[1], .columns = columns, .like = "it", .keep = "1"};
    if (st == SB_OK)
        st = sb_rows_init(&r, &options);
    assert(st == SB_OK && columns->inputs == FEATURES);
    for (; st == SB_OK && got > 0 && o->rows < MOST; o->rows += got) {
        st = sb_rows_next(&r, o->x + o->rows * FEATURES, MOST - o->rows, &got);
        for (size_t i = 0; st == SB_OK && i < got; i++)
            o->kept += strlen(sb_rows_keep_text(&r, i, 0));
    }
    o->odd = r.odd;
    o->status = st;
    snprintf(o->sentence, sizeof o->sentence, "%s", st == SB_OK ? "" : sb_message());
    assert(st == SB_OK || strncmp(o->sentence, "fuzz: ", 6) == 0);
    sb_rows_fini(&r);
    sb_columns_free(columns);
    close(end[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct outcome whole, parts;
    if (size < 2 || size > 60000)
        return 0;
    const char *meaning = meanings[data[0] % 4];
    size_t piece = 1 + data[0] / 4 + size / PIECES;
    take(meaning, data + 1, size - 1, size, &whole);
    take(meaning, data + 1, size - 1, piece, &parts);
    assert(memcmp(&whole, &parts, sizeof whole) == 0);
    assert(sb_mem_live() == 0);
    return 0;
}
