"use strict";
(() => {
  const slider = document.getElementById("point");
  const rows = [...document.getElementById("points").tBodies[0].rows];
  const shown = document.querySelectorAll("#readout dd");
  const marks = document.querySelectorAll("#tradeoff .mark");
  const show = () => {
    const chosen = Number(slider.value);
    rows.forEach((row, place) => row.classList.toggle("own", place === chosen));
    marks.forEach((mark, place) => mark.setAttribute("r", place === chosen ? 9 : 5));
    shown.forEach((cell, place) => { cell.textContent = rows[chosen].cells[place].textContent; });
    document.getElementById("threshold").textContent = rows[chosen].dataset.threshold;
    slider.setAttribute("aria-valuetext", `lead at least ${rows[chosen].cells[0].textContent}`);
  };
  slider.addEventListener("input", show);
  marks.forEach((mark, place) => mark.addEventListener("click", () => { slider.value = place; show(); }));
  document.getElementById("slider").hidden = false;
  show();
})();
