/* dom - elements, numbers and tables. Every string goes in as a text node: names come from
 * files of anybody. */

const NONE = "\u2013"; /* what stands for a figure that is missing */

/* el("p", {class: "note"}, "text", another) */
function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
        if (value !== null && value !== undefined)
            node.setAttribute(name, String(value));
    for (const child of children.flat())
        if (child !== null && child !== undefined)
            node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    return node;
}

function isNumber(x) {
    return typeof x === "number" && Number.isFinite(x);
}

function fixed(x, digits) {
    return isNumber(x) ? x.toFixed(digits) : NONE;
}

/* 0.9065 -> "90.65 %" */
function percent(x, digits) {
    return isNumber(x) ? (100 * x).toFixed(digits === undefined ? 2 : digits) + "\u00a0%" : NONE;
}

/* +0.10, with a real minus sign */
function signed(x, digits) {
    return isNumber(x) ? (x < 0 ? "\u2212" : "+") + Math.abs(x).toFixed(digits) : NONE;
}

/* Four digits that say something. */
function significant(x) {
    return isNumber(x) ? String(Number(x.toPrecision(4))) : NONE;
}

function whole(x) {
    return isNumber(x) ? Math.round(x).toLocaleString("en") : NONE;
}

function duration(seconds) {
    if (!isNumber(seconds))
        return NONE;
    if (seconds < 120)
        return seconds.toFixed(0) + "\u00a0s";
    return seconds < 7200 ? (seconds / 60).toFixed(1) + "\u00a0min" : (seconds / 3600).toFixed(1) + "\u00a0h";
}

function count(n, one, many) {
    return n + " " + (n === 1 ? one : many);
}

function sum(list) {
    return list.reduce((a, b) => a + b, 0);
}

function mean(list) {
    const known = list.filter(isNumber);
    return known.length ? sum(known) / known.length : NaN;
}

/* Every n-th of a long list, the last included. */
function thinned(list, most) {
    const step = Math.ceil(list.length / most);
    return step <= 1 ? list : list.filter((_, i) => i % step === 0 || i === list.length - 1);
}

/* head: names; rows: lists of strings, or of {text, best, heat}; the first cell of a row is
 * its name. A box around it scrolls, not the page, and can be reached by keyboard to do so. */
function table(head, rows, options) {
    const o = options || {};
    const cell = (value, i) => {
        const c = value !== null && typeof value === "object" ? value : {text: value};
        const node = i === 0 ? el("th", {scope: "row"}, c.text) : el("td", {class: c.best ? "best" : null}, c.text);
        if (isNumber(c.heat))
            node.style.backgroundColor = "rgba(var(--heat), " + (0.06 + 0.5 * Math.min(1, Math.max(0, c.heat))).toFixed(3) + ")";
        return node;
    };
    const node = el("table", {class: o.heat ? "heat" : o.words ? "words" : null},
        o.caption ? el("caption", null, o.caption) : null,
        el("thead", null, el("tr", null, head.map((name) => el("th", {scope: "col"}, name)))),
        el("tbody", null, rows.map((row) => el("tr", null, row.map(cell)))));
    return el("div", {class: o.tall ? "scroll tall" : "scroll", tabindex: 0, role: "region",
        "aria-label": o.caption || o.label || "Table"}, node);
}

/* What is not there says how to get it. */
function missing(what, command) {
    return el("p", {class: "missing"}, what.charAt(0).toUpperCase() + what.slice(1) + ": not computed yet. ", el("code", null, command), " adds it.");
}

/* Sections that are left out, by the command that adds them, for the end of the page. */
const absent = new Map();

function leaveOut(what, command) {
    absent.set(command, [...(absent.get(command) || []), what]);
    return [];
}

/* Word for the shell, quoted where need be. */
function shell(word) {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";
}
