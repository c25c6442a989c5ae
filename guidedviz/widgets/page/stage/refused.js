// Why the mask falls, in the machine: the likeliest forbidden token goes to the state where one of its bytes has no way on. This byte
// stands below that state, whose exits are lit.

/** @import { Drawing } from "../machine/drawing.js" */
/** @import { Leg } from "../motion/exits.js" */
/** @import { Move } from "../motion/player.js" */
/** @import { Point } from "../motion/travel.js" */
/** @import { StageView, Step } from "../types.js" */
import { drawExits } from "../machine/exits.js";
import { exitsLight } from "../motion/exits.js";
import { make } from "../shared/elements.js";
import { middleOf, nodesOf, placeOf } from "./flight.js";

const EDGE = 14; // pixels between the border and the middle of a state that is all in sight

/**
 * Shows the exits of a state and, where it is known, the byte that has none. Where the state that it dies in is out of sight, the
 * bytes before it stand with it below the current state.
 * @param {StageView} view
 * @param {Element} root
 * @param {Drawing} drawing
 * @param {Step} step
 * @param {number} draw when the draw begins
 * @returns {[shown: Element[], moves: Move[]]}
 */
export function showRefused(view, root, drawing, step, draw) {
  const now = stateNow(view);
  const { refused, refusedIn: [dies, read] = [now, ""] } = step;
  const [here, there] = [now, dies].map((state) => placeOf(root, drawing, view, state, EDGE));
  const [from, to] = view.steps[view.cursor - 1]?.path?.slice(-2) ?? [];
  const exits = drawExits(drawing, exitsOf(view, there ? dies : now), view.machine?.stack ? "" : `${from}-${to}`);
  const place = there ?? here;
  if (!refused || !place) return [[exits], exitsLight([], draw)];
  const name = root.querySelector(`.gv-row[data-token="${refused[0]}"] .gv-name`);
  const ways = /** @type {Leg[]} */ ([[name?.textContent, middleOf(root, name), here], [read, here, read && there]]);
  const legs = ways.filter(([, begin, end]) => begin && end);
  const signs = legs.map(([sign], number) => make("span", { class: "gv-flying gv-name", "data-move": `leg${number}` }, sign));
  const legal = waitsIn(view, dies) ?? [...exits.querySelectorAll(".gv-label")].map((label) => label.textContent).join(" ");
  const late = place.x > drawing.room[0] / 2;
  const sheet = make("div", { class: "gv-travel", "aria-hidden": "true" }, ...signs, buildSign(place, late, step, there ? "" : read, legal));
  view.sheets = [...view.sheets, sheet];
  root.append(sheet);
  return [[exits, sheet], exitsLight(legs, draw)];
}

/**
 * The byte that has no way on, and what has one; a repeat says that it has no room.
 * @param {Point} place
 * @param {boolean} late whether it stands far to the right, so that its words go to the left
 * @param {Step} step
 * @param {string} read the bytes before it
 * @param {string} legal
 */
function buildSign({ x, y }, late, { refused, counted }, read, legal) {
  const count = counted ? `${read && `${read} is `}${counted.join(" of ")} ` : "";
  return make("b", { class: `gv-refused gv-name${late ? " gv-late" : ""}`, "data-move": "refused", vars: { "--x": x, "--y": y } },
    `${read} ✕ ${refused?.[1]}`.trim(), make("small", {}, count, make("em", {}, legal && `✓ ${legal}`)));
}

/**
 * What is legal in a state of a grammar.
 * @param {StageView} view
 * @param {number} state
 */
const waitsIn = ({ known }, state) => known[state]?.frames[0]?.[2];

/** @param {StageView} view */
const stateNow = ({ steps, cursor, machine }) => steps[cursor - 1]?.path?.at(-1) ?? machine?.initial ?? -1;

/**
 * The nodes that may read the next byte; an older record does not say them.
 * @param {StageView} view
 * @param {number} [state] the one at the cursor, if not another
 */
export function exitsOf(view, state = stateNow(view)) {
  const exits = view.machine?.stack && view.known[state]?.exits;
  return exits || nodesOf(view, state);
}
