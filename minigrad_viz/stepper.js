// The player of a Stepper: the picture is put in place once, a step only changes classes.
// Everything is found below `el`, never in `document`: many steppers share a page, some in shadow roots.

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Keys typed here must not reach the notebook, where `b` inserts a cell.
function control(tag, label, properties) {
  const element = make(tag, { ...properties, title: label });
  element.setAttribute("aria-label", label);
  element.setAttribute("data-lm-suppress-shortcuts", "true");
  return element;
}

// Step 0 shows the whole picture; in every other step what is still to come is faint.
export function paint(svg, prefix, frames, step) {
  for (const part of svg.querySelectorAll("[data-step]")) {
    part.classList.remove("active", "todo");
    part.removeAttribute("data-step");
  }
  if (step === 0) return;
  const mark = (marks, state) => {
    for (const id of marks) {
      const part = svg.querySelector("#" + CSS.escape(prefix + id));
      if (!part || part.dataset.step || (state === "todo" && part.classList.contains("todo"))) continue;
      part.classList.add(state);
      part.dataset.step = state;
    }
  };
  const seen = new Set(frames.slice(0, step).flatMap((frame) => frame[1]));
  mark(frames[step - 1][1], "active");
  for (const frame of frames.slice(step)) mark(frame[1].filter((id) => !seen.has(id)), "todo");
}

// In a narrow column: bring the station of the step into sight.
function reveal(picture, part) {
  if (!part) return;
  const box = part.getBoundingClientRect();
  const frame = picture.getBoundingClientRect();
  if (box.left < frame.left || box.right > frame.right) picture.scrollLeft += box.left - frame.left - 24;
}

function render({ model, el }) {
  const words = model.get("_words");
  const frames = model.get("_frames");
  const back = control("button", words.previous, { textContent: "◀" });
  const forth = control("button", words.next, { textContent: "▶" });
  const slider = control("input", words.slider, { type: "range", min: 0, max: frames.length, step: 1 });
  const label = make("span", { className: "mgs-label" });
  const said = make("div", { className: "mgs-say" });
  said.setAttribute("aria-live", "polite");
  const picture = make("div", { className: "mgs-picture" });
  const parsed = new DOMParser().parseFromString(model.get("_svg") || "<svg/>", "image/svg+xml");
  const svg = document.importNode(parsed.documentElement, true);
  svg.style.minWidth = model.get("_width") + "px"; // a narrow column scrolls rather than shrinks text away
  picture.append(svg);
  el.append(make("div", { className: "mgs" }, make("div", { className: "mgs-bar" }, back, forth, slider, label), picture, said));

  const show = () => {
    const step = model.get("step");
    paint(svg, model.get("_prefix"), frames, step);
    slider.value = step;
    if (step && frames[step - 1][1].length) {
      reveal(picture, svg.querySelector("#" + CSS.escape(model.get("_prefix") + frames[step - 1][1][0])));
    }
    back.disabled = step === 0;
    forth.disabled = step === frames.length;
    const frame = step ? frames[step - 1] : null;
    label.textContent = frame ? frame[2] : "";
    said.textContent = frame ? frame[3] : words.step_start;
    el.dataset.phase = frame ? frame[0] : "start";
  };
  const go = (step) => {
    model.set("step", Math.max(0, Math.min(frames.length, step)));
    model.save_changes();
  };
  back.onclick = () => go(model.get("step") - 1);
  forth.onclick = () => go(model.get("step") + 1);
  slider.oninput = () => go(Number(slider.value));
  model.on("change:step", show);
  show();
  return () => model.off("change:step", show);
}

export default { render };
