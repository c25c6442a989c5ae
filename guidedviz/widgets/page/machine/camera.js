// Where a drawing stands in its panel: whole while its labels can be read, else close up on a part.

/** @typedef {{ x: number, y: number, rx: number, ry: number }} Spot the middle of a part and half its size */
/** @typedef {Spot & { ends: Spot[] }} Path the spot around a path, and those around its last arrow and its last state */
/** @typedef {{ scale: number, x: number, y: number }} Camera pixels per unit, and where the drawing's corner stands */
/** @typedef {[wide: number, high: number]} Size */
/** @typedef {{ least: number, most: number, whole?: boolean }} Scales for labels that can be read, and the largest ones */

export const LESS = 0.85; // of it is better than a machine, or a last arrow, that is cut by a little
const EDGE = 18; // pixels of a border, where a drawing fades

/**
 * @param {Size} size of the drawing
 * @param {Size} room pixels
 * @param {Scales} scales
 * @param {Path | null} at what must be seen: all of it, or its last arrow, or its end
 * @returns {Camera}
 */
export function aim(size, room, { least, most, whole }, at) {
  const fit = Math.min(most, room[0] / size[0], room[1] / size[1]);
  const isCut = (/** @type {number} */ by) => at && (at.ends[0].rx * by > room[0] / 2 - EDGE || at.ends[0].ry * by > room[1] / 2 - EDGE);
  const close = isCut(least) && !isCut(LESS * least) ? LESS * least : least;
  const scale = whole || fit >= LESS * least ? fit : close;
  /**
   * @param {"x" | "y"} name
   * @param {"rx" | "ry"} half
   * @param {0 | 1} side
   */
  const place = (name, half, side) => {
    const free = room[side] - size[side] * scale;
    if (free >= 0 || !at) return Math.max(0, free / 2);
    const [end] = at.ends.slice(-1);
    const seen = [at, ...at.ends].find((spot) => 2 * spot[half] * scale <= room[side]) ?? end;
    const slack = Math.max(0, room[side] / 2 - EDGE - seen[half] * scale); // the end is as near to the middle as it allows
    const aside = Math.max(-slack, Math.min(slack, (seen[name] - end[name]) * scale));
    return Math.max(free, Math.min(0, room[side] / 2 - seen[name] * scale + aside));
  };
  return { scale, x: place("x", "rx", 0), y: place("y", "ry", 1) };
}

/**
 * @param {Spot[]} spots the states of a path
 * @returns {Path | null}
 */
export function around(spots) {
  if (!spots.length) return null;
  return { ...box(spots), ends: [box(spots.slice(-2)), box(spots.slice(-1))] };
}

/**
 * The spot around several spots.
 * @param {Spot[]} spots
 * @returns {Spot}
 */
function box(spots) {
  const [left, top] = [Math.min(...spots.map(({ x, rx }) => x - rx)), Math.min(...spots.map(({ y, ry }) => y - ry))];
  const [right, bottom] = [Math.max(...spots.map(({ x, rx }) => x + rx)), Math.max(...spots.map(({ y, ry }) => y + ry))];
  return { x: (left + right) / 2, y: (top + bottom) / 2, rx: (right - left) / 2, ry: (bottom - top) / 2 };
}

/**
 * A point of a drawing in pixels of its panel.
 * @param {Camera} camera
 * @param {import("../motion/travel.js").Point} point
 */
export const toPixels = ({ scale, x: left, y: top }, { x, y }) => ({ x: left + x * scale, y: top + y * scale });

/**
 * A camera as a transform of a drawing that has the size of another scale.
 * @param {Camera} camera
 * @param {number} scale
 */
export const transformOf = ({ x, y, scale: own }, scale) => `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) scale(${(own / scale).toFixed(4)})`;
