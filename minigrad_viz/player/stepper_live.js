// Live values: sliders in the leaves of a picture; stations, arrows and formulas follow, with the cell's numbers in gray beside them.
//
// A state (see stepper_states.js) replaces texts of the picture and of the steps; nothing is laid out again.

import { Extra, block, drawn, extras, make, quiet } from "./stepper_parts.js";
import { figure, plot } from "./stepper_plot.js";
import { Replaced } from "./stepper_replaced.js";
import { Grid, Kernel } from "./stepper_states.js";

const RAIL = 14; // pixels from the edge of a card to its rail
const STACKED = 640; // pixels of a pane below which its plot stands under its table

class Live extends Extra {
  constructor(player) {
    super();
    const { score, model } = player;
    this.player = player;
    this.score = score.live;
    this.words = score.live.words;
    this.source = model.send && !Object.keys(this.score.states).length ? new Kernel(model) : new Grid(this.score);
    this.button = quiet(make("button", { type: "button", className: "mgp-live", textContent: this.words.live, onclick: () => this.turn(!this.on) }));
    player.tools.prepend(this.button);
    this.pane = this.build();
    player.boxes.element.before(this.pane);
    this.sliders = new Map(); // by the card of a leaf
    this.chosen = new Map(this.score.handles.toReversed().map((handle) => [handle.card, handle]));
    this.handle = this.score.handles[0];
    this.value = this.handle.value;
    this.texts = new Replaced();
    this.own = null; // the frames of the cell
    this.turn(true);
  }

  build() {
    const { words } = this;
    const act = (word, onclick) => quiet(make("button", { type: "button", textContent: word, onclick }));
    this.head = make("h4");
    this.pick = quiet(make("select", { title: words.live_pick, aria: { label: words.live_pick } }));
    this.pick.append(...this.score.handles.map(({ name }, value) => make("option", { value, textContent: name })));
    this.pick.hidden = this.score.handles.length < 2;
    this.pick.onchange = () => this.choose(this.score.handles[this.pick.value]);
    this.table = make("table");
    this.foretold = make("p");
    this.note = make("p", { className: "note", aria: { role: "status" } });
    this.reset = act(words.live_reset, () => this.move(this.handle, this.handle.value));
    this.write = act(words.live_write, () => this.copy());
    const table = block("mgp-live-told", make("div", { className: "mgp-live-head" }, this.head, this.pick), this.table, this.foretold, block("mgp-live-acts", this.reset, this.write), this.note);
    this.curve = block("mgp-live-curve");
    return make("div", { className: "mgp-livepane", aria: { label: words.live, role: "region" } }, table, this.curve);
  }

  turn(on) {
    this.on = on;
    this.button.setAttribute("aria-pressed", on);
    this.pane.hidden = !on;
    if (on) this.choose(this.handle);
    else this.show(this.handle, this.handle.value, null);
    for (const { part } of this.sliders.values()) part.style.display = on ? "" : "none";
  }

  async choose(handle) {
    this.chosen.set(handle.card, handle);
    this.pick.value = this.score.handles.indexOf(handle);
    try {
      await this.source.ready(handle);
    } catch ({ message }) {
      return this.fail(message || this.words.live_off);
    }
    this.move(handle, this.handle === handle ? this.value : handle.value);
  }

  fail(message) {
    this.note.textContent = message;
  }

  // --------------------------------------------------------------------------------------------- the sliders

  // The picture was laid out.
  laid() {
    const { act, score } = this.player;
    this.sliders.clear();
    this.state = null;
    this.button.disabled = act !== score.shown; // other pictures have other leaves
    this.own = act === score.shown ? this.player.frames : null;
    if (!this.own) return (this.pane.hidden = true);
    for (const card of this.chosen.keys()) {
      const row = this.player.stage.parts.get(`${card}-slider`);
      if (row) this.sliders.set(card, this.slider(card, row));
    }
    this.player.stage.live = () => this.on && this.state !== null;
    this.turn(this.on);
  }

  slider(card, row) {
    const { width } = row.closest(".card").querySelector(".box").getBBox();
    const y = Number(row.querySelector("text").getAttribute("y")) - 6;
    const [from, to] = [RAIL, width - RAIL];
    const mark = (kind, r) => drawn("circle", { class: kind, cx: from, cy: y, r });
    const [was, thumb] = [mark("own", 5), mark("thumb", 8)];
    const rail = drawn("path", { class: "rail", d: `M${from} ${y}H${to}` });
    const field = drawn("rect", { class: "field", x: from - 10, y: y - 14, width: to - from + 20, height: 28 });
    const part = drawn("g", { class: "mgp-slider", tabindex: 0, role: "slider" }, field, rail, was, thumb);
    quiet(part);
    const at = (event) => {
      const box = rail.getBoundingClientRect();
      const { xs } = this.chosen.get(card);
      return this.source.snap(this.chosen.get(card), xs[0] + ((event.clientX - box.left) / box.width) * (xs.at(-1) - xs[0]));
    };
    const drag = (event) => (event.preventDefault(), this.move(this.chosen.get(card), at(event)));
    part.onpointerdown = async (event) => {
      event.preventDefault();
      part.focus({ preventScroll: true });
      part.setPointerCapture(event.pointerId);
      await this.source.ready(this.chosen.get(card));
      drag(event);
      part.onpointermove = drag;
    };
    part.onpointerup = part.onpointercancel = () => (part.onpointermove = null);
    part.onclick = (event) => event.stopPropagation();
    part.onkeydown = (event) => this.pressed(event, this.chosen.get(card));
    row.append(part);
    const role = row.closest(".station").querySelector(".role");
    if (role) role.textContent = this.words.live_drag;
    return { part, was, thumb, from, to };
  }

  async pressed(event, handle) {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    await this.source.ready(handle);
    const { xs } = handle;
    const from = this.handle === handle ? this.value : handle.value;
    this.move(handle, Number.isFinite(by) ? this.source.next(handle, from, by) : by < 0 ? xs[0] : xs.at(-1));
  }

  place(card, value) {
    const slider = this.sliders.get(card);
    const handle = this.chosen.get(card);
    if (!slider || !handle.xs.length) return;
    const { xs } = handle;
    const x = (number) => slider.from + ((number - xs[0]) / (xs.at(-1) - xs[0] || 1)) * (slider.to - slider.from);
    slider.thumb.setAttribute("cx", x(value));
    slider.was.setAttribute("cx", x(handle.value));
    const said = { valuemin: xs[0], valuemax: xs.at(-1), valuenow: value, valuetext: `${handle.name} = ${figure(value)}`, label: handle.name };
    for (const [name, told] of Object.entries(said)) slider.part.setAttribute(`aria-${name}`, told);
  }

  // ---------------------------------------------------------------------------------------------- the states

  // Show a number. The newest wins: others that come later are not shown.
  async move(handle, value) {
    this.wanted = { handle, value };
    if (this.handle !== handle) this.place(this.handle.card, this.handle.value);
    this.place(handle.card, value);
    if (this.busy) return;
    this.busy = true;
    try {
      for (let wanted; wanted !== this.wanted; ) {
        wanted = this.wanted;
        const own = wanted.value === wanted.handle.value;
        const state = own ? null : await this.source.state(wanted.handle, wanted.value, false);
        this.show(wanted.handle, wanted.value, state);
        if (wanted === this.wanted && state && !state.steps && this.source instanceof Kernel) {
          this.show(wanted.handle, wanted.value, await this.source.state(wanted.handle, wanted.value, true));
        }
      }
    } catch ({ message }) {
      this.fail(message || this.words.live_off);
    }
    this.busy = false;
  }

  show(handle, value, state) {
    const { player } = this;
    Object.assign(this, { handle, value, state });
    if (!this.own) return;
    player.frames = state?.steps ? this.own.map((frame, i) => this.frame(frame, state.steps[i + 1])) : this.own;
    this.painted();
    player.tell();
    this.told();
  }

  frame(frame, told) {
    if (!told) return frame;
    const [text, lines, main] = told;
    return { ...frame, text, lines, main: (main || undefined) && main - 1 };
  }

  // The picture shows another step: its texts are those of the state again.
  painted() {
    const { stage } = this.player;
    if (stage) this.texts.show(stage, this.state);
  }

  // ------------------------------------------------------------------------------------------- what is told

  // In the caption: the number, and before the first step how the leaf's gradient comes about.
  caption() {
    if (!this.on || !this.state || !this.own) return;
    const { player, words, handle } = this;
    const { caption } = player;
    const fill = (text) => text.replace("{name}", handle.name).replace("{value}", this.state.at[0]).replace("{cell}", handle.cell[0]);
    if (player.step) return caption.place.prepend(make("mark", { textContent: fill(words.live_short) }));
    const said = fill(words.live_at);
    const id = `${handle.card.split("-")[0]}-d`;
    const frame = player.frames.findLast(({ marks, main }) => main !== undefined && marks.includes(id));
    caption.show(frame ?? { text: said, lines: [], marks: [] }, "");
    caption.place.replaceChildren(make("span", { className: "mgp-said", textContent: said, title: said }));
  }

  told() {
    const { words, handle, value, state } = this;
    const [root, shown] = this.score.root ?? [null, ""];
    const now = state?.at ?? [handle.cell[0], shown, handle.cell[1], null, null];
    this.head.textContent = words.live_head.replaceAll("{name}", handle.name);
    const rows = [["", words.live_cell, words.live_now], [handle.name, handle.cell[0], now[0]], ...(root === null ? [] : [[root, shown, now[1]]]), [`${gradient(handle)}`, handle.cell[1], now[2], "g"]];
    const cell = (tag, i) => (said, j) => make(tag, { textContent: said, className: j === 2 ? `n ${i}` : j ? "o" : "" });
    this.table.replaceChildren(...rows.map(([name, was, is, tone = ""], i) => make("tr", {}, ...[name, was, is].map(cell(i ? "td" : "th", tone)))));
    this.reset.disabled = value === handle.value;
    this.write.disabled = !handle.edit || value === handle.value;
    const at = handle.xs.indexOf(value);
    this.note.textContent = at >= 0 && at === handle.xs.length - 1 ? handle.ends[1] : at === 0 ? handle.ends[0] : "";
    this.foretell(root);
    this.draw(root);
  }

  // What the cell's slope predicts, and what came out.
  foretell(root) {
    const { handle, value, state, words } = this;
    this.foretold.replaceChildren();
    const own = handle.ys[handle.xs.indexOf(handle.value)];
    const slope = handle.cell[2];
    if (!state || root === null || ![own, slope, state.at[3]].every(Number.isFinite)) return;
    const far = value - handle.value;
    const guess = own + slope * far;
    const [minus, size] = [far < 0, Math.abs(far)];
    const times = slope < 0 ? `(${figure(slope)})` : figure(slope);
    const sum = `${figure(own)} ${minus ? "−" : "+"} ${times} · ${figure(Number(size.toPrecision(6)))} = ${figure(guess)}`;
    const [a, b] = words.live_foretold.replace("{sum}", sum).replace("{root}", root).replace("{far}", figure(Number((state.at[3] - guess).toPrecision(3)))).split("{value}");
    this.foretold.append(a, make("b", { textContent: state.at[1] }), b);
  }

  draw(root) {
    const { handle, value, state, words } = this;
    const width = this.curve.clientWidth - 16;
    const own = [handle.value, handle.ys[handle.xs.indexOf(handle.value)], handle.cell[2]];
    const now = state ? [value, state.at[3], state.at[4]] : own;
    const known = handle.ys.filter(Number.isFinite).length > 1;
    this.curve.hidden = root === null || !known;
    if (this.curve.hidden || width < 100) return;
    const slope = words.live_slope.replace("{value}", figure(now[2])).replace("{name}.grad", gradient(handle));
    const said = { curve: words.live_curve.replace("{root}", root).replace("{name}", handle.name), point: `${root} = ${figure(now[1])}`, slope };
    this.curve.replaceChildren(plot(width, { xs: handle.xs, ys: handle.ys, cell: own, now, names: { root, leaf: handle.name }, said }));
  }

  // The pane has another width.
  arranged() {
    this.pane.classList.toggle("stacked", this.pane.clientWidth < STACKED);
    if (this.on) this.told();
  }

  async copy() {
    const [line, before, after] = this.handle.edit;
    await navigator.clipboard?.writeText(before + figure(this.value).replace(/\.$/, ".0") + after);
    this.note.textContent = this.words.live_written.replace("{n}", line);
  }
}

// `w.grad[0]` for the element `w[0]`.
const gradient = ({ name, leaf }) => `${leaf}.grad${name.slice(leaf.length)}`;

extras.push((player) => player.score.live && new Live(player));
