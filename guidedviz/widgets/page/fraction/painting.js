// Paints the fraction slider. Between two places only the line moves; the text, its passes and its words change with the
// place.

/** @import { FractionText, FractionView, Parts } from "../types.js" */
/** @import { FractionUi } from "./layout.js" */
import { paintNote } from "../shared/controls.js";
import { make, setText, writeToken } from "../shared/elements.js";
import { sayCurves, sayPlace, sayRows, shownText } from "./cost-model.js";
import { sign } from "./layout.js";
import { drawModelCurve, moveHandle, paintLanes, paintPoints } from "./plot.js";

const REST_TO_TIME = "Drag the curve. Where you stop, live runs are timed.";
const RECORDED = "These runs are recorded: the dots are where they were timed.";

/**
 * @param {FractionUi} ui
 * @param {FractionView} view
 */
export function paintFraction(ui, view) {
  const { place, row, runs } = view;
  const { painted } = ui;
  const text = shownText(view);
  moveHandle(ui, view);
  drawModelCurve(ui, view);
  if (painted.row !== row || painted.runs !== runs) paintPoints(ui, view);
  if (painted.runs !== runs) reserveRoom(ui, view);
  if (painted.text !== text) paintParts(ui, text);
  paintLanes(ui, view, text);
  paintWords(ui, view, text);
  paintFate(ui, view, text);
  paintNote(ui.note, view.note);
  ui.painted = { runs, row, text };
  ui.root.dataset.place = String(place);
  ui.root.dataset.runs = String(runs.length);
}

/**
 * Keeps the room of the longest text.
 * @param {FractionUi} ui
 * @param {FractionView} view
 */
function reserveRoom({ room }, { texts, runs }) {
  /** @param {Parts} parts */
  const size = (parts) => parts.reduce((sum, [label]) => sum + label.length + 1, 0);
  const longest = [...texts, ...runs.map(({ parts }) => parts)].reduce((one, other) => (size(other) > size(one) ? other : one));
  room.replaceChildren(...longest.map(([label]) => make("span", { class: "gv-name" }, label)));
}

/**
 * @param {FractionUi} ui
 * @param {FractionText} text
 */
function paintParts({ text, kinds }, { parts }) {
  text.replaceChildren(...parts.map(([label, fixed]) => {
    const chip = make("span", { class: `gv-name gv-part-${fixed ? "fixed" : "free"}`, title: fixed ? "forced" : "free" });
    writeToken(chip, label);
    return chip;
  }));
  const free = parts.filter(([, fixed]) => !fixed).length;
  const counts = [make("span", {}, sign("fixed"), `${parts.length - free} forced`), make("span", {}, sign("free"), `${free} free: the model chooses`)];
  kinds.replaceChildren(...counts);
}

/**
 * @param {FractionUi} ui
 * @param {FractionView} view
 * @param {FractionText} text
 */
function paintWords(ui, view, text) {
  const says = sayCurves(view, text);
  setText(ui.says.ideal, says.ideal);
  setText(ui.says.model, says.model);
  setText(ui.says.measured, says.measured);
  const words = sayPlace(view, text);
  setText(ui.words, words);
  ui.share.setAttribute("aria-valuetext", words);
  const rows = view.rows[view.row];
  ui.rows.setAttribute("aria-valuetext", `${sayRows(rows)}; the cost model says ${says.model}`);
  setText(ui.count, String(rows));
}

/**
 * @param {FractionUi} ui
 * @param {FractionView} view
 * @param {FractionText} text
 */
function paintFate(ui, { timing, sweeping, head, runs, rows, row, place, places }, { naive, run }) {
  const done = runs.filter((one) => one.rows === rows[row] && one.place !== place).length;
  const what = `timing ${sweeping ? `${done + 1} of ${places.length}: ` : ""}${naive} tokens both ways …`;
  setText(ui.fate, timing ? what : run ? run.told : head.live ? REST_TO_TIME : RECORDED);
  ui.root.dataset.timing = String(timing);
  ui.all.hidden = !head.live;
  setText(ui.all, sweeping ? "stop here" : "time every place");
}
