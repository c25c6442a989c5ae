// The other turns of a conversation in the text: what the model said, and in grey what the template wrote after it, such as
// the results of tools. A press on a turn goes there.

/** @import { StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { consume } from "../shared/controls.js";
import { lettersOf, specialPart } from "../shared/elements.js";

/** @typedef {{ place: number, said: string[], visit: (place: number) => void }} OtherTurn */

/**
 * Texts and special tokens in turn.
 * @param {string[]} parts
 * @returns {any[]}
 */
const partsOf = (parts) => parts.flatMap((part, place) => (place % 2 ? [["wbr"], specialPart(part)] : lettersOf(part)));

/** @param {number} place */
const nameTurn = (place) => `turn ${place + 1}`;

/**
 * @param {OtherTurn} turn
 * @returns {Part}
 */
function saidPart({ place, said, visit }) {
  const go = () => visit(place);
  /** @param {KeyboardEvent} event */
  const keydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    consume(event);
    go();
  };
  return ["span.gv-other-turn", { role: "button", tabindex: 0, title: `go to ${nameTurn(place)}`, click: go, keydown },
    ["small.gv-turn-name", nameTurn(place)], ...partsOf(said)];
}

/**
 * What the template wrote after a turn.
 * @param {{ read: string[] }} turn
 * @returns {Part}
 */
const readPart = ({ read }) => ["span.gv-read", ...partsOf(read)];

/**
 * The text before the steps and after them.
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {[Part, Part]}
 */
export function turnsParts({ head: { talk } }, act) {
  if (!talk) return [["span.gv-talk"], ["span.gv-talk"]];
  const { turns, now } = talk;
  const others = turns.map(({ said, read }, place) => [[saidPart, { place, said, visit: act.visit }], [readPart, { read }]]);
  const name = ["small.gv-turn-name.gv-turn-now", { "aria-current": "step" }, nameTurn(now)];
  return [["span.gv-talk", ...others.slice(0, now).flat(), name],
    ["span.gv-talk", [readPart, { read: turns[now].read }], ...others.slice(now + 1).flat()]];
}
