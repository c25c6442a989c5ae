import assert from "node:assert/strict";
import { test } from "node:test";

import { buildDistribution, buildMeter, paintDistribution, paintMeter, percent } from "../../guidedviz/widgets/page/shared/distribution.js";
import { HOSTILE } from "./fixtures.js";

const ROWS = [[3, "yes", 0.25, 0.75, true, "0.25", "0.75"], [4, "no", 0.5, 0, false, "0.50", "0"]];
const REST = [0.25, 0.25, "0.25", "0.25"];

function painted(rows = ROWS, free = false) {
  const picked = [];
  const parts = buildDistribution(9, (token) => picked.push(token));
  paintDistribution(parts, rows, 3, REST, free);
  return { parts, picked, shown: parts.rows.filter(({ node }) => !node.hidden) };
}

test("a row shows both probabilities in the kernel's words", () => {
  const { shown: [yes, no], parts } = painted();
  assert.equal(yes.said.textContent, "0.25 → 0.75");
  assert.equal(no.said.textContent, "0.50 → forbidden");
  assert.equal(parts.rest.said.textContent, "0.25 → 0.25");
  assert.deepEqual([yes.node.title, no.node.title], ["this one was taken", "Forbidden here; press to hear why."]);
});

test("bars are as wide as the probabilities", () => {
  const { shown: [yes, no] } = painted();
  assert.deepEqual([yes.before.style.width, yes.after.style.width], ["25.00%", "75.00%"]);
  assert.deepEqual([no.before.style.width, no.after.style.width], ["50.00%", "0.00%"]);
});

test("the chosen token is marked, a forbidden one is struck, rows without a token are hidden", () => {
  const { shown } = painted();
  assert.deepEqual(shown.map(({ node }) => node.classList.contains("gv-chosen")), [true, false]);
  assert.deepEqual(shown.map(({ node }) => node.classList.contains("gv-struck")), [false, true]);
  assert.equal(shown.length, 2);
});

test("where nothing is forbidden one number is enough", () => {
  const { shown, parts } = painted(ROWS, true);
  assert.equal(shown[0].said.textContent, "0.25");
  assert.equal(parts.legend.hidden, true);
});

test("a press picks the token of the row", () => {
  const { shown, picked } = painted();
  shown[1].node.click();
  shown[0].node.click();
  assert.deepEqual(picked, [4, 3]);
});

test("rows have the digits of their keys", () => {
  assert.deepEqual(painted().parts.rows.map(({ digit }) => digit.textContent), [..."123456789"]);
});

test("a hostile token stays text in every part of its row", () => {
  const { parts, shown } = painted([[3, HOSTILE, 0.25, 0.75, true, "0.25", "0.75"]]);
  assert.equal(shown[0].name.textContent, HOSTILE);
  assert.equal(parts.node.querySelector("img, script"), null);
});

test("a meter says its share in the words given", () => {
  const meter = buildMeter("legal mass Z");
  paintMeter(meter, 0.004, "<0.01");
  assert.equal(meter.number.textContent, "<0.01");
  assert.equal(meter.track.getAttribute("aria-valuenow"), "0.004");
});

test("a bar is never wider than its row", () => assert.deepEqual([percent(1.5), percent(-1)], ["100.00%", "0.00%"]));
