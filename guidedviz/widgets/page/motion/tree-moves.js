// The tree is pruned: how its boxes come from one stop of the slider to another. Illegal boxes are hatched and collapse,
// and their neighbours flow into the room.

/** @import { Move } from "./player.js" */
/** @import { TreeBox } from "../types.js" */

export const [HATCHED, GLIDE] = [250, 600]; // milliseconds

/** @param {number} share */
const wide = (share) => `${(100 * share).toFixed(3)}%`;

/**
 * Where a box is and how wide; one without a probability is not there.
 * @param {TreeBox} box
 * @param {number} stop
 */
export function lookOf({ spans }, stop) {
  const [left, share] = spans[stop];
  return { left: wide(left), width: wide(share), opacity: share > 0 ? 1 : 0 };
}

/**
 * @param {TreeBox[]} boxes
 * @param {number} from a stop of the slider
 * @param {number} to
 * @returns {Move[]}
 */
export function treeMoves(boxes, from, to) {
  const begin = from === 0 && boxes.some(({ legal }) => !legal) ? HATCHED : 0;
  const end = begin + GLIDE;
  return boxes.flatMap((box, place) => {
    const [{ opacity, ...start }, { opacity: after, ...stop }] = [lookOf(box, from), lookOf(box, to)];
    /** @type {Move[]} */
    const moves = [[`box ${place}`, start, stop, begin, end]];
    if (box.legal) moves.push([`said ${place}`, { count: box.spans[from][1] }, { count: box.spans[to][1] }, begin, end]);
    else if (opacity > after) moves.push([`hatch ${place}`, { opacity: 0 }, { opacity: 1 }, 0, begin], [`box ${place}`, { opacity }, { opacity: after }, end - 1, end]);
    else if (opacity < after) moves.push([`hatch ${place}`, { opacity: 1 }, { opacity: 0 }, end, end + HATCHED], [`box ${place}`, { opacity }, { opacity: after }, 0, 1]);
    return moves;
  });
}
