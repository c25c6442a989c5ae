// State x token as a table: a filled cell is legal and names the state after it.

function buildTable(act) {
  const ui = { shown: "" };
  ui.about = make("span", { class: "gv-soft" });
  ui.search = make("input", { type: "search", class: "gv-find", placeholder: "only these tokens", "aria-label": "only these tokens" });
  let typing = 0;
  ui.search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => act.find(ui.search.value), 300);
  });
  const head = make("div", { class: "gv-about" }, make("strong", {}, "state × token"), ui.about);
  ui.table = make("table", { class: "gv-table", tabindex: 0 });
  ui.legend = make("span", { class: "gv-soft" });
  ui.card = make("p", { class: "gv-map-card", "aria-live": "polite" });
  ui.note = make("p", { class: "gv-note", role: "alert", hidden: true });
  const attributes = { class: "gv gv-stage gv-chart", role: "group", "aria-label": "token table", "data-lm-suppress-shortcuts": "true" };
  ui.root = make("div", attributes, make("header", {}, head, ui.search), ui.note, make("div", { class: "gv-table-box" }, ui.table), ui.legend, ui.card);
  ui.table.addEventListener("click", (event) => at(ui, act, event.target.closest("td[data-column]")));
  ui.table.addEventListener("keydown", (event) => walkTable(ui, act, event));
  return ui;
}

function at(ui, act, cell) {
  if (!cell) return;
  ui.table.querySelector(".gv-now")?.classList.remove("gv-now");
  cell.classList.add("gv-now");
  act.why(Number(cell.parentNode.dataset.row), Number(cell.dataset.column));
}

const WAYS_IN_TABLE = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

function walkTable(ui, act, event) {
  const way = WAYS_IN_TABLE[event.key];
  if (!way) return;
  const now = ui.table.querySelector(".gv-now");
  const [row, column] = now ? [Number(now.parentNode.dataset.row) + way[0], Number(now.dataset.column) + way[1]] : [0, 0];
  const cell = ui.table.querySelector(`tr[data-row="${row}"] td[data-column="${column}"]`);
  at(ui, act, cell);
  cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
  event.preventDefault();
  event.stopPropagation();
}

function tableCell([part, lead], column, state, name) {
  const after = lead >= 0 ? `q${lead}` : "";
  const words = part ? (after ? `legal, leads to ${after}` : `${share(part)} legal`) : "illegal";
  const node = make("td", { "data-column": column, class: part ? "gv-filled" : "", title: `${state}, ${name}: ${words}`, "aria-label": words }, part ? after : "");
  if (part) node.style.setProperty("--part", part);
  return node;
}

function tableRow([state, accepting, legal, cells], row, names) {
  const head = make("th", { scope: "row" }, accepting ? make("span", { title: "the text may end here" }, "◎ ") : "", state);
  const body = cells.map((cell, column) => tableCell(cell, column, state, names[column]));
  return make("tr", { "data-row": row }, head, ...body, make("td", { class: "gv-soft" }, commas(legal)));
}

function paintTable(ui, news) {
  setText(ui.about, news.about);
  setText(ui.legend, news.legend);
  ui.search.title = news.ways;
  setText(ui.card, news.why || "Press a cell to hear why; arrows go from cell to cell.");
  paintNote(ui, news.note);
  const shown = JSON.stringify([news.names, news.rows]);
  if (ui.shown === shown) return;
  ui.shown = shown;
  const names = news.names.map((name) => {
    const words = make("span", { class: "gv-name" });
    spell(words, name);
    return make("th", { scope: "col", title: name }, words);
  });
  const head = make("tr", {}, make("td"), ...names, make("th", { scope: "col", class: "gv-soft" }, "legal"));
  ui.table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...news.rows.map((row, place) => tableRow(row, place, news.names))));
}

function showTable(model, el) {
  let wire = null;
  const act = { find: (text) => wire.say({ do: "find", text }), why: (row, column) => wire.say({ do: "why", row, column }) };
  const ui = buildTable(act);
  el.append(ui.root);
  const onNews = (all) => paintTable(ui, all.at(-1));
  const saved = model.get("saved");
  if (saved?.rows) onNews([saved]);
  wire = connect(model, { onNews, onSilence: () => paintNote(ui, SILENCE) });
  return wire.stop;
}
