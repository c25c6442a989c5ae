import assert from "node:assert/strict";
import { test } from "node:test";

import * as tree from "../../guidedviz/widgets/page/kinds/tree.js";
import { lengthOf } from "../../guidedviz/widgets/page/motion/player.js";
import { GLIDE, HATCHED, treeMoves } from "../../guidedviz/widgets/page/motion/tree-moves.js";
import { HOSTILE, press, render } from "./fixtures.js";

const BOXES = [
  { row: 0, words: "0", text: "", legal: true, spans: [[0, 0.1], [0, 0.1], [0, 0.8]] },
  { row: 1, words: "7", text: "07", legal: true, spans: [[0, 0.08], [0, 0.08], [0, 0.63]] },
  { row: 0, words: "illegal", text: null, legal: false, spans: [[0.1, 0.9], [0.1, 0], [0.8, 0]] },
];
const of = (list, part, name) => list.filter(([one, look]) => one === part && (!name || name in look));

test("illegal boxes are hatched, then they collapse", () => {
  const list = treeMoves(BOXES, 0, 1);
  assert.deepEqual(of(list, "hatch 2")[0].slice(1), [{ opacity: 0 }, { opacity: 1 }, 0, HATCHED]);
  const [, , to, begin, end] = of(list, "box 2", "width")[0];
  assert.deepEqual([to.width, begin, end], ["0.000%", HATCHED, HATCHED + GLIDE]);
  assert.equal(of(list, "box 2", "opacity")[0][3], HATCHED + GLIDE - 1, "it is seen until it is gone");
});

test("their neighbours flow into the room, and their numbers count along", () => {
  const list = treeMoves(BOXES, 1, 2);
  assert.deepEqual(of(list, "box 1", "width")[0].slice(1), [{ left: "0.000%", width: "8.000%" }, { left: "0.000%", width: "63.000%" }, 0, GLIDE]);
  assert.deepEqual(of(list, "said 1")[0].slice(1), [{ count: 0.08 }, { count: 0.63 }, 0, GLIDE]);
  assert.equal(of(list, "hatch 2").length, 0, "what is gone does not move");
});

test("the way back is the reverse", () => {
  const list = treeMoves(BOXES, 2, 0);
  assert.deepEqual(of(list, "box 2", "opacity")[0].slice(3), [0, 1], "it is there again while it grows");
  assert.equal(of(list, "hatch 2")[0][3], GLIDE);
  assert.equal(lengthOf(list), GLIDE + HATCHED);
});

function open(boxes = BOXES) {
  const page = render(tree, { boxes, words: ["07 0.08", "07 0.08", "07 0.63"] });
  return { ...page, numbers: () => page.all(".gv-tree-said").map((node) => node.textContent), stop: () => Number(page.root.dataset.stop) };
}

test("the slider and the keys go to each stop; 07 has 0.08, 0.08 and 0.63", () => {
  const { root, find, numbers, stop } = open();
  const seen = [numbers()[1]];
  for (const key of ["ArrowRight", "ArrowRight", "ArrowRight"]) {
    assert.ok(press(find("input"), key).defaultPrevented);
    seen.push(numbers()[1]);
  }
  assert.deepEqual(seen, ["0.08", "0.08", "0.63", "0.63"]);
  press(root, "Home");
  assert.equal(stop(), 0);
  find("input").value = "2";
  find("input").dispatchEvent(new Event("input"));
  assert.deepEqual([stop(), find("[role=status]").textContent, find("input").getAttribute("aria-valuetext")], [2, "07 0.63", "at the end"]);
});

test("only what is illegal is hatched, and it keeps its number until it is gone", () => {
  const { root, all, numbers } = open();
  press(root, "ArrowRight");
  assert.deepEqual(all(".gv-tree-box > i").map((node) => node.style.opacity), ["0", "0", "1"]);
  assert.equal(numbers()[2], "0.90");
});

test("a token is text", () => {
  const { el } = open([{ ...BOXES[0], words: HOSTILE }]);
  assert.equal(el.querySelector("img"), null);
  assert.ok(el.textContent.includes(HOSTILE));
});
