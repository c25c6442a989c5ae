"""Answers to the exercises on decoding."""

import json
import math
import re

import numpy as np

import guidedviz as gv
from guidedviz.models.model import ToyModel

TOY = ToyModel(
    [b"yes", b"no", b"maybe", b"Sure", *(bytes([byte]) for byte in range(256))],
    lambda tokens: np.linspace(2, -2, 260),
)
YES, NO, OTHER = 0, 1, 2  # ids of the toy model


def parses(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def by_raw_decode(text):
    text = text.strip(" \t\r\n")
    try:
        return json.JSONDecoder().raw_decode(text)[1] == len(text)
    except json.JSONDecodeError:
        return False


def cut_out(text):
    for place in range(len(text)):
        if text[place] == "{":
            try:
                return json.JSONDecoder().raw_decode(text, place)[0]
            except ValueError:
                continue
    return None


def cut_out_by_recursion(text, start=0):
    if (place := text.find("{", start)) < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, place)[0]
    except ValueError:
        return cut_out_by_recursion(text, place + 1)


def softmax(logits, temperature):
    scaled = np.asarray(logits) / temperature
    powers = np.exp(scaled - scaled.max())
    return powers / powers.sum()


def softmax_without_numpy(logits, temperature):
    top = max(logits)
    powers = [math.exp((logit - top) / temperature) for logit in logits]
    return [power / sum(powers) for power in powers]


def spellings(pieces, word):
    return [token for token, piece in enumerate(pieces) if piece.strip().lower() == word.encode()]


def token_mask(logits, legal):
    if not legal:
        raise ValueError
    return [x if token in legal else -np.inf for token, x in enumerate(logits)]


def masked_loop(model, tokens, masks, seed):
    written = []
    for position, legal in enumerate(masks):
        logits = gv.sampling.apply_mask(model.logits(tokens + written), legal)
        written.append(gv.sampling.sample(gv.sampling.softmax(logits), seed, position))
        if written[-1] in model.vocabulary.eos:
            break
    return written


def rms_norm(x, weights):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6) * weights


def look(query, keys, values):
    matches = keys @ query / np.sqrt(len(query))
    weights = np.exp(matches - matches.max())
    return weights / weights.sum() @ values


def conditioned(chances, legal):
    whole = sum(chances[text] for text in legal)
    return {text: chances[text] / whole for text in legal}


def distance(weights):
    mean = sum(weights) / len(weights)
    return sum(abs(1 - weight / mean) for weight in weights) / len(weights) / 2


def adaptive(order, chances, legal):
    left = 1.0
    for place, token in enumerate(order):
        if token in legal:
            share = chances[token] / left
            more = place + 1 < len(order) and order[place + 1] in legal
            return token, left * (share + (1 - share) * more)
        left -= chances[token]
    return None


def accept(p, q, token, u):
    if u < min(1, p.get(token, 0) / q[token]):
        return None
    more = {t: p[t] - q.get(t, 0) for t in p if p[t] > q.get(t, 0)}
    return {t: share / sum(more.values()) for t, share in more.items()}


def window_step(machine, trigger, state, byte):
    kind, read = state
    if kind == "in":
        after = machine.step(read, byte)
        return None if after is None else ("in", after)
    read += bytes([byte])
    while not trigger.startswith(read):
        read = read[1:]
    return ("in", machine.initial) if read == trigger else ("free", read)


RIGHT = {
    "parses": parses,
    "cut_out": cut_out,
    "softmax": softmax,
    "spellings": spellings,
    "only_answers": {YES: 100, NO: 100},
    "token_mask": token_mask,
    "masked_loop": masked_loop,
    "rms_norm": rms_norm,
    "look": look,
    "conditioned": conditioned,
    "distance": distance,
    "adaptive": adaptive,
    "accept": accept,
    "window_step": window_step,
}
MEAN = "(x**2).mean(axis=-1, keepdims=True)"
ROW = "[x if token in legal else -np.inf for token, x in enumerate(logits)]"
SPELLS = "piece.strip().lower() == word.encode()"
MASKED = "gv.sampling.apply_mask(model.logits(tokens + written), legal)"
SHARES = "{text: chances[text] / whole for text in legal}"
ESTIMATE = "left * (share + (1 - share) * more)"
RATIO = "u < min(1, p.get(token, 0) / q[token])"
AFTER = '("in", machine.initial) if read == trigger else ("free", read)'
WRONG = {
    "parses": [
        ("json.loads(text)", "pass", "empty text"),
        (lambda text: text.startswith("{"), "not closed"),
        (lambda text: text[:1] + text[-1:] == "{}", "a number alone"),
        (lambda text: bool(re.search(r"\{.*\}|\[.*\]|^\d+$", text)), "not begin with 0"),
        ("return True", "return json.loads(text)", "True or False is expected"),
        ("return True", "return bool(json.loads(text))", "an object may be empty"),
        ("return True", "return text == text.strip()", "blanks and line ends around"),
        ("    return True", "", "return missing"),
        ("ValueError", "KeyError", "JSONDecodeError"),
    ],
    "cut_out": [
        (lambda text: json.loads(text), "no object: None"),
        (lambda text: json.loads(re.search(r"\{[^{}]*\}|$", text)[0] or "null"), "begins no JSON"),
        ("range(len(text))", "range(min(1, len(text)))", "prose before"),
        ("range(len(text))", "reversed(range(len(text)))", "first object"),
        ('text[place] == "{"', "True", "a list is no object"),
        ("raw_decode(text, place)[0]", "decode(text[place : text.index('}', place) + 1])", "outer object"),
        ("return None", "return {}", "no object: None"),
        ("(text, place)[0]", "(text, place)[0] or None", "an empty object"),
        ("return json.JSONDecoder().raw_decode(text, place)[0]", "return text[place:]", "not its text"),
        (cut_out_by_recursion, "RecursionError|two thousand"),
    ],
    "softmax": [
        (" / temperature", "", "divide by the temperature"),
        ("np.exp(scaled - scaled.max())", "scaled", "whole probability"),
        (" / powers.sum()", "", "add up to 1"),
        (" - scaled.max()", "", "subtract the largest"),
        ("scaled - scaled.max()", "np.clip(scaled, -700, 700)", "do not clip"),
        ("scaled.max()", "scaled.mean()", "the largest of the logits"),
        ("scaled.max()", "scaled[0]", "the largest of the logits"),
        ("np.exp(", "np.exp2(", "e to the power"),
        ("powers / powers.sum()", "int(powers.argmax())", "an array of shape"),
    ],
    "spellings": [
        ("piece.strip().lower()", "piece", "a space in front"),
        ("word.encode()", "word", r"word\.encode\(\)"),
        (".lower()", "", "a capital letter"),
        ("strip()", "lstrip()", "a line end"),
        (SPELLS, "word.encode() in piece.lower()", "other words"),
        (SPELLS, "word.encode() in piece.lower().replace(b'.', b'').split()", "more in them"),
        (SPELLS, "piece.decode().strip().lower() == word", "cannot be decoded"),
        (SPELLS, "piece.decode(errors='ignore').strip().lower() == word", "not 'ignore'"),
        ("word.encode()", "b'yes'", "not yes"),
        (lambda pieces, word: [piece == word.encode() for piece in pieces], "np.flatnonzero"),
        ("[token for", "[piece for", "these are pieces"),
        ("()]", "()][:1]", "a line end"),
        (lambda pieces, word: 0, "a set of ids"),
    ],
    "only_answers": [
        ({YES: 100}, "change the ratio"),
        ({YES: 5, NO: 5}, "too small"),
        ({YES: 15, NO: 15}, "too small"),
        ({YES: 100, NO: 100, OTHER: 98}, "maybe has a bias, too"),
        ({YES: 1000, NO: 1000}, "100"),
        ({"yes": 100, "no": 100}, "yes"),
        ({999: 100}, "999"),
        ([YES, NO], "a mapping from token ids"),
        ({YES: math.inf, NO: math.inf}, "inf"),
        ({YES: None, NO: None}, "None"),
    ],
    "token_mask": [
        ("-np.inf", "-100", "use -np.inf"),
        ("x if token in legal else -np.inf", "(token in legal and x) or -np.inf", "zero and negative"),
        ("token in legal", "token not in legal", "stays as it was"),
        (ROW, "logits[legal]", r"list\(legal\)"),
        (ROW, "logits[sorted(legal)]", "has shape"),
        ("raise ValueError", "pass", "raise a ValueError"),
        ("raise ValueError", "raise KeyError", "raise a ValueError"),
        ("return [", "return None if len(legal) < len(logits) else [", "return missing"),
    ],
    "masked_loop": [
        (MASKED, "model.logits(tokens + written)", "only this token is legal"),
        (MASKED, "model.logits(tokens + written) - [100 * (n not in legal) for n in range(5)]", "only -np.inf"),
        ("gv.sampling.sample(gv.sampling.softmax(logits), seed, position)", "int(np.argmax(logits))", "is drawn"),
        ("enumerate(masks)", "enumerate([masks[0]] * len(masks))", "its own mask"),
        ("seed, position", "seed, 0", "its own mask|reads all"),
        ("tokens + written", "tokens", "its own mask|reads all"),
        ("in model.vocabulary.eos", "== model.vocabulary.eos", "in model.vocabulary.eos"),
        ("return written", "return tokens + written", "only the new"),
        ("return written", "return set(written)", "token ids are"),
        ("return written", "return [model.vocabulary.pieces[token] for token in written]", "these are pieces"),
        ("return written", "return [token in masks[-1] for token in range(5)]", "np.flatnonzero"),
    ],
    "rms_norm": [
        (".mean(", ".sum(", "mean"),
        ("axis=-1, keepdims=True", "", "each row has a mean of its own"),
        ("axis=-1", "axis=0", "mean"),
        (", keepdims=True", "", "ValueError|mean of its own"),
        (" + 1e-6", "", "add 1e-6 to the mean"),
        ("1e-6", "1e-5", "under the root"),
        (f"np.sqrt({MEAN} + 1e-6)", f"(np.sqrt({MEAN}) + 1e-6)", "under the root"),
        (" * weights", "", "multiply by the weights"),
        ("* weights", "@ weights", "an array of shape"),
    ],
    "look": [
        ("weights / weights.sum() @ values", "values.mean(axis=0)", "softmax of keys @ query"),
        ("weights / weights.sum() @ values", "values[matches.argmax()]", "equal weights"),
        ("np.sqrt(len(query))", "len(query)", "root of the length"),
        ("len(query)", "len(keys)", "root of the length"),
        (" - matches.max()", "", "subtract the largest"),
        (" @ values", "", "an array of shape"),
        ("@ values", "@ values + query.sum()", "itself"),
        ("weights / weights.sum() @ values", "(weights / weights.sum())[:, None] * values", "an array of shape"),
    ],
    "conditioned": [
        (" / whole", "", "add up to 1"),
        ("chances[text] / whole", "1 / len(legal)", "keep their ratios"),
        ("chances[text] / whole", "round(chances[text] / whole, 2)", "keep their ratios"),
        (SHARES, "{max(legal, key=chances.get): 1.0}", "keep their ratios"),
        ("for text in legal}", "for text in chances}", "only the legal texts"),
        ("for text in legal}", "for text in legal if chances[text] > 1e-9}", "small"),
        (SHARES, "whole", "a dict is expected"),
        (SHARES, "[chances[text] / whole for text in legal]", "a dict is expected"),
    ],
    "distance": [
        ("sum(weights) / len(weights)", "1", "mean weight"),
        (" / 2", "", "half"),
        ("in weights) / len(weights) / 2", "in weights) / 2", "half"),
        ("abs(1 - weight / mean)", "(1 - weight / mean)", "half"),
        ("abs(1 - weight / mean)", "(1 - weight / mean) ** 2", "half|mean distance"),
        ("weight / mean", "round(weight, 3) / mean", "tiny"),
        ("return sum", "return -sum", "never negative"),
        (lambda weights: [abs(1 - weight) for weight in weights], "a number is expected"),
    ],
    "adaptive": [
        ("token in legal", "True", "first legal|left is 1"),
        (lambda order, p, legal: (max(legal, key=p.get), 1.0) if legal else None, "left is 1|first legal"),
        ("left -= chances[token]", "pass", "what was left|left"),
        ("place + 1 < len(order) and order[place + 1] in legal", "0", "the estimate is 1"),
        (ESTIMATE, "sum(chances[one] for one in legal)", "next token"),
        (f"token, {ESTIMATE}", "token", "a pair is expected"),
        ("return None", "return 0", "a pair is expected"),
        ("return None", "return chances[None]", "None"),
    ],
    "accept": [
        (RATIO, "token in p", "rejected"),
        (RATIO, "u < q[token]", "accepted"),
        (RATIO, "p.get(token, 0) >= q[token]", "u is below"),
        ("u <", "u <=", "even at u = 0"),
        ("for t in p if p[t] > q.get(t, 0)}", "for t in p}", "only b"),
        ("q.get(t, 0)", "q[t]", "KeyError"),
        ("more = {", "more = p or {", "only b"),
        ("return None", "return True", "None"),
    ],
    "window_step": [
        ("while not trigger.startswith(read)", "while False", "leaves b''"),
        ("read = read[1:]", "read = b''", "longest beginning"),
        ("read = read[1:]", "read = read[-1:] if len(read) > 1 else b''", "longest beginning"),
        ("return None if after is None", "return ('free', b'') if after is None", "illegal: None"),
        ("kind, read = state", "kind, read = state if byte < 128 else None", "every byte is legal"),
        ("machine.initial)", "machine.step(machine.initial, byte))", "initial state"),
        ('kind == "in"', 'kind == "in" and bytes([byte]) != trigger[-1:]', "only the machine counts"),
        (AFTER, "read", "a pair is expected"),
    ],
}
UNUSUAL = {
    "parses": [(by_raw_decode,), ("ValueError", "Exception")],
    "cut_out": [("range(len(text))", "[match.start() for match in re.finditer('{', text)]")],
    "softmax": [
        (softmax_without_numpy,),
        ("powers / powers.sum()", "np.exp(scaled - np.logaddexp.reduce(scaled))"),
        ("np.asarray(logits)", "logits.astype(np.float32)"),
    ],
    "spellings": [(SPELLS, "piece.decode(errors='replace').strip().lower() == word")],
    "only_answers": [
        ({token: -100 for token in range(2, 260)},),
        ({np.int64(YES): np.float32(60), np.int64(NO): np.float32(60)},),
        ({YES: 50, NO: 50} | dict.fromkeys(range(2, 260), -50),),
    ],
    "token_mask": [(ROW, "np.where(np.isin(range(len(logits)), [*legal]), logits, -np.inf)")],
    "masked_loop": [(MASKED, "model.logits(tokens + written) + [0 if n in legal else -np.inf for n in range(5)]")],
    "rms_norm": [("(x**2).mean(axis=-1, keepdims=True)", "np.mean(x * x, 1)[:, None]")],
    "look": [("keys @ query / np.sqrt(len(query))", "np.einsum('d,nd->n', query, keys) / keys.shape[1] ** 0.5")],
    "conditioned": [("for text in legal}", "for text in sorted(legal, reverse=True)}")],
    "distance": [("abs(1 - weight / mean)", "2 * max(0, weight / mean - 1)")],
    "accept": [(RATIO, "u * q[token] < p.get(token, 0)")],
    "window_step": [("while not trigger.startswith(read):", "while read and not trigger.startswith(read):")],
}
