// The teacher's page, as the host serves it, with a host that answers from a list.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { HOSTILE } from "./fixtures.js";

const HTML = readFileSync(new URL("../../guidedviz/widgets/page/class/class.html", import.meta.url), "utf8");
const OPEN = { id: "q1", lab: "03_fsm", text: `Which counts \`{}\`? ${HOSTILE}`, answers: 3, sessions: 2, bars: [["a `stack`", 2], [HOSTILE, 1]] };
const OLD = { id: "q2", lab: "", text: "x".repeat(100), answers: 1, bars: [["7", 1]] };
const PARTS = [["trie", "right"], ["index", "wrong"], ["stack", "open"]];
const PROJECTS = [
  { nickname: "Ada", milestones: PARTS, ratios: [12.4, null, 3100.7] },
  { nickname: HOSTILE, milestones: PARTS.slice(1), ratios: [1, 0.25, 2.345] },
  { nickname: "Bob", milestones: PARTS, ratios: [null, null, null] },
];
const CLASS = {
  facts: `bard · ${HOSTILE}`, run: { steps: 4, followers: 1 }, open: "q1", questions: [OPEN, OLD],
  students: [{ name: HOSTILE, steps: 12, ms: 3.5, ago: 1 }],
  standing: [{ nickname: HOSTILE, lab: "03_fsm", place: "check `advance`", state: "wrong", ago: 600 }],
  projects: PROJECTS,
};
const find = (selector) => document.querySelector(selector);
const texts = (selector) => [...document.querySelectorAll(selector)].map((node) => node.textContent);
const settle = () => new Promise((done) => setTimeout(done, 5));

/** Answers every request with this, as one start of the host; keeps what was asked. */
function host(status, answer, start = "first") {
  const asked = [];
  globalThis.fetch = async (path, options) => {
    asked.push([options.method, path, options.headers, options.body]);
    const headers = new Map([["X-Guidedviz-Start", start]]);
    return { ok: status === 200, headers, json: async () => answer };
  };
  return asked;
}

test("the page of a class: a token, what the host says as text, a choice of the question, and forgetting", async () => {
  document.body.replaceChildren(...new DOMParser().parseFromString(HTML, "text/html").body.children);
  find("#updates").checked = false;
  host(401, { error: { seen: "no token", expected: "a token" } });
  await import("../../guidedviz/widgets/page/class/class.js");
  await settle();
  assert.equal(find("#said").textContent, "no token; expected a token");
  assert.ok(!find("#enter").hidden && find("#class").hidden);

  let asked = host(200, CLASS);
  find("#token").value = " a-token ";
  find("#enter").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  await settle();
  assert.deepEqual(asked, [["GET", "v1/class", { Authorization: "Bearer a-token" }, undefined]]);
  assert.ok(find("#enter").hidden && !find("#class").hidden);
  assert.equal(find("#said").textContent, "");
  assert.equal(find("#facts").textContent, `bard · ${HOSTILE}`);
  assert.equal(find("#run").textContent, "A run is shown to everyone. Steps: 4, students who follow it: 1");
  assert.deepEqual(texts("#students td"), [HOSTILE, "12", "3.5", "1 s ago"]);
  assert.deepEqual(texts("#standing td"), [HOSTILE, "03_fsm", "check advance", "✗ not yet right", "10 min ago"]);
  assert.equal(find("#question").textContent, `Which counts {}? ${HOSTILE}`);
  assert.deepEqual(texts("#question code, #bars code"), ["{}", "stack"]);
  assert.equal(find("#answers").textContent, "3 answers from 2 sessions");
  assert.deepEqual(texts("#bars th"), ["a stack", HOSTILE]);
  assert.deepEqual([...document.querySelectorAll(".bar div")].map((bar) => bar.style.width), ["100%", "50%"]);
  assert.deepEqual(texts("#projects td").slice(0, 3), ["Ada", "1 of 3", "✓\u00a0trie · ✗\u00a0index · ○\u00a0stack"]);
  assert.deepEqual(texts("#projects td").slice(3, 5), [HOSTILE, "0 of 2"]);
  assert.ok(find("#race").hidden, "the teacher has to ask for the board");
  find("#board").checked = true;
  find("#board").dispatchEvent(new Event("change"));
  assert.ok(!find("#race").hidden);
  assert.deepEqual(texts("#ratios td"), [HOSTILE, "1×", "0.25×", "2.3×", "Ada", "12×", "", "3,101×"]);
  assert.equal(find("main img, main script"), null);

  assert.deepEqual(texts("#choice option").slice(1), [`03_fsm: ${OPEN.text.slice(0, 79)}…`, `${"x".repeat(79)}…`]);
  find("#choice").value = "q2";
  find("#choice").dispatchEvent(new Event("change"));
  assert.equal(find("#answers").textContent, "1 answer");

  asked = host(200, { ...CLASS, run: null, students: [], standing: [], projects: [], questions: [], open: "" });
  find("#forget").click();
  await settle();
  assert.deepEqual(asked[0], ["POST", "v1/class/forget", { "Content-Type": "application/json", Authorization: "Bearer a-token" }, "{}"]);
  assert.equal(asked.length, 2);
  assert.match(find("#said").textContent, /^Forgotten/);
  assert.equal(find("#run").textContent, "No run is shown.");
  assert.deepEqual(["bars", "standing", "students", "projects", "ratios"].filter((id) => find(`#${id}-none`).hidden), []);

  host(403, { error: { seen: "a token of another person", expected: "the teacher's" } });
  find("#forget").click();
  await settle();
  assert.match(find("#said").textContent, /another person/);
  assert.ok(find("#enter").hidden, "a class that was shown stays in sight");

  for (const start of ["first", null, "", "first"]) { // a proxy in front says no start
    host(200, CLASS, start);
    find("#updates").dispatchEvent(new Event("change"));
    await settle();
    assert.equal(find("#restarted").textContent, "");
  }
  for (const start of ["second", "second"]) {
    host(200, CLASS, start);
    find("#updates").dispatchEvent(new Event("change"));
    await settle();
    assert.match(find("#restarted").textContent, /^The host restarted/);
  }
});
