"""Random machines from fixed seeds: regexes with loops and choices, and grammars whose rules call each other."""

import random
from functools import cache
from typing import Any

import guidedviz as gv

ATOMS = ("a", "b", "xyz", "[0-9]", "[a-f]", r"\w", ".", '[^"]', "é", "[à-ü]", "tru", r"\d{4}")
LITERALS = ('"("', '")"', '"key"', "[0-9]", "[a-z]", '[^"]', '","', '"é"')
RULES = ("root", "value", "list", "member", "a_rule_with_a_long_name", "t")


def _regex(draw: random.Random, depth: int) -> str:
    if depth == 0:
        return draw.choice(ATOMS)
    one, other = (_regex(draw, depth - draw.randint(1, 2) if depth > 1 else 0) for _ in range(2))
    both = f"{one}{other}"
    repeated = f"(?:{one}){{1,3}}{other}"
    return draw.choice([both, repeated, f"(?:{one}|{other})", f"(?:{one})*{other}", f"(?:{one})+"])


def _body(draw: random.Random, rules: tuple[str, ...]) -> str:
    ways = []
    for _ in range(draw.randint(1, 3)):
        parts = [draw.choice(LITERALS)]
        ends = ["", "", "?", "*", "+"]
        names = [*LITERALS, *rules, *rules]
        parts += [draw.choice(names) + draw.choice(ends) for _ in range(draw.randint(0, 3))]
        ways.append(" ".join(parts))
    return " | ".join(ways)


def _grammar(draw: random.Random) -> str:
    rules = RULES[: draw.randint(2, len(RULES))]
    return "\n".join(f"{rule} ::= {_body(draw, rules)} | {draw.choice(LITERALS)}" for rule in rules).replace("_", "-")


@cache
def random_machines(count: int = 15) -> dict[str, Any]:
    """So many machines of regexes and so many of grammars."""
    draw = random.Random(14)
    regexes = [_regex(draw, 4) for _ in range(count)]
    grammars = [_grammar(draw) for _ in range(count)]
    return {text: gv.regex(text) for text in regexes} | {text: gv.grammar(text) for text in grammars}
