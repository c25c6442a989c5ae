// The scenes of a token on a sheet above the panel: each has its row and its strips. Where they stand, where the boxes of calls are,
// and where the bytes pass, all in pixels of the panel, so that the motion between them measures nothing.

/** @import { StageView, Way } from "../types.js" */
/** @import { Box, Scene, Story } from "../motion/rule-called.js" */
/** @import { Point } from "../motion/travel.js" */
/** @import { Camera } from "./camera.js" */
/** @import { MachinePanel } from "./machine-panel.js" */
/** @import { RuleRow } from "./rule-rows.js" */
import { LIT, nameCalled, ruleCalled, statesLight, stopName, stripName, tellCalls, timeCalls, topOf } from "../motion/rule-called.js";
import { FLIGHT } from "../motion/travel.js";
import { make, shape } from "../shared/elements.js";
import { aim, around, toPixels, transformOf } from "./camera.js";
import { copyPart, scalesOf } from "./drawing.js";
import { framesOf } from "./machine-panel.js";
import { findRow, rowsOf } from "./rule-rows.js";
import { placeRows, STRIP } from "./rows.js";
import { frameCard, hang } from "./strips.js";

const EDGE = 2; // pixels of a row's border
const ABOVE = 8; // pixels over the box of a call, whose name is seen while a byte waits there

/** @typedef {[part: string, look: string, keys: string[]]} Lit arrows and boxes that are lit together for a time */

/** @param {string} key the nodes before and after an arrow */
const endsOf = (key) => key.split("-");

/**
 * What is passed in a scene: the nodes of its bytes, and before the first byte where the machine stands. The last scene shows what
 * the page shows when the motion has ended.
 * @param {Story} story
 * @param {Way} way
 * @param {StageView} view
 * @param {number} scene
 * @returns {string[]}
 */
function passedIn({ scenes, reads }, { path, taken }, { known }, scene) {
  const last = scene === scenes.length - 1;
  const passed = taken.flatMap((keys, byte) => (last || reads[byte] === scene ? keys.flatMap(endsOf) : []));
  if (last) return [...passed, ...known[path[path.length - 1]].now.map(String)];
  return scene ? passed : [...known[path[0]].now.map(String), ...passed];
}

/**
 * The key of a call in the row of its caller: of a call that is open, else of any call of the rule.
 * @param {RuleRow} row
 * @param {string} rule
 * @param {string[]} open keys of calls
 */
function findCall({ spots }, rule, open) {
  const here = open.filter((key) => spots.has(key));
  const calls = [...spots.keys()].filter((key) => key.endsWith(`:${rule}`));
  return here.find((key) => calls.includes(key)) ?? here[0] ?? calls[0];
}

/**
 * @param {MachinePanel} panel
 * @param {StageView} view
 * @param {Way} way
 * @param {{ painted: unknown, camera: Camera }} before what was shown before the first scene, or is shown after it the first scene is seen
 * @param {number} [start] when the first byte or change may begin
 */
export function stageCalls(panel, view, way, before, start) {
  const { scene, drawing } = panel;
  const { path, taken } = way;
  const rows = rowsOf(view);
  const story = tellCalls(way, (state) => framesOf(view, state), (node) => rows.find(({ spots }) => spots.has(String(node)))?.rule);
  const [width, height] = [scene.clientWidth, scene.clientHeight];
  const shown = story.scenes.map((frames, place) => {
    const passed = passedIn(story, way, view, place);
    const row = findRow(rows, topOf(frames)?.[1], passed.map(Number));
    if (!row) return null;
    const scales = scalesOf(drawing.view, row.letters);
    const places = placeRows(frames.length - 1, height, row.size[1] * scales.least);
    const calls = place < story.causes.length ? [...known(view, path[story.causes[place] + 1])] : [];
    const next = story.scenes[place + 1];
    const box = next && next.length >= frames.length ? row.spots.get(findCall(row, topOf(next)[1], calls)) : undefined;
    const spots = passed.flatMap((name) => row.spots.get(name) ?? []);
    const camera = aim(row.size, [width - 2 * EDGE, places.row.high - STRIP - EDGE], scales, around(box ? [...spots, box] : spots));
    const ends = place > 0 && place === story.scenes.length - 1;
    const stops = taken.flatMap((keys, byte) => (story.reads[byte] === place && keys.length ? [endsOf(keys[0])] : []));
    const lit = ends ? passed[passed.length - 1] : passed[0];
    const arrows = taken.flatMap(([key], byte) => (story.reads[byte] === place ? [/** @type {Lit} */ ([`arrow${byte}`, "gv-on", [key]])] : []));
    return { frames, row, places, camera, lit, arrows, stops: [...stops.map(([from]) => from).slice(0, 1), ...stops.map(([, to]) => to)], name: topOf(frames)[1] };
  });
  if (!width || shown.some((one) => !one)) return null;
  const found = /** @type {NonNullable<typeof shown[number]>[]} */ (shown);
  const times = timeCalls(story, start);
  const boxes = times.changes.map((_, place) => {
    const isCall = found[place + 1].frames.length >= found[place].frames.length;
    const [outer, inner] = isCall ? [found[place], found[place + 1]] : [found[place + 1], found[place]];
    const open = known(view, path[story.causes[place] + (isCall ? 1 : 0)]);
    const rule = topOf(inner.frames)[1];
    const call = findCall(outer.row, rule, open);
    inner.name = nameCalled(call, rule);
    const spot = outer.row.spots.get(call);
    const stands = [outer.lit, ...outer.stops].at(-1);
    const passed = [...outer.row.spots.keys()].filter((key) => key.startsWith(`${stands}:`)); // read without a byte
    if (isCall) outer.arrows.push([`call ${place}`, "gv-open", [...passed, call]]);
    return spot ? boxOf(spot, outer) : null;
  });
  const moves = [...ruleCalled(story, times, found.map(({ places }) => places), boxes, width), ...statesLight(story, times)];
  const [first] = found;
  moves.push(...slidePicture({ before, painted: first.row.drawing, drawing: first }));
  /**
   * @param {number} byte
   * @param {0 | 1} end
   * @returns {Point}
   */
  const pointOf = (byte, end) => {
    const { row, camera, places } = found[story.reads[byte]];
    const spot = row.spots.get(endsOf(taken[byte]?.[0] ?? "")[end]);
    return place(spot ?? { x: row.size[0] / 2, y: row.size[1] / 2 }, camera, places.row.y);
  };
  const starts = story.reads.map((_, byte) => pointOf(byte, 0));
  const stands = first.row.spots.get(first.lit);
  const states = stands ? [place(stands, first.camera, first.places.row.y)] : starts.slice(0, 1);
  states.push(...story.reads.map((_, byte) => pointOf(byte, 1)));
  const waits = times.changes.flatMap((begin, place) => {
    const [box, byte] = [boxes[place], story.causes[place]];
    const point = box && { x: box.x + box.width / 2, y: box.y - ABOVE };
    if (!point || begin >= times.begins[byte]) return [];
    const stay = { byte, point, begin, end: begin + LIT * times.each };
    const opened = place && story.causes[place - 1] === byte && found[place].frames.length >= found[place - 1].frames.length;
    return opened ? [{ ...stay, begin: begin - (1 - LIT) * times.each, end: begin }, stay] : [stay]; // it leaves a box that opens
  });
  return { sheet: times.changes.length ? buildSheet(found) : null, moves, states, starts, waits, begins: [...times.begins, times.end] };
}

/**
 * The picture slides before the token flies.
 * @param {{ before: { painted: unknown, camera: Camera }, painted: unknown, drawing: { camera: Camera } }} panel
 * @returns {import("../motion/player.js").Move[]}
 */
export function slidePicture({ before, painted, drawing: { camera } }) {
  const [from, to] = [before.camera, camera].map((one) => ({ transform: transformOf(one, camera.scale) }));
  return before.painted === painted && from.transform !== to.transform ? [["picture 0", from, to, -FLIGHT, 0]] : [];
}

/**
 * The keys of the calls that a state has open.
 * @param {StageView} view
 * @param {number} state
 */
const known = ({ known: states }, state) => [...states[state].calls.map(([key]) => key), ...states[state].last];

/**
 * A point of a row in pixels of the panel.
 * @param {Point} point
 * @param {Camera} camera
 * @param {number} top of the row
 */
const place = (point, camera, top) => {
  const { x, y } = toPixels(camera, point);
  return { x: EDGE + x, y: EDGE + y + top };
};

/**
 * @param {import("./camera.js").Spot} spot
 * @param {{ camera: Camera, places: import("./rows.js").Places }} scene
 * @returns {Box}
 */
function boxOf({ x, y, rx, ry }, { camera, places }) {
  const corner = place({ x: x - rx, y: y - ry }, camera, places.row.y);
  return { ...corner, width: 2 * rx * camera.scale, high: 2 * ry * camera.scale };
}

/** @param {{ frames: Scene, row: RuleRow, places: import("./rows.js").Places, camera: Camera, lit: string, arrows: Lit[], stops: string[], name: string }[]} scenes */
function buildSheet(scenes) {
  const sheet = make("div", { class: "gv-calls", "aria-hidden": "true" });
  /** @type {Map<string, HTMLElement>} */
  const strips = new Map();
  scenes.forEach(({ frames, row, places, camera, lit, arrows, stops, name: shownName }, number) => {
    frames.slice(0, -1).forEach((frame, height) => {
      const name = stripName(frame);
      if (strips.has(name)) return;
      const card = frameCard(frame, height + 1, false);
      card.dataset.move = name;
      hang(card, places.strips[height]);
      strips.set(name, card);
    });
    const svg = /** @type {SVGElement} */ (row.svg.cloneNode(true));
    if (!stops.length) svg.querySelector(`[data-state="${lit}"]`)?.classList.add("gv-lit");
    stops.forEach((stop, nth) => {
      const state = /** @type {SVGElement | null} */ (svg.querySelector(`[data-state="${stop}"]:not([data-move])`));
      if (!state) return;
      const twin = copyPart(state, "gv-lit");
      twin.dataset.move = stopName(number, nth);
      state.parentElement?.append(twin);
    });
    for (const [part, look, keys] of arrows) {
      const nodes = keys.flatMap((key) => /** @type {SVGElement | null} */ (svg.querySelector(`[data-arrow="${key}"]`)) ?? []);
      nodes[0]?.parentElement?.append(shape("g", { "data-move": part, opacity: 0 }, ...nodes.map((node) => copyPart(node, look))));
    }
    const picture = make("div", { class: "gv-sheets", "data-move": `picture ${number}` }, svg);
    const [width, height] = row.size.map((size) => `${size * camera.scale}px`);
    Object.assign(picture.style, { width, height, transform: transformOf(camera, camera.scale) });
    const [id, , waits] = topOf(frames);
    const node = make("div", { class: "gv-row-sheet", "data-move": `row ${number}` }, frameCard([id, shownName, waits], frames.length, true), make("div", { class: "gv-diagram" }, picture));
    hang(node, places.row);
    sheet.append(node);
  });
  sheet.append(...strips.values());
  for (const name of ["part", "state", "arrow", "frame"]) for (const node of sheet.querySelectorAll(`[data-${name}]`)) node.removeAttribute(`data-${name}`);
  return sheet;
}
