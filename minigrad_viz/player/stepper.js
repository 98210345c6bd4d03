// The player of a Stepper: controls, the cell's source, the picture and the words of the step that is shown.
//
// A score (see score.py) is laid out once; a step touches only what it changes. Everything is found below
// the player's own element, never in `document`: many players share a page, some in shadow roots. Text of
// the cell gets into the page as text alone.

import { Source, arithmetic, block, clamp, curve, icon, make, memory, quiet, segments, unpacked, whole } from "./stepper_parts.js";
import { Stage } from "./stepper_picture.js";

const BEAT = 1500; // milliseconds that a step stands at speed 1
const SPEEDS = [0.5, 1, 2, 4];
const MOST = 24; // entries of one kind in the details; more are counted
const NARROW = 760; // pixels up to which the source always stands above the picture
const TALLEST = 240; // pixels that the words keep at most, so that nothing below them moves from step to step
const MEASURED = 200; // steps whose words are measured for that

const MOVES = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last", " ": "play" };

const CHAPTERS = { ArrowLeft: -1, ArrowRight: 1 }; // with Shift

class Player {
  constructor(model, el) {
    this.model = model;
    this.score = model.get("_score");
    this.words = this.score.words;
    el.append(this.build());
    this.root.onkeydown = (event) => this.key(event);
    this.track.onpointerdown = this.track.onpointermove = (event) => this.seek(event);
    this.slider.oninput = () => this.go(Number(this.slider.value));
    this.observer = new ResizeObserver(() => {
      this.arrange();
    });
    this.observer.observe(this.root);
    const show = () => this.show();
    this.events = { step: show, playing: show, speed: show, act: () => this.turn() };
    for (const [name, listener] of Object.entries(this.events)) model.on(`change:${name}`, listener);
    this.turn();
  }

  end() {
    clearTimeout(this.timer);
    this.observer.disconnect();
    for (const [name, listener] of Object.entries(this.events)) this.model.off(`change:${name}`, listener);
  }

  build() {
    const { words, score } = this;
    const buttons = (...names) => names.map((name) => (this[name] = this.button(name)));
    this.slider = quiet(make("input", { type: "range", min: 0, step: 1, aria: { label: words.slider } }));
    this.track = block("mgp-track", this.slider);
    this.label = make("span", { className: "mgp-label" });
    this.speed = this.choice(words.speed, SPEEDS.map((speed) => [speed, `${speed}×`]), (speed) => this.set({ speed }));
    this.acts = this.choice(words.acts, score.acts.map(({ label }, i) => [i, label]), (act) => this.set({ playing: false, step: 0, act }));
    const counted = make("span", { className: "mgp-counted", textContent: words.counted ?? "" });
    const turn = (name, by) => this.button(name, () => this.cross(this.act + by, 0));
    this.turns = [turn("act_previous", -1), turn("act_next", 1)];
    this.curve = curve(score.earlier ?? [], score.counted, score.acts.map(({ root }) => root), words.curve);
    const calls = [this.turns[0], this.acts, this.turns[1], counted, ...this.curve.elements];
    const several = score.acts.length > 1 || score.counted ? [block("mgp-acts", ...calls)] : [];
    const keys = block("mgp-keys", ...buttons("first", "previous", "play", "next", "last"), this.speed);
    const tools = block("mgp-tools", ...buttons("queue", "zoom_out", "zoom_in", "zoom_fit"));
    this.view = quiet(make("div", { className: "mgp-view", tabIndex: 0, aria: { label: words.picture, role: "region" } }));
    this.panels = block("mgp-panels");
    this.details = make("div", { className: "mgp-details", hidden: true, aria: { label: words.details, role: "region" } });
    this.say = block("mgp-say");
    const body = (this.body = block("mgp-body", this.view));
    if (score.source.trim()) {
      this.source = new Source(score.source, words.source);
      const fold = quiet(make("button", { type: "button", className: "mgp-fold", textContent: words.source, aria: { expanded: true } }));
      fold.onclick = () => fold.setAttribute("aria-expanded", !body.classList.toggle("shut"));
      const column = block("mgp-source", fold, this.source.list);
      column.style.setProperty("--columns", Math.max(...this.source.lines.map((line) => line.length)));
      body.prepend(column);
    }
    const player = block("mgp-player", ...several, block("mgp-bar", keys, this.track, this.label, tools), this.say, body, this.panels, this.details);
    this.root = quiet(make("div", { className: `mgp mg-${score.theme}`, aria: { label: words.player, role: "group" } }, player));
    return this.root;
  }

  // The source stands above the picture where the two do not fit side by side.
  arrange() {
    if (!this.stage) return;
    this.reserve();
    this.body.classList.remove("stacked");
    const room = this.view.clientWidth - 16; // without its padding
    this.body.classList.toggle("stacked", this.root.clientWidth <= NARROW || room < this.stage.least);
    this.stage.near();
  }

  button(name, act = () => this.press(name)) {
    const label = this.words[name];
    return quiet(make("button", { type: "button", className: `mgp-${name}`, title: label, onclick: act, aria: { label } }, icon(name)));
  }

  choice(label, options, chosen) {
    const list = quiet(make("select", { title: label, aria: { label } }));
    list.append(...options.map(([value, textContent]) => make("option", { value, textContent })));
    list.onchange = () => chosen(Number(list.value));
    return list;
  }

  // Lay out the act that is chosen.
  async turn() {
    const act = clamp(this.model.get("act"), 0, this.score.acts.length - 1);
    if (act === this.act) return;
    this.act = act;
    const content = await unpacked(this.score.acts[act]);
    if (act !== this.act) return; // another was chosen meanwhile
    Object.assign(this, { frames: content.frames, step: undefined, picked: null, chosen: null, waits: null });
    this.acts.value = act;
    this.slider.max = this.frames.length;
    this.wide = 0;
    this.segments = segments(this.frames);
    this.track.style.setProperty("--gap", this.segments.length > 30 ? "1px" : "3px");
    this.track.replaceChildren(...this.segments.map(({ element }) => element), this.slider);
    this.stage = new Stage(this.view, content, this.words, (id) => this.pick(id, this.stage));
    this.boxes = new Map(Object.entries(content.panels));
    this.open = new Map();
    this.panels.replaceChildren();
    this.signs();
    this.arrange();
    this.details.hidden = true;
    this.curve.show(act);
    this.turns[0].disabled = !act;
    this.turns[1].disabled = act === this.score.acts.length - 1;
    const enter = this.enter;
    this.enter = undefined;
    if (enter) this.go(enter);
    else this.show();
  }

  // ------------------------------------------------------------------------------------------------- moves

  set(values) {
    for (const [name, value] of Object.entries(values)) this.model.set(name, value);
    this.model.save_changes();
  }

  go(step) {
    this.set({ step: clamp(step, 0, this.frames.length) });
  }

  // All acts are one timeline: to step `enter` of act `act` (Infinity: its last).
  cross(act, enter, playing = false) {
    const to = clamp(act, 0, this.score.acts.length - 1);
    if (to === this.act && playing) return this.set({ step: enter, playing });
    if (to === this.act) return this.go(to === act ? enter : this.step);
    this.enter = enter;
    this.set({ act: to, step: 0, playing });
  }

  // One step further or back, also past the end of an act.
  walk(by) {
    const step = this.step + by;
    if (step < 0) this.cross(this.act - 1, Infinity);
    else if (step > this.frames.length) this.cross(this.act + 1, 1);
    else this.go(step);
  }

  // To where the next chapter begins, or the one before: forward, backward, update.
  chapter(by) {
    const begins = this.frames.flatMap(({ phase }, i) => (phase === this.frames[i - 1]?.phase ? [] : [i + 1]));
    const to = by > 0 ? begins.find((step) => step > this.step) : begins.findLast((step) => step < this.step);
    if (to) this.go(to);
    else this.cross(this.act + by, by > 0 ? 1 : Infinity);
  }

  press(name) {
    const ends = { first: [0, 0], last: [this.score.acts.length - 1, Infinity] };
    if (name in ends) this.cross(...ends[name]);
    else if (name === "previous" || name === "next") this.walk(name === "next" ? 1 : -1);
    else if (name === "queue") this.toggle();
    else if (name !== "play") this.stage.resize(name);
    else if (this.model.get("playing")) this.set({ playing: false });
    else if (!this.ended()) this.set({ playing: true });
    else this.cross(0, 0, true);
  }

  key(event) {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.tagName === "SELECT") return;
    const station = target.closest("g.station");
    const stage = this.stages().find(({ view }) => view.contains(target)) ?? this.stage;
    const box = station && stage.id(station);
    if (key === "Escape" && this.picked) this.pick(null);
    else if (key === "Escape" && this.open.size) this.turnBox([...this.open.keys()].pop());
    else if ((key === "+" || key === "-") && this.boxes.has(box) && this.open.has(box) === (key === "-")) this.turnBox(box);
    else if (station && (key === "Enter" || key === " ")) this.pick(box, stage);
    else if (station && (key === "ArrowUp" || key === "ArrowDown")) stage.rove(station, key === "ArrowDown" ? 1 : -1);
    else if (event.shiftKey && key in CHAPTERS) this.chapter(CHAPTERS[key]);
    else if (key in MOVES && !(key === " " && target.tagName === "BUTTON")) this.press(MOVES[key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // The track is a slider with one step to a segment; left of the first is step 0.
  seek(event) {
    if (event.type === "pointerdown") {
      this.track.setPointerCapture(event.pointerId);
      this.slider.focus({ preventScroll: true });
      event.preventDefault();
    }
    const box = this.track.getBoundingClientRect();
    if (event.buttons & 1) this.go(Math.ceil(((event.clientX - box.left) / box.width) * this.frames.length));
  }

  // --------------------------------------------------------------------------------------------------- shows

  show() {
    if (!this.stage) return;
    const { model, frames } = this;
    const step = clamp(model.get("step"), 0, frames.length);
    if (step !== this.step) this.turned(step);
    const playing = model.get("playing") && !this.ended();
    const name = playing ? "pause" : "play";
    this.play.replaceChildren(icon(name));
    this.play.title = this.words[name];
    this.play.setAttribute("aria-label", this.words[name]);
    this.say.setAttribute("aria-live", playing ? "off" : "polite");
    this.speed.value = model.get("speed");
    clearTimeout(this.timer);
    const on = () => (step < frames.length ? this.go(step + 1) : this.cross(this.act + 1, 1, true));
    if (playing) this.timer = setTimeout(on, BEAT / model.get("speed"));
    else if (model.get("playing")) this.set({ playing });
  }

  // Whether the last step of all is shown.
  ended() {
    return this.step === this.frames.length && this.act === this.score.acts.length - 1;
  }

  turned(step) {
    this.step = step;
    const frame = this.frames[step - 1];
    for (const stage of this.stages()) stage.painter.paint(step);
    for (const segment of this.segments) segment.show(step);
    this.root.dataset.phase = frame?.phase ?? "start";
    this.say.classList.toggle("failed", Boolean(frame?.failed));
    this.label.textContent = frame?.label ?? `0 / ${this.frames.length}`;
    this.slider.value = step;
    this.slider.setAttribute("aria-valuetext", frame?.label ?? this.words.step_start);
    this.first.disabled = this.previous.disabled = !step && !this.act;
    this.next.disabled = this.last.disabled = this.ended();
    this.tell(frame);
    this.mark();
    if (this.picked) this.inspect();
    const { roots, painter } = this.stage;
    this.stage.reveal(frame?.marks ?? [...painter.guilty, ...roots], !step);
  }

  tell(frame) {
    this.say.replaceChildren(...this.told(frame, this.queued(frame)));
  }

  told(frame, more = []) {
    const text = make("div", { className: "mgp-text", textContent: frame?.text ?? this.words.step_start });
    return [text, ...arithmetic([...(frame?.lines ?? []), ...more])];
  }

  // The words stand above the picture, as high as the longest of them, which are measured all at once.
  reserve() {
    const { root, frames } = this;
    if (this.wide === root.clientWidth) return;
    this.wide = root.clientWidth;
    const every = Math.ceil(frames.length / MEASURED) || 1;
    const some = [undefined, ...frames.filter((_, i) => i % every === 0)];
    const all = some.map((frame) => block(`mgp-say${frame?.failed ? " failed" : ""}`, ...this.told(frame)));
    const hidden = block("mgp-measure", ...all);
    this.say.after(hidden);
    const tallest = Math.max(...all.map((words) => words.offsetHeight));
    hidden.remove();
    this.say.style.minHeight = `${Math.min(tallest, TALLEST)}px`;
  }

  mark() {
    const span = (step, kind) => [this.frames[step - 1]?.span, kind];
    const cause = this.frames[this.step - 1]?.cause;
    const spans = [span(this.step, "now"), [cause, "cause"], ...this.steps().map((step) => span(step, "also"))];
    this.source?.mark(spans.filter(([where]) => where));
  }

  // -------------------------------------------------------------------------------------------------- details

  pick(id, stage = this.chosen ?? this.stage) {
    const [before, held] = [this.chosen?.parts.get(this.picked), this.held()];
    this.chosen?.mark(null);
    [this.picked, this.chosen] = [id, stage];
    stage.mark(id);
    this.inspect();
    this.mark();
    if (held >= 0 && !id) (before?.hasAttribute("tabindex") ? before : this.view).focus({ preventScroll: true });
  }

  // Which button of the details has the focus; -1 if none.
  held() {
    return [...this.details.querySelectorAll("button")].indexOf(this.root.getRootNode().activeElement);
  }

  // The steps that mark what is picked.
  steps() {
    return this.picked ? [...(this.chosen.painter.steps.get(this.picked) ?? [])] : [];
  }

  inspect() {
    const held = this.held(); // a button that is pressed here is replaced: the keys stay with it
    this.details.hidden = !this.picked;
    this.details.replaceChildren();
    if (!this.picked) return;
    const { words, frames } = this;
    const { cards, node, code, arrows, came, went } = this.chosen.about(this.picked);
    const steps = this.steps();
    const reached = steps.filter((step) => !this.step || step <= this.step);
    const jump = (step) => quiet(make("button", { type: "button", textContent: frames[step - 1].label, onclick: () => this.go(step) }));
    const entry = (one) => (one.nodeType ? one : make("div", { textContent: one }));
    const part = (head, told, kind = "") => {
      const more = told.length > MOST ? [`… +${told.length - MOST}`] : [];
      const entries = [...told.slice(0, MOST), ...more].map(entry);
      return told.length ? [block(`mgp-part ${kind}`, make("b", { textContent: head }), ...entries)] : [];
    };
    this.details.append(
      this.button("close", () => this.pick(null)),
      ...part(words.details, [...cards, ...arrows]),
      ...part(words.legend_node, node),
      ...part(words.details_in, came),
      ...part(words.details_out, went),
      ...part(words.source, code, "wide code"),
      ...part(words.details_formula, reached.flatMap((step) => arithmetic(frames[step - 1].lines)), "wide"),
      ...part(words.details_steps, steps.map(jump), "wide"),
    );
    this.details.querySelectorAll("button")[held]?.focus({ preventScroll: true });
  }

  // --------------------------------------------------------------------------------------------------- boxes

  // All pictures that are shown: the whole, and what is inside the boxes that are open.
  stages() {
    return [this.stage, ...[...this.open.values()].map(({ stage }) => stage)];
  }

  signs() {
    for (const stage of this.stages()) stage.plus(this.boxes, this.open, (box) => this.turnBox(box));
  }

  // Open a box below the picture, or close it with what is open in it.
  turnBox(id) {
    const shown = this.open.get(id);
    if (shown) {
      const inner = [...this.open.keys()].filter((box) => box !== id && shown.stage.parts.has(box));
      inner.forEach((box) => this.turnBox(box));
      if (this.chosen === shown.stage) this.pick(null);
      shown.element.remove();
      this.open.delete(id);
    } else {
      const panel = this.boxes.get(id);
      const view = quiet(make("div", { className: "mgp-view", tabIndex: 0, aria: { label: panel.title, role: "region" } }));
      const close = make("button", { type: "button", textContent: "−", title: this.words.box_close, onclick: () => this.turnBox(id), aria: { label: this.words.box_close } });
      const element = block("mgp-panel", block("mgp-head", make("b", { textContent: panel.title }), quiet(close)), view);
      this.panels.append(element);
      const stage = new Stage(view, panel, this.words, (part) => this.pick(part, stage));
      this.open.set(id, { element, stage });
      stage.painter.paint(this.step ?? 0);
    }
    this.signs();
  }

  // ------------------------------------------------------------------------------------------ the ready queue

  toggle() {
    const on = this.queue.getAttribute("aria-pressed") !== "true";
    this.queue.setAttribute("aria-pressed", on);
    this.tell(this.frames[this.step - 1]);
  }

  // What can run after this step, in order, as a line; on the picture how many arrows each other node misses.
  queued(frame) {
    const on = this.queue.getAttribute("aria-pressed") === "true" && frame;
    const [count, ...ready] = on ? frame.ready : [0];
    this.stage.sign(on ? [...this.waiting(), ...ready.map((id, i) => [id, `${i + 1}.`, "ready"])] : []);
    if (!on) return [];
    const name = (id) => this.stage.name(id).split(" = ")[0];
    const node = (id) => this.stage.parts.get(`${id}-d`)?.querySelector(".fn")?.textContent ?? "";
    const names = ready.map((id, i) => `${i + 1}. ${node(id)} (${name(id)})`).join(", ") || this.words.queue_none;
    const more = count > ready.length ? ` … +${count - ready.length}` : "";
    const recursion = frame.recursion ? [[this.words.recursion_label, [["", frame.recursion]]]] : [];
    return [...recursion, [this.words.queue_ready, [["", names + more]]]];
  }

  waiting() {
    const waits = new Map();
    for (const frame of this.frames.slice(0, this.step)) {
      for (const [id, arrows] of frame.waiting) waits.set(id, arrows);
    }
    return [...waits].filter(([, arrows]) => arrows).map(([id, arrows]) => [id, `${arrows}`, "waits"]);
  }
}

export function render({ model, el }) {
  const player = new Player(model, el);
  return () => player.end();
}

// Put a player in the place of the picture in `box`, on a page without a kernel.
export function mount(box, score, css) {
  const still = box.firstElementChild;
  const act = score.acts[score.shown];
  if (act.groups) act.svg = whole(still, act);
  const el = make("div", {}, make("style", { textContent: css }));
  render({ model: memory({ _score: score, step: 0, act: score.shown, playing: false, speed: 1 }), el });
  still.replaceWith(el);
  box.style.overflowX = "visible";
}

export default { render, mount };
