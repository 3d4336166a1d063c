/* fetch_row NAME tar|plain LIMIT DIR URL FILE SIZE SHA256 [FILE SIZE SHA256]... - fetches a
 * data set that is in no catalogue, so that a test can serve small ones. Prints where it
 * is, or the sentence. Retries at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/fetch.h"

enum { FIRST_FILE = 6, WORDS = 3 };

static void show(void *context, enum sb_log_level level, const char *line)
{
    (void)context;
    if (level == SB_LOG_WARN)
        fprintf(stderr, "%s\n", line);
}

int main(int argc, char **argv)
{
    char path[SB_PATH_BYTES];
    bool there;
    struct sb_log log = {.level = SB_LOG_INFO, .write = show};
    if (argc < FIRST_FILE + WORDS || argc > FIRST_FILE + WORDS * SB_CATALOGUE_FILES)
        return 2;
    struct sb_catalogue_row row = {
        .name = argv[1],
        .what = "",
        .base = "http://0.0.0.0/",
        .pack = strcmp(argv[2], "tar") == 0 ? SB_PACK_TAR : SB_PACK_NONE,
        .unpacked = strtoull(argv[3], NULL, 10),
    };
    for (int i = FIRST_FILE, k = 0; i + 2 < argc; i += WORDS, k++)
        row.file[k] = (struct sb_catalogue_file){argv[i], strtoull(argv[i + 1], NULL, 10),
                                                 argv[i + 2]};
    struct sb_fetch_options o = {
        .row = &row, .directory = argv[4], .base = argv[5], .log = &log};
    sb_status st = sb_fetch(&o, path, &there);
    printf("%s\n", st == SB_OK ? path : sb_message());
    return st == SB_OK ? 0 : 1;
}
