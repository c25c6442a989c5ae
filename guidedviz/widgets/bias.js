// Sliders on tokens: the same distribution as on the stage, before and after a constant is added to logits.

// Fine near zero, where it matters, and still -100 to 100: the amount grows with the cube of the slider's way.
const toBias = (way) => Math.round(1000 * way ** 3) / 10;
const toWay = (bias) => Math.cbrt(bias / 100);

const BIAS_WORDS = { legal: "Press to give it a slider.", forbidden: "", chosen: "has a bias" };

function buildBiasRow(token, label, act) {
  const name = make("span", { class: "gv-name" });
  spell(name, label);
  const input = make("input", { type: "range", min: -1, max: 1, step: 0.005, "aria-label": `bias of ${label}` });
  const number = make("input", { type: "number", min: -100, max: 100, step: 0.5, class: "gv-seed", "aria-label": `bias of ${label}, exactly` });
  input.addEventListener("input", () => act.bias(token, toBias(Number(input.value))));
  number.addEventListener("change", () => act.bias(token, Math.max(-100, Math.min(100, Number(number.value) || 0))));
  return { token, input, number, node: make("div", { class: "gv-bias-row" }, name, input, number) };
}

function buildBias(act) {
  const ui = { rows: [] };
  ui.badge = make("strong", { class: "gv-badge" });
  ui.about = make("span", { class: "gv-soft" });
  ui.reset = button("reset", "all sliders to zero", "", act.reset, "reset");
  const header = make("header", {}, make("div", { class: "gv-about" }, ui.badge, ui.about), ui.reset);
  ui.prompt = make("div", { class: "gv-prompt" });
  ui.sliders = make("div", { class: "gv-bias-rows" });
  ui.words = make("p", { class: "gv-words", role: "status", "aria-live": "polite" });
  ui.note = make("p", { class: "gv-note", role: "alert", hidden: true });
  ui.left = panel("bias", "added to the logit", ui.sliders);
  ui.right = panel("next", "next token");
  const grid = make("div", { class: "gv-grid gv-bias-grid" }, ui.left.node, ui.right.node);
  const attributes = { class: "gv gv-stage gv-bias", role: "group", "aria-label": "logit bias", "data-lm-suppress-shortcuts": "true" };
  ui.root = make("div", attributes, header, make("section", { class: "gv-panel gv-strip" }, ui.prompt, ui.words), ui.note, grid);
  return ui;
}

function paintSliders(ui, sliders, act) {
  if (ui.rows.length !== sliders.length) {
    ui.rows = sliders.map(([token, label]) => buildBiasRow(token, label, act));
    ui.sliders.replaceChildren(...ui.rows.map((row) => row.node));
  }
  sliders.forEach(([, , amount], place) => {
    const { input, number } = ui.rows[place];
    if (document.activeElement !== input) input.value = toWay(amount);
    if (document.activeElement !== number) number.value = amount;
    input.setAttribute("aria-valuetext", String(amount));
  });
}

function paintBias(ui, news, act) {
  paintSliders(ui, news.sliders, act);
  if (ui.distribution?.rows.length !== news.rows.length) {
    ui.distribution = buildDistribution(news.rows.length, act.slide, ["before", "after the bias"]);
    ui.distribution.rows.forEach((row) => setText(row.digit, ""));
    ui.right.node.replaceChildren(ui.right.head, ui.distribution.node);
    ui.right.head.replaceChildren(ui.right.head.firstChild, ui.distribution.legend);
  }
  const biased = new Set(news.sliders.filter(([, , amount]) => amount).map(([token]) => token));
  paintDistribution(ui.distribution, news.rows, biased, news.rest, BIAS_WORDS);
  ui.badge.className = `gv-badge gv-${news.source.toLowerCase()}`;
  setText(ui.badge, `${BADGES[news.source]} ${news.source}`);
  setText(ui.about, news.about);
  spell(ui.prompt, news.prompt);
  setText(ui.words, news.words);
  paintNote(ui, news.note);
}

function showBias(model, el) {
  let wire = null;
  const act = {
    bias: (token, value) => wire.say({ do: "bias", token, value }),
    slide: (token) => ui.rows.some((row) => row.token === token) || act.bias(token, 0),
    reset: () => wire.say({ do: "reset" }),
  };
  const ui = buildBias(act);
  el.append(ui.root);
  const onNews = (all) => paintBias(ui, all.at(-1), act);
  const onSilence = () => paintNote(ui, SILENCE);
  const saved = model.get("saved");
  if (saved?.rows) onNews([saved]);
  wire = connect(model, { onNews, onSilence });
  return wire.stop;
}
