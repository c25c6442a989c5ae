// What moves from one frame of a film to the next, as a list of moves; each function is one sentence.

/** @import { FilmFrame } from "../types.js" */
/** @import { Move } from "./player.js" */
/** @import { Point } from "./travel.js" */
import { fall, FLIGHT } from "./travel.js";

const RIDE = 500; // milliseconds along an arrow
const WAVE = 320; // milliseconds along an arrow without a byte
const TURN = 120; // milliseconds in which something appears or goes
const DEEPER = 110; // milliseconds after which the next level of a cut tree turns grey
const SLIDE = 700; // milliseconds in which states merge
const DOWN = "0px 70px"; // what is lost falls
const [FAN, WIDEST_FAN] = [30, 130]; // pixels between the states of a set, and of all of it

/**
 * Where a film's parts stand, in the drawing that is shown now.
 * @typedef {{ tape: Point | null, start: (arrow: string) => Point | null, old: (state: number) => Point | null, now: (state: number) => Point | null }} Places
 */

/**
 * @param {FilmFrame} before
 * @param {FilmFrame} after
 * @param {Places} places
 * @returns {Move[]}
 */
export function filmMoves(before, after, places) {
  if (after.flight) return itemFlies(after.flight, places);
  if (before.drawing !== after.drawing) return after.merged ? statesMerge(before, after.merged, places) : [];
  const [sign, arrows] = after.ride ?? ["", []];
  if (sign) return byteRides(before, after, places);
  if (!arrows.length) return statesFill(before, after, new Map());
  return after.merged ? setsFly(before, after) : wave(before, after);
}

/** @param {string} arrow such as 3-5 and 3~5 */
const sourceOf = (arrow) => Number.parseInt(arrow, 10);
/** @param {string} arrow */
const targetOf = (arrow) => Number(/\d+$/.exec(arrow));
/** @param {Point} point */
const at = ({ x, y }) => ({ translate: `${x.toFixed(1)}px ${y.toFixed(1)}px` });

/**
 * A byte comes from the text, splits, and slides along each arrow; the states fill where it lands. Lit states that do not
 * read it fall. Where it cannot be read it falls itself, and the tree below turns grey.
 * @param {FilmFrame} before
 * @param {FilmFrame} after
 * @param {Places} places
 * @returns {Move[]}
 */
function byteRides(before, after, { tape, start }) {
  const [, arrows] = /** @type {[string, string[]]} */ (after.ride);
  const begin = tape ? FLIGHT : 0;
  const end = begin + RIDE;
  const cut = newlyCut(before, after);
  /** @type {Move[]} */
  const moves = [];
  for (const arrow of arrows) {
    const [part, source] = [`tile ${arrow}`, start(arrow)];
    if (tape && source) moves.push([part, at({ x: tape.x - source.x, y: tape.y - source.y }), at({ x: 0, y: 0 }), 0, FLIGHT]);
    moves.push(...slide(part, arrow, begin, end));
    if (cut.has(targetOf(arrow))) moves.push([`sign ${arrow}`, { color: "var(--gv-orange)" }, { color: "var(--gv-magenta)" }, end - 1, end], ...fall(`sign ${arrow}`, at({ x: 0, y: 0 }), { translate: DOWN }, end));
    else moves.push([part, { opacity: 1 }, { opacity: 0 }, end - 1, end]);
  }
  const landed = new Map(arrows.map((arrow) => [targetOf(arrow), end]));
  return [...moves, ...statesLeave(tape ? before.lit : [], arrows, begin), ...statesFill(before, after, landed), ...tagsTurn(before, after, end, cut)];
}

/**
 * Something slides along an arrow, which lights up behind it.
 * @param {string} part
 * @param {string} arrow
 * @param {number} begin
 * @param {number} end
 * @returns {Move[]}
 */
const slide = (part, arrow, begin, end) => [
  [part, { offsetDistance: "0%" }, { offsetDistance: "100%" }, begin, end],
  [`arrow ${arrow}`, { opacity: 0 }, { opacity: 1 }, begin, end],
];

/**
 * Arrows without a byte are a wave: from the lit states to those behind them, and on from these.
 * @param {FilmFrame} before
 * @param {FilmFrame} after
 * @returns {Move[]}
 */
function wave(before, after) {
  const [, arrows] = /** @type {[string, string[]]} */ (after.ride);
  const reached = new Map(before.lit.map((state) => [state, 0]));
  /** @type {Move[]} */
  const moves = [];
  let waiting = arrows;
  for (let begin = 0; waiting.length; begin += WAVE) {
    const front = waiting.filter((arrow) => (reached.get(sourceOf(arrow)) ?? Infinity) <= begin);
    if (!front.length) break;
    waiting = waiting.filter((arrow) => !front.includes(arrow));
    for (const arrow of front) {
      moves.push(...slide(`tile ${arrow}`, arrow, begin, begin + WAVE), [`tile ${arrow}`, { opacity: 0 }, { opacity: 1 }, begin, begin + 1], [`tile ${arrow}`, { opacity: 1 }, { opacity: 0 }, begin + WAVE - 1, begin + WAVE]);
      if (!reached.has(targetOf(arrow))) reached.set(targetOf(arrow), begin + WAVE);
    }
  }
  return [...moves, ...statesFill(before, after, reached)];
}

/**
 * The states of a set leave the lit state side by side and fly together into one.
 * @param {FilmFrame} before
 * @param {FilmFrame} after
 * @returns {Move[]}
 */
function setsFly(before, after) {
  const [, arrows] = /** @type {[string, string[]]} */ (after.ride);
  /** @type {Move[]} */
  const moves = statesFill(before, after, new Map());
  for (const arrow of arrows) {
    const members = after.merged?.[targetOf(arrow)] ?? [];
    const apart = Math.min(FAN, WIDEST_FAN / members.length);
    members.forEach((member, place) => {
      const part = `chip ${arrow} ${member}`;
      const beside = at({ x: 0, y: apart * (place - (members.length - 1) / 2) });
      moves.push([part, at({ x: 0, y: 0 }), beside, 0, FLIGHT], [part, { offsetDistance: "0%" }, { offsetDistance: "100%" }, FLIGHT, FLIGHT + RIDE], [part, beside, at({ x: 0, y: 0 }), FLIGHT + RIDE / 2, FLIGHT + RIDE], [part, { opacity: 1 }, { opacity: 0 }, FLIGHT + RIDE - 1, FLIGHT + RIDE]);
    });
    moves.push([`arrow ${arrow}`, { opacity: 0 }, { opacity: 1 }, FLIGHT, FLIGHT + RIDE]);
    if (!before.states.includes(targetOf(arrow))) moves.push([`node ${targetOf(arrow)}`, { opacity: 0.16 }, { opacity: 1 }, FLIGHT + RIDE - TURN, FLIGHT + RIDE]);
  }
  return moves;
}

/**
 * One state slides onto the other, and double arrows become one.
 * @param {FilmFrame} before
 * @param {number[][]} merged
 * @param {Places} places
 * @returns {Move[]}
 */
function statesMerge(before, merged, { old, now }) {
  const goal = new Map(merged.flatMap((members, state) => members.map((member) => [member, now(state)])));
  /** @type {Move[]} */
  const moves = [
    ["stays", { visibility: "visible" }, { visibility: "visible" }, 0, SLIDE],
    ["before", { opacity: 1 }, { opacity: 0 }, 0, TURN],
    ["lit", { opacity: 1 }, { opacity: 0 }, 0, TURN],
    ["after", { opacity: 0 }, { opacity: 1 }, SLIDE, SLIDE + 2 * TURN],
  ];
  const fixed = moves.length;
  for (const arrow of before.arrows) {
    const [start, end] = [sourceOf(arrow), targetOf(arrow)];
    const [a, b, c, d] = [old(start), old(end), goal.get(start), goal.get(end)];
    if (a && b && c && d && start !== end) moves.push([`string ${arrow}`, between(a, b), between(c, d), TURN, SLIDE]);
  }
  for (const [state, to] of goal) {
    const from = old(state);
    if (from && to) moves.push([`ghost ${state}`, at(from), at(to), TURN, SLIDE]);
  }
  const gone = /** @type {Move[]} */ (moves.slice(fixed).map(([part]) => [part, { opacity: 1 }, { opacity: 0 }, SLIDE, SLIDE + 2 * TURN]));
  return [...moves, ...gone];
}

/**
 * A line of one pixel, as it lies between two points.
 * @param {Point} one
 * @param {Point} other
 */
const between = (one, other) => ({
  ...at(one),
  rotate: `${((Math.atan2(other.y - one.y, other.x - one.x) * 180) / Math.PI).toFixed(1)}deg`,
  scale: `${Math.max(1, Math.hypot(other.x - one.x, other.y - one.y)).toFixed(1)} 1`,
});

/**
 * A finished item flies to the one that waits for it, and both become the new one.
 * @param {number[]} flight
 * @param {Places} places
 * @returns {Move[]}
 */
function itemFlies(flight, { now }) {
  const last = flight[flight.length - 1];
  /** @type {Move[]} */
  const moves = [];
  flight.slice(1).forEach((target, place) => {
    const [part, start, end, begin] = [`item ${flight[place]}`, now(flight[place]), now(target), place * RIDE];
    if (!start || !end) return;
    moves.push([part, { opacity: 0 }, { opacity: 1 }, begin, begin + 1], [part, at({ x: 0, y: 0 }), at({ x: end.x - start.x, y: end.y - start.y }), begin, begin + RIDE], [part, { opacity: 1 }, { opacity: 0 }, begin + RIDE - 1, begin + RIDE]);
  });
  const end = RIDE * (flight.length - 1);
  for (const part of [`node ${last}`, `state ${last}`]) moves.push([part, { opacity: 0 }, { opacity: 1 }, end - 1, end]);
  return moves;
}

// --- the states ---

/**
 * States that are lit now and were not before: where a byte lands they fill as it lands.
 * @param {FilmFrame} before
 * @param {FilmFrame} after
 * @param {Map<number, number>} landed when
 * @returns {Move[]}
 */
const statesFill = (before, after, landed) => after.lit.flatMap((state) => {
  if (before.lit.includes(state) && !(landed.get(state) ?? 0)) return [];
  const end = landed.get(state) ?? TURN;
  return [/** @type {Move} */ ([`state ${state}`, { opacity: 0 }, { opacity: 1 }, Math.max(0, end - TURN), end])];
});

/**
 * Of the states that were lit, those that read the byte go dark as it leaves; the others fall.
 * @param {number[]} lit
 * @param {string[]} arrows
 * @param {number} begin
 * @returns {Move[]}
 */
const statesLeave = (lit, arrows, begin) => lit.flatMap((state) => {
  const read = arrows.some((arrow) => sourceOf(arrow) === state);
  /** @type {Move[]} */
  const moves = [[`was ${state}`, { opacity: 1 }, { opacity: 0 }, begin, begin + (read ? TURN : RIDE)]];
  return read ? moves : [...moves, [`was ${state}`, { translate: "0px 0px" }, { translate: DOWN }, begin, begin + RIDE]];
});

/** @param {FilmFrame} frame */
const titles = ({ groups }) => new Map(groups.flatMap(([title, members]) => members.map((state) => [state, title])));

/**
 * States of the part of a tree that is cut now.
 * @param {FilmFrame} before
 * @param {FilmFrame} after
 */
function newlyCut(before, after) {
  const known = titles(before);
  return new Set([...titles(after)].flatMap(([state, title]) => (title === "cut" && !known.has(state) ? [state] : [])));
}

/**
 * The names of groups change as a byte has shown it; what is cut turns grey from its root on.
 * @param {FilmFrame} before
 * @param {FilmFrame} after
 * @param {number} begin
 * @param {Set<number>} cut
 * @returns {Move[]}
 */
function tagsTurn(before, after, begin, cut) {
  const known = titles(before);
  const parents = new Map(after.arrows.map((arrow) => [targetOf(arrow), sourceOf(arrow)]));
  /** @param {number} state @returns {number} */
  const depth = (state) => (cut.has(state) ? 1 + depth(parents.get(state) ?? -1) : 0);
  return [...titles(after)].flatMap(([state, title]) => {
    if (known.get(state) === title) return [];
    const time = begin + DEEPER * depth(state);
    return [/** @type {Move} */ ([`tag ${state}`, { opacity: 0 }, { opacity: 1 }, time, time + TURN])];
  });
}
