// The map under a person's hand: point, search, zoom, walk along the bytes with the keys.

const MAP_KEYS = "arrows walk along the bytes, page keys go from place to place, plus and minus zoom, 0 shows all, n goes to the next found";

const HINT = "Point at a cell to see its token, press it to keep it. Then arrows walk along the bytes and the wheel zooms.";

function buildMap(act) {
  const map = newMap();
  const ui = { ask: (ask, of) => act.say({ do: "map", ask, of }), width: 0, tile: null, colours: null };
  ui.ground = make("canvas", { "aria-hidden": "true" });
  ui.marks = make("canvas", { "aria-hidden": "true" });
  ui.tip = make("div", { class: "gv-tip", hidden: true });
  const about = { tabindex: 0, role: "application", "aria-roledescription": "map" };
  ui.sheet = make("div", { class: "gv-map", ...about }, ui.ground, ui.marks, ui.tip);
  ui.legend = make("div", { class: "gv-map-legend", role: "status" });
  ui.search = make("input", { type: "search", class: "gv-find", placeholder: "find tokens", "aria-label": "find tokens" });
  ui.found = make("span", { class: "gv-soft", role: "status", "aria-live": "polite" });
  ui.card = make("p", { class: "gv-map-card", "aria-live": "polite" });
  ui.xor = make("button", { type: "button", class: "gv-xor", "aria-pressed": "false" }, "⊕ xor");
  const small = (words, label, press) => make("button", { type: "button", "aria-label": label, title: label, on: { click: press } }, words);
  const zoom = (factor) => () => ui.view && zoomMap(map, ui, factor);
  const zooms = make("span", { class: "gv-zooms", role: "group", "aria-label": "zoom" },
    small("−", "zoom out", zoom(1 / 2)), small("+", "zoom in", zoom(2)), small("⤢", "show all", zoom(0)));
  ui.tools = make("span", { class: "gv-map-tools" }, ui.xor, zooms);
  const finder = make("label", { class: "gv-map-find" }, ui.found, ui.search);
  ui.node = make("div", { class: "gv-map-all" }, ui.sheet, make("div", { class: "gv-under" }, ui.legend, finder), ui.card);
  ui.map = map;
  ui.hear = (news) => hearMap(map, news);
  ui.paint = () => paintMap(map, ui, act);
  ui.xor.addEventListener("click", () => act.xor(!map.xor));
  wirePointer(map, ui);
  wireMapKeys(map, ui);
  wireFind(map, ui);
  ui.stop = watchPage(ui);
  return ui;
}

// --- painting ---

const measure = (map, ui) => {
  const { width } = ui; // as last observed: to ask the page now would make it lay itself out at every step
  const base = width / map.land.width;
  return { width, height: base * map.land.height, base, scale: base * map.zoom, dpr: window.devicePixelRatio || 1 };
};

function fit(canvas, { width, height, dpr }) {
  const size = [Math.round(width * dpr), Math.round(height * dpr)];
  if (canvas.width !== size[0]) canvas.width = size[0];
  if (canvas.height !== size[1]) canvas.height = size[1];
}

// All of it, but only what changed since it was last painted.
function paintMap(map, ui, act) {
  if (!map.land || !map.masks.has(map.now)) return;
  if (ui.land !== map.land) setLand(map, ui);
  if (!ui.width) return;
  const view = (ui.view = measure(map, ui));
  ui.colours ||= readColours(ui.sheet);
  if (map.xor && !map.masks.has(map.before)) map.xor = false;
  const ground = [map.now, map.askers, map.xor && map.before, map.found?.query, ui.colours.sea, map.land.count].join();
  if (ui.painted !== ground) {
    paintTile(map, ui.tile, ui.colours);
    paintLegend(map, ui);
    ui.painted = ground;
  }
  const place = [ground, map.x, map.y, map.zoom, view.width, view.dpr, map.texts.size].join();
  if (ui.placed !== place) {
    [ui.ground, ui.marks].forEach((canvas) => fit(canvas, view));
    paintGround(map, ui, view);
    ui.placed = place;
  }
  paintMarks(map, ui, view);
  paintFoundWords(map, ui);
  paintCard(map, ui, act);
  paintTip(map, ui);
  ui.xor.disabled = act.freezes ? false : map.before === null;
  ui.xor.setAttribute("aria-pressed", String(map.xor));
}

function setLand(map, ui) {
  Object.assign(ui, { land: map.land, tile: newTile(map.land), painted: "" });
  ui.sheet.style.maxWidth = `${map.land.width * LARGEST_CELL}px`;
  ui.sheet.style.aspectRatio = `${map.land.width} / ${map.land.height}`;
}

function paintLegend(map, ui) {
  const [illegal, legal, gone, both] = ui.tile.counts;
  const entry = (kind, words, count) => [make("i", { class: `gv-cell gv-cell-${kind}` }), `${words} `, make("b", {}, commas(count))];
  const ends = map.land.eos.some((rank) => has(map.masks.get(map.now), rank));
  const end = map.land.eos.length ? make("span", { class: "gv-soft" }, `EOS ${ends ? "legal" : "illegal"}`) : "";
  const sure = [make("span", {}, ...entry("legal", "legal", legal), ` (${share(legal / map.land.count)})`), make("span", {}, ...entry("illegal", "illegal", illegal))];
  const three = askedEntries(ui.tile).map((words) => make("span", {}, ...entry(...words)));
  const alone = [...(map.askers === null ? sure : three), end];
  const two = [make("span", {}, ...entry("before", `only ${map.stateBefore}`, gone)), make("span", {}, ...entry("legal", `only ${map.state}`, legal)),
    make("span", {}, ...entry("both", "both", both)), make("span", {}, ...entry("illegal", "neither", illegal))];
  ui.legend.replaceChildren(...(map.xor ? two : alone));
  ui.sheet.setAttribute("aria-label", `map of ${commas(map.land.count)} tokens: ${ui.legend.textContent}. ${MAP_KEYS}`);
}

function paintFoundWords(map, ui) {
  const { found } = map;
  if (!found) return setText(ui.found, "");
  if (found.note) return setText(ui.found, found.note);
  let legal = 0;
  const now = map.masks.get(map.now);
  for (let i = 0; i < found.bits.length; i++) for (let bits = found.bits[i] & now[i]; bits; bits &= bits - 1) legal += 1;
  setText(ui.found, `${commas(found.count)} found, ${commas(legal)} legal`);
}

// What stands under a pointer or a key: text, id, bytes, place, legal or why not.
function describe(map, ui, rank) {
  const text = textOf(map, rank, ui.ask);
  const legal = has(map.masks.get(map.now), rank);
  const place = placeOf(map, rank)[0];
  const name = make("span", { class: "gv-name" });
  spell(name, text ? text[1] : "…");
  const about = text ? `id ${text[0]} · bytes ${text[2] || "none"} · ${place}` : place;
  const reason = text && map.reasons.get(text[0]);
  const fate = make("b", { class: legal ? "gv-legal" : "gv-illegal" }, `${legal ? "✓" : "✕"} ${sayFate(map, legal, rank)}`);
  return { text, legal, reason, parts: [name, make("span", { class: "gv-soft" }, about), fate, ...(reason ? [make("span", {}, reason)] : [])] };
}

function paintCard(map, ui, act) {
  const said = map.focus < 0 ? "" : [map.focus, map.now, map.texts.has(Math.floor(map.focus / map.land.chunk)), map.reasons.size].join();
  if (ui.carded === said) return;
  ui.carded = said;
  if (map.focus < 0) return ui.card.replaceChildren(make("span", { class: "gv-soft" }, HINT));
  const { text, legal, reason, parts } = describe(map, ui, map.focus);
  if (text && !reason) ui.ask("why", text[0]);
  const take = make("button", { type: "button", on: { click: () => act.take(text[0]) } }, "put it in");
  const can = act.take && legal && text && map.marks.length;
  ui.card.replaceChildren(...parts, ...(can ? [take] : []));
}

function paintTip(map, ui) {
  ui.tip.hidden = map.hover < 0;
  if (map.hover < 0) return;
  ui.tip.replaceChildren(...describe(map, ui, map.hover).parts);
  const [x, y] = screen(map, ui.view, map.hover);
  ui.tip.style.left = `${Math.max(0, Math.min(x + 14, ui.view.width - ui.tip.offsetWidth))}px`;
  ui.tip.style.top = y > ui.view.height / 2 ? `${y - ui.tip.offsetHeight - 14}px` : `${y + 16}px`;
}

// --- moving ---

function zoomMap(map, ui, factor, px = ui.view.width / 2, py = ui.view.height / 2) {
  const { base, scale } = ui.view;
  const zoom = factor ? Math.max(1, Math.min(Math.max(1, MOST_ZOOM / base), map.zoom * factor)) : 1;
  const [cx, cy] = [map.x + px / scale, map.y + py / scale];
  map.zoom = zoom;
  moveMap(map, ui, cx - px / (base * zoom), cy - py / (base * zoom));
}

function moveMap(map, ui, x, y) {
  map.x = Math.max(0, Math.min(map.land.width * (1 - 1 / map.zoom), x));
  map.y = Math.max(0, Math.min(map.land.height * (1 - 1 / map.zoom), y));
  ui.paint();
}

function focusOn(map, ui, rank) {
  map.focus = Math.max(0, Math.min(map.land.count - 1, rank));
  const cell = map.land.cells[map.focus];
  const [x, y] = [cell % map.land.width, Math.floor(cell / map.land.width)];
  const [wide, high] = [map.land.width / map.zoom, map.land.height / map.zoom];
  const outside = x < map.x || y < map.y || x + 1 > map.x + wide || y + 1 > map.y + high;
  if (outside) moveMap(map, ui, x - wide / 2, y - high / 2);
  else ui.paint();
}

function nextFound(map, rank, way) {
  const { count } = map.land;
  for (let i = 1; map.found?.bits && i <= count; i++) {
    const at = (rank + way * i + count * 2) % count;
    if (has(map.found.bits, at)) return at;
  }
  return rank;
}

function nextPlace(map, rank, way) {
  const at = map.land.places.indexOf(placeOf(map, Math.max(0, rank)));
  return map.land.places[Math.max(0, Math.min(map.land.places.length - 1, at + way))][1];
}

function walkKey(map, key) {
  const { focus, land } = map;
  const beside = (dx, dy) => {
    const cell = land.cells[Math.max(0, focus)];
    const [x, y] = [(cell % land.width) + dx, Math.floor(cell / land.width) + dy];
    const rank = x >= 0 && y >= 0 && x < land.width && y < land.height ? land.ranks[y * land.width + x] : -1;
    return rank < 0 ? focus : rank;
  };
  const to = { ArrowRight: focus + 1, ArrowLeft: focus - 1, Home: 0, End: land.count - 1 };
  if (key in to) return to[key];
  if (key === "ArrowUp" || key === "ArrowDown") return beside(0, key === "ArrowUp" ? -1 : 1);
  if (key === "PageDown" || key === "PageUp") return nextPlace(map, focus, key === "PageDown" ? 1 : -1);
  if (key === "n" || key === "N") return nextFound(map, focus, key === "n" ? 1 : -1);
  return null;
}

// --- wiring ---

const pressed = (ui, event) => {
  const box = ui.sheet.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function rankAt(map, ui, [px, py]) {
  const [x, y] = [Math.floor(map.x + px / ui.view.scale), Math.floor(map.y + py / ui.view.scale)];
  return x < 0 || y < 0 || x >= map.land.width || y >= map.land.height ? -1 : map.land.ranks[y * map.land.width + x];
}

// A pointer that rests on an illegal token gets to hear why.
function pointAt(map, ui, rank) {
  if (rank === map.hover) return;
  map.hover = rank;
  clearTimeout(ui.rest);
  ui.rest = setTimeout(() => {
    const text = rank >= 0 && textOf(map, rank, ui.ask);
    if (text && !map.reasons.has(text[0]) && !has(map.masks.get(map.now), rank)) ui.ask("why", text[0]);
  }, 300);
  ui.paint();
}

function wirePointer(map, ui) {
  let held = null;
  const on = (name, act, options) => ui.sheet.addEventListener(name, (event) => ui.view && act(event, pressed(ui, event)), options);
  on("pointerdown", (event, from) => {
    held = { from, x: map.x, y: map.y, moved: false };
    ui.sheet.setPointerCapture(event.pointerId);
  });
  on("pointermove", (event, [x, y]) => {
    if (!held) return pointAt(map, ui, rankAt(map, ui, [x, y]));
    held.moved ||= Math.hypot(x - held.from[0], y - held.from[1]) > 4;
    if (!held.moved || map.zoom === 1) return;
    map.hover = -1;
    moveMap(map, ui, held.x - (x - held.from[0]) / ui.view.scale, held.y - (y - held.from[1]) / ui.view.scale);
  });
  on("pointerup", (event, where) => {
    const rank = held && !held.moved ? rankAt(map, ui, where) : -1;
    if (rank >= 0) focusOn(map, ui, rank);
    held = null;
  });
  on("pointerleave", () => pointAt(map, ui, -1));
  on("dblclick", (event, where) => zoomMap(map, ui, 2, ...where));
  // The wheel scrolls the page, as everywhere, until the map has been pressed.
  on("wheel", (event, where) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== ui.sheet) return;
    event.preventDefault();
    zoomMap(map, ui, Math.exp(-event.deltaY / 300), ...where);
  }, { passive: false });
}

const ZOOMS = { "+": 2, "=": 2, "-": 1 / 2, 0: 0 };

function wireMapKeys(map, ui) {
  ui.sheet.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !ui.view) return;
    const rank = walkKey(map, event.key);
    if (rank !== null) focusOn(map, ui, rank);
    else if (event.key in ZOOMS) zoomMap(map, ui, ZOOMS[event.key], ...(map.focus >= 0 ? screen(map, ui.view, map.focus) : []));
    else if (event.key === "Escape") Object.assign(map, { focus: -1, hover: -1 }), ui.paint();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

function wireFind(map, ui) {
  let typing = 0;
  const find = (wait) => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      if (ui.search.value) return ui.ask("find", ui.search.value);
      map.found = null;
      ui.paint();
    }, wait);
  };
  ui.search.addEventListener("input", () => find(300));
  ui.search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter") return;
    if (map.found?.bits && map.found.query === ui.search.value) focusOn(map, ui, nextFound(map, map.focus, 1));
    else find(0);
  });
}

function watchPage(ui) {
  const look = () => nextFrame(() => Object.assign(ui, { colours: null, painted: "" }) && ui.paint()); // first hidden, then changed
  const resize = ([{ contentRect }]) => ((ui.width = contentRect.width), ui.paint());
  const watches = [new ResizeObserver(resize), new MutationObserver(look)];
  watches[0].observe(ui.sheet);
  watches[1].observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  return () => watches.forEach((watch) => watch.disconnect());
}
