import assert from "node:assert/strict";
import { test } from "node:test";

import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { frame, HEAD, HOSTILE, press, render, stageNews, step } from "./fixtures.js";

const STEPS = [step("a"), step("b"), step("c")];
const NEXT = step("d", { words: "not drawn yet" });

function open(news) {
  const page = render(stage, news);
  return { ...page, text: (selector) => page.find(selector).textContent, named: (label) => page.find(`[aria-label='${label}']`) };
}

test("the quiz hides the next token until the person has answered, and keeps the score", () => {
  const { root, all, find, text, stop } = open(stageNews(STEPS, 3, { next: NEXT }));
  press(root, "q");
  assert.match(text(".gv-quiz"), /Is the legal mass Z of the next token below 0.5/);
  assert.equal(root.dataset.quiz, "mass");
  all(".gv-choice").find((node) => node.textContent === "below 0.5").click();
  assert.equal(root.dataset.quiz, undefined, "the panels are shown");
  assert.match(text(".gv-quiz"), /✗ No: “0.5 or above”.*0 of 1 right/);
  press(root, "ArrowLeft");
  assert.equal(text(".gv-quiz > span"), "Which of these tokens are legal next?");
  assert.deepEqual(all(".gv-choice").map((node) => node.textContent), ["c", "no"]);
  all(".gv-choice")[0].click();
  all(".gv-quiz .gv-key").at(-1).click();
  assert.match(text(".gv-quiz"), /✓ Right: “c”.*1 of 2 right/);
  press(root, "ArrowRight");
  assert.equal(root.dataset.quiz, undefined, "an answered question is not asked again");
  press(root, "q");
  assert.equal(find(".gv-quiz"), null);
  stop();
});

test("a mask that removes next to nothing is asked for its Z, and a forced token is not asked about", () => {
  const [legal] = step("a").rows;
  const light = step("b", { rows: [legal], mass: 0.9995 });
  const forced = step("c", { rows: [legal], mass: 1, how: "forced" });
  const { root, text, stop } = open(stageNews([...STEPS, light, forced], 3));
  press(root, "q");
  assert.match(text(".gv-quiz"), /^Is the legal mass Z of the next token below 0.5/);
  assert.equal(root.dataset.quiz, "mass");
  press(root, "ArrowRight");
  assert.match(text(".gv-quiz"), /^No question about this step/);
  stop();
});

test("the quiz asks for the top of the stack where the rules differ, and shows their names as text", () => {
  const [plain] = step("a").rows;
  const stacked = [["a", "object"], ["b", HOSTILE]].map(([label, top]) => step(label, { stack: [top, "root"], rows: [plain], mass: 1 }));
  const { root, all, find, text, stop } = open(stageNews(stacked, 1));
  press(root, "q");
  assert.equal(root.dataset.quiz, "stack");
  assert.deepEqual(all(".gv-choice").map((node) => node.textContent), [HOSTILE, "object"]);
  assert.equal(find(".gv-quiz img"), null);
  all(".gv-choice")[0].click();
  assert.match(text(".gv-quiz"), /✓ Right/);
  stop();
});

test("without a mask and without a stack there is nothing to ask, and neither help nor tour speaks of it", () => {
  const [legal] = step("a").rows;
  const free = step("a", { rows: [legal], mass: 1, stack: [] });
  const { root, find, all, named, stop } = open(stageNews([free, free], 1));
  assert.ok(named("ask before each step").hidden);
  press(root, "?");
  assert.ok(find(".gv-keys-help").open);
  assert.deepEqual(all(".gv-help p").map((node) => node.textContent).filter((text) => /illegal|ask/.test(text)), []);
  all("button").find((node) => node.textContent === "take the tour").click();
  assert.ok(!find(".gv-keys-help").open, "the help does not lie over the tour");
  press(root, "ArrowRight");
  assert.match(find(".gv-tour").textContent, /^2 of.*Press ← /);
  stop();
});

test("special tokens that nobody can write are no mask: a run without a constraint asks and explains nothing about one", () => {
  const steps = [step("a"), step("b")];
  const { root, find, all, named, stop } = open(stageNews(steps, 1, { head: { ...HEAD, free: true } }));
  assert.ok(named("ask before each step").hidden);
  press(root, "q");
  assert.equal(find(".gv-quiz"), null);
  press(root, "?");
  assert.deepEqual(all(".gv-help p").map((node) => node.textContent).filter((text) => /illegal|ask|mask/.test(text)), []);
  all("button").find((node) => node.textContent === "take the tour").click();
  press(root, "ArrowRight");
  assert.match(find(".gv-tour").textContent, /^2 of.*Press ← /);
  stop();
});

test("the tour points at one control and goes on when it was used", () => {
  const { root, find, text, all, stop } = open(stageNews(STEPS, 1));
  all("button").find((node) => node.textContent === "take the tour").click();
  assert.match(text(".gv-tour"), /^1 of \d+Press → /);
  assert.equal(root.dataset.here, "step");
  press(root, "ArrowRight");
  assert.match(text(".gv-tour"), /^2 of/);
  all(".gv-tour button").find((node) => node.textContent === "next").click();
  assert.match(text(".gv-tour"), /Press ← /);
  press(root, "ArrowLeft");
  assert.match(text(".gv-tour"), /^4 of/);
  all(".gv-tour button").find((node) => node.textContent === "end the tour").click();
  assert.equal(find(".gv-tour"), null);
  assert.equal(root.dataset.here, undefined);
  stop();
});

test("a stop of the tour is passed by every way that does what it asks", () => {
  const { model, root, text, all, stop } = open(stageNews(STEPS, 0));
  const tell = (number, cursor, more) => {
    model.tell({ ...stageNews([], cursor, more), number, from: 3, turn: number });
    frame();
  };
  all("button").find((node) => node.textContent === "take the tour").click();
  press(root, "1");
  tell(2, 1);
  assert.match(text(".gv-tour"), /^2 of .*the bin.*✕/, "the first token was taken with its digit");
  press(root, "2");
  tell(3, 1, { why: { label: "no", reason: "", rows: [], stack: [] } });
  assert.match(text(".gv-tour"), /^3 of .*Press ←/);
  press(root, "Home");
  press(root, "ArrowRight");
  assert.match(text(".gv-tour"), /^5 of .*Press space/);
  press(root, " ");
  press(root, " ");
  tell(4, 1, { playing: false });
  assert.match(text(".gv-tour"), /^6 of .*Press a token of the text/, "also where no frame was painted between play and pause");
  stop();
});

test("an accepted draft has a tick, and a rejected one is struck out in the chip that came instead", () => {
  const steps = [step("a", { how: "accepted", maskedText: "0.9" }), step("b", { how: "sampled", maskedText: "0.5", dropped: "<i>x" })];
  const { all, stop } = open(stageNews(steps, 2));
  const chips = () => all(".gv-chip");
  assert.deepEqual(chips().map((chip) => chip.querySelector("small").textContent), ["✓ 0.9", "<i>x 0.5"]);
  assert.equal(chips()[1].querySelector("del").textContent, "<i>x");
  stop();
});
