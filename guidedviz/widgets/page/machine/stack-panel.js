// The stack beside the machine: one frame per open rule, the innermost on top. A frame keeps its element as long as its
// rule is open, so that one sees what is pushed and what is popped, byte after byte inside a token.

/** @import { Drawing } from "./drawing.js" */
/** @import { Frame, StackState, StageView, Way } from "../types.js" */
import { make, setText, wantsStillness, withCommas } from "../shared/elements.js";
import { lightStack } from "./highlight.js";
import { wayShown } from "./machine-panel.js";

const BEAT = 150; // milliseconds per byte
const LONGEST = 900; // milliseconds for all bytes of one token
const [EDGE, GAP] = [8, 3]; // pixels of a frame of which only the edge is shown, and between frames; the style sheet says the same
const MOST_EDGES = 4;
/** @typedef {ReturnType<typeof buildStackPanel>} StackPanel */

/** @param {HTMLElement} slot */
export function buildStackPanel(slot) {
  const [depth, ways, byte, fold] = ["gv-soft", "gv-ways", "gv-stack-byte", "gv-fold gv-soft"].map((name) => make("p", { class: name }));
  const column = make("ol", { class: "gv-stack-column", "aria-label": "open rules, innermost first" });
  const ground = make("p", { class: "gv-ground gv-soft" });
  const stack = make("div", { class: "gv-stack" }, byte, column, fold, ground);
  const ui = {
    slot, depth, ways, byte, column, fold, ground,
    cards: /** @type {Map<number, HTMLElement>} */ (new Map()),
    timer: /** @type {any} */ (0),
    state: /** @type {StackState | null} */ (null),
    shown: "", // cursor and way that are shown now
    cursor: 0,
    machine: /** @type {StageView["machine"]} */ (null),
  };
  slot.setAttribute("aria-label", "stack");
  slot.append(make("div", { class: "gv-panel-head" }, make("strong", { class: "gv-title" }, "stack"), depth), ways, stack);
  new ResizeObserver(() => fitFrames(ui)).observe(stack);
  return ui;
}

// --- frames ---

/**
 * @param {HTMLElement} card
 * @param {Frame} frame
 * @param {number} height
 * @param {boolean} top
 */
function fillCard(card, [, rule, waits], height, top) {
  const words = [rule, String(height), `${top ? "now" : "then"} ${waits}`];
  words.forEach((text, place) => setText(card.children[place], text));
  card.classList.toggle("gv-top", top);
}

/**
 * @param {StackPanel} ui
 * @param {StackState} state
 * @param {boolean} lively
 */
function showFrames(ui, state, lively) {
  ui.state = state;
  const before = ui.cards;
  ui.cards = new Map(state.frames.map((frame, place) => {
    const known = before.get(frame[0]);
    const card = known ?? make("li", { "data-frame": frame[0] }, make("b"), make("small"), make("span", { class: "gv-waits" }));
    card.className = lively && !known ? "gv-frame-card gv-pushed" : "gv-frame-card";
    fillCard(card, frame, state.depth - place, !place);
    return [frame[0], card];
  }));
  const popped = lively ? [...before].filter(([id]) => !ui.cards.has(id)).map(([, card]) => card) : [];
  for (const card of popped) card.classList.add("gv-popped");
  const wanted = [...popped, ...ui.cards.values()];
  const { children } = ui.column;
  if (children.length !== wanted.length || wanted.some((card, place) => card !== children[place])) ui.column.replaceChildren(...wanted);
  setText(ui.depth, `depth ${withCommas(state.depth)}`);
  setText(ui.ways, state.ways);
  ui.ways.hidden = !state.ways;
  setText(ui.ground, state.ground);
  fitFrames(ui);
}

/**
 * Frames pile up from the ground, which keeps its place. Where not all of them fit, the innermost stay whole, the next
 * ones become edges, and the others are only counted.
 * @param {StackPanel} ui
 */
function fitFrames({ column, cards, fold, state }) {
  const rows = [...cards.values()];
  const heights = rows.map((card) => card.scrollHeight + card.offsetHeight - card.clientHeight); // of an edge, too, when it is whole
  let room = column.clientHeight + GAP;
  let whole = 0;
  for (const height of heights) {
    room -= height + GAP;
    const edges = Math.min(MOST_EDGES, rows.length - whole - 1);
    if (whole && room < edges * (EDGE + GAP)) break;
    whole++;
  }
  rows.forEach((card, place) => {
    card.classList.toggle("gv-edge", place >= whole);
    card.classList.toggle("gv-below", place >= whole + MOST_EDGES);
  });
  const below = (state?.depth ?? 0) - whole;
  setText(fold, below ? `⋮ ${withCommas(below)} more below` : "");
}

// --- the stack and the machine after each byte of a token ---

/**
 * @param {StackPanel} ui
 * @param {Drawing} drawing
 * @param {StageView} view
 * @param {Way} way
 * @param {number} count the bytes that were read
 * @param {boolean} lively
 */
function showAfter(ui, drawing, view, way, count, lively) {
  const state = view.known[way.path[count]];
  if (!state) return;
  showFrames(ui, state, lively);
  lightStack(drawing, view.known, way, count);
  const dies = Boolean(way.died) && count === way.path.length - 1;
  setText(ui.byte, dies ? `✕ ${way.died} cannot come` : count ? `${way.bytes[count - 1]} read` : "");
  ui.byte.classList.toggle("gv-died", dies);
}

/**
 * @param {StackPanel} ui
 * @param {Drawing} drawing
 * @param {StageView} view
 */
export function paintStackPanel(ui, drawing, view) {
  const { machine, cursor } = view;
  ui.slot.hidden = !machine?.stack;
  if (!machine?.stack) return;
  const way = wayShown(view);
  const shown = `${cursor}|${view.hover}|${way.path}|${way.died ?? ""}`;
  if (shown === ui.shown && ui.machine === machine) return;
  const last = way.path.length - 1;
  // it walks through the bytes of the token after one step, and where a forbidden token is explained
  const lively = !wantsStillness() && !(view.playing && view.speed > 8) && (cursor === ui.cursor + 1 || Boolean(view.why));
  Object.assign(ui, { shown, cursor, machine });
  clearTimeout(ui.timer);
  /** @param {number} count */
  const tick = (count) => {
    showAfter(ui, drawing, view, way, count, lively);
    if (count < last) ui.timer = setTimeout(tick, Math.min(BEAT, LONGEST / last), count + 1);
  };
  tick(lively ? Math.min(1, last) : last);
}
