// The text of a run: a long prompt, and what of a recording is shown.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { HEAD, press, render, stageNews, step } from "./fixtures.js";

const STEPS = [step("a"), step("b"), step("c")];

function open(news) {
  const page = render(stage, news);
  return { ...page, text: (selector) => page.find(selector).textContent };
}

test("of a long prompt the last question and the end are shown, and a press shows all", () => {
  const asked = `user↵${"Ada is 36 years old. ".repeat(6)}Answer only with JSON.`;
  const parts = ["", "<|im_start|>", `system↵${"You are helpful. ".repeat(9)}`, "<|im_end|>", "↵", "<|im_start|>", asked, "<|im_end|>", "↵", "<|im_start|>", "assistant↵"];
  const { all, text, find, stop } = open(stageNews(STEPS, 1, { head: { ...HEAD, prompt: parts.join(""), parts } }));
  assert.match(text(".gv-prompt"), /^…im_startuser↵Ada is 36.*….*with JSON\.im_end↵im_startassistant↵$/);
  assert.ok(text(".gv-prompt").length < 90);
  all(".gv-prompt-more")[0].click();
  assert.equal(text(".gv-prompt"), parts.join("").replaceAll("<|", "").replaceAll("|>", ""));
  assert.equal(find(".gv-prompt-more"), null);
  stop();
  const plain = open(stageNews(STEPS, 1, { head: { ...HEAD, prompt: `${"piano ".repeat(40)}JSON:↵` } }));
  assert.match(plain.text(".gv-prompt"), /^piano piano .*….*piano .*JSON:↵$/);
  plain.stop();
});

test("a recording marks the token that it will draw and counts all steps, but shows none before it is drawn", () => {
  const { all, text, root, stop } = open(stageNews(STEPS, 1, { head: { ...HEAD, source: "RECORDED", live: false } }));
  assert.match(text(".gv-words"), new RegExp(`^step 1 of ${STEPS.length} `));
  const hidden = () => all(".gv-chip").map((node) => node.classList.contains("gv-unseen"));
  assert.deepEqual(hidden(), STEPS.map((_, place) => place > 0));
  assert.equal(all(".gv-row.gv-chosen").length, 1);
  press(root, "ArrowRight");
  press(root, "ArrowLeft");
  assert.deepEqual(hidden(), STEPS.map((_, place) => place > 1), "what was seen stays");
  stop();
});
