// A field of dots for the vocabulary: one dot per token, per ten, per hundred or per thousand. The legal ones are lit.

/** @import { Part } from "../shared/parts.js" */

const MOST = 132; // dots
const [HIGH, PITCH] = [3, 5]; // dots of a column, and pixels from one to the next

/**
 * How many tokens a dot stands for.
 * @param {number} vocabulary
 */
export const unitOf = (vocabulary) => [1, 10, 100, 1000].find((unit) => vocabulary <= unit * MOST) ?? 10000;

/**
 * How many dots there are, and how many are lit: none exactly where nothing is legal, all exactly where all is.
 * @param {number} legal
 * @param {number} vocabulary
 */
export function countDots(legal, vocabulary) {
  const unit = unitOf(vocabulary);
  const all = Math.ceil(vocabulary / unit);
  const lit = legal === vocabulary ? all : Math.min(all - 1, Math.ceil(legal / unit));
  return { unit, all, lit };
}

/**
 * @param {number} from
 * @param {number} to
 */
const path = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, place) =>
  `M${PITCH * Math.floor((from + place) / HIGH) + 2.5} ${PITCH * ((from + place) % HIGH) + 2.5}h0`).join("");

/** @param {{ legal: number, vocabulary: number }} counts */
function field({ legal, vocabulary }) {
  const { unit, all, lit } = countDots(legal, vocabulary);
  const width = PITCH * Math.ceil(all / HIGH);
  const said = unit === 1 ? "one dot per token" : `one dot per ${unit.toLocaleString("en")} tokens`;
  return ["svg", { viewBox: `0 0 ${width} ${PITCH * HIGH}`, width, height: PITCH * HIGH, class: "gv-dots", "aria-hidden": true },
    ["title", said], ["path", { d: path(lit, all) }], ["path", { class: "gv-lit-dots", d: path(0, lit) }]];
}

/**
 * It is painted again only where a count is another one.
 * @param {number} legal
 * @param {number} vocabulary
 * @returns {Part}
 */
export const dotsPart = (legal, vocabulary) => [field, { legal, vocabulary }];
