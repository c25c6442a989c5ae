// What a person does on the stage with keys and pointer; buttons are wired where they stand. What the pointer is on is lit
// in all panels: a token with its path, its stack and its place on the map; a state, a frame of the stack or a cell of the
// map with the tokens that belong to it.

/** @import { MapPanel } from "../map/map-panel.js" */
/** @import { StageView, Step } from "../types.js" */
/** @import { Islands, StageActions } from "./layout.js" */
import { commandOf, consume, hasModifier, refocusAfterPress } from "../shared/controls.js";
import { currentChip, shownStep } from "./view.js";

const SWIPE = 60; // pixels

/**
 * @param {HTMLElement} root
 * @param {StageView} view
 * @param {StageActions} act
 */
export function listenToKeys(root, view, act) {
  const help = /** @type {HTMLDetailsElement} */ (root.querySelector(".gv-keys-help"));
  /** @type {Record<string, () => void>} */
  const letters = { f: act.lecture, q: act.ask, m: act.again, "?": () => (help.open = !help.open) };
  root.addEventListener("keydown", (event) => {
    hideTip(view, act);
    const target = /** @type {HTMLInputElement} */ (event.target);
    if (hasModifier(event) || target.type === "textarea") return;
    if (target.type === "range" && !target.matches(".gv-scrub") && /^(Arrow|Home|End)/.test(event.key)) return;
    const row = /^[1-9]$/.test(event.key) ? shownStep(view)?.rows[Number(event.key) - 1] : undefined;
    const command = commandOf(event);
    const letter = letters[event.key.toLowerCase()];
    if (row) act.pick(row[0]);
    else if (command) act[/** @type {"step"} */ (command)]();
    else if (letter) letter();
    else return;
    consume(event);
  });
  refocusAfterPress(root, "button, .gv-track-time");
}

/**
 * Help and menu close with a press anywhere else, and with Escape, whatever has the focus.
 * @param {HTMLElement} root
 */
export function closePopups(root) {
  /** @param {Event} event */
  const close = (event) => {
    for (const popup of /** @type {NodeListOf<HTMLDetailsElement>} */ (root.querySelectorAll(".gv-popup[open]"))) {
      const isInside = popup.contains(/** @type {Node} */ (event.target));
      if (event.type === "pointerdown" ? isInside : /** @type {KeyboardEvent} */ (event).key !== "Escape") continue;
      popup.open = false;
      if (isInside) popup.querySelector("summary")?.focus();
    }
  };
  const types = ["pointerdown", "keydown"];
  for (const type of types) document.addEventListener(type, close, true);
  return () => types.forEach((type) => document.removeEventListener(type, close, true));
}

/**
 * A swipe of a finger over the panels goes one step on or back, except where it moves a drawing.
 * @param {HTMLElement} root
 * @param {StageActions} act
 */
export function listenToSwipes(root, act) {
  let from = 0;
  root.addEventListener("pointerdown", ({ x }) => (from = x));
  root.addEventListener("pointerup", ({ x, pointerType, target }) => {
    const held = /** @type {Element} */ (target).closest(".gv-panels, .gv-map, .gv-diagram, textarea");
    if (pointerType !== "touch" || Math.abs(x - from) < SWIPE || !held?.matches(".gv-panels")) return;
    if (x < from) act.step();
    else act.back();
  });
}

/**
 * The token of the text that an event is on.
 * @param {Event} event
 * @returns {HTMLElement | null}
 */
const chipOf = (event) => /** @type {Element} */ (event.target).closest(".gv-chip");

/**
 * @param {StageView} view
 * @param {StageActions} act
 */
function hideTip(view, act) {
  if (!view.tip) return;
  view.tip = null;
  act.paint();
}

/**
 * @param {StageView} view
 * @param {HTMLElement} chip
 */
function showTip(view, chip) {
  const root = /** @type {any} */ (chip.closest(".gv-stage"));
  const [home, box, zoom] = [root.getBoundingClientRect(), chip.getBoundingClientRect(), root.currentCSSZoom ?? 1];
  view.tip = view.playing ? null : { place: Number(chip.dataset.place), x: (box.left - home.left) / zoom, y: (box.bottom - home.top) / zoom };
}

/**
 * What the tokens of the text listen to.
 * @param {StageView} view
 * @param {StageActions} act
 * @param {Islands} islands
 * @returns {Record<string, (event: any) => void>}
 */
export function chipListeners(view, act, { map }) {
  /** @param {HTMLElement | null} chip */
  const hover = (chip) => {
    if (view.playing) return;
    view.hover = chip ? Number(chip.dataset.place) : -1;
    if (map.panel) map.panel.map.map.hover = rankOf(view.steps[view.hover]);
    if (chip) showTip(view, chip);
    else view.tip = null;
    act.paint();
  };
  return {
    pointerover: (event) => hover(chipOf(event)),
    pointerleave: () => hover(null),
    focusin(event) {
      const chip = chipOf(event);
      if (!chip?.matches(":focus-visible")) return;
      showTip(view, chip);
      act.paint();
    },
    focusout: () => hideTip(view, act),
    click(event) {
      const chip = chipOf(event);
      view.tip = null;
      if (chip) act.go(Number(chip.dataset.place));
    },
  };
}

/**
 * A token that has the focus hands it to the token that a step leads to.
 * @param {HTMLElement} root
 * @param {StageView} view
 */
export function followFocus(root, view) {
  const chip = /** @type {HTMLElement | undefined} */ (root.querySelectorAll(".gv-chip")[currentChip(view)]);
  const held = chip === document.activeElement;
  (chip ?? root).focus({ preventScroll: true });
  if (chip && held) showTip(view, chip);
}

/**
 * Marks the tokens that belong to what the pointer is on: a state, a frame of the stack, a cell of the map.
 * @param {Islands} islands
 * @param {StageView} view
 * @param {() => void} paint
 * @returns {(panel: MapPanel) => void} does the same for the map, when it is there
 */
export function linkPanels({ machine }, view, paint) {
  /** @param {((step: Step) => boolean) | null} belongs */
  const mark = (belongs) => {
    const places = belongs ? view.steps.flatMap((step, place) => (belongs(step) ? [place] : [])) : [];
    if (String(places) === String([...view.linked])) return;
    view.linked = new Set(places);
    paint();
  };
  /**
   * @param {HTMLElement} node
   * @param {"state" | "frame"} name
   * @param {(step: Step, number: number) => boolean} belongs
   */
  const link = (node, name, belongs) => node.addEventListener("pointerover", ({ target }) => {
    const part = /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest(`[data-${name}]`));
    mark(part && ((step) => belongs(step, Number(part.dataset[name]))));
  });
  link(machine.drawing.sheets, "state", (step, state) => statesOf(view, step).includes(state));
  link(machine.strips.column, "frame", ({ path }, frame) => Boolean(view.known[path?.at(-1) ?? -1]?.frames.some(([id]) => id === frame)));
  for (const node of [machine.drawing.sheets, machine.strips.column]) node.addEventListener("pointerleave", () => mark(null));
  return ({ map: { map, sheet } }) => {
    sheet.addEventListener("pointermove", () => mark(map.hover < 0 ? null : (step) => rankOf(step) === map.hover));
    sheet.addEventListener("pointerleave", () => mark(null));
  };
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
