// What the stage shows at a cursor: a function of the head, the records and the cursor.

/** @import { StageView, Step } from "../types.js" */

const HEAD = { source: "LIVE", prompt: "", speeds: [] };

/** @returns {StageView} */
export function newView() {
  const run = { head: HEAD, steps: [], nextAt: -1, cursor: 0, turn: 0, seen: Infinity, known: {}, drawings: {} };
  const kernel = { ended: false, stale: [], branches: [], playing: false, alone: false, speed: 4, temperature: 1, seed: 0, top: [1, ""] };
  const page = { hover: -1, linked: new Set(), tab: remember("tab"), swapped: remember("swapped"), colour: "odds", bars: "none", lecture: 0, narrow: false, whole: false, there: [], leaving: null, sheets: [] };
  const asked = { asks: false, answers: new Map(), picked: new WeakMap(), plays: 0, shown: [], box: { kind: "regex", text: "" }, replies: [] };
  return /** @type {StageView} */ (/** @type {unknown} */ ({ ...run, ...kernel, ...page, ...asked }));
}

/**
 * What was chosen in this notebook, now or before; a page without storage forgets it.
 * @param {string} name
 * @param {string} [chosen]
 */
export function remember(name, chosen) {
  try {
    const key = `guidedviz.${name}:${location.pathname}`;
    if (chosen !== undefined) localStorage.setItem(key, chosen);
    return localStorage.getItem(key) ?? "";
  } catch {
    return chosen ?? "";
  }
}

/**
 * The record whose distribution is shown: of the step that comes next or, at the end, of the last step.
 * @param {StageView} view
 * @returns {Step | undefined}
 */
export function shownStep({ steps, cursor, stale, next, nextAt }) {
  const known = stale.includes(cursor) ? undefined : steps[cursor];
  return known ?? (nextAt === cursor ? next : null) ?? steps[cursor - 1];
}

/**
 * The step whose path is lit: of the token under the pointer, else of the last token.
 * @param {StageView} view
 * @returns {Step | undefined}
 */
export const stepPassed = ({ steps, cursor, hover }) => steps[hover < 0 ? cursor - 1 : hover];

/**
 * The steps that were taken in one go from a cursor to the present one: one step, or a forced text, for which the model is not asked.
 * @param {StageView} view
 * @param {number} from
 */
export function takenSince({ steps, cursor }, from) {
  const taken = steps.slice(from, cursor);
  return taken.length === 1 || taken.every(({ how }) => how === "forced") ? taken : [];
}

/**
 * Where one step on or back leads: a forced text is passed in one go.
 * @param {StageView} view
 * @param {1 | -1} by
 */
export function nextStop({ steps, cursor }, by) {
  const isForced = (/** @type {number} */ place) => steps[by > 0 ? place : place - 1]?.how === "forced";
  let stop = cursor + by;
  while (isForced(cursor) && isForced(stop)) stop += by;
  return stop;
}

/**
 * The place of the shown record among the steps, or -1 if the run does not know yet which token it draws.
 * @param {StageView} view
 */
export const placeShown = (view) => view.steps.lastIndexOf(/** @type {Step} */ (shownStep(view)), view.cursor);

/**
 * The place of the token that Tab reaches: the last one before the cursor, or the first one.
 * @param {StageView} view
 */
export const currentChip = ({ cursor }) => Math.max(0, cursor - 1);

/**
 * Whether nothing of the run can be changed: no kernel answers, and no host decodes it again.
 * @param {StageView} view
 */
export const isFixed = ({ head, alone, again }) => !again && (alone || !head.live);

/** @param {StageView} view */
export const isEnded = ({ steps, cursor, ended, alone }) => cursor === steps.length && (ended || alone);

/**
 * Whether the shown distribution is that of the next token, and not the last one that stays until the next is computed.
 * @param {StageView} view
 */
export const isReady = (view) => shownStep(view) !== view.steps[view.cursor - 1];

/**
 * Takes a message of the kernel. A message that was sent before the
 * kernel heard of this page's last move does not move the cursor back.
 * @param {StageView} view
 * @param {any} news
 */
export function updateView(view, { from, add, turn, cursor, playing, next, why, machine, drawings, stacks, ...standing }) {
  view.steps.splice(from, Infinity, ...add.map((/** @type {Step | null} */ step) => step ?? view.next)); // null: the next step was taken
  if (standing.results && String(standing.results) !== String(view.results)) view.replies = standing.results.map((/** @type {any[]} */ [, text]) => text);
  Object.assign(view, standing);
  if (machine !== undefined) Object.assign(view, { machine, drawings: {}, known: {} });
  Object.assign(view.drawings, drawings);
  Object.assign(view.known, stacks, why?.stacks);
  if (standing.edit?.text !== undefined) view.box = { ...standing.edit };
  Object.assign(view, { next, nextAt: cursor });
  if (turn >= view.turn) Object.assign(view, { turn, cursor, playing, why });
  view.cursor = Math.min(view.cursor, view.steps.length);
  if (standing.head && !standing.head.live && view.seen === Infinity) view.seen = 0; // a recording shows no token before it is drawn
  view.seen = Math.max(view.seen, view.cursor);
}

/**
 * Moves the cursor among the known steps; says whether it moved.
 * @param {StageView} view
 * @param {number} cursor
 */
export function moveCursor(view, cursor) {
  if (cursor === view.cursor || cursor < 0 || cursor > view.steps.length) return false;
  Object.assign(view, { cursor, hover: -1, tip: null, why: null, turn: view.turn + 1, seen: Math.max(view.seen, cursor) });
  return true;
}
