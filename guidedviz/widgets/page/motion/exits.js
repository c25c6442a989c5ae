// Why the mask falls as it does: while it falls, the exits of the current state are lit in the drawing of the machine, and the
// byte of the first forbidden bar stands before its missing exit.

/** @import { Bar } from "../stage/bars.js" */
/** @import { Move } from "./player.js" */
import { FALLEN, GONE, GROWN, passAt, SHARED } from "./mask-falls.js";

const TURN = 80; // milliseconds

/**
 * The row of the first forbidden token that dies here, or -1: of one byte, or a special one that the machine names. Any other may die at a later byte.
 * @param {Bar[]} bars
 */
export const refusedOf = (bars) => bars.findIndex(({ legal, token, label, special }) => !legal && token >= 0 && (label.length === 1 || special));

/**
 * @param {Bar[]} bars
 * @returns {Move[]}
 */
export function exitsLight(bars) {
  const refused = refusedOf(bars);
  /** @type {Move[]} */
  const moves = [["exits", { opacity: 0 }, { opacity: 1 }, GROWN, GROWN + TURN], ["exits", { opacity: 1 }, { opacity: 0 }, GONE, SHARED]];
  if (refused < 0) return moves;
  const begin = passAt(refused, bars.length);
  return [...moves, ["refused", { opacity: 0, scale: "0.4" }, { opacity: 1, scale: "1" }, begin, Math.min(begin + 2 * TURN, FALLEN)], ["refused", { opacity: 1 }, { opacity: 0 }, GONE, SHARED]];
}
