import assert from "node:assert/strict";
import { test } from "node:test";

import { build, change } from "../../guidedviz/widgets/page/shared/parts.js";
import { HOSTILE } from "./fixtures.js";

test("an element stays where its part has the same name, and only what differs is written", () => {
  const node = build(["p", { class: "a", title: "t", hidden: true, "aria-pressed": false }, "one", ["b", {}, "two"]]);
  const [text, bold] = node.childNodes;
  assert.equal(change(node, ["p", { class: "b", hidden: false, "aria-pressed": true }, "other", ["b", {}, "two"]]), node);
  assert.deepEqual([...node.childNodes], [text, bold]);
  assert.equal(node.outerHTML, '<p class="b" aria-pressed="true">other<b>two</b></p>');
  assert.notEqual(change(node, ["div", {}]), node);
});

test("an empty place keeps the elements that follow", () => {
  const part = (words) => ["div", {}, words && ["p", {}, words], ["i", {}, "kept"]];
  const node = build(part(null));
  const kept = node.querySelector("i");
  change(node, part("new"));
  assert.equal(node.querySelector("i"), kept);
  assert.equal(node.textContent, "newkept");
  change(node, part(false));
  assert.equal(node.textContent, "kept");
});

test("a part that is made by a function is made again only where an attribute is another value", () => {
  let made = 0;
  const chip = ({ step }) => ["i", { count: ++made }, step.label];
  const [one, other] = [{ label: "one" }, { label: "other" }];
  const node = build(["p", {}, [chip, { step: one }]]);
  change(node, ["p", {}, [chip, { step: one }]]);
  assert.equal(made, 1);
  change(node, ["p", {}, [chip, { step: other }]]);
  assert.deepEqual([made, node.textContent], [2, "other"]);
});

test("the listener of the last part is called, once", () => {
  const heard = [];
  const part = (name) => ["button", { click: () => heard.push(name) }];
  const node = build(part("first"));
  change(node, part("second"));
  node.click();
  assert.deepEqual(heard, ["second"]);
});

test("a foreign element stays as it is, and text is text", () => {
  const island = document.createElement("section");
  const node = build(["div", {}, island, HOSTILE]);
  island.append("painted by somebody else");
  change(node, ["div", { class: "x" }, island, HOSTILE]);
  assert.equal(node.firstChild, island);
  assert.equal(node.textContent, `painted by somebody else${HOSTILE}`);
  assert.equal(node.querySelector("img"), null);
});

test("nothing is taken from a person who types", () => {
  const part = (text) => ["div", {}, ["input", { value: text }], ["input", { given: text }]];
  const node = build(part("a"));
  document.body.replaceChildren(node);
  const [always, given] = node.children;
  given.focus();
  change(node, part("b"));
  assert.deepEqual([always.value, given.value], ["b", "a"]);
  given.blur();
  change(node, part("b"));
  assert.equal(given.value, "b");
});
