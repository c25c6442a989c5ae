"""The tools of a request, and which of them has to be called; both of OpenAI's forms are read.

A custom tool takes one text. Here it is a function with the parameter `input`, so that a model writes its call as it
writes all calls; the answer has it as a custom tool again.
"""

from dataclasses import dataclass
from typing import Any

from guidedviz.errors import SettingError, quoted
from guidedviz.host.api.fields import Fields, wrong_field
from guidedviz.machines.tools import Tool, read_tool
from guidedviz.machines.turn import TOOL_CHOICES

MOST_TOOLS = 128
INPUT = "input"  # the parameter of a custom tool
SEVERAL_CALLS = "false, but not enforced: a turn may have several calls unless tool_choice names the tool"


@dataclass(frozen=True)
class OfferedTools:
    """Tools, the names of those that are custom, and the choice as `gv.turn` takes it."""

    tools: tuple[Tool, ...] = ()
    custom: frozenset[str] = frozenset()
    choice: str = "auto"

    @property
    def used(self) -> bool:
        """Whether a turn may have a call."""
        return bool(self.tools) and self.choice != "none"


def read_offered(body: Fields) -> OfferedTools:
    """The tools of a body."""
    for name, instead in (("functions", "tools"), ("function_call", "tool_choice")):
        if name in body.left:
            raise SettingError(name, seen="a field of the old form", expected=instead, hint=f'"{instead}": ...')
    listed = body.take("tools", list, "a list of tools", [])
    if len(listed) > MOST_TOOLS:
        raise wrong_field("tools", f"{len(listed)} tools", f"at most {MOST_TOOLS}")
    custom = set()
    tools = []
    for place, given in enumerate(listed):
        where = f"tools[{place}]"
        kind = given.get("type", "function") if isinstance(given, dict) else None
        if kind == "custom":
            tools.append(read_custom(given, where))
            custom.add(tools[-1].name)
        elif kind == "function":
            tools.append(read_tool(given, where))
        else:
            raise wrong_field(where, given, "a tool of the type function or custom")
    if not body.flag("parallel_tool_calls", True) and tools:
        body.notes.append(f"parallel_tool_calls: {SEVERAL_CALLS}")
    choice = read_choice(body.take("tool_choice", (str, dict), "auto, required, none or one tool", "auto"))
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise SettingError(
            "tools", seen=quoted(names), expected="names that differ", hint="another name for one of them"
        )
    if choice not in (*TOOL_CHOICES, *names) or (choice == "required" and not names):
        raise wrong_field("tool_choice", choice, "auto, required, none, or the name of a tool in tools")
    return OfferedTools(tuple(tools), frozenset(custom), choice)


def read_choice(given: Any) -> str:
    """The choice as one word: that of the API, or the name of the tool.

    >>> read_choice("auto"), read_choice({"type": "function", "function": {"name": "add"}})
    ('auto', 'add')
    """
    if isinstance(given, str):
        return given
    kind = given.get("type")
    inside = given.get(kind, given) if isinstance(kind, str) else None
    name = inside.get("name") if isinstance(inside, dict) else None
    if kind not in ("function", "custom") or not isinstance(name, str):
        raise wrong_field("tool_choice", given, '{"type": "function", "function": {"name": ...}}')
    return name


def read_custom(given: dict[str, Any], where: str) -> Tool:
    """A custom tool as a function of one text; a regex of its input becomes a pattern."""
    inside = Fields(given.get("custom", given), where)
    inside.text("type")
    name = inside.text("name")
    about = inside.text("description")
    text: dict[str, Any] = {"type": "string"}
    form = inside.inner("format")
    if form and form.text("type", "text") == "grammar":
        said = form.inner("grammar") or form
        syntax = said.text("syntax")
        if syntax != "regex":
            raise wrong_field(said.place("syntax"), syntax, "regex")
        text["pattern"] = f"^(?:{said.text('definition')})$"
        said.refuse_others()
    inside.refuse_others()
    if not name:
        raise wrong_field(inside.place("name"), name, "the name of a tool")
    schema = {"type": "object", "properties": {INPUT: text}, "required": [INPUT], "additionalProperties": False}
    return Tool(name, schema, about)
