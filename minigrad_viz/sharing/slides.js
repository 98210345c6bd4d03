// Turns the slides of a page: one is shown, and the address says which.
const slides = [...document.querySelectorAll("section")];
const turns = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
const asked = () => Number(new URLSearchParams(location.hash.slice(1)).get("step")) || 1;
const show = () => slides.forEach((slide, i) => slide.classList.toggle("shown", i + 1 === asked()));
const turn = (by) => {
  const step = asked() + by;
  if (slides[step - 1]) location.replace(`#step=${step}`);
};
addEventListener("hashchange", show);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !turns[event.key]) return;
  event.preventDefault();
  turn(turns[event.key]);
});
addEventListener("click", (event) => turn(event.clientX < innerWidth / 3 ? -1 : 1));
show();
