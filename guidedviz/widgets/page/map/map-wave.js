// A step recolours the map as a wave from the token that was taken: the new picture opens over the old one.

/** @import { Motion, Move, Play } from "../motion/player.js" */
/** @import { MapUi } from "./map-view.js" */
import { pixelOf } from "./map-data.js";

const WAVE = 600; // milliseconds

/**
 * @param {number} x pixels of the canvas
 * @param {number} y
 * @param {number} far to the furthest corner
 * @returns {Move[]}
 */
export function waveMoves(x, y, far) {
  const circle = (/** @type {number} */ radius) => ({ clipPath: `circle(${radius.toFixed(1)}px at ${x.toFixed(1)}px ${y.toFixed(1)}px)` });
  return [["now", circle(0), circle(far), 0, WAVE]];
}

/**
 * Leaves the picture where it is and gives the map another canvas above it; the wave begins once that one is painted.
 * @param {MapUi} ui
 * @param {number} rank of the token that was taken
 * @param {Play} play of the stage
 * @returns {() => Motion}
 */
export function keepForWave(ui, rank, play) {
  const old = ui.canvas;
  const fresh = ui.spare ?? /** @type {HTMLCanvasElement} */ (old.cloneNode());
  Object.assign(ui, { canvas: fresh, spare: old });
  old.after(fresh);
  return () => {
    const [x, y] = pixelOf(ui.map, rank);
    return play(waveMoves(x, y + ui.band, old.width + old.height), () => fresh, { say: String, done: () => old.remove() });
  };
}
