"""Answers to `predict` and `scan`."""

import numpy as np

from guidedviz.machines.earley.items import Item, predict, scan


def one_level(rules, column, place):
    return list(column) + [
        Item(item.wanted, symbols, 0, place) for item in column for symbols in rules.get(item.wanted, ())
    ]


def once(rules, column, place, make=lambda item, symbols, place: Item(item.wanted, symbols, 0, place), keep=list):
    filled = keep(column)
    for item in filled:
        for symbols in rules.get(item.wanted, ()):
            new = make(item, symbols, place)
            if new not in filled:
                filled.append(new)
    return filled


def endless(rules, column, place):
    filled = list(column)
    for item in filled:
        filled += [Item(item.wanted, symbols, 0, place) for symbols in rules.get(item.wanted, ())]
    return filled


def descent(rules, column, place):
    found = []
    for item in column:
        found.append(item)
        begun = [Item(item.wanted, symbols, 0, place) for symbols in rules.get(item.wanted, ())]
        found += descent(rules, begun, place)
    return found


def no_empty(rules, column, place):
    return [item for item in predict(rules, column, place) if item.symbols]


def without_given(rules, column, place):
    return [item for item in predict(rules, column, place) if item not in column]


def by_name(rules, column, place):
    """Another order, found through the names of the rules."""
    names, met = [item.wanted for item in column], set()
    for name in names:
        if name in rules and name not in met:
            met.add(name)
            names += [symbols[0] for symbols in rules[name] if symbols]
    return {*column, *(Item(name, symbols, 0, place) for name in met for symbols in rules[name])}


def recursive(rules, column, place):
    def visit(item):
        if item not in seen:
            seen.append(item)
            for symbols in rules.get(item.wanted, ()):
                visit(Item(item.wanted, symbols, 0, place))

    seen = []
    for item in column:
        visit(item)
    return iter(seen[::-1])


def moving(**fields):
    def answer(column, character):
        return [item._replace(**{k: make(item) for k, make in fields.items()}) for item in column_of(column, character)]

    return answer


def column_of(column, character):
    return [item for item in column if item.wanted == character]


def by_hand(column, character):
    for rule, symbols, dot, origin in column:
        if symbols[dot : dot + 1] == (character,):
            yield rule, symbols, dot + 1, origin


WRONG = {
    "predict": {
        "the column as it is": (lambda rules, column, place: column, "digit → • 1 .* is missing: start"),
        "one level": (one_level, "is missing|twice"),
        "no end on left recursion": (endless, "not asked again"),
        "recursive descent": (descent, "not asked again"),
        "the origin of the asking item": (
            lambda *given: once(*given, make=lambda item, symbols, place: Item(item.wanted, symbols, 0, item.origin)),
            "it begins at this place, from 2",
        ),
        "the column before": (
            lambda *given: once(
                *given, make=lambda item, symbols, place: Item(item.wanted, symbols, 0, max(place - 1, 0))
            ),
            "it begins at this place, from 2",
        ),
        "from the first column": (
            lambda *given: once(*given, make=lambda item, symbols, place: Item(item.wanted, symbols, 0, 0)),
            "it begins at this place, from 2",
        ),
        "its column changed": (lambda *given: once(*given, keep=lambda column: column), "work on a copy"),
        "the dot is moved": (
            lambda *given: once(*given, make=lambda item, symbols, place: Item(item.wanted, symbols, 1, place)),
            "its dot stands in front",
        ),
        "the first alternative alone": (
            lambda rules, column, place: once({name: ways[:1] for name, ways in rules.items()}, column, place),
            "is missing: .* waits for",
        ),
        "no empty alternative": (no_empty, "list → • .* is missing"),
        "every rule": (
            lambda rules, column, place: [
                *column,
                *(Item(rule, symbols, 0, place) for rule, ways in rules.items() for symbols in ways),
            ],
            "no item waits for digit|twice",
        ),
        "the symbol after the dot without a look at the end": (
            lambda rules, column, place: [item for item in column if item.symbols[item.dot]] + one_level(rules, [], 0),
            "is missing|IndexError",
        ),
        "the new items alone": (without_given, "the given items stay"),
        "texts": (lambda *given: list(map(str, predict(*given))), "a list of items is expected"),
        "one item": (lambda *given: predict(*given)[0], "a list of items is expected"),
        "rules": (lambda rules, column, place: rules, "a list of items is expected"),
        "two arguments": (lambda column, place: column, "the check calls it with 3 arguments"),
    },
    "scan": {
        "the column as it is": (lambda column, character: column, "its dot has to move"),
        "the dot stays": (column_of, "its dot has to move"),
        "the dot moves to the end": (moving(dot=lambda item: len(item.symbols)), "its dot has to move by one"),
        "a new origin": (moving(dot=lambda item: item.dot + 1, origin=lambda item: item.origin + 1), "only the dot"),
        "from the first column": (moving(dot=lambda item: item.dot + 1, origin=lambda item: 0), "only the dot|twice"),
        "all move": (
            lambda column, character: [item.moved for item in column if item.wanted],
            "only items that wait for '2'",
        ),
        "the character anywhere": (
            lambda column, character: [item.moved for item in column if character in item.symbols],
            "only items that wait for '1'",
        ),
        "no look at the end": (
            lambda column, character: [item.moved for item in column if item.symbols[item.dot] == character],
            "IndexError|only items",
        ),
        "the first alone": (lambda column, character: scan(column, character)[:1], "only items that wait"),
        "none": (lambda column, character: [], "only items that wait for '1'"),
        "one item": (lambda column, character: scan(column, character)[0], "a list of items|IndexError"),
        "a mask": (lambda column, character: [item.wanted == character for item in column], "a list of items"),
        "texts": (lambda column, character: [*map(str, scan(column, character))], "a list of items is expected"),
        "its column changed": (
            lambda column, character: column.clear() or [],
            "work on a copy",
        ),
        "nothing on some path": (
            lambda column, character: scan(column, character) or None,
            "is a return missing|a list of items",
        ),
    },
}
RIGHT = {
    "predict": {
        "by the names of the rules, as a set": by_name,
        "recursion that remembers, as an iterator": recursive,
        "lists": lambda *given: [[*item] for item in once(*given)],
        "a dict": lambda *given: dict.fromkeys(predict(*given)),
    },
    "scan": {
        "plain tuples from a generator": by_hand,
        "another order": lambda column, character: scan(column, character)[::-1],
        "a set": lambda column, character: set(scan(column, character)),
        "NumPy dots": lambda column, character: [
            new._replace(dot=np.int64(new.dot)) for new in scan(column, character)
        ],
    },
}
