// The boxes of a picture that a reader can open: what is inside stands below the picture.

import { block, make, quiet } from "./stepper_parts.js";
import { Stage } from "./stepper_picture.js";

export class Boxes {
  constructor(player) {
    Object.assign(this, { player, panels: new Map(), open: new Map() }); // what can be opened, and what is
    this.foot = block("mgp-view mgp-foot"); // what stands below the graph, while boxes are open
    this.element = block("mgp-panels");
  }

  lay(panels) {
    this.panels = new Map(Object.entries(panels));
    this.open.clear();
    this.element.replaceChildren();
    this.foot.replaceChildren();
    this.sign();
  }

  sign() {
    for (const stage of this.player.stages()) stage.plus(this.panels, this.open, (box) => this.turn(box));
  }

  // Open a box below the picture, or close it with what is open in it.
  turn(id) {
    const { player, open } = this;
    const shown = open.get(id);
    if (shown) {
      const inner = [...open.keys()].filter((box) => box !== id && shown.stage.parts.has(box));
      inner.forEach((box) => this.turn(box));
      if (player.chosen === shown.stage) player.pick(null);
      shown.element.remove();
      open.delete(id);
    } else {
      const panel = this.panels.get(id);
      const label = player.words.box_close;
      const view = quiet(make("div", { className: "mgp-view", tabIndex: 0, aria: { label: panel.title, role: "region" } }));
      const close = make("button", { type: "button", textContent: "−", title: label, onclick: () => this.turn(id), aria: { label } });
      const element = block("mgp-panel", block("mgp-head", make("b", { textContent: panel.title }), quiet(close)), view);
      this.element.append(element);
      this.element.after(this.foot);
      const stage = new Stage(view, panel, player.words, (part) => player.pick(part, stage));
      stage.svg.querySelector(":scope > .legend")?.remove();
      open.set(id, { element, stage });
      stage.paint(player.step ?? 0);
    }
    this.foot.replaceChildren(...[player.stage.part(open.size > 0) ?? []].flat());
    if (!open.size) this.foot.remove();
    this.sign();
    player.chart();
  }
}
