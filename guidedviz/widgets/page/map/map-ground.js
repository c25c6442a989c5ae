// The ground of the map: one pixel per token on a small canvas, which is then shown as large as the map. Where cells are
// large, the tokens' texts stand in them.

/** @import { Land, MapState } from "../types.js" */
import { make } from "../shared/elements.js";
import { has, maskNow, pixelOf, scaleOf, stackRanks, textOf } from "./map-data.js";

export const TEXT_CELL = 26; // pixels of a cell that has room for its token's text
export const FEW = 100; // legal tokens that get a dot each
export const MONO = 'ui-monospace, "DejaVu Sans Mono", Menlo, monospace';
const LETTER = 7.3; // pixels that a letter of 12 pixels is wide
const COLOURS = /** @type {const} */ (["sea", "land", "foam", "page", "ink", "soft", "orange", "magenta", "gold", "blue"]);

/** @typedef {Record<typeof COLOURS[number], string>} Colours */
/** @typedef {CanvasRenderingContext2D} Pen */
/** @typedef {ReturnType<typeof newTile>} Tile */

/**
 * What is painted, and on what.
 * @typedef {{ map: MapState, tile: Tile, colours: Colours, width: number, height: number, pen: Pen, ask: (ask: string, of: any) => void }} Scene
 */

/** @param {HTMLCanvasElement} canvas */
export const penOf = (canvas) => /** @type {Pen} */ (canvas.getContext("2d"));

/**
 * The colours of the theme.
 * @param {Element} node
 */
export function readColours(node) {
  const style = getComputedStyle(node);
  return /** @type {Colours} */ (Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--gv-${name}`).trim()])));
}

/** @param {Land} land */
export function newTile({ width, height, places }) {
  const canvas = make("canvas", { width, height });
  const image = penOf(canvas).createImageData(width, height);
  return {
    canvas,
    image,
    pixels: new Uint32Array(image.data.buffer),
    mixed: /** @type {{ from: Colours | null, looks: Uint32Array }} */ ({ from: null, looks: new Uint32Array() }), // pixels of colours
    count: 0, // legal tokens
    legal: places.map(() => 0), // legal tokens of each place
    few: /** @type {number[]} */ ([]), // the first legal tokens
    asked: /** @type {[illegal: number[], legal: number[]]} */ ([[], []]), // tokens whose mask bit depended on the stack
  };
}

/**
 * One pixel per colour, as image data has it: of illegal and legal tokens, of those that were found, and of those that
 * depended on the stack.
 * @param {Colours} colours
 */
function mixPixels({ land, sea, magenta, gold }) {
  const looks = /** @type {[string, string?, number?][]} */ ([[land], [sea], [land, gold, 0.45], [gold], [magenta], [gold]]);
  const pen = penOf(make("canvas", { width: looks.length, height: 1 }));
  looks.forEach(([under, over = under, part = 1], x) => {
    Object.assign(pen, { fillStyle: under, globalAlpha: 1 });
    pen.fillRect(x, 0, 1, 1);
    Object.assign(pen, { fillStyle: over, globalAlpha: part });
    pen.fillRect(x, 0, 1, 1);
  });
  return new Uint32Array(pen.getImageData(0, 0, looks.length, 1).data.buffer);
}

/**
 * Paints one pixel per token, and counts the kinds.
 * @param {MapState} map
 * @param {Tile} tile
 * @param {Colours} colours
 */
export function paintTile(map, tile, colours) {
  const { count, cells, places } = map.land;
  const [now, found] = [maskNow(map), map.found?.bits];
  if (tile.mixed.from !== colours) tile.mixed = { from: colours, looks: mixPixels(colours) };
  const { looks } = tile.mixed;
  const stack = stackRanks(map);
  Object.assign(tile, { count: 0, legal: places.map(() => 0), few: [], asked: [[], []] });
  for (let rank = 0, place = 0; rank < count; rank++) {
    const kind = Number(has(now, rank));
    while (rank >= places[place][2]) place += 1;
    tile.count += kind;
    tile.legal[place] += kind;
    if (kind && tile.few.length <= FEW + stack.length) tile.few.push(rank);
    tile.pixels[cells[rank]] = looks[kind + (found && has(found, rank) ? 2 : 0)];
  }
  for (const rank of stack) {
    const legal = Number(has(now, rank));
    tile.asked[legal].push(rank);
    if (!found || !has(found, rank)) tile.pixels[cells[rank]] = looks[4 + legal]; // what was searched for stays painted as found
  }
  penOf(tile.canvas).putImageData(tile.image, 0, 0);
}

/** @param {Scene} scene */
export function paintGround(scene) {
  const { map, tile, colours, width, height, pen } = scene;
  const scale = scaleOf(map);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(tile.canvas, map.x, map.y, width / scale, height / scale, 0, 0, width, height);
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, width, height);
  pen.clip();
  pen.scale(scale, scale);
  pen.translate(-map.x, -map.y);
  Object.assign(pen, { strokeStyle: colours.page, globalAlpha: 0.7, lineWidth: 1.2 / scale });
  pen.stroke(map.land.lines);
  pen.restore();
  Object.assign(pen, { textAlign: "center", textBaseline: "middle", lineJoin: "round" });
  if (scale >= TEXT_CELL) paintTexts(scene);
  else paintPlaceNames(scene);
}

/**
 * @param {Pen} pen
 * @param {string} words
 * @param {[x: number, y: number]} at
 * @param {string} ink
 * @param {string} ground the colour of the rim around the letters
 */
function write(pen, words, at, ink, ground) {
  Object.assign(pen, { strokeStyle: ground, fillStyle: ink, lineWidth: 3 });
  pen.strokeText(words, ...at);
  pen.fillText(words, ...at);
}

/** @param {Scene} scene */
export function paintPlaceNames({ map, tile, colours, pen }) {
  const scale = scaleOf(map);
  Object.assign(pen, { textAlign: "center", lineJoin: "round", font: "12px system-ui, sans-serif" });
  map.land.places.forEach(([name, start, stop, x, y, room], place) => {
    if (room * scale < pen.measureText(name).width) return;
    const looks = tile.legal[place] > (stop - start) / 2 ? [colours.foam, colours.sea] : [colours.ink, colours.land];
    write(pen, name, [(x - map.x) * scale, (y - map.y) * scale], looks[0], looks[1]);
  });
}

/**
 * The visible cells with their borders, a line along the byte order, and the texts.
 * @param {Scene} scene
 */
function paintTexts({ map, tile, colours, width, height, pen, ask }) {
  const [{ land }, scale, now] = [map, scaleOf(map), maskNow(map)];
  const [right, bottom] = [Math.min(land.width, map.x + width / scale), Math.min(land.height, map.y + height / scale)];
  const ranks = [];
  for (let row = Math.floor(map.y); row < bottom; row++) {
    for (let column = Math.floor(map.x); column < right; column++) {
      const rank = land.ranks[row * land.width + column];
      if (rank >= 0) ranks.push(rank);
    }
  }
  Object.assign(pen, { strokeStyle: colours.page, lineWidth: 1.5, font: `12px ${MONO}` });
  pen.beginPath();
  for (const rank of ranks) {
    const [x, y] = pixelOf(map, rank);
    pen.rect(x - scale / 2, y - scale / 2, scale, scale);
    pen.moveTo(x, y);
    if (rank + 1 < land.count) pen.lineTo(...pixelOf(map, rank + 1));
  }
  pen.stroke();
  const letters = Math.floor(scale / LETTER);
  const asked = new Set(tile.asked.flat());
  for (const rank of ranks) {
    const label = textOf(map, rank, ask)?.[1];
    if (!label) continue;
    const plain = !asked.has(rank);
    const legal = plain && has(now, rank);
    const words = label.length > letters ? `${label.slice(0, letters - 1)}…` : label;
    const [ink, ground] = legal ? [colours.foam, colours.sea] : [colours.ink, plain ? colours.land : colours.page];
    const [x, y] = pixelOf(map, rank);
    const wide = pen.measureText(words).width + 4;
    pen.fillStyle = ground;
    pen.fillRect(x - wide / 2, y - 8, wide, 15); // the line along the byte order does not go through letters
    write(pen, words, [x, y], ink, ground);
  }
}
