// What is shown of a stage: sizes of its parts, and what is cut, covered, small or out of sight.
root => {
  const zoom = Number(getComputedStyle(root).zoom) || 1;
  const seen = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const all = (selector) => [...root.querySelectorAll(selector)].filter((node) => seen(node) && node.getBoundingClientRect().width > 1);
  const home = root.getBoundingClientRect();
  const parts = (name) => all(`[data-part=${name}]`).map((node) => node.getBoundingClientRect());
  const size = (box) => box ? [Math.round(box.width), Math.round(box.height)] : null;
  const inside = (one, other, slack = 2) => one.x >= other.x - slack && one.right <= other.right + slack
    && one.y >= other.y - slack && one.bottom <= other.bottom + slack;
  const clips = (node) => {
    let box = { x: home.x, y: home.y, right: home.right, bottom: home.bottom };
    for (let at = node.parentElement; at && at !== root; at = at.parentElement) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const { x, y, right, bottom } = at.getBoundingClientRect();
      box = { x: Math.max(box.x, x), y: Math.max(box.y, y), right: Math.min(box.right, right), bottom: Math.min(box.bottom, bottom) };
    }
    return box;
  };
  const own = all("*").filter((node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim()));
  const cut = [], over = [], sizes = [];
  for (const node of own) {
    const box = node.getBoundingClientRect(), frame = clips(node), style = getComputedStyle(node);
    const middle = [(box.x + box.right) / 2, (box.y + box.bottom) / 2];
    if (middle[0] < frame.x || middle[0] > frame.right || middle[1] < frame.y || middle[1] > frame.bottom) continue; // scrolled away
    const drawn = node.ownerSVGElement ? node.getScreenCTM().a : zoom;
    sizes.push([parseFloat(style.fontSize) * drawn, node.textContent.slice(0, 20)]);
    const said = node.textContent.slice(0, 24);
    if (!node.ownerSVGElement) {
      const written = document.createRange();
      written.selectNodeContents(node);
      const words = written.getBoundingClientRect();
      const past = !node.children.length && style.display !== "inline" && words.width > box.width + 1;
      const short = past || style.display !== "inline" && style.overflowX !== "visible" && node.scrollWidth > node.clientWidth + 1;
      if (short || (!inside(box, frame, 3) && !node.closest(".gv-tape, .gv-stack-picture"))) cut.push(said); // those scroll
      const top = document.elementFromPoint(...middle);
      if (top && top !== node && !node.contains(top) && !top.contains(node) && root.contains(top) && seen(top)) over.push(said);
    }
  }
  const least = innerWidth < 640 ? 44 : 24;
  const targets = all("button, summary, input:not([type=range])").filter((node) => {
    const box = node.getBoundingClientRect(), frame = clips(node);
    return inside(box, frame) && Math.min(box.width, box.height) < least - 0.5;
  }).map((node) => node.className || node.type);
  const scrolls = all("*").filter((node) => /auto|scroll/.test(getComputedStyle(node).overflowY) && node.scrollHeight > node.clientHeight + 2);
  const nested = scrolls.filter((node) => scrolls.some((other) => other !== node && other.contains(node))).length;
  const [next] = parts("next"), [machine] = parts("machine"), [why] = parts("why");
  const drawing = root.querySelector(".gv-diagram");
  const lit = root.querySelector(".gv-over .gv-state.gv-lit")?.getBoundingClientRect();
  const diagram = drawing && seen(drawing) ? drawing.getBoundingClientRect() : null;
  return {
    least: sizes.sort((one, two) => one[0] - two[0])[0], cut, over, targets, nested,
    rows: next ? parts("row").filter((row) => inside(row, next)).length : 0,
    bar: Math.round(Math.min(...parts("bar").map((bar) => bar.width))), next: size(next), machine: size(machine), stack: size(parts("stack")[0]),
    share: machine && diagram ? Math.round((100 * diagram.width * diagram.height) / (machine.width * machine.height)) : null,
    lit: diagram && lit ? inside(lit, diagram) : null, why: why ? inside(why, next ?? home) : null, page: document.body.scrollWidth > innerWidth,
  };
}