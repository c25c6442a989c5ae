import assert from "node:assert/strict";
import { test } from "node:test";

import { fitLabel, nameSource } from "../../guidedviz/widgets/page/machine/exits.js";

test("the label of an exit that runs out of sight stands where its line is still seen", () => {
  const arrow = document.createElement("div");
  arrow.innerHTML = '<svg><path class="gv-line"></path><text class="gv-label" x="250" y="50"></text></svg>';
  const line = arrow.querySelector("path");
  line.getTotalLength = () => 400;
  line.getPointAtLength = (x) => ({ x, y: 50 });
  const label = arrow.querySelector("text");
  const drawing = { camera: { x: 0, y: 0, scale: 0.5 }, room: [200, 100] };
  fitLabel(arrow, drawing);
  assert.equal(label.getAttribute("x"), "250", "it is seen");
  fitLabel(arrow, { ...drawing, camera: { x: 0, y: 0, scale: 1 } });
  assert.equal(label.getAttribute("x"), "170", "the end of what is seen, less the room for it");
});

test("where the token came from is named at the edge, if that state is out of sight", () => {
  const [arrow, state] = [document.createElement("div"), document.createElement("div")];
  arrow.innerHTML = '<svg><path class="gv-line"></path></svg>';
  state.innerHTML = '<svg><rect class="gv-disc" x="-20" y="40" width="20" height="20"></rect></svg>';
  const line = arrow.querySelector("path");
  line.getTotalLength = () => 400;
  line.getPointAtLength = (x) => ({ x, y: 50 });
  const drawing = { camera: { x: 0, y: 0, scale: 1 }, room: [200, 100], arrows: new Map([["7-8", arrow]]), states: new Map([[7, state]]) };
  const [name, ...more] = nameSource(drawing, "7-8");
  assert.deepEqual([name.textContent, name.getAttribute("x"), more], ["from q7", "80", []]);
  assert.deepEqual(nameSource({ ...drawing, camera: { x: 60, y: 0, scale: 1 } }, "7-8"), [], "it is seen");
  assert.deepEqual(nameSource(drawing, "undefined-undefined"), [], "no token was taken");
});
