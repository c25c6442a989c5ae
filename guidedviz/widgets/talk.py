"""A conversation on a stage: when a turn ends with calls, their tools are run; then a person lets the model read on.

The turns before stand in the prompt of the next one: what the model said, and what the tools gave, as grey text. A
person may change a result before the model reads it. Who goes back in a turn and takes another way drops its results.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from guidedviz.decoding.conversation import Conversation
from guidedviz.decoding.player import TakenSteps
from guidedviz.decoding.reply import Reply
from guidedviz.decoding.tool_runs import ToolResult
from guidedviz.decoding.trace import Trace
from guidedviz.errors import SettingError, quoted, shorten
from guidedviz.machines.visible import show_line
from guidedviz.models.model import check_utf8
from guidedviz.widgets.runner import running_loop

TOOLS = ThreadPoolExecutor(2, "guidedviz-tool")
MOST_CALL = 200  # characters of a call that are shown


class TalkingStage(Protocol):
    """What a conversation needs of its stage."""

    player: Any

    @property
    def trace(self) -> Trace: ...
    def begin_turn(self, talk: Conversation) -> Any: ...
    def tell(self, wake: bool = True) -> Any: ...


class Talk:
    """The results of the turn that a stage shows, and the way to the next turn."""

    def __init__(self, stage: TalkingStage, conversation: Conversation) -> None:
        self.conversation = conversation
        self.results: tuple[ToolResult, ...] = ()
        self._stage = stage
        self._reply = Reply("", "", ())
        self._heard: TakenSteps | None = None  # the turn that was read last

    @property
    def is_ready(self) -> bool:
        """Whether the turn has ended and its tools have run."""
        calls = self._reply.calls
        return self._stage.player.at_end and bool(calls) and len(calls) == len(self.results)

    def moved(self) -> None:
        """Run the calls of a turn that has ended; forget those of a turn that was changed."""
        player = self._stage.player
        if player.taken is self._heard or not player.at_end:
            return
        self._heard = player.taken
        self._reply = self.conversation.reply_of(self._stage.trace)
        self.results = ()
        if not self._reply.calls:
            return
        work = partial(_run_all, self.conversation, self._reply)
        loop = running_loop()
        if loop is None:
            self.results = work()
        else:
            done = loop.run_in_executor(TOOLS, work)
            done.add_done_callback(partial(self._finish, player.taken))

    def _finish(self, taken: TakenSteps, done: asyncio.Future[tuple[ToolResult, ...]]) -> None:
        if taken is self._heard and not done.cancelled():
            self.results = done.result()
            self._stage.tell()

    def go_on(self, *texts: str) -> None:
        """Let the model read the results, or these texts in their place, and begin its next turn."""
        if not self.is_ready:
            seen = "a turn without results"
            raise SettingError("stage.answer", seen=seen, expected="a turn that ended with calls", hint="stage.play()")
        if texts and len(texts) != len(self.results):
            seen = quoted(texts)
            raise SettingError("stage.answer", seen=seen, expected=f"a text for each of {len(self.results)} results")
        if texts:
            said = [check_utf8("stage.answer", text) for text in texts]
            self.results = tuple(replace(one, text=text) for one, text in zip(self.results, said, strict=True))
        self.conversation.take(self._reply, self.results)
        self.results = ()
        self._stage.begin_turn(self.conversation)

    def pack(self) -> list[tuple[str, str, bool]]:
        """What the page shows of the results: the call, the text, and whether the tool failed."""
        if not self.is_ready:
            return []
        return [(shorten(show_line(str(one.call)), MOST_CALL), one.text, one.failed) for one in self.results]


def _run_all(conversation: Conversation, reply: Reply) -> tuple[ToolResult, ...]:
    return tuple(map(conversation.run, reply.calls))
