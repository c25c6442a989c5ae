r"""Read the text of a grammar in Lark's notation with the package `lark`: here is the grammar of the notation.

It begins with the one that `lark` ships, `lark/grammars/lark.lark`, and adds what llguidance adds: `{m,n}`, hyphens in
names, `A & B` and `~A`, `%json {…}`, `%regex {…}`, `<token>`, `rule[capture]`, `%llguidance {…}`.
"""

import re
from collections.abc import Set
from functools import lru_cache
from typing import Any

from guidedviz.errors import GrammarError
from guidedviz.extras import need
from guidedviz.machines import limits
from guidedviz.machines.grammars.gbnf import brief
from guidedviz.machines.visible import grammar_error
from guidedviz.machines.work import spend

Node = Any  # a Tree or a Token of the package: `data` and `children`, or `type` and the text; both know their place
TOKEN_STEPS = 30  # of work: what the package takes for a token
BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}

# A comment takes the line ends before it, so that a choice may go on below it.
NOTATION = r"""
start: _NL* (_item _NL+)*
_item: rule | terminal | ignore | single_import | listed_import | options

rule: RULE [parameters] [PRIORITY] [attributes] ":" choice
terminal: TERMINAL [PRIORITY] [attributes] ":" choice
ignore: "%ignore" choice
single_import: "%import" PATH ["->" _name]
listed_import: "%import" PATH "(" _name ("," _name)* ")"
options: OPTIONS json

parameters: "{" NAME ("," NAME)* "}"
attributes: "[" attribute ("," attribute)* "]"
attribute: NAME ["=" (STRING | REGEX | NUMBER | TERMINAL)]

?choice: alias (_OR alias)*
?alias: conjunction ["->" _alias]
?conjunction: row ("&" row)*
?row: part*
?part: negation | negation REPEAT -> repeat
?negation: "~" atom -> other | atom
?atom: "(" choice ")" | "[" choice "]" -> optional | value
?value: STRING -> string
    | STRING ".." STRING -> range
    | REGEX -> regex
    | _name -> name
    | NAME "{" value ("," value)* "}" -> template
    | TOKEN -> token
    | "%json" json -> json_schema
    | "%regex" json -> substrings
_name: NAME | TERMINAL
_alias: _ALIAS

json: WORD | "{" _member* "}" | "[" _member* "]"
_member: STRING | ":" | "," | _NL | json

RULE: /[!?]{0,2}_?[a-z](-(?!>)|[a-zA-Z0-9_])*/
NAME: /_?[a-z](-(?!>)|[a-zA-Z0-9_])*/
TERMINAL: /_?[A-Z](-(?!>)|[a-zA-Z0-9_])*/
_ALIAS: /_?[a-zA-Z](-(?!>)|[a-zA-Z0-9_])*/
PRIORITY: /\.[ \t]*[-+]?[0-9]+/
PATH: /\.*[a-zA-Z_]\w*([ \t]*\.[ \t]*\w+)*/
OPTIONS: /%(llguidance|grammar_options)\b/
REPEAT: /[*+?]|~[ \t]*[-+]?[0-9]+([ \t]*\.\.[ \t]*[-+]?[0-9]+)?|\{[ \t]*[-+0-9,][^{}\n]*\}/
STRING: /"(\\.|[^"\\\n])*"i?/
REGEX: /\/(?!\/)(\\.|[^\/\\\n])+\/[a-z]*/ | /\/(?!\/)(\\[\s\S]|[^\/\\])+\/[a-z]*x[a-z]*/
TOKEN: /<[^<>\s]+>/
NUMBER: /[-+]?[0-9.]+/
WORD: /[-+.\w]+/
_OR.2: /\s*\|/
_NL: /\n\s*/
COMMENT.3: /\s*(#|\/\/)[^\n]*/
BLANK: /[ \t\r\f]+|\\[ \t]*\r?\n/
%ignore COMMENT
%ignore BLANK
"""

A_LINE = "a rule is one line, and a line that begins with | goes on"
ONE_GRAMMAR = "one grammar", "write its rules beside the others"
UNSUPPORTED = {  # what stands where the notation ends: its description, what is expected, a correction
    r"%declare\b": ("%declare", "terminals with a text", "NAME: /a regex/"),
    r"%(override|extend)\b": ("%override or %extend", "one definition of each name", "import under another name: ->"),
    r"%lark\b": ("a grammar in the grammar (%lark)", *ONE_GRAMMAR),
    r"%if\b": ("a condition (%if)", "a rule without parameters", ""),
    r"%": ("an unknown directive", "%import, %ignore, %json, %regex or %llguidance", ""),
    r"@": ("a grammar by its name (@)", *ONE_GRAMMAR),
    r":=": ('"::="', '":"', "gv.grammar reads GBNF"),
    r":": ('a second ":" (a parameter)', "a rule without parameters", ""),
    r"'": ("a single quote", "a text in double quotes", 'write texts in double quotes: "a"'),
    r'"(?!(\\.|[^"\\\n])*")': ("an unclosed text", 'a " after it', 'close it with ", in the same line'),
    r"/(?!(\\.|[^/\\\n])+/)": ("an unclosed regex", "a / after it", "close it with /, in the same line"),
    r"<(?![^<>\s]+>)": ("an unclosed token", "a > after it, without blanks", 'the text is written "<"'),
}
EXPECTED = {  # terminals of the notation, the most telling first
    "RPAR": '")"',
    "RSQB": '"]"',
    "RBRACE": '"}"',
    "COLON": '":"',
    "RULE": "a rule, a terminal or a directive",
    "STRING": "a text, a regex, a name or the end of the line",
    "NAME": "a name",
    "_ALIAS": "a name",
    "LBRACE": "JSON",
    "_NL": "the end of the line",
}


@lru_cache(maxsize=1)
def notation_parser() -> Any:
    """The parser of the notation; it is built once."""
    lark = need("lark", "lab", "gv.lark")
    return lark.Lark(NOTATION, parser="lalr", propagate_positions=True)


def parse_notation(text: str) -> Node:
    """The definitions of a grammar as a tree of the package `lark`.

    >>> definitions = parse_notation('start: A*\\nA: "a"').children
    >>> [f"{definition.data} {definition.children[0]}" for definition in definitions]
    ['rule start', 'terminal A']
    """
    parser = notation_parser().parse_interactive(text + "\n")
    exceptions = need("lark.exceptions", "lab", "gv.lark")
    opened = 0  # parentheses
    last = None
    try:
        for token in parser.iter_parse():
            spend(TOKEN_STEPS)
            opened += BRACKETS.get(token, 0)
            if opened > limits.NESTED_PARENTHESES:
                seen = f"more than {limits.NESTED_PARENTHESES} nested parentheses"
                raise refusal(token, seen, "fewer", "give the inner part a name of its own")
            last = token
        return parser.feed_eof(last)
    except (exceptions.UnexpectedToken, exceptions.UnexpectedCharacters) as error:
        raise misplaced(text, error.pos_in_stream, parser.accepts()) from None


def misplaced(text: str, place: int, terminals: Set[str]) -> GrammarError:
    """The error at a place where the notation does not go on; `terminals` are those that may stand there."""
    expected = next((words for name, words in EXPECTED.items() if name in terminals), "something else")
    rest = text[place:]
    if not rest.strip():
        return refusal(min(place, len(text)), "saw the end of the grammar", expected)
    if rest[0] in "\r\n":
        return refusal(place, "saw the end of the line", expected, A_LINE)
    for looks, said in UNSUPPORTED.items():
        if re.match(looks, rest):
            return refusal(place, *said)
    found = re.search(r'[\w-]+|"[^"]*"|\S', rest)
    hint = A_LINE if "RULE" in terminals else ""
    return refusal(place, f"saw {brief(found[0] if found else rest)}", expected, hint)


def refusal(place: Node | int, seen: str, expected: str, hint: str = "") -> GrammarError:
    """The error at a token, a tree or an offset; `show_place` adds the line and column."""
    position: Any = place
    if isinstance(place, str):  # a token
        position = position.start_pos
    elif not isinstance(place, int):
        position = place.meta.start_pos
    return GrammarError("Lark", seen=seen, expected=expected, hint=hint, position=position)


def show_place(text: str, error: GrammarError) -> GrammarError:
    """The error with the line and column of its offset in the text, and a caret under it.

    >>> print(show_place("start: vlaue", refusal(7, 'unknown name "vlaue"', "a rule's name", 'did you mean "value"?')))
    Lark line 1, column 8: unknown name "vlaue", expected a rule's name
      start: vlaue
             ^ did you mean "value"?
    """
    return grammar_error(text, error.position, error.seen, error.expected, error.hint, "Lark")
