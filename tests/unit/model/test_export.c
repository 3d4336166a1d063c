/* model/export: dense arrays equal what a predictor runs on; formats hold the same. */
#include "model/export.h"

#include <math.h>

#include "data_fixture.h"

#include "files/zip.h"
#include "models.h"
#include "predict/loaded.h"

static const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 2};

/* ---- beside the predictor's own weights ---- */

/* The position of weight k of a layer. */
static size_t position(const struct sb_trained *t, uint32_t layer, uint32_t k)
{
    return t->position[layer] ? (size_t)t->position[layer][k] : k;
}

/* A tensor that is values where weights exist and 0 elsewhere. */
static void same_weights(const struct sb_st *st, const char *name,
                         const struct sb_arch_node *d, const struct sb_trained *m,
                         uint32_t layer, const float *values)
{
    const struct sb_st_tensor *t = sb_st_lookup(st, name);
    const size_t shape[] = {d->conv.out, d->conv.in, d->conv.kh, d->conv.kw};
    assert_non_null(t);
    assert_int_equal(t->ndim, d->bias ? 2 : 4);
    assert_memory_equal(t->shape, shape, t->ndim * sizeof *shape);
    float *have = malloc(t->count * sizeof *have);
    assert_non_null(have);
    assert_int_equal(sb_st_read_f32(st, t, have, t->count), SB_OK);
    for (uint32_t k = 0; k < nets_mu(m, layer)->count; k++) {
        assert_memory_equal(&have[position(m, layer, k)], &values[k], sizeof *values);
        have[position(m, layer, k)] = 0;
    }
    for (size_t i = 0; i < t->count; i++)
        assert_true(have[i] == 0);
    free(have);
}

static void same_vector(const struct sb_st *st, const char *name, const float *values,
                        uint32_t n)
{
    const struct sb_st_tensor *t = sb_st_lookup(st, name);
    assert_non_null(t);
    assert_int_equal(t->ndim, 1);
    assert_int_equal(t->count, n);
    assert_memory_equal(t->data, values, n * sizeof *values);
}

static const char *name_of(uint32_t member, const char *layer, const char *part)
{
    static char name[128];
    snprintf(name, sizeof name, "member.%u.%s.%s", member, layer, part);
    return name;
}

/* Everything of member i; net is what the predictor has. */
static void same_member(const struct sb_st *st, const struct sb_model *m, uint32_t i,
                        const struct sb_net *net)
{
    uint32_t layer = 0, norm = 0;
    for (uint32_t k = 0; k < m->arch.nodes; k++) {
        const struct sb_arch_node *d = &m->arch.node[k];
        if (d->kind == SB_NODE_WEIGHT) {
            const struct sb_trained *t = &m->member[i];
            float *mu = malloc(nets_mu(t, layer)->count * sizeof *mu);
            assert_non_null(mu);
            sb_weight_get(&net->weight[layer], mu, NULL);
            same_weights(st, name_of(i, d->name, "weight"), d, t, layer, mu);
            free(mu);
            if (d->bias)
                same_vector(st, name_of(i, d->name, "bias"),
                            sb_trained_find(t, k, SB_PARAM_BIAS)->value, d->conv.out);
            layer++;
        } else if (d->kind == SB_NODE_NORM) {
            const struct sb_norm *n = &net->norm[norm++].norm;
            same_vector(st, name_of(i, d->name, "weight"), n->gamma, d->channels);
            same_vector(st, name_of(i, d->name, "bias"), n->beta, d->channels);
            same_vector(st, name_of(i, d->name, "running_mean"), n->running_mean,
                        d->channels);
            same_vector(st, name_of(i, d->name, "running_var"), n->running_var,
                        d->channels);
        }
    }
}

static void weights_are_the_predictors(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        double density;
        bool gauss, mean;
    } kinds[] = {{"wrn-10-1", 0.2, true, false}, {"wrn-10-1", 0.2, true, true},
                 {"resnet-8", 0.3, true, false}, {"lenet", 0.1, false, false},
                 {"mlp-7", 1.0, true, false},    {"mlp", 1.0, false, true}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct sb_model m;
        struct sb_loaded loaded;
        struct sb_st st;
        assert_int_equal(
            models_make(&m, kinds[k].arch, kinds[k].density, kinds[k].gauss, 2), SB_OK);
        struct sb_export e = {.env = &env, .model = &m, .mean = kinds[k].mean};
        enum sb_load load = kinds[k].mean ? SB_LOAD_MEAN : SB_LOAD_DRAW;
        assert_int_equal(sb_export_write(&e, "safetensors-dense", "a"), SB_OK);
        assert_int_equal(sb_loaded_init(&loaded, &env, &m, load, SB_PLAN_FEW), SB_OK);
        assert_int_equal(sb_st_open(&st, "a"), SB_OK);
        assert_int_equal(st.tensors, 2 * (m.arch.weights + 4 * m.arch.norms +
                                          (m.arch.norms ? 1 : m.arch.weights) +
                                          (strcmp(kinds[k].arch, "lenet") == 0)));
        for (uint32_t i = 0; i < 2; i++)
            same_member(&st, &m, i, &loaded.member[i]);
        assert_string_equal(sb_st_meta(&st, "sampling"), !kinds[k].gauss ? "point"
                                                         : kinds[k].mean ? "mean"
                                                                         : "draw");
        sb_st_close(&st);
        sb_loaded_fini(&loaded);
        sb_model_fini(&m);
    }
}

static void says_what_the_model_is(void **state)
{
    (void)state;
    struct sb_model m;
    struct sb_st st;
    assert_int_equal(models_make(&m, "wrn-10-1", 0.2, true, 3), SB_OK);
    struct sb_export e = {.env = &env, .model = &m, .first = 1};
    assert_int_equal(sb_export_write(&e, "safetensors-dense", "a"), SB_OK);
    assert_int_equal(sb_st_open(&st, "a"), SB_OK);
    const char *const want[][2] = {
        {"format", "sebays-dense"},
        {"version", "1"},
        {"arch", "wrn-10-1"},
        {"method", "sebays"},
        {"posterior", "gauss"},
        {"sampling", "draw"},
        {"shape", "[3,8,8]"},
        {"classes", "10"},
        {"members", "[1,2]"},
        {"class_names", "[\"zero\",\"one\",\"two\",\"three\",\"four\",\"five\",\"six\","
                        "\"seven\",\"eight\",\"nine\"]"},
        {"recipe", "[train]\nlr = 0.1\n"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_string_equal(sb_st_meta(&st, want[i][0]), want[i][1]);
    assert_non_null(strstr(sb_st_meta(&st, "normalisation"), "\"sd\":[0.24699999"));
    assert_null(sb_st_lookup(&st, "member.0.conv1.weight"));
    assert_non_null(sb_st_lookup(&st, "member.1.conv1.weight"));
    sb_st_close(&st);
    sb_model_fini(&m);
    refused(sb_model_read(&m, "a"), SB_EFORMAT,
            "a: metadata \"format\" is \"sebays-dense\", not \"sebays-model\"; want the "
            "model.safetensors of a run directory");
}

static void deviations(void **state)
{
    (void)state;
    struct sb_model m;
    struct sb_st st;
    assert_int_equal(models_make(&m, "lenet", 0.1, true, 1), SB_OK);
    struct sb_export e = {.env = &env, .model = &m, .sigma = true};
    assert_int_equal(sb_export_write(&e, "safetensors-dense", "a"), SB_OK);
    assert_int_equal(sb_st_open(&st, "a"), SB_OK);
    uint32_t layer = 0;
    for (uint32_t k = 0; k < m.arch.nodes; k++) {
        const struct sb_arch_node *d = &m.arch.node[k];
        if (d->kind != SB_NODE_WEIGHT)
            continue;
        const struct sb_trained *t = &m.member[0];
        uint32_t n = nets_mu(t, layer)->count;
        float *sigma = malloc(n * sizeof *sigma);
        assert_non_null(sigma);
        for (uint32_t i = 0; i < n; i++)
            sigma[i] = (float)log1p(exp((double)nets_rho(t, layer)[i]));
        same_weights(&st, name_of(0, d->name, "weight_sigma"), d, t, layer++, sigma);
        free(sigma);
    }
    sb_st_close(&st);
    sb_model_fini(&m);
}

/* ---- npz ---- */

/* A member of the archive that ends with these bytes, after this head. */
static void same_array(const struct sb_zip *z, const char *name, const char *head,
                       const void *data, size_t bytes)
{
    struct sb_zip_member a;
    bool found;
    assert_int_equal(sb_zip_find(z, name, &a, &found), SB_OK);
    assert_true(found && !a.deflated && a.size > bytes);
    assert_int_equal(sb_zip_read(z, name, &a, NULL), SB_OK); /* the checksum */
    assert_memory_equal(a.data + 10, head, strlen(head));
    assert_memory_equal(a.data + a.size - bytes, data, bytes);
}

static void npz_holds_the_same(void **state)
{
    (void)state;
    struct sb_model m;
    struct sb_st st;
    struct sb_map map;
    struct sb_zip z;
    assert_int_equal(models_make(&m, "resnet-8", 0.3, true, 2), SB_OK);
    struct sb_export e = {.env = &env, .model = &m, .sigma = true};
    assert_int_equal(sb_export_write(&e, "safetensors-dense", "a"), SB_OK);
    assert_int_equal(sb_export_write(&e, "npz", "b"), SB_OK);
    assert_int_equal(sb_st_open(&st, "a"), SB_OK);
    assert_int_equal(sb_map_open(&map, "b"), SB_OK);
    assert_int_equal(sb_zip_init(&z, "b", map.data, map.size), SB_OK);
    assert_int_equal(z.entries, st.tensors + 10);
    for (size_t i = 0; i < st.tensors; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s.npy", st.tensor[i].name);
        same_array(&z, name, "{'descr': '<f4', 'fortran_order': False, 'shape': (",
                   st.tensor[i].data, st.tensor[i].count * sizeof(float));
    }
    same_array(&z, "mean.npy",
               "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", m.info.mean,
               3 * sizeof(float));
    const uint32_t draw[] = {'d', 'r', 'a', 'w'};
    same_array(&z, "sampling.npy",
               "{'descr': '<U4', 'fortran_order': False, 'shape': (), }", draw,
               sizeof draw);
    sb_map_close(&map);
    sb_st_close(&st);
    sb_model_fini(&m);
}

/* One character of each length in UTF-8; the shorter names end in zeros. */
static void npz_has_any_name(void **state)
{
    (void)state;
    const char *const name[] = {"a\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\x89z!"};
    const uint32_t want[] = {'a', 0xe9, 0, 0x20ac, 0, 0, 0x1f389, 'z', '!'};
    const float mean[] = {0}, sd[] = {1};
    struct sb_model_info info = {.arch = "mlp",
                                 .method = "dnn",
                                 .recipe = "",
                                 .channels = 1,
                                 .height = 1,
                                 .width = 1,
                                 .classes = 3,
                                 .class_name = name,
                                 .mean = mean,
                                 .sd = sd,
                                 .columns = "{}"};
    struct sb_model m;
    struct sb_trained member;
    struct sb_map map;
    struct sb_zip z;
    assert_int_equal(sb_model_init(&m, &info), SB_OK);
    assert_int_equal(sb_trained_plan(&member, &m.arch, NULL, false), SB_OK);
    assert_int_equal(sb_model_add(&m, &member), SB_OK);
    struct sb_export e = {.env = &env, .model = &m};
    assert_int_equal(sb_export_write(&e, "npz", "b"), SB_OK);
    assert_int_equal(sb_map_open(&map, "b"), SB_OK);
    assert_int_equal(sb_zip_init(&z, "b", map.data, map.size), SB_OK);
    same_array(&z, "class_names.npy",
               "{'descr': '<U3', 'fortran_order': False, 'shape': (3,), }", want,
               sizeof want);
    const uint32_t empty[] = {0}, columns[] = {'{', '}'};
    same_array(&z, "recipe.npy",
               "{'descr': '<U1', 'fortran_order': False, 'shape': (), }", empty,
               sizeof empty);
    same_array(&z, "columns.npy",
               "{'descr': '<U2', 'fortran_order': False, 'shape': (), }", columns,
               sizeof columns);
    sb_map_close(&map);
    sb_model_fini(&m);
}

/* ---- refusals and failures ---- */

static void refuses_what_is_not_there(void **state)
{
    (void)state;
    struct sb_model m;
    assert_int_equal(models_make(&m, "mlp-7", 0.5, false, 2), SB_OK);
    struct sb_export e = {.env = &env, .model = &m};
    refused(sb_export_write(&e, "onnxx", "a"), SB_EARG,
            "there is no format 'onnxx'; want safetensors-dense, npz or onnx");
    e.first = 2;
    refused(sb_export_write(&e, "npz", "a"), SB_EARG,
            "there is no member 2; the model has 2, counted from 0");
    e.first = 1;
    e.members = 2;
    refused(sb_export_write(&e, "npz", "a"), SB_EARG,
            "there is no member 2; the model has 2, counted from 0");
    e.members = UINT32_MAX;
    refused(sb_export_write(&e, "npz", "a"), SB_EARG,
            "there is no member 2; the model has 2, counted from 0");
    e = (struct sb_export){.env = &env, .model = &m, .sigma = true};
    refused(sb_export_write(&e, "npz", "a"), SB_EARG,
            "weights of sebays are points: there are no deviations to export");
    e.sigma = false;
    refused(sb_export_write(&e, "npz", "none/a"), SB_EIO,
            "cannot create none/a: No such file or directory");
    refused(sb_export_write(&e, "onnx", "none/a"), SB_EIO,
            "cannot create none/a: No such file or directory");
    refused(sb_export_write(&e, "safetensors-dense", "none/a"), SB_EIO,
            "cannot create none/a: No such file or directory");
    assert_false(sb_file_exists("a"));
    sb_model_fini(&m);
}

static void onnx_has_no_deviations(void **state)
{
    (void)state;
    struct sb_model m;
    assert_int_equal(models_make(&m, "mlp-7", 0.5, true, 1), SB_OK);
    struct sb_export e = {.env = &env, .model = &m, .sigma = true};
    refused(sb_export_write(&e, "onnx", "a"), SB_EARG,
            "an ONNX graph predicts and has no place for deviations; export them as "
            "safetensors-dense or npz");
    assert_false(sb_file_exists("a"));
    sb_model_fini(&m);
}

/* A small model whose dense form is large: refused before memory is asked for. */
static void files_have_a_largest_size(void **state)
{
    (void)state;
    const float mean[] = {0}, sd[] = {1};
    struct sb_model_info info = {.arch = "mlp-40000",
                                 .method = "dst",
                                 .recipe = "",
                                 .channels = 1,
                                 .height = 200,
                                 .width = 200,
                                 .classes = 2,
                                 .mean = mean,
                                 .sd = sd};
    struct sb_model m;
    struct sb_trained member;
    assert_int_equal(sb_model_init(&m, &info), SB_OK);
    assert_int_equal(
        sb_trained_plan(&member, &m.arch, (const uint32_t[]){5, 80000}, false), SB_OK);
    assert_int_equal(sb_model_add(&m, &member), SB_OK);
    struct sb_export e = {.env = &env, .model = &m};
    refused(sb_export_write(&e, "npz", "a"), SB_EARG,
            "a: 6103 MB of arrays, and 4095 fit an npz file; export fewer members, or as "
            "safetensors-dense");
    refused(sb_export_write(&e, "onnx", "a"), SB_EARG,
            "a: 6103 MB, and 2047 fit an ONNX file; export fewer members, or as "
            "safetensors-dense");
    assert_false(sb_file_exists("a"));
    sb_model_fini(&m);
}

static bool stop(void *context, const struct sb_progress_report *report)
{
    assert_string_equal(report->phase, "export");
    assert_true(report->bytes && report->done <= report->total);
    return ++*(int *)context < 3;
}

static void is_stopped_without_a_trace(void **state)
{
    (void)state;
    const char *const formats[] = {"safetensors-dense", "npz", "onnx"};
    struct sb_model m;
    assert_int_equal(models_make(&m, "lenet", 0.1, true, 2), SB_OK);
    for (size_t i = 0; i < 3; i++) {
        int reports = 0;
        struct sb_progress p = {.report = stop, .context = &reports};
        struct sb_export e = {.env = &env, .model = &m, .progress = &p};
        assert_int_equal(sb_export_write(&e, formats[i], "a"), SB_ECANCELED);
        assert_int_equal(reports, 3);
        DIR *d = opendir(".");
        assert_non_null(d);
        for (struct dirent *x = readdir(d); x; x = readdir(d))
            assert_int_equal(x->d_name[0], '.');
        closedir(d);
    }
    sb_model_fini(&m);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *const formats[] = {"safetensors-dense", "npz", "onnx"};
    struct sb_model m;
    assert_int_equal(models_make(&m, "lenet", 0.1, true, 2), SB_OK);
    for (size_t i = 0; i < 3; i++) {
        struct sb_export e = {.env = &env, .model = &m, .sigma = i < 2};
        size_t live = sb_mem_live();
        sb_status st = SB_ENOMEM;
        long n;
        for (n = 0; st != SB_OK && n < 100; n++) {
            sb_mem_fail_after(n);
            st = sb_export_write(&e, formats[i], "a");
            sb_mem_fail_after(-1);
            assert_int_equal(sb_mem_live(), live);
            assert_true(st == SB_OK || st == SB_ENOMEM);
            assert_int_equal(sb_file_exists("a"), st == SB_OK);
        }
        assert_true(n > 5 && n < 100);
        assert_int_equal(unlink("a"), 0);
    }
    sb_model_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(weights_are_the_predictors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_what_the_model_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deviations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(npz_holds_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(npz_has_any_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_is_not_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(onnx_has_no_deviations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_have_a_largest_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(is_stopped_without_a_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
