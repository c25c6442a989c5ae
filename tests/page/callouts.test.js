import assert from "node:assert/strict";
import { test } from "node:test";

import { likely, placeLabels } from "../../guidedviz/widgets/page/map/map-marks.js";
import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { HOSTILE, press, render, stageNews, step } from "./fixtures.js";

const GAP = 8;

/** Numbers from 0 to 1 that are the same in every run. */
function* numbers(seed) {
  for (let state = seed; ; ) yield (state = (1103515245 * state + 12345) % 2147483648) / 2147483648;
}

test("no label leaves the room or meets another, and the labels of a side are in the order of their cells", () => {
  const random = numbers(7);
  const next = (low, high) => low + (high - low) * random.next().value;
  for (let round = 0; round < 300; round++) {
    const width = next(130, 400);
    const spots = Array.from({ length: Math.floor(next(1, 12)) }, (_, name) => ({ name, x: next(0, 300), y: next(0, 100), wide: next(20, 120) }));
    const placed = placeLabels(spots, width, 100);
    assert.ok(placed.some(({ name }) => name === 0), "the first has room");
    for (const side of [0, 1]) {
      const row = placed.filter((one) => one.side === side);
      for (const [i, one] of row.entries()) {
        assert.ok(one.left > -1e-9 && one.left + one.wide < width + 1e-9);
        if (i) assert.ok(one.x >= row[i - 1].x && one.left > row[i - 1].left + row[i - 1].wide + GAP - 1e-6);
      }
    }
  }
});

test("places are those of the still picture", () => {
  const spots = [[50, 10, 60], [60, 20, 60], [50, 90, 60]].map(([x, y, wide]) => ({ x, y, wide }));
  assert.deepEqual(placeLabels(spots, 200, 100).map(({ side, left }) => [side, left]), [[0, 10], [0, 78], [1, 20]]);
});

test("the chosen token comes first, an unlikely one has no callout", () => {
  const marks = [[0.2, false], [0.001, false], [0.6, false], [0.004, true]].map(([raw, chosen]) => ({ raw, chosen }));
  assert.deepEqual(likely(marks).map(({ raw }) => raw), [0.004, 0.6, 0.2]);
});

const MOVES = btoa(String.fromCharCode(0b01000000, 0b00101010));
const LAND = { count: 8, width: 4, height: 2, moves: MOVES, borders: "M0,0", chunk: 4, eos: [7], ways: "", places: [["letters", 0, 8, 2, 1, 4]] };
const MAP = { land: LAND, bits: { 1: btoa("\x0f") }, answers: [] };
const ON_MAP = { mask: 1, ranks: [2, 5] };

test("on the stage the likely tokens are named beside the map, a hostile one as text, and the legend says what the marks mean", () => {
  const page = render(stage, stageNews([step(HOSTILE.slice(0, 12), ON_MAP), step("b", ON_MAP)], 0, { map: MAP }));
  page.find(".gv-map").resizeTo(400);
  const texts = page.find(".gv-map canvas").texts;
  assert.deepEqual(texts.filter((text) => text.startsWith("0.") || text.startsWith("<") || text === "no"), ["<img src=x o", "0.50", "no", "0.40"]);
  const legend = page.find(".gv-map-likely");
  assert.deepEqual([legend.hidden, legend.textContent], [false, "⊙ likely, legal · ⊠ likely, illegal · p before the mask"]);
  page.stop();
});

test("the card says what the pointer is on, with the probability, and then again what a key chose", () => {
  const page = render(stage, stageNews([step("a", ON_MAP), step("b", ON_MAP)], 0, { map: MAP }));
  const [sheet, card] = [page.find(".gv-map"), page.find(".gv-map-card")];
  sheet.resizeTo(400);
  assert.match(card.textContent, /Press a cell to read about it. Zoom:/);
  sheet.dispatchEvent(new MouseEvent("pointermove", { clientX: 250, clientY: 50, bubbles: true }));
  assert.match(card.textContent, /letters✓ legalp 0.50 before the mask/);
  assert.equal(card.getAttribute("aria-live"), "off", "a screen reader is not told of every cell under the pointer");
  press(sheet, "Home");
  assert.doesNotMatch(card.textContent, /before the mask/);
  assert.equal(card.getAttribute("aria-live"), "polite");
  for (const key of ["ArrowRight", "ArrowRight"]) press(sheet, key);
  assert.match(card.textContent, /letters✓ legalp 0.50 before the mask/);
  press(sheet, "Escape");
  assert.match(card.textContent, /Press a cell/);
  page.stop();
});
