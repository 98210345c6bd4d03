// The picture of a player: its size and place, and what is said of its parts.

import { draggable } from "./stepper_drag.js";
import { Painter } from "./stepper_painter.js";
import { SVG, clamp, drawn, make, quiet } from "./stepper_parts.js";

/** @type {[number, number]} */
const ZOOMS = [0.002, 4];
const MANY = 200; // stations; of a larger picture only what is near the view is drawn, for drawing takes time
const STATION = /^[sf]\d+(-c\d+|-d)?$/; // the ids of stations and their decks
/** @type {[number, number]} */
const PROJECTED = [1.4, 2.4];
const LINES = 80; // pixels that an arrow key scrolls
const MARGIN = 22; // pixels of paper around what is drawn
export const SPARE = 28; // of both margins, which a view that is a little too narrow cuts off

// Of the forms of a picture the widest that a view of `room` pixels shows whole; where none fits the slimmest.
export function fitting(picture, room) {
  if (!picture.widths || !room) return picture;
  const sorted = [picture, ...picture.widths].sort((a, b) => b.width - a.width);
  return { ...picture, ...(sorted.find(({ width }) => width <= room + SPARE) ?? sorted.at(-1)) };
}

// The picture in its scrolling `view`; `onpick` is called with the station or arrow that is clicked.
export class Stage {
  /** @type {Map<string, any>} signs on decks, by station */ badges = new Map();
  /** @type {[string, string, string][]} what they say */ signs = [];
  /** @type {number | null} times the natural size; null: as wide as there is room */ zoom = null;
  /** @type {any} what stands below the graph while boxes are open */ foot;
  /** @type {Map<any, any> | undefined} where the groups of the picture are */ places;
  /** @type {[number, number] | undefined} the left side of the picture and its width */ across;
  /** @type {(() => void) | null} what is told that the view moved */ onmove = null;
  /** @type {(() => boolean) | undefined} whether live values are shown */ live;

  /** @param {HTMLElement} view @param {import("./stepper_types.js").Picture} picture @param {import("./stepper_types.js").Words} words @param {(id: string | null) => void} onpick */
  constructor(view, { svg, prefix, width, outline, routes, frames, stood }, words, onpick) {
    const parsed = new DOMParser().parseFromString(svg || `<svg xmlns="${SVG}" viewBox="0 0 1 1"/>`, "image/svg+xml");
    /** @type {any} */
    this.svg = document.importNode(parsed.documentElement, true);
    this.svg.setAttribute("role", "group"); // an image would hide its stations from assistive technology
    this.view = view;
    this.prefix = prefix;
    this.least = width;
    this.routes = routes;
    this.words = words;
    view.replaceChildren(svg ? this.svg : make("pre", { textContent: outline }));
    this.painter = new Painter(this.svg, prefix, frames, stood);
    this.parts = this.painter.parts;
    this.titles = new Map();
    for (const [id, part] of this.parts) {
      const title = part.firstElementChild;
      if (title?.localName === "title") this.titles.set(id, title.textContent);
    }
    this.current = []; // stations that are active
    this.roots = [...this.svg.querySelectorAll("g.station.root")].map((station) => this.id(station));
    this.stations = [...this.svg.querySelectorAll("g.station")];
    this.stations.forEach((station, i) => {
      quiet(station).setAttribute("tabindex", i ? -1 : 0);
      station.setAttribute("role", "button");
      station.setAttribute("aria-label", this.name(this.id(station)));
    });
    const names = this.stations.slice(0, MANY).map((station) => make("li", { textContent: station.getAttribute("aria-label") }));
    if (svg) view.append(make("ol", { className: "mgp-list", aria: { label: words.picture } }, ...names));
    view.onclick = (event) => onpick(this.at(event.target));
    view.onpointerover = (event) => this.tip(/** @type {Element} */ (event.target).closest("[id]"));
    view.onwheel = (event) => this.wheel(event);
    view.onscroll = () => this.near();
    draggable(view);
    this.scale(null, 0, 0);
  }

  // Step `step`, with the stations that are active in it.
  paint(step) {
    this.painter.paint(step);
    this.foot?.setAttribute("class", this.svg.getAttribute("class"));
    for (const id of this.current) this.parts.get(id).removeAttribute("aria-current");
    const active = (this.painter.frames[step - 1]?.marks ?? []).map((id) => id.split("-")[0]);
    this.current = [...new Set(active)].filter((id) => this.parts.get(id)?.classList.contains("station"));
    for (const id of this.current) this.parts.get(id).setAttribute("aria-current", "step");
  }

  // ------------------------------------------------------------------------------------------ size and place

  get now() {
    return this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width;
  }

  // `zoom` times the natural size; null: as wide as there is room, but so that it can be read. The point of
  // the view at the shares `x` and `y` stays where it is.
  scale(zoom, x = 0.5, y = 0.5) {
    const { view, svg } = this;
    const across = (view.scrollLeft + x * view.clientWidth) / view.scrollWidth;
    const down = (view.scrollTop + y * view.clientHeight) / view.scrollHeight;
    this.zoom = zoom === null ? null : clamp(zoom, ...ZOOMS);
    const over = zoom === null && view.clientWidth ? this.least - view.clientWidth : 0;
    const spare = over > 0 && over <= SPARE ? over : 0;
    this.trim(spare);
    svg.style.minWidth = zoom === null ? `${this.least - spare}px` : "0";
    svg.style.maxWidth = zoom === null ? "" : "none";
    svg.style.width = zoom === null ? "" : `${this.zoom * svg.viewBox.baseVal.width}px`;
    if (this.foot) this.foot.style.cssText = svg.style.cssText;
    view.scrollLeft = across * view.scrollWidth - x * view.clientWidth;
    view.scrollTop = down * view.scrollHeight - y * view.clientHeight;
    this.near();
  }

  // Cut some pixels off the margins at the left and at the right.
  trim(spare) {
    const box = this.svg.viewBox.baseVal;
    const [left, width] = (this.across ??= [box.x, box.width]);
    if (box.width === width - spare) return;
    this.svg.setAttribute("viewBox", `${left + spare / 2} ${box.y} ${width - spare} ${box.height}`);
    this.svg.setAttribute("width", width - spare);
    this.places = undefined;
  }

  // As large as all of it fits in a full screen, but not larger or smaller than an audience can read well.
  project(room) {
    const { width, height } = this.svg.viewBox.baseVal;
    this.scale(clamp(Math.min(this.view.clientWidth / width, room / height), ...PROJECTED));
  }

  resize(name) {
    const { width, height } = this.svg.viewBox.baseVal;
    if (name === "zoom_fit") this.scale(this.zoom === null ? Math.min(this.view.clientWidth / width, this.view.clientHeight / height, 1) : null);
    else this.scale(this.now * (name === "zoom_in" ? 1.25 : 0.8));
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = this.view.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width;
    this.scale(this.now * Math.exp(-event.deltaY / 400), x, (event.clientY - box.top) / box.height);
  }

  // Up or down by a key, where the picture is cut; whether there was room.
  scroll(by) {
    const before = this.view.scrollTop;
    this.view.scrollTop += by * LINES;
    return this.view.scrollTop !== before;
  }

  // The edges of the view at which the picture is cut.
  cuts() {
    const { scrollLeft, scrollTop, clientWidth, clientHeight, scrollWidth, scrollHeight } = this.view;
    const edges = { left: scrollLeft, right: scrollWidth - clientWidth - scrollLeft, top: scrollTop, bottom: scrollHeight - clientHeight - scrollTop };
    return new Set(Object.keys(edges).filter((edge) => edges[edge] > MARGIN));
  }

  // What the view shows of the picture, from its upper left corner, in its own units.
  sight() {
    const { view, svg, now } = this;
    const [corner, box] = [svg.getBoundingClientRect(), view.getBoundingClientRect()];
    const [left, top] = [(box.left - corner.left) / now, (box.top - corner.top) / now];
    return { left, top, right: left + view.clientWidth / now, bottom: top + view.clientHeight / now };
  }

  // The view has moved, or the picture in it. Of a large one what is within a view's size of the view is
  // drawn, and nothing else.
  near() {
    const { view, now } = this;
    if (!now) return;
    view.parentElement.dataset.cut = [...this.cuts()].join(" ");
    this.places ??= this.measured(now);
    this.onmove?.();
    if (this.stations.length < MANY) return;
    const sight = this.sight();
    const [wide, high] = [sight.right - sight.left, sight.bottom - sight.top];
    let changed = false;
    for (const place of this.places.values()) {
      const across = place.right > sight.left - wide && place.left < sight.right + wide;
      changed = this.draw(place, across && place.bottom > sight.top - high && place.top < sight.bottom + high) || changed;
    }
    if (changed) this.sign(this.signs);
  }

  // Draw what is at a place, or not; whether that is a change.
  draw(place, on) {
    if (!place || place.drawn === on) return false;
    place.part.style.display = on ? "" : "none";
    place.drawn = on;
    return true;
  }

  // Where a part is, in the picture's own units.
  box(part) {
    const [box, corner, { x, y }] = [part.getBoundingClientRect(), this.svg.getBoundingClientRect(), this.svg.viewBox.baseVal];
    const { now } = this;
    return { x: x + (box.left - corner.left) / now, y: y + (box.top - corner.top) / now, width: box.width / now, height: box.height / now };
  }

  // Where the groups of the picture are, from its upper left corner, in its own units.
  measured(scale) {
    const corner = this.svg.getBoundingClientRect();
    /** @returns {[Element, any]} */
    const place = (part) => {
      const box = part.getBoundingClientRect();
      const [left, right] = [box.left, box.right].map((x) => (x - corner.left) / scale);
      const [top, bottom] = [box.top, box.bottom].map((y) => (y - corner.top) / scale);
      return [part, { part, left, right, top, bottom, drawn: true }];
    };
    return new Map([...this.svg.children].filter((part) => part.localName === "g").map(place));
  }

  // The place of the group that a part belongs to.
  place(part) {
    while (part && part.parentNode !== this.svg) part = part.parentNode;
    return this.places?.get(part);
  }

  // Bring parts into sight: all of them if there is room, else the first station.
  reveal(marks, still = false) {
    const ids = [...marks].sort((a, b) => Number(STATION.test(b)) - Number(STATION.test(a)));
    for (const id of ids.slice(0, 12)) this.draw(this.place(this.parts.get(id)), true);
    const boxes = ids.slice(0, 12).flatMap((id) => this.parts.get(id)?.getBoundingClientRect() ?? []);
    if (!boxes.length) return;
    const { view } = this;
    const frame = view.getBoundingClientRect();
    const move = (low, high, size) => {
      const all = [Math.min(...boxes.map((box) => box[low])), Math.max(...boxes.map((box) => box[high]))];
      const [from, to] = all[1] - all[0] <= size - 32 ? all : [boxes[0][low], boxes[0][high]];
      return from >= frame[low] && to <= frame[low] + size ? 0 : (from + to) / 2 - frame[low] - size / 2;
    };
    const [left, top] = [move("left", "right", view.clientWidth), move("top", "bottom", view.clientHeight)];
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (left || top) view.scrollBy({ left, top, behavior: calm || still ? "instant" : "smooth" });
    this.near();
  }

  // ------------------------------------------------------------------------------------------- what is said

  id(part) {
    return part.id.slice(this.prefix.length);
  }

  name(id) {
    return (this.titles.get(`${id}-c0`) ?? id).split("\n")[0];
  }

  // The station or arrow that an element belongs to; a much used leaf's small sign belongs to the leaf.
  at(element) {
    const part = element.closest("g.station, g.edge, g.pill, g.reference");
    const [, sign] = /^(r\d+)_from$/.exec(part ? this.id(part) : "") ?? [];
    return sign ? this.routes.find(([id]) => id === sign)[1] : part && this.id(part).split("-")[0];
  }

  // A part's description, without what the steps have not come to.
  told(id) {
    if (this.live?.()) return /-c\d+$/.test(id) ? this.name(id) : ""; // texts of the cell, not of what is shown
    const hidden = this.painter.known(`${id}-grad`) ? null : `${this.words.row_grad}:`;
    const lines = this.painter.known(id) ? (this.titles.get(id) ?? "").split("\n") : [];
    return lines.filter((line) => !hidden || !line.startsWith(hidden)).join("\n");
  }

  tip(part) {
    const id = part && this.id(part);
    if (this.titles.has(id)) part.firstElementChild.textContent = this.told(id);
  }

  // Everything said of a station or an arrow, by kind.
  about(picked) {
    const ids = [...this.titles.keys()].filter((id) => id === picked || id.startsWith(`${picked}-`));
    const tell = (kind) => ids.filter((id) => kind.test(id)).map((id) => this.told(id)).filter(Boolean);
    const flows = (end) => this.routes.filter((route) => route[end] === picked).map(([id]) => this.told(`${id}-g`)).filter(Boolean);
    const [node = "", ...code] = tell(/-d$/).join("").split("\n\n"); // the source of a custom Function
    const chips = tell(/-k\d+$/).filter((chip) => !node.includes(chip));
    const nodes = [node, ...chips].filter(Boolean);
    return { cards: tell(/-c\d+$/), node: nodes, code, arrows: tell(/^r\d+(-g)?$/), came: flows(1), went: flows(2) };
  }

  // What stands below the graph, as a picture of its own while boxes are open: they stand between the two.
  part(open) {
    const { svg, foot } = this;
    const below = (foot ?? svg).querySelector(":scope > .below");
    if (!below || open === Boolean(foot)) return foot;
    const { x, y, width, height } = svg.viewBox.baseVal;
    const bottom = y + height + (foot?.viewBox.baseVal.height ?? 0);
    const end = open ? Number(below.dataset.top) : bottom;
    svg.setAttribute("viewBox", `${x} ${y} ${width} ${end - y}`);
    svg.setAttribute("height", end - y);
    svg.style.overflow = open ? "hidden" : "";
    this.foot = open ? svg.cloneNode(false) : undefined;
    this.foot?.setAttribute("viewBox", `${x} ${end} ${width} ${bottom - end}`);
    this.foot?.setAttribute("height", bottom - end);
    (this.foot ?? svg).append(below);
    return this.foot;
  }

  mark(picked) {
    for (const part of this.svg.querySelectorAll(".picked")) part.classList.remove("picked");
    for (const suffix of ["", "-g", "-p"]) this.parts.get(picked + suffix)?.classList.add("picked");
  }

  // The focus goes to the next station, or the one before; without one to the first.
  rove(station, by) {
    const next = station ? this.stations[this.stations.indexOf(station) + by] : this.stations[0];
    if (!next) return;
    station?.setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    this.reveal([this.id(next)]);
    next.focus({ preventScroll: true });
  }

  // Small signs on the decks that are drawn, `[station, text, kind]`; those that stay are left alone.
  sign(signs) {
    this.signs = signs;
    const wanted = new Map(signs.map((sign) => [sign[0], sign]));
    for (const [id, badge] of this.badges) {
      if (`${wanted.get(id)}` === badge.dataset.sign) continue;
      badge.remove();
      this.badges.delete(id);
    }
    const boxes = new Map(); // all are measured before the page changes
    for (const id of wanted.keys()) {
      const deck = this.parts.get(`${id}-d`);
      const card = deck?.querySelector(".box"); // a card of a strip has none
      if (!card || this.badges.has(id) || this.place(deck)?.drawn === false) continue;
      boxes.set(id, card.getBBox());
    }
    for (const [id, box] of boxes) {
      const [, said, kind] = wanted.get(id);
      const width = 9 + 7 * said.length;
      const transform = `translate(${box.x + box.width - width - 4} ${box.y + box.height + 1})`; // below it, where nothing is written
      const label = drawn("text", { x: width / 2, y: 11.5 }, said);
      const attributes = { class: `badge ${kind}`, transform, "data-sign": wanted.get(id) };
      const badge = drawn("g", attributes, drawn("rect", { width, height: 16, rx: 8 }), label);
      this.parts.get(`${id}-d`).append(badge);
      this.badges.set(id, badge);
    }
  }
}
