// The map by itself: type a text and see what may come after it, or press a state.

function buildChart(act) {
  const ui = { map: buildMap(act) };
  ui.about = make("span", { class: "gv-soft" });
  const head = make("div", { class: "gv-about" }, make("strong", {}, "the whole vocabulary"), ui.about);
  ui.text = make("input", { type: "text", class: "gv-find gv-read", "aria-label": "after the text", placeholder: "nothing yet", spellcheck: "false" });
  ui.text.addEventListener("input", () => act.say({ do: "read", text: ui.text.value }));
  ui.state = make("span", { class: "gv-soft" });
  ui.reading = make("label", { class: "gv-map-find" }, "after the text", ui.text);
  ui.states = make("span", { class: "gv-map-states", role: "group", "aria-label": "states" });
  ui.note = make("p", { class: "gv-note", role: "alert", hidden: true });
  const row = make("div", { class: "gv-map-row" }, ui.reading, ui.state, ui.states);
  const attributes = { class: "gv gv-stage gv-chart", role: "group", "aria-label": "vocabulary map", "data-lm-suppress-shortcuts": "true" };
  ui.root = make("div", attributes, make("header", {}, head, ui.map.tools), row, ui.note, ui.map.node);
  return ui;
}

function paintStates(ui, { states, at }, act) {
  if (ui.states.children.length !== states.length) {
    const press = (state) => () => act.say({ do: "state", state });
    ui.states.replaceChildren(...states.map((name, state) => make("button", { type: "button", on: { click: press(state) } }, name)));
  }
  [...ui.states.children].forEach((node, state) => node.setAttribute("aria-pressed", String(state === at)));
}

function paintChart(ui, news, act) {
  const { map } = ui.map;
  map.xor = map.before !== null;
  setText(ui.about, `${commas(map.land.count)} tokens in byte order along a Hilbert curve`);
  ui.reading.hidden = !news.reads;
  setText(ui.state, news.states.length ? "" : `state ${map.state}`);
  if (document.activeElement !== ui.text) ui.text.value = news.text;
  setText(ui.map.xor, map.xor ? `⊕ xor with ${map.stateBefore}` : `⊕ compare with ${map.state}`);
  paintStates(ui, news, act);
  paintNote(ui, news.note);
  ui.map.paint();
}

function showMap(model, el) {
  let wire = null;
  const say = (content) => wire?.say(content);
  const act = { say, xor: (on) => say({ do: "compare", on }), freezes: true };
  const ui = buildChart(act);
  el.append(ui.root);
  const onNews = (all) => {
    for (const { map } of all) ui.map.hear(map);
    if (ui.map.map.land) paintChart(ui, all.at(-1), act);
  };
  const onSilence = () => paintNote(ui, SILENCE);
  const saved = model.get("saved");
  if (saved?.map) onNews([saved]);
  wire = connect(model, { onNews, onSilence });
  return () => (ui.map.stop(), wire.stop());
}

// --- the map on the stage: the mask of the step at the cursor, and the model's likeliest tokens over it ---

function hangMap(slot, act) {
  const ui = buildMap({ say: act.say, take: act.pick, xor: (on) => ((ui.map.xor = ui.wished = on), ui.paint()) });
  const title = make("h4", {}, "the whole vocabulary");
  ui.aside = make("span", { class: "gv-soft" });
  slot.append(make("div", { class: "gv-panel-head" }, title, ui.aside, ui.tools), ui.node);
  slot.setAttribute("aria-label", "the whole vocabulary");
  ui.slot = slot;
  setText(ui.xor, "⊕ xor with the step before");
  return ui;
}

function paintHungMap(ui, view) {
  const { map, slot } = ui;
  slot.hidden = !map.land;
  if (!map.land) return;
  const step = view.steps[view.cursor - 1];
  const likely = step?.rows.map(([token, label, raw, , legal], i) => ({ rank: view.map.ranks[i], raw, legal, label, chosen: token === step.token }));
  if (ui.edited !== map.edited) {
    ui.edited = map.edited; // what an edit changed is shown at once; afterwards it is as it was
    map.xor = map.edited || Boolean(ui.wished);
    setText(ui.xor, map.edited ? "⊕ xor with the constraint before" : "⊕ xor with the step before");
  }
  map.marks = (!map.edited && likely?.sort((one, two) => two.raw - one.raw)) || []; // an edit is about the token that comes next
  setText(ui.aside, `${commas(map.land.count)} tokens in byte order along a Hilbert curve · ${map.state}`);
  ui.legend.setAttribute("aria-live", view.playing ? "off" : "polite");
  ui.paint();
}
