// The caption of a step: where it is, its formula or sentence, and what it changes. It has one height in one player.

import { formula, kept } from "./stepper_formula.js";
import { block, control, make } from "./stepper_parts.js";
import { piece, pieces } from "./stepper_source.js";

const LOW = 42; // pixels that a formula of one line takes at most
const MEASURED = 200; // formulas that are measured for the height of the caption
const FORMULA = 2; // kinds of lines; 1 is a sentence by itself, 0 needs its label, 3 is for the details alone
const IN_WORDS = 4; // what the backward of an op does: it stands above the formula

export const isFormula = (line) => line[2] === FORMULA;
const inWords = (frame) => frame?.lines?.find((line) => line[2] === IN_WORDS)?.[1] ?? "";

// The lines of arithmetic, one below the other, each with its label.
export function arithmetic(lines, words) {
  const rows = lines.flatMap((line) => {
    const [label, content] = line;
    const said = isFormula(line) ? formula(content, words) : block("mgp-note", content);
    return [make("div", { className: "mgp-kind", textContent: label }), said];
  });
  return rows.length ? [block("mgp-arithmetic", ...rows)] : [];
}

// What formulas call the tensor of a station: its name, or its letter.
export function called(stage, id) {
  return stage.parts.get(`${id}-c0`)?.querySelector(".name.letter")?.textContent ?? stage.name(id).split(" = ")[0];
}

// The name at the head of a card of a strip, of one or two lines; elsewhere what formulas call the station.
function title(stage, id) {
  const head = stage.parts.get(id)?.matches(".strip") && [...stage.parts.get(id).querySelectorAll(".head ~ text.name")];
  return head ? head.map((line) => line.textContent).join(" ") : called(stage, id);
}

// What comes next, in a few words; nothing where an extra hides that, as a question about it does.
/** @param {import("./stepper.js").Player} player */
export function following({ words, frames, step, stage, panes, extras }) {
  const next = step ? frames[step] : undefined;
  if (!next || extras.some((extra) => extra.hides(step + 1))) return "";
  const [mark] = next.marks;
  const station = mark?.match(/^(\w+)-[cd]\d*$/)?.[1];
  const node = next.phase === "backward" && station && stage.parts.get(mark)?.querySelector(".fn")?.textContent;
  const line = next.span && panes.code.lines[next.span[0] - 1]?.trim();
  const { phase, span } = frames[step - 1];
  const name = station && next.phase !== "update" && next.span?.[0] === span?.[0] ? title(stage, station) : "";
  const what = node ? `${node} (${called(stage, station)})` : name && next.phase !== phase ? `${words[next.phase]} (${name})` : name || line;
  return what ? words.following.replace("{what}", () => what) : "";
}

export class Caption {
  page = 0;
  /** @type {Map<string, {className: string, hidden: boolean[]}>} how formulas fit, by their form */ fits = new Map();
  /** @type {string | undefined} of the step that is shown */ label;
  /** @type {any} the formula that is shown, its tree, and the sentence */ formula = null;
  /** @type {any} */ tree;
  said = "";

  /** @param {import("./stepper_types.js").Words} words @param {string[]} lines of the cell */
  constructor(words, lines) {
    this.words = words;
    this.lines = lines;
    this.place = block("mgp-at");
    this.inWords = block("mgp-words");
    this.main = block("mgp-main");
    this.after = block("mgp-after");
    this.element = make("div", { className: "mgp-caption", aria: { live: "polite", atomic: true } }, this.place, this.inWords, this.main, this.after);
  }

  // How high it is: as the formulas of all steps ask for, at the width that it has.
  /** @param {import("./stepper_types.js").Frame[]} frames */
  settle(frames) {
    const every = Math.ceil(frames.length / MEASURED) || 1;
    const some = frames.filter((frame, i) => i % every === 0 && frame.main !== undefined);
    const all = some.map((frame) => formula(frame.lines[frame.main][1], this.words));
    const words = frames.filter((frame, i) => i % every === 0 && frame.main === undefined && !frame.failed);
    const told = words.map((frame) => block("mgp-text", frame.text));
    const hidden = block("mgp-measure", ...all, ...told);
    const sentences = [...new Set(frames.map(inWords))].filter(Boolean).map((one) => block("mgp-words", one));
    hidden.append(...sentences);
    this.element.append(hidden);
    this.element.style.setProperty("--words", `${Math.max(0, ...sentences.map((one) => one.offsetHeight))}px`);
    this.fits.clear();
    const room = this.main.clientWidth;
    const long = (one) => one.offsetHeight > LOW || kept(widths(one), room).reduce((sum, i) => sum + widths(one)[i], 0) > room;
    this.tall = all.some(long) || told.some((one) => one.offsetHeight > LOW);
    hidden.remove();
    this.element.classList.toggle("tall", this.tall);
  }

  /** @param {Partial<import("./stepper_types.js").Frame> | undefined} frame @param {string} next */
  show(frame, next) {
    const { words } = this;
    if (this.label !== frame?.label) this.page = 0;
    this.label = frame?.label;
    const first = frame?.main === undefined ? undefined : frame.lines[frame.main];
    const pages = first ? [first, ...frame.lines.filter((line) => isFormula(line) && line !== first)] : [];
    this.page = Math.min(this.page, Math.max(0, pages.length - 1));
    const main = pages[this.page];
    this.tree = main?.[1];
    const sentence = frame ? (frame.failed ? words.step_failed : frame.text) : words.step_start;
    this.element.classList.toggle("failed", Boolean(frame?.failed));
    this.said = sentence;
    const goal = frame?.goal ? [make("span", { className: "mgp-goal", textContent: frame.goal })] : [];
    this.place.replaceChildren(...goal, ...this.where(frame?.span), ...(main ? [make("span", { className: "mgp-said", textContent: sentence, title: sentence })] : []));
    const turn = pages.length > 1 ? [this.turner(pages.length, (page) => ((this.page = page), this.show(frame, next)))] : [];
    const shown = main ? formula(main[1], words) : make("div", { className: "mgp-text", textContent: sentence });
    if (main) shown.title = main[0];
    this.inWords.textContent = frame?.failed ? "" : inWords(frame);
    this.main.replaceChildren(shown, ...turn);
    this.formula = main ? shown : null;
    if (main) this.fit(shown);
    const notes = (frame?.lines ?? []).filter(([, , kind]) => kind < FORMULA);
    const said = notes.map(([label, content, kind]) => (kind ? content : `${label[0].toUpperCase()}${label.slice(1)}: ${content}`));
    if (next) said.push(next);
    this.after.textContent = said.map((one) => (/[.…!?]$/.test(one) ? one : `${one}.`)).join(" ");
    this.after.title = this.after.textContent;
  }

  // The line of the cell that a step belongs to, with the part that it is about.
  where(span) {
    const line = span ? this.lines[span[0] - 1] : undefined;
    if (line === undefined) return [];
    const [first, column, last, end] = span;
    const indent = line.search(/\S|$/);
    /** @type {[number, number, string]} */
    const mark = [column - indent, first === last ? end - indent : Infinity, "now"];
    const number = make("span", { textContent: this.words.line.replace("{n}", first) });
    return [number, make("code", {}, ...pieces(line.trim(), [mark]).map(piece))];
  }

  // The formulas of a step are pages: ‹ 1 of 4 ›.
  turner(count, turn) {
    const { words, page } = this;
    const button = (name, textContent, by) => {
      const act = () => (turn((page + by) % count), buttonOf(this.main, name).focus());
      return Object.assign(control(words, name, act), { textContent });
    };
    return block("mgp-turn", button("formula_previous", "‹", count - 1), words.of.replace("{i}", String(page + 1)).replace("{n}", String(count)), button("formula_next", "›", 1));
  }

  // A long formula loses forms in its middle, first those that would not fit in a line of their own; then it
  // breaks before `=`, and becomes smaller. One that differs in its digits alone, as when a number is dragged,
  // fits as the other did: to measure each would lay out the page again.
  fit(shown) {
    const forms = [...shown.children];
    const like = `${this.main.children.length} ${shown.textContent.replace(/\d/g, "0")}`;
    const known = this.fits.get(like);
    if (known) {
      shown.className = known.className;
      return forms.forEach((form, i) => (form.hidden = known.hidden[i]));
    }
    const room = this.main.clientWidth - (widths(this.main)[1] ?? 0) - 12;
    const wide = widths(shown);
    const last = forms.length - 1;
    const keep = kept(wide, room).filter((i) => i === 0 || i === last || wide[i] <= room);
    const show = (some) => forms.forEach((form, i) => (form.hidden = !some.includes(i)));
    const total = keep.reduce((sum, i) => sum + wide[i], 0);
    show(keep);
    shown.classList.toggle("broken", total > room);
    if (total > room) shown.classList.toggle("small", shown.scrollHeight > this.main.clientHeight || shown.scrollWidth > room);
    if (shown.scrollHeight > this.main.clientHeight + 2) show([0, last]);
    if (room > 0) this.fits.set(like, { className: shown.className, hidden: forms.map((form) => form.hidden) });
  }
}

/** @returns {HTMLElement} */
const buttonOf = (main, name) => main.querySelector(`.mgp-${name}`);

/** @param {HTMLElement} shown @returns {number[]} */
const widths = (shown) => [...shown.children].map((form) => /** @type {HTMLElement} */ (form).offsetWidth);
