"use strict";
(() => {
  const specs = JSON.parse(document.getElementById("figures").textContent);
  const options = JSON.parse(document.getElementById("options").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawings = [...document.querySelectorAll(".drawing")];
  const NARROW = 680, PAPER = 680, PAGE = 900; // pixels; a page has room for so high a figure and its title
  let printing = false;

  const put = (tree, path, value) => {
    const names = path.split("."), last = names.pop();
    const branch = names.reduce((node, name) => (node[name] ??= {}), tree);
    branch[last] = value;
  };

  const draw = (div) => {
    const spec = structuredClone(specs[div.dataset.figure]), layout = spec.layout;
    const width = printing ? PAPER : div.clientWidth;
    const shade = printing || !dark.matches ? ["#14171c", "#dde1e7"] : ["#f2f4f8", "#3a404b"];
    Object.assign(layout, { width, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" });
    // Rows of a much higher figure would be too close to read: it goes on on the next page.
    let lower = printing && layout.height > PAGE && layout.height <= 1.6 * PAGE;
    const inTwoLines = layout.yaxis?.ticktext?.some((name) => name.includes("<br>"));
    if (lower && inTwoLines) { // of lower rows the second line would lie on the next name
      const short = Object.entries(spec.narrow).filter(([path]) => /^layout\.(yaxis\.tick|margin\.l$)/.test(path));
      for (const [path, value] of short) put(spec, path, value);
      lower = short.length > 0;
    }
    if (lower) layout.height = PAGE;
    put(layout, "font.color", shade[0]);
    for (const axis of ["xaxis", "yaxis"]) put(layout, axis + ".gridcolor", shade[1]);
    if (width < NARROW) for (const [path, value] of Object.entries(spec.narrow)) put(spec, path, value);
    Plotly.react(div, spec.data, layout, options);
  };

  const drawAll = () => drawings.forEach(draw);
  drawAll();
  dark.addEventListener("change", drawAll);
  let width = innerWidth, waiting;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 120);
  });
  // Drawn from nothing: a legend of the window's width would move in a second step, for which no printer waits.
  addEventListener("beforeprint", () => { printing = true; drawings.forEach(Plotly.purge); drawAll(); });
  addEventListener("afterprint", () => { printing = false; drawAll(); });

  for (const table of document.querySelectorAll("table.sortable")) {
    const rows = [...table.tBodies[0].rows], heads = [...table.tHead.rows[0].cells];
    const value = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent;
    heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const number = head.classList.contains("number");
      const compare = (a, b) => {
        const [x, y] = [value(a, at), value(b, at)];
        if (number && (x === "" || y === "")) return (x === "") - (y === "");
        return (down ? -1 : 1) * (number ? x - y : x.localeCompare(y));
      };
      table.tBodies[0].append(...[...rows].sort(compare));
    }));
    const filter = document.querySelector(`input[data-table="${table.id}"]`);
    filter?.addEventListener("input", () => {
      const words = filter.value.toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(words);
    });
  }
})();
