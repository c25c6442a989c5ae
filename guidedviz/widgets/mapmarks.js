// Marks over the map: a few legal cells, what was found, the model's likeliest, where one points.

const FEW = 100; // legal cells that get a dot each
const DOT = 8; // its width in pixels

function ring(pen, x, y, radius, colour, width = 2) {
  pen.lineWidth = width;
  pen.strokeStyle = colour;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.stroke();
}

function paintMarks(map, ui, view) {
  const pen = ui.marks.getContext("2d");
  pen.setTransform(view.dpr, 0, 0, view.dpr, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  paintShore(map, ui, view, pen);
  paintFew(map, ui, view, pen);
  paintFound(map, ui, view, pen);
  for (const mark of map.marks) paintOdds(map, ui, view, pen, mark);
  for (const [rank, colour] of [[map.hover, ui.colours.ink], [map.focus, ui.colours.orange]]) {
    if (rank < 0) continue;
    const size = Math.max(9, view.scale + 3);
    const [x, y] = screen(map, view, rank);
    pen.lineWidth = 4;
    pen.strokeStyle = ui.colours.page;
    pen.strokeRect(x - size / 2, y - size / 2, size, size);
    pen.lineWidth = 2;
    pen.strokeStyle = colour;
    pen.strokeRect(x - size / 2, y - size / 2, size, size);
  }
}

// A few legal cells in a wide land would not be seen: each gets a dot, as a small town does.
function paintFew(map, ui, view, pen) {
  const { counts, last, asked, askedLegal } = ui.tile;
  if (map.xor || map.found || counts[1] - askedLegal > FEW || view.scale >= DOT) return;
  pen.fillStyle = ui.colours.sea;
  for (let rank = 0; rank < map.land.count; rank++) {
    if (!has(last.now, rank) || asked.includes(rank)) continue;
    ring(pen, ...screen(map, view, rank), DOT / 2, ui.colours.page, 2);
    pen.fill();
  }
}

function paintFound(map, ui, view, pen) {
  const size = Math.max(6, view.scale * 0.55);
  for (const rank of map.found?.ranks ?? []) {
    const [x, y] = screen(map, view, rank);
    ring(pen, x, y, size, ui.colours.page, 4);
    ring(pen, x, y, size, ui.colours.gold);
  }
}

// A token of the model's distribution: area for probability; a forbidden one is hollow, dashed and struck.
function paintOdds(map, ui, view, pen, { rank, raw, legal, chosen, label }) {
  const radius = Math.max(legal ? 3.5 : 5, 26 * Math.sqrt(raw));
  const [x, y] = screen(map, view, rank);
  if (x < 0 || y < 0 || x > view.width || y > view.height) return;
  const colour = chosen ? ui.colours.orange : ui.colours.gold;
  pen.save();
  ring(pen, x, y, radius, ui.colours.page, 4);
  if (!legal && radius > 8) pen.setLineDash([4, 3]);
  ring(pen, x, y, radius, legal ? colour : ui.colours.ink);
  pen.setLineDash([]);
  pen.globalAlpha = 0.55;
  pen.fillStyle = colour;
  if (legal) pen.fill();
  pen.globalAlpha = 1;
  if (!legal) {
    pen.beginPath();
    pen.moveTo(x - radius * 0.7, y + radius * 0.7);
    pen.lineTo(x + radius * 0.7, y - radius * 0.7);
    pen.stroke();
  }
  if (chosen || raw > 0.1) {
    startText(pen, `${chosen ? "bold " : ""}13px ui-monospace, "DejaVu Sans Mono", Menlo, monospace`);
    pen.lineWidth = 4;
    const wide = pen.measureText(label).width;
    const [at, under] = [Math.max(wide / 2 + 2, Math.min(view.width - wide / 2 - 2, x)), y + radius + 10 > view.height - 8];
    writeOn(pen, label, at, under ? y - radius - 10 : y + radius + 10, ui.colours.ink, ui.colours.page);
  }
  pen.restore();
}
