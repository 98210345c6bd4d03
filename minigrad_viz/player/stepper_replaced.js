// What a live value replaces in a picture: texts of rows, chips and slots, with the cell's in gray beside them.
//
// Everything is written first; then widths are read, which lays the picture out once; then it is fitted to them.

import { drawn, SVG } from "./stepper_parts.js";

const PLUS = 18; // pixels of the sign between two slots

// Pieces of SVG as elements, in one go.
function elements(pieces) {
  const text = `<svg xmlns="${SVG}">${pieces.map((piece) => `<g>${piece}</g>`).join("")}</svg>`;
  return [...new DOMParser().parseFromString(text, "image/svg+xml").documentElement.children].map((part) => [...part.children]);
}

const attribute = (part, name) => Number(part.getAttribute(name));

export class Replaced {
  constructor() {
    this.undone = []; // what makes the picture the cell's again
    this.edges = new WeakMap(); // the right edges of cards
  }

  // The texts of a state; those of the cell without one.
  show(stage, state) {
    for (const undo of this.undone) undo();
    this.undone = [];
    if (!state) return;
    this.fits = []; // each reads a width and gives what is to be written for it
    const rows = Object.entries(state.rows).map(([id, told]) => this.row(stage, id, told)).filter(Boolean);
    const pieces = elements(rows.map(({ told }) => told));
    rows.forEach((row, i) => this.put(row, pieces[i]));
    for (const [id, lines] of Object.entries(state.said)) this.say(stage, id, lines);
    for (const write of this.fits.map((read) => read())) write?.();
    for (const deck of new Set([...stage.svg.querySelectorAll(".slot")].map((slot) => slot.parentNode))) this.spread(deck);
  }

  // Slots side by side, as wide as they are now, with the signs between them.
  spread(deck) {
    const parts = [...deck.children].filter((part) => part.matches(".slot, .sum, .total"));
    let x = attribute(parts[0].querySelector("rect"), "x");
    const before = parts.flatMap((part) => [...part.querySelectorAll("rect, text"), part]).map((one) => [one, one.getAttribute("x")]);
    this.undone.push(() => before.forEach(([one, at]) => at !== null && one.setAttribute("x", at)));
    for (const part of parts) {
      const rect = part.querySelector("rect");
      const width = rect ? attribute(rect, "width") : PLUS;
      if (rect) rect.setAttribute("x", x);
      (part.querySelector("text") ?? part).setAttribute("x", part.matches(".total") ? x + 6 : x + width / 2);
      x += width;
    }
  }

  // A row, with what it says at the step that is shown.
  row(stage, id, told) {
    const part = stage.parts.get(id);
    if (!part || part.querySelector(".mgp-slider")) return null;
    const at = stage.painter.rows.find((row) => row.part === part)?.at ?? -1;
    return { part, told: told[at + 1] ?? told[0] };
  }

  put({ part }, now) {
    const label = [...part.children].filter((child) => child.matches(".key, .memory"));
    const before = [...part.children].filter((child) => !label.includes(child));
    const said = (parts) => parts.map((child) => child.textContent).join("\n");
    part.replaceChildren(...label, ...now);
    this.undone.push(() => now[0]?.parentNode === part && part.replaceChildren(...label, ...before));
    if (now.length !== 1 || before.length !== 1 || said(now) === said(before)) return;
    const was = this.gray(part, said(before), attribute(now[0], "y"), "end");
    // The cell's text at the right edge, if there is room for it beside the other.
    this.fits.push(() => {
      const right = this.edge(part.closest(".card")) - 9;
      const other = now[0].getBBox();
      const room = right - was.getBBox().width - other.x - other.width;
      return () => (room < 5 ? was.remove() : was.setAttribute("x", right));
    });
  }

  edge(card) {
    if (!this.edges.has(card)) {
      const { x, width } = card.querySelector(".box").getBBox();
      this.edges.set(card, x + width);
    }
    return this.edges.get(card);
  }

  gray(part, text, y, anchor, x = 0) {
    const was = drawn("text", { class: "mgp-was", x, y, "text-anchor": anchor }, text);
    part.append(was);
    this.undone.push(() => was.remove());
    return was;
  }

  say(stage, id, lines) {
    const total = /^(.*)-total$/.exec(id);
    const part = stage.parts.get(total ? `${total[1]}-d` : id);
    const texts = [...(part?.querySelectorAll(total ? ".total" : ":scope > text:not(.was, .mgp-was)") ?? [])];
    if (!texts.length || texts.length !== lines.length) return;
    const before = texts.map((text) => text.textContent);
    texts.forEach((text, i) => (text.textContent = lines[i]));
    this.undone.push(() => texts.forEach((text, i) => ((text.textContent = before[i]), text.removeAttribute("textLength"))));
    const rect = total ? null : part.querySelector(":scope > rect");
    if (rect) this.fits.push(() => this.fit(part, rect, texts, before[0] === lines[0] ? "" : before[0]));
  }

  // A chip keeps its width; a slot or a pill has that of its text. Under a pill stands what it said in the cell.
  fit(part, rect, texts, before) {
    const [x, width] = [attribute(rect, "x"), attribute(rect, "width")];
    const wide = Math.max(...texts.map((text) => text.getBBox().width));
    if (part.matches(".chip")) {
      const narrow = (text) => (text.setAttribute("textLength", width - 8), text.setAttribute("lengthAdjust", "spacingAndGlyphs"));
      return wide > width - 8 ? () => texts.forEach(narrow) : null;
    }
    const need = Math.max(26, wide + 13);
    this.undone.push(() => (rect.setAttribute("x", x), rect.setAttribute("width", width)));
    return () => {
      rect.setAttribute("width", need);
      if (part.matches(".slot")) return;
      rect.setAttribute("x", x + width / 2 - need / 2);
      if (part.matches(".pill") && texts.length === 1 && before) this.gray(part, before, attribute(rect, "y") + attribute(rect, "height") + 12, "middle", texts[0].getAttribute("x"));
    };
  }
}
