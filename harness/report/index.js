"use strict";
for (const section of document.querySelectorAll(".filterable")) {
  const body = section.querySelector("tbody");
  const rows = [...body.rows];
  const search = section.querySelector("input");
  const chips = [...section.querySelectorAll(".chip")];
  const count = section.querySelector("output");
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  const filter = () => {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const states = chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.state);
    let shown = 0;
    for (const row of rows) {
      const fits = wanted.every((word) => words.get(row).includes(word));
      row.hidden = !fits || (states.length > 0 && !states.includes(row.dataset.state));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} shown`;
  };
  search.addEventListener("input", filter);
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.ariaPressed = chip.ariaPressed === "true" ? "false" : "true";
      filter();
    });
  }

  const heads = [...section.querySelectorAll("th")];
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
  };
  const sort = (column, direction) => {
    const sign = direction === "ascending" ? 1 : -1;
    const numbers = rows.every((row) => value(row, column) !== "" && !Number.isNaN(Number(value(row, column))));
    rows.sort((one, other) => {
      const [a, b] = [value(one, column), value(other, column)];
      return sign * (numbers ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true }));
    });
    body.append(...rows);
    heads.forEach((head, number) => {
      if (number === column) head.ariaSort = direction;
      else head.removeAttribute("aria-sort");
    });
  };
  const sortable = heads.filter((head) => head.dataset.sort !== undefined);
  if (sortable.length) {
    const select = document.createElement("select");
    select.ariaLabel = "sort";
    select.add(new Option("sort by", ""));
    select.options[0].disabled = select.options[0].selected = true;
    for (const head of sortable) {
      const column = heads.indexOf(head);
      const name = head.textContent;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => sort(column, head.ariaSort === "ascending" ? "descending" : "ascending"));
      head.replaceChildren(button);
      for (const direction of ["ascending", "descending"]) {
        const option = new Option(`${name} ${direction === "ascending" ? "↑" : "↓"}`);
        option.sort = [column, direction];
        select.add(option);
      }
    }
    select.addEventListener("change", () => sort(...select.selectedOptions[0].sort));
    search.after(select);
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = document.body.appendChild(document.createElement("textarea"));
      field.value = text;
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    const label = button.textContent;
    button.textContent = "copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}
