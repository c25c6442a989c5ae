"""Answers to the exercises on machines that are values: a bias, automata, regexes, grammars, a repaired schema."""

import json
import math

import numpy as np

from guidedviz.checks.grammars import GIVEN, LISTS, MIRROR, NAMED, QUOTED, REPEATED, SERVICE
from tests.common import BYTES, constant_model

TOY = constant_model([b"yes", b"no", b"maybe", b"Sure", *BYTES], np.linspace(2, -2, 260))
YES, NO, OTHER = 0, 1, 2  # ids of the toy model


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


def cause(keyword, step=18, seed=1):
    """What explains a broken run."""
    return {"seed": seed, "step": step, "cause": keyword}


VALUES = {
    "only_answers": {YES: 100, NO: 100},
    "mirror": MIRROR,
    "lists": LISTS,
    "no_repeat": QUOTED,
    "one_blank": NAMED,
    "wider": repaired(),
    "broken": cause("minimum"),
}
WRONG = {
    "only_answers": [
        {YES: 100},
        {YES: 15, NO: 15},
        {YES: 100, NO: 100, OTHER: 98},
        {YES: 1000, NO: 1000},
        {"yes": 100, "no": 100},
        {999: 100},
        [YES, NO],
        {YES: math.inf, NO: math.inf},
    ],
    "mirror": [
        levels(49),
        mirror('"c"?'),
        mirror("[abc]"),
        mirror('"c"+'),
        mirror(one='"a" root [ab]'),
        mirror(one='"a" root "a"?'),
        mirror('"c" | "aca"'),
        'root ::= "a" root "a" | "b" root "b"',
        'root ::= "a" bold',
        "[ab]*c[ab]*",
        [MIRROR],
    ],
    "lists": [
        lists('(item ("," item?)*)?'),
        lists('item ("," item)*'),
        lists(number="[0-9]+"),
        lists(number="[1-9] [0-9]*"),
        lists(number='"0" | [1-9]+'),
        list_levels(40),
        lists(number='"0" | [1-9] [0-9]{0,19}'),
        lists('(item ("," item){0,9})?'),
        "root ::= list | number\n" + lists().replace("root", "list"),
        lists().replace('"]"\n', '"]"?\n'),
    ],
    "no_repeat": [
        REPEATED.replace(")*", "){0,1000}"),
        'root ::= "\\"" part* "\\""\npart ::= [^"\\\\\\x00-\\x1F] | "\\\\" ["\\\\/bfnrt]',
        'root ::= "\\"" rest\nrest ::= "\\"" | [^"] rest',
        QUOTED.replace("bfnrt]", "bfnrtu]"),
        QUOTED.replace(r"\x00-\x1F", ""),
        QUOTED.replace('] rest | "\\\\"', '] rest? | "\\\\"'),
        QUOTED.replace('rest ::= "\\""', 'rest ::= "\\""?'),
        QUOTED.replace('rest ::= "\\"" | ', "rest ::= "),
        QUOTED.replace("rest\nrest", "[a-z]+ rest\nrest"),
        [QUOTED],
    ],
    "one_blank": [
        named(r'("" | [ \n] ws)'),
        named(r"[ \n]+"),
        named('""'),
        named(r"[ \n\t]?"),
        named(r'" "? "\n"?'),
        named().replace(' ws ":"', ' ":"'),
        named(letters="[a-z]*"),
        named(letters="[a-z ]{0,20}"),
        named().replace('"}"', '"}" ws'),
    ],
    "wider": [
        repaired(price={"type": "number", "exclusiveMinimum": 0}),
        repaired(price={"type": "number", "minimum": 0, "maximum": 100}),
        repaired(price={"type": "number", "minimum": 1}),
        repaired(price={"type": "number", "minimum": -0.5}),
        repaired(price={"type": "number", "minimum": 0, "multipleOf": 0.5}),
        repaired(price={"anyOf": [{"type": "integer", "minimum": 0}, {"type": "number", "minimum": 12}]}),
        repaired(product={"type": ["string", "null"], "maxLength": 30}),
        repaired(product={"type": "string", "maxLength": 30, "minLength": 1}),
        repaired(product={"type": "string", "pattern": "^[a-z]{0,30}$"}),
        repaired(price={"type": "integer", "minimum": 0}),
        repaired(product=SERVICE["properties"]["product"]),
        repaired(product={"type": "string"}),
        repaired(product={"type": "string", "maxLength": 20}),
        repaired(price={"type": "number"}),
        repaired(price={"type": ["number", "string"], "minimum": 0}),
        repaired(required=["product"]),
        repaired(additionalProperties=True),
        {key: value for key, value in repaired().items() if key != "type"},
        repaired(price={"enum": [3, 12.5]}, product={"type": "string", "maxLength": 40}),
        repaired(price={"type": "number", "minimum": 5, "maximum": 3}),
        [repaired()],
        "number",
    ],
    "broken": [
        cause("maximum"),  # without it the run goes on as the model wants, and the answer is refused all the same
        cause("multipleOf"),
        cause("type"),
        cause("minimum maximum"),
        cause("color.minimum"),
        cause("pattern"),
        cause("a price that is too low"),
        cause(None),
        cause("minimum", step=17),
        cause("minimum", step=19),
        cause("minimum", step=24),
        cause("minimum", step=-6),
        cause("minimum", step="18 or 19"),
        cause("minimum", step=True),
        cause("minimum", seed=2),
        cause("minimum", seed="one"),
        {"step": 18, "cause": "minimum"},
        "minimum",
        ["minimum"],
    ],
}
UNUSUAL = {
    "only_answers": [
        {token: -100 for token in range(2, 260)},
        {np.int64(YES): np.float32(60), np.int64(NO): np.float32(60)},
        {YES: 50, NO: 50} | dict.fromkeys(range(2, 260), -50),
    ],
    "mirror": [
        'root ::= one | other | "c"\none ::= "a" root "a"\nother ::= "b" root "b"',
        f"# mirror\n\n{MIRROR}   # the end\n",
    ],
    "lists": [
        'root ::= "[" items? "]"\nitems ::= item | item "," items\n' + lists().partition("\n")[2],
        'root ::= "[]" | "[" items "]"\nitems ::= item | items "," item\n' + lists().partition("\n")[2],
        GIVEN[LISTS].replace('item ("," item?)*', '(item ("," item)*)?').replace("[0-9]+", '"0" | [1-9] [0-9]*'),
    ],
    "no_repeat": [
        QUOTED.replace("root ::= ", "root ::= text\ntext ::= "),
        QUOTED.replace('[^"', '("x" | [^"').replace("1F]", "1F])"),
        'root ::= "\\"" text? "\\""\ntext ::= char text?\nchar ::= [^"\\\\\\x00-\\x1F] | "\\\\" ["\\\\/bfnrt]',
    ],
    "one_blank": [
        named(r'("" | " " | "\n")'),
        NAMED.replace("[a-z ]*", "letters") + '\nletters ::= "" | [a-z ] letters',
    ],
    "wider": [
        {"anyOf": [SERVICE, repaired()]},
        json.dumps(repaired()),
        repaired(product={"type": "string", "pattern": "^.{0,30}$"}),
        repaired(price={"anyOf": [{"type": "integer", "minimum": 0}, {"type": "number", "exclusiveMinimum": 0}]}),
    ],
    "broken": [
        cause("minLength", 6, seed=0),
        cause("the enum of color", 11, seed=-1),
        cause("#/properties/price/minimum", np.int64(18), seed=10**20),
        cause('"MINIMUM": 20'),
        cause("price.minimum"),
    ],
}
