// State × token as a table: a filled cell is legal and names the state after it.

/** @import { Model } from "../types.js" */
import { sayShare } from "../map/map-data.js";
import { connect } from "../shared/connection.js";
import { buildNote, consume, paintNote, widgetRoot } from "../shared/controls.js";
import { make, nameState, setText, tokenName, withCommas } from "../shared/elements.js";

const PAUSE = 300; // milliseconds without a key that start the search
const HINT = "Press a cell to hear why; arrows go from cell to cell.";
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

/** @typedef {[part: number, next: number]} Cell the legal part of its tokens, and the state after them or -1 */
/** @typedef {[state: string, accepting: boolean, legal: number, cells: Cell[]]} TableRow */
/** @typedef {{ about: string, legend: string, ways: string, names: string[], rows: TableRow[], why: string, note: string }} TableNews */
/** @typedef {{ find: (text: string) => void, why: (row: number, column: number) => void }} TableActions */

/** @param {TableActions} act */
function buildTable(act) {
  const about = make("span", { class: "gv-soft" });
  const search = make("input", { type: "search", class: "gv-find", placeholder: "only these tokens", "aria-label": "only these tokens" });
  /** @type {any} */
  let typing = 0;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => act.find(search.value), PAUSE);
  });
  const head = make("header", { role: "none" }, make("div", { class: "gv-about" }, make("strong", { class: "gv-title" }, "state × token"), about), search);
  const table = make("table", { class: "gv-table", tabindex: 0 });
  table.addEventListener("click", (event) => choose(table, act, /** @type {Element} */ (event.target).closest("td[data-column]")));
  table.addEventListener("keydown", (event) => moveByKey(table, act, event));
  const note = buildNote();
  const legend = make("span", { class: "gv-soft" });
  const card = make("p", { class: "gv-map-card gv-table-why", "aria-live": "polite" });
  const root = widgetRoot("gv-chart gv-table-chart", "token table", {}, head, note, make("div", { class: "gv-table-box" }, table), legend, card);
  return { root, about, search, table, note, legend, card, shown: "" };
}

/**
 * Marks a cell and asks why it is legal or not.
 * @param {HTMLElement} table
 * @param {TableActions} act
 * @param {Element | null} cell
 */
function choose(table, act, cell) {
  if (!cell) return;
  table.querySelector(".gv-now")?.classList.remove("gv-now");
  cell.classList.add("gv-now");
  act.why(...addressOf(cell));
}

/**
 * @param {Element} cell
 * @returns {[row: number, column: number]}
 */
function addressOf(cell) {
  return [Number(cell.parentElement?.dataset.row), Number(/** @type {HTMLElement} */ (cell).dataset.column)];
}

/**
 * @param {HTMLElement} table
 * @param {TableActions} act
 * @param {KeyboardEvent} event
 */
function moveByKey(table, act, event) {
  const way = ARROWS[event.key];
  if (!way) return;
  const now = table.querySelector(".gv-now");
  const [row, column] = now ? addressOf(now) : [-way[0], -way[1]];
  const cell = table.querySelector(`tr[data-row="${row + way[0]}"] td[data-column="${column + way[1]}"]`);
  choose(table, act, cell);
  cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
  consume(event);
}

/**
 * @param {Cell} cell
 * @param {number} column
 * @param {string} state
 * @param {string} name
 */
function buildCell([part, next], column, state, name) {
  const after = next >= 0 ? nameState(next) : "";
  const words = part ? (after ? `legal, leads to ${after}` : `${sayShare(part)} legal`) : "illegal";
  const about = { "data-column": column, title: `${state}, ${name}: ${words}`, "aria-label": words };
  return part ? make("td", { ...about, class: "gv-filled", vars: { "--part": part } }, after) : make("td", { ...about, class: "" });
}

/**
 * @param {TableRow} row
 * @param {number} place
 * @param {string[]} names
 */
function buildRow([state, accepting, legal, cells], place, names) {
  const head = make("th", { scope: "row" }, accepting ? make("span", { title: "the text may end here" }, "◎ ") : "", state);
  const body = cells.map((cell, column) => buildCell(cell, column, state, names[column]));
  return make("tr", { "data-row": place }, head, ...body, make("td", { class: "gv-soft" }, withCommas(legal)));
}

/**
 * @param {ReturnType<typeof buildTable>} ui
 * @param {TableNews} news
 */
function paintTable(ui, { about, legend, ways, names, rows, why, note }) {
  setText(ui.about, about);
  setText(ui.legend, legend);
  ui.search.title = ways;
  setText(ui.card, why || HINT);
  paintNote(ui.note, note);
  const shown = JSON.stringify([names, rows]);
  if (ui.shown === shown) return;
  ui.shown = shown;
  const heads = names.map((name) => make("th", { scope: "col", title: name }, tokenName(name)));
  const head = make("tr", {}, make("td"), ...heads, make("th", { scope: "col", class: "gv-soft" }, "legal"));
  ui.table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows.map((row, place) => buildRow(row, place, names))));
}

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const { say, start, stop } = connect(model);
  const ui = buildTable({ find: (text) => say({ do: "find", text }), why: (row, column) => say({ do: "why", row, column }) });
  el.append(ui.root);
  start((all) => paintTable(ui, all.at(-1)), (words) => paintNote(ui.note, words));
  return stop;
}

export default { render };
