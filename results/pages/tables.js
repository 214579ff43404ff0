"use strict";
// The filter and the order of each table are in the address: `#runs?q=cut&state=violation&sort=-2` is a link to them.
const typing = (element) => element.matches("input, select, textarea");
const links = (body) => [...body.rows].filter((row) => !row.hidden).map((row) => row.querySelector("a[href]")).filter(Boolean);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const section = document.activeElement.closest(".filterable");
  if (event.key === "/" && !typing(document.activeElement)) {
    const near = section || [...document.querySelectorAll(".filterable")].find((each) => each.getBoundingClientRect().bottom > 80);
    if (near) {
      event.preventDefault();
      near.querySelector("input").focus();
    }
  } else if (section && (event.key === "ArrowDown" || event.key === "ArrowUp") && !document.activeElement.matches("select")) {
    const all = links(section.querySelector("tbody"));
    const at = all.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    event.preventDefault();
    (all[at] || section.querySelector("input")).focus();
  }
});

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
  let order = "";
  const remember = () => {
    const state = new URLSearchParams();
    if (search.value) state.set("q", search.value);
    for (const chip of chips) if (chip.ariaPressed === "true") state.append("state", chip.dataset.state);
    if (order) state.set("sort", order);
    if (section.id) history.replaceState(null, "", `#${section.id}${`${state}` && `?${state}`}`);
  };
  search.addEventListener("input", () => { filter(); remember(); });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && search.value) {
      search.value = "";
      filter();
      remember();
    }
  });
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.ariaPressed = chip.ariaPressed === "true" ? "false" : "true";
      filter();
      remember();
    });
  }

  const heads = [...section.querySelectorAll("th")];
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
  };
  const sort = (column, direction) => {
    order = `${direction === "ascending" ? "" : "-"}${column}`;
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
      button.addEventListener("click", () => {
        sort(column, head.ariaSort === "ascending" ? "descending" : "ascending");
        remember();
      });
      head.replaceChildren(button);
      for (const direction of ["ascending", "descending"]) {
        const option = new Option(`${name} ${direction === "ascending" ? "↑" : "↓"}`);
        option.sort = [column, direction];
        select.add(option);
      }
    }
    select.addEventListener("change", () => { sort(...select.selectedOptions[0].sort); remember(); });
    search.after(select);
  }

  const recall = () => {
    const [name, query] = location.hash.slice(1).split("?");
    if (!section.id || name !== section.id || query === undefined) return;
    const state = new URLSearchParams(query);
    search.value = state.get("q") || "";
    for (const chip of chips) chip.ariaPressed = state.getAll("state").includes(chip.dataset.state) ? "true" : "false";
    filter();
    const column = Math.abs(Number(state.get("sort")));
    if (state.get("sort") && heads[column]) sort(column, state.get("sort").startsWith("-") ? "descending" : "ascending");
    section.scrollIntoView();
  };
  addEventListener("hashchange", recall);
  recall();
}
