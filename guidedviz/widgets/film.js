// A film: frames of one construction on one drawing. All of it came at once, so it runs without a kernel.

const FRAME = 1500; // milliseconds a frame stands

function buildFilm(act) {
  const ui = { diagrams: [] };
  ui.keys = {
    start: button("start", "to the first frame", "Home", act.start),
    back: button("back", "one frame back", "←", act.back),
    play: button("play", "play", "space", act.play),
    step: button("step", "one frame on", "→", act.step),
    end: button("end", "to the last frame", "End", act.end),
  };
  const group = make("span", { class: "gv-keys", role: "group", "aria-label": "frames" }, ...Object.values(ui.keys));
  ui.scrub = make("input", { type: "range", min: 0, step: 1, class: "gv-film-scrub", "aria-label": "frame" });
  ui.scrub.addEventListener("input", () => act.go(Number(ui.scrub.value)));
  ui.count = make("span", { class: "gv-soft" });
  ui.words = make("p", { class: "gv-film-words", role: "status", "aria-live": "polite" });
  ui.title = make("strong", {});
  const header = make("header", {}, make("div", { class: "gv-about" }, ui.title, ui.count), make("div", { class: "gv-controls" }, group, ui.scrub));
  ui.screen = make("section", { class: "gv-panel", "aria-label": "machine" });
  const attributes = { class: "gv gv-stage gv-film", tabindex: 0, role: "group", "data-lm-suppress-shortcuts": "true" };
  attributes["aria-label"] = "film: arrows step, space plays, Home and End";
  ui.root = make("div", attributes, header, ui.words, ui.screen);
  return ui;
}

function drawTag({ x, y, rx, ry }, title, number) {
  const short = title.length > 3 ? `${title.slice(0, 2)}…` : title;
  const [a, b, half] = [x + rx * 0.8, y - ry * 0.9, Math.max(7.5, short.length * 3 + 3)];
  const back = shape("rect", { x: a - half, y: b - 7.5, width: 2 * half, height: 15, rx: 7.5, fill: `var(--gv-${COLOURS[number % COLOURS.length]})` });
  const text = shape("text", { x: a, y: b + 3.5, "font-size": 10, "text-anchor": "middle", class: "gv-tag" }, short);
  return shape("g", {}, back, text);
}

// What is not there yet is pale or hidden, so that everything keeps its place.
function paintFrame(diagram, frame) {
  const [states, arrows] = [new Set(frame.states), new Set(frame.arrows)];
  for (const [state, node] of diagram.states) node.classList.toggle("gv-ghost", !states.has(state));
  for (const [key, node] of diagram.arrows) node.classList.toggle("gv-absent", !arrows.has(key));
  const lit = frame.lit.map((state) => diagram.states.get(state));
  const tags = frame.groups.flatMap(([title, members], number) =>
    members.map((state) => drawTag(spotOf(diagram.states.get(state)), title, number)));
  diagram.layer.replaceChildren(
    ...frame.on.map((key) => copy(diagram.arrows.get(key), "gv-on")),
    ...lit.map((node) => copy(node, "gv-lit")),
    ...tags,
  );
  if (lit.length) diagram.at = spotOf(lit[0]);
  follow(diagram);
}

function showFilm(model, el) {
  const { title, drawings, frames } = model.get("saved");
  let [place, timer] = [0, 0];
  const stop = () => (clearInterval(timer), (timer = 0));
  const act = {
    go: (to) => {
      place = Math.max(0, Math.min(frames.length - 1, to));
      paint();
    },
    start: () => (stop(), act.go(0)),
    back: () => (stop(), act.go(place - 1)),
    step: () => (stop(), act.go(place + 1)),
    end: () => (stop(), act.go(frames.length - 1)),
    play: () => {
      if (timer) stop();
      else timer = setInterval(() => (place >= frames.length - 2 && stop(), act.go(place + 1)), FRAME);
      paint();
    },
  };
  const ui = buildFilm(act);
  el.append(ui.root);
  const diagrams = drawings.map((drawing) => {
    const diagram = buildDiagram();
    ui.screen.append(diagram.size.node, diagram.node);
    showDrawing(diagram, drawing);
    return diagram;
  });
  const paint = () => {
    const frame = frames[place];
    diagrams.forEach((diagram, n) => {
      diagram.node.hidden = n !== frame.drawing;
      diagram.size.node.classList.toggle("gv-absent", n !== frame.drawing);
    });
    paintFrame(diagrams[frame.drawing], frame);
    setText(ui.words, frame.words);
    setText(ui.title, title);
    setText(ui.count, `frame ${place + 1} of ${frames.length}`);
    ui.root.dataset.frame = place;
    ui.scrub.max = frames.length - 1;
    ui.scrub.value = place;
    ui.scrub.setAttribute("aria-valuetext", `frame ${place + 1} of ${frames.length}: ${frame.words}`);
    ui.keys.start.disabled = ui.keys.back.disabled = place === 0;
    ui.keys.end.disabled = ui.keys.step.disabled = ui.keys.play.disabled = place === frames.length - 1;
    ui.words.setAttribute("aria-live", timer ? "off" : "polite");
    const name = timer ? "pause" : "play";
    ui.keys.play.replaceChildren(icon(ICONS[name]));
    ui.keys.play.setAttribute("aria-label", name);
  };
  ui.root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key] || !act[KEYS[event.key]]) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    act[KEYS[event.key]]();
    event.preventDefault();
    event.stopPropagation();
  });
  ui.root.addEventListener("click", (event) => event.detail && event.target.closest("button") && ui.root.focus({ preventScroll: true }));
  paint();
  return stop;
}
