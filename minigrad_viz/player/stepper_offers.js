// What else can be done with the cell: for each way the line that asks for it, to be copied.

import { block, make, quiet } from "./stepper_parts.js";

// What opens over the picture; nothing to choose from without offers.
/** @param {import("./stepper_types.js").Offers} [told] */
export function offers({ word, how, copied, ways } = { word: "", how: "", copied: "", ways: [] }) {
  const copy = async (button, line) => {
    button.title = line;
    const done = await navigator.clipboard?.writeText(line).then(() => true, () => false);
    if (done) button.nextSibling.textContent = copied;
    else getSelection().selectAllChildren(button.firstChild);
  };
  const entry = ([name, about, line]) => {
    const button = quiet(make("button", { type: "button", onclick: () => copy(button, line) }, make("code", { textContent: line })));
    return block("mgp-way", make("b", { textContent: name }), ` ${about}`, block("mgp-line", button, make("span", { role: "status" })));
  };
  return make("div", { className: "mgp-pop mgp-offered", hidden: true, aria: { label: word, role: "region" } }, ...ways.map(entry), block("", how));
}
