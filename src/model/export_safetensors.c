/* export_safetensors - an export as a safetensors file; see export.h.
 *
 * The header comes first and names every array, so the arrays are walked twice: to list
 * them, and to write them.
 */
#include "model/export_parts.h"
#include "model/trained_file.h"

#define FORMAT "sebays-dense"
enum { VERSION = 1 };

static json_t *members(const struct sb_export *e)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array && i < e->members; i++)
        if (json_array_append_new(array, json_integer((json_int_t)e->first + i)) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

sb_status sb_export_put_texts(struct sb_st_writer *w, const struct sb_export *e)
{
    const struct sb_model_info *info = &e->model->info;
    sb_status st = sb_model_put_info(w, info);
    if (st == SB_OK)
        st = sb_st_writer_meta(w, "sampling", sb_export_sampling(e));
    if (st == SB_OK)
        st = sb_fields_put_json(w, "members", members(e));
    return st == SB_OK ? sb_st_writer_meta(w, "recipe", info->recipe) : st;
}

static sb_status list(void *context, const struct sb_export_array *a, const float *values)
{
    return sb_st_writer_add(context, a->name, SB_F32, a->shape.ndim, a->shape.dim,
                            values);
}

static sb_status append(void *context, const struct sb_export_array *a,
                        const float *values)
{
    return sb_file_write(context, values, sb_shape_count(&a->shape) * sizeof *values);
}

sb_status sb_export_safetensors(const struct sb_export *e, const char *path)
{
    struct sb_st_writer w;
    struct sb_file f = {0};
    sb_status st = sb_st_writer_init(&w);
    if (st == SB_OK)
        st = sb_st_writer_meta(&w, "format", FORMAT);
    if (st == SB_OK)
        st = sb_fields_put_integer(&w, "version", VERSION);
    if (st == SB_OK)
        st = sb_export_put_texts(&w, e);
    if (st == SB_OK)
        st = sb_export_each(e, list, &w);
    if (st == SB_OK)
        st = sb_st_writer_begin(&w, path, &f);
    if (st == SB_OK)
        st = sb_export_each_value(e, append, &f);
    if (st == SB_OK)
        st = sb_file_commit(&f);
    sb_file_abort(&f);
    sb_st_writer_fini(&w);
    return st;
}
