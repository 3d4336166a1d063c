/* outcomes - what `sebays eval` found of continuous targets. */

function scatter(t, points, label) {
    return Object.assign(look(t, 0), {label, showLine: false, pointRadius: 2, borderWidth: 1, data: points.map(([x, y]) => ({x, y}))});
}

function straight(t, label, ends) {
    return {label, type: "line", data: ends.map(([x, y]) => ({x, y})), borderColor: t.muted, backgroundColor: t.muted, borderDash: [3, 3], borderWidth: 1, pointRadius: 0, pointStyle: "line"};
}

/* points: [[x, y], ...]; guides(points): [[name, ends], ...] of straight lines; ends: of the one
 * that would be ideal. */
function cloud(f) {
    const points = f.points.filter(([x, y]) => isNumber(x) && isNumber(y));
    const guides = f.guides || ((list) => [["ideal", f.ends(list)]]);
    return figure({title: f.title, note: f.note, square: true, head: [f.x, f.y], rows: points.map(([x, y]) => [significant(x), significant(y)]),
        make: (t) => ({type: "scatter", data: {datasets: [scatter(t, thinned(points, 800), f.name), ...guides(points).map(([name, ends]) => straight(t, name, ends))]},
            options: options(t, axis(t, f.x, {type: "linear"}), axis(t, f.y, f.yMore), {interaction: {mode: "nearest", intersect: true}, filter: (item) => item.text !== "",
                tooltip: {label: (c) => significant(c.parsed.x) + ", " + significant(c.parsed.y)}})})});
}

function range(list) {
    return [Math.min(...list), Math.max(...list)];
}

function predictedFigure(target) {
    const e = target.examples;
    return cloud({title: "Predicted against true", note: "Test examples; on the line the mean of the ensemble is right.", x: "true", y: "predicted", name: "examples",
        points: e.truth.map((y, i) => [y, e.mean[i]]),
        ends: (points) => { const [low, high] = range(points.flat()); return [[low, low], [high, high]]; }});
}

/* What is left of the truth when the prediction is taken away, by how much it was said to be. */
function residualFigure(target) {
    const e = target.examples;
    const points = e.truth.map((y, i) => [e.mean[i], (y - e.mean[i]) / e.sd[i]]).filter(([x, y]) => isNumber(x) && isNumber(y));
    const within = points.filter(([, y]) => Math.abs(y) <= 2).length / Math.max(1, points.length);
    return cloud({title: "Residuals", note: "True minus predicted value, in stated deviations. A bend or a slope is what the ensemble has not learned; " +
        percent(within, 0) + " are within \u00b1 2 (of a Gaussian: 95\u00a0%).", x: "predicted", y: "residual", name: "examples", points, yMore: {suggestedMin: -3, suggestedMax: 3},
        guides: (list) => { const [low, high] = range(list.map(([x]) => x)); return [["0", 0], ["\u00b1 2", 2], ["", -2]].map(([name, y]) => [name, [[low, y], [high, y]]]); }});
}

function errorFigure(target) {
    const e = target.examples;
    return cloud({title: "Error against uncertainty", note: "Larger stated deviations should come with larger errors: about two thirds of the points below the line.",
        x: "stated standard deviation", y: "absolute error", name: "examples", points: e.truth.map((y, i) => [e.sd[i], Math.abs(y - e.mean[i])]),
        ends: (points) => { const high = range(points.map(([x]) => x))[1]; return [[0, 0], [high, high]]; }});
}

function quantileFigure(target) {
    const c = target.calibration;
    return lines({title: "Calibration of quantiles", note: "Share of outcomes below the stated quantile; on the diagonal it is what was stated.", square: true,
        x: "level", y: "share below", series: [{name: "ensemble", points: c.level.map((x, i) => [x, c.share[i]])}, diagonal("ideal")],
        show: (y) => percent(y, 1), showX: (x) => percent(x, 0), percent: true, xPercent: true, xMore: {min: 0, max: 1}, yMore: {min: 0, max: 1}});
}

function intervalTable(target) {
    const conformal = target.conformal || [];
    const head = ["interval", "covers", "mean width", ...(conformal.length ? ["conformal covers", "mean width"] : [])];
    return table(head, target.intervals.map((i, k) => [percent(i.level, 0), percent(i.coverage, 1), significant(i.width),
        ...(conformal[k] ? [percent(conformal[k].coverage, 1), isNumber(conformal[k].width) ? significant(conformal[k].width) : "\u221e"] : [])]), {caption: "Central intervals on the test set"});
}

function targetNodes(target) {
    const u = target.uncertainty, figures = [];
    if (target.examples && target.examples.truth.length)
        figures.push(predictedFigure(target), residualFigure(target), errorFigure(target));
    if (target.calibration)
        figures.push(quantileFigure(target));
    return [el("p", null, target.name + ": rmse " + significant(target.rmse) + ", mae " + significant(target.mae) + ", crps " + significant(target.crps) + ", nll " + fixed(target.nll, 4) +
        " (of the Gaussian with the same mean and variance " + fixed(target.nll_gauss, 4) + ")." +
        (u ? " Its deviation is " + significant(u.sd) + ": " + significant(u.aleatoric) + " from the data, " + significant(u.epistemic) + " from disagreement." : "")),
    el("div", {class: "grid"}, figures), ...(target.intervals ? [intervalTable(target)] : [])];
}

function outcomes(runs) {
    const {known, notes} = having(runs, "test", "Predictions and intervals", "", (test) => test.targets);
    return [...perRun(known, (run) => sectionOf(run, "test").targets.map(targetNodes)), ...notes];
}
