import assert from "node:assert/strict";
import { test } from "node:test";

import { build } from "../../guidedviz/widgets/page/shared/parts.js";
import { meterPart, rowsPart } from "../../guidedviz/widgets/page/stage/next-token.js";
import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { HOSTILE, render, stageNews, step } from "./fixtures.js";

const ROWS = [[3, "yes", 0.25, 0.75, true, "0.25", "0.75"], [4, "no", 0.5, 0, false, "0.50", "forbidden"]];
const REST = [0.25, 0.25, "0.25", "0.25"];

function painted(rows = ROWS, one = false) {
  const picked = [];
  const node = build(rowsPart(rows, 3, REST, one, (token) => picked.push(token)));
  const all = (selector) => [...node.querySelectorAll(selector)];
  return { node, picked, all, shown: all("button.gv-row"), said: all(".gv-said").map((said) => said.textContent) };
}

test("a row shows both probabilities in the kernel's words", () => {
  const { said } = painted();
  assert.deepEqual(said, ["0.25 → 0.75", "0.50 → forbidden", "0.25 → 0.25"]);
});

test("bars are as wide as the probabilities", () => {
  const share = (node) => Number(node.style.getPropertyValue("--share"));
  assert.deepEqual(painted().all(".gv-row .gv-before").map(share), [0.25, 0.5, 0.25]);
  assert.deepEqual(painted().all(".gv-row .gv-after").map(share), [0.75, 0, 0.25]);
});

test("the chosen token is marked, and a forbidden one is struck", () => {
  const { shown } = painted();
  assert.deepEqual(shown.map(({ classList }) => classList.contains("gv-chosen")), [true, false]);
  assert.deepEqual(shown.map(({ classList }) => classList.contains("gv-struck")), [false, true]);
});

test("where before and after are the same, one number is enough", () => assert.equal(painted(ROWS, true).said[0], "0.25"));

test("a press picks the token of the row", () => {
  const { shown, picked } = painted();
  shown[1].click();
  shown[0].click();
  assert.deepEqual(picked, [4, 3]);
});

test("rows have the digits of their keys", () => {
  assert.deepEqual(painted().all("button kbd").map((digit) => digit.textContent), ["1", "2"]);
});

test("a hostile token stays text in every part of its row", () => {
  const { node, all } = painted([[3, HOSTILE, 0.25, 0.75, true, "0.25", "0.75"]]);
  assert.equal(all(".gv-name")[0].textContent, HOSTILE);
  assert.equal(node.querySelector("img, script"), null);
});

test("a special token of the prompt is a chip, other names stay text", () => {
  const rows = [[3, "<|im_end|>", 0.25, 0.75, true, "0.25", "0.75"], [4, "<|x|>", 0.5, 0, false, "0.50", "forbidden"]];
  const node = build(rowsPart(rows, 3, REST, false, () => {}, ["<|im_end|>"]));
  assert.deepEqual([...node.querySelectorAll("button .gv-name")].map((name) => name.textContent), ["im_end", "<|x|>"]);
  assert.equal(node.querySelectorAll(".gv-special").length, 1);
});

test("a meter says its share in the words given", () => {
  const meter = build(meterPart("legal mass Z", 0.004, "<0.01"));
  assert.equal(meter.querySelector("b").textContent, "<0.01");
  assert.equal(meter.querySelector("[role=meter]").getAttribute("aria-valuenow"), "0.004");
});

test("what bias and temperature changed is named, and both bars are shown also where nothing is forbidden", () => {
  const head = (more) => {
    const { find, all, stop } = render(stage, stageNews([step("a", { rows: [[7, "a", 0.5, 0.9, true, "0.50", "0.90"]], ...more })], 1));
    const said = [find(".gv-changes").textContent, find(".gv-legend").hidden, find(".gv-legend").textContent, all(".gv-said")[0].textContent];
    stop();
    return said;
  };
  assert.deepEqual(head({ changes: "bias · T 0.50", after: "as drawn" }), ["bias · T 0.50", false, "before (the model)drawn from", "0.50 → 0.90"]);
  assert.deepEqual(head({ changes: "", free: true }), ["", true, "beforeafter the mask", "0.50"]);
});
