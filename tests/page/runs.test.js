// The list of runs, as the host serves it, with a host that answers from a list.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { HOSTILE } from "./fixtures.js";

const HTML = readFileSync(new URL("../../guidedviz/widgets/page/class/runs.html", import.meta.url), "utf8");
const RUN = { name: "a-1", began: 0, enforced: "regex", verdict: "cut", least: 0.0004, step: 3, tokens: 12, model_ms: 2.5, mask_ms: 0.001, text: HOSTILE };
const RUNS = { runs: [RUN, { ...RUN, name: "b/2", enforced: "", verdict: "complete", least: 1, text: "" }, { ...RUN, name: "c" }] };
const find = (selector) => document.querySelector(selector);
const texts = (selector) => [...document.querySelectorAll(selector)].map((node) => node.textContent);
const settle = () => new Promise((done) => setTimeout(done, 5));

function host(ok, answer) {
  const asked = [];
  globalThis.fetch = async (path, options) => {
    asked.push([options.method, path, options.headers, options.body && JSON.parse(options.body)]);
    return { ok, headers: new Map(), json: async () => answer };
  };
  return asked;
}

test("the list of runs: a token, each run as text, a filter, two side by side, and a text from elsewhere", async () => {
  document.body.replaceChildren(...new DOMParser().parseFromString(HTML, "text/html").body.children);
  find("#updates").checked = false;
  host(false, { error: { where: "token", seen: "none", expected: "a token", try: "it" } });
  await import("../../guidedviz/widgets/page/class/runs.js");
  await settle();
  assert.equal(find("#said").textContent, "token: none; expected a token; try: it");
  assert.ok(!find("#enter").hidden && find("#class").hidden);

  let asked = host(true, RUNS);
  find("#token").value = " a-token ";
  find("#enter").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  await settle();
  assert.deepEqual(asked, [["GET", "v1/runs", { Authorization: "Bearer a-token" }, undefined]]);
  assert.deepEqual(texts("#runs tr:first-child td").slice(2), ["regex", "4e-4", "12", "2.50", "1e-3", HOSTILE]);
  assert.deepEqual(texts("#runs th"), ["✂ cut", "✓ complete", "✂ cut"]);
  assert.deepEqual([...document.querySelectorAll("#runs th a")].map((link) => link.getAttribute("href")), ["runs/a-1", "runs/b%2F2", "runs/c"]);
  assert.equal(find("#runs td a").getAttribute("href"), "runs/a-1?step=3");
  assert.equal(find("main img, main script"), null);

  find("#verdict").value = "complete";
  find("#verdict").dispatchEvent(new Event("change"));
  assert.equal(texts("#runs tr").length, 1);
  find("#verdict").value = "";
  find("#verdict").dispatchEvent(new Event("change"));

  const press = (place) => {
    const box = document.querySelectorAll("#runs input")[place];
    box.checked = !box.checked;
    box.dispatchEvent(new Event("change"));
  };
  press(0);
  assert.ok(find("#beside").disabled);
  press(1);
  press(2);
  assert.ok(!find("#beside").disabled);
  assert.deepEqual([...document.querySelectorAll("#runs input")].map((box) => box.checked), [false, true, true]);

  asked = host(true, { run: "http://127.0.0.1:1/runs/xyz", words: "byte 3: no", runs: [] });
  find("#constraint").value = "[0-9]+";
  find("#kind").value = "regex";
  find("#text").value = "12x";
  find("#inspect").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
  await settle();
  assert.deepEqual(asked[0].slice(0, 2), ["POST", "v1/inspect"]);
  assert.deepEqual(asked[0][3], { text: "12x", structured_outputs: { regex: "[0-9]+" } });
  assert.equal(find("#found").textContent, "byte 3: no");
  assert.equal(find("#inspected").getAttribute("href"), "/runs/xyz");
  assert.ok(!find("#runs-none").hidden);
});
