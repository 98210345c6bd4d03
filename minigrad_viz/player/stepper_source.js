// The cell's source: numbered, coloured as an editor does, with marks.

import { block, clamp, make, quiet } from "./stepper_parts.js";

const PYTHON = /("""|'''|#.*|[rbfu]*"(?:\\.|[^"\\])*"|[rbfu]*'(?:\\.|[^'\\])*')|\b(\d[\w.]*)|\b(and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield|True|False|None)\b/g;
const COLOURS = ["string", "number", "keyword"];

// A line of source in pieces `[text, class]`, cut where marks `[from, to, class]` begin and end.
/** @param {string} line @param {[number, number, string][]} marks @returns {[string, string][]} */
export function pieces(line, marks) {
  const chars = Array.from(line);
  const cuts = [0, chars.length, ...marks.flatMap(([from, to]) => [from, to])].map((cut) => clamp(cut, 0, chars.length));
  const ordered = [...new Set(cuts)].sort((a, b) => a - b);
  return ordered.slice(1).map((end, i) => {
    const mark = marks.find(([from, to]) => from <= ordered[i] && end <= to);
    return [chars.slice(ordered[i], end).join(""), mark ? mark[2] : ""];
  });
}

// The strings, numbers and words of Python in a piece of a line, as elements.
function coloured(text) {
  const found = [];
  let at = 0;
  for (const match of text.matchAll(PYTHON)) {
    const kind = COLOURS[match.slice(1).findIndex((group) => group !== undefined)];
    found.push(text.slice(at, match.index), make("span", { className: match[0][0] === "#" ? "comment" : kind, textContent: match[0] }));
    at = match.index + match[0].length;
  }
  return [...found, text.slice(at)];
}

/** @type {(told: [string, string]) => HTMLElement} */
export const piece = ([text, kind]) => (kind ? make("mark", { className: kind }, ...coloured(text)) : make("span", {}, ...coloured(text)));

export class Source {
  constructor(lines, label) {
    this.lines = lines;
    this.codes = lines.map((line) => make("span", {}, ...coloured(line)));
    this.marked = [];
    const rows = this.codes.map((code, i) => block("mgp-row", make("i", { textContent: i + 1 }), code));
    rows.forEach((row, i) => (row.hidden = lines[i].startsWith("%%"))); // the magic of the cell is no code of it
    this.list = quiet(make("div", { className: "mgp-lines", tabIndex: 0, aria: { label, role: "region" } }, ...rows));
  }

  // `spans` are `[span, class]`; the first is brought into sight.
  mark(spans) {
    for (const i of this.marked) this.codes[i].replaceChildren(...coloured(this.lines[i]));
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
