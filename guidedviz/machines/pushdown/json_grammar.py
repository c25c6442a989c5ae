r"""JSON in GBNF, as in RFC 8259: a well-known grammar that no finite machine can express."""

from __future__ import annotations

from functools import lru_cache

from guidedviz.machines.pushdown.pda import PDA, grammar

JSON_GBNF = r"""root   ::= ws value ws
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (member (ws "," ws member)* ws)? "}"
member ::= string ws ":" ws value
array  ::= "[" ws (value (ws "," ws value)* ws)? "]"
string ::= "\"" ([^"\\\x00-\x1F] | "\\" escape)* "\""
escape ::= ["\\/bfnrt] | "u" hex hex hex hex
hex    ::= [0-9a-fA-F]
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+\-]? [0-9]+)?
ws     ::= [ \t\n\r]*
"""


@lru_cache(maxsize=1)
def json() -> PDA:
    """The machine of JSON: any value at the root, blanks wherever RFC 8259 allows them.

    >>> json().accepts(b'{"a": [1, {"b": null}]}'), json().accepts(b"[1,]"), json().accepts_prefix(b"[[[[")
    (True, False, True)
    """
    return grammar(JSON_GBNF)
