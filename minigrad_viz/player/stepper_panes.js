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

// Make them, each under its name in `player`: `root` holds all others.
export function furnish(player) {
  const { words, score } = player;
  const lines = score.source.trimEnd().split("\n");
  player.track = new Track(words, (step) => player.go(step));
  player.rounds = score.total > 1 ? new Rounds(score, player.track, (act) => player.visit(act)) : null;
  player.caption = new Caption(words, lines);
  player.caption.element.classList.add("mgp-say");
  player.view = quiet(make("div", { className: "mgp-view", tabIndex: 0, aria: { label: words.picture, role: "region" } }));
  player.zoom = block("mgp-zoom", ...buttons(player, "zoom_out", "zoom_in", "zoom_fit"));
  player.details = new Details(player);
  player.order = new Queue(words);
  player.help = make("div", { className: "mgp-pop mgp-signs", hidden: true, aria: { label: words.legend, role: "region" } });
  player.copies = copies(words, (kind) => player.share(kind));
  player.offered = offers(score.offers ?? { ways: [] });
  player.code = new Source(lines, words.source);
  player.pane = make("div", { className: "mgp-pane", hidden: true }, player.code.list);
  player.boxes = new Boxes(player);
  player.map = new Overview(words);
  player.scene = block("mgp-scene", player.view, player.zoom, ...player.map.edges.map(({ sign }) => sign), player.details.element, player.help, player.copies, player.offered);
  const body = block("mgp-body", player.pane, block("mgp-shown", player.scene, player.boxes.element, player.order.element));
  player.top = block("mgp-top", controls(player), ...(player.rounds ? [player.rounds.element] : []), block("mgp-told", player.caption.element, player.map.element));
  player.root = quiet(make("div", { className: `mgp mg-${score.theme}`, aria: { label: words.player, role: "group" } }, block("mgp-player", player.top, body)));
}

const buttons = (player, ...names) => names.map((name) => (player[name] = player.button(name)));

function controls(player) {
  const { words, score } = player;
  player.label = make("span", { className: "mgp-label" });
  player.speed = choice(words.speed, SPEEDS.map((speed) => [speed, `${speed}×`]), (speed) => player.set({ speed }));
  player.speed.className = "mgp-speed";
  const keys = block("mgp-keys", ...buttons(player, "first", "previous", "play", "next", "last"), player.speed);
  const [offer, queue, source, help, copy, full] = buttons(player, "offer", "queue", "source", "legend", "copy", "full");
  offer.textContent = offer.title = score.offers?.word ?? "";
  offer.hidden = !score.offers;
  queue.append(make("span", { className: "wide", textContent: words.who_runs_next }), make("span", { className: "slim", textContent: words.queue }));
  help.textContent = "?";
  for (const button of [offer, queue, source, help, copy]) button.setAttribute("aria-pressed", false);
  source.hidden = !score.source.trim();
  const way = player.rounds ? calls(player) : player.track.element;
  const menu = player.button("menu", () => menu.setAttribute("aria-expanded", bar.classList.toggle("all")));
  menu.setAttribute("aria-expanded", false);
  menu.textContent = "…";
  player.tools = block("mgp-tools", offer, queue, source, help, copy, full);
  const bar = block("mgp-bar", keys, way, player.label, menu, player.tools);
  return bar;
}

// The buttons and the list of the rounds.
function calls(player) {
  const { score } = player;
  const named = ({ label }, i) => (score.loop ? `${player.rounds.name(i)} ${player.words.of_all.replace("{n}", score.total)}` : label);
  player.acts = choice(player.words.acts, score.acts.map((act, i) => [i, named(act, i)]), (act) => player.visit(act));
  player.turns = [-1, 1].map((by) => player.button(by < 0 ? "act_previous" : "act_next", () => player.visit(player.act + by)));
  player.phase = block("mgp-phase");
  return block("mgp-acts", player.turns[0], player.acts, player.turns[1], player.phase);
}
