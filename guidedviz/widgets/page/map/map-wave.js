// A step recolours the map as a wave from the token that was taken: the new picture opens over the old one.

/** @import { Motion, Move } from "../motion/player.js" */
/** @import { MapUi } from "./map-view.js" */
import { play } from "../motion/player.js";
import { pixelOf } from "./map-data.js";
import { penOf } from "./map-ground.js";

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
 * Keeps the picture as it is, and begins the wave once the map is painted anew.
 * @param {MapUi} ui
 * @param {number} rank of the token that was taken
 * @returns {() => Motion}
 */
export function keepForWave({ map, canvas, band }, rank) {
  const old = /** @type {HTMLCanvasElement} */ (canvas.cloneNode());
  penOf(old).drawImage(canvas, 0, 0);
  return () => {
    const [x, y] = pixelOf(map, rank);
    canvas.before(old);
    return play(waveMoves(x, y + band, canvas.clientWidth + canvas.clientHeight), () => canvas, { say: String, done: () => old.remove() });
  };
}
