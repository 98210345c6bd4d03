// What a live value replaces in a picture: texts of rows, chips and slots, with the cell's in gray beside them.
//
// Only what says something else than before is written. All texts have letters of one width, which is measured
// once, so nothing is laid out to know how wide they are.

import { drawn, SVG } from "./stepper_parts.js";

const PLUS = 18; // pixels of the sign between two slots
const PLAIN = /^(<text[^>]*>)([^<&]*)<\/text>$/; // a row of one text
const TOTAL = /^(.*)-total$/; // the sum in a deck

// A piece of SVG as elements.
/** @param {string} piece @returns {any[]} */
const elements = (piece) => [...new DOMParser().parseFromString(`<svg xmlns="${SVG}">${piece}</svg>`, "image/svg+xml").documentElement.children];

const attribute = (part, name) => Number(part.getAttribute(name));
const beyond = (place, { left, top, right, bottom }) => place && (place.right < left || place.left > right || place.bottom < top || place.top > bottom);
const said = (parts) => parts.map((part) => part.textContent).join("\n");

function write(text, told) {
  if (text.textContent === told) return;
  if (text.firstChild) text.firstChild.data = told;
  else text.textContent = told;
}

export class Replaced {
  constructor() {
    this.shown = new Map(); // by id: what it says, whether it still stands there, how to fit it, how to undo it
    this.widths = new Map(); // of a letter, by the kind of text
    this.spread = new Map(); // by deck: where its slots were
  }

  // The texts of a state; those of the cell without one. While numbers are moving, only what is in sight.
  show(stage, state, moving) {
    if (stage !== this.stage) this.begin(stage);
    const sight = moving && stage.sight();
    const waits = (id) => sight && beyond(this.place(stage, id), sight);
    const wanted = new Map(Object.entries(state?.said ?? {}));
    for (const [id, told] of Object.entries(state?.rows ?? {})) wanted.set(id, [this.at(stage, id, told)]);
    const decks = new Set();
    for (const [id, one] of this.shown) {
      if (waits(id) || (wanted.has(id) && one.holds())) continue;
      one.undo();
      this.shown.delete(id);
      if (one.deck) decks.add(one.deck);
    }
    const changed = [];
    for (const [id, lines] of wanted) {
      if (waits(id)) continue;
      let one = this.shown.get(id);
      if (one?.told === lines.join("\n")) continue;
      if (!one?.set(lines)) {
        one?.undo();
        one = state.rows[id] ? this.row(stage, id, lines) : this.say(stage, id, lines);
        if (!one) continue;
        this.shown.set(id, one);
      }
      one.told = lines.join("\n");
      changed.push(one);
      if (one.deck) decks.add(one.deck);
    }
    for (const fit of changed.map((one) => one.fit?.())) fit?.();
    for (const deck of decks) this.arrange(deck);
  }

  // Another picture: what stood in the last one is the cell's again.
  begin(stage) {
    for (const { undo } of this.shown.values()) undo();
    this.shown.clear();
    this.spread.clear();
    this.places = new Map(); // by id
    const boxes = [...stage.svg.querySelectorAll(".card > .box")].map((box) => [box.parentNode, box.getBBox()]);
    this.edges = new Map(boxes.map(([card, { x, width }]) => [card, x + width]));
    this.pills = [...stage.svg.querySelectorAll(".pill > rect")];
    this.moments = new Map(stage.painter.rows.map((row) => [row.part, row]));
    this.stage = stage;
  }

  place(stage, id) {
    if (!this.places.has(id)) this.places.set(id, stage.place(stage.parts.get(TOTAL.exec(id)?.[1].concat("-d") ?? id)));
    return this.places.get(id);
  }

  // Pixels that a text takes.
  wide(text) {
    const told = text.textContent;
    const kind = `${text.parentNode?.getAttribute("class")?.split(" ")[0]} ${text.getAttribute("class")}`;
    if (!/^[\x20-\x7e\xa0−…·]+$/.test(told)) return text.getBBox().width;
    if (!this.widths.get(kind)) this.widths.set(kind, text.getBBox().width / told.length);
    return this.widths.get(kind) * told.length;
  }

  // Slots side by side, as wide as they are now, with the signs between them; as they were if all are the cell's.
  arrange(deck) {
    const parts = [...deck.children].filter((part) => part.matches(".slot, .sum, .total"));
    const before = this.spread.get(deck) ?? parts.flatMap((part) => [...part.querySelectorAll("rect, text"), part]).map((one) => [one, one.getAttribute("x")]);
    this.spread.set(deck, before);
    before.forEach(([one, at]) => at !== null && one.setAttribute("x", at));
    if (![...this.shown.values()].some((one) => one.deck === deck)) return;
    let x = attribute(parts[0].querySelector("rect"), "x");
    for (const part of parts) {
      const rect = part.querySelector("rect");
      const width = rect ? attribute(rect, "width") : PLUS;
      if (rect) rect.setAttribute("x", x);
      (part.querySelector("text") ?? part).setAttribute("x", part.matches(".total") ? x + 6 : x + width / 2);
      x += width;
    }
  }

  // What a row says at the step that is shown.
  at(stage, id, told) {
    return told[(this.moments.get(stage.parts.get(id))?.at ?? -1) + 1] ?? told[0];
  }

  row(stage, id, [svg]) {
    const part = stage.parts.get(id);
    if (!part || part.querySelector(".mgp-slider")) return null;
    const label = [...part.children].filter((child) => child.matches(".key, .memory"));
    const before = [...part.children].filter((child) => !label.includes(child));
    const now = elements(svg);
    const one = { head: PLAIN.exec(svg)?.[1], holds: () => now[0]?.parentNode === part };
    part.replaceChildren(...label, ...now);
    one.set = ([told]) => {
      const [, head, content] = PLAIN.exec(told) ?? [];
      if (!head || head !== one.head) return false;
      write(now[0], content);
      return true;
    };
    one.undo = () => one.holds() && part.replaceChildren(...label, ...before);
    if (now.length !== 1 || before.length !== 1) return one;
    const right = this.edges.get(part.closest(".card")) - 9;
    const was = this.gray(part, said(before), attribute(now[0], "y"), "end", right);
    // The cell's text at the right edge, if there is room for it beside the other.
    one.fit = () => {
      const { x, width } = now[0].matches("text") ? { x: attribute(now[0], "x"), width: this.wide(now[0]) } : now[0].getBBox();
      const shows = said(now) !== said(before) && right - this.wide(was) - x - width >= 5;
      return () => (shows ? was.parentNode ?? part.append(was) : was.remove());
    };
    return one;
  }

  gray(part, text, y, anchor, x) {
    const was = drawn("text", { class: "mgp-was", x, y, "text-anchor": anchor }, text);
    part.append(was);
    return was;
  }

  say(stage, id, lines) {
    const total = TOTAL.exec(id);
    const part = stage.parts.get(total ? `${total[1]}-d` : id);
    const texts = [...(part?.querySelectorAll(total ? ".total" : ":scope > text:not(.was, .mgp-was)") ?? [])];
    if (!texts.length || texts.length !== lines.length) return null;
    const before = texts.map((text) => text.textContent);
    const rect = total ? null : part.querySelector(":scope > rect");
    const set = (told) => (texts.forEach((text, i) => write(text, told[i])), true);
    set(lines);
    const one = { set, holds: () => true, undo: () => set(before), deck: total ? part : part.matches(".slot") ? part.parentNode : null };
    return rect ? Object.assign(one, part.matches(".chip") ? this.chip(rect, texts, set, before) : this.pill(part, rect, texts, set, before)) : one;
  }

  // A chip keeps its width.
  chip(rect, texts, set, before) {
    const room = attribute(rect, "width") - 8;
    const narrow = (is) => (text) => (is ? (text.setAttribute("textLength", room), text.setAttribute("lengthAdjust", "spacingAndGlyphs")) : text.removeAttribute("textLength"));
    const fit = () => {
      const tight = texts.some((text) => this.wide(text) > room);
      return () => texts.forEach(narrow(tight));
    };
    return { fit, undo: () => (set(before), texts.forEach(narrow(false))) };
  }

  // Whether no other pill covers a text below a pill.
  clear(rect, was, center, below) {
    const covers = (one) => one !== rect && attribute(one, "y") < below + 3 && attribute(one, "y") + attribute(one, "height") > below - 10;
    const wide = this.wide(was);
    const near = this.pills.filter(covers);
    return () => near.every((one) => Math.abs(attribute(one, "x") + attribute(one, "width") / 2 - center) > (attribute(one, "width") + wide) / 2);
  }

  // A slot or a pill has the width of its text. Under a pill stands what it said in the cell, if there is room.
  pill(part, rect, texts, set, before) {
    const [x, width] = [attribute(rect, "x"), attribute(rect, "width")];
    const below = attribute(rect, "y") + attribute(rect, "height") + 12;
    const was = part.matches(".pill") && texts.length === 1 && before[0] ? this.gray(part, before[0], below, "middle", texts[0].getAttribute("x")) : null;
    const clear = was && this.clear(rect, was, x + width / 2, below);
    const slot = part.matches(".slot"); // its place is that of its deck, see `arrange`
    const stands = (left, wide) => (rect.setAttribute("width", wide), slot || rect.setAttribute("x", left));
    const fit = () => {
      const need = Math.max(26, Math.max(...texts.map((text) => this.wide(text))) + 13);
      const shows = was && texts[0].textContent !== before[0] && clear();
      return () => {
        if (attribute(rect, "width") !== need) stands(x + width / 2 - need / 2, need);
        if (was && !shows) was.remove();
        else if (was && !was.parentNode) part.append(was);
      };
    };
    return { fit, undo: () => (set(before), stands(x, width), was?.remove()) };
  }
}
