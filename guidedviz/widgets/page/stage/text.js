// The text: the prompt, one chip per token, what is said of the step, and the tip that shows what else could have come.

/** @import { Step, StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { lettersOf, specialPart, tokenPart } from "../shared/elements.js";
import { turnsParts } from "./turns.js";
import { currentChip, isFixed } from "./view.js";

/** @type {Record<string, string>} */
const ENDS = { max_tokens: "limit", context: "context", stop: "stopped", complete: "complete", refused: "refused", cut: "cut" };
const [ROW, TOP, MARGIN] = [44, 4, 2]; // pixels of a row of the text, above the tokens of the first one, and around a token; the style sheet says the same
const LONG = 150; // letters of a prompt that has room in two rows
const [WIDE, NARROW] = [[24, 12], [14, 10]]; // letters at the ends of a text that is folded
const SHORT = 8; // letters of a text that asks nothing, as "user" and a line end
const NO_STEP = "no step yet · press play, or → for one step";

/**
 * What the classes say of a token at the cursor of the view; the bars above the scrubber say the same.
 * @param {StageView} view
 * @param {number} place
 */
export const lookOf = ({ cursor, stale, seen }, place) =>
  (place === cursor - 1 ? ".gv-now" : "") + (place < cursor ? "" : stale.includes(place) ? ".gv-ahead.gv-stale" : ".gv-ahead") + (place < seen ? "" : ".gv-unseen");

/**
 * @param {{ step: Step, place: number, look: string, special: boolean, reached: boolean, isNext: boolean, tip: string | undefined }} token
 * @returns {Part}
 */
function chip({ step, place, look, special, reached, isNext, tip }) {
  const { how, dropped, end, label, masked, maskedText } = step;
  const below = { sampled: maskedText, none: "end", forced: "forced", inserted: "inserted", accepted: `✓ ${maskedText}`, given: maskedText }[how];
  const about = { "data-move": isNext ? "ahead" : undefined, "aria-description": `go back to before token ${place + 1}`, "aria-describedby": tip, "data-part": "token", "data-place": place };
  return [`button.gv-chip.gv-how-${how}${look}`, { tabindex: reached ? 0 : -1, vars: { "--p": masked }, ...about },
    special ? ["span.gv-name", specialPart(label)] : tokenPart(label), ["small", { "data-end": ENDS[end] }, dropped && ["del", { title: "rejected draft" }, dropped], dropped && " ", below]];
}

/**
 * The prompt. Of a long one there are the last question and the end, with their special tokens; a press on what is left
 * out shows all.
 * @param {{ text: string, parts: string[] | undefined, whole: boolean, narrow: boolean, show: () => void, edit: StageActions["editPrompt"] | undefined }} prompt
 */
function prompt({ text, parts = [text], whole, narrow, show, edit }) {
  const folded = !whole && parts.join("").length > LONG;
  const questions = parts.map((part, place) => (place % 2 === 0 && place < parts.length - 1 && part.length > SHORT ? place : 0));
  const start = folded ? Math.max(0, Math.max(...questions) - 1) : 0; // the special token before the last question
  const [first, last] = narrow ? NARROW : WIDE;
  const more = ["button.gv-prompt-more", { "aria-label": "show the whole prompt", title: "show the whole prompt", click: show }, "…"];
  /** @param {string} part */
  const fold = (part) => {
    const letters = [...part];
    if (!folded || letters.length <= first + last + 1) return lettersOf(part);
    return [...lettersOf(letters.slice(0, first).join("")), more, ...lettersOf(letters.slice(-last).join(""))];
  };
  return ["span.gv-prompt", { "aria-label": "prompt", title: edit && "press to edit it", click: edit }, start > 0 && more,
    ...parts.flatMap((part, place) => (place < start ? [] : place % 2 ? [["wbr"], specialPart(part)] : fold(part)))];
}

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @param {string} tipId
 * @param {Record<string, (event: any) => void>} on
 * @returns {Part}
 */
export function tapePart(view, act, tipId, on) {
  const { steps, cursor, tip, linked, edit: edited, head, whole, narrow } = view;
  const gone = new Set(steps.slice(0, cursor).flatMap((step) => step.back));
  const chips = steps.map((step, place) => {
    const look = lookOf(view, place) + (gone.has(place) ? ".gv-gone" : "") + (linked.has(place) ? ".gv-linked" : "") + (edited?.place === place ? ".gv-rejected" : "");
    const special = (Boolean(head.parts) && step.end === "eos") || Boolean(step.names?.includes(step.token));
    return [chip, { step, place, look, special, reached: place === currentChip(view), isNext: place === view.cursor, tip: tip?.place === place ? tipId : undefined }];
  });
  const [before, after] = turnsParts(view, act);
  const edit = head.asked === undefined || isFixed(view) ? undefined : act.editPrompt;
  const asked = edit && view.learning && view.prompting === head.asked ? view.learning.promptField(view, act)
    : [prompt, { text: head.prompt, parts: head.parts, whole, narrow, show: act.showPrompt, edit }];
  return ["div.gv-tape", asked, before, ["span.gv-chips", on, ...chips], after];
}

/**
 * @param {StageView} view
 * @returns {Part}
 */
export function wordsPart({ steps, cursor, playing }) {
  const step = steps[cursor - 1];
  const hint = playing || step?.end || cursor > 1 ? "" : " · click a token to go back to before it";
  const words = step ? `step ${cursor} of ${steps.length} · ${step.words}${hint}` : steps.length ? "at the prompt" : NO_STEP;
  return ["p.gv-words", { role: "status", "aria-live": playing ? "off" : "polite" }, words];
}

/**
 * What else could have come in the place of a token.
 * @param {StageView} view
 * @param {string} id
 * @returns {Part}
 */
export function tipPart({ tip, steps }, id) {
  const step = tip && steps[tip.place];
  const about = { class: "gv-tip", role: "tooltip", id, hidden: !step };
  if (!step) return ["div", about];
  const best = [...step.rows].sort((one, two) => Math.max(two[2], two[3]) - Math.max(one[2], one[3])).slice(0, 5);
  return ["div", { ...about, vars: { "--x": tip.x, "--y": tip.y } }, ["p", step.words], ...best.map(([token, label, raw, drawn, legal, , text]) =>
    [legal ? "div" : "div.gv-struck", step.names?.includes(token) ? ["span.gv-name", specialPart(label)] : tokenPart(label), ["i", { vars: { "--share": legal ? drawn : raw } }], ["span", legal ? text : "forbidden"]])];
}

/**
 * Brings the token at the cursor into sight, or the begin of the turn. Without a token to focus, a long prompt is scrolled with the keys.
 * @param {HTMLElement} tape
 * @param {HTMLElement | undefined} token
 */
export function showChip(tape, token) {
  const now = token ?? /** @type {HTMLElement | null} */ (tape.querySelector(".gv-turn-now"));
  const row = now ? Math.round((now.offsetTop - TOP) / ROW) : 0; // whole rows are shown
  if (!token && tape.scrollHeight > tape.clientHeight) tape.tabIndex = 0;
  else tape.removeAttribute("tabindex");
  const first = Math.round(tape.scrollTop / ROW);
  const last = Math.max(2, Math.round(tape.clientHeight / ROW)) - 1; // of the rows in sight, counted from the first
  if (!now || tape.querySelector(".gv-prompt-field")) tape.scrollTop = 0;
  else if (row < first || row > first + last) tape.scrollTop = row > last ? ROW * (row - last) + MARGIN : 0;
}
