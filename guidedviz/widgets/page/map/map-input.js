// What a person does on the map: point, press, drag, zoom, search, move with keys.

/** @import { MapUi } from "./map-view.js" */
import { consume, hasModifier } from "../shared/controls.js";
import { focusOn, nextFound, pixelOf, rankAt, rankOfKey, zoomBy } from "./map-data.js";

const PAUSE = 300; // milliseconds without a key that start the search
const DRAG = 4; // pixels that make a press a drag
/** @type {Record<string, number>} */
const ZOOM_KEYS = { "+": 2, "=": 2, "-": 1 / 2, 0: 0 };

/** @typedef {[x: number, y: number]} Pixel */

/** @param {MapUi} ui */
export function listen(ui) {
  const { map, sheet } = ui;
  /** @type {Map<number, Pixel>} */
  const held = new Map(); // the pointers that press the map
  /** @type {Pixel | null} */
  let pressed = null; // where the only pointer went down; null once it has moved

  /**
   * Paints after an event, unless it changed nothing.
   * @template {keyof HTMLElementEventMap} Name
   * @param {Name} name
   * @param {(event: HTMLElementEventMap[Name] & PointerEvent, pixel: Pixel) => boolean | void} act says whether nothing changed
   */
  const on = (name, act) => sheet.addEventListener(name, (event) => {
    const pointed = /** @type {HTMLElementEventMap[Name] & PointerEvent} */ (event);
    const box = sheet.getBoundingClientRect();
    const large = box.width / sheet.clientWidth || 1; // full screen enlarges the sheet
    if (map.base && !act(pointed, [(pointed.clientX - box.left) / large, (pointed.clientY - box.top) / large])) ui.paint();
  }, { passive: false });

  on("pointerdown", ({ pointerId, pointerType }, pixel) => {
    pressed = held.size ? null : pixel;
    held.set(pointerId, pixel);
    if (pointerType !== "touch") sheet.setPointerCapture(pointerId);
  });
  // A pressed mouse drags the map. One finger scrolls the page, two drag and zoom the map.
  on("pointermove", ({ pointerId, pointerType }, pixel) => {
    if (!held.has(pointerId)) {
      const last = map.hover;
      map.hover = rankAt(map, pixel);
      return map.hover === last;
    }
    if (pressed && Math.hypot(pixel[0] - pressed[0], pixel[1] - pressed[1]) > DRAG) pressed = null;
    if (pressed) return true;
    const before = spanOf(held);
    held.set(pointerId, pixel);
    const after = spanOf(held);
    if (held.size === 1 && pointerType === "touch") return true;
    map.hover = -1;
    zoomBy(map, after.wide / before.wide, before.middle, after.middle);
  });
  on("pointerup", ({ pointerId }, pixel) => {
    const rank = held.delete(pointerId) && pressed ? rankAt(map, pixel) : -1;
    pressed = null;
    if (rank >= 0) focusOn(map, rank);
  });
  on("pointercancel", ({ pointerId }) => {
    held.delete(pointerId);
    pressed = null;
  });
  on("pointerleave", () => {
    map.hover = -1;
  });
  on("dblclick", (_, pixel) => zoomBy(map, 2, pixel));
  for (const name of /** @type {const} */ (["touchstart", "touchmove"])) {
    on(name, (event) => {
      if (event.touches.length > 1 && event.cancelable) event.preventDefault();
      return true;
    });
  }
  // The wheel scrolls the page, as everywhere, until the map has been pressed.
  on("wheel", (event, pixel) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== sheet) return true;
    event.preventDefault();
    zoomBy(map, Math.exp(-event.deltaY / 300), pixel);
  });
  on("keydown", (event) => {
    if (hasModifier(event)) return true;
    const rank = rankOfKey(map, event.key);
    if (rank !== undefined) focusOn(map, rank);
    else if (event.key in ZOOM_KEYS) zoomBy(map, ZOOM_KEYS[event.key], map.focus < 0 ? undefined : pixelOf(map, map.focus));
    else if (event.key === "Escape") map.focus = -1;
    else return true;
    map.hover = -1;
    consume(event);
  });
  listenToSearch(ui);
}

/**
 * The middle of the held pointers, and how far two of them are apart.
 * @param {Map<number, Pixel>} held
 */
function spanOf(held) {
  const [one, two = one] = held.values();
  return { middle: /** @type {Pixel} */ ([(one[0] + two[0]) / 2, (one[1] + two[1]) / 2]), wide: Math.hypot(one[0] - two[0], one[1] - two[1]) || 1 };
}

/** @param {MapUi} ui */
function listenToSearch({ map, search, ask, paint }) {
  /** @type {any} */
  let typing = 0;
  /** @param {number} wait */
  const findAfter = (wait) => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      if (search.value) return ask("find", search.value);
      map.found = null;
      paint();
    }, wait);
  };
  search.addEventListener("input", () => findAfter(PAUSE));
  search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter") return;
    if (!map.found?.bits || map.found.query !== search.value) return findAfter(0);
    focusOn(map, nextFound(map));
    paint();
  });
}
