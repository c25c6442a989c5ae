import assert from "node:assert/strict";
import { test } from "node:test";

import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { frame, HEAD, HOSTILE, press, render, stageNews, step } from "./fixtures.js";

const STEPS = [step("a"), step("b"), step("c")];
const ASKED = { ...HEAD, asked: `say\n${HOSTILE} `, models: ["clerk", "bard", HOSTILE] };
const BESIDE = { branch: 0, words: "They part after 4 tokens.", first: 2, same: 2, runs: [["␣", "a", "b"], ["␣", "a", HOSTILE, "d"]] };

function open(more = {}, cursor = 2) {
  const page = render(stage, stageNews(STEPS, cursor, { head: ASKED, ...more }));
  const tell = (now, number = 2) => {
    page.model.tell({ ...stageNews([], cursor, now), number, from: 3 });
    frame();
  };
  return { ...page, tell };
}

test("a press on the prompt makes it a field with its text; Enter begins a run, and the field stays until there is one", () => {
  const { model, find, root, tell, stop } = open();
  find(".gv-prompt").click();
  const field = find(".gv-prompt-field");
  assert.equal(field.value, ASKED.asked);
  assert.equal(document.activeElement, field);
  assert.equal(find(".gv-prompt"), null);
  for (const key of ["f", "r", " ", "ArrowLeft", "1"]) press(field, key);
  press(field, "Enter", { shiftKey: true });
  assert.deepEqual([model.asked, root.dataset.cursor], [[], "2"], "its keys are no keys of the stage");
  field.value = "";
  press(field, "Enter");
  tell({ note: "no text", head: { ...ASKED } });
  assert.equal(find(".gv-prompt-field"), field, "a prompt that was refused can be mended");
  field.value = "say more";
  press(field, "Enter");
  assert.deepEqual(model.asked, [{ do: "prompt", text: "" }, { do: "prompt", text: "say more" }]);
  tell({ head: { ...ASKED, asked: "say more" } }, 3);
  assert.equal(find(".gv-prompt-field"), null);
  stop();
});

test("Escape gives up, the menu does the same as a press, and a prompt that is fixed cannot be pressed", () => {
  const { model, find, all, root, tell, stop } = open();
  find(".gv-more").open = true;
  all(".gv-more .gv-wide").find((node) => node.textContent === "edit the prompt").click();
  assert.ok(!find(".gv-more").open);
  find(".gv-prompt-field").value = "other";
  press(find(".gv-prompt-field"), "Escape");
  assert.equal(find(".gv-prompt-field"), null);
  assert.equal(document.activeElement, root);
  find(".gv-prompt").click();
  assert.equal(find(".gv-prompt-field").value, ASKED.asked, "what was given up is gone");
  press(find(".gv-prompt-field"), "Enter");
  assert.equal(find(".gv-prompt-field"), null, "the same text is the same run");
  assert.deepEqual(model.asked, []);
  tell({ head: { ...HEAD, live: false } });
  find(".gv-prompt").click();
  assert.equal(find(".gv-prompt-field"), null);
  stop();
});

test("a model is chosen from a list, which shows the present one until the other is there", () => {
  const { model, find, all, tell, stop } = open();
  const list = find(".gv-more select");
  assert.deepEqual(all(".gv-more option").map((node) => node.textContent), ASKED.models);
  list.value = "bard";
  list.dispatchEvent(new Event("change"));
  assert.deepEqual(model.asked, [{ do: "model", name: "bard" }]);
  assert.equal(list.value, "clerk");
  tell({ head: { ...ASKED, models: ["bard", "clerk"] } });
  assert.equal(list.value, "bard");
  assert.equal(find("script"), null);
  stop();
});

test("another run stands beside this one with the first token where they part marked, and can be taken", () => {
  const { model, find, all, tell, stop } = open({ branches: [[1, 2, "b"], [0, 3, HOSTILE]] });
  assert.ok(find(".gv-pair").hidden);
  all(".gv-compare")[0].click();
  tell({ branches: [[1, 2, "b"], [0, 3, HOSTILE]], beside: BESIDE });
  assert.equal(find(".gv-pair [role=status]").textContent, BESIDE.words);
  assert.deepEqual(all(".gv-pair mark").map((node) => node.textContent), ["b", HOSTILE]);
  assert.deepEqual(all(".gv-pair .gv-name.gv-soft").map((node) => node.textContent), ["␣", "a", "␣", "a"]);
  assert.equal(find("script"), null);
  assert.deepEqual(all(".gv-compare").map((node) => node.getAttribute("aria-pressed")), ["true", "false"]);
  all(".gv-compare")[0].click();
  find(".gv-pair button").click();
  assert.deepEqual(model.asked, [{ do: "beside", branch: 0 }, { do: "beside", branch: -1 }, { do: "turn", branch: 0 }]);
  tell({ branches: [], beside: null }, 3);
  assert.ok(find(".gv-pair").hidden);
  stop();
});
