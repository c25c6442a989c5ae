import assert from "node:assert/strict";
import { test } from "node:test";

import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { frame, render, stageNews, step } from "./fixtures.js";

const STEPS = [step("a"), step("b"), step("c")];
const EDIT = { state: "runs", error: "", kind: "regex", text: "a", rejects: null, place: null };

function open(edit) {
  const page = render(stage, stageNews(STEPS, 2, { edit }));
  return { ...page, text: (selector) => page.find(selector).textContent, chips: () => page.all(".gv-chip") };
}

test("the box sends its text at a pause, and says what the kernel answered", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const edit = { state: "wrong", error: "regex line 1, column 2: no\n  a(\n   ^", kind: "regex", text: "a(", rejects: null, place: null };
  const { model, find, text, stop } = open(edit);
  assert.equal(text(".gv-edit-error p"), "regex line 1, column 2: no");
  assert.equal(text(".gv-edit-error pre"), "  a(\n   ^");
  find("textarea").value = "a()";
  find("textarea").dispatchEvent(new Event("input"));
  context.mock.timers.tick(340);
  assert.deepEqual(model.asked, []);
  context.mock.timers.tick(20);
  assert.deepEqual(model.asked, [{ do: "edit", kind: "regex", text: "a()" }]);
  stop();
});

test("of an emptied box it says that the constraint before runs", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { model, find, text, stop } = open(EDIT);
  assert.equal(text(".gv-edit-fate"), "runs");
  find("textarea").value = " ";
  find("textarea").dispatchEvent(new Event("input"));
  context.mock.timers.tick(360);
  assert.equal(text(".gv-edit .gv-edit-fate"), "the one before runs on");
  assert.deepEqual(model.asked, []);
  stop();
});

test("the box offers each language, Lark too", () => {
  const { model, all, stop } = open(EDIT);
  const lark = all(".gv-edit button").find((node) => node.textContent === "Lark");
  lark.click();
  assert.deepEqual(model.asked, [{ do: "edit", kind: "lark", text: "a" }]);
  stop();
});

test("a rejected token is crossed out and can be gone back to", () => {
  const edit = { state: "waits", error: "", kind: "regex", text: "a", rejects: ["b", "not here"], place: 1 };
  const { model, chips, find, stop } = open(edit);
  assert.deepEqual(chips().map((node) => node.classList.contains("gv-rejected")), [false, true, false]);
  find(".gv-edit-back").click();
  assert.deepEqual(model.asked, [{ do: "go_back" }]);
  stop();
});

test("what somebody types is kept, whatever the kernel says meanwhile", () => {
  const { model, find, stop } = open(EDIT);
  const box = find("textarea");
  assert.equal(box.value, "a");
  box.focus();
  box.value = "ab";
  box.dispatchEvent(new Event("input"));
  model.tell({ ...stageNews([], 2), number: 2, from: 3, edit: { ...EDIT, text: undefined, state: "wrong" } });
  model.tell({ ...stageNews([], 2), number: 3, from: 3, edit: EDIT });
  frame();
  assert.equal(box.value, "ab");
  assert.equal(find("textarea"), box);
  stop();
});
