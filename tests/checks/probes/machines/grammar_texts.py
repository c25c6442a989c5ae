"""Answers to `mirror` and `lists`."""

from guidedviz.checks.machines.grammar_texts import GIVEN, LISTS, MIRROR, NAMED


def mirror(middle='"c"', one='"a" root "a"', other='"b" root "b"'):
    return f"root ::= {one} | {other} | {middle}"


def levels(count):
    """Letters around the c in `count` levels at most."""
    rules = [f'r{n} ::= "a" r{n + 1} "a" | "b" r{n + 1} "b" | "c"' for n in range(count)]
    return "\n".join(["root ::= r0", *rules, f'r{count} ::= "c"'])


def list_levels(count):
    """Lists in `count` levels at most."""
    rules = [f'r{n} ::= "[" (i{n} ("," i{n})*)? "]"\ni{n} ::= number | r{n + 1}' for n in range(1, count)]
    last = f'r{count} ::= "[" (number ("," number)*)? "]"\nnumber ::= "0" | [1-9] [0-9]*'
    return "\n".join(["root ::= r1", *rules, last])


def lists(inside='(item ("," item)*)?', number='"0" | [1-9] [0-9]*', item="number | root"):
    return f'root ::= "[" {inside} "]"\nitem ::= {item}\nnumber ::= {number}'


def named(ws=r"[ \n]?", letters="[a-z ]*"):
    """The object with one name, with other blanks or another text."""
    return NAMED.replace(r"[ \n]?", ws).replace("[a-z ]*", letters)


class Text(str):
    """A text of a class of its own."""


WRONG = {
    "mirror": {
        "4 levels": (levels(4), "a cannot come"),
        "12 levels": (levels(12), "a cannot come"),
        "49 levels": (levels(49), "a cannot come"),
        "the c is optional": (mirror('"c"?'), "must not end"),
        "no c": (mirror('""'), "must not end"),
        "c among the letters": (mirror("[abc]"), "must not end"),
        "several c": (mirror('"c"+'), "must not come"),
        "c on both sides": (mirror('"c" root "c" | "c"'), "must not come|must not end"),
        "any letter closes": (mirror(one='"a" root [ab]'), "must not come"),
        "the same half again": ('root ::= half\nhalf ::= ("a" | "b") half ("a" | "b") | "c"', "must not come"),
        "only a": ('root ::= "a" root "a" | "c"', "b cannot come"),
        "open at the end": (mirror(one='"a" root "a"?'), "must not end"),
        "a text after the middle": ('root ::= [ab]* "c" [ab]*', "must not end"),
        "right texts, two ways": (mirror('"c" | "aca"'), "two moves in root on c"),
        "right texts, left recursion": (mirror('"c" | root'), "two moves in root on|never|left"),
        "no text": ('root ::= "a" root "a" | "b" root "b"', "never finish"),
        "a regex": ("[ab]*c[ab]*", "::="),
        "a list": ([MIRROR], "a grammar is a text"),
    },
    "lists": {
        "as given, the first bug mended": (
            GIVEN[LISTS].replace('item ("," item?)*', '(item ("," item?)*)?'),
            "must not come",
        ),
        "as given, two bugs mended": (lists('(item ("," item?)*)?'), "must not come"),
        "never empty": (lists('item ("," item)*'), "cannot come"),
        "leading zeros": (lists(number="[0-9]+"), "must not come"),
        "no zero": (lists(number="[1-9] [0-9]*"), "cannot come"),
        "no zero inside": (lists(number='"0" | [1-9]+'), "cannot come"),
        "8 levels": (list_levels(8), "cannot come"),
        "40 levels": (list_levels(40), "cannot come"),
        "numbers of 20 digits": (lists(number='"0" | [1-9] [0-9]{0,19}'), "cannot come"),
        "at most 10 items": (lists('(item ("," item){0,9})?'), "cannot come"),
        "a comma at the end": (lists('(item ("," item)* ","?)?'), "must not come"),
        "commas left out": (lists('(item (","? item)*)?'), "must not come"),
        "numbers outside": ("root ::= list | number\n" + lists().replace("root", "list"), "must not come"),
        "blanks": (lists('(item (", "? item)*)?'), "must not come"),
        "flat lists": (lists(item="number"), "cannot come|never used|item"),
        "lists that may stay open": (lists().replace('"]"\n', '"]"?\n'), "must not end"),
    },
}
WRONG["one_blank"] = {
    "as many as before, by recursion": (named(r'("" | [ \n] ws)'), "must not come"),
    "two": (named(r"[ \n]{0,2}"), "must not come"),
    "a thousand": (named(r"[ \n]{0,1000}"), "must not come"),
    "at least one": (named(r"[ \n]+"), "cannot come"),
    "exactly one": (named(r"[ \n]"), "cannot come"),
    "no line breaks": (named('" "?'), "cannot come"),
    "no blanks": (named('""'), "cannot come"),
    "tabs too": (named(r"[ \n\t]?"), "must not come"),
    "a blank and a line break": (named(r'" "? "\n"?'), "must not come"),
    "not before the colon": (named().replace(' ws ":"', ' ":"'), "cannot come"),
    "the name has no blanks": (named(letters="[a-z]*"), "␣ cannot come"),
    "the name has one blank": (named(letters='[a-z]* (" " [a-z]*)?'), "␣ cannot come"),
    "the name is short": (named(letters="[a-z ]{0,20}"), "cannot come"),
    "a blank at the end": (named().replace('"}"', '"}" ws'), "must not come"),
    "a regex": (r'\{ ?"name"', "::="),
    "a dict": ({"type": "object"}, "a grammar is a text"),
}
RIGHT = {
    "one_blank": {
        "three alternatives": named(r'("" | " " | "\n")'),
        "a repeat with a limit": named(r"[ \n]{0,1}"),
        "without the rule": "\n".join(NAMED.replace(" ws", r" [ \n]?").splitlines()[:2]),
        "the name by recursion": NAMED.replace("[a-z ]*", "letters") + '\nletters ::= "" | [a-z ] letters',
    },
    "mirror": {
        "three rules": 'root ::= one | other | "c"\none ::= "a" root "a"\nother ::= "b" root "b"',
        "the first level written out": 'root ::= "c" | "a" inner "a" | "b" inner "b"\ninner ::= root',
        "comments and blanks": f"# mirror\n\n{MIRROR}   # the end\n",
        "a text of another class": Text(MIRROR),
    },
    "lists": {
        "a rule for the items": 'root ::= "[" items? "]"\nitems ::= item | item "," items\n'
        + lists().partition("\n")[2],
        "left recursion": 'root ::= "[]" | "[" items "]"\nitems ::= item | items "," item\n'
        + lists().partition("\n")[2],
        "two alternatives": lists().replace('"[" (item ("," item)*)? "]"', '"[]" | "[" item ("," item)* "]"'),
        "numbers by recursion": lists(number='"0" | positive') + "\npositive ::= [1-9] | positive [0-9]",
    },
}
