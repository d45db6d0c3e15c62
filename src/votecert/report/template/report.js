"use strict";
(() => {
  const dark = document.getElementById("dark");
  const toggle = document.getElementById("theme");
  const remembered = "votecert-theme";
  let isDark = false;
  const show = (on) => {
    isDark = on;
    dark.media = on ? "screen" : "not all";
    toggle.textContent = `Switch to ${on ? "light" : "dark"}`;
  };
  let saved = null;
  try { saved = localStorage.getItem(remembered); } catch { /* a browser may forbid storage to local files */ }
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  show(saved === null ? preferred.matches : saved === "dark");
  preferred.addEventListener("change", (event) => { if (saved === null) show(event.matches); });
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    show(!isDark);
    saved = isDark ? "dark" : "light";
    try { localStorage.setItem(remembered, saved); } catch { /* then it holds until the page is closed */ }
  });

  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const sort = (table, head) => {
    const numeric = head.dataset.sort === "number";
    const before = head.getAttribute("aria-sort");
    const order = before ? (before === "ascending" ? "descending" : "ascending") : (numeric ? "descending" : "ascending");
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const compare = numeric ? (a, b) => a - b : (a, b) => a.localeCompare(b, undefined, { numeric: true });
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => sign * compare(key(a, head.cellIndex), key(b, head.cellIndex)));
    body.append(...rows);
  };
  const shown = 25;
  for (const table of document.querySelectorAll("table.voters")) {
    const all = table.tBodies[0].rows.length;
    if (all <= 1.6 * shown) continue; // not worth a click
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    more.setAttribute("aria-controls", table.id);
    const fold = (short) => {
      table.classList.toggle("short", short);
      more.setAttribute("aria-expanded", String(!short));
      more.textContent = short ? `Show all ${all}` : `Show ${shown} only`;
    };
    fold(true);
    more.addEventListener("click", () => fold(!table.classList.contains("short")));
    const elsewhere = document.createElement("p");
    elsewhere.className = "rest-elsewhere";
    elsewhere.textContent = `These are ${shown} of ${all}; all are in the certificate's JSON.`;
    table.after(more, elsewhere);
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const head of table.querySelectorAll("th[data-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = head.textContent;
      // On paper the plain text stands in: browsers do not repeat a head with buttons on every page.
      const plain = document.createElement("span");
      plain.className = "plain-head";
      plain.append(...head.childNodes);
      head.append(plain, button);
      button.addEventListener("click", () => sort(table, head));
    }
  }

  const slider = document.getElementById("point");
  if (slider) {
    const points = [...document.getElementById("points").tBodies[0].rows];
    const shown = document.querySelectorAll("#readout dd");
    const marks = document.querySelectorAll("#tradeoff .mark");
    const show = () => {
      const chosen = Number(slider.value);
      points.forEach((row, place) => row.classList.toggle("own", place === chosen));
      marks.forEach((mark, place) => mark.setAttribute("r", place === chosen ? 9 : 5));
      shown.forEach((cell, place) => { cell.textContent = points[chosen].cells[place].textContent; });
      document.getElementById("threshold").textContent = points[chosen].dataset.threshold;
      slider.setAttribute("aria-valuetext", `lead at least ${points[chosen].cells[0].textContent}`);
    };
    slider.addEventListener("input", show);
    marks.forEach((mark, place) => mark.addEventListener("click", () => { slider.value = place; show(); }));
    document.getElementById("slider").hidden = false;
    show();
  }
})();
