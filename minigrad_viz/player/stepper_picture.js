// The picture of a player: what each step marks in it, its size and place, what is said of its parts.

import { SVG, clamp, drawn, make, quiet } from "./stepper_parts.js";

const ZOOMS = [0.002, 4];
const MANY = 200; // stations; of a larger picture only what is near the view is drawn, for drawing takes time
const DRAG = 4; // pixels that a pointer may move within a click

// A part is `later` until the first step that marks it and `active` in every step that does. Step 0 shows
// the finished picture: without the class `walk` on the whole, `later` means nothing. A step touches only the
// parts that the steps between the old one and the new one mark; `touched` counts them.
export class Painter {
  constructor(svg, prefix, frames, stood = {}) {
    Object.assign(this, { svg, frames, at: 0, touched: 0, parts: new Map(), first: new Map(), steps: new Map() });
    const marked = (kind) => [...svg.querySelectorAll(`.${kind}[id]`)].map((part) => [part, kind]);
    this.marked = [...marked("error"), ...marked("cause")]; // by an explanation
    this.guilty = marked("error").map(([part]) => part.id.slice(prefix.length));
    for (const part of svg.querySelectorAll("[id]")) {
      if (part.id.startsWith(prefix)) this.parts.set(part.id.slice(prefix.length), part);
    }
    frames.forEach(({ phase, marks }, i) => {
      for (const id of marks) {
        // A node that ran in an earlier call, too, is to come until it runs in the one that is shown.
        const before = frames[this.first.get(id) - 1]?.phase ?? "";
        if (!before || (before !== phase && /-[dgp]$/.test(id))) this.first.set(id, i + 1);
        const base = id.split("-")[0];
        if (!this.steps.has(base)) this.steps.set(base, new Set());
        this.steps.get(base).add(i + 1);
      }
    });
    for (const id of this.first.keys()) if (!(id in stood)) this.parts.get(id)?.classList.add("later");
    this.rows = Object.entries(stood).map(([id, said]) => this.row(id, said));
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
      part.classList.toggle("later", this.first.get(id) > step && !active.has(id));
      part.classList.toggle("active", active.has(id));
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

// The picture in its scrolling `view`; `onpick` is called with the station or arrow that is clicked.
export class Stage {
  constructor(view, { svg, prefix, width, outline, routes, frames, stood }, words, onpick) {
    const parsed = new DOMParser().parseFromString(svg || `<svg xmlns="${SVG}" viewBox="0 0 1 1"/>`, "image/svg+xml");
    this.svg = document.importNode(parsed.documentElement, true);
    this.svg.setAttribute("role", "group"); // an image would hide its stations from assistive technology
    Object.assign(this, { view, prefix, least: width, routes, words, onpick, badges: new Map(), signs: [] });
    view.replaceChildren(svg ? this.svg : make("pre", { textContent: outline }));
    this.painter = new Painter(this.svg, prefix, frames, stood);
    this.parts = this.painter.parts;
    this.titles = new Map();
    for (const [id, part] of this.parts) {
      const title = part.firstElementChild;
      if (title?.localName === "title") this.titles.set(id, title.textContent);
    }
    this.roots = [...this.svg.querySelectorAll("g.station.root")].map((station) => this.id(station));
    this.stations = [...this.svg.querySelectorAll("g.station")];
    this.stations.forEach((station, i) => {
      quiet(station).setAttribute("tabindex", i ? -1 : 0);
      station.setAttribute("role", "button");
      station.setAttribute("aria-label", this.name(this.id(station)));
    });
    view.onclick = (event) => this.dragged || onpick(this.at(event.target));
    view.onpointerdown = (event) => this.grab(event);
    view.onpointerover = (event) => this.tip(event.target.closest("[id]"));
    view.onwheel = (event) => this.wheel(event);
    view.onscroll = () => this.near();
    this.scale(null, 0, 0);
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
    svg.style.minWidth = zoom === null ? `${this.least}px` : "0";
    svg.style.maxWidth = zoom === null ? "" : "none";
    svg.style.width = zoom === null ? "" : `${this.zoom * svg.viewBox.baseVal.width}px`;
    view.scrollLeft = across * view.scrollWidth - x * view.clientWidth;
    view.scrollTop = down * view.scrollHeight - y * view.clientHeight;
    this.near();
  }

  resize(name) {
    const { width, height } = this.svg.viewBox.baseVal;
    const whole = Math.min(this.view.clientWidth / width, this.view.clientHeight / height, 1);
    if (name === "zoom_fit") this.scale(this.zoom === null ? whole : null);
    else this.scale(this.now * (name === "zoom_in" ? 1.25 : 0.8));
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = this.view.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width;
    this.scale(this.now * Math.exp(-event.deltaY / 400), x, (event.clientY - box.top) / box.height);
  }

  // The mouse drags the picture; a finger scrolls it anyway.
  grab(start) {
    const { view } = this;
    this.dragged = false;
    if (start.pointerType !== "mouse" || start.button) return;
    const [left, top] = [view.scrollLeft, view.scrollTop];
    view.onpointermove = (event) => {
      const [x, y] = [event.clientX - start.clientX, event.clientY - start.clientY];
      if (!this.dragged && Math.hypot(x, y) < DRAG) return;
      if (!this.dragged) view.setPointerCapture(event.pointerId);
      this.dragged = true;
      view.classList.add("dragged");
      view.scrollTo(left - x, top - y);
    };
    view.onpointerup = view.onpointercancel = () => {
      view.onpointermove = null;
      view.classList.remove("dragged");
    };
  }

  // Draw what is within a view's size of the view, and nothing else.
  near() {
    const { view, now } = this;
    if (this.stations.length < MANY || !now) return;
    this.places ??= this.measured(now);
    const span = (from, size) => [(from - size) / now, (from + 2 * size) / now];
    const [left, right] = span(view.scrollLeft, view.clientWidth);
    const [top, bottom] = span(view.scrollTop, view.clientHeight);
    let changed = false;
    for (const place of this.places.values()) {
      const across = place.right > left && place.left < right;
      const drawn = across && place.bottom > top && place.top < bottom;
      if (drawn === place.drawn) continue;
      place.part.style.display = drawn ? "" : "none";
      place.drawn = drawn;
      changed = true;
    }
    if (changed) this.sign(this.signs);
  }

  // Where the groups of the picture are, in its own units.
  measured(scale) {
    const corner = this.svg.getBoundingClientRect();
    const place = (part) => {
      const box = part.getBoundingClientRect();
      const [left, right] = [box.left, box.right].map((x) => (x - corner.left) / scale);
      const [top, bottom] = [box.top, box.bottom].map((y) => (y - corner.top) / scale);
      return [part, { part, left, right, top, bottom, drawn: true }];
    };
    return new Map([...this.svg.children].filter((part) => part.localName === "g").map(place));
  }

  // The place of the group that a part belongs to, in a picture that is not drawn in full.
  place(part) {
    while (part && part.parentNode !== this.svg) part = part.parentNode;
    return this.places?.get(part);
  }

  draw(part) {
    const place = this.place(part);
    if (!place || place.drawn) return;
    place.part.style.display = "";
    place.drawn = true;
  }

  // Bring parts into sight: all of them if there is room, else the first.
  reveal(ids, still = false) {
    for (const id of ids.slice(0, 12)) this.draw(this.parts.get(id));
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
    if (!this.painter.known(id)) return "";
    const lines = (this.titles.get(id) ?? "").split("\n");
    if (this.painter.known(`${id}-grad`)) return lines.join("\n");
    return lines.filter((line) => !line.startsWith(`${this.words.row_grad}:`)).join("\n");
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

  // A sign at the upper right corner of the boxes that can be opened; `open` has those that are.
  plus(boxes, open, onopen) {
    for (const station of this.stations) {
      const id = this.id(station);
      if (!boxes.has(id)) continue;
      station.querySelector(":scope > .plus")?.remove();
      const { x, y, width } = station.querySelector(".card:last-of-type > .box, .card > .box").getBBox();
      const label = this.words[open.has(id) ? "box_close" : "box_open"];
      const cross = drawn("path", { d: open.has(id) ? "M-4 0h8" : "M-4 0h8M0 -4v8" });
      const place = `translate(${Math.max(x + width, station.getBBox().x + station.getBBox().width - 10)} ${y - 2})`;
      const sign = drawn("g", { class: "plus", transform: place, role: "button", "aria-label": label }, drawn("title", {}, label), drawn("circle", { r: 9 }), cross);
      sign.onclick = (event) => (event.stopPropagation(), onopen(id));
      station.append(sign);
    }
  }

  mark(picked) {
    for (const part of this.svg.querySelectorAll(".picked")) part.classList.remove("picked");
    for (const suffix of ["", "-g", "-p"]) this.parts.get(picked + suffix)?.classList.add("picked");
  }

  rove(station, by) {
    const next = this.stations[this.stations.indexOf(station) + by];
    if (!next) return;
    station.setAttribute("tabindex", -1);
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
      if (!deck || this.badges.has(id) || this.place(deck)?.drawn === false) continue;
      boxes.set(id, deck.querySelector(".box").getBBox());
    }
    for (const [id, box] of boxes) {
      const [, said, kind] = wanted.get(id);
      const width = 9 + 7 * said.length;
      const transform = `translate(${box.x + box.width - width - 6} ${box.y + box.height - 20})`;
      const label = drawn("text", { x: width / 2, y: 11.5 }, said);
      const attributes = { class: `badge ${kind}`, transform, "data-sign": wanted.get(id) };
      const badge = drawn("g", attributes, drawn("rect", { width, height: 16, rx: 8 }), label);
      this.parts.get(`${id}-d`).append(badge);
      this.badges.set(id, badge);
    }
  }
}
