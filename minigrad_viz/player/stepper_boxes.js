// The boxes of a picture that a reader can open: what is inside stands below the picture.

import { block, drawn, make, quiet } from "./stepper_parts.js";
import { Stage, fitting } from "./stepper_picture.js";

// A sign in the head of the boxes that can be opened; `open` has those that are.
function plus(stage, boxes, open, onopen) {
  const aside = stage.parts.get("aside"); // the line that counts what the picture leaves out
  for (const station of [...stage.stations, ...(aside ? [aside] : [])]) {
    const id = stage.id(station);
    const before = station.querySelector(":scope > .plus");
    if (!boxes.has(id)) {
      before?.remove();
      continue;
    }
    if (before?.dataset.open === String(open.has(id))) continue; // to measure where it stands takes time
    before?.remove();
    const box = ([...station.querySelectorAll(".card > .box")].at(-1) ?? station.querySelector("text")).getBBox();
    const { x, y, width } = station === aside ? { x: box.x, y: box.y - 4, width: 0 } : box;
    const label = stage.words[open.has(id) ? "box_close" : "box_open"];
    const cross = drawn("path", { d: open.has(id) ? "M-4 0h8" : "M-4 0h8M0 -4v8" });
    const place = `translate(${x + width - 15} ${y + 12})`;
    const square = drawn("rect", { x: -8, y: -8, width: 16, height: 16, rx: 4 });
    const sign = drawn("g", { class: "plus", transform: place, role: "button", "aria-label": label }, drawn("title", {}, label), square, cross);
    sign.dataset.open = open.has(id);
    sign.onclick = (event) => (event.stopPropagation(), onopen(id));
    station.append(sign);
  }
}

// Where the picture of a box stands.
export const viewOf = ({ title }) => quiet(make("div", { className: "mgp-view", tabIndex: 0, aria: { label: title, role: "region" } }));

export class Boxes {
  /** @type {Map<string, import("./stepper_types.js").Panel>} what can be opened */ panels = new Map();
  /** @type {Map<string, {element: HTMLElement, stage: Stage}>} what is */ open = new Map();
  /** @type {{id: string, stage: Stage} | null} whose picture stays while others open */ pinned = null;
  /** @type {((id: string) => boolean) | null} whether one such box is open at a time */ single = null;
  /** @type {((id: string) => void) | null} what is told of a box that was turned */ turned = null;

  /** @param {import("./stepper.js").Player} player */
  constructor(player) {
    this.player = player;
    this.foot = block("mgp-view mgp-foot"); // what stands below the graph, while boxes are open
    this.element = block("mgp-panels");
    this.pin = block("mgp-pinned");
    this.pin.hidden = true;
  }

  lay(panels) {
    this.panels = new Map(Object.entries(panels));
    this.open.clear();
    this.element.replaceChildren();
    this.foot.replaceChildren();
    this.sign();
  }

  sign() {
    const stages = this.player.stages().filter((stage) => stage !== this.pinned?.stage);
    for (const stage of stages) plus(stage, this.inside(stage), this.open, (box) => this.turn(box));
  }

  // The picture of a box, in the form that fits its view.
  staged(panel, view) {
    const { player } = this;
    const stage = new Stage(view, fitting(panel, view.clientWidth), player.words, (part) => player.pick(part, stage));
    stage.svg.querySelector(":scope > .legend")?.remove();
    return stage;
  }

  // What can be opened in a picture: not what stands in it from outside of its box.
  inside(stage) {
    const { stage: whole } = this.player;
    return new Map([...this.panels].filter(([id]) => stage === whole || !whole.parts.has(id)));
  }

  // Open a box below the picture, or close it with what is open in it; `more`: others will be turned at once.
  turn(id, more = false) {
    const { player, open } = this;
    const shown = open.get(id);
    const others = shown || !this.single?.(id) ? [] : [...open.keys()].filter((box) => this.single(box));
    others.forEach((box) => this.turn(box, true));
    if (shown) {
      const inner = [...open.keys()].filter((box) => box !== id && shown.stage.parts.has(box));
      inner.forEach((box) => this.turn(box, true));
      if (player.chosen === shown.stage) player.pick(null);
      shown.element.remove();
      open.delete(id);
    } else {
      const panel = this.panels.get(id);
      const label = player.words.box_close;
      const view = viewOf(panel);
      const close = make("button", { type: "button", textContent: "−", title: label, onclick: () => this.turn(id), aria: { label } });
      const element = block("mgp-panel", block("mgp-head", make("b", { textContent: panel.title }), quiet(close)), block("mgp-scene", view));
      this.element.append(element);
      this.element.after(this.foot);
      const stage = this.staged(panel, view);
      open.set(id, { element, stage });
      stage.paint(player.step ?? 0);
    }
    this.foot.replaceChildren(...[player.stage.part(open.size > 0) ?? []].flat());
    if (!open.size) this.foot.remove();
    this.turned?.(id);
    if (!more) this.settle();
  }

  settle() {
    this.sign();
    this.player.chart();
  }
}
