/* embed - t-SNE of points in standard input ("n dimensions", then the numbers) to standard
 * output, a line a point. For compare.py. */
#include <stdio.h>

#include "base/mem.h"
#include "figures/tsne.h"

int main(void)
{
    size_t n, dimensions;
    if (scanf("%zu %zu", &n, &dimensions) != 2 || n > SB_TSNE_MOST || dimensions > 10000)
        return 2;
    struct sb_env env = {.threads = 2};
    struct sb_tsne_options o = {0};
    float *x = sb_calloc(n * dimensions, sizeof *x);
    double *y = sb_calloc(n, 2 * sizeof *y);
    int code = x && y ? 0 : 1;
    for (size_t i = 0; code == 0 && i < n * dimensions; i++)
        code = scanf("%f", &x[i]) == 1 ? 0 : 2;
    if (code == 0 && sb_tsne(&env, x, n, dimensions, &o, y) != SB_OK) {
        fprintf(stderr, "%s\n", sb_message());
        code = 1;
    }
    for (size_t i = 0; code == 0 && i < n; i++)
        printf("%.9g %.9g\n", y[2 * i], y[2 * i + 1]);
    sb_free(x);
    sb_free(y);
    return code;
}
