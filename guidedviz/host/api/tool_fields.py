"""The tools of a request, and which of them has to be called; both of OpenAI's forms are read.

A custom tool takes one text. A model writes its call as all calls, with the parameter `input`; the answer has it as a
custom tool again.
"""

from dataclasses import dataclass
from typing import Any

from guidedviz.errors import SettingError, nearest
from guidedviz.host.api.fields import Fields, wrong_field
from guidedviz.machines.tools import read_tools
from guidedviz.machines.turn import TOOL_CHOICES

MOST_TOOLS = 128
TOOL_TYPES = ("function", "custom")
ALLOWED_MODES = ("auto", "required")
ONE_TOOL = '{"type": "function", "function": {"name": ...}}'


@dataclass(frozen=True)
class OfferedTools:
    """Tools as the body has them, the names of those that are custom, and the choice as `gv.turn` takes it."""

    given: tuple[Any, ...] = ()
    custom: frozenset[str] = frozenset()
    choice: str = "auto"
    parallel: bool = True  # whether a turn may have several calls
    tools: tuple[Any, ...] = ()  # those that the turn may call

    @property
    def told(self) -> tuple[Any, ...]:
        """The tools in the prompt. With `allowed_tools` the prompt stays the same, whichever tools are allowed."""
        return self.given if self.tools else ()


def read_offered(body: Fields) -> OfferedTools:
    """The tools of a body."""
    for name, instead in (("functions", "tools"), ("function_call", "tool_choice")):
        if name in body.left:
            raise SettingError(name, seen="a field of the old form", expected=instead, hint=f'"{instead}": ...')
    listed = body.take("tools", list, "a list of tools", [])
    names = name_tools(listed)
    parallel = body.flag("parallel_tool_calls", True)
    given = body.take("tool_choice", (str, dict), "auto, required, none, one tool or allowed_tools", "auto")
    choice, allowed = read_choice(given, names)
    custom = set()
    tools = []
    for name, tool in zip(names, listed, strict=True):
        if tool["type"] == "custom":
            custom.add(name)
        if name in allowed:
            tools.append(tool)
    return OfferedTools(tuple(listed), frozenset(custom), choice, parallel, tuple(tools))


def name_tools(listed: list[Any]) -> list[str]:
    """The names of tools, which are checked."""
    if len(listed) > MOST_TOOLS:
        raise wrong_field("tools", f"{len(listed)} tools", f"at most {MOST_TOOLS}")
    for place, tool in enumerate(listed):
        if not isinstance(tool, dict) or tool.get("type") not in TOOL_TYPES:
            raise wrong_field(f"tools[{place}]", tool, f"a tool of the type {' or '.join(TOOL_TYPES)}")
    return [tool.name for tool in read_tools(listed, "tools")]


def read_choice(given: Any, names: list[str]) -> tuple[str, list[str]]:
    """The choice as one word, which is of the API or the name of a tool, and the tools that may be called.

    >>> read_choice("auto", ["add"]), read_choice("none", ["add"])
    (('auto', ['add']), ('none', []))
    """
    if isinstance(given, dict) and given.get("type") == "allowed_tools":
        return read_allowed(Fields(given, "tool_choice"), names)
    choice = given if isinstance(given, str) else read_name(given, "tool_choice")
    if choice not in (*TOOL_CHOICES, *names) or (choice == "required" and not names):
        raise wrong_field("tool_choice", choice, "auto, required, none, or the name of a tool in tools")
    if choice == "none":
        return choice, []
    return choice, names


def read_name(given: Any, place: str) -> str:
    """The name of a tool, in either of OpenAI's forms.

    >>> read_name({"type": "function", "function": {"name": "add"}}, "tool_choice")
    'add'
    """
    if not isinstance(given, dict):
        raise wrong_field(place, given, ONE_TOOL)
    kind = given.get("type")
    inside = given.get(kind, given) if isinstance(kind, str) else None
    name = inside.get("name") if isinstance(inside, dict) else None
    if kind not in TOOL_TYPES or not isinstance(name, str):
        raise wrong_field(place, given, ONE_TOOL)
    return name


def read_allowed(form: Fields, names: list[str]) -> tuple[str, list[str]]:
    """The mode of `allowed_tools` and the names in it; /v1/responses has both beside the type.

    >>> asked = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "add"}]}
    >>> read_allowed(Fields(asked), ["add", "multiply"])
    ('required', ['add'])
    """
    form.text("type")
    inside = form.inner("allowed_tools") or form
    mode = inside.text("mode")
    if mode not in ALLOWED_MODES:
        raise wrong_field(inside.place("mode"), mode, " or ".join(ALLOWED_MODES))
    listed = inside.take("tools", list, "a list of tools", [])
    if not listed:
        raise wrong_field(inside.place("tools"), listed, "at least one tool", ONE_TOOL)
    allowed = []
    for number, tool in enumerate(listed):
        place = f"{inside.place('tools')}[{number}]"
        name = read_name(tool, place)
        if name not in names:
            raise wrong_field(place, name, "the name of a tool in tools", nearest(name, names))
        allowed.append(name)
    for part in (inside, form):
        part.refuse_others()
    return mode, allowed
