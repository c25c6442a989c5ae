"""A conversation on a stage: when a turn ends with calls, their tools are run; then a person lets the model read on.

All turns are one tape: what the model said in each, and what the template wrote after it, with the results in grey.
One turn is shown, and each keeps its player, so a person may go back to an earlier one. Who takes another way there,
or changes a result and lets the model read it, drops the turns that followed.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from guidedviz.decoding.conversation import Conversation, Moment
from guidedviz.decoding.loop import make_trace
from guidedviz.decoding.player import LiveWalk, Player, TakenSteps
from guidedviz.decoding.recording import PackedHead
from guidedviz.decoding.reply import Reply
from guidedviz.decoding.tool_runs import ToolResult
from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError, SettingError, quoted, shorten
from guidedviz.machines.visible import show_line
from guidedviz.models.model import check_utf8
from guidedviz.tokens.build_guide import name_guide
from guidedviz.tokens.guide import Guide
from guidedviz.views.words import prompt_parts, shown_parts
from guidedviz.widgets import panels
from guidedviz.widgets.display import Message, is_still, said
from guidedviz.widgets.runner import LiveStage, begin_work

TOOLS = ThreadPoolExecutor(2, "guidedviz-tool")
MOST_CALL = 200  # characters of a call that are shown
KEPT_TURNS = 16  # that are kept; the text of an older one is in the first prompt


NOTHING_SAID = Reply("", "", ())


@dataclass
class TalkTurn:
    """A turn: how it is decoded, and what came of it."""

    head: Trace
    guide: Guide | None
    player: Player
    moment: Moment  # of the conversation in this turn
    heard: TakenSteps | None = None  # the steps whose reply was read
    reply: Reply = NOTHING_SAID
    results: tuple[ToolResult, ...] = ()
    said: tuple[str, ...] = ()  # as texts and special tokens in turn, as they are shown
    read: tuple[str, ...] = ()  # what the next prompt has after it, in the same form


class Talk:
    """The turns of a conversation; the stage shows one of them."""

    def __init__(self, stage: LiveStage, conversation: Conversation) -> None:
        self.conversation = conversation
        self._stage = stage
        self.turns = [TalkTurn(stage.head, stage.guide, stage.player, conversation.moment)]
        self.now = 0  # the place of the shown turn

    @property
    def turn(self) -> TalkTurn:
        """The shown turn."""
        return self.turns[self.now]

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """What the tools gave to the calls of the shown turn."""
        return self.turn.results

    @property
    def is_ready(self) -> bool:
        """Whether the turn has ended and its tools have run."""
        calls = self.turn.reply.calls
        return self._stage.player.at_end and bool(calls) and len(calls) == len(self.results)

    def moved(self) -> None:
        """Run the calls of a turn that has ended; forget what followed a turn that was changed."""
        turn = self.turn
        player = self._stage.player
        turn.player = player
        if player.taken is turn.heard:
            return
        if self.turns[self.now + 1 :]:
            self._drop_later()
        if player.at_end:
            self._hear(turn, player.taken)

    def _drop_later(self) -> None:
        del self.turns[self.now + 1 :]
        self.turn.read = ()

    def _hear(self, turn: TalkTurn, heard: TakenSteps) -> None:
        """Read what the model said, and run its calls."""
        trace = self._stage.trace
        turn.heard = heard
        turn.said = shown_parts(trace.parts)
        turn.reply = self.conversation.reply_of(trace)
        turn.results = ()
        if not turn.reply.calls:
            return
        work = partial(_run_all, self.conversation, turn.reply)
        if is_still():  # nobody waits for a click
            turn.results = work()
        else:
            begin_work(work, partial(self._finish, turn, heard), TOOLS)

    def _finish(self, turn: TalkTurn, heard: TakenSteps, ran: Callable[[], tuple[ToolResult, ...]]) -> None:
        if heard is turn.heard:
            turn.results = ran()
            self._stage.tell()

    def go_on(self, *texts: str) -> None:
        """Let the model read the results, or these texts in their place, and begin its next turn."""
        if not self.is_ready:
            seen = "a turn without results"
            raise SettingError("stage.answer", seen=seen, expected="a turn that ended with calls", hint="stage.play()")
        if texts and len(texts) != len(self.results):
            seen = quoted(texts)
            raise SettingError("stage.answer", seen=seen, expected=f"a text for each of {len(self.results)} results")
        turn = self.turn
        if texts:
            checked = [check_utf8("stage.answer", text) for text in texts]
            turn.results = tuple(replace(one, text=text) for one, text in zip(turn.results, checked, strict=True))
        self.conversation.take(turn.reply, turn.results)
        try:
            following = self._next_turn()
        except GuidedVizError:
            self.conversation.return_to(turn.moment)
            raise
        self._drop_later()
        added = self.conversation.parts_after(turn.head.prompt_parts, following.head.prompt_parts)
        turn.read = shown_parts(added or ["\n".join(one.text for one in turn.results)])
        self.turns = [*self.turns, following][-KEPT_TURNS:]
        self._show(len(self.turns) - 1)

    def _next_turn(self) -> TalkTurn:
        """The turn that comes next: its prompt has all that was said."""
        prompt, guide = self.conversation.next_turn()
        model = self.conversation.model
        now = self._stage.player.settings
        head = make_trace(model, prompt, name_guide(guide), now.seed, now.temperature)
        return TalkTurn(head, guide, Player(LiveWalk(model, prompt, guide), now), self.conversation.moment)

    def visit(self, place: int) -> bool:
        """Show the turn at a place, if there is one."""
        if place not in range(len(self.turns)):
            return False
        if place != self.now:
            self._show(place)
        return True

    def _show(self, place: int) -> None:
        self.now = place
        turn = self.turn
        self.conversation.return_to(turn.moment)
        self._stage.show_run(turn.head, turn.guide, turn.player)

    def record(self) -> Message:
        """The steps of all turns, for a page that plays them alone; a press on a turn asks for its page."""
        pages = [self._record_turn(place) for place in range(len(self.turns))]
        moves = {said("visit", turn=place, cursor=0): place for place in range(len(pages))}
        return {**pages[self.now], "pages": pages, "moves": moves}

    def _record_turn(self, place: int) -> Message:
        turn = self.turns[place]
        shown = panels.show_run(panels.trace_of(turn.head, turn.player, turn.guide))
        shown["head"]["constraint"] = panels.pack_head(turn.head, turn.player)["constraint"]
        self.write_tape(shown["head"], place)
        return shown

    def write_tape(self, head: PackedHead, now: int) -> None:
        """Add the turns to what the page shows of the prompt; those of the turn `now` are the steps."""
        if len(self.turns) == 1:
            return
        head["parts"] = prompt_parts(self.turns[0].head)
        head["talk"] = {"turns": tuple({"said": turn.said, "read": turn.read} for turn in self.turns), "now": now}

    def pack(self) -> list[tuple[str, str, bool]]:
        """What the page shows of the results: the call, the text, and whether the tool failed."""
        if not self.is_ready:
            return []
        return [(shorten(show_line(str(one.call)), MOST_CALL), one.text, one.failed) for one in self.results]


def _run_all(conversation: Conversation, reply: Reply) -> tuple[ToolResult, ...]:
    return tuple(map(conversation.run, reply.calls))
