// What moves between two frames of a film, on a sheet above the drawing of the later one.

/** @import { Spot } from "./camera.js" */
/** @import { Drawing } from "./drawing.js" */
/** @import { Motion } from "../motion/player.js" */
/** @import { Point } from "../motion/travel.js" */
/** @import { FilmFrame } from "../types.js" */
import { filmMoves } from "../motion/film-moves.js";
import { lengthOf, play } from "../motion/player.js";
import { shape, wantsStillness } from "../shared/elements.js";
import { copyPart, spotOf } from "./drawing.js";

const BACK = 2.5; // how quick a step back is

/** @typedef {{ from: FilmFrame, to: FilmFrame, drawings: [Drawing, Drawing], most: number, back: boolean, done: () => void }} Step `most` milliseconds, and `done` after all of it */

/**
 * Where an element of any drawing stands, in the units of a layer or of a whole drawing.
 * @param {SVGElement} layer
 * @param {Element | null | undefined} node
 * @returns {Spot | null}
 */
export function spotIn(layer, node) {
  const box = node?.getBoundingClientRect();
  const matrix = /** @type {SVGGraphicsElement} */ (layer).getScreenCTM();
  if (!box || !matrix) return null;
  const [rx, ry] = [box.width / 2 / matrix.a, box.height / 2 / matrix.d]; // nothing is turned
  return { x: (box.x - matrix.e) / matrix.a + rx, y: (box.y - matrix.f) / matrix.d + ry, rx, ry };
}

/**
 * Where the line of an arrow begins.
 * @param {Drawing} drawing
 * @param {string} arrow
 * @returns {Point | null}
 */
function startOf({ arrows }, arrow) {
  const line = /** @type {SVGPathElement | null | undefined} */ (arrows.get(arrow)?.querySelector(".gv-line"));
  return line?.getPointAtLength(0) ?? null;
}

/**
 * Begins what moves, if there is something and time for it.
 * @param {Step} step
 * @returns {Motion | null}
 */
export function beginFilm({ from, to, drawings: [old, now], most, back, done }) {
  if (wantsStillness()) return null;
  const home = old === now ? now : old; // what becomes another drawing moves on its own
  const next = from.arrows.find((key) => key.startsWith("next "));
  /** @param {Drawing} drawing */
  const placesIn = (drawing) => (/** @type {number} */ state) => spotIn(home.layer, drawing.states.get(state)?.querySelector(".gv-disc"));
  const tape = next ? spotIn(home.layer, now.arrows.get(next)) : null;
  const moves = filmMoves(from, to, { tape, start: (arrow) => startOf(now, arrow), old: placesIn(old), now: placesIn(now) });
  if (!moves.length) return null;
  const sheet = shape("g", { class: "gv-machine gv-moving", transform: home.layer.getAttribute("transform") ?? "" });
  home.layer.after(sheet);
  const find = finder(sheet, to, old, now);
  const rate = Math.max(1, lengthOf(moves) / most) * (back ? BACK : 1);
  return play(moves, find, { rate, back, say: String, done: () => {
    sheet.remove();
    done();
  } });
}

/**
 * The moving parts by their names: what is painted already, and what is only there while it moves.
 * @param {SVGElement} sheet
 * @param {FilmFrame} to
 * @param {Drawing} old
 * @param {Drawing} now
 * @returns {(part: string) => Element | null}
 */
function finder(sheet, to, old, now) {
  const lit = /** @type {SVGElement[]} */ ([...now.layer.children]);
  /** @type {Record<string, (key: string, more: string) => Element | null | undefined>} */
  const painted = {
    state: (key) => lit.find((node) => node.dataset.state === key && node.classList.contains("gv-lit")),
    arrow: (key) => lit.find((node) => node.dataset.arrow === key),
    tag: (key) => lit.find((node) => node.dataset.tag === key),
    node: (key) => now.states.get(Number(key)),
    stays: () => old.node,
    before: () => old.svg,
    lit: () => old.layer,
    after: () => now.svg,
    sign: (key) => /** @type {SVGElement[]} */ ([...sheet.children]).find((node) => node.dataset.rides === key)?.firstElementChild,
  };
  /** @type {Record<string, (key: string, more: string) => SVGElement | null>} */
  const made = {
    tile: (key) => onArrow(now, key, sign(to.ride?.[0] ?? "")),
    chip: (key, member) => onArrow(now, key, sign(`n${member}`)),
    was: (key) => copyOf(now, key, "gv-lit"),
    item: (key) => copyOf(now, key, "gv-lit"),
    ghost: (key) => centred(old, key),
    string: () => shape("path", { d: "M0 0h1", class: "gv-string" }),
  };
  return (part) => {
    const [kind, key, more = ""] = part.split(" ");
    const node = painted[kind]?.(key, more);
    if (node || !made[kind]) return node ?? null;
    const fresh = made[kind](key, more);
    if (fresh) sheet.append(fresh);
    return fresh;
  };
}

/**
 * A byte or the name of a state in a box; without a sign a dot.
 * @param {string} words
 */
function sign(words) {
  if (!words) return shape("circle", { r: 6, class: "gv-walker" });
  const half = 8 + 4.2 * words.length;
  const box = shape("rect", { x: -half, y: -13, width: 2 * half, height: 26, rx: 6 });
  return shape("g", { class: "gv-tile" }, box, shape("text", { y: 5, "font-size": 15, "text-anchor": "middle" }, words));
}

/**
 * Something that can move along an arrow.
 * @param {Drawing} drawing
 * @param {string} key
 * @param {SVGElement} node
 */
function onArrow(drawing, key, node) {
  const line = drawing.arrows.get(key)?.querySelector(".gv-line")?.getAttribute("d");
  if (!line) return null;
  const rider = shape("g", { "data-rides": key }, node); // what turns on the way is inside: to turn the path would move it
  rider.style.offset = `path("${line}") 0% 0deg`;
  return rider;
}

/**
 * @param {Drawing} drawing
 * @param {string} key
 * @param {string} look
 */
function copyOf(drawing, key, look) {
  const node = drawing.states.get(Number(key));
  return node ? copyPart(node, look) : null;
}

/**
 * A copy of a state with its middle at the origin.
 * @param {Drawing} drawing
 * @param {string} key
 */
function centred(drawing, key) {
  const node = drawing.states.get(Number(key));
  const spot = spotOf(node);
  return node && spot ? shape("g", {}, shape("g", { transform: `translate(${-spot.x} ${-spot.y})` }, copyPart(node))) : null;
}
