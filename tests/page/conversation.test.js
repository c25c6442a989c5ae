import assert from "node:assert/strict";
import { test } from "node:test";

import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { frame, HOSTILE, newModel, press, render, stageNews, step } from "./fixtures.js";

const STEPS = [step("a"), step("b"), step("c")];

test("results of tools can be changed before the model reads them, and news that are no news leave what was typed", () => {
  const results = [["add {}", "3", false], [HOSTILE, "error: no", true]];
  const { model, all, find, root, stop } = render(stage, stageNews(STEPS, 3, { ended: true, results }));
  const boxes = () => all(".gv-result textarea");
  assert.deepEqual(boxes().map((node) => node.value), ["3", "error: no"]);
  assert.equal(find(".gv-result script"), null);
  boxes()[0].focus();
  boxes()[0].value = "41";
  boxes()[0].dispatchEvent(new Event("input"));
  press(boxes()[0], "ArrowLeft");
  assert.equal(root.dataset.cursor, "3", "letters are letters in a box");
  model.tell({ ...stageNews([], 3, { ended: true, results }), number: 2, from: 3 });
  frame();
  find(".gv-results-send").click();
  assert.deepEqual(model.asked, [{ do: "answer", texts: ["41", "error: no"] }]);
  model.tell({ ...stageNews([], 0, { results: [] }), number: 3, from: 0 });
  frame();
  assert.ok(find(".gv-results").hidden);
  stop();
});

const TURNS = [
  { said: ["", "<tool_call>", `{"name": "add"}${HOSTILE}`], read: ["", "<tool_response>", "3", "</tool_response>", ""] },
  { said: ["never shown, as the steps are"], read: [] },
  { said: ["So it is."], read: [] },
];

test("the turns of a conversation are one text: a press on another turn goes there", () => {
  const news = stageNews(STEPS, 1);
  const { model, all, find, stop } = render(stage, { ...news, head: { ...news.head, talk: { turns: TURNS, now: 1 } } });
  assert.deepEqual(all(".gv-tape > *").map((node) => node.className), ["gv-prompt", "gv-talk", "gv-chips", "gv-talk"]);
  assert.equal(find(".gv-talk").textContent, `turn 1<tool_call>{"name": "add"}${HOSTILE}<tool_response>3</tool_response>turn 2`);
  assert.deepEqual(all(".gv-talk .gv-special").length, 3);
  assert.equal(find(".gv-other-turn script"), null);
  assert.equal(all(".gv-turn-now").length, 1);
  assert.equal(all(".gv-chip").length, 3);
  const [first, last] = all(".gv-other-turn");
  assert.equal(last.textContent, "turn 3So it is.");
  first.click();
  press(last, "Enter");
  press(last, " ");
  assert.deepEqual(model.asked, [0, 2, 2].map((turn) => ({ do: "visit", turn, cursor: 0 })), "and space does not play");
  stop();
});

test("a recording plays the turn that is pressed", () => {
  const page = (steps, now) => ({ ...stageNews(steps, 0), number: undefined, head: { ...stageNews(steps, 0).head, live: false, talk: { turns: TURNS.slice(0, 2), now } } });
  const pages = [page(STEPS, 0), page([step("x"), step("y")], 1)];
  const saved = { ...pages[0], pages, moves: { '{"do":"visit","turn":1,"cursor":0}': 1, '{"do":"visit","turn":0,"cursor":0}': 0 } };
  const model = { ...newModel(saved), get: (name) => ({ saved, recorded: true })[name] };
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  const stop = stage.default.render({ model, el });
  const root = el.firstElementChild;
  const words = () => [root.dataset.cursor, ...[...el.querySelectorAll(".gv-chip .gv-name")].map((node) => node.textContent)];
  press(root, "ArrowRight");
  press(root, "ArrowRight");
  assert.deepEqual(words(), ["2", "a", "b", "c"]);
  el.querySelector(".gv-other-turn").click();
  assert.deepEqual(words(), ["0", "x", "y"]);
  press(root, "ArrowRight");
  assert.deepEqual(words(), ["1", "x", "y"]);
  el.querySelector(".gv-other-turn").click();
  assert.deepEqual(words(), ["0", "a", "b", "c"]);
  stop();
});

test("a special token that the machine names is a chip in the text, in the bars and in the tip", () => {
  const rows = [[7, "<think>", 0.5, 0.9, true, "0.50", "0.90"], [8, "<think>", 0.4, 0.1, true, "0.40", "0.10"]];
  const { all, stop } = render(stage, stageNews([step("<think>", { token: 7, rows, names: [7] }), step("<think>", { token: 8, rows, names: [7] })], 2));
  assert.deepEqual(all(".gv-chip").map((node) => node.querySelectorAll(".gv-special").length), [1, 0]);
  assert.deepEqual(all("button.gv-row").map((node) => node.querySelectorAll(".gv-special").length).slice(0, 2), [1, 0]);
  stop();
});
