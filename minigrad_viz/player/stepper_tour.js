// Which step of which act is shown, and the ways from one to another: all acts are one timeline.

import { clamp } from "./stepper_parts.js";

export class Tour {
  /** @type {import("./stepper_types.js").Model} */ model;
  /** @type {import("./stepper_types.js").Score} */ score;
  /** @type {number} the act that is shown, and the step in it */ act;
  /** @type {number | undefined} */ step;
  /** @type {import("./stepper_types.js").Content} the act as it was laid out */ content;
  /** @type {import("./stepper_types.js").Frame[]} its steps, with live values as they are now */ frames;
  /** @type {import("./stepper_parts.js").Extra[]} what a cell uses besides */ extras;
  before = 0; // steps in the acts before it
  all = 0; // steps of all acts
  rests = true; // whether nobody has moved yet
  /** @type {number | undefined} the step at which the act that is asked for begins */ enter;

  /** @param {import("./stepper_types.js").Model} model */
  constructor(model) {
    this.model = model;
    this.score = model.get("_score");
  }

  // The act that may be shown, for one that is wanted.
  /** @param {number} act */
  allowed(act) {
    return act;
  }

  /** @param {Record<string, any>} values */
  set(values) {
    for (const [name, value] of Object.entries(values)) this.model.set(name, value);
    this.model.save_changes();
  }

  /** @param {number} step */
  go(step) {
    this.set({ step: clamp(step, 0, this.frames.length) });
  }

  // To step `enter` of act `act` (Infinity: its last).
  /** @param {number} act @param {number} enter @param {boolean} [playing] */
  cross(act, enter, playing = false) {
    const to = this.allowed(clamp(act, 0, this.score.acts.length - 1));
    if (to === this.act && playing) return this.set({ step: enter, playing });
    if (to === this.act) return this.go(to === act ? enter : act < 0 ? 0 : Infinity);
    this.enter = enter;
    this.set({ act: to, step: 0, playing });
  }

  // To another act: of a loop to the same step of another round.
  visit(act) {
    this.cross(act, this.score.loop ? this.step : 0);
  }

  // Before any step the picture of the last act is shown; the steps begin with the first act all the same.
  resting() {
    return this.rests && !this.step;
  }

  // One step further or back, also past the end of an act.
  walk(by) {
    const step = this.step + by;
    const inner = this.extras.find((extra) => extra.ahead(by));
    if (inner) inner.walk(by);
    else if (this.resting()) by > 0 && this.cross(0, 1);
    else if (step < 1 && this.act) this.cross(this.act - 1, Infinity);
    else if (step > this.frames.length) this.cross(this.act + 1, 1);
    else this.go(step);
  }

  // Whether the act says what the one before says with other numbers, and is not the last.
  repeats() {
    const { acts } = this.score;
    return this.act < acts.length - 1 && acts[this.act].again === true;
  }

  // Whether the last step of all is shown.
  ended() {
    return !this.extras.some((extra) => extra.ahead(1)) && this.step === this.frames.length && this.act === this.score.acts.length - 1;
  }
}
