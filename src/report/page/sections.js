/* sections - what every run has: figures in short, the comparison, training, the recipe. A
 * section is a function of the runs that gives a list of nodes. */

function ensembleOf(run) {
    const results = run.results || {};
    const test = (results.evaluation || {}).test;
    return (test || results).ensemble || {};
}

function membersOf(run) {
    const results = run.results || {};
    const test = (results.evaluation || {}).test || {};
    return test.members && test.members.length ? test.members : results.members || [];
}

function sectionOf(run, name) {
    return ((run.results || {}).evaluation || {})[name];
}

/* Rows of a table, as results.json has their shape; older runs do not say. */
function isTable(run) {
    const shape = ((run.results || {}).data || {}).shape || [];
    return shape.length === 3 && shape[1] === 1 && shape[2] === 1;
}

/* What runs were tested on. */
function things(runs) {
    const tables = runs.filter(isTable).length;
    return tables === 0 ? "images" : tables === runs.length ? "rows" : "examples";
}

function thing(runs) {
    return things(runs).slice(0, -1);
}

function costOf(run) {
    const r = run.results || {};
    return isNumber(r.dense_run_flops) && r.dense_run_flops > 0 && isNumber(r.training_flops) ? r.training_flops / r.dense_run_flops : NaN;
}

/* What a stage of training is called; null for those that leave a member, which are its. */
function preparing(stage) {
    return stage === "explore" || stage === "dense" ? stage : null;
}

function stageName(p) {
    return preparing(p.phase) || "member " + (p.member + 1);
}

/* `sebays eval` has been there: what a plain one did not find, another will not. */
function evaluated(run) {
    return Boolean(sectionOf(run, "test"));
}

function evalCommand(run, more) {
    return "sebays eval " + shell(run.path) + (more ? " " + more : "");
}

/* Several runs have a heading each, one has none. */
function perRun(runs, build) {
    return runs.map((run) => {
        const nodes = build(run).flat();
        return nodes.length && runs.length > 1 ? [el("h3", null, run.name), ...nodes] : nodes;
    }).flat();
}

/* ---- in short ---- */

function calibrationReading(run) {
    const bins = ((sectionOf(run, "test") || {}).bins || {}).ensemble || [];
    const known = bins.filter((b) => b.count > 0 && isNumber(b.confidence) && isNumber(b.accuracy));
    const bin = known.find((b) => b.lo < 0.9 && 0.9 <= b.hi && b.count >= 20);
    if (bin)
        return "When it says " + percent(bin.confidence, 0) + ", it is right " + percent(bin.accuracy, 0) + " of the time.";
    return "On average its stated probability misses the truth by " + fixed(100 * ensembleOf(run).ece, 1) + " points.";
}

function bestMember(run) {
    const members = membersOf(run);
    let best = 0;
    members.forEach((m, i) => { best = m.acc > members[best].acc ? i : best; });
    return {index: best, scores: members[best] || {}};
}

function againstBest(run) {
    const best = bestMember(run), all = ensembleOf(run), gain = 100 * (all.acc - best.scores.acc);
    if (membersOf(run).length < 2 || !isNumber(gain))
        return null;
    const words = gain > 0.005 ? "more accurate than" : gain < -0.005 ? "less accurate than" : "as accurate as";
    const amount = Math.abs(gain) > 0.005 ? fixed(Math.abs(gain), 2) + " points " : "";
    return "The ensemble is " + amount + words + " its best member (member " + (best.index + 1) + "), " +
        (gain > 0.005 && all.nll > best.scores.nll || gain < -0.005 && all.nll < best.scores.nll ? "but" : "and") + " its nll is " +
        fixed(Math.abs(all.nll - best.scores.nll), 4) + (all.nll <= best.scores.nll ? " lower." : " higher.");
}

function costReading(run) {
    const members = membersOf(run).length, seconds = duration(run.results.train_seconds), runs = run.results.training_runs;
    return "for " + count(members, "network", "networks") + (isNumber(runs) && runs > 1 ? " from " + whole(runs) + " training runs" : "") +
        ", in multiples of one dense run; it took " + seconds + ".";
}

function card(name, value, unit, reading) {
    return el("div", {class: "card"}, el("p", {class: "name"}, name),
        el("p", {class: "value"}, value, unit ? el("small", null, " " + unit) : null), el("p", {class: "reading"}, reading));
}

function cards(run) {
    const e = ensembleOf(run), r = run.results, best = bestMember(run).scores;
    const n = (sectionOf(run, "test") || {}).n, many = membersOf(run).length > 1;
    const list = [
        card("Accuracy", percent(e.acc), null,
            (isNumber(n) ? "of " + whole(n) + " test " + things([run]) : "on the test set") + (many ? "; the best member alone has " + percent(best.acc) + "." : ".")),
        card("Negative log-likelihood", fixed(e.nll, 4), "nats",
            "It gives the right class a probability of " + percent(Math.exp(-e.nll), 0) + " (geometric mean)" + (many ? "; the best member " + percent(Math.exp(-best.nll), 0) + "." : ".")),
        card("Calibration error", fixed(e.ece, 4), null, calibrationReading(run)),
        card("Weights that exist", percent(r.density, 1), null, "of the dense network's, in each of " + count(membersOf(run).length, "network.", "networks.")),
    ];
    if (isNumber(costOf(run)))
        list.push(card("Arithmetic of training", fixed(costOf(run), 2) + "\u00d7", null, costReading(run)));
    else
        list.push(card("Time of training", duration(r.train_seconds), null, "at " + whole(r.images_per_second) + " examples a second."));
    return el("div", {class: "cards"}, list);
}

/* Continuous targets, in their own units. */
function isRegression(run) {
    return run.results.task === "regression";
}

function outcomeCards(run) {
    const e = ensembleOf(run), r = run.results, test = sectionOf(run, "test") || {};
    const targets = test.targets || [], one = targets.length < 2, wide = one && targets.length && wideOf(targets[0]);
    const list = [
        one ? card("Root mean squared error", significant(e.rmse), null, (isNumber(test.n) ? "on " + whole(test.n) + " test " + (isTable(run) ? "rows" : "examples") : "on the test set") +
            "; the mean absolute one is " + significant(e.mae) + ".") : null,
        card("Negative log-likelihood", fixed(e.nll, 4), "nats", "of the mixture of " + count(membersOf(run).length, "member", "members") + ", in the target's units."),
        card("Weights that exist", percent(r.density, 1), null, "of the dense network's, in each network."),
        card("Time of training", duration(r.train_seconds), null, "at " + whole(r.images_per_second) + " examples a second."),
    ];
    if (wide)
        list.splice(2, 0, card("90 % intervals", percent(wide.coverage, 1), null, "of outcomes are in them; they are " + significant(wide.width) + " wide on average."));
    return [el("div", {class: "cards"}, list), ...(one ? [] : [targetTable(targets)])];
}

function wideOf(target) {
    return (target.intervals || []).find((i) => i.level === 0.9);
}

/* Several targets have units of their own: what is averaged over them says nothing. */
function targetTable(targets) {
    return table(["target", "rmse", "mean absolute error", "crps", "90 % intervals cover", "mean width"], targets.map((target) => {
        const wide = wideOf(target) || {};
        return [target.name, significant(target.rmse), significant(target.mae), significant(target.crps), percent(wide.coverage, 1), significant(wide.width)];
    }), {caption: "Each target in its own units, on the test set"});
}

function inShort(runs) {
    return perRun(runs, (run) => {
        if (!run.results)
            return [el("p", {class: "missing"}, "Training has not ended. ",
                el("code", null, "sebays train " + shell(run.path + "/recipe.ini") + " --out " + shell(run.path) + " --resume"), " goes on.")];
        if (isRegression(run))
            return outcomeCards(run);
        const reading = againstBest(run);
        return [reading ? el("p", {class: "lead"}, reading) : null, cards(run)].filter(Boolean);
    });
}

/* ---- comparison ---- */

const FIGURES = [["acc", (x) => fixed(100 * x, 2)], ["nll", (x) => fixed(x, 4)], ["ece", (x) => fixed(x, 4)], ["cacc", (x) => fixed(100 * x, 2)],
    ["cnll", (x) => fixed(x, 4)], ["cece", (x) => fixed(x, 4)], ["cost", (x) => fixed(x, 2)], ["dense_run_epochs", whole], ["training_runs", whole], ["seconds", duration],
    ["rmse", significant], ["mae", significant], ["crps", significant]];

const HEADS = {seconds: "time", training_runs: "runs", dense_run_epochs: "unit"};

function spreadText(f, show) {
    if (!isNumber(f.mean))
        return NONE;
    return show(f.mean) + (isNumber(f.sd) && show !== duration && show !== whole ? " \u00b1 " + show(f.sd) : "");
}

function paperText(p) {
    if (!p)
        return NONE;
    return [fixed(100 * p.acc, 1), fixed(p.nll, 3), fixed(p.ece, 3)].join(" ") + " / " + [fixed(100 * p.cacc, 1), fixed(p.cnll, 3), fixed(p.cece, 3)].join(" ");
}

function comparison(rows) {
    return [...new Set(rows.map((row) => row.data))].map((data) => {
        const mine = rows.filter((row) => row.data === data);
        const values = (name) => mine.map((row) => row.figures[name].mean).filter(isNumber);
        const differs = new Set(values("dense_run_epochs")).size > 1; // what costs are counted in
        const shown = FIGURES.filter(([name]) => values(name).length && (name !== "dense_run_epochs" || differs));
        const seeds = mine.some((row) => row.runs > 1), paper = mine.some((row) => row.paper);
        const kind = (row) => [row.method, row.arch, row.members, row.sparsity].join("\n");
        const named = new Set(mine.map(kind)).size < mine.length; // rows that would look alike
        const nameOf = (row) => row.run.replace(/\/+$/, "").split("/").pop() + (row.runs > 1 ? ", \u2026" : "");
        const head = [...(named ? ["run"] : []), "method", "arch", "M", "S", ...(seeds ? ["seeds"] : []), ...shown.map(([name]) => HEADS[name] || name), ...(paper ? ["paper"] : [])];
        const body = mine.map((row) => [...(named ? [nameOf(row)] : []), row.method, row.arch, row.members, row.sparsity, ...(seeds ? [row.runs] : []),
            ...shown.map(([name, show]) => ({text: spreadText(row.figures[name], show), best: row.figures[name].best})), ...(paper ? [paperText(row.paper)] : [])]);
        return table(head, body, {caption: data + ", test set; " + (shown.some(([n]) => n === "acc") ? "acc" + (shown.some(([n]) => n === "cacc") ? " and cacc" : "") + " in %, " : "") + "cost in dense runs" + (differs ? ", unit: the epochs of such a run; costs compare where it is the same" : "")});
    });
}

function comparisonOf(all) {
    return [...comparison(all.comparison), all.unlike ? el("p", {class: "missing"}, "These runs were " + all.unlike + ".") : null].filter(Boolean);
}

/* ---- training ---- */

/* metrics.jsonl on one axis: epochs of all stages, one after the other. */
function timeline(metrics) {
    const phases = [], points = [];
    let key = null, offset = 0, last = 0;
    for (const m of metrics) {
        const now = m.run + " " + m.phase + " " + m.member;
        if (now !== key) {
            offset += last;
            phases.push({name: stageName(m), short: preparing(m.phase) ? "" : String(m.member + 1), from: offset, to: offset});
            key = now;
        }
        last = m.epoch;
        phases[phases.length - 1].to = offset + m.epoch;
        points.push(Object.assign({at: offset + m.epoch}, m));
    }
    return {phases, points};
}

function curve(line, key) {
    return line.points.filter((m) => isNumber(m[key])).map((m) => [m.at, m[key]]);
}

function training(runs) {
    const trained = runs.filter((run) => run.metrics.length);
    if (!trained.length)
        return leaveOut("Training curves", "sebays train");
    const times = trained.map((run) => timeline(run.metrics)), single = trained.length === 1;
    const chart = (title, key, show, more, one) => lines(Object.assign({title, x: "epoch", y: "", show, steps: true, xMore: {min: 0, max: Math.max(...times.map((line) => line.phases[line.phases.length - 1].to))}, bands: single ? times[0].phases : [],
        series: trained.map((run, i) => ({name: single ? one || "validation" : run.name, points: curve(times[i], key)}))}, more));
    const has = (key) => times.some((line) => curve(line, key).length), judged = has("val_nll");
    const nll = !judged ? chart("Training loss", "loss", undefined, {}, "training loss") :
        chart("Validation negative log-likelihood", "val_nll", undefined, single && !has("val_rmse") ? {title: "Loss",
            series: [{name: "validation nll", points: curve(times[0], "val_nll")}, {name: "training cross-entropy", points: curve(times[0], "loss")}]} : {});
    const note = (judged ? "" : "No examples were kept for validation. ") + (single ? "Bands are the stages of training; those that leave a member have its number." : "Epochs of all stages, one after the other.");
    const rate = chart("Learning rate", "lr", (y) => String(Number(y.toPrecision(3))), {yMore: {type: "logarithmic"}}, "learning rate");
    return [canDraw ? el("p", {class: "note"}, note) : null, el("div", {class: "grid"},
        has("val_acc") ? chart("Validation accuracy", "val_acc", (y) => percent(y), {percent: true}) : null,
        has("val_rmse") ? chart("Validation root mean squared error", "val_rmse", significant) : null, nll,
        has("val_ece") ? chart("Validation calibration error", "val_ece") : null, rate)];
}

/* ---- support ---- */

/* Steps count from the start of each run of a parallel method: laid one after the other. */
function updatesInOrder(updates, key) {
    let offset = 0, last = 0;
    return updates.map((u) => {
        offset += u.step < last ? last : 0;
        last = u.step;
        return [offset + u.step, u[key]];
    });
}

function layerFigure(layers) {
    return figure({title: "Density by layer", note: "Share of a layer's weights that exist.",
        head: ["layer", "weights", "exist", "density"], rows: layers.map((l) => [l.name, whole(l.weights), whole(l.exist), fixed(l.density, 4)]),
        make: (t) => ({type: "bar", data: {labels: layers.map((l) => l.name), datasets: [{label: "density", data: layers.map((l) => l.density), backgroundColor: t.colours[0], maxBarThickness: 48}]},
            options: options(t, axis(t, ""), axis(t, "", {min: 0, max: 1}), {legend: false, tooltip: {label: (c) => fixed(c.parsed.y, 4)}})})});
}

function support(runs) {
    const known = runs.filter((run) => sectionOf(run, "support"));
    if (!known.length)
        return runs.some(evaluated) ? [] : leaveOut("density and movement of the support", evalCommand(runs[0]));
    return perRun(known, (run) => {
        const s = sectionOf(run, "support"), nodes = [];
        if (s.layers && s.layers.length)
            nodes.push(layerFigure(s.layers));
        if (s.updates && s.updates.length)
            nodes.push(lines({title: "Weights moved at each update", note: "Pruned here and grown elsewhere; returned ones were pruned and grown back at once.", x: "step", y: "", show: whole,
                series: [{name: "moved", points: updatesInOrder(s.updates, "moved")}, {name: "returned", points: updatesInOrder(s.updates, "returned")}], yMore: {min: 0}}));
        return [el("div", {class: "grid"}, nodes)];
    });
}

/* ---- the recipe ---- */

/* What a page shows of evaluations, as arguments of one. */
function evaluations(run) {
    const of = (name) => sectionOf(run, name), corrupted = of("corruption"), words = [];
    const way = {draw: /^sampling = draw$/m.test(run.recipe) ? "" : "1", "activation-noise": "noise", mean: "mean"}[of("sampling")];
    const draws = (/^draws:(\d+)$/.exec(of("sampling") || "") || [])[1] || way;
    if (corrupted)
        words.push("--corrupt " + (!corrupted.source || corrupted.source === "generated" ? "generate" : shell(corrupted.source)));
    for (const set of of("ood") || [])
        words.push("--ood " + shell(set.name + (set.path ? "=" + set.path : "")));
    for (const attack of of("attack") || [])
        words.push("--attack " + (attack.kind === "pgd" && attack.steps ? "pgd-" + attack.steps : attack.kind));
    if (draws)
        words.push("--samples " + draws);
    return words.length ? " " + words.join(" ") : "";
}

function repeat(runs) {
    return perRun(runs, (run) => {
        const again = "runs/again";
        const commands = ["sebays train " + shell(run.path + "/recipe.ini") + " --out " + again, "sebays eval " + again + evaluations(run), "sebays report " + again];
        return [el("p", null, "The same recipe gives the same model, bit for bit, with any number of threads:"), el("pre", {tabindex: 0}, commands.join("\n")),
            el("details", null, el("summary", null, "The whole recipe"), el("pre", {tabindex: 0}, run.recipe))];
    });
}
