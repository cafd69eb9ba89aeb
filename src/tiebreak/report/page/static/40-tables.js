/* Tables that sort by any column and filter by words and by the values of a column. */
(() => {
  "use strict";
  const tb = window.tiebreak;
  const { el } = tb;
  const FEWEST_TO_FILTER = 8;
  const MOST_CHOICES = 12;
  // So many are laid out in a tenth of a second.
  const MOST_ROWS = 1000;
  const collator = new Intl.Collator("en", { numeric: true });

  /** All rows, those of every body. */
  const rowsOf = (table) => [...table.tBodies].flatMap((body) => [...body.rows]);

  /** Undefined cells come last in either direction; equal ones stay in their order. */
  function sort(body, column, direction) {
    const keyed = [...body.rows].map((row) => ({
      row,
      key: row.cells[column].dataset.sort ?? null,
    }));
    const defined = keyed.filter((one) => one.key !== null);
    const numeric = defined.every(({ key }) => key.trim() !== "" && !Number.isNaN(Number(key)));
    if (numeric) for (const one of defined) one.key = Number(one.key);
    keyed.sort((one, other) => {
      if (one.key === null || other.key === null) return (one.key === null) - (other.key === null);
      const order = numeric ? one.key - other.key : collator.compare(one.key, other.key);
      return direction === "ascending" ? order : -order;
    });
    // Thousands of rows move at once, not each of them in sight.
    const { parentNode, nextSibling } = body;
    body.remove();
    body.append(...keyed.map(({ row }) => row));
    parentNode.insertBefore(body, nextSibling);
  }

  /** Show the rows of a long table bit by bit. Call what this returns when other rows fit a filter,
   * or stand in another order. */
  function shorten(table) {
    if (rowsOf(table).length <= MOST_ROWS) return () => {};
    let most = MOST_ROWS;
    const more = el("button", { type: "button", class: "more" });
    const draw = () => {
      const fitting = rowsOf(table).filter((row) => !row.hidden);
      fitting.forEach((row, at) => row.classList.toggle("later", at >= most));
      const left = fitting.length - most;
      more.hidden = left <= 0;
      more.textContent = `Show ${Math.min(left, MOST_ROWS).toLocaleString("en")} more`;
    };
    more.addEventListener("click", () => {
      most += MOST_ROWS;
      draw();
    });
    table.after(more);
    draw();
    return draw;
  }

  function makeSortable(table, moved) {
    // Rows stay in their body: a sum stays below what it is the sum of.
    const bodies = [...table.tBodies].filter((body) => body.rows.length > 1);
    if (!bodies.length) return;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = el("button", { type: "button", class: "sort" }, ...head.childNodes);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const upwards = head.getAttribute("aria-sort") === "ascending";
        const direction = upwards ? "descending" : "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", direction);
        for (const body of bodies) sort(body, column, direction);
        moved();
      });
    });
  }

  /** Columns of few different texts, such as benchmark or result: a reader chooses among them. */
  function choices(table) {
    return [...table.tHead.rows[0].cells].flatMap((head, column) => {
      if (head.classList.contains("num") || column === 0) return [];
      const values = new Set();
      for (const row of rowsOf(table)) {
        values.add(row.cells[column].textContent.trim());
        if (values.size > MOST_CHOICES) return [];
      }
      if (values.size < 2) return [];
      const sorted = [...values].sort(collator.compare);
      const select = el("select", {}, el("option", { value: "" }, "all"));
      sorted.forEach((value, at) => select.append(el("option", { value: at }, value || "(none)")));
      const wanted = () => (select.value === "" ? null : sorted[Number(select.value)]);
      return [{ title: head.textContent.trim(), column, select, wanted }];
    });
  }

  function makeFilterable(table, moved) {
    const rows = rowsOf(table);
    if (rows.length < FEWEST_TO_FILTER) return;
    const what = table.dataset.filterable || "rows";
    const search = el("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    const picks = choices(table);
    const result = el("output", { "aria-live": "polite" });
    let texts = null;
    const apply = () => {
      texts ??= rows.map((row) => row.textContent.toLowerCase());
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = picks
        .map((pick) => [pick.column, pick.wanted()])
        .filter(([, value]) => value !== null);
      let shown = 0;
      rows.forEach((row, at) => {
        const fits =
          words.every((word) => texts[at].includes(word)) &&
          wanted.every(([column, value]) => row.cells[column].textContent.trim() === value);
        row.hidden = !fits;
        shown += fits;
      });
      moved();
      const all = rows.length.toLocaleString("en");
      result.textContent = `${shown.toLocaleString("en")} of ${all} ${what}`;
    };
    search.addEventListener("input", apply);
    for (const pick of picks) pick.select.addEventListener("change", apply);
    const bar = el("div", { class: "bar filters" }, el("label", {}, "Filter ", search));
    for (const { title, select } of picks) bar.append(el("label", {}, `${title} `, select));
    bar.append(result);
    table.closest(".scroller").before(bar);
    apply();
  }

  tb.wireTables = () => {
    for (const table of document.querySelectorAll("main table")) {
      const moved = shorten(table);
      makeSortable(table, moved);
      if ("filterable" in table.dataset) makeFilterable(table, moved);
    }
  };
})();
