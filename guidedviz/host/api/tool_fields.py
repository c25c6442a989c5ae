"""The tools of a request, and which of them has to be called; both of OpenAI's forms are read.

A custom tool takes one text. A model writes its call as all calls, with the parameter `input`; the answer has it as a
custom tool again.
"""

from dataclasses import dataclass
from typing import Any

from guidedviz.errors import SettingError
from guidedviz.host.api.fields import Fields, wrong_field
from guidedviz.machines.tools import read_tools
from guidedviz.machines.turn import TOOL_CHOICES

MOST_TOOLS = 128
TOOL_TYPES = ("function", "custom")


@dataclass(frozen=True)
class OfferedTools:
    """Tools as the body has them, the names of those that are custom, and the choice as `gv.turn` takes it."""

    given: tuple[Any, ...] = ()
    custom: frozenset[str] = frozenset()
    choice: str = "auto"
    parallel: bool = True  # whether a turn may have several calls

    @property
    def tools(self) -> tuple[Any, ...]:
        """The tools that a turn may call."""
        return () if self.choice == "none" else self.given


def read_offered(body: Fields) -> OfferedTools:
    """The tools of a body."""
    for name, instead in (("functions", "tools"), ("function_call", "tool_choice")):
        if name in body.left:
            raise SettingError(name, seen="a field of the old form", expected=instead, hint=f'"{instead}": ...')
    listed = body.take("tools", list, "a list of tools", [])
    names = name_tools(listed)
    parallel = body.flag("parallel_tool_calls", True)
    choice = read_choice(body.take("tool_choice", (str, dict), "auto, required, none or one tool", "auto"))
    if choice not in (*TOOL_CHOICES, *names) or (choice == "required" and not names):
        raise wrong_field("tool_choice", choice, "auto, required, none, or the name of a tool in tools")
    kinds = zip(names, listed, strict=True)
    custom = frozenset(name for name, tool in kinds if tool["type"] == "custom")
    return OfferedTools(tuple(listed), custom, choice, parallel)


def name_tools(listed: list[Any]) -> list[str]:
    """The names of tools, which are checked."""
    if len(listed) > MOST_TOOLS:
        raise wrong_field("tools", f"{len(listed)} tools", f"at most {MOST_TOOLS}")
    for place, tool in enumerate(listed):
        if not isinstance(tool, dict) or tool.get("type") not in TOOL_TYPES:
            raise wrong_field(f"tools[{place}]", tool, f"a tool of the type {' or '.join(TOOL_TYPES)}")
    return [tool.name for tool in read_tools(listed, "tools")]


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
