/* main - puts the sections together. One that fails says so and leaves the others alone. */

const data = JSON.parse(document.getElementById("data").textContent);

/* A run is called by the last part of its path, or by all of it where that is not enough. */
function nameRuns(runs) {
    const short = (path) => path.replace(/\/+$/, "").split("/").pop() || path;
    runs.forEach((run) => {
        const same = runs.filter((other) => short(other.path) === short(run.path));
        run.name = same.length > 1 ? run.path : short(run.path);
    });
}

function heading(runs) {
    const s = runs[0].settings, single = runs.length === 1;
    const title = single ? runs[0].name : runs.length + " runs";
    document.title = title + " \u2013 sebays";
    document.getElementById("title").textContent = title;
    document.getElementById("subtitle").textContent = single ? s.method + " with " + count(s.members, "member", "members") + " at sparsity " + s.sparsity + ", " + s.arch + " on " + s.data + ", seed " + s.seed
        : runs.map((run) => run.name).join(", ");
    document.getElementById("made").textContent = "Made by sebays " + data.version + "." + (canDraw ? "" : " This build has no Chart.js: tables instead of charts.");
}

function add(id, title, build) {
    let nodes;
    try {
        nodes = build();
    } catch (error) {
        console.error(error);
        nodes = [el("p", {class: "missing"}, "This section cannot be shown: " + error.message)];
    }
    if (!nodes.length)
        return;
    document.getElementById("main").append(el("section", {"aria-labelledby": id}, el("h2", {id}, title), nodes));
    document.getElementById("contents").append(el("li", null, el("a", {href: "#" + id}, title)));
}

function build(runs) {
    const finished = runs.filter((run) => run.results), told = finished.filter((run) => !isRegression(run));
    const measured = finished.filter(isRegression);
    add("short", "In short", () => [...(runs.length > 1 ? comparisonOf(data) : []), ...inShort(runs)]);
    add("training", "Training", () => training(runs));
    if (measured.length)
        add("outcomes", "Predicted and true", () => outcomes(measured));
    add("others", "Other test sets", () => otherTests(told, measured));
    if (told.length) {
        add("calibration", "Calibration", () => calibration(told));
        add("classes", "Classes", () => classes(told));
        add("corruption", "Corrupted images", () => corruption(told));
        add("ood", "Unknown inputs", () => ood(told));
        add("attack", "Attacks", () => attack(told));
        add("diversity", "Diversity", () => diversity(told));
        add("size", "Ensemble size", () => size(told));
        add("trajectory", "Trajectories", () => trajectory(told));
    }
    if (finished.length)
        add("support", "Support", () => support(finished));
    if (told.length)
        add("examples", "Examples", () => examples(told));
    add("absent", "Not here yet", () => [...absent.entries()].map(([command, names]) => missing(names.join(", "), command)));
    add("repeat", "Repeat it", () => repeat(runs));
    add("definitions", "Definitions", () => definitions(finished));
}

document.body.classList.toggle("plain", !canDraw);
nameRuns(data.runs);
heading(data.runs);
build(data.runs);
drawAll();
