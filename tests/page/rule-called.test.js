import assert from "node:assert/strict";
import { test } from "node:test";

import { aim, around, LESS } from "../../guidedviz/widgets/page/machine/camera.js";
import { placeOthers } from "../../guidedviz/widgets/page/machine/other-stacks.js";
import { EDGE, GAP, placeRows, STRIP, THIN } from "../../guidedviz/widgets/page/machine/rows.js";
import { nameCalled, ruleCalled, statesLight, tellCalls, timeCalls, topOf } from "../../guidedviz/widgets/page/motion/rule-called.js";
import { FLIGHT, inOrder, travel } from "../../guidedviz/widgets/page/motion/travel.js";

const LABELS = { least: 1, most: 1.5 };
const pathAt = (x, y, rx, ry, ...ends) => ({ x, y, rx, ry, ends: ends.length ? ends : [{ x, y, rx, ry }] });

test("a drawing that fits is whole, and one that is too large where that is asked for", () => {
  assert.deepEqual(aim([100, 50], [200, 100], LABELS, null), { scale: 1.5, x: 25, y: 12.5 });
  assert.equal(aim([100 / LESS, 50], [100, 100], LABELS, null).scale, LESS, "nothing is cut for a few pixels");
  assert.equal(aim([125, 50], [100, 100], LABELS, null).scale, 1, "its labels can be read");
  assert.equal(aim([125, 50], [100, 100], { ...LABELS, whole: true }, null).scale, 0.8);
});

test("one that does not fit is close up with labels that can be read, and a path is seen whole", () => {
  const { scale, x } = aim([1000, 100], [200, 100], LABELS, pathAt(500, 50, 80, 10));
  assert.equal(scale, 1);
  assert.ok(x + 420 >= 0 && x + 580 <= 200);
  const further = aim([1000, 100], [200, 100], LABELS, pathAt(500, 50, 40, 10, { x: 500, y: 50, rx: 40, ry: 10 }, { x: 530, y: 50, rx: 10, ry: 10 }));
  assert.equal(further.x + 530, 100, "its end in the middle, where there is room");
  assert.equal(aim([1000, 100], [200, 100], LABELS, pathAt(0, 0, 5, 5)).x, 0, "it begins at the border");
});

test("the last arrow is drawn a little smaller where it would be cut by a little", () => {
  const { scale, x } = aim([1000, 100], [200, 100], LABELS, pathAt(500, 50, 300, 10, { x: 710, y: 50, rx: 90, ry: 10 }, { x: 790, y: 50, rx: 10, ry: 10 }));
  assert.equal(scale, LESS);
  assert.ok(Math.abs(x + 620 * scale - 18) < 1e-6, "it begins at the border, and there is room for what goes on");
});

test("of a path that is too long its end is seen", () => {
  const { scale, x } = aim([1000, 100], [200, 100], LABELS, pathAt(500, 50, 300, 10, { x: 680, y: 50, rx: 120, ry: 10 }, { x: 790, y: 50, rx: 10, ry: 10 }));
  assert.equal(scale, 1);
  assert.ok(x + 790 >= 0 && x + 790 <= 200);
});

test("of a path that is too long the last arrow is seen, where there is room for it", () => {
  const { x } = aim([1000, 100], [200, 100], LABELS, pathAt(500, 50, 300, 10, { x: 720, y: 50, rx: 80, ry: 10 }, { x: 790, y: 50, rx: 10, ry: 10 }));
  assert.ok(x + 640 >= 0 && x + 800 <= 200);
});

test("a path is the box around its states, and ends at the last one", () => {
  const [first, middle, last] = [{ x: 0, y: 10, rx: 5, ry: 5 }, { x: 10, y: 10, rx: 5, ry: 5 }, { x: 30, y: 20, rx: 5, ry: 5 }];
  const arrow = { x: 20, y: 15, rx: 15, ry: 10 };
  assert.deepEqual(around([middle, last]), { ...arrow, ends: [arrow, last] });
  assert.deepEqual(around([first, middle, last]).ends, [arrow, last]);
  assert.equal(around([]), null);
});

test("strips pile upward from the ground, the head on top of them, and the row has the rest", () => {
  const { strips, head, row, folded } = placeRows(2, 300, 100);
  const pitch = STRIP + GAP;
  assert.deepEqual(strips, [{ y: 300 - pitch, high: STRIP }, { y: 300 - 2 * pitch, high: STRIP }]);
  assert.deepEqual(head, { y: 300 - 3 * pitch, high: STRIP });
  assert.deepEqual(row, { y: 0, high: head.y + STRIP });
  assert.equal(folded, 0);
});

test("many strips are thin, so that each can be read", () => {
  const highs = (callers) => placeRows(callers, 260, 120).strips.map(({ high }) => high);
  assert.deepEqual(highs(3), [STRIP, STRIP, STRIP]);
  assert.deepEqual(highs(4), [26, 26, 26, 26]);
  assert.deepEqual(highs(5), [21, 21, 21, 21, 21]);
});

test("where thin strips do not fit, the outer ones are edges, the caller stays whole, and very deep ones are only counted", () => {
  const highs = (callers) => placeRows(callers, 230, 120).strips.map(({ high }) => high);
  assert.deepEqual(highs(5), [EDGE, EDGE, THIN, THIN, THIN]);
  assert.deepEqual(highs(7), [0, EDGE, EDGE, EDGE, EDGE, THIN, THIN]);
  const low = placeRows(5, 160, 210).strips.map(({ high }) => high);
  assert.deepEqual(low, [0, EDGE, EDGE, EDGE, THIN], "of a high row fewer edges are shown");
  const { row, folded } = placeRows(40, 230, 120);
  assert.ok(row.high >= 120, "the row keeps its room");
  assert.equal(folded, 38);
});

const [ROOT, LIST, NUMBER] = [[0, "root", "end"], [1, "list", ", or ]"], [2, "number", "a digit"]];
const beside = (...others) => placeOthers([NUMBER, LIST, ROOT], others, ["low", "middle", "high"]);

test("another stack stands beside the first from the frame on where it leaves it", () => {
  const { shares, cards } = beside([[3, "word", "a letter"], ROOT]);
  assert.deepEqual(shares, [100, 50, 100], "the first stack makes room there");
  assert.deepEqual(cards, [{ frame: [3, "word", "a letter"], height: 2, top: true, line: "middle", left: 50, right: 0 }]);
});

test("a stack that has left the innermost rule is read on in its caller", () => {
  const { shares, cards } = beside([LIST]);
  assert.deepEqual(shares, [100, 50, 100]);
  assert.deepEqual(cards.map(({ frame, height, top }) => [frame, height, top]), [[LIST, 2, true]]);
});

test("one whose outermost rule took the place of the first one's stands beside it from there on", () => {
  const { shares, cards } = beside([[4, "word", "a letter"], [0, "text", "end"]]);
  assert.deepEqual(shares, [50, 50, 100]);
  assert.deepEqual(cards.map(({ frame: [, rule] }) => rule), ["text", "word"]);
});

test("a stack that is higher than the first has the rest of its rules on the head's line, and of many two are drawn", () => {
  const high = [[6, "letter", "a"], [5, "word", "then"], [4, "text", "end"], ROOT];
  const { shares, cards } = beside(high, [[7, "date", "0-9"], ROOT], [[8, "time", "0-9"], ROOT]);
  assert.deepEqual(shares.map(Math.round), [100, 33, 33]);
  assert.deepEqual(cards.map(({ frame: [, rule], height, line }) => [rule, height, line]), [["text", 2, "middle"], ["word › letter", 4, "high"], ["date", 2, "middle"]]);
});

test("what is shown whole keeps its place, however many rules are open", () => {
  assert.deepEqual(placeRows(0, 300, Infinity).row, placeRows(2, 300, Infinity).row);
});

// the stacks of {"a": in a grammar of objects: an object calls a member, a member calls a string and ends with a value
const STACKS = {
  0: [[0, "root", "{"]],
  1: [[1, "object", "\""], [0, "root", "end"]],
  2: [[3, "string", "a"], [2, "member", ":"], [1, "object", ","], [0, "root", "end"]],
  3: [[2, "member", ":"], [1, "object", ","], [0, "root", "end"]],
  4: [[2, "object", "\""], [1, "object", ","], [0, "root", "end"]],
};
const RULES = { 10: "object", 20: "string", 30: "member" };
const tell = (path, ...nodes) => tellCalls({ path, taken: nodes.map((node) => [`${node}-${node + 1}`]) }, (state) => STACKS[state], (node) => RULES[node]);
const tops = ({ scenes }) => scenes.map((scene) => topOf(scene)[1]);

test("a rule is called before its byte is read", () => {
  const story = tell([0, 1], 10);
  assert.deepEqual([tops(story), story.reads], [["root", "object"], [1]]);
});

test("several rules are called one after another", () => {
  const story = tell([1, 2], 20);
  assert.deepEqual([tops(story), story.reads, story.causes], [["object", "member", "string"], [2], [0, 0]]);
});

test("a rule that has ended returns after its byte is read", () => {
  const story = tell([2, 3], 20);
  assert.deepEqual([tops(story), story.reads], [["string", "member"], [0]]);
});

test("a last call takes the place of its caller, which does not wait", () => {
  const story = tell([3, 4], 10);
  assert.deepEqual([tops(story), story.reads], [["member", "object"], [1]]);
  assert.equal(story.scenes[1].length, story.scenes[0].length);
});

test("a rule that is called and left by one byte is seen", () => {
  const story = tell([1, 1], 20);
  assert.deepEqual([tops(story), story.reads], [["object", "string", "object"], [1]]);
});

test("a call takes 600 ms, and all of a token at most 2400 ms", () => {
  const one = timeCalls(tell([0, 1], 10));
  assert.deepEqual([one.changes, one.each, one.begins], [[FLIGHT], 600, [FLIGHT + 600]]);
  const two = timeCalls(tell([1, 2], 20));
  assert.deepEqual([two.changes, two.begins, two.end], [[FLIGHT, FLIGHT + 600], [FLIGHT + 1200], FLIGHT + 1200 + 400]);
  const many = timeCalls({ scenes: Array.from({ length: 31 }, () => []), reads: [30], causes: [] });
  assert.equal(many.begins[0] - FLIGHT, 2400);
});

const BOX = { x: 100, y: 120, width: 40, high: 20 };
function movesOf(story, back = false) {
  const places = story.scenes.map(({ length }) => placeRows(length - 1, 300, 100));
  const moves = ruleCalled(story, timeCalls(story), places, story.causes.map(() => BOX), 400);
  return { places, of: (part, name) => moves.filter(([one, look]) => one === part && name in look), back };
}

test("the called box grows into the row, and the caller shrinks into its strip", () => {
  const { places, of } = movesOf(tell([0, 1], 10));
  const [[, box, row, begin, end]] = of("row 1", "transform");
  const { y, high } = places[1].row;
  assert.equal(box.transform, `translate(100.0px, ${(120 - y).toFixed(1)}px) scale(0.1000, ${(20 / high).toFixed(4)})`);
  assert.deepEqual([row.transform, begin, end], ["none", FLIGHT + 240, FLIGHT + 600]);
  assert.deepEqual(of("call 0", "opacity")[0].slice(3), [FLIGHT - 1, FLIGHT], "the box is lit before it grows");
  const [[, full, strip]] = of("row 0", "transform");
  assert.equal(full.transform, "none");
  assert.match(strip.transform, new RegExp(`translate\\(0.0px, .*scale\\(1.0000, ${(STRIP / places[0].row.high).toFixed(4)}\\)`));
  assert.deepEqual(of("strip 0 root", "opacity")[0].slice(1, 3), [{ opacity: 0 }, { opacity: 1 }]);
});

test("a return is the reverse of the call", () => {
  const call = movesOf({ ...tell([2, 3], 20), scenes: tell([2, 3], 20).scenes.toReversed() });
  const back = movesOf(tell([2, 3], 20));
  const [one, other] = [call.of("row 1", "transform")[0], back.of("row 0", "transform")[0]];
  assert.deepEqual([one[1].transform, one[2].transform], [other[2].transform, other[1].transform]);
  assert.deepEqual(back.of("strip 2 member", "opacity")[0].slice(1, 3), [{ opacity: 1 }, { opacity: 0 }]);
});

test("where strips become edges, they move and shrink with the call", () => {
  const scenes = [6, 7].map((count) => Array.from({ length: count }, (_, id) => [id, "r", ""]));
  const story = { scenes, reads: [1], causes: [0] };
  const places = scenes.map(({ length }) => placeRows(length - 1, 220, 100));
  const moves = ruleCalled(story, timeCalls(story), places, [BOX], 400);
  assert.ok(moves.some(([part, from, to]) => part === "strip 1 r" && from.height === `${THIN}px` && to.height === `${EDGE}px`));
});

test("a byte goes beside the one before it, waits where that one ended, and goes with the call to its arrow", () => {
  const POINTS = [{ x: 0, y: 0 }, { x: 10, y: 0 }, { x: 90, y: 9 }];
  const moves = travel({ bar: { x: 5, y: 5 }, states: POINTS, starts: [POINTS[0], { x: 70, y: 9 }], begins: [FLIGHT, FLIGHT + 900], text: null, died: false });
  const ways = moves.filter(([part, from]) => part === "byte1" && from.translate).map(([, from, to, begin, end]) => [from.translate, to.translate, begin, end]);
  assert.deepEqual(ways.map(([, , begin, end]) => [begin, end]), [[FLIGHT, FLIGHT + 400], [FLIGHT + 400, FLIGHT + 900], [FLIGHT + 900, FLIGHT + 1300]]);
  assert.match(ways[0][0], /28\.0px/, "the token is seen to split");
  assert.match(ways[1][0], /38\.0px/);
  assert.deepEqual(ways.slice(0, 2).map(([, to]) => to), ways.slice(1).map(([from]) => from));
});

test("of a long token four bytes are seen at a time", () => {
  const states = Array.from({ length: 7 }, (_, x) => ({ x, y: 0 }));
  const moves = travel({ bar: states[0], states, begins: [250, 450, 650, 850, 1050, 1250], text: null, died: false });
  const seen = moves.filter(([part, from, to]) => /^byte/.test(part) && from.opacity < to.opacity);
  assert.deepEqual(seen.map(([part, , , , end]) => [part, end]), [["byte0", 250], ["byte1", 250], ["byte2", 250], ["byte3", 250], ["byte4", 450], ["byte5", 650]]);
});

test("a byte goes to the box of each call and waits there while the row grows", () => {
  const [first, second, start] = [{ x: 5, y: 5 }, { x: 50, y: 5 }, { x: 70, y: 9 }];
  const waits = [{ byte: 0, point: first, begin: 250, end: 490 }, { byte: 0, point: second, begin: 850, end: 1090 }];
  const moves = travel({ bar: start, states: [{ x: 0, y: 0 }, { x: 90, y: 9 }], starts: [start], begins: [1450], waits, text: null, died: false });
  const ways = moves.filter(([part, from]) => part === "byte0" && from.translate);
  assert.deepEqual(ways.map(([, , , begin, end]) => [begin, end]), [[250, 490], [850, 1090], [1090, 1450], [1450, 1850]]);
  assert.equal(ways[0][2].translate, ways[1][1].translate);
});

test("where the picture slides first, all else is late by as much", () => {
  const moves = [["picture 0", {}, {}, -250, 0], ["token", {}, {}, 0, 100]];
  assert.deepEqual(inOrder(moves).map(([, , , begin, end]) => [begin, end]), [[0, 250], [250, 350]]);
  assert.deepEqual(inOrder(moves.slice(1)), moves.slice(1));
});

test("a rule that took the place of the called one is shown with both names", () => {
  assert.deepEqual([nameCalled("1:value", "object"), nameCalled("1:value", "value"), nameCalled(undefined, "object")], ["value → object", "value", "object"]);
});

test("some state is lit at each time: the one that is left faintly, until its byte has landed", () => {
  const story = { scenes: [[], []], reads: [0, 0], causes: [1] };
  const moves = statesLight(story, timeCalls(story));
  const of = (part) => moves.filter(([one]) => one === part).map(([, from, to, begin]) => [from.opacity, to.opacity, begin]);
  const [first, second] = [FLIGHT, FLIGHT + 400];
  assert.deepEqual(of("stop 0 0"), [[1, 0.45, first], [0.45, 0, second]]);
  assert.deepEqual(of("stop 0 1"), [[0, 1, second - 1], [1, 0.45, second], [0.45, 0, second + 400]]);
  assert.deepEqual(of("stop 0 2"), [[0, 1, second + 399]]);
});
