// The fraction slider and the folded machine.

import assert from "node:assert/strict";
import { test } from "node:test";

import { between, modelOf, sayTimes, textOf } from "../../guidedviz/widgets/page/fraction/cost-model.js";
import { laneOf, placeIn } from "../../guidedviz/widgets/page/fraction/plot.js";
import * as fold from "../../guidedviz/widgets/page/kinds/fold.js";
import * as fraction from "../../guidedviz/widgets/page/kinds/fraction.js";
import { drawing, frame, HOSTILE, press, render } from "./fixtures.js";

test("between two places a value lies between theirs", () => {
  assert.deepEqual([0, 0.5, 1, 1.25, 2, 5].map((at) => between([0, 10, 30], at)), [0, 5, 10, 15, 30, 30]);
});

test("a lane has one box per pass, and one for what no pass reads", () => {
  const { high, low } = laneOf([1, 3], 2, 10, 2);
  assert.equal(high.split("z").length - 1, 2);
  assert.equal(low.split("z").length - 1, 3);
  assert.ok(high.includes("M12.00,0h9.00"), "the second pass begins where the first one and its token end");
});

test("each pass reads one free token and the fixed ones before it; the passes of a run share them", () => {
  const parts = [["{", true], ["x", false], ["y", false], ["}", true]];
  const { read, rest, naive, share } = textOf(parts);
  assert.deepEqual([read, rest, naive, share], [[2, 1], 1, 4, 0.5]);
  const run = textOf(parts, { passes: [5, 1], share: 0.75 });
  assert.deepEqual([run.read, run.rest, run.naive, run.share], [[3], 1, 5, 0.75]);
  assert.deepEqual([textOf(parts, { passes: [4, 3], share: 0 }).read.length, textOf([["{", true]]).read], [3, []]);
});

test("the cost model and the scale have no holes", () => {
  assert.deepEqual([modelOf(0, { own: 9, each: 1 }), modelOf(1, { own: 9, each: 1 })], [1, 10]);
  assert.deepEqual([1.04, 20, modelOf(1, { own: 9, each: 0 })].map(sayTimes), ["1.04×", "20.0×", "∞×"]);
  assert.deepEqual([3.125, 3.375, 1.005, 12.25].map(sayTimes), ["3.12×", "3.38×", "1.00×", "12.2×"], "as Python rounds");
  const axes = { left: 10, span: 90, top: 0, high: 100, width: 100, last: 0.9, low: 1, most: 16 };
  assert.deepEqual([placeIn(axes, 0, 1), placeIn(axes, 0.45, 4), placeIn(axes, 1, Infinity)], [[10, 100], [55, 50], [100, 0]]);
});

const part = (name, of) => [name, { "data-part": of }];
const PLOT = ["svg", { width: 100, height: 100 }, part("path", "ideal"), part("path", "model"), part("path", "handle"),
  part("circle", "on-ideal"), part("circle", "on-model"), part("g", "points")];
const SLIDER = {
  number: 1, runs: [], at: [1, 0], timing: false, note: "", head: { source: "LIVE", about: "clerk", live: true }, plot: PLOT,
  axes: { left: 10, span: 90, top: 0, high: 100, width: 100, last: 0.9, low: 1, most: 16 }, cost: { pass_ms: 9, token_ms: 1, row_ms: 0, put_ms: 0 },
  places: [0, 0.3, 0.6, 0.9], rows: [1, 8], texts: [0, 1, 2, 3].map(() => [["{", true], [HOSTILE, false]]),
};
const RUN = {
  place: 1, rows: 1, parts: [["x", false], ["y", true]], passes: [2, 1], share: 0.5, speedup: 1.8, spread: [1.5, 2], title: "a run", took: [10, 5],
  tookText: ["10 ms", "5 ms"], told: "measured",
};

function slider() {
  const page = render(fraction, SLIDER);
  frame();
  return { ...page, share: page.find(".gv-share"), rows: page.find(".gv-batch"), words: () => page.find(".gv-fraction-words").textContent };
}

test("the slider says what the cost model says, and hostile tokens stay text", () => {
  const { words, find, all, stop } = slider();
  assert.equal(words(), "50% forced: 2 tokens, 1 pass instead of 2; not measured here, the cost model says 1.82×, ideal 2.00×");
  assert.deepEqual(all(".gv-fraction-legend b").map((node) => node.textContent), ["2.00×", "1.82×", "–"]);
  assert.deepEqual(all(".gv-term").map((node) => node.textContent), ["9.00", "1.00", "0.50 · 9.00", "1.00"]);
  assert.equal(find(".gv-equals").textContent, "= 1.82×");
  assert.equal(find(".gv-fraction-text").textContent, `{${HOSTILE}`);
  assert.equal(find("img, script"), null);
  assert.match(find(".gv-fraction-kinds").textContent, /1 forced1 free/);
  stop();
});

test("keys move a handle to the next place, and it rests there", (context) => {
  const { model, share, rows, words, find, stop } = slider();
  context.mock.timers.enable({ apis: ["setTimeout"] });
  assert.ok(press(share, "ArrowRight").defaultPrevented);
  assert.equal(Number(share.value), 0.6);
  press(rows, "ArrowUp");
  frame();
  assert.match(words(), /2 tokens, 8 texts side by side/);
  assert.equal(find("[data-part=handle]").getAttribute("d"), "M70,0v100");
  assert.deepEqual([find("[data-part=on-ideal]"), find("[data-part=on-model]")].map((node) => Math.round(Number(node.getAttribute("cy")))), [67, 86]);
  assert.deepEqual(model.asked, []);
  context.mock.timers.tick(300);
  assert.deepEqual(model.asked, [{ do: "rest", place: 2, rows: 8, time: true }]);
  stop();
});

test("a run shows its own text, words and spread at its place", () => {
  const { model, words, find, all, stop } = slider();
  model.tell({ number: 2, runs: [RUN], timing: false, note: "" });
  frame();
  assert.match(words(), /measured 1.80×/);
  assert.equal(find(".gv-fraction-text").textContent, "xy");
  assert.equal(find(".gv-fraction-fate").textContent, "measured");
  assert.deepEqual(all(".gv-lane-said").map((node) => node.textContent), ["2 passes, 10 ms", "1 pass, 5 ms"]);
  assert.equal(find(".gv-point").getAttribute("cx"), "60");
  assert.match(find(".gv-spread").getAttribute("d"), /^M60,85\.\d+V75$/);
  stop();
});

const CHAIN = { name: 1, open: false, words: "abc", arrows: ["0-1"], states: [] };
const FOLDED = { drawing: drawing(3), words: "3 states", legend: "thick", chains: [CHAIN] };

test("a thick arrow is a button for pointer and keyboard", () => {
  const { model, all, stop } = render(fold, FOLDED);
  const [arrow] = all(".gv-turns");
  assert.equal(arrow.getAttribute("aria-label"), "abc: unfold");
  assert.equal(arrow.getAttribute("aria-expanded"), "false");
  arrow.dispatchEvent(new MouseEvent("click"));
  press(arrow, "Enter");
  press(arrow, "x");
  assert.deepEqual(model.asked, [{ do: "turn", chain: 1 }, { do: "turn", chain: 1 }]);
  stop();
});

test("all chains are unfolded or folded at once, whichever are open", () => {
  const { model, find, all, stop } = render(fold, FOLDED);
  const buttons = () => all("header button.gv-key").map((node) => [node.textContent, node.disabled]);
  assert.deepEqual(buttons(), [["unfold all", false], ["fold all", true]]);
  all("header button.gv-key")[0].click();
  assert.deepEqual(model.asked, [{ do: "all", unfold: true }]);
  const open = { ...CHAIN, open: true, states: [1] };
  model.tell({ number: 2, ...FOLDED, drawing: drawing(4), chains: [open, { ...CHAIN, arrows: ["1-2"] }] });
  frame();
  assert.deepEqual(buttons(), [["unfold all", false], ["fold all", false]], "one of two is open");
  assert.equal(find(".gv-turns").getAttribute("aria-expanded"), "true");
  model.tell({ number: 3, ...FOLDED, drawing: drawing(5), chains: [open] });
  frame();
  assert.deepEqual(buttons(), [["unfold all", true], ["fold all", false]]);
  all("header button.gv-key")[1].click();
  assert.deepEqual(model.asked[1], { do: "all", unfold: false });
  stop();
});
