// Why the mask falls as it does: from then until the draw the exits of the current state are lit in the drawing of the machine,
// and the byte of the first forbidden bar stands before its missing exit.

/** @import { Bar } from "../stage/bars.js" */
/** @import { Step } from "../types.js" */
/** @import { Move } from "./player.js" */
import { FALLEN, FALLS, passAt } from "./mask-falls.js";

const TURN = 80; // milliseconds

/** @typedef {{ row: number, sign: string }} Refused the row of a forbidden token, or -1, and its byte that has no way on */

/**
 * The likeliest forbidden token, if it is known where it dies. An older record does not say it: then one of a single byte, or a
 * special one that the machine names.
 * @param {Bar[]} bars
 * @param {Step["refused"]} refused
 * @returns {Refused}
 */
export function findRefused(bars, refused) {
  if (refused !== undefined) return { row: bars.findIndex(({ token }) => token === refused?.[0]), sign: refused?.[1] ?? "" };
  const row = bars.findIndex(({ legal, token, label, special }) => !legal && token >= 0 && (label.length === 1 || special));
  return { row, sign: bars[row]?.label ?? "" };
}

/**
 * @param {Bar[]} bars
 * @param {Refused} refused
 * @param {number} draw when the draw begins
 * @returns {Move[]}
 */
export function exitsLight(bars, { row }, draw) {
  const gone = draw + TURN;
  /** @type {Move[]} */
  const moves = [["exits", { opacity: 0 }, { opacity: 1 }, FALLS, FALLS + TURN], ["exits", { opacity: 1 }, { opacity: 0 }, draw, gone]];
  if (row < 0) return moves;
  const begin = passAt(row, bars.length);
  const end = Math.min(begin + 2 * TURN, FALLEN);
  return [...moves, ["refused", { opacity: 0, scale: "0.4" }, { opacity: 1, scale: "1" }, begin, end], ["refused", { opacity: 1 }, { opacity: 0 }, draw, gone]];
}
