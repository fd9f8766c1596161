"use strict";
(() => {
  const NARROW = 520;
  const INK = "currentColor";
  const CONFIG = {
    background: "transparent",
    aria: false,
    font: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
    view: { stroke: "transparent" },
    text: { color: INK },
    axis: {
      labelColor: INK, titleColor: INK, titleFontWeight: "normal", labelFontSize: 12, titleFontSize: 12,
      gridColor: INK, gridOpacity: 0.12, domainColor: INK, domainOpacity: 0.4, tickColor: INK, tickOpacity: 0.4,
    },
    legend: { labelColor: INK, titleColor: INK, titleFontWeight: "normal", labelFontSize: 12 },
  };

  const fitted = (spec) => {
    if (window.innerWidth >= NARROW) return spec;
    const narrower = { columns: 2, gradientLength: 160 };
    return JSON.parse(JSON.stringify(spec), (key, value) =>
      key in narrower && typeof value === "number" ? narrower[key] : value);
  };

  const madeKnown = (name) => {
    const chart = document.getElementById(`chart-${name}`);
    const picture = chart.querySelector("svg.marks");
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-labelledby", `caption-${name}`);
    for (const part of picture.children) part.setAttribute("aria-hidden", "true");
    chart.querySelector("summary")?.setAttribute("aria-label", "Save this picture");
    const frame = chart.parentElement;
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
  };

  const draw = async () => {
    const specs = JSON.parse(document.getElementById("specs").textContent);
    const actions = window.innerWidth >= NARROW && { export: true, source: false, compiled: false, editor: false };
    const i18n = { CLICK_TO_VIEW_ACTIONS: "Save this picture" };
    const options = { renderer: "svg", actions, i18n, config: CONFIG, tooltip: { theme: "custom" } };
    await Promise.all(Object.entries(specs).map(async ([name, spec]) => {
      await vegaEmbed(`#chart-${name}`, fitted(spec), options);
      madeKnown(name);
    }));
    document.documentElement.dataset.charts = "drawn";
  };

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    if (!("key" in cell.dataset)) return cell.textContent;
    return cell.dataset.key === "" ? null : Number(cell.dataset.key);
  };

  const inOrder = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
  };

  const sortBy = (table, heading) => {
    const column = heading.cellIndex;
    const down = heading.getAttribute("aria-sort") === "ascending";
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, value: valueOf(row, column) }));
    rows.sort((a, b) => {
      const unknown = a.value === null || b.value === null;
      return down && !unknown ? inOrder(b.value, a.value) : inOrder(a.value, b.value);
    });
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.map(({ row }) => row));
  };

  const search = (box, input) => {
    const wanted = input.value.trim().toLowerCase();
    const rows = box.querySelector("table").tBodies[0].rows;
    let found = 0;
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      found += !row.hidden;
    }
    box.querySelector("output").textContent = wanted ? `${found} of ${rows.length}` : "";
  };

  const fold = (box, button) => {
    const few = button.textContent;
    const show = (all) => {
      box.classList.toggle("folded", !all);
      button.setAttribute("aria-expanded", all);
      button.textContent = all ? "Show fewer rows" : few;
    };
    show(false);
    button.addEventListener("click", () => show(box.classList.contains("folded")));
  };

  for (const box of document.querySelectorAll(".table")) {
    const table = box.querySelector("table");
    for (const heading of table.tHead.rows[0].cells) {
      heading.querySelector("button").addEventListener("click", () => sortBy(table, heading));
    }
    const input = box.querySelector("input");
    if (input) input.addEventListener("input", () => search(box, input));
    const more = box.querySelector(".more button");
    if (more) fold(box, more);
  }
  draw();
})();
