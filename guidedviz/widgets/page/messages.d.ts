// The messages from kernel to page. assets/messages.py makes this file.

/** A drawing: a name, attributes, and texts or shapes inside; `shared/shapes.js` makes elements of it. */
export type Shapes = [name: string, attributes: Record<string, string | number>, ...inside: (string | Shapes)[]];

/** One candidate: its probability before and after the mask, each as a number and in words. */
export type Row = [token: number, label: string, raw: number, drawn: number, legal: boolean, rawText: string, drawnText: string];

/** An open rule on a stack, and what it waits for. */
export type Frame = [id: number, rule: string, waits: string];

/** The frame where another stack leaves the first one, and its rules from there on. */
export type Branching = [id: number, words: string];

/** A state of a pushdown machine: what is lit in its drawing, and the frames of its stack, top first. `others` are the frames of each other stack, down to the one where it leaves this stack. `exits` are the nodes that may read the next byte: those of `now`, and what follows them over calls that may read nothing. */
export interface StackState {
  name: string;
  now: number[];
  exits?: number[];
  back: number[];
  calls: [string, number][];
  last: string[];
  rules: string[];
  counts: [string, string][];
  depth: number;
  frames: Frame[];
  others?: Frame[][];
  ways: string;
  branches?: Branching[];
  ground: string;
}

/** The states inside a token, and for a pushdown machine the arrows and the bytes. */
export interface Way {
  path?: number[];
  taken?: string[][];
  bytes?: string[];
  died?: string;
}

/** One byte of a forbidden token, where the machine stood, and what became of it. */
export type Byte = [byte: string, state: string, fate: string, died: boolean];

/** Why a token is forbidden. */
export interface Why {
  path?: number[];
  taken?: string[][];
  bytes?: string[];
  died?: string;
  label: string;
  reason: string;
  rows: Byte[];
  stack: string[];
  stacks?: Record<number, StackState>;
}

/** A step as the page shows it. `changes` names what beside the mask changed the probabilities that it was drawn from, such as "bias"; `names` are the tokens in it that are special ones, as the machine reads them; `back` are the places of the steps whose tokens it takes back; `mask` and `asked` are numbers of masks on the map. `others` are all tokens without a row, the legal and the forbidden ones; `inside` says where in its share the token was drawn. `stages` are the probabilities after each of the `changes` but the last, first those of the rows, then those of all other legal tokens in one. `refused` is the likeliest forbidden token and the byte of it that has no way on; an EOS has "end" in its place. Where bytes were read before that one, `refusedIn` has the state after them, and these bytes. In a counted repeat, `counted` has how many characters of it were read before that byte, and how many it has at most. `reads` has for each row what is read of a forbidden token before the byte that has no way on. */
export interface Step {
  path?: number[];
  taken?: string[][];
  bytes?: string[];
  died?: string;
  token: number;
  label: string;
  how: "sampled" | "forced" | "inserted" | "accepted" | "given" | "none";
  masked: number;
  maskedText: string;
  rows: Row[];
  rest?: [number, number, string, string];
  others?: Row[];
  inside?: number | null;
  stages?: number[][];
  legal: number;
  free?: boolean;
  after: string;
  changes?: string;
  mass: number;
  massText: string;
  state: string;
  stack: string[];
  ms: [number, number, number];
  times: [string, string, string];
  end: "" | "eos" | "complete" | "max_tokens" | "context" | "stop" | "dead_end" | "refused" | "cut";
  words: string;
  dropped: string;
  names?: number[];
  drawn?: string;
  back: number[];
  drawing?: number;
  mask?: number;
  asked?: number | null;
  ranks?: number[];
  refused?: [number, string] | null;
  refusedIn?: [number, string];
  counted?: [number, number];
  reads?: string[];
  whys?: Record<number, Why>;
}

/** A turn of a conversation: what the model said, and what the template added after it, such as results. */
export interface Turn {
  said: string[];
  read: string[];
}

/** The turns of a conversation, each as texts and special tokens in turn; the steps are those of turn `now`. */
export interface Talk {
  turns: Turn[];
  now: number;
}

/** Where the steps come from; `parts` are the texts and the special tokens of a chat prompt in turn. `free` is True if no constraint was given. In a conversation of several turns `talk` has them, and `parts` are those of the first prompt. On a live stage `asked` is the text of the prompt that may be edited, and `models` are those that may be chosen, the present one first. */
export interface Head {
  source: "LIVE" | "RECORDED" | "TOY";
  about: string;
  date: string;
  prompt: string;
  parts?: string[];
  talk?: Talk;
  constraint: string;
  free?: boolean;
  asked?: string;
  models?: string[];
  vocabulary: number;
  live: boolean;
  speeds: number[];
}

/** Where a machine begins, and the drawing that shows it. */
export interface Machine {
  initial: number;
  drawing: number;
  stack: boolean;
}

/** A drawing, and what it shows in words; of a grammar each rule has one of its own, and is named. */
export interface Drawing {
  shapes: Shapes;
  words: string;
  rule?: string;
}

/** A place on the map: its first rank, the rank after its last, its middle, and the cells it is wide. */
export type Place = [name: string, start: number, stop: number, x: number, y: number, room: number];

/** The layout of a vocabulary map. */
export interface Land {
  count: number;
  width: number;
  height: number;
  moves: string;
  borders: string;
  places: Place[];
  eos: number[];
  chunk: number;
  ways: string;
}

/** A token of the vocabulary. */
export type Token = [id: number, label: string, bytes: string];

/** The texts of neighbours on the map, with the number of their chunk. */
export interface Texts {
  texts: [number, Token[]];
}

/** The masks of the steps as bits, and the texts of tokens. */
export interface RecordedMap {
  edited?: null;
  bits: Record<number, string>;
  answers: Texts[];
  land: Land;
}

/** A run that was left: the steps that it shares with the current run, and those after them as a number and text. */
export type Branch = [same: number, steps: number, text: string];

/** The cursor, and the settings of the next step. */
export interface Player {
  cursor: number;
  ended: boolean;
  branches: Branch[];
  stale: number[];
  temperature: number;
  seed: number;
  top_k?: number;
  top_p?: number;
  repetition_penalty?: number;
}

export interface Steps {
  from: number;
  add: Step[];
  next: Step | null;
}

/** What a stage shows beside the steps; `turn` is the last move of the page that was heard. */
export interface Stage {
  cursor: number;
  ended: boolean;
  branches: Branch[];
  stale: number[];
  temperature: number;
  seed: number;
  top_k?: number;
  top_p?: number;
  repetition_penalty?: number;
  turn: number;
  playing: boolean;
  speed: number;
  note: string;
  drawings?: Record<number, Drawing>;
  stacks?: Record<number, StackState>;
}

/** A whole run, as a recording keeps it. */
export interface Run {
  from: number;
  add: Step[];
  next: Step | null;
  cursor: number;
  ended: boolean;
  branches: Branch[];
  stale: number[];
  temperature: number;
  seed: number;
  top_k?: number;
  top_p?: number;
  repetition_penalty?: number;
  turn: number;
  playing: boolean;
  speed: number;
  note: string;
  drawings?: Record<number, Drawing>;
  stacks?: Record<number, StackState>;
  top: [number, string];
  machine?: Machine;
  map?: RecordedMap;
  head: Head;
  why: null;
}

/** The tokens that a search found, as bits, or a note why it found none. */
export interface Search {
  query: string;
  note?: string;
  count?: number;
  bits?: string;
}

/** An answer to a question about the map: texts of neighbours, what was found, or why a token is forbidden. */
export interface Answer {
  texts?: [number, Token[]];
  found?: Search;
  why?: [number, string];
}

/** What the page lacks of the map. */
export interface MapNews {
  bits: Record<number, string>;
  answers: Answer[];
  land?: Land;
}

/** The box in which the constraint is edited; its text is sent where the page does not have it. */
export interface Edit {
  kind: string;
  text?: string;
  state: "" | "compiling" | "wrong" | "waits" | "runs";
  error: string;
  rejects: [string, string] | null;
  place: number | null;
}

/** What a tool gave to a model: the call, the text that the model reads next, and whether the tool failed. */
export type Result = [call: string, text: string, failed: boolean];

/** What the stage does in a class: the words, and the keys as what each says to the kernel and its label. */
export interface Lesson {
  words: string;
  keys: [string, string][];
}

/** A part of the text that was left out, the probability without it, and the share that is lost. */
export type LeftOut = [label: string, said: string, lost: number];

/** What the token before the cursor `place` depends on, and what the numbers mean. */
export interface Looked {
  place: number;
  words: string[];
  rows: LeftOut[];
}

/** Another run beside this one: their labels from the place `first` on; the first `same` of these are equal. */
export interface Beside {
  branch: number;
  words: string;
  first: number;
  same: number;
  runs: string[][];
}

export interface NewSteps {
  from: number;
  add: (Step | null)[];
  next: Step | null;
}

/** What the kernel tells a live stage: its state now, and of the rest what the page lacks. The steps are those after the first `from`; None stands for the step that the page has as the next one. `top` are the milliseconds of a full bar. */
export interface News {
  from: number;
  add: (Step | null)[];
  next: Step | null;
  cursor: number;
  ended: boolean;
  branches: Branch[];
  stale: number[];
  temperature: number;
  seed: number;
  top_k?: number;
  top_p?: number;
  repetition_penalty?: number;
  turn: number;
  playing: boolean;
  speed: number;
  note: string;
  drawings?: Record<number, Drawing>;
  stacks?: Record<number, StackState>;
  number?: number;
  why: Why | null;
  lesson: Lesson | null;
  top?: [number, string];
  head?: Head;
  machine?: Machine | null;
  map?: MapNews;
  edit?: Edit;
  looked?: Looked | null;
  beside?: Beside | null;
  results?: Result[];
}
