// Tests of the player's modules, run in a browser by test_player_modules.py: each `test` is one test there. Those that
// need no page are `plain`, and test_player_node.py runs them under node, too.

import { kept, spoken } from "/stepper_formula.js";
import { Painter } from "/stepper_painter.js";
import { make, memory, unpacked, whole } from "/stepper_parts.js";
import { cells, highest } from "/stepper_rounds.js";
import { pieces } from "/stepper_source.js";
import { Kernel } from "/stepper_states.js";
import { chapters } from "/stepper_track.js";
import { mount } from "/stepper.js";
import { chain, classes, equal, later, painter, plain, player, score, test, until } from "/player_page.js";

export { run } from "/player_page.js";

test("one step of a thousand touches what it changes and nothing else", () => {
  const { painter: own, frames } = painter(1000);
  for (const from of [1, 500, 999, 1000, 1500, 1998]) {
    own.paint(from);
    own.touched = 0;
    own.paint(from + 1);
    const forth = own.touched;
    if (forth > frames[from - 1].marks.length + frames[from].marks.length) throw new Error(`step ${from} + 1 touched ${forth}`);
    own.paint(from);
    equal(own.touched, 2 * forth, "touched there and back");
  }
});

test("a step looks the same from wherever one comes", () => {
  const fresh = (step) => {
    const { svg, painter: own } = painter(12);
    own.paint(step);
    return classes(svg);
  };
  const { svg, painter: own } = painter(12);
  for (const step of [5, 24, 3, 0, 17, 16, 1, 23, 0, 24, 13]) {
    own.paint(step);
    equal(classes(svg), fresh(step), `step ${step}`);
    equal(svg.classList.contains("walk"), step > 0, "walk");
  }
});

test("a part is to come, then active, then done", () => {
  const { svg, painter: own } = painter(3);
  const state = (id) => ["later", "active"].filter((name) => svg.querySelector(`[id="p-${id}"]`).classList.contains(name)).join(" ");
  const seen = [1, 2, 3, 4, 5, 6].map((step) => (own.paint(step), [state("s1-c0"), state("s1-d"), state("s1-c0-grad"), state("r0-p")]));
  equal(seen[0], ["later", "later", "later", "later"]);
  equal(seen[1], ["active", "later", "later", "later"]);
  equal(seen[3], ["", "later", "later", "later"]);
  equal(seen[4], ["", "active", "active", "active"]);
  equal(seen[5], ["", "", "", ""]);
});

test("a node that ran in an earlier call waits for its run in the one that is shown", () => {
  const { svg } = painter(1);
  const frames = [["forward", "s0-c0"], ["forward", "s0-d"], ["forward", "s0-c0"], ["backward", "s0-d"]];
  const own = new Painter(svg, "p-", frames.map(([phase, mark]) => ({ phase, marks: [mark] })));
  const seen = [2, 3, 4].map((step) => (own.paint(step), svg.querySelector(".deck").getAttribute("class")));
  equal(seen.map((name) => name.split(" ").slice(1).join(" ")), ["active", "later", "active"]);
});

test("a node that failed looks so only while its step is shown", () => {
  const { svg } = painter(1);
  const own = new Painter(svg, "p-", [{ phase: "forward", marks: ["s0-c0"] }, { phase: "backward", marks: ["s0-d"], failed: true }]);
  const seen = [1, 2, 1].map((step) => (own.paint(step), svg.querySelector(".deck").getAttribute("class")));
  equal(seen.map((name) => name.split(" ").slice(1).join(" ")), ["later", "active error", "later"]);
});

plain("a line is cut where marks begin and end", () => {
  equal(pieces("y = x ** 3", [[4, 10, "now"]]), [["y = ", ""], ["x ** 3", "now"]]);
  equal(pieces("abc", [[1, Infinity, "now"]]), [["a", ""], ["bc", "now"]]);
  equal(pieces("abcd", [[1, 3, "now"], [0, 4, "also"]]), [["a", "also"], ["bc", "now"], ["d", "also"]]);
  equal(pieces("", [[0, 4, "now"]]), []);
});

plain("columns are characters, also beside letters outside the basic plane", () => {
  equal(pieces("𝑥값 = 😀 + 1", [[5, 6, "now"]])[1], ["😀", "now"]);
});

plain("chapters are steps in a row of one phase", () => {
  const frames = ["forward", "forward", "backward", "update", "backward"].map((phase) => ({ phase }));
  equal(chapters(frames), [["forward", 1, 2], ["backward", 3, 3], ["update", 4, 4], ["backward", 5, 5]].map(([phase, from, to]) => ({ phase, from, to })));
});

test("the track has a segment for each step and names its chapters", async () => {
  const { all, model, one } = await player();
  model.set("step", 4);
  equal(all(".mgp-segments i").map((segment) => segment.className), ["done", "done", "done", "now", "later", "later"]);
  equal(all(".mgp-name").map((name) => name.textContent), ["forward 3", "backward 1 of 3"]);
  equal([one(".mgp-label").textContent, one("input[type=range]").getAttribute("aria-valuetext")], ["4 / 6", "backward 1 of 3"]);
});

test("the track of a long cell has one bar for each chapter", async () => {
  const { all, model } = await player(score([chain(100)]));
  model.set("step", 125);
  equal(all(".mgp-segments i").map((segment) => segment.className), ["done", "now"]);
  equal(all(".mgp-segments b").map((fill) => fill.style.width), ["100%", "25%"]);
});

plain("every round has its cell, and those that are far share one", () => {
  const few = cells(20, 3, 926);
  equal(few.map(({ from, to }) => [from, to]), Array.from({ length: 20 }, (_, i) => [i, i]));
  equal([few[3].width, few[2].width, few[4].width], [250, 62, 62]);
  equal(Math.round(few.at(-1).x + few.at(-1).width), 926);
  for (const now of [0, 1, 57, 99]) {
    const many = cells(100, now, 926);
    equal(many.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i)), Array.from({ length: 100 }, (_, i) => i), `at ${now}`);
    equal(many.find(({ from }) => from === now).to, now);
    if (many.length > 52) throw new Error(`${many.length} cells`);
  }
});

plain("the value of a round stands above the whole piece of the curve below it", () => {
  const line = [[0, 40], [10, 20], [20, 30], [30, 10]];
  equal([[1, 9], [5, 25], [12, 18], [25, 90], [0, 2]].map(([from, to]) => highest(line, from, to)), [22, 20, 22, 10, 36]);
});

const MATH = [["fr", ["∂", "z"], ["∂", "x"]], "=", ["in", "0.1"], " · ", "3", "x", ["sup", ["2"]], "=", ["out", "-7.5"]];
const SAID = { say_over: "over", say_squared: "squared", say_times: "times", say_minus: "minus" };

plain("a formula is said in words", () => {
  equal(spoken(MATH, SAID), "d z over d x = 0.1 times 3 x squared = minus 7.5");
  equal(spoken([["mx", 2, ["1"], ["-2"], ["3"], ["4"]]], SAID), "1, minus 2; 3, 4");
  equal(spoken([["word", "a b"], "_", ["bar", "x"], ["over", [["word", "w.grad"]]]], SAID), "a b _ x bar w.grad bar");
});

plain("of a long formula the widest form in the middle gives way", () => {
  equal(kept([10, 20, 30, 40, 10], 200), [0, 1, 2, 3, 4]);
  equal(kept([10, 20, 30, 40, 10], 80), [0, 1, 2, 4]);
  equal(kept([10, 20, 30, 40, 10], 5), [0, 1, 4]);
});

plain("the model in memory tells of changes only", () => {
  const model = memory({ step: 0 });
  const seen = [];
  const listener = () => seen.push(model.get("step"));
  model.on("change:step", listener);
  for (const step of [1, 1, 2]) model.set("step", step);
  model.off("change:step", listener);
  model.set("step", 3);
  equal(seen, [1, 2]);
});

async function deflated(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"));
  return btoa(String.fromCharCode(...new Uint8Array(await new Response(stream).arrayBuffer())));
}

plain("an act that was deflated comes back", async () => {
  const { label, ...content } = chain(2);
  const act = await unpacked([{ label, z: await deflated(JSON.stringify(content)) }], 0);
  equal(act.svg, content.svg);
  equal(act.frames[2].phase, "backward");
  equal(act.frames[2].ready, [1, "s0"]);
});

plain("an act is a row in the table of another", async () => {
  const base = { svg: '<svg><text x="1">a = 1.5</text></svg>', frames: [["forward", ["s0-c0"], "a = 1.5", "a"]], stood: {} };
  const table = {
    columns: ["1.5 2"],
    texts: { svg: { 2: ["a = ", 0, ""] }, frames: { 0: { 2: { forms: [["a = ", 0, ""], "none"], at: [0, 1] }, 3: { values: ["a", ["b"]], at: [0, 1] } } } },
  };
  for (const told of [table, await deflated(JSON.stringify(table))]) {
    const act = await unpacked([{ ...base, table: told }, { base: 0, row: 1 }], 1);
    equal(act.svg, '<svg><text x="1">a = 2</text></svg>');
    equal([act.frames[0].phase, act.frames[0].label, act.frames[0].text], ["forward", "none", ["b"]]);
  }
});

test("buttons step, jump and know the ends", async () => {
  const { one, all, ids, step } = await player();
  const press = (name) => one(`.mgp-${name}`).click();
  equal([one(".mgp-first").disabled, one(".mgp-next").disabled], [true, false]);
  press("next");
  equal(ids("active"), ["s0-c0", "s0-k0"]);
  press("last");
  equal([step(), one(".mgp-last").disabled, all("svg.mg .later").length], [6, true, 0]);
  press("previous");
  equal(step(), 5);
  press("first");
  equal([step(), one(".mgp-text").textContent], [0, "step_start"]);
});

test("keys step, jump and play; others and those with a modifier pass", async () => {
  const { key, step, model, one } = await player();
  key("ArrowRight");
  key("ArrowRight");
  key("ArrowLeft");
  equal(step(), 1);
  key("End");
  equal(step(), 6);
  equal(key("Home").defaultPrevented, true);
  equal(step(), 0);
  equal([key("b").defaultPrevented, key("ArrowRight", one(".mgp-view"), { ctrlKey: true }).defaultPrevented], [false, false]);
  equal([key("ArrowRight", one("select")).defaultPrevented, key(" ", one(".mgp-next")).defaultPrevented], [false, false]);
  equal(step(), 0);
  key(" ");
  equal(model.get("playing"), true);
  key(" ");
  equal(model.get("playing"), false);
});

test("everything that takes the focus keeps its keys from the notebook", async () => {
  const { all, one } = await player(score([chain(3), chain(3)], "a\n"));
  one("g.station").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const focusable = all("button, input, select, [tabindex]");
  if (focusable.length < 15) throw new Error(`only ${focusable.length}`);
  equal(focusable.filter((element) => element.dataset.lmSuppressShortcuts !== "true").map((element) => element.className), []);
});

test("a click on the track goes to its step", async () => {
  const { one, step } = await player();
  const track = one(".mgp-track");
  const box = track.getBoundingClientRect();
  track.setPointerCapture = () => {};
  const click = (share) => track.dispatchEvent(new PointerEvent("pointerdown", { clientX: box.left + share * box.width, buttons: 1 }));
  for (const [share, expected] of [[0.01, 1], [0.16, 1], [0.17, 2], [0.5, 3], [0.99, 6], [-0.1, 0]]) {
    click(share);
    equal(step(), expected, `at ${share}`);
  }
});

test("the slider is a real one and says the step", async () => {
  const { one, step } = await player();
  const slider = one("input[type=range]");
  slider.value = 4;
  slider.dispatchEvent(new Event("input"));
  equal([step(), slider.getAttribute("aria-valuetext"), slider.max], [4, "backward 1 of 3", "6"]);
});

test("it plays to the end by itself, faster with more speed, and from the start again", async () => {
  const { model, one, step } = await player();
  model.set("speed", 300);
  one(".mgp-play").click();
  equal(one(".mgp-play").title, "pause");
  await until(() => step() === 6 && !model.get("playing"), "the end");
  equal(one(".mgp-play").title, "play");
  model.set("speed", 0.001);
  one(".mgp-play").click();
  equal([step(), model.get("playing")], [0, true]);
});

test("a step beyond the end shows the last one", async () => {
  const { model, one } = await player();
  model.set("step", 99);
  equal(one(".mgp-said").textContent, "runs t0");
});

test("the caption says where, then the formula, then what comes next", async () => {
  const { model, one, all } = await player();
  model.set("step", 2);
  equal(all("mark").map((mark) => [mark.className, mark.textContent]), [["now", "b2"], ["now", "b2"]]);
  equal([one(".mgp-at").textContent, one(".mgp-text").textContent, one(".mgp-after").textContent], ["line 2b2", "makes t1", "Next: c3."]);
  model.set("step", 4);
  equal(all("mark").length, 0);
  equal([one(".mgp-said").textContent, one(".mgp-formula").textContent], ["runs t2", "a·2=2"]);
  equal(one(".mgp-formula").getAttribute("role"), "math");
  equal(all(".mgp-formula em").map((em) => [em.className, em.textContent]), [["in", "2"], ["out", "2"]]);
  equal(one(".mgp-after").textContent, "Freed: self. Next: Node1 (t1).");
});

test("a mark over several lines leaves their indentation out", async () => {
  const data = score([chain(1)], "x = f(\n    1,\n)\n");
  data.acts[0].frames[0][5] = [1, 4, 3, 1];
  const { model, all } = await player(data);
  model.set("step", 1);
  equal(all(".mgp-lines mark").map((mark) => mark.textContent), ["f(", "1,", ")"]);
});

test("details say what is known at the step", async () => {
  const { one, model, key } = await player();
  one("svg.mg [id='p-s1-c0'] text").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const said = () => one(".mgp-details").textContent;
  equal(["value: 1", "grad: (2 not kept)", "gradient 1", "gradient 0", "kept 1", "a·2=1"].filter((part) => !said().includes(part)), []);
  equal(said().indexOf("gradient 1") < said().indexOf("gradient 0"), true, "what came stands above what went");
  model.set("step", 2);
  equal(["grad: (2", "gradient 1", "gradient 0", "a·2"].filter((part) => said().includes(part)), [], "known too early");
  equal([said().includes("value: 1"), one(".picked").id], [true, "p-s1"]);
  const jumps = [...one(".mgp-details").querySelectorAll(".mgp-part button")];
  equal(jumps.map((jump) => jump.textContent), ["forward 2", "backward 2"]);
  jumps[1].click();
  equal(model.get("step"), 5);
  key("Escape");
  equal([one(".mgp-details").hidden, one(".picked")], [true, null]);
});

test("details of an arrow", async () => {
  const { one } = await player();
  one("svg.mg [id='p-r0-p'] rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const said = one(".mgp-details").textContent;
  equal([said.includes("use 0"), said.includes("gradient 0"), said.includes("use 1")], [true, true, false]);
});

test("stations by keyboard: one is reached by Tab, arrows go on, Enter opens", async () => {
  const { all, key, one } = await player();
  equal(all("g.station").map((station) => station.getAttribute("tabindex")), ["0", "-1", "-1"]);
  one("g.station").focus();
  key("ArrowDown", one("g.station"));
  equal([document.activeElement.id, document.activeElement.getAttribute("tabindex")], ["p-s1", "0"]);
  key("Enter", document.activeElement);
  equal(one(".picked").id, "p-s1");
});

test("a tooltip does not tell what is still to come", async () => {
  const { one, model } = await player();
  const title = one("svg.mg [id='p-s1-c0'] > title");
  const over = () => one("svg.mg [id='p-s1-c0'] .box").dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  const told = [1, 2, 5].map((step) => (model.set("step", step), over(), title.textContent.includes("value: 1") + " " + title.textContent.includes("grad:")));
  equal(told, ["false false", "true false", "true true"]);
});

test("the ready queue on request", async () => {
  const { one, all, model } = await player();
  model.set("step", 4);
  equal(all(".badge").length, 0);
  one(".mgp-queue").click();
  equal(all(".mgp-queued span").map((chip) => [chip.className, chip.textContent]), [["now", "Node2 t2 · queue_now"], ["next", "Node1 t1 · queue_next"]]);
  equal(all(".badge").map((badge) => [badge.parentNode.id, badge.textContent]), [["p-s0-d", "1"], ["p-s1-d", "1."]]);
  model.set("step", 6);
  equal([all(".mgp-queued span").map((chip) => chip.className), all(".badge").length], [["ran", "ran", "now"], 0]);
  model.set("step", 1);
  equal(one(".mgp-queued").textContent, "queue_orderqueue_none");
  one(".mgp-queue").click();
  equal([one(".mgp-order").hidden, one(".mgp-queue").getAttribute("aria-pressed")], [true, "false"]);
});

test("what plain recursion would do stands beside the queue", async () => {
  const act = chain(2);
  act.frames[3][9] = "twice";
  const { one, model } = await player(score([act]));
  model.set("step", 4);
  one(".mgp-queue").click();
  equal(one(".mgp-rule").textContent, "twice");
  model.set("step", 3);
  equal(one(".mgp-rule").textContent, "queue_rule");
});

test("the source of a custom Function has a part of its own", async () => {
  const act = chain(2);
  act.svg = act.svg.replace("<title>Node1</title>", "<title>Node1\nkept 1\n\nF.forward:\ndef forward\n\nF.backward:\ndef backward</title>");
  const { one, all, key } = await player(score([act]));
  key(" ", one("[id='p-s1']"));
  equal(all(".mgp-part.code > div").map((code) => code.textContent), ["F.forward:\ndef forward", "F.backward:\ndef backward"]);
  equal([...all(".mgp-part")[1].querySelectorAll("div")].map((node) => node.textContent), ["Node1\nkept 1"], "the chip is told once");
});

test("what is marked shows at the start and where it failed, not in the steps before", () => {
  const { svg } = painter(1);
  svg.querySelector(".deck").classList.add("error");
  svg.querySelector(".chip").classList.add("cause");
  const own = new Painter(svg, "p-", [{ phase: "forward", marks: ["s0-c0", "s0-k0"] }, { phase: "backward", marks: ["s0-d"], failed: true }]);
  const kinds = () => [svg.querySelectorAll(".error").length, svg.querySelectorAll(".cause").length, svg.classList.contains("failed")];
  const seen = [0, 1, 2, 1, 0].map((step) => (own.paint(step), kinds()));
  equal(seen, [[1, 1, false], [0, 0, false], [1, 1, true], [0, 0, false], [1, 1, false]]);
});

test("signs that stay are left alone", async () => {
  const { one, all, model } = await player(score([chain(40)]));
  one(".mgp-queue").click();
  model.set("step", 41);
  const before = new Map(all(".badge").map((badge) => [badge.parentNode.id, badge]));
  equal([...before.keys()], ["p-s37-d", "p-s38-d"]);
  model.set("step", 42);
  const after = all(".badge");
  equal(after.map((badge) => [badge.parentNode.id, badge.textContent]), [["p-s36-d", "1"], ["p-s37-d", "1."]]);
  one(".mgp-queue").click();
  one(".mgp-queue").click();
  equal(all(".badge").length, 2);
});

test("details count what is too much to list", async () => {
  const act = chain(2);
  const lines = Array.from({ length: 40 }, (_, i) => ["l", `line ${i}`, 0]);
  act.frames = Array.from({ length: 40 }, () => ["forward", ["s0-c0"], "f", "t", lines, null, [0], []]);
  const { one, all } = await player(score([act]));
  one("svg.mg [id='p-s0-c0'] text").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  equal([all(".mgp-part button").length, one(".mgp-part:last-child > div").textContent], [24, "… +16"]);
});

test("of a large picture what is near the view is drawn", async () => {
  const { one, all, model } = await player(score([chain(300)]));
  const drawn = () => all("g.station").filter((station) => station.style.display !== "none").map((station) => station.id);
  const inside = (part) => {
    const [box, view] = [one(part).getBoundingClientRect(), one(".mgp-view").getBoundingClientRect()];
    return box.width > 0 && box.left >= view.left && box.right <= view.right;
  };
  equal(one(".mgp-view").scrollLeft, 0, "the start");
  for (const step of [1, 300, 301, 450, 2]) {
    model.set("step", step);
    await until(() => inside("svg.mg .card.active .box, svg.mg .deck.active .box"), `step ${step} is in sight`);
    if (drawn().length < 3 || drawn().length > 60) throw new Error(`step ${step} draws ${drawn().length} stations`);
  }
  one(".mgp-queue").click();
  model.set("step", 301);
  await until(() => all(".badge").length === 2, "signs where the picture is drawn");
  equal(all(".badge").map((badge) => badge.textContent), ["1", "1."]);
  one(".mgp-zoom_fit").click();
  equal(drawn().length, 300, "drawn when the whole is to be seen");
  one("g.station").focus();
});

test("larger, smaller, whole, as before", async () => {
  const { one } = await player(score([chain(30)]));
  const [svg, press] = [one("svg.mg"), (name) => one(`.mgp-zoom_${name}`).click()];
  const before = svg.getBoundingClientRect().width;
  press("in");
  const larger = svg.getBoundingClientRect().width;
  equal(Math.round((100 * larger) / before), 125);
  press("out");
  equal(Math.round(svg.getBoundingClientRect().width), Math.round(before));
  press("fit");
  press("fit");
  equal(svg.getBoundingClientRect().width <= one(".mgp-view").clientWidth, true, "whole");
  press("fit");
  equal(svg.getBoundingClientRect().width, before);
  one(".mgp-view").dispatchEvent(new WheelEvent("wheel", { deltaY: -100, ctrlKey: true, cancelable: true }));
  equal(svg.getBoundingClientRect().width > before, true, "by the wheel");
});

test("of several acts the chosen one is shown, from its start", async () => {
  const other = { ...chain(2), label: "other" };
  const { one, model, all } = await player(score([other, chain(3)]));
  model.set("step", 3);
  const list = one(".mgp-acts select");
  equal([...list.options].map((option) => option.textContent), ["other", "one"]);
  list.value = "0";
  list.dispatchEvent(new Event("change"));
  await until(() => all("g.station").length === 2, "the other act");
  equal([model.get("act"), model.get("step"), one("input[type=range]").max], [0, 0, "4"]);
});

test("text of the cell comes in as text", async () => {
  const evil = `</script><img src=x onerror="window.hit=1"><b>`;
  const act = chain(2, (i) => `&lt;img src=x onerror="window.hit=1"&gt;${i}`);
  act.label = evil;
  for (const frame of act.frames) frame[2] = frame[3] = evil;
  act.frames[2][4] = [[evil, evil, 2]];
  const { all, one, model } = await player(score([act, { ...act }], evil));
  model.set("step", 3);
  one("g.station").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  one(".mgp-queue").click();
  await later(20);
  equal([all("img").length, all("script").length, window.hit], [0, 0, undefined]);
  equal(one(".mgp-said").textContent, evil);
});

test("players on one page leave each other alone", async () => {
  const [first, second] = [await player(), await player()];
  second.model.set("step", 2);
  equal([first.ids("active").length, second.ids("active").length], [0, 3]);
  equal([first.one(".mgp-text").textContent, second.one(".mgp-text").textContent], ["step_start", "makes t1"]);
});

test("in a shadow root", async () => {
  const host = make("div");
  document.body.append(host);
  const { key, step, ids } = await player(undefined, host.attachShadow({ mode: "open" }));
  key("ArrowRight");
  equal([step(), ids("active")[0]], [1, "s0-c0"]);
});

test("nothing is heard after the end", async () => {
  const { model, end, one } = await player();
  end();
  model.set("step", 2);
  equal(one(".mgp-text").textContent, "step_start");
});

test("without a picture the outline stands and the steps go on", async () => {
  const act = { ...chain(2), svg: "", outline: "z = log(y)" };
  const { one, model } = await player(score([act]));
  model.set("step", 3);
  equal([one("pre").textContent, one(".mgp-said").textContent], ["z = log(y)", "runs t1"]);
});

test("a player takes the place of the picture that stood there", async () => {
  const act = chain(2);
  const box = make("div");
  const still = make("img", { src: `data:image/svg+xml,${encodeURIComponent(act.svg)}` });
  box.append(still);
  document.body.append(box);
  mount(box, score([act]), { code: "", style: ".mgp { color: rgb(1, 2, 3) }" });
  await until(() => box.querySelectorAll("g.station").length === 2, "the picture");
  equal([still.isConnected, getComputedStyle(box.querySelector(".mgp")).color], [false, "rgb(1, 2, 3)"]);
});

test("what an image leaves out is put back", () => {
  const shown = "<svg><style>a{}</style><rect/><g class='a'><text>it&#39;s 100% #1 한글</text></g><g><g/></g></svg>";
  const image = make("img", { src: `data:image/svg+xml,${shown.replaceAll("%", "%25").replaceAll("#", "%23")}` });
  const told = { svg: "<svg class='mg'><desc/>", groups: [["s0", "one\n$&"], ["", "two"], ["s1"]], prefix: "p-" };
  const [one, two] = ["<title>one\n$&</title><text>it&#39;s 100% #1 한글</text>", "<title>two</title><g id='p-s1'/>"];
  equal(whole(image, told), `<svg class='mg'><desc/><rect/><g id='p-s0' class='a'>${one}</g><g>${two}</g></svg>`);
});

test("in a narrow window the picture for narrow windows stands there, at the same step", async () => {
  const wide = { ...chain(6), width: 720 };
  const narrow = { svg: chain(6).svg.replaceAll('"p-', '"n-'), prefix: "n-", width: 100, stood: {} };
  const host = make("div");
  host.style.width = "500px";
  document.body.append(host);
  const { one, model, ids } = await player(score([{ ...wide, narrow }]), host);
  await until(() => one("#n-s0"), "the narrow picture is there");
  model.set("step", 3);
  equal(one("#n-s2").getAttribute("aria-current"), "step");
  host.style.width = "880px";
  await until(() => one("#p-s0"), "the wide picture is there");
  equal([one("#p-s2").getAttribute("aria-current"), one("#n-s2"), model.get("step")], ["step", null, 3]);
  equal(ids("card.active").length, 1);
});

// A kernel that answers at once, in each message at most `most` states, and keeps what it was asked.
function kernel(most = Infinity) {
  const asked = [];
  const model = { on: (_, heard) => (model.heard = heard) };
  const state = (x) => (x === 7 ? { refused: "no seven" } : { state: { at: [String(x)] } });
  model.send = ({ live }) => {
    asked.push(live);
    const told = live.grid ? { grid: { xs: [1, 2, 3, 4, 5, 6, 7] } } : { states: live.xs.slice(0, most).map(state) };
    queueMicrotask(() => model.heard({ id: live.id, ...told }));
  };
  return { asked, source: new Kernel(model) };
}

plain("the states of the grid are asked for before they are wanted, the nearest first", async () => {
  const { asked, source } = kernel();
  const handle = { name: "x", value: 4, xs: [] };
  await Promise.all([source.ready(handle, new Map()), source.ready(handle, new Map())]); // asked for once
  source.near(handle, new Map(), [3]);
  equal((await source.state(handle, new Map([["x", 5]]), [3])).at, ["5"]);
  await until(() => asked.length === 3);
  equal(asked.map(({ xs }) => xs), [undefined, [3, 5, 2, 6], [4, 7, 1]]);
  equal((await source.state(handle, new Map([["x", 1]]), [3])).at, ["1"]);
  equal(await source.state(handle, new Map([["x", 7]]), [3]).catch(({ message }) => message), "no seven");
  equal(asked.length, 3, "known states are not asked for again");
  await source.state(handle, new Map([["x", 1]]), [4]);
  equal(asked[3].only, [4], "another step is");
});

plain("what the kernel has no time for is asked for again", async () => {
  const { asked, source } = kernel(1);
  const handle = { name: "x", value: 4, xs: [1, 2, 3, 4, 5] };
  source.near(handle, new Map(), [3]);
  const two = [5, 3].map((x) => source.state(handle, new Map([["x", x]]), [3]));
  equal((await Promise.all(two)).map(({ at }) => at), [["5"], ["3"]]);
  equal(asked[0].xs, [3, 5, 2, 1]);
  equal(asked.filter(({ xs }) => xs.length === 1 && xs[0] === 5).length, 1);
});

plain("with Shift there are numbers between those of the grid", () => {
  const { source } = kernel();
  const handle = { name: "x", value: 2, xs: [1, 2, 3] };
  equal([source.snap(handle, 2.35), source.snap(handle, 2.35, true), source.snap(handle, 2.4, true, 1), source.snap(handle, 2, true, -Infinity)], [2, 2.4, 2.6, 1]);
});

plain("a grid that is refused is asked for again", async () => {
  const { asked, source } = kernel();
  source.model.send = ({ live }) => (asked.push(live), queueMicrotask(() => source.model.heard({ id: live.id, refused: "not now" })));
  const handle = { name: "x", value: 4, xs: [] };
  for (const count of [1, 2]) {
    equal(await source.ready(handle, new Map()).catch(({ message }) => message), "not now");
    equal(asked.length, count);
  }
});
