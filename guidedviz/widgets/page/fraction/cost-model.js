// The cost model of jump-forward and its words, as the kernel has them in decoding/jump.py and
// views/charts/payoff.py: the page follows the handles without the kernel.

/** @import { FractionRun, FractionText, FractionView, Parts } from "../types.js" */

/**
 * The value of a list at a position between two of its places.
 * @param {number[]} values
 * @param {number} position
 */
export function between(values, position) {
  const low = Math.max(0, Math.min(values.length - 1, Math.floor(position)));
  const high = Math.min(values.length - 1, low + 1);
  return values[low] + (position - low) * (values[high] - values[low]);
}

/**
 * The milliseconds of a pass, and of each token that it reads.
 * @param {FractionView} view
 * @param {number} row a row count, or between two of them
 */
export function pricesOf({ cost, rows }, row) {
  const count = between(rows, row);
  return { own: cost.pass_ms + cost.row_ms * count, each: cost.put_ms + cost.token_ms * count };
}

/** @param {number} share */
export const ideal = (share) => 1 / (1 - share);

/**
 * @param {number} share
 * @param {{ own: number, each: number }} prices
 */
export const modelOf = (share, { own, each }) => (own + each) / ((1 - share) * own + each);

/** @type {WeakMap<object, FractionText>} */
const known = new WeakMap();

/**
 * What is shown: the text of the run at the handles, or of the place.
 * @param {FractionView} view
 * @returns {FractionText}
 */
export function shownText({ runs, texts, place, rows, row }) {
  const run = runs.find((other) => other.place === place && other.rows === rows[row]);
  const key = run ?? texts[place];
  const text = known.get(key) ?? textOf(run?.parts ?? texts[place], run);
  known.set(key, text);
  return text;
}

/**
 * A text with the tokens that each pass reads, of which the last one is free; `rest` needs no pass. The passes that a
 * run made share its tokens.
 * @param {Parts} parts
 * @param {FractionRun} [run]
 * @returns {FractionText}
 */
export function textOf(parts, run) {
  const ends = [0, ...parts.flatMap(([, fixed], at) => (fixed ? [] : [at + 1]))];
  const free = ends.length - 1;
  const [naive, made] = run?.passes ?? [parts.length, free];
  const shared = Array.from({ length: made + 1 }, (_, at) => ends[Math.floor((free * at) / Math.max(1, made))]);
  const read = shared.slice(1).map((end, at) => end - shared[at]);
  return { parts, read, rest: parts.length - shared[made], naive, share: run?.share ?? (parts.length - free) / parts.length, run };
}

/**
 * Rounds as Python does: a half goes to the even number.
 * @param {number} value
 */
function roundEven(value) {
  const low = Math.floor(value);
  return value - low === 0.5 ? low + (low % 2) : Math.round(value);
}

/** @param {number} speedup */
export function sayTimes(speedup) {
  if (!Number.isFinite(speedup)) return "∞×";
  const [digits, scale] = speedup < 10 ? [2, 100] : [1, 10];
  const halves = Number.isInteger(8 * speedup); // only these have a half as their last digit
  return `${(halves ? roundEven(scale * speedup) / scale : speedup).toFixed(digits)}×`;
}

/** @param {number} share */
export const sayShare = (share) => `${roundEven(100 * share)}%`;

/** @param {number} count */
export const sayPasses = (count) => `${count} pass${count === 1 ? "" : "es"}`;

/** @param {number} count */
export const sayRows = (count) => `${count} text${count === 1 ? "" : "s"} side by side`;

/** Two digits at least, for a number of the formula. @param {number} ms */
export const sayNumber = (ms) => (ms >= 0.1 ? ms.toFixed(2) : ms.toPrecision(2));

/**
 * The speed-up of each curve at the rows that are shown.
 * @param {FractionView} view
 * @param {FractionText} text
 */
export function sayCurves(view, { share, run }) {
  return { ideal: sayTimes(ideal(share)), model: sayTimes(modelOf(share, pricesOf(view, view.row))), measured: run ? sayTimes(run.speedup) : "–" };
}

/**
 * @param {FractionView} view
 * @param {FractionText} text
 */
export function sayPlace(view, text) {
  const { parts, read, naive, share, run } = text;
  const says = sayCurves(view, text);
  const rows = view.rows[view.row];
  const side = rows > 1 ? `, ${sayRows(rows)}` : "";
  const measured = run ? `measured ${says.measured}` : "not measured here";
  return `${sayShare(share)} forced: ${parts.length} tokens${side}, ${sayPasses(read.length)} instead of ${naive}; ${measured}, the cost model says ${says.model}, ideal ${says.ideal}`;
}
