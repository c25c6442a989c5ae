import assert from "node:assert/strict";
import { test } from "node:test";

import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { drawing, frame, HEAD, HOSTILE, press, render, stageNews, step } from "./fixtures.js";

const STEPS = [step("a"), step("b"), step("c")];
const NEXT = step("d", { words: "not drawn yet", rows: [[7, "d", 0.3, 0.6, true, "0.30", "0.60"], [8, "no", 0.2, 0, false, "0.20", "forbidden"]] });

function open(news = stageNews(STEPS, 2)) {
  const page = render(stage, news);
  const button = (name) => page.all("button").find((node) => node.getAttribute("aria-label") === name);
  return { ...page, button, text: (selector) => page.find(selector).textContent, chips: () => page.all(".gv-chip") };
}

test("it says hello, and shows what the notebook kept", () => {
  const { model, text, stop } = open();
  assert.deepEqual(model.said, [{ do: "hello" }]);
  assert.equal(text(".gv-words"), "step 2 of 3 · “b” sampled");
  assert.equal(text(".gv-badge"), "● LIVE");
  stop();
});

test("the distribution of the next token is shown before it is taken, with the token that is drawn marked", () => {
  const { model, all, find, text, stop } = open(stageNews(STEPS, 3, { next: NEXT }));
  const said = () => all("button.gv-row:not([hidden]) .gv-said").map((node) => node.textContent);
  const marked = () => all(".gv-row.gv-chosen .gv-name").map((node) => node.textContent);
  assert.deepEqual([said(), marked()], [["0.60", "0"], ["d"]]);
  assert.ok(!text(".gv-strip").includes("d0"), "the text does not say what will come");
  find("[aria-label='one step back']").click();
  assert.deepEqual([said()[0], marked()], ["0.90", ["c"]]);
  assert.match(text("[data-slot='next'] .gv-panel-head"), /token 3/);
  model.tell({ ...stageNews([NEXT], 4, { ended: true }), number: 2, from: 3, turn: 1 });
  frame();
  assert.deepEqual([said()[0], marked()], ["0.60", ["d"]]);
  assert.match(text("[data-slot='next'] .gv-panel-head"), /the last draw/);
  stop();
});

test("a special token of a chat prompt is a chip, the same characters in a text are not, and so is the EOS of the run", () => {
  const parts = ["", "<|im_start|>", "user↵<|im_start|>?", HOSTILE, ""];
  const steps = [step("<|im_end|>"), step("<|im_end|>", { end: "eos" })];
  const { all, text, find, model, stop } = open(stageNews(steps, 2, { head: { ...HEAD, prompt: parts.join(""), parts } }));
  const special = () => all(".gv-special").map((node) => [node.getAttribute("role"), node.getAttribute("aria-label"), node.textContent]);
  assert.deepEqual(special(), [["img", "special token <|im_start|>", "im_start"], ["img", `special token ${HOSTILE}`, HOSTILE], ["img", "special token <|im_end|>", "im_end"]]);
  assert.equal(text(".gv-prompt"), `im_startuser↵<|im_start|>?${HOSTILE}`);
  assert.equal(find(".gv-prompt script"), null);
  model.tell({ ...stageNews([], 2, { head: { ...HEAD, prompt: "<|im_start|>" } }), number: 2, from: 2 });
  frame();
  assert.deepEqual([special(), text(".gv-prompt")], [[], "<|im_start|>"], "a plain prompt looks as before");
  stop();
});

test("the page steps among the known steps by itself, and an older message does not move it", () => {
  const { model, root, stop } = open();
  press(root, "ArrowLeft");
  press(root, "ArrowLeft");
  assert.equal(root.dataset.cursor, "0", "no answer is needed");
  assert.deepEqual(model.asked, [{ do: "go", cursor: 1, turn: 1 }, { do: "go", cursor: 0, turn: 2 }]);
  model.tell({ ...stageNews([], 1), number: 2, from: 3, turn: 1 });
  frame();
  assert.equal(root.dataset.cursor, "0", "that message is about an earlier move");
  model.tell({ ...stageNews([], 3), number: 3, from: 3, turn: 2 });
  frame();
  assert.equal(root.dataset.cursor, "3", "the kernel moves the cursor too");
  stop();
});

test("a forced text is passed in one go, forward and back", () => {
  const forced = (label) => step(label, { how: "forced" });
  const { model, chips, button, stop } = open(stageNews([step("a"), forced("b"), forced("c"), forced("d"), step("e")], 0));
  const cursor = () => chips().findIndex((chip) => chip.classList.contains("gv-now")) + 1;
  const forward = [0, 0, 0].map(() => (button("one step on").click(), cursor()));
  assert.deepEqual(forward, [1, 4, 5]);
  const back = [0, 0, 0].map(() => (button("one step back").click(), cursor()));
  assert.deepEqual(back, [4, 1, 0]);
  assert.deepEqual(model.said.filter(({ do: what }) => what === "step"), [], "all of it is known");
  stop();
});

test("a run that was left stands below the text, and a press returns to it", () => {
  const { model, find, text, stop } = open(stageNews(STEPS, 1, { branches: [[1, 2, HOSTILE]] }));
  assert.match(text(".gv-branches"), /other run.*2/);
  assert.equal(find(".gv-branches script"), null);
  find(".gv-branch").click();
  assert.deepEqual(model.asked, [{ do: "turn", branch: 0 }]);
  stop();
});

test("a step shows its token, its distribution, its legal mass and its times", () => {
  const { text, all, find, chips, stop } = open();
  assert.deepEqual(chips().map((node) => node.querySelector(".gv-name").textContent), ["a", "b", "c"]);
  assert.deepEqual(all("button.gv-row:not([hidden]) .gv-said").map((node) => node.textContent), ["0.90", "0"]);
  assert.deepEqual([text(".gv-legal"), text(".gv-removed"), text(".gv-scale b")], ["3 of 4,096 legal", "removed 50%", "× 1/Z = × 2"]);
  find("[aria-label='bars'] [data-name='cost']").click();
  assert.match(text(".gv-cost"), /forward 1\.0 ms.*mask 0\.2 ms.*a full bar is 1\.3 ms/);
  stop();
});

test("the cursor marks one token, and those ahead of it are pale", () => {
  const { chips, all, find, stop } = open();
  find("[aria-label='bars'] [data-name='odds']").click();
  assert.deepEqual(chips().map((node) => [node.classList.contains("gv-now"), node.classList.contains("gv-ahead")]), [[false, false], [true, false], [false, true]]);
  assert.equal(all(".gv-timebars .gv-now").length, 1);
  stop();
});

test("a message moves the cursor and replaces the steps from a place on", () => {
  const { model, chips, text, root, stop } = open();
  const [first] = chips();
  model.tell({ ...stageNews([], 3), number: 2, from: 1, add: [step("x", { how: "inserted" }), step("y")] });
  frame();
  assert.deepEqual(chips().map((node) => node.textContent), ["a0.90", "xinserted", "y0.90"]);
  assert.equal(chips()[0], first, "what stays is the same node");
  assert.equal(root.dataset.cursor, "3");
  assert.match(text(".gv-words"), /^step 3 of 3/);
  stop();
});

test("it answers when it has painted, once for several messages", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { model, stop } = open();
  for (const number of [2, 3]) model.tell({ ...stageNews([], 1), number, from: 3 });
  frame();
  context.mock.timers.tick(40);
  assert.deepEqual(model.said.filter((content) => content.do === "painted"), [{ do: "painted", number: 3 }]);
  stop();
});

test("it warns when the kernel is silent, and not once it answers", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const silent = open();
  context.mock.timers.tick(2500);
  assert.match(silent.text(".gv-note"), /The kernel does not answer/);
  silent.stop();
  const answered = open();
  answered.model.tell({ ...stageNews([], 1), from: 3 });
  context.mock.timers.tick(3000);
  assert.equal(answered.find(".gv-note").hidden, true);
  answered.stop();
});

test("without its kernel the known steps are walked and played, and nothing new is taken", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { model, root, text, find, stop } = open();
  model.restart();
  assert.match(text(".gv-note"), /The kernel was restarted or shut down/);
  assert.match(text(".gv-badge"), /RECORDED/);
  const places = ["Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight"].map((key) => {
    press(root, key);
    return root.dataset.cursor;
  });
  assert.deepEqual(places, ["0", "1", "2", "1", "3", "3"]);
  assert.ok(find(".gv-play").disabled && find(".gv-reset").disabled && find("input[type=number]").disabled);
  press(root, "Home");
  press(root, " ");
  assert.equal(root.dataset.playing, "true");
  for (let tick = 0; tick < 3; tick++) context.mock.timers.tick(250);
  assert.deepEqual([root.dataset.cursor, root.dataset.playing], ["3", "false"]);
  stop();
});

test("a kernel that is lost without a word is noticed at the next press", () => {
  const { model, root, text, stop } = open();
  model.listeners.delete("comm_live_update");
  model.restart();
  assert.equal(text(".gv-note"), "");
  press(root, "ArrowLeft");
  assert.match(text(".gv-note"), /The kernel was restarted or shut down/);
  stop();
});

test("every control that has the focus keeps its keys from JupyterLab", () => {
  const { all, root, stop } = open();
  for (const control of all("button, input, textarea, [tabindex]")) {
    control.dispatchEvent(new Event("focusin", { bubbles: true }));
    assert.equal(control.getAttribute("data-lm-suppress-shortcuts"), "true", control.className);
  }
  assert.equal(root.getAttribute("data-lm-suppress-shortcuts"), "true");
  stop();
});

test("after it is taken off the page it hears and says nothing", () => {
  const { model, stop } = open();
  stop();
  assert.equal(model.listeners.size, 0);
});

test("keys become messages and stay on the stage", () => {
  const { model, root, stop } = open();
  for (const key of ["ArrowRight", "ArrowLeft", " ", "Home", "End", "r"]) assert.ok(press(root, key).defaultPrevented, key);
  assert.deepEqual(model.asked, [
    { do: "go", cursor: 3, turn: 1 }, { do: "go", cursor: 2, turn: 2 }, { do: "play" }, { do: "go", cursor: 0, turn: 3 }, { do: "end" }, { do: "reset" },
  ]);
  for (const options of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) assert.ok(!press(root, "r", options).defaultPrevented);
  assert.ok(!press(root, "x").defaultPrevented);
  stop();
});

test("digits take the token of a row, and a digit without a row does nothing", () => {
  const { model, root, stop } = open();
  press(root, "2");
  press(root, "9");
  assert.deepEqual(model.asked, [{ do: "choose", token: 8, cursor: 2 }]);
  stop();
});

test("letters typed into a box are letters", () => {
  const edit = { state: "runs", error: "", kind: "regex", text: "a+", rejects: null, place: null };
  const { model, find, stop } = open(stageNews(STEPS, 2, { edit }));
  for (const key of ["r", " ", "ArrowLeft", "1"]) assert.ok(!press(find("textarea"), key).defaultPrevented);
  assert.ok(!press(find(".gv-controls .gv-seed"), "1").defaultPrevented);
  assert.deepEqual(model.asked, []);
  stop();
});

test("space on a button presses that button alone", () => {
  const { model, button, stop } = open();
  assert.ok(!press(button("one step on"), " ").defaultPrevented);
  assert.deepEqual(model.asked, []);
  stop();
});

test("at the end there is no step on, at the prompt none back", () => {
  const end = open(stageNews(STEPS, 3, { ended: true }));
  press(end.root, "ArrowRight");
  assert.ok(end.button("one step on").disabled && end.button("play").disabled);
  assert.deepEqual(end.model.asked, []);
  end.stop();
  const prompt = open(stageNews([], 0));
  assert.ok(prompt.button("one step back").disabled);
  assert.match(prompt.text(".gv-words"), /no step yet/);
  assert.ok(prompt.find(".gv-blank"));
  prompt.stop();
  const first = open(stageNews([], 0, { next: NEXT }));
  assert.equal(first.find(".gv-blank"), null, "the prompt has a distribution too");
  first.stop();
});

test("a press on a token goes to the place before it", () => {
  const { model, chips, stop } = open();
  chips()[0].click();
  assert.deepEqual(model.asked, [{ do: "go", cursor: 0, turn: 1 }]);
  stop();
});

test("a recording and a run that is followed cannot be warmed, and no bar asks to be taken", () => {
  const { find, text, stop } = open({ ...stageNews(STEPS, 1), head: { ...stageNews([], 0).head, source: "RECORDED", live: false } });
  assert.ok(find(".gv-controls .gv-seed").disabled);
  assert.doesNotMatch(text("[data-slot='next']"), /take that token/);
  assert.match(open(stageNews(STEPS, 1)).text("[data-slot='next']"), /take that token/);
  stop();
});

test("hostile text stays text wherever it stands", () => {
  const edit = { state: "waits", error: HOSTILE, kind: "regex", text: HOSTILE, rejects: [HOSTILE, HOSTILE], place: 0 };
  const why = { label: HOSTILE, reason: HOSTILE, rows: [[HOSTILE, HOSTILE, HOSTILE, true]], stack: [HOSTILE] };
  const steps = [step(HOSTILE, { state: HOSTILE, stack: [HOSTILE], words: HOSTILE, drawn: HOSTILE, after: HOSTILE })];
  const news = stageNews(steps, 1, { edit, why, note: HOSTILE });
  const { root, find, chips, stop } = open({ ...news, head: { ...news.head, prompt: HOSTILE, about: HOSTILE, constraint: HOSTILE } });
  chips()[0].dispatchEvent(new Event("pointerover", { bubbles: true }));
  assert.equal(find("img, script"), null);
  assert.ok(root.textContent.split(HOSTILE).length > 12);
  stop();
});

test("why a token is illegal is told byte by byte", () => {
  const why = { label: "}x", reason: "x cannot come", rows: [["}", "q1", "→ q2", false], ["x", "q2", "expected ,", true]], stack: ["object", "root"] };
  const { all, text, stop } = open(stageNews(STEPS, 2, { why }));
  assert.deepEqual(all(".gv-byte").map((byte) => byte.textContent), ["}", "x ✕"]);
  assert.match(text(".gv-why"), /in q2 · expected , · stack, top first: object, root/);
  stop();
});

test("the machine lights where the step led, and its arrows", () => {
  const steps = [step("ab", { path: [0, 1, 2] })];
  const more = { machine: { initial: 0, drawing: 0, stack: false }, drawings: { 0: { shapes: drawing(4), words: "4 states" } } };
  const { all, text, stop } = open(stageNews(steps, 1, more));
  assert.deepEqual(all(".gv-over .gv-state.gv-lit").map((node) => node.dataset.state), ["2"]);
  assert.deepEqual(all(".gv-over .gv-state.gv-met").map((node) => node.dataset.state), ["0", "1"]);
  assert.deepEqual(all(".gv-over .gv-arrow.gv-on").map((node) => [node.dataset.arrow, node.textContent]), [["0-1", "1"], ["1-2", "2"]]);
  assert.equal(text(".gv-machine-now"), "q0 → q1 → q2");
  stop();
});

const stackState = (rules) => ({
  now: [1], back: [], calls: [], last: [], rules: ["root"], depth: rules.length, ways: "", ground: "bottom",
  frames: rules.map((rule, place) => [rules.length - place, rule, "x"]),
});

test("frames are pushed and popped, and the frame that stays is the same node", () => {
  const [machine, drawings] = [{ initial: 0, drawing: 0, stack: true }, { 0: { shapes: drawing(4), words: "" } }];
  const way = (from, to) => ({ path: [from, to], taken: [[]], bytes: ["{"] });
  const stacks = { 0: stackState(["root"]), 1: stackState(["pair", "root"]) };
  const { model, all, stop } = open(stageNews([step("{", way(0, 1))], 0, { machine, drawings, stacks }));
  const rules = () => all(".gv-frame-card b").map((node) => node.textContent);
  assert.deepEqual(rules(), ["root"]);
  const [root] = all(".gv-frame-card");
  model.tell({ ...stageNews([], 1), number: 2, from: 1 });
  frame();
  assert.deepEqual(rules(), ["pair", "root"]);
  assert.equal(all(".gv-frame-card")[1], root);
  model.tell({ ...stageNews([], 0), number: 3, from: 1 });
  frame();
  assert.deepEqual(rules(), ["root"]);
  stop();
});

test("tokens that a step up to the cursor takes back are struck through", () => {
  const steps = [[], [], [0, 1], [], [3]].map((back) => step("a", { back }));
  const struck = ({ chips }) => chips().flatMap((node, place) => (node.classList.contains("gv-gone") ? [place] : []));
  for (const [cursor, gone] of [[2, []], [3, [0, 1]], [5, [0, 1, 3]]]) {
    const page = open(stageNews(steps, cursor));
    assert.deepEqual(struck(page), gone);
    page.stop();
  }
});
