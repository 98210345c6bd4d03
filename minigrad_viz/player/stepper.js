// The player of a Stepper: which step it shows, in the elements that stepper_panes.js makes, and what opens on request.
//
// A score (see score.py) is laid out once; a step touches only what it changes. Everything is found below
// the player's own element, never in `document`: many players share a page, some in shadow roots. Text of
// the cell gets into the page as text alone.

import { following } from "./stepper_caption.js";
import { legend, vjp } from "./stepper_details.js";
import { inline } from "./stepper_formula.js";
import { Keys } from "./stepper_keys.js";
import { Motion } from "./stepper_motion.js";
import { Panes } from "./stepper_panes.js";
import { addressed, block, clamp, control, extras, face, make, memory, unpacked, whole } from "./stepper_parts.js";
import { SPARE, Stage, fitting } from "./stepper_picture.js";
import { alone, send, share } from "./stepper_share.js";
import { Tour } from "./stepper_tour.js";

const BEGIN = 200; // milliseconds from the start of the play to its first step
const [SHORTEST, LONGEST] = [1400, 3700]; // milliseconds that a step stands at speed 1
const REPEATED = 8; // times as fast: a round that says what the one before said
const STEPS = new Set(["first", "previous", "play", "next", "last"]); // what goes from one step to another
const READING = 13; // milliseconds for each letter of the caption
const WIDE = 900; // pixels from which on a page has its source open, if the picture fits beside it
const ASIDE = 1300; // the same where the picture is a strip, which stays as wide as it is

export class Player extends Tour {
  /** @type {Stage | null} the picture of the act */ stage = null;
  /** @type {string | null} the part that the reader picked, and the stage that it is part of */ picked = null;
  /** @type {Stage | null} */ chosen = null;
  /** @type {import("./stepper_parts.js").Extra[]} */ extras = [];
  /** @type {Element[]} what the legend says */ signs = [];
  wide = 0; // pixels; 0: not laid out
  full = false; // whether it fills the screen
  /** @type {ReturnType<typeof setTimeout> | undefined} */ timer;

  /** @param {import("./stepper_types.js").Model} model @param {Element} el @param {import("./stepper_types.js").Module} module */
  constructor(model, el, module) {
    super(model);
    this.module = module;
    this.words = this.score.words;
    this.motion = new Motion();
    this.panes = new Panes(this);
    el.append(this.panes.root);
    this.keys = new Keys(this);
    this.observer = new ResizeObserver(() => this.arrange());
    this.observer.observe(this.panes.root);
    this.printed = () => this.frames && this.go(this.frames.length); // on paper the last step stands
    addEventListener("beforeprint", this.printed);
    this.events = { act: () => ((this.rests = false), this.turn()) };
    for (const name of ["step", "playing", "speed"]) this.events[name] = () => this.show();
    for (const [name, listener] of Object.entries(this.events)) model.on(`change:${name}`, listener);
    this.begin();
  }

  // What this cell uses besides. An extra may keep a step or an act from being shown (`reach`, `act`), hide what a
  // step shows (`hides`), and is told of what happens; see `Extra`.
  async begin() {
    this.extras = (await Promise.all(extras.map((extra) => extra(this)))).filter(Boolean);
    if (this.extras.length) this.model.set("act", this.allowed(this.model.get("act")));
    this.rests = true;
    this.turn();
  }

  end() {
    clearTimeout(this.timer);
    this.observer.disconnect();
    this.keys.end();
    removeEventListener("beforeprint", this.printed);
    for (const [name, listener] of Object.entries(this.events)) this.model.off(`change:${name}`, listener);
  }

  // What depends on the width; `again`: of the picture's place alone.
  arrange(again = false) {
    if (!this.stage) return;
    const { clientWidth } = this.panes.root;
    if (this.wide === clientWidth && !again) return;
    const first = !this.wide;
    this.wide = clientWidth;
    if (first) for (const extra of this.extras) extra.arranged(); // what is beside the picture has its room first
    if (first && this.score.pane && this.panes.view.clientWidth >= (this.content.widths ? ASIDE : WIDE)) {
      this.toggle("source", true);
      const cuts = this.stage.cuts();
      if (cuts.has("left") || cuts.has("right")) this.toggle("source", false);
    }
    this.lay();
    this.show();
    const full = this.panes.root.matches(":fullscreen");
    if (full) this.stage.project(innerHeight - this.panes.top.offsetHeight - 24);
    else if (this.full || this.stage.zoom === null) this.stage.scale(null);
    this.full = full;
    this.panes.rounds?.show(this.act);
    this.panes.track.fit();
    this.chart();
    this.sight(true);
    this.panes.zoom.hidden = !this.stage.cuts().size;
    for (const extra of this.extras) extra.arranged();
  }

  // To where the next chapter begins, or the one before.
  /** @param {number} by */
  chapter(by) {
    const to = this.panes.track.jump(this.step, by);
    if (this.resting()) by > 0 && this.cross(0, 1);
    else if (to) this.go(to);
    else this.cross(this.act + by, by > 0 ? 1 : Infinity);
  }

  // How high the caption is, and beside it a map of the picture while the picture is cut.
  chart() {
    const { stage } = this;
    const { map, caption, root, top } = this.panes;
    stage.onmove = null;
    for (const mapped of [false, true]) {
      map.element.style.display = mapped ? "" : "none";
      caption.settle(this.frames);
      root.style.setProperty("--top", `${top.offsetHeight}px`);
      stage.near();
      if (!stage.places || !stage.cuts().size) break;
    }
    if (!stage.places) return;
    map.lay(stage, caption.element.offsetHeight);
    stage.onmove = () => map.follow();
    stage.near();
    this.tell();
  }

  button(name, act = () => this.press(name)) {
    return control(this.words, name, act);
  }

  // Lay out the act that is chosen.
  async turn() {
    const chosen = clamp(this.model.get("act"), 0, this.score.acts.length - 1);
    const act = this.allowed(chosen);
    if (act !== chosen) return this.set({ act });
    if (act === this.act) return;
    this.act = act;
    const content = await unpacked(this.score.acts, act);
    if (act !== this.act) return; // another was chosen meanwhile
    Object.assign(this, { content, frames: content.frames, picked: null, chosen: null, wide: 0, stage: null });
    const steps = (acts) => acts.flatMap(({ chapters }) => chapters).reduce((sum, [, n]) => sum + n, 0);
    [this.before, this.all] = [steps(this.score.acts.slice(0, act)), steps(this.score.acts)];
    this.panes.track.lay(this.frames);
    this.lay();
    if (this.panes.acts) {
      this.panes.acts.value = act;
      this.panes.turns[0].disabled = !act;
      this.panes.turns[1].disabled = act === this.score.acts.length - 1;
    }
    if (this.enter) this.go(this.enter);
    this.enter = undefined;
    this.show();
    this.arrange();
  }

  // The picture of the act, in the form that fits the width better; nothing if it is there.
  lay() {
    const { content } = this;
    const { view } = this.panes;
    const room = view.clientWidth;
    const narrow = content.narrow && room && room < content.width - SPARE ? content.narrow : {};
    const shown = { ...content, ...(content.widths ? fitting(content, room) : narrow) };
    if (this.stage?.prefix === shown.prefix) return;
    this.panes.details.element.hidden = true;
    Object.assign(this, { picked: null, chosen: null, step: undefined });
    this.stage = new Stage(view, shown, this.words, (id) => this.pick(id, this.stage));
    this.signs = [...legend(this.stage.svg), ...vjp(this.frames, this.words), block("mgp-sign", this.words.keys)];
    this.toggle("legend", false);
    this.panes.boxes.lay(content.panels);
    for (const extra of this.extras) extra.laid();
  }

  press(name) {
    /** @type {Record<string, [number, number]>} */
    const ends = { first: [0, 0], last: [this.score.acts.length - 1, Infinity] };
    if (STEPS.has(name)) this.come();
    if (name in ends) this.cross(...ends[name]);
    else if (name === "previous" || name === "next") this.walk(name === "next" ? 1 : -1);
    else if (["queue", "source", "legend", "copy", "offer"].includes(name)) this.toggle(name);
    else if (name === "full") document.fullscreenElement ? document.exitFullscreen() : this.panes.root.requestFullscreen?.();
    else if (name !== "play") this.stage.resize(name), this.chart();
    else if (this.model.get("playing")) this.set({ playing: false });
    else if (!this.ended()) this.set({ playing: true });
    else this.cross(0, 0, true);
  }

  // A player that is stepped through is in the window as a whole, or from its controls on.
  come() {
    const { root } = this.panes;
    if (!root.closest(".reveal")) root.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  // --------------------------------------------------------------------------------------------------- shows

  show() {
    if (!this.stage) return;
    const { model, frames } = this;
    const chosen = clamp(model.get("step"), 0, frames.length);
    const step = this.extras.reduce((at, extra) => extra.reach(at), chosen);
    if (step !== chosen) return this.set({ step, playing: false });
    if (step !== this.step) this.turned(step);
    const playing = model.get("playing") && !this.ended() && !this.hidden();
    face(this.panes.buttons.play, this.words, playing ? "pause" : "play");
    this.panes.caption.element.setAttribute("aria-live", playing ? "off" : "polite");
    this.panes.speed.value = model.get("speed");
    clearTimeout(this.timer);
    const beat = step ? clamp(READING * this.panes.caption.element.textContent.length, SHORTEST, LONGEST) / this.pace() : BEGIN;
    if (playing) this.timer = setTimeout(() => this.advance(), beat);
    else if (model.get("playing")) this.set({ playing });
  }

  // The play goes on by a step.
  advance() {
    const inner = this.extras.find((extra) => extra.ahead(1));
    if (inner) inner.walk(1);
    else if (this.resting()) this.cross(0, 1, true);
    else if (this.step < this.frames.length) this.go(this.step + 1);
    else this.cross(this.act + 1, 1, true);
  }

  // How fast the play is: rounds that say the same pass quickly.
  pace() {
    return this.model.get("speed") * (this.model.get("playing") && this.repeats() ? REPEATED : 1);
  }

  turned(step) {
    this.motion.finish();
    const on = step === this.step + 1;
    this.step = step;
    this.rests = this.rests && !step;
    const hidden = this.hidden();
    const frame = hidden ? undefined : this.frames[step - 1];
    for (const extra of this.extras) extra.leaving();
    for (const stage of this.stages()) stage.paint(hidden ? step - 1 : step);
    for (const extra of this.extras) extra.painted();
    this.panes.map.show();
    this.panes.track.show(step);
    this.panes.root.dataset.phase = this.frames[step - 1]?.phase ?? "start";
    this.panes.label.textContent = `${this.resting() ? 0 : this.before + step} / ${this.all}`;
    if (this.panes.phase) this.panes.phase.textContent = step ? this.panes.track.told(step) : "";
    this.panes.buttons.first.disabled = !step && !this.act;
    this.panes.buttons.previous.disabled = this.panes.buttons.first.disabled || this.resting();
    this.panes.buttons.next.disabled = this.panes.buttons.last.disabled = this.ended();
    this.tell();
    this.mark();
    if (this.picked) this.panes.details.show(this.picked, this.chosen, this.steps());
    this.sight(!step);
    for (const extra of this.extras) extra.shown(step);
    if (on && frame) this.motion.play(this.content.widths ? this.stages().at(-1) : this.stage, frame, this.panes.caption.formula, this.pace());
  }

  // The act that may be shown, for one that is wanted.
  allowed(act) {
    return this.extras.reduce((at, extra) => extra.act(at), act);
  }

  // Whether an extra hides what the step shows.
  hidden() {
    return this.extras.some((extra) => extra.hides(this.step));
  }

  // What is active is brought into sight.
  sight(still) {
    const { roots, painter } = this.stage;
    this.stage.reveal(this.frames[this.step - 1]?.marks ?? [...painter.guilty, ...roots], still);
  }

  tell() {
    const hidden = this.hidden();
    const invited = !this.step && !this.keys.held ? { text: this.words.step_click, lines: [], marks: [] } : undefined;
    this.panes.caption.show(hidden ? undefined : (this.frames[this.step - 1] ?? invited), hidden ? "" : following(this));
    for (const extra of this.extras) extra.caption();
    this.panes.order.show(!hidden && this.panes.buttons.queue.getAttribute("aria-pressed") === "true", this);
  }

  mark() {
    const { span, cause } = this.frames[this.step - 1] ?? {};
    const also = this.steps().map((step) => [this.frames[step - 1].span, "also"]);
    this.panes.code.mark([[span, "now"], [cause, "cause"], ...also].filter(([where]) => where));
  }

  // All pictures that are shown: the whole, and the boxes that are open.
  stages() {
    const { open, pinned } = this.panes.boxes;
    return [this.stage, ...[...(pinned ? [pinned] : []), ...open.values()].map(({ stage }) => stage)];
  }

  // ----------------------------------------------------------------------------------------- what opens

  pick(id, stage = this.chosen ?? this.stage) {
    if (this.extras.some((extra) => extra.open().length)) return;
    const [before, held] = [this.chosen?.parts.get(this.picked), this.panes.details.held()];
    this.chosen?.mark(null);
    [this.picked, this.chosen] = [id, stage];
    stage.mark(id);
    if (id) for (const name of Object.keys(this.panes.popups)) this.toggle(name, false); // one is open at a time
    this.panes.details.show(id, stage, this.steps());
    this.room();
    this.mark();
    if (held >= 0 && !id) (before?.hasAttribute("tabindex") ? before : this.panes.view).focus({ preventScroll: true });
  }

  // The steps that mark what is picked.
  steps() {
    return this.picked ? [...(this.chosen.painter.steps.get(this.picked) ?? [])] : [];
  }

  /** @param {string} name @param {boolean} [on] */
  toggle(name, on = this.panes.buttons[name].getAttribute("aria-pressed") !== "true") {
    const { buttons, pane, popups } = this.panes;
    buttons[name].setAttribute("aria-pressed", String(on));
    if (name === "queue") return this.tell();
    (popups[name] ?? pane).hidden = !on;
    if (name === "source") {
      if (this.content?.widths) this.arrange(true);
      return this.mark();
    }
    if (on) {
      for (const other of Object.keys(popups)) if (other !== name) this.toggle(other, false);
      if (this.picked) this.pick(null);
    }
    if (name === "legend") popups.legend.replaceChildren(...(on ? this.signs : []));
    this.room();
  }

  // The picture's place is as high as what has opened over it.
  room() {
    const open = [this.panes.details.element, ...Object.values(this.panes.popups)].find((part) => !part.hidden);
    this.panes.scene.style.minHeight = open ? `${open.offsetTop + open.offsetHeight + 8}px` : "";
  }

  async share(kind) {
    const copied = kind === "html" ? send(this.module, this.model, this.act, this.step) : await this.still(kind);
    this.panes.buttons.copy.title = this.words[copied ? "copied" : "copied_file"];
    this.toggle("copy", false);
    this.panes.buttons.copy.focus({ preventScroll: true });
  }

  // The picture of the step with what is said of it; whether it is on the clipboard.
  still(kind) {
    const formula = this.step && !this.hidden() && this.panes.caption.tree ? inline(this.panes.caption.tree) : "";
    return share(kind, alone(this.stage.svg, [this.panes.caption.said, formula]));
  }
}

/** @type {Map<string, CSSStyleSheet>} */
const sheets = new Map();

// One sheet dresses all players of this module that stand in the same document or shadow root. A notebook may
// put the element on its page later.
function dress(el, style) {
  const sheet = sheets.get(style) ?? new CSSStyleSheet();
  if (!sheets.has(style)) sheet.replaceSync(style);
  sheets.set(style, sheet);
  const adopt = (root) => root.adoptedStyleSheets.includes(sheet) || root.adoptedStyleSheets.push(sheet);
  adopt(el.isConnected ? el.getRootNode() : document);
  const later = new ResizeObserver(() => el.isConnected && (adopt(el.getRootNode()), later.disconnect()));
  if (!el.isConnected) later.observe(el);
}

/** @param {{ model: import("./stepper_types.js").Model, el: Element, module: import("./stepper_types.js").Module }} place */
export function render({ model, el, module }) {
  dress(el, module.style);
  const player = new Player(model, el, module);
  return () => player.end();
}

// Put a player in the place of the picture in `box`, on a page without a kernel.
/** @param {any} box @param {any} score @param {import("./stepper_types.js").Module} module */
export function mount(box, score, module) {
  const still = box.firstElementChild;
  const act = score.acts[score.shown];
  if (act.groups) act.svg = whole(still, act);
  const step = (score.pane && addressed()) || score.step || 0;
  const model = memory({ _score: score, step, act: score.shown, playing: false, speed: 1 });
  const el = box.insertBefore(make("div"), still);
  render({ model, el, module });
  if (score.pane) addEventListener("hashchange", () => model.set("step", addressed()));
  while (still.nextSibling && still.nextSibling.localName !== "script") still.nextSibling.remove();
  still.remove();
  box.style.overflowX = "visible";
}

export default { render, mount };
