"""Answers to `parses`, `softmax`, `spellings` and `only_answers`."""

import ast
import json
import math
import re
from collections import ChainMap
from itertools import chain

import numpy as np

from tests.checks.answers import TOY, parses, softmax, spellings


def by_json(accept, refuse=ValueError):
    """Let `json.loads` decide, then look at the value or the text."""

    def answer(text):
        try:
            return accept(json.loads(text), text)
        except refuse:
            return False

    return answer


def by_python(text):
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def forgets_to_return_true(text):
    try:
        json.loads(text)
    except ValueError:
        return False


def by_raw_decode(text):
    """Reads one value and blanks after it, by hand."""
    text = text.strip(" \t\r\n")
    try:
        return json.JSONDecoder().raw_decode(text)[1] == len(text)
    except json.JSONDecodeError:
        return False


def powers(logits, temperature, shift=lambda scaled: 0.0, cut=lambda scaled: scaled):
    scaled = np.asarray(logits) / temperature
    exponentials = np.exp(cut(scaled - shift(scaled)))
    return exponentials / exponentials.sum()


def in_place(logits, temperature):
    logits /= temperature
    logits -= logits.max()
    return np.exp(logits) / np.exp(logits).sum()


def without_numpy(logits, temperature):
    top = max(logits)
    exponentials = [math.exp((x - top) / temperature) for x in logits]
    return [x / sum(exponentials) for x in exponentials]


def one_by_one(logits, temperature):
    """Sums e to the power of the differences; one probability at a time, as a NumPy scalar."""
    with np.errstate(over="ignore"):
        for one in logits:
            yield np.float64(1) / np.sum(np.exp((logits - one) / temperature))


def by_logarithms(logits, temperature):
    scaled = np.asarray(logits) / temperature
    return np.exp(scaled - np.logaddexp.reduce(scaled))


def find(matches):
    return lambda pieces, word: [token for token, piece in enumerate(pieces) if matches(piece, word)]


def text_of(piece, errors="replace"):
    return piece.decode(errors=errors).strip().lower()


YES, NO, OTHER = 0, 1, 2  # ids of the toy model

WRONG = {
    "parses": {
        "always": (lambda text: True, "empty text"),
        "begins with a brace": (lambda text: text.startswith("{"), "not closed"),
        "begins and ends with a brace": (lambda text: text[:1] + text[-1:] == "{}", "a number alone"),
        "objects and lists only": (by_json(lambda value, text: isinstance(value, dict | list)), "a number alone"),
        "objects only": (by_json(lambda value, text: isinstance(value, dict)), "a number alone"),
        "the value instead of True": (by_json(lambda value, text: value), "True or False is expected"),
        "whether the value is true": (by_json(lambda value, text: bool(value)), "an object may be empty"),
        "no return after the try": (forgets_to_return_true, "return missing"),
        "no except": (lambda text: json.loads(text) is not None, "JSONDecodeError"),
        "Python's literals": (by_python, "null alone"),
        "no blanks around": (by_json(lambda value, text: text == text.strip()), "blanks and line ends around"),
        "a search for an object": (lambda text: bool(re.search(r"\{.*\}|\[.*\]|^\d+$", text)), "not begin with 0"),
        "1 for True": (lambda text: int(parses(text)), "True or False is expected"),
    },
    "softmax": {
        "no temperature": (lambda logits, temperature: softmax(logits, 1), "divide by the temperature"),
        "times the temperature": (lambda logits, temperature: softmax(logits, 1 / temperature), "divide by the"),
        "no exponential": (lambda logits, temperature: logits / logits.sum(), "whole probability"),
        "no sum": (lambda logits, temperature: np.exp(logits / temperature), "whole probability|add up to 1"),
        "nothing subtracted": (powers, "subtract the largest"),
        "clipped at 700": (lambda *given: powers(*given, cut=lambda x: np.clip(x, -700, 700)), "do not clip"),
        "the mean subtracted": (lambda *given: powers(*given, shift=np.mean), "the largest of the logits"),
        "the first subtracted": (lambda *given: powers(*given, shift=lambda x: x[0]), "the largest of the logits"),
        "a half of the largest subtracted": (
            lambda *given: powers(*given, lambda x: x.max() / 2),
            "the largest of the",
        ),
        "powers of two": (lambda logits, temperature: softmax(logits * np.log(2), temperature), "e to the power"),
        "rounded": (lambda *given: softmax(*given).round(3), "e to the power"),
        "its input changed": (in_place, "work on a copy"),
        "logarithms": (lambda *given: np.log(softmax(*given)), "whole probability"),
        "the likeliest token": (lambda *given: int(softmax(*given).argmax()), "an array of shape"),
        "percent": (lambda *given: 100 * softmax(*given), "whole probability"),
    },
    "spellings": {
        "the very bytes": (find(lambda piece, word: piece == word.encode()), "a space in front"),
        "bytes compared with a str": (find(lambda piece, word: piece.strip().lower() == word), r"word\.encode\(\)"),
        "no case": (find(lambda piece, word: piece.strip() == word.encode()), "a capital letter"),
        "spaces in front only": (find(lambda piece, word: text_of(piece + b"|") == f"{word}|"), "a line end"),
        "whatever holds the word": (find(lambda piece, word: word in text_of(piece)), "other words"),
        "whatever begins with it": (find(lambda piece, word: text_of(piece).startswith(word)), "other words"),
        "whole words inside": (find(lambda piece, word: word in re.findall(r"\w+", text_of(piece))), "more in them"),
        "strict decoding": (find(lambda piece, word: text_of(piece, "strict") == word), "cannot be decoded"),
        "bad bytes ignored": (find(lambda piece, word: text_of(piece, "ignore") == word), "not 'ignore'"),
        "always yes": (lambda pieces, word: spellings(pieces, "yes"), "not yes"),
        "a mask": (lambda pieces, word: np.array([text_of(piece) == word for piece in pieces]), "np.flatnonzero"),
        "the pieces": (lambda pieces, word: [p for p in pieces if text_of(p) == word], "these are pieces"),
        "np.nonzero": (lambda pieces, word: np.nonzero([text_of(p) == word for p in pieces]), "whole numbers"),
        "the first only": (lambda pieces, word: spellings(pieces, word)[:1], "a line end"),
        "one id, no set": (lambda pieces, word: next(iter(spellings(pieces, word)), -1), "a set of ids"),
        "counted from 1": (lambda pieces, word: [token + 1 for token in spellings(pieces, word)], "this piece spells"),
    },
    "only_answers": {
        "yes alone": ({YES: 100}, "change the ratio"),
        "yes a little more": ({YES: 100, NO: 99}, "change the ratio"),
        "too small": ({YES: 5, NO: 5}, "too small"),
        "enough for these prompts only": ({YES: 15, NO: 15}, "too small"),
        "another word, too": ({YES: 100, NO: 100, OTHER: 100}, "maybe has a bias, too"),
        "another word a little less": ({YES: 100, NO: 100, OTHER: 98}, "maybe has a bias, too"),
        "one ban": ({OTHER: -100}, "too small"),
        "above the limit": ({YES: 1000, NO: 1000}, "100"),
        "words instead of ids": ({"yes": 100, "no": 100}, "yes"),
        "pieces instead of ids": ({b"yes": 100, b"no": 100}, "yes"),
        "ids that do not exist": ({999: 100}, "999"),
        "a list": ([YES, NO], "a mapping from token ids"),
        "infinity": ({YES: math.inf, NO: math.inf}, "inf"),
        "no numbers": ({YES: None, NO: None}, "None"),
    },
}
RIGHT = {
    "parses": {
        "by raw_decode": by_raw_decode,
        "all errors caught": by_json(lambda value, text: True, Exception),
        "a NumPy bool": lambda text: np.bool_(parses(text)),
        "strict about keys": by_json(lambda value, text: json.loads(text, object_pairs_hook=dict) == value),
    },
    "softmax": {
        "without NumPy": without_numpy,
        "a generator of NumPy scalars": one_by_one,
        "by logarithms": by_logarithms,
        "twice the subtraction": lambda logits, t: softmax(logits - logits.max(), t),
        "cut far below the largest": lambda *given: powers(*given, np.max, lambda x: np.clip(x, -700, 0)),
        "float32": lambda logits, t: softmax(logits.astype(np.float32), np.float32(t)),
    },
    "spellings": {
        "a generator": lambda *given: (token for token in spellings(*given)),
        "a NumPy array": lambda *given: np.array(spellings(*given), dtype=np.int64),
        "a frozenset": lambda *given: frozenset(spellings(*given)),
        "by text": find(lambda piece, word: text_of(piece) == word),
        "an empty array of floats": lambda *given: np.array(
            spellings(*given), dtype=int if spellings(*given) else float
        ),
    },
    "only_answers": {
        "the same bias": {YES: 100, NO: 100},
        "bans on all others": {token: -100 for token in range(2, len(TOY.vocabulary))},
        "NumPy numbers": {np.int64(YES): np.float32(60), np.int64(NO): np.float32(60)},
        "both": dict(chain({YES: 50, NO: 50}.items(), ((token, -50) for token in range(2, 260)))),
        "another mapping": ChainMap({YES: 100}, {NO: 100}),
    },
}
