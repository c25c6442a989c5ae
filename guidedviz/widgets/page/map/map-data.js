// The vocabulary as a map: one cell per token, in byte order along a Hilbert curve. The kernel sends the layout once and
// each mask once, as bits in byte order. Here are what the page knows of a map, and the cells and tokens of its places.

/** @import { Found, Land, MapState, Place } from "../types.js" */

export const LARGEST = 60; // pixels of a cell, at the deepest zoom and on a map of few tokens
const MOST_RINGS = 300; // found tokens that get a ring each
const DELTA = [1, 0, 0, 1, -1, 0, 0, -1]; // right, down, left, up

/** @returns {MapState} */
export function newMap() {
  const state = { now: 0, stackAsked: null, state: "", focus: -1, hover: -1, marks: [] };
  const known = { land: /** @type {any} */ (null), masks: new Map(), texts: new Map(), reasons: new Map(), found: null };
  return { ...known, ...state, base: 0, zoom: 1, x: 0, y: 0 };
}

/** @param {string} base64 */
export const unpack = (base64) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));

/**
 * Whether the token at a rank is in a mask.
 * @param {Uint8Array} bits
 * @param {number} rank
 */
export const has = (bits, rank) => Boolean((bits[rank >> 3] >> (rank & 7)) & 1);

/**
 * Reads the curve from its moves, two bits each: the cell of every rank, and the rank of every cell.
 * @param {Pick<Land, "count" | "width" | "height" | "moves">} land
 */
export function readCurve({ count, width, height, moves }) {
  const bits = unpack(moves);
  const cells = new Int32Array(count);
  const ranks = new Int32Array(width * height).fill(-1);
  for (let rank = 0, x = 0, y = 0; rank < count; rank++) {
    cells[rank] = y * width + x;
    ranks[cells[rank]] = rank;
    const move = (bits[rank >> 2] >> (2 * (rank & 3))) & 3;
    x += DELTA[2 * move];
    y += DELTA[2 * move + 1];
  }
  return { cells, ranks };
}

/**
 * Takes a message of the kernel.
 * @param {MapState} map
 * @param {any} news
 */
export function updateMap(map, { land, bits = {}, answers = [] }) {
  if (land) {
    const fresh = { ...land, ...readCurve(land), lines: new Path2D(land.borders) };
    Object.assign(map, { land: fresh, masks: new Map(), texts: new Map(), reasons: new Map(), found: null });
  }
  for (const [number, mask] of Object.entries(bits)) map.masks.set(Number(number), unpack(mask));
  for (const { texts, found, why } of answers) {
    if (texts) map.texts.set(texts[0], texts[1]);
    if (why) map.reasons.set(why[0], why[1]);
    if (found) map.found = found.bits ? readFound(map.land, found) : found;
  }
}

/**
 * @param {Land} land
 * @param {{ query: string, count: number, bits: string }} found
 * @returns {Found}
 */
function readFound({ cells }, { query, count, bits }) {
  const found = unpack(bits);
  const ranks = count > MOST_RINGS ? [] : [...cells.keys()].filter((rank) => has(found, rank));
  return { query, count, bits: found, ranks };
}

/**
 * @param {MapState} map
 * @param {{ now: number, asked: number | null, state: string }} shown
 */
export function showMask(map, { now, asked, state }) {
  if (now !== map.now) map.reasons.clear();
  Object.assign(map, { now, stackAsked: asked, state });
}

/** @param {MapState} map */
export const maskNow = (map) => /** @type {Uint8Array} */ (map.masks.get(map.now));

/**
 * The tokens whose mask bit depended on the stack, in byte order.
 * @param {MapState} map
 */
export function stackRanks(map) {
  if (map.stackAsked === null) return new Int32Array(0);
  return new Int32Array(/** @type {Uint8Array} */ (map.masks.get(map.stackAsked)).buffer);
}

/**
 * A token's id, text and bytes. Texts come in chunks: a missing one is asked for once, and until it comes there is none.
 * @param {MapState} map
 * @param {number} rank
 * @param {(ask: string, of: number) => void} ask
 */
export function textOf(map, rank, ask) {
  const chunk = Math.floor(rank / map.land.chunk);
  if (!map.texts.has(chunk)) {
    map.texts.set(chunk, []);
    ask("texts", chunk);
  }
  return map.texts.get(chunk)?.[rank % map.land.chunk];
}

/**
 * @param {MapState} map
 * @param {number} rank
 */
export const placeOf = (map, rank) => /** @type {Place} */ (map.land.places.find(([, , stop]) => rank < stop));

/**
 * How many tokens two masks share.
 * @param {Uint8Array} one
 * @param {Uint8Array} two
 */
export function countShared(one, two) {
  let count = 0;
  for (let i = 0; i < one.length; i++) for (let bits = one[i] & two[i]; bits; bits &= bits - 1) count += 1;
  return count;
}

/**
 * A share of the vocabulary in two digits; nearly all of it is never rounded to 100%.
 * @param {number} part
 */
export function sayShare(part) {
  if (part >= 0.99 && part < 1) return part > 0.999 ? ">99.9%" : `${(100 * part).toFixed(1)}%`;
  return `${Number((100 * part).toPrecision(2))}%`;
}

// --- places ---

/** Pixels of a cell. @param {MapState} map */
export const scaleOf = ({ base, zoom }) => base * zoom;

/**
 * The middle of a token's cell, in pixels.
 * @param {MapState} map
 * @param {number} rank
 * @returns {[x: number, y: number]}
 */
export function pixelOf(map, rank) {
  const [{ width, cells }, scale] = [map.land, scaleOf(map)];
  return [((cells[rank] % width) + 0.5 - map.x) * scale, (Math.floor(cells[rank] / width) + 0.5 - map.y) * scale];
}

/**
 * The token under a pixel, or -1.
 * @param {MapState} map
 * @param {[x: number, y: number]} pixel
 */
export function rankAt({ land: { width, height, ranks }, x, y, base, zoom }, [px, py]) {
  const [column, row] = [Math.floor(x + px / base / zoom), Math.floor(y + py / base / zoom)];
  return column < 0 || row < 0 || column >= width || row >= height ? -1 : ranks[row * width + column];
}

/**
 * Moves the corner of the visible part, as far as the map goes.
 * @param {MapState} map
 * @param {number} x
 * @param {number} y
 */
function moveTo(map, x, y) {
  map.x = Math.max(0, Math.min(map.land.width * (1 - 1 / map.zoom), x));
  map.y = Math.max(0, Math.min(map.land.height * (1 - 1 / map.zoom), y));
}

/**
 * Zooms by a factor about a pixel, by default the middle; the pixel moves to another or keeps its place. The factor 0 shows
 * the whole map.
 * @param {MapState} map
 * @param {number} factor
 * @param {[x: number, y: number]} [pixel]
 * @param {[x: number, y: number]} [to]
 */
export function zoomBy(map, factor, [px, py] = [(map.land.width * map.base) / 2, (map.land.height * map.base) / 2], [toX, toY] = [px, py]) {
  const [x, y] = [map.x + px / scaleOf(map), map.y + py / scaleOf(map)];
  map.zoom = factor ? Math.max(1, Math.min(LARGEST / map.base, map.zoom * factor)) : 1;
  moveTo(map, x - toX / scaleOf(map), y - toY / scaleOf(map));
}

/**
 * Puts the focus on a token, whatever the pointer is on, and scrolls it into sight.
 * @param {MapState} map
 * @param {number} rank
 */
export function focusOn(map, rank) {
  const { width, height, count } = map.land;
  Object.assign(map, { focus: Math.max(0, Math.min(count - 1, rank)), hover: -1 });
  const [x, y] = pixelOf(map, map.focus).map((pixel) => pixel / scaleOf(map));
  const [wide, high] = [width / map.zoom, height / map.zoom];
  if (x < 0 || y < 0 || x > wide || y > high) moveTo(map, map.x + x - wide / 2, map.y + y - high / 2);
}

/**
 * The next found token after the focus, or the focus itself.
 * @param {MapState} map
 */
export function nextFound({ land: { count }, found, focus }) {
  for (let i = 1; found?.bits && i <= count; i++) if (has(found.bits, (focus + i) % count)) return (focus + i) % count;
  return focus;
}

/**
 * The token that a key leads to, or undefined. Arrows follow the byte order and the rows; page keys go from region to region.
 * @param {MapState} map
 * @param {string} key
 * @returns {number | undefined}
 */
export function rankOfKey(map, key) {
  const { land: { count, places }, focus } = map;
  const here = Math.max(0, focus);
  /** @param {number} way */
  const beside = (way) => {
    const [x, y] = pixelOf(map, here);
    const rank = rankAt(map, [x, y + way * scaleOf(map)]);
    return rank < 0 ? focus : rank;
  };
  /** @param {number} way */
  const place = (way) => (places[places.indexOf(placeOf(map, here)) + way] ?? placeOf(map, here))[1];
  /** @type {Record<string, () => number>} */
  const ways = {
    ArrowRight: () => focus + 1, ArrowLeft: () => focus - 1, ArrowDown: () => beside(1), ArrowUp: () => beside(-1),
    Home: () => 0, End: () => count - 1, PageDown: () => place(1), PageUp: () => place(-1),
  };
  return ways[key]?.();
}
