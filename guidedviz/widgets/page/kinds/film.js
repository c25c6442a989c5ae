// A film: frames of one construction on one drawing. All of it comes at once, so it runs without a kernel.

/** @import { FilmFrame, Shapes, Model } from "../types.js" */
/** @import { Spot } from "../machine/camera.js" */
/** @import { Drawing } from "../machine/drawing.js" */
/** @import { Motion } from "../motion/player.js" */
import { around } from "../machine/camera.js";
import { buildDrawing, copyPart, copyParts, follow, showDrawing, spotOf } from "../machine/drawing.js";
import { beginFilm, spotIn } from "../machine/film-motion.js";
import { button, commandOf, consume, paintPlayButton, refocusAfterPress, widgetRoot } from "../shared/controls.js";
import { make, setText, shape } from "../shared/elements.js";
import { buildSaveMenu, drawingActions } from "../shared/export.js";

const FRAME = 1500; // milliseconds per frame
const TURN = 200; // of these for the next frame, where something moves
const ASIDE = 36; // pixels between the middle of the last byte and the border
const COLOURS = ["blue", "green", "gold", "ink", "sky"]; // of the groups

/**
 * @typedef {Record<"start" | "back" | "play" | "step" | "end", () => void>} Moves
 * @param {Moves} act
 * @param {(frame: number) => void} go
 */
function buildFilm(act, go) {
  const keys = {
    start: button("start", "to the first frame", "Home", act.start),
    back: button("back", "one frame back", "←", act.back),
    play: button("play", "play", "space", act.play),
    step: button("step", "one frame on", "→", act.step),
    end: button("end", "to the last frame", "End", act.end),
  };
  const scrub = make("input", { type: "range", min: 0, step: 1, class: "gv-film-scrub", "aria-label": "frame" });
  scrub.addEventListener("input", () => go(Number(scrub.value)));
  const title = make("strong", {});
  const count = make("span", { class: "gv-soft" });
  const words = make("p", { class: "gv-film-words", role: "status", "aria-live": "polite" });
  const room = make("p", { class: "gv-film-room", "aria-hidden": "true" }); // the longest words: nothing below moves
  const group = make("span", { class: "gv-keys", role: "group", "aria-label": "frames" }, ...Object.values(keys));
  const header = make("header", { role: "none" }, make("div", { class: "gv-about" }, title, count), make("div", { class: "gv-controls" }, group, scrub));
  const screen = make("div", { role: "group", class: "gv-panel", "aria-label": "machine" });
  const root = widgetRoot("gv-film", "film: arrows step, space plays, Home and End", { tabindex: 0 }, header, make("div", { class: "gv-film-said" }, room, words), screen);
  return { root, keys, scrub, title, count, words, room, screen };
}

/**
 * The name of a group beside one of its states.
 * @param {Spot} spot
 * @param {string} title
 * @param {number} group
 */
function drawTag({ x, y, rx, ry }, title, group) {
  const words = title.length > 3 ? `${title.slice(0, 2)}…` : title;
  const [left, top, half] = [x + rx * 0.8, y - ry * 0.9, Math.max(9, words.length * 3.6 + 4)];
  const stroke = `var(--gv-${COLOURS[group % COLOURS.length]})`;
  const back = shape("rect", { x: left - half, y: top - 9, width: 2 * half, height: 18, rx: 9, fill: "var(--gv-page)", stroke, "stroke-width": 2.4 });
  return shape("g", {}, back, shape("text", { x: left, y: top + 4, "font-size": 12, "text-anchor": "middle", class: "gv-tag" }, words));
}

/**
 * Shows a frame. States and arrows that it does not have yet are pale or hidden, so that everything keeps its place.
 * @param {Drawing} drawing
 * @param {FilmFrame} frame
 */
function paintFrame(drawing, frame) {
  const [states, arrows] = [new Set(frame.states), new Set(frame.arrows)];
  for (const [state, node] of drawing.states) node.classList.toggle("gv-ghost", !states.has(state));
  for (const [key, node] of drawing.arrows) node.classList.toggle("gv-absent", !arrows.has(key));
  const tags = frame.groups.flatMap(([title, members], group) => members.flatMap((state) => {
    const node = drawing.states.get(state);
    const spot = spotOf(node);
    if (!node || !spot) return [];
    const tag = title === "cut" ? copyPart(node, "gv-cut") : drawTag(spot, title, group);
    tag.dataset.tag = String(state);
    return [tag];
  }));
  drawing.layer.replaceChildren(...copyParts(drawing.arrows, frame.on, "gv-on"), ...copyParts(drawing.states, frame.lit, "gv-lit"), ...tags);
  lookAt(drawing, frame, true);
}

/**
 * Moves what a frame shows into sight: what it highlights, or at least the last of it, and above it the framed byte.
 * @param {Drawing} drawing
 * @param {FilmFrame} frame
 * @param {boolean} eased
 */
function lookAt(drawing, frame, eased) {
  const { svg, states, arrows } = drawing;
  if (!svg) return;
  const state = states.get(frame.lit[0]);
  const parts = [...frame.on.map((key) => arrows.get(key)), state?.querySelector(".gv-disc") ?? state, ...(frame.see ?? []).map((key) => arrows.get(key))];
  drawing.at = around(parts.flatMap((node) => spotIn(svg, node) ?? [])) ?? drawing.at;
  follow(drawing, eased);
  placeText(drawing, frame.arrows.find((key) => key.startsWith("next ")));
}

/**
 * Close up, the text keeps its place above the machine, with the framed byte in sight.
 * @param {Drawing} drawing
 * @param {string | undefined} next the key of the frame; after the text there is none
 */
function placeText({ svg, arrows, camera: { scale, x }, room: [wide], scales: { whole } }, next) {
  const text = svg?.querySelector("[data-part=tape]");
  const last = text?.querySelector("rect:last-of-type");
  if (!text || !last) return;
  const [byte, end] = [arrows.get(next ?? "")?.querySelector("rect") ?? last, last].map((cell) => scale * (Number(cell.getAttribute("x")) + Number(cell.getAttribute("width")) / 2));
  const left = Math.min(0, Math.max(wide / 2 - byte, wide - end - ASIDE));
  const marks = [...arrows].flatMap(([key, node]) => (/^(next|read) |^l\d/.test(key) ? [node] : []));
  for (const node of [text, ...marks]) node.setAttribute("transform", `translate(${whole ? 0 : (left - x) / scale})`);
}

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const { title, drawings: shapes, frames, show = 0 } = /** @type {{ title: string, drawings: Shapes[], frames: FilmFrame[], show?: number }} */ (model.get("saved"));
  const last = frames.length - 1;
  let at = 0;
  /** @type {any} */
  let timer = 0;
  /** @type {Motion | null} */
  let motion = null;

  /** @param {number} frame */
  function go(frame) {
    motion?.finish();
    const before = at;
    at = Math.max(0, Math.min(last, frame));
    paint();
    if (at === before + 1) motion = move(before, at, false);
  }
  function goBack() {
    motion?.finish();
    const before = at;
    at = Math.max(0, at - 1);
    if (at < before) motion = move(at, before, true);
    paint();
  }
  function pause() {
    clearInterval(timer);
    timer = 0;
  }
  /** @param {() => number} frame */
  const pauseAndGo = (frame) => () => {
    pause();
    go(frame());
  };
  function tick() {
    if (at >= last - 1) pause();
    go(at + 1);
  }
  /** @type {Moves} */
  const act = {
    start: pauseAndGo(() => 0),
    back: () => {
      pause();
      goBack();
    },
    step: pauseAndGo(() => at + 1),
    end: pauseAndGo(() => last),
    play: () => {
      if (timer) pause();
      else if (at < last) timer = setInterval(tick, FRAME);
      paint();
    },
  };
  const ui = buildFilm(act, go);
  el.append(ui.root);
  const drawings = shapes.map((one) => {
    const drawing = buildDrawing();
    ui.screen.append(drawing.size.node, drawing.node);
    showDrawing(drawing, one);
    return drawing;
  });
  ui.scrub.after(buildSaveMenu("frame", drawingActions("frame", () => /** @type {SVGElement[]} */ ([...drawings[frames[at].drawing].sheets.children]))));
  ui.scrub.max = String(last);
  setText(ui.title, title);
  setText(ui.room, frames.reduce((longest, { words }) => (words.length > longest.length ? words : longest), ""));

  /**
   * What moves between two frames, of which the later one is painted; on the way back that stays until all has moved.
   * @param {number} before
   * @param {number} after
   * @param {boolean} back
   */
  function move(before, after, back) {
    const [from, to] = [frames[before], frames[after]];
    const done = () => {
      motion = null;
      paintDrawings();
    };
    return beginFilm({ from, to, drawings: [drawings[from.drawing], drawings[to.drawing]], most: timer ? FRAME - TURN : Infinity, back, done });
  }
  function paintDrawings() {
    const frame = frames[at];
    drawings.forEach((drawing, number) => {
      drawing.node.classList.toggle("gv-absent", number !== frame.drawing); // it keeps its room
      drawing.size.node.classList.toggle("gv-absent", number !== frame.drawing);
    });
    paintFrame(drawings[frame.drawing], frame);
  }
  function paint() {
    const frame = frames[at];
    if (!motion) paintDrawings();
    setText(ui.words, frame.words);
    setText(ui.count, `frame ${at + 1} of ${frames.length}`);
    ui.root.dataset.frame = String(at);
    ui.scrub.value = String(at);
    ui.scrub.setAttribute("aria-valuetext", `frame ${at + 1} of ${frames.length}: ${frame.words}`);
    ui.keys.start.disabled = ui.keys.back.disabled = at === 0;
    ui.keys.end.disabled = ui.keys.step.disabled = ui.keys.play.disabled = at === last;
    ui.words.setAttribute("aria-live", timer ? "off" : "polite");
    paintPlayButton(ui.keys.play, Boolean(timer), act.play);
  }
  ui.root.addEventListener("keydown", (event) => {
    const moved = act[/** @type {keyof Moves} */ (commandOf(event))];
    if (!moved) return;
    moved();
    consume(event);
  });
  refocusAfterPress(ui.root, "button");
  go(show);
  new ResizeObserver(() => lookAt(drawings[frames[at].drawing], frames[at], false)).observe(ui.screen);
  return pause;
}

export default { render };
