"""Answers to the exercises on automata, walks, stacks and Earley's parser: wrong ones, and unusual right ones."""

import json

import guidedviz as gv
from guidedviz.checks.automata import compile_pattern
from guidedviz.machines.earley.items import Item


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
        ("return target", "return target\n        return None"),
        ("return target", "return source, tokens, target"),
        lambda transitions, token: None,
    ],
    "compile_pattern": [
        ("for source in ready]", "for source in [state - 1]]"),
        ("(ready if quantifier in", "({state - 1} if quantifier in"),
        ('"+*":', '"+":', '"*":'),
        ('"?*" else set()', '"*" else set()', '"?" else set()'),
        ("{state} | (ready", "ready | (ready"),
        ("transitions.append((state, sets[name], state))", "transitions += [(s, sets[name], s) for s in ready]"),
        ("return transitions, ready", "return transitions"),
        ("sets[name], state) for", "name, state) for"),
        keep_disjoint,
        lambda parts, sets: ([(0, sets["UPPER"], 1), (1, sets["UPPER"], 1)], {1}),
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
        two_epsilon_edges,
        lambda nfa, states: set(),
    ],
    "subsets": [
        ("sets.append(after)", "pass"),
        ("after and ", ""),
        ("range(256)", "range(128)", "range(255)", "range(1, 256)"),
        ("for states in sets:", "for states in [start]:"),
        ("return sets", "return {*sets}", "return sets[::-1]", "return sets * 2"),
        ("return sets", "return sets[1:]", "return [*range(len(sets))]"),
    ],
    "walk": [
        ("return found", "return dict.fromkeys(found, True)", "return {*found}", "return found or None"),
        ("return found", "return found | {99: 0}"),
        ("walk(child, machine, after)", "dict.fromkeys(child.tokens, after)"),
        ("if after is not None", "if after"),
        ("if after is not None:", "if after is None:\n            break\n        else:"),
        ("if after is not None:", "if after is None:\n            walk(child, machine, None)\n        else:"),
        (ROW, f"{ROW} if machine.is_accepting(state) else {{}}"),
        ("node.tokens", "node.tokens[:1]"),
    ],
    "index": [
        ("waiting.extend(index[state].values())", "pass"),
        ("[machine.initial]", "[*range(len(machine))]"),
        ("state not in index", "True"),
        ("return index", "return {state: {*row} for state, row in index.items()}", "return [*index.values()]"),
        ("return index", "return {state: row for state, row in index.items() if state}", "return index | {None: {}}"),
    ],
    "jump": [
        (JUMP, f"{JUMP} + 1", "i += 0"),
        ("tree.depth[i] :", "tree.depth[i] + 1 :", "tree.depth[i] - 1 :"),
        ("states[-1]", "state"),
        ("if after is None:", "if not after:"),
        ("tree.ends[i]", "tree.ends[i][:1]"),
        ("legal.update(tree.ends[i])", "legal.add(i)"),
        ("return legal", "return [token in legal for token in range(6)]"),
        ("return legal", "return legal or None", "return legal | {99}"),
    ],
    "whole": [
        ("return True", "return len(machine) >= len(part)", "return 1"),
        ("pairs.append(", "[].append("),
        ("(after, inner) not in pairs", "inner not in [one for _, one in pairs]"),
        ("if (after, inner) not in pairs", "if True"),
        ("[(state,", "[(machine.initial,"),
        ("range(256)", "range(128)", "range(1, 256)"),
        ("return False", "return True"),
        ("    return True", ""),
    ],
    "forced": [
        lambda machine, state: b"",
        ("return run", "return run[:1]", "return run[:20]", "return run.decode(errors='ignore').encode()"),
        ("return run", "return run + b'x'", "return list(run)"),
        ('run = b""', 'run, state = b"", 0'),
        ("len(ways) != 1", "not ways"),
        ("not machine.is_accepting(state)", "True"),
        (" is not None", ""),
        ("range(256)", "range(1, 256)", "range(128)"),
        ("state = machine.step(state, ways[0])", "pass"),
    ],
    "stack_step": [
        ("while stack", "if stack"),
        (MOVE, f"None if node in ends else {MOVE}", "moves[node, byte]"),
        (" and node not in ends", " and False"),
        ("[*stack, move[1]]", "move[1]"),
        lambda moves, stack, byte: stack,
        step_by_recursion,
    ],
    "may_end": [
        (ALL, "all(node != 5 for node in stack)", "stack[-1] in ends"),
        (ALL, "len(stack) == 1", "len(stack) < 5 and set(stack) <= ends"),
        ("stack is not None and ", "", "bool(stack) and "),
        ("return ", "return not "),
    ],
    "predict": [
        lambda rules, column, place: column,
        ("for item in column", "for item in column[:]"),
        ("if new not in column", "if True"),
        ("0, place", "0, item.origin"),
        ("if new", "if symbols and new"),
        ("list(column)", "[*column, Item('digit', ('1',), 0, place)]", "column"),
        ("return column", "return column[1:]", "return list(map(str, column))"),
    ],
    "scan": [
        lambda column, character: column,
        ("item.moved", "item._replace(dot=len(item.symbols))"),
        (" == character", ""),
        ("item.wanted == character", "character in item.symbols", "item.wanted and character in item.wanted"),
        ("item.wanted", "item.symbols[item.dot]"),
        ("character]", "character][:1]"),
        ("item.moved for", "item.wanted == character for"),
    ],
    "complete": [
        ("item.wanted == done.rule", "item.wanted and item.wanted in done.rule"),
        ("item.wanted == done.rule", "item.wanted and item.wanted[0] == done.rule[0]"),
        ("chart[done.origin]", "chart[-1]", "chart[0]", "sum(chart, [])"),
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
    "jump": [jump_by_recursion],
    "forced": [("bytes(ways)", "bytearray(ways)")],
    "may_end": [(ALL, "set(stack) <= ends")],
    "predict": [predict_by_name, ("return column", "return dict.fromkeys(column)")],
    "scan": [("item.moved", "(item.rule, item.symbols, item.dot + 1, item.origin)")],
    "complete": [("rule]", "rule][::-1]"), ("return ", "return set() or ")],
}
