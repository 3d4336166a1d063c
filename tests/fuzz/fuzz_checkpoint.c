/* fuzz_checkpoint - any bytes as a checkpoint of a small network, with a checksum that is
 * right, else nothing would get past it: refused with a sentence, or read, written, and read
 * again the same. The first byte chooses the network; the recipe is the file's own unless
 * it has none. */
#include "fuzz_file.h"
#include "kernels/kernels.h"
#include "model/checkpoint.h"
#include "model/fields.h"

enum { ROOM = 2, SUMS = 3 };

/* What a trainer has. */
struct run {
    struct sb_net net;
    uint64_t epoch;
    double loss;
    float sums[SUMS];
    bool has_sums;
    struct sb_trained trained[ROOM], best, kept;
    struct sb_checkpoint_value value[2];
    struct sb_checkpoint_array array;
    struct sb_checkpoint c;
    uint8_t kind;
};

/* A network with so many weights; NULL: as many as there can be, of kind 1 two a layer. */
static sb_status plan_net(struct run *r, const uint32_t *active)
{
    static const uint32_t two[] = {2, 2};
    const struct sb_net_options o = {.shape.name = "mlp-2",
                                     .shape.channels = 2,
                                     .shape.height = 1,
                                     .shape.width = 1,
                                     .shape.classes = 2,
                                     .shape.likelihood = r->kind == 2
                                                             ? SB_LIKELIHOOD_GAUSS_SHARED
                                                             : SB_LIKELIHOOD_CATEGORICAL,
                                     .lanes = 8,
                                     .max_batch = 8,
                                     .threads = 1,
                                     .gauss = r->kind > 0,
                                     .active = active         ? active
                                               : r->kind == 1 ? two
                                                              : NULL};
    sb_net_fini(&r->net);
    r->net = (struct sb_net){0};
    sb_status st = sb_net_init(&r->net, &o);
    return st == SB_OK ? sb_net_start(&r->net, 1, 0, -3.0f) : st;
}

static sb_status plan(void *context, const uint32_t *active)
{
    return plan_net(context, active);
}

static void begin(struct run *r, uint8_t kind, const char *recipe)
{
    *r = (struct run){.kind = kind % 3};
    sb_status st = plan_net(r, NULL);
    assert(st == SB_OK);
    r->value[0] = (struct sb_checkpoint_value){.name = "epoch", .integer = &r->epoch};
    r->value[1] = (struct sb_checkpoint_value){.name = "loss", .real = &r->loss};
    r->array = (struct sb_checkpoint_array){"sums", r->sums, SUMS};
    r->c = (struct sb_checkpoint){.recipe = recipe,
                                  .data = "{\"classes\":2,\"rows\":9}",
                                  .force = true,
                                  .net = &r->net,
                                  .value = r->value,
                                  .values = 2,
                                  .array = &r->array,
                                  .arrays = 1,
                                  .has_arrays = &r->has_sums,
                                  .trained = r->trained,
                                  .capacity = ROOM,
                                  .best = &r->best,
                                  .kept = &r->kept,
                                  .plan = plan,
                                  .context = r};
}

static void end(struct run *r)
{
    for (int i = 0; i < ROOM; i++)
        sb_trained_fini(&r->trained[i]);
    sb_trained_fini(&r->best);
    sb_trained_fini(&r->kept);
    sb_net_fini(&r->net);
}

/* data[size] with the right checksum in place of its own; NULL: it is no file with one. */
static char *seal(const uint8_t *data, size_t size, size_t *out, char recipe[1024])
{
    struct sb_st st;
    uint64_t sum, header;
    char digits[24], *text, *file = NULL;
    if (sb_st_open_bytes(&st, "fuzz", data, size) != SB_OK)
        return NULL;
    json_t *meta = json_object_get(st.header, "__metadata__");
    const char *own = sb_st_meta(&st, "recipe");
    snprintf(recipe, 1024, "%s", own ? own : "");
    memcpy(&header, data, sizeof header);
    const uint8_t *rest = data + sizeof header + header;
    size_t bytes = (size_t)(data + size - rest);
    json_object_del(meta, "checksum");
    if (!meta || sb_checksum_header(st.header, &sum) != SB_OK)
        goto done;
    snprintf(digits, sizeof digits, "%016llx",
             (unsigned long long)sb_checksum(sum, rest, bytes));
    json_object_set_new(meta, "checksum", json_string(digits));
    text = json_dumps(st.header, JSON_COMPACT);
    assert(text);
    header = strlen(text);
    *out = sizeof header + (size_t)header + bytes;
    file = malloc(*out);
    assert(file);
    memcpy(file, &header, sizeof header);
    memcpy(file + sizeof header, text, (size_t)header);
    memcpy(file + sizeof header + header, rest, bytes);
    free(text);
done:
    sb_st_close(&st);
    return file;
}

static void same_file(const char *a, const char *b)
{
    struct sb_map x, y;
    sb_status st = sb_map_open(&x, a);
    assert(st == SB_OK);
    st = sb_map_open(&y, b);
    assert(st == SB_OK && x.size == y.size && memcmp(x.data, y.data, x.size) == 0);
    sb_map_close(&x);
    sb_map_close(&y);
}

/* What was read is written, read and written: the same bytes. */
static void write_and_read_back(struct run *r, const char *recipe)
{
    static struct run again;
    char a[128], b[128];
    sb_status st = sb_checkpoint_write(&r->c, fuzz_path("a", a));
    assert(st == SB_OK);
    begin(&again, r->kind, recipe);
    st = sb_checkpoint_read(&again.c, a);
    assert(st == SB_OK);
    st = sb_checkpoint_write(&again.c, fuzz_path("b", b));
    assert(st == SB_OK);
    same_file(a, b);
    end(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run r;
    char recipe[1024], path[128];
    size_t bytes = 0;
    char *file = size > 0 ? seal(data + 1, size - 1, &bytes, recipe) : NULL;
    if (!file)
        return 0;
    fuzz_put("checkpoint", file, bytes);
    free(file);
    begin(&r, data[0], recipe);
    sb_mem_peak_reset();
    sb_status st = sb_checkpoint_read(&r.c, fuzz_path("checkpoint", path));
    assert(sb_mem_peak() <= FUZZ_FIXED_BYTES + 16 * size);
    if (st == SB_OK)
        write_and_read_back(&r, recipe);
    else
        assert(strstr(sb_message(), path));
    end(&r);
    assert(sb_mem_live() == 0);
    return 0;
}
