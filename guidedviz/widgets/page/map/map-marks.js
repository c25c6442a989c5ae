// Marks over the map: tokens that depended on the stack, a few legal tokens, found tokens, the model's likely tokens, and
// the tokens that are pointed at and kept.

/** @import { Scene } from "./map-ground.js" */
import { make } from "../shared/elements.js";
import { paintCallouts } from "./map-callouts.js";
import { has, maskNow } from "./map-data.js";
import { penOf } from "./map-ground.js";
import { pixelOf } from "./map-position.js";

const FEW = 100; // legal tokens that get a dot each
const DOT = 8; // its width in pixels
const AROUND = 4.5; // pixels between a small cell and its outline
const LARGE_CELL = 8; // pixels of a cell whose outline is its own edge
const DASHES = [4, 3]; // pixels on, pixels off
export const RIM = 6; // pixels around the map that a mark at its edge may need

/**
 * @param {Scene} scene
 * @param {HTMLCanvasElement} canvas
 */
export function paintMarks(scene, canvas) {
  const { map, view, colours } = scene;
  const pen = penOf(canvas);
  pen.setTransform(view.dpr, 0, 0, view.dpr, 0, view.band * view.dpr);
  pen.clearRect(0, -view.band, view.room, view.height + 2 * view.band);
  pen.save();
  pen.beginPath();
  pen.rect(-RIM, -RIM, view.width + 2 * RIM, view.height + 2 * RIM);
  pen.clip();
  paintOutlines(scene, pen);
  paintFewLegal(scene, pen);
  paintFound(scene, pen);
  paintSquare(scene, pen, map.hover, colours.ink);
  paintSquare(scene, pen, map.focus, colours.orange);
  pen.restore();
  paintCallouts(scene, pen);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} colour
 * @param {number} [width]
 */
function ring(pen, x, y, radius, colour, width = 2) {
  pen.lineWidth = width;
  pen.strokeStyle = colour;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.stroke();
}

/**
 * @param {Scene} scene
 * @param {CanvasRenderingContext2D} pen
 * @param {number} rank
 * @param {string} colour
 */
function paintSquare({ map, view, colours }, pen, rank, colour) {
  if (rank < 0) return;
  const size = Math.max(9, view.scale + 3);
  const [x, y] = pixelOf(map, view, rank);
  for (const [width, look] of /** @type {[number, string][]} */ ([[4, colours.page], [2, colour]])) {
    pen.lineWidth = width;
    pen.strokeStyle = look;
    pen.strokeRect(x - size / 2, y - size / 2, size, size);
  }
}

/**
 * Outlines the tokens that depended on the stack: they are few, and an outline is seen on a map of 128,000. It is solid
 * where the token is legal and dashed where it is illegal. Squares are painted on squares, then a hole in the middle:
 * what is left of those that touch is one line around all of them.
 * @param {Scene} scene
 * @param {CanvasRenderingContext2D} pen
 */
function paintOutlines({ map, view, tile, colours: { page, ink, gold, orange } }, pen) {
  const large = view.scale >= LARGE_CELL;
  const half = view.scale / 2 + (large ? 0 : AROUND);
  /** @type {[number, number][][]} */
  const spots = [[], []]; // illegal, legal
  for (const rank of tile.asked) {
    const [x, y] = pixelOf(map, view, rank);
    if (x > -half && y > -half && x < view.width + half && y < view.height + half) spots[tile.kinds[rank] & 1].push([x, y]);
  }
  const looks = [dashed(pen, large ? ink : orange), large ? ink : gold];
  spots.forEach((some, legal) => {
    paintSquares(pen, some, half + 1.6, page);
    paintSquares(pen, some, half + 0.8, looks[legal]);
    paintSquares(pen, some, half - 0.8, page);
    pen.globalCompositeOperation = "destination-out";
    paintSquares(pen, some, half - 1.6, page);
    pen.globalCompositeOperation = "source-over";
  });
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {[number, number][]} spots
 * @param {number} half
 * @param {string | CanvasPattern} look
 */
function paintSquares(pen, spots, half, look) {
  pen.fillStyle = look;
  for (const [x, y] of spots) pen.fillRect(Math.round(x - half), Math.round(y - half), Math.round(2 * half), Math.round(2 * half));
}

/**
 * A fill that makes a thin line look dashed in every direction.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} colour
 */
function dashed(pen, colour) {
  const length = DASHES[0] + DASHES[1];
  const canvas = make("canvas", { width: length, height: length });
  const dots = penOf(canvas);
  dots.fillStyle = colour;
  for (let y = 0; y < length; y++) for (let x = 0; x < length; x++) if ((x + y) % length < DASHES[0]) dots.fillRect(x, y, 1, 1);
  return /** @type {CanvasPattern} */ (pen.createPattern(canvas, "repeat"));
}

/**
 * A few legal tokens among many would not be seen: each gets a dot.
 * @param {Scene} scene
 * @param {CanvasRenderingContext2D} pen
 */
function paintFewLegal({ map, view, tile, colours }, pen) {
  if (map.xor || map.found || tile.counts[1] - tile.askedLegal > FEW || view.scale >= DOT) return;
  const now = maskNow(map);
  pen.fillStyle = colours.sea;
  for (let rank = 0; rank < map.land.count; rank++) {
    if (!has(now, rank) || tile.asked.includes(rank)) continue;
    ring(pen, ...pixelOf(map, view, rank), DOT / 2, colours.page);
    pen.fill();
  }
}

/**
 * @param {Scene} scene
 * @param {CanvasRenderingContext2D} pen
 */
function paintFound({ map, view, colours }, pen) {
  const size = Math.max(6, view.scale * 0.55);
  for (const rank of map.found?.ranks ?? []) {
    const [x, y] = pixelOf(map, view, rank);
    ring(pen, x, y, size, colours.page, 4);
    ring(pen, x, y, size, colours.gold);
  }
}
