// When the stage moves: one step on or one step back, where there is time for it. All else shows the end at once.

/** @import { Motion } from "../motion/player.js" */
/** @import { Point } from "../motion/travel.js" */
/** @import { StageView, Step } from "../types.js" */
/** @import { Islands } from "./layout.js" */
import { drawAt, maskFalls } from "../motion/mask-falls.js";
import { lengthOf, play } from "../motion/player.js";
import { wantsStillness } from "../shared/elements.js";
import { sayChance } from "./bars.js";
import { barPlace, fly, flyBack } from "./flight.js";
import { shownOf } from "./next-token.js";
import { mayMove, rateOf } from "./pace.js";
import { showRefused } from "./refused.js";
import { shownStep, takenSince } from "./view.js";

const BACK = 2.5; // how quick a step back is

/**
 * @typedef {object} Moving what moves, and what was shown before
 * @property {Motion | null} motion of the next token
 * @property {Motion | null} flight of the last token
 * @property {Step | undefined} step
 * @property {Step | undefined} from the step that was shown before it
 * @property {number} cursor where the step was shown first
 * @property {number} at the cursor that was painted last
 * @property {StageView["why"]} why
 * @property {Point | null} bar where the token that was taken or asked about had its bar
 * @property {HTMLElement | null} kept the panel that the token left: it stays over the next one until the token has landed
 * @property {(() => void) | null} then begins the motion of the next token, when the last one has landed
 */

/** @returns {Moving} */
export const newMoving = () => ({ motion: null, flight: null, step: undefined, from: undefined, cursor: 0, at: 0, why: null, bar: null, kept: null, then: null });

/**
 * The moves of the panel of the next token from one step to another.
 * @param {StageView} view
 * @param {Step | undefined} before
 * @param {Step} after
 */
function movesBetween(view, before, after) {
  return maskFalls(before && before.how !== "forced" ? shownOf(view, before) : null, shownOf(view, after));
}

/**
 * The moving parts by their names.
 * @param {...(Element | null)} places
 * @returns {(part: string) => Element | null}
 */
function finder(...places) {
  const nodes = places.flatMap((place) => [...(place?.querySelectorAll("[data-move]") ?? [])]);
  const parts = new Map(nodes.map((node) => [node.getAttribute("data-move"), node]));
  return (part) => parts.get(part) ?? null;
}

/**
 * Ends what moves if another step is shown now, and looks where the token has its bar. It is called before the page is painted.
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element | null} root
 */
export function endMotion(moving, view, root) {
  const [taken] = takenSince(view, moving.at);
  const isNew = shownStep(view) !== moving.step;
  if (view.cursor !== moving.at || view.why !== moving.why) {
    moving.then = null;
    dropPanel(moving, view);
    moving.flight?.finish();
  }
  if (isNew || view.cursor < moving.cursor) moving.motion?.finish();
  moving.bar = root && taken && mayMove(view) ? barPlace(root, taken.token) : null;
  if (isNew) keepPanel(moving, view, root);
}

/**
 * Keeps a copy of the panel as it is while a token flies; in a play there is no time for one motion after the other.
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element | null} root
 */
function keepPanel(moving, view, root) {
  const panel = root?.querySelector("[data-slot='next']:not(.gv-leaving)");
  const flies = moving.bar || moving.flight;
  if (panel && flies && !view.playing && !view.leaving) view.leaving = moving.kept = copyPanel(panel);
}

/**
 * @param {Moving} moving
 * @param {StageView} view
 */
function dropPanel(moving, view) {
  if (moving.kept && view.leaving === moving.kept) view.leaving = null;
  moving.kept?.remove();
  moving.kept = null;
}

/**
 * A copy of a panel, only to be looked at.
 * @param {Element} panel
 */
function copyPanel(panel) {
  const copy = /** @type {HTMLElement} */ (panel.cloneNode(true));
  copy.inert = true;
  copy.classList.add("gv-leaving");
  for (const node of [copy, ...copy.querySelectorAll("[data-part]")]) node.removeAttribute("data-part");
  return copy;
}

/**
 * Begins the motion of this step. It is called after the page is painted.
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element} root
 * @param {Islands} islands
 */
export function beginMotion(moving, view, root, islands) {
  fly(moving, view, root, islands.machine);
  if (!moving.flight) dropPanel(moving, view);
  const step = shownStep(view);
  if (step === moving.step) return;
  const { step: before, cursor } = moving;
  const isOn = takenSince(view, cursor).length > 0;
  Object.assign(moving, { step, cursor: view.cursor, from: isOn ? before : undefined });
  const begin = () => {
    dropPanel(moving, view);
    if (before && isOn && mayMove(view)) move(moving, view, root, islands);
  };
  if (moving.flight && moving.kept) moving.then = begin;
  else begin();
}

/**
 * Moves to the shown step from the one before.
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element} root
 * @param {Islands} islands
 */
export function move(moving, view, root, { machine }) {
  const panel = root.querySelector("[data-slot='next']");
  const { step, from } = moving;
  moving.motion?.finish();
  if (!step || !panel || step.how === "forced" || wantsStillness()) return;
  const moves = movesBetween(view, from, step);
  const after = shownOf(view, step);
  const [shown, why] = after.removed && !machine.slot.hidden ? showRefused(view, root, machine.drawing, step, drawAt(after)) : [[], []];
  moves.push(...why);
  const find = finder(root.querySelector(".gv-chips"), panel, machine.drawing.sheets, ...shown);
  const done = () => {
    shown.forEach((node) => node.remove());
    view.sheets = view.sheets.filter((sheet) => !shown.includes(sheet));
    moving.motion = null;
  };
  moving.motion = play(moves, find, { rate: rateOf(view, lengthOf(moves)), say: sayChance, done });
}

/**
 * Shows the way back from a step: a copy of its panel, kept over the panel that is painted already, moves backwards.
 * @param {Moving} moving
 * @param {StageView} view before the step back
 * @param {Element} root
 * @param {Islands} islands
 * @returns {() => void} to be called after the page is painted
 */
export function moveBack(moving, view, root, islands) {
  if (!mayMove(view)) return () => {};
  const left = view.steps[view.cursor - 1];
  const leave = leavePanel(moving, view, root);
  return () => {
    flyBack(moving, view, islands.machine, left, BACK);
    leave();
  };
}

/**
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element} root
 */
function leavePanel(moving, view, root) {
  const panel = root.querySelector("[data-slot='next']");
  const { step } = moving;
  if (!step || !panel || step.how === "forced") return () => {};
  moving.motion?.finish();
  const moves = movesBetween(view, view.steps[view.cursor - 1], step);
  const copy = copyPanel(panel);
  view.leaving = copy;
  return () => {
    const done = () => {
      copy.remove();
      view.leaving = moving.motion = null;
    };
    moving.motion = play(moves, finder(copy), { rate: BACK * rateOf(view, lengthOf(moves)), back: true, say: sayChance, done });
  };
}
