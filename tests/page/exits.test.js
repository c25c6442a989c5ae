import assert from "node:assert/strict";
import { test } from "node:test";

import { fitLabel, nameSource } from "../../guidedviz/widgets/page/machine/exits.js";
import { exitsLight } from "../../guidedviz/widgets/page/motion/exits.js";
import { FALLS, GROWN } from "../../guidedviz/widgets/page/motion/mask-falls.js";
import { exitsOf } from "../../guidedviz/widgets/page/stage/refused.js";

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

const of = (list, part, name) => list.filter(([one, look]) => one === part && (!name || name in look));
const place = (x, y) => `calc(${x.toFixed(1)}px - 50%) calc(${y.toFixed(1)}px - 50%)`;

test("from the mask until the draw the exits of the state are lit, and all else of the drawing is pale", () => {
  const list = exitsLight([], 1000);
  for (const part of ["exits", "ground"]) assert.deepEqual(of(list, part).map(([, , , begin]) => begin), [FALLS, 1000]);
});

test("the forbidden token goes to the machine before the mask falls, and its byte without a way on stands there until the draw", () => {
  const [bar, state, next] = [{ x: 90, y: 50 }, { x: 0, y: 0 }, { x: 10, y: 0 }];
  const list = exitsLight([["fo", bar, state], ["f", state, next]], 1000);
  const [token, byte] = ["leg0", "leg1"].map((part) => of(list, part, "translate")[0]);
  assert.deepEqual([token[1], token[2]].map(({ translate }) => translate), [place(90, 50), place(0, 0)]);
  assert.deepEqual([byte[1], byte[2]].map(({ translate }) => translate), [place(0, 0), place(10, 0)]);
  assert.deepEqual([token[3], token[4], byte[4]], [GROWN, byte[3], of(list, "refused", "scale")[0][3]], "one after the other");
  assert.ok(token[4] < FALLS);
  assert.deepEqual(["leg0", "leg1", "refused"].map((part) => of(list, part, "opacity").at(-1)[3]), [token[4], 1000, 1000], "what was read stays with it");
});

test("the exits of a grammar lie behind calls that may read nothing too; an older record has only where it stands", () => {
  const view = { steps: [{ path: [0, 7] }], cursor: 1, machine: { initial: 0, stack: true }, known: { 7: { now: [3], exits: [3, 4] }, 0: { now: [1] } } };
  assert.deepEqual(exitsOf(view), [3, 4]);
  assert.deepEqual(exitsOf({ ...view, cursor: 0 }), [1]);
  assert.deepEqual(exitsOf(view, 0), [1]);
  assert.deepEqual(exitsOf({ ...view, machine: { stack: false } }), [7]);
});
