/* onnx - the part of ONNX that an export writes. Internal to export_onnx.c and onnx_graph.c.
 *
 * The format is Protocol Buffers (files/protobuf.h); the numbers below are those of
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto. Operators are those of opset 13
 * (IR version 7, 2020), which every later runtime reads.
 *
 *     input [n][channels][height][width], of tables [n][features]
 *       |  Sub mean, Div sd
 *       +---------------------+--- ...     a branch a member: its nodes, then Softmax
 *     member.0.probabilities  member.1.probabilities
 *       |  Unsqueeze            |
 *       +----- Concat ----------+          members [M][n][classes]
 *                |  ReduceMean
 *              probabilities [n][classes]
 *
 * Of continuous targets a branch ends in its outputs, which Unsqueeze and Concat stack; the
 * mixture of the members is made of them in standard units, and only its results are put
 * into those of the targets:
 *
 *     outputs [M][n][outputs]
 *       |  Slice (noise per example), or the outputs and each member's noise, expanded
 *       +-- standard.means [M][n][T]           +-- log_variances, Clip, Exp
 *       |     ReduceMean                       |
 *       |   standard.mean [n][T]               standard.variances [M][n][T]
 *       |     Sub, Mul                         |
 *       +-- squares ------------ Add, ReduceMean, Sqrt: standard.sd [n][T]
 *
 *     mean = standard.mean * target_sd + target_mean,  sd = standard.sd * target_spread
 *     member_means = standard.means * target_sd + target_mean
 *     member_variances = standard.variances * target_sd * target_sd
 *
 * target_spread is target_sd; what makes all deviations about the mean larger or smaller is a
 * factor of it.
 *
 * Node i of member m gives the value member.<m>.value.<i>; arrays have the names of every
 * other export (export.h).
 */
#ifndef SB_MODEL_ONNX_H
#define SB_MODEL_ONNX_H

#include "files/protobuf.h"
#include "model/export_parts.h"

enum { SB_ONNX_IR = 7, SB_ONNX_OPSET = 13 };

/* Field numbers. */
enum {
    MODEL_IR = 1,
    MODEL_PRODUCER = 2,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    MODEL_META = 14
};
enum { META_KEY = 1, META_VALUE = 2 };
enum { OPSET_VERSION = 2 };
enum {
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_TENSOR = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12
};
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_F = 2, ATTRIBUTE_I = 3, ATTRIBUTE_INTS = 8 };
enum { ATTRIBUTE_TYPE = 20, TYPE_FLOAT = 1, TYPE_INT = 2, TYPE_INTS = 7 };
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { ELEMENT_FLOAT = 1, ELEMENT_INT64 = 7 };
enum {
    VALUE_NAME = 1,
    VALUE_TYPE = 2,
    TYPE_TENSOR = 1,
    TENSOR_ELEMENT = 1,
    TENSOR_SHAPE = 2
};
enum { SHAPE_DIM = 1, DIM_VALUE = 1, DIM_NAME = 2 };

/* Whether examples are rows of features, [n][features], not images. */
bool sb_onnx_rows(const struct sb_model *m);

/* The graph's nodes. They read the values "input", "input_mean", "input_sd" and "first_axis",
 * and every array of the export; "probabilities" and "members" come out. */
sb_status sb_onnx_nodes(const struct sb_export *e, struct sb_pb *p);

/* Begins a node of ONNX, which is named after its output; attributes may follow, and
 * sb_pb_end. */
size_t sb_onnx_begin(struct sb_pb *p, const char *op, const char *const *in,
                     uint32_t inputs, const char *out);

/* One without attributes; b NULL: of one input. */
void sb_onnx_put(struct sb_pb *p, const char *op, const char *a, const char *b,
                 const char *out);
void sb_onnx_put_integer(struct sb_pb *p, const char *name, uint32_t value);
void sb_onnx_put_integers(struct sb_pb *p, const char *name, const uint32_t *value,
                          uint32_t n);

/* Stacks member.<m>.<what> of all members: Concat along the first axis. */
void sb_onnx_put_stack(struct sb_pb *p, const struct sb_export *e, const char *what,
                       const char *out);

/* A constant of the graph. */
void sb_onnx_put_tensor(struct sb_pb *p, const char *name, const uint32_t *dim,
                        uint32_t dims, uint32_t type, const void *data, size_t bytes);

/* Of continuous targets: what is made of "outputs", [M][n][outputs], and with which
 * constants; mean, sd, member_means and member_variances come out. */
void sb_onnx_outcome_nodes(struct sb_pb *p, const struct sb_export *e);
void sb_onnx_outcome_tensors(struct sb_pb *p, const struct sb_export *e);

#endif
