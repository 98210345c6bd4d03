// The training of a cell goes on: further rounds, another learning rate, and back, as a kernel computes them.

import { Extra, block, extras, make, quiet } from "./stepper_parts.js";
import { figure, plot, unchanged } from "./stepper_plot.js";
import { Kernel } from "./stepper_states.js";

const LANDSCAPE = 320; // pixels of the landscape beside the picture

class Coach extends Extra {
  constructor(player, { words, name, why, state }) {
    super();
    this.player = player;
    this.words = words;
    this.name = name;
    this.state = state;
    const act = (word, onclick) => quiet(make("button", { type: "button", textContent: word, onclick }));
    this.rate = quiet(make("input", { type: "number", step: "any", min: 0 }));
    this.back = quiet(make("select", { title: words.training_rewind, aria: { label: words.training_rewind }, onchange: () => this.ask({ rewind: Number(this.back.value) }) }));
    this.buttons = [act(words.training_more, () => this.go(1)), act(words.training_ten, () => this.go(10))];
    this.said = make("p", {});
    this.note = make("p", { className: "note", textContent: why, aria: { role: "status" } });
    this.table = make("table");
    const rate = make("label", {}, `${words.training_lr} `, this.rate);
    const back = make("label", {}, `${words.training_rewind} `, this.back);
    this.row = make("div", { className: "mgp-live-acts" }, ...this.buttons, rate, back);
    const told = block("mgp-live-told", block("mgp-live-head", make("h4", { textContent: words.training })), this.said, this.table, this.row, this.note);
    this.curve = block("mgp-live-curve");
    this.head = make("h4");
    this.leaf = quiet(make("select", { title: words.live_pick, aria: { label: words.live_pick }, onchange: () => this.ask({ leaf: this.leaf.value }) }));
    this.step = make("p", { className: "mgp-step" });
    this.slice = block("mgp-live-curve mgp-slice");
    this.aside = block("mgp-landscape", block("mgp-live-head", this.head, this.leaf), this.slice, this.step);
    this.beside = false; // whether the landscape stands beside the picture
    this.pane = make("div", { className: "mgp-livepane mgp-training", aria: { label: words.training, role: "region" } }, told, this.curve, this.aside);
    player.panes.boxes.element.before(this.pane);
    this.button = act(words.training, () => this.come());
    this.button.className = "mgp-live";
    player.panes.tools.prepend(this.button);
    if (state) this.kernel = new Kernel(player.model);
    this.tell();
  }

  go(more) {
    const lr = this.rate.valueAsNumber;
    this.ask({ more, ...(Number.isFinite(lr) && lr !== this.state.lr ? { lr } : {}) });
  }

  // Its buttons come into the window, and the first of them has the focus.
  come() {
    this.pane.scrollIntoView({ block: "nearest", behavior: "instant" });
    this.row.scrollIntoView({ block: "nearest", behavior: "instant" });
    this.buttons[0].focus({ preventScroll: true });
  }

  async ask(content) {
    for (const button of this.buttons) button.disabled = true;
    this.note.textContent = "";
    try {
      this.state = (await this.kernel.ask({ training: content })).training;
    } catch ({ message, told }) {
      this.state = told?.training ?? this.state;
      this.note.textContent = message || this.words.training;
    }
    for (const button of this.buttons) button.disabled = false;
    this.tell();
  }

  tell() {
    const { state, words, name } = this;
    this.row.hidden = this.curve.hidden = !state;
    if (!state) return;
    const fill = (text) => text.replace("{round}", state.round).replace("{name}", name).replace("{loss}", state.loss);
    this.said.textContent = fill(words.training_at);
    this.table.replaceChildren(...state.values.map(([leaf, value]) => make("tr", {}, make("td", { textContent: leaf }), make("td", { className: "n", textContent: value }))));
    this.rate.disabled = state.lr === null;
    if (document.activeElement !== this.rate) this.rate.value = state.lr ?? "";
    this.back.replaceChildren(...state.rounds.toReversed().map((value) => make("option", { value, textContent: value })));
    this.back.value = state.round;
    this.landscape(state.slice);
    const width = this.curve.clientWidth - 16;
    if (width < 100 || state.losses.length < 2) return;
    const value = (round) => state.losses.find(([i]) => i === round)?.[1];
    const [xs, ys] = [state.losses.map(([i]) => i), state.losses.map(([, loss]) => loss)];
    const said = { point: `${name} = ${figure(value(state.round))}`, slope: "" };
    const point = (round) => [round, value(round), NaN];
    const drawn = plot(width, { xs, ys, names: { root: name, leaf: words.training_known }, label: fill(words.training_curve), whole: true });
    drawn.move({ cell: point(state.cell), now: point(state.round), said });
    this.curve.replaceChildren(drawn.element);
  }

  // The loss against one number of a leaf: where the round is, with its slope, and where the next update leads.
  landscape(slice) {
    const { words, name, state } = this;
    this.aside.hidden = !slice;
    const width = this.slice.clientWidth - 16;
    if (!slice || width < 100) return;
    const { leaf, leaves, xs, ys, here, next } = slice;
    const fill = (text) => text.replace("{name}", name).replace("{leaf}", leaf);
    const label = fill(words.training_slice);
    const whole = leaf.replace(/\[[^[]*\]$/, ""); // of an element
    this.head.replaceChildren(label, unchanged(words, state.values.filter(([one]) => one !== whole)));
    this.leaf.replaceChildren(...leaves.map((value) => make("option", { value, textContent: value })));
    this.leaf.value = leaf;
    this.leaf.hidden = leaves.length < 2;
    const far = next[0] - here[0];
    const [before, after] = [here[1], next[1]].map(figure);
    const slope = words.live_slope.replace("{value}", figure(here[2])).replace("{name}.grad", leaf.replace(/(\[.*\])?$/, ".grad$1"));
    const moves = fill(words.training_step).replace("{far}", `${far < 0 ? "−" : "+"}${figure(Math.abs(far))}`).replace("{before}", before).replace("{after}", after);
    this.step.replaceChildren(...(slice.grad ? [make("b", { className: "g", textContent: slope }), ". "] : []), moves);
    const drawn = plot(width, { xs, ys, names: { root: name, leaf }, label });
    drawn.move({ cell: here, now: next, said: { point: `${leaf} = ${figure(next[0])}`, slope: "" } });
    this.slice.replaceChildren(drawn.element);
  }

  // The landscape stands beside the picture where there is room for both, else below it.
  arranged() {
    const { player } = this;
    const beside = Boolean(this.state?.slice) && !player.score.learning && player.panes.root.clientWidth - LANDSCAPE >= player.content.width;
    if (beside !== this.beside) {
      this.beside = beside;
      (beside ? player.panes.root.querySelector(".mgp-body") : this.pane).append(this.aside);
      player.wide = -1; // the picture has another width now
      return player.arrange();
    }
    this.pane.classList.toggle("stacked", this.pane.clientWidth < 640);
    this.tell();
  }
}

extras.push((player) => player.score.training && new Coach(player, player.score.training));
