// The page of a run, with a host that answers from a list.

import assert from "node:assert/strict";
import { test } from "node:test";

import learning from "../../guidedviz/widgets/page/stage/learning.js";
import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { frame, HEAD, HOSTILE, press, stageNews, step } from "./fixtures.js";

const BESIDE = { branch: 0, words: "They part after 1 token: …", first: 0, same: 1, runs: [["a", "b"], ["a", "c"]] };
const PAIR = { run: "one", asked: "say ", settings: { temperature: 0.5, seed: 3, top_k: 4, top_p: 1, repetition_penalty: 1 }, other: "two", branches: [[1, 1, "c"]], beside: BESIDE };
const PAUSE = 560;
const settle = (time = 20) => new Promise((done) => setTimeout(done, time));
const kept = new Map([["guidedviz.again", ""]]); // a change has opened this page
let opened = [];
let asked = [];

/** A host whose answers are these, in turn: a refusal, or the parts of a stream. */
function host(...answers) {
  asked = [];
  globalThis.fetch = async (path, { headers, body, signal }) => {
    asked.push([path, headers, JSON.parse(body)]);
    const answer = answers.shift();
    if (answer === "hangs") return new Promise((_, fail) => signal.addEventListener("abort", () => fail(new Error("aborted"))));
    if (answer.ok) return { ok: true, json: async () => answer };
    if (!Array.isArray(answer)) return { ok: false, status: answer.status, json: async () => ({ error: answer }) };
    const found = new Map([["X-Guidedviz-Run", "http://127.0.0.1:1/runs/new"]]);
    return { ok: true, status: 200, headers: found, body: new Blob(answer).stream() };
  };
}

/** The stage of a run on its page. */
function openRun(answerFor, more = {}) {
  const place = document.createElement("div");
  place.dataset.again = JSON.stringify({ ...PAIR, ...more });
  document.body.replaceChildren(place);
  const saved = stageNews([step("a"), step("b")], 1, { head: { ...HEAD, live: false }, number: undefined });
  const known = { saved, recorded: true, open: 1 };
  const model = { get: (name) => known[name], off() {}, ...answerFor(place, saved) };
  const stop = stage.default.render({ model, el: place, load: () => ({ then: (act) => act(learning) }) });
  place.firstElementChild.dispatchEvent(new Event("pointerover"));
  const find = (selector) => place.querySelector(selector);
  const note = async (wait) => {
    await settle(wait);
    frame();
    return find(".gv-note").textContent;
  };
  return { find, note, stop, all: (selector) => [...place.querySelectorAll(selector)] };
}

function set(field, value) {
  field.value = value;
  for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
}

test("the page of a run: what is changed is asked of the host, and the page of both runs opens", async () => {
  Object.assign(globalThis, {
    sessionStorage: { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value), removeItem: (name) => kept.delete(name) },
    location: { pathname: "/runs/one", assign: (path) => opened.push(path) },
  });
  await import("../../guidedviz/widgets/page/class/again.js");
  const answerFor = globalThis.guidedvizAgain;
  const GROWS = [`data: {"choices": [{"delta": {"content": ${JSON.stringify(HOSTILE)}}}]}\n\nda`, 'ta: {"choices": [{"text": "x"}]}\n\n', "data: [DONE]\n\n"];

  const { find, all, note, stop } = openRun(answerFor);
  const numbers = all("input[type=number]");
  assert.deepEqual(numbers.map((field) => [field.value, field.disabled]), [["4", false], ["1", false], ["1", false], ["3", false]]);
  assert.equal(find("[data-part=beside] p").textContent, BESIDE.words);
  assert.equal(find(".gv-look").hidden, false);

  host(GROWS);
  set(numbers[0], "2");
  set(find(".gv-temperature input"), "1.5");
  assert.equal(asked.length, 0, "another change may follow");
  await settle(PAUSE);
  const json = { "Content-Type": "application/json" };
  assert.deepEqual(asked, [["/v1/again", json, { run: "one", stream: true, top_k: 2, temperature: 1.5 }]]);
  assert.match(await note(), /^⚠? ?The host decodes the run again: … .*<script>/);
  assert.equal(find("img"), null);
  assert.deepEqual(opened, ["/runs/new/one"]);
  assert.equal(kept.get("guidedviz.again"), "");

  host({ status: 403, where: "run", seen: "a run of another student", expected: "yours", try: "your own" }, ['data: {"error": {"message": "the host failed"}}\n\n']);
  const box = find(".gv-insert input");
  box.value = "no";
  press(box, "Enter");
  assert.match(await note(), /run: a run of another student; expected yours; try: your own/);
  find("[data-token='7']").click();
  assert.match(await note(), /the host failed/);
  assert.deepEqual(asked.map(([, , body]) => body.forced), [{ step: 1, text: "no" }, { step: 1, token: 7 }]);

  const LOOKED = { place: 1, words: ["What it means."], rows: [[HOSTILE, "0.01", 0.9]] };
  host({ ...LOOKED, ok: true });
  find(".gv-look").click();
  assert.equal(await note(), "");
  assert.deepEqual(asked[0], ["/v1/look", json, { run: "one", step: 1 }]);
  assert.match(find(".gv-looked").textContent, /What it means/);
  assert.equal(find("img"), null);

  find(".gv-compare").click();
  await note();
  assert.ok(find(".gv-pair").hidden);
  find(".gv-compare").click();
  await note();
  assert.equal(find(".gv-pair").hidden, false);
  find(".gv-branch").click();
  assert.equal(opened.at(-1), "/runs/two/one");
  stop();
});

test("a change ends the one before; a host with tokens asks for one", async () => {
  const { find, note, stop } = openRun(globalThis.guidedvizAgain);
  assert.ok(find(".gv-pair").hidden, "it is beside the new run only");
  host("hangs", { status: 401, where: "token", seen: "none", expected: "one", try: "it" }, ["data: [DONE]\n\n"]);
  const box = find(".gv-insert input");
  for (const text of ["a", "b"]) {
    box.value = text;
    press(box, "Enter");
  }
  assert.match(await note(), /token: none; expected one; try: it/);
  opened = [];
  document.querySelector(".gv-token input").value = " a-token ";
  document.querySelector(".gv-token").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  await settle();
  assert.deepEqual(asked.map(([, headers, body]) => [headers.Authorization, body.forced.text]), [[undefined, "a"], [undefined, "b"], ["Bearer a-token", "b"]]);
  assert.deepEqual([opened, kept.get("guidedviz.again"), document.querySelector(".gv-token")], [["/runs/new/one"], "a-token", null]);
  stop();
});
