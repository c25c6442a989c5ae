"""Answers to the exercises on parsers."""

from guidedviz.machines.earley.items import Item


def stack_step(moves, ends, stack, byte):
    stack = list(stack)
    while stack:
        node = stack.pop()
        kind, *nodes = moves.get((node, byte), ("end",))
        if kind == "end" and node not in ends:
            return None
        stack += nodes[::-1]
        if kind == "read":
            return stack
    return None


def step_by_recursion(moves, ends, stack, byte):
    if not stack:
        return None
    *below, node = stack
    kind, *nodes = moves.get((node, byte), ("end",))
    if kind == "end" and node not in ends:
        return None
    return [*below, *nodes] if kind == "read" else step_by_recursion(moves, ends, [*below, *nodes[::-1]], byte)


def step_with_linked_cells(moves, ends, stack, byte):
    """A stack of pairs, unpacked at the end."""
    cell = None
    for node in stack:
        cell = (node, cell)
    while cell:
        node, cell = cell
        kind, *nodes = moves.get((node, byte), ("",))
        for one in reversed(nodes):
            cell = (one, cell)
        if kind == "read":
            found = []
            while cell:
                found.insert(0, cell[0])
                cell = cell[1]
            return found
        if not kind and node not in ends:
            return None
    return None


def may_end(ends, stack):
    return stack is not None and all(node in ends for node in stack)


def predict(rules, column, place):
    filled = list(column)
    for item in filled:
        for symbols in rules.get(item.wanted, ()):
            new = Item(item.wanted, symbols, 0, place)
            if new not in filled:
                filled.append(new)
    return filled


def predict_by_name(rules, column, place):
    names, met = [item.wanted for item in column], set()
    for name in names:
        if name in rules and name not in met:
            met.add(name)
            names += [symbols[0] for symbols in rules[name] if symbols]
    return {*column, *(Item(name, symbols, 0, place) for name in met for symbols in rules[name])}


def scan(column, character):
    return [item.moved for item in column if item.wanted == character]


def complete(chart, done):
    return [item.moved for item in chart[done.origin] if item.wanted == done.rule]


RIGHT = {"stack_step": stack_step, "may_end": may_end, "predict": predict, "scan": scan, "complete": complete}
MOVE = 'moves.get((node, byte), ("end",))'
WRONG = {
    "stack_step": [
        ("while stack", "if stack", "nothing can be read|a call reads no byte"),
        ("nodes[::-1]", "nodes[:1]", "push both nodes"),
        ("nodes[::-1]", "[*nodes[:0:-1], node][-2:]", "."),
        (MOVE, f'("end",) if node in ends else {MOVE}', "the move comes first"),
        ('kind == "end" and node not in ends', "False", "is no end"),
        (MOVE, "moves[node, byte]", "KeyError"),
        ("return stack", "return stack[-1]", "a list of nodes is expected"),
        ("return stack", "return stack[::-1]", "the top is the last item"),
        ("return None", "return []", "refuses the byte: None"),
        (lambda moves, stack, byte: stack, "the check calls it with 4 arguments"),
        (lambda moves, ends, stack, byte: [0 for _ in iter(int, 1)], "does not end"),
        (step_by_recursion, "RecursionError"),
    ],
    "may_end": [
        ("all(node in ends for node in stack)", "stack[-1] in ends", "n5 is below"),
        ("all(node in ends for node in stack)", "len(stack) == 1", "cannot end"),
        ("all(node in ends for node in stack)", "stack[0] in ends", "is no end"),
        ("stack is not None and ", "", "TypeError"),
        (
            "stack is not None and all(node in ends for node in stack)",
            "all(node in ends for node in stack or ())",
            "refused",
        ),
        (lambda ends, stack: False, "no other rule"),
        (lambda ends, stack: 1 + may_end(ends, stack), "True or False"),
        (lambda ends, stack: True if stack and {*stack} <= ends else None, "return missing"),
    ],
    "predict": [
        (lambda rules, column, place: column, "digit → • 1 .* is missing: start"),
        ("for item in filled", "for item in column", "is missing"),
        ("if new not in filled", "if True", "not asked again"),
        ("0, place", "0, item.origin", "it begins at this place, from 2"),
        ("0, place", "1, place", "its dot stands in front"),
        ("if new", "if symbols and new", "list → • .* is missing"),
        ("rules.get(item.wanted, ())", "rules[item.wanted]", "KeyError"),
        ("list(column)", "[*column, Item('digit', ('1',), 0, place)]", "no item waits for digit|twice"),
        ("return filled", "return filled[len(column) :]", "the given items stay"),
        ("return filled", "return list(map(str, filled))", "a list of items is expected"),
        ("return filled", "return filled[0]", "a list of items is expected"),
        ("list(column)", "column", "work on a copy"),
        (lambda column, place: column, "the check calls it with 3 arguments"),
    ],
    "scan": [
        (lambda column, character: column, "its dot has to move"),
        ("item.moved", "item._replace(dot=len(item.symbols))", "its dot has to move by one"),
        ("item.moved", "item.moved._replace(origin=item.origin + 1)", "only the dot"),
        ("item.moved", "item.moved._replace(origin=0)", "only the dot|twice"),
        (" == character", "", "only items that wait for '2'"),
        ("item.wanted == character", "character in item.symbols", "only items that wait for '1'"),
        ("item.wanted", "item.symbols[item.dot]", "IndexError"),
        ("character]", "character][:1]", "only items that wait"),
        ("item.moved for", "item.wanted == character for", "a list of items"),
        (lambda column, character: scan(column, character) or None, "is a return missing|a list of items"),
    ],
    "complete": [
        ("chart[done.origin]", "chart[-1]", "it began in column 0: look there"),
        ("chart[done.origin]", "chart[0]", "look there for what waits"),
        ("chart[done.origin]", "sum(chart, [])", "look there|twice"),
        ("item.moved", "item", "its dot has to move"),
        ("item.moved", "item.moved.moved", "its dot has to move by one"),
        ("item.moved", "item.moved._replace(origin=len(chart) - 1)", "only the dot moves"),
        ("item.moved", "item.moved._replace(origin=done.origin)", "only the dot moves"),
        ("item.wanted", "item.rule", "look there"),
        ("rule]", "rule][:1]", "look there for what waits"),
        ("rule]", "rule] * 2", "comes twice"),
        ("rule]", "rule][0]", "a list of items is expected"),
        (lambda chart, column, done: [], "the check calls it with 2 arguments"),
    ],
}
UNUSUAL = {
    "stack_step": [(step_with_linked_cells,)],
    "may_end": [("all(node in ends for node in stack)", "set(stack) <= ends")],
    "predict": [(predict_by_name,), ("return filled", "return dict.fromkeys(filled)")],
    "scan": [("item.moved", "(item.rule, item.symbols, item.dot + 1, item.origin)")],
    "complete": [("rule]", "rule][::-1]"), ("return ", "return set() or ")],
}
