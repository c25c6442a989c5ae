// The stack beside the machine: a frame for every open rule, the innermost on top. A frame keeps its node on the page as
// long as its call is open, so that one sees what was pushed and what was popped; inside a token, byte after byte.

const FEW_FRAMES = 7; // a deeper stack is folded
const INNER = 5; // frames that stay on top of the fold
const BEAT = 150; // milliseconds a byte is seen
const LONGEST = 900; // milliseconds for all bytes of one token
const LEAVING = 180; // milliseconds that a popped frame takes to go
const TABS = { stack: "stack", shared: "shared", tree: "tree", chart: "chart", depth: "depth" };
const TAB_WORDS = {
  stack: "the open rules, innermost first",
  shared: "all stacks at once, their tails shared",
  tree: "the parse tree so far",
  chart: "the Earley chart of the same grammar",
  depth: "how deep the stack was along the text",
};

function hangStack(slot, act) {
  const ui = { slot, nodes: new Map(), tab: "stack", timer: 0, at: null, said: "" };
  const head = make("div", { class: "gv-panel-head" }, make("h4", {}, "stack"), (ui.depth = make("span", { class: "gv-soft" })));
  ui.tabs = toggle("", TABS, (tab) => act.say({ do: "picture", name: pickTab(ui, tab) }));
  for (const node of ui.tabs.node.children) node.title = TAB_WORDS[node.dataset.name];
  ui.tabs.node.setAttribute("aria-label", "picture of the stack");
  ui.byte = make("p", { class: "gv-stack-byte" });
  ui.column = make("ol", { class: "gv-stack-column", "aria-label": "open rules, innermost first" });
  ui.fold = make("li", { class: "gv-fold" });
  ui.ground = make("p", { class: "gv-ground gv-soft" });
  ui.stack = make("div", { class: "gv-stack" }, ui.byte, ui.column, ui.ground);
  ui.picture = make("div", { class: "gv-stack-picture", hidden: true });
  slot.setAttribute("aria-label", "stack");
  slot.append(head, ui.tabs.node, ui.stack, ui.picture);
  pickTab(ui, "stack");
  return ui;
}

function pickTab(ui, tab) {
  ui.tab = tab;
  ui.tabs.set(tab);
  ui.stack.hidden = tab !== "stack";
  ui.picture.hidden = tab === "stack";
  ui.slot.classList.toggle("gv-wide", tab !== "stack");
  return tab;
}

// --- frames ---

function buildFrame() {
  const [rule, height, waits] = [make("b"), make("small"), make("span", { class: "gv-waits" })];
  return { node: make("li", { class: "gv-frame-card" }, rule, height, waits), rule, height, waits };
}

function fillFrame(frame, [, rule, waits], height, top) {
  setText(frame.rule, rule);
  setText(frame.height, String(height));
  setText(frame.waits, `${top ? "now" : "then"} ${waits}`);
  frame.node.title = top ? `${rule}: here may come ${waits}` : `${rule}: when what is above it ends, ${waits} may come`;
  frame.node.classList.toggle("gv-top", top);
}

// Innermost first; what is folded away lies between the last of the inner frames and the outermost.
function chooseFrames({ frames, depth }) {
  const rows = frames.map((frame, place) => [frame, depth - place]);
  if (depth <= FEW_FRAMES) return { rows, fold: -1 };
  return { rows: [...rows.slice(0, INNER), ...(rows.length === depth ? rows.slice(-1) : [])], fold: INNER };
}

function showFrames(ui, state, lively) {
  if (ui.at === state) return;
  ui.at = state;
  const { rows, fold } = chooseFrames(state);
  const wanted = rows.map(([frame, height], place) => {
    const known = ui.nodes.get(frame[0]);
    const card = known ?? buildFrame();
    fillFrame(card, frame, height, place === 0);
    card.node.classList.toggle("gv-pushed", !known && lively);
    ui.nodes.set(frame[0], card);
    return card.node;
  });
  const shown = new Set(rows.map(([frame]) => frame[0]));
  for (const [number, card] of ui.nodes) if (!shown.has(number)) (ui.nodes.delete(number), leave(card.node, lively));
  if (fold >= 0) {
    setText(ui.fold, `⋮ ${commas(state.depth - rows.length)} more`);
    wanted.splice(fold, 0, ui.fold);
  } else ui.fold.remove();
  let next = ui.column.firstChild;
  for (const node of wanted) {
    while (next?.classList.contains("gv-popped")) next = next.nextSibling;
    if (node === next) next = next.nextSibling;
    else ui.column.insertBefore(node, next);
  }
  setText(ui.depth, `depth ${commas(state.depth)}${state.stacks > 1 ? ` · first of ${state.stacks}` : ""}`);
  setText(ui.ground, state.ends ? "bottom · the text may end" : "bottom");
}

function leave(node, lively) {
  if (!lively) return node.remove();
  node.classList.add("gv-popped");
  setTimeout(() => node.remove(), LEAVING);
}

// --- one cursor for stack and machine, down to the byte ---

// The state after so many bytes of a way, on the stack and in the drawing.
function standAt(ui, machine, view, way, count, lively) {
  const state = view.known[way.path[count]];
  if (!state) return;
  showFrames(ui, state, lively);
  lightStack(machine, view.known, way, count);
  const read = way.bytes[count - 1];
  const said = way.died && count === way.path.length - 1 ? `✕ ${way.died} cannot come` : count ? `${read} read` : "";
  setText(ui.byte, said);
  ui.byte.classList.toggle("gv-died", said[0] === "✕");
}

function walkBytes(ui, machine, view, way, lively) {
  clearTimeout(ui.timer);
  const last = way.path.length - 1;
  if (!lively || last < 2) return standAt(ui, machine, view, way, last, lively);
  const beat = Math.min(BEAT, LONGEST / last);
  const tick = (count) => {
    standAt(ui, machine, view, way, count, true);
    if (count < last) ui.timer = setTimeout(tick, beat, count + 1);
  };
  tick(1);
}

function paintHungStack(ui, machine, view) {
  ui.slot.hidden = !view.machine?.stack;
  if (ui.slot.hidden) return;
  paintPicture(ui, view.picture);
  const step = view.steps[view.cursor - 1];
  const way = view.why?.path ? view.why : step ?? { path: [view.machine.initial], taken: [], bytes: [] };
  const said = `${view.cursor}|${way.path}|${way.died ?? ""}`;
  if (said === ui.said && ui.drawing === view.machine) return;
  const forward = view.cursor === (ui.cursor ?? 0) + 1 || Boolean(view.why);
  const lively = !CALM.matches && !(view.playing && view.speed > 8);
  Object.assign(ui, { said, cursor: view.cursor, drawing: view.machine });
  walkBytes(ui, machine, view, way, lively && forward);
}

function paintPicture(ui, picture) {
  if (!picture || ui.painted === picture || picture[0] !== ui.tab) return;
  ui.painted = picture;
  const drawn = picture[1].startsWith("<svg") ? parseDrawing(picture[1]) : make("p", { class: "gv-soft" }, picture[1]);
  ui.picture.replaceChildren(drawn);
  ui.picture.scrollTo(ui.picture.scrollWidth, picture[0] === "tree" ? ui.picture.scrollHeight : 0); // the newest is in sight
}
