// The machine's panel on the stage.

/** @import { StageView } from "../types.js" */
import { make, nameState, setText } from "../shared/elements.js";
import { stepPassed } from "../stage/view.js";
import { buildDrawing, showDrawing } from "./drawing.js";
import { lightPath } from "./highlight.js";

/** @typedef {ReturnType<typeof buildMachinePanel>} MachinePanel */

/** @param {HTMLElement} slot */
export function buildMachinePanel(slot) {
  const drawing = buildDrawing();
  const aside = make("span", { class: "gv-soft" });
  const now = make("span", { class: "gv-soft gv-machine-now" });
  slot.setAttribute("aria-label", "machine");
  slot.append(make("div", { class: "gv-panel-head" }, make("strong", { class: "gv-title" }, "machine"), aside, now), drawing.node);
  drawing.node.append(drawing.size.node);
  return { slot, drawing, aside, now, painted: /** @type {StageView["drawings"][number] | null} */ (null) };
}

/**
 * @param {MachinePanel} ui
 * @param {StageView} view
 */
export function paintMachinePanel(ui, view) {
  const { machine } = view;
  ui.slot.hidden = !machine;
  if (!machine) return;
  const drawing = view.drawings[stepPassed(view)?.drawing ?? machine.drawing];
  if (drawing && ui.painted !== drawing) {
    ui.painted = drawing;
    setText(ui.aside, drawing.words);
    showDrawing(ui.drawing, drawing.shapes);
  }
  const { path, died } = pathShown(view, machine.initial);
  if (!machine.stack) lightPath(ui.drawing, path, died, view.playing && view.speed > 8); // else the stack's panel does
  const names = path.map((state) => (machine.stack ? view.known[state]?.name ?? "" : nameState(state)));
  setText(ui.now, sayPath(names, died));
  const top = view.known[path[path.length - 1]]?.frames[0];
  describe(ui, `machine, ${drawing?.words}; now in ${names[names.length - 1]}`
    + (died ? `, where ${died} cannot come` : "")
    + (top ? `; top of the stack: ${top[1]}, waits for ${top[2]}` : machine.stack ? "; the stack is empty" : ""));
}

/**
 * @param {MachinePanel} ui
 * @param {string} words
 */
function describe({ drawing: { svg } }, words) {
  if (svg && svg.getAttribute("aria-label") !== words) svg.setAttribute("aria-label", words);
}

/**
 * The path of the token under the pointer or of the one that was asked about, else of the last token.
 * @param {StageView} view
 * @param {number} initial
 */
function pathShown(view, initial) {
  const { why } = view;
  if (why?.path && view.hover < 0) return { path: why.path, died: why.died ?? "" };
  return { path: stepPassed(view)?.path ?? [initial], died: "" };
}

/**
 * @param {string[]} names
 * @param {string} died
 */
function sayPath(names, died) {
  const last = names[names.length - 1];
  if (died) return `${last} ✕ ${died}`;
  return names.length > 6 ? `${names.slice(0, 2).join(" ")} … ${last}` : names.join(" → ");
}
