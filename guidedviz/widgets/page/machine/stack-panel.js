// The stack beside the machine: one frame per open rule, the innermost on top. A frame keeps its element as long as its
// rule is open, so that one sees what is pushed and what is popped, byte after byte inside a token.

/** @import { Drawing } from "./drawing.js" */
/** @import { Frame, Say, StackState, StageView, Way } from "../types.js" */
import { toggle } from "../shared/controls.js";
import { make, setText, wantsStillness, withCommas } from "../shared/elements.js";
import { stepPassed } from "../stage/view.js";
import { lightStack } from "./highlight.js";
import { buildPicture, showPicture } from "./picture.js";

const FEW_FRAMES = 7; // a deeper stack is shortened
const INNER = 5; // frames shown above the gap
const BEAT = 150; // milliseconds per byte
const LONGEST = 900; // milliseconds for all bytes of one token
const LEAVING = 180; // milliseconds that a popped frame stays
const TABS = { stack: "stack", shared: "shared", tree: "tree", chart: "chart", depth: "depth" };
/** @type {Record<string, string>} */
const TAB_WORDS = {
  stack: "the open rules, innermost first",
  shared: "all stacks at once, their tails shared",
  tree: "the parse tree so far",
  chart: "the Earley chart of the same grammar",
  depth: "the depth of the stack along the text",
};

/** @typedef {ReturnType<typeof buildStackPanel>} StackPanel */

/**
 * @param {HTMLElement} slot
 * @param {{ say: Say }} act
 */
export function buildStackPanel(slot, act) {
  const picture = buildPicture();
  const ui = {
    slot,
    tabs: toggle("", TABS, (tab) => {
      pickTab(ui, tab);
      act.say({ do: "picture", name: tab });
    }),
    tab: "stack",
    depth: make("span", { class: "gv-soft" }),
    byte: make("p", { class: "gv-stack-byte" }),
    column: make("ol", { class: "gv-stack-column", "aria-label": "open rules, innermost first" }),
    gap: make("li", { class: "gv-fold" }),
    ground: make("p", { class: "gv-ground gv-soft" }),
    stack: make("div", { class: "gv-stack" }),
    picture,
    cards: /** @type {Map<number, ReturnType<typeof buildCard>>} */ (new Map()),
    timer: /** @type {any} */ (0),
    state: /** @type {StackState | null} */ (null),
    painted: /** @type {StageView["picture"]} */ (undefined),
    shown: "", // cursor and way that are shown now
    cursor: 0,
    machine: /** @type {StageView["machine"]} */ (null),
  };
  for (const node of ui.tabs.buttons) node.title = TAB_WORDS[String(node.dataset.name)];
  ui.tabs.node.setAttribute("aria-label", "picture of the stack");
  ui.stack.append(ui.byte, ui.column, ui.ground);
  slot.setAttribute("aria-label", "stack");
  slot.append(make("div", { class: "gv-panel-head" }, make("strong", { class: "gv-title" }, "stack"), ui.depth), ui.tabs.node, ui.stack, picture.node);
  pickTab(ui, "stack");
  return ui;
}

/**
 * @param {StackPanel} ui
 * @param {string} tab
 * @returns {void}
 */
export function pickTab(ui, tab) {
  ui.tab = tab;
  ui.tabs.set(tab);
  ui.stack.hidden = tab !== "stack";
  ui.picture.node.hidden = tab === "stack";
}

// --- frames ---

function buildCard() {
  const [rule, height, waits] = [make("b"), make("small"), make("span", { class: "gv-waits" })];
  return { node: make("li", { class: "gv-frame-card" }, rule, height, waits), rule, height, waits };
}

/**
 * @param {ReturnType<typeof buildCard>} card
 * @param {Frame} frame
 * @param {number} height
 * @param {boolean} top
 */
function fillCard(card, [id, rule, waits], height, top) {
  card.node.dataset.frame = String(id);
  setText(card.rule, rule);
  setText(card.height, String(height));
  setText(card.waits, `${top ? "now" : "then"} ${waits}`);
  card.node.title = top ? `${rule}: ${waits} may come here` : `${rule}: ${waits} may come when the frames above it end`;
  card.node.classList.toggle("gv-top", top);
}

/**
 * The frames with their heights, innermost first; a deep stack shows its inner frames and the outermost one.
 * @param {StackState} state
 * @returns {[Frame, number][]}
 */
export function chooseFrames({ frames, depth }) {
  const rows = frames.map((frame, place) => /** @type {[Frame, number]} */ ([frame, depth - place]));
  return depth <= FEW_FRAMES ? rows : [...rows.slice(0, INNER), ...(rows.length === depth ? rows.slice(-1) : [])];
}

/**
 * @param {StackPanel} ui
 * @param {StackState} state
 * @param {boolean} lively
 */
function showFrames(ui, state, lively) {
  if (ui.state === state) return;
  ui.state = state;
  const rows = chooseFrames(state);
  const wanted = rows.map(([frame, height], place) => {
    const known = ui.cards.get(frame[0]);
    const card = known ?? buildCard();
    fillCard(card, frame, height, place === 0);
    card.node.classList.toggle("gv-pushed", !known && lively);
    ui.cards.set(frame[0], card);
    return card.node;
  });
  removeCards(ui, new Set(rows.map(([frame]) => frame[0])), lively);
  ui.gap.remove();
  if (state.depth > FEW_FRAMES) {
    setText(ui.gap, `⋮ ${withCommas(state.depth - rows.length)} more`);
    wanted.splice(INNER, 0, ui.gap);
  }
  putInOrder(ui.column, wanted);
  setText(ui.depth, `depth ${withCommas(state.depth)}${state.stacks > 1 ? ` · first of ${state.stacks}` : ""}`);
  setText(ui.ground, state.ends ? "bottom · the text may end" : "bottom");
}

/**
 * @param {StackPanel} ui
 * @param {Set<number>} kept
 * @param {boolean} lively
 */
function removeCards(ui, kept, lively) {
  for (const [id, { node }] of ui.cards) {
    if (kept.has(id)) continue;
    ui.cards.delete(id);
    node.classList.add("gv-popped");
    if (lively) setTimeout(() => node.remove(), LEAVING);
    else node.remove();
  }
}

/**
 * Inserts what is missing; what is already in its place is not moved, and popped frames stay where they are.
 * @param {HTMLElement} column
 * @param {HTMLElement[]} wanted
 */
function putInOrder(column, wanted) {
  let next = column.firstElementChild;
  for (const node of wanted) {
    while (next?.classList.contains("gv-popped")) next = next.nextElementSibling;
    if (node === next) next = next.nextElementSibling;
    else column.insertBefore(node, next);
  }
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
 * @param {Way} way
 * @param {boolean} lively
 */
function walkBytes(ui, drawing, view, way, lively) {
  clearTimeout(ui.timer);
  const last = way.path.length - 1;
  if (!lively || last < 2) return showAfter(ui, drawing, view, way, last, lively);
  const beat = Math.min(BEAT, LONGEST / last);
  /** @param {number} count */
  const tick = (count) => {
    showAfter(ui, drawing, view, way, count, true);
    if (count < last) ui.timer = setTimeout(tick, beat, count + 1);
  };
  tick(1);
}

/**
 * @param {StackPanel} ui
 * @param {Drawing} drawing
 * @param {StageView} view
 */
export function paintStackPanel(ui, drawing, view) {
  const { machine } = view;
  ui.slot.hidden = !machine?.stack;
  if (!machine?.stack) return;
  paintPicture(ui, view.picture);
  const why = view.why?.path && view.hover < 0 ? /** @type {Way} */ (view.why) : null;
  const way = why ?? stepPassed(view) ?? { path: [machine.initial], taken: [], bytes: [] };
  const shown = `${view.cursor}|${view.hover}|${way.path}|${way.died ?? ""}`;
  if (shown === ui.shown && ui.machine === machine) return;
  const lively = isLively(ui, view);
  Object.assign(ui, { shown, cursor: view.cursor, machine });
  walkBytes(ui, drawing, view, way, lively);
}

/**
 * Whether the stack walks through the bytes of the token: after one step, and where a forbidden token is explained.
 * @param {StackPanel} ui
 * @param {StageView} view
 */
function isLively({ cursor }, { playing, speed, why, ...view }) {
  const fast = playing && speed > 8;
  return !wantsStillness() && !fast && (view.cursor === cursor + 1 || Boolean(why));
}

/**
 * @param {StackPanel} ui
 * @param {StageView["picture"]} picture
 */
function paintPicture(ui, picture) {
  if (!picture || ui.painted === picture || picture[0] !== ui.tab) return;
  ui.painted = picture;
  showPicture(ui.picture, ...picture);
}
