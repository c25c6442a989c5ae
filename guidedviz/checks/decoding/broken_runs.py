"""The clinic of lab 12: which rules emptied a mask, and a schema that cut right answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import reduce
from itertools import combinations
from operator import and_
from typing import Any
from warnings import catch_warnings, simplefilter

from guidedviz.checks.guard import safe_copy
from guidedviz.checks.judge import Case, Facts, Mistake, check_function
from guidedviz.checks.same_language import EMPTY, say_text
from guidedviz.checks.verdict import Verdict, show
from guidedviz.errors import GuidedVizError, SchemaWarning
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.vocabulary import Vocabulary

Rules = dict[str, set[int]]
RULES: tuple[Rules, ...] = (  # for each rule the ids that it allows; the smallest guilty group is always unique
    {"grammar": {1, 2}},
    {"grammar": set()},
    {"grammar": {0}, "min_tokens": {0, 1}},
    {"grammar": {5}, "min_tokens": {1, 2, 3}},
    {"grammar": {5}, "min_tokens": {1, 2, 5}, "bad words": {1, 2}},
    {"bad words": {1, 2}, "grammar": {5}, "min_tokens": {1, 2, 5}},
    {"min_tokens": {1, 2, 3}, "bad words": {1, 2, 5}, "grammar": {5}},
    {"grammar": {1, 2}, "allowed": set(), "min_tokens": {3}},
    {"grammar": {1, 2}, "min_tokens": {2, 3}, "bad words": {1, 3}},
    {"allowed": {1, 2, 3, 4}, "grammar": {1, 2}, "min_tokens": {2, 3, 4}, "bad words": {1, 3, 4}},
    {"allowed": {1, 2, 3}, "grammar": {1, 2, 3}, "min_tokens": {2, 3}, "bad words": {3}},
)
SERVICE: dict[str, Any] = {
    "type": "object",
    "properties": {"product": {"type": "string", "maxLength": 6}, "price": {"type": "integer", "minimum": 0}},
    "required": ["product", "price"],
}
LONGEST = 30  # characters of a product in the repaired schema
TEXTS = {  # texts, and whether the repaired schema accepts them
    '{"product": "pear", "price": 3}': True,
    '{"product": "pear", "price": 12.5}': True,
    '{"product": "pear", "price": 12.50}': True,
    '{"product": "umbrella", "price": 12.5}': True,
    f'{{"product": "{"a" * LONGEST}", "price": 12.5}}': True,
    f'{{"product": "{"a" * (LONGEST + 1)}", "price": 12.5}}': False,
    f'{{"product": "{"a" * 500}", "price": 12.5}}': False,
    '{"product": "pear"}': False,
    '{"price": 12.5}': False,
    '{"product": 7, "price": 12.5}': False,
    '{"product": "pear", "price": -1}': False,
    '{"product": "pear", "price": "12.5"}': False,
    '{"product": "pear", "price": null}': False,
    '{"product": "pear", "price": 12.5, "color": "red"}': False,
}


def check_who_emptied(answer: Callable[[Rules], set[str]]) -> Verdict:
    """Does `answer(rules)` name the smallest group of rules that allow no token together?

    >>> check_who_emptied(lambda rules: set(rules))
    ✗ not yet right: on input 1 of 11, the smallest on which it fails
        grammar     {1, 2}
        yours gave  {'grammar'}
        expected    set()
        because     token 1 is legal for every rule, so nothing emptied the mask
    """
    cases = []
    for rules in RULES:
        given = tuple((name, show(ids)) for name, ids in rules.items())
        cases.append(Case((deepcopy(rules),), who_emptied(rules), given=given))
    return check_function(answer, cases, _same_names, _explain_group)


def who_emptied(rules: Mapping[str, set[int]]) -> set[str]:
    """The smallest group of rules that allow no token together; empty if some token is legal.

    >>> sorted(who_emptied({"grammar": {5}, "least": {1, 2, 5}, "bad words": {1, 2}}))
    ['bad words', 'grammar']
    """
    groups = (set(group) for size in range(1, len(rules) + 1) for group in combinations(rules, size))
    return next((group for group in groups if not _legal(rules, group)), set())


def _legal(rules: Mapping[str, set[int]], group: set[str]) -> set[int]:
    """The ids that every rule of a group allows."""
    return reduce(and_, (rules[name] for name in group))


def _same_names(value: Any, expected: set[str]) -> bool:
    return not isinstance(value, str) and set(value) == expected


def _explain_group(case: Case, value: Any) -> Mistake:
    rules, right = case.arguments[0], case.expected
    if not isinstance(value, set | list | tuple | frozenset) or not all(isinstance(name, str) for name in value):
        return Mistake("a set of names is expected" + "; the empty set if some token is legal" * (not right))
    if strange := sorted(set(value) - set(rules)):
        return Mistake(f"there is no rule {strange[0]!r}")
    if not right:
        token = min(_legal(rules, set(rules)))
        return Mistake(f"token {token} is legal for every rule, so nothing emptied the mask")
    names = " and ".join(sorted(right))
    if not value:
        return Mistake(f"no token is legal: {names} {'allow none together' if len(right) > 1 else 'allows none'}")
    if left := _legal(rules, set(value)):
        return Mistake(f"token {min(left)} is legal for {' and '.join(sorted(value))}")
    return Mistake(f"a smaller group is enough: {names}")


def check_wider(answer: Any) -> Verdict:
    """Does a repaired schema accept what the service needs, and refuse what it refused before?

    >>> check_wider(SERVICE | {"required": ["product"]}).facts[1:]
    (('yours', 'refuses it'), ('expected', 'accepts it'), ('because', 'after {...12, . cannot come: expected 0-9 }'))
    """
    answer = safe_copy(answer)
    if answer is None or answer is ... or answer in ("", {}):
        return EMPTY
    try:
        with catch_warnings():  # the verdict names what was ignored
            simplefilter("ignore", SchemaWarning)
            machine = json_schema(answer)
    except (GuidedVizError, RecursionError) as error:
        facts: Facts = (("yours is", show(answer)), ("because", str(error)))
        return Verdict("wrong", "no machine can be made of it", facts)
    for number, (text, accepted) in enumerate(TEXTS.items(), 1):
        if machine.accepts(text.encode()) != accepted:
            given, said = answer == SERVICE, f"on text {number} of {len(TEXTS)}"
            facts = _say_mistake(machine, text.encode(), accepted)
            return Verdict("open" if given else "wrong", "this is the schema as given; " * given + said, facts)
    return Verdict("right", f"agrees on all {len(TEXTS)} texts")


def _say_mistake(machine: DFA | PDA, text: bytes, accepted: bool) -> Facts:
    """The text, what was expected of it, and why."""
    because = f"a product has at most {LONGEST} characters"
    if accepted:
        vocabulary, state = Vocabulary([text, b"</s>"], eos={1}), read(machine, text)
        at, token = (machine.initial, 0) if state is None else (state, 1)
        because = explain_token(machine, vocabulary, at, token).reason
    elif len(text) <= 2 * LONGEST:
        because = "the service refused this text before the repair, and it must still refuse it"
    ignored = tuple(("but", note) for note in machine.notes[:1])  # a keyword with a typing error, for example
    return (*say_text(text, not accepted), ("because", because), *ignored)
