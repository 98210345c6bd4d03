// What keys do while the player has the focus; all others, and those with Ctrl or Meta, stay with the page.

const MOVES = { arrowleft: "previous", arrowright: "next", home: "first", end: "last", " ": "play", q: "queue", s: "source", "?": "legend", f: "full" };
const WALKS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

export function pressed(player, event) {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || target.tagName === "SELECT" || target.matches("input:not([type=range])")) return;
  const station = target.closest("g.station");
  const stage = player.stages().find(({ view }) => view.contains(target)) ?? player.stage;
  const box = station && stage.id(station);
  const open = player.copies.hidden ? (player.help.hidden ? null : "legend") : "copy";
  if (event.altKey) {
    if (!(key in WALKS) || !stage.view.contains(target)) return;
    stage.rove(station, WALKS[key]);
  } else if (key === "Escape" && open) player.toggle(open, false);
  else if (key === "Escape" && player.picked) player.pick(null);
  else if (key === "Escape" && player.boxes.open.size) player.boxes.turn([...player.boxes.open.keys()].pop());
  else if ((key === "+" || key === "-") && player.boxes.panels.has(box) && player.boxes.open.has(box) === (key === "-")) player.boxes.turn(box);
  else if (station && (key === "Enter" || key === " ")) player.pick(box, stage);
  else if (station && (key === "ArrowUp" || key === "ArrowDown")) stage.rove(station, WALKS[key]);
  else if (event.shiftKey && (key === "ArrowLeft" || key === "ArrowRight")) player.chapter(WALKS[key]);
  else if (key.toLowerCase() in MOVES && !(key === " " && target.tagName === "BUTTON")) player.press(MOVES[key.toLowerCase()]);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
