"""Write the API reference, README.md beside this file, from the docstrings: `python assets/reference/build.py`.

`--check` writes nothing and fails where the text has drifted. Pictures are drawn anew when the reference is written.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import guidedviz as gv

HERE = Path(__file__).resolve().parent
SECTIONS = {
    "Machines: what texts are allowed": "regex pattern grammar lark json json_schema tagged structural_tag turn "
    "special earley",
    "Guides: which tokens are legal": "Vocabulary guide within static_masks char_classes GuidedFSM build_index "
    "build_split compare_engines",
    "Models and decoding": "load_model readiness ToyModel decode record converse Step Trace diagnose spellings "
    "LogitsProcessor",
    "Widgets": "stage film folded bias_sliders fraction_slider text_tree predict score",
    "Pictures": "Figure to_dot draw_machine draw_distribution draw_bars draw_strip draw_stack_table "
    "draw_map draw_split draw_costs draw_comparison",
    "Errors": "GuidedVizError PatternError GrammarError VocabularyError SettingError IllegalToken EmptyMask ModelError "
    "TraceError",
}
ROOMS = "machines tokens decoding sampling serving views checks"
BOXES = r"""gv.grammar(r'root ::= "{" text ":" (root | text) "}"' + "\n" + r'text ::= "\"" [a-z]+ "\""')"""
PICTURES = {
    "draw_machine": 'gv.draw_machine(gv.regex(r"[0-9]+(\\.[0-9]+)?"))',
    "grammar": f"gv.draw_machine({BOXES})",
    "draw_bars": 'gv.draw_bars(["yes", "no", "maybe"], {"probability": gv.sampling.softmax([2.0, 1.0, 0.1])})',
    "draw_stack_table": "gv.draw_stack_table(gv.json(), '{\"a\": [1, 2')",
    "draw_map": 'gv.draw_map(gv.guide(gv.regex("[a-z]+"), gv.load_model("clerk").vocabulary))',
    "draw_split": 'gv.draw_split(gv.build_split(gv.json(), gv.load_model("clerk").vocabulary), 0)',
}


def write_reference() -> str:
    """The reference as Markdown."""
    parts = [
        "# The API",
        "<!-- written by `python assets/reference/build.py` from the docstrings: edit those -->",
        "Every example begins with `import guidedviz as gv`. It loads no heavy package: a name is imported when it is "
        "first used.",
    ]
    for title, names in SECTIONS.items():
        parts += [f"## {title}", *(describe(name) for name in names.split())]
    parts.append("## Rooms: everything else")
    for room in ROOMS.split():
        module = getattr(gv, room)
        parts += [f"### `gv.{room}`", first_sentence(module), "\n".join(f"- {line}" for line in list_room(module))]
    return "\n\n".join(parts) + "\n"


def describe(name: str) -> str:
    """One public name: its signature, its docstring, its example, its picture."""
    value = getattr(gv, name)
    text, example = split_docstring(value)
    parts = [f"### `gv.{name}{signature(value)}`", text]
    if example:
        parts.append(f"```python\n{example}\n```")
    if name in PICTURES:
        parts.append(f"```python\n{PICTURES[name]}\n```\n\n![{name}]({name}.svg)")
    return "\n\n".join(parts)


def signature(value: Any) -> str:
    """The parameters without their types; nothing for an error or a protocol."""
    if isinstance(value, type) and issubclass(value, Exception):
        return ""
    parameters = inspect.signature(value).parameters.values()
    shown = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(shown))


def split_docstring(value: Any) -> tuple[str, str]:
    """The sentences of a docstring, and its example."""
    text = inspect.getdoc(value) or ""
    before, mark, example = text.partition(">>> ")
    return before.strip(), mark + example.strip()


def first_sentence(value: Any) -> str:
    """The first sentence of a docstring."""
    return re.split(r"(?<=[.:;])\s|\n\n", split_docstring(value)[0], maxsplit=1)[0].rstrip(":;").replace("\n", " ")


def list_room(module: ModuleType) -> list[str]:
    """The names that a room offers beyond the front door, each with its first sentence."""
    front = {id(getattr(gv, name)) for name in gv.__all__}
    names = getattr(module, "__all__", None) or own_functions(module)
    shown = [(name, getattr(module, name)) for name in names]
    return [f"`{name}`: {first_sentence(value)}" for name, value in shown if id(value) not in front]


def own_functions(module: ModuleType) -> list[str]:
    """The public functions and classes that a module defines."""
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__ and callable(value)
    )


def draw_pictures() -> None:
    """Draw the pictures that the reference shows."""
    for name, code in PICTURES.items():
        eval(code, {"gv": gv}).save(HERE / f"{name}.svg")


def main() -> None:
    """Write the reference, or check it."""
    file, text = HERE / "README.md", write_reference()
    if "--check" in sys.argv:
        if file.read_text(encoding="utf-8") != text:
            sys.exit("the API reference has drifted from the docstrings: run `python assets/reference/build.py`")
    else:
        file.write_text(text, encoding="utf-8")
        draw_pictures()


if __name__ == "__main__":
    main()
