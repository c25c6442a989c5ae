// The map with its legend, its search, and what is said of the token under the pointer or the chosen one. The words have
// fixed places, so that nothing moves under the pointer.

/** @import { MapState, Say } from "../types.js" */
/** @import { Colours, Tile } from "./map-ground.js" */
import { nextFrame } from "../shared/connection.js";
import { make, setText, tokenName, withCommas } from "../shared/elements.js";
import { countShared, has, LARGEST, maskNow, newMap, placeOf, sayShare, stackRanks, textOf, updateMap, zoomBy } from "./map-data.js";
import { newTile, paintGround, paintTile, penOf, readColours } from "./map-ground.js";
import { listen } from "./map-input.js";
import { BAND, paintCallouts, paintMarks, RIM } from "./map-marks.js";

const KEYS = "arrows move along the byte order, page keys move from region to region, plus and minus zoom, 0 shows all";
const HINT = "One cell per token. Press a cell to read about it. Zoom: + and −, Ctrl + wheel, or two fingers; after a press the wheel alone.";
const [ACCEPTED, REJECTED, ASKED] = ["accepted", "rejected", "context-dependent"]; // by the node alone, or only with the stack
const REST = 300; // milliseconds on a token that ask why it is illegal
const LISTED = 20; // context-dependent tokens: so many are named in the legend

/** @typedef {ReturnType<typeof buildMap>} MapUi */

/**
 * @typedef {object} MapActions
 * @property {Say} say
 * @property {(token: number) => void} [take] put a token in
 * @property {boolean} [callouts] whether there are likely tokens to name around the map
 */

/** @param {MapActions} act */
export function buildMap(act) {
  const map = newMap();
  /** @param {string} words @param {string} label @param {number} factor */
  const zoom = (words, label, factor) => make("button", { type: "button", "aria-label": label, title: label, on: { click: () => {
    zoomBy(map, factor);
    ui.paint();
  } } }, words);
  const zooms = make("span", { class: "gv-zooms", role: "group", "aria-label": "zoom" }, zoom("−", "zoom out", 1 / 2), zoom("+", "zoom in", 2), zoom("⤢", "show all", 0));
  const canvas = make("canvas", { "aria-hidden": "true" });
  const sheet = make("div", { class: "gv-map", tabindex: 0, role: "application", "aria-roledescription": "map" }, canvas);
  const legend = make("div", { class: "gv-map-legend", role: "status" });
  const search = make("input", { type: "search", class: "gv-find", placeholder: "find tokens", "aria-label": "find tokens" });
  const found = make("span", { class: "gv-soft", role: "status", "aria-live": "polite" });
  const card = make("p", { class: "gv-map-card" });
  const finder = make("label", { class: "gv-map-find" }, search, found);
  const likely = make("p", { class: "gv-map-likely", hidden: !act.callouts }, "⊙ likely, legal · ⊠ likely, illegal · p before the mask");
  const frame = make("div", { class: "gv-map-frame" }, sheet);
  const ui = {
    map, canvas, sheet, legend, search, found, card, finder,
    band: act.callouts ? BAND : RIM,
    node: make("div", { class: "gv-map-all" }, make("div", { class: "gv-map-room" }, frame), make("div", { class: "gv-map-words" }, legend, zooms, likely, card)),
    spare: /** @type {HTMLCanvasElement | null} */ (null), // another canvas, where a wave has passed
    tile: /** @type {Tile | null} */ (null),
    land: /** @type {MapState["land"] | null} */ (null), // of the tile
    colours: /** @type {Colours | null} */ (null),
    resting: /** @type {any} */ (0),
    /** @param {any} news */
    hear: (news) => updateMap(map, news),
    /** @param {string} ask @param {any} of */
    ask: (ask, of) => act.say({ do: "map", ask, of }),
    paint: () => paintMap(ui, act),
    stop: () => {},
  };
  frame.style.setProperty("--band", String(ui.band));
  listen(ui);
  ui.stop = watchSizeAndTheme(ui);
  return ui;
}

/**
 * Paints anew when the room for the map or JupyterLab's theme changes.
 * @param {MapUi} ui
 * @returns {() => void} stops watching
 */
function watchSizeAndTheme(ui) {
  const size = new ResizeObserver(ui.paint);
  // JupyterLab changes its colours after it changes the attributes: the next frame has them.
  const theme = new MutationObserver(() => nextFrame(() => {
    ui.colours = null;
    ui.paint();
  }));
  size.observe(ui.sheet);
  theme.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  return () => {
    size.disconnect();
    theme.disconnect();
    clearTimeout(ui.resting);
  };
}

/**
 * @param {MapUi} ui
 * @param {MapActions} act
 */
function paintMap(ui, act) {
  const { map, sheet, canvas, band, ask } = ui;
  const { land } = map;
  if (!land || !map.masks.has(map.now)) return;
  if (ui.land !== land) {
    Object.assign(ui, { land, tile: newTile(land) });
    const room = /** @type {HTMLElement} */ (sheet.parentElement).style;
    room.setProperty("--aspect", String(land.width / land.height));
    room.setProperty("--most", String(land.width * LARGEST));
  }
  const width = sheet.clientWidth;
  if (!width) return;
  map.base = width / land.width;
  const [height, dpr] = [map.base * land.height, (window.devicePixelRatio * sheet.getBoundingClientRect().width) / width || 1];
  const [tile, colours, pen] = [/** @type {Tile} */ (ui.tile), (ui.colours ??= readColours(sheet)), penOf(canvas)];
  const scene = { map, tile, colours, width, height, pen, ask };
  paintTile(map, tile, colours);
  canvas.style.top = `${-band}px`;
  const [wide, high] = [Math.round(width * dpr), Math.round((height + 2 * band) * dpr)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high }); // this clears it, slowly
  canvas.style.width = `${width}px`;
  pen.resetTransform();
  pen.clearRect(0, 0, wide, high);
  pen.setTransform(dpr, 0, 0, dpr, 0, band * dpr);
  pen.save();
  pen.beginPath();
  pen.rect(0, -RIM, width, height + 2 * RIM);
  pen.clip();
  paintGround(scene);
  paintMarks(scene);
  pen.restore();
  paintCallouts(scene);
  paintLegend(ui, tile);
  paintFoundCount(ui);
  paintCard(ui, act);
}

// --- words ---

/**
 * Shows other parts where their words differ: a button among them may be pressed now.
 * @param {HTMLElement} node
 * @param {(Node | string)[]} parts
 */
function showParts(node, parts) {
  const fresh = make("div", {}, ...parts);
  if (fresh.textContent !== node.textContent) node.replaceChildren(...fresh.childNodes);
}

/**
 * @param {MapUi} ui
 * @param {Tile} tile
 */
function paintLegend({ map, legend, sheet, ask }, { count: legal, asked: [refused, asked] }) {
  const { eos, count } = map.land;
  const illegal = count - legal;
  const end = eos.length ? make("span", { class: "gv-soft" }, `EOS ${eos.some((rank) => has(maskNow(map), rank)) ? "legal" : "illegal"}`) : "";
  /** @param {string} kind @param {string} words @param {number} number @param {(Node | string)[]} more */
  const entry = (kind, words, number, ...more) =>
    make("span", {}, make("i", { class: `gv-cell gv-cell-${kind}` }), `${words} `, make("b", {}, withCommas(number)), ...more);
  /** @param {number[]} ranks */
  const names = (ranks) => {
    const texts = ranks.length > LISTED ? [] : ranks.flatMap((rank) => textOf(map, rank, ask)?.[1] ?? []);
    return texts.flatMap((text) => [" ", tokenName(text)]);
  };
  const two = [entry("legal", "legal", legal, ` (${sayShare(legal / count)})`), entry("illegal", "illegal", illegal), end];
  const four = [
    entry("legal", ACCEPTED, legal - asked.length), entry("illegal", REJECTED, illegal - refused.length),
    entry("asked", `${ASKED}, legal`, asked.length, ...names(asked)),
    entry("refused", `${ASKED}, illegal`, refused.length, ...names(refused)), end,
  ];
  showParts(legend, map.stackAsked === null ? two : four);
  sheet.setAttribute("aria-label", `map of ${withCommas(count)} tokens: ${legend.textContent}. ${KEYS}`);
}

/** @param {MapUi} ui */
function paintFoundCount({ map, found: node }) {
  const { found } = map;
  node.classList.toggle("gv-found", Boolean(found?.ranks?.length));
  setText(node, found ? found.note || `${withCommas(found.count)} found, ${withCommas(countShared(found.bits, maskNow(map)))} legal` : "");
}

/**
 * Whether a token is legal, and whether that depends on the stack, in the words of the legend.
 * @param {MapState} map
 * @param {boolean} legal
 * @param {number} rank
 */
export function sayFate(map, legal, rank) {
  const fate = legal ? "legal" : "illegal";
  if (map.stackAsked === null) return fate;
  if (stackRanks(map).includes(rank)) return `${ASKED}, ${fate}`;
  return legal ? ACCEPTED : REJECTED;
}

/**
 * What is said of a token: text, id, bytes, region, and whether it is legal or why not.
 * @param {MapState} map
 * @param {number} rank
 * @param {[id: number, name: string, bytes: string] | undefined} text
 */
function describe(map, rank, text) {
  const [legal, [place]] = [has(maskNow(map), rank), placeOf(map, rank)];
  const odds = map.marks.find((mark) => mark.rank === rank)?.text;
  const more = [odds && `p ${odds} before the mask`, text && map.reasons.get(text[0])].filter(Boolean);
  return [
    tokenName(text?.[1] ?? "…"),
    make("span", { class: "gv-soft" }, text ? `id ${text[0]} · bytes ${text[2] || "none"} · ${place}` : place),
    make("b", { class: legal ? "gv-legal" : "gv-illegal" }, `${legal ? "✓" : "✕"} ${sayFate(map, legal, rank)}`),
    ...more.map((words) => make("span", {}, String(words))),
  ];
}

/**
 * The token under the pointer, or else the chosen one; where none is, what can be done.
 * @param {MapUi} ui
 * @param {MapActions} act
 */
function paintCard(ui, { take }) {
  const { map, card, ask } = ui;
  const [pointed, rank] = [map.hover >= 0, map.hover < 0 ? map.focus : map.hover];
  clearTimeout(ui.resting);
  card.setAttribute("aria-live", pointed ? "off" : "polite");
  if (rank < 0) return showParts(card, [make("span", { class: "gv-soft" }, HINT)]);
  const text = textOf(map, rank, ask);
  const canTake = take && text && !pointed && map.marks.length && has(maskNow(map), rank);
  const button = canTake ? [make("button", { type: "button", on: { click: () => take(text[0]) } }, "put it in")] : [];
  showParts(card, [...describe(map, rank, text), ...button]);
  if (!text || map.reasons.has(text[0])) return;
  const why = () => {
    map.reasons.set(text[0], ""); // asked
    ask("why", text[0]);
  };
  if (pointed) ui.resting = setTimeout(why, REST);
  else why();
}
