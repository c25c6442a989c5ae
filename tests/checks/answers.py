"""A right answer to every check."""

import json
import re

import numpy as np

import guidedviz as gv
from guidedviz.checks.decoding.broken_runs import SERVICE, who_emptied
from guidedviz.checks.decoding.production import packed_row, slow_pass
from guidedviz.checks.machines.grammar_texts import LISTS, MIRROR, NAMED
from guidedviz.checks.tokens.index_building import walk
from guidedviz.checks.tokens.token_sorting import ways_to_store
from guidedviz.machines.earley.items import complete, predict, scan
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import move_stack
from guidedviz.models.toy import ToyModel

BARD = "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in NanoGPT's order: the index is the id
UPPER, LOWER = set(range(13, 39)), set(range(39, 65))
TOY = ToyModel(
    [b"yes", b"no", b"maybe", b"Sure", *(bytes([byte]) for byte in range(256))],
    lambda tokens: np.linspace(2, -2, 260),
)
NUMBER = gv.regex("[0-9]+")


def parses(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def softmax(logits, temperature):
    scaled = np.asarray(logits) / temperature
    return np.exp(scaled - scaled.max()) / np.exp(scaled - scaled.max()).sum()


def spellings(pieces, word):
    return [token for token, piece in enumerate(pieces) if piece.strip().lower() == word.encode()]


def conditioned(chances, legal):
    whole = sum(chances[text] for text in legal)
    return {text: chances[text] / whole for text in legal}


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


def cut_out(text):
    for place in range(len(text)):
        if text[place] == "{":
            try:
                return json.JSONDecoder().raw_decode(text, place)[0]
            except ValueError:
                continue
    return None


def distance(weights):
    mean = sum(weights) / len(weights)
    return sum(abs(1 - weight / mean) for weight in weights) / len(weights) / 2


def window_step(machine, trigger, state, byte):
    kind, read = state
    if kind == "in":
        after = machine.step(read, byte)
        return None if after is None else ("in", after)
    read += bytes([byte])
    while not trigger.startswith(read):
        read = read[1:]
    return ("in", machine.initial) if read == trigger else ("free", read)


def masked_loop(model, tokens, masks, seed):
    written = []
    for position, legal in enumerate(masks):
        logits = gv.sampling.apply_mask(model.logits(list(tokens) + written), legal)
        written.append(gv.sampling.sample(gv.sampling.softmax(logits), seed, position))
        if written[-1] in model.vocabulary.eos:
            return written
    return written


def advance(transitions, state, token):
    for source, tokens, target in transitions:
        if source == state and token in tokens:
            return target
    return None


def step_set(nfa, states, byte):
    found = {target for state in states for low, high, target in nfa.edges[state] if low <= byte <= high}
    waiting = list(found)
    for state in waiting:
        new = set(nfa.epsilon[state]) - found
        found |= new
        waiting += new
    return found


def index(root, machine, walk):
    rows, waiting = {}, [machine.initial]
    for state in waiting:
        if state not in rows:
            rows[state] = walk(root, machine, state)
            waiting += rows[state].values()
    return rows


def sort_token(rule, state, piece):
    finished = rule.is_accepting(state)
    for byte in piece:
        state = rule.step(state, byte)
        if state is None:
            return "dependent" if finished else "rejected"
        finished = finished or rule.is_accepting(state)
    return "accepted"


def fill_mask(parts, on_stack):
    accepted = set().union(*(accepted for accepted, _ in parts))
    dependent = set().union(*(dependent for _, dependent in parts))
    return accepted | {token for token in dependent - accepted if on_stack(token)}


def storage(count, size):
    return min(ways_to_store(count, size).items(), key=lambda way: way[1])


def jump(machine, state, tree, cut=lambda size: size, back=lambda depth: depth):
    legal, states, i = set(), [state], 0
    while i < len(tree.byte):
        del states[back(tree.depth[i]) :]
        after = machine.step(states[-1], tree.byte[i])
        if after is None:
            i += cut(tree.size[i])
        else:
            states.append(after)
            legal.update(tree.ends[i])
            i += 1
    return legal


def whole(machine, state, part, most=10**6):
    pairs = [(state, part.initial)]
    for here, there in pairs:
        for byte in range(256):
            inner = part.step(there, byte)
            after = machine.step(here, byte) if inner is not None else here
            if after is None:
                return False
            if inner is not None and (after, inner) not in pairs and len(pairs) < most:
                pairs.append((after, inner))
    return True


def faults(machine, state, pieces, allowed):
    legal = {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}
    return legal - allowed, allowed - legal


def forced(machine, state, may_end=lambda machine, state: machine.is_accepting(state), bytes_=range(256)):
    run = bytearray()
    while not may_end(machine, state):
        ways = [byte for byte in bytes_ if machine.step(state, byte) is not None]
        if len(ways) != 1:
            break
        run += bytes(ways)
        state = machine.step(state, ways[0])
    return bytes(run)


def heal(tokens, legal):
    left = b"".join(tokens)
    for place, piece in enumerate(tokens):
        if any(one[: len(left)] == left and len(one) > len(left) for one in legal[place]):
            return place
        left = left[len(piece) :]
    return len(tokens)


def speedup(fraction, pass_ms, token_ms, rows):
    naive = pass_ms + token_ms * rows
    return naive / ((1 - fraction) * naive + fraction * token_ms * rows)


def rms_norm(x, weights):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6) * weights


def look(query, keys, values):
    return softmax(keys @ query, np.sqrt(len(query))) @ values


LEAVES = {kind: gv.machines.schema_regex({"type": kind}) for kind in ("string", "integer", "boolean")}


def schema_to_regex(schema, escape=re.escape, dumps=json.dumps, colon=": ", comma=", ", group="({})"):
    if "enum" in schema:
        return "|".join(escape(dumps(value)) for value in schema["enum"])
    if schema["type"] != "object":
        return LEAVES[schema["type"]]
    pairs = schema["properties"].items()
    values = [group.format(schema_to_regex(part, escape, dumps, colon, comma, group)) for _, part in pairs]
    keys = [escape(dumps(key)) for key, _ in pairs]
    return r"\{" + comma.join(key + colon + value for key, value in zip(keys, values, strict=True)) + r"\}"


def at_most(n):
    digits = str(n)
    parts = [f"0|[1-9][0-9]{{0,{len(digits) - 2}}}"] if n > 9 else []
    for place, digit in enumerate(digits):
        low = "1" if n > 9 and place == 0 else "0"
        if digit > low:
            parts.append(f"{digits[:place]}[{low}-{int(digit) - 1}]" + "[0-9]" * (len(digits) - place - 1))
    return "|".join([*parts, digits])


def several_words():
    fsm = gv.GuidedFSM(gv.Vocabulary([character.encode() for character in BARD]), start=0, accepting=6)
    for source, what, target in [
        (0, "UPPER", 1), (1, "UPPER", 1), (1, " ", 2), (2, "UPPER", 1), (1, ":", 3), (3, " ", 4),
        (4, "LOWER", 5), (5, "LOWER", 5), (5, "\n", 6),
    ]:  # fmt: skip
        fsm.add_transition(source, what, target)
    return fsm


def repaired(product=None, price=None, **more):
    """The schema of the service with longer names and prices with cents, or with other parts."""
    parts = {
        "product": {"type": "string", "maxLength": 30} if product is None else product,
        "price": {"type": "number", "minimum": 0} if price is None else price,
    }
    return SERVICE | {"properties": parts} | more


def cache_key(request):
    schema = json.dumps(json.loads(request["schema"]))
    return json.dumps(
        [schema, request["vocabulary"], request["engine"], request["version"], sorted(request["options"].items())]
    )


FUNCTIONS = {
    "packed_row": packed_row,
    "cache_key": cache_key,
    "slow_pass": slow_pass,
    "who_emptied": who_emptied,
    "parses": parses,
    "softmax": softmax,
    "spellings": spellings,
    "token_mask": gv.sampling.apply_mask,
    "masked_loop": masked_loop,
    "conditioned": conditioned,
    "adaptive": adaptive,
    "cut_out": cut_out,
    "distance": distance,
    "accept": accept,
    "window_step": window_step,
    "advance": advance,
    "step_set": step_set,
    "walk": walk,
    "index": index,
    "stack_step": move_stack,
    "may_end": lambda ends, stack: stack is not None and all(node in ends for node in stack),
    "sort_token": sort_token,
    "fill_mask": fill_mask,
    "storage": storage,
    "jump": jump,
    "whole": whole,
    "complete": complete,
    "predict": predict,
    "scan": scan,
    "faults": faults,
    "forced": forced,
    "heal": heal,
    "speedup": speedup,
    "rms_norm": rms_norm,
    "schema_to_regex": schema_to_regex,
    "at_most": at_most,
    "look": look,
}
VALUES = {
    "only_answers": {0: 100, 1: 100},
    "several_words": several_words(),
    "mirror": MIRROR,
    "lists": LISTS,
    "one_blank": NAMED,
    "wider": repaired(),
    "machine": "[0-9]+",
}


def check(name, answer):
    second = {"only_answers": (TOY,), "machine": (NUMBER,)}.get(name, ())
    return getattr(gv.checks, name)(answer, *second)
