// Whether there is time for a motion, and how quick it is.

/** @import { StageView } from "../types.js" */
import { wantsStillness } from "../shared/elements.js";

const SLOWEST = 1; // steps per second up to which a play moves
const EXPLAIN = 0.5; // how quick a motion is where the speed is "explain"

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
