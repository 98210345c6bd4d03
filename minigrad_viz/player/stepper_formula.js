// Formulas: from the LaTeX of a line of arithmetic to elements with real fractions, and to words that can be read aloud.

import { make } from "./stepper_parts.js";

const SIGNS = {
  cdot: "·", odot: "⊙", times: "×", to: "→", gets: "←", leq: "≤", geq: "≥", neq: "≠", lt: "<", gt: ">", land: "∧", lor: "∨", lnot: "¬",
  sim: "~", wedge: "^", dots: "…", infty: "∞", partial: "∂", top: "T", backslash: "\\", prime: "′", sigma: "σ", sum: "Σ",
};
const BETWEEN = new Set("·⊙×→←≤≥≠<>∧∨+-=~"); // signs that stand between two terms
const ACCENTS = { bar: "\u0304", dot: "\u0307", hat: "\u0302" };
const SPOKEN = { "·": "say_times", "⊙": "say_times", "×": "say_times", "-": "say_minus", "+": "say_plus", "←": "say_becomes", "∂": "d" };
const TONES = { "\x02": "in", "\x03": "out" };
const TOKEN = /\\[a-zA-Z]+|\\.|\d[\d.]*(?:e[-+]?\d+)?|\s+|./gsu;

// The tree of a formula: lists of `{kind, …}`, where `text` is what is printed and `parts` are lists again.
export function parsed(latex) {
  const tokens = latex.match(TOKEN) ?? [];
  let at = 0;
  const argument = () => {
    while (/^\s+$/.test(tokens[at] ?? "")) at++;
    if (tokens[at] === "{") return at++, list("}");
    return [one(tokens[at++])];
  };
  const verbatim = () => {
    const begin = ++at;
    for (let depth = 1; depth && at < tokens.length; at++) depth += { "{": 1, "}": -1 }[tokens[at]] ?? 0;
    return tokens.slice(begin, at - 1).join("").replace(/\\(.)/g, "$1");
  };
  const one = (token) => {
    const name = token?.[0] === "\\" ? token.slice(1) : "";
    if (name === "frac") return { kind: "frac", parts: [argument(), argument()] };
    if (name === "sqrt") return { kind: "root", parts: [argument()] };
    if (name === "overline") return { kind: "over", parts: [argument()] };
    if (name in ACCENTS) return { kind: "accent", mark: name, parts: [argument()] };
    if (["mathrm", "text", "operatorname"].includes(name)) return { kind: "word", text: verbatim() };
    if (name === "begin") return verbatim(), { kind: "matrix", rows: rows() };
    if (name === "left" || name === "right") return one(tokens[at++]);
    if (name === "quad") return { kind: "gap" };
    if (name in SIGNS) return { kind: BETWEEN.has(SIGNS[name]) ? "between" : "sign", text: SIGNS[name] };
    if (/^[a-zA-Z]/.test(name)) return { kind: "word", text: name };
    if (name) return name === "," || name === " " ? { kind: "space" } : { kind: "sign", text: name };
    if (token === "^" || token === "_") return { kind: token === "^" ? "sup" : "sub", parts: [argument()] };
    if (token === "{") return { kind: "group", parts: [list("}")] };
    if (token in TONES) return { kind: "tone", tone: TONES[token], parts: [list("\x04")] };
    if (/^\d/.test(token)) return { kind: "number", text: token };
    if (/^\p{L}/u.test(token)) return { kind: "letter", text: token };
    return { kind: BETWEEN.has(token) ? "between" : "sign", text: token };
  };
  const list = (end) => {
    const found = [];
    while (at < tokens.length && tokens[at] !== end) {
      const token = tokens[at++];
      if (/^\s+$/.test(token)) continue;
      const node = one(token);
      const before = found.at(-1)?.kind;
      if (node.text === "-" && (!before || before === "between" || before === "space" || "([|".includes(found.at(-1).text ?? "."))) node.kind = "sign";
      found.push(node);
    }
    at++;
    return found;
  };
  const rows = () => {
    const all = [[[]]];
    for (;;) {
      const token = tokens[at++];
      if (token === undefined) return all;
      if (token === "\\end") return verbatim(), all;
      if (token === "&") all.at(-1).push([]);
      else if (token === "\\\\") all.push([[]]);
      else if (!/^\s+$/.test(token)) all.at(-1).at(-1).push(one(token));
    }
  };
  return list();
}

const span = (className, ...children) => make("span", { className }, ...children);
const written = (nodes) => nodes.flatMap(element);
const sign = (text) => text.replaceAll("-", "−");

function element(node) {
  const { kind, text, parts } = node;
  if (kind === "letter") return [make("i", { textContent: text })];
  if (kind === "number") return [text];
  if (kind === "sign") return [sign(text)];
  if (kind === "between") return [span("op", sign(text))];
  if (kind === "word") return [span("word", text)];
  if (kind === "space" || kind === "gap") return [span(kind, "\u00a0")];
  if (kind === "frac") return [span("fr", span("", ...written(parts[0])), span("", ...written(parts[1])))];
  if (kind === "sup" || kind === "sub") return [make(kind, {}, ...written(parts[0]))];
  if (kind === "root") return ["√", span("over", ...written(parts[0]))];
  if (kind === "over") return [span("over", ...written(parts[0]))];
  if (kind === "accent") return [make("i", { textContent: parts[0].map((part) => part.text).join("") + ACCENTS[node.mark] })];
  if (kind === "tone") return [make("em", { className: node.tone }, ...written(parts[0]))];
  if (kind === "matrix") return [matrix(node.rows)];
  return written(parts[0]);
}

function matrix(rows) {
  const grid = span("mx", ...rows.flat().map((cell) => span("", ...written(cell))));
  grid.style.gridTemplateColumns = `repeat(${rows[0].length}, auto)`;
  return grid;
}

// What a screen reader says, in the `words` of the reader's language.
export function spoken(nodes, words) {
  const told = nodes.map((node) => {
    const inner = () => node.parts.map((part) => spoken(part, words));
    if (node.kind === "frac") return inner().join(` ${words.say_over} `);
    if (node.kind === "sup") return inner()[0] === "2" ? words.say_squared : `${words.say_power} ${inner()[0]}`;
    if (node.kind === "root") return `${words.say_root} ${inner()[0]}`;
    if (node.kind === "accent" || node.kind === "over") return `${inner()[0]} ${node.mark ?? "bar"}`;
    if (node.kind === "matrix") return node.rows.map((row) => row.map((cell) => spoken(cell, words)).join(", ")).join("; ");
    return node.parts ? inner().join(" ") : words[SPOKEN[node.text]] ?? SPOKEN[node.text] ?? node.text ?? "";
  });
  return told.filter(Boolean).join(" ");
}

// A formula as an element whose children are its equal forms, `=` before each but the first.
export function formula(latex, words, kind = "") {
  const forms = [[]];
  for (const node of parsed(latex)) {
    if (node.kind === "between" && node.text === "=") forms.push([]);
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
