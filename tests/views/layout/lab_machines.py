"""The machines that the labs build from texts written in them."""

import ast
from contextlib import suppress
from functools import cache
from pathlib import Path

import guidedviz as gv

LABS = Path(__file__).parents[3] / "labs" / "src"
MAKERS = ("regex", "pattern", "grammar", "json_schema", "json")


@cache
def lab_calls():
    """Each call of the labs that builds a machine, as text and in parts; those with computed arguments are left out."""
    return {
        f"{maker}({', '.join(map(repr, arguments))})": (maker, arguments, named)
        for path in sorted(LABS.rglob("*.py"))
        for maker, arguments, named in _calls(ast.parse(path.read_text(encoding="utf-8")))
    }


@cache
def lab_machine(call):
    """The machine of a call; one state where a lab shows an error."""
    maker, arguments, named = lab_calls()[call]
    with suppress(gv.errors.GuidedVizError):
        return getattr(gv, maker)(*arguments, **named)
    return gv.regex("")


def _calls(tree):
    """The name of each maker that is called, with its arguments."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = _value(node.value, known)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("gv"), attr=maker)) if maker in MAKERS:
                arguments = [_value(argument, known) for argument in node.args]
                named = {word.arg: _value(word.value, known) for word in node.keywords if word.arg}
                if None not in [*arguments, *named.values()]:
                    yield maker, arguments, named


def _value(node, known):
    if isinstance(node, ast.Name):
        return known.get(node.id)
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
