// Formulas: from the tree that a line of arithmetic has to elements with real fractions, and to words that can be read aloud.
// A tree is a list. A text in it is a letter, a number or a sign, with blanks around it a sign between two parts; a list in
// it has its kind first: see `page` in `arithmetic/formula_tree.py`.

import { make } from "./stepper_parts.js";

const ACCENTS = { bar: "\u0304", dot: "\u0307", hat: "\u0302" };
const SPOKEN = { "·": "say_times", "⊙": "say_times", "×": "say_times", "−": "say_minus", "+": "say_plus", "←": "say_becomes", "∂": "d" };
const EQUALS = "="; // between equal forms; one in a condition has blanks around it

const span = (className, ...children) => make("span", { className }, ...children);
const written = (nodes) => nodes.flatMap(element);

function element(node) {
  if (typeof node === "string") {
    if (node[0] === " ") return span("op", node.trim());
    return /^\p{L}$/u.test(node) ? make("i", { textContent: node }) : node.replaceAll("-", "−");
  }
  const [kind, ...parts] = node;
  if (kind in ACCENTS) return make("i", { textContent: parts[0] + ACCENTS[kind] });
  if (kind === "word") return span("word", parts[0]);
  if (kind === "sign") return parts[0];
  if (kind === "space" || kind === "gap") return span(kind, "\u00a0");
  if (kind === "fr") return span("fr", ...parts.map((part) => span("", ...written(part))));
  if (kind === "sup" || kind === "sub") return make(kind, {}, ...written(parts[0]));
  if (kind === "root") return ["√", span("over", ...written(parts[0]))];
  if (kind === "over") return span("over", ...written(parts[0]));
  if (kind === "mx") return matrix(...parts);
  return make("em", { className: kind }, ...written(parts));
}

function matrix(columns, ...cells) {
  const grid = span("mx", ...cells.map((cell) => span("", ...written(cell))));
  grid.style.gridTemplateColumns = `repeat(${columns}, auto)`;
  return grid;
}

// What a screen reader says, in the `words` of the reader's language.
export function spoken(nodes, words) {
  const sign = (text) => words[SPOKEN[text]] ?? SPOKEN[text] ?? text;
  const said = (node) => {
    if (typeof node === "string") return /^-./.test(node) ? `${sign("−")} ${node.slice(1)}` : sign(node.trim());
    const [kind, ...parts] = node;
    const inner = (part = parts[0]) => spoken(part, words);
    if (kind in ACCENTS) return `${parts[0]} ${kind}`;
    if (kind === "word" || kind === "sign") return parts[0];
    if (kind === "fr") return parts.map(inner).join(` ${words.say_over} `);
    if (kind === "sup") return inner() === "2" ? words.say_squared : `${words.say_power} ${inner()}`;
    if (kind === "root") return `${words.say_root} ${inner()}`;
    if (kind === "over") return `${inner()} bar`;
    if (kind === "sub") return inner();
    if (kind === "mx") return rows(parts[0], parts.slice(1)).map((row) => row.map(inner).join(", ")).join("; ");
    return inner(parts);
  };
  return nodes.map(said).filter(Boolean).join(" ");
}

// A formula in one line of text.
export function inline(nodes) {
  const said = (node) => {
    if (typeof node === "string") return node === EQUALS ? " = " : node;
    const [kind, ...parts] = node;
    const inner = (part = parts[0]) => inline(part);
    const tight = (text) => (/^[\p{L}\p{N}.\u0304]*$/u.test(text) ? text : `(${text})`);
    if (kind in ACCENTS) return parts[0] + ACCENTS[kind];
    if (kind === "word" || kind === "sign") return parts[0];
    if (kind === "space" || kind === "gap") return " ";
    if (kind === "fr") return parts.map((part) => tight(inner(part))).join("/");
    if (kind === "sup") return inner() === "2" ? "²" : inner() === "3" ? "³" : `^${tight(inner())}`;
    if (kind === "sub") return `_${inner()}`;
    if (kind === "root") return `√${tight(inner())}`;
    if (kind === "over") return `${inner()}\u0304`;
    if (kind === "mx") return `[${rows(parts[0], parts.slice(1)).map((row) => row.map(inner).join(" ")).join("; ")}]`;
    return inner(parts);
  };
  return nodes.map(said).join("");
}

const rows = (columns, cells) => cells.flatMap((_, i) => (i % columns ? [] : [cells.slice(i, i + columns)]));

// A formula as an element whose children are its equal forms, `=` before each but the first.
export function formula(tree, words, kind = "") {
  const forms = [[]];
  for (const node of tree) {
    if (node === EQUALS) forms.push([]);
    else forms.at(-1).push(node);
  }
  const parts = forms.map((nodes, i) => span("form", ...(i ? [span("op", "=")] : []), ...written(nodes)));
  return make("div", { className: `mgp-formula ${kind}`, aria: { role: "math", label: forms.map((nodes) => spoken(nodes, words)).join(` ${words.say_equals} `) } }, ...parts);
}

// Which of the forms are shown, by their widths: of those in the middle the widest gives way first, so that
// the line fits, as long as one stays.
export function kept(widths, room) {
  const shown = widths.map((_, i) => i);
  const width = () => shown.reduce((sum, i) => sum + widths[i], 0);
  while (shown.length > 3 && width() > room) {
    const middle = shown.slice(1, -1);
    const widest = middle.reduce((a, b) => (widths[b] > widths[a] ? b : a));
    shown.splice(shown.indexOf(widest), 1);
  }
  return shown;
}
