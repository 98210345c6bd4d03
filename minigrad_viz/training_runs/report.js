for (const report of document.querySelectorAll("main.doctor:not([data-on])")) {
  report.dataset.on = "";

  // The table of parameters: a click on a head sorts by its column, a second one the other way.
  for (const table of report.querySelectorAll(".dr-table table")) {
    table.querySelectorAll("th button").forEach((button, column) => {
      let sign = column ? -1 : 1;
      button.onclick = () => {
        const value = (row) => {
          const cell = row.cells[column];
          return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
        };
        const rows = [...table.tBodies[0].rows].sort((a, b) => {
          const [x, y] = [value(a), value(b)];
          if (typeof x === "string") return sign * x.localeCompare(y);
          return Number.isNaN(x) - Number.isNaN(y) || sign * (x - y) || 0;
        });
        table.tBodies[0].append(...rows);
        sign = -sign;
      };
    });
  }

  // A module in a picture of the run: a click, Enter or Space opens it in the step that was recorded whole.
  const opens = (event) => {
    const module = event.target.closest("[data-module]")?.dataset.module;
    if (!module || (event.key && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    const detail = { detail: module };
    report.querySelector(".dr-recorded .mgp")?.dispatchEvent(new CustomEvent("module", detail));
  };
  report.addEventListener("click", opens);
  report.addEventListener("keydown", opens);
}
