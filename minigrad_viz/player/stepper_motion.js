// Motion that explains a step. Backward: what arrives travels along its arrow into the node, meets the local
// derivative there, and leaves as the product; at a leaf all that arrives meets. Update: an arrow leads from the
// statement to what it changes, and the new digits roll in. The states are those of the picture without motion;
// the next step ends what still runs.

import { drawn } from "./stepper_parts.js";

const ARRIVE = 300; // milliseconds at speed 1
const MEET = 250;
const PRODUCT = 150;
const LEAVE = 300;
const DRAW = 250; // of the arrow of an update
const ROLL = 250; // of new digits
const BESIDE = 80; // pixels from the left side of the lane to that of a card to which an arrow comes from there
const POINTS = 16; // of an arrow, for a piece of which something travels

export class Motion {
  constructor() {
    this.running = [];
  }

  finish() {
    for (const animation of this.running) animation.cancel();
    this.running = [];
    this.layer?.remove();
  }

  // The step of `frame` in the picture of `stage`, whose formula is shown as the element `formula`.
  play(stage, frame, formula, speed) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (calm || (frame.phase !== "backward" && frame.phase !== "update")) return;
    this.layer = drawn("g", { class: "mgp-motion", "aria-hidden": true });
    stage.svg.append(this.layer);
    const run = (element, frames, options) => {
      const { delay = 0, duration } = options;
      const animation = element.animate(frames, { easing: "ease-in-out", fill: "both", ...options, delay: delay / speed, duration: duration / speed });
      this.running.push(animation);
      return animation;
    };
    if (frame.phase === "update") this.update(stage, frame, run);
    else this.backward(stage, frame, formula, speed, run);
    Promise.all(this.running.map(({ finished }) => finished)).then(() => this.finish(), () => {}); // cancelled: another step has come
  }

  // From the statement to each card that it changes an arrow is drawn; then its new digits roll in.
  update(stage, { marks, shows }, run) {
    const from = stage.parts.get(marks[0]);
    if (!from || from.closest(".mgp-foot")) return;
    const { x, y } = stage.box(from);
    for (const id of marks.filter((mark) => /^[sfg]\d+-c\d+$/.test(mark))) {
      const card = stage.parts.get(id);
      if (!card) continue;
      const box = stage.box(card.closest(".station"));
      const beside = box.x < x + BESIDE; // then it comes from the left, else from below
      const [to, high] = beside ? [box.x, box.y + 30] : [box.x + 16, box.y + box.height];
      const way = beside ? `M${x} ${y + 12}H${x - 12}V${high}H${to - 6}` : `M${to} ${y}V${high + 6}`;
      const path = drawn("path", { class: "written", d: way, pathLength: 1 });
      const tip = drawn("path", { class: "written tip", d: `M${to} ${high}${beside ? "l-8 -4v8z" : "l-4 8h8z"}` });
      this.layer.append(path, tip);
      run(path, [{ strokeDasharray: "0 1" }, { strokeDasharray: "1 0" }], { duration: DRAW });
      run(tip, [{ opacity: 0 }, { opacity: 1 }], { delay: DRAW, duration: ROLL + LEAVE });
    }
    for (const [row] of shows) {
      const said = [...(stage.parts.get(row)?.children ?? [])].filter((part) => !part.matches(".key, .memory"));
      for (const part of said) {
        const roll = part.localName === "text" ? [{ transform: "translateY(9px)" }, { transform: "none" }] : [{}, {}];
        run(part, roll.map((frame, i) => ({ ...frame, opacity: i })), { delay: DRAW, duration: ROLL });
      }
    }
  }

  // What arrives at a node, what happens there, and what leaves.
  backward(stage, { marks }, formula, speed, run) {
    const node = marks[0]?.match(/^(\w+)-d$/)?.[1];
    const deck = node && stage.parts.get(`${node}-d`);
    if (!deck) return;
    const arrows = (end) => stage.routes.filter((route) => route[end] === node).flatMap(([id]) => this.arrow(stage, id));
    const [came, goes] = [arrows(1), arrows(2)];
    const travel = ({ pill, path, at }, from, to, delay, duration) => {
      const copy = pill.cloneNode(true);
      copy.removeAttribute("id");
      copy.classList.remove("later");
      copy.classList.add("active");
      this.layer.append(copy);
      const length = path.getTotalLength();
      const home = path.getPointAtLength(at * length);
      const frames = Array.from({ length: POINTS + 1 }, (_, i) => {
        const { x, y } = path.getPointAtLength((from + ((to - from) * i) / POINTS) * length);
        return { transform: `translate(${x - home.x}px, ${y - home.y}px)`, opacity: i === POINTS && to === 1 ? 0 : 1 };
      });
      run(copy, frames, { delay, duration });
      return copy;
    };
    const begins = came.length ? ARRIVE : 0;
    for (const arrow of came) travel(arrow, arrow.at, 1, 0, ARRIVE);
    for (const chip of deck.querySelectorAll(".chip")) run(chip, [{ transform: "none" }, { transform: "translateY(-3px)" }, { transform: "none" }], { delay: begins, duration: MEET });
    const leaves = begins + this.meet(stage, deck, formula, begins, run);
    for (const { pill } of goes) run(pill, [{ opacity: 0 }, { opacity: 0 }], { duration: leaves + LEAVE, fill: "none" });
    const last = goes.map((arrow) => travel(arrow, 0, arrow.at, leaves, LEAVE));
    last.forEach((copy) => copy.animate([{ opacity: 0 }, { opacity: 0 }], { duration: leaves / speed }));
  }

  // The product in the node: the form of the formula before the result, then the result. How long it takes.
  meet(stage, deck, formula, delay, run) {
    const forms = [...(formula?.children ?? [])];
    if (forms.length < 3) return 0;
    const said = forms.slice(-2).map((form) => form.textContent.replace("=", "").replace(/[·⊙]/g, " $& ").trim());
    if (said[0].length > 24) return 0;
    const { x, y, width } = stage.box(deck);
    said.forEach((words, i) => {
      const wide = 8 * words.length + 16;
      const place = `translate(${x + width / 2 - wide / 2} ${y - 12})`;
      const text = drawn("text", { x: wide / 2, y: 15 }, words);
      const badge = drawn("g", { class: "pill", transform: place }, drawn("rect", { width: wide, height: 22, rx: 11 }), text);
      const holder = drawn("g", {}, badge);
      this.layer.append(holder);
      const [begin, duration] = i ? [delay + MEET, PRODUCT] : [delay, MEET];
      run(holder, [{ opacity: 0 }, { opacity: 1, offset: 0.2 }, { opacity: 1, offset: 0.9 }, { opacity: 0 }], { delay: begin, duration });
      run(forms.at(i - 2), [{ background: "none" }, { background: "var(--active)" }, { background: "none" }], { delay: begin, duration });
    });
    return MEET + PRODUCT;
  }

  // A gradient arrow with its pill, and at which share of its length that is.
  arrow(stage, id) {
    const [pill, path] = [stage.parts.get(`${id}-p`), stage.parts.get(`${id}-g`)?.querySelector("path")];
    if (!pill || !path || pill.classList.contains("later")) return [];
    const { x, y, width, height } = stage.box(pill);
    const length = path.getTotalLength();
    const far = (share) => {
      const point = path.getPointAtLength(share * length);
      return Math.hypot(point.x - x - width / 2, point.y - y - height / 2);
    };
    const shares = Array.from({ length: POINTS + 1 }, (_, i) => i / POINTS);
    return [{ pill, path, at: shares.reduce((a, b) => (far(b) < far(a) ? b : a)) }];
  }
}
