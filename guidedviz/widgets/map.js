// The vocabulary as a map: a cell a token, in byte order along a curve. The kernel sends what lies where once, and each
// mask once as bits in byte order; the page keeps them, so a step back costs nothing.

const TEXT_CELL = 22; // pixels of a cell that has room for its token's text
const LARGEST_CELL = 44;
const MOST_ZOOM = 60; // pixels of a cell at the deepest zoom
const MOST_RINGS = 300; // found tokens that get a ring each
const DELTA = [1, 0, 0, 1, -1, 0, 0, -1]; // right, down, left, up
const has = (bits, rank) => (bits[rank >> 3] >> (rank & 7)) & 1;
const commas = (count) => count.toLocaleString("en");

function unpack(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// The curve out of its moves, two bits each: for every rank its cell, for every cell its rank.
function walkMoves({ count, width, height, moves }) {
  const bits = unpack(moves);
  const cells = new Int32Array(count);
  const ranks = new Int32Array(width * height).fill(-1);
  for (let rank = 0, x = 0, y = 0; rank < count; rank++) {
    ranks[(cells[rank] = y * width + x)] = rank;
    const move = (bits[rank >> 2] >> (2 * (rank & 3))) & 3;
    x += DELTA[2 * move];
    y += DELTA[2 * move + 1];
  }
  return { cells, ranks };
}

function share(part) {
  if (part >= 0.99 && part < 1) return part > 0.999 ? ">99.9%" : `${(100 * part).toFixed(1)}%`;
  return `${Number((100 * part).toPrecision(2))}%`;
}

// --- what the page knows of a map ---

function newMap() {
  return { land: null, masks: new Map(), texts: new Map(), asked: new Set(), reasons: new Map(), found: null,
    now: null, before: null, askers: null, xor: false, focus: -1, hover: -1, marks: [], zoom: 1, x: 0, y: 0 };
}

function hearMap(map, news) {
  if (news.land) {
    map.land = { ...news.land, ...walkMoves(news.land), lines: new Path2D(news.land.borders) };
    Object.assign(map, { texts: new Map(), asked: new Set(), found: null });
  }
  if (news.forget) map.masks.clear();
  for (const [number, bits] of Object.entries(news.bits)) map.masks.set(Number(number), unpack(bits));
  if (news.now !== map.now) map.reasons.clear();
  Object.assign(map, { now: news.now, before: news.before, askers: news.asked ?? null, state: news.state, stateBefore: news.stateBefore, edited: Boolean(news.edited) });
  for (const { texts, found, why } of news.answers ?? []) {
    if (texts) map.texts.set(...texts);
    if (why) map.reasons.set(...why);
    if (found) map.found = found.bits ? readFound(map, found) : found;
  }
}

function readFound(map, { query, count, bits }) {
  const found = { query, count, bits: unpack(bits), ranks: [] };
  for (let rank = 0; rank < map.land.count && count <= MOST_RINGS; rank++) if (has(found.bits, rank)) found.ranks.push(rank);
  return found;
}

// The text of a token, or null until the kernel has sent its neighbourhood.
function textOf(map, rank, ask) {
  const chunk = Math.floor(rank / map.land.chunk);
  const texts = map.texts.get(chunk);
  if (texts) return texts[rank - chunk * map.land.chunk];
  if (!map.asked.has(chunk)) {
    map.asked.add(chunk);
    ask("texts", chunk);
  }
  return null;
}

const placeOf = (map, rank) => map.land.places.find(([, , stop]) => rank < stop);

// --- colours: the theme's, as the canvas wants them ---

function readColours(node) {
  const style = getComputedStyle(node);
  const pen = document.createElement("canvas").getContext("2d");
  const colour = (name) => {
    pen.fillStyle = style.getPropertyValue(`--gv-${name}`).trim();
    return pen.fillStyle;
  };
  const names = ["sea", "land", "foam", "page", "ink", "soft", "orange", "gold", "card"];
  return Object.fromEntries(names.map((name) => [name, colour(name)]));
}

const pixel = (hex) => (255 << 24) | (parseInt(hex.slice(5, 7), 16) << 16) | (parseInt(hex.slice(3, 5), 16) << 8) | parseInt(hex.slice(1, 3), 16);

function blend(one, two, part) {
  const mix = (i) => Math.round(parseInt(one.slice(i, i + 2), 16) * part + parseInt(two.slice(i, i + 2), 16) * (1 - part));
  return `#${[1, 3, 5].map((i) => mix(i).toString(16).padStart(2, "0")).join("")}`;
}

// --- painting the ground: one pixel a cell, then as large as it is shown ---

// Kinds of cells: 0 illegal (or in neither), 1 legal (or only now), 2 only before, 3 in both; found ones are 4 more.
// Those that asked the stack get their colour on top.
// Only bytes of eight tokens that changed are looked at, and only cells whose kind changed are painted.
function paintTile(map, tile, colours) {
  const { count, cells, places } = map.land;
  const [now, before, found] = [map.masks.get(map.now), map.xor ? map.masks.get(map.before) : null, map.found?.bits];
  const { kinds, pixels, counts, seas, last } = tile;
  if (tile.colours !== colours) Object.assign(tile, { colours, ...tileLooks(colours), last: null });
  const all = !tile.last || last.before !== before || last.found !== found;
  for (let byte = 0, place = 0; byte < now.length; byte++) {
    if (!all && now[byte] === last.now[byte]) continue;
    for (let rank = byte << 3; rank < Math.min(count, (byte + 1) << 3); rank++) {
      const bit = rank & 7;
      let kind = (now[byte] >> bit) & 1;
      if (before) kind |= ((before[byte] >> bit) & 1) << 1;
      if (found) kind |= ((found[byte] >> bit) & 1) << 2;
      if (kind === kinds[rank] && tile.last) continue;
      while (rank >= places[place][2]) place += 1;
      if (kinds[rank] !== UNPAINTED) counts[kinds[rank] & 3] -= 1;
      if (kinds[rank] !== UNPAINTED && (kinds[rank] & 3) === 1) seas[place] -= 1;
      if ((kind & 3) === 1) seas[place] += 1;
      counts[kind & 3] += 1;
      kinds[rank] = kind;
      pixels[cells[rank]] = tile.looks[kind];
    }
  }
  tileAsked(map.land, tile, askedRanks(map));
  tile.last = { now, before, found };
  tile.canvas.getContext("2d").putImageData(tile.image, 0, 0);
}

function tileLooks({ land, sea, orange, gold, soft, card }) {
  const plain = [land, sea, orange, blend(soft, card, 0.5)];
  const looks = [...plain, blend(gold, land, 0.45), gold, gold, gold].map(pixel);
  return { looks, askedLooks: [orange, gold].map(pixel) };
}

const UNPAINTED = 255; // the kind of a cell that was never painted

function newTile({ count, width, height, places }) {
  const canvas = make("canvas", { width, height });
  const image = canvas.getContext("2d").createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const kinds = new Uint8Array(count).fill(UNPAINTED);
  return { canvas, image, pixels, kinds, asked: NOBODY, counts: new Int32Array(4), seas: new Int32Array(places.length) };
}

function paintGround(map, ui, view) {
  const { width, height, scale } = view;
  const pen = ui.ground.getContext("2d");
  pen.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(ui.tile.canvas, map.x, map.y, width / scale, height / scale, 0, 0, width, height);
  pen.save();
  pen.scale(scale, scale);
  pen.translate(-map.x, -map.y);
  pen.strokeStyle = ui.colours.page;
  pen.globalAlpha = 0.7;
  pen.lineWidth = 1.2 / scale;
  pen.stroke(map.land.lines);
  pen.restore();
  if (scale >= TEXT_CELL) paintTexts(map, ui, view, pen);
  else paintNames(map, ui, view, pen);
}

const screen = (map, view, rank) => {
  const cell = map.land.cells[rank];
  const x = (cell % map.land.width) + 0.5;
  return [(x - map.x) * view.scale, (Math.floor(cell / map.land.width) + 0.5 - map.y) * view.scale];
};

function writeOn(pen, words, x, y, ink, ground) {
  pen.strokeStyle = ground;
  pen.fillStyle = ink;
  pen.strokeText(words, x, y);
  pen.fillText(words, x, y);
}

function startText(pen, font) {
  Object.assign(pen, { font, textAlign: "center", textBaseline: "middle", lineWidth: 3, lineJoin: "round" });
}

function paintNames(map, ui, view, pen) {
  const { colours } = ui;
  startText(pen, "12px system-ui, sans-serif");
  map.land.places.forEach(([name, start, stop, x, y, room], place) => {
    if (room * view.scale < pen.measureText(name).width) return;
    const sea = ui.tile.seas[place] > (stop - start) / 2;
    const ink = sea ? colours.foam : colours.ink;
    writeOn(pen, name, (x - map.x) * view.scale, (y - map.y) * view.scale, ink, sea ? colours.sea : colours.land);
  });
}

// Where cells are large: their borders, the curve as a thread, and the tokens themselves.
function paintTexts(map, ui, view, pen) {
  const { land } = map;
  const { scale, width, height } = view;
  const [left, top] = [Math.floor(map.x), Math.floor(map.y)];
  const [right, bottom] = [Math.min(land.width, Math.ceil(map.x + width / scale)), Math.min(land.height, Math.ceil(map.y + height / scale))];
  const ranks = [];
  for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) if (land.ranks[y * land.width + x] >= 0) ranks.push(land.ranks[y * land.width + x]);
  pen.strokeStyle = ui.colours.page;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (let x = left; x <= right; x++) pen.moveTo((x - map.x) * scale, 0), pen.lineTo((x - map.x) * scale, height);
  for (let y = top; y <= bottom; y++) pen.moveTo(0, (y - map.y) * scale), pen.lineTo(width, (y - map.y) * scale);
  pen.stroke();
  pen.globalAlpha = 0.5;
  pen.lineWidth = 2;
  pen.beginPath();
  for (const rank of ranks) if (rank + 1 < land.count) pen.moveTo(...screen(map, view, rank)), pen.lineTo(...screen(map, view, rank + 1));
  pen.stroke();
  pen.globalAlpha = 1;
  startText(pen, `${scale > 34 ? 13 : 11}px ui-monospace, "DejaVu Sans Mono", Menlo, monospace`);
  const letters = Math.floor(scale / (scale > 34 ? 8 : 6.7));
  const now = map.masks.get(map.now);
  const asked = new Set(ui.tile.asked);
  for (const rank of ranks) {
    const label = textOf(map, rank, ui.ask)?.[1];
    if (!label) continue;
    const plain = !map.xor && !asked.has(rank);
    const sea = has(now, rank) && plain;
    const words = label.length > letters ? `${label.slice(0, letters - 1)}…` : label;
    writeOn(pen, words, ...screen(map, view, rank), sea ? ui.colours.foam : ui.colours.ink, sea ? ui.colours.sea : plain ? ui.colours.land : ui.colours.page);
  }
}
