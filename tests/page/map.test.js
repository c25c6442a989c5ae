import assert from "node:assert/strict";
import { test } from "node:test";

import { waveMoves } from "../../guidedviz/widgets/page/map/map-wave.js";

import {
  countShared, focusOn, has, newMap, nextFound, pixelOf, rankAt, rankOfKey, readCurve, sayShare, scaleOf, showMask, stackRanks, textOf, unpack,
  updateMap, zoomBy,
} from "../../guidedviz/widgets/page/map/map-data.js";
import { newTile, paintTile } from "../../guidedviz/widgets/page/map/map-ground.js";
import { buildMap, sayFate } from "../../guidedviz/widgets/page/map/map-view.js";
import { connect } from "../../guidedviz/widgets/page/shared/connection.js";
import { frame, HOSTILE, press, render } from "./fixtures.js";

const pack = (bytes) => btoa(String.fromCharCode(...bytes));
// 14 tokens along a snake over 4 x 4 cells: right, right, right, down, left, left, left, down, ...
const MOVES = [0, 0, 0, 1, 2, 2, 2, 1, 0, 0, 0, 1, 2, 2];
const packMoves = (moves) => pack([0, 4, 8, 12].map((at) => moves.slice(at, at + 4).reduce((byte, move, i) => byte | (move << (2 * i)), 0)));
const LAND = {
  count: 14, width: 4, height: 4, moves: packMoves(MOVES), borders: "M0,0", chunk: 4, eos: [13], ways: "", places: [["digits", 0, 8, 2, 1, 4], ["letters", 8, 14, 2, 3, 4]],
};
const EVEN = [0b01010101, 0b010101]; // tokens 0, 2, 4, ...
const news = (more = {}) => ({
  now: 1, asked: null, state: "q0", bits: { 1: pack(EVEN) }, answers: [], land: LAND, ...more,
});

function newChart(more) {
  const map = newMap();
  updateMap(map, news(more));
  showMask(map, news(more));
  map.base = 400 / map.land.width;
  return map;
}

test("the curve gives every token a cell and every cell its token", () => {
  const { cells, ranks } = readCurve(LAND);
  assert.deepEqual([...cells], [0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14]);
  assert.deepEqual([...cells].map((cell) => ranks[cell]), [...cells.keys()]);
  assert.equal(ranks[12], -1, "a cell beyond the last token has none");
});

test("the token under a pixel is the one drawn there, at any zoom", () => {
  const map = newChart();
  for (const [zoom, x, y] of [[1, 0, 0], [2, 1, 1.5], [4, 2.5, 0]]) {
    Object.assign(map, { zoom, x, y });
    for (let rank = 0; rank < 14; rank++) assert.equal(rankAt(map, pixelOf(map, rank)), rank);
  }
});

test("beyond the map there is no token", () => {
  const map = newChart();
  for (const pixel of [[-1, 10], [10, -1], [401, 10], [10, 401], [50, 350]]) assert.equal(rankAt(map, pixel), -1);
});

function largeChart() {
  const map = newChart();
  map.land.width = map.land.height = 64; // larger, so that there is something to zoom
  map.base = 400 / 64;
  return map;
}

test("zooming keeps the pixel under the pointer where it is", () => {
  const map = largeChart();
  zoomBy(map, 2, [300, 100]);
  assert.equal(map.zoom, 2);
  assert.ok(Math.abs(map.x + 300 / scaleOf(map) - 300 / map.base) < 1e-9);
  assert.ok(Math.abs(map.y + 100 / scaleOf(map) - 100 / map.base) < 1e-9);
});

test("zooming ends at 60 pixels per cell and at the whole map, and shows nothing outside", () => {
  const map = largeChart();
  for (let i = 0; i < 10; i++) zoomBy(map, 2, [400, 400]);
  assert.equal(scaleOf(map), 60);
  assert.ok(map.x + 64 / map.zoom <= 64);
  zoomBy(map, 0);
  assert.deepEqual([map.zoom, map.x, map.y], [1, 0, 0]);
});

test("arrows move along the byte order and between rows, and stay on the map", () => {
  const map = newChart();
  const go = (key) => focusOn(map, rankOfKey(map, key));
  const seen = ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowLeft", "PageDown", "PageUp"].map((key) => {
    go(key);
    return map.focus;
  });
  assert.deepEqual(seen, [0, 1, 6, 1, 0, 13, 13, 0, 0, 8, 0]);
  assert.equal(rankOfKey(map, "x"), undefined);
});

test("the next found token is after the last one, then the first again", () => {
  const map = newChart();
  map.found = { query: "x", count: 2, bits: Uint8Array.from([0b100, 0b10]), ranks: [2, 9] };
  assert.deepEqual([2, 9].map((focus) => nextFound({ ...map, focus })), [9, 2]);
});

test("a token outside the visible part is scrolled into sight", () => {
  const map = newChart();
  Object.assign(map, { zoom: 2, x: 0, y: 0 });
  focusOn(map, 12);
  const [x, y] = pixelOf(map, 12);
  assert.ok(x > 0 && x < 400 && y > 0 && y < 400);
});

test("masks are kept by number until another map comes", () => {
  const map = newChart();
  updateMap(map, news({ land: undefined, now: 2, bits: { 2: pack([255, 63]) } }));
  assert.deepEqual([...map.masks.keys()], [1, 2]);
  assert.equal(countShared(map.masks.get(1), map.masks.get(2)), 7);
  updateMap(map, news({ now: 3, bits: { 3: pack([0, 0]) } }));
  assert.deepEqual([...map.masks.keys()], [3]);
});

test("texts are asked for once per chunk", () => {
  const map = newChart();
  const asked = [];
  const ask = (what, of) => asked.push([what, of]);
  assert.equal(textOf(map, 5, ask), undefined);
  assert.equal(textOf(map, 6, ask), undefined);
  assert.deepEqual(asked, [["texts", 1]]);
  updateMap(map, news({ land: undefined, answers: [{ texts: [1, [[40, "a"], [50, "b"], [60, "c"], [70, "d"]]] }] }));
  assert.deepEqual(textOf(map, 5, ask), [50, "b"]);
});

test("the tile counts legal tokens", () => {
  const map = newChart();
  const tile = newTile(map.land);
  paintTile(map, tile, {});
  assert.deepEqual([tile.count, tile.legal, tile.few], [7, [4, 3], [0, 2, 4, 6, 8, 10, 12]]);
});

test("context-dependent tokens are counted by what the stack says", () => {
  const asked = pack([...new Uint8Array(Int32Array.from([1, 2, 4]).buffer)]);
  const map = newChart({ asked: 9, bits: { 1: pack(EVEN), 9: asked } });
  assert.deepEqual([...stackRanks(map)], [1, 2, 4]);
  assert.equal(sayFate(map, true, 2), "context-dependent, legal");
  assert.equal(sayFate(map, false, 3), "rejected");
  const tile = newTile(map.land);
  paintTile(map, tile, {});
  assert.deepEqual(tile.asked, [[1], [2, 4]], "illegal, legal");
});

test("bits are read in byte order", () => {
  assert.deepEqual([0, 1, 2, 8, 9].map((rank) => has(unpack(pack(EVEN)), rank)), [true, false, true, true, false]);
});

test("nearly all is not rounded to 100%", () => assert.deepEqual([0.5, 0.9991, 0.995, 1].map(sayShare), ["50%", ">99.9%", "99.5%", "100%"]));

/** The map alone, as a widget. */
const kind = {
  default: {
    render({ model, el }) {
      const { say, start, stop } = connect(model);
      const ui = buildMap({ say });
      el.append(ui.node);
      start((all) => {
        for (const { map } of all) {
          ui.hear(map);
          showMask(ui.map, map);
        }
        ui.paint();
      });
      return () => {
        ui.stop();
        stop();
      };
    },
  },
};

function chart() {
  const page = render(kind, { map: news() });
  const sheet = page.find(".gv-map");
  page.find(".gv-map").resizeTo(40);
  return { ...page, sheet, legend: () => page.find(".gv-map-legend").textContent, card: () => page.find(".gv-map-card").textContent };
}

test("the legend counts the mask", () => {
  const { legend, stop } = chart();
  assert.equal(legend(), "legal 7 (50%)illegal 7EOS illegal");
  stop();
});

test("a few context-dependent tokens are named in the legend, each beside what the stack says", () => {
  const { model, legend, stop } = chart();
  const asked = pack([...new Uint8Array(Int32Array.from([1, 2]).buffer)]);
  const texts = [0, [[5, "a", "61"], [6, HOSTILE, "62"], [7, "c", "63"], [8, "d", "64"]]];
  model.tell({ number: 2, map: news({ land: undefined, asked: 9, bits: { 9: asked }, answers: [{ texts }] }) });
  frame();
  assert.match(legend(), /context-dependent, legal 1 c/);
  assert.ok(legend().includes(`context-dependent, illegal 1 ${HOSTILE}`));
  stop();
});

test("a key shows a token, asks for its text, and a hostile text stays text", () => {
  const { model, sheet, card, find, stop } = chart();
  press(sheet, "Home");
  assert.deepEqual(model.asked, [{ do: "map", ask: "texts", of: 0 }]);
  const texts = [0, [[5, HOSTILE, "3c"], [6, "b", "62"], [7, "c", "63"], [8, "d", "64"]]];
  model.tell({ number: 2, map: news({ land: undefined, answers: [{ texts }] }) });
  frame();
  assert.ok(card().startsWith(HOSTILE));
  assert.equal(find(".gv-map-card img, .gv-map-card script"), null);
  assert.match(card(), /id 5 · bytes 3c · digits✓ legal/);
  assert.deepEqual(model.asked.at(-1), { do: "map", ask: "why", of: 5 });
  stop();
});

test("a step recolours the map as a wave from the token that was taken", () => {
  const [[part, from, to, begin, end], ...more] = waveMoves(30, 40, 900);
  assert.deepEqual([part, begin, end, more], ["now", 0, 600, []]);
  assert.deepEqual([from.clipPath, to.clipPath], ["circle(0.0px at 30.0px 40.0px)", "circle(900.0px at 30.0px 40.0px)"]);
});
