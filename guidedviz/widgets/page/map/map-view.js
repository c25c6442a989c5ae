// The map with its legend, its search and what is said of a token. It paints only what changed since it last painted.

/** @import { MapState, MapView, Say } from "../types.js" */
/** @import { Colours, Scene, Tile } from "./map-ground.js" */
import { make, setText, shape, tokenName, withCommas } from "../shared/elements.js";
import { countShared, has, maskNow, newMap, placeOf, sayShare, stackRanks, textOf, updateMap } from "./map-data.js";
import { bandOf } from "./map-callouts.js";
import { newTile, paintGround, paintTile, readColours } from "./map-ground.js";
import { listenToKeys, listenToPointer, listenToSearch, watchSizeAndTheme } from "./map-input.js";
import { paintMarks, RIM } from "./map-marks.js";
import { LARGEST_CELL, pixelOf, viewOf, zoomBy } from "./map-position.js";

const KEYS = "arrows move along the byte order, page keys move from region to region, plus and minus zoom, 0 shows all, n goes to the next found token";
const HINT = "Press a cell, then use the arrow keys. Ctrl + wheel or two fingers zoom; after a press the wheel alone.";
const NO_WHEEL = "The wheel scrolls the page. To zoom, press the map first, or hold Ctrl.";

const DISC = { edge: "M-6 0a6 6 0 1 1 0 .1z", dot: "M-4 0a4 4 0 1 1 0 .1z" };
const CROSS = { edge: "M-6 -6h12v12h-12z", cross: "M-3 -3l6 6m0 -6l-6 6" };

/** @typedef {ReturnType<typeof buildMap>} MapUi */

/**
 * @typedef {object} MapActions
 * @property {Say} say
 * @property {(on: boolean) => void} xor compare with another mask, or stop
 * @property {(token: number) => void} [take] put a token in
 * @property {boolean} [callouts] whether there are likely tokens to name around the map
 * @property {boolean} [alwaysCompares] whether a mask to compare with can be chosen at any time
 */

/** @param {MapActions} act */
export function buildMap(act) {
  const map = newMap();
  /** @param {number} factor */
  const zoom = (factor) => () => {
    if (ui.view) zoomBy(map, ui.view, factor);
    ui.paint();
  };
  /** @param {string} words @param {string} label @param {() => void} press */
  const small = (words, label, press) => make("button", { type: "button", "aria-label": label, title: label, on: { click: press } }, words);
  const zooms = make("span", { class: "gv-zooms", role: "group", "aria-label": "zoom" },
    small("−", "zoom out", zoom(1 / 2)), small("+", "zoom in", zoom(2)), small("⤢", "show all", zoom(0)));
  const ground = make("canvas", { "aria-hidden": "true" });
  const marks = make("canvas", { "aria-hidden": "true" });
  const tip = make("div", { class: "gv-tip", hidden: true });
  const legend = make("div", { class: "gv-map-legend", role: "status" });
  const search = make("input", { type: "search", class: "gv-find", placeholder: "find tokens", "aria-label": "find tokens" });
  const found = make("span", { class: "gv-soft", role: "status", "aria-live": "polite" });
  const card = make("p", { class: "gv-map-card", "aria-live": "polite" });
  const xor = make("button", { type: "button", class: "gv-xor", "aria-pressed": "false", on: { click: () => act.xor(!map.xor) } }, "⊕ xor");
  const sheet = make("div", { class: "gv-map", tabindex: 0, role: "application", "aria-roledescription": "map" }, ground, marks, tip);
  const finder = make("label", { class: "gv-map-find" }, found, search);
  const likely = make("div", { class: "gv-map-likely", hidden: !act.callouts },
    make("span", {}, drawSign(DISC), "likely, legal"), make("span", {}, drawSign(CROSS), "likely, illegal"), make("span", { class: "gv-soft" }, "with the probability before the mask"));
  const ui = {
    map, ground, marks, tip, sheet, legend, search, found, card, xor,
    band: act.callouts ? bandOf : () => RIM,
    tools: make("span", { class: "gv-map-tools" }, xor, zooms),
    node: make("div", { class: "gv-map-all" }, make("div", { class: "gv-map-room" }, sheet), make("div", { class: "gv-under" }, make("div", {}, legend, likely), finder), card),
    room: 0,
    type: 13,
    wheeled: false, // whether the wheel was just turned where it does not zoom
    view: /** @type {MapView | null} */ (null),
    tile: /** @type {Tile | null} */ (null),
    colours: /** @type {Colours | null} */ (null),
    land: /** @type {MapState["land"] | null} */ (null),
    painted: { ground: "", view: "", card: "" }, // what was painted last
    /** @param {any} news */
    hear: (news) => updateMap(map, news),
    /** @param {string} ask @param {any} of */
    ask: (ask, of) => act.say({ do: "map", ask, of }),
    paint: () => paintMap(ui, act),
    stop: () => {},
  };
  listenToPointer(ui);
  listenToSearch(ui);
  const stops = [listenToKeys(ui), watchSizeAndTheme(ui)];
  ui.stop = () => stops.forEach((stop) => stop());
  return ui;
}

/**
 * @param {MapUi} ui
 * @param {MapActions} act
 */
function paintMap(ui, act) {
  const { map } = ui;
  if (!map.land || !map.masks.has(map.now)) return;
  if (ui.land !== map.land) setLand(ui);
  if (!ui.room) return;
  ui.view = viewOf(map, ui.room, ui.type, ui.band(ui.type));
  ui.colours ??= readColours(ui.sheet);
  if (map.xor && !map.masks.has(/** @type {number} */ (map.before))) map.xor = false;
  paintLayers(ui, { map, view: ui.view, tile: /** @type {Tile} */ (ui.tile), colours: ui.colours, ask: ui.ask });
  paintFoundCount(ui);
  paintCard(ui, act);
  paintTip(ui, ui.view);
  ui.xor.disabled = act.alwaysCompares ? false : map.before === null;
  ui.xor.setAttribute("aria-pressed", String(map.xor));
}

/**
 * @param {MapUi} ui
 * @param {Scene} scene
 */
function paintLayers(ui, scene) {
  const { map, view, tile, colours } = scene;
  const ground = [map.now, map.stackAsked, map.xor && map.before, map.found?.query, colours.sea, map.land.count].join();
  if (ui.painted.ground !== ground) {
    paintTile(map, tile, colours);
    paintLegend(ui, tile);
    ui.painted.ground = ground;
  }
  const seen = [ground, map.x, map.y, map.zoom, view.room, view.type, view.dpr, map.texts.size].join();
  if (ui.painted.view !== seen) {
    fitCanvas(ui.ground, view.width, view.height, view.dpr);
    fitCanvas(ui.marks, view.room, view.height + 2 * view.band, view.dpr);
    ui.marks.style.top = `${-view.band}px`;
    ui.sheet.style.marginBlock = `${view.band}px ${view.band + 4}px`;
    paintGround(scene, ui.ground);
    ui.painted.view = seen;
  }
  paintMarks(scene, ui.marks);
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @param {number} dpr
 */
function fitCanvas(canvas, width, height, dpr) {
  const [wide, high] = [Math.round(width * dpr), Math.round(height * dpr)];
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
}

/** @param {MapUi} ui */
function setLand(ui) {
  const { land } = ui.map;
  Object.assign(ui, { land, tile: newTile(land) });
  ui.painted.ground = "";
  ui.sheet.style.maxWidth = `${land.width * LARGEST_CELL}px`;
  ui.sheet.style.aspectRatio = `${land.width} / ${land.height}`;
  ui.node.style.setProperty("--aspect", String(land.width / land.height));
}

// --- words ---

/**
 * @param {MapUi} ui
 * @param {Tile} tile
 */
function paintLegend({ map, legend, sheet }, tile) {
  const [illegal, legal, gone, both] = tile.counts;
  const { asked, askedLegal } = tile;
  const { eos, count } = map.land;
  const end = eos.length ? make("span", { class: "gv-soft" }, `EOS ${eos.some((rank) => has(maskNow(map), rank)) ? "legal" : "illegal"}`) : "";
  const two = [legendEntry("legal", "legal", legal, ` (${sayShare(legal / count)})`), legendEntry("illegal", "illegal", illegal), end];
  const four = [
    legendEntry("legal", "accepted", legal - askedLegal),
    legendEntry("illegal", "rejected", illegal - (asked.length - askedLegal)),
    legendEntry("asked", "context-dependent, legal", askedLegal),
    legendEntry("refused", "context-dependent, illegal", asked.length - askedLegal),
    end,
  ];
  const compared = [
    legendEntry("before", `only ${map.stateBefore}`, gone),
    legendEntry("legal", `only ${map.state}`, legal),
    legendEntry("both", "both", both),
    legendEntry("illegal", "neither", illegal),
  ];
  legend.replaceChildren(...(map.xor ? compared : map.stackAsked === null ? two : four));
  sheet.setAttribute("aria-label", `map of ${withCommas(count)} tokens: ${legend.textContent}. ${KEYS}`);
}

/**
 * @param {string} kind
 * @param {string} words
 * @param {number} count
 * @param {string} [more]
 */
const legendEntry = (kind, words, count, more = "") =>
  make("span", {}, make("i", { class: `gv-cell gv-cell-${kind}` }), `${words} `, make("b", {}, withCommas(count)), more);

/** A mark of the legend, as on the map. @param {Record<string, string>} looks */
const drawSign = (looks) => shape("svg", { class: "gv-sign", viewBox: "-7 -7 14 14", "aria-hidden": "true" },
  ...Object.entries(looks).map(([look, path]) => shape("path", { class: `gv-sign-${look}`, d: path })));

/** @param {MapUi} ui */
function paintFoundCount({ map, found: node }) {
  const { found } = map;
  node.classList.toggle("gv-found", Boolean(found?.ranks?.length));
  if (!found) return setText(node, "");
  const counted = () => `${withCommas(found.count)} found, ${withCommas(countShared(found.bits, maskNow(map)))} legal`;
  setText(node, found.note || counted());
}

/**
 * Whether a token is legal, and whether that depends on the stack.
 * @param {MapState} map
 * @param {boolean} legal
 * @param {number} rank
 */
export function sayFate(map, legal, rank) {
  const fate = legal ? "legal" : "illegal";
  if (map.stackAsked === null || map.xor) return fate;
  return `${fate}: ${stackRanks(map).includes(rank) ? "context-dependent" : "on every stack"}`;
}

/**
 * What is said of a token: text, id, bytes, region, and whether it is legal or why not.
 * @param {MapUi} ui
 * @param {number} rank
 */
function describe({ map, ask }, rank) {
  const text = textOf(map, rank, ask);
  const legal = has(maskNow(map), rank);
  const [place] = placeOf(map, rank);
  const about = text ? `id ${text[0]} · bytes ${text[2] || "none"} · ${place}` : place;
  const reason = text && map.reasons.get(text[0]);
  const odds = map.marks.find((mark) => mark.rank === rank);
  const fate = make("b", { class: legal ? "gv-legal" : "gv-illegal" }, `${legal ? "✓" : "✕"} ${sayFate(map, legal, rank)}`);
  const parts = [tokenName(text ? text[1] : "…"), make("span", { class: "gv-soft" }, about), fate];
  for (const more of [odds && `p ${odds.text} before the mask`, reason]) if (more) parts.push(make("span", {}, more));
  return { text, legal, reason, parts };
}

/**
 * @param {MapUi} ui
 * @param {MapActions} act
 */
function paintCard(ui, act) {
  const { map, card } = ui;
  const shown = map.focus < 0 ? "none" : [map.focus, map.now, map.texts.has(Math.floor(map.focus / map.land.chunk)), map.reasons.size, map.marks.map(({ rank, text }) => `${rank} ${text}`)].join();
  if (ui.painted.card === shown) return;
  ui.painted.card = shown;
  if (map.focus < 0) return card.replaceChildren(make("span", { class: "gv-soft" }, HINT));
  const { text, legal, reason, parts } = describe(ui, map.focus);
  if (text && !reason) ui.ask("why", text[0]);
  const canTake = act.take && legal && text && map.marks.length;
  const take = () => make("button", { type: "button", on: { click: () => act.take?.(text?.[0] ?? 0) } }, "put it in");
  card.replaceChildren(...parts, ...(canTake ? [take()] : []));
}

/**
 * @param {MapUi} ui
 * @param {MapView} view
 */
function paintTip(ui, view) {
  const { map, tip } = ui;
  tip.hidden = map.hover < 0;
  if (map.hover < 0) return;
  tip.replaceChildren(...describe(ui, map.hover).parts, ...(ui.wheeled ? [make("span", { class: "gv-soft" }, NO_WHEEL)] : []));
  const [x, y] = pixelOf(map, view, map.hover);
  tip.style.left = `${Math.max(0, Math.min(x + 14, view.width - tip.offsetWidth))}px`;
  tip.style.top = y > view.height / 2 ? `${y - tip.offsetHeight - 14}px` : `${y + 16}px`;
}
