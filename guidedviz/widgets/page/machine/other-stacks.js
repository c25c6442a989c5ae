// Where a text can be read in several ways, each has a stack of its own. They share their outer strips; from the frame where another
// stack leaves the first one, its strips stand beside those of the first.

/** @import { Frame } from "../types.js" */
/** @import { Line } from "./rows.js" */

const MOST = 2; // other stacks that are drawn; the panel says how many there are

/** @typedef {{ frame: Frame, height: number, top: boolean, line: Line, left: number, right: number }} Card a frame of another stack, in percent of the width */

/**
 * @param {Frame[]} frames of the first stack, the innermost first
 * @param {Frame[][]} others the frames of each other one, down to the one where it leaves the first
 * @param {Line[]} lines of the first stack, the outermost first
 * @returns {{ shares: number[], cards: Card[] }} how wide each strip of the first stack is, and the cards beside them
 */
export function placeOthers(frames, others, lines) {
  const shown = others.slice(0, MOST);
  const width = 100 / (shown.length + 1);
  const shares = lines.map(() => 100);
  const highest = lines.length - 1;
  const cards = shown.flatMap((stack, place) => {
    const left = (place + 1) * width;
    const [base] = stack.slice(-1);
    const shared = frames.findIndex(([id]) => id === base[0]);
    const alike = stack.length > 1 && String(frames[shared]) === String(base); // else it is read on there, or stands at another node
    const own = [...stack].reverse().slice(alike ? 1 : 0);
    const first = highest - shared + (alike ? 1 : 0);
    const room = Math.min(own.length, highest - first + 1);
    return Array.from({ length: room }, (_, count) => {
      const last = count === room - 1;
      const level = first + count;
      shares[level] = width;
      const frame = last ? joinFrames(own.slice(count)) : own[count];
      return { frame, height: last ? first + own.length : level + 1, top: last, line: lines[level], left, right: 100 - left - width };
    });
  });
  return { shares, cards };
}

/**
 * Frames on one strip, where the first stack is not so high: the innermost one, after the names of the others.
 * @param {Frame[]} frames the outermost first
 * @returns {Frame}
 */
function joinFrames(frames) {
  const [id, , waits] = frames[frames.length - 1];
  return [id, frames.map(([, rule]) => rule).join(" › "), waits];
}
