// The next token: a row per candidate with its probability before the mask (outlined) and after it (filled), the bin, which
// what the mask took away passed through, the pointer that drew the token, and why a forbidden token is illegal.

/** @import { Bar, Ruler } from "./bars.js" */
/** @import { StageView, Step } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
import { lettersOf, specialPart, withCommas } from "../shared/elements.js";
import { barsOf, removedOf, rulerOf, sayMask, sayShare } from "./bars.js";
import { dotsPart } from "./dots.js";
import { isEnded, isFixed, placeShown, shownStep } from "./view.js";

const BLANK = "The probabilities of the next token will stand here.";
const UNASKED = "The text is fixed here, so the model is not asked and there is no distribution.";
const ALONE = "Press a forbidden token to read why.";

/** @param {number} share */
const wide = (share) => ({ vars: { "--share": share } });

/**
 * The name of a token, or of all others; a sign before it says that it was drawn, or is forbidden. What of it is read is not struck.
 * @param {Bar} bar
 * @param {boolean} chosen
 * @param {string[]} names the special tokens of the prompt
 * @returns {Part}
 */
function namePart({ key, token, label, legal, special, read }, chosen, names) {
  const sign = chosen ? "▸" : legal || token < 0 ? "" : "✕";
  return ["span.gv-who", ["b", { "aria-hidden": true, "data-move": chosen ? "chosen" : `${key}.cross` }, sign],
    ["span.gv-name", { "data-move": `${key}.name` }, ...(special || names.includes(label) ? [specialPart(label)] : [["span.gv-read", ...lettersOf(read)], ...lettersOf(label.slice(read.length))])]];
}

/**
 * @param {Bar} bar
 * @param {boolean} chosen
 * @param {(token: number) => void} pick
 * @param {string[]} names the special tokens of the prompt
 * @returns {Part}
 */
function rowPart(bar, chosen, pick, names) {
  const { key, place, token, label, raw, drawn, legal, before, after, via = [] } = bar;
  const signs = token >= 0 && !/\w/.test(label);
  const look = (legal ? "" : ".gv-struck") + (chosen ? ".gv-chosen" : "") + (signs ? ".gv-signs" : "");
  const said = [`${before} from the model`, ...(legal ? [...via, `drawn from ${after}`] : ["forbidden"])].join(", ");
  const about = token < 0 ? {} : { "data-part": "row", "data-token": token, click: () => pick(token) };
  return [`${token < 0 ? "div.gv-rest" : "button"}.gv-row${look}`, { ...about, "data-move": key, title: said },
    ["kbd", { "aria-hidden": true }, token < 0 ? "" : place + 1],
    namePart(bar, chosen, names),
    ["span.gv-bars", { "aria-hidden": true, "data-part": "bar" },
      ["i.gv-after", { "data-move": `${key}.after`, ...wide(legal ? drawn : raw) }],
      ["i.gv-gain", { "data-move": `${key}.gain` }],
      ["i.gv-before", { "data-move": `${key}.before`, ...wide(raw) }],
      ["span.gv-number", ["i", { "data-move": `${key}.end`, ...wide(Math.max(raw, drawn)) }], ["b.gv-said", { "data-move": `${key}.said` }, after]]],
    ["span.gv-heard", said]];
}

/**
 * The rows, the mask that falls over them, the pointer, and the bin.
 * @param {Bar[]} bars
 * @param {number} chosen the token that was taken, or NaN
 * @param {Ruler | null} ruler
 * @param {number} removed
 * @param {(token: number) => void} pick
 * @param {string[]} [names] the special tokens of the prompt
 * @returns {Part}
 */
export const fallPart = (bars, chosen, ruler, removed, pick, names = []) => ["div.gv-fall",
  ["div.gv-rows", { vars: { "--rows": bars.length } }, ...bars.map((bar) => rowPart(bar, chosen === bar.token, pick, names)),
    ["i.gv-mask", { "aria-hidden": true, "data-move": "mask" }],
    ["div.gv-tracks", { "aria-hidden": true, hidden: !ruler },
      ["i.gv-pointer", { "data-move": "pointer", vars: { "--share": ruler?.at, "--row": ruler?.row } }]]],
  ["div.gv-bin", { role: "meter", "aria-label": "removed by the mask", "aria-valuemax": 1, "aria-valuenow": removed.toFixed(3), "aria-valuetext": sayShare(removed), "data-part": "bin" },
    ["i", { "data-move": "bin", ...wide(removed) }]]];

/**
 * The number that was drawn; an older record does not have it.
 * @param {Step} step
 * @param {Ruler} ruler
 */
const sayNumber = ({ inside }, { number }) => (typeof inside === "number" ? `drawn at ${number.toFixed(2)}` : "drawn");

/**
 * What is said below the rows: the factor of the legal bars, the number that was drawn, and what stands in the bin.
 * @param {Step} step
 * @param {Ruler | null} ruler
 * @param {boolean} [free] there is no mask
 * @returns {Part}
 */
export function scalePart(step, ruler, free) {
  const removed = free ? 0 : removedOf(step);
  return ["p.gv-scale", [removed ? "b" : "span", { "data-move": "scale" }, free ? "" : sayMask(step)],
    ["span.gv-drawn", { hidden: !ruler, "data-move": "number" }, ruler && sayNumber(step, ruler)],
    ["b.gv-removed", { hidden: !removed, "data-move": "removed" }, `removed ${sayShare(removed)}`]];
}

/**
 * Why a token is illegal: its bytes up to the one that fails, where the machine stood then, and what it expected.
 * @param {StageView} view
 * @returns {Part}
 */
function whyPart({ why }) {
  const about = { class: "gv-why", "aria-live": "polite", hidden: !why };
  if (!why) return ["div", about];
  const [, state, fate] = why.rows.at(-1) ?? [];
  const where = [state && `in ${state}`, fate, why.stack.length && `stack, top first: ${why.stack.join(", ")}`];
  return ["div", about,
    ["p", ["strong", "why is ", ["code", ...lettersOf(why.label)], " illegal here? "],
      ...why.rows.map(([byte, , , died]) => [died ? "code.gv-byte.gv-died" : "code.gv-byte", died ? `${byte} ✕` : byte])],
    ["p", why.reason], ["p.gv-soft", where.filter(Boolean).join(" · ")]];
}

/**
 * What a press would do.
 * @param {StageView} view
 * @param {Step} step
 */
function sayPress(view, { how, rows }) {
  if (how === "forced") return UNASKED;
  const forbidden = !view.head.free && rows.some(([, , , , legal]) => !legal);
  const legal = rows.some(([, , , , isLegal]) => isLegal);
  if (isFixed(view) || isEnded(view) || !legal) return forbidden ? ALONE : "";
  return `Press a bar to take that token${forbidden ? "; press a forbidden one to read why." : "."}`;
}

/**
 * What changed the bars after the mask, each by its name, which is lit as it does so.
 * @param {Step} step
 * @returns {Part[]}
 */
const changesPart = ({ changes = "" }) => changes.split(" · ").map((name, place) => ["span", { "data-move": `change${place}` }, place ? ` · ${name}` : name]);

/**
 * @param {StageView} view
 * @param {Step} step
 * @param {number} place
 * @returns {Part[]}
 */
function headOf({ steps, cursor, head }, step, place) {
  const title = step === steps[cursor - 1] ? "the last draw" : place < 0 ? "next token" : `token ${place + 1}`;
  const named = [["strong.gv-title", title], ["span.gv-changes", { hidden: !step.changes }, ...changesPart(step)]];
  if (head.free) return [...named, ["span.gv-legal", "no mask"]];
  return [...named, dotsPart(step.legal, head.vocabulary),
    ["span.gv-legal", `${withCommas(step.legal)} of ${withCommas(head.vocabulary)} legal`]];
}

/**
 * What an outline, a filled bar and a hatched one mean.
 * @param {Step} step
 * @param {boolean | undefined} free
 * @returns {Part}
 */
function legendPart({ changes, after }, free) {
  const before = changes || free ? "the model" : "before";
  const drawn = changes || free ? "drawn from" : after;
  const forbidden = free ? [] : [["span", ["i.gv-no"], "forbidden"]];
  return ["p.gv-legend", { "aria-hidden": true }, ["span", ["i.gv-before"], before], ["span", ["i.gv-after"], drawn], ...forbidden];
}

/**
 * The token that the pointer draws: of a step that is taken, or of the next one where it is computed. A recording that is
 * played from the start does not say it before. Where no token is legal none is drawn.
 * @param {StageView} view
 * @param {Step} step
 */
export const chosenNow = (view, step) => (step.token >= 0 && (placeShown(view) >= 0 || step === view.next) ? step.token : NaN);

/**
 * Without a constraint no token is forbidden, but for the special ones that nobody can write: they are not shown.
 * @param {Bar[]} bars
 * @returns {Bar[]}
 */
const freeBars = (bars) =>
  bars.filter(({ legal }) => legal).map((bar) => (bar.key === "legal" ? { ...bar, label: "all others" } : bar));

/**
 * What the motion of this panel is made of.
 * @param {StageView} view
 * @param {Step} step
 */
export function shownOf(view, step) {
  const bars = view.head.free ? freeBars(barsOf(step)) : barsOf(step);
  const token = chosenNow(view, step);
  const chosen = bars.findIndex((bar) => bar.token === token);
  const ruler = Number.isNaN(token) ? null : rulerOf(step, bars);
  return { bars, ruler, chosen, mass: step.mass, removed: view.head.free ? 0 : removedOf(step), changes: step.changes ? (step.stages?.length ?? 0) + 1 : 0 };
}

/**
 * @param {StageView} view
 * @param {(token: number) => void} pick
 * @returns {Part}
 */
export function nextPart(view, pick) {
  const { head: { parts = [] }, why, machine } = view;
  const step = shownStep(view);
  const look = `${step?.how === "forced" ? " gv-unasked" : ""}${view.head.free ? " gv-free" : ""}`;
  const about = { role: "group", class: `gv-panel${look}`, "data-slot": "next", "data-part": "next", "aria-label": "next token" };
  if (!step) return ["div", about, ["div.gv-panel-head", ["strong.gv-title", "next token"]], ["p.gv-blank.gv-soft", BLANK]];
  const facts = machine ? [] : [["state", step.state], ["stack", [...step.stack].reverse().join(" › ")]];
  const { bars, ruler, removed } = shownOf(view, step);
  return ["div", about,
    ["div.gv-panel-head", ...headOf(view, step, placeShown(view))],
    legendPart(step, view.head.free),
    fallPart(bars, chosenNow(view, step), ruler, removed, pick, parts.filter((_, at) => at % 2)),
    scalePart(step, ruler, view.head.free),
    ["div.gv-reason", { "data-part": "why" }, whyPart(view), ["p.gv-hint.gv-soft", { hidden: Boolean(why) }, sayPress(view, step)],
      ["dl.gv-facts", ...facts.flatMap(([name, value]) => (value ? [["dt", name], ["dd", value]] : []))]]];
}
