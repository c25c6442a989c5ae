"""Finds the part that a reference means: by path, by anchor, or by the URI of a part with `$id`, in one document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urljoin

from guidedviz.machines.schema.document.paths import Located, below, nearest, refusal, shown
from guidedviz.machines.work import spend

ONE = "additionalProperties contains not if then else propertyNames unevaluatedItems unevaluatedProperties".split()
ONE += ["additionalItems", "contentSchema", "items"]
Scope = tuple[tuple[str, str], ...]  # a $dynamicAnchor, the base of the outermost resource that has it
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
MAPS = "properties patternProperties $defs definitions dependentSchemas dependencies".split()
DRAFT = re.compile(r"json-schema\.org/draft-0?(\d+)/")


class References:
    """The places in a document that references can name."""

    def __init__(self, root: Any) -> None:
        self.root = root
        declared = root.get("$schema") if isinstance(root, dict) else None
        found = DRAFT.search(declared) if isinstance(declared, str) else None
        self.draft = int(found[1]) if found else 2020
        self.explicit = found is not None
        self.bases: dict[int, str] = {}  # id of a part -> the URI of its resource
        self.named: dict[str, Located] = {"": (root, "#")}  # URI, or URI#anchor
        self.dynamic: dict[str, dict[str, Located]] = {}  # name of a $dynamicAnchor -> base -> its part
        self.recursive = 0  # the number of parts with $recursiveAnchor
        self.scan(root, "#", "")

    def scan(self, part: Any, path: str, base: str) -> None:
        """Note the base of every schema below a part, and its anchors."""
        waiting = [(part, path, base)]
        while waiting:
            part, path, base = waiting.pop()
            spend(1 + len(path) // 20)  # of a very deep schema the paths cost most
            if isinstance(part, dict) and id(part) not in self.bases:
                base = self.note(part, path, base)
                waiting.extend((inner, at, base) for inner, at in subschemas(part, path))

    def note(self, part: dict[str, Any], path: str, base: str) -> str:
        """Note the names of one part; its own base."""
        own = part.get("$id", part.get("id") if not self.explicit or self.draft <= 4 else None)
        if isinstance(own, str) and not (self.draft <= 7 and "$ref" in part):
            uri, _, fragment = own.partition("#")
            if uri:
                base = join(base, uri)
                self.named.setdefault(base, (part, path))
            if fragment and not fragment.startswith("/"):
                self.named.setdefault(f"{base}#{fragment}", (part, path))
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(part.get(key), str):
                self.named.setdefault(f"{base}#{part[key]}", (part, path))
        if isinstance(part.get("$dynamicAnchor"), str):
            self.dynamic.setdefault(part["$dynamicAnchor"], {}).setdefault(base, (part, path))
        self.recursive += part.get("$recursiveAnchor") is True
        self.bases[id(part)] = base
        return base

    def find(self, schema: dict[str, Any], key: str, path: str, scope: Scope = ()) -> Located:
        """The part that a reference in this schema means.

        >>> root = {"$defs": {"a/b": {"type": "null"}}, "$ref": "#/$defs/a~1b"}
        >>> References(root).find(root, "$ref", "#")
        ({'type': 'null'}, '#/$defs/a~1b')
        """
        ref, at = schema[key], below(path, key)
        if not isinstance(ref, str):
            raise refusal(at, shown(ref), "a path into this schema, such as #/$defs/name")
        base = self.bases.get(id(schema), "")
        uri, _, fragment = ref.partition("#")
        uri = join(base, uri) if uri else base
        if key == "$recursiveRef" and self.recursive > 1:
            raise refusal(at, "more than one $recursiveAnchor", "one, or $ref")
        if uri not in self.named:
            raise refusal(at, shown(ref), "a path into this schema, such as #/$defs/name")
        if fragment and not fragment.startswith("/"):
            if f"{uri}#{fragment}" not in self.named:
                near = nearest(fragment, [name.partition("#")[2] for name in self.named if "#" in name])
                raise refusal(at, shown(ref), "a path into this schema, or an $anchor that exists", near)
            found = self.named[f"{uri}#{fragment}"]
            outer = dict(scope).get(fragment)
            dynamic = key == "$dynamicRef" and found[0].get("$dynamicAnchor") == fragment
            return self.dynamic[fragment][outer] if dynamic and outer is not None else found
        part, where = walk(self.named[uri], fragment, ref, at)
        self.scan(part, where, uri)
        return part, where

    def enter(self, schema: Any, scope: Scope) -> Scope:
        """The scope inside a schema: for each $dynamicAnchor the outermost resource that has it."""
        base = self.bases.get(id(schema), "")
        known = dict(scope)
        more = [(name, base) for name, found in self.dynamic.items() if base in found and name not in known]
        return tuple(sorted((*scope, *more))) if more else scope


def join(base: str, uri: str) -> str:
    """A URI relative to another; one that Python's urljoin cannot read is kept as it is."""
    try:
        return urljoin(base, uri)
    except ValueError:
        return uri


def walk(start: Located, pointer: str, ref: str, at: str) -> Located:
    """The part at a JSON pointer below another part."""
    part, found = start
    for step in pointer.split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(part, dict) and key in part:
            part = part[key]
        elif isinstance(part, list) and key.isdecimal() and key == str(int(key[:9])) and int(key) < len(part):
            part = part[int(key)]
        else:
            near = nearest(key, [name for name in part if isinstance(name, str)]) if isinstance(part, dict) else ""
            raise refusal(at, shown(ref), f"a path that exists; {found} has no {shown(key)}", near)
        found = below(found, key)
    return part, found


def subschemas(part: dict[str, Any], path: str) -> Iterator[Located]:
    """The schemas directly inside a schema."""
    for key in ONE:
        if isinstance(part.get(key), dict):
            yield part[key], below(path, key)
    for key in LISTS:
        if isinstance(part.get(key), list | tuple):
            at = below(path, key)
            yield from ((inner, below(at, place)) for place, inner in enumerate(part[key]))
    for key in MAPS:
        if isinstance(part.get(key), dict):
            at = below(path, key)
            yield from ((inner, below(at, name)) for name, inner in part[key].items() if isinstance(inner, dict))
