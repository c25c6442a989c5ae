// The plot and the lanes of the fraction slider, drawn from the cost model.

/** @import { FractionRun, FractionText, FractionView } from "../types.js" */
/** @import { FractionUi } from "./layout.js" */
import { setText, shape } from "../shared/elements.js";
import { ideal, modelOf, pricesOf, sayNumber, sayPasses, sayTimes } from "./cost-model.js";

const WHOLE = 920; // of a lane's width of 1000 is the way token by token; a run with jump-forward may be slower
const STEPS = 95; // of the curve of the cost model

/**
 * The pixel of a share and a speed-up in the plot; values beyond the scale are at its end.
 * @param {FractionView["axes"]} axes
 * @param {number} share
 * @param {number} speedup
 */
export function placeIn({ left, span, top, high, last, low, most }, share, speedup) {
  const inside = Math.max(low, Math.min(most, speedup));
  return [left + (span * Math.min(last, share)) / last, top + high * (1 - Math.log(inside / low) / Math.log(most / low))];
}

/**
 * The share under the pointer.
 * @param {HTMLElement} plot
 * @param {FractionView} view
 * @param {PointerEvent} event
 */
export function shareAt(plot, { axes }, { clientX }) {
  const frame = plot.getBoundingClientRect();
  const x = ((clientX - frame.left) / frame.width) * axes.width;
  return Math.max(0, Math.min(1, (x - axes.left) / axes.span)) * axes.last;
}

/**
 * @param {FractionUi} ui
 * @param {FractionView} view
 */
export function moveHandle({ parts }, view) {
  const { axes, share } = view;
  const [x] = placeIn(axes, share, 1);
  parts.handle.setAttribute("d", `M${x},${axes.top}v${axes.high}`);
  for (const [name, speedup] of /** @type {[string, number][]} */ ([["on-ideal", ideal(share)], ["on-model", modelOf(share, pricesOf(view, view.rowBetween))]])) {
    parts[name].setAttribute("cx", String(x));
    parts[name].setAttribute("cy", String(placeIn(axes, share, speedup)[1]));
  }
}

/**
 * @param {FractionUi} ui
 * @param {FractionView} view
 */
export function drawModelCurve({ parts }, view) {
  const prices = pricesOf(view, view.rowBetween);
  const points = Array.from({ length: STEPS + 1 }, (_, step) => {
    const share = (view.axes.last * step) / STEPS;
    return placeIn(view.axes, share, modelOf(share, prices)).map((pixel) => pixel.toFixed(1)).join();
  });
  parts.model.setAttribute("d", `M${points.join("L")}`);
}

/**
 * One point per live run with the spread of its runs: filled if it had as many rows as are shown now.
 * @param {FractionUi} ui
 * @param {FractionView} view
 */
export function paintPoints({ parts, others }, { runs, rows, row, axes }) {
  /** @param {FractionRun} run */
  const isHere = (run) => run.rows === rows[row];
  const ordered = [...runs].sort((one, other) => Number(isHere(one)) - Number(isHere(other))); // these lie above the others
  parts.points.replaceChildren(...ordered.flatMap((run) => {
    const here = isHere(run);
    const [cx, y] = placeIn(axes, run.share, run.speedup);
    const cy = Math.min(y, axes.top + axes.high - 6); // above the labels of the axis
    const [low, high] = run.spread.map((speedup) => placeIn(axes, run.share, speedup)[1]);
    const look = here ? { r: 5, class: "gv-point gv-full" } : { r: 3.6, class: "gv-point" };
    const spread = run.spread.length && here ? [shape("path", { d: `M${cx},${low}V${high}`, class: "gv-spread" })] : [];
    return [...spread, shape("circle", { cx, cy, ...look }, shape("title", {}, run.title))];
  }));
  others.hidden = runs.every(isHere);
}

/**
 * Both ways on one clock, and the formula: a high box is a pass, a low one the tokens that it reads.
 * @param {FractionUi} ui
 * @param {FractionView} view
 * @param {FractionText} text
 */
export function paintLanes(ui, view, { read, rest, naive, share, run }) {
  const prices = pricesOf(view, view.rowBetween);
  const scale = WHOLE / (naive * (prices.own + prices.each));
  /** @type {[number[], number][]} */
  const ways = [[Array(naive).fill(1), 0], [read, rest]];
  ways.forEach(([passes, left], at) => {
    const { high, low } = laneOf(passes, left, prices.own * scale, prices.each * scale);
    const lane = ui.lanes[at];
    lane.own.setAttribute("d", high);
    lane.read.setAttribute("d", low);
    setText(lane.said, sayPasses(passes.length) + (run ? `, ${run.tookText[at]}` : ""));
    setText(lane.ownTerm, (at ? `${(1 - share).toFixed(2)} · ` : "") + sayNumber(prices.own));
    setText(lane.readTerm, sayNumber(prices.each));
  });
  setText(ui.equals, `= ${sayTimes(modelOf(share, prices))}`);
  ui.lanes[1].clock.setAttribute("d", run ? `M${Math.min(1000, (WHOLE * run.took[1]) / run.took[0])},-5v28` : "");
}

/**
 * The boxes of a lane as two paths.
 * @param {number[]} read the tokens that each pass reads
 * @param {number} rest the tokens that no pass reads
 * @param {number} own the width of a pass
 * @param {number} each the width of a token
 */
export function laneOf(read, rest, own, each) {
  let [x, high, low] = [0, "", ""];
  for (const count of read) {
    high += box(x, 0, own, 18);
    low += box(x + own, 9, count * each, 9);
    x += own + count * each;
  }
  return { high, low: rest ? low + box(x, 9, rest * each, 9) : low };
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function box(x, y, width, height) {
  const inner = Math.max(0.5, width - 1).toFixed(2);
  return `M${x.toFixed(2)},${y}h${inner}v${height}h-${inner}z`;
}
