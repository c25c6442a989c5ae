// The place of the map on the stage. The code of the map is loaded when the map is opened first; until then what the kernel
// says of it waits here.

/** @import { MapCode, MapPanel } from "../map/map-panel.js" */
/** @import { StageView } from "../types.js" */
/** @import { StageActions } from "./layout.js" */
import { play } from "../motion/player.js";

const LOST = "The code of the map is missing on this page. Run this cell again.";

/**
 * @typedef {object} MapSlot
 * @property {HTMLElement} slot
 * @property {(name: string) => Promise<MapCode>} load
 * @property {boolean} land whether there is a map
 * @property {any[]} waiting messages of the kernel
 * @property {Promise<void> | null} asked for the code
 * @property {MapCode | null} code
 * @property {MapPanel | null} panel
 */

/**
 * @param {HTMLElement} slot
 * @param {(name: string) => Promise<MapCode>} load
 * @returns {MapSlot}
 */
export const newMapSlot = (slot, load) => ({ slot, load, land: false, waiting: [], asked: null, code: null, panel: null });

/**
 * @param {MapSlot} place
 * @param {any} news
 */
export function hearMap(place, news) {
  place.land ||= Boolean(news.land);
  if (place.panel) place.panel.map.hear(news);
  else place.waiting.push(news);
}

/**
 * Paints the map; where it is opened first, loads it and paints all anew.
 * @param {MapSlot} place
 * @param {StageView} view
 * @param {boolean} isOpen
 * @param {StageActions} act
 * @param {(panel: MapPanel) => void} link joins it to the other panels
 */
export function paintMap(place, view, isOpen, act, link) {
  place.slot.hidden = !view.there.includes("map");
  if (place.code && place.panel) return place.code.paint(place.panel, view, play);
  if (!isOpen || place.asked) return;
  const begin = (/** @type {MapCode} */ code) => {
    const panel = code.build(place.slot, act);
    Object.assign(place, { code, panel });
    for (const news of place.waiting.splice(0)) panel.map.hear(news);
    link(panel);
    act.paint();
  };
  place.asked = place.load("map").then(begin, () => place.slot.append(LOST));
}
