"""Exercises on turns of a model that thinks and calls: the mask of a budget, the machine of a turn, the loop."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.checks.cases import Case, cases_of, read_trials
from guidedviz.checks.function import Mistake, check_function
from guidedviz.checks.texts import say_text
from guidedviz.checks.verdict import FACT_CHARACTERS, Verdict, show
from guidedviz.decoding.reply import Reply, ToolCall
from guidedviz.errors import GuidedVizError, shorten
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.compare import compare_machines
from guidedviz.machines.visible import visible
from guidedviz.models.messages import Message
from guidedviz.tokens.arrays import Mask

# -- the mask of a budget ------------------------------------------------------------------------------------------

END_ID = 2  # of </think>; that of <think> is 1, or 0, or None
FOUR_LEGAL = (True, True, True, True)
# what is written, the id of <think> or None, the budget, and the mask of the machine if not all is legal
BUDGETS = read_trials(
    build=lambda written, begin, most, mask=FOUR_LEGAL: (np.array(mask), written, begin, END_ID, most),
    text="""
the budget is not spent: return the mask as it is
    [1], 1, 1
    [1, 0], 1, 3
the budget is spent: only the end of the thought stays legal
    [1, 0], 1, 1
    [1, 0, 3], 1, 2
<think> itself is no token of the thought
    [1, 0, 3], 1, 3
    [1], 1, 0
after </think> the thought is over, and the mask is that of the machine
    [1, 0, 2], 1, 1
    [1, 0, 2, 3, 3, 3], 1, 2
before <think> there is no thought: nothing is counted
    [], 1, 0
    [0, 3], 1, 1
    [0, 3, 3, 1], 1, 2
    [0, 3, 1, 3, 0], 1, 2
begin is None: the prompt has opened the thought, and all that is written belongs to it
    [], None, 0
    [0, 3], None, 2
    [0, 3], None, 3
    [0, 3, 2, 0], None, 2
the id of <think> may be 0: ask for None, not for a false value
    [3], 0, 0
    [0, 3], 0, 2
where </think> is illegal, as inside a character, the mask of the machine stays
    [1, 3], 1, 1, (True, True, False, True)
a thought that could not end in time ends as soon as it can: at least `most` tokens, not exactly
    [1, 3, 3, 0], 1, 1
a token that the machine forbids stays illegal
    [1, 0], 1, 3, (True, False, True, False)
    [1, 0, 2], 1, 1, (False, False, True, True)
""",
)


def check_budget_mask(answer: Any) -> Verdict:
    """Does `answer(mask, written, begin, end, most)` leave only the end of a thought whose budget is spent?

    >>> check_budget_mask(lambda mask, written, begin, end, most: mask).facts[-1][1]
    'the budget is spent: only the end of the thought stays legal'
    """
    names = ("mask", "written", "begin", "end", "most")
    return check_function(answer, cases_of(budget_mask, BUDGETS, *names))


def budget_mask(mask: Mask, written: Sequence[int], begin: int | None, end: int, most: int) -> Mask:
    """The mask under a budget: the part of the turn that is thought decides.

    >>> budget_mask(np.array(FOUR_LEGAL), [0, 0], None, END_ID, 2).tolist()
    [False, False, True, False]
    """
    thought: list[int] | None = None
    if begin is None:
        thought = []
    for token in written:
        if thought is not None:
            thought.append(token)
        elif token == begin:
            thought = []
    is_spent = thought is not None and end not in thought and len(thought) >= most
    if not is_spent or not mask[end]:
        return mask
    only = np.zeros(len(mask), bool)
    only[end] = True
    return only


# -- the machine of a turn -----------------------------------------------------------------------------------------

TURN_PARTS = r"""
thought ::= <think> (!</think>)* </think> "\n\n"
answer ::= [^\x00]*
call ::= find | plus
find ::= <tool_call> "\n{\"name\": \"find\"" [^<]* </tool_call>
plus ::= <tool_call> "\n{\"name\": \"plus\"" [^<]* </tool_call>"""  # those of lab 15
CALLS = r'call ("\n" call)*'
TURN_CHOICES = read_trials("""
a thought, and then an answer
    "none"
a thought, and then one call or more, a line end between two; no answer
    "required"
a thought, then an answer (it may be empty), and then any number of calls, or none
    "auto"
a thought, and then one call of this tool, by the rule of its name
    "find"
    "plus"
""")


def check_turn_rule(answer: Any) -> Verdict:
    """Does `answer(choice)` give the right side of the rule of a whole turn?

    >>> check_turn_rule(lambda choice: "thought answer")
    ✗ not yet right: on input 2 of 5, the first on which it fails
        choice      'required'
        yours gave  'thought answer'
        a turn      <think></think>↵↵
        yours       accepts it
        expected    refuses it
        because     a thought, and then one call or more, a line end between two; no answer
    """
    return check_function(answer, cases_of(turn_rule, TURN_CHOICES, "choice"), _say_turn, _same_rule)


def turn_rule(choice: str) -> str:
    """The right side of the rule of a turn.

    >>> turn_rule("plus")
    'thought plus'
    """
    rules = {"auto": f"answer ({CALLS})?", "required": CALLS, "none": "answer"}
    return "thought " + rules.get(choice, choice)


def _turn_machine(rule: str) -> PDA:
    return grammar(f"root ::= {rule}\n{TURN_PARTS}")


def _same_rule(value: Any, expected: str) -> bool:
    if not isinstance(value, str):
        return False
    return compare_machines(_turn_machine(value), _turn_machine(expected)).text is None


def _say_turn(case: Case, value: Any) -> Mistake:
    """The shortest turn on which a rule is wrong, or why it is no rule."""
    if not isinstance(value, str):
        return Mistake()
    gave = ("yours gave", show(value))
    try:
        found = compare_machines(_turn_machine(value), _turn_machine(case.expected))
    except GuidedVizError as error:
        return Mistake(f"it is no right side of a rule · {case.why}", gave=(gave, ("error", str(error))))
    text = shorten(visible(found.text or b"") or "the empty text", FACT_CHARACTERS)
    _, *verdicts = say_text(b"", bool(found.first))
    return Mistake(gave=(gave, ("a turn", text), *verdicts))


# -- the loop of an agent ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Script:
    """A model that says these turns, one after the other; at last it tells what it has read."""

    turns: tuple[Reply, ...]

    def __str__(self) -> str:
        said = []
        for turn in self.turns:
            calls = " and ".join(map(str, turn.calls))
            if turn.text:
                said.append(f"the model says {show(turn.text)}")
            if calls:
                said.append(f"the model calls {calls}")
        if self.is_stopped:
            said.append("somebody presses Ctrl-C")
        elif self.turns[-1].calls:
            said.append("then it says what it has read")
        return "; ".join(said)

    @property
    def is_stopped(self) -> bool:
        """Whether somebody presses Ctrl-C while a tool runs."""
        return any(call.name == "wait" for turn in self.turns for call in turn.calls)

    def __call__(self, messages: Sequence[Message]) -> Reply:
        said = sum(1 for message in messages if message["role"] == "assistant")
        if said < len(self.turns):
            return self.turns[said]
        return Reply("", " · ".join(map(_tell, messages)), ())


def _tell(message: Message) -> str:
    """What a model has read of a message: of an error that it is one."""
    content = message["content"]
    if not isinstance(content, str):
        raise TypeError(f"the content of a message is a text, not {show(content)}")
    if message["role"] == "tool" and content.startswith("error"):
        content = "error"
    calls = [call["function"]["name"] for call in message.get("tool_calls", [])]
    return f"{message['role']}: {' '.join([content, *calls]).strip()}"


def _find(item: str) -> str:
    return {"lamp": "45", "desk": "120"}[item]


def _minus(x: int, y: int) -> int:
    return x - y


def _fail() -> None:
    raise RuntimeError("out of order")


def _interrupt() -> None:
    raise KeyboardInterrupt


AGENT_TOOLS: dict[str, Callable[..., Any]] = {"find": _find, "minus": _minus, "print": _fail, "wait": _interrupt}
GREETING: Message = {"role": "user", "content": "Hi"}


def _script(turns: Sequence[tuple[Any, ...]], rounds: int) -> tuple[Any, ...]:
    """The arguments of an agent: a turn is a text, and its calls as a name and arguments."""
    replies = []
    for text, *calls in turns:
        replies.append(Reply("", text, tuple(ToolCall(name, arguments) for name, arguments in calls)))
    return Script(tuple(replies)), AGENT_TOOLS, [GREETING], rounds


# the turns of the model before its answer, and the rounds
AGENTS = read_trials(
    build=_script,
    text="""
a reply without a call is the answer: return its text
    [("Hello.",)], 3
before it answers, the model must have read its own call, then the result as the text str(result)
    [("", ("find", {"item": "lamp"}))], 3
a result is a text, also that of a tool which returns a number: str(result)
    [("", ("minus", {"x": 5, "y": 3}))], 3
the arguments have names: tools[call.name](**call.arguments)
    [("", ("minus", {"y": 3, "x": 9}))], 3
a turn may have two calls: run both, in order, and append both results
    [("", ("find", {"item": "lamp"}), ("find", {"item": "desk"}))], 3
a text beside a call is no answer: go on
    [("I look.", ("find", {"item": "desk"}))], 3
the model may call again after a result
    [("", ("find", {"item": "lamp"})), ("", ("minus", {"x": 45, "y": 30}))], 3
after so many turns with calls it ends with None
    [("", ("find", {"item": "lamp"}))], 1
    [("", ("find", {"item": "lamp"})), ("", ("find", {"item": "desk"}))], 2
    [("", ("find", {"item": "lamp"})), ("", ("find", {"item": "desk"}))], 3
a tool may raise any Exception: the model reads a text that begins with error, in small letters
    [("", ("print", {}))], 3
    [("", ("find", {"item": "kite"}))], 3
no tool may have this name: that is an error for the model, too
    [("", ("fly", {}))], 3
the arguments may not be those of the tool: that is an error for the model, too
    [("", ("minus", {"x": 2}))], 3
    [("", ("minus", {"x": 2, "y": 3, "z": 4}))], 3
after an error go on with the next call
    [("", ("fly", {}), ("minus", {"x": 4, "y": 2}))], 3
Ctrl-C must stop the loop: catch Exception, and not KeyboardInterrupt
    [("", ("wait", {}))], 3
""",
)


def check_agent(answer: Any) -> Verdict:
    """Does `answer(ask, tools, messages, rounds)` run what the model calls, and give its answer?

    >>> check_agent(lambda ask, tools, messages, rounds: ask(messages).text)
    ✗ not yet right: on input 2 of 17, the first on which it fails
        turns       the model calls find {"item": "lamp"}; then it says what it has read
        rounds      3
        yours gave  ''
        expected    'user: Hi · assistant: find · tool: 45'
        because     before it answers, the model must have read its own call, then the result as the text str(result)
    """

    def reference(script: Script, *given: Any) -> Any:
        return KeyboardInterrupt if script.is_stopped else run_agent(script, *given)

    return check_function(answer, cases_of(reference, AGENTS, "turns", "", "", "rounds", spell=str))


def run_agent(
    ask: Callable[[Sequence[Message]], Reply],
    tools: Mapping[str, Callable[..., Any]],
    messages: Sequence[Message],
    rounds: int,
) -> str | None:
    """The answer after the calls, by the definition; None after so many turns with calls.

    >>> run_agent(Script((Reply("", "Hello.", ()),)), {}, [GREETING], 1)
    'Hello.'
    """
    if rounds == 0:
        return None
    reply = ask(messages)
    if not reply.calls:
        return reply.text
    results = []
    for call in reply.calls:
        try:
            content = str(tools[call.name](**call.arguments))
        except Exception as error:
            content = f"error: {error}"
        results.append({"role": "tool", "content": content})
    return run_agent(ask, tools, [*messages, reply.message, *results], rounds - 1)
