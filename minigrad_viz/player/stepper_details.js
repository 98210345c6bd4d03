// What opens on request: the card of a station, the legend, the order of the nodes, copies of the step.

import { arithmetic, called } from "./stepper_caption.js";
import { block, clamp, drawn, make, quiet } from "./stepper_parts.js";

const MOST = 24; // entries of one kind in the details; more are counted
const RAN = 6; // nodes that ran before, in the order; more are left out

// The card of what is picked, at its place over the picture; it moves nothing.
export class Details {
  constructor(player) {
    this.player = player;
    this.element = make("div", { className: "mgp-details", hidden: true, aria: { label: player.words.details, role: "region" } });
  }

  // Which button has the focus; -1 if none.
  held() {
    return [...this.element.querySelectorAll("button")].indexOf(this.player.panes.root.getRootNode().activeElement);
  }

  show(picked, stage, steps) {
    const held = this.held(); // a button that is pressed here is replaced: the keys stay with it
    this.element.hidden = !picked;
    this.element.replaceChildren();
    if (!picked) return;
    const { words, frames, step } = this.player;
    const { cards, node, code, arrows, came, went } = stage.about(picked);
    const reached = steps.filter((at) => !step || at <= step);
    const jump = (at) => quiet(make("button", { type: "button", textContent: frames[at - 1].label, onclick: () => this.player.go(at) }));
    this.element.append(
      this.player.button("close", () => this.player.pick(null)),
      ...part(words.details, [...cards, ...arrows]),
      ...part(words.legend_node, node),
      ...part(words.details_in, came),
      ...part(words.details_out, went),
      ...part(words.source, code, "code"),
      ...part(words.details_formula, [...reached.flatMap((at) => arithmetic(frames[at - 1].lines, words)), ...vjp(reached.map((at) => frames[at - 1]), words)]),
      ...part(words.details_steps, steps.map(jump)),
    );
    this.stand(stage.parts.get(picked), stage.view);
    this.element.querySelectorAll("button")[held]?.focus({ preventScroll: true });
  }

  // Beside what it is about, on the side with more room.
  stand(part, view) {
    const room = this.element.offsetParent.getBoundingClientRect();
    const box = part?.getBoundingClientRect() ?? view.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const right = box.right + 12 + width <= room.right || box.left - room.left < width + 12;
    const left = right ? box.right + 12 : box.left - 12 - width;
    this.element.style.left = `${clamp(left - room.left, 8, Math.max(8, room.width - width - 8))}px`;
    this.element.style.top = `${clamp(box.top - room.top, 8, Math.max(8, room.height - height - 8))}px`; // a low picture makes room: see Player.room
  }
}

// What a vjp is, where a line of the steps has one.
export function vjp(frames, words) {
  const has = frames.some(({ lines }) => lines.some(([label]) => label === words.vjp || label.startsWith(`${words.vjp} `)));
  return has ? [block("mgp-sign", words.vjp_is)] : [];
}

function part(head, told, kind = "") {
  const more = told.length > MOST ? [`… +${told.length - MOST}`] : [];
  const entries = [...told.slice(0, MOST), ...more].map((one) => (one.nodeType ? one : make("div", { textContent: one })));
  return told.length ? [block(`mgp-part ${kind}`, make("b", { textContent: head }), ...entries)] : [];
}

// The signs that the legend of a picture explains, out of the picture, which becomes so much lower.
export function legend(svg) {
  const own = [...svg.querySelectorAll(":scope > .legend")].find((part) => part.querySelector("[transform] > .say"));
  if (!own) return [];
  const top = Math.min(...[...own.children].map((sign) => Number(/([-\d.]+)\)/.exec(sign.getAttribute("transform"))[1])));
  const view = svg.viewBox.baseVal;
  const height = top - view.y;
  svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${height}`);
  svg.setAttribute("height", height);
  svg.querySelector(":scope > .paper")?.setAttribute("height", height);
  own.remove();
  return [...own.children].map((sign) => {
    const say = sign.querySelector(".say");
    say.remove();
    sign.removeAttribute("transform");
    const shown = drawn("svg", { class: svg.getAttribute("class"), viewBox: "-1 -2 24 18", width: 24, height: 18, "aria-hidden": true }, sign);
    return block("mgp-sign", shown, say.textContent);
  });
}

// The order in which nodes run: those that ran, the one that does, and those that are ready.
export class Queue {
  constructor(words) {
    this.words = words;
    this.element = make("div", { className: "mgp-order", hidden: true, aria: { label: words.who_runs_next, role: "region" } });
  }

  show(on, player) {
    this.element.hidden = !on;
    const { frames, step, stage, words } = player;
    const frame = frames[step - 1];
    const [count, ...ready] = on && frame ? frame.ready : [0];
    stage.sign(on && frame ? [...this.waiting(player), ...ready.map((id, i) => [id, `${i + 1}.`, "ready"])] : []);
    if (!on) return;
    const node = (id) => stage.parts.get(`${id}-d`)?.querySelector(".fn")?.textContent ?? "";
    const chip = (id, kind, more = "") => make("span", { className: kind }, make("b", { textContent: node(id) }), ` ${called(stage, id)}${more}`);
    const ran = frames.slice(0, step).filter(({ phase }) => phase === "backward").map(({ marks }) => marks[0]?.match(/^(\w+)-d$/)?.[1]).filter(Boolean);
    const past = ran.slice(0, -1).slice(-RAN).map((id) => chip(id, "ran"));
    const now = frame?.phase === "backward" ? ran.slice(-1).map((id) => chip(id, "now", ` · ${words.queue_now}`)) : [];
    const next = ready.map((id, i) => chip(id, i ? "waits" : "next", i ? "" : ` · ${words.queue_next}`));
    const more = count > ready.length ? [`… +${count - ready.length}`] : [];
    const shown = [...past, ...now, ...next, ...more];
    const chips = block("mgp-queued", make("b", { textContent: words.queue_order }), ...(shown.length ? shown : [words.queue_none]));
    this.element.replaceChildren(chips, block("mgp-rule", frame?.recursion || words.queue_rule));
  }

  // The nodes that wait, and for how many gradients.
  waiting({ frames, step }) {
    const waits = new Map();
    for (const frame of frames.slice(0, step)) {
      for (const [id, arrows] of frame.waiting) waits.set(id, arrows);
    }
    return [...waits].filter(([, arrows]) => arrows).map(([id, arrows]) => [id, `${arrows}`, "waits"]);
  }
}
