/* loader - see loader.h for the picture.
 *
 * Under the lock are four counters of batches within the epoch:
 *
 *     held <= taken <= filled <= end
 *
 * held is the oldest batch whose slot may be in use by the caller; the helper may fill
 * batch b (into slot b % 2) once b < held + 2. Stopping the helper is setting end = filled
 * and waiting until it is not busy. A slot that could not be filled keeps the failure; it
 * is the last one of its epoch, and never taken.
 */
#include "data/loader.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/failure.h"
#include "base/mem.h"
#include "base/threads.h"
#include "kernels/kernels.h"

enum { SLOTS = 2 };

struct slot {
    struct sb_act x;  /* owned */
    uint32_t *labels; /* [batch] owned; NULL: outcomes */
    float *targets;   /* [batch][targets] owned; NULL: classes */
    uint32_t *index;  /* [batch] owned */
    uint32_t count;
    struct sb_failure failure;
};

struct sb_loader {
    struct sb_loader_options o;
    struct sb_batch_source source; /* written while the helper is idle */
    uint32_t batch, batches;
    uint32_t here;   /* images of a batch that are prepared, at most */
    uint32_t *order; /* [n] owned; positions in o.index; NULL: not shuffled */
    struct slot slots[SLOTS];
    uint32_t held, taken, filled, end;

    bool background; /* there is a helper; what follows is its */
    bool quit, busy;
    pthread_t helper;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* ---- filling ---- */

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void fill_slot(struct sb_loader *l, uint32_t number, int threads)
{
    struct slot *s = &l->slots[number % SLOTS];
    uint32_t first = number * l->batch, left = l->o.n - first;
    s->count = left < l->batch ? left : l->batch;
    uint32_t begin = smaller(l->o.share, s->count);
    uint32_t n = smaller(l->here, s->count - begin);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = first + begin + i;
        s->index[i] = l->o.index[l->order ? l->order[at] : at];
    }
    s->failure.status = SB_OK;
    sb_act_set_batch(&s->x, n);
    if (n > 0)
        sb_failure_note(
            &s->failure, 0,
            sb_batch_fill(&l->source, threads, s->index, n, &s->x, s->labels));
    if (n > 0 && s->targets)
        sb_target_scale_fill(l->o.scale, l->o.data, s->index, n, s->targets);
}

/* After batch number was tried: it counts, and if it failed nothing follows it. */
static void count_filled(struct sb_loader *l, uint32_t number)
{
    l->filled = number + 1;
    if (l->slots[number % SLOTS].failure.status != SB_OK)
        l->end = l->filled;
}

static bool may_fill(const struct sb_loader *l)
{
    return l->filled < l->end && l->filled < l->held + SLOTS;
}

static void *help(void *context)
{
    struct sb_loader *l = context;
    pthread_mutex_lock(&l->lock);
    while (!l->quit) {
        if (!may_fill(l)) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        l->busy = true;
        uint32_t number = l->filled;
        pthread_mutex_unlock(&l->lock);
        fill_slot(l, number, 1); /* the caller's threads have other work */
        pthread_mutex_lock(&l->lock);
        l->busy = false;
        count_filled(l, number);
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- life ---- */

static bool start_helper(struct sb_loader *l)
{
    if (pthread_mutex_init(&l->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&l->changed, NULL) != 0) {
        pthread_mutex_destroy(&l->lock);
        return false;
    }
    bool started = sb_threads_start(&l->helper, help, l);
    if (!started) {
        pthread_cond_destroy(&l->changed);
        pthread_mutex_destroy(&l->lock);
    }
    return started;
}

static void stop_helper(struct sb_loader *l)
{
    pthread_mutex_lock(&l->lock);
    l->quit = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->helper, NULL);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
}

static sb_status allocate(struct sb_loader *l)
{
    const struct sb_dataset *d = l->o.data;
    if (l->o.shuffle) {
        l->order = sb_malloc(l->o.n, sizeof *l->order);
        if (!l->order)
            return sb_fail(SB_ENOMEM, "no memory for the order of %u examples", l->o.n);
    }
    for (int i = 0; i < SLOTS; i++) {
        struct slot *s = &l->slots[i];
        s->failure = (struct sb_failure)SB_FAILURE_NONE;
        sb_status st = sb_act_init(&s->x, l->o.env->kernels->lanes, l->here,
                                   l->o.normal->channels, d->height, d->width);
        if (st != SB_OK)
            return st;
        if (l->o.scale)
            s->targets = sb_malloc(l->here, l->o.scale->count * sizeof *s->targets);
        else
            s->labels = sb_malloc(l->here, sizeof *s->labels);
        s->index = sb_malloc(l->here, sizeof *s->index);
        if ((!s->labels && !s->targets) || !s->index)
            return sb_fail(SB_ENOMEM, "no memory for a batch of %u labels", l->here);
    }
    return SB_OK;
}

static sb_status check(const struct sb_loader_options *o)
{
    if (o->n == 0 || o->batch == 0)
        return sb_fail(SB_EARG, "batches of %u from %u examples; both must be at least 1",
                       o->batch, o->n);
    if (o->scale ? !o->data->targets : !o->data->labels)
        return sb_fail(SB_EARG, "%s has no labels to train on", o->data->path);
    if (sb_normalise_inputs(o->normal) != o->data->channels ||
        o->normal->element != o->data->element)
        return sb_fail(SB_EARG, "%s has %u channels, its normalisation has %u",
                       o->data->path, o->data->channels, sb_normalise_inputs(o->normal));
    if ((o->augment.pad > 0 || o->augment.flip) && sb_dataset_tabular(o->data))
        return sb_fail(SB_EARG,
                       "%s is a table; only images can be padded, cropped and mirrored: "
                       "say data.augment = none",
                       o->data->path);
    if (o->augment.pad > o->data->height || o->augment.pad > o->data->width)
        return sb_fail(SB_EARG,
                       "padding of %u pixels around images of %u x %u; want at most the "
                       "image's size",
                       o->augment.pad, o->data->height, o->data->width);
    for (uint32_t i = 0; i < o->n; i++)
        if (o->index[i] >= o->data->n)
            return sb_fail(SB_EARG, "example %u of %s, which has %u", o->index[i],
                           o->data->path, o->data->n);
    return SB_OK;
}

sb_status sb_loader_new(struct sb_loader **out, const struct sb_loader_options *o)
{
    *out = NULL;
    sb_status st = check(o);
    if (st != SB_OK)
        return st;
    struct sb_loader *l = sb_calloc(1, sizeof *l);
    if (!l)
        return sb_fail(SB_ENOMEM, "no memory for a loader");
    l->o = *o;
    l->source = (struct sb_batch_source){
        .data = o->data, .normal = o->normal, .augment = o->augment, .seed = o->seed};
    l->batch = o->batch < o->n ? o->batch : o->n;
    l->batches = (o->n - 1) / l->batch + 1;
    l->here = o->shares ? o->shares : l->batch;
    st = allocate(l);
    if (st != SB_OK) {
        sb_loader_free(l);
        return st;
    }
    l->background = o->background && start_helper(l);
    *out = l;
    return SB_OK;
}

void sb_loader_free(struct sb_loader *l)
{
    if (!l)
        return;
    if (l->background)
        stop_helper(l);
    for (int i = 0; i < SLOTS; i++) {
        sb_act_fini(&l->slots[i].x);
        sb_free(l->slots[i].labels);
        sb_free(l->slots[i].targets);
        sb_free(l->slots[i].index);
    }
    sb_free(l->order);
    sb_free(l);
}

bool sb_loader_in_background(const struct sb_loader *l)
{
    return l->background;
}

/* ---- use ---- */

static void lock(struct sb_loader *l)
{
    if (l->background)
        pthread_mutex_lock(&l->lock);
}

static void unlock(struct sb_loader *l)
{
    if (l->background) {
        pthread_cond_broadcast(&l->changed);
        pthread_mutex_unlock(&l->lock);
    }
}

void sb_loader_start(struct sb_loader *l, uint32_t member, uint32_t epoch, uint32_t first)
{
    lock(l);
    l->end = l->filled;
    while (l->busy)
        pthread_cond_wait(&l->changed, &l->lock);
    if (l->order) {
        struct sb_stream s = sb_rng_stream(l->o.seed, SB_RNG_SHUFFLE, member, epoch, 0);
        sb_rng_permutation(&s, l->o.n, l->order);
    }
    l->source.member = member;
    l->source.step = epoch;
    l->end = l->batches;
    l->held = l->taken = l->filled = first < l->end ? first : l->end;
    unlock(l);
}

/* The slot of batch l->taken is filled. */
static sb_status hand_out(struct sb_loader *l, struct sb_batch *b)
{
    const struct slot *s = &l->slots[l->taken % SLOTS];
    sb_status st = sb_failure_raise(&s->failure);
    if (st == SB_OK)
        *b = (struct sb_batch){.x = &s->x,
                               .labels = s->labels,
                               .targets = s->targets,
                               .index = s->index,
                               .count = s->count,
                               .number = l->taken++};
    return st;
}

sb_status sb_loader_next(struct sb_loader *l, struct sb_batch *b)
{
    sb_status st = SB_OK;
    *b = (struct sb_batch){0};
    lock(l);
    l->held = l->taken; /* the batch before is given back */
    bool more = l->taken < l->end;
    if (more && !l->background && l->filled == l->taken) {
        fill_slot(l, l->filled, l->o.env->threads);
        count_filled(l, l->filled);
    }
    if (more && l->background) {
        pthread_cond_broadcast(&l->changed);
        while (l->filled == l->taken)
            pthread_cond_wait(&l->changed, &l->lock);
    }
    if (more)
        st = hand_out(l, b);
    unlock(l);
    return st;
}
