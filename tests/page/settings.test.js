import assert from "node:assert/strict";
import { test } from "node:test";

import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { frame, HEAD, press, render, stageNews, step } from "./fixtures.js";

const SETTINGS = { top_k: 40, top_p: 0.9, repetition_penalty: 1.1 };

test("the menu has top-k, top-p and the penalty; a number that was changed is told, and a recording says that it has none", () => {
  const { model, all, find, root, stop } = render(stage, stageNews([step("a")], 1, SETTINGS));
  const fields = all(".gv-more input[type=number]");
  assert.deepEqual(fields.map((field) => [field.getAttribute("aria-label"), field.value]), [["top-k", "40"], ["top-p", "0.9"], ["penalty", "1.1"]]);
  press(fields[0], "3");
  fields[0].value = "3";
  fields[0].dispatchEvent(new Event("change"));
  assert.deepEqual(model.asked, [{ do: "set", name: "top_k", value: 3 }]);
  assert.equal(root.dataset.cursor, "1", "a digit in a field takes no token");
  fields[0].value = "";
  fields[0].dispatchEvent(new Event("change"));
  assert.ok(Number.isNaN(model.asked.at(-1).value), "an empty field is no zero");
  let heard = 0;
  root.parentNode.addEventListener("keydown", () => (heard += 1));
  press(fields[0], "Enter");
  assert.equal(heard, 0, "Enter in a field does not reach the notebook");
  model.tell({ ...stageNews([], 1, { head: { ...HEAD, live: false } }), number: 2, from: 1 });
  frame();
  assert.equal(all(".gv-more input[type=number]").length, 0);
  assert.match(find(".gv-fixed").textContent, /recorded: on a live stage/);
  stop();
});
