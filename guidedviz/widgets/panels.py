"""What the stage tells its page about each step: the step in words, the machine, the stack and the map.

The same for every step of a run is a recording.

A `Page` remembers what one page has been told, so that a step, a drawing, a stack and a mask are sent to it once. All
texts show every token in visible characters.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple, cast

from guidedviz.decoding import recording
from guidedviz.decoding.parting import parting_of, say_parting
from guidedviz.decoding.player import LiveWalk, Player, TakenSteps, Walk, read_record, shared_steps
from guidedviz.decoding.records import check_path
from guidedviz.decoding.sampling import LIVE_SETTINGS
from guidedviz.decoding.trace import Candidate, Step, Trace, taken_back, tokens_before
from guidedviz.errors import SettingError, quoted, shorten
from guidedviz.files import write_whole
from guidedviz.machines.names import is_name
from guidedviz.machines.pushdown.pda import PDA, Frame
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.repeats import RepeatRows
from guidedviz.machines.visible import visible
from guidedviz.markup import Element, node
from guidedviz.tokens.guide import Explanation, Guide
from guidedviz.tokens.split import Split
from guidedviz.views import step_words, words
from guidedviz.views.charts.costs import find_top, times_asked
from guidedviz.views.layout.lay_out import lay_out, lay_out_rule
from guidedviz.views.layout.plan import choose_rules
from guidedviz.views.layout.sketch import sketch_of
from guidedviz.views.machine.film import bare_drawing, rule_drawing
from guidedviz.views.machine.highlight import Drawable, Highlight, StatePath, free_places, read_bytes, taken_arrows
from guidedviz.views.machine.text import say_size
from guidedviz.views.stack.stack_table import list_other_stacks, say_ground, say_ways
from guidedviz.widgets.display import Message
from guidedviz.widgets.map import MapFeed, Masks, split_of
from guidedviz.widgets.player_page import AGAIN, page_document, play_page, play_place
from guidedviz.widgets.runner import say_failure

BRANCH_LENGTH = 121  # characters of a branch that are read; one less is shown
BEFORE = 8  # tokens before the place where two runs part that are shown
AFTER = 24
THIS_AND_OTHER = ("this run", "the other run")
SPEEDS = (0.2, 1, 2, 4, 8, 15, 30, 60)  # steps per second; the slowest one leaves time to explain
KEPT_STATES = 4096  # states of a pushdown machine whose stacks stay packed


def pack_head(head: Trace, player: Player) -> recording.PackedHead:
    """Where the steps come from, and their constraint."""
    now = player.settings
    constraint = [head.constraint or "no constraint", *now.cuts]
    if now.bias:
        constraint.append(f"{len(now.bias)} biased")
    packed: recording.PackedHead = {
        "source": head.source,
        "about": words.say_origin(head.model, head.device, head.vocabulary_size),
        "date": head.date if head.source == "RECORDED" else "",
        "prompt": words.reading(head.prompt),
        "constraint": " · ".join(constraint),
        "vocabulary": head.vocabulary_size,
        "live": isinstance(player.walk, LiveWalk),
        "speeds": SPEEDS,
    }
    if head.prompt_parts:
        packed["parts"] = words.prompt_parts(head)
    if not head.constraint:
        packed["free"] = True
    return packed


def trace_of(head: Trace, player: Player, guide: Guide | None) -> Trace:
    """All steps of a run as a record, with the settings of the next step."""
    now = player.settings
    return replace(head, steps=player.steps, seed=now.seed, temperature=now.temperature, guide=guide)


def pack_player(player: Player) -> Message:
    """The cursor, the settings of the next step, and the milliseconds of a full bar."""
    top = find_top(times_asked(player.steps))
    settings = {name: getattr(player.settings, name) for name in LIVE_SETTINGS}
    return settings | {
        "cursor": player.cursor,
        "ended": player.go(len(player.taken)).at_end,
        "branches": [pack_branch(player, run) for run in player.branches],
        "stale": player.outdated,
        "top": (round(top, 4), words.milliseconds(top)),
    }


def pack_branch(player: Player, run: TakenSteps) -> recording.PackedBranch:
    """A run that was left."""
    return pack_left_steps(shared_steps(player.taken, run), [taken.step for taken in run])


def pack_left_steps(same: int, steps: Sequence[Step]) -> recording.PackedBranch:
    """The steps of a run that was left; it shares the first ones with the shown run."""
    start = steps[same : same + BRANCH_LENGTH]  # every token shows at least one character
    text = "".join(words.label(step.piece) for step in start)
    return recording.PackedBranch(same, len(steps) - same, shorten(text, BRANCH_LENGTH - 1))


def pack_beside(shown: Sequence[Step], other: Sequence[Step], branch: int) -> Message:
    """Two runs token by token around the place where they part; the other one is a branch."""
    same = parting_of(shown, other)
    first = max(0, same - BEFORE)
    return {
        "branch": branch,
        "words": say_parting(shown, other, THIS_AND_OTHER),
        "first": first,
        "same": same - first,
        "runs": [[words.label(step.piece) for step in run[first : same + AFTER]] for run in (shown, other)],
    }


def pack_pair(shown: Sequence[Step], other: Sequence[Step]) -> Message:
    """The only other run as a branch that stands beside the shown one; it is no branch if it has the same tokens."""
    branch = pack_left_steps(parting_of(shown, other), other)
    return {"branches": [branch] if branch.text else [], "beside": pack_beside(shown, other, 0)}


def pack_explanation(why: Explanation) -> Message:
    """A token byte by byte up to the rejected one; a special token whole."""
    signs = [words.label(sign) for sign in signs_of(why.piece)]
    passed = len(signs) if why.died_at is None else why.died_at
    states = [*why.states, *repeat("", len(why.piece))]  # of a special token only the first one is known
    if is_name(why.piece):
        states = [why.states[0], why.states[-1]]
    rows = []
    for place in range(passed):
        after = states[place + 1]
        rows.append(recording.PackedByte(signs[place], states[place], f"→ {after}" if after else "", False))
    if why.died_at is not None:
        rows.append(recording.PackedByte(signs[passed], states[passed], f"expected {why.expected}", True))
    return {"label": words.label(why.piece), "reason": why.reason, "rows": rows, "stack": why.stack}


def _read_part(guide: Guide, state: Any, candidate: Candidate) -> str:
    """What is read of a forbidden token before the byte that dies; the page asks whether its label begins so."""
    if candidate.legal or is_name(candidate.piece):
        return ""
    passed = len(guide.path(state, candidate.token)) - 1
    return visible(candidate.piece[:passed])


def signs_of(piece: bytes) -> list[bytes]:
    """What a token is shown as, part by part: its bytes, or the whole name of a special token."""
    return [piece] if is_name(piece) else [bytes([byte]) for byte in piece]


class Page:
    """What one page has been told: the run, the machine with its drawings and stacks, and the masks of the map."""

    def __init__(self) -> None:
        self.player: Player | None = None
        self.head: recording.PackedHead | None = None
        self.text = ""  # in the box of the constraint
        self.looked: Message | None = None  # what the token at the cursor depends on
        self.beside: Message | None = None  # another run, beside this one
        self.masks = Masks()
        self.turn(None)

    def turn(self, machine: "MachineFeed | None") -> None:
        """Note that the page shows another machine."""
        self.machine = machine
        self.drawings = 0
        self.states: set[int] = set()
        self.passed: dict[int, State] = {}  # what the page gets with the next news


def pack_state(pda: PDA, state: State) -> Message:
    """What is highlighted in the drawing, and the frames of the stack, top first."""
    lit = Highlight.of_state(pda, state)
    return {
        "name": repr(state),
        "now": sorted(lit.now),
        "exits": sorted({place for start in lit.now for place in free_places(pda.nodes, start)}),
        "back": sorted(lit.back),
        "calls": lit.calls,
        "last": sorted(lit.last),
        "rules": sorted(lit.rules),
        "counts": lit.counts,
        "depth": pda.depth(state),
        "frames": pack_frames(pda.frames(state)),
        "others": [pack_frames(frames) for frames in list_other_stacks(pda, state)],
        "ways": say_ways(state),
        "ground": say_ground(state),
    }


def pack_frames(frames: Iterable[Frame]) -> list[recording.PackedFrame]:
    """The open rules of a stack, each with what it waits for."""
    return [recording.PackedFrame(frame.number, frame.rule, frame.waits) for frame in frames]


# The machine panel: a drawing is sent once, then each step sends only the states that its bytes passed.


class MachineFeed:
    """What a page is told about a machine: its drawings, the way of each token, and the stacks along the way."""

    def __init__(self, machine: Drawable) -> None:
        self.machine = machine
        self._sketch = sketch_of(machine)
        self._drawings: list[tuple[str, frozenset[int], Message]] = []  # the rule, or "", and the states of each
        self._pda = machine if isinstance(machine, PDA) else None
        self._rows = RepeatRows(machine) if isinstance(machine, DFA) else None
        self._pack_state = lru_cache(KEPT_STATES)(partial(pack_state, cast(PDA, machine)))

    def pack(self, path: StatePath, piece: bytes, page: Page) -> Message:
        """The way of a token, and the drawing that shows where it ends."""
        way = self._way(path, piece)
        if not self._pda:
            return way | {"drawing": self._drawing(path[-1])}
        page.passed |= {state.number: state for state in path}
        return way | {"drawing": self._draw_passed(self._pda, path, way)}

    def pass_state(self, state: Any, page: Page) -> int:
        """The number of a state, whose stack the page gets."""
        if not self._pda:
            return int(state)
        page.passed[state.number] = state
        return int(state.number)

    def count_repeat(self, state: Any) -> Message:
        """How much of a counted repeat was read in a state, where it stands in one."""
        counted = self._rows and self._rows.count(state)
        return {"counted": counted} if counted else {}

    def _draw_passed(self, pda: PDA, path: StatePath, way: Message) -> int:
        """Draw the rules that a token passes; the number of the drawing where it ends."""
        self._draw_grammar()
        for keys in way["taken"]:
            for key in keys:
                self._drawing(int(key.partition("-")[0]))
        places = pda.places(path[-1])
        return self._drawing(places[0]) if places else 0

    def _way(self, path: StatePath, piece: bytes) -> Message:
        if not self._pda:
            return {"path": path}
        steps = list(zip(path, piece[: len(path) - 1], strict=False))
        return {
            "path": [state.number for state in path],
            "taken": [taken_arrows(self._pda, state, byte) for state, byte in steps],
            "bytes": [visible(bytes([byte])) for _, byte in steps],
        }

    def _drawing(self, place: int) -> int:
        """The number of a drawing in which a state is visible; a large machine is drawn around the state."""
        rule = self._pda.nodes.name_of(place) if self._pda else ""
        for number in range(len(self._drawings) - 1, -1, -1):
            drawn, states, _ = self._drawings[number]
            if drawn == rule and place in states:
                return number
        if self._pda:
            self._draw_rule(rule, place)
        else:
            self._draw_whole(place)
        return len(self._drawings) - 1

    def _draw_whole(self, place: int) -> None:
        """Add a drawing of the machine, or of its part around a state."""
        plan = lay_out(self._sketch, place, None)
        counts, _, _ = say_size(plan).partition(":")
        drawing = {"shapes": bare_drawing(self._sketch, place, None).shapes, "words": counts}
        self._drawings.append(("", frozenset(plan.spots), drawing))

    def _draw_rule(self, name: str, place: int) -> None:
        """Add a drawing of one rule."""
        nodes = dict(self._sketch.rules)[name]
        plan = lay_out_rule(self._sketch, (name, nodes), place)
        drawing = {"shapes": rule_drawing(plan).shapes, "words": f"rule {name}", "rule": name}
        self._drawings.append((name, frozenset(plan.spots), drawing))

    def _draw_grammar(self) -> None:
        """Draw the whole of a grammar and each rule once; of a large one only rules that are passed are drawn."""
        if self._drawings or not self._pda:
            return
        start = self._pda.nodes.starts[0]
        if choose_rules(self._sketch, start) is not self._sketch.rules:
            self._drawing(start)
            return
        self._draw_whole(start)
        for name, nodes in self._sketch.rules:
            self._draw_rule(name, nodes[0])

    def news(self, page: Page) -> Message:
        """The machine, its drawings and the stacks, as far as the page lacks them."""
        news: Message = {}
        start: Any = self.machine.initial
        self._draw_grammar()
        first = 0 if self._pda else self._drawing(start)
        if not page.drawings:
            initial = start.number if self._pda else start
            news["machine"] = {"initial": initial, "drawing": first, "stack": self._pda is not None}
        if page.drawings < len(self._drawings):
            numbers = range(page.drawings, len(self._drawings))
            news["drawings"] = {number: self._drawings[number][2] for number in numbers}
            page.drawings = len(self._drawings)
        if self._pda:
            passed = page.passed | {start.number: start}
            news["stacks"] = self._stacks(state for number, state in passed.items() if number not in page.states)
            page.states |= set(passed)
            page.passed = {}
        return news

    def _stacks(self, states: Iterable[State]) -> dict[int, Message]:
        return {state.number: self._pack_state(state) for state in states}

    def why(self, why: Explanation, path: StatePath) -> Message:
        """The path of a forbidden token, and the byte that the machine rejects."""
        if why.legal or not path:
            return {}
        died = "end" if why.died_at is None else visible(signs_of(why.piece)[why.died_at])
        said = self._way(path, why.piece) | {"died": died}
        if self._pda:
            self._draw_passed(self._pda, path, said)
            said["stacks"] = self._stacks(path)
        return said


# The panels of a run that was loaded from a file: everything that they show stands in the recording.


SENT_ONCE = ("machine", "drawings", "stacks", "map")


class RecordedPanels:
    """The panels of a recording; they answer no question that it does not answer."""

    guide = drawn = None

    def __init__(self, trace: Trace) -> None:
        self._shown = tell_anew(trace)
        self._steps: list[Message] = self._shown["add"]

    def news(self, player: Player, same: int, page: Page) -> Message:
        """The steps from `same` on, the next one, and what all steps need if the page is new."""
        ahead = self._steps[player.cursor] if player.peek else None
        news = {"from": same, "add": self._steps[same : len(player.taken)], "next": ahead}
        if page.player is None:
            news |= {name: self._shown[name] for name in SENT_ONCE if name in self._shown}
        return news

    def explain(self, player: Player, token: int) -> Message | None:
        """Why a candidate of the shown step is forbidden; None where it is not."""
        if not self._steps:
            return None
        step = self._steps[min(player.cursor, len(self._steps) - 1)]
        why: Message | None = step.get("whys", {}).get(str(token))
        return why

    def split(self, player: Player) -> None:
        """No split: the recording has the masks only."""


# The panels of the stage that need a guide: machine, stack and map, all at the player's cursor.


class Panels:
    """The feeds of the panels. A recording has no states, so its tokens are read by the guide."""

    def __init__(self, guide: Guide | None, recorded: Trace | None, stack: bool = False) -> None:
        self.guide = guide
        self._recorded = recorded
        machine = guide.machine if guide else None
        self.drawn = machine if isinstance(machine, Drawable) else None  # for a still picture
        self.machine = MachineFeed(self.drawn) if self.drawn else None
        self.map = MapFeed(guide, stack) if guide else None
        self._replayed = read_record("this guide, step", guide, recorded) if guide and recorded else None

    def close(self) -> "Panels":
        """These panels without the guide; the machine stays drawn."""
        closed = Panels(None, self._recorded)
        closed.drawn = self.drawn
        return closed

    def split(self, player: Player) -> Split | None:
        """The split whose stack-dependent tokens a still picture marks on the map."""
        return split_of(self.guide, self._state_at(player)) if self.guide else None

    def hear(self, said: Any, player: Player, page: Page) -> None:
        """Answer a question about the map with the next news."""
        if self.map is not None:
            self.map.hear(said, self._state_at(player), page.masks)

    def news(self, player: Player, same: int, page: Page) -> Message:
        """The steps from `same` on, the next one, and what the page lacks to show them; a removed machine is None."""
        news: Message = {}
        if page.machine is not self.machine:
            page.turn(self.machine)
            news["machine"] = None
        news |= {"from": same, "add": self._pack(player, player.taken, same, page), "next": None}
        if player.peek:
            ahead = (*player.taken[: player.cursor], player.peek)
            [news["next"]] = self._pack(player, ahead, player.cursor, page)
        if self.machine:
            news |= self.machine.news(page)
        if self.map:
            news["map"] = self.map.news(page.masks)
        return news

    def _pack(self, player: Player, run: TakenSteps, same: int, page: Page) -> list[Message]:
        """The steps from `same` on, each with its way through the machine and its mask."""
        steps = [taken.step for taken in run]
        back = taken_back(steps)
        before = tokens_before(steps)
        packed = []
        for place in range(same, len(run)):
            step = steps[place]
            one: Message = {**step_words.pack_step(step, back[place])}
            if run[place].walk is not player.walk:
                one["words"] += " · under the earlier constraint"
            if self.guide and self.map:
                state = self._state(player.walk, run, before[place])
                if self.machine:
                    path = self.guide.path(state, max(step.token, 0))[: len(read_bytes(step)) + 1]
                    one |= self.machine.pack(path, step.piece, page)
                one |= self.map.at(state, page.masks)
                shown = step_words.shown_candidates(step)
                one["ranks"] = self.guide.vocabulary.rank[[candidate.token for candidate in shown]].tolist()
                reads = [_read_part(self.guide, state, candidate) for candidate in shown]
                if any(reads):
                    one["reads"] = reads
                one |= self._refused(state, step, page)
            packed.append(one)
        return packed

    def _refused(self, state: Any, step: Step, page: Page) -> Message:
        """The likeliest forbidden token and its byte that has no way on, with the place where that is."""
        forbidden = step_words.forbidden_candidates(step)
        if self.guide is None or not (self.machine and forbidden):
            return {"refused": None}
        token = forbidden[0].token
        if token in self.guide.vocabulary.eos:
            return {"refused": (token, "end")}
        signs = signs_of(forbidden[0].piece)
        path = self.guide.path(state, token)
        passed = len(path) - 1
        if not 0 <= passed < len(signs):
            return {"refused": None}
        said = {"refused": (token, words.label(signs[passed]))} | self.machine.count_repeat(path[-1])
        if passed:
            said["refusedIn"] = (self.machine.pass_state(path[-1], page), words.label(b"".join(signs[:passed])))
        return said

    def _state_at(self, player: Player) -> Any:
        """The state whose mask is shown: of the step that comes next or, at the end, of the last step."""
        place = player.cursor
        if player.at_end and place:
            place = tokens_before(player.steps[:place])[-1]
        return self._state(player.walk, player.taken, place)

    def _state(self, walk: Walk, run: TakenSteps, place: int) -> Any:
        """The guide's state after the first steps of a run."""
        if self._replayed:
            walk = self._replayed.walk
            run = self._replayed.taken
        if self.guide is None:
            return None
        return run[place - 1].after.state if place else walk.first.state

    def explain(self, player: Player, token: int) -> Message | None:
        """Why a candidate of the shown step is forbidden; None where it is not."""
        step = player.current if player.at_end else None
        if player.ahead:
            step = player.ahead.step
        for candidate in step.candidates if step else ():
            if candidate.token == token and not candidate.legal:
                return self._explain(self._state_at(player), candidate)
        return None

    def explain_steps(self, player: Player) -> Iterator[dict[int, Message]]:
        """For every known step, why each shown forbidden candidate is forbidden."""
        for step, place in zip(player.steps, tokens_before(player.steps), strict=True):
            state = self._state(player.walk, player.taken, place)
            forbidden = step_words.forbidden_candidates(step)
            yield {candidate.token: self._explain(state, candidate) for candidate in forbidden}

    def _explain(self, state: Any, forbidden: Candidate) -> Message:
        reason = "It is a special token, not text."
        if self._recorded:
            reason = "It was forbidden here when the run was recorded."
        if self.guide is not None:
            try:
                why = self.guide.explain(state, forbidden.token)
                way = self.machine.why(why, self.guide.path(state, forbidden.token)) if self.machine else {}
                return pack_explanation(why) | way
            except Exception as error:  # a guide that cannot explain still forbids the token
                reason = f"The constraint forbids it here ({say_failure(error)})."
        return {"label": words.label(forbidden.piece), "reason": reason, "rows": (), "stack": ()}


# --- a run as a recording, which holds what the page shows at every step, and a page that plays it ---


ALL_TEXTS = 20_000  # tokens of a vocabulary whose texts are all kept; of a larger one only those that the steps show


def show_run(trace: Trace) -> Message:
    """What the page shows at every step of a trace."""
    player = read_record("step", trace.guide, trace)
    panels = Panels(trace.guide, None)
    shown = pack_player(player) | panels.news(player, 0, Page())
    shown["head"] = pack_head(trace, player) | {"source": words.kept_source(trace.source)}
    shown |= {"cursor": 0, "turn": 0, "playing": False, "speed": 4, "note": "", "why": None}
    if panels.map:
        for step, whys in zip(shown["add"], panels.explain_steps(player), strict=True):
            step["whys"] = whys
        ranks: Iterable[int] = range(trace.vocabulary_size)
        if trace.vocabulary_size > ALL_TEXTS:
            ranks = {rank for step in shown["add"] for rank in step["ranks"]}
        shown["map"]["answers"] = panels.map.texts(ranks)
    return shown


def tell_anew(trace: Trace) -> Message:
    """The recording that a trace was loaded with; its steps are told from the facts in the trace.

    An earlier version may have packed other words.
    """
    shown = trace.shown
    told = []
    for old, step, back in zip(shown["add"], trace.steps, taken_back(trace.steps), strict=True):
        new: Message = {**old, **step_words.pack_step(step, back)}
        if "ranks" in old:
            ranks = {row[0]: rank for row, rank in zip(old["rows"], old["ranks"], strict=False)}
            new["ranks"] = [ranks.get(row[0], -1) for row in new["rows"]]
        told.append(new)
    return {**shown, "add": told}


def shown_run(trace: Trace) -> Message:
    """What the page shows at every step: by the recording that the trace was loaded with, or anew."""
    return tell_anew(trace) if trace.recording else show_run(trace)


def recording_of(trace: Trace) -> str:
    """The recording of a trace."""
    return recording.compress(shown_run(trace))


def save_page(trace: Trace, path: str | Path, step: int) -> None:
    """Write a page that plays a trace."""
    file = check_path(path)
    write_whole(file, page_of(trace, step).encode("utf-8", "replace"))


class RunBeside(NamedTuple):
    """A run on a page of several."""

    words: Element
    recording: str
    step: int  # that it opens at
    again: Message  # what can be changed: the host decodes the run again


def page_beside(title: str, above: Element, runs: Iterable[RunBeside]) -> str:
    """A page with words, and below them recordings side by side, each below its words."""

    def inside(nonce: str) -> Element:
        parts = []
        for run in runs:
            place = play_place("stage", run.recording, nonce, run.step, data_again=json.dumps(run.again))
            parts.append(node("section", run.words, place))
        return above + node("div", *parts, class_="gv-beside")

    return page_document(title, "stage", inside, AGAIN)


def page_of(trace: Trace, step: int) -> str:
    """A page that plays a trace."""
    if type(step) is not int or not 0 <= step <= len(trace.steps):
        raise SettingError("Trace.page, step", seen=quoted(step), expected=f"0 to {len(trace.steps)}")
    asked = "".join(trace.prompt_parts[::2]) or trace.prompt
    return play_page(f"{trace.model}: {asked.strip()[:60]}", "stage", recording_of(trace), step)
