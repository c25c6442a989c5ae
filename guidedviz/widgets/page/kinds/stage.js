// The stage: text, distribution, machine, stack, map and timeline, all at one cursor. The kernel computes the records;
// the page moves among those it has, also without a kernel.

/** @import { Model } from "../types.js" */
/** @import { StageActions } from "../stage/layout.js" */
import { connect } from "../shared/connection.js";
import { wantsStillness } from "../shared/elements.js";
import { copyText } from "../shared/export.js";
import { followFocus, listenToChips, listenToKeys } from "../stage/input.js";
import { buildStage } from "../stage/layout.js";
import { linkPanels } from "../stage/links.js";
import { paintStage } from "../stage/painting.js";
import { listenToScrub } from "../stage/timeline.js";
import { isEnded, isReady, moveCursor, newView, shownStep, updateView } from "../stage/view.js";

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const view = newView();
  const { say, start, stop } = connect(model);
  /** @type {any} */
  let timer = 0;

  const holdsFocus = () => ui.chips.contains(document.activeElement); // one of the tokens
  function paint(same = view.steps.length) {
    if (!view.head) return;
    const [cursor, held] = [ui.marked, holdsFocus()];
    paintStage(ui, view, same);
    if (held && (ui.marked !== cursor || !holdsFocus())) followFocus(ui, view);
  }

  /** @param {number} cursor */
  function go(cursor) {
    clearTimeout(timer);
    view.playing = false;
    if (!moveCursor(view, cursor)) return;
    say({ do: "go", cursor, turn: view.turn });
    paint();
  }

  // Without a kernel the known steps are played by the page.
  function playAlone() {
    clearTimeout(timer);
    view.playing = !view.playing && !isEnded(view);
    if (view.playing) timer = setTimeout(playOn, 1000 / view.speed);
    paint();
  }

  function playOn() {
    moveCursor(view, view.cursor + 1);
    view.playing = !isEnded(view);
    if (view.playing) timer = setTimeout(playOn, 1000 / view.speed);
    paint();
  }

  /** @param {number} token */
  function pick(token) {
    if (!view.alone) return (isReady(view) || isEnded(view)) && say({ do: "choose", token, cursor: view.cursor });
    view.why = shownStep(view)?.whys?.[token] ?? null;
    Object.assign(view.known, view.why?.stacks);
    paint();
  }

  const isKnown = () => view.cursor < view.steps.length && !view.stale.includes(view.cursor);

  /** @type {StageActions} */
  const act = {
    say, go, pick,
    start: () => go(0),
    back: () => go(view.cursor - 1),
    step: () => (isKnown() ? go(view.cursor + 1) : isEnded(view) || say({ do: "step" })),
    play: () => (view.alone ? playAlone() : say({ do: view.playing ? "pause" : "play" })),
    end: () => (view.alone ? go(view.steps.length) : isEnded(view) || say({ do: "end" })),
    reset: () => say({ do: "reset" }),
    turn: (branch) => say({ do: "turn", branch }),
    ask: () => {
      view.asks = !view.asks;
      paint();
    },
    paint: () => paint(),
    view: () => view,
    page: () => say({ do: "page" }),
    copy: () => copyText(`${view.head.prompt}${view.steps.slice(0, view.cursor).map((step) => step.label).join("")}`),
    speed: (place) => {
      const value = view.head.speeds[place];
      if (!view.alone) return say({ do: "set", name: "speed", value });
      view.speed = value;
      paint();
    },
    temperature: (value) => say({ do: "set", name: "temperature", value }),
    seed: (value) => say({ do: "set", name: "seed", value }),
  };
  const ui = buildStage(act);
  el.append(ui.root);
  listenToKeys(ui, view, act);
  listenToChips(ui, view, act);
  listenToScrub(ui.timeline, view, act.go);
  linkPanels(ui, view, paint);

  let heard = false; // news for other pages of this stage come before this page knows the whole run
  /** @param {any[]} all */
  function onNews(all) {
    let same = view.steps.length;
    if (view.alone && all[0].number) Object.assign(view, { alone: false, note: "" }); // the kernel answers again
    for (const news of all) {
      if (news.number && !(heard ||= Boolean(news.head))) continue;
      same = Math.min(same, updateView(view, news));
      if (news.map) ui.map.map.hear(news.map);
    }
    paint(same);
  }
  start(onNews, (words) => {
    Object.assign(view, { alone: true, playing: false, note: words });
    paint();
  });
  const open = model.get("open"); // a recording opens at a step and shows no token before it is drawn
  if (open !== undefined) {
    moveCursor(view, open);
    view.seen = view.cursor;
    paint(0);
    if (model.get("plays") && !wantsStillness()) playAlone();
  }
  return () => {
    clearTimeout(timer);
    ui.map.map.stop();
    stop();
  };
}

export default { render };
