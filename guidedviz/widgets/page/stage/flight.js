// The token on its way from its bar through the machine to the text, on a sheet above the stage.

/** @import { MachinePanel } from "../machine/machine-panel.js" */
/** @import { Move } from "../motion/player.js" */
/** @import { Point } from "../motion/travel.js" */
/** @import { StageView } from "../types.js" */
/** @import { Moving } from "./moving.js" */
import { wayShown } from "../machine/machine-panel.js";
import { lengthOf, play } from "../motion/player.js";
import { travel } from "../motion/travel.js";
import { make, writeToken } from "../shared/elements.js";
import { mayMove, rateOf } from "./pace.js";

/**
 * The middle of an element, in pixels of the stage.
 * @param {Element} root
 * @param {Element | null | undefined} node
 * @returns {Point | null}
 */
export function middleOf(root, node) {
  const box = node?.getBoundingClientRect();
  if (!box?.width) return null;
  const [home, zoom] = [root.getBoundingClientRect(), /** @type {any} */ (root).currentCSSZoom ?? 1];
  return { x: (box.x + box.width / 2 - home.x) / zoom, y: (box.y + box.height / 2 - home.y) / zoom };
}

/**
 * Where a token has its bar.
 * @param {Element} root
 * @param {number} token
 */
export const barPlace = (root, token) => middleOf(root, root.querySelector(`.gv-row[data-token="${token}"] .gv-name`));

/**
 * @param {DOMRect | undefined} box
 * @param {DOMRect} sight
 */
const isSeen = (box, sight) => box !== undefined && box.x >= sight.x - 4 && box.right <= sight.right + 4 && box.y >= sight.y - 4 && box.bottom <= sight.bottom + 4;

/**
 * The places of the states of a way, one per state; one that is not in sight stands where its neighbour stands.
 * @param {Element} root
 * @param {MachinePanel} machine
 * @param {StageView} view
 * @param {number[]} path
 * @returns {Point[]}
 */
function placesOf(root, { slot, drawing }, view, path) {
  const sight = drawing.view.getBoundingClientRect();
  if (slot.hidden || !sight.width) return [];
  const places = path.map((state) => {
    const drawn = view.machine?.stack ? view.known[state]?.now.find((node) => drawing.states.has(node)) : state;
    const node = drawing.states.get(drawn ?? -1)?.querySelector(".gv-disc");
    return isSeen(node?.getBoundingClientRect(), sight) ? middleOf(root, node) : null;
  });
  const first = places.find((place) => place !== null);
  /** @type {Point[]} */
  const found = [];
  for (const place of first ? places : []) found.push(place ?? found[found.length - 1] ?? first);
  return found;
}

/**
 * The bytes of a token in signs.
 * @param {string} label
 * @param {number} count
 * @param {string[] | undefined} bytes
 */
function signsOf(label, count, bytes) {
  const letters = [...label];
  const known = bytes?.length === count ? bytes : letters.length === count ? letters : [];
  return Array.from({ length: count }, (_, place) => known[place] ?? "·");
}

/**
 * @typedef {object} Passenger the token that flies
 * @property {string} label
 * @property {string[] | undefined} bytes
 * @property {boolean} died
 * @property {Point | null} bar where it has its bar
 */

/**
 * The token that was taken, or the forbidden one that was asked about.
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element} root
 * @returns {Passenger | null}
 */
function passengerOf({ at, why: old, bar }, { why, cursor, steps }, root) {
  if (why?.path && why !== old) {
    const row = [...root.querySelectorAll(".gv-struck[data-token]")].find((node) => node.querySelector(".gv-name")?.textContent === why.label);
    return { label: why.label, bytes: why.rows.map(([byte]) => byte), died: true, bar: middleOf(root, row?.querySelector(".gv-name")) };
  }
  const step = steps[cursor - 1];
  return cursor === at + 1 && step ? { label: step.label, bytes: step.bytes, died: false, bar } : null;
}

/**
 * The sheet with the token and its bytes.
 * @param {Passenger} passenger
 * @param {number} count of bytes
 */
function buildSheet({ label, bytes, died }, count) {
  const token = make("span", { class: "gv-flying gv-name", "data-move": "token" });
  writeToken(token, label);
  const signs = signsOf(label, count, bytes).map((sign, place) =>
    make("span", { class: `gv-flying gv-name${died && place === count - 1 ? " gv-dying" : ""}`, "data-move": `byte${place}` }, sign));
  return make("div", { class: "gv-travel", "aria-hidden": "true" }, token, ...signs);
}

/**
 * Lets a token fly, if there is one that does. It is called after the page is painted.
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element} root
 * @param {MachinePanel} machine
 */
export function fly(moving, view, root, machine) {
  const passenger = mayMove(view) ? passengerOf(moving, view, root) : null;
  Object.assign(moving, { at: view.cursor, why: view.why });
  const states = passenger ? placesOf(root, machine, view, wayShown(view).path) : [];
  const bar = passenger?.bar ?? (view.steps[view.cursor - 1]?.how === "forced" ? states[0] : null); // a forced token comes out of the machine
  if (!passenger || !bar) return;
  const last = states[states.length - 1];
  if (passenger.died && !last) return;
  if (passenger.died) states.push({ x: last.x + 34, y: last.y - 20 });
  const chip = passenger.died ? null : root.querySelectorAll(".gv-chip")[view.cursor - 1];
  const moves = travel({ bar, states, text: middleOf(root, chip), died: passenger.died });
  if (moves.length) start(moving, view, root, machine, buildSheet(passenger, Math.max(0, states.length - 1)), chip, moves);
}

/**
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element} root
 * @param {MachinePanel} machine
 * @param {HTMLElement} sheet
 * @param {Element | null} chip where it lands
 * @param {Move[]} moves
 */
function start(moving, view, root, machine, sheet, chip, moves) {
  view.sheets = [...view.sheets, sheet];
  root.append(sheet);
  const lit = view.machine?.stack ? null : machine.drawing.layer.querySelector(".gv-state.gv-lit");
  /** @type {Record<string, Element | null>} */
  const others = { text: chip, state: lit };
  const done = () => {
    sheet.remove();
    view.sheets = view.sheets.filter((one) => one !== sheet);
    moving.flight = null;
  };
  moving.flight = play(moves, (part) => others[part] ?? sheet.querySelector(`[data-move="${part}"]`), { rate: rateOf(view, lengthOf(moves)), say: String, done });
}
