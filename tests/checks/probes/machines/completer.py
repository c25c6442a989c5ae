"""Answers to `complete`."""

import numpy as np

from guidedviz.machines.earley.items import Item, complete


def by_wanted(column=lambda chart, done: chart[done.origin], fits=lambda item, done: item.wanted == done.rule):
    return lambda chart, done: [item.moved for item in column(chart, done) if fits(item, done)]


def changed(**fields):
    """The right items with other fields; each is made of the item and the finished one."""

    def answer(chart, done):
        return [
            new._replace(**{k: make(new, chart, done) for k, make in fields.items()}) for new in complete(chart, done)
        ]

    return answer


def extends(chart, done):
    new = complete(chart, done)
    chart[-1].extend(new)
    return new


def by_hand(chart, done):
    """Plain tuples, made without the properties of an item."""
    for rule, symbols, dot, origin in chart[done.origin]:
        if symbols[dot : dot + 1] == (done.rule,):
            yield rule, symbols, dot + 1, origin


def recursive(chart, done, at=0):
    column = chart[done.origin]
    if at == len(column):
        return []
    found = [column[at].moved] if column[at].wanted == done.rule else []
    return found + recursive(chart, done, at + 1)


WRONG = {
    "complete": {
        "this column": (by_wanted(lambda chart, done: chart[-1]), "it began in column 0: look there"),
        "the first column": (by_wanted(lambda chart, done: chart[0]), "look there for what waits"),
        "the column before": (
            by_wanted(lambda chart, done: chart[max(len(chart) - 2, 0)]),
            "look there for what waits",
        ),
        "all columns": (
            by_wanted(lambda chart, done: [item for column in chart for item in column]),
            "look there|twice",
        ),
        "the column after": (by_wanted(lambda chart, done: chart[done.origin + 1]), "look there for what waits"),
        "the dot stays": (
            lambda chart, done: [item for item in chart[done.origin] if item.wanted == done.rule],
            "its dot has to move",
        ),
        "the dot moves by two": (changed(dot=lambda new, chart, done: new.dot + 1), "its dot has to move by one"),
        "the dot moves to the end": (changed(dot=lambda new, *_: len(new.symbols)), "its dot has to move by one"),
        "a new origin": (changed(origin=lambda new, chart, done: len(chart) - 1), "only the dot moves"),
        "the origin of the finished item": (changed(origin=lambda new, chart, done: done.origin), "only the dot moves"),
        "whatever waits": (by_wanted(fits=lambda item, done: item.wanted), "look there for what waits for digit"),
        "the rule anywhere": (by_wanted(fits=lambda item, done: done.rule in item.symbols), "dot|look there"),
        "items of the same rule": (by_wanted(fits=lambda item, done: item.rule == done.rule), "look there"),
        "the first alone": (lambda chart, done: complete(chart, done)[:1], "look there for what waits"),
        "none": (lambda chart, done: [], "look there for what waits for digit"),
        "twice": (lambda chart, done: complete(chart, done) * 2, "comes twice"),
        "one item": (lambda chart, done: complete(chart, done)[0], "a list of items is expected"),
        "texts": (lambda chart, done: [str(item) for item in complete(chart, done)], "a list of items is expected"),
        "its chart changed": (extends, "work on a copy"),
        "wrong arity": (lambda chart, column, done: [], "the check calls it with 2 arguments"),
    }
}
RIGHT = {
    "complete": {
        "any order": lambda chart, done: iter(complete(chart, done)[::-1]),
        "plain tuples from a generator": by_hand,
        "recursion": recursive,
        "lists": lambda chart, done: [[*item] for item in complete(chart, done)],
        "a set": lambda chart, done: set(complete(chart, done)),
        "NumPy dots": lambda chart, done: [
            Item(new.rule, new.symbols, np.int64(new.dot), new.origin) for new in complete(chart, done)
        ],
    }
}
