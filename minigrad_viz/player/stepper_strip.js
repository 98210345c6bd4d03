// The strip of a model: below it stands the inside of one card, the one that is active or that the reader chose.

import { Extra, block, extras, make, quiet } from "./stepper_parts.js";

const FOUND = 8; // modules that are offered

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
    if (!this.on) return;
    player.signs.push(block("mgp-sign", words.strip_keys));
    const pick = stage.view.onclick;
    stage.view.onclick = (event) => {
      const id = stage.at(event.target);
      if (boxes.panels.has(id)) boxes.turn(id);
      else pick(event);
    };
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
    this.step = step;
    const { stage, content, frames } = this.player;
    const { boxes } = this.player.panes;
    const open = this.cards().find((id) => boxes.open.has(id));
    const active = this.cards().filter((id) => stage.current.includes(id)).at(-1);
    if (active && active !== open) boxes.turn(active);
    else if (!active && !open && first) this.go(content.open);
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
    if (!this.on || !["[", "]", "/"].includes(key)) return false;
    if (key === "/") this.search();
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

  // A card was opened or closed.
  mark(id) {
    const { stage } = this.player;
    const { boxes } = this.player.panes;
    const open = boxes.open.get(id);
    if (open) {
      this.choices(open.stage.view);
      this.title(open.element.querySelector(".mgp-head b"));
    }
    if (boxes.single(id)) stage.parts.get(id).classList.toggle("chosen", boxes.open.has(id));
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

// All lines of an update, on request.
function table({ id, title, heads, rows }) {
  const row = (kind, cells) => make("tr", {}, ...cells.map((cell) => make(kind, { textContent: cell })));
  const body = make("table", {}, make("thead", {}, row("th", heads)), make("tbody", {}, ...rows.map((cells) => row("td", cells))));
  const details = make("details", {}, make("summary", { textContent: title }), body);
  details.dataset.update = id;
  return details;
}

extras.push((player) => new Strip(player));
