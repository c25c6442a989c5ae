// One rule in focus: where the active rule and the strips of all open rules stand. The strips pile upward from the ground, which
// never moves; the highest one is the head of the drawing. Many strips are thin, and where they do not fit, the outer ones are edges.

export const [STRIP, THIN, EDGE, GAP] = [28, 18, 8, 1]; // pixels of a strip, at least, of one of which only the edge is shown, between
const MOST_EDGES = 4;
const [SHARE, LEAST] = [0.75, 0.66]; // of the height is left to a high row, and where it takes room from strips

/** @typedef {{ y: number, high: number }} Line */
/** @typedef {{ strips: Line[], head: Line, row: Line, folded: number }} Places the strips of the callers, the outermost first; the head; the row with its head; and how many strips cannot be read */

/**
 * @param {number} callers
 * @param {number} height pixels for all
 * @param {number} need pixels that the row would like; one that wants all keeps its place
 * @returns {Places}
 */
export function placeRows(callers, height, need) {
  const beside = (/** @type {number} */ share) => height - GAP - Math.min(need + STRIP, share * height);
  let room = Math.max(beside(SHARE), Math.min(beside(LEAST), callers * (THIN + GAP)));
  const strip = Math.max(THIN, Math.min(STRIP, Math.floor(room / callers - GAP))); // no caller, no strip
  let whole = 0;
  while (whole < callers) {
    const edges = Math.min(MOST_EDGES, callers - whole - 1);
    if (whole && room < strip + GAP + edges * (EDGE + GAP)) break;
    room -= strip + GAP;
    whole++;
  }
  const shown = Math.max(1, Math.min(MOST_EDGES, Math.floor(room / (EDGE + GAP)))); // edges
  const strips = [];
  let y = height - GAP;
  for (let place = 0; place < callers; place++) {
    const within = callers - place - whole; // edges between this one and the first whole strip, itself included
    const high = within <= 0 ? strip : within <= shown ? EDGE : 0;
    strips.push({ y: y - high, high });
    if (high) y -= high + GAP;
  }
  const head = { y: y - STRIP, high: STRIP };
  return { strips, head, row: { y: 0, high: need === Infinity ? Math.min(y, SHARE * height) : y }, folded: callers - whole };
}
