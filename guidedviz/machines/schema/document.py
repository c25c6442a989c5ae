"""The document of a schema: its places with a name, and what references mean."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urljoin

from guidedviz.errors import nearest, quoted
from guidedviz.machines.schema.keywords import SAYS_NOTHING, subschemas
from guidedviz.machines.schema.places import below, refusal, show_path
from guidedviz.machines.schema.subschema import Subschema
from guidedviz.machines.work import spend

DRAFT = re.compile(r"json-schema\.org/draft-0?(\d+)/")

MOST_REFS = 20


class Document:
    """The places in a document that references can name."""

    def __init__(self, root: Any) -> None:
        self.root = Subschema("#", root)
        declared = root.get("$schema") if isinstance(root, dict) else None
        found = DRAFT.search(declared) if isinstance(declared, str) else None
        self.draft = int(found[1]) if found else 2020
        self.old_ids = found is None or self.draft <= 4
        self.bases: dict[str, str] = {}  # the path of a resource -> its URI
        self.named: dict[str, Subschema] = {"": self.root}  # URI, or URI#anchor
        self.dynamic: dict[str, dict[str, Subschema]] = {}  # name of a $dynamicAnchor -> base -> its schema
        self.scanned: set[str] = set()
        self.scan(self.root)

    def scan(self, start: Subschema) -> None:
        """Note the names of every schema below another one."""
        waiting = [start]
        while waiting:
            part = waiting.pop()
            spend(1 + len(part.path) // 20)  # of a very deep schema the paths cost most
            if isinstance(part.schema, dict) and part.path not in self.scanned:
                self.scanned.add(part.path)
                waiting.extend(subschemas(self.note(part)))

    def note(self, part: Subschema) -> Subschema:
        """Note the names of one schema; the schema in its own resource."""
        schema = part.schema
        own = schema.get("$id", schema.get("id") if self.old_ids else None)
        anchors = [name if isinstance(name := schema.get(key), str) else "" for key in ("$anchor", "$dynamicAnchor")]
        if isinstance(own, str) and not self.stands_alone(part):
            uri, _, fragment = own.partition("#")
            if uri:
                part = replace(part, base=join_uris(part.base, uri))
                self.bases[part.path] = part.base
                self.named.setdefault(part.base, part)
            anchors.append(fragment if not fragment.startswith("/") else "")
        for anchor in filter(None, anchors):
            self.named.setdefault(f"{part.base}#{anchor}", part)
        if anchors[1] or schema.get("$recursiveAnchor") is True:  # of draft 2019-09: an anchor without a name
            self.dynamic.setdefault(anchors[1], {}).setdefault(part.base, part)
        return part

    def enter(self, part: Subschema) -> Subschema:
        """The subschema in its resource, and in its scope: for each $dynamicAnchor the outermost resource with it."""
        base = self.bases.get(part.path, part.base)
        known = dict(part.scope)
        more = [(name, base) for name, found in self.dynamic.items() if base in found and name not in known]
        if not more and base == part.base:
            return part
        return replace(part, base=base, scope=tuple(sorted((*part.scope, *more))))

    def stands_alone(self, part: Subschema) -> bool:
        """Whether keywords beside a $ref have no effect, as before draft 2019-09."""
        return "$ref" in part.schema and self.draft <= 7

    def target(self, part: Subschema, key: str) -> Subschema:
        """The subschema that a reference means.

        >>> root = {"$defs": {"a/b": {"type": "null"}}, "$ref": "#/$defs/a~1b"}
        >>> Document(root).target(Subschema("#", root), "$ref").path
        '#/$defs/a~1b'
        """
        ref, at = part.schema[key], below(part.path, key)
        uri, _, fragment = ref.partition("#") if isinstance(ref, str) else ("", "", "")
        uri = join_uris(part.base, uri) if uri else part.base
        if not isinstance(ref, str) or uri not in self.named:
            raise refusal(at, quoted(ref), "a path into this schema, such as #/$defs/name")
        if not fragment or fragment.startswith("/"):
            found = self.walk(self.named[uri], fragment, ref, at)
        elif f"{uri}#{fragment}" not in self.named:
            near = nearest(fragment, [name.partition("#")[2] for name in self.named if "#" in name])
            raise refusal(at, quoted(ref), "a path into this schema, or an $anchor that exists", near)
        else:
            found = self.named[f"{uri}#{fragment}"]
        anchors, outer = self.dynamic.get(fragment, {}), dict(part.scope).get(fragment)
        if key != "$ref" and outer is not None and found in anchors.values():
            found = anchors[outer]
        return replace(found, sign=part.sign, scope=part.scope)

    def walk(self, part: Subschema, pointer: str, ref: str, at: str) -> Subschema:
        """The subschema at a JSON pointer below another one."""
        for step in pointer.split("/")[1:]:
            key, inside = unquote(step).replace("~1", "/").replace("~0", "~"), part.schema
            if isinstance(inside, list):
                inside = {str(place): item for place, item in enumerate(inside)}
            if not isinstance(inside, dict) or key not in inside:
                names = [name for name in inside if isinstance(name, str)] if isinstance(inside, dict) else []
                expected = f"a path that exists; {show_path(part.path)} has no {quoted(key)}"
                raise refusal(at, quoted(ref), expected, nearest(key, names))
            part = part.at(inside[key], key)
            part = replace(part, base=self.bases.get(part.path, part.base))
        self.scan(part)
        return part

    def resolve(self, part: Subschema) -> Subschema:
        """The subschema that a reference means, if there is nothing else in the schema."""
        for _ in range(MOST_REFS):
            part = self.enter(part)
            if not isinstance(part.schema, dict) or "$ref" not in part.schema:
                break
            if part.schema.keys() - SAYS_NOTHING != {"$ref"} and not self.stands_alone(part):
                break
            part = self.target(part, "$ref")
        return part


def join_uris(base: str, uri: str) -> str:
    """A URI relative to another; one that Python's urljoin cannot read is kept as it is."""
    try:
        return urljoin(base, uri)
    except ValueError:
        return uri
