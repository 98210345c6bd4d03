// What the player is built of: elements, icons, and the model and the data of a page without a kernel.

import { Texts } from "./stepper_texts.js";

const ICONS = {
  first: "M4 3v10M12 3L7 8l5 5",
  previous: "M10.5 3l-5 5 5 5",
  play: "M5 3l8 5-8 5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  next: "M5.5 3l5 5-5 5",
  act_previous: "M9.5 4l-4 4 4 4",
  act_next: "M6.5 4l4 4-4 4",
  last: "M12 3v10M4 3l5 5-5 5",
  source: "M5.5 4L2 8l3.5 4M10.5 4L14 8l-3.5 4",
  full: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  zoom_out: "M3.5 8h9",
  zoom_in: "M3.5 8h9M8 3.5v9",
  zoom_fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  close: "M4 4l8 8M12 4l-8 8",
};
// What a player has that not every cell uses: each entry gives it to a player, or nothing. Their files are joined
// only where a cell uses them. See `Player.begin`.
/** @type {((player: import("./stepper.js").Player) => any)[]} */
export const extras = [];

// What an extra does if it does nothing.
export class Extra {
  /** @type {import("./stepper.js").Player} */
  player;

  // The act and the step that are shown, of those that were asked for; whether it hides what a step shows; what
  // it waits for.
  /** @param {number} act */
  act(act) {
    return act;
  }
  /** @param {number} step */
  reach(step) {
    return step;
  }
  /** @param {number} step @returns {boolean} */
  hides(step) {
    return false;
  }
  /** @returns {any[]} */
  open() {
    return [];
  }
  // Whether it has a step of its own before the next step, or (`by` is -1) the one before; to go there.
  /** @param {number} by @returns {boolean} */
  ahead(by) {
    return false;
  }
  /** @param {number} by */
  walk(by) {}
  // Whether a key was meant for it.
  /** @param {string} key @returns {boolean} */
  key(key) {
    return false;
  }
  // The width is known, an act is laid out, a step is about to be painted and is, the caption says what it says,
  // all of that is done.
  arranged() {}
  laid() {}
  leaving() {}
  painted() {}
  caption() {}
  /** @param {number} step */
  shown(step) {}
}

export const SVG = "http://www.w3.org/2000/svg";

/** @type {(value: number, low: number, high: number) => number} */
export const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/** @param {string} tag @param {any} [properties] @param {...any} children @returns {import("./stepper_types.js").Made} */
export function make(tag, properties, ...children) {
  const { aria, ...rest } = properties ?? {};
  const element = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(aria ?? {})) element.setAttribute(name === "role" ? name : "aria-" + name, String(value));
  element.append(...children);
  return element;
}

/** @param {string} tag @param {Record<string, any>} attributes @param {...any} children @returns {any} */
export function drawn(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Keys typed here must not reach the notebook, where `b` inserts a cell.
/** @type {<E extends Element>(element: E) => E} */
export const quiet = (element) => (element.setAttribute("data-lm-suppress-shortcuts", "true"), element);

/** @param {string} className @param {...any} children */
export const block = (className, ...children) => make("div", { className }, ...children);

// The icon of a button; none where it has a word.
/** @param {string} name */
function icons(name) {
  if (!(name in ICONS)) return [];
  return [drawn("svg", { viewBox: "0 0 16 16", class: `mgp-icon ${name}`, "aria-hidden": true }, drawn("path", { d: ICONS[name] }))];
}

// Give a button its icon and its label.
/** @param {Element & {title?: string}} button @param {import("./stepper_types.js").Words} words @param {string} name */
export function face(button, words, name) {
  button.replaceChildren(...icons(name));
  button.title = words[name];
  button.setAttribute("aria-label", words[name]);
  return button;
}

/** @type {(words: import("./stepper_types.js").Words, name: string, onclick: () => void) => any} */
export const control = (words, name, onclick) => face(quiet(make("button", { type: "button", className: `mgp-${name}`, onclick })), words, name);

/** @param {string} label @param {[any, string][]} options @param {(value: number) => void} chosen @returns {any} */
export function choice(label, options, chosen) {
  const list = quiet(make("select", { title: label, aria: { label } }));
  list.append(...options.map(([value, textContent]) => make("option", { value, textContent })));
  list.onchange = () => chosen(Number(list.value));
  return list;
}

// What a widget's model is to a player, on a page without a kernel.
/** @param {Record<string, any>} state @returns {import("./stepper_types.js").Model} */
export function memory(state) {
  /** @type {Record<string, Set<any>>} */
  const listeners = {};
  return {
    get: (name) => state[name],
    set(name, value) {
      if (state[name] === value) return;
      state[name] = value;
      for (const listener of listeners[`change:${name}`] ?? []) listener();
    },
    on: (event, listener) => (listeners[event] ??= new Set()).add(listener),
    off: (event, listener) => listeners[event]?.delete(listener),
    save_changes() {},
  };
}

// The step that the address of a page names: `#step=7`.
/** @returns {number} */
export const addressed = () => Number(/(?:^#|&)step=(\d+)/.exec(location.hash)?.[1] ?? 0);

// JSON that was deflated and written in base64.
/** @param {string} z @returns {Promise<any>} */
export function inflated(z) {
  const bytes = Uint8Array.from(atob(z), (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

// The picture that an image shows, with what the image leaves out (see still.py): the ids and tooltips of its groups.
export function whole(image, { svg, groups, prefix }) {
  const [first, ...parts] = decodeURIComponent(image.src).split("</style>")[1].split("<g");
  const group = (part, i) => {
    const [id, title] = groups[i];
    const named = id ? ` id='${prefix}${id}'${part}` : part;
    return "<g" + (title ? named.replace(">", () => `><title>${title}</title>`) : named);
  };
  return svg + first + parts.map(group).join("");
}

// An act with its frames by name. It may be packed, or be a row in the table of texts of another, its base.
/** @param {import("./stepper_types.js").Act[]} acts @param {number} i @returns {Promise<import("./stepper_types.js").Content>} */
export async function unpacked(acts, i) {
  const act = acts[acts[i].base ?? i];
  const whole = act.z ? await inflated(act.z) : act;
  const table = async () => new Texts(typeof whole.table === "string" ? await inflated(whole.table) : whole.table);
  const content = acts[i].base === undefined ? whole : (await table()).variant(whole, acts[i].row);
  const names = ([phase, marks, label, text, lines, span, ready, waiting, failed, recursion, cause, shows, main, goal]) => {
    return { phase, marks, label, text, lines, span, ready, waiting, failed, recursion, cause, shows: shows ?? [], main: (main || undefined) && main - 1, goal };
  };
  const panels = Object.entries(content.panels ?? {}).map(([box, panel]) => [box, { ...panel, frames: panel.frames.map(names) }]);
  return { ...content, frames: content.frames.map(names), panels: Object.fromEntries(panels) };
}
