"""Answers to the exercises on automata, walks, stacks and Earley's parser: wrong ones, and unusual right ones."""

import json
from collections import deque

import guidedviz as gv
from guidedviz.checks.automata import compile_pattern
from guidedviz.machines.earley.items import Item
from guidedviz.machines.machine import next_bytes


def row_per_state(transitions, state, token):
    """Keeps one transition per state."""
    rows = {source: (tokens, target) for source, tokens, target in transitions}
    tokens, target = rows.get(state, ((), None))
    return target if token in tokens else None


def two_steps(transitions, state, token):
    """Goes on from the target with the same token."""
    found = None
    for source, tokens, target in transitions:
        if source == state and token in tokens:
            found = state = target
    return found


def closed_by_descent(nfa, states, byte, known=False):
    found = set()

    def add(state):
        if not known or state not in found:
            found.add(state)
            for target in nfa.epsilon[state]:
                add(target)

    for state in states:
        for low, high, target in nfa.edges[state]:
            if low <= byte <= high:
                add(target)
    return found


def two_epsilon_edges(nfa, states, byte):
    """Follows epsilon edges twice, not until no state is new."""
    found = {target for state in states for low, high, target in nfa.edges[state] if low <= byte <= high}
    for _ in range(2):
        found |= {target for state in found for target in nfa.epsilon[state]}
    return found


def walk_below_the_node(node, machine, state):
    """Forgets the tokens that end at the node: right for the root only."""
    found = {}
    for byte, child in node.children.items():
        after = machine.step(state, byte)
        if after is not None:
            found |= dict.fromkeys(child.tokens, after) | walk_below_the_node(child, machine, after)
    return found


def walk_from_the_root(node, machine, state):
    """Reads each piece again from its first byte."""
    found = {}
    waiting = [(b"", node)]
    for piece, one in waiting:
        for byte, child in one.children.items():
            here = state
            for each in [*piece, byte]:
                here = here if here is None else machine.step(here, each)
            if here is not None:
                waiting.append((piece + bytes([byte]), child))
                found |= dict.fromkeys(child.tokens, here)
    return found


def walk_with_a_stack(node, machine, state):
    found = {}
    waiting = deque([(node, state)])
    while waiting:
        one, here = waiting.pop()
        found.update((token, here) for token in one.tokens)
        for byte, child in one.children.items():
            after = machine.step(here, byte)
            if after is not None:
                waiting.append((child, after))
    return found


def index_by_recursion(root, machine, walk, state=0, rows=None):
    rows = {} if rows is None else rows
    if state not in rows:
        rows[state] = walk(root, machine, state)
        for after in rows[state].values():
            index_by_recursion(root, machine, walk, after, rows)
    return rows


def walk_without_jumps(machine, state, tree):
    legal = set()
    states = {0: state}
    for i in range(len(tree.byte)):
        above = states.get(tree.depth[i] - 1)
        after = None if above is None else machine.step(above, tree.byte[i])
        states[tree.depth[i]] = after
        if after is not None:
            legal |= set(tree.ends[i])
    return legal


def jump_by_recursion(machine, state, tree, start=0, end=None):
    end = len(tree.byte) if end is None else end
    legal = set()
    while start < end:
        after = machine.step(state, tree.byte[start])
        if after is not None:
            below = jump_by_recursion(machine, after, tree, start + 1, start + tree.size[start])
            legal |= {*tree.ends[start], *below}
        start += tree.size[start]
    return legal


def whole_by_recursion(machine, state, part, there=0, seen=None):
    seen = set() if seen is None else seen
    if (state, there) in seen:
        return True
    seen.add((state, there))
    ways = ((machine.step(state, byte), part.step(there, byte)) for byte in next_bytes(part, there))
    return all(after is not None and whole_by_recursion(machine, after, part, inner, seen) for after, inner in ways)


def step_by_recursion(moves, ends, stack, byte):
    if not stack:
        return None
    *below, node = stack
    kind, *nodes = moves.get((node, byte), ("end",))
    if kind == "end" and node not in ends:
        return None
    if kind == "read":
        return [*below, *nodes]
    return step_by_recursion(moves, ends, [*below, *nodes[::-1]], byte)


def predict_by_name(rules, column, place):
    names = [item.wanted for item in column]
    met = set()
    for name in names:
        if name in rules and name not in met:
            met.add(name)
            names += [symbols[0] for symbols in rules[name] if symbols]
    new = {Item(name, symbols, 0, place) for name in met for symbols in rules[name]}
    return {*column, *new}


def loop_without_a_state(parts, sets):
    """`*` as a loop on the state before it, as it is often done."""
    transitions = []
    state = 0
    for name, quantifier in parts:
        if quantifier in "1+?":
            transitions.append((state, sets[name], state + 1))
            state += 1
        if quantifier in "+*":
            transitions.append((state, sets[name], state))
    return transitions, {state}


def keep_disjoint(parts, sets):
    """One next state per token, the first."""
    transitions, ends = compile_pattern(parts, sets)
    seen = set()
    kept = []
    for source, tokens, target in transitions:
        unseen = {token for token in tokens if (source, token) not in seen}
        kept.append((source, unseen, target))
        seen |= {(source, token) for token in tokens}
    return kept, ends


def states_with_names(parts, sets):
    """Each state but the start as a text."""
    transitions, ends = compile_pattern(parts, sets)
    name = lambda state: f"after part {state}" if state else 0  # noqa: E731
    named = [(name(source), tokens, name(target)) for source, tokens, target in transitions]
    return named, {*map(name, ends)}


ROW = "dict.fromkeys(node.tokens, state)"
MOVE = "moves.get((node, byte))"
ALL = "all(node in ends for node in stack)"
JUMP = "i += tree.size[i]"
JOIN = 'r"\\{" + ", ".join(members) + r"\\}"'
WRONG = {
    "advance": [
        ("token in tokens", "min(tokens) <= token <= max(tokens)", "tokens == {token}"),
        row_per_state,
        two_steps,
        (" and token in tokens", ""),
        ("source == state and ", ""),
        ("return target", "return target or None", "return target\n        return None"),
        ("return target", "return source, tokens, target"),
        ("return None", "return state"),
        lambda transitions, token: None,
    ],
    "compile_pattern": [
        ("for source in ready]", "for source in [state - 1]]"),
        ("(ready if quantifier in", "({state - 1} if quantifier in"),
        ('"+*":', '"+":', '"*":'),
        ('"?*" else set()', '"*" else set()', '"?" else set()'),
        ("{state} | (ready", "ready | (ready"),
        ("transitions.append((state, sets[name], state))", "transitions += [(s, sets[name], s) for s in ready]"),
        ("return transitions, ready", "return transitions, {len(parts)}", "return transitions"),
        ("return transitions, ready", "return ready, transitions"),
        ("sets[name], state) for", "name, state) for"),
        ('if quantifier in "+*":', "while True:"),
        loop_without_a_state,
        keep_disjoint,
        lambda parts, sets: ([(0, sets["UPPER"], 1), (1, sets["UPPER"], 1)], {1}),
        lambda parts, sets: gv.pattern(parts),
    ],
    "schema_to_regex": [
        (".items()", ".items() and list(schema['properties'].items())[:2]"),
        lambda schema: gv.machines.schema_regex({"type": "integer"}),
        ("({schema_to_regex(value)})", "{schema_to_regex(value)}"),
        ("re.escape(", "("),
        (": (", ":("),
        ('", ".join', '",".join'),
        ("re.escape(json.dumps(key))", "f'\"{re.escape(key)}\"'"),
        (JOIN, f'{JOIN} + "("'),
        ("json.dumps(value)", "str(value)", "f'\"{value}\"'"),
        (f"return {JOIN}", f"return None and {JOIN}"),
        ('schema["properties"].items()', "[(key, schema['properties'][key]) for key in schema['required']]"),
        ('schema["properties"].items()', "sorted(schema['properties'].items())"),
        (
            'schema["properties"].items()',
            "[one for one in schema['properties'].items() if one[0] in schema['required']]",
        ),
        ('if "enum" in schema', 'if schema.get("type") not in LEAVES and "enum" in schema'),
        lambda schema: gv.json_schema(schema),
        lambda schema: json.dumps(schema),
    ],
    "at_most": [
        lambda n: f"[0-{n}]",
        lambda n: "0|[1-9][0-9]*",
        lambda n: "|".join(map(str, range(n + 1))),
        lambda n: list(range(min(n, 50))),
        lambda n: "(" * 5000 + "0" + ")" * 5000,
        ("[*parts, digits]", "parts or ['1']", "[*parts[n > 9 :], digits]"),
        ("0|[1-9][0-9]", "[1-9][0-9]"),
    ],
    "step_set": [
        ("in waiting", "in []"),
        ("waiting.append(target)", "pass"),
        ("low <= byte <= high", "low == byte", "True"),
        ("byte <= high", "byte < high"),
        ("nfa.edges[state]", "nfa.edges[state][:1]"),
        ("in states", "in sorted(states)[:1]"),
        ("return found", "return states | found", "return found or None"),
        ("return found", "return [n in found for n in range(len(nfa))]"),
        ("target not in found", "True"),
        closed_by_descent,
        two_epsilon_edges,
        lambda nfa, states: set(),
    ],
    "subsets": [
        ("sets.append(after)", "pass"),
        ("after and ", ""),
        ("range(256)", "range(128)", "range(255)", "range(1, 256)"),
        ("for states in sets:", "for states in [start]:"),
        ("return sets", "return {*sets}", "return sets[::-1]", "return sets * 2", "return [*sets, start]"),
        ("return sets", "return sets[1:]", "return set().union(*sets)", "return [*range(len(sets))]"),
        ("step(states, byte)", "step(start, byte)"),
        lambda start, step: [start],
    ],
    "walk": [
        ("return found", "return dict.fromkeys(found, True)", "return {*found}", "return found or None"),
        ("return found", "return found | {99: 0}"),
        walk_from_the_root,
        walk_below_the_node,
        ("machine, after)", "machine, state)"),
        ("walk(child, machine, after)", "dict.fromkeys(child.tokens, after)"),
        ("if after is not None", "if after"),
        ("if after is not None:", "if after is None:\n            break\n        else:"),
        ("if after is not None:", "if after is None:\n            walk(child, machine, None)\n        else:"),
        (ROW, f"{ROW} if machine.is_accepting(state) else {{}}"),
        ("node.tokens", "node.tokens[:1]"),
        ("walk(child, machine, after)", "walk(child, machine, machine.step(state, byte))"),
    ],
    "index": [
        ("waiting.extend(index[state].values())", "pass"),
        ("[machine.initial]", "[*range(len(machine))]"),
        ("state not in index", "True"),
        ("machine, state)", "machine, 0)"),
        ("return index", "return {state: {*row} for state, row in index.items()}", "return [*index.values()]"),
        ("return index", "return {state: row for state, row in index.items() if state}", "return index | {None: {}}"),
        ("return index", "walk(root, machine, machine.initial)\n    return index"),
        lambda root, machine, walk: {0: walk},
    ],
    "jump": [
        walk_without_jumps,
        (JUMP, "i += 1", f"{JUMP} + 1", "i += 0"),
        ("tree.depth[i] :", "tree.depth[i] + 1 :", "tree.depth[i] - 1 :"),
        ("states[-1]", "state"),
        ("if after is None:", "if not after:"),
        ("tree.ends[i]", "tree.ends[i][:1]"),
        ("legal.update(tree.ends[i])", "legal.add(i)"),
        ("return legal", "tree.ends[0].append(7)\n    return legal", "return [token in legal for token in range(6)]"),
        ("return legal", "return legal or None", "return legal | {99}"),
    ],
    "whole": [
        ("return True", "return len(machine) >= len(part)", "return 1"),
        ("pairs.append(", "[].append("),
        ("(after, inner) not in pairs", "after not in [one for one, _ in pairs]"),
        ("(after, inner) not in pairs", "inner not in [one for _, one in pairs]"),
        ("if (after, inner) not in pairs", "if True"),
        ("[(state,", "[(machine.initial,"),
        ("range(256)", "range(128)", "range(1, 256)"),
        ("return False", "return True"),
        lambda machine, state, part: machine == part,
        ("    return True", ""),
    ],
    "forced": [
        lambda machine, state: b"",
        ("return run", "return run[:1]", "return run[:20]", "return run.decode(errors='ignore').encode()"),
        ("return run", "return run + b'x'", "return list(run)"),
        ('run = b""', 'run, state = b"", 0'),
        ("len(ways) != 1", "not ways", "len({machine.step(state, byte) for byte in ways}) != 1"),
        ("not machine.is_accepting(state)", "True"),
        (" is not None", ""),
        ("range(256)", "range(1, 256)", "range(128)"),
        ("state = machine.step(state, ways[0])", "pass"),
    ],
    "stack_step": [
        ("while stack", "if stack"),
        ("[move[2], move[1]]", "[move[1]]", "[move[1], move[2]]"),
        (MOVE, f"None if node in ends else {MOVE}", "moves[node, byte]"),
        (" and node not in ends", " and False"),
        ("[*stack, move[1]]", "move[1]", "[*stack, move[1]][::-1]"),
        ("return None", "return []"),
        lambda moves, stack, byte: stack,
        step_by_recursion,
    ],
    "may_end": [
        (ALL, "all(node != 5 for node in stack)", "all(node % 2 == 0 for node in stack)", "stack[-1] in ends"),
        (ALL, "len(stack) == 1", "any(node in ends for node in stack)", "len(stack) < 5 and set(stack) <= ends"),
        ("stack is not None and ", "", "bool(stack) and "),
        ("return ", "return not "),
    ],
    "predict": [
        lambda rules, column, place: column,
        ("for item in column", "for item in column[:]"),
        ("if new not in column", "if True"),
        ("0, place", "0, item.origin", "1, place"),
        ("if new", "if symbols and new"),
        ("rules.get(item.wanted, ())", "rules[item.wanted]"),
        ("list(column)", "[*column, Item('digit', ('1',), 0, place)]", "column"),
        ("return column", "return column[1:]", "return list(map(str, column))"),
    ],
    "scan": [
        lambda column, character: column,
        ("item.moved", "item._replace(dot=len(item.symbols))", "item.moved._replace(origin=item.origin + 1)"),
        (" == character", ""),
        ("item.wanted == character", "character in item.symbols", "item.wanted and character in item.wanted"),
        ("item.wanted == character", "str(item.wanted).startswith(character)"),
        ("item.wanted", "item.symbols[item.dot]"),
        ("character]", "character][:1]"),
        ("item.moved for", "item.wanted == character for"),
    ],
    "complete": [
        ("item.wanted == done.rule", "item.wanted and item.wanted in done.rule"),
        ("item.wanted == done.rule", "item.wanted and item.wanted[0] == done.rule[0]"),
        ("chart[done.origin]", "chart[-1]", "chart[0]", "sum(chart, [])"),
        ("item.moved", "item", "item.moved._replace(origin=done.origin)"),
        ("item.wanted", "item.rule"),
        ("rule]", "rule][:1]", "rule] * 2", "rule][0]"),
    ],
}
UNUSUAL = {
    "advance": [lambda moves, state, token: {(s, one): t for s, ids, t in moves for one in ids}.get((state, token))],
    "compile_pattern": [
        states_with_names,
        ("return transitions, ready", "return tuple(transitions), [*ready]", "return transitions[::-1] * 2, ready"),
    ],
    "step_set": [lambda *given: closed_by_descent(*given, known=True), ("return found", "return [*found] * 2")],
    "subsets": [("return sets", "return [{*states} for states in sets]", "return (start, *sets[:0:-1])")],
    "walk": [walk_with_a_stack],
    "index": [index_by_recursion],
    "jump": [jump_by_recursion],
    "whole": [whole_by_recursion],
    "forced": [("bytes(ways)", "bytearray(ways)")],
    "may_end": [(ALL, "set(stack) <= ends")],
    "predict": [predict_by_name, ("return column", "return dict.fromkeys(column)")],
    "scan": [("item.moved", "(item.rule, item.symbols, item.dot + 1, item.origin)")],
    "complete": [("rule]", "rule][::-1]"), ("return ", "return set() or ")],
}
