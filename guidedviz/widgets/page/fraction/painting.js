// Paints the fraction slider. Between two places only the line moves; the text, its passes and its words change with the
// place.

/** @import { FractionText, FractionView, Parts } from "../types.js" */
/** @import { FractionUi } from "./layout.js" */
import { paintNote } from "../shared/controls.js";
import { make, setText, writeToken } from "../shared/elements.js";
import { sayCurves, sayPlace, sayRows, shownText } from "./cost-model.js";
import { sign } from "./layout.js";
import { drawModelCurve, moveHandle, paintLanes, paintPoints } from "./plot.js";

const REST_TO_TIME = "Drag the curve, or press a token to fix or free it. Where you stop, live runs are timed.";
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

/** @param {number} at */
const buildChip = (at) => make("button", { type: "button", tabindex: at ? -1 : 0 });

/**
 * The tokens stay the same elements when the text changes: one of them may be pressed or have the focus.
 * @param {FractionUi} ui
 * @param {FractionText} text
 */
function paintParts({ text, kinds }, { parts }) {
  while (text.children.length > parts.length) text.lastElementChild?.remove();
  parts.forEach(([label, fixed], at) => {
    const chip = /** @type {HTMLElement} */ (text.children[at]) ?? text.appendChild(buildChip(at));
    writeToken(chip, label);
    chip.className = `gv-name gv-part-${fixed ? "fixed" : "free"}`;
    chip.setAttribute("aria-pressed", String(fixed));
    chip.title = fixed ? "forced: press to free it" : "free: press to force it";
  });
  if (!text.querySelector("[tabindex='0']")) text.firstElementChild?.setAttribute("tabindex", "0");
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
function paintFate(ui, { timing, sweeping, head, edit, runs, rows, row, place, places }, { naive, run }) {
  const done = runs.filter((one) => one.rows === rows[row] && one.place !== place).length;
  const what = `timing ${sweeping ? `${done + 1} of ${places.length}: ` : ""}${naive} tokens both ways …`;
  setText(ui.fate, timing ? what : run ? run.told : head.live ? REST_TO_TIME : RECORDED);
  ui.root.dataset.timing = String(timing);
  ui.again.hidden = ui.sweep.hidden = !head.live;
  ui.again.disabled = timing;
  setText(ui.again, edit || run?.byHand ? "time the schema's text" : run ? "time again" : "time here");
  setText(ui.sweep, sweeping ? "stop here" : "time every place");
}
