// Plays a motion: a list of (part, from, to, begin, end) in milliseconds, on elements that already show the end.
// A motion changes nothing for good: when it ends, or is ended by the next key, the elements stand as the page painted them.
//
// What changes is CSS, and the browser moves it. A `count` is a number that is written at each frame.

/** @typedef {Record<string, string | number>} Look */
/** @typedef {[part: string, from: Look, to: Look, begin: number, end: number]} Move */
/** @typedef {{ finish: () => void, seek: (time: number) => void, length: number }} Motion */
/** @typedef {typeof play} Play */

/**
 * The end of the last move.
 * @param {Move[]} moves
 */
export const lengthOf = (moves) => Math.max(0, ...moves.map(([, , , , end]) => end));

/**
 * The moves of one part as key frames: before a move its beginning holds, after it its end.
 * @param {Move[]} moves in the order of time
 * @param {number} length of the whole motion
 */
export function framesOf(moves, length) {
  /** @type {(Look & { offset: number })[]} */
  const frames = [];
  for (const name of new Set(moves.flatMap(([, from]) => Object.keys(from)))) {
    if (name === "count" || name === "easing") continue;
    const own = moves.filter(([, from]) => name in from);
    frames.push({ offset: 0, [name]: own[0][1][name] });
    for (const [, from, to, begin, end] of own) {
      frames.push({ offset: begin / length, easing: from.easing ?? "ease-in-out", [name]: from[name] }, { offset: end / length, [name]: to[name] });
    }
    frames.push({ offset: 1, [name]: /** @type {Move} */ (own.at(-1))[2][name] });
  }
  return frames.sort((one, other) => one.offset - other.offset); // stable: of two at one time the later one holds
}

/**
 * The number of a part at a time.
 * @param {Move[]} counts
 * @param {number} time
 */
export function countAt(counts, time) {
  const move = counts.filter(([, , , begin]) => begin <= time).at(-1) ?? counts[0];
  const [, from, to, begin, end] = move;
  const done = Math.min(1, Math.max(0, (time - begin) / (end - begin)));
  const eased = done * done * (3 - 2 * done); // as the bars move
  return Number(from.count) + (Number(to.count) - Number(from.count)) * eased;
}

/**
 * @param {Move[]} moves
 * @param {(part: string) => Element | null | undefined} find
 * @param {{ rate?: number, back?: boolean, say: (count: number) => string, done?: () => void }} how
 * @returns {Motion}
 */
export function play(moves, find, { rate = 1, back = false, say, done }) {
  const length = lengthOf(moves);
  /** @type {Map<string, Move[]>} */
  const parts = new Map();
  for (const move of moves) parts.set(move[0], [...(parts.get(move[0]) ?? []), move]);
  /** @type {Animation[]} */
  const running = [];
  /** @type {[node: Element, counts: Move[], text: string | null][]} */
  const counted = [];
  for (const [part, own] of parts) {
    const node = find(part);
    if (!node) continue;
    const frames = framesOf(own, length);
    if (frames.length) running.push(node.animate(frames, { duration: length, fill: "both" }));
    const counts = own.filter(([, from]) => "count" in from);
    if (counts.length) counted.push([node, counts, node.textContent]);
  }
  let ended = !running.length;
  const finish = () => {
    if (ended) return;
    ended = true;
    for (const one of running) one.cancel();
    for (const [node, , text] of counted) node.textContent = text;
    done?.();
  };
  const write = () => {
    if (ended) return;
    const time = Number(running[0].currentTime);
    for (const [node, counts, painted] of counted) {
      const isOver = time >= /** @type {Move} */ (counts.at(-1))[4];
      const text = isOver ? painted : say(countAt(counts, time));
      if (node.textContent !== text) node.textContent = text;
    }
    requestAnimationFrame(write);
  };
  for (const one of running) {
    one.playbackRate = back ? -rate : rate;
    if (back) one.currentTime = length;
  }
  if (running.length) running[0].onfinish = finish;
  write();
  /** @param {number} time */
  const seek = (time) => running.forEach((one) => (one.pause(), (one.currentTime = time)));
  return { finish, seek, length };
}
