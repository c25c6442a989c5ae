// A machine with its chains folded. A thick arrow is a button: the kernel draws the machine with the chain unfolded or
// folded, and the states glide to their new places.

/** @import { Chain, Shapes, Model } from "../types.js" */
/** @import { Spot } from "../machine/camera.js" */
/** @import { Drawing } from "../machine/drawing.js" */
import { buildDrawing, follow, pathOf, showDrawing, spotOf } from "../machine/drawing.js";
import { connect } from "../shared/connection.js";
import { buildNote, consume, paintNote, widgetRoot } from "../shared/controls.js";
import { make, setText, shape, wantsStillness } from "../shared/elements.js";

const GLIDE = 350; // milliseconds
const ROOM = 12; // pixels above and below an arrow in which it can be pressed

/** @param {(unfold: boolean) => void} turnAll */
function buildFold(turnAll) {
  const drawing = buildDrawing();
  const about = make("span", { class: "gv-soft" });
  const [unfold, fold] = [true, false].map((on) => make("button", { type: "button", class: "gv-key", on: { click: () => turnAll(on) } }, on ? "unfold all" : "fold all"));
  const head = make("div", { class: "gv-about" }, make("strong", {}, "folded machine"), about);
  const header = make("header", { role: "none" }, head, make("div", { class: "gv-controls" }, drawing.size.node, unfold, fold));
  const note = buildNote();
  const legend = make("p", { class: "gv-soft", role: "status" });
  const screen = make("div", { role: "group", class: "gv-panel", "aria-label": "machine" }, drawing.node);
  const root = widgetRoot("gv-chart gv-folded", "folded machine", {}, header, note, screen, legend);
  return { root, drawing, about, unfold, fold, note, legend, shown: "", source: -1 };
}

/**
 * Every arrow and state of a chain folds or unfolds it; the keyboard reaches its first arrow.
 * @param {Drawing} drawing
 * @param {Chain} chain
 * @param {(chain: Chain) => void} turn
 */
function listenToChain(drawing, chain, turn) {
  const { arrows, states } = drawing;
  const parts = [...chain.arrows.map((key) => arrows.get(key)), ...chain.states.map((state) => states.get(state))].filter((node) => node !== undefined);
  for (const node of parts) {
    node.classList.add("gv-turns");
    node.addEventListener("click", () => turn(chain));
  }
  const [first] = parts;
  if (!first) return;
  const { x, y, width, height } = /** @type {SVGGraphicsElement} */ (first).getBBox?.() ?? {};
  if (width) first.prepend(shape("rect", { x, y: y - ROOM, width, height: height + 2 * ROOM, fill: "transparent" })); // an arrow alone is thin
  const label = `${chain.words}: ${chain.open ? "fold" : "unfold"}`;
  const about = { tabindex: 0, role: "button", "aria-expanded": chain.open, "aria-label": label };
  for (const [name, value] of Object.entries(about)) first.setAttribute(name, String(value));
  first.addEventListener("focus", () => {
    drawing.at = pathOf(drawing, [Number.parseInt(chain.arrows[0])]);
    follow(drawing, true);
  });
  first.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    turn(chain);
    consume(event);
  });
}

/**
 * Moves the states from where they stood to where they stand now; what is new appears.
 * @param {Drawing} drawing
 * @param {Map<number, Spot | null>} before
 */
function glide(drawing, before) {
  if (wantsStillness()) return;
  for (const node of drawing.arrows.values()) node.animate([{ opacity: 0 }, { opacity: 1 }], GLIDE);
  for (const [state, node] of drawing.states) {
    const [from, to] = [before.get(state), spotOf(node)];
    const start = from && to ? { transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` } : { opacity: 0 };
    node.animate([start, {}], { duration: GLIDE, easing: "ease-out" });
  }
}

/**
 * @param {ReturnType<typeof buildFold>} ui
 * @param {{ drawing: Shapes, words: string, legend: string, chains: Chain[] }} news
 * @param {(chain: Chain) => void} turn
 */
function paintFold(ui, news, turn) {
  const { drawing } = ui;
  setText(ui.about, news.words);
  setText(ui.legend, news.legend);
  ui.unfold.hidden = ui.fold.hidden = !news.chains.length;
  ui.unfold.disabled = news.chains.every((chain) => chain.open);
  ui.fold.disabled = news.chains.every((chain) => !chain.open);
  paintNote(ui.note, "");
  const shown = JSON.stringify(news.drawing);
  if (ui.shown === shown) return;
  ui.shown = shown;
  const before = new Map([...drawing.states].map(([state, node]) => [state, spotOf(node)]));
  const held = /** @type {HTMLElement | null} */ (document.activeElement);
  const arrow = held && drawing.sheets.contains(held) ? held.dataset.arrow : undefined;
  showDrawing(drawing, news.drawing);
  drawing.svg?.setAttribute("role", "group");
  for (const chain of news.chains) listenToChain(drawing, chain, turn);
  if (before.size) glide(drawing, before);
  drawing.at = pathOf(drawing, [ui.source]);
  follow(drawing, true);
  if (arrow) drawing.arrows.get(arrow)?.focus({ preventScroll: true });
}

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const { say, start, stop } = connect(model);
  const ui = buildFold((unfold) => say({ do: "all", unfold }));
  el.append(ui.root);
  /** @param {Chain} chain */
  function turn(chain) {
    ui.source = Number.parseInt(chain.arrows[0]); // an arrow's key begins with its source, which stays in sight
    say({ do: "turn", chain: chain.name });
  }
  start((all) => paintFold(ui, all.at(-1), turn), (words) => paintNote(ui.note, words));
  return stop;
}

export default { render };
