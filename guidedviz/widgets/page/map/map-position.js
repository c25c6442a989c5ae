// Positions on the map: pixels to tokens and back, zooming, and the token that a key leads to.

/** @import { MapState, MapView } from "../types.js" */
import { has, placeOf } from "./map-data.js";

export const LARGEST_CELL = 44; // pixels of a cell at zoom 1, on a map of few tokens
const MOST_ZOOM = 60; // pixels of a cell at the deepest zoom

/**
 * The visible part of the map where the page has some room for it, with letters of a size and a band above and below.
 * @param {MapState} map
 * @param {number} room
 * @param {number} [type]
 * @param {number} [band]
 * @returns {MapView}
 */
export function viewOf({ land, zoom }, room, type = 13, band = 0) {
  const width = Math.min(room, land.width * LARGEST_CELL);
  const base = width / land.width;
  return { width, height: base * land.height, base, scale: base * zoom, dpr: window.devicePixelRatio || 1, room, type, band };
}

/**
 * The column and the row of a token's cell.
 * @param {MapState} map
 * @param {number} rank
 * @returns {[x: number, y: number]}
 */
export function cellOf({ land }, rank) {
  return [land.cells[rank] % land.width, Math.floor(land.cells[rank] / land.width)];
}

/**
 * The middle of a token's cell, in pixels.
 * @param {MapState} map
 * @param {MapView} view
 * @param {number} rank
 * @returns {[x: number, y: number]}
 */
export function pixelOf(map, view, rank) {
  const [x, y] = cellOf(map, rank);
  return [(x + 0.5 - map.x) * view.scale, (y + 0.5 - map.y) * view.scale];
}

/**
 * The token at a column and a row, or -1.
 * @param {MapState} map
 * @param {number} x
 * @param {number} y
 */
export function rankOf({ land }, x, y) {
  return x < 0 || y < 0 || x >= land.width || y >= land.height ? -1 : land.ranks[y * land.width + x];
}

/**
 * The token under a pixel, or -1.
 * @param {MapState} map
 * @param {MapView} view
 * @param {[number, number]} pixel
 */
export const rankAt = (map, view, [px, py]) =>
  rankOf(map, Math.floor(map.x + px / view.scale), Math.floor(map.y + py / view.scale));

/**
 * Moves the corner of the visible part, as far as the map goes.
 * @param {MapState} map
 * @param {number} x
 * @param {number} y
 */
export function moveTo(map, x, y) {
  map.x = Math.max(0, Math.min(map.land.width * (1 - 1 / map.zoom), x));
  map.y = Math.max(0, Math.min(map.land.height * (1 - 1 / map.zoom), y));
}

/**
 * Zooms by a factor about a pixel, which moves to another or keeps its place; the factor 0 shows the whole map.
 * @param {MapState} map
 * @param {MapView} view
 * @param {number} factor
 * @param {[number, number]} [pixel]
 * @param {[number, number]} [to]
 */
export function zoomBy(map, { base, scale, width, height }, factor, [px, py] = [width / 2, height / 2], [toX, toY] = [px, py]) {
  const [x, y] = [map.x + px / scale, map.y + py / scale];
  map.zoom = factor ? Math.max(1, Math.min(Math.max(1, MOST_ZOOM / base), map.zoom * factor)) : 1;
  moveTo(map, x - toX / (base * map.zoom), y - toY / (base * map.zoom));
}

/**
 * Puts the focus on a token and scrolls it into sight.
 * @param {MapState} map
 * @param {number} rank
 */
export function focusOn(map, rank) {
  map.focus = Math.max(0, Math.min(map.land.count - 1, rank));
  const [x, y] = cellOf(map, map.focus);
  const [width, height] = [map.land.width / map.zoom, map.land.height / map.zoom];
  const outside = x < map.x || y < map.y || x + 1 > map.x + width || y + 1 > map.y + height;
  if (outside) moveTo(map, x - width / 2, y - height / 2);
}

/**
 * The next found token after a rank, forward (1) or backward (-1).
 * @param {MapState} map
 * @param {number} rank
 * @param {number} way
 */
export function nextFound({ land, found }, rank, way) {
  for (let i = 1; found?.bits && i <= land.count; i++) {
    const at = (rank + way * i + land.count * 2) % land.count;
    if (has(found.bits, at)) return at;
  }
  return rank;
}

/**
 * @param {MapState} map
 * @param {number} way
 */
function nextPlace(map, way) {
  const { places } = map.land;
  const at = places.indexOf(placeOf(map, Math.max(0, map.focus)));
  return places[Math.max(0, Math.min(places.length - 1, at + way))][1];
}

/**
 * The token above or below the focus, or the focus itself at the edge.
 * @param {MapState} map
 * @param {number} way
 */
function neighbour(map, way) {
  const [x, y] = cellOf(map, Math.max(0, map.focus));
  const rank = rankOf(map, x, y + way);
  return rank < 0 ? map.focus : rank;
}

/**
 * The token that a key leads to, or null.
 * @param {MapState} map
 * @param {string} key
 * @returns {number | null}
 */
export function rankOfKey(map, key) {
  switch (key) {
    case "ArrowRight": return map.focus + 1;
    case "ArrowLeft": return map.focus - 1;
    case "Home": return 0;
    case "End": return map.land.count - 1;
    case "ArrowUp": return neighbour(map, -1);
    case "ArrowDown": return neighbour(map, 1);
    case "PageDown": return nextPlace(map, 1);
    case "PageUp": return nextPlace(map, -1);
    case "n": return nextFound(map, map.focus, 1);
    case "N": return nextFound(map, map.focus, -1);
    default: return null;
  }
}
