"""Texts that a stranger writes to run a script or to fetch something, and the places of a record where a text may stand.

In a text, RUN is a script that says that it ran, and ASK an address that nobody has; both carry a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

SENTINEL = "http://sentinel.invalid/"
XHTML = 'xmlns:g="http://www.w3.org/1999/xhtml"'
TEXTS = {
    "script": "<script>RUN</script>",
    "out of a script": "</script><script>RUN</script>",
    "out of every element": "</textarea></title></style></noscript></select></svg></table><img src=ASK onerror=RUN>",
    "out of an attribute": "\"'><img src=ASK onerror=RUN>",
    "attribute": "\" ' onfocus=RUN autofocus tabindex=0 onmouseover=RUN style=background:url(ASK) x=",
    "event of a shape": '<svg xmlns="http://www.w3.org/2000/svg" onload="RUN"><g onclick="RUN"/></svg>',
    "prefixed frame": f'<g:iframe {XHTML} srcdoc="&lt;script&gt;RUN&lt;/script&gt;"/>',
    "prefixed image": f'<g:img {XHTML} src="ASK"/>',
    "prefixed script": f"<g:script {XHTML}>RUN</g:script>",
    "image": "<image href='ASK'/><img src='ASK'><svg><image xlink:href='ASK'/></svg><video poster='ASK'></video>",
    "use": "<use href='ASK#a'/><use xlink:href='data:image/svg+xml,&lt;svg id=\"a\" onload=\"RUN\"/&gt;#a'/>",
    "foreign object": f'<foreignObject><g:img {XHTML} src="ASK" onerror="RUN"/></foreignObject>',
    "import": "<style>@import 'ASK';</style>",
    "import with an entity": "<style>@&#105;mport 'ASK';</style>",
    "escape of CSS": "<style>*{background:u\\72l(ASK)}</style>",
    "image set": '<style>*{background-image:image-set("ASK" 1x)}</style><rect style=\'fill:image-set("ASK" 1x)\'/>',
    "end of a style": "</style><style>*{background:url(ASK)}</style>",
    "value of CSS": "0;background:url(ASK);--x:0",
    "block of CSS": "}*{background:url(ASK);cursor:url(ASK),auto}*{",
    "paint": "url(ASK)",
    "link": "<a href='javascript:RUN' autofocus>x</a><link rel=stylesheet href='ASK'><base href='ASK'>",
    "address": "javascript:RUN",
    "page as an address": "data:text/html,<script>RUN</script>",
    "animation": '<animate attributeName="x" dur="1s" onbegin="RUN"/><set attributeName="href" to="javascript:RUN"/>',
    "frame": "<iframe src='javascript:RUN'></iframe><object data='ASK'></object><embed src='ASK'>",
    "refresh": "<meta http-equiv=refresh content='0;url=ASK'><form action=ASK><input autofocus onfocus=RUN>",
    "entities": "&lt;img src=ASK onerror=RUN&gt;&#60;script&#62;RUN&#60;/script&#62;",
    "CDATA": "]]><![CDATA[<script>RUN</script>]]><script>RUN</script>",
    "instruction": "<?xml-stylesheet href='ASK'?><!DOCTYPE svg [<!ENTITY x SYSTEM 'ASK'>]><svg>&x;</svg>",
    "comment": "<!--><img src=ASK onerror=RUN>--!><script>RUN</script>",
    "end of a text in a script": "');RUN;//\\');RUN;//\u2028RUN\u2029`;RUN;`${RUN}{{RUN}}",
    "names": "__proto__",
    "lone surrogates": "\ud800<img src=ASK onerror=RUN>\udc00",
    "NUL": "<\0script>RUN</\0script>\0<img src=ASK onerror=RUN>",
    "signs that are not seen": "\u202e\u2066\u200b\ufeff<img src=ASK onerror=RUN>\u2069\u202c",
    "Markdown": "[x](javascript:RUN) ![x](ASK) <ASK> `</code><img src=ASK onerror=RUN>`\n\n<script>RUN</script>",
    "MathJax": "$\\href{javascript:RUN}{x}$ \\(\\style{background:url(ASK)}{x}\\) $$\\includegraphics{ASK}$$",
    "Plotly": "<b>b</b><a href='javascript:RUN'>x</a><span style='background:url(ASK)'>x</span><br>",
    "terminal": "\x1b]8;;javascript:RUN\x1b\\x\x1b]8;;\x1b\\\x1b[31;<img src=ASK onerror=RUN>m",
    "dialog": "<img src=x onerror=alert(1)>",
    "long": "<img src=ASK onerror=RUN>" * 4000,  # 100 kB
}
NAMES = list(TEXTS)
# what stands for a name of a shape or of an attribute of one
WORDS = ["script", "iframe", "image", "foreignObject", "style", "a", "use", "set", "onload", "href", "src", "srcdoc"]


def text(name: str, number: int) -> str:
    """A hostile text; what it does carries the number.

    >>> text("script", 7)
    '<script>top.ran=7</script>'
    """
    return TEXTS[name].replace("RUN", f"top.ran={number}").replace("ASK", f"{SENTINEL}{number}")


Path = tuple[str | int, ...]


def find_places(value: Any) -> dict[str, list[Path]]:
    """Where in a record a text, a number or a flag stands; the items of a list that are alike are one place.

    >>> find_places({"rows": [[1, "a"], [2, "b"]], "note": ""})
    {'rows[].0': [('rows', 0, 0), ('rows', 1, 0)], 'rows[].1': [('rows', 0, 1), ('rows', 1, 1)], 'note': [('note',)]}
    """
    found: dict[str, list[Path]] = {}
    for name, path in _leaves(value, "", ()):
        found.setdefault(name.removeprefix("."), []).append(path)
    return found


def find_keys(value: Any) -> dict[str, list[Path]]:
    """Where in a record a dictionary stands, which may have a key that nobody expects."""
    found: dict[str, list[Path]] = {}
    for name, path in _dicts(value, "", ()):
        found.setdefault(name.removeprefix("."), []).append(path)
    return found


def _parts(value: Any) -> Iterator[tuple[str, str | int, Any]]:
    """The parts of a list or a dictionary: the name of their place, their key, and what they are."""
    if isinstance(value, dict):
        numbered = all(not key.isidentifier() for key in value)
        yield from ((".*" if numbered else f".{key}", key, inside) for key, inside in value.items())
    if isinstance(value, list):
        alike = len({_kind(inside) for inside in value}) == 1
        yield from (("[]" if alike else f".{at}", at, inside) for at, inside in enumerate(value))


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def _leaves(value: Any, name: str, path: Path) -> Iterator[tuple[str, Path]]:
    if not isinstance(value, dict | list):
        yield name, path
    for part, key, inside in _parts(value):
        yield from _leaves(inside, name + part, (*path, key))


def _dicts(value: Any, name: str, path: Path) -> Iterator[tuple[str, Path]]:
    if isinstance(value, dict):
        yield name, path
    for part, key, inside in _parts(value):
        yield from _dicts(inside, name + part, (*path, key))


def at(value: Any, path: Path) -> Any:
    """What stands at a place."""
    for key in path:
        value = value[key]
    return value


def put(value: Any, changes: dict[Path, Any]) -> Any:
    """A copy of a record with other texts at some places.

    >>> put({"a": [1, 2]}, {("a", 1): "x"})
    {'a': [1, 'x']}
    """
    copy = deepcopy(value)
    for path, new in changes.items():
        at(copy, path[:-1])[path[-1]] = new
    return copy
