import assert from "node:assert/strict";
import { test } from "node:test";

import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { frame, HEAD, HOSTILE, press, render, stageNews, step } from "./fixtures.js";

const STEPS = [step("a"), step("b"), step("c")];
const LOOKED = { place: 2, words: ["What the numbers mean."], rows: [["35", "0.01", 0.99], [HOSTILE, ">0.99", 0]] };
const LIVE = { ...HEAD, live: true };

test("what the model looked at is shown at its cursor only, each part with its number", () => {
  const { model, all, find, root, stop } = render(stage, stageNews(STEPS, 2, { head: LIVE }));
  assert.ok(find(".gv-looked").hidden);
  find(".gv-more").open = true;
  find(".gv-look").click();
  assert.ok(!find(".gv-more").open, "the menu does not cover the answer");
  assert.deepEqual(model.asked, [{ do: "look" }]);
  model.tell({ ...stageNews([], 2, { looked: LOOKED }), number: 2, from: 3 });
  frame();
  assert.deepEqual(all(".gv-looked-part small").map((node) => node.textContent), ["0.01", ">0.99"]);
  assert.match(find(".gv-looked").textContent, /What the numbers mean\./);
  assert.equal(find(".gv-looked script"), null);
  press(root, "ArrowLeft");
  assert.ok(find(".gv-looked").hidden, "another token is at the cursor");
  stop();
});

test("a text is put next with Enter; its letters are no keys, and a recording has no box", () => {
  const { model, find, root, stop } = render(stage, stageNews(STEPS, 2, { head: LIVE }));
  const box = find(".gv-insert input");
  box.value = "f q r";
  for (const key of ["f", "r", " ", "ArrowLeft"]) press(box, key);
  assert.equal(root.dataset.cursor, "2");
  press(box, "Enter");
  press(box, "Enter");
  assert.deepEqual(model.asked, [{ do: "insert", text: "f q r" }], "and an empty box says nothing");
  model.tell({ ...stageNews([], 2, { head: { ...HEAD, live: false } }), number: 2, from: 3 });
  frame();
  assert.equal(find(".gv-insert") ?? find(".gv-look"), null);
  stop();
});
