// What a person does on the map: point, press, drag, zoom, search, move with keys.

/** @import { MapUi } from "./map-view.js" */
/** @import { MapView } from "../types.js" */
import { nextFrame } from "../shared/connection.js";
import { consume, hasModifier } from "../shared/controls.js";
import { has, maskNow, textOf } from "./map-data.js";
import { focusOn, nextFound, pixelOf, rankAt, rankOfKey, zoomBy } from "./map-position.js";

const REST = 300; // milliseconds: a pointer that rests on an illegal token asks why; a pause in typing starts the search
const DRAG = 4; // pixels that make a press a drag
/** @type {Record<string, number>} */
const ZOOM_KEYS = { "+": 2, "=": 2, "-": 1 / 2, 0: 0 };

/** @typedef {[x: number, y: number]} Pixel */

/** @param {MapUi} ui */
export function listenToPointer(ui) {
  const { map, sheet } = ui;
  /** @type {Map<number, Pixel>} */
  const held = new Map(); // the pointers that press the map
  /** @type {Pixel | null} */
  let pressed = null; // where the only pointer went down; null once it has moved
  /** @type {any} */
  let rest = 0;

  /** @param {number} rank */
  function pointAt(rank) {
    if (rank === map.hover) return;
    map.hover = rank;
    ui.wheeled = false;
    clearTimeout(rest);
    rest = setTimeout(() => {
      const text = rank >= 0 && textOf(map, rank, ui.ask);
      if (text && !map.reasons.has(text[0]) && !has(maskNow(map), rank)) ui.ask("why", text[0]);
    }, REST);
    ui.paint();
  }

  /**
   * @template {keyof HTMLElementEventMap} Name
   * @param {Name} name
   * @param {(event: HTMLElementEventMap[Name] & PointerEvent, pixel: Pixel, view: MapView) => void} act
   */
  const on = (name, act) => sheet.addEventListener(name, (event) => {
    const pointed = /** @type {HTMLElementEventMap[Name] & PointerEvent} */ (event);
    const box = sheet.getBoundingClientRect();
    if (ui.view) act(pointed, [pointed.clientX - box.left, pointed.clientY - box.top], ui.view);
  }, { passive: false });

  on("pointerdown", ({ pointerId, pointerType }, pixel) => {
    pressed = held.size ? null : pixel;
    held.set(pointerId, pixel);
    if (pointerType !== "touch") sheet.setPointerCapture(pointerId);
  });
  // A pressed mouse drags the map. One finger scrolls the page, two drag and zoom the map.
  on("pointermove", ({ pointerId, pointerType }, pixel, view) => {
    if (!held.has(pointerId)) return pointAt(rankAt(map, view, pixel));
    if (pressed && Math.hypot(pixel[0] - pressed[0], pixel[1] - pressed[1]) > DRAG) pressed = null;
    if (pressed) return;
    const before = spanOf(held);
    held.set(pointerId, pixel);
    const after = spanOf(held);
    if (held.size === 1 && (pointerType === "touch" || map.zoom === 1)) return;
    map.hover = -1;
    zoomBy(map, view, after.wide / before.wide, before.middle, after.middle);
    ui.paint();
  });
  on("pointerup", ({ pointerId }, pixel, view) => {
    const rank = held.delete(pointerId) && pressed ? rankAt(map, view, pixel) : -1;
    pressed = null;
    if (rank < 0) return;
    focusOn(map, rank);
    ui.paint();
  });
  on("pointercancel", ({ pointerId }) => {
    held.delete(pointerId);
    pressed = null;
  });
  on("pointerleave", () => pointAt(-1));
  on("dblclick", (_, pixel, view) => {
    zoomBy(map, view, 2, pixel);
    ui.paint();
  });
  for (const name of /** @type {const} */ (["touchstart", "touchmove"])) {
    sheet.addEventListener(name, (event) => event.touches.length > 1 && event.cancelable && event.preventDefault(), { passive: false });
  }
  // The wheel scrolls the page, as everywhere, until the map has been pressed.
  sheet.addEventListener("wheel", (event) => {
    const box = sheet.getBoundingClientRect();
    if (!ui.view) return;
    ui.wheeled = !event.ctrlKey && !event.metaKey && document.activeElement !== sheet;
    if (!ui.wheeled) {
      event.preventDefault();
      zoomBy(map, ui.view, Math.exp(-event.deltaY / 300), [event.clientX - box.left, event.clientY - box.top]);
    }
    ui.paint();
  }, { passive: false });
}

/**
 * The middle of the held pointers, and how far two of them are apart.
 * @param {Map<number, Pixel>} held
 */
function spanOf(held) {
  const [one, two = one] = held.values();
  return { middle: /** @type {Pixel} */ ([(one[0] + two[0]) / 2, (one[1] + two[1]) / 2]), wide: Math.hypot(one[0] - two[0], one[1] - two[1]) || 1 };
}

/**
 * Keys on the map. A key pressed anywhere hides the tip: it may change what is under the pointer.
 * @param {MapUi} ui
 * @returns {() => void} stops listening
 */
export function listenToKeys(ui) {
  const { map } = ui;
  function hideTip() {
    if (map.hover < 0) return;
    map.hover = -1;
    ui.paint();
  }
  document.addEventListener("keydown", hideTip, true);
  ui.sheet.addEventListener("keydown", (event) => {
    if (hasModifier(event) || !ui.view) return;
    const rank = rankOfKey(map, event.key);
    if (rank !== null) focusOn(map, rank);
    else if (event.key in ZOOM_KEYS) zoomBy(map, ui.view, ZOOM_KEYS[event.key], map.focus < 0 ? undefined : pixelOf(map, ui.view, map.focus));
    else if (event.key === "Escape") map.focus = map.hover = -1;
    else return;
    ui.paint();
    consume(event);
  });
  return () => document.removeEventListener("keydown", hideTip, true);
}

/** @param {MapUi} ui */
export function listenToSearch(ui) {
  const { map, search } = ui;
  /** @type {any} */
  let typing = 0;

  function find() {
    if (search.value) return ui.ask("find", search.value);
    map.found = null;
    ui.paint();
  }

  /** @param {number} wait */
  function findAfter(wait) {
    clearTimeout(typing);
    typing = setTimeout(find, wait);
  }

  search.addEventListener("input", () => findAfter(REST));
  search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter") return;
    if (!map.found?.bits || map.found.query !== search.value) return findAfter(0);
    focusOn(map, nextFound(map, map.focus, 1));
    ui.paint();
  });
}

/**
 * Paints anew when the room for the map or JupyterLab's theme changes.
 * @param {MapUi} ui
 * @returns {() => void} stops watching
 */
export function watchSizeAndTheme(ui) {
  const size = new ResizeObserver(([{ contentRect }]) => {
    ui.room = contentRect.width;
    ui.type = parseFloat(getComputedStyle(ui.sheet).fontSize) || ui.type;
    ui.paint();
  });
  // JupyterLab changes its colours after it changes the attributes: the next frame has them.
  const theme = new MutationObserver(() => nextFrame(() => {
    ui.colours = null;
    ui.painted.ground = "";
    ui.paint();
  }));
  size.observe(/** @type {Element} */ (ui.sheet.parentElement));
  theme.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  return () => {
    size.disconnect();
    theme.disconnect();
  };
}
