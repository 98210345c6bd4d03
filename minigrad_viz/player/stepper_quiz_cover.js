// The graph while it is asked which of its tensors are leaves: names, values and forward arrows. Role, gradients and
// backward nodes would answer it, so the style hides everything else (see `.mgp-covered`).

import { drawn } from "./stepper_parts.js";

// Take the descriptions from a picture, all but the names of its parts; what an explanation calls a part is none.
export function untold(stage) {
  const tags = new Set([...stage.svg.querySelectorAll(".tag text")].map(({ textContent }) => textContent));
  for (const title of stage.svg.querySelectorAll("title, desc")) title.remove();
  stage.titles = new Map([...stage.titles].map(([id, told]) => [id, told.split("\n").find((line) => !tags.has(line)) ?? ""]));
  const list = stage.view.querySelector(".mgp-list")?.children ?? [];
  stage.stations.forEach((station, i) => {
    const name = stage.name(stage.id(station));
    station.setAttribute("aria-label", name);
    if (list[i]) list[i].textContent = name;
  });
}

// Where forward arrows begin and end, by station, from its upper left corner.
function ends(stage) {
  const points = new Map(stage.stations.map((station) => [stage.id(station), []]));
  for (const [id, source, target] of stage.routes) {
    const path = stage.parts.get(id)?.querySelector("path");
    if (!path) continue; // of a bundle of arrows one is drawn
    points.get(source)?.push(path.getPointAtLength(0));
    points.get(target)?.push(path.getPointAtLength(path.getTotalLength()));
  }
  for (const station of stage.stations) {
    const { e, f } = station.transform.baseVal.consolidate()?.matrix ?? { e: 0, f: 0 };
    for (const point of points.get(stage.id(station))) Object.assign(point, { x: point.x - e, y: point.y - f });
  }
  return points;
}

// Cover the picture, or not; `blank`: without its values, which answer a later question. A card's outline would show
// by its height that it has a gradient, so a plate that holds the value stands in its place, with what is missing of
// the arrows.
/** @param {import("./stepper.js").Player} player @param {boolean} on @param {boolean} blank */
export function cover({ panes, stage }, on, blank) {
  const { root } = panes;
  root.classList.toggle("mgp-covered", on);
  root.classList.toggle("mgp-blank", Boolean(blank));
  for (const plate of stage.svg.querySelectorAll(".mgp-plate")) plate.remove();
  if (!on) return;
  for (const part of stage.svg.querySelectorAll(".active")) part.classList.remove("active");
  for (const id of stage.current) stage.parts.get(id).removeAttribute("aria-current");
  stage.current = [];
  const points = ends(stage);
  for (const station of stage.stations) {
    for (const card of station.querySelectorAll(":scope > .card")) plate(card, points.get(stage.id(station)));
  }
}

// At the sides of a card arrows end beside what it says; below it they end below its deck.
function plate(card, points) {
  const [box, head] = [".box", ".head"].map((part) => card.querySelector(`:scope > ${part}`)?.getBBox());
  if (!box?.width || !head) return; // not shown yet: covered again once there is a width
  const { x, y, width } = box;
  const values = [...card.querySelectorAll(":scope > [id$='-value']")].map((row) => row.getBBox());
  const inside = (point) => x + 1 < point.x && point.x < x + width - 1;
  const beside = points.filter((point) => !inside(point) && point.y < y + box.height).map((point) => point.y + 2);
  const bottom = Math.max(head.y + head.height, ...beside, ...values.map((row) => row.y + row.height + 6));
  const below = card.nextElementSibling?.matches(".card") ? [] : points.filter((point) => inside(point) && point.y > bottom);
  const lines = below.map((point) => `M${point.x} ${bottom}V${point.y}`).join("");
  card.prepend(drawn("path", { class: "mgp-plate", d: `M${x} ${y + 7}a7 7 0 0 1 7-7h${width - 14}a7 7 0 0 1 7 7V${bottom}h${-width}z${lines}` }));
}
