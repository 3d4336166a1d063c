/* corrupt - what our corruptions do to images beside what CIFAR-10-C's do, and how long.
 *
 * Three statistics of the first 1000 test images, in [0, 1]: mean and standard deviation of
 * the difference from the clean image, and the mean absolute difference of horizontal
 * neighbours. The published figures come from a JSON file, --stats. The table is Markdown,
 * for docs/corruptions.md; a figure outside its tolerance is followed by MISS. Then the
 * processor time that all images of the set take.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "bench.h"
#include "corrupt/corrupt.h"
#include "readers/readers.h"

enum { IMAGES = 1000, FIGURES = 3 };

static const char *const figure_names[FIGURES] = {"mean_diff", "sd_diff", "grad"};

struct world {
    const struct sb_env *env;
    struct sb_dataset data;
    struct sb_corrupt *corrupt;
    uint8_t *out; /* [n][channels][height][width] */
    json_t *stats;
    const char *source;
    double seconds; /* of processor time, all threads together */
    int misses;
};

/* Other programs may be running: the time of this one alone. */
static double processor_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(const struct world *w, uint32_t n, double figure[FIGURES])
{
    size_t all = n * sb_dataset_elements(&w->data), steps = 0;
    double sum = 0.0, squares = 0.0, grad = 0.0;
    for (size_t i = 0; i < all; i++) {
        double d = ((double)w->out[i] - (double)w->data.images[i]) / 255.0;
        sum += d;
        squares += d * d;
        if ((i + 1) % w->data.width == 0)
            continue;
        grad += fabs((double)w->out[i + 1] - (double)w->out[i]) / 255.0;
        steps++;
    }
    figure[0] = sum / (double)all;
    figure[1] = sqrt(squares / (double)all - figure[0] * figure[0]);
    figure[2] = steps ? grad / (double)steps : 0.0;
}

/* How much a ratio may differ from 1: noise is independent pixels, textures are few. */
static double tolerance(enum sb_corruption kind)
{
    switch (kind) {
    case SB_GAUSSIAN_NOISE:
    case SB_SHOT_NOISE:
    case SB_IMPULSE_NOISE:
    case SB_SPECKLE_NOISE:
        return 0.05;
    case SB_FROST:
    case SB_FOG:
    case SB_SNOW:
    case SB_SPATTER:
    case SB_ELASTIC_TRANSFORM:
    case SB_GLASS_BLUR:
        return 0.35;
    default:
        return 0.15;
    }
}

/* Differences below this are equal, whatever their ratio. */
static const double least = 0.005;

static sb_status print_row(struct world *w, enum sb_corruption kind, uint32_t severity)
{
    const char *name = sb_corruption_name(kind);
    const json_t *all, *list;
    double ours[FIGURES], theirs = 0.0;
    sb_status st = sb_json_object(w->stats, w->source, "kinds", &all);
    if (st == SB_OK)
        st = sb_json_array(all, w->source, name, &list);
    if (st != SB_OK)
        return st;
    measure(w, w->data.n < IMAGES ? w->data.n : IMAGES, ours);
    printf("| %s | %u |", name, severity);
    for (int k = 0; k < FIGURES; k++) {
        const json_t *row = json_array_get(list, severity - 1);
        st = sb_json_number(row, w->source, figure_names[k], &theirs);
        if (st != SB_OK)
            return st;
        int miss = fabs(ours[k] - theirs) > least &&
                   fabs(ours[k] / theirs - 1.0) > tolerance(kind);
        w->misses += miss;
        printf(" %.4f | %.4f | %.2f%s |", ours[k], theirs, ours[k] / theirs,
               miss ? " MISS" : "");
    }
    printf("\n");
    return SB_OK;
}

static sb_status run_all(struct world *w)
{
    sb_status st = SB_OK;
    printf("| kind | severity | mean ours | theirs | ratio | sd ours | theirs | ratio | "
           "grad "
           "ours | theirs | ratio |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < SB_CORRUPTIONS && st == SB_OK; k++) {
        double began = w->seconds;
        for (uint32_t s = 1; s <= SB_SEVERITIES && st == SB_OK; s++) {
            double start = processor_now();
            st = sb_corrupt_choose(w->corrupt, (enum sb_corruption)k, s, 1);
            if (st == SB_OK)
                st = sb_corrupt_images(w->corrupt, 0, w->data.n, w->data.images, w->out);
            w->seconds += processor_now() - start;
            if (st == SB_OK && w->stats)
                st = print_row(w, (enum sb_corruption)k, s);
        }
        fprintf(stderr, "%-18s %7.2f s\n", sb_corruption_name((enum sb_corruption)k),
                w->seconds - began);
    }
    return st;
}

static sb_status open_world(struct world *w, const struct bench_options *o)
{
    struct sb_map map;
    sb_status st = sb_dataset_open(&w->data, o->data, SB_SPLIT_TEST);
    if (st == SB_OK)
        st = sb_corrupt_new(&w->corrupt, w->env, w->data.channels, w->data.height,
                            w->data.width);
    if (st != SB_OK)
        return st;
    w->out = sb_malloc(w->data.n, sb_dataset_elements(&w->data));
    if (!w->out)
        return sb_fail(SB_ENOMEM, "bench: no memory for %u images", w->data.n);
    if (!o->stats)
        return SB_OK;
    st = sb_map_open(&map, o->stats);
    if (st != SB_OK)
        return st;
    st = sb_json_parse(o->stats, map.data, map.size, &w->stats);
    sb_map_close(&map);
    return st;
}

int bench_corrupt(const struct sb_env *env, const struct bench_options *o)
{
    struct world w = {.env = env, .source = o->stats};
    sb_status st =
        o->data ? open_world(&w, o) : sb_fail(SB_EARG, "corrupt wants --data DIRECTORY");
    if (st == SB_OK)
        st = run_all(&w);
    if (st != SB_OK)
        fprintf(stderr, "bench: %s\n", sb_message());
    else
        fprintf(stderr,
                "%d kinds x %d severities x %u images: %.1f s of processor time on %d "
                "threads; %d misses\n",
                SB_CORRUPTIONS, SB_SEVERITIES, w.data.n, w.seconds, env->threads,
                w.misses);
    json_decref(w.stats);
    sb_free(w.out);
    sb_corrupt_free(w.corrupt);
    sb_dataset_fini(&w.data);
    return st == SB_OK && w.misses == 0 ? 0 : 1;
}
