// The elements of a player: the bar of controls, the caption, the picture and the panes that open.

import { Boxes } from "./stepper_boxes.js";
import { Caption } from "./stepper_caption.js";
import { Details, Queue } from "./stepper_details.js";
import { Overview } from "./stepper_map.js";
import { offers } from "./stepper_offers.js";
import { block, choice, make, quiet } from "./stepper_parts.js";
import { Rounds } from "./stepper_rounds.js";
import { copies } from "./stepper_share.js";
import { Source } from "./stepper_source.js";
import { Track } from "./stepper_track.js";

const SPEEDS = [0.5, 1, 2, 4, 8];

export class Panes {
  /** @param {import("./stepper.js").Player} player whose view they are */
  constructor(player) {
    const { words, score } = player;
    const lines = score.source.trimEnd().split("\n");
    this.track = new Track(words, (step) => player.go(step));
    this.rounds = score.total > 1 ? new Rounds(score, this.track, (act) => player.visit(act)) : null;
    this.caption = new Caption(words, lines);
    this.caption.element.classList.add("mgp-say");
    this.view = quiet(make("div", { className: "mgp-view", tabIndex: 0, aria: { label: words.picture, role: "region" } }));
    /** @type {Record<string, import("./stepper_types.js").Made>} */
    this.buttons = {};
    this.zoom = block("mgp-zoom", ...this.press(player, "zoom_out", "zoom_in", "zoom_fit"));
    this.details = new Details(player);
    this.order = new Queue(words);
    // What opens over the picture, by the name of its button.
    this.popups = {
      legend: make("div", { className: "mgp-pop mgp-signs", hidden: true, aria: { label: words.legend, role: "region" } }),
      copy: copies(words, (kind) => player.share(kind)),
      offer: offers(score.offers),
    };
    this.code = new Source(lines, words.source);
    this.pane = make("div", { className: "mgp-pane", hidden: true }, this.code.list);
    this.boxes = new Boxes(player);
    this.map = new Overview(words);
    this.scene = block("mgp-scene", this.view, this.zoom, ...this.map.edges.map(({ sign }) => sign), this.details.element, ...Object.values(this.popups));
    const body = block("mgp-body", this.pane, block("mgp-shown", this.scene, this.boxes.element, this.order.element), this.boxes.pin);
    this.top = block("mgp-top", this.controls(player), ...(this.rounds ? [this.rounds.element] : []), block("mgp-told", this.caption.element, this.map.element));
    this.root = quiet(make("div", { className: `mgp mg-${score.theme}`, aria: { label: words.player, role: "group" } }, block("mgp-player", this.top, body)));
  }

  // The name of what is open over the picture.
  get open() {
    return Object.keys(this.popups).find((name) => !this.popups[name].hidden);
  }

  /** @param {import("./stepper.js").Player} player @param {...string} names */
  press(player, ...names) {
    return names.map((name) => (this.buttons[name] = player.button(name)));
  }

  /** @param {import("./stepper.js").Player} player */
  controls(player) {
    const { words, score } = player;
    this.label = make("span", { className: "mgp-label" });
    this.speed = choice(words.speed, SPEEDS.map((speed) => [speed, `${speed}×`]), (speed) => player.set({ speed }));
    this.speed.className = "mgp-speed";
    const keys = block("mgp-keys", ...this.press(player, "first", "previous", "play", "next", "last"), this.speed);
    const [offer, queue, source, help, copy, full] = this.press(player, "offer", "queue", "source", "legend", "copy", "full");
    offer.textContent = offer.title = score.offers?.word ?? "";
    offer.hidden = !score.offers;
    queue.append(make("span", { className: "wide", textContent: words.who_runs_next }), make("span", { className: "slim", textContent: words.queue }));
    help.textContent = "?";
    for (const button of [offer, queue, source, help, copy]) button.setAttribute("aria-pressed", "false");
    source.hidden = !score.source.trim();
    const way = this.rounds ? this.calls(player) : this.track.element;
    const menu = player.button("menu", () => menu.setAttribute("aria-expanded", bar.classList.toggle("all")));
    menu.setAttribute("aria-expanded", "false");
    menu.textContent = "…";
    this.tools = block("mgp-tools", offer, queue, source, help, copy, full);
    const bar = block("mgp-bar", keys, way, this.label, menu, this.tools);
    return bar;
  }

  // The buttons and the list of the rounds.
  /** @param {import("./stepper.js").Player} player */
  calls(player) {
    const { score } = player;
    const named = ({ label }, i) => (score.loop ? `${this.rounds.name(i)} ${player.words.of_all.replace("{n}", String(score.total))}` : label);
    this.acts = choice(player.words.acts, score.acts.map((act, i) => [i, named(act, i)]), (act) => player.visit(act));
    this.turns = [-1, 1].map((by) => player.button(by < 0 ? "act_previous" : "act_next", () => player.visit(player.act + by)));
    this.phase = block("mgp-phase");
    return block("mgp-acts", this.turns[0], this.acts, this.turns[1], this.phase);
  }
}
