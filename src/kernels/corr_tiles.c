/* corr_tiles - where the tiles of a batch lie; see corr.h. */
#include <assert.h>

#include "kernels/corr.h"

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

uint32_t sb_corr_tiles(const struct sb_corr *r, uint32_t image_blocks,
                       uint32_t group_blocks)
{
    const struct sb_tile *t = &r->tile;
    if (image_blocks == 0) /* a rank whose share of a batch is empty */
        return 0;
    uint32_t group = group_blocks ? group_blocks : image_blocks;
    uint32_t deep = image_blocks / group * divide_up(group, t->blocks) +
                    divide_up(image_blocks % group, t->blocks);
    return deep * divide_up(r->grid_height, t->height) *
           divide_up(r->grid_width, t->width);
}

struct sb_box sb_corr_tile(const struct sb_corr *r, uint32_t index, uint32_t group_blocks)
{
    const struct sb_tile *t = &r->tile;
    uint32_t across = divide_up(r->grid_width, t->width);
    uint32_t down = divide_up(r->grid_height, t->height);
    assert(across > 0 && down > 0);
    uint32_t in_plane = index % (across * down), deep = index / (across * down);
    uint32_t each = group_blocks ? divide_up(group_blocks, t->blocks) : UINT32_MAX;
    /* down a slice, since the next row sees most of what this one saw */
    return (struct sb_box){
        .block = deep / each * group_blocks + deep % each * t->blocks,
        .row = (r->sliced ? in_plane % down : in_plane / across) * t->height,
        .col = (r->sliced ? in_plane / down : in_plane % across) * t->width,
        .blocks = t->blocks,
        .height = t->height,
        .width = t->width,
    };
}
