"""What the stage tells its page about each step: the step in words, the machine, the stack and the map.

The page gets a drawing, a stack and a mask once, and after that only what is new; all texts show every token in
visible characters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict, cast

from guidedviz.decoding.player import LiveWalk, Player, ReplayWalk, Run, Taken, Walk, shared_steps
from guidedviz.decoding.recording import (
    PackedBranch,
    PackedByte,
    PackedHead,
    PackedNewSteps,
    PackedPlayer,
    PackedStep,
    PackedWhy,
)
from guidedviz.decoding.trace import Candidate, Step, Trace, follows, standing, taken_back
from guidedviz.errors import GuidedVizError, shorten
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import State
from guidedviz.machines.visible import visible
from guidedviz.markup import Shapes
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.explain import Explanation
from guidedviz.tokens.guide import Guide, MachineGuide
from guidedviz.tokens.jump import shared_length
from guidedviz.tokens.split import Split
from guidedviz.views.charts.costs import find_top, times_asked
from guidedviz.views.figure import Figure
from guidedviz.views.layout.diagram import lay_out
from guidedviz.views.layout.sketch import sketch_of
from guidedviz.views.machine.films import bare_drawing
from guidedviz.views.machine.highlight import Drawable, StatePath, highlight_state, read_bytes, read_step, taken_arrows
from guidedviz.views.machine.picture import count_states
from guidedviz.views.stack.graph import draw_shared_stacks
from guidedviz.views.stack.stack import draw_depth, say_ground, say_ways
from guidedviz.views.stack.tree import draw_derivation
from guidedviz.views.words import label, milliseconds, pack_step, reading, say_origin, shown_candidates
from guidedviz.widgets.map import MapFeed, split_of
from guidedviz.widgets.runner import running_loop, say_failure

BRANCH_LENGTH = 121  # characters of a branch that are read; one less is shown
SPEEDS = (1, 2, 4, 8, 15, 30, 60)  # steps per second


class Times(TypedDict):
    """The milliseconds of a full bar, as a number and as text."""

    top: tuple[float, str]


def pack_head(head: Trace, player: Player) -> PackedHead:
    """Where the steps come from, and their constraint."""
    now = player.settings
    biased = [f"{len(now.bias)} biased"] * bool(now.bias)
    return {
        "source": head.source,
        "about": say_origin(head.model, head.device, head.vocabulary_size),
        "date": head.date if head.source == "RECORDED" else "",
        "prompt": reading(head.prompt),
        "constraint": " · ".join([head.constraint or "no constraint", *now.cuts, *biased]),
        "vocabulary": head.vocabulary_size,
        "live": isinstance(player.walk, LiveWalk),
        "speeds": SPEEDS,
    }


def pack_player(player: Player) -> PackedPlayer:
    """The cursor, and the settings of the next step."""
    return {
        "cursor": player.cursor,
        "ended": player.go(len(player.taken)).at_end,
        "branches": tuple(pack_branch(player, run) for run in player.branches),
        "stale": tuple(player.outdated),
        "temperature": player.settings.temperature,
        "seed": player.settings.seed,
    }


def pack_branch(player: Player, run: Run) -> PackedBranch:
    """A run that was left."""
    same = shared_steps(player.taken, run)
    start = run[same : same + BRANCH_LENGTH]  # every token shows at least one character
    text = shorten("".join(label(taken.step.piece) for taken in start), BRANCH_LENGTH - 1)
    return PackedBranch(same, len(run) - same, text)


def pack_times(steps: Sequence[Step]) -> Times:
    """The milliseconds of a full bar."""
    top = find_top(times_asked(steps))
    return {"top": (round(top, 4), milliseconds(top))}


def pack_taken(taken: Taken, walk: Walk, back: Sequence[int]) -> PackedStep:
    """A step; `walk` is the current walk."""
    packed = pack_step(taken.step, back)
    if taken.walk is not walk:
        packed["words"] += " · under the earlier constraint"
    return packed


def pack_explanation(why: Explanation) -> PackedWhy:
    """A token byte by byte up to the rejected one."""
    rows, names = [], why.states
    for place in range(len(why.piece)):
        died = place == why.died_at
        state = names[place] if place < len(names) else ""
        after = names[place + 1] if place + 1 < len(names) else ""
        fate = f"expected {why.expected}" if died else after and f"→ {after}"
        rows.append(PackedByte(label(why.piece[place : place + 1]), state, fate, died))
        if died:
            break
    return {"label": label(why.piece), "reason": why.reason, "rows": tuple(rows), "stack": why.stack}


# The stack panel: each state of a pushdown machine is sent once; its other pictures only while they are visible.


PAINTER = ThreadPoolExecutor(1, "guidedviz-picture")
PICTURES: dict[str, Callable[[PDA, bytes], Figure]] = {
    "shared": draw_shared_stacks,
    "tree": draw_derivation,
    "depth": draw_depth,
}


class StackFeed:
    """The states of a pushdown machine, each sent once."""

    def __init__(self, pda: PDA) -> None:
        self.pda = pda
        self._told: set[int] = set()
        self._packed: dict[int, dict[str, Any]] = {}
        self._taken: dict[tuple[int, int], tuple[str, ...]] = {}

    def news(self, states: Iterable[State], everything: bool) -> dict[int, Any]:
        """The states that the page does not know yet."""
        if everything:
            self._told.clear()
        new = {state.number: state for state in states if state.number not in self._told}
        self._told |= set(new)
        return self.pack(new.values())

    def pack(self, states: Iterable[State]) -> dict[int, Any]:
        """What the page shows of these states."""
        return {state.number: self._pack(state) for state in states}

    def taken(self, path: tuple[State, ...], piece: bytes) -> list[tuple[str, ...]]:
        """The arrows by which each byte of a token was read."""
        return [self._arrows(state, byte) for state, byte in zip(path[:-1], piece, strict=False)]

    def _arrows(self, state: State, byte: int) -> tuple[str, ...]:
        key = state.number, byte
        if key not in self._taken:
            self._taken[key] = taken_arrows(self.pda, state, byte)
        return self._taken[key]

    def _pack(self, state: State) -> dict[str, Any]:
        if state.number not in self._packed:
            self._packed[state.number] = pack_state(self.pda, state)
        return self._packed[state.number]


def pack_state(pda: PDA, state: State) -> dict[str, Any]:
    """What is highlighted in the drawing, and the frames of the stack, top first."""
    lit = highlight_state(pda, state)
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


class Pictures:
    """The other pictures of a text. The visible one is drawn in a thread, for the newest text first."""

    def __init__(self, pda: PDA, tell: Callable[[], Any]) -> None:
        self.pda, self.name, self._tell = pda, "stack", tell
        self._wanted = self._drawn = ("stack", b"")
        self._picture: Shapes | str = ""
        self._new = False
        self._task: asyncio.Task[None] | None = None

    def want(self, name: str, text: bytes) -> None:
        """Ask for a picture of a text; the stack itself needs none."""
        self._wanted = (name, text)
        if name not in PICTURES or self._wanted == self._drawn or (self._task and not self._task.done()):
            return
        if loop := running_loop():
            self._task = loop.create_task(self._draw())
        else:
            self._keep(self._wanted, draw_picture(self.pda, name, text))

    async def _draw(self) -> None:
        while self._wanted != self._drawn and self._wanted[0] in PICTURES:
            wanted = self._wanted
            drawn = asyncio.get_running_loop().run_in_executor(PAINTER, draw_picture, self.pda, *wanted)
            self._keep(wanted, await drawn)
            self._tell()

    def _keep(self, drawn: tuple[str, bytes], picture: Shapes | str) -> None:
        self._drawn, self._picture, self._new = drawn, picture, True

    def news(self, everything: bool) -> dict[str, Any]:
        """The picture, if it is new."""
        new, self._new = self._new or everything, False
        return {"picture": [self._drawn[0], self._picture]} if new and self._picture else {}


def draw_picture(pda: PDA, name: str, text: bytes) -> Shapes | str:
    """The shapes of a picture, or the reason why it cannot be drawn."""
    try:
        return PICTURES[name](pda, text).drawing.shapes
    except GuidedVizError as error:
        return str(error)


# The machine panel: the drawing is sent once, then each step sends only the states that its bytes passed.


def machine_of(guide: Guide | None) -> Drawable | None:
    """The machine behind a guide, if it is one that can be drawn."""
    machine = guide.machine if guide is not None else None
    return machine if isinstance(machine, Drawable) else None


def number_of(state: Any) -> int:
    """The number of a state on the page."""
    return state.number if isinstance(state, State) else int(state)


class MachineFeed:
    """What the page is told about a machine."""

    def __init__(self, machine: Drawable) -> None:
        self.machine, self._sketch = machine, sketch_of(machine)
        self._stacks = StackFeed(machine) if isinstance(machine, PDA) else None
        self._drawings: list[tuple[frozenset[int], dict[str, Any]]] = []
        self._sent = 0  # drawings that the page has
        self._known = False  # whether the page knows the machine
        self._passed: set[Any] = {machine.initial}  # states that the page needs with the next news
        self._steps: tuple[Step, ...] = ()
        self._paths: list[StatePath] = []

    def paths(self, steps: tuple[Step, ...]) -> list[StatePath]:
        """The states inside the token of every step; steps read before are not read again."""
        same = shared_length(self._steps, steps)
        del self._paths[same:]
        for step, place in zip(steps[same:], follows(steps)[same:], strict=True):
            self._paths.append(read_step(self.machine, self.at(place), step))
        self._steps = steps
        return self._paths

    def at(self, cursor: int) -> Any:
        """The state after the first `cursor` steps."""
        return self._paths[cursor - 1][-1] if cursor else self.machine.initial

    def pack(self, steps: tuple[Step, ...], same: int) -> list[dict[str, Any]]:
        """The paths of the steps from `same` on, and the drawing that shows where each of them ends."""
        paths = self.paths(steps)[same:]
        self._passed.update(state for path in paths for state in path)
        ways = zip(paths, steps[same:], strict=True)
        return [self._pack(path, step.piece) | {"drawing": self._drawing(path[-1])} for path, step in ways]

    def _pack(self, path: StatePath, piece: bytes) -> dict[str, Any]:
        way: dict[str, Any] = {"path": [number_of(state) for state in path]}
        if not self._stacks:
            return way
        seen = [visible(bytes([byte])) for byte in piece[: len(path) - 1]]
        return {**way, "taken": self._stacks.taken(path, piece), "bytes": seen}

    def _drawing(self, state: Any) -> int:
        """The number of a drawing in which a state is visible; a large machine is drawn around the state."""
        if isinstance(state, State) and not state.tops:
            return max(0, len(self._drawings) - 1)
        at: int = state.tops[0][0] if isinstance(state, State) else int(state)
        for number in reversed(range(len(self._drawings))):
            if at in self._drawings[number][0]:
                return number
        plan = lay_out(self._sketch, at, None)
        words, _, _ = count_states(plan).partition(":")
        drawing = {"shapes": bare_drawing(self._sketch, at, None).shapes, "words": words}
        self._drawings.append((frozenset(plan.spots), drawing))
        return len(self._drawings) - 1

    def news(self, everything: bool) -> dict[str, Any]:
        """The machine, its drawings and the stacks, as far as the page lacks them."""
        first = self._drawing(self.machine.initial)
        everything |= not self._known
        new = range(0 if everything else self._sent, len(self._drawings))
        news: dict[str, Any] = {"drawings": {number: self._drawings[number][1] for number in new}} if new else {}
        self._sent, self._known = len(self._drawings), True
        if everything:
            news["machine"] = self._head(first)
        if self._stacks:
            news["stacks"] = self._stacks.news(self._passed, everything)
        self._passed = {self.machine.initial}
        return news

    def kept(self) -> dict[str, Any]:
        """The machine with all its drawings, and the stacks of all steps that were packed just before."""
        first = self._drawing(self.machine.initial)
        stacks = {"stacks": self._stacks.pack(self._passed)} if self._stacks else {}
        drawings = {number: drawing for number, (_, drawing) in enumerate(self._drawings)}
        return {"machine": self._head(first), "drawings": drawings, **stacks}

    def _head(self, first: int) -> dict[str, Any]:
        return {"initial": number_of(self.machine.initial), "drawing": first, "stack": self._stacks is not None}

    def why(self, why: Explanation, path: StatePath) -> dict[str, Any]:
        """The path of a forbidden token, and the byte that the machine rejects."""
        if why.legal or not path:
            return {}
        died = why.piece[why.died_at : why.died_at + 1] if why.died_at is not None else b""
        stacks = {"stacks": self._stacks.pack(path)} if self._stacks else {}
        return {**self._pack(path, why.piece), "died": visible(died) or "end", **stacks}


# The panels of a run that was loaded from a file: everything that they show stands in the recording.


SENT_ONCE = ("machine", "drawings", "stacks", "map")


class RecordedPanels:
    """The panels of a recording; they answer no question that it does not answer."""

    guide = map = drawn = machine = None

    def __init__(self, trace: Trace) -> None:
        self._shown = trace.shown
        self._steps: list[dict[str, Any]] = self._shown["add"]

    def news(self, player: Player, same: int, everything: bool, edited: Any = None) -> dict[str, Any]:
        """The steps from `same` on, the next one, and with `everything` what all steps need."""
        once = {name: self._shown[name] for name in SENT_ONCE if everything and name in self._shown}
        ahead = None if player.peek is None else self._steps[player.cursor]
        return {"from": same, "add": self._steps[same : len(player.taken)], "next": ahead, **once}

    def kept(self, player: Player) -> dict[str, Any]:
        """All that a page without a kernel shows."""
        return self.news(player, 0, True)

    def forbids(self, player: Player, token: int) -> bool:
        """Whether a candidate of the shown step is forbidden."""
        return self._why(player, token) is not None

    def explain(self, player: Player, token: int) -> Any:
        """Why a candidate of the shown step is forbidden."""
        return self._why(player, token)

    def _why(self, player: Player, token: int) -> Any:
        step = self._steps[min(player.cursor, len(self._steps) - 1)] if self._steps else {}
        return step.get("whys", {}).get(str(token))

    def split(self, player: Player) -> None:
        """No split: the recording has the masks only."""

    def hear(self, said: Any, player: Player) -> None:
        """Answer nothing: the page has all texts."""

    def moved(self, player: Player) -> None:
        """Do nothing."""

    def turn(self, guide: Any) -> None:
        """Do nothing: a recording has its own guide."""

    def close(self) -> None:
        """Release nothing."""


# The panels of the stage that need a guide: machine, stack and map, all at the player's cursor.


def has_map(guide: Guide, recorded: Trace | None) -> bool:
    """Whether the state of every step is known. A recording has only the states of the machine that is drawn."""
    if recorded is None:
        return True
    drawn = isinstance(guide, MachineGuide) and machine_of(guide) is not None
    return drawn and recorded.vocabulary_size == len(guide.vocabulary)


def _candidates(player: Player) -> tuple[Candidate, ...]:
    """The candidates of the step that comes next or, at the end, of the last step."""
    step = player.ahead.step if player.ahead else player.current if player.at_end else None
    return step.candidates if step else ()


class Panels:
    """The feeds of the panels."""

    def __init__(self, guide: Guide | None, recorded: Trace | None, tell: Callable[[], Any]) -> None:
        self._recorded, self._tell = recorded, tell
        self.map: MapFeed | None = None
        self.pictures: Pictures | None = None
        self._new_map = self._had_machine = False
        self.turn(guide)

    def replaces(self, other: Panels | RecordedPanels) -> None:
        """Take the place of these panels: the page may show a machine that is no longer there."""
        self._had_machine = other.machine is not None

    def turn(self, guide: Guide | None) -> None:
        """Show another guide."""
        self.guide, machine = guide, machine_of(guide)
        self.machine = MachineFeed(machine) if machine else None
        self.pictures = Pictures(machine, self._tell) if isinstance(machine, PDA) else None
        if guide is not None and has_map(guide, self._recorded):
            self._show_map(guide)

    def _show_map(self, guide: Guide) -> None:
        if self.map:
            self.map.turn(guide)
        else:
            self.map, self._new_map = MapFeed(guide), True

    def close(self) -> None:
        """Release the guide; the machine stays drawn."""
        self.guide = self.map = self.pictures = None

    @property
    def drawn(self) -> Drawable | None:
        """The machine for a still picture."""
        return self.machine.machine if self.machine else None

    def split(self, player: Player) -> Split | None:
        """The split whose stack-dependent tokens a still picture marks on the map."""
        return split_of(self.guide, self.state_at(player)) if self.map else None

    def hear(self, said: Any, player: Player) -> None:
        """Answer a question of the page with the next news."""
        match said:
            case {"do": "map"} if self.map is not None:
                self.map.hear(said, self.state_at(player))
                self._tell()
            case {"do": "picture", "name": str(name)} if self.pictures is not None:
                self.pictures.name = name
                self.moved(player)
                self._tell()

    def moved(self, player: Player) -> None:
        """Ask for the visible picture at the cursor."""
        if self.pictures is not None:
            steps = standing(player.steps[: player.cursor])
            self.pictures.want(self.pictures.name, b"".join(map(read_bytes, steps)))

    def _pack_steps(self, player: Player, same: int, feed: MapFeed | None) -> PackedNewSteps:
        """The steps from `same` on, and the step that is computed but not taken."""
        added, ahead = self._pack(player, player.taken, same, feed), None
        if player.peek:
            [ahead] = self._pack(player, (*player.taken[: player.cursor], player.peek), player.cursor, feed)
        return {"from": same, "add": tuple(added), "next": ahead}

    def _pack(self, player: Player, run: Run, same: int, feed: MapFeed | None) -> list[PackedStep]:
        steps = tuple(taken.step for taken in run)
        new, back, before = run[same:], taken_back(steps)[same:], follows(steps)[same:]
        packed: list[Any] = [pack_taken(taken, player.walk, gone) for taken, gone in zip(new, back, strict=True)]
        ways = self.machine.pack(steps, same) if self.machine else []
        marks = (
            [self._mark(feed, player.walk, run, *at) for at in zip(steps[same:], before, strict=True)] if feed else []
        )
        for more in (ways, marks):
            for one, told in zip(packed, more, strict=False):
                one.update(told)
        return packed

    def _mark(self, feed: MapFeed, walk: Walk, run: Run, step: Step, place: int) -> dict[str, Any]:
        """The mask that applied to a step, and the ranks of its candidates."""
        return feed.at(self._state(walk, run, place)) | {"ranks": feed.ranks([c.token for c in shown_candidates(step)])}

    def news(
        self, player: Player, same: int, everything: bool, edited: tuple[Mask, Mask] | None = None
    ) -> dict[str, Any]:
        """The steps from `same` on, the next one, and what the page lacks to show them; a removed machine is None."""
        news: dict[str, Any] = {"machine": None} if self._had_machine and not self.machine else {}
        self._had_machine = self.machine is not None
        if self.map and (everything or self._new_map or (self.map.full and not same)):
            self.map.forget()
        news |= self._pack_steps(player, same, self.map)
        if self.machine:
            news |= self.machine.news(everything)
        if self.map:
            everything, self._new_map = everything or self._new_map, False
            news["map"] = self.map.news(everything, edited)
        return news | (self.pictures.news(everything) if self.pictures else {})

    def kept(self, player: Player) -> dict[str, Any]:
        """All that a page without a kernel shows."""
        feed = self.map.again() if self.map else None
        kept = self._pack_steps(player, 0, feed) | (self.machine.kept() if self.machine else {})
        return kept | ({"map": feed.news(True)} if feed else {})

    def state_at(self, player: Player) -> Any:
        """The state whose mask is shown: of the step that comes next or, at the end, of the last step."""
        steps = player.steps[: player.cursor]
        if self.machine:
            self.machine.paths(player.steps)
        return self._state(player.walk, player.taken, follows(steps)[-1] if player.at_end and steps else player.cursor)

    def _state(self, walk: Walk, run: Run, place: int) -> Any:
        """The state after the first steps of a run, whose paths the machine has read."""
        if self.machine and isinstance(walk, ReplayWalk):
            return self.machine.at(place)
        return run[place - 1].after.state if place else walk.first.state

    def forbids(self, player: Player, token: int) -> bool:
        """Whether a candidate of the shown step is forbidden."""
        return any(c.token == token and not c.legal for c in _candidates(player))

    def explain(self, player: Player, token: int) -> PackedWhy:
        """Why a candidate of the shown step is forbidden."""
        piece = next((c.piece for c in _candidates(player) if c.token == token), b"")
        return self._explain(self.state_at(player) if self.guide else None, token, piece)

    def explain_steps(self, player: Player) -> list[dict[int, PackedWhy]]:
        """For every known step, why each shown forbidden candidate is forbidden."""
        places = follows(player.steps)
        states = [self._state(player.walk, player.taken, place) for place in places]
        forbidden = [[c for c in shown_candidates(step) if not c.legal] for step in player.steps]
        return [
            {c.token: self._explain(state, c.token, c.piece) for c in candidates}
            for state, candidates in zip(states, forbidden, strict=True)
        ]

    def _explain(self, state: Any, token: int, piece: bytes) -> PackedWhy:
        reason = (
            "It was forbidden here when the run was recorded." if self._recorded else "It is a special token, not text."
        )
        if self.guide is not None and (self.map or self.machine):
            try:
                why = self.guide.explain(state, token)
                way = self.machine.why(why, self.guide.path(state, token)) if self.machine else {}
                return cast(PackedWhy, pack_explanation(why) | way)
            except Exception as error:  # a guide that cannot explain still forbids the token
                reason = f"The constraint forbids it here ({say_failure(error)})."
        return {"label": label(piece), "reason": reason, "rows": (), "stack": ()}
