/* idx - the MNIST family's format: one file of images, one of labels.
 *
 *     00 00 type dims | dims sizes, 4 bytes each, big-endian | the bytes, row by row
 *
 * type 08 is unsigned bytes; images have 3 dimensions (n, height, width), labels one. A
 * directory holds {train,t10k}-{images-idx3,labels-idx1}-ubyte, each perhaps with .gz; the
 * form with a dot before "idx" is what some archives unpack to.
 */
#include <stdio.h>
#include <string.h>
#include <zlib.h> /* crc32 */

#include "base/mem.h"
#include "readers/readers.h"

enum { IMAGE_DIMS = 3, LABEL_DIMS = 1, SIDE_MOST = 1 << 14 };

struct header {
    uint32_t dim[IMAGE_DIMS]; /* those that are not there: 1 */
    size_t start;             /* where the bytes begin */
    size_t want;              /* the whole file */
};

static const char *const image_names[2][2] = {
    {"train-images-idx3-ubyte", "train-images.idx3-ubyte"},
    {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"}};

static const char *const fashion_names[] = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
enum { FASHION_CLASSES = sizeof fashion_names / sizeof *fashion_names };

/* ---- header and bytes of one file ---- */

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static sb_status parse_magic(const char *path, const unsigned char *b, size_t have,
                             uint32_t dims)
{
    const unsigned char want[] = {0, 0, 8, (unsigned char)dims};
    if (have >= sizeof want && memcmp(b, want, sizeof want) != 0)
        return sb_fail(SB_EFORMAT,
                       "%s: begins with %02x %02x %02x %02x, want 00 00 08 %02x (IDX, "
                       "bytes, %u dimension%s); is it the right file?",
                       path, b[0], b[1], b[2], b[3], dims, dims, dims == 1 ? "" : "s");
    if (have < sizeof want + 4 * (size_t)dims)
        return sb_fail(SB_EFORMAT,
                       "%s: %zu bytes are too few for an IDX header of %zu; the file is "
                       "truncated, fetch it again",
                       path, have, sizeof want + 4 * (size_t)dims);
    return SB_OK;
}

static sb_status parse_header(struct header *h, const char *path, uint32_t dims)
{
    unsigned char b[SB_HEAD_BYTES];
    size_t have;
    *h = (struct header){.dim = {1, 1, 1}, .start = 4 + 4 * (size_t)dims, .want = 1};
    sb_status st = sb_bytes_head(path, b, h->start, &have);
    if (st == SB_OK)
        st = parse_magic(path, b, have, dims);
    if (st != SB_OK)
        return st;
    for (uint32_t i = 0; i < dims; i++)
        h->dim[i] = big_endian(b + 4 + 4 * (size_t)i);
    if (h->dim[0] == 0)
        return sb_fail(SB_EFORMAT, "%s: its header says there is nothing in it", path);
    if (h->dim[1] == 0 || h->dim[2] == 0 || h->dim[1] > SIDE_MOST ||
        h->dim[2] > SIDE_MOST)
        return sb_fail(SB_EFORMAT,
                       "%s: its header says images of %u x %u; each side must be from 1 "
                       "to %d",
                       path, h->dim[1], h->dim[2], SIDE_MOST);
    size_t image = (size_t)h->dim[1] * h->dim[2]; /* at most 2^28 */
    if (__builtin_mul_overflow(image, (size_t)h->dim[0], &h->want) ||
        __builtin_add_overflow(h->want, h->start, &h->want))
        return sb_fail(SB_EFORMAT, "%s: %u x %u x %u bytes do not fit this machine", path,
                       h->dim[0], h->dim[1], h->dim[2]);
    return SB_OK;
}

static sb_status open_file(struct sb_bytes *b, struct header *h, const char *path,
                           uint32_t dims)
{
    sb_status st = parse_header(h, path, dims);
    if (st == SB_OK)
        st = sb_bytes_open(b, path, h->want);
    if (st != SB_OK || b->size == h->want)
        return st;
    size_t size = b->size;
    sb_bytes_close(b);
    return sb_fail(
        SB_EFORMAT,
        "%s: its header says %u x %u x %u, which is %zu bytes with the header, "
        "but there are %zu; the file is %s, fetch it again",
        path, h->dim[0], h->dim[1], h->dim[2], h->want, size,
        size < h->want ? "truncated" : "damaged");
}

/* ---- labels ---- */

/* Fashion-MNIST, known by its labels. */
static bool is_fashion(const unsigned char *labels, uint32_t n)
{
    unsigned long sum = crc32(0, labels, n);
    return (n == 60000 && sum == 0x2ed6e46aul) || (n == 10000 && sum == 0x242bc73ful);
}

static sb_status take_labels(struct sb_dataset *d, const unsigned char *from)
{
    d->labels = sb_malloc(d->n, sizeof *d->labels);
    if (!d->labels)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u labels", d->path, d->n);
    d->classes = 2;
    for (uint32_t i = 0; i < d->n; i++) {
        d->labels[i] = from[i];
        if (from[i] >= d->classes)
            d->classes = from[i] + 1u;
    }
    if (d->classes == FASHION_CLASSES && is_fashion(from, d->n))
        return sb_names_copy(d, fashion_names);
    return SB_OK;
}

static sb_status open_labels(struct sb_dataset *d, const char *images, const char *path)
{
    struct sb_bytes b = {0};
    struct header h;
    sb_status st = open_file(&b, &h, path, LABEL_DIMS);
    if (st == SB_OK && h.dim[0] != d->n)
        st =
            sb_fail(SB_EFORMAT,
                    "%s has %u labels, but %s has %u images; they do not belong together",
                    path, h.dim[0], images, d->n);
    if (st == SB_OK)
        st = take_labels(d, b.data + h.start);
    sb_bytes_close(&b);
    return st;
}

/* ---- the pair ---- */

/* Changes the first `what` in text to `as`, which is as long. */
static bool replace(char *text, const char *what, const char *as)
{
    char *at = strstr(text, what);
    for (size_t i = 0; at && as[i] != '\0'; i++)
        at[i] = as[i];
    return at != NULL;
}

/* out = the label file of an image file: "images" becomes "labels", "idx3" "idx1"; .gz
 * may be there or not, whatever the image file has. */
static sb_status find_labels(const char *images, char out[SB_PATH_BYTES])
{
    const char *base = sb_reader_basename(images);
    char directory[SB_PATH_BYTES], name[SB_PATH_BYTES];
    if (strlen(images) >= SB_PATH_BYTES)
        return sb_fail(SB_EARG, "a path of %zu bytes is too long", strlen(images));
    snprintf(directory, sizeof directory, "%.*s", (int)(base - images), images);
    snprintf(name, sizeof name, "%s", base);
    if (!replace(name, "images", "labels"))
        return sb_fail(
            SB_EARG,
            "%s: its name has no \"images\" to become \"labels\", so its label "
            "file is unknown; name both like train-images-idx3-ubyte",
            images);
    (void)replace(name, "idx3", "idx1");
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".gz") == 0)
        name[length - 3] = '\0';
    if (sb_reader_locate(directory, name, out))
        return SB_OK;
    return sb_fail(SB_EIO, "there is no label file %s or %s.gz beside %s", out, out,
                   images);
}

static bool find_images(const char *directory, enum sb_split split,
                        char out[SB_PATH_BYTES])
{
    return sb_reader_locate(directory, image_names[split][1], out) ||
           sb_reader_locate(directory, image_names[split][0], out);
}

static bool probe(const struct sb_probe *p)
{
    char path[SB_PATH_BYTES];
    if (p->directory)
        return find_images(p->path, SB_SPLIT_TRAIN, path) ||
               find_images(p->path, SB_SPLIT_TEST, path);
    return p->have >= 4 && p->head[0] == 0 && p->head[1] == 0 && p->head[2] >= 8 &&
           p->head[2] <= 0x0e && p->head[3] >= 1 && p->head[3] <= 4;
}

static sb_status open_pair(struct sb_dataset *d, const struct sb_probe *p,
                           const struct sb_open_options *o)
{
    char images[SB_PATH_BYTES], labels[SB_PATH_BYTES];
    struct header h;
    if (!p->directory)
        snprintf(images, sizeof images, "%s",
                 p->path); /* too long: find_labels says so */
    else if (!find_images(p->path, o->split, images))
        return sb_fail(SB_EIO, "there is no %s or .gz: %s has no %s split", images,
                       p->path, sb_split_name(o->split));
    sb_status st = open_file(&d->file, &h, images, IMAGE_DIMS);
    if (st != SB_OK)
        return st;
    d->format = sb_reader_idx.name;
    d->images = d->file.data + h.start;
    d->n = h.dim[0];
    d->channels = 1;
    d->height = h.dim[1];
    d->width = h.dim[2];
    st = find_labels(images, labels);
    if (st != SB_OK)
        return o->unlabelled ? SB_OK : st;
    return open_labels(d, images, labels);
}

const struct sb_reader sb_reader_idx = {
    .name = "idx",
    .wanted = "train-images-idx3-ubyte[.gz] (MNIST, Fashion-MNIST, KMNIST)",
    .probe = probe,
    .open = open_pair,
};
