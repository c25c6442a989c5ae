// The stack as strips in the machine's panel, one frame per open rule: they pile upward from the ground, which never moves, and the
// innermost, on top, is the head of the drawing. A frame keeps its element as long as its rule is open.

/** @import { MachinePanel } from "./machine-panel.js" */
/** @import { Line } from "./rows.js" */
/** @import { Frame, StackState } from "../types.js" */
import { make, setText, withCommas } from "../shared/elements.js";
import { fitDrawing } from "./drawing.js";
import { placeOthers } from "./other-stacks.js";
import { EDGE, placeRows, STRIP } from "./rows.js";

const BORDER = 2; // pixels of a row

/** @typedef {ReturnType<typeof buildStrips>} Strips */

export function buildStrips() {
  const [ways, ground] = ["gv-ways", "gv-ground"].map((name) => make("span", { class: `${name} gv-soft` }));
  const column = make("ol", { class: "gv-stack-column", "data-part": "stack", "aria-label": "open rules, innermost first" });
  const others = make("ol", { class: "gv-stack-column", "aria-label": "other stacks" });
  return { ways, ground, column, others, cards: /** @type {Map<number, HTMLElement>} */ (new Map()) };
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
  card.className = `gv-frame-card${top ? " gv-top" : ""}`;
  return card;
}

/**
 * Puts a frame on its line. One of which only the edge is seen shows its words to who points at it or reaches it by key.
 * @param {HTMLElement} card
 * @param {Line} line
 */
export function hang(card, { y, high }) {
  const isEdge = high === EDGE;
  card.hidden = !high;
  card.classList.toggle("gv-edge", isEdge);
  if (isEdge) {
    const [rule, height, waits] = [...card.children].map((part) => part.textContent);
    card.dataset.words = `${height}  ${rule} ${waits}`;
    card.tabIndex = 0;
  } else card.removeAttribute("tabindex");
  Object.assign(card.style, { top: `${y}px`, height: `${high}px` });
}

/**
 * @param {MachinePanel} panel
 * @param {StackState} state
 * @param {Frame[]} frames the innermost first
 */
export function paintStrips({ strips, scene, drawing, focus }, state, frames) {
  const { cards, column, others } = strips;
  const depth = Math.max(state.depth, frames.length);
  strips.cards = new Map(frames.map((frame, place) => [frame[0], frameCard(frame, depth - place, !place, cards.get(frame[0]))]));
  const wanted = [...strips.cards.values()];
  const { children } = column;
  if (children.length !== wanted.length || wanted.some((card, place) => card !== children[place])) column.replaceChildren(...wanted);
  const need = focus ? drawing.height * drawing.scales.least : Infinity; // what is shown whole keeps its place
  const { strips: callers, head, row, folded } = placeRows(wanted.length - 1, scene.clientHeight, need);
  const lines = [...callers, head];
  const { shares, cards: beside } = placeOthers(frames, state.others ?? [], lines);
  wanted.reverse().forEach((card, level) => {
    hang(card, lines[level]);
    card.style.right = `${100 - shares[level]}%`;
  });
  others.replaceChildren(...beside.map(({ frame, height, top, line, left, right }) => {
    const card = frameCard(frame, height, top);
    hang(card, line);
    card.classList.add("gv-beside-stack");
    Object.assign(card.style, { left: `${left}%`, right: `${right}%` });
    return card;
  }));
  const more = folded + depth - frames.length;
  const [bottom, ...ends] = state.ground.split(" · ");
  setText(strips.ways, [state.ways, ...ends].filter(Boolean).join(" · "));
  setText(strips.ground, more ? `… ${withCommas(more)} below` : bottom);
  const { style } = drawing.node;
  const high = `${row.high - (focus ? STRIP - BORDER : 0)}px`; // the head lies over the lower border
  if (style.height === high) return;
  style.height = high;
  fitDrawing(drawing);
}
