// The ground of the map: one pixel per token on a small canvas, then that canvas as large as it is shown. At a deep zoom
// the tokens' texts stand in their cells.

/** @import { Land, MapState, MapView } from "../types.js" */
import { make } from "../shared/elements.js";
import { has, maskNow, stackRanks, textOf } from "./map-data.js";
import { pixelOf } from "./map-position.js";

export const TEXT_CELL = 22; // pixels of a cell that has room for its token's text
export const MONO = 'ui-monospace, "DejaVu Sans Mono", Menlo, monospace';
const UNPAINTED = 255; // the kind of a cell that was never painted

/** @typedef {Record<"sea" | "land" | "foam" | "page" | "ink" | "soft" | "orange" | "gold" | "card" | "blue", string>} Colours */
/** @typedef {ReturnType<typeof newTile>} Tile */

/**
 * The colours of the theme, as the canvas needs them.
 * @param {Element} node
 * @returns {Colours}
 */
export function readColours(node) {
  const style = getComputedStyle(node);
  const pen = penOf(make("canvas"));
  const names = ["sea", "land", "foam", "page", "ink", "soft", "orange", "gold", "card", "blue"];
  const colours = names.map((name) => {
    pen.fillStyle = style.getPropertyValue(`--gv-${name}`).trim();
    return [name, pen.fillStyle];
  });
  return Object.fromEntries(colours);
}

/** @param {HTMLCanvasElement} canvas */
export const penOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/**
 * A colour as a pixel of image data.
 * @param {string} hex
 */
export const pixelColour = (hex) =>
  (255 << 24) | (parseInt(hex.slice(5, 7), 16) << 16) | (parseInt(hex.slice(3, 5), 16) << 8) | parseInt(hex.slice(1, 3), 16);

/**
 * @param {string} one
 * @param {string} two
 * @param {number} part how much of the first
 */
export function blend(one, two, part) {
  /** @param {number} at */
  const mix = (at) => Math.round(parseInt(one.slice(at, at + 2), 16) * part + parseInt(two.slice(at, at + 2), 16) * (1 - part));
  return `#${[1, 3, 5].map((at) => mix(at).toString(16).padStart(2, "0")).join("")}`;
}

/** @param {Land} land */
export function newTile({ count, width, height, places }) {
  const canvas = make("canvas", { width, height });
  const image = penOf(canvas).createImageData(width, height);
  return {
    canvas,
    image,
    pixels: new Uint32Array(image.data.buffer),
    kinds: new Uint8Array(count).fill(UNPAINTED),
    counts: new Int32Array(4), // tokens of each kind
    legal: new Int32Array(places.length), // legal tokens of each place
    asked: new Int32Array(0), // tokens whose mask bit depended on the stack
    askedLegal: 0,
    colours: /** @type {Colours | null} */ (null),
    looks: /** @type {number[]} */ ([]),
    askedLooks: /** @type {number[]} */ ([]),
    last: /** @type {{ now: Uint8Array, before?: Uint8Array, found?: Uint8Array } | null} */ (null),
  };
}

/** @param {Colours} colours */
function looksOf({ land, sea, orange, gold, soft, card }) {
  const plain = [land, sea, orange, blend(soft, card, 0.5)];
  return { looks: [...plain, blend(gold, land, 0.45), gold, gold, gold].map(pixelColour), askedLooks: [orange, gold].map(pixelColour) };
}

/**
 * Paints one pixel per token. Kinds: 0 illegal (or in neither mask), 1 legal (or only now), 2 only before, 3 in both;
 * a found token's kind is 4 higher. Only bytes of the mask that changed are read.
 * @param {MapState} map
 * @param {Tile} tile
 * @param {Colours} colours
 */
export function paintTile(map, tile, colours) {
  if (tile.colours !== colours) Object.assign(tile, { colours, ...looksOf(colours), last: null });
  const now = maskNow(map);
  const before = map.xor ? map.masks.get(/** @type {number} */ (map.before)) : undefined;
  const found = map.found?.bits;
  const { last } = tile;
  const all = !last || last.before !== before || last.found !== found;
  for (let byte = 0, place = 0; byte < now.length; byte++) {
    if (!all && now[byte] === last.now[byte]) continue;
    for (let rank = byte << 3; rank < Math.min(map.land.count, (byte + 1) << 3); rank++) {
      const bit = rank & 7;
      let kind = (now[byte] >> bit) & 1;
      if (before) kind |= ((before[byte] >> bit) & 1) << 1;
      if (found) kind |= ((found[byte] >> bit) & 1) << 2;
      if (kind === tile.kinds[rank] && last) continue;
      while (rank >= map.land.places[place][2]) place += 1;
      paintCell(map.land, tile, rank, kind, place);
    }
  }
  paintAsked(map.land, tile, stackRanks(map));
  tile.last = { now, before, found };
  penOf(tile.canvas).putImageData(tile.image, 0, 0);
}

/**
 * @param {Land} land
 * @param {Tile} tile
 * @param {number} rank
 * @param {number} kind
 * @param {number} place
 */
function paintCell(land, tile, rank, kind, place) {
  const { kinds, counts, legal } = tile;
  if (kinds[rank] !== UNPAINTED) {
    counts[kinds[rank] & 3] -= 1;
    if ((kinds[rank] & 3) === 1) legal[place] -= 1;
  }
  counts[kind & 3] += 1;
  if ((kind & 3) === 1) legal[place] += 1;
  kinds[rank] = kind;
  tile.pixels[land.cells[rank]] = tile.looks[kind];
}

/**
 * Paints the tokens that depended on the stack over their kinds; what was searched for stays painted as found.
 * @param {Land} land
 * @param {Tile} tile
 * @param {Int32Array} asked
 */
function paintAsked({ cells }, tile, asked) {
  const { kinds, pixels, looks, askedLooks } = tile;
  for (const rank of tile.asked) pixels[cells[rank]] = looks[kinds[rank]];
  for (const rank of asked) if (kinds[rank] < 2) pixels[cells[rank]] = askedLooks[kinds[rank]];
  Object.assign(tile, { asked, askedLegal: asked.reduce((count, rank) => count + (kinds[rank] & 1), 0) });
}

/**
 * What the ground is painted with.
 * @typedef {{ map: MapState, view: MapView, tile: Tile, colours: Colours, ask: (ask: string, of: any) => void }} Scene
 */

/**
 * @param {Scene} scene
 * @param {HTMLCanvasElement} canvas
 */
export function paintGround(scene, canvas) {
  const { map, view, tile, colours } = scene;
  const { width, height, scale } = view;
  const pen = penOf(canvas);
  pen.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(tile.canvas, map.x, map.y, width / scale, height / scale, 0, 0, width, height);
  pen.save();
  pen.scale(scale, scale);
  pen.translate(-map.x, -map.y);
  pen.strokeStyle = colours.page;
  pen.globalAlpha = 0.7;
  pen.lineWidth = 1.2 / scale;
  pen.stroke(map.land.lines);
  pen.restore();
  if (scale >= TEXT_CELL) paintTexts(scene, pen);
  else paintPlaceNames(scene, pen);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} font
 */
function startText(pen, font) {
  Object.assign(pen, { font, textAlign: "center", textBaseline: "middle", lineWidth: 3, lineJoin: "round" });
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} words
 * @param {number} x
 * @param {number} y
 * @param {string} ink
 * @param {string} ground the colour of the rim around the letters
 */
function writeOn(pen, words, x, y, ink, ground) {
  pen.strokeStyle = ground;
  pen.fillStyle = ink;
  pen.strokeText(words, x, y);
  pen.fillText(words, x, y);
}

/**
 * @param {Scene} scene
 * @param {CanvasRenderingContext2D} pen
 */
function paintPlaceNames({ map, view, tile, colours }, pen) {
  startText(pen, `${view.type - 1}px system-ui, sans-serif`);
  map.land.places.forEach(([name, start, stop, x, y, room], place) => {
    if (room * view.scale < pen.measureText(name).width) return;
    const legal = tile.legal[place] > (stop - start) / 2;
    const [ink, ground] = legal ? [colours.foam, colours.sea] : [colours.ink, colours.land];
    writeOn(pen, name, (x - map.x) * view.scale, (y - map.y) * view.scale, ink, ground);
  });
}

/**
 * @param {Scene} scene
 * @param {CanvasRenderingContext2D} pen
 */
function paintTexts(scene, pen) {
  const { map, view, colours } = scene;
  const ranks = paintGrid(scene, pen);
  pen.globalAlpha = 0.5;
  pen.lineWidth = 2;
  pen.beginPath();
  for (const rank of ranks) {
    if (rank + 1 === map.land.count) continue;
    pen.moveTo(...pixelOf(map, view, rank));
    pen.lineTo(...pixelOf(map, view, rank + 1));
  }
  pen.stroke();
  pen.globalAlpha = 1;
  const wide = view.scale > 34;
  startText(pen, `${wide ? 13 : 11}px ${MONO}`);
  const letters = Math.floor(view.scale / (wide ? 8 : 6.7));
  const now = maskNow(map);
  const asked = new Set(scene.tile.asked);
  for (const rank of ranks) {
    const label = textOf(map, rank, scene.ask)?.[1];
    if (!label) continue;
    const plain = !map.xor && !asked.has(rank);
    const legal = plain && has(now, rank);
    const words = label.length > letters ? `${label.slice(0, letters - 1)}…` : label;
    const ground = legal ? colours.sea : plain ? colours.land : colours.page;
    writeOn(pen, words, ...pixelOf(map, view, rank), legal ? colours.foam : colours.ink, ground);
  }
}

/**
 * The borders of the visible cells.
 * @param {Scene} scene
 * @param {CanvasRenderingContext2D} pen
 * @returns {number[]} the visible ranks
 */
function paintGrid({ map, view: { width, height, scale }, colours }, pen) {
  const { land } = map;
  const [left, top] = [Math.floor(map.x), Math.floor(map.y)];
  const right = Math.min(land.width, Math.ceil(map.x + width / scale));
  const bottom = Math.min(land.height, Math.ceil(map.y + height / scale));
  pen.strokeStyle = colours.page;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (let x = left; x <= right; x++) {
    pen.moveTo((x - map.x) * scale, 0);
    pen.lineTo((x - map.x) * scale, height);
  }
  for (let y = top; y <= bottom; y++) {
    pen.moveTo(0, (y - map.y) * scale);
    pen.lineTo(width, (y - map.y) * scale);
  }
  pen.stroke();
  const ranks = [];
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) if (land.ranks[y * land.width + x] >= 0) ranks.push(land.ranks[y * land.width + x]);
  }
  return ranks;
}
