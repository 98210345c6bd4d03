// The curve of the root against one number of a leaf, with the cell's point and the one that is shown, and their tangents.

import { clamp, drawn, make } from "./stepper_parts.js";

const EDGE = { left: 52, right: 22, top: 28, bottom: 32 };
const NICE = [1, 2, 2.5, 5, 10];
const TALL = 220;
const GLYPH = 7.3; // pixels of a letter of what is said at the point
const REACH = 0.38; // of the width, how far a tangent reaches to either side

// Round numbers between two, about as many as asked for.
export function ticks(low, high, count) {
  const size = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(size));
  const step = power * NICE.find((nice) => nice * power >= size * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}

// Which numbers stay as they are while one moves: `[[name, text], …]`.
export function unchanged(words, numbers) {
  const told = numbers.slice(0, 4).map((one) => one.join(" = "));
  if (numbers.length > 4) told.push("…");
  return make("small", { hidden: !told.length, textContent: words.live_stays.replace("{numbers}", told.join(", ")) });
}

// A number as pictures write it: five digits, `5.` for a whole one.
export function figure(x) {
  if (!Number.isFinite(x)) return String(x);
  const size = Math.abs(x);
  if (size && (size < 1e-5 || size >= 1e8)) return x.toExponential(4).replace(/\.?0+e/, "e").replace(/e\+?(-?)(\d)$/, "e$10$2");
  const text = x.toFixed(Math.max(0, 4 - (size ? Math.floor(Math.log10(size)) : 0)));
  return text.includes(".") ? text.replace(/0+$/, "") : `${text}.`;
}

// The `element` of a curve, and `move`, which puts its points there: `cell` and `now` are [x, y, slope]; `said` has
// the words at the point and at its tangent. `whole`: only whole numbers stand below.
/** @param {number} width @param {{xs: number[], ys: number[], names: {root: string, leaf: string}, label: string, whole?: boolean}} told */
export function plot(width, { xs, ys, names, label, whole }) {
  const points = xs.map((x, i) => [x, ys[i]]).filter(([, y]) => Number.isFinite(y));
  const [low, high] = [xs[0], xs.at(-1)];
  const values = points.map(([, y]) => y);
  let [bottom, top] = [Math.min(...values), Math.max(...values)];
  const pad = (top - bottom || Math.abs(top) || 1) * 0.12;
  [bottom, top] = [bottom - pad, top + pad];
  const { left, right } = EDGE;
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - right);
  const y = (value) => EDGE.top + ((top - value) / (top - bottom)) * (TALL - EDGE.top - EDGE.bottom);
  const inside = (value) => Math.max(EDGE.top - 8, Math.min(TALL - EDGE.bottom + 8, value));
  const svg = drawn("svg", { class: "mgp-plot", width, height: TALL, viewBox: `0 0 ${width} ${TALL}`, role: "img", "aria-label": label });
  const moving = drawn("g", {});
  const line = (kind, d, into = svg) => into.append(drawn("path", { class: kind, d }));
  const word = (kind, at, down, text, anchor = "middle", into = svg) => into.append(drawn("text", { class: kind, x: at, y: down, "text-anchor": anchor }, text));
  for (const value of ticks(bottom, top, 4)) {
    line("rule", `M${left} ${y(value)}H${width - right}`);
    word("tick", left - 8, y(value) + 4, figure(value).replace(/\.$/, ""), "end");
  }
  const free = width - 12 - 9 * names.leaf.length; // the name of the axis stands behind
  const across = ticks(low, high, Math.max(2, Math.floor(width / 90))).filter((value) => x(value) < free && (!whole || Number.isInteger(value)));
  for (const value of across) word("tick", x(value), TALL - 10, figure(value).replace(/\.$/, ""));
  word("axis", left, 16, names.root, "start");
  word("axis", width - 4, TALL - 10, names.leaf, "end");
  // A tangent stays within the plot.
  const tangent = (kind, [at, value, slope]) => {
    if (![value, slope].every(Number.isFinite)) return;
    const reach = (high - low) * REACH;
    const limits = [EDGE.top - 8, TALL - EDGE.bottom + 8].map((edge) => (slope ? (top - ((edge - EDGE.top) / (TALL - EDGE.top - EDGE.bottom)) * (top - bottom) - value) / slope : Infinity));
    const ahead = Math.min(reach, ...limits.filter((far) => far > 0));
    const behind = Math.min(reach, ...limits.filter((far) => far < 0).map(Math.abs));
    const [from, to] = [Math.max(low, at - behind), Math.min(high, at + ahead)];
    line(kind, `M${x(from)} ${y(value + slope * (from - at))}L${x(to)} ${y(value + slope * (to - at))}`, moving);
  };
  const runs = [];
  xs.forEach((at, i) => {
    if (!Number.isFinite(ys[i])) return runs.push([]);
    if (!runs.length) runs.push([]);
    runs.at(-1).push(`${x(at).toFixed(1)} ${inside(y(ys[i])).toFixed(1)}`);
  });
  for (const run of runs) if (run.length > 1) line("curve", `M${run.join("L")}`);
  svg.append(moving);
  const dot = (kind, [at, value], r) => Number.isFinite(value) && moving.append(drawn("circle", { class: kind, cx: x(at), cy: inside(y(value)), r }));
  const move = ({ cell, now, said }) => {
    moving.replaceChildren();
    const moved = now[0] !== cell[0];
    if (moved) tangent("tangent was", cell);
    tangent("tangent", now);
    if (Number.isFinite(now[1])) line("drop", `M${x(now[0])} ${TALL - EDGE.bottom}V${inside(y(now[1]))}`, moving);
    if (moved) dot("was", cell, 4.5);
    dot("now", now, 6.5);
    if (!Number.isFinite(now[1])) return;
    const late = x(now[0]) > width * 0.6;
    const above = Number.isFinite(now[2]) && !(now[2] > 0) === late; // where the tangent is not
    const [beside, anchor, at] = [x(now[0]) + (late ? -12 : 12), late ? "end" : "start", inside(y(now[1]))];
    const within = (text) => (late ? Math.max(beside, Math.min(width - 4, GLYPH * text.length)) : Math.min(beside, Math.max(4, width - 4 - GLYPH * text.length)));
    word("here", within(said.point), clamp(at + (above ? 26 : -12), 14, TALL - 40), said.point, anchor, moving);
    if (Number.isFinite(now[2])) word("slope", within(said.slope), clamp(at + (above ? 42 : 24), 28, TALL - 24), said.slope, anchor, moving);
  };
  return { element: svg, move };
}
