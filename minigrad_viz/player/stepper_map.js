// A picture that does not fit its view: the whole of it, small, with the part that is in sight; and at each
// edge that cuts it a sign that says how many boxes are beyond it.

import { clamp, drawn, make, quiet } from "./stepper_parts.js";

const EDGES = { left: "←", right: "→", top: "↑", bottom: "↓" };
const BOXES = ["leaf", "root", "other"];
const [SLIM, STOUT] = [48, 220]; // pixels that the map is wide

export class Overview {
  constructor(words) {
    this.words = words;
    this.element = drawn("svg", { class: "mgp-map", "aria-hidden": true });
    this.element.onpointerdown = this.element.onpointermove = (event) => this.seek(event);
    this.edges = Object.entries(EDGES).map(([edge, arrow]) => {
      const sign = quiet(make("button", { type: "button", className: `mgp-edge ${edge}`, tabIndex: -1, hidden: true, onclick: () => this.turn(edge) }));
      return { edge, arrow, sign };
    });
  }

  // Draw the stations of the picture on `stage`, each once, `room` pixels high. A step and a scroll touch only
  // what changes.
  lay(stage, room) {
    this.stage = stage;
    const paths = Object.fromEntries(BOXES.map((kind) => [kind, ""]));
    for (const station of stage.stations) {
      const kind = station.matches(".leaf, .parameter") ? "leaf" : station.matches(".root") ? "root" : "other";
      paths[kind] += outlined(stage.place(station));
    }
    const { width, height } = stage.svg.viewBox.baseVal;
    this.element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.element.style.width = `${clamp((width / height) * room, SLIM, STOUT)}px`;
    this.element.style.height = `${room - 12}px`;
    this.active = drawn("path", { class: "now" });
    this.sight = drawn("rect", { class: "sight" });
    this.element.replaceChildren(...BOXES.map((kind) => drawn("path", { class: kind, d: paths[kind] })), this.active, this.sight);
    this.show();
  }

  // Mark the stations that are active.
  show() {
    this.active?.setAttribute("d", this.stage.current.map((id) => outlined(this.stage.place(this.stage.parts.get(id)))).join(""));
  }

  // Mark what is in sight, and say what is not.
  follow() {
    const { stage, words } = this;
    const sight = stage.sight();
    for (const [name, value] of Object.entries({ x: sight.left, y: sight.top, width: sight.right - sight.left, height: sight.bottom - sight.top }))
      this.sight.setAttribute(name, value);
    const beyond = { left: 0, right: 0, top: 0, bottom: 0 };
    for (const station of stage.stations) {
      const place = stage.place(station);
      if (place.right < sight.left) beyond.left++;
      else if (place.left > sight.right) beyond.right++;
      else if (place.bottom < sight.top) beyond.top++;
      else if (place.top > sight.bottom) beyond.bottom++;
    }
    const cut = stage.cuts();
    for (const { edge, arrow, sign } of this.edges) {
      sign.hidden = !cut.has(edge);
      sign.textContent = beyond[edge] ? `${arrow} ${beyond[edge]}` : arrow;
      sign.title = words[beyond[edge] ? "beyond" : "beyond_none"].replace("{n}", beyond[edge]);
    }
  }

  // Scroll by most of a view over an edge.
  turn(edge) {
    const { view } = this.stage;
    const by = edge === "left" || edge === "top" ? -0.8 : 0.8;
    const across = edge === "left" || edge === "right";
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const [left, top] = across ? [by * view.clientWidth, 0] : [0, by * view.clientHeight];
    view.scrollBy({ left, top, behavior: calm ? "instant" : "smooth" });
  }

  // Bring what is at a point of the map into the middle of the view.
  seek(event) {
    if (!(event.buttons & 1)) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.element.getScreenCTM().inverse());
    const { view, now } = this.stage;
    view.scrollTo(x * now - view.clientWidth / 2, y * now - view.clientHeight / 2);
    event.preventDefault();
  }
}

const outlined = ({ left, top, right, bottom }) => `M${left} ${top}H${right}V${bottom}H${left}z`;
