// The mask falls: how the panel of the next token comes from one step to the next, as a list of moves.
//
//     0 -  200 ms  outlines grow to what the model wants, whose numbers stand there from the start
//   200 -  550     all rest: this is what the model wants; its likeliest forbidden token goes to the machine, which refuses it
//   550 -  850     the mask passes from the first row to the last: a forbidden bar is hatched, its name is struck
//   850 - 1100     forbidden bars slide to the bin
//  1100 - 1550     they pour into it: what leaves a bar rises there, each layer as high as its probability
//  1550 - 2450     the bin empties: cut into a layer per legal bar, it goes to their ends, and each bar stretches by 1/Z
//  2650 - 3050     after a rest: bias, penalty, temperature, top-k and top-p, where they are set, 500 ms for each
//      then        a pointer runs along the legal bars and stops at the number that was drawn
//
// Where the mask changes nothing, the bars grow and the pointer runs. A number is that of its bar: it never counts to what it
// is before. What is drawn is marked when it is drawn.

/** @import { Bar, Ruler } from "../stage/bars.js" */
/** @import { Look, Move } from "./player.js" */

import { appear, HIDDEN, SHOWN, vanish } from "./travel.js";

const REST = 200; // milliseconds in which a picture is looked at
export const GROWN = 200; // milliseconds after the begin, as the next ones
export const FALLS = GROWN + 350;
export const FALLEN = FALLS + 300;
export const POURS = FALLEN + 250;
export const GONE = POURS + 450;
const SHARE = 900; // milliseconds in which the bin empties
const FLIGHT = 550; // milliseconds of a layer from the bin to its bar
const FILL = 200; // milliseconds in which a bar fills what has come to it
export const SHARED = GONE + SHARE;
export const CHANGES = SHARED + REST;
const STAGE = 500; // milliseconds from the begin of a stage of the sampler to that of the next one
const CHANGE = 400; // milliseconds in which a stage changes the bars
const SWEEP = 700; // milliseconds in which the pointer runs from 0 to 1
const LEAST = 250; // milliseconds that it takes at least
const UNJUDGED = { backgroundColor: "color-mix(in srgb, var(--gv-soft) 30%, transparent)", backgroundImage: "none" };
const JUDGED = { backgroundColor: "transparent", backgroundImage: "none" };
const TURN = 70; // milliseconds in which the mask turns a bar

/**
 * What is shown of a step: its bars, the legal mass, how many stages of the sampler change them after the mask, where the pointer stops, and
 * the row of the token that is drawn, or -1.
 * @typedef {{ bars: Bar[], mass: number, removed: number, changes: number, ruler: Ruler | null, chosen: number }} Shown
 */

/** @param {number} share */
const wide = (share) => `${(100 * share).toFixed(3)}%`;

/** @param {number} share of a bar that ends at the bin */
const beside = (share) => `calc(${wide(1 - share)} + var(--gap))`;

/**
 * The motion from the panel of one step to that of the next one.
 * @param {Shown | null} before
 * @param {Shown} after
 * @returns {Move[]}
 */
export function maskFalls(before, after) {
  const { bars, removed, changes, ruler, chosen } = after;
  const falls = removed > 0;
  const layers = layersOf(after);
  const was = new Map(before?.bars.map((bar, place) => [bar.key, { raw: bar.raw, place }]));
  /** @type {Move[]} */
  const moves = [];
  bars.forEach((bar, place) => {
    const old = was.get(bar.key);
    moves.push(...grow(bar, old?.raw ?? 0, old ? old.place - place : 0, Boolean(old)));
    if (falls) moves.push(...(bar.legal ? stay : leave)(bar, passAt(place, bars.length), layers[place], after));
    else if (changes) moves.push(...changeBar(bar, bar.raw, FALLS));
    else moves.push([`${bar.key}.after`, { width: wide(old?.raw ?? 0) }, { width: wide(bar.raw) }, 0, GROWN]);
  });
  if (falls) {
    moves.push(
      ["mask", HIDDEN, SHOWN, FALLS - TURN, FALLS],
      ["mask", { top: "0%" }, { top: "100%" }, FALLS, FALLEN],
      ["mask", SHOWN, HIDDEN, FALLEN, FALLEN + TURN],
      appear("bin", GONE),
      ["removed", HIDDEN, SHOWN, FALLEN + 100, FALLEN + 200],
      ["scale", HIDDEN, SHOWN, GONE, GONE + 150],
    );
  }
  for (let place = 0; place < changes; place++) {
    const begin = (falls ? CHANGES : FALLS) + place * STAGE;
    moves.push([`change${place}`, { opacity: 0.4 }, SHOWN, begin, begin + TURN]);
  }
  const time = drawAt(after);
  if (ruler) return [...moves, ...sweep(bars, ruler, time)];
  return [...moves, ...mark(bars[chosen], time)];
}

/**
 * When the draw begins.
 * @param {Pick<Shown, "removed" | "changes">} after
 */
export function drawAt({ removed, changes }) {
  const lasts = (changes - 1) * STAGE + CHANGE;
  if (removed > 0) return changes ? CHANGES + lasts : SHARED;
  return changes ? FALLS + lasts : GROWN;
}

/**
 * A bar goes from stage to stage of the sampler, up to the share that its token is drawn with.
 * @param {Bar} bar
 * @param {number} from its share before the first stage
 * @param {number} begin
 * @returns {Move[]}
 */
const changeBar = (bar, from, begin) => [...bar.stages, bar.drawn].flatMap((to, place, after) =>
  share(bar, place ? after[place - 1] : from, to, begin + place * STAGE, begin + place * STAGE + CHANGE));

/**
 * When the mask reaches a row.
 * @param {number} place
 * @param {number} count
 */
export const passAt = (place, count) => FALLS + ((FALLEN - FALLS) * (place + 0.5)) / count;

/**
 * A bar grows to what the model wants, and its number says so from the start. A token that was there before comes from its old row.
 * @param {Bar} bar
 * @param {number} old
 * @param {number} from rows
 * @param {boolean} known
 * @returns {Move[]}
 */
function grow({ key, raw }, old, from, known) {
  /** @type {Move[]} */
  const moves = [
    [`${key}.before`, { width: wide(old) }, { width: wide(raw) }, 0, GROWN],
    [`${key}.end`, { width: wide(old) }, { width: wide(raw) }, 0, GROWN],
    [`${key}.said`, { count: raw }, { count: raw }, 0, GROWN],
  ];
  if (from) moves.push([key, { transform: `translateY(${100 * from}%)` }, { transform: "none" }, 0, GROWN]);
  if (!known) moves.push([key, HIDDEN, SHOWN, 0, GROWN]);
  return moves;
}

/**
 * A bar changes from one share to another, and its number with it.
 * @param {Bar} bar
 * @param {number} from
 * @param {number} to
 * @param {number} begin
 * @param {number} stop
 * @returns {Move[]}
 */
const share = ({ key, raw }, from, to, begin, stop) => [
  [`${key}.after`, { width: wide(from) }, { width: wide(to) }, begin, stop],
  [`${key}.end`, { width: wide(Math.max(raw, from)) }, { width: wide(Math.max(raw, to)) }, begin, stop],
  [`${key}.said`, { count: from }, { count: to }, begin, stop],
];

/**
 * The share of a legal bar after the mask.
 * @param {Bar} bar
 * @param {Shown} shown
 */
const sharedOf = ({ raw, drawn }, { mass, changes }) => (changes ? Math.min(1, raw / mass) : drawn);

/**
 * The layer of each bar in the bin: what a forbidden one brings, and what a legal one takes. Either are as high as what was removed.
 * @param {Shown} shown
 * @returns {Look[]}
 */
function layersOf(shown) {
  const { bars, removed } = shown;
  const rows = bars.length;
  const above = [1 - removed, 1 - removed]; // of the layers that are brought, of those that are taken
  return bars.map((bar, place) => {
    const part = bar.legal ? sharedOf(bar, shown) - bar.raw : bar.raw;
    const middle = above[Number(bar.legal)] + part / 2;
    above[Number(bar.legal)] += part;
    /** @param {number} height */
    const topAt = (height) => `calc(${(height * rows - place).toFixed(3)} * var(--high) - var(--above) - 2px)`;
    return { left: beside(0), width: "24px", top: topAt(middle), floor: topAt(1), height: `calc(${(part * rows).toFixed(3)} * var(--high))` };
  });
}

/**
 * A bar turns to a layer or back: it is narrow before it is high.
 * @param {string} part
 * @param {Look} from
 * @param {Look} to
 * @param {number} begin
 * @param {number} end
 * @param {string[]} easings of what is across, and of what is upright
 * @returns {Move[]}
 */
const turn = (part, from, to, begin, end, easings) => [["left", "width"], ["top", "height"]].map((names, way) => {
  const [one, other] = [from, to].map((look) => Object.fromEntries(names.map((name) => [name, look[name]])));
  return [part, { ...one, easing: easings[way] }, other, begin, end];
});

/**
 * Where a part of a bar lies.
 * @param {number} left
 * @param {number} width
 * @returns {Look}
 */
const inBar = (left, width) => ({ left: wide(left), width: wide(width), top: "50%", height: "calc(100% - 4px)" });

/**
 * A legal bar stays: the mask fills it, then its layer comes from the bin to its end, and the bar fills that.
 * @param {Bar} bar
 * @param {number} at when the mask passes
 * @param {Look} layer
 * @param {Shown} shown
 * @returns {Move[]}
 */
function stay(bar, at, layer, shown) {
  const { key, raw } = bar;
  const shared = sharedOf(bar, shown);
  const legal = shown.bars.filter((one) => one.legal);
  const begin = GONE + ((SHARE - FLIGHT - FILL) * legal.indexOf(bar)) / legal.length;
  const there = begin + FLIGHT;
  return [
    [`${key}.before`, UNJUDGED, JUDGED, at, at + TURN],
    [`${key}.after`, HIDDEN, SHOWN, at, at + TURN],
    appear(`${key}.gain`, GONE),
    ...turn(`${key}.gain`, layer, inBar(raw, shared - raw), begin, there, ["ease-in", "ease-out"]),
    [`${key}.gain`, SHOWN, HIDDEN, there, there + FILL],
    ...share(bar, raw, shared, there, there + FILL),
    ...(shown.changes ? changeBar(bar, shared, CHANGES) : []),
  ];
}

/**
 * A forbidden bar turns as the mask passes, slides to the bin and pours into it; its outline stays, and its number is 0.
 * @param {Bar} bar
 * @param {number} at when the mask passes
 * @param {Look} layer
 * @returns {Move[]}
 */
const leave = ({ key, raw }, at, { floor, ...layer }) => [
  [`${key}.name`, { color: "var(--gv-ink)", textDecorationColor: "transparent" }, { color: "var(--gv-magenta)", textDecorationColor: "var(--gv-magenta)" }, at, at + TURN],
  [`${key}.cross`, HIDDEN, SHOWN, at, at + TURN],
  [`${key}.before`, { borderColor: "var(--gv-soft)", ...UNJUDGED, borderStyle: "solid" }, { borderColor: "var(--gv-magenta)", ...JUDGED, borderStyle: "dashed" }, at, at + TURN],
  [`${key}.after`, { opacity: 0, scale: "1 0" }, { opacity: 1, scale: "1 1" }, at, at + TURN],
  [`${key}.after`, { left: "0%" }, { left: beside(raw) }, FALLEN, POURS],
  [`${key}.after`, { left: beside(raw), width: wide(raw) }, { left: beside(0), width: "0%" }, POURS, GONE],
  vanish(`${key}.after`, GONE),
  appear(`${key}.gain`, POURS),
  [`${key}.gain`, { ...layer, top: floor, height: "0px" }, layer, POURS, GONE],
  vanish(`${key}.gain`, GONE),
  [`${key}.said`, { count: raw }, { count: 0 }, GONE - 1, GONE],
];

/**
 * The pointer runs along one legal bar after the other, and glides from the end of one to the begin of the next.
 * @param {Bar[]} bars
 * @param {Ruler} ruler
 * @param {number} begin
 * @returns {Move[]}
 */
function sweep(bars, { row, at, number }, begin) {
  const pace = Math.max(LEAST, SWEEP * number) / Math.max(number, 1e-9);
  /** @type {Move[]} */
  const moves = [["pointer", HIDDEN, SHOWN, begin, begin]];
  let time = begin;
  /** @type {Look} */
  let place = {};
  /**
   * @param {Look} to
   * @param {number} lasts
   * @param {string} [easing]
   */
  const go = (to, lasts, easing = "ease-in-out") => {
    moves.push(["pointer", { ...place, easing }, to, time, time + lasts]);
    place = to;
    time += lasts;
  };
  bars.slice(0, row + 1).forEach(({ drawn }, nth) => {
    const part = nth === row ? at : drawn;
    if (part <= 0) return;
    const top = wide(nth / bars.length);
    const first = { left: "0%", top };
    if (time > begin) go(first, TURN);
    else place = first;
    go({ left: wide(part), top }, pace * part, "linear");
  });
  return [
    ...moves,
    ["number", HIDDEN, SHOWN, time, time + TURN],
    ...mark(bars[row], time),
  ];
}

/**
 * The drawn token is marked, in its row and in a text that is known already.
 * @param {Bar | undefined} bar
 * @param {number} time
 * @returns {Move[]}
 */
function mark(bar, time) {
  if (!bar) return [];
  const end = time + TURN;
  return [
    ["chosen", HIDDEN, SHOWN, time, end],
    ["ahead", HIDDEN, SHOWN, time, end],
    [bar.key, { borderColor: "transparent" }, { borderColor: "var(--gv-orange)" }, time, end],
  ];
}
