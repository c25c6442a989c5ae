r"""Six common output languages, each as a grammar in GBNF with example texts; all engines get the same grammars.

JSON as defined by RFC 8259, two JSON Schemas as grammars, XML with nested tags, a small language of statements
similar to Python's with fixed indentation, and SQL with conditions in parentheses and nested selects.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from guidedviz.bench.masks.cases import PEOPLE, PERSON, Case
from guidedviz.machines.pushdown.pda import JSON_GBNF
from guidedviz.machines.schema.json_schema import schema_gbnf

JSON_TEXTS = (
    '{"name": "Ada Lovelace", "born": 1815, "notes": ["A", "G"], "alive": false, "spouse": null}',
    '[{"x": -1.5e3, "y": [0, [1, [2, []]]]}, {"k\\u00e9y": "tab\\t, na\u00efve \\"caf\u00e9\\""}, {}]',
    '{\n  "users": [\n    {"id": 1, "tags": ["a", "b"], "home": {"city": "Z\u00fcrich", "zip": "8001"}},\n'
    '    {"id": 2, "tags": [], "home": null}\n  ],\n  "next": "https://example.com/users?page=2"\n}',
)


def call(name: str, required: list[str], **arguments: Any) -> dict[str, Any]:
    """The schema of a call to one function."""
    return record(name={"const": name}, arguments=record(required, **arguments))


def record(required: list[str] | None = None, /, **properties: Any) -> dict[str, Any]:
    """The schema of an object with these keys; by default all keys are required."""
    wanted = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": wanted, "additionalProperties": False}


TEXT, WHOLE, NUMBER = ({"type": name} for name in ("string", "integer", "number"))
CALLS = {
    "type": "array",
    "minItems": 1,
    "items": {
        "anyOf": [
            call("get_weather", ["city"], city=TEXT, unit={"enum": ["celsius", "fahrenheit"]}),
            call("search", ["query"], query=TEXT, limit=WHOLE, sites={"type": "array", "items": TEXT}),
            call("transfer", ["source", "target", "amount"], source=TEXT, target=TEXT, amount=NUMBER),
        ]
    },
}
CALL_TEXTS = (
    '[{"name": "get_weather", "arguments": {"city": "Z\u00fcrich", "unit": "celsius"}}]',
    '[{"name": "search", "arguments": {"query": "pushdown automata", "limit": 5, "sites": ["arxiv.org", "acm.org"]}}, '
    '{"name": "get_weather", "arguments": {"city": "Paris"}}]',
    '[{"name": "transfer", "arguments": {"source": "CH93 0076", "target": "DE89 3704", "amount": 250.75}}]',
)

XML_GBNF = r"""root      ::= prolog? element "\n"?
prolog    ::= "<?xml version=\"1.0\"?>\n"
element   ::= "<" name attribute* space? ("/>" | ">" content "</" name space? ">")
content   ::= text? ((element | comment | cdata) text?)*
attribute ::= space name "=" ("\"" ([^<&"] | entity)* "\"" | "'" ([^<&'] | entity)* "'")
comment   ::= "<!--" ("-"? [^\-])* "-->"
cdata     ::= "<![CDATA[" [^\]]* "]]>"
entity    ::= "&" ("lt" | "gt" | "amp" | "quot" | "apos" | "#" [0-9]+) ";"
text      ::= ([^<&] | entity)+
name      ::= [a-zA-Z_] [a-zA-Z0-9_.\-]*
space     ::= [ \t\n\r]+
"""
XML_TEXTS = (
    '<note date="2026-11-21"><to>Tove</to><from>Jani</from><body>Don\'t forget me &amp; mine!</body></note>',
    '<?xml version="1.0"?>\n<svg width="40" height="20">\n  <g fill=\'none\'>\n    <circle r="3"/>\n  </g>\n</svg>\n',
    "<ul><!-- a list --><li>caf\u00e9</li><li><b>bold <i>and</i></b></li><li><![CDATA[a < b]]></li></ul>",
)

CODE_GBNF = r"""root      ::= (function | line)+
function  ::= "def " name "(" (name (", " name)*)? "):\n" inner+
inner     ::= "    " (simple "\n" | "if " expr ":\n" deep+ ("    else:\n" deep+)? | "for " name " in " expr ":\n" deep+)
deep      ::= "        " simple "\n"
line      ::= simple? "\n"
simple    ::= "return " expr | "pass" | target (" = " | " += ") expr | expr
target    ::= name ("." name | "[" expr "]")*
expr      ::= compare ((" and " | " or ") compare)*
compare   ::= sum ((" == " | " != " | " < " | " > " | " in ") sum)?
sum       ::= product ((" + " | " - ") product)*
product   ::= unary ((" * " | " / " | " % ") unary)*
unary     ::= ("-" | "not ")? atom ("." name | "(" items? ")" | "[" expr "]")*
atom      ::= name | number | string | "(" expr ")" | "[" items? "]" | "{" (pair (", " pair)*)? "}"
items     ::= expr (", " expr)*
pair      ::= expr ": " expr
name      ::= [a-zA-Z_] [a-zA-Z0-9_]*
number    ::= [0-9]+ ("." [0-9]+)?
string    ::= "\"" ([^"\\\n] | "\\" [\\nt"])* "\""
"""
CODE_TEXTS = (
    "def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\n",
    "def count(words):\n    seen = {}\n    for word in words:\n        seen[word] = seen.get(word, 0) + 1\n"
    "    return seen\n",
    'total = sum([price * (1 + rate), 3.5])\nprint("total:\\t", -total / len(items[0].prices))\n',
)

SQL_GBNF = r"""root      ::= select ";"
select    ::= "SELECT " ("DISTINCT ")? columns " FROM " source join* where? group? order? limit?
columns   ::= "*" | column (", " column)*
column    ::= value (" AS " name)?
source    ::= name (" " alias)? | "(" select ") AS " name
alias     ::= [a-z] [a-z0-9]?
join      ::= (" LEFT" | " INNER")? " JOIN " source " ON " condition
where     ::= " WHERE " condition
group     ::= " GROUP BY " field (", " field)* (" HAVING " condition)?
order     ::= " ORDER BY " field (" DESC" | " ASC")? (", " field (" DESC" | " ASC")?)*
limit     ::= " LIMIT " [1-9] [0-9]*
condition ::= test ((" AND " | " OR ") test)*
test      ::= "NOT "? (compare | "(" condition ")" | "EXISTS (" select ")")
compare   ::= value (operator value | " IS NULL" | " LIKE " string | " IN (" (select | value (", " value)*) ")")
operator  ::= " = " | " <> " | " < " | " > " | " <= " | " >= "
value     ::= term ((" + " | " - " | " * " | " / ") term)*
term      ::= field | number | string | function | "(" (value | select) ")"
function  ::= ("COUNT" | "SUM" | "AVG" | "MIN" | "MAX") "(" ("*" | value) ")"
field     ::= name ("." name)?
name      ::= [a-z_] [a-z0-9_]*
number    ::= [0-9]+ ("." [0-9]+)?
string    ::= "'" ([^'] | "''")* "'"
"""
SQL_TEXTS = (
    "SELECT name, price * 1.2 AS gross FROM products WHERE price > 10 AND (stock = 0 OR name LIKE '%caf\u00e9%');",
    "SELECT c.country, COUNT(*) AS orders FROM customers c LEFT JOIN orders o ON o.customer = c.id "
    "GROUP BY c.country HAVING COUNT(*) > 5 ORDER BY orders DESC LIMIT 10;",
    "SELECT * FROM users WHERE id IN (SELECT author FROM posts WHERE NOT (likes < 3 OR title = 'it''s')) "
    "AND EXISTS (SELECT * FROM logins l WHERE l.day >= '2026-11-01');",
)


@lru_cache(maxsize=1)
def build_languages() -> tuple[Case, ...]:
    """All six languages; the first three also as schemas, for the real engines' own parsers."""
    return (
        Case("JSON", JSON_TEXTS, grammar=JSON_GBNF, schema={}),
        Case("four fields", PEOPLE, grammar=schema_gbnf(PERSON), schema=PERSON),
        Case("function calls", CALL_TEXTS, grammar=schema_gbnf(CALLS), schema=CALLS),
        Case("XML", XML_TEXTS, grammar=XML_GBNF),
        Case("code", CODE_TEXTS, grammar=CODE_GBNF),
        Case("SQL", SQL_TEXTS, grammar=SQL_GBNF),
    )
