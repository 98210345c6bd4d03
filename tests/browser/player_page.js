// What the tests of the player's modules share: how they are run, a made-up picture, and a player on the page.

import { make, memory } from "/stepper_parts.js";
import { Painter } from "/stepper_painter.js";
import { render } from "/stepper.js";

const tests = {};
export const test = (name, body) => (tests[name] = body);
export const plain = test; // one that needs no page

export async function run(name) {
  globalThis.document?.body.replaceChildren(); // node has none
  await tests[name]();
}

export function equal(found, expected, what = "") {
  const [is, should] = [found, expected].map((value) => JSON.stringify(value));
  if (is !== should) throw new Error(`${what} is ${is}, should be ${should}`);
}

export const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function until(condition, what) {
  const end = performance.now() + 5000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within 5 s: ${what}`);
    await later(5);
  }
}

// A chain of `count` tensors with their nodes, as svg.py draws it, and its frames.
export function chain(count, name = (i) => `t${i}`) {
  const stations = Array.from({ length: count }, (_, i) => {
    const card =
      `<g class="card" id="p-s${i}-c0"><title>${name(i)} = f(x)\nvalue: ${i}\ngrad: (${count - i} not kept)</title>` +
      `<path class="box" d="M0 0h100v40h-100z"/><text>${name(i)}</text>` +
      `<g class="row" id="p-s${i}-c0-value"><text class="key">value</text><text>${i}</text></g>` +
      `<g class="row" id="p-s${i}-c0-grad"><text class="key">grad</text><text>${count - i}</text></g></g>`;
    const deck =
      `<g class="deck" id="p-s${i}-d"><title>Node${i}</title><path class="box" d="M0 40h100v40h-100z"/>` +
      `<text class="fn">Node${i}</text><g class="chip freed" id="p-s${i}-k0"><title>kept ${i}</title><text>${i}</text></g></g>`;
    return `<g class="station" id="p-s${i}" transform="translate(${120 * i} 0)">${card}${deck}</g>`;
  });
  const arrows = Array.from({ length: count - 1 }, (_, i) => {
    const edge = (kind, id, tip) => `<g class="edge ${kind}" id="p-${id}"><title>${tip}</title><path d="M0 0h9"/></g>`;
    const pill = `<g class="pill" id="p-r${i}-p"><title>gradient ${i}</title><rect width="9" height="9"/><text>${i}</text></g>`;
    return edge("fwd", `r${i}`, `use ${i}`) + edge("grad", `r${i}-g`, `gradient ${i}`) + pill;
  });
  const frames = [];
  for (let i = 0; i < count; i++) {
    const marks = [`s${i}-c0`, `s${i}-k0`, ...(i ? [`r${i - 1}`] : [])];
    frames.push(["forward", marks, `forward ${i + 1}`, `makes ${name(i)}`, [], [i + 1, 0, i + 1, 2], [0], []]);
  }
  for (let i = count - 1; i >= 0; i--) {
    const marks = [`s${i}-d`, `s${i}-k0`, `s${i}-c0-grad`, ...(i ? [`r${i - 1}-g`, `r${i - 1}-p`] : [])];
    const lines = [["chain rule", ["a", " · ", ["in", "2"], "=", ["out", `${i}`]], 2], ["freed", "self", 0]];
    const ready = i ? [1, `s${i - 1}`] : [0];
    const waiting = i > 1 ? [[`s${i - 2}`, 1], [`s${i - 1}`, 0]] : [["s0", 0]];
    frames.push(["backward", marks, `backward ${count - i}`, `runs ${name(i)}`, lines, null, ready, waiting, false, "", 0, [], 1]);
  }
  const size = `width="${120 * count}" height="80" viewBox="0 0 ${120 * count} 80"`;
  return {
    label: "one",
    chapters: [["forward", count], ["backward", count]],
    svg: `<svg xmlns="http://www.w3.org/2000/svg" class="mg" ${size} role="img">${stations.join("")}${arrows.join("")}</svg>`,
    prefix: "p-",
    width: 90 * count,
    outline: "",
    routes: Array.from({ length: count - 1 }, (_, i) => [`r${i}`, `s${i}`, `s${i + 1}`]),
    frames,
  };
}

const WORDS = Object.fromEntries(
  ("player first previous play pause next last slider speed source step_start step_click step_failed acts queue queue_now queue_next queue_order " +
    "queue_none queue_rule who_runs_next zoom_in zoom_out zoom_fit full legend copy keys details close details_in details_out details_steps " +
    "details_formula legend_node picture beyond beyond_none menu row_grad forward backward update say_times say_equals")
    .split(" ")
    .map((word) => [word, word]),
);
Object.assign(WORDS, { row_grad: "grad", of: "{i} of {n}", line: "line {n}", following: "Next: {what}", round: "round {i}", call: "call {i}", of_all: "of {n}" });

export function score(acts, source = "") {
  return { words: WORDS, theme: "light", source, counted: 0, total: acts.length, known: [], shown: acts.length - 1, acts };
}

// A player on the page, or in `host`.
export async function player(data = score([chain(3)], "a1\nb2\nc3\n"), host = document.body) {
  const el = make("div");
  host.append(el);
  const model = memory({ _score: data, step: 0, act: data.shown, playing: false, speed: 1 });
  const end = render({ model, el, module: { code: "", style: "" } });
  const all = (selector) => [...el.querySelectorAll(selector)];
  const one = (selector) => el.querySelector(selector);
  await until(() => one("svg.mg, pre"), "the picture is there");
  const key = (key, target = one(".mgp-view"), more = {}) => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
    target.dispatchEvent(event);
    return event;
  };
  const ids = (kind) => all(`svg.mg .${kind}`).map((part) => part.id.slice(2));
  return { el, model, end, all, one, key, ids, step: () => model.get("step") };
}

export const painter = (count) => {
  const act = chain(count);
  const svg = new DOMParser().parseFromString(act.svg, "image/svg+xml").documentElement;
  const frames = act.frames.map(([phase, marks]) => ({ phase, marks }));
  return { svg, frames, painter: new Painter(svg, "p-", frames) };
};
export const classes = (svg) => [...svg.querySelectorAll("[id]")].map((part) => part.getAttribute("class"));
