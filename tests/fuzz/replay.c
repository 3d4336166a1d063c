/* replay - runs a fuzz target over the files of its corpus, without libFuzzer.
 *
 * What the fuzzer once found, and what it needs to begin with, is tried by every run of
 * the tests. Each input is copied to a block of its exact size, so that the address
 * sanitizer sees a read beyond it. An empty input is always tried.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        perror(path);
        return 1;
    }
    long size = ftell(f);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    rewind(f);
    if (size < 0 || !data || fread(data, 1, (size_t)size, f) != (size_t)size) {
        perror(path);
        return 1;
    }
    fclose(f);
    (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int count = 0, failed = argc != 2;
    DIR *d = argc == 2 ? opendir(argv[1]) : NULL;
    (void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char path[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        failed |= replay(path);
        count++;
    }
    if (d)
        closedir(d);
    if (count == 0)
        fprintf(stderr, "want a directory of inputs\n");
    printf("%d inputs\n", count);
    return failed || count == 0;
}
