// The deterministic-fraction slider. What follows the handles is painted here alone, from what came once: a text for each
// place and the two constants of the cost model. The kernel is asked only where the handles rest, and then for a live run.

const REST = 300; // milliseconds without a move
const WROTE = {
  "same tokens": "both ways wrote the same tokens",
  "same text, other tokens": "both ways wrote the same text, in other tokens",
  "other text": "the two ways wrote different texts",
};

const sayTimes = (speedup) => (speedup === Infinity ? "∞" : speedup.toFixed(speedup < 10 ? 2 : 1)) + "×";
const sayPasses = (count) => `${count} pass${count === 1 ? "" : "es"}`;
const sayRows = (rows) => `${rows} ${rows === 1 ? "text" : "texts"} side by side`;

// --- what it is built of, once ---

function buildLane(name) {
  const own = shape("path", { class: "gv-pass-own" });
  const read = shape("path", { class: "gv-pass-read" });
  const clock = shape("path", { class: "gv-pass-clock" });
  const svg = shape("svg", { viewBox: "0 0 1000 18", preserveAspectRatio: "none", class: "gv-lane", "aria-hidden": "true" }, own, read, clock);
  const said = make("span", { class: "gv-lane-said" });
  return { own, read, clock, said, nodes: [make("span", { class: "gv-soft" }, name), svg, said] };
}

function buildFractionLegend(ui) {
  const line = (name, words) => {
    ui.says[name] = make("b", {});
    return [make("i", { class: `gv-sign gv-sign-${name}` }), make("span", {}, words), ui.says[name]];
  };
  ui.others = make("span", { class: "gv-soft gv-others" }, make("i", { class: "gv-sign gv-sign-others" }), "with other rows");
  const lines = [...line("ideal", "ideal, 1/(1 − f)"), ...line("model", "cost model"), ...line("measured", "measured")];
  return make("div", { class: "gv-fraction-legend" }, ...lines, ui.others);
}

function buildFraction(act) {
  const ui = { says: {}, seen: new Map() };
  ui.badge = make("strong", { class: "gv-badge" });
  ui.about = make("span", { class: "gv-soft" });
  ui.again = button("reset", "time this place", "", act.again, make("span", {}, "time here"));
  ui.sweep = button("step", "time every place, from left to right", "", act.sweep, make("span", {}, "time every place"));
  const header = make("header", {}, make("div", { class: "gv-about" }, ui.badge, ui.about), ui.again, ui.sweep);
  ui.words = make("p", { class: "gv-fraction-words" });
  ui.fate = make("p", { class: "gv-soft gv-fraction-fate", role: "status", "aria-live": "polite" });
  ui.note = make("p", { class: "gv-note", role: "alert", hidden: true });

  ui.plot = make("div", { class: "gv-fraction-plot" });
  ui.share = make("input", { type: "range", min: 0, step: 0.005, class: "gv-share", "aria-label": "fraction of tokens that are fixed" });
  ui.rows = make("input", { type: "range", min: 0, step: 0.05, class: "gv-batch", "aria-label": "texts side by side" });
  ui.count = make("output");
  const batch = make("label", { class: "gv-fraction-rows" }, "texts side by side", ui.rows, ui.count);
  const left = make("section", { class: "gv-panel", "aria-label": "speed-up" }, ui.plot, ui.share, batch);

  ui.kinds = make("div", { class: "gv-fraction-kinds gv-soft" });
  ui.text = make("div", { class: "gv-fraction-text", "aria-label": "text" });
  const right = make("section", { class: "gv-panel", "aria-label": "text" }, buildFractionLegend(ui), ui.kinds, ui.text);

  ui.lanes = [buildLane("token by token"), buildLane("jump-forward")];
  const key = (name, words) => make("span", {}, make("i", { class: `gv-sign gv-sign-${name}` }), words);
  ui.clock = key("clock", "measured");
  const keys = make("div", { class: "gv-fraction-keys gv-soft" }, key("own", "a pass"), key("read", "the tokens that it reads, at the price of the cost model"), ui.clock);
  const lanes = make("section", { class: "gv-panel gv-fraction-lanes", "aria-label": "passes" }, ...ui.lanes.flatMap((lane) => lane.nodes), keys);

  const grid = make("div", { class: "gv-fraction-grid" }, left, right);
  const attributes = { class: "gv gv-stage gv-fraction", role: "group", "aria-label": "fraction slider", "data-lm-suppress-shortcuts": "true" };
  ui.root = make("div", attributes, header, ui.words, ui.note, grid, lanes, ui.fate);
  return ui;
}

// --- painting, at most once a frame ---

function paintParts(ui, { parts }) {
  if (!ui.seen.has(parts)) {
    const chips = parts.map(([label, fixed]) => {
      const chip = make("span", { class: `gv-name gv-part-${fixed ? "fixed" : "free"}` });
      spell(chip, label);
      return chip;
    });
    ui.seen.set(parts, chips);
  }
  ui.text.replaceChildren(...ui.seen.get(parts));
  const free = parts.filter(([, fixed]) => !fixed).length;
  const sign = (name) => make("i", { class: `gv-sign gv-sign-${name}` });
  ui.kinds.replaceChildren(make("span", {}, sign("fixed"), `${parts.length - free} fixed`), make("span", {}, sign("free"), `${free} free: the model chooses`));
}

function paintSentence(ui, view, text, run, rows) {
  const said = { ideal: sayTimes(ideal(text.share)), model: sayTimes(speedup(view.cost, text.share, rows)), measured: run ? run.times : "–" };
  for (const name in said) setText(ui.says[name], said[name]);
  const side = rows > 1 ? `, ${sayRows(rows)}` : "";
  const passes = `${sayPasses(text.passes[1])} instead of ${text.passes[0]}`;
  const measured = run ? `measured ${said.measured}` : "not measured here";
  const words = `${Math.round(100 * text.share)}% fixed: ${text.parts.length} tokens${side}, ${passes}; ${measured}, the cost model says ${said.model}, ideal ${said.ideal}`;
  setText(ui.words, words);
  ui.share.setAttribute("aria-valuetext", words);
  ui.rows.setAttribute("aria-valuetext", `${sayRows(rows)}; the cost model says ${said.model}`);
  setText(ui.count, String(rows));
}

function sayRun(view, text, run) {
  if (view.timing) return `timing ${text.passes[0]} tokens both ways …`;
  if (run) return `measured ${run.times} a token: ${run.said[1]} for ${run.tokens[1]} tokens instead of ${run.said[0]} for ${run.tokens[0]}; ${WROTE[run.difference]}`;
  return view.head.live ? "Let the handles rest, and a live run is timed here." : "These runs are recorded: the dots are where they were timed.";
}

function paintFate(ui, view, text, run) {
  setText(ui.fate, sayRun(view, text, run));
  ui.root.dataset.timing = view.timing;
  ui.again.hidden = ui.sweep.hidden = !view.head.live;
  ui.again.disabled = view.timing;
  setText(ui.again.lastChild, run ? "time again" : "time here");
  ui.sweep.setAttribute("aria-pressed", view.sweeping);
  setText(ui.sweep.lastChild, view.sweeping ? "stop here" : "time every place");
}

// Between two places only the line moves; a text, its passes and its words come with its place.
function paintFraction(ui, view) {
  const [place, rows] = [view.place, view.rows[view.batch]];
  const run = view.runs.find((other) => other.place === place && other.rows === rows);
  const text = run ?? view.texts[place];
  const [bent, turned, said] = [ui.log !== view.log, ui.shown !== text, ui.pointed !== rows];
  moveHandle(ui, view, view.share, 2 ** view.log);
  if (bent) bendModel(ui, view, 2 ** view.log);
  if (said || ui.points !== view.runs) paintPoints(ui, view, rows);
  if (turned) paintParts(ui, text);
  if (turned || bent) paintLanes(ui, view, text, run, 2 ** view.log);
  if (turned || said) paintSentence(ui, view, text, run, rows);
  paintFate(ui, view, text, run);
  paintNote(ui, view.note);
  [ui.log, ui.points, ui.pointed, ui.shown] = [view.log, view.runs, rows, text];
  ui.root.dataset.place = place;
  ui.root.dataset.runs = view.runs.length;
}

function showPlot(ui, view) {
  const svg = parseDrawing(view.plot);
  ui.parts = Object.fromEntries([...svg.querySelectorAll("[data-part]")].map((node) => [node.dataset.part, node]));
  ui.plot.replaceChildren(svg);
  for (const name of ["left", "span"]) ui.root.style.setProperty(`--gv-${name}`, view.scale[name] / view.scale.width);
  ui.share.max = view.scale.last;
  ui.rows.max = view.rows.length - 1;
  ui.badge.className = `gv-badge gv-${view.head.source.toLowerCase()}`;
  setText(ui.badge, `${BADGES[view.head.source]} ${view.head.source}`);
  setText(ui.about, view.head.about);
  ui.log = ui.points = ui.shown = ui.pointed = undefined;
}

// --- the handles ---

function wireHandles(ui, view, act) {
  const wire = (input, count, get, set) => {
    const go = (stop) => {
      input.value = set(Math.max(0, Math.min(count() - 1, stop)));
      act.moved();
    };
    input.addEventListener("input", () => (set(get(Number(input.value)), Number(input.value)), act.moved()));
    input.addEventListener("change", () => go(get(Number(input.value)))); // let go between two stops, it goes to the nearer
    input.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      go(get(Number(input.value)) + way);
    });
  };
  wire(ui.share, () => view.places.length, (value) => Math.round(value * view.places.length), (place, exact) => {
    view.place = place;
    return (view.share = exact ?? view.places[place]);
  });
  wire(ui.rows, () => view.rows.length, Math.round, (batch, exact) => {
    view.batch = batch;
    return (view.log = exact ?? batch);
  });
}

function showFraction(model, el) {
  const view = { runs: [], timing: false, sweeping: false, note: "" };
  let [wire, resting, due, asked] = [null, 0, false, ""];
  const here = () => `${view.place} ${view.batch}`;
  const isKnown = (place) => view.runs.some((run) => run.place === place && run.rows === view.rows[view.batch]);
  const paint = () => {
    if (due || !view.head) return;
    due = true;
    nextFrame(() => ((due = false), paintFraction(ui, view)));
  };
  const put = ([place, batch]) => {
    Object.assign(view, { place, batch, share: view.places[place], log: batch });
    [ui.share.value, ui.rows.value] = [view.share, view.log];
  };
  const rest = (again) => {
    asked = here();
    wire.say({ do: "rest", place: view.place, rows: view.rows[view.batch], time: view.head.live && (again === true || !isKnown(view.place)) });
  };
  const goOn = () => {
    const next = view.places.findIndex((_, place) => !isKnown(place));
    view.sweeping = next >= 0;
    if (next < 0) return;
    put([next, view.batch]);
    rest();
  };
  const act = {
    again: () => rest(true),
    sweep: () => (view.sweeping ? act.moved(true) : goOn(), paint()),
    moved: (stop) => {
      paint();
      if (here() === asked && !stop) return;
      if (asked) wire.say({ do: "move" });
      [asked, view.timing, view.sweeping] = ["", false, false];
      clearTimeout(resting);
      if (!stop) resting = setTimeout(rest, REST);
    },
  };
  const ui = buildFraction(act);
  el.append(ui.root);
  wireHandles(ui, view, act);
  const onNews = (all) => {
    for (const { from, add, at, ...news } of all) {
      const grown = from + add.length > view.runs.length;
      view.runs = [...view.runs.slice(0, from), ...add];
      Object.assign(view, news);
      if (news.head) showPlot(ui, view);
      if (at && (!news.head || view.place === undefined)) put(at);
      view.sweeping &&= !view.note;
      if (grown && view.sweeping) goOn();
    }
    paint();
  };
  const onSilence = () => view.head?.live && ((view.note = SILENCE), paint()); // recorded runs need no kernel
  const saved = model.get("saved");
  if (saved?.head) onNews([saved]);
  wire = connect(model, { onNews, onSilence });
  return () => (clearTimeout(resting), wire.stop());
}
