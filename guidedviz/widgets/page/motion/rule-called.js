// A rule is called: the called box grows into the next row while its caller shrinks into a strip. A return is the reverse.
// Both are moves between scenes; a scene is the list of the open rules, of which the innermost is the row.

/** @import { Frame, Way } from "../types.js" */
/** @import { Places } from "../machine/rows.js" */
/** @import { Move } from "./player.js" */

import { appear, FAINT, FLIGHT, HIDDEN, paceOf, SHOWN } from "./travel.js";

const [EACH, LONGEST] = [600, 2400]; // milliseconds of a call, and of all at most
export const LIT = 0.4; // of a call: its box is lit before it grows

/** @typedef {Frame[]} Scene the open rules, the outermost first */
/** @typedef {{ scenes: Scene[], reads: number[], causes: number[] }} Story the scenes of a token, that in which each of its bytes is read, and the byte that causes each change */
/** @typedef {{ x: number, y: number, width: number, high: number }} Box pixels in the panel */
/** @typedef {{ begins: number[], changes: number[], each: number, end: number }} Times when each byte and each change begins, in milliseconds */

/** @param {Scene} scene */
export const topOf = (scene) => scene[scene.length - 1];

/**
 * The scenes between two states: rules return, one may take the place of its caller, and rules are called.
 * @param {Scene} from
 * @param {Scene} to
 * @returns {Scene[]}
 */
function changesBetween(from, to) {
  let shared = 0;
  while (shared < Math.min(from.length, to.length) && from[shared][0] === to[shared][0]) shared++;
  const found = [];
  for (let count = from.length - 1; count >= Math.max(1, shared); count--) found.push(from.slice(0, count));
  if (shared && from[shared - 1][1] !== to[shared - 1][1]) found.push(to.slice(0, shared));
  for (let count = shared + 1; count <= to.length; count++) found.push(to.slice(0, count));
  return found;
}

/**
 * @param {Way} way
 * @param {(state: number) => Frame[]} framesOf the frames of a state, the innermost first
 * @param {(node: number) => string | undefined} ruleOf
 * @returns {Story}
 */
export function tellCalls({ path, taken }, framesOf, ruleOf) {
  const stacks = path.map((state) => [...framesOf(state)].reverse());
  const scenes = [stacks[0]];
  /** @type {number[]} */
  const reads = [];
  /** @type {number[]} */
  const causes = [];
  for (let place = 1; place < path.length; place++) {
    const from = stacks[place - 1];
    const rule = ruleOf(Number.parseInt(taken[place - 1]?.[0]));
    const changes = changesBetween(from, stacks[place]);
    const row = [from, ...changes];
    const calls = stacks[place].length > from.length || (changes.length > 0 && topOf(stacks[place])?.[1] === rule && topOf(from)?.[1] !== rule);
    const fits = row.map((scene) => topOf(scene)?.[1] === rule);
    let read = calls ? fits.lastIndexOf(true) : fits.indexOf(true);
    if (read < 0 && rule) { // it is called, read and left by one byte
      row.splice(1, 0, [...from, [-place, rule, ""]], from);
      read = 1;
    }
    reads.push(scenes.length - 1 + Math.max(0, read));
    for (const scene of row.slice(1)) {
      scenes.push(scene);
      causes.push(place - 1);
    }
  }
  return { scenes, reads, causes };
}

/**
 * @param {Story} story
 * @param {number} [start] when the first byte or change may begin
 * @returns {Times}
 */
export function timeCalls({ scenes, reads }, start = FLIGHT) {
  const count = scenes.length - 1;
  const each = Math.min(EACH, LONGEST / Math.max(1, count));
  const begins = [];
  const changes = [];
  let time = start;
  for (const read of [...reads, count]) {
    for (; changes.length < read; time += each) changes.push(time);
    begins.push(time);
    time += paceOf(reads.length);
  }
  return { end: Number(begins.pop()), begins, changes, each };
}

/**
 * The states that a scene's bytes leave and reach: one that is left stays faintly lit until the next one is.
 * @param {Story} story
 * @param {Times} times
 * @returns {Move[]}
 */
export function statesLight({ reads }, { begins }) {
  const pace = paceOf(reads.length);
  return reads.flatMap((scene, byte) => {
    const nth = reads.slice(0, byte).filter((one) => one === scene).length;
    const [left, reached] = [stopName(scene, nth), stopName(scene, nth + 1)];
    const begin = begins[byte];
    const end = begin + pace;
    return /** @type {Move[]} */ ([
      [left, SHOWN, { opacity: FAINT }, begin, begin + 1],
      [left, { opacity: FAINT }, HIDDEN, end, end + 1],
      appear(reached, end),
    ]);
  });
}

/**
 * @param {number} scene
 * @param {number} nth state where its bytes stop
 */
export const stopName = (scene, nth) => `stop ${scene} ${nth}`;

/**
 * A called rule's name; one that took the place of another one has both names.
 * @param {string | undefined} call its key
 * @param {string} rule
 */
export function nameCalled(call, rule) {
  const called = call?.slice(call.indexOf(":") + 1) ?? rule;
  return called === rule ? rule : `${called} → ${rule}`;
}

/**
 * @param {Box} from
 * @param {Box} to
 */
const shrink = (from, to) => `translate(${(to.x - from.x).toFixed(1)}px, ${(to.y - from.y).toFixed(1)}px) scale(${(to.width / from.width).toFixed(4)}, ${(to.high / from.high).toFixed(4)})`;

/** @param {Frame} frame */
export const stripName = ([id, rule]) => `strip ${id} ${rule}`;

/**
 * The moves between the scenes of a token.
 * @param {Story} story
 * @param {Times} times
 * @param {Places[]} places one per scene
 * @param {(Box | null)[]} boxes one per change: the box of the call, in the row of the caller
 * @param {number} width pixels of the panel
 * @returns {Move[]}
 */
export function ruleCalled({ scenes }, times, places, boxes, width) {
  /** @type {Move[]} */
  const moves = [];
  const rows = places.map(({ row }) => ({ x: 0, y: row.y, width, high: row.high }));
  times.changes.forEach((begin, place) => {
    const [before, after] = [scenes[place], scenes[place + 1]];
    const isCall = after.length >= before.length;
    const end = begin + times.each;
    const grows = isCall ? begin + LIT * times.each : begin;
    const half = (grows + end) / 2;
    const [outer, inner] = isCall ? [place, place + 1] : [place + 1, place]; // the scenes of the caller and of the called rule
    const box = boxes[place] ?? { x: width / 3, y: rows[outer].y + rows[outer].high / 2, width: width / 3, high: 20 };
    const strip = places[inner].strips[scenes[outer].length - 1];
    const small = { transform: shrink(rows[inner], box), opacity: 0 };
    const full = { transform: "none", opacity: 1 };
    const waits = { transform: strip ? shrink(rows[outer], { x: 0, y: strip.y, width, high: Math.max(1, strip.high) }) : "none", opacity: 0 };
    /**
     * @param {string} part
     * @param {import("./player.js").Look} one of a call first
     * @param {import("./player.js").Look} other
     * @param {number} from
     * @param {number} to
     */
    const turn = (part, one, other, from, to) => moves.push(isCall ? [part, one, other, from, to] : [part, other, one, from, to]);
    moves.push(appear(`call ${place}`, begin));
    turn(`row ${inner}`, small, full, grows, end);
    turn(`row ${outer}`, full, waits, grows, end);
    if (before.length !== after.length) {
      turn(stripName(topOf(scenes[outer])), HIDDEN, SHOWN, isCall ? half : begin, isCall ? end : half);
    }
    const shared = Math.min(before.length, after.length) - 1;
    for (let caller = 0; caller < shared; caller++) {
      const [from, to] = [places[place].strips[caller], places[place + 1].strips[caller]];
      const name = stripName(before[caller]);
      if (from.y !== to.y) moves.push([name, { top: `${from.y}px` }, { top: `${to.y}px` }, grows, end]);
      if (from.high !== to.high) moves.push([name, { height: `${from.high}px` }, { height: `${to.high}px` }, grows, end]);
    }
  });
  return moves;
}
