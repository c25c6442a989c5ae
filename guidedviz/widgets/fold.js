// A machine with its chains folded. A thick arrow is a button: the kernel draws the machine anew with the chain
// unfolded or folded, the states glide to their new places.

const GLIDE = 350; // milliseconds

function buildFold(act) {
  const ui = { diagram: buildDiagram() };
  ui.about = make("span", { class: "gv-soft" });
  ui.all = make("button", { type: "button", class: "gv-key" });
  ui.all.addEventListener("click", act.all);
  const head = make("div", { class: "gv-about" }, make("strong", {}, "folded machine"), ui.about);
  const header = make("header", {}, head, make("div", { class: "gv-controls" }, ui.diagram.size.node, ui.all));
  ui.note = make("p", { class: "gv-note", role: "alert", hidden: true });
  ui.legend = make("p", { class: "gv-soft", role: "status" });
  const screen = make("section", { class: "gv-panel", "aria-label": "machine" }, ui.diagram.node);
  const attributes = { class: "gv gv-stage gv-chart gv-fold", role: "group", "aria-label": "folded machine", "data-lm-suppress-shortcuts": "true" };
  ui.root = make("div", attributes, header, ui.note, screen, ui.legend);
  return ui;
}

// Every arrow and state of a chain turns it when it is pressed; its first arrow is the one that the keyboard reaches.
function wireChain({ arrows, states }, chain, turn) {
  const own = [...chain.arrows.map((key) => arrows.get(key)), ...chain.states.map((state) => states.get(state))].filter(Boolean);
  for (const node of own) {
    node.classList.add("gv-turns");
    node.addEventListener("click", () => turn(chain));
  }
  const [first] = own;
  if (!first) return;
  const label = `${chain.words}: ${chain.open ? "fold" : "unfold"}`;
  const about = { tabindex: 0, role: "button", "aria-expanded": chain.open, "aria-label": label };
  for (const [name, value] of Object.entries(about)) first.setAttribute(name, value);
  first.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    turn(chain);
    event.preventDefault();
    event.stopPropagation();
  });
}

function glide(diagram, before) {
  if (CALM.matches) return;
  for (const node of diagram.arrows.values()) node.animate([{ opacity: 0 }, { opacity: 1 }], GLIDE);
  for (const [state, node] of diagram.states) {
    const [from, to] = [before.get(state), spotOf(node)];
    const start = from ? { transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` } : { opacity: 0 };
    node.animate([start, {}], { duration: GLIDE, easing: "ease-out" });
  }
}

function paintFold(ui, news, turn) {
  const { diagram } = ui;
  setText(ui.about, news.words);
  setText(ui.legend, news.legend);
  setText(ui.all, news.chains.some((chain) => chain.open) ? "fold all" : "unfold all");
  ui.all.hidden = !news.chains.length;
  paintNote(ui, "");
  if (ui.shown === news.svg) return;
  ui.shown = news.svg;
  const before = new Map([...diagram.states].map(([state, node]) => [state, spotOf(node)]));
  const held = diagram.sheets.contains(document.activeElement) && document.activeElement.dataset.arrow;
  showDrawing(diagram, news.svg);
  diagram.svg.setAttribute("role", "group");
  news.chains.forEach((chain) => wireChain(diagram, chain, turn));
  if (before.size) glide(diagram, before);
  const source = diagram.states.get(ui.source);
  diagram.at = source && spotOf(source);
  follow(diagram);
  if (held) diagram.arrows.get(held)?.focus({ preventScroll: true });
}

function showFold(model, el) {
  let wire = null;
  const ui = buildFold({ all: () => wire.say({ do: "all" }) });
  const turn = (chain) => {
    ui.source = Number.parseInt(chain.arrows[0]); // its first arrow's key begins with the state before it, which stays in sight
    wire.say({ do: "turn", chain: chain.name });
  };
  el.append(ui.root);
  const onNews = (all) => paintFold(ui, all.at(-1), turn);
  const saved = model.get("saved");
  if (saved?.svg) onNews([saved]);
  wire = connect(model, { onNews, onSilence: () => paintNote(ui, SILENCE) });
  return wire.stop;
}
