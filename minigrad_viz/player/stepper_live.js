// Live values: sliders in the leaves of a picture; stations, arrows and formulas follow, with the cell's numbers in gray beside them.
//
// A state (see stepper_states.js) replaces texts of the picture and of the steps; nothing is laid out again.

import { Extra, clamp, drawn, extras, make, quiet } from "./stepper_parts.js";
import { LivePane } from "./stepper_live_pane.js";
import { figure } from "./stepper_plot.js";
import { Replaced } from "./stepper_replaced.js";
import { Grid, Kernel } from "./stepper_states.js";

const RAIL = 14; // pixels from the edge of a card to its rail
const LOWEST = 320; // pixels of the pane that a picture leaves room for
const PLOT = 236; // pixels from the top of the pane to the lower edge of its plot
const REST = 150; // milliseconds without a move until the other steps follow, and what is out of sight

class Live extends Extra {
  constructor(player) {
    super();
    const { score, model } = player;
    this.player = player;
    this.score = score.live;
    this.words = score.live.words;
    this.source = model.send && !Object.keys(this.score.states).length ? new Kernel(model) : new Grid(this.score);
    this.button = quiet(make("button", { type: "button", className: "mgp-live", textContent: this.words.live, onclick: () => this.turn(!this.on) }));
    player.panes.tools.prepend(this.button);
    this.sliders = new Map(); // by the card of a leaf
    this.chosen = new Map(this.score.handles.toReversed().map((handle) => [handle.card, handle]));
    this.handle = this.score.handles[0];
    this.values = new Map(); // by the name of a handle, where it is not the cell's
    this.wanted = { handle: this.handle, values: this.values, all: false };
    this.texts = new Replaced();
    this.own = null; // the frames of the cell
    this.pane = new LivePane(this, player.panes.code.lines);
    player.panes.boxes.element.before(this.pane.element);
    player.panes.root.addEventListener("pointerenter", () => this.near(this.handle));
    this.turn(true);
  }

  // The number of a handle that is shown.
  value(handle, values = this.values) {
    return values.get(handle.name) ?? handle.value;
  }

  turn(on) {
    this.on = on;
    this.button.setAttribute("aria-pressed", on);
    this.pane.element.hidden = !on;
    if (on) this.choose(this.handle);
    else this.show(this.handle, new Map(), null);
    for (const { part } of this.sliders.values()) part.style.display = on ? "" : "none";
  }

  // What is told is told about this handle.
  async choose(handle) {
    if (await this.ready(handle)) this.move(handle, this.value(handle, this.wanted.values));
  }

  // ------------------------------------------------------------------------------------------------- sliders

  // The picture was laid out.
  laid() {
    const { act, score, stage } = this.player;
    this.sliders.clear();
    this.state = null;
    this.button.disabled = act !== score.shown; // other pictures have other leaves
    this.own = act === score.shown ? this.player.frames : null;
    if (!this.own) return (this.pane.element.hidden = true);
    for (const card of this.chosen.keys()) {
      const row = stage.parts.get(`${card}-slider`);
      // What is out of sight has no size, and is laid out again when it comes into sight.
      if (row?.closest(".card").getBBox().width) this.sliders.set(card, this.slider(card, row));
    }
    stage.live = () => this.on && this.state !== null;
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
    if (this.source.several) part.append(drawn("title", {}, this.words.live_fine.replace("{name}", this.chosen.get(card).leaf)));
    quiet(part);
    const at = (event) => {
      const box = rail.getBoundingClientRect();
      const { xs } = this.chosen.get(card);
      const value = xs[0] + ((event.clientX - box.left) / box.width) * (xs.at(-1) - xs[0]);
      return this.source.snap(this.chosen.get(card), value, event.shiftKey);
    };
    const drag = (event) => (event.preventDefault(), this.move(this.chosen.get(card), at(event)));
    part.onpointerdown = async (event) => {
      event.preventDefault();
      part.focus({ preventScroll: true });
      part.setPointerCapture(event.pointerId);
      if (!(await this.ready(this.chosen.get(card)))) return;
      drag(event);
      part.onpointermove = drag;
    };
    part.onpointerup = part.onpointercancel = () => (part.onpointermove = null);
    part.onclick = (event) => event.stopPropagation();
    part.onpointerenter = part.onfocus = () => this.near(this.chosen.get(card));
    part.onkeydown = (event) => this.pressed(event, this.chosen.get(card));
    row.append(part);
    const role = row.closest(".station").querySelector(".role");
    if (role) role.textContent = this.words.live_drag;
    return { part, was, thumb, from, to };
  }

  // The handle has its grid, beside the other numbers as they are now; otherwise it is said why not.
  async ready(handle) {
    try {
      await this.source.ready(handle, this.wanted.values);
    } catch (error) {
      return this.refused(error);
    }
    return true;
  }

  refused({ message }) {
    this.pane.say(message || this.words.live_off);
    return false;
  }

  // A reader comes to a handle.
  async near(handle) {
    if (this.on && this.own && (await this.ready(handle))) this.source.near(handle, this.wanted.values, this.steps(handle));
  }

  async pressed(event, handle) {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (!(await this.ready(handle))) return;
    this.move(handle, this.source.snap(handle, this.value(handle, this.wanted.values), event.shiftKey, by));
  }

  place(card, values) {
    const slider = this.sliders.get(card);
    const handle = this.chosen.get(card);
    if (!slider) return;
    const value = this.value(handle, values);
    const [low, high] = handle.xs.length ? [handle.xs[0], handle.xs.at(-1)] : [handle.value - 1, handle.value + 1]; // not known yet
    const x = (number) => slider.from + clamp((number - low) / (high - low || 1), 0, 1) * (slider.to - slider.from);
    slider.thumb.setAttribute("cx", x(value));
    slider.was.setAttribute("cx", x(handle.value));
    const said = { valuemin: low, valuemax: high, valuenow: value, valuetext: `${handle.name} = ${figure(value)}`, label: handle.name };
    for (const [name, told] of Object.entries(said)) slider.part.setAttribute(`aria-${name}`, told);
  }

  // -------------------------------------------------------------------------------------------------- states

  // The numbers that are moved with one handle at a value: all, or where the states came with the page, it alone.
  only(handle, value, others = new Map()) {
    const values = new Map(others);
    values.delete(handle.name);
    return value === handle.value ? values : values.set(handle.name, value);
  }

  move(handle, value) {
    this.chosen.set(handle.card, handle);
    return this.want(handle, this.only(handle, value, this.source.several ? this.wanted.values : undefined));
  }

  // Show numbers. The newest win: others that come while a state is awaited are not shown. What is not in sight,
  // and the other steps, follow when the numbers rest. The thumbs move with the questions, not with the pointer:
  // painting them in between would take the kernel's time.
  async want(handle, values, all = false) {
    clearTimeout(this.resting);
    this.wanted = { handle, values, all };
    if (this.busy) return;
    this.busy = true;
    let shown, came;
    while (shown !== this.wanted) {
      shown = this.wanted;
      for (const card of this.sliders.keys()) this.place(card, shown.values);
      came = await this.reached(shown);
    }
    this.busy = false;
    if (this.state && !shown.all && came) this.resting = setTimeout(() => this.want(this.handle, this.values, true), REST);
  }

  // A state is there, and shown; otherwise it is said why not.
  async reached({ handle, values, all }) {
    let state = null;
    try {
      if (values.size) state = await this.source.state(handle, values, all ? null : this.steps(handle));
    } catch (error) {
      return this.refused(error);
    }
    this.show(handle, values, state, !all);
    return true;
  }

  // The steps that are in sight while a handle moves.
  steps(handle) {
    return [this.player.step || this.summed(handle)];
  }

  // The step that writes the gradient of a leaf.
  summed({ card }) {
    const id = `${card.split("-")[0]}-d`;
    return 1 + (this.own ?? []).findLastIndex(({ marks, main }) => main !== undefined && marks.includes(id));
  }

  show(handle, values, state, moving = false) {
    const { player } = this;
    Object.assign(this, { handle, values, state });
    if (!this.own) return;
    player.panes.root.classList.toggle("mgp-moved", state !== null);
    player.frames = state?.steps ? this.own.map((frame, i) => this.frame(frame, state.steps[i + 1])) : this.own;
    this.painted(moving && state !== null);
    player.tell();
    this.pane.tell();
  }

  frame(frame, told) {
    if (!told) return frame;
    const [text, lines, main] = told;
    return { ...frame, text, lines, main: (main || undefined) && main - 1 };
  }

  // The picture shows another step: its texts are those of the state again.
  painted(moving) {
    const { stage } = this.player;
    if (stage) this.texts.show(stage, this.state, moving);
  }

  // In the caption: the number, and before the first step how the leaf's gradient comes about. A state without
  // steps, for which a page had no room, leaves those of the cell.
  caption() {
    if (!this.on || !this.state || !this.own) return;
    const { player, words, handle, state } = this;
    const { caption } = player.panes;
    const fill = (text) => text.replace("{name}", handle.name).replace("{value}", state.at[0]).replace("{cell}", handle.cell[0]);
    if (player.step) return caption.place.prepend(make("mark", { textContent: fill(state.steps ? words.live_short : words.live_own) }));
    const said = fill(words.live_at);
    const frame = state.steps ? player.frames[this.summed(handle) - 1] : undefined;
    caption.show(frame ?? { text: said, lines: [], marks: [] }, "");
    caption.place.replaceChildren(...(frame ? [make("span", { className: "mgp-said", textContent: said, title: said })] : []));
  }

  // The pane has another width. The picture leaves room for it in the window.
  arranged() {
    this.pane.arranged();
    const { player, pane } = this;
    player.panes.root.style.setProperty("--below", `${Math.min(pane.element.offsetHeight, LOWEST)}px`);
    pane.element.style.setProperty("--sunk", `${Math.min(0, PLOT - pane.element.offsetHeight)}px`);
    if (this.on && !player.step) this.clear();
    player.chart();
  }

  // Before the first step no card of a strip is open where the plot would be below the window then.
  clear() {
    const { root, boxes } = this.player.panes;
    const below = this.pane.curve.getBoundingClientRect().bottom - root.getBoundingClientRect().top > innerHeight;
    if (below) for (const id of [...boxes.open.keys()]) boxes.turn(id);
  }
}

extras.push((player) => player.score.live && new Live(player));
