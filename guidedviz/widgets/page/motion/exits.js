// Why the mask falls as it does: before it the token of the first forbidden bar goes from its bar to the current state, and the
// bytes of it that can be read go on to the state that they lead to. From then until the draw the exits of this state are lit in
// the drawing of the machine, where all else is pale, and the byte that has none stands before them.

/** @import { Look, Move } from "./player.js" */
/** @import { Point } from "./travel.js" */
import { FALLS, GROWN } from "./mask-falls.js";
import { at, HIDDEN, SHOWN } from "./travel.js";

const TURN = 80; // milliseconds
const LEG = 300; // milliseconds of a way
const PALE = 0.35; // of all else in the drawing

/** @typedef {[sign: string, from: Point, to: Point]} Leg what goes from where to where */

/**
 * A part looks different for a time.
 * @param {string} part
 * @param {Look} usual
 * @param {Look} look
 * @param {number} begin
 * @param {number} end
 * @returns {Move[]}
 */
const show = (part, usual, look, begin, end) => [[part, usual, look, begin, begin + TURN], [part, look, usual, end, end + TURN]];

/**
 * @param {Leg[]} legs the way of the refused token; what was read of it stays where it came to
 * @param {number} draw when the draw begins
 * @returns {Move[]}
 */
export function exitsLight(legs, draw) {
  const stops = GROWN + LEG * legs.length;
  return [
    ...show("exits", HIDDEN, SHOWN, FALLS, draw),
    ...show("ground", SHOWN, { opacity: PALE }, FALLS, draw),
    ...show("refused", HIDDEN, SHOWN, stops, draw),
    ["refused", { scale: "0.4" }, { scale: "1" }, stops, stops + 2 * TURN],
    ...legs.flatMap(([, from, to], place) => {
      const [part, begin] = [`leg${place}`, GROWN + LEG * place];
      const moves = show(part, HIDDEN, SHOWN, begin, place ? draw : begin + LEG);
      return [...moves, /** @type {Move} */ ([part, at(from), at(to), begin, begin + LEG])];
    }),
  ];
}
