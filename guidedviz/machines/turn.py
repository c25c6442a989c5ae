"""A whole answer of a model: it thinks, then it answers or calls tools. How a model writes this is a row of a table.

gv.turn(tools=[add], style="hermes")     <think>…</think> then text, and calls such as
                                         <tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.errors import PatternError, expect, nearest, quoted
from guidedviz.machines.free_text import free_text
from guidedviz.machines.names import name_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.schema.json_text import escape_tree
from guidedviz.machines.special import no_names
from guidedviz.machines.structural.fields import load_spec
from guidedviz.machines.structural.formats import Ends, FormatReader
from guidedviz.machines.syntax import EMPTY, Repeat, Tree, concat, either, literal, optional
from guidedviz.machines.thinking import Thinking, TurnMachine
from guidedviz.machines.tools import INPUT, Tool, read_tools
from guidedviz.machines.work import limited_work

Format = dict[str, Any]


@dataclass(frozen=True)
class Style:
    """How a family of models writes a turn. TEXT is free text, NAME a tool in quotes, ARGS its arguments."""

    special: tuple[str, ...]  # the special tokens in these texts; all else is text
    think: str  # "" for models that do not think
    call: str
    answer: str = "TEXT"
    after_thinking: str = "\n{0,2}"  # a regex
    opens: str = ""  # before the first call, and behind the last
    closes: str = ""
    between: str = "\n"  # two calls
    text_before_calls: bool = True


TURN_STYLES = {
    "hermes": Style(  # Qwen, Hermes
        special=("<think>", "</think>", "<tool_call>", "</tool_call>"),
        think="<think>TEXT</think>",
        call='<tool_call>\n{"name": NAME, "arguments": ARGS}\n</tool_call>',
    ),
    "text": Style(  # the same marks as text, for models without special tokens for them
        special=(),
        think="<think>TEXT</think>",
        call='<tool_call>\n{"name": NAME, "arguments": ARGS}\n</tool_call>',
    ),
    "llama": Style(
        special=("<|python_tag|>", "<|eom_id|>"),
        think="",
        call='{"name": NAME, "parameters": ARGS}',
        opens="<|python_tag|>",
        closes="<|eom_id|>",
        between="; ",
    ),
    "mistral": Style(
        special=("[TOOL_CALLS]", "</s>", "[THINK]", "[/THINK]"),
        think="[THINK]TEXT[/THINK]",
        call='{"name": NAME, "arguments": ARGS}',
        opens="[TOOL_CALLS][",
        closes="]</s>",
        between=", ",
    ),
    "harmony": Style(  # gpt-oss
        special=("<|channel|>", "<|message|>", "<|end|>", "<|start|>", "<|constrain|>", "<|call|>", "<|return|>"),
        think="<|channel|>analysis<|message|>TEXT<|end|><|start|>assistant",
        call="<|channel|>commentary to=functions.PLAIN_NAME <|constrain|>json<|message|>ARGS<|call|>",
        answer="<|channel|>final<|message|>TEXT<|return|>",
        after_thinking="",
        between="<|start|>assistant",
        text_before_calls=False,
    ),
}
TOOL_CHOICES = ("auto", "required", "none")
THINKING = (True, False, "open")


@limited_work()
def turn(
    tools: Iterable[Any] = (),
    style: str = "hermes",
    choice: str = "auto",
    think: bool | str = True,
    think_limit: int | None = None,
    parallel: bool = True,
) -> TurnMachine:
    r"""The machine of a whole answer: thinking, then an answer or calls of tools.

    `tools`: Python functions, Pydantic classes, or dicts as OpenAI takes them; a custom tool has the parameter `input`,
    a string of JSON whose text its grammar allows. `style`: "hermes" (Qwen), "llama",
    "mistral", "harmony" (gpt-oss), or "text" (the marks of hermes as text). `choice`: "auto" (text, calls, or both),
    "required" (at least one call), "none", or the name of the tool to call once. `think`: True, False, or "open" if
    the prompt has already begun it; Llama does not think. `think_limit`: after so many tokens thinking has to end.
    `parallel`: False allows one call only.

    >>> def add(a: int, b: int) -> int: ...
    >>> answer = gv.turn(tools=[add], style="text", choice="required")
    >>> call = b'<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'
    >>> answer.accepts(b"<think>A sum.</think>\n" + call), answer.accepts_prefix(b"<think>A sum.</think>3")
    (True, False)
    """
    form = read_style(style)
    listed = read_tools(tools)
    _check_choice(choice, listed)
    _check_thinking(think, think_limit)
    thinks = bool(form.think) and think is not False
    writer = _Writer(form, listed, once=not parallel)
    parts = []
    if thinks:
        parts = [writer.thinking(is_open=think == "open"), parse_regex(form.after_thinking)]
    grammar = writer.rules.grammar(concat(*parts, writer.rest(choice)))
    machine = TurnMachine(grammar, notes=tuple(writer.rules.notes))
    if thinks and think_limit is not None:
        begin, end = (_as_read(form, part) for part in form.think.split("TEXT"))
        machine.thinking = Thinking(b"" if think == "open" else begin, end, think_limit)
    return machine


def read_style(style: str, where: str = "turn") -> Style:
    """The style with this name."""
    if not isinstance(style, str) or style not in TURN_STYLES:
        expected = "one of " + ", ".join(TURN_STYLES)
        hint = nearest(str(style), TURN_STYLES)
        raise PatternError(f"{where}, style", seen=quoted(style), expected=expected, hint=hint)
    return TURN_STYLES[style]


def _check_choice(choice: str, tools: Sequence[Tool]) -> None:
    names = [tool.name for tool in tools]
    if choice not in TOOL_CHOICES and choice not in names:
        expected = "auto, required, none, or the name of a tool"
        near = nearest(str(choice), [*TOOL_CHOICES, *names])
        raise PatternError("turn, choice", seen=quoted(choice), expected=expected, hint=near)
    if choice == "required" and not tools:
        raise PatternError("turn, tools", seen="no tool", expected='at least one for choice="required"')


def _check_thinking(think: object, limit: object) -> None:
    if think not in THINKING:
        raise PatternError("turn, think", seen=quoted(think), expected='True, False or "open"')
    if limit is not None:
        number: int = expect(limit, int, "turn, think_limit", "a number of tokens")
        if isinstance(limit, bool) or not 0 <= number <= 1_000_000:
            raise PatternError("turn, think_limit", seen=quoted(limit), expected="0 to 1,000,000 tokens")


class _Writer:
    """Writes the parts of a turn as rules: thinking, an answer, a call of each tool."""

    def __init__(self, form: Style, tools: Sequence[Tool], once: bool) -> None:
        self.form = form
        self.tools = tools
        self.once = once  # whether a turn has one call at most
        self.reader = FormatReader(no_names)
        self.rules = self.reader.rules

    def read(self, form: Format) -> Tree:
        return self.reader.read(load_spec(form), Ends())

    def row(self, text: str, tool: Tool | None = None) -> Tree:
        """The texts of a row of a style."""
        with _naming(tool):
            before, arguments, after = text.partition("ARGS")
            if tool is None or tool.takes is None or not arguments:
                return concat(*map(self.read, _formats(self.form, text, tool)))
            parts = [self.row(before, tool), self.one_text(tool), self.row(after, tool)]
            return concat(*parts)

    def one_text(self, tool: Tool) -> Tree:
        """The arguments of a custom tool: its text as a string of JSON."""
        machine = tool.takes
        if isinstance(machine, PDA):
            rules = [replace(rule, tree=escape_tree(rule.tree)) for rule in machine.grammar.rules]
            self.rules.note(*machine.notes)
            inside: Tree = self.rules.of_grammar(replace(machine.grammar, rules=tuple(rules)), f"{tool.name}-{INPUT}")
        else:
            inside = escape_tree(self.rules.of_machine(machine, tool.name))
        return concat(literal(f'{{"{INPUT}": "'), inside, literal('"}'))

    def thinking(self, is_open: bool) -> Tree:
        """Thinking, from its begin to the first end."""
        before, after = self.form.think.split("TEXT")
        if is_open:
            before = ""
        if self.form.special:
            return self.rules.add("thought", self.row(f"{before}TEXT{after}"))
        tag = {"type": "tag", "begin": before, "content": {"type": "any_text"}, "end": after}
        return self.rules.add("thought", self.read(tag))

    def rest(self, choice: str) -> Tree:
        """The answer or the calls."""
        if choice == "none" or not self.tools:
            return self.answer()
        if choice not in TOOL_CHOICES:
            return self.calls([tool for tool in self.tools if tool.name == choice], once=True)
        if choice == "required":
            return self.calls(self.tools, self.once)
        if not (self.form.special or self.once):
            rest = self.form.call.removeprefix(self.mark)
            return free_text({self.mark: self.call(self.tools, rest)})
        if self.form.text_before_calls:
            return concat(self.answer(), optional(self.calls(self.tools, self.once)))
        return either(self.answer(), self.calls(self.tools, self.once))

    def answer(self) -> Tree:
        """A text without a call."""
        if self.form.special:
            return self.rules.add("answer", self.row(self.form.answer))
        return self.rules.add("answer", self.read({"type": "any_text", "excludes": [self.mark]}))

    @property
    def mark(self) -> str:
        """What begins a call, where the marks are text."""
        return self.form.call.partition("\n")[0]

    def call(self, tools: Sequence[Tool], text: str) -> Tree:
        """A call of one of these tools: what all calls begin and end with stands once."""
        before, own, after = re.split("((?:PLAIN_)?NAME.*ARGS)", text)
        rules = [self.rules.add(tool.name, self.row(own, tool)) for tool in tools]
        tree = concat(self.row(before), either(*rules), self.row(after))
        return self.rules.add("call", tree)

    def calls(self, tools: Sequence[Tool], once: bool = False) -> Tree:
        """One call or several in a row."""
        form = self.form
        call = self.call(tools, form.call)
        more = EMPTY
        if not once:
            more = Repeat(concat(self.row(form.between), call), 0, None)
        return concat(self.row(form.opens), call, more, self.row(form.closes))


@contextmanager
def _naming(tool: Tool | None) -> Iterator[None]:
    """Make errors name the tool, and the place in its schema."""
    try:
        yield
    except PatternError as error:
        if tool is None:
            raise
        _, schema, place = error.where.partition(", schema")
        where = f"turn, tool {quoted(tool.name)}{schema}{place}"
        raise PatternError(where, seen=error.seen, expected=error.expected, hint=error.hint) from error


def _formats(form: Style, text: str, tool: Tool | None = None) -> list[Format]:
    """A text of a style as formats: special tokens, free text, a tool's name and arguments, and texts as they are."""
    signs = "|".join(map(re.escape, form.special)) or "(?!)"
    formats: list[Format] = []
    for part in re.split(f"({signs}|TEXT|ARGS|PLAIN_NAME|NAME)", text):  # a name may hold any of these
        if part in form.special:
            formats.append({"type": "token", "token": part})
        elif part == "TEXT":
            formats.append({"type": "any_text"})
        elif part == "ARGS" and tool:
            formats.append({"type": "json_schema", "json_schema": tool.schema, "max_whitespace_cnt": 1})
        elif part == "NAME" and tool:
            formats.append({"type": "const_string", "value": json.dumps(tool.name)})
        elif part == "PLAIN_NAME" and tool:
            formats.append({"type": "const_string", "value": tool.name})
        elif part:
            formats.append({"type": "const_string", "value": part})
    return formats


def _as_read(form: Style, text: str) -> bytes:
    """The bytes that a machine reads for a text of a style."""
    data = b""
    for part in _formats(form, text):
        data += name_bytes(part["token"]) if part["type"] == "token" else part["value"].encode()
    return data
