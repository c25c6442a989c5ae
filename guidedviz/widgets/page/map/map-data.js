// The vocabulary as a map: one cell per token, in byte order along a Hilbert curve. The kernel sends the layout once and
// each mask once, as bits in byte order. The page keeps them, so a step back costs nothing.

/** @import { Found, Land, MapState, Place } from "../types.js" */

const MOST_RINGS = 300; // found tokens that get a ring each
const DELTA = [1, 0, 0, 1, -1, 0, 0, -1]; // right, down, left, up

/**
 * Whether the token at a rank is in a mask.
 * @param {Uint8Array} bits
 * @param {number} rank
 */
export const has = (bits, rank) => Boolean((bits[rank >> 3] >> (rank & 7)) & 1);

/** @param {string} base64 */
export function unpack(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

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
 * A share of the vocabulary in two digits; nearly all of it is never rounded to 100%.
 * @param {number} part
 */
export function sayShare(part) {
  if (part >= 0.99 && part < 1) return part > 0.999 ? ">99.9%" : `${(100 * part).toFixed(1)}%`;
  return `${Number((100 * part).toPrecision(2))}%`;
}

/** @returns {MapState} */
export function newMap() {
  return {
    land: /** @type {any} */ (null), // comes with the first message
    masks: new Map(),
    texts: new Map(),
    asked: new Set(),
    reasons: new Map(),
    found: null,
    now: 0,
    before: null,
    stackAsked: null,
    state: "",
    stateBefore: "",
    xor: false,
    focus: -1,
    hover: -1,
    marks: [],
    zoom: 1,
    x: 0,
    y: 0,
  };
}

/**
 * Takes a message of the kernel.
 * @param {MapState} map
 * @param {any} news
 */
export function updateMap(map, news) {
  if (news.land) {
    map.land = { ...news.land, ...readCurve(news.land), lines: new Path2D(news.land.borders) };
    Object.assign(map, { masks: new Map(), texts: new Map(), asked: new Set(), found: null });
  }
  for (const [number, bits] of Object.entries(news.bits)) map.masks.set(Number(number), unpack(bits));
  for (const { texts, found, why } of news.answers ?? []) {
    if (texts) map.texts.set(texts[0], texts[1]);
    if (why) map.reasons.set(why[0], why[1]);
    if (found) map.found = found.bits ? readFound(map.land, found) : found;
  }
}

/**
 * Shows a mask, beside one to compare it with.
 * @param {MapState} map
 * @param {{ now: number, asked: number | null, before: number | null, states: string[] }} shown
 */
export function showMasks(map, { now, asked, before, states: [state, stateBefore = ""] }) {
  if (now !== map.now) map.reasons.clear();
  Object.assign(map, { now, before, stackAsked: asked, state, stateBefore });
}

/**
 * @param {Land} land
 * @param {{ query: string, count: number, bits: string }} found
 * @returns {Found}
 */
function readFound(land, { query, count, bits }) {
  const found = { query, count, bits: unpack(bits), ranks: /** @type {number[]} */ ([]) };
  if (count > MOST_RINGS) return found;
  for (let rank = 0; rank < land.count; rank++) if (has(found.bits, rank)) found.ranks.push(rank);
  return found;
}

/** @param {MapState} map */
export const maskNow = (map) => /** @type {Uint8Array} */ (map.masks.get(map.now));

/**
 * The tokens whose mask bit depended on the stack, in byte order. Two compared masks show none.
 * @param {MapState} map
 */
export function stackRanks(map) {
  if (map.stackAsked === null || map.xor) return new Int32Array(0);
  return new Int32Array(/** @type {Uint8Array} */ (map.masks.get(map.stackAsked)).buffer);
}

/**
 * A token's id, text and bytes. Texts come in chunks: where one is missing it is asked for, and the answer is null.
 * @param {MapState} map
 * @param {number} rank
 * @param {(ask: string, of: number) => void} ask
 */
export function textOf(map, rank, ask) {
  const chunk = Math.floor(rank / map.land.chunk);
  const texts = map.texts.get(chunk);
  if (texts) return texts[rank - chunk * map.land.chunk];
  if (!map.asked.has(chunk)) {
    map.asked.add(chunk);
    ask("texts", chunk);
  }
  return null;
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
