// The place of the map on the stage. The code of the map is loaded when the map is opened first; until then what the kernel
// says of it waits here.

/** @import { MapCode, MapPanel } from "../map/map-panel.js" */
/** @import { StageView } from "../types.js" */
/** @import { StageActions } from "./layout.js" */
import { play } from "../motion/player.js";

/** @typedef {(name: string, act: (code: MapCode) => void) => void} Load */

/**
 * @typedef {object} MapSlot
 * @property {HTMLElement} slot
 * @property {Load} load
 * @property {boolean} land whether there is a map
 * @property {any[]} waiting messages of the kernel
 * @property {boolean} asked for the code
 * @property {MapCode | null} code
 * @property {MapPanel | null} panel
 */

/**
 * @param {HTMLElement} slot
 * @param {Load} load
 * @returns {MapSlot}
 */
export const newMapSlot = (slot, load) => ({ slot, load, land: false, waiting: [], asked: false, code: null, panel: null });

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
  place.asked = true;
  place.load("map", (code) => {
    const panel = code.build(place.slot, act);
    Object.assign(place, { code, panel });
    for (const news of place.waiting.splice(0)) panel.map.hear(news);
    link(panel);
    act.paint();
  });
}
