// One rule in focus: where the strips of the open rules and the row of the active rule stand. The outermost rule hangs from the
// ground, which never moves; where not all strips fit, the outer ones become edges, and the others are only counted.


export const [STRIP, EDGE, GAP] = [28, 8, 3]; // pixels of a strip, of one of which only the edge is shown, and between them
const MOST_EDGES = 4;
const SHARE = 0.7; // of the height is left to a high row

/** @typedef {{ y: number, high: number }} Line */
/** @typedef {{ strips: Line[], row: Line }} Places the strips of the callers, the outermost first, and the row */

/**
 * @param {number} callers
 * @param {number} height pixels for all
 * @param {number} need pixels that the row would like; one that wants all keeps its place
 * @returns {Places}
 */
export function placeRows(callers, height, need) {
  let room = height - GAP - Math.min(need + STRIP, SHARE * height);
  let whole = 0;
  while (whole < callers) {
    const edges = Math.min(MOST_EDGES, callers - whole - 1);
    if (whole && room < STRIP + GAP + edges * (EDGE + GAP)) break;
    room -= STRIP + GAP;
    whole++;
  }
  const strips = [];
  let y = GAP;
  for (let place = 0; place < callers; place++) {
    const within = callers - place - whole; // edges between this one and the first whole strip, itself included
    const high = within <= 0 ? STRIP : within <= MOST_EDGES ? EDGE : 0;
    strips.push({ y, high });
    if (high) y += high + GAP;
  }
  if (need === Infinity) y = Math.max(y, (1 - SHARE) * height);
  return { strips, row: { y, high: height - y } };
}
