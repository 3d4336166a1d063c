/* charts - Chart.js with our colours, and a table of the values below every chart. Without
 * Chart.js the tables stand alone. */

const canDraw = typeof window.Chart === "function";
const drawn = []; /* {canvas, make, chart}: drawn anew when the colours change */
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 4], [1, 2], [12, 4]];
const POINTS = ["circle", "rect", "triangle", "rectRot", "cross", "star", "crossRot"];

function theme() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    return {text: get("--text"), muted: get("--muted"), line: get("--line"), band: get("--band"), card: get("--card"),
        colours: [0, 1, 2, 3, 4, 5, 6].map((i) => get("--c" + i))};
}

/* A line's look: the same number looks the same everywhere. Where the colours begin anew,
 * points and dashes are other ones, so that 49 lines can be told apart. */
function look(t, i) {
    const colour = t.colours[i % t.colours.length], round = Math.floor(i / t.colours.length);
    return {borderColor: colour, backgroundColor: colour, borderDash: DASHES[(i + 3 * round) % DASHES.length],
        pointStyle: POINTS[(i + 2 * round) % POINTS.length], borderWidth: 2, pointRadius: 2.5, pointHoverRadius: 5, tension: 0};
}

function translucent(colour, alpha) {
    const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour);
    return hex ? "rgba(" + hex.slice(1).map((x) => parseInt(x, 16)).join(", ") + ", " + alpha + ")" : colour;
}

/* Phases of training as bands behind the curves, named above them. */
const bands = {
    id: "bands",
    beforeDatasetsDraw(chart, _, options) {
        const {ctx, chartArea: area, scales: {x}} = chart;
        (options.list || []).forEach((band, i) => {
            const from = Math.max(area.left, x.getPixelForValue(band.from));
            const to = Math.min(area.right, x.getPixelForValue(band.to));
            ctx.save();
            if (i % 2 === 0) {
                ctx.fillStyle = options.fill;
                ctx.fillRect(from, area.top, to - from, area.bottom - area.top);
            }
            ctx.fillStyle = options.text;
            ctx.font = "11px system-ui, sans-serif";
            ctx.textAlign = "center";
            const name = [band.name, band.short].find((text) => ctx.measureText(text).width < to - from - 2);
            if (name)
                ctx.fillText(name, (from + to) / 2, area.top - 6);
            ctx.restore();
        });
    },
};

function axis(t, title, more) {
    return Object.assign({
        title: {display: Boolean(title), text: title, color: t.muted},
        ticks: {color: t.muted, maxRotation: 0, autoSkipPadding: 12},
        grid: {color: t.line, borderColor: t.line},
    }, more || {});
}

/* What all charts share; x and y are axes, more is Chart.js's own. */
function options(t, x, y, more) {
    const o = more || {};
    return {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        layout: {padding: {top: o.bands && o.bands.length ? 18 : 0}},
        interaction: o.interaction || {mode: "nearest", axis: "x", intersect: false},
        scales: {x, y},
        plugins: {
            legend: {display: o.legend !== false, position: "bottom",
                labels: {color: t.text, usePointStyle: true, boxHeight: 6, boxWidth: 6, filter: o.filter}},
            bands: {list: o.bands || [], fill: t.band, text: t.muted},
            tooltip: {callbacks: o.tooltip || {}},
        },
    };
}

function draw(entry) {
    if (entry.chart)
        entry.chart.destroy();
    entry.chart = new window.Chart(entry.canvas, entry.make(theme()));
}

function redraw() {
    drawn.forEach(draw);
}

function drawAll() {
    if (!canDraw)
        return;
    window.Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    window.Chart.register(bands);
    redraw();
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    window.addEventListener("beforeprint", redraw); /* in the colours of paper */
    window.addEventListener("afterprint", redraw);
}

/* {title, note, label, square, make(theme) -> Chart.js configuration, head, rows} */
function figure(f) {
    const values = table(f.head, thinned(f.rows, 400), {label: f.title, tall: true});
    const node = el("figure", {class: f.alone ? "alone" : null}, el("figcaption", null, el("strong", null, f.title), f.note || null));
    if (!canDraw) {
        node.append(values);
        return node;
    }
    const canvas = el("canvas", {role: "img", "aria-label": (f.label || f.title) + ". The values are in the table below."});
    node.append(el("div", {class: f.square ? "chart square" : "chart"}, canvas),
        el("details", null, el("summary", null, "Values as a table"), values));
    drawn.push({canvas, make: f.make, chart: null});
    return node;
}

/* Lines over a common x: series = [{name, points: [[x, y], ...], more}], as a figure. */
function lines(f) {
    const at = new Map();
    f.series.forEach((s, i) => s.points.forEach(([x, y]) => {
        if (!at.has(x))
            at.set(x, new Array(f.series.length).fill(null));
        at.get(x)[i] = y;
    }));
    const show = f.show || ((y) => fixed(y, 4));
    const perCent = (t, yes) => yes ? {ticks: {color: t.muted, callback: (y) => Number((100 * y).toFixed(2)) + " %"}} : {};
    const steps = (t) => f.steps ? {ticks: {color: t.muted, maxRotation: 0, precision: 0}} : {};
    const rows = [...at.entries()].sort((a, b) => a[0] - b[0])
        .map(([x, ys]) => [f.showX ? f.showX(x) : String(x), ...ys.map((y) => y === null ? NONE : show(y))]);
    const make = (t) => ({
        type: "line",
        data: {datasets: f.series.map((s, i) => Object.assign(look(t, s.style === undefined ? i : s.style),
            {label: s.name, data: thinned(s.points, 800).map(([x, y]) => ({x, y: isNumber(y) ? y : NaN})), pointRadius: s.points.length > 60 ? 0 : 2.5},
            s.more ? s.more(t) : {}))},
        options: options(t, axis(t, f.x, Object.assign({type: "linear"}, steps(t), perCent(t, f.xPercent), f.xMore)), axis(t, f.y, Object.assign(perCent(t, f.percent), f.yMore)), {
            legend: f.series.length > 1,
            bands: f.bands,
            filter: f.filter,
            tooltip: {label: (c) => c.dataset.label + ": " + show(c.parsed.y)},
        }),
    });
    return figure({title: f.title, note: f.note, label: f.label, square: f.square, make,
        head: [f.x, ...f.series.map((s) => s.name)], rows});
}
