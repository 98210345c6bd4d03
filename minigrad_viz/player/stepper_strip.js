// The strip of a model: below it stands the inside of one card, the one that is active or that the reader chose.

import { Extra, block, extras, make, quiet } from "./stepper_parts.js";
import { viewOf } from "./stepper_boxes.js";
import { Stage } from "./stepper_picture.js";

const FOUND = 8; // modules that are offered
const RIM = 8; // pixels around a picture that is pinned

class Strip extends Extra {
  constructor(player) {
    super();
    this.player = player;
    const { words } = player;
    const { boxes } = player.panes;
    this.field = quiet(make("input", { type: "text", placeholder: words.find, aria: { label: words.find } }));
    this.offers = block("mgp-offers");
    this.find = block("mgp-find", this.field, this.offers);
    this.find.hidden = true;
    this.field.oninput = () => this.offer();
    this.field.onkeydown = (event) => this.typed(event);
    this.tables = block("mgp-tables");
    boxes.element.before(this.find);
    boxes.element.parentNode.append(this.tables);
    this.inside = new Inside(player);
    player.panes.root.addEventListener("module", ({ detail }) => this.called(detail));
  }

  // A page that the player is part of opens a module by its path.
  called(path) {
    const module = this.on && this.player.content.modules.find(([each]) => each === path);
    if (module) this.choose(module);
  }

  ahead(by) {
    return this.on && this.inside.ahead(by);
  }

  walk(by) {
    this.inside.walk(by);
  }

  leaving() {
    this.inside.leave();
  }

  caption() {
    if (this.on) this.inside.tell();
  }

  // Of an act that has a strip, a click on a card opens it, and another click closes it; one card is open at a time.
  laid() {
    const { player } = this;
    const { stage, content, words } = player;
    const { boxes } = player.panes;
    this.on = Boolean(content.modules);
    player.panes.root.classList.toggle("stripped", this.on);
    this.step = null;
    boxes.single = this.on ? (id) => Boolean(stage.parts.get(id)?.matches(".strip")) : null;
    boxes.turned = this.on ? (id) => this.mark(id) : null;
    this.find.hidden = true;
    if (this.content !== content) this.tables.replaceChildren(...(this.on ? content.updates.map(table) : []));
    this.content = content;
    this.inside.laid();
    this.pin(this.on && this.pinned && boxes.panels.has(this.pinned) ? this.pinned : "");
    if (!this.on) return;
    const pane = player.panes.root.querySelector(".mgp-livepane");
    if (pane) this.tables.before(pane); // what is inside of a card stands directly below the strip
    player.signs.push(block("mgp-sign", words.strip_keys));
    const pick = stage.view.onclick;
    stage.view.onclick = (event) => {
      const id = stage.at(event.target);
      if (boxes.panels.has(id)) boxes.turn(id);
      else pick(event);
    };
  }

  // What is open is laid out anew where it has another room: the strip may be as it was.
  arranged() {
    const { boxes } = this.player.panes;
    const { clientWidth } = boxes.element;
    if (this.on && boxes.open.size && this.room !== clientWidth) {
      const open = [...boxes.open.keys()];
      this.inside.playing(() => (this.go([]), this.go(open)));
      this.inside.begin(0);
      if (this.pinned) this.pin(this.pinned);
    }
  }

  cards() {
    const { stage } = this.player;
    const { boxes } = this.player.panes;
    return [...stage.svg.querySelectorAll(".strip")].map((part) => stage.id(part)).filter((id) => boxes.panels.has(id));
  }

  // A step brings the inside of its card; between steps the reader may open another.
  shown(step) {
    if (!this.on || step === this.step) return;
    const first = this.step === null;
    const by = first ? 0 : step - this.step;
    this.step = step;
    const { stage, content, frames } = this.player;
    const { boxes } = this.player.panes;
    const open = this.cards().find((id) => boxes.open.has(id));
    const active = this.cards().filter((id) => stage.current.includes(id)).at(-1);
    this.inside.playing(() => {
      if (active && active !== open) this.go([active, ...this.inside.within(active)]);
      else if (!active && !open && first) this.go(this.inside.kept() ?? content.open);
    });
    this.inside.begin(by);
    this.tables.hidden = this.player.extras.some((extra) => extra.open().length); // it would answer what is asked
    for (const { dataset, classList } of this.tables.querySelectorAll("details")) {
      const at = frames.findIndex(({ marks }) => marks.includes(dataset.update)) + 1;
      classList.toggle("later", Boolean(step) && step < at);
    }
  }

  // Open boxes, each inside the one before, and close what else is open.
  go(ids) {
    const { boxes } = this.player.panes;
    for (const id of [...boxes.open.keys()].reverse()) if (boxes.open.has(id) && !ids.includes(id)) boxes.turn(id, true);
    for (const id of ids) if (boxes.panels.has(id) && !boxes.open.has(id)) boxes.turn(id, true);
    boxes.settle();
    return boxes.open.get(ids.at(-1));
  }

  key(key) {
    if (!this.on || !["[", "]", "/", "p", "P"].includes(key)) return false;
    if (key === "/") this.search();
    else if (key === "p" || key === "P") this.turnPin();
    else this.beside(key === "]" ? 1 : -1);
    return true;
  }

  // The same place in the next repetition, or the next card.
  beside(by) {
    const { content } = this.player;
    const { boxes } = this.player.panes;
    const inner = [...boxes.open.keys()].at(-1);
    const here = content.modules.find(([, ...ids]) => ids.length > 1 && ids.at(-1) === inner);
    const path = here?.[0].replace(/\.(\d+)(?=\.|$)/, (_, n) => `.${Number(n) + by}`);
    const there = content.modules.find(([name, ...ids]) => name === path && name !== here[0] && ids.length === here.length - 1);
    if (there) return this.go(there.slice(1));
    const cards = this.cards();
    const next = cards[cards.findIndex((id) => boxes.open.has(id)) + by];
    if (next) this.go([next]);
  }

  // -------------------------------------------------------------------------------------------- finding a module

  search() {
    this.find.hidden = false;
    this.field.value = "";
    this.offer();
    this.field.focus();
  }

  // Modules whose paths contain what is typed, those that end in it first.
  offer() {
    const typed = this.field.value.trim().toLowerCase();
    const found = typed ? this.player.content.modules.filter(([path]) => path.toLowerCase().includes(typed)) : [];
    const order = ([path]) => (path.toLowerCase().endsWith(typed) ? 0 : 1);
    this.found = found.sort((a, b) => order(a) - order(b) || a[0].length - b[0].length).slice(0, FOUND);
    const none = typed && !found.length ? [make("span", { textContent: this.player.words.find_none, aria: { role: "status" } })] : [];
    const offers = this.found.map((module) => make("button", { type: "button", textContent: module[0], onclick: () => this.choose(module) }));
    this.offers.replaceChildren(...none, ...offers.map(quiet));
  }

  typed(event) {
    if (event.key === "Enter" && this.found[0]) this.choose(this.found[0]);
    else if (event.key === "Escape") this.leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  choose([, ...ids]) {
    const panel = this.go(ids);
    this.leave();
    panel?.element.scrollIntoView({ block: "nearest" });
  }

  leave() {
    this.find.hidden = true;
    this.player.panes.view.focus({ preventScroll: true });
  }

  // ------------------------------------------------------------------------- the picture that stays beside others

  // Pin the innermost box that is open; if it is pinned, or none is open, unpin what is.
  turnPin() {
    const { boxes } = this.player.panes;
    const open = [...boxes.open.keys()].at(-1);
    const beside = boxes.pinned;
    this.pinned = !open || open === beside?.id ? "" : open;
    this.pin(this.pinned);
    if (Boolean(beside) !== Boolean(this.pinned)) this.player.arrange(true);
  }

  // Show the picture of a box beside the strip or below it: of what it has the picture of the subject, if there is one.
  pin(id) {
    const { player } = this;
    const { boxes } = player.panes;
    const panel = boxes.panels.get(id);
    if (player.chosen && player.chosen === boxes.pinned?.stage) player.pick(null);
    boxes.pinned = null;
    boxes.pin.hidden = !panel;
    if (!panel) return boxes.pin.replaceChildren();
    const head = make("b", { textContent: panel.title });
    const view = viewOf(panel);
    const label = player.words.strip_unpin;
    const close = quiet(make("button", { type: "button", textContent: "P", title: label, onclick: () => ((this.pinned = ""), this.pin(""), player.arrange(true)), aria: { label } }));
    boxes.pin.replaceChildren(block("mgp-head", head, close), block("mgp-scene", view));
    this.title(head);
    head.prepend(`${player.words.strip_pinned} `);
    const stage = boxes.staged(panel, view);
    this.choices(view);
    crop(stage);
    this.inside.opened(id, stage);
    boxes.pinned = { id, stage };
    stage.paint(player.step ?? 0);
  }

  // A card was opened or closed.
  mark(id) {
    const { stage } = this.player;
    const { boxes } = this.player.panes;
    const open = boxes.open.get(id);
    if (open) {
      this.room = boxes.element.clientWidth;
      this.choices(open.stage.view);
      const head = open.element.querySelector(".mgp-head b");
      this.title(head);
      head.dataset.moved = this.player.words.strip_moved;
      this.inside.opened(id, open.stage);
      this.tabs(open);
    }
    if (boxes.single(id)) stage.parts.get(id).classList.toggle("chosen", boxes.open.has(id));
  }

  // Where graph and picture are too high together, two tabs show one of them; the choice stays.
  tabs({ element, stage }) {
    const { root } = this.player.panes;
    const subjects = subjectsOf(stage);
    const high = element.getBoundingClientRect().bottom - root.getBoundingClientRect().top;
    if (!subjects.length || high <= innerHeight) return;
    const { words } = this.player;
    const { width, height } = stage.svg.viewBox.baseVal;
    const cut = Math.min(...subjects.map((part) => part.getBBox().y));
    const show = (picture) => {
      this.picture = picture;
      for (const part of stage.svg.querySelectorAll(":scope > .subject")) part.style.display = picture ? "" : "none";
      stage.svg.style.overflow = "";
      if (picture) crop(stage);
      else frame(stage, 0, 0, width, Math.min(height, cut - RIM));
      for (const button of buttons) button.setAttribute("aria-pressed", String((button === buttons[1]) === picture));
    };
    const buttons = [words.strip_stations, words.strip_picture].map((textContent, i) => quiet(make("button", { type: "button", textContent, onclick: () => show(i === 1) })));
    element.querySelector(".mgp-head").lastElementChild.before(block("mgp-tabs", ...buttons));
    show(Boolean(this.picture));
  }

  // A click, Enter or Space on a small map (a head, a channel, a sample) shows what belongs to it.
  choices(view) {
    const pick = view.onclick;
    view.onclick = (event) => {
      const one = event.target.closest(".choice")?.dataset;
      if (!one) return pick(event);
      for (const part of view.querySelectorAll(`[data-choice="${one.choice}"]`)) part.classList.toggle("on", one.i === part.dataset.i);
    };
    view.onkeydown = (event) => [" ", "Enter"].includes(event.key) && event.target.closest(".choice") && (event.stopPropagation(), view.onclick(event));
  }

  // The way to what is open, its last word in bold.
  title(head) {
    const words = head.textContent.split(" › ");
    const last = words.pop();
    head.replaceChildren(...words.map((word) => `${word} › `), make("strong", { textContent: last }));
  }
}

// Stepping inside of what the reader has opened: while a step of the whole stands, the steps in an open box are
// gone through one by one. `chosen` are the boxes that the reader opened; playing opens the others for a look.
class Inside {
  /** @param {import("./stepper.js").Player} player */
  constructor(player) {
    this.player = player;
    /** @type {Set<string>} */
    this.chosen = new Set();
    this.leave();
    const { boxes } = player.panes;
    const turn = boxes.turn.bind(boxes);
    let depth = 0;
    boxes.turn = (id, more) => {
      depth++;
      turn(id, more);
      depth--;
      if (depth || this.quiet) return; // what closes with it stays chosen, and is opened with it again
      this.chosen[boxes.open.has(id) ? "add" : "delete"](id);
      this.begin(0);
    };
  }

  laid() {
    this.leave();
    if (this.content !== this.player.content) this.chosen.clear();
    this.content = this.player.content;
  }

  // Another step is about to be painted.
  leave() {
    this.at = null;
    this.steps = [];
  }

  // What opens and closes meanwhile is not the reader's choice.
  playing(act) {
    this.quiet = true;
    act();
    this.quiet = false;
  }

  // What the reader had open, where the picture was laid out again.
  kept() {
    const { boxes } = this.player.panes;
    const card = [...this.chosen].reverse().find((id) => boxes.panels.has(id) && boxes.single(id));
    return card && [card, ...this.within(card)];
  }

  // The chosen boxes inside of a box that is about to be opened.
  within(id) {
    const { panels } = this.player.panes.boxes;
    const inside = (box) => [...this.chosen].filter((one) => one !== box && panels.has(one) && panels.get(box)?.svg.includes(`id="${panels.get(box).prefix}${one}"`));
    const found = this.chosen.has(id) ? inside(id) : [];
    return found.flatMap((box) => [box, ...this.within(box)]);
  }

  // The picture of an open box has its own steps: it is painted as far as they have come.
  opened(id, stage) {
    const { ends } = this.player.panes.boxes.panels.get(id);
    if (!ends?.length) return;
    const { paint } = Stage.prototype;
    const whole = (i) => ends.findIndex((end) => i <= end) + 1;
    for (const [part, steps] of stage.painter.steps) stage.painter.steps.set(part, new Set([...steps].map(whole)));
    let all = [];
    stage.paint = (step) => {
      const reached = this.reached(id);
      for (const part of all) part.classList.remove("active");
      paint.call(stage, reached ?? (step ? ends[step - 1] : 0));
      // A step that is shown as a whole is about all that happens in it.
      const marks = reached === undefined && step ? stage.painter.frames.slice(ends[step - 2] ?? 0, ends[step - 1]).flatMap((frame) => frame.marks) : [];
      all = marks.flatMap((mark) => stage.parts.get(mark) ?? []);
      for (const part of all) part.classList.add("active");
    };
    stage.paint(this.player.step ?? 0);
  }

  // How many steps of a box are over, while the player is inside of it.
  reached(id) {
    return this.at === null ? undefined : this.steps.slice(0, this.at + 1).findLast(({ way }) => way.has(id))?.way.get(id) ?? this.first(id);
  }

  // Before any step inside of a box: as it stood at the step before.
  first(id) {
    const { ends } = this.player.panes.boxes.panels.get(id);
    return this.steps.some(({ way }) => way.has(id)) ? (ends[this.player.step - 2] ?? 0) : undefined;
  }

  // The steps inside of a box at the step that is shown, and those inside of the chosen boxes in it. `way` has for
  // each box how many of its steps are over then.
  found(id, step, way = new Map()) {
    const { boxes } = this.player.panes;
    const { frames, ends } = boxes.panels.get(id);
    if (!ends?.length || !step) return [];
    const from = ends[step - 2] ?? 0;
    const mine = frames.slice(from, ends[step - 1]);
    return mine.flatMap((frame, i) => {
      const here = new Map([...way, [id, from + i + 1]]);
      const box = frame.marks.map((mark) => mark.split("-")[0]).find((part) => part !== id && this.chosen.has(part) && boxes.open.has(part));
      const inner = box ? this.found(box, step, here) : [];
      return inner.length > 1 ? inner : [{ frame, way: here, stage: boxes.open.get(id).stage }];
    });
  }

  // A step of the whole is shown, or a box was opened or closed. Walking comes to the first step inside, or to the
  // last; a jump shows the step as a whole.
  begin(by) {
    const { player } = this;
    const { step } = player;
    const { boxes } = player.panes;
    const before = this.at; // not null, if the step stays
    const box = [...boxes.open.keys()].find((id) => this.chosen.has(id) && boxes.single(id));
    const found = box ? this.found(box, step) : [];
    this.steps = found.length > 1 && found.every(({ frame }) => frame.text) ? found : [];
    this.at = !this.steps.length || Math.abs(by) !== 1 ? null : by > 0 ? 0 : this.steps.length - 1;
    if (before !== null || this.at !== null) this.show();
  }

  ahead(by) {
    return this.steps.length > 0 && (this.at === null ? by < 0 : this.steps[this.at + by] !== undefined);
  }

  walk(by) {
    this.at = this.at === null ? this.steps.length - 1 : this.at + by;
    this.show();
    const { player } = this;
    const { frame, stage } = this.steps[this.at];
    if (by > 0) player.motion.play(stage, frame, player.panes.caption.formula, player.pace());
    player.show();
  }

  // All pictures at the step inside. What the whole shows of the card is known when its last step is over.
  show() {
    const { player } = this;
    const { step, stage } = player;
    const last = this.at === null || this.at === this.steps.length - 1;
    player.motion.finish();
    const { current } = stage;
    for (const each of player.stages()) each.paint(each === stage && !last ? step - 1 : step);
    if (!last) {
      for (const id of stage.current) stage.parts.get(id).removeAttribute("aria-current");
      stage.current = current;
      for (const id of current) stage.parts.get(id).setAttribute("aria-current", "step");
    }
    player.tell();
    player.panes.buttons.next.disabled = player.panes.buttons.last.disabled = player.ended();
  }

  // The caption says what happens inside, and the label which of its steps is shown.
  tell() {
    const { player } = this;
    const inner = this.at === null ? undefined : this.steps[this.at];
    const place = inner ? `${player.before + player.step}.${this.at + 1}` : player.before + player.step;
    if (!player.resting()) player.panes.label.textContent = `${place} / ${player.all}`;
    if (inner) player.panes.caption.show({ ...player.frames[player.step - 1], ...inner.frame }, "");
  }
}

// The pictures of the subject of a picture, without the lines between them.
const subjectsOf = (stage) => [...stage.svg.querySelectorAll(":scope > .subject:not(:has(> .axis:only-child))")];

// Of a picture a part.
function frame(stage, x, y, width, height) {
  for (const [name, value] of Object.entries({ viewBox: `${x} ${y} ${width} ${height}`, width, height })) stage.svg.setAttribute(name, value);
  stage.svg.style.minWidth = "";
}

// Of a picture what its subject is drawn as, if it has one.
function crop(stage) {
  const subjects = subjectsOf(stage);
  if (!subjects.length) return;
  const places = subjects.map((part) => part.getBBox());
  const [left, top] = [Math.min(...places.map(({ x }) => x)), Math.min(...places.map(({ y }) => y))];
  const [right, bottom] = [Math.max(...places.map(({ x, width }) => x + width)), Math.max(...places.map(({ y, height }) => y + height))];
  frame(stage, left - RIM, top - RIM, right - left + 2 * RIM, bottom - top + 2 * RIM);
  stage.svg.style.overflow = "hidden";
}

// All lines of an update, on request.
function table({ id, title, heads, rows }) {
  const row = (kind, cells) => make("tr", {}, ...cells.map((cell) => make(kind, { textContent: cell })));
  const body = make("table", {}, make("thead", {}, row("th", heads)), make("tbody", {}, ...rows.map((cells) => row("td", cells))));
  const details = make("details", {}, make("summary", { textContent: title }), body);
  details.dataset.update = id;
  return details;
}

extras.push((player) => new Strip(player));
