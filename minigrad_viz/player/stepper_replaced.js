// What a live value replaces in a picture: texts of rows, chips and slots, with the cell's in gray beside them.

import { drawn, SVG } from "./stepper_parts.js";

const PLUS = 18; // pixels of the sign between two slots

const svgs = (svg) => [...new DOMParser().parseFromString(`<svg xmlns="${SVG}">${svg}</svg>`, "image/svg+xml").documentElement.children];

export class Replaced {
  constructor() {
    this.undone = []; // what makes the picture the cell's again
  }

  // The texts of a state; those of the cell without one.
  show(stage, state) {
    for (const part of stage.svg.querySelectorAll(".mgp-was")) part.remove();
    for (const undo of this.undone) undo();
    this.undone = [];
    if (!state) return;
    for (const [id, told] of Object.entries(state.rows)) this.row(stage, id, told);
    for (const [id, lines] of Object.entries(state.said)) this.say(stage, id, lines);
    for (const deck of new Set([...stage.svg.querySelectorAll(".slot")].map((slot) => slot.parentNode))) this.spread(deck);
  }

  // Slots side by side, as wide as they are now, with the signs between them.
  spread(deck) {
    const parts = [...deck.children].filter((part) => part.matches(".slot, .sum, .total"));
    let x = Number(parts[0].querySelector("rect").getAttribute("x"));
    const before = parts.flatMap((part) => [...part.querySelectorAll("rect, text"), part]).map((one) => [one, one.getAttribute("x")]);
    this.undone.push(() => before.forEach(([one, at]) => at !== null && one.setAttribute("x", at)));
    for (const part of parts) {
      const rect = part.querySelector("rect");
      const width = rect ? Number(rect.getAttribute("width")) : PLUS;
      if (rect) rect.setAttribute("x", x);
      (part.querySelector("text") ?? part).setAttribute("x", part.matches(".total") ? x + 6 : x + width / 2);
      x += width;
    }
  }

  row(stage, id, told) {
    const part = stage.parts.get(id);
    if (!part || part.querySelector(".mgp-slider")) return;
    const at = stage.painter.rows.find((row) => row.part === part)?.at ?? -1;
    const label = [...part.children].filter((child) => child.matches(".key, .memory"));
    const before = [...part.children].filter((child) => !label.includes(child));
    const now = svgs(told[at + 1] ?? told[0]);
    const said = (parts) => parts.map((child) => child.textContent).join("\n");
    part.replaceChildren(...label, ...now);
    this.undone.push(() => now[0]?.parentNode === part && part.replaceChildren(...label, ...before));
    if (now.length !== 1 || before.length !== 1 || said(now) === said(before)) return;
    const box = part.closest(".card").querySelector(".box").getBBox();
    this.gray(part, said(before), box.x + box.width - 9, Number(now[0].getAttribute("y")), "end", now[0]);
  }

  // The cell's text in gray, if there is room for it beside another.
  gray(part, text, x, y, anchor, beside) {
    const was = drawn("text", { class: "mgp-was", x, y, "text-anchor": anchor }, text);
    part.append(was);
    if (!beside) return;
    const [mine, other] = [was.getBBox(), beside.getBBox()];
    if (mine.x < other.x + other.width + 5) was.remove();
  }

  say(stage, id, lines) {
    const total = /^(.*)-total$/.exec(id);
    const part = stage.parts.get(total ? `${total[1]}-d` : id);
    const texts = [...(part?.querySelectorAll(total ? ".total" : ":scope > text:not(.was, .mgp-was)") ?? [])];
    if (!texts.length || texts.length !== lines.length) return;
    const rect = total ? null : part.querySelector(":scope > rect");
    const before = texts.map((text) => text.textContent);
    const [x, width] = ["x", "width"].map((name) => rect?.getAttribute(name));
    texts.forEach((text, i) => (text.textContent = lines[i]));
    this.undone.push(() => {
      texts.forEach((text, i) => (text.textContent = before[i]));
      texts.forEach((text) => text.removeAttribute("textLength"));
      if (rect) rect.setAttribute("x", x), rect.setAttribute("width", width);
    });
    if (!rect) return;
    const wide = Math.max(...texts.map((text) => text.getBBox().width));
    if (part.matches(".chip")) {
      if (wide > width - 8) texts.forEach((text) => (text.setAttribute("textLength", width - 8), text.setAttribute("lengthAdjust", "spacingAndGlyphs")));
      return;
    }
    const need = Math.max(26, wide + 13);
    rect.setAttribute("width", need);
    if (part.matches(".slot")) return;
    rect.setAttribute("x", Number(x) + Number(width) / 2 - need / 2);
    if (part.matches(".pill") && texts.length === 1 && before[0] !== lines[0]) this.gray(part, before[0], texts[0].getAttribute("x"), Number(rect.getAttribute("y")) + Number(rect.getAttribute("height")) + 12, "middle");
  }
}
