"""What the stage tells its page about each step: the step in words, the machine, the stack and the map.

The same for every step of a run is a recording.

A `Page` remembers what one page has been told, so that a step, a drawing, a stack and a mask are sent to it once. All
texts show every token in visible characters.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast

from guidedviz.decoding import recording
from guidedviz.decoding.player import LiveWalk, Player, ReplayWalk, TakenSteps, Walk, read_record, shared_steps
from guidedviz.decoding.records import check_path, write_whole
from guidedviz.decoding.trace import Candidate, Step, Trace, taken_back, tokens_before
from guidedviz.errors import SettingError, quoted, shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.visible import visible
from guidedviz.tokens.guide import Explanation, Guide
from guidedviz.tokens.split import Split
from guidedviz.views import step_words, words
from guidedviz.views.charts.costs import find_top, times_asked
from guidedviz.views.layout.lay_out import lay_out
from guidedviz.views.layout.sketch import sketch_of
from guidedviz.views.machine.film import bare_drawing
from guidedviz.views.machine.highlight import Drawable, Highlight, StatePath, read_bytes, taken_arrows
from guidedviz.views.machine.text import say_size
from guidedviz.views.stack.stack_table import say_ground, say_ways
from guidedviz.widgets.map import MapFeed, Masks, split_of
from guidedviz.widgets.player_page import play_page
from guidedviz.widgets.runner import say_failure

BRANCH_LENGTH = 121  # characters of a branch that are read; one less is shown
SPEEDS = (1, 2, 4, 8, 15, 30, 60)  # steps per second
KEPT_STATES = 4096  # states of a pushdown machine whose stacks stay packed


def pack_head(head: Trace, player: Player) -> recording.PackedHead:
    """Where the steps come from, and their constraint."""
    now = player.settings
    biased = [f"{len(now.bias)} biased"] * bool(now.bias)
    packed: recording.PackedHead = {
        "source": head.source,
        "about": words.say_origin(head.model, head.device, head.vocabulary_size),
        "date": head.date if head.source == "RECORDED" else "",
        "prompt": words.reading(head.prompt),
        "constraint": " · ".join([head.constraint or "no constraint", *now.cuts, *biased]),
        "vocabulary": head.vocabulary_size,
        "live": isinstance(player.walk, LiveWalk),
        "speeds": SPEEDS,
    }
    if head.parts:
        packed["parts"] = words.prompt_parts(head)
    return packed


def pack_player(player: Player) -> recording.PackedPlayer:
    """The cursor, and the settings of the next step."""
    return {
        "cursor": player.cursor,
        "ended": player.go(len(player.taken)).at_end,
        "branches": tuple(pack_branch(player, run) for run in player.branches),
        "stale": tuple(player.outdated),
        "temperature": player.settings.temperature,
        "seed": player.settings.seed,
    }


def pack_branch(player: Player, run: TakenSteps) -> recording.PackedBranch:
    """A run that was left."""
    same = shared_steps(player.taken, run)
    start = run[same : same + BRANCH_LENGTH]  # every token shows at least one character
    text = shorten("".join(words.label(taken.step.piece) for taken in start), BRANCH_LENGTH - 1)
    return recording.PackedBranch(same, len(run) - same, text)


def pack_times(steps: Sequence[Step]) -> dict[str, Any]:
    """The milliseconds of a full bar."""
    top = find_top(times_asked(steps))
    return {"top": (round(top, 4), words.milliseconds(top))}


def pack_explanation(why: Explanation) -> recording.PackedWhy:
    """A token byte by byte up to the rejected one."""
    rows, read = [], why.piece if why.died_at is None else why.piece[: why.died_at + 1]
    names = [*why.states, *[""] * (len(read) + 1)]
    for place in range(len(read)):
        died, after = place == why.died_at, names[place + 1]
        fate = f"expected {why.expected}" if died else after and f"→ {after}"
        rows.append(recording.PackedByte(words.label(read[place : place + 1]), names[place], fate, died))
    return {"label": words.label(why.piece), "reason": why.reason, "rows": tuple(rows), "stack": why.stack}


class Page:
    """What one page has been told: the run, the machine with its drawings and stacks, and the masks of the map."""

    def __init__(self) -> None:
        self.player: Player | None = None
        self.head: recording.PackedHead | None = None
        self.text = ""  # in the box of the constraint
        self.masks = Masks()
        self.turn(None)

    def turn(self, machine: "MachineFeed | None") -> None:
        """Note that the page shows another machine."""
        self.machine, self.drawings = machine, 0
        self.states: set[int] = set()
        self.passed: dict[int, State] = {}  # what the page gets with the next news


def pack_state(pda: PDA, state: State) -> dict[str, Any]:
    """What is highlighted in the drawing, and the frames of the stack, top first."""
    lit = Highlight.of_state(pda, state)
    return {
        "name": repr(state),
        "now": sorted(lit.now),
        "back": sorted(lit.back),
        "calls": lit.calls,
        "last": sorted(lit.last),
        "rules": sorted(lit.rules),
        "counts": lit.counts,
        "depth": pda.depth(state),
        "frames": [[frame.number, frame.rule, frame.waits] for frame in pda.frames(state)],
        "ways": say_ways(state),
        "ground": say_ground(state),
    }


# The machine panel: the drawing is sent once, then each step sends only the states that its bytes passed.


class MachineFeed:
    """What a page is told about a machine: its drawing, the way of each token, and the stacks along the way."""

    def __init__(self, machine: Drawable) -> None:
        self.machine, self._sketch = machine, sketch_of(machine)
        self._drawings: list[tuple[frozenset[int], dict[str, Any]]] = []
        self._pda = machine if isinstance(machine, PDA) else None
        self._pack_state = lru_cache(KEPT_STATES)(partial(pack_state, cast(PDA, machine)))
        self._arrows = lru_cache(KEPT_STATES)(partial(taken_arrows, cast(PDA, machine)))

    def pack(self, path: StatePath, piece: bytes, page: Page) -> dict[str, Any]:
        """The way of a token, and the drawing that shows where it ends."""
        if self._pda:
            page.passed |= {state.number: state for state in path}
        return self._way(path, piece) | {"drawing": self._drawing(path[-1])}

    def _way(self, path: StatePath, piece: bytes) -> dict[str, Any]:
        way: dict[str, Any] = {"path": [_number_of(state) for state in path]}
        if not self._pda:
            return way
        seen = [visible(bytes([byte])) for byte in piece[: len(path) - 1]]
        taken = [self._arrows(state, byte) for state, byte in zip(path[:-1], piece, strict=False)]
        return {**way, "taken": taken, "bytes": seen}

    def _drawing(self, state: Any) -> int:
        """The number of a drawing in which a state is visible; a large machine is drawn around the state."""
        if isinstance(state, State) and not state.tops:
            return max(0, len(self._drawings) - 1)
        at: int = state.tops[0][0] if isinstance(state, State) else int(state)
        for number in reversed(range(len(self._drawings))):
            if at in self._drawings[number][0]:
                return number
        plan = lay_out(self._sketch, at, None)
        counts, _, _ = say_size(plan).partition(":")
        drawing = {"shapes": bare_drawing(self._sketch, at, None).shapes, "words": counts}
        self._drawings.append((frozenset(plan.spots), drawing))
        return len(self._drawings) - 1

    def news(self, page: Page) -> dict[str, Any]:
        """The machine, its drawings and the stacks, as far as the page lacks them."""
        news: dict[str, Any] = {}
        start = self.machine.initial
        first = self._drawing(start)
        if not page.drawings:
            news["machine"] = {"initial": _number_of(start), "drawing": first, "stack": self._pda is not None}
        if new := range(page.drawings, len(self._drawings)):
            news["drawings"] = {number: self._drawings[number][1] for number in new}
        page.drawings = len(self._drawings)
        if isinstance(start, State):
            passed = page.passed | {start.number: start}
            news["stacks"] = self._stacks(state for number, state in passed.items() if number not in page.states)
            page.states |= set(passed)
            page.passed = {}
        return news

    def _stacks(self, states: Iterable[State]) -> dict[int, Any]:
        return {state.number: self._pack_state(state) for state in states}

    def why(self, why: Explanation, path: StatePath) -> dict[str, Any]:
        """The path of a forbidden token, and the byte that the machine rejects."""
        if why.legal or not path:
            return {}
        died = why.piece[why.died_at : why.died_at + 1] if why.died_at is not None else b""
        stacks = {"stacks": self._stacks(path)} if self._pda else {}
        return {**self._way(path, why.piece), "died": visible(died) or "end", **stacks}


def _number_of(state: Any) -> int:
    return state.number if isinstance(state, State) else int(state)


# The panels of a run that was loaded from a file: everything that they show stands in the recording.


SENT_ONCE = ("machine", "drawings", "stacks", "map")


class RecordedPanels:
    """The panels of a recording; they answer no question that it does not answer."""

    guide = map = drawn = None

    def __init__(self, trace: Trace) -> None:
        self._shown = trace.shown
        self._steps: list[dict[str, Any]] = self._shown["add"]

    def news(self, player: Player, same: int, page: Page) -> dict[str, Any]:
        """The steps from `same` on, the next one, and what all steps need if the page is new."""
        once = {name: self._shown[name] for name in SENT_ONCE if page.player is None and name in self._shown}
        ahead = None if player.peek is None else self._steps[player.cursor]
        return {"from": same, "add": self._steps[same : len(player.taken)], "next": ahead, **once}

    def explain(self, player: Player, token: int) -> recording.PackedWhy | None:
        """Why a candidate of the shown step is forbidden; None where it is not."""
        step = self._steps[min(player.cursor, len(self._steps) - 1)] if self._steps else {}
        return cast(recording.PackedWhy | None, step.get("whys", {}).get(str(token)))

    def split(self, player: Player) -> None:
        """No split: the recording has the masks only."""


# The panels of the stage that need a guide: machine, stack and map, all at the player's cursor.


class Panels:
    """The feeds of the panels. A recording has no states, so its tokens are read by the guide."""

    def __init__(self, guide: Guide | None, recorded: Trace | None, stack: bool = False) -> None:
        self.guide, self._recorded = guide, recorded
        machine = guide.machine if guide else None
        self.drawn = machine if isinstance(machine, Drawable) else None  # for a still picture
        self.machine = MachineFeed(self.drawn) if self.drawn else None
        self.map = MapFeed(guide, stack) if guide else None
        self._replayed = read_record("this guide, step", guide, recorded).taken if guide and recorded else ()

    def close(self) -> "Panels":
        """These panels without the guide; the machine stays drawn."""
        closed = Panels(None, self._recorded)
        closed.drawn = self.drawn
        return closed

    def split(self, player: Player) -> Split | None:
        """The split whose stack-dependent tokens a still picture marks on the map."""
        return split_of(self.guide, self._state_at(player)) if self.map else None

    def hear(self, said: Any, player: Player, page: Page) -> None:
        """Answer a question about the map with the next news."""
        if self.map is not None:
            self.map.hear(said, self._state_at(player), page.masks)

    def news(self, player: Player, same: int, page: Page) -> dict[str, Any]:
        """The steps from `same` on, the next one, and what the page lacks to show them; a removed machine is None."""
        news: dict[str, Any] = {}
        if page.machine is not self.machine:
            page.turn(self.machine)
            news["machine"] = None
        news |= {"from": same, "add": tuple(self._pack(player, player.taken, same, page)), "next": None}
        if player.peek:
            ahead = (*player.taken[: player.cursor], player.peek)
            [news["next"]] = self._pack(player, ahead, player.cursor, page)
        if self.machine:
            news |= self.machine.news(page)
        if self.map:
            news["map"] = self.map.news(page.masks)
        return news

    def _pack(self, player: Player, run: TakenSteps, same: int, page: Page) -> list[recording.PackedStep]:
        """The steps from `same` on, each with its way through the machine and its mask."""
        steps = tuple(taken.step for taken in run)
        packed = []
        for taken, back, place in list(zip(run, taken_back(steps), tokens_before(steps), strict=True))[same:]:
            step, state = taken.step, self._state(player.walk, run, place)
            one: dict[str, Any] = {**step_words.pack_step(step, back)}
            if taken.walk is not player.walk:
                one["words"] += " · under the earlier constraint"
            if self.guide and self.machine:
                path = self.guide.path(state, max(step.token, 0))[: len(read_bytes(step)) + 1]
                one |= self.machine.pack(path, step.piece, page)
            if self.map:
                ranks = self.map.guide.vocabulary.rank[[c.token for c in step_words.shown_candidates(step)]].tolist()
                one |= self.map.at(state, page.masks) | {"ranks": ranks}
            packed.append(cast(recording.PackedStep, one))
        return packed

    def _state_at(self, player: Player) -> Any:
        """The state whose mask is shown: of the step that comes next or, at the end, of the last step."""
        steps = player.steps[: player.cursor]
        place = tokens_before(steps)[-1] if player.at_end and steps else player.cursor
        return self._state(player.walk, player.taken, place)

    def _state(self, walk: Walk, run: TakenSteps, place: int) -> Any:
        """The guide's state after the first steps of a run."""
        if self.guide is None:
            return None
        if isinstance(walk, ReplayWalk):
            return self._replayed[place - 1].after.state if place else self.guide.initial
        return run[place - 1].after.state if place else walk.first.state

    def explain(self, player: Player, token: int) -> recording.PackedWhy | None:
        """Why a candidate of the shown step is forbidden; None where it is not."""
        step = player.ahead.step if player.ahead else player.current if player.at_end else None
        found = next((c for c in step.candidates if c.token == token and not c.legal), None) if step else None
        return self._explain(self._state_at(player), found) if found else None

    def explain_steps(self, player: Player) -> list[dict[int, recording.PackedWhy]]:
        """For every known step, why each shown forbidden candidate is forbidden."""
        states = [self._state(player.walk, player.taken, place) for place in tokens_before(player.steps)]
        return [
            {c.token: self._explain(state, c) for c in step_words.shown_candidates(step) if not c.legal}
            for state, step in zip(states, player.steps, strict=True)
        ]

    def _explain(self, state: Any, forbidden: Candidate) -> recording.PackedWhy:
        recorded = "It was forbidden here when the run was recorded."
        reason = recorded if self._recorded else "It is a special token, not text."
        if self.guide is not None:
            try:
                why = self.guide.explain(state, forbidden.token)
                way = self.machine.why(why, self.guide.path(state, forbidden.token)) if self.machine else {}
                return cast(recording.PackedWhy, pack_explanation(why) | way)
            except Exception as error:  # a guide that cannot explain still forbids the token
                reason = f"The constraint forbids it here ({say_failure(error)})."
        return {"label": words.label(forbidden.piece), "reason": reason, "rows": (), "stack": ()}


# --- a run as a recording, which holds what the page shows at every step, and a page that plays it ---


ALL_TEXTS = 20_000  # tokens of a vocabulary whose texts are all kept; of a larger one only those that the steps show


def show_run(trace: Trace) -> dict[str, Any]:
    """What the page shows at every step of a trace."""
    player = read_record("step", trace.guide, trace)
    panels = Panels(trace.guide, None)
    shown: dict[str, Any] = {**pack_player(player)} | pack_times(player.steps) | panels.news(player, 0, Page())
    shown |= {"head": pack_head(trace, player) | {"source": words.kept_source(trace.source)}, "cursor": 0, "turn": 0}
    shown |= {"playing": False, "speed": 4, "note": "", "why": None}
    if panels.map:
        for step, whys in zip(shown["add"], panels.explain_steps(player), strict=True):
            step["whys"] = whys
        every = trace.vocabulary_size <= ALL_TEXTS
        ranks = range(trace.vocabulary_size) if every else {rank for step in shown["add"] for rank in step["ranks"]}
        shown["map"]["answers"] = panels.map.texts(ranks)
    return shown


def recording_of(trace: Trace) -> str:
    """The recording of a trace: the one it was loaded with, once it is checked, or a new one."""
    return trace.recording if trace.shown else recording.compress(show_run(trace))


def save_page(trace: Trace, path: str | Path, step: int) -> None:
    """Write a page that plays a trace."""
    file = check_path(path)
    write_whole(file, page_of(trace, step).encode("utf-8", "replace"))


def page_of(trace: Trace, step: int) -> str:
    """A page that plays a trace."""
    if type(step) is not int or not 0 <= step <= len(trace.steps):
        raise SettingError("Trace.page, step", seen=quoted(step), expected=f"0 to {len(trace.steps)}")
    asked = "".join(trace.parts[::2]) or trace.prompt
    return play_page(f"{trace.model}: {asked.strip()[:60]}", "stage", recording_of(trace), step)
