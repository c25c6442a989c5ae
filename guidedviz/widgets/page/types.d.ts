// The messages between kernel and page. Python builds them in widgets/*.py (pack_*, _news) and reads the answers there.

/** What anywidget gives to `render`. */
export interface Model {
  get(name: string): any;
  on(name: string, act: (content: any) => void): void;
  off(name: string, act: (content: any) => void): void;
  send(content: Record<string, unknown>): void;
  widget_manager?: { get_state?(options: object): Promise<{ state: Record<string, { state: Record<string, any> }> }> };
}

/** A drawing: a name, attributes, and texts or shapes inside; `shared/shapes.js` makes elements of it. */
export type Shapes = [name: string, attributes: Record<string, string | number>, ...inside: (string | Shapes)[]];

export type Say = (content: Record<string, unknown>) => void;

/** One candidate: probability before and after the mask, each as a number and as text. */
export type Row = [
  token: number, label: string, raw: number, drawn: number, legal: boolean, rawText: string, drawnText: string,
];
/** What the shown rows leave to all other tokens, before and after, as numbers and as text. */
export type Rest = [raw: number, drawn: number, rawText: string, drawnText: string];

/** The states inside a token, byte by byte. */
export interface Way {
  path: number[];
  taken: string[][];
  bytes: string[];
  died?: string;
}

export interface Step extends Way {
  token: number;
  label: string;
  how: "sampled" | "forced" | "inserted" | "accepted" | "none";
  dropped?: string; // the drafted tokens that were rejected here
  back: number[]; // the places of the steps whose tokens it takes back
  masked: number;
  maskedText: string;
  rows: Row[];
  rest: Rest;
  legal: number;
  free: boolean;
  after: string;
  mass: number;
  massText: string;
  state: string;
  stack: string[];
  ms: [number, number, number];
  times: [string, string, string];
  end: string;
  words: string;
  drawn: string;
  drawing?: number; // the drawing that shows where it ends
  mask?: number; // the mask that applied to it, and the ranks of its rows on the map
  asked: number | null;
  ranks?: number[];
  whys?: Record<number, Why>; // of a recording: why each shown forbidden token is illegal
}

export interface Head {
  source: string;
  about: string;
  date: string;
  prompt: string;
  constraint: string;
  vocabulary: number;
  live: boolean;
  speeds: number[];
}

/** One state of a pushdown machine: what is lit in its drawing, and the frames of its stack, top first. */
export interface StackState {
  name: string;
  now: number[];
  back: number[];
  calls: [arrow: string, times: number][];
  last: string[];
  rules: string[];
  counts: [rule: string, counter: string][];
  depth: number;
  frames: Frame[];
  stacks: number;
  ends: boolean;
}
export type Frame = [id: number, rule: string, waits: string];

export interface Why extends Partial<Way> {
  label: string;
  reason: string;
  rows: [byte: string, state: string, fate: string, died: boolean][];
  stack: string[];
  stacks?: Record<number, StackState>; // those of its path, in a recording
}

export interface Edit {
  state: "" | "compiling" | "wrong" | "waits" | "runs";
  error: string;
  kind: string;
  text?: string;
  rejects: [label: string, reason: string] | null;
  place: number | null;
  changes: { step: number; legal: Change; illegal: Change } | null;
}
export type Change = [count: number, likeliest: [label: string, text: string][]];

export interface Machine {
  initial: number;
  drawing: number; // the drawing that shows the initial state
  stack: boolean;
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
  branches: [same: number, count: number, text: string][];
  playing: boolean;
  /** Whether no kernel answers: it is silent, or was restarted or shut down. */
  alone: boolean;
  speed: number;
  temperature: number;
  seed: number;
  note: string;
  /** What the stage does in a class: the words, and the keys as what each says to the kernel and its label. */
  lesson?: { words: string, keys: [say: string, label: string][] } | null;
  top: [number, string];
  why: Why | null;
  machine: Machine | null;
  drawings: Record<number, { shapes: Shapes, words: string }>;
  known: Record<number, StackState>;
  picture?: [name: string, drawn: Shapes | string];
  edit?: Edit;
  /** The masks before and after an edit of the constraint. */
  edited: [before: number, now: number] | null;
}

/** A place on the map: a name, its first rank, the rank after its last, its middle, and the cells it is wide. */
export type Place = [name: string, start: number, stop: number, x: number, y: number, room: number];

export interface Land {
  count: number;
  width: number;
  height: number;
  moves: string;
  borders: string;
  places: Place[];
  eos: number[];
  chunk: number;
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
  texts: Map<number, [id: number, label: string, bytes: string][]>;
  reasons: Map<number, string>; // of tokens by id; empty while one is asked for
  found: Found | null;
  now: number;
  before: number | null;
  stackAsked: number | null;
  state: string;
  stateBefore: string;
  xor: boolean;
  focus: number;
  hover: number;
  marks: Mark[];
  base: number; // pixels of a cell where the whole map is shown; 0 while the map is not
  zoom: number;
  x: number; // the corner of the visible part
  y: number;
}

export interface FilmFrame {
  drawing: number;
  words: string;
  states: number[];
  arrows: string[];
  lit: number[];
  on: string[];
  groups: [title: string, members: number[]][];
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
  byHand: boolean; // a person chose the fixed tokens
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

/** Tokens that a person fixed or freed in the text of a place and its rows. */
export interface FractionEdit {
  of: [place: number, rows: number];
  fixed: boolean[];
  text: FractionText;
  place: number; // the nearest place of its share
  timed: number[]; // the row counts that have a run of it
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
  edit: FractionEdit | null;
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
