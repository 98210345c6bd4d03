// Predict before you look: a question takes the place of the caption, and what answers it is hidden until then.

import { Extra, block, drawn, extras, inflated, make, quiet } from "./stepper_parts.js";
import { cover, untold } from "./stepper_quiz_cover.js";
import { equal, judge, read } from "./stepper_quiz_judge.js";

const SILENCE = 5000; // milliseconds after which a kernel counts as gone
const PILL = { x: 48.8, width: 34, height: 17 }; // of the question mark in a row of a card, as gradients stand there

// Text with the names and the code of the cell, which stand between backticks.
const marked = (text) => text.split("`").map((piece, i) => (i % 2 ? make("code", { textContent: piece }) : piece));

class Quiz extends Extra {
  /** @param {import("./stepper.js").Player} player @param {any} told */
  constructor(player, { words, yes, no, questions, noted }) {
    super();
    this.player = player;
    this.words = words;
    this.on = true;
    this.noted = noted;
    this.questions = questions.map((question) => ({ ...question, words: { yes, no }, solved: false, tries: 0, at: null }));
    const button = (name, act, primary = "") => quiet(make("button", { type: "button", className: primary, textContent: words[name], onclick: act }));
    this.prompt = make("p", { className: "mgp-ask-at", aria: { live: "polite" } });
    this.label = make("label", {});
    this.input = quiet(make("input", { type: "text", autocomplete: "off", spellcheck: false }));
    this.label.append(this.name = make("span", {}), this.input);
    this.input.onkeydown = (event) => this.typed(event);
    this.go = button("quiz_check", () => this.check(), "mgp-primary");
    this.help = button("quiz_hint", () => this.say("hint", this.question.at === null ? this.question.hint : this.part.ask));
    this.tell = button("quiz_show", () => this.solve(this.question.solution), "mgp-flat");
    this.back = button("quiz_back", () => this.whole(), "mgp-flat");
    this.next = button("quiz_continue", () => this.leave(), "mgp-primary");
    this.tries = make("span", { className: "mgp-tries" });
    this.said = make("p", { className: "mgp-feedback", role: "status" });
    this.silent = make("p", { className: "mgp-not-noted", textContent: words.quiz_not_noted, hidden: true, role: "status" });
    const row = block("mgp-ask-row", this.label, this.go, this.help, this.tell, this.back, this.next, this.tries);
    this.element = quiet(block("mgp-ask", this.prompt, row, this.said, this.silent));
    this.element.hidden = true;
    player.panes.caption.element.after(this.element);
    this.toggle = quiet(make("button", { type: "button", className: "mgp-predict", textContent: words.quiz_predict, onclick: () => this.turn() }));
    this.toggle.setAttribute("aria-pressed", "true");
    this.toggle.title = words.quiz_count.replace("{i}", 1).replace("{n}", this.questions.length);
    player.panes.root.querySelector(".mgp-tools").prepend(this.toggle);
    if (noted) this.listen();
  }

  // A kernel says when it has noted an answer. Without one nothing is noted, which is said.
  listen() {
    const { model } = this.player;
    if (!model.send) return (this.silent.hidden = false);
    model.on("msg:custom", (content) => content.noted && (clearTimeout(this.waits), (this.silent.hidden = true)));
  }

  note(right, keys) {
    const { model } = this.player;
    if (!this.noted || !model.send) return;
    clearTimeout(this.waits);
    this.waits = setTimeout(() => (this.silent.hidden = false), SILENCE);
    model.send({ answer: { question: this.question.subject, right, keys } });
  }

  // Begin again, or show everything.
  turn() {
    this.on = !this.on;
    this.toggle.setAttribute("aria-pressed", String(this.on));
    for (const question of this.questions) Object.assign(question, { solved: !this.on, tries: 0, at: null });
    this.again();
  }

  open(act = this.player.act) {
    return this.questions.filter((question) => question.act === act && !question.solved);
  }

  // Lay the act out again, at the step that is shown.
  again() {
    const { player } = this;
    Object.assign(player, { act: undefined, stage: undefined, enter: player.step });
    player.turn();
  }

  // Paint the step again.
  redraw() {
    this.player.step = undefined;
    this.player.show();
  }

  // The act that may be shown, and the step that may: not beyond the first open question. A question about the whole
  // picture is asked first, where the picture is whole; steps before it would answer it.
  act(act) {
    const first = this.questions.find(({ solved }) => !solved);
    const { acts } = this.player.panes;
    if (first && acts && act > first.act) queueMicrotask(() => (acts.value = first.act)); // the list says what is shown
    return first ? Math.min(act, first.act) : act;
  }

  reach(step) {
    const [first] = this.open();
    return first && this.answered?.step !== step ? Math.max(first.cover ? first.step : 1, Math.min(step, first.step)) : step;
  }

  // Whether the question that is asked is about the whole picture.
  get covers() {
    return this.open().findIndex(({ cover, step }) => cover && step === this.player.step) === 0;
  }

  // Whether a question hides what a step shows.
  hides(step) {
    return this.open().some((question) => question.step === step);
  }

  // ------------------------------------------------------------------------------------------------- shows

  // An act was laid out. While it has open questions, nothing in it tells more than the steps so far do.
  laid() {
    const { stage } = this.player;
    const { boxes, buttons } = this.player.panes;
    const open = this.open().length > 0;
    if (this.answered?.act !== this.player.act) this.answered = null;
    buttons.copy.hidden = open;
    if (!open) return;
    untold(stage);
    boxes.lay({});
  }

  // A step is about to be painted: the row that was hidden is as it was.
  leaving() {
    this.hidden?.row.replaceChildren(...this.hidden.children);
    this.hidden = null;
    this.unmark();
  }

  // A question about the whole picture sees the last forward step, which it hides from the caption.
  painted() {
    const { player, covers, answered } = this;
    const blank = covers || (answered?.cover && answered.step === player.step);
    if (covers) player.stage.paint(player.step);
    cover(player, covers, blank && this.open().some(({ kind }) => kind === "shape"));
  }

  arranged() {
    this.painted();
  }

  // A step was painted: ask, if there is something to ask.
  shown(step) {
    const { player } = this;
    if (this.answered?.step !== step) this.answered = null;
    const question = this.answered ?? this.open().find((one) => one.step === step);
    const changed = question !== this.question;
    const turned = Boolean(question) === this.element.hidden;
    this.question = question;
    this.element.hidden = !question;
    player.panes.caption.element.hidden = Boolean(question);
    if (turned) player.chart();
    for (const { first, last, element } of player.panes.track.chapters.flatMap(({ segments }) => segments)) {
      element.classList.toggle("ask", this.open().some((one) => first <= one.step && one.step <= last));
    }
    const forward = this.open().some((one) => one.kind === "shape" && player.frames[one.step - 1]?.phase === "forward");
    player.panes.root.classList.toggle("mgp-sizeless", forward); // shapes beside the arrows would answer it
    if (!question) return;
    if (!question.solved) this.hide(question);
    if (changed) this.ask();
  }

  ask() {
    const { question, words, player } = this;
    this.input.value = "";
    const count = words.quiz_count.replace("{i}", this.questions.indexOf(question) + 1).replace("{n}", this.questions.length);
    this.prompt.replaceChildren(make("b", { textContent: words.quiz_predict }), ` · ${count} · `, ...marked(question.prompt));
    this.faces();
    this.say("", "");
    const { root } = player.panes;
    const page = /** @type {Document | ShadowRoot} */ (root.getRootNode());
    if (root.contains(page.activeElement)) (question.solved ? this.next : this.input).focus({ preventScroll: true });
  }

  // What the row says and which buttons it has.
  faces() {
    const { question, words } = this;
    const part = question.at === null ? null : this.part;
    this.name.textContent = part ? part.label : question.label;
    this.back.textContent = words.quiz_back.replace("{x}", () => question.subject);
    this.back.hidden = !part || question.solved;
    for (const one of [this.label, this.go, this.help, this.tell]) one.hidden = question.solved;
    this.next.hidden = !question.solved;
    this.tries.textContent = question.tries ? words.quiz_attempt.replace("{i}", question.tries) : "";
  }

  // A question mark stands where the answer will; the part that will change is marked.
  hide(question) {
    const { stage, frames } = this.player;
    for (const id of question.kind === "grad" ? frames[question.step - 1].marks : []) {
      if (!/-d$/.test(id)) continue; // the node that is about to run
      for (const part of stage.svg.querySelectorAll(".active")) part.classList.remove("active");
      stage.parts.get(id)?.classList.add("active");
      stage.parts.get(id)?.classList.remove("later");
    }
    const row = stage.parts.get(question.row);
    if (!row || this.hidden) return;
    this.hidden = { row, children: [...row.children] };
    const key = row.querySelector(".key");
    const y = Number(key?.getAttribute("y") ?? 0) - 12.5;
    const { x, width, height } = PILL;
    const sign = drawn("g", { class: "mgp-unknown" }, drawn("rect", { x, y, width, height, rx: height / 2 }), drawn("text", { x: x + width / 2, y: y + 12.5 }, "?"));
    row.replaceChildren(...(key ? [key] : []), sign);
  }

  // ------------------------------------------------------------------------------------------------ answers

  get part() {
    return this.question.parts[this.question.at];
  }

  typed(event) {
    if (event.key === "Enter") this.check();
    else if (event.key === "Escape") this.player.panes.view.focus({ preventScroll: true });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  check() {
    const { question } = this;
    const typed = this.input.value;
    if (!typed.trim()) return this.say("hint", question.unread[1]);
    this.unmark();
    if (question.at !== null) return this.step(typed);
    const { right, unread, wrong } = judge(question, typed);
    const next = question.parts.length ? "quiz_step_ask" : "quiz_no_fit";
    this.note(right, right ? ["quiz_right"] : unread ? [question.unread[0]] : wrong.length ? wrong.map(({ key }) => key) : [next]);
    if (right) return this.solve(question.right);
    if (unread) return this.say("hint", question.unread[1]);
    question.tries++;
    if (wrong.length) this.explain(wrong);
    else if (question.parts.length) Object.assign(question, { at: 0 }), (this.input.value = ""), this.say("no", question.parts[0].ask);
    else this.say("no", question.none);
    this.faces();
    this.input.focus({ preventScroll: true });
  }

  // The hint of the first misconception that gives an answer, and what it forgets, in the picture. Of names several
  // can be wrong, so two hints hold at once.
  explain(wrong) {
    const { words, question } = this;
    const [first, second] = wrong.map(({ hint }) => hint);
    const both = question.kind === "leaves" && second;
    this.say("no", both ? words.quiz_both.replace("{first}", () => first.replace(/\.$/, "")).replace("{second}", () => second) : first);
    this.input.setAttribute("aria-invalid", "true");
    const { taken, missing } = wrong[0];
    this.mark(taken, "mgp-taken", taken.length && missing.length ? words.quiz_taken : "");
    this.mark(missing, "mgp-missing", taken.length && missing.length ? words.quiz_missing : "");
  }

  // One gradient on the way: the first that is wrong is named.
  step(typed) {
    const { question, part, words } = this;
    let given;
    try {
      given = read(typed);
    } catch {
      return this.say("hint", question.unread[1]);
    }
    if (!equal(given, part.truth, typed)) {
      this.note(false, ["quiz_step_wrong"]);
      this.say("no", part.wrong);
      this.mark([part.route], "mgp-missing", "");
    } else if (question.at + 1 < question.parts.length) {
      question.at++;
      this.say("yes", `${words.quiz_so_far} ${words.quiz_asks.replace("{x}", () => this.part.label)}`);
    } else this.whole(), this.say("yes", words.quiz_step_sum.replace("{x}", () => question.subject));
    this.input.value = "";
    this.faces();
    this.input.focus({ preventScroll: true });
  }

  // Back from the steps to the question itself.
  whole() {
    this.question.at = null;
    this.input.value = "";
    this.say("", "");
    this.unmark();
    this.faces();
    this.input.focus({ preventScroll: true });
  }

  solve(told) {
    const { question } = this;
    question.solved = true;
    this.answered = question;
    if (!this.open().length) this.again();
    else this.redraw();
    this.faces();
    this.say("yes", told);
    this.next.focus({ preventScroll: true });
  }

  // On: to the caption of the step that was asked about; of the whole picture, to its first step.
  leave() {
    this.answered = null;
    this.player.panes.view.focus({ preventScroll: true });
    if (this.question.cover) this.player.go(1);
    this.redraw();
  }

  say(kind, text) {
    this.said.className = `mgp-feedback ${kind}`;
    this.said.replaceChildren(...marked(text));
    this.said.title = text;
    this.input.removeAttribute("aria-invalid");
  }

  // --------------------------------------------------------------------------------------------- in the picture

  mark(routes, kind, label) {
    const { stage } = this.player;
    const parts = routes.flatMap((route) => [`${route}-g`, `${route}-p`, `${route}-s`].map((id) => stage.parts.get(id))).filter(Boolean);
    for (const part of parts) part.classList.add(kind);
    if (!label || !parts.length) return;
    const boxes = parts.map((part) => stage.box(part));
    const [left, right] = [Math.min(...boxes.map(({ x }) => x)), Math.max(...boxes.map(({ x, width }) => x + width))];
    const [top, bottom] = [Math.min(...boxes.map(({ y }) => y)), Math.max(...boxes.map(({ y, height }) => y + height))];
    const { y, height } = stage.svg.viewBox.baseVal;
    const above = (top + bottom) / 2 < y + height / 2;
    stage.svg.append(drawn("text", { class: "mgp-path", x: (left + right) / 2, y: above ? y + 14 : y + height - 6 }, label));
  }

  unmark() {
    const { svg } = this.player.stage;
    for (const kind of ["mgp-taken", "mgp-missing"]) for (const part of svg.querySelectorAll(`.${kind}`)) part.classList.remove(kind);
    for (const label of svg.querySelectorAll(".mgp-path")) label.remove();
  }
}

extras.push(async (player) => player.score.quiz && new Quiz(player, await inflated(player.score.quiz)));
