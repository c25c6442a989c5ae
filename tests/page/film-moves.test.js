import assert from "node:assert/strict";
import { test } from "node:test";

import { filmMoves } from "../../guidedviz/widgets/page/motion/film-moves.js";
import { lengthOf } from "../../guidedviz/widgets/page/motion/player.js";
import { FLIGHT } from "../../guidedviz/widgets/page/motion/travel.js";

const PLACES = { tape: null, start: (arrow) => ({ x: 100 * Number(arrow[0]), y: 50 }), old: (state) => ({ x: 100 * state, y: 0 }), now: (state) => ({ x: 100 * state, y: 50 }) };
const frame = (more) => ({ drawing: 0, words: "", states: [0, 1, 2, 3], arrows: [], lit: [], on: [], groups: [], ...more });
const of = (list, part, name) => list.filter(([one, look]) => one === part && (!name || name in look));
const end = (list, part, name) => of(list, part, name).at(-1)[4];
const parts = (list, kind) => [...new Set(list.map(([part]) => part).filter((part) => part.startsWith(kind)))];

test("an NFA's byte comes from the text, splits, and slides along each arrow", () => {
  const after = frame({ lit: [2, 3], on: ["0-2", "1-3"], ride: ["a", ["0-2", "1-3"]] });
  const list = filmMoves(frame({ lit: [0, 1] }), after, { ...PLACES, tape: { x: 40, y: 0 } });
  assert.deepEqual(parts(list, "tile"), ["tile 0-2", "tile 1-3"]);
  for (const [part, from] of [["tile 0-2", "40.0px -50.0px"], ["tile 1-3", "-60.0px -50.0px"]]) {
    const [[, at, to, begin, stop]] = of(list, part, "translate");
    assert.deepEqual([at.translate, to.translate, begin, stop], [from, "0.0px 0.0px", 0, FLIGHT], "both come from the one cell");
    assert.equal(of(list, part, "offsetDistance")[0][3], FLIGHT);
  }
  for (const state of ["state 2", "state 3"]) assert.equal(end(list, state), end(list, "tile 0-2", "offsetDistance"), "it fills as the byte lands");
});

test("lit states that do not read the byte fall, those that read it go dark as it leaves", () => {
  const list = filmMoves(frame({ lit: [0, 1] }), frame({ lit: [2], on: ["0-2"], ride: ["a", ["0-2"]] }), { ...PLACES, tape: { x: 0, y: 0 } });
  assert.equal(of(list, "was 1", "translate").length, 1);
  assert.equal(of(list, "was 0", "translate").length, 0);
  assert.equal(of(list, "was 0", "opacity")[0][2].opacity, 0);
  const none = filmMoves(frame({ lit: [0, 1] }), frame({ ride: ["x", []] }), { ...PLACES, tape: { x: 0, y: 0 } });
  assert.deepEqual(parts(none, "was").length, 2, "where nobody reads it, all fall");
});

test("a byte that leads back to its state fills it again as it lands", () => {
  const list = filmMoves(frame({ lit: [0], on: ["0-0"] }), frame({ lit: [0], on: ["0-0"], ride: ["a", ["0-0"]] }), PLACES);
  assert.equal(end(list, "state 0"), lengthOf(list));
});

test("ε edges are a wave: each begins when the one before it has arrived", () => {
  const arrows = ["1~2", "0~1", "2~3", "2~1"];
  const list = filmMoves(frame({ lit: [0] }), frame({ lit: [0, 1, 2, 3], on: arrows, ride: ["", arrows] }), PLACES);
  const [first, second, third] = ["tile 0~1", "tile 1~2", "tile 2~3"].map((part) => of(list, part, "offsetDistance")[0]);
  assert.deepEqual([first[3], second[3], third[3]], [0, first[4], second[4]]);
  assert.deepEqual([end(list, "state 1"), end(list, "state 3")], [first[4], third[4]]);
  assert.equal(of(list, "state 0").length, 0, "it was lit before");
});

test("the subset construction: the states of a set leave side by side and fly together into one", () => {
  const merged = [[0], [1, 2, 3]];
  const list = filmMoves(frame({ states: [0] }), frame({ states: [0, 1], lit: [0], on: ["0-1"], ride: ["", ["0-1"]], merged }), PLACES);
  assert.deepEqual(parts(list, "chip"), ["chip 0-1 1", "chip 0-1 2", "chip 0-1 3"]);
  const beside = [1, 2, 3].map((state) => of(list, `chip 0-1 ${state}`, "translate")[0][2].translate);
  assert.deepEqual(beside, ["0.0px -30.0px", "0.0px 0.0px", "0.0px 30.0px"]);
  for (const state of [1, 2, 3]) assert.equal(of(list, `chip 0-1 ${state}`, "translate").at(-1)[2].translate, "0.0px 0.0px");
  assert.equal(end(list, "node 1"), end(list, "chip 0-1 1"), "the new state is there when they are");
  assert.equal(parts(filmMoves(frame({}), frame({ lit: [0], ride: ["", ["0-1"]], on: ["0-1"], merged }), PLACES), "node").length, 0, "a known one was there");
});

test("minimisation: as a byte has shown that a state differs, its letter changes", () => {
  const before = frame({ groups: [["A", [0, 1]], ["B", [2]]] });
  const list = filmMoves(before, frame({ lit: [1], on: ["1-2"], ride: ["a", ["1-2"]], groups: [["A", [0]], ["B", [2]], ["C", [1]]] }), PLACES);
  assert.deepEqual(parts(list, "tag"), ["tag 1"]);
  assert.equal(of(list, "tag 1")[0][3], end(list, "tile 1-2", "offsetDistance"));
  assert.deepEqual(parts(list, "was"), [], "nothing falls where no text is read");
});

test("in the end equivalent states slide onto each other, and double arrows become one", () => {
  const before = frame({ arrows: ["0-1", "0-2", "1-1"] });
  const list = filmMoves(before, frame({ drawing: 1, merged: [[0], [1, 2]] }), PLACES);
  const goals = [0, 1, 2].map((state) => of(list, `ghost ${state}`, "translate")[0].slice(1, 3).map((look) => look.translate));
  assert.deepEqual(goals, [["0.0px 0.0px", "0.0px 50.0px"], ["100.0px 0.0px", "100.0px 50.0px"], ["200.0px 0.0px", "100.0px 50.0px"]]);
  const [one, other] = ["string 0-1", "string 0-2"].map((part) => of(list, part, "scale")[0]);
  assert.notEqual(one[1].scale, other[1].scale);
  assert.deepEqual(one[2], other[2]);
  assert.ok(of(list, "after")[0][3] >= one[4], "then the small machine is there");
  assert.deepEqual(of(list, "stays")[0][1], { visibility: "visible" });
});

test("trie walk: the byte walks down to the node that reads it", () => {
  const list = filmMoves(frame({ lit: [0] }), frame({ lit: [0, 1], on: ["0-1"], ride: ["a", ["0-1"]] }), PLACES);
  assert.deepEqual(parts(list, "").filter((part) => !part.startsWith("arrow")), ["tile 0-1", "state 1"]);
});

test("where it cannot be read it falls, and the subtree turns grey from its root on", () => {
  const arrows = ["0-1", "1-2", "2-3"];
  const list = filmMoves(frame({ arrows, lit: [0] }), frame({ arrows, lit: [0], ride: ["x", ["0-1"]], groups: [["cut", [1, 2, 3]]] }), PLACES);
  const landed = end(list, "tile 0-1", "offsetDistance");
  assert.equal(of(list, "sign 0-1", "scale")[0][3], landed);
  assert.equal(of(list, "sign 0-1", "translate").at(-1)[2].translate, "0px 70px");
  const begins = [1, 2, 3].map((state) => of(list, `tag ${state}`)[0][3]);
  assert.ok(landed < begins[0] && begins[0] < begins[1] && begins[1] < begins[2]);
  assert.equal(of(list, "tile 0-1", "opacity").length, 0, "it is seen until it has fallen");
});

test("a subtree that was cut before does not turn grey again", () => {
  const cut = frame({ arrows: ["0-1", "0-2"], lit: [0], groups: [["cut", [1]]] });
  assert.deepEqual(parts(filmMoves(cut, { ...cut, groups: [["cut", [1, 2]]], ride: ["x", ["0-2"]] }, PLACES), "tag"), ["tag 2"]);
});

test("Earley: a finished item flies to the one that waits for it, and on to the new one", () => {
  const list = filmMoves(frame({}), frame({ lit: [7], flight: [3, 1, 7] }), PLACES);
  const [[, , first, , landed]] = of(list, "item 3", "translate");
  assert.equal(first.translate, "-200.0px 0.0px");
  assert.equal(of(list, "item 1", "translate")[0][3], landed);
  for (const part of ["node 7", "state 7"]) assert.equal(end(list, part), lengthOf(list), "it is there when the other lands");
});

test("frames without a motion show their end, and a place that is not in the drawing moves nothing", () => {
  assert.deepEqual(filmMoves(frame({ lit: [1] }), frame({ lit: [1] }), PLACES), []);
  assert.deepEqual(filmMoves(frame({}), frame({ drawing: 1 }), PLACES), []);
  assert.deepEqual(parts(filmMoves(frame({}), frame({ flight: [1, 2] }), { ...PLACES, now: () => null }), "item"), []);
});
