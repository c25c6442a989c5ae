// What the pointer is on is lit in all panels: a token with its path, its stack and its place on the map; a state, a frame
// of the stack or a cell of the map with the tokens that belong to it.

/** @import { StageView, Step } from "../types.js" */
/** @import { StageUi } from "./layout.js" */
import { chipOf } from "./input.js";

/**
 * @param {StageUi} ui
 * @param {StageView} view
 * @param {() => void} paint
 */
export function linkPanels(ui, view, paint) {
  /** @param {number} place of the step that the pointer is on, or -1 */
  const hover = (place) => {
    if (view.hover === place || view.playing) return;
    view.hover = place;
    ui.map.map.map.hover = rankOf(view.steps[place]);
    paint();
  };
  ui.chips.addEventListener("pointerover", (event) => hover(Number(chipOf(event)?.dataset.place ?? -1)));
  ui.chips.addEventListener("pointerleave", () => hover(-1));

  /** @param {(step: Step) => boolean} belongs */
  const mark = (belongs) => [...ui.chips.children].forEach((chip, place) => chip.classList.toggle("gv-linked", belongs(view.steps[place])));
  const none = () => false;
  ui.machine.drawing.sheets.addEventListener("pointerover", ({ target }) => {
    const node = /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest("[data-state]"));
    const state = Number(node?.dataset.state);
    mark(node ? (step) => statesOf(view, step).includes(state) : none);
  });
  ui.stack.column.addEventListener("pointerover", ({ target }) => {
    const card = /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest("[data-frame]"));
    const frame = Number(card?.dataset.frame);
    mark(card ? (step) => Boolean(view.known[step.path?.at(-1) ?? -1]?.frames.some(([id]) => id === frame)) : none);
  });
  ui.map.map.sheet.addEventListener("pointermove", () => {
    const rank = ui.map.map.map.hover;
    mark(rank < 0 ? none : (step) => rankOf(step) === rank);
  });
  for (const node of [ui.machine.drawing.sheets, ui.stack.column, ui.map.map.sheet]) node.addEventListener("pointerleave", () => mark(none));
}

/**
 * The place of a step's token on the map, or -1.
 * @param {Step | undefined} step
 */
const rankOf = (step) => step?.ranks?.[step.rows.findIndex(([token]) => token === step.token)] ?? -1;

/**
 * The states of the drawing that a token passes.
 * @param {StageView} view
 * @param {Step} step
 */
const statesOf = ({ machine, known }, { path = [] }) => (machine?.stack ? path.flatMap((state) => known[state]?.now ?? []) : path);
