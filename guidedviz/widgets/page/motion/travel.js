// The token travels: from its bar to the current state, where it opens into its bytes; each byte slides along its arrow, and
// the token lands in the text. A forced text unrolls: all of its tokens are read in one go, and each lands as its last byte is
// read. A forbidden token stops at the byte that dies, shakes once, and falls.

/** @import { Look, Move } from "./player.js" */

/** @typedef {{ x: number, y: number }} Point */
/** @typedef {{ byte: number, point: Point, begin: number, end: number }} Wait where a byte waits, and when it goes there */
/**
 * @typedef {object} Journey
 * @property {Point} bar
 * @property {Point[]} states before, between and after the bytes; the last one is where a forbidden byte dies
 * @property {Point[]} [starts] where each byte begins, if that is not where the one before it ended
 * @property {Point[][]} [lines] points along the arrow of each byte; without them it goes straight
 * @property {number[]} [begins] when each byte begins, if not at once after the one before it
 * @property {Wait[]} [waits]
 * @property {Point | null} text
 * @property {boolean} died
 */

export const FLIGHT = 250; // milliseconds from the bar to the state, and from there to the text
const [BYTE, LONGEST] = [400, 1200]; // milliseconds of a byte, and of all bytes at most
const [SHAKE, STAYS, FALL] = [240, 600, 350]; // milliseconds of the byte that dies
export const [HIDDEN, SHOWN] = [{ opacity: 0 }, { opacity: 1 }];
const DEEP = 140; // pixels that it falls
const [BELOW, CLEAR] = [56, 18]; // pixels: the token comes from below, clear of the labels, and goes around a loop, not over it
const [TRAIN, BESIDE] = [4, 28]; // bytes that are seen together, and the pixels between them
export const FAINT = 0.45; // how much is seen of a state until its byte has landed

/**
 * @param {string} part
 * @param {number} time
 * @returns {Move}
 */
export const appear = (part, time) => [part, HIDDEN, SHOWN, time - 1, time];

/**
 * @param {string} part
 * @param {number} time
 * @returns {Move}
 */
export const vanish = (part, time) => [part, SHOWN, HIDDEN, time - 1, time];

/**
 * @param {Point} point
 * @param {number} nth byte to the right of it
 */
const beside = ({ x, y }, nth) => ({ x: x + nth * BESIDE, y });

/** @param {Point} point where the middle of a part stands */
export const at = ({ x, y }) => ({ translate: `calc(${x.toFixed(1)}px - 50%) calc(${y.toFixed(1)}px - 50%)` });

/**
 * The milliseconds of one byte.
 * @param {number} count of bytes
 */
export const paceOf = (count) => Math.min(BYTE, LONGEST / Math.max(1, count));

/**
 * @param {Journey} journey
 * @param {number[]} [lengths] the bytes of each token of a forced text
 * @returns {Move[]}
 */
export function travel({ bar, states, starts = states, lines = [], begins, waits = [], text, died }, lengths = []) {
  const [start, last] = [states[0] ?? bar, states[states.length - 1] ?? bar];
  const count = states.length - 1;
  const pace = paceOf(count);
  const times = Array.from({ length: Math.max(0, count) }, (_, place) => begins?.[place] ?? FLIGHT + place * pace);
  const landed = count > 0 ? times[count - 1] + pace : FLIGHT;
  /** @type {Move[]} */
  const moves = [];
  if (states.length) {
    moves.push(...arrive(bar, start));
    if (count > 0) moves.push(vanish("token", FLIGHT));
  }
  /**
   * Where rules are called between bytes, a byte goes with the next ones beside it.
   * @param {number} place
   * @param {Point} from
   * @param {Point} to
   * @param {number} begin
   * @param {number} end
   */
  const go = (place, from, to, begin, end) => {
    for (let next = place; next < Math.min(count, place + TRAIN); next++) {
      moves.push([`byte${next}`, at(beside(from, next - place)), at(beside(to, next - place)), begin, end]);
    }
  };
  times.forEach((begin, place) => {
    const end = begin + pace;
    const opens = begins && place >= TRAIN ? times[place - TRAIN] + pace : FLIGHT;
    moves.push(appear(`byte${place}`, opens), appear(`arrow${place}`, begin));
    if (begins) {
      let [from, left] = place ? [beside(states[place], 1), times[place - 1] + pace] : [states[0], FLIGHT];
      for (const wait of waits.filter(({ byte }) => byte === place)) {
        go(place, from, wait.point, wait.begin, wait.end);
        [from, left] = [wait.point, wait.end];
      }
      if (left < begin) go(place, from, starts[place], left, begin);
      go(place, starts[place], states[place + 1], begin, end);
    } else {
      const line = [starts[place], ...around(starts[place], states[place + 1], lines[place] ?? []), states[place + 1]];
      moves.push(...slide(`byte${place}`, line, begin, end));
    }
    if (!died || place < count - 1) moves.push(vanish(`byte${place}`, end));
  });
  if (died) return [...moves, ...fall(`byte${count - 1}`, at(last), at({ x: last.x, y: last.y + DEEP }), landed)];
  const stays = last.x === start.x && last.y === start.y; // a state that a loop leads back to is not left
  moves.push(["state", { opacity: stays ? FAINT : 0 }, SHOWN, landed - 1, landed], appear("title", landed));
  if (lengths.length > 1) return [...moves, ...unroll(lengths, times.map((time) => time + pace), landed)];
  return text ? [...moves, ...land(last, text, landed, count > 0)] : moves;
}

/**
 * Moves some of which begin before 0: all are late by as much.
 * @param {Move[]} moves
 * @returns {Move[]}
 */
export function inOrder(moves) {
  const wait = Math.max(0, ...moves.map(([, , , begin]) => -begin));
  return moves.map(([part, from, to, begin, end]) => [part, from, to, begin + wait, end + wait]);
}

/**
 * A way along an arrow; that of a loop is wider than the loop, which is seen.
 * @param {Point} from
 * @param {Point} to
 * @param {Point[]} line
 */
const around = (from, to, line) => line.map(({ x, y }) => {
  if (from.x !== to.x || from.y !== to.y) return { x, y };
  const far = 1 + CLEAR / (Math.hypot(x - to.x, y - to.y) || 1);
  return { x: to.x + (x - to.x) * far, y: to.y + (y - to.y) * far };
});

/**
 * The token comes to the machine; one that is there already stays.
 * @param {Point} bar
 * @param {Point} start
 * @returns {Move[]}
 */
function arrive(bar, start) {
  const below = at({ x: start.x, y: start.y + (bar === start ? 0 : BELOW) });
  return [["token", at(bar), below, 0, 0.7 * FLIGHT], ["token", below, at(start), 0.7 * FLIGHT, FLIGHT]];
}

/**
 * A byte goes along a line, at one pace.
 * @param {string} part
 * @param {Point[]} line
 * @param {number} begin
 * @param {number} end
 * @returns {Move[]}
 */
function slide(part, line, begin, end) {
  const count = line.length - 1;
  const easing = count > 1 ? "linear" : "ease-in-out";
  const pace = (end - begin) / count;
  return line.slice(1).map((point, place) => [part, { easing, ...at(line[place]) }, at(point), begin + place * pace, begin + (place + 1) * pace]);
}

/**
 * The token flies from the machine to the text.
 * @param {Point} from
 * @param {Point} text
 * @param {number} begin
 * @param {boolean} again whether it was opened into its bytes
 * @returns {Move[]}
 */
function land(from, text, begin, again) {
  const end = begin + FLIGHT;
  /** @type {Move[]} */
  const moves = [["token", at(from), at(text), begin, end], vanish("token", end), appear("text0", end)];
  return again ? [appear("token", begin), ...moves] : moves;
}

/**
 * The tokens of a forced text land one after the other.
 * @param {number[]} lengths
 * @param {number[]} ends when each byte is read
 * @param {number} landed
 * @returns {Move[]}
 */
function unroll(lengths, ends, landed) {
  let read = 0;
  return lengths.map((length, place) => {
    read += length;
    const end = ends[read - 1] ?? landed;
    return appear(`text${place}`, end);
  });
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
  [part, SHOWN, HIDDEN, begin + STAYS, begin + STAYS + FALL],
];
