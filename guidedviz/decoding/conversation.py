"""A conversation with a model that may call tools: what was said, and what the next turn is decoded with.

    next_turn(): a prompt and a guide → the model writes → reply_of(trace) → run(call) per call → take(reply, results)

Whoever decodes the turns, `gv.converse` or a stage, does so between these steps.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from guidedviz.decoding.records import AtLeastOne, check_number
from guidedviz.decoding.reply import Reply, ToolCall, begins_thinking, message_of, split_reply
from guidedviz.decoding.tool_runs import MOST_RESULT, Run, ToolResult, default_run, run_call
from guidedviz.decoding.trace import Trace
from guidedviz.machines.tools import read_tools
from guidedviz.machines.turn import read_style, turn
from guidedviz.models.chat import Prompt, no_template
from guidedviz.models.messages import Message, Messages, check_messages
from guidedviz.models.model import check_model, has_template
from guidedviz.tokens.build_guide import guide as build_guide
from guidedviz.tokens.guide import Guide


class Moment(NamedTuple):
    """Where a conversation stands: what was said, what the turn must call, and how it thinks."""

    messages: tuple[Message, ...]
    choice: str
    thinks: bool | str


class Conversation:
    """The messages so far, and how the model goes on with them.

    `tools`, `style`, `choice`, `think` and `think_limit` are those of `gv.turn`; a choice that requires a call holds
    for the first turn only. A `guide` of your own takes the place of that machine. The model reads at most
    `most_result` characters of a result. `run` runs a tool: by default in a thread with a clock, with
    `gv.decoding.run_apart` in a process that can be killed.
    """

    def __init__(
        self,
        model: Any,
        messages: Messages,
        tools: Iterable[Any] = (),
        *,
        style: str = "hermes",
        choice: str = "auto",
        think: bool | str = True,
        think_limit: int | None = None,
        guide: Guide | None = None,
        most_result: int = MOST_RESULT,
        run: Run | None = None,
    ) -> None:
        check_model(model, "converse, model")
        if not has_template(model):
            raise no_template(model.name)
        check_number(AtLeastOne, most_result, "converse, most_result")
        self.model = model
        self.form = read_style(style, "converse")
        self.messages = check_messages(messages)
        self.tools = read_tools(tools, "converse, tools")
        self.choice = choice
        self.think = think
        self._thinks = think  # in this turn: "open" if its prompt began the thinking
        self._most_result = most_result
        self._run = run or default_run()

        def find_guide(choice: str, think: bool | str) -> Guide:
            machine = turn(self.tools, style, choice, think, think_limit)
            return guide or build_guide(machine, model.vocabulary)

        self._guide_of = lru_cache(find_guide)
        self._guide_of(choice, think)  # what is wrong with the settings is said at once

    @property
    def moment(self) -> Moment:
        """Where it stands now."""
        return Moment(tuple(self.messages), self.choice, self._thinks)

    def return_to(self, moment: Moment) -> None:
        """Go on from where it stood before."""
        self.messages = [*moment.messages]
        self.choice = moment.choice
        self._thinks = moment.thinks

    def next_turn(self) -> tuple[Prompt, Guide]:
        """The prompt of the next turn, and its guide."""
        prompt: Prompt = self.model.chat(self.messages, self.tools, bool(self.think))
        is_open = bool(self.think) and begins_thinking(prompt.parts, self.form)
        self._thinks = "open" if is_open else self.think
        return prompt, self._guide_of(self.choice, self._thinks)

    def reply_of(self, trace: Trace) -> Reply:
        """What the model said in this turn."""
        return split_reply(trace.parts, self.form, self._thinks)

    def parts_after(self, before: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
        """What the next prompt has behind the reply to the prompt before: the end of the turn, results, a new turn.

        The reply ends with the first end of a turn that the prompt before did not have. A template that writes the end
        of a turn in another way leaves nothing to be found.
        """
        ends = {self.model.vocabulary.pieces[token].decode() for token in self.model.vocabulary.eos}
        known = sum(part in ends for part in before[1::2])
        places = [place for place in range(1, len(now), 2) if now[place] in ends]
        return ("", *now[places[known] :]) if known < len(places) else ()

    def run(self, call: ToolCall) -> ToolResult:
        """The result of a call, whatever the tool does."""
        named = {tool.name: tool for tool in self.tools}
        return run_call(call, named, self._run, self._most_result)

    def take(self, reply: Reply, results: Iterable[ToolResult]) -> None:
        """Go on after a reply and the results of its calls; a call is required of the first turn only."""
        self.messages += [message_of(reply, self.form), *(result.message for result in results)]
        if self.choice != "none":
            self.choice = "auto"


TALK_SETTINGS = tuple(Conversation.__init__.__kwdefaults__ or ())  # the names of its settings
