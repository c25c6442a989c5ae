// When the stage moves: one step on or one step back, where there is time for it. All else shows the end at once.

/** @import { Motion } from "../motion/player.js" */
/** @import { StageView, Step } from "../types.js" */
import { maskFalls } from "../motion/mask-falls.js";
import { lengthOf, play } from "../motion/player.js";
import { wantsStillness } from "../shared/elements.js";
import { sayChance } from "./bars.js";
import { shownOf } from "./next-token.js";
import { shownStep } from "./view.js";

const SLOWEST = 1; // steps per second up to which a play moves
const EXPLAIN = 0.5; // how quick a motion is where the speed is "explain"
const BACK = 2.5; // how quick a step back is

/** @typedef {ReturnType<typeof newMoving>} Moving what moves, and the step and the cursor that were shown before */
export const newMoving = () => ({
  motion: /** @type {Motion | null} */ (null), step: /** @type {Step | undefined} */ (undefined), cursor: 0, from: /** @type {Step | undefined} */ (undefined),
});

/**
 * Whether there is time for a motion.
 * @param {StageView} view
 */
export const mayMove = ({ playing, speed, asks }) => !asks && !wantsStillness() && (!playing || speed <= SLOWEST);

/**
 * How quick a motion is: it ends before the next step of a play.
 * @param {StageView} view
 * @param {number} length milliseconds
 */
export function rateOf({ playing, speed }, length) {
  const usual = speed < 1 ? EXPLAIN : 1;
  return playing ? Math.max(usual, (length * speed) / 950) : usual;
}

/**
 * The moves of the panel of the next token from one step to another.
 * @param {StageView} view
 * @param {Step | undefined} before
 * @param {Step} after
 * @param {Element} panel
 */
function movesBetween(view, before, after, panel) {
  const high = /** @type {HTMLElement | null} */ (panel.querySelector(".gv-row"))?.offsetHeight ?? 24;
  return maskFalls(before && before.how !== "forced" ? shownOf(view, before) : null, shownOf(view, after), high);
}

/**
 * @param {Element} panel
 * @returns {(part: string) => Element | null}
 */
const finder = (panel) => {
  const parts = new Map([...panel.querySelectorAll("[data-move]")].map((node) => [node.getAttribute("data-move"), node]));
  return (part) => parts.get(part) ?? null;
};

/**
 * Ends what moves if another step is shown now. It is called before the page is painted.
 * @param {Moving} moving
 * @param {StageView} view
 */
export function endMotion(moving, view) {
  if (shownStep(view) !== moving.step || view.cursor < moving.cursor) moving.motion?.finish();
}

/**
 * Begins the motion of this step. It is called after the page is painted.
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element} root
 */
export function beginMotion(moving, view, root) {
  const step = shownStep(view);
  if (step === moving.step) return;
  const { step: before, cursor } = moving;
  Object.assign(moving, { step, cursor: view.cursor, from: view.cursor === cursor + 1 ? before : undefined });
  if (before && view.cursor === cursor + 1 && mayMove(view)) move(moving, view, root);
}

/**
 * Moves to the shown step from the one before.
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element} root
 */
export function move(moving, view, root) {
  const panel = root.querySelector("[data-slot='next']");
  const { step, from } = moving;
  moving.motion?.finish();
  if (!step || !panel || step.how === "forced" || wantsStillness()) return;
  const moves = movesBetween(view, from, step, panel);
  moving.motion = play(moves, finder(panel), { rate: rateOf(view, lengthOf(moves)), say: sayChance, done: () => (moving.motion = null) });
}

/**
 * Shows the way back from a step: a copy of its panel, kept over the panel that is painted already, moves backwards.
 * @param {Moving} moving
 * @param {StageView} view before the step back
 * @param {Element} root
 * @returns {() => void} to be called after the page is painted
 */
export function moveBack(moving, view, root) {
  const panel = root.querySelector("[data-slot='next']");
  const { step } = moving;
  if (!step || !panel || step.how === "forced" || !mayMove(view)) return () => {};
  moving.motion?.finish();
  const moves = movesBetween(view, view.steps[view.cursor - 1], step, panel);
  const copy = /** @type {HTMLElement} */ (panel.cloneNode(true));
  copy.inert = true;
  copy.classList.add("gv-leaving");
  for (const node of [copy, ...copy.querySelectorAll("[data-part]")]) node.removeAttribute("data-part");
  view.leaving = copy;
  return () => {
    const done = () => {
      copy.remove();
      view.leaving = moving.motion = null;
    };
    moving.motion = play(moves, finder(copy), { rate: BACK * rateOf(view, lengthOf(moves)), back: true, say: sayChance, done });
  };
}
