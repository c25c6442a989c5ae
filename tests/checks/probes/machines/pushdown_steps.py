"""Answers to `stack_step` and `may_end`."""

from guidedviz.machines.pushdown.pda import move_stack


def step(moves, ends, stack, byte, pushed=lambda start, after: [after, start], order="move first", keep=True):
    """A step with a place for each mistake."""
    stack = list(stack)
    while stack:
        node = stack.pop()
        move = moves.get((node, byte))
        if order == "end first" and node in ends:
            continue
        if move is None and node not in ends:
            return None
        if move and move[0] == "read":
            return [*stack, move[1]] if keep else [*stack, node, move[1]]
        if move:
            stack += pushed(*move[1:])
    return None


def one_move(moves, ends, stack, byte):
    """No loop: a call or a return ends the step."""
    *below, node = stack
    move = moves.get((node, byte))
    if move is None:
        return below if node in ends else None
    return [*below, move[1]] if move[0] == "read" else [*below, move[2], move[1]]


def in_place(moves, ends, stack, byte):
    while stack:
        node = stack.pop()
        kind, *nodes = moves.get((node, byte), (None,))
        stack += nodes[::-1]
        if kind == "read":
            return stack
        if kind is None and node not in ends:
            return None
    return None


def recursive(moves, ends, stack, byte):
    if not stack:
        return None
    *below, node = stack
    move = moves.get((node, byte))
    if move is None:
        return recursive(moves, ends, below, byte) if node in ends else None
    return [*below, move[1]] if move[0] == "read" else recursive(moves, ends, [*below, *move[:0:-1]], byte)


def always_returns(moves, ends, stack, byte):
    """A refused byte pops, whether the rule may end or not."""
    return move_stack(moves, range(100), stack, byte)


def read_on(moves, ends, stack, byte):
    """The loop goes on after the byte is read."""
    stack = list(stack)
    while stack and (stack[-1], byte) in moves:
        move = moves[stack.pop(), byte]
        stack += move[:0:-1]
    return stack or None


def counter(moves, ends, stack, byte):
    """Counts brackets instead of keeping nodes."""
    return [*stack, 0] if byte in b"([{" else stack[:-1] if byte in b")]}" else stack


def push_lazily(moves, ends, stack, byte):
    """The top apart from the rest, as most books have it."""
    if not stack:
        return None
    state, rest = stack[-1], tuple(stack[:-1])
    while True:
        match moves.get((state, byte)):
            case ("read", target):
                return (*rest, target)
            case ("call", start, after):
                state, rest = start, (*rest, after)
            case _ if state in ends and rest:
                *rest, state = rest
            case _:
                return None


def linked(moves, ends, stack, byte):
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


WRONG = {
    "stack_step": {
        "no loop": (one_move, "nothing can be read|a call reads no byte|look at the node below"),
        "the call is not pushed": (
            lambda *given: step(*given, pushed=lambda start, after: [start]),
            "push both nodes",
        ),
        "pushed in the wrong order": (
            lambda *given: step(*given, pushed=lambda start, after: [start, after]),
            "push both nodes",
        ),
        "the caller is pushed, not the node after it": (
            lambda moves, ends, stack, byte: step(
                moves, ends, stack, byte, pushed=lambda start, after: [after - 1, start]
            ),
            "push both nodes",
        ),
        "an end returns at once": (lambda *given: step(*given, order="end first"), "the move comes first"),
        "the old node stays": (lambda *given: step(*given, keep=False), "in place of the current one"),
        "a refused byte pops": (always_returns, "is no end"),
        "reads until nothing fits": (read_on, "refuses the byte"),
        "its stack changed": (in_place, "it changed its input"),
        "recursion": (recursive, "RecursionError"),
        "a counter": (counter, "in place of the current one"),
        "the target alone": (
            lambda moves, ends, stack, byte: moves.get((stack[-1], byte), (0, 0))[-1] if stack else None,
            "a list of nodes is expected",
        ),
        "a set": (lambda *given: set(move_stack(*given) or ()) or None, "a list of nodes is expected"),
        "the top first": (lambda *given: (move_stack(*given) or [])[::-1] or None, "the top is the last item"),
        "an empty list for a refused byte": (lambda *given: move_stack(*given) or [], "refuses the byte: None"),
        "no look at the moves": (lambda moves, ends, stack, byte: [*stack[:-1], moves[stack[-1], byte][1]], "KeyError"),
        "three arguments": (lambda moves, stack, byte: stack, "the check calls it with 4 arguments"),
        "no end": (lambda moves, ends, stack, byte: [0 for _ in iter(int, 1)], "does not end"),
        "names": (lambda *given: [f"n{node}" for node in move_stack(*given) or ()] or None, "a list of nodes"),
    },
    "may_end": {
        "the top alone": (lambda ends, stack: bool(stack) and stack[-1] in ends, "n5 is below"),
        "an end anywhere": (lambda ends, stack: any(node in ends for node in stack or ()), "n5 is below"),
        "one node": (lambda ends, stack: stack is not None and len(stack) == 1, "cannot end"),
        "one node that is an end": (lambda ends, stack: stack in ([2], [6]), "so all can return"),
        "the bottom alone": (lambda ends, stack: bool(stack) and stack[0] in ends, "is no end"),
        "no look at None": (lambda ends, stack: all(node in ends for node in stack), "TypeError"),
        "None is complete": (lambda ends, stack: all(node in ends for node in stack or ()), "refused"),
        "always": (lambda ends, stack: True, "cannot end"),
        "never": (lambda ends, stack: False, "no other rule"),
        "a number": (lambda ends, stack: int(bool(stack) and set(stack) <= ends) + 1, "True or False"),
        "recursion": (
            lambda ends, stack: (
                (deep := lambda s: not s or (s[-1] in ends and deep(s[:-1])))(stack) if stack else False
            ),
            "RecursionError",
        ),
        "its stack changed": (
            lambda ends, stack: bool(stack) and all(stack.pop() in ends for _ in list(stack)),
            "it changed its input",
        ),
        "the wrong way round": (lambda ends, stack: bool(stack) and set(ends) <= set(stack), "no other rule"),
        "nothing on some path": (lambda ends, stack: True if stack and set(stack) <= ends else None, "return missing"),
    },
}
RIGHT = {
    "stack_step": {
        "a place for each mistake": step,
        "the top apart": push_lazily,
        "linked cells": linked,
        "a tuple": lambda *given: (found := move_stack(*given)) and tuple(found),
    },
    "may_end": {
        "a set": lambda ends, stack: stack is not None and set(stack) <= ends,
        "nothing left": lambda ends, stack: stack is not None and not [node for node in stack if node not in ends],
        "a loop": lambda ends, stack: stack is not None and all(map(ends.__contains__, reversed(stack))),
        "an exception": lambda ends, stack: stack is not None and not set(stack).difference(ends),
    },
}
