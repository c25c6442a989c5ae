// The deterministic-fraction slider. The page moves on its own from what came once; the kernel is asked only where the
// handles rest, and then for live runs.

/** @import { FractionView, Model } from "../types.js" */
/** @import { FractionUi } from "../fraction/layout.js" */
import { buildFraction, showPlot } from "../fraction/layout.js";
import { paintFraction } from "../fraction/painting.js";
import { shareAt } from "../fraction/plot.js";
import { connect, nextFrame } from "../shared/connection.js";
import { consume, hasModifier } from "../shared/controls.js";

const REST = 300; // milliseconds without a move
/** @type {Record<string, number>} */
const ARROWS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/**
 * Connects an input with stops. It moves freely under the pointer; let go between two stops, it goes to the nearer one.
 * @param {HTMLInputElement} input
 * @param {(value: number) => number} nearest the stop that is nearest to a value
 * @param {(stop: number, value?: number) => number} put moves the handle to a stop, or to a value near it
 * @param {() => void} moved
 */
function listenToHandle(input, nearest, put, moved) {
  const here = () => nearest(Number(input.value));
  /** @param {number} stop */
  function goTo(stop) {
    input.value = String(put(stop));
    moved();
  }
  input.addEventListener("input", () => {
    put(here(), Number(input.value));
    moved();
  });
  input.addEventListener("change", () => goTo(here()));
  input.addEventListener("keydown", (event) => {
    const way = ARROWS[event.key];
    if (!way || hasModifier(event)) return;
    consume(event);
    goTo(here() + way);
  });
}

/**
 * @param {FractionUi} ui
 * @param {FractionView} view
 * @param {() => void} moved
 */
function listenToHandles(ui, view, moved) {
  /** @param {number} stop @param {unknown[]} stops */
  const within = (stop, stops) => Math.max(0, Math.min(stops.length - 1, stop));
  listenToHandle(ui.share, (value) => within(Math.round(value * view.places.length), view.places), (stop, value) => {
    view.place = within(stop, view.places);
    return (view.share = value ?? view.places[view.place]);
  }, moved);
  listenToHandle(ui.rows, Math.round, (stop, value) => {
    view.row = within(stop, view.rows);
    return (view.rowBetween = value ?? view.row);
  }, moved);
}

/**
 * Drags the curve: the handle follows the pointer, and the keyboard goes on from there.
 * @param {FractionUi} ui
 * @param {FractionView} view
 */
function listenToPlot({ plot, share }, view) {
  /** @param {PointerEvent} event */
  function drag(event) {
    if (!plot.hasPointerCapture(event.pointerId)) return;
    share.value = String(shareAt(plot, view, event));
    share.dispatchEvent(new Event("input"));
  }
  plot.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    plot.setPointerCapture(event.pointerId);
    drag(event);
  });
  plot.addEventListener("pointermove", drag);
  plot.addEventListener("lostpointercapture", () => {
    share.dispatchEvent(new Event("change"));
    share.focus({ preventScroll: true });
  });
}

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const view = /** @type {FractionView} */ (/** @type {unknown} */ ({ runs: [], timing: false, sweeping: false, note: "" }));
  const { say, start, stop } = connect(model);
  /** @type {any} */
  let resting = 0;
  let [due, asked] = [false, ""]; // whether a frame is due; where the kernel was asked last
  const here = () => `${view.place} ${view.row}`;
  /** @param {number} place */
  const isTimed = (place) => view.runs.some((run) => run.place === place && run.rows === view.rows[view.row]);

  function paint() {
    if (due || !view.head) return;
    due = true;
    nextFrame(() => {
      due = false;
      paintFraction(ui, view);
    });
  }

  /** @param {number} place @param {number} row */
  function put(place, row) {
    Object.assign(view, { place, row, share: view.places[place], rowBetween: row });
    ui.share.value = String(view.share);
    ui.rows.value = String(row);
  }

  function rest() {
    asked = here();
    say({ do: "rest", place: view.place, rows: view.rows[view.row], time: view.head.live && !isTimed(view.place) });
  }

  // Times the next place that has no run.
  function sweepOn() {
    const next = view.places.findIndex((_, place) => !isTimed(place));
    view.sweeping = next >= 0;
    if (next < 0) return;
    put(next, view.row);
    rest();
  }

  function cancel() {
    if (asked || view.timing) say({ do: "move" });
    asked = "";
    view.timing = view.sweeping = false;
    clearTimeout(resting);
  }

  function moved() {
    paint();
    if (here() === asked) return;
    cancel();
    resting = setTimeout(rest, REST);
  }

  function sweep() {
    if (view.sweeping) cancel();
    else sweepOn();
    paint();
  }

  const ui = buildFraction(sweep);
  el.append(ui.root);
  listenToHandles(ui, view, moved);
  listenToPlot(ui, view);

  /** @param {any[]} all */
  function onNews(all) {
    for (const { at, ...news } of all) {
      Object.assign(view, news);
      if (news.head) showPlot(ui, view);
      if (at && (!news.head || view.place === undefined)) put(at[0], at[1]);
      view.sweeping &&= !view.note;
      if (view.sweeping && !view.timing && isTimed(view.place)) sweepOn();
    }
    paint();
  }

  /** @param {string} words */
  function onSilence(words) {
    if (!view.head?.live) return; // recorded runs need no kernel
    view.note = words;
    paint();
  }
  start(onNews, onSilence);
  return () => {
    clearTimeout(resting);
    stop();
  };
}

export default { render };
