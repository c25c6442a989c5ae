// The token travels: from its bar to the current state, where it opens into its bytes; each byte slides along its arrow, and
// the token lands in the text. A forbidden token stops at the byte that dies, shakes once, and falls.

/** @import { Look, Move } from "./player.js" */

/** @typedef {{ x: number, y: number }} Point */
/** @typedef {{ bar: Point, states: Point[], text: Point | null, died: boolean }} Journey `states` are those before, between and after the bytes; the last one is where a forbidden byte dies */

export const FLIGHT = 250; // milliseconds from the bar to the state, and from there to the text
const [BYTE, LONGEST] = [160, 900]; // milliseconds of a byte, and of all bytes at most
const [SHAKE, STAYS, FALL] = [240, 600, 350]; // milliseconds of the byte that dies
const DEEP = 140; // pixels that it falls

/** @param {Point} point where the middle of a part stands */
const at = ({ x, y }) => ({ translate: `calc(${x.toFixed(1)}px - 50%) calc(${y.toFixed(1)}px - 50%)` });

/**
 * The milliseconds of one byte.
 * @param {number} count of bytes
 */
export const paceOf = (count) => Math.min(BYTE, LONGEST / Math.max(1, count));

/**
 * @param {Journey} journey
 * @returns {Move[]}
 */
export function travel({ bar, states, text, died }) {
  const [start, last] = [states[0] ?? bar, states[states.length - 1] ?? bar];
  const count = states.length - 1;
  const pace = paceOf(count);
  const landed = FLIGHT + Math.max(0, count) * pace;
  /** @type {Move[]} */
  const moves = [];
  if (states.length) {
    moves.push(["token", at(bar), at(start), 0, FLIGHT]);
    if (count > 0) moves.push(["token", { opacity: 1 }, { opacity: 0 }, FLIGHT - 1, FLIGHT]);
  }
  for (let place = 0; place < count; place++) {
    const begin = FLIGHT + place * pace;
    const dies = died && place === count - 1;
    moves.push([`byte${place}`, { opacity: 0 }, { opacity: 1 }, FLIGHT - 1, FLIGHT], [`byte${place}`, at(states[place]), at(states[place + 1]), begin, begin + pace]);
    if (!dies) moves.push([`byte${place}`, { opacity: 1 }, { opacity: 0 }, begin + pace - 1, begin + pace]);
  }
  if (died) return [...moves, ...fall(`byte${count - 1}`, at(last), at({ x: last.x, y: last.y + DEEP }), landed)];
  moves.push(["state", { opacity: 0 }, { opacity: 1 }, landed - 1, landed]);
  if (text) {
    const end = landed + FLIGHT;
    if (count > 0) moves.push(["token", { opacity: 0 }, { opacity: 1 }, landed - 1, landed]);
    moves.push(["token", at(last), at(text), landed, end], ["token", { opacity: 1 }, { opacity: 0 }, end - 1, end], ["text", { opacity: 0 }, { opacity: 1 }, end - 1, end]);
  }
  return moves;
}

/**
 * The byte that dies grows, shakes once, stays, and falls.
 * @param {string} part
 * @param {Look} place
 * @param {Look} down
 * @param {number} begin
 * @returns {Move[]}
 */
export const fall = (part, place, down, begin) => [
  [part, { scale: "1", rotate: "0deg" }, { scale: "3", rotate: "-12deg" }, begin, begin + SHAKE / 3],
  [part, { rotate: "-12deg" }, { rotate: "12deg" }, begin + SHAKE / 3, begin + (2 * SHAKE) / 3],
  [part, { rotate: "12deg" }, { rotate: "0deg" }, begin + (2 * SHAKE) / 3, begin + SHAKE],
  [part, place, down, begin + STAYS, begin + STAYS + FALL],
  [part, { opacity: 1 }, { opacity: 0 }, begin + STAYS, begin + STAYS + FALL],
];
