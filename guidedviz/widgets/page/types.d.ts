// What lives in the page. The messages from the kernel stand in messages.d.ts, which is made from Python.

import type * as told from "./messages.js";
import type { Learning } from "./stage/learning.js";
import type { Edit, Head, Lesson, Machine, Shapes, StackState, Why } from "./messages.js";

export type * from "./messages.js";

/** What anywidget gives to `render`. */
export interface Model {
  get(name: string): any;
  on(name: string, act: (content: any) => void): void;
  off(name: string, act: (content: any) => void): void;
  send(content: Record<string, unknown>): void;
  widget_manager?: { get_state?(options: object): Promise<{ state: Record<string, { state: Record<string, any> }> }> };
}

export type Say = (content: Record<string, unknown>) => void;

/** The states inside a token, as the panels of a machine read them: they are there where the run has a machine. */
export interface Way extends told.Way {
  path: number[];
  taken: string[][];
  bytes: string[];
}

/** A step with its way; `asked` is there where the run has a map. */
export interface Step extends told.Step {
  path: number[];
  taken: string[][];
  bytes: string[];
  asked: number | null;
}

/** What the stage shows: everything the kernel has told so far. */
export interface StageView {
  head: Head;
  steps: Step[];
  /** The step at the cursor `nextAt`, computed but not taken. */
  next: Step | null;
  nextAt: number;
  cursor: number;
  /** The place of the token under the pointer, or -1. */
  hover: number;
  /** The help, the tour and the quiz, once they are loaded. */
  learning?: Learning;
  /** Whether the stage asks before each step. */
  asks: boolean;
  /** The number of this page's last move that the cursor follows. */
  turn: number;
  /** Steps from this place on are not shown before they are reached. */
  seen: number;
  /** Whether the run has ended after its last step. */
  ended: boolean;
  /** The places of the steps that were computed under other settings. */
  stale: number[];
  branches: told.Branch[];
  playing: boolean;
  /** Whether no kernel answers: it is silent, or was restarted or shut down. */
  alone: boolean;
  /** Whether the host of the page decodes the run again with what is changed. */
  again?: boolean;
  speed: number;
  temperature: number;
  seed: number;
  /** The other settings of a live run. */
  top_k?: number;
  top_p?: number;
  repetition_penalty?: number;
  note: string;
  lesson?: Lesson | null;
  top: [number, string];
  why: Why | null;
  machine: Machine | null;
  drawings: Record<number, told.Drawing>;
  known: Record<number, StackState>;
  edit?: Edit;
  looked?: told.Looked | null;
  beside?: told.Beside | null;
  /** The head of the run whose prompt is edited. */
  prompting?: string | null;
  /** What the tools gave at the end of a turn of a conversation, and what the person wrote in place of it. */
  results?: told.Result[];
  replies: string[];
  /** What the person has chosen on this page: the panel beside the next token, colours, bars. */
  tab: string;
  swapped: string;
  colour: string;
  bars: string;
  /** How much larger than usual the stage is on the full screen, or 0. */
  lecture: number;
  /** Whether there is room for one panel only. */
  narrow: boolean;
  whole: boolean;
  /** The names of the panels that this run has, besides the next token. */
  there: string[];
  /** A copy of the panel that a step back leaves, while it moves. */
  leaving: HTMLElement | null;
  /** What flies above the stage. */
  sheets: Element[];
  /** The token whose alternatives are shown, and where. */
  tip: { place: number, x: number, y: number } | null;
  /** The places of the tokens that belong to what the pointer is on. */
  linked: Set<number>;
  /** The constraint box: what stands in it, and the timer of the pause in typing. */
  box: { kind: string, text: string };
  typing: any;
  /** The quiz: which steps were answered rightly, and the choices that are pressed. */
  answers: Map<Step, boolean>;
  picked: WeakMap<Step, Set<number>>;
  tour: Tour | null;
  /** How often the person pressed play or pause. */
  plays: number;
  /** The last cursors that were painted while it played, and when. */
  shown: [cursor: number, at: number][];
}

/** A stop of the tour: what to do, the control that it points at, whether it was done since the stop began, and whether it can be done in this run. */
export type Stop = [words: string, at: string, done: (view: StageView, was: StageView) => boolean, fits?: (view: StageView) => boolean];
export interface Tour {
  stops: Stop[];
  stop: number;
  was: StageView;
}

export interface Land extends told.Land {
  cells: Int32Array;
  ranks: Int32Array;
  lines: Path2D;
}

export interface Found {
  query: string;
  note?: string;
  count: number;
  bits: Uint8Array;
  ranks?: number[];
}

/** A token of the model's distribution, with its probability before the mask as a number and as text. */
export interface Mark {
  rank: number;
  raw: number;
  text: string;
  legal: boolean;
  label: string;
  chosen: boolean;
}

/** What the page knows of a map, and where it stands on it. */
export interface MapState {
  land: Land;
  masks: Map<number, Uint8Array>;
  texts: Map<number, told.Token[]>;
  reasons: Map<number, string>; // of tokens by id; empty while one is asked for
  found: Found | null;
  now: number;
  stackAsked: number | null;
  state: string;
  focus: number;
  hover: number;
  marks: Mark[];
  base: number; // pixels of a cell where the whole map is shown; 0 while the map is not
  zoom: number;
  x: number; // the corner of the visible part
  y: number;
}

/** A token in the tree of all texts; of each stop of its slider where it begins and how likely it is. */
export interface TreeBox {
  row: number;
  words: string;
  text: string | null;
  legal: boolean;
  spans: [left: number, share: number][];
}

export interface FilmFrame {
  drawing: number;
  words: string;
  states: number[];
  arrows: string[];
  lit: number[];
  on: string[];
  groups: [title: string, members: number[]][];
  ride?: [sign: string, arrows: string[]]; // what moves into this frame
  merged?: number[][]; // per state, the states that became it
  flight?: number[]; // items, of which each flies to the next
  see?: string[]; // keys of the parts that changed where nothing is highlighted, the most important one last
}

export interface Chain {
  name: number;
  open: boolean;
  words: string;
  arrows: string[];
  states: number[];
}

/** The tokens of a text of the fraction slider. */
export type Parts = [label: string, fixed: boolean][];

/** A live run: the median of several. */
export interface FractionRun {
  place: number;
  rows: number;
  parts: Parts;
  passes: [naive: number, jump: number];
  share: number;
  speedup: number;
  spread: number[]; // the lowest and the highest speed-up; empty for a single run
  title: string;
  took: [number, number];
  tookText: [string, string];
  told: string;
}

/** A text with its share of fixed tokens, the tokens that each pass reads, and the run that wrote it. */
export interface FractionText {
  parts: Parts;
  share: number;
  naive: number; // passes without jump-forward
  read: number[];
  rest: number;
  run: FractionRun | undefined;
}

/** What the fraction slider shows. The handles stand at a place and at a row count, or between two of them. */
export interface FractionView {
  head: { source: string; about: string; live: boolean };
  plot: Shapes;
  axes: { left: number; span: number; top: number; high: number; width: number; last: number; low: number; most: number };
  cost: { pass_ms: number; token_ms: number; row_ms: number; put_ms: number };
  texts: Parts[];
  places: number[];
  rows: number[];
  runs: FractionRun[];
  place: number;
  share: number;
  row: number;
  rowBetween: number;
  timing: boolean;
  sweeping: boolean;
  note: string;
}

/** A question, the answer that is locked, and what is revealed after it. */
export interface Prediction {
  question: string;
  choices: string[]; // none: the answer is a number
  hint: string;
  answer: string | number | null;
  said: string;
  truth: string;
  right: boolean;
  words: string;
  parts: [kind: "text" | "print" | "drawing", text: string, drawing: Shapes | null][];
  note: string;
}
