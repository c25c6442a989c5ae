// The token on its way from its bar through the machine to the text, on a sheet above the stage.

/** @import { Drawing } from "../machine/drawing.js" */
/** @import { MachinePanel } from "../machine/machine-panel.js" */
/** @import { Move } from "../motion/player.js" */
/** @import { Point } from "../motion/travel.js" */
/** @import { StageView, Step, Way } from "../types.js" */
/** @import { Moving } from "./moving.js" */
import { slidePicture, stageCalls } from "../machine/calls.js";
import { toPixels } from "../machine/camera.js";
import { pointsOn, spotOf } from "../machine/drawing.js";
import { wayShown } from "../machine/machine-panel.js";
import { lengthOf, play } from "../motion/player.js";
import { inOrder, travel } from "../motion/travel.js";
import { make, writeToken } from "../shared/elements.js";
import { mayMove, rateOf } from "./pace.js";
import { takenSince } from "./view.js";

const PARTS = 8; // straight parts of the way along an arrow

/**
 * The middle of an element, in pixels of the stage.
 * @param {Element} root
 * @param {Element | null | undefined} node
 * @returns {Point | null}
 */
export function middleOf(root, node) {
  return node?.getBoundingClientRect().width ? cornerOf(root, node, 0.5) : null;
}

/**
 * Where a token has its bar.
 * @param {Element} root
 * @param {number} token
 */
export const barPlace = (root, token) => middleOf(root, root.querySelector(`.gv-row[data-token="${token}"] .gv-name`));

/**
 * The nodes where a state of the machine is drawn.
 * @param {StageView} view
 * @param {number} state
 */
export const nodesOf = ({ machine, known }, state) => (machine?.stack ? known[state]?.now ?? [] : [state]);

/**
 * The middle of a state, if it is in sight.
 * @param {Element} root
 * @param {Drawing} drawing
 * @param {StageView} view
 * @param {number} state
 * @param {number} [edge] pixels between it and the border of the panel
 * @returns {Point | null}
 */
export function placeOf(root, { camera, room: [wide, high], states, view: panel }, view, state, edge = -4) {
  const spot = spotOf(states.get(nodesOf(view, state).find((node) => states.has(node)) ?? -1));
  if (!spot) return null;
  const corner = cornerOf(root, panel);
  const { x, y } = toPixels(camera, spot); // where it will stand, whatever moves now
  return Math.min(x, wide - x, y, high - y) < edge ? null : { x: corner.x + x, y: corner.y + y };
}

/**
 * The places of the states of a way, one per state; one that is not in sight stands where its neighbour stands.
 * @param {Element} root
 * @param {MachinePanel} machine
 * @param {StageView} view
 * @param {number[]} path
 * @returns {Point[]}
 */
function placesOf(root, { drawing }, view, path) {
  const places = path.map((state) => placeOf(root, drawing, view, state));
  const first = places.find((place) => place !== null);
  /** @type {Point[]} */
  const found = [];
  for (const place of first ? places : []) found.push(place ?? found[found.length - 1] ?? first);
  return found;
}

/**
 * Points along the arrow of a byte; none where it is not all in sight.
 * @param {Point} corner of the drawing
 * @param {MachinePanel["drawing"]} drawing
 * @param {string} key of the arrow
 * @returns {Point[]}
 */
function lineOf(corner, { arrows, camera, room }, key) {
  const line = /** @type {SVGPathElement | null | undefined} */ (arrows.get(key)?.querySelector("path.gv-line"));
  const points = pointsOn(line, PARTS).map((point) => toPixels(camera, point));
  if (points.some(({ x, y }) => x < 0 || x > room[0] || y < 0 || y > room[1])) return [];
  return points.map(({ x, y }) => ({ x: corner.x + x, y: corner.y + y }));
}

/**
 * The arrow of each byte of a way.
 * @param {Way} way
 * @returns {string[]}
 */
const arrowsOf = ({ path = [], taken }) => path.slice(1).map((state, place) => taken?.[place]?.[0] ?? `${path[place]}-${state}`);

/**
 * The corner of an element, or a point within it, in pixels of the stage.
 * @param {Element} root
 * @param {Element} node
 * @param {number} [share] of its width and height
 * @returns {Point}
 */
function cornerOf(root, node, share = 0) {
  const [home, box, zoom] = [root.getBoundingClientRect(), node.getBoundingClientRect(), /** @type {any} */ (root).currentCSSZoom ?? 1];
  return { x: (box.x + share * box.width - home.x) / zoom, y: (box.y + share * box.height - home.y) / zoom };
}

/**
 * @typedef {object} Route where the bytes pass, when each begins, and the rules that are called on the way
 * @property {Point[]} states
 * @property {Point[]} [starts]
 * @property {Point[][]} [lines]
 * @property {number[]} [begins]
 * @property {import("../motion/travel.js").Wait[]} [waits]
 * @property {Move[]} [moves]
 * @property {HTMLElement | null} [sheet]
 */

/**
 * @param {Element} root
 * @param {MachinePanel} machine
 * @param {StageView} view
 * @param {Way} way
 * @returns {Route}
 */
function routeOf(root, machine, view, way) {
  if (machine.slot.hidden || !machine.drawing.view.getBoundingClientRect().width) return { states: [] };
  if (!machine.focus) {
    const corner = cornerOf(root, machine.drawing.view);
    const lines = arrowsOf(way).map((key) => lineOf(corner, machine.drawing, key));
    return { states: placesOf(root, machine, view, way.path), lines };
  }
  const found = stageCalls(machine, view, way, machine.before);
  if (!found) return { states: [] };
  const corner = cornerOf(root, machine.scene);
  corner.y += machine.scene.clientTop;
  /** @param {Point} point */
  const move = ({ x, y }) => ({ x: corner.x + x, y: corner.y + y });
  return { ...found, states: found.states.map(move), starts: found.starts.map(move), waits: found.waits.map((wait) => ({ ...wait, point: move(wait.point) })) };
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
 * @property {Way} way
 * @property {Step[]} steps that were taken
 */

/**
 * The token that was taken, all tokens of a forced text, or the forbidden token that was asked about.
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element} root
 * @returns {Passenger | null}
 */
function passengerOf({ at, why: old, bar }, view, root) {
  const { why } = view;
  if (why?.path && why !== old) {
    const row = [...root.querySelectorAll(".gv-struck[data-token]")].find((node) => node.querySelector(".gv-name")?.textContent === why.label);
    return { label: why.label, bytes: why.rows.map(([byte]) => byte), died: true, bar: middleOf(root, row?.querySelector(".gv-name")), way: wayShown(view), steps: [] };
  }
  const steps = takenSince(view, at);
  if (!steps.length) return null;
  const label = steps.map((step) => step.label).join("");
  if (steps.length === 1) return { label, bytes: steps[0].bytes, died: false, bar, way: wayShown(view), steps };
  const way = joinWays(steps);
  return { label, bytes: way.bytes, died: false, bar, way, steps };
}

/**
 * The way of several tokens, one after the other.
 * @param {Step[]} steps
 * @returns {Way}
 */
function joinWays(steps) {
  const path = steps.flatMap((step, place) => (step.path ?? []).slice(place ? 1 : 0));
  return { path, taken: steps.flatMap((step) => step.taken ?? []), bytes: steps.flatMap((step) => step.bytes ?? []) };
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
  const route = passenger ? routeOf(root, machine, view, passenger.way) : { states: [] };
  const { states, starts } = route;
  const bar = passenger?.bar ?? states[0]; // a forced token leaves the machine, and so does one whose bar is out of sight
  if (!passenger || !bar) return;
  const last = states[states.length - 1];
  if (passenger.died && !last) return;
  if (passenger.died) {
    starts?.push(last);
    states.push({ x: last.x + 34, y: last.y - 20 });
  }
  const chips = [...root.querySelectorAll(".gv-chip")].slice(view.cursor - passenger.steps.length, view.cursor);
  const journey = { ...route, bar, text: middleOf(root, chips[0]), died: passenger.died };
  const lengths = passenger.steps.map(({ path }) => (path?.length ?? 1) - 1);
  const moves = inOrder([...travel(journey, lengths), ...(route.moves ?? slidePicture(machine))]);
  if (moves.length) start(moving, view, root, machine, buildSheet(passenger, Math.max(0, states.length - 1)), chips, moves, passenger.way, route.sheet);
}

/**
 * @param {Moving} moving
 * @param {StageView} view
 * @param {Element} root
 * @param {MachinePanel} machine
 * @param {HTMLElement} sheet
 * @param {Element[]} chips where it lands
 * @param {Move[]} moves
 * @param {Way} way
 * @param {HTMLElement | null} [calls] the scenes of the rules that are called
 */
function start(moving, view, root, machine, sheet, chips, moves, way, calls) {
  view.sheets = [...view.sheets, sheet];
  root.append(sheet);
  const takeCalls = showCalls(machine, calls);
  const lit = view.machine?.stack ? null : machine.drawing.layer.querySelector(".gv-state.gv-lit");
  const arrows = arrowsOf(way);
  const passed = arrows.flatMap((key, place) => {
    const node = arrows.indexOf(key) === place && machine.drawing.layer.querySelector(`.gv-on[data-arrow="${key}"]`); // a loop is lit once
    return node ? [/** @type {const} */ ([`arrow${place}`, node])] : [];
  });
  const others = new Map([["state", lit], ["title", machine.now], ...passed, ...chips.map((chip, place) => /** @type {const} */ ([`text${place}`, chip]))]);
  const done = () => {
    sheet.remove();
    takeCalls();
    view.sheets = view.sheets.filter((one) => one !== sheet);
    const { then } = moving;
    Object.assign(moving, { flight: null, then: null });
    then?.();
  };
  /** @param {string} part */
  const find = (part) => moved(calls, part) ?? others.get(part) ?? moved(sheet, part);
  moving.flight = play(moves, find, { rate: rateOf(view, lengthOf(moves)), say: String, done });
}

/**
 * @param {Element | null | undefined} sheet
 * @param {string} part
 */
const moved = (sheet, part) => sheet?.querySelector(`[data-move="${part}"]`);

/**
 * Lays the scenes of calls over the panel, in the place of what it shows.
 * @param {MachinePanel} machine
 * @param {HTMLElement | null | undefined} calls
 * @returns {() => void} takes them away
 */
function showCalls({ scene }, calls) {
  if (!calls) return () => {};
  scene.append(calls);
  scene.classList.add("gv-calling");
  return () => {
    calls.remove();
    scene.classList.toggle("gv-calling", Boolean(scene.querySelector(".gv-calls")));
  };
}

/**
 * Shows the rules that the last token called, backwards. It is called after the page is painted.
 * @param {Moving} moving
 * @param {StageView} view
 * @param {MachinePanel} machine
 * @param {Way} way of the token that is taken back
 * @param {number} rate
 */
export function flyBack(moving, view, machine, way, rate) {
  if (!machine.focus || !way.path) return;
  const found = stageCalls(machine, view, way, { painted: machine.painted, camera: machine.drawing.camera }, 0);
  if (!found?.sheet) return;
  const { sheet } = found;
  const moves = inOrder(found.moves);
  const takeCalls = showCalls(machine, sheet);
  const done = () => {
    takeCalls();
    moving.flight = null;
  };
  moving.flight = play(moves, (part) => moved(sheet, part), { rate: rate * rateOf(view, lengthOf(moves)), back: true, say: String, done });
}
