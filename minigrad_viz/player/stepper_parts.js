// What the player is built of: elements, icons, the cell's source, the track, lines of arithmetic, and the model
// and the data of a page without a kernel.

const SEGMENTS = 80; // steps; the track of a longer cell shows one bar for all its forward steps, one for the rest
const ICONS = {
  first: "M4 3v10M12 3L7 8l5 5",
  previous: "M10.5 3l-5 5 5 5",
  play: "M5 3l8 5-8 5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  next: "M5.5 3l5 5-5 5",
  act_previous: "M9.5 4l-4 4 4 4",
  act_next: "M6.5 4l4 4-4 4",
  last: "M12 3v10M4 3l5 5-5 5",
  queue: "M6.5 4H13M6.5 8H13M6.5 12H13M3 4h.01M3 8h.01M3 12h.01",
  zoom_out: "M3.5 8h9",
  zoom_in: "M3.5 8h9M8 3.5v9",
  zoom_fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  close: "M4 4l8 8M12 4l-8 8",
};
export const SVG = "http://www.w3.org/2000/svg";

export const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

export function make(tag, properties, ...children) {
  const { aria, ...rest } = properties ?? {};
  const element = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(aria ?? {})) element.setAttribute(name === "role" ? name : "aria-" + name, value);
  element.append(...children);
  return element;
}

export function drawn(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Keys typed here must not reach the notebook, where `b` inserts a cell.
export const quiet = (element) => (element.setAttribute("data-lm-suppress-shortcuts", "true"), element);

export const block = (className, ...children) => make("div", { className }, ...children);

export function icon(name) {
  return drawn("svg", { viewBox: "0 0 16 16", class: `mgp-icon ${name}`, "aria-hidden": true }, drawn("path", { d: ICONS[name] }));
}

// What a widget's model is to a player, on a page without a kernel.
export function memory(state) {
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

// JSON that was deflated and written in base64.
function inflated(z) {
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

// An act, which may be packed, with its frames by name.
export async function unpacked(act) {
  const content = act.z ? await inflated(act.z) : act;
  const names = ([phase, marks, label, text, lines, span, ready, waiting, failed, recursion, cause, shows]) => {
    return { phase, marks, label, text, lines, span, ready, waiting, failed, recursion, cause, shows: shows ?? [] };
  };
  const panels = Object.entries(content.panels ?? {}).map(([box, panel]) => [box, { ...panel, frames: panel.frames.map(names) }]);
  return { ...content, frames: content.frames.map(names), panels: Object.fromEntries(panels) };
}

// A line of source in pieces `[text, class]`, cut where marks `[from, to, class]` begin and end.
export function pieces(line, marks) {
  const chars = Array.from(line);
  const cuts = [0, chars.length, ...marks.flatMap(([from, to]) => [from, to])].map((cut) => clamp(cut, 0, chars.length));
  const ordered = [...new Set(cuts)].sort((a, b) => a - b);
  return ordered.slice(1).map((end, i) => {
    const mark = marks.find(([from, to]) => from <= ordered[i] && end <= to);
    return [chars.slice(ordered[i], end).join(""), mark ? mark[2] : ""];
  });
}

const piece = ([said, kind]) => (kind ? make("mark", { className: kind, textContent: said }) : said);

// The cell's source with what a step marks in it.
export class Source {
  constructor(source, label) {
    this.lines = source.trimEnd().split("\n");
    this.codes = this.lines.map((line) => make("span", { textContent: line }));
    this.marked = [];
    const rows = this.codes.map((code, i) => block("mgp-row", make("i", { textContent: i + 1 }), code));
    this.list = quiet(make("div", { className: "mgp-lines", tabIndex: 0, aria: { label, role: "region" } }, ...rows));
  }

  // `spans` are `[span, class]`; the first is brought into sight.
  mark(spans) {
    for (const i of this.marked) this.codes[i].textContent = this.lines[i];
    const marks = new Map();
    for (const [[first, column, last, end], kind] of spans) {
      for (let i = first; i <= Math.min(last, this.lines.length); i++) {
        const from = i === first ? column : this.lines[i - 1].search(/\S|$/);
        marks.set(i - 1, [...(marks.get(i - 1) ?? []), [from, i === last ? end : Infinity, kind]]);
      }
    }
    for (const [i, mine] of marks) this.codes[i].replaceChildren(...pieces(this.lines[i], mine).map(piece));
    this.marked = [...marks.keys()];
    const row = this.codes[this.marked[0]]?.parentNode;
    if (!row) return;
    const { list } = this;
    const [top, bottom] = [row.offsetTop - 8, row.offsetTop + row.offsetHeight + 8 - list.clientHeight];
    list.scrollTop = clamp(list.scrollTop, bottom, Math.max(top, bottom));
  }
}

// The track: a segment for every step, or of a long cell one for each run of forward or of backward steps.
export function segments(frames) {
  const runs = [];
  frames.forEach(({ phase }, i) => {
    const last = runs.at(-1);
    if (frames.length > SEGMENTS && last?.phase === phase) last.to = i + 1;
    else runs.push({ phase, from: i + 1, to: i + 1 });
  });
  return runs.map(({ phase, from, to }) => {
    const fill = make("b");
    const element = make("i", {}, fill);
    element.style.flexGrow = to - from + 1;
    const show = (step) => {
      element.className = `${phase} ${step < from ? "later" : step > to ? "done" : "now"}`;
      fill.style.width = `${100 * clamp((step - from + 1) / (to - from + 1), 0, 1)}%`;
    };
    return { element, show };
  });
}

// The lines of arithmetic: of what kind each is, then the formula with the numbers that flowed.
export function arithmetic(lines) {
  const part = ([tone, said]) => (tone ? make("em", { className: tone, textContent: said }) : said);
  const rows = lines.flatMap(([label, parts, formula]) => [
    make("div", { className: "mgp-kind", textContent: label }),
    block(formula ? "mgp-formula" : "mgp-note", ...parts.map(part)),
  ]);
  return rows.length ? [block("mgp-arithmetic", ...rows)] : [];
}

// The value of the root in the `counted` calls before the first act, as far as it is known, and in every act (null
// where it is no number), as a line with a point at the act shown.
export function curve(earlier, counted, values, label) {
  const known = [...earlier, ...values.flatMap((value, i) => (Number.isFinite(value) ? [[counted + i, value]] : []))];
  if (known.length < 3) return { elements: [], show: () => {} };
  const [low, high] = [Math.min(...known.map(([, y]) => y)), Math.max(...known.map(([, y]) => y))];
  const x = (i) => 4 + (152 * i) / (counted + values.length - 1);
  const y = (value) => 24 - (20 * (value - low)) / (high - low || 1);
  const svg = drawn("svg", { viewBox: "0 0 160 28", class: "mgp-curve", role: "img", "aria-label": label });
  const point = drawn("circle", { r: 3.5 });
  svg.append(drawn("path", { d: "M" + known.map(([i, value]) => `${x(i)} ${y(value)}`).join("L") }), point);
  const told = make("span", { className: "mgp-counted" });
  const show = (act) => {
    const value = values[act];
    point.style.display = Number.isFinite(value) ? "" : "none";
    point.setAttribute("cx", x(counted + act));
    point.setAttribute("cy", Number.isFinite(value) ? y(value) : 0);
    told.textContent = Number.isFinite(value) ? `${label} ${Number(value.toPrecision(5))}` : "";
  };
  return { elements: [svg, told], show };
}
