// The stack beside the machine: one frame per open rule, the innermost on top. A frame keeps its element as long as its
// rule is open, so that one sees what is pushed and what is popped, byte after byte inside a token.

/** @import { Drawing } from "./drawing.js" */
/** @import { Frame, Say, StackState, StageView, Way } from "../types.js" */
import { toggle } from "../shared/controls.js";
import { make, setText, wantsStillness, withCommas } from "../shared/elements.js";
import { buildDrawing, follow, showDrawing } from "./drawing.js";
import { lightStack } from "./highlight.js";
import { wayShown } from "./machine-panel.js";

const BEAT = 150; // milliseconds per byte
const LONGEST = 900; // milliseconds for all bytes of one token
/** @type {Record<string, string>} */
const TABS = {
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
  const picture = buildDrawing("picture of the stack");
  const tabs = toggle("", Object.fromEntries(Object.keys(TABS).map((name) => [name, name])), (tab) => {
    pickTab(ui, tab);
    act.say({ do: "picture", name: tab });
  });
  const [depth, ways, byte, fold] = ["gv-soft", "gv-ways", "gv-stack-byte", "gv-fold gv-soft"].map((name) => make("p", { class: name }));
  const column = make("ol", { class: "gv-stack-column", "aria-label": "open rules, innermost first" });
  const ground = make("p", { class: "gv-ground gv-soft" });
  const head = make("div", { class: "gv-panel-head" }, make("strong", { class: "gv-title" }, "stack"), depth, picture.size.node);
  const ui = {
    slot, head, tabs, tab: "stack", depth, ways, byte, column, fold, ground, picture,
    stack: make("div", { class: "gv-stack" }, byte, column, fold, ground),
    excuse: make("p", { class: "gv-soft" }), // why there is no picture
    drawings: () => /** @type {SVGElement[]} */ ([...picture.sheets.children]),
    cards: /** @type {Map<number, HTMLElement>} */ (new Map()),
    timer: /** @type {any} */ (0),
    state: /** @type {StackState | null} */ (null),
    painted: /** @type {StageView["picture"]} */ (undefined),
    shown: "", // cursor and way that are shown now
    cursor: 0,
    machine: /** @type {StageView["machine"]} */ (null),
  };
  for (const node of tabs.buttons) node.title = TABS[String(node.dataset.name)];
  tabs.node.setAttribute("aria-label", "picture of the stack");
  slot.setAttribute("aria-label", "stack");
  slot.append(head, ways, tabs.node, ui.stack, ui.excuse, picture.node);
  new ResizeObserver(() => fitFrames(ui)).observe(ui.stack);
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
  ui.picture.node.hidden = ui.excuse.hidden = ui.picture.size.node.hidden = tab === "stack";
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
 * Shows the frames that fit, and says how many are below them. Those that do not fit keep their place unseen: the page
 * need not be laid out again.
 * @param {StackPanel} ui
 */
function fitFrames({ column, cards, fold, state }) {
  const rows = [...cards.values()];
  const low = column.clientHeight + (rows[0]?.offsetTop ?? 0) + 1; // popped frames, which are leaving, take no room
  const fits = rows.filter((card) => card.offsetTop + card.offsetHeight <= low).length;
  rows.forEach((card, place) => (card.style.visibility = place < fits ? "" : "hidden"));
  const below = (state?.depth ?? 0) - fits;
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
  const { machine, picture, cursor } = view;
  ui.slot.hidden = !machine?.stack;
  if (!machine?.stack) return;
  if (picture && ui.painted !== picture && picture[0] === ui.tab) paintPicture(ui, picture);
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

/**
 * @param {StackPanel} ui
 * @param {NonNullable<StageView["picture"]>} picture
 */
function paintPicture(ui, picture) {
  ui.painted = picture;
  const [, drawn] = picture;
  const there = Array.isArray(drawn);
  ui.picture.node.hidden = !there;
  setText(ui.excuse, there ? "" : drawn);
  if (!there) return;
  showDrawing(ui.picture, drawn);
  const { svg, width } = ui.picture;
  const [whole, newest] = [svg, svg?.querySelector("[data-newest]")].map((node) => node?.getBoundingClientRect());
  if (!whole?.width || !newest) return;
  const unit = width / whole.width;
  const [rx, ry] = [(newest.width * unit) / 2, (newest.height * unit) / 2];
  ui.picture.at = { x: (newest.left - whole.left) * unit + rx, y: (newest.top - whole.top) * unit + ry, rx, ry };
  follow(ui.picture);
}
