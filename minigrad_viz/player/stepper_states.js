// The states of live values: they come with the page (see living.py), or a kernel computes them.

import { clamp, inflated } from "./stepper_parts.js";
import { Texts } from "./stepper_texts.js";

const SILENCE = 5000; // milliseconds after which a kernel counts as gone
const FINE = 5; // numbers from one of the grid to the next, where a kernel computes them
const TOGETHER = 4; // states in one question: a message takes longer than a state
const KEPT = 200; // states that are remembered

// What both have: a handle moves over the numbers of its grid.
class Stops {
  // A reader is at a handle.
  near(handle, values, only) {}

  // The place of the number of the grid that is nearest.
  nearest(xs, value) {
    return xs.reduce((best, x, i) => (Math.abs(x - value) < Math.abs(xs[best] - value) ? i : best), 0);
  }

  stops({ xs }, finely) {
    return xs;
  }

  // The number `by` places away from the one that is nearest, or that itself; `finely`, with places in between.
  snap(handle, value, finely, by = 0) {
    const stops = this.stops(handle, finely);
    return stops[clamp(this.nearest(stops, value) + by, 0, stops.length - 1)];
  }
}

// States that came with the page, of one handle at a time.
export class Grid extends Stops {
  several = false;

  constructor(score) {
    super();
    this.score = score;
    this.known = new Map();
  }

  async ready(handle) {
    if (!this.known.has(handle.name)) {
      const all = await inflated(this.score.states[handle.name]);
      this.known.set(handle.name, { table: new Texts(all), whole: all.whole });
    }
  }

  async state(handle, values) {
    await this.ready(handle);
    const { table, whole } = this.known.get(handle.name);
    const i = handle.xs.indexOf(values.get(handle.name));
    const read = (kind) => Object.fromEntries(Object.entries(table.texts[kind] ?? {}).map(([id, told]) => [id, JSON.parse(table.text(told, i))]));
    return { at: read("at")[""], rows: read("rows"), said: read("said"), steps: whole ? read("steps") : null };
  }
}

// States that a kernel computes, with several numbers moved. A message takes longer than a state. So those of the
// grid are asked for before they are wanted, the nearest first, several in a message; one that is wanted now, alone.
export class Kernel extends Stops {
  several = true;

  constructor(model) {
    super();
    this.model = model;
    this.grids = new Map(); // by the name of a handle: what was asked for, and beside which other numbers
    this.known = new Map(); // promises of states
    this.place = null; // where a reader is
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
      const silent = setTimeout(() => this.waiting.delete(id) && reject(new Error("")), SILENCE);
      this.waiting.set(id, (told) => (clearTimeout(silent), told.refused ? reject(new Error(told.refused)) : resolve(told)));
      this.model.send({ live: { ...content, id } });
    });
  }

  others(handle, values) {
    return Object.fromEntries([...values].filter(([name]) => name !== handle.name).sort());
  }

  // The grid of a handle, beside the other numbers that were moved.
  async ready(handle, values) {
    const numbers = this.others(handle, values);
    const under = JSON.stringify(numbers);
    if (this.grids.get(handle.name)?.under !== under) this.grids.set(handle.name, { under, asked: this.ask({ name: handle.name, grid: true, numbers }) });
    const { asked } = this.grids.get(handle.name);
    try {
      Object.assign(handle, (await asked).grid);
    } catch (error) {
      this.grids.delete(handle.name);
      throw error;
    }
  }

  stops({ xs }, finely) {
    if (!finely) return xs;
    const between = (x, i) => Array.from({ length: FINE }, (_, n) => Number((x + (n * (xs[i + 1] - x)) / FINE).toPrecision(12)));
    return [...xs.slice(0, -1).flatMap(between), xs.at(-1)];
  }

  // With `only` some steps, a reader is at the handle.
  async state(handle, values, only) {
    const place = this.at(handle, values, only);
    const key = this.key(place, place.value);
    if (only) this.place = place;
    let told;
    while (!(told = await this.known.get(key))) this.fetch(place, [place.value]); // or there was no time for it
    this.ahead();
    if (told.state) return told.state;
    throw new Error(told.refused);
  }

  at(handle, values, only) {
    return { handle, only, numbers: this.others(handle, values), value: values.get(handle.name) ?? handle.value };
  }

  key({ handle, numbers, only }, x) {
    return JSON.stringify([handle.name, x, numbers, only]);
  }

  // The numbers of the grid whose states are not known, the nearest first.
  unknown(place) {
    const far = (x) => Math.abs(x - place.value);
    return place.handle.xs.filter((x) => x !== place.value && !this.known.has(this.key(place, x))).sort((a, b) => far(a) - far(b));
  }

  // Ask for states, which are known from now on, and say whether an answer came. The kernel may have no time for
  // all but the first.
  async fetch(place, xs) {
    const { handle, numbers, only } = place;
    const keys = xs.map((x) => this.key(place, x));
    const asked = this.ask({ name: handle.name, grid: false, numbers, only, xs });
    const told = asked.then(({ states }) => states, ({ message }) => keys.map(() => ({ refused: message })));
    for (const [i, key] of keys.entries()) this.known.set(key, told.then((states) => states[i]));
    const states = await told;
    const came = (i) => Boolean(states[i]?.state || states[i]?.refused);
    keys.filter((_, i) => !came(i)).forEach((key) => this.known.delete(key));
    for (const key of [...this.known.keys()].slice(0, -KEPT)) this.known.delete(key);
    return came(0);
  }

  near(handle, values, only) {
    this.place = this.at(handle, values, only);
    this.ahead();
  }

  // Ask for the grid around a reader, as long as no other answer is missing.
  async ahead() {
    while (!this.waiting.size) {
      const xs = this.unknown(this.place).slice(0, TOGETHER);
      if (!xs.length || !(await this.fetch(this.place, xs))) return;
    }
  }
}
