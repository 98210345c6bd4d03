// A step as a picture for slides: SVG or PNG, on the clipboard or, where that is not allowed, as a file. And the
// player as a page to send, which opens at the step.

import { SVG, drawn, make, quiet } from "./stepper_parts.js";

const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linecap", "opacity", "display", "visibility",
  "font-family", "font-size", "font-weight", "font-style", "text-anchor", "text-decoration-line",
];
const SCALE = 2; // pixels of a PNG for one of the page
const ABOVE = 26; // pixels for a line of words

// What opens to choose a kind of picture; `onchoose` is called with it.
export function copies(words, onchoose) {
  const button = (kind) => quiet(make("button", { type: "button", textContent: kind.toUpperCase(), onclick: () => onchoose(kind) }));
  return make("div", { className: "mgp-pop mgp-copies", hidden: true, aria: { label: words.copy, role: "region" } }, ...["svg", "png", "html"].map(button));
}

// The picture as it stands, with lines of words above it, without any style sheet.
export function alone(svg, lines) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((one) => [one, ...one.querySelectorAll("*")]);
  from.forEach((part, i) => {
    const style = getComputedStyle(part);
    to[i].setAttribute("style", STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  for (const part of copy.querySelectorAll(".plus, .badge, title, desc, style")) part.remove();
  const { x, y, width, height } = svg.viewBox.baseVal;
  const told = lines.filter(Boolean);
  const above = ABOVE * told.length + 8;
  const fill = getComputedStyle(svg.querySelector("text") ?? svg).fill;
  const said = told.map((line, i) => drawn("text", { x: x + 16, y: y - above + ABOVE * (i + 1) - 6, style: `font:${i ? 18 : 15}px ${i ? "serif" : "system-ui,sans-serif"};fill:${fill}` }, line));
  const paper = drawn("rect", { x, y: y - above, width, height: height + above, fill: getComputedStyle(svg.querySelector(".paper") ?? svg).fill });
  copy.prepend(paper, ...said);
  for (const [name, value] of Object.entries({ xmlns: SVG, width, height: height + above, viewBox: `${x} ${y - above} ${width} ${height + above}` })) copy.setAttribute(name, value);
  copy.removeAttribute("style");
  return new XMLSerializer().serializeToString(copy);
}

async function painted(text) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth * SCALE, image.naturalHeight * SCALE];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// Whether it is on the clipboard (true) or in a file (false).
export async function share(kind, text) {
  const blob = kind === "png" ? await painted(text) : new Blob([text], { type: "image/svg+xml" });
  try {
    await (kind === "png" ? navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]) : navigator.clipboard.writeText(text));
    return true;
  } catch {
    return download(kind, blob);
  }
}

function download(kind, blob) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `step.${kind}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  return false;
}

// A page with the player at a step, as a file. What only a kernel can compute is not in it.
/** @param {import("./stepper_types.js").Module} module @param {import("./stepper_types.js").Model} model @param {number} act @param {number} step */
export function send({ code, style }, model, act, step) {
  const { live, training, ...score } = model.get("_score");
  const acts = score.acts.map(({ groups, ...rest }) => rest); // the pictures are whole
  const told = { ...score, acts, shown: act, step: 0, pane: true, ...(model.send ? {} : { live }) };
  const data = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
  const start = `
    const module = ${data({ code, style })}, script = document.createElement("script");
    script.text = "document.currentScript.player = " + module.code;
    document.head.append(script);
    location.hash ||= "step=${step}";
    script.player.mount(document.querySelector("div"), ${data(told)}, module);
  `;
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${score.words.player}</title>`;
  const page = `<!doctype html>${head}<body style="margin:16px"><div><p></p></div><script>${start}<\/script>`;
  return download("html", new Blob([page], { type: "text/html" }));
}
