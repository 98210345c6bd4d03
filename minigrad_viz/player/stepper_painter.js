// What each step marks in a picture.

import { SVG } from "./stepper_parts.js";

// A part is `later` until the first step that marks it and `active` in every step that does. Step 0 shows
// the finished picture: without the class `walk` on the whole, `later` means nothing. A step touches only the
// parts that the steps between the old one and the new one mark; `touched` counts them.
export class Painter {
  at = 0; // the step that is shown
  touched = 0;
  /** @type {Map<string, any>} by id */ parts = new Map();
  /** @type {Map<string, number>} the first step that marks a part */ first = new Map();
  /** @type {Map<string, Set<number>>} the steps that mark a station or an arrow */ steps = new Map();

  /** @param {any} svg @param {string} prefix @param {import("./stepper_types.js").Frame[]} frames @param {Record<string, string[]>} [stood] */
  constructor(svg, prefix, frames, stood = {}) {
    this.svg = svg;
    this.frames = frames;
    this.stood = stood;
    const marked = (kind) => [...svg.querySelectorAll(`.${kind}[id]`)].map((part) => [part, kind]);
    this.marked = [...marked("error"), ...marked("cause")]; // by an explanation
    this.guilty = marked("error").map(([part]) => part.id.slice(prefix.length));
    for (const part of svg.querySelectorAll("[id]")) {
      if (part.id.startsWith(prefix)) this.parts.set(part.id.slice(prefix.length), part);
    }
    this.followers = [...svg.querySelectorAll("[data-of]")]; // what pictures of the subject have of a part
    frames.forEach(({ phase, marks }, i) => {
      for (const id of marks) {
        // A node that ran in an earlier call, too, is to come until it runs in the one that is shown. A card as a
        // whole is never to come: what it shows is.
        const before = frames[this.first.get(id) - 1]?.phase ?? "";
        if (!this.isWhole(id) && (!before || (before !== phase && /-[dgp]$/.test(id)))) this.first.set(id, i + 1);
        const base = id.split("-")[0];
        if (!this.steps.has(base)) this.steps.set(base, new Set());
        this.steps.get(base).add(i + 1);
      }
    });
    for (const id of this.first.keys()) if (!(id in stood)) this.later(id, true);
    this.rows = Object.entries(stood).map(([id, said]) => this.row(id, said));
  }

  isWhole(id) {
    return Boolean(this.parts.get(id)?.classList.contains("strip"));
  }

  later(id, on) {
    for (const part of [this.parts.get(id), ...this.followers]) if (part && (part.dataset.of ?? id) === id) part.classList.toggle("later", on);
  }

  // A row that says something else in some steps; what stands behind its label is exchanged.
  row(id, said) {
    const part = this.parts.get(id);
    const content = (svg) => [...new DOMParser().parseFromString(`<svg xmlns="${SVG}">${svg}</svg>`, "image/svg+xml").documentElement.children];
    const moments = this.frames.flatMap(({ shows = [] }, i) => shows.filter(([row]) => row === id).map(([, n]) => [i + 1, n]));
    const begin = [...(part?.children ?? [])].filter((child) => child.matches(".key, .memory")).length;
    return { part, begin, moments, drawn: [...(part?.children ?? [])].slice(begin), said: said.map(content), at: -1 };
  }

  // Every row as its tensor stands at a step.
  stand(step) {
    for (const row of this.rows) {
      const at = row.moments.findLast(([from]) => from <= step)?.[1] ?? -1;
      if (at === row.at || !row.part) continue;
      row.at = at;
      row.part.replaceChildren(...[...row.part.children].slice(0, row.begin), ...(row.said[at] ?? row.drawn));
      this.touched++;
    }
  }

  paint(step) {
    const active = new Set(this.frames[step - 1]?.marks);
    const failed = Boolean(this.frames[step - 1]?.failed);
    const changed = new Set([...active, ...(this.frames[this.at - 1]?.marks ?? [])]);
    for (let i = Math.min(this.at, step); i < Math.max(this.at, step); i++) {
      for (const id of this.frames[i].marks) changed.add(id);
    }
    if (!this.at !== !step) this.svg.classList.toggle("walk", step > 0);
    this.stand(step);
    for (const id of changed) {
      const part = this.parts.get(id);
      if (!part) continue;
      this.later(id, this.first.get(id) > step && !active.has(id) && !(id in this.stood));
      part.classList.toggle("active", active.has(id) && !this.isWhole(id));
      part.classList.toggle("error", failed && active.has(id));
      this.touched++;
    }
    // What an explanation marks is marked in the whole picture and where it failed, not in the steps before.
    this.svg.classList.toggle("failed", failed);
    for (const [part, kind] of this.marked) part.classList.toggle(kind, failed || !step);
    this.at = step;
  }

  // Whether a part can be read at the step that is shown.
  known(id) {
    return !this.at || !(this.first.get(id) > this.at);
  }
}
