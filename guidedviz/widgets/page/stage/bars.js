// The bars of the next token, from a packed step: at most eight tokens, then all other legal ones and all other forbidden ones.
// Each bar has its probability before the mask and the one that a token is drawn from.

/** @import { Row, Step } from "../types.js" */
import { withCommas } from "../shared/elements.js";

const MOST = 8; // tokens with a row of their own
const NOISE = 2e-4; // what sums of rounded numbers may miss
const FULL = 0.999999; // a legal mass above this counts as 1

/**
 * A row: `key` names it from step to step, `place` counts it in the step's own rows; of a forbidden token `read` is what is read.
 * @typedef {{ key: string, place: number, token: number, label: string, raw: number, drawn: number, legal: boolean, special: boolean, before: string, after: string, stages: number[], read: string, via?: string[] }} Bar
 */

/** @typedef {{ row: number, at: number, number: number, share: number }} Ruler where the pointer stops: in which row, how far along its bar, at which number */

/**
 * @param {Step} step
 * @returns {Bar[]}
 */
export function barsOf(step) {
  const all = step.rows.map((row, place) => barOf(row, place, `t${row[0]}`, step.names?.includes(row[0]), step.reads?.[place]));
  const names = step.changes?.split(" · ") ?? [];
  const stagesAt = (/** @type {number} */ place) => (step.stages ?? []).map((shares) => shares[place]);
  for (const [place, bar] of all.entries()) {
    bar.stages = stagesAt(place);
    bar.via = bar.stages.map((share, stage) => `${sayChance(share)} after ${names[stage]}`);
  }
  if (step.others) {
    const others = step.others.map((row) => barOf(row, -1, row[4] ? "legal" : "forbidden"));
    return [...all, ...others.map((bar) => ({ ...bar, stages: stagesAt(all.length) }))];
  }
  const few = all.filter((bar) => bar.token !== step.token).slice(MOST - 1); // an older record has nine
  const left = all.length > MOST ? all.splice(all.indexOf(few[few.length - 1]), 1) : [];
  return [...all, ...othersOf(step, all, left)];
}

/**
 * @param {Row} row
 * @param {number} place
 * @param {string} key
 * @param {boolean} [special]
 * @param {string} [read]
 * @returns {Bar}
 */
const barOf = ([token, label, raw, drawn, legal, before, after], place, key, special = false, read = "") =>
  ({ key, place, special, read: label.startsWith(read) ? read : "", token, label, raw: Math.max(0, raw), drawn: legal ? drawn : 0, legal, before, after: legal ? sayAfter(before, after) : "0", stages: [] });

/**
 * What an older record leaves to all others.
 * @param {Step} step
 * @param {Bar[]} shown
 * @param {Bar[]} left the rows that are not shown
 * @returns {Bar[]}
 */
function othersOf({ rest = [0, 0, "0", "0"], mass }, shown, left) {
  const raw = left.reduce((sum, bar) => sum + bar.raw, rest[0]);
  const drawn = left.reduce((sum, bar) => sum + bar.drawn, rest[1]);
  const known = shown.reduce((sum, bar) => sum + (bar.legal ? bar.raw : 0), 0);
  const legal = Math.max(0, Math.min(raw, mass - known));
  const [isLegal, isForbidden] = [legal > NOISE || drawn > 0, mass <= FULL && raw - legal > NOISE];
  /** @type {Bar[]} */
  const bars = [];
  if (isLegal) bars.push(barOf([-1, "others legal", legal, drawn, true, sayChance(legal), sayChance(drawn)], -1, "legal"));
  if (isForbidden) bars.push(barOf([-1, "others forbidden", raw - legal, 0, false, sayChance(raw - legal), "0"], -1, "forbidden"));
  return bars;
}

/**
 * An older record says "same" where both texts are equal.
 * @param {string} before
 * @param {string} after
 */
const sayAfter = (before, after) => (after === "same" ? before : after);

/**
 * The legal bars end to end are a ruler from 0 to 1; the pointer stops in the bar of the token that was drawn. Nothing is
 * drawn where a person or a draft chose the token, or where one token has all of the probability.
 * @param {Step} step
 * @param {Bar[]} bars
 * @returns {Ruler | null}
 */
export function rulerOf(step, bars) {
  const row = bars.findIndex((bar) => bar.token === step.token);
  if (step.how !== "sampled" || row < 0 || bars[row].drawn >= 1) return null;
  const before = bars.slice(0, row).reduce((sum, bar) => sum + bar.drawn, 0);
  const share = bars[row].drawn;
  const at = (step.inside ?? 0.5) * share;
  return { row, at, share, number: Math.min(1, before + at) };
}

/**
 * What the mask did to the legal bars.
 * @param {Step} step
 */
export function sayMask({ mass }) {
  if (mass > FULL) return "removed under 0.0001%";
  if (mass <= 0) return "No token is legal here.";
  return `× 1/Z = × ${sayFactor(1 / mass)}`;
}

/** @param {Step} step the part that the mask takes away */
export const removedOf = ({ mass }) => (mass > FULL ? 0 : Math.max(0, 1 - mass));

/**
 * A probability in words, as `sampling.probability` says it.
 * @param {number} p
 */
export function sayChance(p) {
  if (p <= 0) return "0";
  if (p >= 1) return "1";
  if (p < 1e-6) return `1 in 10${raise(Math.round(-Math.log10(p)))}`;
  if (p < 0.01) return `1 in ${withCommas(Number((1 / p).toPrecision(2)))}`;
  return p > 0.995 ? ">0.99" : p.toFixed(2);
}

/** @param {number} power */
const raise = (power) => [...String(power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");

/**
 * A part as a percentage with two or three digits; it is 0% or 100% only if exact.
 * @param {number} part
 */
export function sayShare(part) {
  if (part > 0.999 && part < 1) return ">99.9%";
  return part >= 0.99 && part < 1 ? `${(100 * part).toFixed(1)}%` : `${Number((100 * part).toPrecision(2))}%`;
}

/**
 * A factor that is at least 1, with two significant digits of what it adds.
 * @param {number} factor
 */
export function sayFactor(factor) {
  if (factor > 1e6) return `10${raise(Math.round(Math.log10(factor)))}`;
  const rounded = factor < 2 ? 1 + Number((factor - 1).toPrecision(2)) : Number(factor.toPrecision(2));
  return rounded.toLocaleString("en", { maximumFractionDigits: 8 });
}
