// A prediction: the form, the locked answer and the reveal. And the score.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as predict from "../../guidedviz/widgets/page/kinds/predict.js";
import * as score from "../../guidedviz/widgets/page/kinds/score.js";
import { drawing, frame, HOSTILE, newModel, press, render } from "./fixtures.js";

const OPEN = {
  question: "What does `a|b` need?", choices: ["a DFA", "a stack", HOSTILE], hint: "", answer: null, said: "", truth: "", right: false, words: "",
  parts: [], note: "",
};
const TOLD = {
  ...OPEN, answer: "a stack", said: "a stack", truth: "a DFA", words: "✗ Your answer: a stack. True: a DFA.",
  parts: [["text", "See `q0`.", ""], ["print", `1\n${HOSTILE}`, ""], ["drawing", "two states", drawing(2)]],
};
const NUMBER = { ...OPEN, question: "How many?", choices: [], hint: "Up to 2 away counts as right." };

function submit(find) {
  find("form").dispatchEvent(new window.Event("submit", { bubbles: true, cancelable: true }));
}

test("nothing is said before a choice is made, then exactly this choice", () => {
  const { model, find, all, stop } = render(predict, OPEN);
  submit(find);
  assert.deepEqual(model.asked, []);
  all("input[type=radio]")[1].checked = true;
  submit(find);
  assert.deepEqual(model.asked, [{ do: "commit", answer: "a stack" }]);
  stop();
});

test("choices are one radio group with labels, and each widget has its own group", () => {
  const names = [0, 1].map(() => {
    const { all, find, stop } = render(predict, OPEN);
    const radios = all("label > input[type=radio]");
    assert.equal(radios.length, 3);
    assert.equal(find("fieldset > legend").textContent, "What does a|b need?");
    assert.equal(find("legend code").textContent, "a|b");
    stop();
    return radios[0].name;
  });
  assert.notEqual(names[0], names[1]);
});

test("a number is sent as a number, and its tolerance is said", () => {
  const { model, find, stop } = render(predict, NUMBER);
  assert.match(find("form").textContent, /How many\?Up to 2 away/);
  assert.equal(find("label input").type, "number");
  assert.equal(find("label input").min, "0", "the browser refuses a number below 0 and says so");
  submit(find);
  find("input").value = "0";
  submit(find);
  assert.deepEqual(model.asked, [{ do: "commit", answer: 0 }]);
  stop();
});

test("a locked answer waits for the truth and can no longer be changed", () => {
  const { model, find, all, root, stop } = render(predict, OPEN);
  model.tell({ number: 1, ...OPEN, answer: "a stack", said: "a stack" });
  frame();
  assert.equal(root.dataset.state, "locked");
  assert.equal(all("input, button").length, 0);
  assert.equal(find(".gv-mine").textContent, "●a stackyour answer");
  assert.match(find("[role=status]").textContent, /truth is being computed/);
  stop();
});

test("the truth, what was right, and the reveal unfold; hostile text stays text", () => {
  const { model, find, all, root, stop } = render(predict, OPEN);
  find("input").focus();
  model.tell({ number: 1, ...TOLD });
  frame();
  assert.equal(root.dataset.state, "told");
  assert.equal(document.activeElement, find("[role=status]"), "the focus is not lost with the form");
  assert.deepEqual(all("li").map((node) => node.textContent), ["✓a DFAtrue", "✗a stackyour answer", `○${HOSTILE}`]);
  assert.equal(find(".gv-reveal pre").textContent, `1\n${HOSTILE}`);
  assert.equal(find(".gv-reveal code").textContent, "q0");
  assert.equal(all(".gv-reveal svg").length, 1);
  assert.equal(find("img, script"), null);
  stop();
});

test("marks become a few elements, and all else stays text", () => {
  const marked = { // tests/test_markup.py has the same
    "it is *not* so": "it is <em>not</em> so",
    "the **tenth** of `a*b*`": "the <strong>tenth</strong> of <code>a*b*</code>",
    "2<sup>10</sup> and *2<sup>n</sup>*": "2<sup>10</sup> and <em>2<sup>n</sup></em>",
    "2 * 3 * 4, a*b*c, **, * a*": "2 * 3 * 4, a*b*c, **, * a*",
    "*<img src=x onerror=hack()>*": "<em>&lt;img src=x onerror=hack()&gt;</em>",
    "<sup><b>1</b></sup><sup></sup>": "&lt;sup&gt;&lt;b&gt;1&lt;/b&gt;&lt;/sup&gt;&lt;sup&gt;&lt;/sup&gt;",
  };
  for (const [question, written] of Object.entries(marked)) {
    const { find, stop } = render(predict, { ...OPEN, question });
    assert.equal(find("legend").innerHTML, written);
    stop();
  }
});

test("what is typed stays when the kernel speaks before the commitment", () => {
  const { model, find, stop } = render(predict, NUMBER);
  find("input").value = "7";
  model.tell({ number: 1, ...NUMBER, note: "a warning" });
  frame();
  assert.equal(find("input").value, "7");
  assert.match(find("[role=alert]").textContent, /a warning/);
  stop();
});

test("a notebook that was opened again shows the answer without a kernel and without a warning", () => {
  const { model, find, all, stop } = render(predict, TOLD);
  model.restart();
  assert.match(find("[role=status]").textContent, /True: a DFA/);
  assert.equal(all(".gv-reveal p").length, 1);
  assert.ok(find("[role=alert]").hidden);
  stop();
});

test("after a restart of the kernel the answer that the notebook keeps is given again", async () => {
  const model = newModel(OPEN);
  const kept = [{ kind: "stage", saved: TOLD }, { kind: "predict", saved: { ...TOLD, question: "another" } }, { kind: "predict", saved: TOLD }, {}];
  model.widget_manager = { get_state: async () => ({ state: Object.fromEntries(kept.map((state, place) => [place, { state }])) }) };
  const el = document.createElement("div");
  const stop = predict.default.render({ model, el });
  await new Promise((done) => setTimeout(done, 5));
  assert.deepEqual(model.asked, [{ do: "commit", answer: "a stack" }]);
  stop();
});

test("an answer that the page has shown is given again even if the widget manager lost its widget", async () => {
  const widget_manager = { get_state: () => Promise.reject(new Error("closed")) };
  const asked = [];
  for (const [saved, manager] of [[TOLD, widget_manager], [OPEN, widget_manager], [OPEN, { ...widget_manager }]]) {
    const model = Object.assign(newModel(saved), { widget_manager: manager });
    const stop = predict.default.render({ model, el: document.createElement("div") });
    await new Promise((done) => setTimeout(done, 5));
    asked.push(model.asked);
    stop();
  }
  assert.deepEqual(asked, [[], [{ do: "commit", answer: "a stack" }], []], "each notebook has its own answers");
});

test("an answer is given again where the question comes with the first message", async () => {
  const widget_manager = {};
  predict.default.render({ model: Object.assign(newModel(TOLD), { widget_manager }), el: document.createElement("div") })();
  const model = Object.assign(newModel({}), { widget_manager });
  const stop = predict.default.render({ model, el: document.createElement("div") });
  model.tell({ number: 1, ...OPEN });
  frame();
  await new Promise((done) => setTimeout(done, 5));
  assert.deepEqual(model.asked, [{ do: "commit", answer: "a stack" }]);
  stop();
});

test("a page that plays without a kernel asks nothing", () => {
  const model = { ...newModel(OPEN), get: (name) => ({ saved: OPEN, recorded: true })[name] };
  const el = document.createElement("div");
  predict.default.render({ model, el });
  assert.ok(el.querySelector("form").parentElement.inert);
});

test("keys stay in the widget", () => {
  const { find, root, stop } = render(predict, NUMBER);
  find("input").dispatchEvent(new window.Event("focusin", { bubbles: true }));
  assert.equal(root.dataset.lmSuppressShortcuts, "true");
  assert.equal(find("input").dataset.lmSuppressShortcuts, "true");
  assert.ok(!press(find("input"), "x").defaultPrevented, "letters and digits are typed");
  stop();
});

test("the score follows the answers", () => {
  const { model, find, stop } = render(score, { words: "No predictions yet." });
  model.tell({ number: 1, words: "1 of 1 prediction right." });
  frame();
  assert.equal(find("[role=status]").textContent, "1 of 1 prediction right.");
  stop();
});
