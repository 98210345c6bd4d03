// A picture that does not fit its view is moved by dragging it. The wheel belongs to the page.

const SLACK = 4; // pixels that a pointer moves in a click

export function draggable(view) {
  let from = null;
  let moved = false;
  view.onpointerdown = (event) => {
    moved = false;
    if (event.button || event.defaultPrevented || !view.parentNode.dataset.cut) return; // a slider has prevented it
    from = [event.clientX + view.scrollLeft, event.clientY + view.scrollTop];
  };
  view.onpointermove = (event) => {
    if (!from) return;
    const [left, top] = [from[0] - event.clientX, from[1] - event.clientY];
    if (!moved && Math.hypot(left - view.scrollLeft, top - view.scrollTop) < SLACK) return;
    if (!moved) view.setPointerCapture(event.pointerId);
    moved = true;
    view.scrollTo({ left, top, behavior: "instant" });
  };
  view.onpointerup = view.onpointercancel = () => (from = null);
  // What was dragged was not clicked.
  view.addEventListener("click", (event) => moved && (event.stopPropagation(), (moved = false)), true);
}
