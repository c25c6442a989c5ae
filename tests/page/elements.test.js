import assert from "node:assert/strict";
import { test } from "node:test";

import { icon } from "../../guidedviz/widgets/page/shared/controls.js";
import { make, setText, tokenName, withCommas, writeToken } from "../../guidedviz/widgets/page/shared/elements.js";
import { build } from "../../guidedviz/widgets/page/shared/parts.js";
import { draw } from "../../guidedviz/widgets/page/shared/shapes.js";
import { drawing, HOSTILE } from "./fixtures.js";

test("hostile text stays text", () => {
  for (const node of [tokenName(HOSTILE), make("p", { title: HOSTILE }, HOSTILE)]) {
    assert.equal(node.textContent, HOSTILE);
    assert.equal(node.querySelector("img, script"), null);
  }
});

test("signs of white space are marked, letters are not", () => {
  const node = tokenName("␣two↵⇥words");
  assert.deepEqual([...node.querySelectorAll(".gv-mark")].map((mark) => mark.textContent), ["␣", "↵⇥"]);
  assert.equal(node.textContent, "␣two↵⇥words");
});

test("a token that is there already is not written again", () => {
  const node = tokenName("a␣b");
  const [before] = node.childNodes;
  writeToken(node, "a␣b");
  assert.equal(node.firstChild, before);
  writeToken(node, "c");
  assert.equal(node.textContent, "c");
});

test("true sets an empty attribute, false and undefined set none", () => {
  const node = make("input", { hidden: true, disabled: false, title: undefined, min: 0 });
  assert.deepEqual(node.getAttributeNames().sort(), ["hidden", "min"]);
});

test("listeners are attached", () => {
  let pressed = 0;
  make("button", { on: { click: () => (pressed += 1) } }).click();
  assert.equal(pressed, 1);
});

test("a drawing becomes SVG of listed elements and attributes only, and an icon too", () => {
  assert.equal(draw(drawing(3)).querySelectorAll("[data-state]").length, 3);
  const hostile = ["svg", { onload: "x()", style: "x", class: "jp-Cell", fill: "url(http://x)" }, ["iframe", { srcdoc: "x" }, "a"], ["image", { href: "http://x" }],
    ["g:iframe", {}], ["g", { "xlink:href": "x" }, "<script>", 1, null], "b"];
  assert.equal(draw(hostile).outerHTML.replace(' xmlns="http://www.w3.org/2000/svg"', ""),
    '<svg class="gv-drawing"><g></g><image></image><g></g><g>&lt;script&gt;1null</g>b</svg>');
  assert.equal(build(icon("back")).querySelector("path").namespaceURI, "http://www.w3.org/2000/svg");
});

test("text is written only where it differs", () => {
  const node = make("p", {}, "same");
  const before = node.firstChild;
  setText(node, "same");
  assert.equal(node.firstChild, before);
  setText(node, "other");
  assert.equal(node.textContent, "other");
});

test("counts have commas", () => assert.equal(withCommas(128256), "128,256"));
