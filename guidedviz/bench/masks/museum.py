"""A collection of known differences between the real engines and our masks, each checked again.

Every exhibit is a constraint and a text along which an engine is known to differ, or all are known to agree. Kinds:
    forced only      the mask holds only the canonical token of a forced run
    known fault      the engine is wrong in a known way
    lawful choice    the standard allows both: JSON in a different layout, or a regex in a different dialect
    ours             our mask is wrong; there must be none
    not known        the engine is wrong in a way that has no category yet
"""

from __future__ import annotations

from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from guidedviz.bench.about import describe
from guidedviz.bench.masks.cases import PEOPLE, PERSON
from guidedviz.machines.grammars.show import to_gbnf
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import json as json_machine
from guidedviz.tokens.compare.differences import KINDS, Comparison, compare_engines
from guidedviz.tokens.vocabulary import Vocabulary

VOCABULARIES = {"llama3": Vocabulary.llama3, "tekken": Vocabulary.tekken}
ORDER = (*KINDS, "cannot take it", "stops")
MOST_SHOWN = 3  # tokens of a difference


@dataclass(frozen=True)
class Exhibit:
    """A constraint, and the text along which the engines are compared."""

    name: str
    constraint: Machine | str | Mapping[str, Any]
    text: str


@dataclass(frozen=True)
class Finding:
    """One difference: an engine, an exhibit and a reason."""

    kind: str  # a kind as above, or "cannot take it", or "stops"
    name: str
    engine: str
    exhibit: str
    vocabulary: str
    steps: int = 0  # the number of steps that show it
    position: int = 0  # of the first of these steps
    missing: str = ""  # at that position
    extra: str = ""


def exhibits() -> tuple[Exhibit, ...]:
    """All exhibits."""
    json_text = to_gbnf(json_machine())
    return (
        Exhibit("date", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "2026-11-20"),
        Exhibit("decimal", r"[0-9]+(\.[0-9]+)?", "3.14"),
        Exhibit("repeat", r"(ab)+", "abab"),
        Exhibit("first alternative", r"a|ab", "ab"),
        Exhibit("digits", r"\d+", "42"),
        Exhibit("the end of the text", r"ab\Z", "ab"),
        Exhibit("dot", r"a.b", "a☃b"),
        Exhibit("a forced run", r"name: [a-z]+", "name: ada"),
        Exhibit("empty or not", r"a*", "aa"),
        Exhibit("a text in quotes", r'"[^"]*"', '"é\ud7fb"'),
        Exhibit("luluk", 'root ::= "luluk"', "luluk"),
        Exhibit("dot in a grammar", "root ::= .", "a"),
        Exhibit("NUL by its number", r'root ::= "a\x00b"', "a\0b"),
        Exhibit("NUL as it is", 'root ::= "a\0b"', "a\0b"),
        Exhibit("any character but a quote", r'root ::= "\"" [^"]* "\""', '"\ud7fb"'),
        Exhibit("the rule first in itself", 'root ::= root "a" | "b"', "baa"),
        Exhibit("a rule that never finishes", 'root ::= "a" | "b" s\ns ::= "c" s', "a"),
        Exhibit("nested", 'root ::= "(" root ")" | "x"', "((x))"),
        Exhibit("JSON", json_text, '{"a": [1, -2.5e3, "é\\n"], "b": null}'),
        Exhibit("four fields, a schema", PERSON, PEOPLE[1]),
    )


def look(only: str = "") -> Iterator[tuple[str, Exhibit, Comparison]]:
    """All comparisons per vocabulary, or only those with `only` in their name."""
    for name, read in VOCABULARIES.items():
        chosen = [exhibit for exhibit in exhibits() if only in f"{name}, {exhibit.name}"]
        for exhibit in chosen:
            yield name, exhibit, compare_engines(exhibit.constraint, read(), exhibit.text)


def rows_of(vocabulary: str, exhibit: Exhibit, found: Comparison) -> Iterator[Finding]:
    """One finding per difference, at its first occurrence, and one per constraint that an engine rejects."""
    for engine, why in found.unable:
        yield Finding("cannot take it", why, engine, exhibit.name, vocabulary)
    for (engine, kind, name), steps in found.kinds().items():
        position, first = next(
            (step.position, seen)
            for step in found.steps
            for seen in step.differences
            if (seen.engine, seen.kind, seen.name) == (engine, kind, name)
        )
        tokens = [_names(found.vocabulary, ids) for ids in (first.missing, first.extra)]
        yield Finding(kind, name, engine, exhibit.name, vocabulary, steps, position, *tokens)
    for step in found.steps:
        for engine in step.refused_by:
            name = f"does not take {found.vocabulary.display(step.token or 0)}"
            yield Finding("stops", name, engine, exhibit.name, vocabulary, 1, step.position)


def _names(vocabulary: Vocabulary, ids: tuple[int, ...]) -> str:
    names = " ".join(map(vocabulary.display, ids[:MOST_SHOWN])) + " …" * (len(ids) > MOST_SHOWN)
    return f"{len(ids):,}: {names}" if ids else ""


def show_table(rows: list[Finding], about: Mapping[str, str]) -> str:
    """The table as Markdown: one line per reason, with its engines, its exhibits and the first tokens."""
    groups: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for row in rows:
        groups[row.kind, row.name].append(row)
    lines = ["# Where the real engines differ from the machine", ""]
    lines += [f"- {name}: {said}" for name, said in about.items()]
    lines += ["- made by `python -m guidedviz.bench differences`; the reference is the machine, read byte by byte", ""]
    heads = ("kind", "what", "engines", "seen in", "missing there first", "extra there first")
    lines += [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    order = sorted(groups, key=lambda key: (ORDER.index(key[0]), -len(groups[key])))
    return "\n".join([*lines, *(_line(kind, name, groups[kind, name]) for kind, name in order), ""])


def _line(kind: str, name: str, rows: list[Finding]) -> str:
    engines = ", ".join(dict.fromkeys(row.engine.replace(", ", " with ") for row in rows))
    seen_in = ", ".join(dict.fromkeys(row.exhibit for row in rows))
    cells = (kind, _code(name), engines, seen_in, _code(rows[0].missing), _code(rows[0].extra))
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    """Format as code, so that Markdown and HTML do not interpret the characters."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}".replace("|", "\\|").replace("\n", " ") if text else ""


def bench(options: Namespace) -> dict[str, Any]:
    """Print all exhibits; if a file is named for the figures, the table is saved next to it."""
    about = {name: said for name, said in describe().items() if name in ("date", "versions")}
    rows = []
    for name, exhibit, found in look(options.only):
        print(f"\n{name}, {exhibit.name}\n{found}")
        rows += list(rows_of(name, exhibit, found))
    if options.json:
        options.json.with_suffix(".md").write_text(show_table(rows, about))
    return {"about": about, "rows": [asdict(row) for row in rows]}
