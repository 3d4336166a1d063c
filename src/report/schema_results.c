/* schema_results - the tables of results.json and metrics.jsonl.
 *
 * Read from the bottom: results, evaluation, its sections. The limits are far above what a
 * run can produce; they keep a page from growing without bound.
 */
#include "report/schema.h"

enum {
    NAME = 1 << 12,    /* bytes of a name, a path, a sentence */
    MEMBERS = 1 << 12, /* as many as a recipe may ask for */
    SMALL = 1 << 12,   /* bins, kinds, layers, sets */
    MANY = 1 << 20,    /* points of a curve, updates of the support, classes */
    IMAGES = 64,
    PIXELS = 1 << 22 /* bytes of a picture in base64 */
};

/* clang-format off */
#define FIELD(key, kind, required, max, inner) \
    { key, SB_SCHEMA_##kind, required, max, inner }
#define NUMBER(key)              FIELD(key, NUMBER, false, 0, NULL)
#define TEXT(key)                FIELD(key, TEXT, false, NAME, NULL)
#define OBJECT(key, fields)      FIELD(key, OBJECT, false, 0, fields)
#define ARRAY(key, max, item)    FIELD(key, ARRAY, false, max, item)
#define MAP(key, max, item)      FIELD(key, MAP, false, max, item)
#define NEED(key)                FIELD(key, NUMBER, true, 0, NULL)
#define NEED_TEXT(key, max)      FIELD(key, TEXT, true, max, NULL)
#define NEED_OBJECT(key, fields) FIELD(key, OBJECT, true, 0, fields)
#define NEED_ARRAY(key, max, item) FIELD(key, ARRAY, true, max, item)
#define END                      FIELD(NULL, NUMBER, false, 0, NULL)
#define ITEM(name, fields) \
    static const struct sb_schema name = FIELD(NULL, OBJECT, true, 0, fields)
/* clang-format on */

typedef const struct sb_schema fields[]; /* of an object */

static const struct sb_schema number = NEED(NULL);
static const struct sb_schema row = NEED_ARRAY(NULL, MEMBERS, &number);
static const struct sb_schema point = NEED_ARRAY(NULL, 2, &number);

static fields scores = {NUMBER("acc"),  NEED("nll"),   NUMBER("ece"),  NUMBER("brier"),
                        NUMBER("rmse"), NUMBER("mae"), NUMBER("crps"), END};
ITEM(member, scores);

static fields spread = {NEED("mean"), NEED("sd"), END};

static fields bin = {NEED("lo"),         NEED("hi"),       NEED("count"),
                     NEED("confidence"), NEED("accuracy"), END};
ITEM(one_bin, bin);
static const struct sb_schema member_bins = NEED_ARRAY(NULL, SMALL, &one_bin);
static fields bins = {NEED_ARRAY("ensemble", SMALL, &one_bin),
                      ARRAY("members", MEMBERS, &member_bins), END};

static fields class_fields = {NEED_TEXT("name", NAME),
                              NEED("n"),
                              NEED("acc"),
                              NUMBER("precision"),
                              NUMBER("confidence"),
                              NUMBER("f1"),
                              NUMBER("auc"),
                              NUMBER("nll"),
                              END};
ITEM(one_class, class_fields);

static fields uncertainty = {NEED("total"), NEED("aleatoric"), NEED("epistemic"), END};

static const struct sb_schema confused = NEED_ARRAY(NULL, SMALL, &number);
static fields temperature = {NEED("t"), NEED_OBJECT("ensemble", scores),
                             ARRAY("validation_nll", 2, &number), END};

static fields interval = {NEED("level"), NUMBER("factor"), NEED("coverage"),
                          NEED("width"), END};
ITEM(one_interval, interval);
static fields quantiles = {NEED_ARRAY("level", SMALL, &number),
                           NEED_ARRAY("share", SMALL, &number), NUMBER("error"), END};
static fields outcomes = {NEED_ARRAY("truth", MANY, &number),
                          NEED_ARRAY("mean", MANY, &number),
                          NEED_ARRAY("sd", MANY, &number), END};
static fields deviations = {NEED("sd"), NEED("aleatoric"), NEED("epistemic"), END};
static fields target = {NEED_TEXT("name", NAME),
                        NEED("rmse"),
                        NUMBER("mae"),
                        NUMBER("nll"),
                        NUMBER("nll_gauss"),
                        NUMBER("crps"),
                        ARRAY("intervals", SMALL, &one_interval),
                        ARRAY("conformal", SMALL, &one_interval),
                        OBJECT("calibration", quantiles),
                        OBJECT("uncertainty", deviations),
                        OBJECT("examples", outcomes),
                        END};
ITEM(one_target, target);

static fields set_of_classes = {NEED("level"), NUMBER("factor"), NEED("coverage"),
                                NEED("size"), END};
ITEM(one_set_of_classes, set_of_classes);

static fields test = {TEXT("path"),
                      NEED("n"),
                      NEED_OBJECT("ensemble", scores),
                      ARRAY("members", MEMBERS, &member),
                      OBJECT("bins", bins),
                      ARRAY("per_class", MANY, &one_class),
                      NUMBER("balanced_acc"),
                      NUMBER("f1"),
                      NUMBER("auc"),
                      NUMBER("adaptive_ece"),
                      NUMBER("most_frequent"),
                      ARRAY("confusion", SMALL, &confused),
                      OBJECT("temperature", temperature),
                      ARRAY("conformal", SMALL, &one_set_of_classes),
                      OBJECT("uncertainty", uncertainty),
                      ARRAY("targets", SMALL, &one_target),
                      END};

static fields diversity = {NUMBER("disagreement"), NUMBER("kl"),
                           ARRAY("disagreement_matrix", MEMBERS, &row),
                           ARRAY("kl_matrix", MEMBERS, &row), END};

static fields size_fields = {NEED("k"),
                             NUMBER("subsets"),
                             NEED_OBJECT("acc", spread),
                             NEED_OBJECT("nll", spread),
                             NEED_OBJECT("ece", spread),
                             END};
ITEM(one_size, size_fields);

static fields set_fields = {NEED_TEXT("kind", NAME),
                            NEED("severity"),
                            NEED("acc"),
                            NEED("nll"),
                            NEED("ece"),
                            END};
ITEM(one_set, set_fields);
static fields corruption = {TEXT("source"),
                            NUMBER("seed"),
                            NEED_OBJECT("pooled", scores),
                            OBJECT("mean", scores),
                            ARRAY("sets", SMALL, &one_set),
                            END};

static fields detector = {NEED("auroc"), NUMBER("aupr"), NUMBER("fpr95"), END};
static fields histogram = {NEED_ARRAY("edges", SMALL, &number),
                           NEED_ARRAY("in", SMALL, &number),
                           NEED_ARRAY("out", SMALL, &number), END};
static fields ood_fields = {NEED_TEXT("name", NAME),
                            TEXT("path"),
                            NUMBER("n"),
                            NEED_OBJECT("max_probability", detector),
                            OBJECT("member_mean", detector),
                            OBJECT("far", detector),
                            OBJECT("histogram", histogram),
                            ARRAY("roc", SMALL, &point),
                            END};
ITEM(one_ood, ood_fields);

static fields attack_fields = {NEED_TEXT("kind", NAME),
                               NEED("epsilon"),
                               NUMBER("steps"),
                               ARRAY("acc", MEMBERS, &number),
                               NEED("min"),
                               NEED("mean"),
                               NEED("max"),
                               END};
ITEM(one_attack, attack_fields);

static fields place = {
    NEED_TEXT("phase", NAME), NEED("member"), NEED("epoch"), NEED("x"), NEED("y"), END};
ITEM(one_place, place);
static fields trajectory = {NEED_ARRAY("points", MANY, &one_place), END};

static fields example = {NEED("index"),
                         NEED("label"),
                         NEED("predicted"),
                         NEED("probability"),
                         NUMBER("entropy"),
                         NEED("channels"),
                         NEED("height"),
                         NEED("width"),
                         NEED_TEXT("pixels", PIXELS),
                         END};
ITEM(one_example, example);
static fields examples = {ARRAY("uncertain", IMAGES, &one_example),
                          ARRAY("wrong", IMAGES, &one_example), END};

static fields layer = {NEED_TEXT("name", NAME), NEED("weights"), NEED("exist"),
                       NEED("density"), END};
ITEM(one_layer, layer);
static fields update = {NEED("step"),
                        NEED_TEXT("phase", NAME),
                        NEED("member"),
                        NUMBER("rate"),
                        NEED("moved"),
                        NUMBER("returned"),
                        END};
ITEM(one_update, update);
static fields support = {ARRAY("layers", SMALL, &one_layer),
                         ARRAY("updates", MANY, &one_update), END};

static const struct sb_schema sentence = NEED_TEXT(NULL, NAME);

static fields evaluation = {MAP("definitions", SMALL, &sentence),
                            TEXT("sampling"),
                            OBJECT("test", test),
                            OBJECT("diversity", diversity),
                            ARRAY("size", MEMBERS, &one_size),
                            OBJECT("corruption", corruption),
                            ARRAY("ood", SMALL, &one_ood),
                            ARRAY("attack", SMALL, &one_attack),
                            OBJECT("trajectory", trajectory),
                            OBJECT("examples", examples),
                            OBJECT("support", support),
                            END};

/* Of --test OTHER a page has the figures only. */
static fields other_test = {TEXT("path"), NEED("n"), NEED_OBJECT("ensemble", scores),
                            END};
static fields other_fields = {TEXT("sampling"), OBJECT("test", other_test), END};
ITEM(one_other, other_fields);

static fields data = {TEXT("test"), NUMBER("tests"), ARRAY("shape", 3, &number), END};

static fields results = {TEXT("task"),
                         OBJECT("data", data),
                         NEED_TEXT("method", NAME),
                         NEED_TEXT("arch", NAME),
                         NEED("density"),
                         NEED_ARRAY("members", MEMBERS, &member),
                         NEED_OBJECT("ensemble", scores),
                         NEED("train_seconds"),
                         NEED("images_per_second"),
                         NEED("training_flops"),
                         NUMBER("dense_run_flops"),
                         NUMBER("dense_run_epochs"),
                         NUMBER("cost"),
                         NUMBER("training_runs"),
                         NEED("seed"),
                         NEED("epochs"),
                         NEED("ece_bins"),
                         OBJECT("evaluation", evaluation),
                         MAP("other_tests", SMALL, &one_other),
                         END};

static fields metric = {NEED_TEXT("phase", NAME),
                        NEED("run"),
                        NEED("member"),
                        NEED("epoch"),
                        NUMBER("step"),
                        NUMBER("loss"),
                        NUMBER("kl"),
                        NUMBER("lr"),
                        NUMBER("beta"),
                        NUMBER("val_acc"),
                        NUMBER("val_nll"),
                        NUMBER("val_ece"),
                        NUMBER("val_rmse"),
                        NUMBER("val_crps"),
                        NUMBER("images_per_second"),
                        END};

const struct sb_schema sb_schema_results = NEED_OBJECT(NULL, results);
const struct sb_schema sb_schema_metric = NEED_OBJECT(NULL, metric);
