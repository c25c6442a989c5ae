"""Answers to the exercises on machines: automata, regexes of schemas, grammars, a repaired schema."""

import json
import re

import guidedviz as gv
from guidedviz.checks.machines import GIVEN, LISTS, MIRROR, NAMED, SERVICE

BARD = "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in NanoGPT's order: the index is the id
VOCABULARY = gv.Vocabulary([character.encode() for character in BARD])
NUMBER = gv.regex("[0-9]+")
LEAVES = {kind: gv.machines.schema_regex({"type": kind}) for kind in ("string", "integer", "boolean")}


def advance(transitions, state, token):
    for source, tokens, target in transitions:
        if source == state and token in tokens:
            return target
    return None


def wired(*moves, start=0, accepting=6, vocabulary=VOCABULARY):
    fsm = gv.GuidedFSM(vocabulary, start=start, accepting=accepting)
    for source, what, target in moves:
        fsm.add_transition(source, what, target)
    return fsm


WORDS = (
    (0, "UPPER", 1), (1, "UPPER", 1), (1, " ", 2), (2, "UPPER", 1), (1, ":", 3), (3, " ", 4),
    (4, "LOWER", 5), (5, "LOWER", 5), (5, "\n", 6),
)  # fmt: skip
SPACE_LOOP = wired((0, "UPPER", 9), (9, ["UPPER", " "], 9), (9, ":", 3), *WORDS[5:])


def digits(*moves, accepting):
    vocabulary = gv.Vocabulary([*(b"%d" % digit for digit in range(10)), b"x", b"12"])
    return wired(*moves, accepting=accepting, vocabulary=vocabulary)


DIGITS = [str(digit) for digit in range(10)]


def schema_to_regex(schema):
    if "enum" in schema:
        return "|".join(re.escape(json.dumps(value)) for value in schema["enum"])
    if schema["type"] != "object":
        return LEAVES[schema["type"]]
    pairs = schema["properties"].items()
    return r"\{" + ", ".join(f"{re.escape(json.dumps(key))}: ({schema_to_regex(part)})" for key, part in pairs) + r"\}"


def at_most(n):
    digits = str(n)
    parts = [f"0|[1-9][0-9]{{0,{len(digits) - 2}}}"] if n > 9 else []
    for place, digit in enumerate(digits):
        low = "1" if n > 9 and place == 0 else "0"
        if digit > low:
            parts.append(f"{digits[:place]}[{low}-{int(digit) - 1}]" + "[0-9]" * (len(digits) - place - 1))
    return "|".join([*parts, digits])


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


def named(blanks=r"[ \n]?", letters="[a-z ]*"):
    return NAMED.replace(r"[ \n]?", blanks).replace("[a-z ]*", letters)


def repaired(product=None, price=None, **more):
    """The schema of the service with longer names and prices with cents, or with other parts."""
    parts = {
        "product": {"type": "string", "maxLength": 30} if product is None else product,
        "price": {"type": "number", "minimum": 0} if price is None else price,
    }
    return SERVICE | {"properties": parts} | more


RIGHT = {
    "advance": advance,
    "several_words": wired(*WORDS),
    "machine": "[0-9]+",
    "schema_to_regex": schema_to_regex,
    "at_most": at_most,
    "mirror": MIRROR,
    "lists": LISTS,
    "one_blank": NAMED,
    "wider": repaired(),
}
WRONG = {
    "advance": [
        (" and token in tokens", "", "no transition reads token 6"),
        ("source == state and ", "", "leaves state 0, and this is state 1"),
        ("return target", "return target or None", "a state is expected"),
        ("return target", "return target\n        return None", "None means that no transition fits"),
        ("token in tokens", "tokens == {token}", "None means"),
        ("return None", "return state", "the answer is None"),
        ("return target", "return source, tokens, target", "a whole number is expected"),
        (lambda transitions, token: None, "the check calls it with 3 arguments"),
    ],
    "several_words": [
        *((wired(*WORDS[:n], *WORDS[n + 1 :]), "no transition leaves|may not end in") for n in range(0, 9, 2)),
        (SPACE_LOOP, "may end in 6"),
        (wired(*WORDS, (2, " ", 2)), "may end in 6"),
        (wired(*WORDS, (0, " ", 2)), "may end in 6"),
        (wired(*WORDS, accepting=[5, 6]), "may end in 5"),
        (wired(*WORDS, accepting="end"), "may not end in 6"),
        (wired(*WORDS, (6, "UPPER", 1)), "may end in 6"),
        ("[A-Z ]+: [a-z]+\n", "may end in"),
        (gv.machines.difference(gv.regex("a"), gv.regex("a")), "no transition leaves"),
        (lambda: None, "no machine"),
    ],
    "machine": [
        ("[0-9]*", "it may end in q0"),
        ("[0-9]", "no transition leaves q1 with 0"),
        ("[0-9][0-9]+", "it may not end in q1"),
        (digits((0, DIGITS, 1), (1, DIGITS, 2), accepting=2), "it may not end in 1"),
        (digits((0, DIGITS, 0), (0, "0", 0), accepting=0), "it may end in 0"),
        ("[0-9", "unterminated"),
        ("[01]*1[01]{24}", "states"),
        ("$[0-9]", "are the ends of a text"),
        (len, "no machine"),
        ({"type": 3}, "."),
    ],
    "schema_to_regex": [
        (lambda schema: LEAVES["integer"], "json.dumps writes it"),
        ("({schema_to_regex(part)})", "{schema_to_regex(part)}", "needs parentheses"),
        ("re.escape(", "(", "special in a regex"),
        (": (", ":(", 'the key and ": "'),
        ('", ".join', '",".join', "stands between two members"),
        ('+ r"\\}"', '+ r", \\}"', "the value and }"),
        ('+ r"\\}"', '+ r"\\}("', r"missing \)"),
        ("json.dumps(value)", "str(value)", "json.dumps"),
        ("json.dumps(value)", "f'\"{value}\"'", "need not be strings"),
        ("schema_to_regex(part)", "LEAVES[part.get('type', 'string')]", "json.dumps|KeyError|parentheses"),
        (".items()", ".items() and list(schema['properties'].items())[:1]", "stands between two members"),
        ('return r"\\{"', 'return None and r"\\{"', "returns None here"),
        (lambda schema: gv.json_schema(schema), "a text is expected"),
        (lambda schema: schema["enum"], "LEAVES"),
    ],
    "at_most": [
        (lambda n: f"[0-{n}]", "no transition leaves"),
        (lambda n: "0|[1-9][0-9]*", "may end in"),
        (lambda n: f"[0-9]{{1,{len(str(n)) - 1}}}|{at_most(n)}" if n > 9 else at_most(n), "may end in"),
        (lambda n: "|".join(map(str, range(n + 1))), "not with n"),
        (lambda n: list(range(min(n, 50))), "a text is expected"),
        ("[*parts, digits]", "parts or ['1']", "may not end|may end|no transition"),
        ("0|[1-9][0-9]", "[1-9][0-9]", "no transition"),
        ("[*parts, digits]", "[*parts[n > 9 :], digits]", "no transition"),
    ],
    "mirror": [
        (levels(4), "a cannot come"),
        (levels(12), "which waits for c"),
        (levels(49), "which waits for c"),
        (mirror('"c"?'), "must not end"),
        (mirror("[abc]"), "must not end"),
        (mirror('"c"+'), "must not come"),
        (mirror(one='"a" root [ab]'), "must not come"),
        ('root ::= "a" root "a" | "c"', "b cannot come"),
        (mirror(one='"a" root "a"?'), "must not end"),
        (mirror('"c" | "aca"'), "two moves in root on c"),
        ('root ::= "a" root "a" | "b" root "b"', "never finish"),
        ('root ::= "a" bold', r"\^"),
        ("[ab]*c[ab]*", "::="),
        ([MIRROR], "a grammar is a text"),
    ],
    "lists": [
        (lists('(item ("," item?)*)?'), "must not come"),
        (lists('item ("," item)*'), "cannot come"),
        (lists(number="[0-9]+"), "must not come"),
        (lists(number="[1-9] [0-9]*"), "cannot come"),
        (lists(number='"0" | [1-9]+'), "cannot come"),
        (list_levels(8), "cannot come"),
        (list_levels(40), "cannot come"),
        (lists(number='"0" | [1-9] [0-9]{0,19}'), "cannot come"),
        (lists('(item ("," item){0,9})?'), "cannot come"),
        ("root ::= list | number\n" + lists().replace("root", "list"), "must not come"),
        (lists().replace('"]"\n', '"]"?\n'), "must not end"),
    ],
    "one_blank": [
        (named(r'("" | [ \n] ws)'), "must not come"),
        (named(r"[ \n]+"), "cannot come"),
        (named('" "?'), "cannot come"),
        (named('""'), "cannot come"),
        (named(r"[ \n\t]?"), "must not come"),
        (named(r'" "? "\n"?'), "must not come"),
        (named().replace(' ws ":"', ' ":"'), "cannot come"),
        (named(letters="[a-z]*"), "␣ cannot come"),
        (named(letters="[a-z ]{0,20}"), "cannot come"),
        (named().replace('"}"', '"}" ws'), "must not come"),
        ({"type": "object"}, "a grammar is a text"),
    ],
    "wider": [
        (repaired(price={"type": "integer", "minimum": 0}), r"\. cannot come"),
        (repaired(product=SERVICE["properties"]["product"]), 'l cannot come: expected "'),
        (repaired(product={"type": "string"}), "at most 30 characters"),
        (repaired(product={"type": "string", "maxLength": 20}), "a cannot come"),
        (repaired(price={"type": "number"}), "must still refuse it"),
        (repaired(price={"type": ["number", "string"], "minimum": 0}), "must still refuse it"),
        (repaired(required=["product"]), "must still refuse it"),
        (repaired(additionalProperties=True), "must still refuse it"),
        (repaired(price={"enum": [3, 12.5]}, product={"type": "string", "maxLength": 40}), "0 cannot come"),
        (repaired(price={"type": "number", "minimum": 5, "maximum": 3}), "minimum"),
        ([repaired()], "schema"),
        ("number", "JSON"),
    ],
}
UNUSUAL = {
    "advance": [
        (lambda moves, state, token: {(s, one): t for s, ids, t in moves for one in ids}.get((state, token)),),
    ],
    "several_words": [
        (wired(*((f"s{s}", what, f"s{t}") for s, what, t in WORDS), start="s0", accepting="s6"),),
        (wired((0, "UPPER", 7), (7, "UPPER", 1), (7, " ", 2), (7, ":", 3), *WORDS[1:], (8, ":", 9)),),
        (gv.regex("[A-Z]+( [A-Z]+)*: [a-z]+\n"),),
        (wired(*WORDS, accepting=None),),
    ],
    "machine": [
        (gv.regex(r"\d+"),),
        (digits((0, DIGITS, 1), (1, DIGITS, 1), accepting=1),),
        (digits((0, [*DIGITS, 11], 1), (1, [*DIGITS, 11], 1), accepting={1}),),
    ],
    "schema_to_regex": [
        ("({schema_to_regex(part)})", "(?:{schema_to_regex(part)})"),
        (lambda schema: f"^({schema_to_regex(schema)})$",),
        (lambda schema: gv.machines.schema_regex(schema, whitespace="one"),),
    ],
    "at_most": [
        (lambda n: "|".join(f"({part})" for part in reversed(at_most(n).split("|"))),),
        (lambda n: gv.machines.schema_regex({"type": "integer", "minimum": 0, "maximum": n}),),
    ],
    "mirror": [
        ('root ::= one | other | "c"\none ::= "a" root "a"\nother ::= "b" root "b"',),
        (f"# mirror\n\n{MIRROR}   # the end\n",),
    ],
    "lists": [
        ('root ::= "[" items? "]"\nitems ::= item | item "," items\n' + lists().partition("\n")[2],),
        ('root ::= "[]" | "[" items "]"\nitems ::= item | items "," item\n' + lists().partition("\n")[2],),
        (GIVEN[LISTS].replace('item ("," item?)*', '(item ("," item)*)?').replace("[0-9]+", '"0" | [1-9] [0-9]*'),),
    ],
    "one_blank": [
        (named(r'("" | " " | "\n")'),),
        (NAMED.replace("[a-z ]*", "letters") + '\nletters ::= "" | [a-z ] letters',),
    ],
    "wider": [
        (json.dumps(repaired()),),
        (repaired(product={"type": "string", "pattern": "^.{0,30}$"}),),
        (repaired(price={"anyOf": [{"type": "integer", "minimum": 0}, {"type": "number", "exclusiveMinimum": 0}]}),),
    ],
}
