"""Answers to the exercises on servers."""

import json
from hashlib import sha256
from itertools import combinations

import numpy as np


def who_emptied(rules):
    for size in range(1, len(rules) + 1):
        for group in combinations(rules, size):
            if not set.intersection(*(rules[name] for name in group)):
                return set(group)
    return set()


def last_one(rules):
    """The rule after which nothing is left, in the order of the rules."""
    left = None
    for name, ids in rules.items():
        left = ids if left is None else left & ids
        if not left:
            return {name}
    return set()


def grown(rules):
    """Groups that grow breadth first, each with the ids that it still allows."""
    waiting = [((name,), ids) for name, ids in rules.items()]
    for group, ids in waiting:
        if not ids:
            return frozenset(group)
        waiting += [((*group, name), ids & rules[name]) for name in rules if name > max(group)]
    return frozenset()


def packed_row(ids, size):
    words = np.zeros(-(-size // 32), np.uint32)
    for token in ids:
        words[token // 32] |= np.uint32(1 << token % 32)
    return words.view(np.int32)


def by_packbits(ids, size):
    mask = np.zeros(-(-size // 32) * 32, bool)
    mask[list(ids)] = True
    return np.packbits(mask, bitorder="little").view(np.int32)


def cache_key(request):
    schema = json.dumps(json.loads(request["schema"]))
    options = sorted(request["options"].items())
    return json.dumps([schema, request["vocabulary"], request["engine"], request["version"], options])


def slow_pass(passes):
    def delays(one):
        masks = max(0.0, sum(one["masks"].values()) - one["forward"])
        return {"compile": sum(one["compile"].values()), "masks": masks, "prompt": sum(one["prompt"].values())}

    def total(one):
        return one["forward"] + delays(one)["compile"] + delays(one)["masks"]

    slowest = max(passes, key=total)
    part = max(delays(slowest), key=delays(slowest).get)
    return part, max(slowest[part], key=slowest[part].get)


RIGHT = {"who_emptied": who_emptied, "packed_row": packed_row, "cache_key": cache_key, "slow_pass": slow_pass}
PARSED = 'json.dumps(json.loads(request["schema"]))'
WORST = "max(slowest[part], key=slowest[part].get)"
WRONG = {
    "who_emptied": [
        (set, "token 1 is legal for every rule"),
        (lambda rules: set(), "no token is legal: grammar allows none"),
        (last_one, r"token \d is legal for"),
        ("range(1, len(rules) + 1)", "range(len(rules), 0, -1)", "a smaller group is enough"),
        ("combinations(rules, size)", "zip(*([*rules][i:] for i in range(size)))", "bad words and grammar"),
        ("set.intersection(", "set().union(", "no token is legal: grammar and min_tokens allow none together"),
        ("not set.intersection(", "{0} >= set.intersection(", "token 0 is legal for"),
        (lambda rules: set.intersection(*rules.values()), "a set of names is expected"),
        (lambda rules: {"eos"}, "there is no rule 'eos'"),
    ],
    "packed_row": [
        (lambda ids, size: list(ids), "rounded up"),
        ("-(-size // 32)", "max(1, size // 32)", "rounded up"),
        ("1 << token % 32", "1 << 31 - token % 32", "wrong order"),
        ("|=", "+=", "twice"),
        ("words.view(np.int32)", "words", "sign"),
        ("words[token // 32]", "words[0]", "token // 32"),
        ("words.view", "(~words).view", "all bits are 0"),
        ("words.view(np.int32)", "5", "a row of whole numbers"),
        ("np.uint32", "np.int32", "sign"),
    ],
    "cache_key": [
        (lambda request: request["schema"], "one vocabulary"),
        (lambda request: json.dumps(request, sort_keys=True), "prompt"),
        ('request["engine"], ', "", "different objects"),
        ('request["version"], ', "", "new version"),
        (", options]", "]", "options change"),
        ('sorted(request["options"].items())', 'str(request["options"])', "no order"),
        (PARSED, 'request["schema"]', "blanks"),
        (PARSED, 'json.dumps(json.loads(request["schema"]), sort_keys=True)', "order of the properties"),
        (PARSED, 'list(json.loads(request["schema"])["properties"])', "every part"),
        (PARSED, '"".join(request["schema"].split())', "inside a name"),
        ("return ", "return hash(str(request)) or ", "another process"),
        ("return ", "return str(id(request)) or ", "two equal requests"),
    ],
    "slow_pass": [
        ("max(passes, key=total)", "passes[0]", "whole compile"),
        ("max(passes, key=total)", "max(passes[1:], key=total)", "one pass"),
        ("max(delays(slowest), key=delays(slowest).get)", '"masks"', "whole compile"),
        ('max(0.0, sum(one["masks"].values()) - one["forward"])', 'sum(one["masks"].values())', "."),
        ('return one["forward"] +', 'return one["forward"] - delays(one)["prompt"] +', "contains its prompts"),
        ('return one["forward"] +', 'return one["forward"] + delays(one)["prompt"] +', "60 ms are less than 70"),
        (WORST, "max(slowest[part])", "2 took the longest"),
        (f"part, {WORST}", "part", "a pair"),
    ],
}
UNUSUAL = {
    "who_emptied": [(grown,)],
    "packed_row": [(by_packbits,)],
    "cache_key": [
        (lambda request: sha256(cache_key(request).encode()).hexdigest(),),
        (lambda request: (*json.loads(cache_key(request))[:4], *sorted(request["options"].items())),),
    ],
    "slow_pass": [("max(passes, key=total)", "sorted(passes, key=total)[-1]")],
}
