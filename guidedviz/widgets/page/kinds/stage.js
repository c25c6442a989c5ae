// The stage: text, distribution, machine, stack, map and timeline, all at one cursor. The kernel computes the records;
// the page moves among those it has, also without a kernel.

/** @import { Model } from "../types.js" */
/** @import { Islands, StageActions } from "../stage/layout.js" */
import { buildMachinePanel, paintMachinePanel } from "../machine/machine-panel.js";
import { connect } from "../shared/connection.js";
import { make, wantsStillness } from "../shared/elements.js";
import { copyText } from "../shared/export.js";
import { change } from "../shared/parts.js";
import { chipListeners, closePopups, followFocus, linkPanels, listenToKeys, listenToSwipes } from "../stage/input.js";
import { stagePart, tabShown } from "../stage/layout.js";
import { hearMap, newMapSlot, paintMap } from "../stage/map-slot.js";
import { beginMotion, endMotion, move, moveBack, newMoving } from "../stage/moving.js";
import { hasQuestions } from "../stage/quiz.js";
import { showChip } from "../stage/text.js";
import { isEnded, isReady, moveCursor, newView, nextStop, remember, shownStep, updateView } from "../stage/view.js";

const NARROW = 640; // pixels up to which there is room for one panel
const LINES = 580; // pixels of the stage's own measure that fill the height of a screen
const LEAST = 1.25; // how much larger it is on a full screen
const LOST = "A part of this widget's code is missing on this page. Run this cell again.";
let stages = 0; // on this page: the id of a tip is its own

/** @param {{ model: Model, el: HTMLElement, load: (name: string) => Promise<any> }} place */
function render({ model, el, load }) {
  const view = newView();
  const { say, start, stop } = connect(model);
  const tipId = `gv-tip-${++stages}`;
  /** @type {any} */
  let timer = 0;
  /** @type {any} */
  let root = null;
  let painted = 0; // the cursor that was painted last
  const moving = newMoving();

  function paint() {
    const { machine, map } = islands;
    const held = root?.querySelector(".gv-chips")?.contains(document.activeElement); // one of the tokens has the focus
    const typed = document.activeElement?.closest(".gv-prompt-field");
    const has = { machine: view.machine, map: map.land && shownStep(view)?.mask !== undefined, constraint: view.edit };
    view.there = Object.entries(has).flatMap(([name, there]) => (there ? [name] : []));
    view.learning?.followTour(view);
    endMotion(moving, view, root);
    root = change(root, stagePart(view, act, islands, onChips, tipId));
    paintMachinePanel(machine, view);
    if (held && (painted !== view.cursor || !root.querySelector(".gv-chips").contains(document.activeElement))) followFocus(root, view);
    if (typed && !typed.isConnected && root.isConnected) act.focus(); // another run has begun
    painted = view.cursor;
    // these two measure the page: they come late, so that it is laid out once
    showChip(root.querySelector(".gv-tape"), root.querySelectorAll(".gv-chip")[view.cursor - 1]);
    paintMap(map, view, tabShown(view) === "map", act, linkMap);
    if (root.isConnected) beginMotion(moving, view, root, islands);
  }

  /** @param {number} cursor */
  function go(cursor) {
    clearTimeout(timer);
    view.playing = false;
    const leave = cursor === view.cursor - 1 && cursor >= 0 ? moveBack(moving, view, root, islands) : null;
    if (!moveCursor(view, cursor)) return;
    say({ do: "go", cursor, turn: view.turn });
    paint();
    leave?.();
  }

  /** @param {boolean} on without a kernel the known steps are played by the page */
  function playAlone(on) {
    clearTimeout(timer);
    view.playing = on && !isEnded(view);
    const playOn = () => {
      moveCursor(view, view.cursor + 1);
      playAlone(true);
    };
    if (view.playing) timer = setTimeout(playOn, 1000 / view.speed);
    paint();
  }

  /** @param {number} token */
  function pick(token) {
    const why = view.alone ? shownStep(view)?.whys?.[token] : null;
    if (!why && (view.again || !view.alone) && (isReady(view) || isEnded(view))) say({ do: "choose", token, cursor: view.cursor });
    if (!view.alone) return;
    view.why = why ?? null;
    Object.assign(view.known, why?.stacks);
    paint();
  }

  /** @param {Partial<typeof view>} now */
  const set = (now) => {
    Object.assign(view, now);
    paint();
  };

  /**
   * Calls back with code that is a bundle of its own.
   * @param {string} name
   * @param {(code: any) => void} act
   */
  const loadLate = (name, act) => load(name).then(act, () => set({ note: LOST }));
  const learn = (then = () => {}) => (view.learning ? then() : loadLate("learning", (learning) => (set({ learning }), then())));
  const isKnown = () => view.cursor < view.steps.length && !view.stale.includes(view.cursor);

  /** @type {StageActions} */
  const act = {
    say, go, pick, paint, set,
    focus: () => root?.focus({ preventScroll: true }),
    visit: (turn) => {
      clearTimeout(timer);
      if (view.alone) view.turn = 0; // the page of a recording knows no moves
      say({ do: "visit", turn, cursor: 0 });
    },
    start: () => go(0),
    back: () => go(nextStop(view, -1)),
    step: () => (isKnown() ? go(nextStop(view, 1)) : isEnded(view) || say({ do: "step" })),
    play: () => {
      view.plays++;
      if (view.alone) playAlone(!view.playing);
      else say({ do: view.playing ? "pause" : "play" });
    },
    end: () => (view.alone ? go(view.steps.length) : isEnded(view) || say({ do: "end" })),
    reset: () => say({ do: "reset" }),
    ask: () => (view.asks || hasQuestions(view)) && learn(() => set({ asks: !view.asks })),
    again: () => view.playing || move(moving, view, root, islands),
    lecture: () => (view.lecture ? document.exitFullscreen() : root.requestFullscreen().catch(() => {})), // where the browser forbids it
    choose: (name, value) => set({ [name]: remember(name, value) }),
    page: () => say({ do: "page" }),
    copy: () => copyText(`${view.head.prompt}${view.steps.slice(0, view.cursor).map((step) => step.label).join("")}`),
    showPrompt: () => set({ whole: true }),
    editPrompt: (event) => {
      if (event && (/** @type {Element} */ (event.target).closest("button") || String(document.getSelection()))) return;
      learn(() => {
        set({ prompting: view.head.asked });
        root.querySelector(".gv-prompt-field").focus();
      });
    },
    speed: (place) => {
      const value = view.head.speeds[place];
      if (view.alone) set({ speed: value });
      else say({ do: "set", name: "speed", value });
    },
  };
  const [machine, map] = ["machine", "map"].map((slot) =>
    make("div", { role: "group", class: "gv-panel", "data-slot": slot, "data-part": slot, hidden: true }));
  /** @type {Islands} */
  const islands = { machine: buildMachinePanel(machine, () => paint()), map: newMapSlot(map, loadLate) };
  const onChips = chipListeners(view, act, islands);
  const linkMap = linkPanels(islands, view, () => paint());
  paint();
  el.append(root);
  root.addEventListener("fullscreenchange", () => {
    set({ lecture: document.fullscreenElement === root ? Math.max(LEAST, screen.height / LINES) : 0 });
    act.focus();
  });
  for (const name of ["pointerover", "focusin"]) root.addEventListener(name, () => learn(), { once: true });
  listenToKeys(root, view, act);
  listenToSwipes(root, act);
  const leavePopups = closePopups(root);
  const watch = new ResizeObserver(([{ contentRect: { width } }]) => {
    if (width > 0 && view.narrow !== width <= NARROW) set({ narrow: width <= NARROW });
  });
  watch.observe(root);

  let heard = false; // news for other pages of this stage come before this page knows the whole run
  /** @param {any[]} all */
  function onNews(all) {
    if (view.alone && all[0].number) Object.assign(view, { alone: false, note: "" }); // the kernel answers again
    for (const news of all) {
      if (news.number && !(heard ||= Boolean(news.head))) continue;
      updateView(view, news);
      if (news.map) hearMap(islands.map, news.map);
    }
    paint();
  }
  start(onNews, (words) => set({ alone: true, playing: false, note: words }));
  const open = model.get("open"); // a recording opens at a step and shows no token before it is drawn
  if (open !== undefined) {
    moveCursor(view, open);
    set({ seen: view.cursor });
    if (model.get("plays") && !wantsStillness()) playAlone(true);
  }
  return () => {
    clearTimeout(timer);
    watch.disconnect();
    leavePopups();
    islands.map.panel?.map.stop();
    stop();
  };
}

export default { render };
