// The states of live values: they come with the page (see living.py), or a kernel computes them.

import { clamp, inflated } from "./stepper_parts.js";

const SILENCE = 5000; // milliseconds after which a kernel counts as gone
const FINE = 5; // numbers between two of the grid, where a kernel computes them

// A text of the `i`th state, from its parts and columns.
export function entry(told, columns, i) {
  if (typeof told === "string") return told;
  if (told.forms) return entry(told.forms[told.at[i]], columns, i);
  return told.map((part) => (typeof part === "number" ? columns[part][i] : part)).join("");
}

// States that came with the page, of one handle at a time.
export class Grid {
  several = false;

  constructor(score) {
    this.score = score;
    this.known = new Map();
  }

  async ready(handle) {
    if (!this.known.has(handle.name)) {
      const all = await inflated(this.score.states[handle.name]);
      this.known.set(handle.name, { ...all, columns: all.columns.map((column) => column.split(" ")) });
    }
  }

  // The place in `xs` that is nearest to a number.
  snap({ xs }, value) {
    return xs.reduce((best, x) => (Math.abs(x - value) < Math.abs(best - value) ? x : best));
  }

  next({ xs }, value, by) {
    return xs[clamp(xs.indexOf(value) + by, 0, xs.length - 1)];
  }

  async state(handle, values) {
    await this.ready(handle);
    const { columns, texts, whole } = this.known.get(handle.name);
    const i = handle.xs.indexOf(values.get(handle.name));
    const read = (kind) => Object.fromEntries(Object.entries(texts[kind] ?? {}).map(([id, told]) => [id, JSON.parse(entry(told, columns, i))]));
    return { at: read("at")[""], rows: read("rows"), said: read("said"), steps: whole ? read("steps") : null };
  }
}

// States that a kernel computes, with several numbers moved.
export class Kernel {
  several = true;

  constructor(model) {
    this.model = model;
    this.under = new Map(); // by the name of a handle, beside which other numbers its grid is
    this.waiting = new Map();
    this.count = 0;
    model.on("msg:custom", (told) => {
      this.waiting.get(told.id)?.(told);
      this.waiting.delete(told.id);
    });
  }

  ask(content) {
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, (told) => (told.refused ? reject(Object.assign(new Error(told.refused), { told })) : resolve(told)));
      setTimeout(() => this.waiting.delete(id) && reject(new Error("")), SILENCE);
      this.model.send({ live: { ...content, id } });
    });
  }

  // The grid of a handle, beside the other numbers that were moved.
  async ready(handle, values) {
    const numbers = Object.fromEntries([...values].filter(([name]) => name !== handle.name).sort());
    const under = JSON.stringify(numbers);
    if (this.under.get(handle.name) === under) return;
    Object.assign(handle, (await this.ask({ name: handle.name, grid: true, numbers })).grid);
    this.under.set(handle.name, under);
  }

  step({ xs }) {
    return xs.length > 1 ? (xs.at(-1) - xs[0]) / (xs.length - 1) / FINE : 1;
  }

  snap(handle, value) {
    const { xs } = handle;
    const steps = Math.round((value - handle.value) / this.step(handle));
    return Number(clamp(handle.value + steps * this.step(handle), xs[0], xs.at(-1)).toPrecision(12));
  }

  next(handle, value, by) {
    return this.snap(handle, value + by * this.step(handle));
  }

  async state(handle, values, only) {
    return (await this.ask({ name: handle.name, grid: false, numbers: Object.fromEntries(values), only })).state;
  }
}
