"""Answers to the exercises on decoding, tokens and servers: wrong ones, and unusual right ones."""

import json
import math
import re
from zlib import crc32

import numpy as np

import guidedviz as gv
from guidedviz.checks.free_text import cut_object


def cut_out_by_recursion(text, start=0):
    if (place := text.find("{", start)) < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, place)[0]
    except ValueError:
        return cut_out_by_recursion(text, place + 1)


def largest_object(text):
    found = {}
    for place in range(len(text)):
        try:
            one, end = json.JSONDecoder().raw_decode(text, place)
        except ValueError:
            continue
        if isinstance(one, dict):
            found.setdefault(end - place, one)
    return found[max(found)] if found else None


def softmax_without_numpy(logits, temperature):
    top = max(logits)
    powers = [math.exp((logit - top) / temperature) for logit in logits]
    return [power / sum(powers) for power in powers]


def last_one(rules):
    """The rule after which nothing is left, in the order of the rules."""
    left = None
    for name, ids in rules.items():
        left = ids if left is None else left & ids
        if not left:
            return {name}
    return set()


def smallest_first(rules):
    """The rules that shrink what is left, beginning with the one that allows the fewest tokens."""
    left = None
    group = set()
    for name in sorted(rules, key=lambda name: len(rules[name])):
        if left is None or left - rules[name]:
            left = rules[name] if left is None else left & rules[name]
            group = group | {name}
        if not left:
            return group
    return set()


def smaller_while_it_can(rules):
    """A group from which no rule can be left out; it need not be the smallest."""
    group = {*rules} if not set.intersection(*rules.values()) else set()
    for name in rules:
        others = [rules[one] for one in group - {name}]
        if others and not set.intersection(*others):
            group -= {name}
    return group


def step_set_without_memory(nfa, states, byte):
    """It follows the epsilon edges of a state again and again."""

    def close(state):
        return {state}.union(*map(close, nfa.epsilon[state]))

    edges = [edge for state in states for edge in nfa.edges[state]]
    return set().union(*(close(target) for low, high, target in edges if low <= byte <= high))


def step_set_one_level(nfa, states, byte):
    """It does not follow the epsilon edges of the states that epsilon edges add."""
    edges = [edge for state in states for edge in nfa.edges[state]]
    found = {target for low, high, target in edges if low <= byte <= high}
    return found.union(*(nfa.epsilon[state] for state in found))


def key_of(request):
    parts = [json.loads(request["schema"]), sorted(request["options"].items())]
    return json.dumps([*parts, request["vocabulary"], request["engine"], request["version"]])


def by_packbits(ids, size):
    mask = np.zeros(-(-size // 32) * 32, bool)
    mask[list(ids)] = True
    return np.packbits(mask, bitorder="little").view(np.int32)


def mask_by_recursion(parts, on_stack, known=frozenset(), asked=frozenset()):
    known = known.union(*(accepted for accepted, _ in parts))
    if not parts:
        return known
    new = parts[0][1] - known - asked
    below = mask_by_recursion(parts[1:], on_stack, known, asked | new)
    return {*filter(on_stack, new)} | below


SPELLS = "piece.strip().lower() == word.encode()"
MASKED = "gv.sampling.apply_mask(model.logits([*tokens, *new]), legal)"
MEAN = "(x**2).mean(axis=-1, keepdims=True)"
SHARES = "{text: chances[text] / whole for text in legal}"
ESTIMATE = "left * (share + (1 - share) * more)"
RATIO = "u < min(1, p.get(token, 0) / q[token])"
AFTER = '("in", machine.initial) if read == trigger else ("free", read)'


def bounds_of_listed_tokens(top, legal):
    """Where all legal tokens are listed, Z is known."""
    powers = {token: math.exp(logit) for token, logit in top.items()}
    z = sum(powers[token] for token in top.keys() & legal)
    illegal = sum(powers[token] for token in top.keys() - legal)
    return (z, 1 - illegal) if legal - top.keys() else (z, z)


WEIGHED = "weights / weights.sum() @ values"
PARSED, OPTIONS = 'json.loads(request["schema"])', 'sorted(request["options"].items())'
WORST, SLOWEST = "max(slowest[part], key=slowest[part].get)", 'key=lambda one: one["forward"]'
LONGER = "piece.startswith(left) and len(piece) > len(left)"
QUOTIENT = "(pass_ms + token_ms) / ((1 - fraction) * pass_ms + token_ms)"
KIND = "return kind, kinds[kind]"
SORTED = 'return "accepted"'
WRONG = {
    "parses": [
        ("json.loads(text)", "json.loads(text.strip('`'))", "pass"),
        lambda text: text[:1] + text[-1:] == "{}",
        lambda text: bool(re.search(r"\{.*\}|\[.*\]|^\d+$", text)),
        ("return True", "return json.loads(text)", "return text == text.strip()"),
        ("    return True", ""),
        ("ValueError", "KeyError"),
    ],
    "cut_out": [
        largest_object,
        cut_object,
        lambda text: None if text[:1] == "[" else cut_out_by_recursion(text),
        lambda text: json.loads(text),
        lambda text: json.loads(re.search(r"\{[^{}]*\}|$", text)[0] or "null"),
        ("range(len(text))", "range(min(1, len(text)))", "reversed(range(len(text)))"),
        ('text[place] == "{"', "True"),
        ("raw_decode(text, place)[0]", "decode(text[place : text.index('}', place) + 1])"),
        ("return None", "return {}"),
        ("return json.JSONDecoder().raw_decode(text, place)[0]", "return text[place:]"),
    ],
    "softmax": [
        lambda logits, temperature: gv.sampling.softmax(logits, temperature),
        gv.sampling.softmax,
        (" / temperature", ""),
        ("np.exp(scaled - scaled.max())", "scaled"),
        (" / powers.sum()", ""),
        (" - scaled.max()", ""),
        ("scaled - scaled.max()", "np.clip(scaled, -700, 700)"),
        ("scaled.max()", "scaled.mean()"),
        ("np.exp(", "np.exp2("),
        ("powers / powers.sum()", "int(powers.argmax())"),
    ],
    "spellings": [
        (SPELLS, "piece.lower() in (word.encode(), b' ' + word.encode(), word.encode() + b'\\n')"),
        (SPELLS, "piece.strip() in (word.encode(), word.upper().encode(), word.title().encode())"),
        (SPELLS, "piece.replace(b' ', b'').strip().lower() == word.encode()"),
        (SPELLS, "sorted(piece.strip().lower()) == sorted(word.encode())"),
        (SPELLS, "re.fullmatch(rb'\\s*' + word.encode() + rb'\\s*', piece.lower())", "word.encode() in piece.lower()"),
        (SPELLS, "piece.decode().strip().lower() == word", "piece.decode(errors='ignore').strip().lower() == word"),
        ("token for token", "pieces.index(piece) for token"),
        ("word.encode()", "word", "b'yes'"),
        (".lower()", ""),
        ("strip()", "lstrip()"),
        lambda pieces, word: [piece == word.encode() for piece in pieces],
        ("[token for", "[piece for"),
    ],
    "token_mask": [
        ("= logits[ids]", "= logits[ids].astype(int)"),
        ("return masked", "return [x if list(logits).index(x) in legal else -np.inf for x in logits]"),
        ("return masked", "return logits[ids]", "return None if len(legal) < len(logits) else masked"),
        ("-np.inf", "-100"),
        ("masked[ids] = logits[ids]", "masked[ids] = [logit or -np.inf for logit in logits[ids]]", "masked[ids] = 0"),
        ('raise ValueError("no legal token")', "pass"),
        ("ValueError", "KeyError"),
    ],
    "masked_loop": [
        ("[*tokens, *new]", "[*new, *tokens]", "[*tokens[-1:], *new]", "tokens"),
        ("in model.vocabulary.eos", "== 4", "== model.vocabulary.eos"),
        ("new[-1] in model.vocabulary.eos", "legal <= model.vocabulary.eos"),
        ("gv.sampling.softmax(logits)", "gv.sampling.softmax(model.logits([*tokens, *new])) * np.isfinite(logits)"),
        (MASKED, "model.logits([*tokens, *new])"),
        (MASKED, "model.logits([*tokens, *new]) - [100 * (n not in legal) for n in range(5)]"),
        ("gv.sampling.sample(gv.sampling.softmax(logits), seed, position)", "int(np.argmax(logits))"),
        ("enumerate(masks)", "enumerate([masks[0]] * len(masks))"),
        ("seed, position", "seed, 0"),
        ("return new", "return [*tokens, *new]", "return set(new)"),
    ],
    "rms_norm": [
        (".mean(axis=-1, keepdims=True)", ".sum(axis=-1, keepdims=True) / 2"),
        ("axis=-1, keepdims=True", ""),
        ("axis=-1", "axis=0"),
        (", keepdims=True", ""),
        (" + 1e-6", ""),
        ("1e-6", "1e-5"),
        (f"np.sqrt({MEAN} + 1e-6)", f"(np.sqrt({MEAN}) + 1e-6)"),
        (" * weights", ""),
    ],
    "look": [
        ("len(query)", "2", "len(keys)"),
        (WEIGHED, "values.mean(axis=0)", "values[matches.argmax()]", "(weights / weights.sum())[:, None] * values"),
        ("np.sqrt(len(query))", "len(query)"),
        (" - matches.max()", ""),
        (" @ values", ""),
    ],
    "conditioned": [
        (" / whole", ""),
        ("chances[text] / whole", "1 / len(legal)", "round(chances[text] / whole, 2)"),
        ("for text in legal}", "for text in chances}", "for text in legal if chances[text] > 1e-9}"),
        (SHARES, "[chances[text] / whole for text in legal]"),
    ],
    "distance": [
        ("sum(weights) / len(weights)", "1"),
        (" / 2", ""),
        ("in weights) / len(weights) / 2", "in weights) / 2"),
        ("abs(1 - weight / mean)", "(1 - weight / mean)"),
        ("weight / mean", "round(weight, 3) / mean"),
        ("return sum", "return -sum"),
        lambda weights: [abs(1 - weight) for weight in weights],
    ],
    "adaptive": [
        ("left -= chances[token]", "left *= 1 - chances[token]"),
        ("place + 1 < len(order) and order[place + 1]", "order[(place + 1) % len(order)]"),
        ("token in legal", "True"),
        lambda order, p, legal: (max(legal, key=p.get), 1.0) if legal else None,
        ("place + 1 < len(order) and order[place + 1] in legal", "0"),
        (ESTIMATE, "sum(chances[one] for one in legal)"),
        (f"token, {ESTIMATE}", "token"),
        ("return None", "return 0"),
    ],
    "accept": [
        (RATIO, "token in p", "u < q[token]", "p.get(token, 0) >= q[token]"),
        ("u <", "u <="),
        ("for t in p if p[t] > q.get(t, 0)}", "for t in p}"),
        ("q.get(t, 0)", "q[t]"),
        ("more = {", "more = p or {"),
        ("return None", "return True"),
    ],
    "window_step": [
        ("read == trigger", "read[-1:] == trigger[-1:]"),
        ("bytes([byte])", "chr(byte).encode()"),
        ("not trigger.startswith(read)", "read not in trigger"),
        ("if after is None", "if not after"),
        ("machine.step(read, byte)", "machine.step(machine.initial, byte)"),
        ("while not trigger.startswith(read)", "while False"),
        ("read = read[1:]", "read = read[-1:] if len(read) > 1 else b''"),
        ("return None if after is None", "return ('free', b'') if after is None"),
        ("machine.initial)", "machine.step(machine.initial, byte))"),
        ('kind == "in"', 'kind == "in" and bytes([byte]) != trigger[-1:]'),
        (AFTER, "read"),
    ],
    "who_emptied": [
        smallest_first,
        set,
        lambda rules: set(),
        last_one,
        smaller_while_it_can,
        lambda rules: smaller_while_it_can(dict(reversed(rules.items()))),
        lambda rules: smaller_while_it_can(dict(sorted(rules.items(), reverse=True))),
        lambda rules: smaller_while_it_can(dict(sorted(rules.items(), key=lambda rule: -len(rule[1])))),
        ("range(1, len(rules) + 1)", "range(len(rules), 0, -1)"),
        ("combinations(rules, size)", "zip(*([*rules][i:] for i in range(size)))"),
        ("set.intersection(", "set().union("),
        ("not set.intersection(", "{0} >= set.intersection("),
        lambda rules: set.intersection(*rules.values()),
    ],
    "packed_row": [
        ("-(-size // 32)", "-(-(max(ids, default=size - 1) + 1) // 32)", "max(1, size // 32)"),
        lambda ids, size: list(ids),
        ("1 << token % 32", "1 << 31 - token % 32"),
        ("|=", "+="),
        ("words.view(np.int32)", "words", "words.view(np.int32).astype(np.float32)"),
        ("words[token // 32]", "words[0]"),
        ("np.uint32", "np.int32"),
    ],
    "cache_key": [
        lambda request: json.dumps([*json.loads(key_of(request))[:2], *sorted(json.loads(key_of(request))[2:])]),
        lambda request: str(crc32(key_of(request).encode()) % 65536),
        ('request["version"]', 'request["version"].split(".")[:2]'),
        lambda request: json.dumps(request, sort_keys=True),
        (', request["engine"]', ""),
        (', request["version"]', ""),
        (", options,", ","),
        (OPTIONS, 'str(request["options"])', 'list(dict(sorted(request["options"].items())).values())'),
        ("return json.dumps([schema, options, ", "return str(schema) + str(options) + ''.join(["),
        lambda request: str(hash(key_of(request))),
        (PARSED, 'request["schema"]', '"".join(request["schema"].split())'),
        ('request["version"]])', 'request["version"]], sort_keys=True)'),
        ("return ", "return str(id(request)) or "),
    ],
    "slow_pass": [
        ('+ delays(one)["masks"]', '+ sum(one["masks"].values())'),
        ('sum(one["masks"].values())', 'max(one["masks"].values(), default=0)'),
        (' + delays(one)["masks"]', ""),
        (' + delays(one)["compile"]', ' + max(one["compile"].values(), default=0)'),
        ('"prompt": sum(one["prompt"].values())', '"prompt": one["forward"] * bool(one["prompt"])'),
        (f"max(passes, {SLOWEST}", f"max(passes[:1], {SLOWEST}"),
        ("max(delays(slowest), key=delays(slowest).get)", '"masks"'),
        ('max(0.0, sum(one["masks"].values()) - one["forward"])', 'sum(one["masks"].values())'),
        (SLOWEST, f'{SLOWEST} - delays(one)["prompt"]', f'{SLOWEST} + delays(one)["prompt"]'),
        (WORST, "max(slowest[part])"),
        (f"part, {WORST}", "part"),
        ('- one["forward"])', '- one["forward"] - sum(one["prompt"].values()))'),
    ],
    "z_bounds": [
        ("np.exp(top[one])", "top[one]"),
        ("if one in legal", "if one not in legal"),
        ("1 - illegal", "1 - low", "1.0"),
        ("return low", "return low / (low + illegal or 1)"),
        lambda top, legal: (
            sum(math.exp(top[one]) for one in top if one in legal),
            1 - max((math.exp(top[one]) for one in top if one not in legal), default=0),
        ),
        lambda top, legal: (max((math.exp(top[one]) for one in top if one in legal), default=0), 1),
    ],
    "sort_token": [
        ("for byte in piece", "for byte in piece or b'?'"),
        ("if state is None", "if not state"),
        (SORTED, 'return "dependent"', f'{SORTED} if rule.is_accepting(state) else "dependent"'),
        ('"rejected"', '"accepted"'),
        ('"dependent"', '"rejected"'),
        ("finished or rule", "rule"),
        ("finished = False", "finished = rule.is_accepting(state)"),
        ("finished = finished or rule.is_accepting(state)", "pass"),
        ("rule.step(state, byte)", "rule.step(rule.initial, byte)"),
        ('"accepted"', '"ACCEPTED"'),
    ],
    "fill_mask": [
        ("if on_stack(token)", "if on_stack(token) and on_stack(token)"),
        lambda parts, on_stack: {t for yes, maybe in parts for t in {*yes, *filter(on_stack, maybe - parts[0][0])}},
        ("if on_stack(token)", "if token and on_stack(token)"),
        lambda parts, on_stack: set(),
        ("return accepted |", "return accepted or"),
        (" if on_stack(token)", ""),
        ("dependent - accepted", "dependent"),
        ("in parts", "in parts[:1]"),
        ("dependent |= maybe", "dependent = maybe"),
        ("on_stack(token)", "on_stack({token})"),
        lambda parts, on_stack: [token in parts[0][0] for token in range(9)],
        ("return ", "return {9} | "),
    ],
    "storage": [
        (KIND, 'return "accepted", 4 * count', 'return "rejected", 4 * (size - count)', "return kind"),
        ("(size + 7) // 8", "1e9", "size // 8", "size / 8"),
        ("4 * ", ""),
    ],
    "heal": [
        ("tokens[place:]", "tokens[place : place + 2]"),
        (LONGER, "True", "False", "len(piece) > len(left)"),
        ("return len(tokens)", "return len(tokens) - 1"),
        ("piece.startswith(left)", "left.startswith(piece)", "left in piece"),
        ("return place", "return bool(place)"),
        ('b"".join(tokens[place:])', 'b"".join(tokens[place:]).decode().encode()'),
        ("        left = b", "        while len(legal[place]) > 1:\n            pass\n        left = b"),
    ],
    "speedup": [
        (QUOTIENT, "1 / (1 - fraction)", f"1 / ({QUOTIENT})", f"round({QUOTIENT}, 2)", f"f'{{{QUOTIENT}}} times'"),
        ("(pass_ms + token_ms) /", "pass_ms /"),
        ("* pass_ms + token_ms", "* (pass_ms + token_ms)"),
    ],
    "faults": [
        (" is not None", ""),
        lambda *given: (set(), set()),
        ("legal - allowed, allowed - legal", "allowed - legal, legal - allowed", "legal ^ allowed"),
        (", allowed - legal", ", set()"),
        ("piece, state", "piece, machine.initial", "piece[-1:], state"),
        ("is not None", "in machine.accepting"),
        ("legal - allowed, ", "[one in legal for one in range(6)], "),
        ("legal - allowed,", "legal - allowed or None,"),
    ],
}
UNUSUAL = {
    "parses": [("ValueError", "Exception"), ("return True", "return 1"), ("return False", "return 0")],
    "cut_out": [("range(len(text))", "[match.start() for match in re.finditer('{', text)]"), cut_out_by_recursion],
    "softmax": [
        softmax_without_numpy,
        ("powers / powers.sum()", "np.exp(scaled - np.logaddexp.reduce(scaled))"),
        ("np.asarray(logits)", "logits.astype(np.float32)"),
    ],
    "spellings": [(SPELLS, "piece.decode(errors='replace').strip().lower() == word")],
    "token_mask": [("return masked", "return np.where(np.isin(range(len(logits)), ids), logits, -np.inf).tolist()")],
    "masked_loop": [(MASKED, "model.logits([*tokens, *new]) + [0 if n in legal else -np.inf for n in range(5)]")],
    "rms_norm": [(MEAN, "np.mean(x * x, 1)[:, None]")],
    "look": [("keys @ query / np.sqrt(len(query))", "np.einsum('d,nd->n', query, keys) / keys.shape[1] ** 0.5")],
    "conditioned": [("for text in legal}", "for text in sorted(legal, reverse=True)}")],
    "distance": [("abs(1 - weight / mean)", "2 * max(0, weight / mean - 1)")],
    "accept": [(RATIO, "u * q[token] < p.get(token, 0)")],
    "window_step": [("while not trigger.startswith(read):", "while read and not trigger.startswith(read):")],
    "who_emptied": [("return set(group)", "return frozenset(group)")],
    "packed_row": [by_packbits],
    "cache_key": [('"]])', '"]]).encode()')],
    "z_bounds": [
        bounds_of_listed_tokens,
        lambda top, legal: [
            sum(math.exp(top[t]) for t in {*top} & legal),
            1 - math.fsum(math.exp(top[t]) for t in {*top} - legal),
        ],
    ],
    "slow_pass": [(f"max(passes, {SLOWEST}", f"max(reversed(passes), {SLOWEST}")],
    "fill_mask": [mask_by_recursion],
    "storage": [("(size + 7) // 8", "size // 8 + (size % 8 > 0)")],
    "heal": [("len(piece) > len(left)", "piece != left")],
    "speedup": [(QUOTIENT, "1 / (1 - fraction * pass_ms / (pass_ms + token_ms))")],
    "schema_to_regex": [("({schema_to_regex(value)})", "(?:{schema_to_regex(value)})")],
    "at_most": [lambda n: gv.machines.schema_regex({"type": "integer", "minimum": 0, "maximum": n})],
}
