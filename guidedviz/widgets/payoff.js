// The plot and the passes of the fraction slider, moved by what a pass costs and what each token adds.

const WHOLE = 920; // of a lane's 1000 is the way token by token; a run with jump-forward may be slower

const ideal = (share) => 1 / (1 - share);

// Milliseconds of a pass by itself, and of each token that it reads.
const priceAt = (cost, rows) => [cost.pass_ms + cost.row_ms * rows, cost.put_ms + cost.token_ms * rows];

function speedup(cost, share, rows) {
  const [own, each] = priceAt(cost, rows);
  const spent = own / ideal(share) + each;
  return spent ? (own + each) / spent : ideal(share);
}

function spotAt({ left, top, span, high, last, low, most }, share, times) {
  const height = Math.log(Math.min(most, Math.max(low, times)) / low) / Math.log(most / low);
  return [left + (span * Math.min(last, share)) / last, top + high * (1 - height)];
}

function moveHandle(ui, view, share, rows) {
  const spots = [ideal(share), speedup(view.cost, share, rows)].map((times) => spotAt(view.scale, share, times));
  ui.parts.handle.setAttribute("d", `M${spots[0][0]},${view.scale.top}v${view.scale.high}`);
  [ui.parts["on-ideal"], ui.parts["on-model"]].forEach((ring, place) => {
    ring.setAttribute("cx", spots[place][0]);
    ring.setAttribute("cy", spots[place][1]);
  });
}

function bendModel(ui, view, rows) {
  const shares = Array.from({ length: 96 }, (_, step) => (view.scale.last * step) / 95);
  const spots = shares.map((share) => spotAt(view.scale, share, speedup(view.cost, share, rows)).map((n) => n.toFixed(1)));
  ui.parts.model.setAttribute("d", `M${spots.join("L")}`);
}

function paintPoints(ui, view, rows) {
  const points = view.runs.map((run) => {
    const [cx, cy] = spotAt(view.scale, run.share, run.speedup);
    const here = run.rows === rows;
    const told = shape("title", {}, `${Math.round(100 * run.share)}% fixed, rows ${run.rows}: measured ${run.times}`);
    return shape("circle", { cx, cy, r: here ? 5 : 3.6, class: here ? "gv-point gv-here" : "gv-point" }, told);
  });
  ui.parts.points.replaceChildren(...points);
  ui.others.hidden = view.runs.every((run) => run.rows === rows);
}

function box(x, y, width, high) {
  const wide = Math.max(0.5, width - 1).toFixed(2);
  return `M${x.toFixed(2)},${y}h${wide}v${high}h-${wide}z`;
}

// A high box is what a pass costs by itself, a low one what its tokens add; both lanes are on one clock.
function paintLane(lane, read, rest, own, each) {
  let [x, high, low] = [0, "", ""];
  for (const count of read) {
    high += box(x, 0, own, 18);
    low += box(x + own, 9, count * each, 9);
    x += own + count * each;
  }
  lane.own.setAttribute("d", high);
  lane.read.setAttribute("d", rest ? low + box(x, 9, rest * each, 9) : low);
}

function paintLanes(ui, view, text, run, rows) {
  const [own, each] = priceAt(view.cost, rows);
  const scale = WHOLE / (text.passes[0] * (own + each));
  const ways = [[Array(text.passes[0]).fill(1), 0], [text.read, text.rest]];
  ways.forEach(([read, rest], place) => {
    paintLane(ui.lanes[place], read, rest, own * scale, each * scale);
    setText(ui.lanes[place].said, sayPasses(text.passes[place]) + (run ? `, ${run.said[place]}` : ""));
  });
  ui.lanes[1].clock.setAttribute("d", run ? `M${Math.min(1000, (WHOLE * run.took[1]) / run.took[0])},-5v28` : "");
  ui.clock.hidden = !run;
}
