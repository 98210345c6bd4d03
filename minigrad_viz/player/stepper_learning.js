// What the model of a loop computes now, beside the graph: its curve over the data, the plane with its border, or what
// it says of a few examples; and the loss of all rounds.

import { Extra, block, clamp, drawn, extras, make } from "./stepper_parts.js";
import { figure, ticks } from "./stepper_plot.js";

const PANE = 320; // pixels of the pane beside the picture
const STRIP = 800; // pixels of the narrowest strip of a model that has the pane beside it
const [TALLEST, LOSS] = [220, 130]; // pixels
const FRAME = { left: 44, right: 14, top: 12, bottom: 26 };
const [LEFT, ODDS, SLIM_BAR] = [64, 44, 9]; // pixels of what is seen of an example, of its probability, of a letter
const DECADES = 100; // the loss has a scale of powers from this ratio on
const SHAPES = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-4 -4h8v8h-8z", "M0 -5l5 9h-10z", "M0 -5l5 5-5 5-5-5z", "M-4 -4l8 8M4 -4l-8 8"];

// Axes in `width` by `height` pixels, and where numbers stand in them.
function axes(width, height, [left, right], [low, high], names, label, whole) {
  const x = (value) => FRAME.left + ((value - left) / (right - left || 1)) * (width - FRAME.left - FRAME.right);
  const y = (value) => height - FRAME.bottom - ((value - low) / (high - low || 1)) * (height - FRAME.top - FRAME.bottom);
  const svg = drawn("svg", { class: "mgp-plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const write = (kind, at, down, anchor, text) => svg.append(drawn("text", { class: kind, x: at, y: down, "text-anchor": anchor }, text));
  for (const value of ticks(left, right, 4)) if ((!whole || Number.isInteger(value)) && x(value) < width - 14 - 8 * names[0].length) write("tick", x(value), height - 8, "middle", figure(value).replace(/\.$/, ""));
  write("axis", width - 4, height - 8, "end", names[0]);
  return { svg, x, y, write };
}

const scaled = ({ svg, y, write }, width, low, high, said = (value) => figure(value).replace(/\.$/, "")) => {
  for (const value of ticks(low, high, 3)) {
    svg.append(drawn("path", { class: "rule", d: `M${FRAME.left} ${y(value)}H${width - FRAME.right}` }));
    write("tick", FRAME.left - 6, y(value) + 4, "end", said(value));
  }
};

const line = (points) => `M${points.map(([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`).join("L")}`;

// A row for each example: what is seen of it, a bar for each class, and how probable the right one is.
function examples({ names, rounds }, act, width, label) {
  const high = TALLEST / rounds[act].length;
  const svg = drawn("svg", { class: "mgp-plot", width, height: TALLEST, viewBox: `0 0 ${width} ${TALLEST}`, role: "img", "aria-label": label });
  const write = (kind, x, y, anchor, text) => svg.append(drawn("text", { class: kind, x, y, "text-anchor": anchor }, text));
  const room = Math.min(64, high - 22);
  rounds[act].forEach(([label, shares, seen], i) => {
    const top = i * high + 4;
    const wide = (width - LEFT - ODDS) / shares.length;
    const most = shares.indexOf(Math.max(...shares));
    if (typeof seen !== "string") svg.append(...image(seen, top, room));
    else write("axis", LEFT - 10, top + room, "end", visible(seen));
    shares.forEach((share, kind) => {
      const at = LEFT + kind * wide;
      const right = kind === label;
      svg.append(drawn("rect", { class: `bar${right ? " right" : ""}`, x: at + 1, y: top + room * (1 - share), width: Math.max(1, wide - 2), height: Math.max(1, room * share) }));
      if (right || kind === most || wide >= SLIM_BAR) write(right ? "axis" : "tick", at + wide / 2, top + room + 13, "middle", visible(names[kind] ?? `${kind}`));
    });
    write("tick", width - 2, top + room, "end", figure(Number(shares[label].toPrecision(2))));
  });
  return svg;
}

const visible = (text) => text.replaceAll(" ", "␣").replaceAll("\n", "⏎");

// An image from its shades, each from 0 to 9, at the left; a path for each shade.
function image([columns, shades], top, room) {
  const size = Math.min(room, LEFT - 14) / Math.max(columns, shades.length / columns);
  const paths = Array.from({ length: 10 }, () => "");
  [...shades].forEach((shade, i) => (paths[shade] += `M${(4 + (i % columns) * size).toFixed(1)} ${(top + Math.floor(i / columns) * size).toFixed(1)}h${size.toFixed(1)}v${size.toFixed(1)}h${(-size).toFixed(1)}z`));
  return paths.flatMap((d, shade) => (d ? [drawn("path", { class: "pixel", d, "fill-opacity": shade / 9 })] : []));
}

// The class of each cell of a row, which is written as runs: "a70b50".
const classesOf = (row) => [...row.matchAll(/([a-j])(\d+)/g)].flatMap(([, kind, count]) => Array(Number(count)).fill(kind.charCodeAt(0) - 97));

const KINDS = {
  // The curve of the round, pale that of the first, over the data.
  curve({ points, rounds, x: [name], y: target }, act, width, label) {
    const known = rounds.filter(Boolean);
    const across = points.map(([a]) => a).concat(known[0][0]);
    const down = points.map(([, b]) => b);
    const spare = 0.25 * (Math.max(...down) - Math.min(...down) || 1);
    const [low, high] = [Math.min(...down) - spare, Math.max(...down) + spare];
    const made = axes(width, TALLEST, [Math.min(...across), Math.max(...across)], [low, high], [name], label);
    const { svg, x, y, write } = made;
    scaled(made, width, low, high);
    write("axis", FRAME.left, 11, "start", target);
    const curve = (kind, [xs, ys]) => svg.append(drawn("path", { class: kind, d: line(xs.map((a, i) => [x(a), clamp(y(ys[i]), FRAME.top, TALLEST - FRAME.bottom)])) }));
    if (known[0] !== rounds[act]) curve("curve was", known[0]);
    for (const [a, b] of points) svg.append(drawn("circle", { class: "point", cx: x(a), cy: y(b), r: 3.5 }));
    curve("curve model", rounds[act]);
    return svg;
  },

  // The plane in the colors of the classes; the points have those of their own, and a shape.
  plane({ points, rounds, box, x: [name, second] }, act, width, label) {
    const rows = rounds[act].map(classesOf);
    const { svg, x, y, write } = axes(width, TALLEST, box.slice(0, 2), box.slice(2), [name], label);
    const [wide, high] = [(x(box[1]) - x(box[0])) / rows[0].length, (y(box[2]) - y(box[3])) / rows.length];
    const [left, top] = [x(box[0]), y(box[3])];
    write("axis", FRAME.left, 9, "start", second);
    for (const value of ticks(box[2], box[3], 3)) write("tick", FRAME.left - 6, y(value) + 4, "end", figure(value).replace(/\.$/, ""));
    const areas = {};
    const across = (i) => (left + i * wide).toFixed(1);
    const down = (j) => (top + j * high).toFixed(1);
    let border = "";
    rows.forEach((row, j) =>
      row.forEach((kind, i) => {
        if (!i || row[i - 1] !== kind) areas[kind] = `${areas[kind] ?? ""}M${across(i)} ${down(j)}V${down(j + 1)}`;
        if (row[i + 1] !== kind) areas[kind] += `H${across(i + 1)}V${down(j)}z`;
        if (i && row[i - 1] !== kind) border += `M${across(i)} ${down(j)}V${down(j + 1)}`;
        if (j && rows[j - 1][i] !== kind) border += `M${across(i)} ${down(j)}H${across(i + 1)}`;
      }),
    );
    for (const [kind, d] of Object.entries(areas)) svg.append(drawn("path", { class: `class k${kind}`, d }));
    svg.append(drawn("path", { class: "border", d: border }));
    for (const [a, b, kind] of points) svg.append(drawn("path", { class: `point k${kind}`, d: SHAPES[kind % SHAPES.length], transform: `translate(${x(a)} ${y(b)})` }));
    return svg;
  },

  bars: examples,
  images: examples,
  letters: examples,
};

class Learning extends Extra {
  constructor(player, told) {
    super();
    this.player = player;
    this.told = told;
    this.words = told.words;
    /** @type {boolean | null} whether it stands beside the picture */
    this.beside = null;
    this.head = make("h4");
    this.model = block("mgp-model");
    this.loss = block("mgp-loss");
    this.name = make("h4");
    this.pane = make("div", { className: "mgp-learning", aria: { label: told.words.learning, role: "region" } }, block("", this.head, this.model), block("", this.name, this.loss));
  }

  laid() {
    this.tell();
  }

  // What is told is that of the round that is shown; nothing of a round that an extra hides.
  tell() {
    const { told, player, words } = this;
    const { act } = player;
    const width = this.model.clientWidth;
    if (act === undefined || width < 100) return;
    const round = player.panes.rounds?.name(act) ?? "";
    const known = told.rounds[act];
    this.head.textContent = `${words[`learning_${told.kind}`].replaceAll("{x}", told.x[0]).replaceAll("{y}", told.y)} · ${round}`;
    this.model.replaceChildren(...(known ? [KINDS[told.kind](told, act, width, this.head.textContent)] : []));
    this.losses(act, width);
  }

  // The loss of every round that is known; on a scale of powers of ten where it spans decades.
  losses(act, width) {
    const { player, words } = this;
    const known = [...(player.panes.rounds?.values ?? [])].sort(([a], [b]) => a - b);
    if (known.length < 2) return;
    const values = known.map(([, value]) => value);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const powers = least > 0 && most / least >= DECADES;
    const at = powers ? Math.log10 : (value) => value;
    const [low, high] = powers ? [Math.floor(at(least)), Math.ceil(at(most))] : [Math.min(0, least), most];
    const name = player.score.acts[act].name || "loss";
    this.name.textContent = `${words.learning_loss.replace("{name}", name)}${powers ? ` · ${words.learning_log}` : ""}`;
    const made = axes(width, LOSS, [known[0][0] + 1, known.at(-1)[0] + 1], [low, high], [""], this.name.textContent, true);
    scaled(made, width, low, high, powers ? (value) => (Number.isInteger(value) ? `1e${value}` : "") : undefined);
    const place = ([i, value]) => [made.x(i + 1), made.y(at(value))];
    const now = player.panes.rounds.counted + act;
    made.svg.append(drawn("path", { class: "curve later", d: line(known.map(place)) }));
    const past = known.filter(([i]) => i <= now);
    if (past.length > 1) made.svg.append(drawn("path", { class: "curve", d: line(past.map(place)) }));
    const point = known.find(([i]) => i === now);
    if (point) {
      const [cx, cy] = place(point);
      made.svg.append(drawn("circle", { class: "now", cx, cy, r: 5 }));
      made.write("here", cx + (cx > width / 2 ? -8 : 8), clamp(cy - 8, 12, LOSS - 34), cx > width / 2 ? "end" : "start", figure(point[1]));
    }
    this.loss.replaceChildren(made.svg);
  }

  // Beside the picture where there is room for both, else below it.
  arranged() {
    const { player } = this;
    const { root, pane } = player.panes;
    const { width, widths } = player.content;
    const strips = [width, ...(widths ?? []).map((one) => one.width ?? 0)].filter((one) => one >= STRIP);
    const source = pane.hidden || !widths ? 0 : pane.offsetWidth;
    const beside = root.clientWidth - source - PANE >= Math.min(width, ...strips);
    if (beside !== this.beside) {
      this.beside = beside;
      if (beside) player.panes.root.querySelector(".mgp-body").append(this.pane);
      else player.panes.boxes.element.before(this.pane);
      this.pane.classList.toggle("beside", beside);
      player.wide = -1; // the picture has another width now
      return player.arrange();
    }
    this.tell();
    player.panes.root.style.setProperty("--below", beside ? "0px" : `${this.pane.offsetHeight}px`);
  }
}

extras.push((player) => player.score.learning && new Learning(player, player.score.learning));
