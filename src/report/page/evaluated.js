/* evaluated - the sections that `sebays eval` makes data for. */

/* Only training can record them. */
function recordCommand(run) {
    return "sebays train " + shell(run.path + "/recipe.ini") + " --out runs/again --set train.trajectory=yes";
}

/* The runs that have a section and, if there are any, notes about those that lack it. If none
 * has it, the section is left out. Advice is given where it can be followed: can(run) says so
 * of a command, and a plain evaluation helps who had none. */
function having(runs, name, what, command, more, can) {
    const adds = (run) => typeof command === "function" ? command(run) : evalCommand(run, command);
    const known = runs.filter((run) => sectionOf(run, name) && (!more || more(sectionOf(run, name))));
    const lacking = runs.filter((run) => !known.includes(run) && (command || !evaluated(run)) && (!can || can(run)));
    if (!known.length)
        return {known, notes: lacking.length ? leaveOut(what, adds(lacking[0])) : []};
    return {known, notes: lacking.map((run) => missing(what + " of " + run.name, adds(run)))};
}

function hasImages(run) {
    return !isTable(run);
}

/* ---- calibration ---- */

function diagonal(name) {
    return {name, points: [[0, 0], [1, 1]], more: (t) => ({borderColor: t.muted, backgroundColor: t.muted, borderDash: [3, 3], borderWidth: 1, pointRadius: 0, pointStyle: "line"})};
}

function binPoints(bins) {
    return bins.filter((b) => b.count > 0 && isNumber(b.confidence) && isNumber(b.accuracy)).map((b) => [b.confidence, b.accuracy]);
}

function reliability(known) {
    const single = known.length === 1;
    const series = known.map((run, i) => ({name: single ? "ensemble" : run.name, style: i, points: binPoints(sectionOf(run, "test").bins.ensemble)}));
    if (single)
        (sectionOf(known[0], "test").bins.members || []).forEach((bins, i) => series.push({name: "member " + (i + 1), style: i + 1, points: binPoints(bins),
            more: () => ({borderWidth: 1.25})}));
    return lines({title: "Reliability", note: "Of the " + things(known) + " it is so sure about, how many are right? Below the diagonal it is too sure of itself.", square: true,
        x: "stated probability", y: "share that is right", series: [...series, diagonal("ideal")], show: (y) => percent(y, 1), showX: (x) => percent(x, 1), percent: true, xPercent: true,
        xMore: {min: 0, max: 1}, yMore: {min: 0, max: 1}});
}

function confidence(run) {
    const bins = sectionOf(run, "test").bins.ensemble, names = bins.map((b) => fixed(b.lo, 2) + " \u2013 " + fixed(b.hi, 2));
    return figure({title: "How sure it is", note: "Test " + things([run]) + " by the probability of their most probable class.", square: true,
        head: ["stated probability", things([run]), "right"], rows: bins.map((b, i) => [names[i], whole(b.count), percent(b.accuracy, 1)]),
        make: (t) => ({type: "bar", data: {labels: names, datasets: [{label: things([run]), data: bins.map((b) => b.count), backgroundColor: t.colours[0], categoryPercentage: 1, barPercentage: .92}]},
            options: options(t, axis(t, "stated probability"), axis(t, ""), {legend: false})})});
}

function calibration(runs) {
    const {known, notes} = having(runs, "test", "Reliability diagram", "", (test) => test.bins);
    if (!known.length)
        return notes;
    const nodes = [el("div", {class: "grid"}, reliability(known), known.length === 1 ? confidence(known[0]) : null)];
    const uncertain = known.filter((run) => sectionOf(run, "test").uncertainty);
    if (uncertain.length)
        nodes.push(table(["uncertainty, in nats", "total", "of the data", "of the model"], uncertain.map((run) => {
            const u = sectionOf(run, "test").uncertainty;
            return [run.name, fixed(u.total, 4), fixed(u.aleatoric, 4), fixed(u.epistemic, 4)];
        }), {label: "Uncertainty"}), el("p", {class: "note"}, "Of the data: the members agree that it is unclear. Of the model: they disagree."));
    return [...nodes, ...perRun(known, calibrationMore), ...notes];
}

/* What else says whether probabilities hold: other bins, a temperature, conformal sets. */
function calibrationMore(run) {
    const test = sectionOf(run, "test"), t = test.temperature, nodes = [];
    if (isNumber(test.adaptive_ece))
        nodes.push(el("p", {class: "note"}, "With bins that hold as many " + things([run]) + " each, the calibration error is " + fixed(test.adaptive_ece, 4) + "; with bins of equal width it is " +
            fixed(ensembleOf(run).ece, 4) + "."));
    if (t)
        nodes.push(el("p", {class: "note"}, "At a temperature of " + fixed(t.t, 3) + ", fitted on the validation part, the nll would be " + fixed(t.ensemble.nll, 4) + " instead of " +
            fixed(ensembleOf(run).nll, 4) + ", and the calibration error " + fixed(t.ensemble.ece, 4) + " instead of " + fixed(ensembleOf(run).ece, 4) + ". Which class is most probable stays."));
    if (test.conformal && test.conformal.length)
        nodes.push(table(["conformal sets", "have the true class", "classes in a set"], test.conformal.map((c) => [percent(c.level, 0), percent(c.coverage, 1), fixed(c.size, 2)]),
            {caption: "Sets of classes that hold their coverage, by the calibration part"}));
    return nodes;
}

/* ---- classes ---- */

/* Rows are what examples are, columns what they are taken for; errors have the colour. Of many
 * classes only the most frequent errors. Columns are headed by short names, else by numbers, which
 * the rows then have before their names. */
function confusionTable(list, counts) {
    const errors = counts.flatMap((row, i) => row.map((n, k) => ({i, k, n}))).filter((e) => e.i !== e.k && e.n > 0).sort((a, b) => b.n - a.n);
    if (list.length > 12)
        return table(["class", "called", "examples"], errors.slice(0, 15).map((e) => [list[e.i].name, list[e.k].name, whole(e.n)]), {caption: "Most frequent confusions"});
    const most = errors.length ? errors[0].n : 1, short = list.every((c) => c.name.length <= 4);
    const heads = list.map((c, k) => short ? c.name : k + 1);
    return table(["is \u2193, called \u2192", ...heads], counts.map((row, i) => [short ? list[i].name : (i + 1) + " " + list[i].name, ...row.map((n, k) => ({text: whole(n), heat: k === i ? NaN : n / most}))]),
        {heat: true, caption: "Confusion matrix"});
}

function classes(runs) {
    const {known, notes} = having(runs, "test", "figures by class", "", (test) => test.per_class && test.per_class.length);
    return [...perRun(known, (run) => {
        const test = sectionOf(run, "test"), list = test.per_class, worst = Math.min(...list.map((c) => c.acc));
        const nodes = [table(["class", things([run]), "accuracy", "precision", "F1", "AUC", "nll", "mean probability"],
            list.map((c) => [c.name, whole(c.n), {text: percent(c.acc, 1), heat: (1 - c.acc) / Math.max(1e-9, 1 - worst)}, percent(c.precision, 1), fixed(c.f1, 3), fixed(c.auc, 3), fixed(c.nll, 3),
                percent(c.confidence, 1)]), {caption: "The stronger the colour, the less accurate", tall: list.length > 20})];
        if (isNumber(test.balanced_acc))
            nodes.push(el("p", {class: "note"}, "Mean over classes: accuracy " + percent(test.balanced_acc, 1) + ", F1 " + fixed(test.f1, 3) + ", AUC " + fixed(test.auc, 3) +
                ". Always saying the most frequent class would be right " + percent(test.most_frequent, 1) + " of the time."));
        if (test.confusion && test.confusion.length === list.length)
            nodes.push(confusionTable(list, test.confusion));
        return nodes;
    }), ...notes];
}

/* ---- corruption ---- */

function severities(sets) {
    return [...new Set(sets.map((s) => s.severity))].sort((a, b) => a - b);
}

/* Mean over the kinds at each severity; 0 is the clean test set. */
function bySeverity(run, key) {
    const sets = sectionOf(run, "corruption").sets || [];
    return [[0, ensembleOf(run)[key]], ...severities(sets).map((level) => [level, mean(sets.filter((s) => s.severity === level).map((s) => s[key]))])];
}

function corruptionHeat(run) {
    const sets = sectionOf(run, "corruption").sets || [], levels = severities(sets), kinds = [...new Set(sets.map((s) => s.kind))];
    const known = sets.map((s) => s.acc).filter(isNumber), low = Math.min(...known), range = Math.max(1e-9, Math.max(...known) - low);
    const at = (kind, level) => (sets.find((s) => s.kind === kind && s.severity === level) || {}).acc;
    const rows = kinds.map((kind) => [kind.replace(/_/g, " "), ...levels.map((level) => ({text: fixed(100 * at(kind, level), 1), heat: (at(kind, level) - low) / range})),
        fixed(100 * mean(levels.map((level) => at(kind, level))), 1)]);
    return table(["kind", ...levels, "mean"], rows, {heat: true, caption: "Accuracy in % by kind and severity; the stronger the colour, the more accurate"});
}

function corruption(runs) {
    const {known, notes} = having(runs, "corruption", "Corrupted images", "--corrupt generate", null, hasImages);
    if (!known.length)
        return notes;
    const chart = (title, key, show) => lines({title, x: "severity", y: "", show, steps: true, percent: key === "acc",
        series: known.map((run) => ({name: known.length === 1 ? "mean over kinds" : run.name, points: bySeverity(run, key)}))});
    const readings = known.map((run) => {
        const c = sectionOf(run, "corruption"), p = c.pooled;
        return el("p", null, (known.length > 1 ? run.name + ": " : "") + "Over all kinds and severities the accuracy is " + percent(p.acc, 1) + " (clean: " + percent(ensembleOf(run).acc, 1) +
            "), the nll " + fixed(p.nll, 3) + ", the calibration error " + fixed(p.ece, 4) + "." + (c.source ? " Images: " + c.source + "." : ""));
    });
    return [...readings, el("div", {class: "grid"}, chart("Accuracy under corruption", "acc", (y) => percent(y, 1)), chart("Calibration error under corruption", "ece")),
        ...perRun(known, (run) => [corruptionHeat(run)]), ...notes];
}

/* ---- out of distribution ---- */

function histogramFigure(o) {
    const h = o.histogram, n = Math.min(h.in.length, h.out.length, h.edges.length - 1);
    const all = [sum(h.in), sum(h.out)], names = [...Array(n).keys()].map((i) => fixed(h.edges[i], 2) + " \u2013 " + fixed(h.edges[i + 1], 2));
    const share = (list, total) => list.slice(0, n).map((x) => total > 0 ? x / total : 0);
    return figure({title: "Uncertainty, " + o.name, note: "Share of examples by score, 1 \u2212 the highest probability.", head: ["score", "test set", o.name],
        rows: names.map((name, i) => [name, percent(h.in[i] / all[0], 1), percent(h.out[i] / all[1], 1)]),
        make: (t) => ({type: "bar", data: {labels: names, datasets: [["test set", share(h.in, all[0]), 0], [o.name, share(h.out, all[1]), 1]].map(([label, data, i]) =>
            ({label, data, backgroundColor: translucent(t.colours[i], .7), borderColor: t.colours[i], borderWidth: 1, categoryPercentage: 1, barPercentage: 1, grouped: false}))},
        options: options(t, axis(t, "score"), axis(t, ""), {tooltip: {label: (c) => c.dataset.label + ": " + percent(c.parsed.y, 1)}})})});
}

function oodTable(known) {
    const far = known.some((run) => sectionOf(run, "ood").some((o) => o.far));
    const rows = known.flatMap((run) => sectionOf(run, "ood").map((o) => [known.length > 1 ? run.name + ": " + o.name : o.name, whole(o.n), fixed(o.max_probability.auroc, 4),
        fixed(o.max_probability.aupr, 4), percent(o.max_probability.fpr95, 1), fixed((o.member_mean || {}).auroc, 4), ...(far ? [fixed((o.far || {}).auroc, 4)] : [])]));
    return table(["data set", things(known), "AUROC", "AUPR", "false alarms at 95 % found", "AUROC, mean of members", ...(far ? ["AUROC of far"] : [])], rows, {label: "Detection of other data"});
}

function ood(runs) {
    const {known, notes} = having(runs, "ood", "Other data sets as unknown inputs", "--ood NAME=PATH", (list) => list.length);
    const sets = known.flatMap((run) => sectionOf(run, "ood").map((o) => ({run, o})));
    if (!sets.length)
        return notes;
    const curves = sets.filter(({o}) => o.roc && o.roc.length);
    const best = sets.map(({run, o}) => "Shown one " + thing([run]) + " of the test set and one of " + o.name + ", it is less sure about the second " + percent(o.max_probability.auroc, 0) + " of the time.");
    const figures = [];
    if (curves.length)
        figures.push(lines({title: "ROC", note: "Share of unknown " + things(known) + " found against false alarms.", square: true, x: "false alarms", y: "found", xMore: {min: 0, max: 1}, yMore: {min: 0, max: 1},
            show: (y) => percent(y, 1), showX: (x) => percent(x, 1), percent: true, xPercent: true, series: [...curves.map(({run, o}) => ({name: known.length > 1 ? run.name + ": " + o.name : o.name, points: o.roc, more: () => ({pointRadius: 0})})), diagonal("chance")]}));
    if (known.length === 1)
        sets.filter(({o}) => o.histogram).forEach(({o}) => figures.push(histogramFigure(o)));
    return [...(known.length === 1 ? best.map((text) => el("p", null, text)) : []), oodTable(known), el("div", {class: "grid"}, figures), ...notes];
}

/* ---- other test sets ---- */

/* [name, its figures] of the run's own test set, then of those of --test, if there are any. */
function testsOf(run) {
    const own = sectionOf(run, "test") || {}, others = Object.entries((run.results || {}).other_tests || {}).filter(([, other]) => other.test);
    const name = (own.path ? own.path + ", " : "") + "the recipe\u2019s";
    return others.length ? [[name, {n: own.n, ensemble: ensembleOf(run)}, sectionOf(run, "sampling")], ...others.map(([path, other]) => [path, other.test, other.sampling])] : [];
}

function otherTestsTable(runs, figures) {
    const rows = runs.flatMap((run) => testsOf(run).map(([name, test, sampling]) => [runs.length > 1 ? run.name + ": " + name : name, whole(test.n),
        ...figures.map(([, key, show]) => show(test.ensemble[key])), sampling || NONE]));
    return rows.length ? [table(["test set", "examples", ...figures.map(([title]) => title), "sampling"], rows, {label: "Other test sets"})] : [];
}

function otherTests(told, measured) {
    const nodes = [...otherTestsTable(told, [["accuracy", "acc", percent], ["nll", "nll", (x) => fixed(x, 4)], ["ECE", "ece", (x) => fixed(x, 4)]]),
        ...otherTestsTable(measured, [["rmse", "rmse", significant], ["mae", "mae", significant], ["nll", "nll", (x) => fixed(x, 4)], ["crps", "crps", significant]])];
    return nodes.length ? [el("p", {class: "note"}, "What the ensemble makes of other labelled data; all other sections are about the recipe\u2019s test set."), ...nodes] : [];
}

/* ---- attacks ---- */

function attack(runs) {
    const {known, notes} = having(runs, "attack", "Attacks", "--attack fgsm", null, hasImages);
    if (!known.length)
        return notes;
    const rows = known.flatMap((run) => sectionOf(run, "attack").map((a) => [(known.length > 1 ? run.name + ": " : "") + a.kind, fixed(255 * a.epsilon, 1) + "/255", isNumber(a.steps) ? a.steps : NONE,
        percent(a.min), percent(a.mean), percent(a.max)]));
    return [el("p", {class: "note"}, "Images changed to mislead one member, shown to the whole ensemble; accuracy over the members\u2019 attack sets."),
        table(["attack", "epsilon", "steps", "least", "mean", "most"], rows, {label: "Accuracy under attack"}), ...notes];
}

/* ---- diversity and size ---- */

function matrixTable(matrix, caption, show) {
    const top = Math.max(1e-12, ...matrix.flat().filter(isNumber));
    return table(["member", ...matrix.map((_, i) => i + 1)], matrix.map((row, i) => [i + 1, ...row.map((x) => ({text: show(x), heat: isNumber(x) ? x / top : NaN}))]), {heat: true, caption});
}

function diversity(runs) {
    const {known, notes} = having(runs, "diversity", "diversity of the members");
    return [...perRun(known, (run) => {
        const d = sectionOf(run, "diversity"), nodes = [];
        if (isNumber(d.disagreement))
            nodes.push(el("p", null, "Two members give different answers on " + percent(d.disagreement, 1) + " of the test " + things([run]) + "; the mean divergence between their predictions is " + fixed(d.kl, 4) + " nats."));
        const tables = [];
        if (d.disagreement_matrix && d.disagreement_matrix.length)
            tables.push(matrixTable(d.disagreement_matrix, "Share of " + things([run]) + " with different answers", (x) => percent(x, 1)));
        if (d.kl_matrix && d.kl_matrix.length)
            tables.push(matrixTable(d.kl_matrix, "KL(row \u2016 column), nats", (x) => fixed(x, 4)));
        return [...nodes, el("div", {class: "grid"}, tables)];
    }), ...notes];
}

function size(runs) {
    const {known, notes} = having(runs, "size", "ensembles of fewer members");
    if (!known.length)
        return notes;
    const chart = (title, key, show) => {
        const series = known.map((run, i) => ({name: known.length === 1 ? "mean over subsets" : run.name, style: i, points: sectionOf(run, "size").map((s) => [s.k, s[key].mean])}));
        if (known.length === 1)
            [["\u00b1 one standard deviation", 1, "+1"], ["", -1, false]].forEach(([name, sign, fill]) => series.push({name: name || "lower", points: sectionOf(known[0], "size")
                .map((s) => [s.k, s[key].mean + sign * (s[key].sd || 0)]), more: (t) => ({borderWidth: 0, pointRadius: 0, pointStyle: "rect", fill, borderDash: [], backgroundColor: translucent(t.colours[0], .18)})}));
        return lines({title, x: "members", y: "", show, series, filter: (item) => item.text !== "lower", steps: true, percent: key === "acc"});
    };
    return [el("p", {class: "note"}, "Every subset of k members as an ensemble of its own."),
        el("div", {class: "grid"}, chart("Accuracy by number of members", "acc", (y) => percent(y)), chart("Negative log-likelihood by number of members", "nll")), ...notes];
}

/* ---- trajectories ---- */

function trajectoryFigure(run, points) {
    const groups = new Map();
    points.forEach((p) => {
        const name = stageName(p);
        groups.set(name, [...(groups.get(name) || []), p]);
    });
    return figure({title: "Where training went", note: "Predictions after each epoch, laid out in the plane (t-SNE): near means that they predict alike. Larger points are later.", square: true, alone: true,
        head: ["stage", "epoch", "x", "y"], rows: points.map((p) => [stageName(p), p.epoch, fixed(p.x, 2), fixed(p.y, 2)]),
        make: (t) => ({type: "scatter", data: {datasets: [...groups.entries()].map(([label, list], i) => Object.assign(look(t, i === 0 ? 6 : i - 1),
            {label, showLine: true, borderWidth: 1.2, pointStyle: POINTS[i % 4], data: list.map(({x, y}) => ({x, y})), pointRadius: list.map((_, k) => 2.5 + 3.5 * k / Math.max(1, list.length - 1))}))},
        options: options(t, axis(t, "", {ticks: {display: false}}), axis(t, "", {ticks: {display: false}}), {interaction: {mode: "nearest", intersect: true},
            tooltip: {label: (c) => c.dataset.label + ", epoch " + [...groups.values()][c.datasetIndex][c.dataIndex].epoch}})})});
}

function trajectory(runs) {
    const {known, notes} = having(runs, "trajectory", "Trajectories", recordCommand, (t) => t.points.length);
    return [...perRun(known, (run) => [trajectoryFigure(run, sectionOf(run, "trajectory").points)]), ...notes];
}

/* ---- examples ---- */

function picture(example) {
    const {channels, height, width} = example, bytes = atob(example.pixels), plane = height * width;
    const canvas = el("canvas", {width, height, role: "img", "aria-label": "test image " + example.index});
    const image = new ImageData(width, height);
    for (let i = 0; i < plane; i++) {
        for (let c = 0; c < 3; c++)
            image.data[4 * i + c] = bytes.charCodeAt((channels >= 3 ? c : 0) * plane + i);
        image.data[4 * i + 3] = 255;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
}

function gallery(run, list) {
    const classNames = ((sectionOf(run, "test") || {}).per_class || []).map((c) => c.name);
    const name = (label) => classNames[label] === undefined ? "class " + label : classNames[label];
    return el("ul", {class: "pictures"}, list.map((e) => {
        const right = e.label === e.predicted;
        return el("li", null, picture(e), el("strong", {class: right ? "right" : "wrong"}, (right ? "\u2713 " : "\u2717 ") + name(e.predicted)), " " + percent(e.probability, 0),
            right ? null : el("br"), right ? null : "label: " + name(e.label));
    }));
}

function examples(runs) {
    const {known, notes} = having(runs, "examples", "examples", "", null, hasImages);
    return [...perRun(known, (run) => {
        const e = sectionOf(run, "examples"), nodes = [];
        if (e.wrong && e.wrong.length)
            nodes.push(el("h3", null, "Most confidently wrong"), el("p", {class: "note"}, "Its answer and how sure it was; below, the label. Some labels are the ones that are wrong."), gallery(run, e.wrong));
        if (e.uncertain && e.uncertain.length)
            nodes.push(el("h3", null, "Most uncertain"), el("p", {class: "note"}, "The images whose predictions are spread the most."), gallery(run, e.uncertain));
        return nodes;
    }), ...notes];
}

/* ---- definitions ---- */

/* Words of sections that a page may lack. */
const DEFINED_BY = {pooled: "corruption", mean: "corruption", fgsm: "attack", pgd: "attack", auroc: "ood", aupr: "ood", fpr95: "ood", max_probability: "ood", member_mean: "ood", far: "ood",
    trajectory: "trajectory"};

function definitions(runs) {
    const shown = ([name]) => !DEFINED_BY[name] || runs.some((run) => sectionOf(run, DEFINED_BY[name]));
    const all = new Map(runs.flatMap((run) => Object.entries(sectionOf(run, "definitions") || {})).filter(shown));
    return all.size ? [table(["figure", "what it is"], [...all.entries()], {label: "Definitions", words: true})] : [];
}
