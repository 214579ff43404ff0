"use strict";
// The cells of a grid: a pointer or an arrow key shows one in words, a click or Enter leads to its runs.
const COUNTED = ["passed", "failed", "infrastructure", "inconclusive", "passed on retry"];
for (const section of document.querySelectorAll(".gridded")) {
  const heads = [...section.querySelectorAll("th")];
  const said = section.querySelector(".said");
  const rest = said.textContent;
  const isCell = (element) => element instanceof HTMLTableCellElement && element.dataset.c !== undefined;
  const numbers = (cell) => cell.dataset.c.split(" ").map(Number);
  const say = (cell) => {
    const parts = numbers(cell).flatMap((count, at) => (count ? [`${count} ${COUNTED[at]}`] : []));
    said.textContent = `${cell.parentNode.querySelector("a").textContent} on ${heads[cell.cellIndex].title}: ${parts.join(", ")}`;
  };
  const open = (cell) => {
    const [, failed] = numbers(cell);
    const page = cell.parentNode.querySelector("a").href;
    location.href = failed ? `${page}#runs?q=${encodeURIComponent(heads[cell.cellIndex].dataset.q)}` : page;
  };
  const stop = (cell) => (isCell(cell) ? cell : cell.querySelector("a"));
  const move = (from, key) => {
    const isAcross = key === "ArrowRight" || key === "ArrowLeft";
    const to = key === "ArrowRight" || key === "ArrowDown" ? "nextElementSibling" : "previousElementSibling";
    if (isAcross) {
      for (let cell = from[to]; cell; cell = cell[to]) if (stop(cell)) return stop(cell);
    } else {
      for (let row = from.parentNode[to]; row; row = row[to]) if (!row.hidden && isCell(row.cells[from.cellIndex])) return row.cells[from.cellIndex];
    }
    return null;
  };
  section.addEventListener("pointerover", ({ target }) => { if (isCell(target)) say(target); });
  section.addEventListener("pointerleave", () => { said.textContent = rest; });
  section.addEventListener("click", ({ target }) => { if (isCell(target)) open(target); });
  section.addEventListener("keydown", (event) => {
    const from = event.target.closest("td");
    if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && isCell(from)) open(from);
    // Up and down from a link are those of every table.
    else if (/^Arrow(Left|Right)$/.test(event.key) || (isCell(from) && /^Arrow(Up|Down)$/.test(event.key))) {
      event.preventDefault();
      event.stopPropagation();
      const next = move(from, event.key);
      if (!next) return;
      if (isCell(next)) {
        next.tabIndex = -1;
        say(next);
      }
      next.focus();
    }
  });
}
