// The stack as strips in the machine's panel, one frame per open rule: the outermost hangs from the ground, which never moves, and
// the innermost is the head of the drawing. A frame keeps its element as long as its rule is open.

/** @import { MachinePanel } from "./machine-panel.js" */
/** @import { Frame, StackState } from "../types.js" */
import { make, setText, withCommas } from "../shared/elements.js";
import { fitDrawing } from "./drawing.js";
import { placeRows, STRIP } from "./rows.js";

/** @typedef {ReturnType<typeof buildStrips>} Strips */

export function buildStrips() {
  const [ways, ground] = ["gv-ways", "gv-ground"].map((name) => make("span", { class: `${name} gv-soft` }));
  const column = make("ol", { class: "gv-stack-column", "data-part": "stack", "aria-label": "open rules, innermost first" });
  return { ways, ground, column, cards: /** @type {Map<number, HTMLElement>} */ (new Map()) };
}

/**
 * A frame with the words in it.
 * @param {Frame} frame
 * @param {number} height in the stack
 * @param {boolean} top
 * @param {HTMLElement} [known] the element that it has
 */
export function frameCard([id, rule, waits], height, top, known) {
  const card = known ?? make("li", { "data-frame": id, "data-part": "frame" }, make("b"), make("small"), make("span", { class: "gv-waits" }));
  const words = [rule, withCommas(height), `${top ? "now" : "then"} ${waits}`];
  words.forEach((text, place) => setText(card.children[place], text));
  card.title = words.join(" "); // an outer strip is only an edge
  card.className = `gv-frame-card${top ? " gv-top" : ""}`;
  return card;
}

/**
 * @param {HTMLElement} card
 * @param {{ y: number, high: number }} line
 */
export function hang(card, { y, high }) {
  card.hidden = !high;
  Object.assign(card.style, { top: `${y}px`, height: `${high}px` });
}

/**
 * @param {MachinePanel} panel
 * @param {StackState} state
 * @param {Frame[]} frames the innermost first
 */
export function paintStrips({ strips, scene, drawing, focus }, state, frames) {
  const { cards, column } = strips;
  const depth = Math.max(state.depth, frames.length);
  const branches = new Map(state.branches);
  strips.cards = new Map(frames.map((frame, place) => {
    const card = frameCard(frame, depth - place, !place, cards.get(frame[0]));
    card.dataset.branch = (place && branches.get(frame[0])) || ""; // what the style sheet writes
    return [frame[0], card];
  }));
  const wanted = [...strips.cards.values()];
  const { children } = column;
  if (children.length !== wanted.length || wanted.some((card, place) => card !== children[place])) column.replaceChildren(...wanted);
  const [head, ...callers] = wanted;
  const need = focus ? drawing.height * drawing.scales.least : Infinity; // what is shown whole keeps its place
  const { strips: lines, row } = placeRows(callers.length, scene.clientHeight, need);
  callers.reverse().forEach((card, place) => hang(card, lines[place]));
  if (head) hang(head, { y: row.y, high: STRIP });
  setText(strips.ways, state.ways);
  setText(strips.ground, state.ground);
  const { style } = drawing.node;
  const [top, high] = [`${row.y + STRIP}px`, `${row.high - STRIP}px`];
  if (style.top === top && style.height === high) return;
  Object.assign(style, { top, height: high });
  fitDrawing(drawing);
}
