// The track: the chapters of a picture (forward, backward, update), each with its steps.

import { block, clamp, make, quiet } from "./stepper_parts.js";

const SEGMENTS = 80; // steps; the track of a longer cell shows one bar for each chapter

// The chapters of some frames: steps in a row that have the same phase, `from` the first `to` the last of them.
export function chapters(frames) {
  const found = [];
  frames.forEach(({ phase }, i) => {
    if (found.at(-1)?.phase === phase) found.at(-1).to = i + 1;
    else found.push({ phase, from: i + 1, to: i + 1 });
  });
  return found;
}

export class Track {
  constructor(words, onseek) {
    this.words = words;
    /** @type {any[]} */
    this.chapters = [];
    this.slider = quiet(make("input", { type: "range", min: 0, step: 1, aria: { label: words.slider } }));
    this.slider.oninput = () => onseek(Number(this.slider.value));
    this.bars = block("mgp-chapters");
    this.element = block("mgp-track", this.bars, this.slider);
    this.element.onpointerdown = this.element.onpointermove = (event) => this.seek(event, onseek);
  }

  lay(frames) {
    this.goals = frames.map(({ goal }) => goal ?? "");
    this.slider.max = String(frames.length);
    this.chapters = chapters(frames).map((chapter) => this.chapter(chapter, frames.length > SEGMENTS));
    this.bars.replaceChildren(...this.chapters.map(({ element }) => element));
    this.fit();
  }

  // Names that do not fit beside each other are left out, but for that of the chapter one is in.
  fit() {
    this.element.classList.remove("tight");
    this.element.classList.toggle("tight", this.bars.scrollWidth > this.bars.clientWidth + 1);
  }

  chapter({ phase, from, to }, long) {
    const count = to - from + 1;
    const runs = long ? [[from, to]] : Array.from({ length: count }, (_, i) => [from + i, from + i]);
    const segments = runs.map(([first, last]) => {
      const fill = make("b");
      return { first, last, fill, element: make("i", { title: long ? "" : this.goals[first - 1] }, fill) };
    });
    const told = make("span");
    const name = block("mgp-name", make("b", { textContent: this.words[phase] }), " ", told);
    const element = block("", name, block("mgp-segments", ...segments.map((segment) => segment.element)));
    element.style.flexGrow = String(count);
    const show = (step) => {
      const at = step >= from && step <= to;
      element.className = `mgp-chapter ${phase}${at ? " here" : ""}`;
      told.textContent = at ? this.count(step - from + 1, count) : count > 1 ? count : "";
      for (const { first, last, fill, element: segment } of segments) {
        segment.className = step < first ? "later" : step > last ? "done" : "now";
        fill.style.width = `${100 * clamp((step - first + 1) / (last - first + 1), 0, 1)}%`;
      }
    };
    return { phase, from, to, element, segments, show };
  }

  count(i, n) {
    return n > 1 ? this.words.of.replace("{i}", i).replace("{n}", n) : "";
  }

  // What the slider says: `backward 5 of 6`.
  told(step) {
    const at = this.chapters.find(({ from, to }) => from <= step && step <= to);
    return at ? `${this.words[at.phase]} ${this.count(step - at.from + 1, at.to - at.from + 1)}`.trim() : this.words.step_start;
  }

  show(step) {
    for (const chapter of this.chapters) chapter.show(step);
    this.slider.value = String(step);
    this.slider.setAttribute("aria-valuetext", this.told(step));
  }

  // Where the next chapter begins, or the one before; undefined past the ends.
  jump(step, by) {
    const begins = this.chapters.map(({ from }) => from);
    return by > 0 ? begins.find((from) => from > step) : begins.findLast((from) => from < step);
  }

  // The step at a place of the track; left of the first is step 0.
  seek(event, onseek) {
    if (event.type === "pointerdown") {
      this.element.setPointerCapture(event.pointerId);
      this.slider.focus({ preventScroll: true });
      event.preventDefault();
    }
    if (!(event.buttons & 1)) return;
    let step = 0;
    for (const { first, last, element } of this.chapters.flatMap(({ segments }) => segments)) {
      const { left, width } = element.getBoundingClientRect();
      if (event.clientX < left) break;
      const share = clamp((event.clientX - left) / (width || 1), 0, 0.999);
      step = first + Math.floor(share * (last - first + 1));
    }
    onseek(step);
  }
}
