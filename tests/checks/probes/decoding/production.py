"""Answers to `packed_row`, `cache_key` and `slow_pass`."""

import json
import sys
from hashlib import sha256

import numpy as np

from tests.checks.answers import cache_key, packed_row, slow_pass

# -- packed_row ----------------------------------------------------------------------------------------------------


def words_with(put, size_of=lambda size: -(-size // 32), kind=np.uint32):
    def answer(ids, size):
        words = np.zeros(size_of(size), kind)
        for token in ids:
            put(words, token)
        return words.view(np.int32) if kind is np.uint32 else words

    return answer


def added(words, token):
    words[token // 32] += np.uint32(1 << token % 32)


def highest_first(words, token):
    words[token // 32] |= np.uint32(1 << (31 - token % 32))


def in_bytes(ids, size):
    mask = np.zeros(size, bool)
    mask[list(ids)] = True
    return np.packbits(mask, bitorder="little")


def by_packbits(ids, size):
    mask = np.zeros(-(-size // 32) * 32, bool)
    mask[list(ids)] = True
    return np.packbits(mask, bitorder="little").view(np.int32)


def python_words(ids, size):
    words = [0] * -(-size // 32)
    for token in set(ids):
        words[token // 32] |= 1 << token % 32
    return [word - 2**32 if word >= 2**31 else word for word in words]


def popped(ids, size):
    words = packed_row(ids, size)
    while ids:
        ids.pop()
    return words


# -- cache_key -----------------------------------------------------------------------------------------------------

PARTS = ("vocabulary", "engine", "version")


def key_of(request, schema=lambda text: json.dumps(json.loads(text)), parts=PARTS, options=None):
    named = options(request["options"]) if options else json.dumps(request["options"], sort_keys=True)
    return "|".join([schema(request["schema"]), named, *(str(request[part]) for part in parts)])


def without(part):
    return lambda request: key_of(request, parts=[name for name in PARTS if name != part])


# -- slow_pass -----------------------------------------------------------------------------------------------------


def delays(one, hidden=True):
    masks = sum(one["masks"].values())
    beyond = max(0.0, masks - one["forward"]) if hidden else masks
    return {"compile": sum(one["compile"].values()), "masks": beyond, "prompt": sum(one["prompt"].values())}


def total(one):
    return one["forward"] + sum(one["compile"].values()) + delays(one)["masks"]


def blame(one, hidden=True):
    found = delays(one, hidden)
    part = max(found, key=found.get)
    return part, max(one[part], key=one[part].get)


def largest_single(passes):
    one = max(passes, key=total)
    ways = {(part, name): ms for part in ("compile", "masks", "prompt") for name, ms in one[part].items()}
    return max(ways, key=ways.get)


WRONG = {
    "packed_row": {
        "the ids": (lambda ids, size: list(ids), "rounded up|lowest bit"),
        "rounded down": (lambda ids, size: packed_row(ids, size)[: size // 32], "rounded up"),
        "one word too many": (
            lambda ids, size: np.append(packed_row(ids, size), np.int32(0)),
            "need 1 words of 32 bits",
        ),
        "bytes": (in_bytes, "words of 32 bits"),
        "one word per token": (lambda ids, size: [int(token in ids) for token in range(size)], "words of 32 bits"),
        "the highest bit first": (words_with(highest_first), "wrong order"),
        "added": (words_with(added), "twice"),
        "unsigned": (lambda ids, size: packed_row(ids, size).view(np.uint32), "sign"),
        "always word 0": (
            words_with(lambda words, token: words.__setitem__(0, words[0] | np.uint32(1 << token % 32))),
            "token // 32",
        ),
        "divided by 31": (
            words_with(
                lambda words, token: words.__setitem__(token // 32, words[token // 32] | np.uint32(1 << token % 31))
            ),
            "bit 31|sign|token % 32",
        ),
        "inverted": (lambda ids, size: ~packed_row(ids, size), "all bits are 0"),
        "a number": (lambda ids, size: 5, "a row of whole numbers"),
        "floats": (lambda ids, size: packed_row(ids, size) + 0.5, "whole numbers"),
        "its input changed": (popped, "work on a copy"),
        "an error at bit 31": (
            lambda ids, size: np.array([np.int32(word) for word in python_words(ids, size) if word >= 0 or 1 // 0]),
            "sign",
        ),
    },
    "cache_key": {
        "the schema's text": (lambda request: request["schema"], "vocabulary"),
        "all of the request": (lambda request: json.dumps(request, sort_keys=True), "prompt"),
        "no vocabulary": (without("vocabulary"), "one vocabulary"),
        "no engine": (without("engine"), "different objects"),
        "no version": (without("version"), "new version"),
        "no options": (lambda request: key_of(request, options=lambda options: ""), "options change"),
        "options as given": (lambda request: key_of(request, options=str), "no order"),
        "the text, not parsed": (lambda request: key_of(request, schema=str), "blanks"),
        "the schema sorted": (
            lambda request: key_of(request, schema=lambda text: json.dumps(json.loads(text), sort_keys=True)),
            "order of the properties",
        ),
        "the names only": (
            lambda request: key_of(request, schema=lambda text: str(list(json.loads(text)["properties"]))),
            "every part",
        ),
        "all blanks removed": (
            lambda request: key_of(request, schema=lambda text: "".join(text.split())),
            "inside a name",
        ),
        "Python's hash": (lambda request: hash(key_of(request)), "another process"),
        "a dict": (lambda request: dict(request), "another process"),
        "always another": (lambda request: f"{id(request)}", "two equal requests"),
        "its input changed": (
            lambda request: key_of(request, parts=[request.pop("seed"), *PARTS][1:]),
            "work on a copy",
        ),
    },
    "slow_pass": {
        "the first pass": (lambda passes: blame(passes[0]), "whole compile"),
        "the longest forward pass": (
            lambda passes: blame(max(passes, key=lambda one: one["forward"])),
            "90 ms|largest",
        ),
        "the masks always": (
            lambda passes: ("masks", max(max(passes, key=total)["masks"], default=0)),
            "whole compile",
        ),
        "masks that are hidden": (lambda passes: blame(max(passes, key=total), hidden=False), "only the time beyond"),
        "the prompt is added to the forward pass": (
            lambda passes: blame(max(passes, key=lambda one: total(one) - 2 * delays(one)["prompt"])),
            "contains its prompts",
        ),
        "the prompt counted twice": (
            lambda passes: blame(max(passes, key=lambda one: one["forward"] + sum(delays(one).values()))),
            "60 ms are less than 70",
        ),
        "the largest single number": (largest_single, "only the time beyond|together"),
        "the part alone": (lambda passes: slow_pass(passes)[0], "a pair"),
        "the pair reversed": (lambda passes: slow_pass(passes)[::-1], "a pair"),
        "the pass's number": (lambda passes: ("pass", passes.index(max(passes, key=total))), "a pair"),
        "the first request of the part": (
            lambda passes: (slow_pass(passes)[0], next(iter(max(passes, key=total)[slow_pass(passes)[0]]))),
            "2 took the longest",
        ),
        "an error": (lambda passes: blame(passes[1]), "only its parts|IndexError|one pass"),
        "its input changed": (lambda passes: slow_pass(passes) if passes.pop() else None, "."),
    },
}
RIGHT = {
    "packed_row": {
        "packbits": by_packbits,
        "Python's numbers": python_words,
        "int32 all the way": lambda ids, size: np.array(python_words(ids, size), np.int32),
        "a set": lambda ids, size: packed_row(sorted(set(ids)), size),
    },
    "cache_key": {
        "a digest": lambda request: sha256(key_of(request).encode()).hexdigest(),
        "bytes": lambda request: key_of(request).encode(),
        "a tuple": lambda request: (
            json.dumps(json.loads(request["schema"])),
            tuple(sorted(request["options"].items())),
            *(request[part] for part in PARTS),
        ),
        "interned": lambda request: sys.intern(cache_key(request)),
    },
    "slow_pass": {
        "a list": lambda passes: list(slow_pass(passes)),
        "the other way round": lambda passes: blame(max(reversed(passes), key=total)),
        "sorted": lambda passes: blame(sorted(passes, key=total)[-1]),
    },
}
