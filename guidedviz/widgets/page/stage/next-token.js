// The next token: a row per candidate with its probability before (outlined) and after (filled), the meters, and why a
// forbidden token is illegal.

/** @import { Rest, Row, StageView, Step } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
import { lettersOf, specialPart, tokenPart, withCommas } from "../shared/elements.js";
import { isEnded, placeShown, shownStep } from "./view.js";

const BLANK = "The probabilities of the next token will stand here.";
const UNASKED = "The text is fixed here, so the model is not asked and there is no distribution.";
const ALONE = "Press a forbidden token to read why.";

/**
 * @param {number} raw
 * @param {number} drawn
 * @returns {Part}
 */
const bars = (raw, drawn) => ["span.gv-bars", { "aria-hidden": true, "data-part": "bar" },
  ["span.gv-before", { vars: { "--share": raw } }], ["span.gv-after", { vars: { "--share": drawn } }]];

/**
 * @param {Row} row
 * @param {number} place
 * @param {boolean} chosen
 * @param {boolean} one whether before and after are the same
 * @param {(token: number) => void} pick
 * @param {string[]} names the special tokens of the prompt
 * @returns {Part}
 */
function rowPart([token, label, raw, drawn, legal, rawText, drawnText], place, chosen, one, pick, names) {
  const look = (legal ? "" : ".gv-struck") + (chosen ? ".gv-chosen" : "") + (label.length === 1 ? ".gv-single" : label.length > 6 ? ".gv-long" : "");
  return [`button.gv-row${look}`, { "data-part": "row", "data-token": token, click: () => pick(token) },
    ["kbd", { "aria-hidden": true }, place + 1],
    names.includes(label) ? ["span.gv-name", specialPart(label)] : tokenPart(label), bars(raw, drawn),
    ["span.gv-said", sayChange(rawText, drawnText, one)]];
}

/**
 * @param {string} before
 * @param {string} after
 * @param {boolean} one
 */
const sayChange = (before, after, one) => (one ? before : `${before} → ${after}`);

/**
 * Where before and after are the same, one bar is enough.
 * @param {Row[]} rows
 * @param {number} chosen the token that was taken
 * @param {Rest} rest
 * @param {boolean} one
 * @param {(token: number) => void} pick
 * @param {string[]} [names] the special tokens of the prompt
 * @returns {Part}
 */
export const rowsPart = (rows, chosen, [raw, drawn, rawText, drawnText], one, pick, names = []) => [one ? "div.gv-rows.gv-free" : "div.gv-rows",
  ...rows.map((row, place) => rowPart(row, place, chosen === row[0], one, pick, names)),
  ["div.gv-row.gv-rest", ["kbd"], ["span.gv-name", "all others"], bars(raw, drawn),
    ["span.gv-said", sayChange(rawText, drawnText, one)]]];

/**
 * @param {string} label
 * @param {number} share
 * @param {string} words
 * @returns {Part}
 */
export const meterPart = (label, share, words) => ["div.gv-meter", ["span", label],
  ["span.gv-track", { role: "meter", "aria-label": label, "aria-valuemax": 1, "aria-valuenow": share.toFixed(3) },
    ["span.gv-fill", { vars: { "--share": share } }]], ["b", words]];

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
  const forbidden = rows.some(([, , , , legal]) => !legal);
  if (!view.head.live || view.alone || isEnded(view)) return forbidden ? ALONE : "";
  return `Press a bar to take that token${forbidden ? "; press a forbidden one to read why." : "."}`;
}

/**
 * @param {StageView} view
 * @param {Step} step
 * @param {number} place
 * @param {boolean} one
 * @returns {Part[]}
 */
function headOf({ steps, cursor }, step, place, one) {
  const title = step === steps[cursor - 1] ? "the last draw" : place < 0 ? "next token" : `token ${place + 1}`;
  return [["strong.gv-title", title], ["span.gv-changes", { hidden: !step.changes }, step.changes],
    ["span.gv-legend", { hidden: one }, ["i.gv-before"], step.changes ? "before (the model)" : "before", ["i.gv-after"], ["span", step.changes ? "drawn from" : step.after]]];
}

/**
 * @param {StageView} view
 * @param {(token: number) => void} pick
 * @returns {Part}
 */
export function nextPart(view, pick) {
  const { head: { parts = [], vocabulary }, why, machine } = view;
  const step = shownStep(view);
  const about = { role: "group", class: `gv-panel${step?.how === "forced" ? " gv-unasked" : ""}`, "data-slot": "next", "data-part": "next", "aria-label": "next token" };
  if (!step) return ["div", about, ["div.gv-panel-head", ["strong.gv-title", "next token"]], ["p.gv-blank.gv-soft", BLANK]];
  const [place, one] = [placeShown(view), step.free];
  const facts = machine ? [] : [["state", step.state], ["stack", [...step.stack].reverse().join(" › ")]];
  return ["div", about,
    ["div.gv-panel-head", ...headOf(view, step, place, one)],
    ["div.gv-meters", meterPart("legal mass Z", step.mass, step.massText),
      meterPart("legal", step.legal / vocabulary, `${withCommas(step.legal)} of ${withCommas(vocabulary)}`)],
    rowsPart(step.rows.slice(0, 9), place < 0 ? NaN : step.token, step.rest, one, pick, parts.filter((_, at) => at % 2)),
    ["div.gv-reason", { "data-part": "why" }, whyPart(view), ["p.gv-hint.gv-soft", { hidden: Boolean(why) }, sayPress(view, step)],
      ["dl.gv-facts", ...facts.flatMap(([name, value]) => (value ? [["dt", name], ["dd", value]] : []))]]];
}
