import assert from "node:assert/strict";
import { test } from "node:test";

import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { frame, HOSTILE, render, stageNews, step } from "./fixtures.js";

test("the line of the class says what the kernel says, as text, and its keys ask the kernel", () => {
  const lesson = { words: HOSTILE, keys: [["branch", "go on alone from here"]] };
  const { model, root, all, find, stop } = render(stage, stageNews([step("a")], 1, { lesson }));
  assert.equal(find(".gv-lesson span").textContent, HOSTILE);
  assert.equal(find(".gv-lesson img"), null);
  all(".gv-lesson button")[0].click();
  assert.deepEqual(model.asked.at(-1), { do: "branch" });
  assert.equal(document.activeElement, root, "the key may go");
  model.tell({ ...stageNews([step("a")], 1), number: 2, lesson: null });
  frame();
  assert.ok(find(".gv-lesson").hidden);
  stop();
});
