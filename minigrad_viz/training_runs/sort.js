// The table of parameters: a click on a head sorts by its column, a second one the other way.
for (const table of document.querySelectorAll(".dr-table table")) {
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
