"""Answers to `machine`, compared with whole numbers."""

import guidedviz as gv


def wired(*moves, accepting):
    fsm = gv.GuidedFSM(gv.Vocabulary([b"%d" % digit for digit in range(10)] + [b"x", b"12"]), accepting=accepting)
    for source, what, target in moves:
        fsm.add_transition(source, what, target)
    return fsm


DIGITS = [str(digit) for digit in range(10)]
WRONG = {
    "machine": {
        "the empty text": ("[0-9]*", "it may end in q0"),
        "one digit": ("[0-9]", "no transition leaves q1 with 0"),
        "two digits": ("[0-9][0-9]+", "it may not end in q1"),
        "no nine": ("[0-8]+", "no transition leaves q0 with 9"),
        "a letter": ("[0-9a]+", "it may end in q1"),
        "no leading zero": ("0|[1-9][0-9]*", "no transition leaves q1 with 0"),
        "wired without a loop": (wired((0, DIGITS, 1), (1, DIGITS, 2), accepting=2), "it may not end in 1"),
        "wired with the loop at the start": (wired((0, DIGITS, 0), (0, "0", 0), accepting=0), "it may end in 0"),
        "wired, the last arrow missing": (wired((0, DIGITS, 1), (1, DIGITS, 1), accepting=2), "may not end in 1"),
        "a machine": (gv.regex("[0-9]+x"), "it may not end in q1"),
        "no regex": ("[0-9", "unterminated"),
        "too large": ("[01]*1[01]{24}", "states"),
        "an anchor": ("$[0-9]", "are the ends of a text"),
        "a function": (len, "no machine"),
    }
}
RIGHT = {
    "machine": {
        "another regex": "[0-9][0-9]*",
        "a machine": gv.regex(r"\d+"),
        "wired by hand": wired((0, DIGITS, 1), (1, DIGITS, 1), accepting=1),
        "wired with tokens of several digits": wired((0, [*DIGITS, 11], 1), (1, [*DIGITS, 11], 1), accepting={1}),
    }
}
