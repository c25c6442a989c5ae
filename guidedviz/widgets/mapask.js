// The third colour of the map: the tokens that had to ask the stack. They are few and matter, so each gets a line around
// it that is found on a map of 128,000: solid where the answer was yes, dashed where it was no.

const AROUND = 4.5; // pixels between a small cell and its line
const LARGE_CELL = 8; // pixels of a cell whose line is its own edge, in ink
const DASHES = [4, 3]; // pixels on, pixels off
const NOBODY = new Int32Array(0);

// Their places in byte order; two masks compared have no third colour.
const askedRanks = (map) => (map.askers === null || map.xor ? NOBODY : new Int32Array(map.masks.get(map.askers).buffer));

// Below their colour they stay what they are, legal or illegal; what was searched for is shown as found.
function tileAsked({ cells }, tile, asked) {
  const { kinds, pixels, looks } = tile;
  for (const rank of tile.asked) pixels[cells[rank]] = looks[kinds[rank]];
  for (const rank of asked) if (kinds[rank] < 2) pixels[cells[rank]] = tile.askedLooks[kinds[rank]];
  Object.assign(tile, { asked, askedLegal: asked.reduce((count, rank) => count + (kinds[rank] & 1), 0) });
}

function squares(pen, spots, half, look) {
  pen.fillStyle = look;
  for (const [x, y] of spots) pen.fillRect(Math.round(x - half), Math.round(y - half), Math.round(2 * half), Math.round(2 * half));
}

// Squares on squares, and a hole in the middle: what is left of those that touch is the line around all of them.
function paintShore(map, ui, view, pen) {
  const { page, ink, gold, orange } = ui.colours;
  const large = view.scale >= LARGE_CELL;
  const half = view.scale / 2 + (large ? 0 : AROUND);
  const spots = [[], []];
  for (const rank of ui.tile.asked) {
    const [x, y] = screen(map, view, rank);
    if (x > -half && y > -half && x < view.width + half && y < view.height + half) spots[ui.tile.kinds[rank] & 1].push([x, y]);
  }
  for (const [legal, look] of [[0, dashed(pen, large ? ink : orange)], [1, large ? ink : gold]]) {
    squares(pen, spots[legal], half + 1.6, page);
    squares(pen, spots[legal], half + 0.8, look);
    squares(pen, spots[legal], half - 0.8, page);
    pen.globalCompositeOperation = "destination-out";
    squares(pen, spots[legal], half - 1.6, page);
    pen.globalCompositeOperation = "source-over";
  }
}

// A fill that makes a thin line look dashed, whichever way it runs.
function dashed(pen, colour) {
  const long = DASHES[0] + DASHES[1];
  const canvas = make("canvas", { width: long, height: long });
  const dots = canvas.getContext("2d");
  dots.fillStyle = colour;
  for (let y = 0; y < long; y++) for (let x = 0; x < long; x++) if ((x + y) % long < DASHES[0]) dots.fillRect(x, y, 1, 1);
  return pen.createPattern(canvas, "repeat");
}

const askedEntries = ({ counts, asked, askedLegal }) => [
  ["legal", "surely legal", counts[1] - askedLegal],
  ["illegal", "surely illegal", counts[0] - (asked.length - askedLegal)],
  ["asked", "asked, legal", askedLegal],
  ["refused", "asked, illegal", asked.length - askedLegal],
];

// Whether a token is legal, and who said so.
function sayFate(map, legal, rank) {
  const fate = legal ? "legal" : "illegal";
  if (map.askers === null || map.xor) return fate;
  return askedRanks(map).includes(rank) ? `${fate}: the stack was asked` : `surely ${fate}`;
}
