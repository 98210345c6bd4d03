// What keys do while the player has them; all others, and those with Ctrl or Meta, stay with the page.

const MOVES = { arrowleft: "previous", arrowright: "next", home: "first", end: "last", " ": "play", q: "queue", s: "source", "?": "legend", f: "full" };
const WALKS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

// Pages whose arrow keys have another meaning: notebooks with a kernel, and slides.
const OWNERS = "#jupyter-config-data, [data-vscode-theme-kind], .reveal, marimo-app, marimo-island";
const FIELDS = "input, select, textarea, [contenteditable], [role=slider], video, audio, .mgp";
const SEEN = 40; // pixels of a player from which on it is in view

// Who has the keys. On a page without a notebook ← and → step the player in view. In a notebook the keys are the
// notebook's: a click anywhere in a player gives them to it, and Esc gives them back.
export class Keys {
  constructor(player) {
    const { model } = player;
    const { root } = player.panes;
    this.player = player;
    this.free = !model.send && !globalThis.google?.colab && !document.querySelector(OWNERS);
    this.held = this.free;
    root.onkeydown = (event) => pressed(player, event);
    root.onclick = () => this.inside() || player.panes.view.focus({ preventScroll: true });
    root.addEventListener("focusin", () => this.hold(true));
    root.addEventListener("focusout", ({ relatedTarget }) => this.hold(root.contains(relatedTarget)));
    this.listener = (event) => this.arrow(event);
    if (this.free) document.addEventListener("keydown", this.listener);
  }

  end() {
    document.removeEventListener("keydown", this.listener);
  }

  inside() {
    const { root } = this.player.panes;
    return root.contains(root.getRootNode().activeElement);
  }

  // The invitation to play says what the keys do now.
  hold(focused) {
    const held = this.free || focused;
    if (held === this.held) return;
    this.held = held;
    if (this.player.stage && !this.player.step) this.player.tell();
  }

  // The focus goes to what holds the player: the cell of a notebook.
  release() {
    const { root } = this.player.panes;
    root.getRootNode().activeElement.blur();
    root.parentElement?.closest("[tabindex]")?.focus({ preventScroll: true });
  }

  // A key that nothing on the page has the focus for: it is meant for the player of which most is in view.
  arrow(event) {
    const { target, key, defaultPrevented } = event;
    if (defaultPrevented || event.altKey || (key !== "ArrowLeft" && key !== "ArrowRight") || target.closest?.(FIELDS)) return;
    const seen = (root) => {
      const { top, bottom } = root.getBoundingClientRect();
      return Math.min(bottom, innerHeight) - Math.max(top, 0);
    };
    const players = [...document.querySelectorAll(".mgp")];
    const most = Math.max(...players.map(seen));
    if (most >= SEEN && players.find((root) => seen(root) === most) === this.player.panes.root) pressed(this.player, event);
  }
}

export function pressed(player, event) {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || target.tagName === "SELECT" || target.matches("input:not([type=range])")) return;
  const station = target.closest("g.station");
  const stage = player.stages().find(({ view }) => view.contains(target)) ?? player.stage;
  const box = station && stage.id(station);
  const { open } = player.panes;
  if (event.altKey) {
    if (!(key in WALKS) || !stage.view.contains(target)) return;
    stage.rove(station, WALKS[key]);
  } else if (key === "Escape" && open) player.toggle(open, false);
  else if (key === "Escape" && player.picked) player.pick(null);
  else if (key === "Escape" && player.panes.boxes.open.size) player.panes.boxes.turn([...player.panes.boxes.open.keys()].pop());
  else if ((key === "+" || key === "-") && player.panes.boxes.panels.has(box) && player.panes.boxes.open.has(box) === (key === "-")) player.panes.boxes.turn(box);
  else if (station && (key === "Enter" || key === " ")) player.pick(box, stage);
  else if (station && (key === "ArrowUp" || key === "ArrowDown")) stage.rove(station, WALKS[key]);
  else if ((key === "ArrowUp" || key === "ArrowDown") && stage.view.contains(target) && stage.scroll(WALKS[key])) {}
  else if (key === "Escape" && player.keys.inside()) player.keys.release();
  else if (player.extras.some((extra) => extra.key(key))) {}
  else if (event.shiftKey && (key === "ArrowLeft" || key === "ArrowRight")) player.chapter(WALKS[key]);
  else if (key.toLowerCase() in MOVES && !(key === " " && target.tagName === "BUTTON")) player.press(MOVES[key.toLowerCase()]);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
