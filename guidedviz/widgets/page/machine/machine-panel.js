// The machine's panel on the stage, with the stack as strips below the drawing. What fits is shown whole. Else a grammar shows
// one rule: the active one as a large row, and all rules as chips below.

/** @import { Frame, StageView, Way } from "../types.js" */
import { make, nameState, setText } from "../shared/elements.js";
import { fill } from "../shared/parts.js";
import { stepPassed } from "../stage/view.js";
/** @import { Camera } from "./camera.js" */
import { LESS } from "./camera.js";
import { buildDrawing, scalesOf, showDrawing } from "./drawing.js";
import { lightPath, lightStack } from "./highlight.js";
import { findRow, rowsOf } from "./rule-rows.js";
import { buildStrips, paintStrips } from "./strips.js";

const HEAD = 40; // pixels of a panel that are not for its drawing
const STRIPS = 90; // pixels of the strips above a machine that is shown whole

/** @typedef {ReturnType<typeof buildMachinePanel>} MachinePanel */

/**
 * @param {HTMLElement} slot
 * @param {() => void} paint
 */
export function buildMachinePanel(slot, paint) {
  const drawing = buildDrawing();
  const aside = make("span", { class: "gv-soft" });
  const now = make("span", { class: "gv-machine-now" });
  const strips = buildStrips();
  const { ways, ground, column, others } = strips;
  const names = make("div", { class: "gv-machine-names" }, make("strong", { class: "gv-title" }, "machine"), aside, now, ways);
  const head = make("div", { class: "gv-panel-head" }, names, drawing.size.node);
  const scene = make("div", { class: "gv-scene" }, drawing.node, column, others);
  const chips = make("div", { class: "gv-rules", role: "group", "aria-label": "rules" });
  slot.setAttribute("aria-label", "machine");
  slot.append(head, scene, make("div", { class: "gv-floor" }, ground, chips));
  const drawings = () => /** @type {SVGElement[]} */ ([...drawing.sheets.children]);
  const ui = {
    slot, scene, strips, chips, drawing, drawings, aside, now, paint,
    painted: /** @type {StageView["drawings"][number] | null} */ (null),
    before: /** @type {{ painted: unknown, camera: Camera }} */ ({ painted: null, camera: drawing.camera }), // what was shown before
    focus: false, // whether one rule is shown
    asked: "", // the rule whose chip was pressed
    step: /** @type {unknown} */ (null), // where it was pressed
    room: [0, 0],
    listed: "",
  };
  new ResizeObserver(() => {
    ui.room = [slot.clientWidth, slot.clientHeight - HEAD];
    if (ui.painted) paint();
  }).observe(slot);
  return ui;
}

/**
 * Whether the machine is not shown whole: it has rules, and its labels would be too small.
 * @param {MachinePanel} ui
 * @param {StageView} view
 */
function isClose({ room: [wide, high], drawing }, view) {
  const whole = view.drawings[/** @type {any} */ (view.machine).drawing];
  if (!whole || whole.rule) return Boolean(whole?.rule);
  if (!rowsOf(view).length || (drawing.whole && view.lecture)) return false;
  if (!wide) return true;
  const [, , width, height] = String(whole.shapes[1].viewBox).split(" ").map(Number);
  const { least } = scalesOf(drawing.view, 12);
  return Math.min(wide / width, (high - STRIPS) / height) < LESS * least;
}

/**
 * The frames of a stack, the innermost first. Where the text has ended no rule is open, and the root is shown.
 * @param {StageView} view
 * @param {number} state
 * @returns {Frame[]}
 */
export function framesOf({ known, machine }, state) {
  const frames = known[state]?.frames ?? [];
  const [id, root] = known[machine?.initial ?? 0]?.frames.at(-1) ?? [0, ""];
  return frames.length ? frames : [[id, root, "the end"]];
}

/** @param {StageView} view */
const framesShown = (view) => framesOf(view, wayShown(view).path.at(-1) ?? -1);

/**
 * The drawing that is shown: the whole or, in focus, the rule that was asked for or the active one.
 * @param {MachinePanel} ui
 * @param {StageView} view
 */
function drawingShown(ui, view) {
  const { machine, drawings } = view;
  const passed = stepPassed(view);
  if (ui.step !== passed) Object.assign(ui, { step: passed, asked: "" });
  const first = drawings[/** @type {any} */ (machine).drawing];
  if (!ui.focus) return first?.rule || !rowsOf(view).length ? drawings[passed?.drawing ?? -1] ?? first : first;
  const { path } = wayShown(view);
  const rule = ui.asked || framesShown(view)[0][1];
  return findRow(rowsOf(view), rule, view.known[path[path.length - 1]]?.now ?? [])?.drawing ?? first;
}

/**
 * @param {MachinePanel} ui
 * @param {StageView} view
 */
export function paintMachinePanel(ui, view) {
  const { machine, known } = view;
  ui.slot.hidden = !machine;
  if (!machine) return;
  ui.before = { painted: ui.painted, camera: ui.drawing.camera };
  ui.focus = Boolean(machine.stack) && isClose(ui, view);
  ui.slot.classList.toggle("gv-stacked", machine.stack);
  ui.slot.classList.toggle("gv-focus", ui.focus);
  const drawing = drawingShown(ui, view);
  if (drawing && ui.painted !== drawing) {
    ui.painted = drawing;
    ui.drawing.row = ui.focus;
    const { whole } = ui.drawing;
    setText(ui.aside, drawing.words);
    showDrawing(ui.drawing, drawing.shapes);
    ui.drawing.whole = whole && !ui.focus;
  }
  paintChips(ui, view);
  const way = wayShown(view);
  const { path, died = "" } = way;
  const reached = known[path[path.length - 1]];
  if (!machine.stack) lightPath(ui.drawing, path, died, view);
  else if (reached) {
    paintStrips(ui, reached, framesShown(view));
    if (ui.focus && ui.asked) nameAsked(ui);
    lightStack(ui.drawing, view, way);
  }
  const names = path.map((state) => (machine.stack ? known[state]?.name ?? "" : nameState(state)));
  setText(ui.now, sayPath(names, died));
  const words = `machine, ${drawing?.words}; now in ${names[names.length - 1]}${sayTop(view, path, died)}`;
  const { svg } = ui.drawing;
  if (svg && svg.getAttribute("aria-label") !== words) svg.setAttribute("aria-label", words);
}

/**
 * The head of the drawing is the active rule, also where another one is drawn: then it names that one.
 * @param {MachinePanel} ui
 */
function nameAsked({ asked, strips }) {
  const waits = strips.column.querySelector(".gv-top .gv-waits");
  if (waits) setText(waits, `shown below: ${asked}`);
}

/**
 * All rules as chips; the active one is lit.
 * @param {MachinePanel} ui
 * @param {StageView} view
 */
function paintChips(ui, view) {
  if (ui.focus) ui.drawing.node.setAttribute("data-part", "rule");
  else ui.drawing.node.removeAttribute("data-part");
  ui.chips.hidden = !ui.focus;
  const rules = ui.focus ? [...new Set(rowsOf(view).map(({ rule }) => rule))] : [];
  const active = framesShown(view)[0][1];
  const shown = ui.painted?.rule;
  const listed = JSON.stringify([rules, active, shown]);
  if (listed === ui.listed) return;
  ui.listed = listed;
  /** @param {string} rule */
  const press = (rule) => () => {
    ui.asked = rule === active ? "" : rule;
    ui.paint();
  };
  fill(ui.chips, rules.map((rule) => ["button.gv-rule-chip", { click: press(rule), "aria-pressed": rule === shown, "aria-current": rule === active || undefined }, rule]));
}

/**
 * @param {StageView} view
 * @param {number[]} path
 * @param {string} died
 */
function sayTop({ machine, known }, path, died) {
  const top = known[path[path.length - 1]]?.frames[0];
  const stack = top ? `; top of the stack: ${top[1]}, waits for ${top[2]}` : "; the stack is empty";
  return (died && `, where ${died} cannot come`) + (machine?.stack ? stack : "");
}

/**
 * The states of the token that was asked about or is under the pointer, else of the last token.
 * @param {StageView} view
 */
export function wayShown(view) {
  const { why, hover, machine } = view;
  const start = { path: [machine?.initial], taken: [], bytes: [] };
  return /** @type {Way} */ (why?.path && hover < 0 ? why : stepPassed(view)?.path ? stepPassed(view) : start);
}

/**
 * @param {string[]} names
 * @param {string} died
 */
function sayPath(names, died) {
  const last = names[names.length - 1];
  if (died) return `${last} ✕ ${died}`;
  return names.length > 3 ? `${names[0]} … ${last}` : names.join(" → ");
}
