// Motion that explains a backward step: what arrives travels along its arrow into the node, meets the local
// derivative there, and leaves as the product. At a leaf all that arrives meets. The states are those of the
// picture without motion; the next step ends what still runs.

import { drawn } from "./stepper_parts.js";

const ARRIVE = 300; // milliseconds at speed 1
const MEET = 250;
const PRODUCT = 150;
const LEAVE = 300;
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
    const node = frame.phase === "backward" && frame.marks[0]?.match(/^(\w+)-d$/)?.[1];
    const deck = node && stage.parts.get(`${node}-d`);
    if (!deck || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const arrows = (end) => stage.routes.filter((route) => route[end] === node).flatMap(([id]) => this.arrow(stage, id));
    const [came, goes] = [arrows(1), arrows(2)];
    if (!came.length && !goes.length) return;
    this.layer = drawn("g", { class: "mgp-motion", "aria-hidden": true });
    stage.svg.append(this.layer);
    const run = (element, frames, options) => {
      const { delay = 0, duration } = options;
      const animation = element.animate(frames, { easing: "ease-in-out", fill: "both", ...options, delay: delay / speed, duration: duration / speed });
      this.running.push(animation);
      return animation;
    };
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
    const hidden = goes.map(({ pill }) => run(pill, [{ opacity: 0 }, { opacity: 0 }], { duration: leaves + LEAVE, fill: "none" }));
    const last = goes.map((arrow) => travel(arrow, 0, arrow.at, leaves, LEAVE));
    last.forEach((copy) => copy.animate([{ opacity: 0 }, { opacity: 0 }], { duration: leaves / speed }));
    const ends = [...hidden, ...this.running].map(({ finished }) => finished);
    Promise.all(ends).then(() => this.finish(), () => {}); // cancelled: another step has come
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
