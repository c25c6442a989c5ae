"""Texts with which a stranger runs a script or fetches something, and the places of a record where a text may stand.

In a text, RUN is a script that says that it ran, and ASK an address that nobody has; both carry a number.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
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
}
NAMES = list(TEXTS)
LONG = TEXTS["script"] * 5000  # 100 kB
SHAPES = [  # what no drawing has
    ["script", {}, "RUN"],
    ["svg", {"onload": "RUN"}, ["g", {"onclick": "RUN", "onfocus": "RUN", "tabindex": 0, "autofocus": ""}]],
    ["g:iframe", {"xmlns:g": "http://www.w3.org/1999/xhtml", "srcdoc": "<script>RUN</script>"}],
    ["iframe", {"xmlns": "http://www.w3.org/1999/xhtml", "srcdoc": "<script>RUN</script>", "src": "javascript:RUN"}],
    ["foreignObject", {}, ["img", {"src": "ASK", "onerror": "RUN"}]],
    ["image", {"href": "ASK", "xlink:href": "ASK", "onerror": "RUN"}],
    ["image", {"href": "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='RUN'/>"}],
    ["use", {"href": "ASK#a", "xlink:href": "data:image/svg+xml,<svg id='a' onload='RUN'/>#a"}],
    ["style", {}, "@import 'ASK'; *{background:url(ASK)}"],
    ["rect", {"style": "fill:url(ASK);background:url(ASK)", "fill": "url(ASK)", "mask": "url(ASK#a)"}],
    ["rect", {"fill": "none;background:url(ASK)", "class": 'gv-x" onload=RUN', "cursor": "url(ASK)"}],
    ["rect", {"filter": "url(ASK#a)", "clip-path": "url(ASK#a)"}],
    ["a", {"href": "javascript:RUN"}, ["animate", {"attributeName": "href", "to": "javascript:RUN", "onbegin": "RUN"}]],
    ["text", {"__proto__": {"x": 1}, "constructor": "RUN"}, "<script>RUN</script>", ["tspan", None, 7], None, {"a": 1}],
    ["g", {"data-commandlinker-command": "terminal:create-new", "data-commandlinker-args": "{}"}],  # JupyterLab runs it
    [["script"], {}, "RUN"],
    [],
]


def text(name: str, number: int) -> str:
    """A hostile text; what it does carries the number.

    >>> text("script", 7)
    '<script>top.ran=7</script>'
    """
    return TEXTS[name].replace("RUN", f"top.ran={number}").replace("ASK", f"{SENTINEL}{number}")


def shape(place: int, number: int) -> Any:
    """A hostile shape; what it does carries the number."""
    return json.loads(
        json.dumps(SHAPES[place]).replace("RUN", f"top.ran={number}").replace("ASK", f"{SENTINEL}{number}")
    )


Path = tuple[str | int, ...]


def find_places(value: Any) -> dict[str, list[Path]]:
    """Where in a record a text, a number or a flag stands. Items of a list that are alike are one place; so are shapes.

    >>> find_places({"rows": [[1, "a"], [2, "b"]], "note": ""})
    {'rows[].0': [('rows', 0, 0), ('rows', 1, 0)], 'rows[].1': [('rows', 0, 1), ('rows', 1, 1)], 'note': [('note',)]}
    >>> list(find_places(["svg", {"x": 1}, ["g", {}, "a", ["g", {"x": 2}]]]))
    ['element', 'attributes.x', 'words']
    """
    return _group(value, lambda inside: not isinstance(inside, dict | list))


def find_dicts(value: Any) -> dict[str, list[Path]]:
    """Where in a record a dictionary stands, which may have a key that nobody expects."""
    return _group(value, lambda inside: isinstance(inside, dict))


def find_shapes(value: Any) -> dict[str, list[Path]]:
    """Where in a record a shape stands, inside which there may be another one."""
    return _group(value, _is_shape)


def _group(value: Any, wanted: Callable[[Any], bool]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for name, path, inside in _walk(value, "", ()):
        if wanted(inside):
            found.setdefault(name.removeprefix("."), []).append(path)
    return found


def _walk(value: Any, name: str, path: Path) -> Iterator[tuple[str, Path, Any]]:
    yield name, path, value
    for part, key, inside in _parts(value):
        yield from _walk(inside, name + part, (*path, key))


def _parts(value: Any) -> Iterator[tuple[str, str | int, Any]]:
    """The parts of a list or a dictionary: the name of their place, their key, and what they are."""
    if _is_shape(value):
        yield from ((".element", 0, value[0]), (".attributes", 1, value[1]))
        yield from (("" if _is_shape(inside) else ".words", at, inside) for at, inside in enumerate(value[2:], 2))
    elif isinstance(value, dict):
        numbered = all(not key.replace("-", "_").replace(":", "_").isidentifier() for key in value)
        yield from ((".*" if numbered else f".{key}", key, inside) for key, inside in value.items())
    elif isinstance(value, list):
        alike = len({_kind(inside) for inside in value}) == 1
        yield from (("[]" if alike else f".{at}", at, inside) for at, inside in enumerate(value))


def _is_shape(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and isinstance(value[0], str) and isinstance(value[1], dict)


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)


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
    copy = json.loads(json.dumps(value))
    for path, new in changes.items():
        inside = at(copy, path[:-1])
        if isinstance(inside, list):
            inside[path[-1] : path[-1] + 1] = [new]
        else:
            inside[path[-1]] = new
    return copy


FIRST = 1_000_000  # the numbers of the texts have seven digits
NUMBER = re.compile(r"(?:ran=|ran: |invalid/)(\d{7})")
PROBE = "\N{SNOWMAN}<img src=x onerror=alert(1)>"  # no base64, no Latin-1, no number, no name
STYLES = ["value of CSS", "paint", "out of an attribute"]  # for what is a number
Seen = tuple[str, list[str]]  # why a page did not show a record, "" if it did; the hostile numbers that it shows


class Attack:
    """Shows a record again and again with other texts, and notes what happens, and because of which place.

    `show` takes records and whether to press everything; `faults` says what happened since it was last called.
    """

    def __init__(
        self, record: Any, show: Callable[[list[Any], bool], list[Seen]], faults: Callable[[], list[str]]
    ) -> None:
        self.record, self._show, self._faults = record, show, faults
        places = find_places(record)
        self.texts = {name: paths for name, paths in places.items() if type(at(record, paths[0])) is str}
        self.others = {name: paths for name, paths in places.items() if name not in self.texts}
        self.dicts = {f"{name}, a key more": paths for name, paths in find_dicts(record).items()}
        self.shapes = {f"{name}, a shape inside": paths for name, paths in find_shapes(record).items()}
        self.names = [*places, *self.dicts, *self.shapes]
        self.needed: list[str] = []  # places where any other text makes that the record is not shown
        self.shown: set[str] = set()  # places whose texts were seen on a page
        self.faults: set[str] = set()

    def run(self, rounds: int, alone: int = 3, guess: Collection[str] = ()) -> None:
        """Try every place: all together so many times with other texts, and those that are needed as they are alone.

        Which these are is found out, sooner with a guess.
        """
        self.try_all([{}], pressed=True)
        for places, names, count in (self.texts, NAMES, rounds), (self.others, STYLES, len(STYLES)):
            needed = [name for name in places if name.endswith(".element")]  # without it a drawing shows nothing
            rest = {name: paths for name, paths in places.items() if name not in needed}
            needed += self._find_needed(rest, guess)
            free = {name: paths for name, paths in places.items() if name not in needed}
            self.try_all([self.write(free, turn, names) for turn in range(count) if free], pressed=True)
            self.try_all([self.write({name: places[name]}, turn, names) for name in needed for turn in range(alone)])
            self.needed += needed
        self.try_all([{paths[0]: LONG for paths in self.texts.values()}])
        self.try_all([self.add_keys(turn) for turn in range(2)])
        self.try_all([self.add_shapes(5 * turn) for turn in range(3) if self.shapes])

    def try_all(self, tries: list[dict[Path, Any]], pressed: bool = False) -> list[str]:
        """Show the record with each set of changes, and say of each why it was not shown."""
        said = self._show([put(self.record, changes) for changes in tries], pressed)
        self.faults |= {f"{self._read(what)}: {what[:160]}" for what in self._faults()}
        self.shown |= {self._read(number).partition(" <- ")[0] for _, numbers in said for number in numbers}
        return [failed for failed, _ in said]

    def report(self, surface: str) -> None:
        """Print which places were tried (see `pytest -rP`); fail if anything happened, or if few texts were seen."""
        seen = self.shown & self.texts.keys()
        tried = f"{len(self.texts)} texts ({len(seen)} seen on the page), "
        tried += f"{len(self.others)} numbers and flags, {len(self.dicts)} dictionaries, {len(self.shapes)} drawings"
        print(f"{surface}: {tried}; {len(self.needed)} places only as they are")
        assert not self.faults, "\n".join(sorted(self.faults)[:40])
        free = self.texts.keys() - set(self.needed)
        assert len(seen) >= 0.3 * len(free), sorted(free - seen)

    def write(self, places: dict[str, list[Path]], turn: int, names: list[str] = NAMES) -> dict[Path, Any]:
        """A hostile text at each of these places; two that are alike have different ones."""
        return {
            path: self._spell(place, names[(5 * turn + 7 * number + count) % len(names)])
            for number, (place, paths) in enumerate(places.items())
            for count, path in enumerate(paths)
        }

    def add_keys(self, turn: int) -> dict[Path, Any]:
        """Keys that nobody expects in every dictionary."""
        said = self.write(self.dicts, turn).items()
        return {(*path, key): value for path, key in said for key, value in ((key, key), ("__proto__", {"own": key}))}

    def add_shapes(self, turn: int) -> dict[Path, Any]:
        """A shape that no drawing has inside every shape; those of one drawing have different ones."""
        return {
            (*path, len(at(self.record, path))): self._shape(place, (turn + count) % len(SHAPES))
            for place, paths in self.shapes.items()
            for count, path in enumerate(paths)
        }

    def _find_needed(self, places: dict[str, list[Path]], guess: Collection[str]) -> list[str]:
        guessed = [[name] for name in places if name in guess]
        groups = [[name for name in places if name not in guess], *guessed]
        found = list[str]()
        while groups:
            tries = [{path: PROBE for name in group for path in places[name]} for group in groups]
            failed = [group for group, why in zip(groups, self.try_all(tries), strict=True) if why]
            found += [group[0] for group in failed if len(group) == 1]
            groups = [half for group in failed if len(group) > 1 for half in (group[::2], group[1::2])]
        return found

    def _number(self, place: str, which: int) -> int:
        return FIRST + 100 * self.names.index(place) + which

    def _spell(self, place: str, name: str) -> str:
        return text(name, self._number(place, NAMES.index(name)))

    def _shape(self, place: str, which: int) -> Any:
        return shape(which, self._number(place, which))

    def _read(self, what: str) -> str:
        """The place and the name of the text whose number stands in what was seen."""
        if not (found := NUMBER.search(what)):
            return "a place"
        at, which = divmod(int(found[1]) - FIRST, 100)
        place = self.names[at]
        return f"{place} <- {f'shape {which}' if place in self.shapes else NAMES[which]}"
