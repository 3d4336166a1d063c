#!/usr/bin/env python3
"""make - writes the run directories beside it, which tests of reports read.

They are FIXTURES: invented figures in the form of real ones, the same on every run. Three
runs: "sebays" has every section, "dnn" the figures of training only, "going" is training
still.
"""
import base64
import json
import math
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
CLASSES = ["T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt",
           "sneaker", "bag", "ankle boot"]
KINDS = ["gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur",
         "motion_blur", "zoom_blur", "snow", "frost", "fog", "brightness", "contrast",
         "elastic_transform", "pixelate", "jpeg_compression", "speckle_noise",
         "gaussian_blur", "spatter", "saturate"]
rng = random.Random(7)


def r(x, digits=5):
    return round(x, digits)


def scores(acc, nll, ece, brier=None):
    out = {"acc": r(acc), "nll": r(nll), "ece": r(ece)}
    if brier is not None:
        out["brier"] = r(brier)
    return out


def bins(shift, total):
    """15 bins of top probabilities, mostly near 1; shift > 0 is overconfident."""
    out = []
    for b in range(15):
        lo, hi = b / 15, (b + 1) / 15
        if b < 3:
            out.append({"lo": r(lo), "hi": r(hi), "count": 0, "confidence": None,
                        "accuracy": None})
            continue
        confidence = (lo + hi) / 2 + 0.006
        accuracy = confidence - shift * (1.4 - confidence) + rng.gauss(0, 0.008)
        out.append({"lo": r(lo), "hi": r(hi),
                    "count": int(total * math.exp((b - 14) * 0.7) * 0.55),
                    "confidence": r(confidence),
                    "accuracy": r(min(1, max(0, accuracy)))})
    return out


def picture(kind, noise):
    """28 x 28 grey pixels of something like a garment."""
    pixels = bytearray()
    for y in range(28):
        for x in range(28):
            u, v = (x - 13.5) / 13.5, (y - 13.5) / 13.5
            body = abs(u) < (0.55, 0.35, 0.6, 0.3 + 0.3 * (v + 1) / 2)[kind % 4]
            gap = kind % 4 == 1 and abs(u) < 0.08 and v > -0.4
            sleeve = kind % 4 in (0, 2) and -0.8 < v < (-0.2, 0.7)[kind % 4 == 2]
            on = abs(v) < 0.85 and (body or (sleeve and abs(u) < 0.9)) and not gap
            value = (150 + 60 * math.sin(3 * u + 2 * v + kind)) * on
            pixels.append(int(min(255, max(0, value + rng.gauss(0, noise)))))
    return base64.b64encode(bytes(pixels)).decode()


def example(i, wrong):
    label = rng.randrange(10)
    predicted = (label + rng.randrange(1, 10)) % 10 if wrong or rng.random() < 0.5 else label
    return {"index": rng.randrange(10000), "label": label, "predicted": predicted,
            "probability": r(0.99 - 0.01 * i if wrong else 0.24 + 0.01 * i),
            "entropy": r(0.05 + 0.02 * i if wrong else 1.9 - 0.03 * i),
            "channels": 1, "height": 28, "width": 28,
            "pixels": picture(i, 8 if wrong else 25)}


def metrics(phases):
    """One object a validation; phases: (name, member, epochs, lr, accuracy to reach)."""
    lines, step, acc = [], 0, 0.60
    for name, member, epochs, lr, goal in phases:
        for epoch in range(1, epochs + 1):
            step += 422
            acc += (goal - acc) * 0.5
            nll = 0.30 + (0.92 - acc) * 2.2
            lines.append({"phase": name, "run": 0, "member": member, "epoch": epoch,
                          "step": step, "loss": r(nll * 0.95 + 0.02), "kl": 61000.0 - step,
                          "lr": lr if epoch <= epochs / 2 else lr / 10,
                          "beta": min(1.0, step / 2000), "val_acc": r(acc),
                          "val_nll": r(nll), "val_ece": r(0.012 + 0.004 * (epoch % 3)),
                          "images_per_second": r(5200 + rng.gauss(0, 40), 1)})
    return lines


def matrix(low, high):
    return [[0.0 if a == b else r(rng.uniform(low, high)) for b in range(3)]
            for a in range(3)]


def ood(name, strength):
    edges = [r(i / 20) for i in range(21)]
    inside = [int(6000 * math.exp(-i / 2.2)) for i in range(20)]
    outside = [int(900 * math.exp(-((i - strength) / 5) ** 2)) for i in range(20)]
    roc = [[r(t / 50), r((t / 50) ** (0.9 - strength / 16))] for t in range(51)]
    auroc = sum((roc[i][1] + roc[i + 1][1]) / 2 * 0.02 for i in range(50))
    figures = {"auroc": r(auroc), "aupr": r(auroc - 0.02), "fpr95": r(1.1 - auroc)}
    return {"name": name, "path": "data/" + name, "n": 10000, "max_probability": figures,
            "member_mean": {**figures, "auroc": r(auroc - 0.01)},
            "histogram": {"edges": edges, "in": inside, "out": outside}, "roc": roc}


def trajectory():
    points, x, y = [], 0.0, 0.0
    for phase, member, epochs in (("explore", 0, 6), ("exploit", 0, 5), ("exploit", 1, 5),
                                  ("exploit", 2, 5)):
        angle = member * 2.1 + (0.4 if phase == "explore" else 1.4)
        for epoch in range(1, epochs + 1):
            x += 9 * math.cos(angle) / epoch + rng.gauss(0, 0.4)
            y += 9 * math.sin(angle) / epoch + rng.gauss(0, 0.4)
            points.append({"phase": phase, "member": member, "epoch": epoch,
                           "x": r(x), "y": r(y)})
    return {"points": points}


def support():
    layers = [("conv1", 150, 150), ("conv2", 2400, 1021), ("fc1", 48000, 8390),
              ("fc2", 10080, 2470), ("fc3", 840, 263)]
    updates = []
    for i in range(1, 17):
        large = i in (8, 12)
        exist = sum(e for _, _, e in layers)
        moved = int(exist * (0.8 if large else 0.5 * (1 + math.cos(i / 5.5)) / 2))
        updates.append({"step": i * 200, "phase": "explore" if i < 5 else "exploit",
                        "member": max(0, (i - 5) // 4), "rate": r(moved / exist),
                        "moved": moved, "returned": int(moved * rng.uniform(0.3, 0.5))})
    return {"layers": [{"name": n, "shape": f"{w}", "weights": w, "exist": e,
                        "density": r(e / w)} for n, w, e in layers], "updates": updates}


def corruption():
    sets = []
    for k, kind in enumerate(KINDS):
        hard = 0.02 + 0.015 * (k * 7 % 5) + 0.02 * (k % 3)
        for severity in range(1, 6):
            acc = 0.906 - hard * severity ** 1.2
            sets.append({"kind": kind, "severity": severity,
                         **scores(acc, 0.26 + (0.906 - acc) * 3.1, 0.005 + (0.9 - acc) / 3)})
    mean = {k: r(sum(s[k] for s in sets) / len(sets)) for k in ("acc", "nll", "ece")}
    return {"source": "generated", "seed": 1, "sets": sets, "mean": mean,
            "pooled": {**mean, "ece": r(mean["ece"] * 0.9)}}


def evaluation():
    members = [scores(0.8971, 0.2893, 0.0151, 0.151), scores(0.9018, 0.2760, 0.0126, 0.145),
               scores(0.9055, 0.2701, 0.0118, 0.141)]
    per_class = [{"name": name, "n": 1000, "acc": r(0.72 if name == "shirt" else
                                                   rng.uniform(0.85, 0.985)),
                  "precision": r(rng.uniform(0.76, 0.98)),
                  "confidence": r(rng.uniform(0.8, 0.97)), "f1": 0.9, "auc": 0.99,
                  "nll": 0.25} for name in CLASSES]
    size = [
        {"k": 1, "subsets": 3, "acc": {"mean": 0.90147, "sd": 0.00424},
         "nll": {"mean": 0.27847, "sd": 0.0098}, "ece": {"mean": 0.01317, "sd": 0.0017}},
        {"k": 2, "subsets": 3, "acc": {"mean": 0.9049, "sd": 0.0013},
         "nll": {"mean": 0.2642, "sd": 0.0037}, "ece": {"mean": 0.0071, "sd": 0.0011}},
        {"k": 3, "subsets": 1, "acc": {"mean": 0.9065, "sd": None},
         "nll": {"mean": 0.2582, "sd": None}, "ece": {"mean": 0.0039, "sd": None}}]
    return {
        "definitions": {"acc": "share of test images whose most probable class is right",
                        "nll": "mean of -log p(label), in nats",
                        "ece": "expected calibration error, 15 bins of equal width"},
        "sampling": "draw",
        "test": {"path": "fashion-mnist", "n": 10000,
                 "ensemble": scores(0.9065, 0.2582, 0.0039, 0.136), "members": members,
                 "bins": {"ensemble": bins(0.004, 10000),
                          "members": [bins(0.05, 10000) for _ in range(3)]},
                 "per_class": per_class, "balanced_acc": 0.9065, "f1": 0.9062, "auc": 0.9951,
                 "adaptive_ece": 0.0052, "most_frequent": 0.1,
                 "confusion": [[round(1000 * c["acc"]) if i == k else (i * 7 + k * 3) % 11
                                for k in range(10)] for i, c in enumerate(per_class)],
                 "uncertainty": {"total": 0.2493, "aleatoric": 0.2301, "epistemic": 0.0192}},
        "diversity": {"disagreement": 0.0712, "kl": 0.0946,
                      "disagreement_matrix": matrix(0.06, 0.08),
                      "kl_matrix": matrix(0.07, 0.11)},
        "size": size,
        "corruption": corruption(),
        "ood": [ood("mnist", 11), ood("kmnist", 8)],
        "attack": [{"kind": "fgsm", "epsilon": 0.03137, "steps": 1,
                    "acc": [0.4411, 0.4523, 0.4608], "min": 0.4411, "mean": 0.4514,
                    "max": 0.4608}],
        "trajectory": trajectory(),
        "examples": {"uncertain": [example(i, False) for i in range(12)],
                     "wrong": [example(i, True) for i in range(12)]},
        "support": support(),
    }


def results(method, members, density, ensemble, cost, seconds, epochs):
    return {"method": method, "arch": "lenet", "density": density, "members": members,
            "ensemble": ensemble, "train_seconds": seconds, "images_per_second": 5210.5,
            "training_flops": cost * 1.6e12, "dense_run_flops": 1.6e12, "seed": 1,
            "epochs": epochs, "ece_bins": 15}


def recipe(method, members, sparsity, explore, exploit):
    return (f"# A fixture: see tests/report/make.py.\n\n[data]\nset = fashion-mnist\n\n"
            f"[model]\narch = lenet\n\n[method]\nname = {method}\nmembers = {members}\n"
            f"sparsity = {sparsity}\nexplore_epochs = {explore}\n"
            f"exploit_epochs = {exploit}\n\n[train]\nseed = 1\n")


def write(name, recipe_text, lines, result):
    where = HERE / name
    where.mkdir(exist_ok=True)
    (where / "recipe.ini").write_text(recipe_text)
    (where / "metrics.jsonl").write_text(
        "".join(json.dumps(x, sort_keys=True) + "\n" for x in lines))
    if result:
        (where / "results.json").write_text(
            json.dumps(result, sort_keys=True, indent=1) + "\n")


def main():
    phases = [("explore", 0, 6, 0.1, 0.88), ("exploit", 0, 4, 0.05, 0.897),
              ("exploit", 1, 4, 0.05, 0.902), ("exploit", 2, 4, 0.05, 0.906)]
    facts = evaluation()
    sebays = results("sebays", facts["test"]["members"], 0.2, facts["test"]["ensemble"],
                     0.55, 78.2, 18)
    write("sebays", recipe("sebays", 3, 0.8, 6, 4), metrics(phases),
          {**sebays, "evaluation": facts,
           "other_tests": {"data/later": {"sampling": "draw", "test": {
               "path": "data/later", "n": 500, "ensemble": scores(0.8412, 0.4107, 0.0301)}}}})
    dnn = scores(0.9043, 0.2811, 0.0214, 0.143)
    write("dnn", recipe("dnn", 1, 0, 6, 4),
          metrics([("explore", 0, 6, 0.1, 0.885), ("exploit", 0, 4, 0.05, 0.904)]),
          results("dnn", [dnn], 1.0, dnn, 1.0, 61.0, 10))
    write("going", recipe("sebays", 3, 0.9, 6, 4),
          metrics([("explore", 0, 3, 0.1, 0.87)]), None)


main()
