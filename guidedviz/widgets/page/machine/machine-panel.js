// The machine's panel on the stage.

/** @import { StageView, Way } from "../types.js" */
import { make, nameState, setText } from "../shared/elements.js";
import { mayMove } from "../stage/pace.js";
import { stepPassed } from "../stage/view.js";
import { buildDrawing, showDrawing } from "./drawing.js";
import { lightPath } from "./highlight.js";

/** @typedef {ReturnType<typeof buildMachinePanel>} MachinePanel */

/** @param {HTMLElement} slot */
export function buildMachinePanel(slot) {
  const drawing = buildDrawing();
  const aside = make("span", { class: "gv-soft" });
  const now = make("span", { class: "gv-machine-now" });
  const names = make("div", { class: "gv-machine-names" }, make("strong", { class: "gv-title" }, "machine"), aside, now);
  const head = make("div", { class: "gv-panel-head" }, names, drawing.map, drawing.size.node);
  slot.setAttribute("aria-label", "machine");
  slot.append(head, drawing.node);
  const drawings = () => /** @type {SVGElement[]} */ ([...drawing.sheets.children]);
  return { slot, head, drawing, drawings, aside, now, painted: /** @type {StageView["drawings"][number] | null} */ (null) };
}

/**
 * @param {MachinePanel} ui
 * @param {StageView} view
 */
export function paintMachinePanel(ui, view) {
  const { machine, known } = view;
  ui.slot.hidden = !machine;
  if (!machine) return;
  const drawing = view.drawings[stepPassed(view)?.drawing ?? machine.drawing];
  if (drawing && ui.painted !== drawing) {
    ui.painted = drawing;
    setText(ui.aside, drawing.words);
    showDrawing(ui.drawing, drawing.shapes);
  }
  const { path, died = "" } = wayShown(view);
  if (!machine.stack) lightPath(ui.drawing, path, died, mayMove(view) || (view.playing && view.speed > 8)); // else the stack's panel does
  const names = path.map((state) => (machine.stack ? known[state]?.name ?? "" : nameState(state)));
  setText(ui.now, sayPath(names, died));
  const words = `machine, ${drawing?.words}; now in ${names[names.length - 1]}${sayTop(view, path, died)}`;
  const { svg } = ui.drawing;
  if (svg && svg.getAttribute("aria-label") !== words) svg.setAttribute("aria-label", words);
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
