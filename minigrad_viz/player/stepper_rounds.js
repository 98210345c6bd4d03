// The timeline of several backward calls: one cell a round, the loss curve behind them, the track in the round one is in.

import { block, drawn, make } from "./stepper_parts.js";

const NOW = 250; // pixels of the round one is in
const NEXT = 62; // of its neighbours
const LEAST = 12; // of the others; of more than `SINGLE` rounds several share one
const SINGLE = 40;
const HIGH = 20; // of the curve
const LABEL = 120; // pixels that the value of a round takes at most
const TOP = 22; // above it, for the name of the round and the values
const LETTER = 6.8; // pixels of a letter of a value

// The cells of `count` rounds in `width` pixels: `{from, to, x, width}`, where `to` is the last round of a cell.
export function cells(count, now, width) {
  const most = count > 3 ? NOW : width - NEXT * (count - 1);
  const near = Math.min(most, count > 3 ? width * 0.4 : width);
  const sides = [now - 1, now + 1].filter((i) => i >= 0 && i < count);
  const beside = Math.min(NEXT, (width - near) / 4);
  const far = count - 1 - sides.length;
  const room = width - near - beside * sides.length;
  const each = count > SINGLE || far * LEAST > room ? Math.max(1, Math.ceil((far * LEAST) / room)) : 1;
  const found = [];
  for (let i = 0; i < count; ) {
    const mine = i === now ? near : sides.includes(i) ? beside : 0;
    const until = mine ? i : Math.min(i + each - 1, (i < now ? now - 1 : count) - 1, i < now ? now - 2 : count - 1);
    found.push({ from: i, to: until, fixed: mine });
    i = until + 1;
  }
  const shared = found.filter(({ fixed }) => !fixed).reduce((sum, { from, to }) => sum + to - from + 1, 0);
  let x = 0;
  return found.map(({ from, to, fixed }) => {
    const cell = { from, to, x, width: fixed || (room * (to - from + 1)) / shared };
    x += cell.width;
    return cell;
  });
}

// Where a line through `points` from left to right is highest between `from` and `to`.
export function highest(points, from, to) {
  const inside = points.filter(([x]) => x >= from && x <= to).map(([, y]) => y);
  points.slice(1).forEach(([x, y], i) => {
    const [before, start] = points[i];
    for (const end of [from, to]) if (before < end && end < x) inside.push(start + ((y - start) * (end - before)) / (x - before));
  });
  return Math.min(...inside);
}

export class Rounds {
  // `acts` are those of the score, before which stood `counted` others; in all there are `total`. `known` are values of the others.
  constructor({ acts, counted, total, known, loop, words }, track, ongo) {
    this.acts = acts;
    this.counted = counted;
    this.total = total;
    this.words = words;
    this.track = track;
    this.ongo = ongo;
    this.called = loop ? words.round : words.call;
    this.values = new Map([...known, ...acts.map(({ root }, i) => [counted + i, root])].filter(([, value]) => Number.isFinite(value)));
    this.element = block("mgp-rounds");
    this.title = block("mgp-round-name");
    this.frame = block("mgp-round", this.title, track.element);
  }

  // How an act is called.
  name(act) {
    return this.called.replace("{i}", this.counted + act + 1);
  }

  show(act) {
    this.act = act;
    const width = this.element.clientWidth - 32;
    if (width <= 0) return;
    const laid = cells(this.total, this.counted + act, width);
    const at = (i) => {
      const cell = laid.find(({ to }) => to >= i);
      return cell.x + (cell.width * (i - cell.from + 0.5)) / (cell.to - cell.from + 1);
    };
    const own = laid.find(({ from }) => from === this.counted + act);
    Object.assign(this.frame.style, { left: `${own.x + 16}px`, width: `${own.width}px` });
    this.title.textContent = this.name(act);
    this.element.replaceChildren(...this.curve(at, width, own), ...this.others(laid, own), this.frame);
    this.track.fit();
  }

  others(laid, own) {
    const every = Math.max(1, Math.ceil(this.total / 20 / 5) * 5);
    return laid.filter((cell) => cell !== own).map(({ from, to, x, width }) => {
      const act = from - this.counted;
      const done = to < own.from;
      const bars = (this.acts[act]?.chapters ?? [["forward", 1]]).map(([phase, size]) => {
        const bar = make("i", { className: `${phase} ${done ? "done" : "later"}` });
        bar.style.flexGrow = size;
        return bar;
      });
      const told = from + 1 === to + 1 ? `${from + 1}` : `${from + 1}–${to + 1}`;
      const shown = width >= 40 || (from + 1) % every === 0 || from === 0 ? `${from + 1}` : "";
      const cell = make("div", { className: `mgp-cell${this.acts[act] ? "" : " counted"}`, title: this.called.replace("{i}", told) }, block("mgp-bars", ...bars), shown);
      Object.assign(cell.style, { left: `${x + 16}px`, width: `${width}px` });
      if (this.acts[act]) cell.onclick = () => this.ongo(act);
      return cell;
    });
  }

  // The value of the root in every round that is known, with a point at the round one is in. The first and the
  // last are written where they leave the frame of that round, `own`, free.
  curve(at, width, own) {
    if (this.values.size < 3) return [];
    const known = [...this.values].sort(([a], [b]) => a - b);
    const [low, high] = [Math.min(...this.values.values()), Math.max(...this.values.values())];
    const y = (value) => TOP + HIGH - (HIGH * (value - low)) / (high - low || 1);
    const point = ([i, value]) => `${at(i).toFixed(1)} ${y(value).toFixed(1)}`;
    const now = this.counted + this.act;
    const line = (kind, values) => drawn("path", { class: kind, d: `M${values.map(point).join("L")}` });
    const past = known.filter(([i]) => i <= now);
    const svg = drawn("svg", { class: "mgp-curve", width, height: TOP + HIGH + 6, role: "img", "aria-label": this.words.curve }, line("later", known));
    if (past.length) svg.append(line("past", past));
    const say = (i, anchor, words, kind = "") => {
      const x = at(i) + (anchor === "end" ? -1 : 1) * (kind ? 9 : anchor === "end" ? 0 : -2);
      const ends = anchor === "end" ? [x - LETTER * words.length, x] : [x, x + LETTER * words.length];
      if (!kind && ends[0] < own.x + own.width && ends[1] > own.x) return;
      const way = known.map(([each, value]) => [at(each), y(value)]);
      const above = Math.min(y(this.values.get(i)), highest(way, ...ends)) - (kind ? 7 : 5);
      svg.append(drawn("text", { x, y: Math.max(above, kind ? 17 : 12), "text-anchor": anchor, class: kind }, words));
    };
    const short = (value) => `${Number(value.toPrecision(5))}`;
    const [first, last] = [known[0][0], known.at(-1)[0]];
    if (first !== now) say(first, "start", short(known[0][1]));
    if (last !== now) say(last, "end", short(known.at(-1)[1]));
    if (this.values.has(now)) {
      svg.append(drawn("circle", { cx: at(now), cy: y(this.values.get(now)), r: 4 }));
      say(now, at(now) > width - LABEL ? "end" : "start", `${this.acts[this.act].name ?? ""} ${short(this.values.get(now))}`, "now");
    }
    return [svg];
  }
}
