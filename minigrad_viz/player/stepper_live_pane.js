// The pane of live values: a table of what moved, what the cell's slope predicts, the curve, and what can be done with a number.

import { block, make, quiet } from "./stepper_parts.js";
import { figure, plot, unchanged } from "./stepper_plot.js";

const STACKED = 640; // pixels of a pane below which its plot stands under its table

// `w.grad[0]` for the element `w[0]`.
const gradient = ({ name, leaf }) => `${leaf}.grad${name.slice(leaf.length)}`;

// A number as Python writes it, to the last digit.
const literal = (value) => (Number.isInteger(value) && Math.abs(value) < 1e16 ? `${value}.0` : String(value));

export class LivePane {
  constructor(live, lines) {
    const { words, score } = live;
    this.live = live;
    this.lines = lines;
    this.words = words;
    this.score = score;
    const act = (word, onclick) => quiet(make("button", { type: "button", textContent: word, onclick }));
    this.head = make("h4");
    this.pick = quiet(make("select", { title: words.live_pick, aria: { label: words.live_pick } }));
    this.pick.append(...score.handles.map(({ name }, value) => make("option", { value, textContent: name })));
    this.pick.hidden = score.handles.length < 2;
    this.pick.onchange = () => live.choose(score.handles[this.pick.value]);
    // Where the picture has no slider for a number, here it is.
    this.rail = quiet(make("input", { type: "range", min: 0, className: "mgp-rail" }));
    this.rail.oninput = () => live.move(live.handle, live.handle.xs[this.rail.value]);
    this.rail.onkeydown = (event) => /^(Arrow|Page|Home|End)/.test(event.key) && event.stopPropagation();
    this.table = make("table");
    this.foretold = make("p");
    const left = score.left.length ? [words.live_left_out.replace("{names}", score.left.join(", "))] : [];
    const limits = [...(live.source.several || this.pick.hidden ? [] : [words.live_alone]), ...left];
    this.limits = make("p", { className: "mgp-live-limits", textContent: limits.join(" ") });
    this.note = make("p", { className: "note", aria: { role: "status" } });
    this.reset = act(words.live_reset, () => live.want(live.handle, new Map()));
    this.write = act(words.live_write, () => this.copy());
    const told = block("mgp-live-told", make("div", { className: "mgp-live-head" }, this.head, this.pick), this.rail, this.table, this.foretold, block("mgp-live-acts", this.reset, this.write), this.note, this.limits);
    this.curve = block("mgp-live-curve");
    this.element = make("div", { className: "mgp-livepane", aria: { label: words.live, role: "region" } }, told, this.curve);
  }

  // What is said of numbers stays as long as they do: the other steps of the same numbers come later.
  say(message) {
    this.note.textContent = message;
    this.said = this.live.values;
  }

  // The handles that have another number than the cell.
  moved() {
    return this.score.handles.filter(({ name }) => this.live.values.has(name));
  }

  tell() {
    const { words, score, live } = this;
    const { handle, state, values } = live;
    const value = live.value(handle);
    this.pick.value = score.handles.indexOf(handle);
    this.rail.hidden = live.sliders.has(handle.card);
    this.rail.max = Math.max(0, handle.xs.length - 1);
    this.rail.value = handle.xs.indexOf(value);
    this.rail.setAttribute("aria-label", handle.name);
    this.rail.setAttribute("aria-valuetext", `${handle.name} = ${figure(value)}`);
    const [root, shown] = score.root ?? [null, ""];
    const now = state?.at ?? [handle.cell[0], shown, handle.cell[1], null, null];
    const others = this.moved().filter((one) => one !== handle);
    const rest = score.handles.filter((one) => one !== handle && !others.includes(one));
    const stays = unchanged(words, rest.map((one) => [one.name, one.cell[0]]));
    this.head.replaceChildren(words.live_head.replaceAll("{name}", handle.name), stays);
    const rows = [["", words.live_cell, words.live_now], ...others.map((one) => [one.name, one.cell[0], figure(live.value(one))]), [handle.name, handle.cell[0], now[0]], ...(root === null ? [] : [[root, shown, now[1]]]), [gradient(handle), handle.cell[1], now[2], "g"]];
    this.list(rows);
    this.reset.disabled = !values.size;
    this.write.disabled = !this.moved().some(({ edit }) => edit);
    const at = handle.xs.indexOf(value);
    if (this.said !== values) this.say(at >= 0 && at === handle.xs.length - 1 ? handle.ends[1] : at === 0 ? handle.ends[0] : "");
    this.foretell();
    this.draw();
  }

  // The table, of which only what changed is written.
  list(rows) {
    const cell = (tag, tone) => (textContent, j) => make(tag, { textContent, className: j === 2 ? `n ${tone}` : j ? "o" : "" });
    const shape = rows.map(([name]) => name).join();
    if (shape !== this.shape) this.table.replaceChildren(...rows.map(([name, was, is, tone = ""], i) => make("tr", {}, ...[name, was, is].map(cell(i ? "td" : "th", tone)))));
    this.shape = shape;
    rows.forEach((told, i) => [...this.table.rows[i].cells].forEach((one, j) => one.textContent === told[j] || (one.textContent = told[j])));
  }

  // What the slopes of the cell predict, and what came out.
  foretell() {
    const { words, score, live } = this;
    const { state } = live;
    this.foretold.replaceChildren();
    if (!state || !score.root) return;
    const [root, , own] = score.root;
    const moved = this.moved();
    if (![own, state.at[3], ...moved.map(({ cell }) => cell[2])].every(Number.isFinite)) return;
    let guess = own;
    const terms = moved.map((handle) => {
      const [slope, far] = [handle.cell[2], live.value(handle) - handle.value];
      guess += slope * far;
      return `${far < 0 ? "−" : "+"} ${slope < 0 ? `(${figure(slope)})` : figure(slope)} · ${figure(Number(Math.abs(far).toPrecision(6)))}`;
    });
    const sum = `${figure(own)} ${terms.join(" ")} = ${figure(guess)}`;
    const said = moved.length > 1 ? words.live_foretold_all : words.live_foretold;
    const [a, b] = said.replace("{sum}", sum).replace("{root}", root).replace("{far}", figure(Number((state.at[3] - guess).toPrecision(3)))).split("{value}");
    this.foretold.append(a, make("b", { textContent: state.at[1] }), b);
  }

  draw() {
    const { words, score, live } = this;
    const { handle, state, values } = live;
    const [root, , shown] = score.root ?? [null];
    const cell = [handle.value, shown, handle.cell[2]];
    const now = state ? [live.value(handle), state.at[3], state.at[4]] : cell;
    this.curve.hidden = root === null || handle.ys.filter(Number.isFinite).length < 2;
    if (this.curve.hidden) return;
    this.width ||= Math.max(0, this.curve.clientWidth - 16);
    if (this.width < 100) return;
    const { xs, ys } = handle;
    if (this.drawn?.ys !== ys || this.drawn.width !== this.width) {
      const label = words.live_curve.replace("{root}", root).replace("{name}", handle.name);
      this.drawn = { ys, width: this.width, ...plot(this.width, { xs, ys, names: { root, leaf: handle.name }, label }) };
      this.curve.replaceChildren(this.drawn.element);
    }
    const slope = words.live_slope.replace("{value}", figure(now[2])).replace("{name}.grad", gradient(handle));
    const alone = [...values.keys()].every((name) => name === handle.name); // else the cell's point lies on another curve
    this.drawn.move({ cell: alone ? cell : now, now, said: { point: `${root} = ${figure(now[1])}`, slope } });
  }

  arranged() {
    this.width = 0;
    this.element.classList.toggle("stacked", this.element.clientWidth < STACKED);
    if (this.live.on) this.tell();
  }

  // The lines of the cell with the numbers that are shown, and their numbers there.
  written() {
    const found = new Map();
    const last = this.moved().filter(({ edit }) => edit).sort((a, b) => b.edit[1].length - a.edit[1].length);
    for (const handle of last) {
      const [n, before, after] = handle.edit;
      const line = found.get(n) ?? this.lines[n - 1];
      const end = this.lines[n - 1].length - after.length; // what stands behind it may have changed already
      found.set(n, before + literal(this.live.value(handle)) + line.slice(end));
    }
    return [...found].sort(([a], [b]) => a - b);
  }

  async copy() {
    const lines = this.written();
    const text = lines.map(([, line]) => line).join("\n");
    const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    const said = copied ? this.words.live_written : this.words.live_line;
    this.say(said.replace("{n}", lines.map(([n]) => n).join(", ")).replace("{line}", () => text));
  }
}
