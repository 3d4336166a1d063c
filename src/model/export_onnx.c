/* export_onnx - an export as an ONNX model: the ensemble as one graph; see onnx.h.
 *
 * A graph's length stands before it, so the arrays are walked twice: to add up their sizes,
 * and to write them. Nodes and descriptions are made in memory, arrays go to the file one
 * by one. A message of more than 2 GB has no reader and is refused before it is begun.
 */
#include "model/onnx.h"
#include "model/trained_file.h"

struct writer {
    struct sb_file file;
    struct sb_pb part;    /* one tensor without its numbers */
    struct sb_pb key;     /* what stands before it */
    uint64_t graph_bytes; /* of tensors so far */
};

/* ---- arrays -------------------------------------------------------------------------- */

/* A tensor as far as its numbers, in w->part, and what stands before it, in w->key. */
static sb_status describe(struct writer *w, const struct sb_export_array *a)
{
    size_t bytes = sb_shape_count(&a->shape) * sizeof(float);
    w->part.used = w->key.used = 0;
    for (size_t i = 0; i < a->shape.ndim; i++)
        sb_pb_integer(&w->part, TENSOR_DIM, a->shape.dim[i]);
    sb_pb_integer(&w->part, TENSOR_TYPE, ELEMENT_FLOAT);
    sb_pb_text(&w->part, TENSOR_NAME, a->name);
    sb_pb_announce(&w->part, TENSOR_RAW, bytes);
    sb_pb_announce(&w->key, GRAPH_TENSOR, w->part.used + bytes);
    sb_status st = sb_pb_status(&w->part);
    return st == SB_OK ? sb_pb_status(&w->key) : st;
}

static sb_status measure(void *context, const struct sb_export_array *a,
                         const float *values)
{
    struct writer *w = context;
    sb_status st = describe(w, a);
    w->graph_bytes +=
        w->key.used + w->part.used + sb_shape_count(&a->shape) * sizeof *values;
    return st;
}

static sb_status append(void *context, const struct sb_export_array *a,
                        const float *values)
{
    struct writer *w = context;
    sb_status st = describe(w, a);
    if (st == SB_OK)
        st = sb_file_write(&w->file, w->key.data, w->key.used);
    if (st == SB_OK)
        st = sb_file_write(&w->file, w->part.data, w->part.used);
    return st == SB_OK ? sb_file_write(&w->file, values,
                                       sb_shape_count(&a->shape) * sizeof *values)
                       : st;
}

/* ---- the rest of the graph ----------------------------------------------------------- */

void sb_onnx_put_tensor(struct sb_pb *p, const char *name, const uint32_t *dim,
                        uint32_t dims, uint32_t type, const void *data, size_t bytes)
{
    size_t tensor = sb_pb_begin(p, GRAPH_TENSOR);
    for (uint32_t i = 0; i < dims; i++)
        sb_pb_integer(p, TENSOR_DIM, dim[i]);
    sb_pb_integer(p, TENSOR_TYPE, type);
    sb_pb_text(p, TENSOR_NAME, name);
    sb_pb_bytes(p, TENSOR_RAW, data, bytes);
    sb_pb_end(p, tensor);
}

/* A float tensor that goes in or comes out. A size of 0 stands for the number of examples. */
static void put_value(struct sb_pb *p, uint32_t field, const char *name,
                      const uint32_t *dim, uint32_t dims)
{
    size_t value = sb_pb_begin(p, field);
    sb_pb_text(p, VALUE_NAME, name);
    size_t type = sb_pb_begin(p, VALUE_TYPE), tensor = sb_pb_begin(p, TYPE_TENSOR);
    sb_pb_integer(p, TENSOR_ELEMENT, ELEMENT_FLOAT);
    size_t shape = sb_pb_begin(p, TENSOR_SHAPE);
    for (uint32_t i = 0; i < dims; i++) {
        size_t one = sb_pb_begin(p, SHAPE_DIM);
        if (dim[i] > 0)
            sb_pb_integer(p, DIM_VALUE, dim[i]);
        else
            sb_pb_text(p, DIM_NAME, "n");
        sb_pb_end(p, one);
    }
    sb_pb_end(p, shape);
    sb_pb_end(p, tensor);
    sb_pb_end(p, type);
    sb_pb_end(p, value);
}

static void put_outputs(const struct sb_export *e, struct sb_pb *p)
{
    const struct sb_model_info *info = &e->model->info;
    const uint32_t shape[] = {e->members, 0,
                              info->targets > 0 ? info->targets : info->classes};
    if (info->targets == 0) {
        put_value(p, GRAPH_OUTPUT, "probabilities", shape + 1, 2);
        put_value(p, GRAPH_OUTPUT, "members", shape, 3);
        return;
    }
    sb_onnx_outcome_tensors(p, e);
    put_value(p, GRAPH_OUTPUT, "mean", shape + 1, 2);
    put_value(p, GRAPH_OUTPUT, "sd", shape + 1, 2);
    put_value(p, GRAPH_OUTPUT, "member_means", shape, 3);
    put_value(p, GRAPH_OUTPUT, "member_variances", shape, 3);
}

static sb_status put_graph(const struct sb_export *e, struct sb_pb *p)
{
    const struct sb_model_info *info = &e->model->info;
    const uint32_t channel[] = {info->channels, 1, 1}, one[] = {1};
    const uint32_t example[] = {0, info->channels, info->height, info->width};
    const unsigned char zero[sizeof(int64_t)] = {0};
    bool rows = sb_onnx_rows(e->model);
    size_t bytes = info->channels * sizeof *info->mean;
    sb_status st = sb_onnx_nodes(e, p);
    sb_pb_text(p, GRAPH_NAME, info->arch);
    sb_onnx_put_tensor(p, "input_mean", channel, rows ? 1 : 3, ELEMENT_FLOAT, info->mean,
                       bytes);
    sb_onnx_put_tensor(p, "input_sd", channel, rows ? 1 : 3, ELEMENT_FLOAT, info->sd,
                       bytes);
    sb_onnx_put_tensor(p, "first_axis", one, 1, ELEMENT_INT64, zero, sizeof zero);
    put_value(p, GRAPH_INPUT, "input", example, rows ? 2 : 4);
    put_outputs(e, p);
    return st == SB_OK ? sb_pb_status(p) : st;
}

/* ---- the model around it ------------------------------------------------------------- */

/* The texts of a safetensors export, so that they are made in one place. */
static sb_status put_texts(const struct sb_export *e, struct sb_pb *p)
{
    struct sb_st_writer texts;
    const char *key;
    json_t *value;
    sb_status st = sb_st_writer_init(&texts);
    if (st == SB_OK)
        st = sb_export_put_texts(&texts, e);
    if (st == SB_OK)
        json_object_foreach(json_object_get(texts.header, "__metadata__"), key, value)
        {
            size_t entry = sb_pb_begin(p, MODEL_META);
            sb_pb_text(p, META_KEY, key);
            sb_pb_text(p, META_VALUE, json_string_value(value));
            sb_pb_end(p, entry);
        }
    sb_st_writer_fini(&texts);
    return st;
}

/* All before the graph's own bytes. */
static sb_status put_model(const struct sb_export *e, uint64_t graph_bytes,
                           struct sb_pb *p)
{
    sb_pb_integer(p, MODEL_IR, SB_ONNX_IR);
    sb_pb_text(p, MODEL_PRODUCER, "sebays");
    size_t opset = sb_pb_begin(p, MODEL_OPSET);
    sb_pb_integer(p, OPSET_VERSION, SB_ONNX_OPSET);
    sb_pb_end(p, opset);
    sb_status st = put_texts(e, p);
    sb_pb_announce(p, MODEL_GRAPH, graph_bytes);
    return st == SB_OK ? sb_pb_status(p) : st;
}

static sb_status check(const struct sb_export *e, const char *path, uint64_t bytes)
{
    if (e->sigma)
        return sb_fail(SB_EARG, "an ONNX graph predicts and has no place for deviations; "
                                "export them as safetensors-dense or npz");
    if (bytes > SB_PB_MOST)
        return sb_fail(SB_EARG,
                       "%s: %zu MB, and 2047 fit an ONNX file; export fewer members, or "
                       "as safetensors-dense",
                       path, (size_t)(bytes >> 20));
    return SB_OK;
}

sb_status sb_export_onnx(const struct sb_export *e, const char *path)
{
    struct writer w = {.graph_bytes = 0};
    struct sb_pb model = {0}, graph = {0};
    sb_status st = sb_export_each(e, measure, &w);
    if (st == SB_OK)
        st = check(e, path, w.graph_bytes);
    if (st == SB_OK)
        st = put_graph(e, &graph);
    if (st == SB_OK)
        st = put_model(e, w.graph_bytes + graph.used, &model);
    if (st == SB_OK)
        st = check(e, path, w.graph_bytes + graph.used + model.used);
    if (st == SB_OK)
        st = sb_file_create(&w.file, path);
    if (st == SB_OK)
        st = sb_file_write(&w.file, model.data, model.used);
    if (st == SB_OK)
        st = sb_file_write(&w.file, graph.data, graph.used);
    if (st == SB_OK)
        st = sb_export_each_value(e, append, &w);
    if (st == SB_OK)
        st = sb_file_commit(&w.file);
    sb_file_abort(&w.file);
    sb_pb_fini(&w.part);
    sb_pb_fini(&w.key);
    sb_pb_fini(&graph);
    sb_pb_fini(&model);
    return st;
}
