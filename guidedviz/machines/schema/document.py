"""The document of a schema: its places with a name, and what references mean.

{"$defs": {"node": A}, "$ref": "#/$defs/node"}      the reference means A; an $anchor or an $id is a name, too
"""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urljoin

from guidedviz.errors import nearest, quoted
from guidedviz.machines.schema.subschema import ANNOTATIONS, Scope, Subschema, subschemas
from guidedviz.machines.schema.values import below, schema_error, show_path
from guidedviz.machines.work import spend

DRAFT = re.compile(r"json-schema\.org/draft-0?(\d+)/")
MOST_REFERENCES = 20  # one behind the other


class Document:
    """The places in a document that references can name."""

    def __init__(self, root: Any) -> None:
        self.root = Subschema("#", root)
        named = DRAFT.search(text_or_empty(root.get("$schema"))) if isinstance(root, dict) else None
        draft = int(named[1]) if named else None
        self.old_ids = draft is None or draft <= 4
        self.alone = draft is not None and draft <= 7  # keywords beside a $ref have no effect
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
        dynamic = text_or_empty(schema.get("$dynamicAnchor"))
        anchors = [text_or_empty(schema.get("$anchor")), dynamic]
        if not (self.alone and "$ref" in schema):
            own = schema.get("$id", schema.get("id") if self.old_ids else None)
            uri, _, fragment = text_or_empty(own).partition("#")
            if uri:
                part = replace(part, base=join_uris(part.base, uri))
                self.bases[part.path] = part.base
                self.named.setdefault(part.base, part)
            if not fragment.startswith("/"):
                anchors.append(fragment)
        for anchor in filter(None, anchors):
            self.named.setdefault(f"{part.base}#{anchor}", part)
        if dynamic or schema.get("$recursiveAnchor") is True:  # of draft 2019-09: an anchor without a name
            self.dynamic.setdefault(dynamic, {}).setdefault(part.base, part)
        return part

    def enter(self, part: Subschema) -> Subschema:
        """The subschema in its resource, and in its scope: for each $dynamicAnchor the outermost resource with it.

        Before draft 2019-09, keywords beside a $ref have no effect and are left out.
        """
        if self.alone and isinstance(part.schema, dict) and "$ref" in part.schema and len(part.schema) > 1:
            part = replace(part, schema={"$ref": part.schema["$ref"]})
        base = self.bases.get(part.path, part.base)
        scope = dict(part.scope)
        for name, found in self.dynamic.items():
            if base in found:
                scope.setdefault(name, base)
        if base == part.base and len(scope) == len(part.scope):
            return part
        return replace(part, base=base, scope=tuple(sorted(scope.items())))

    def target(self, part: Subschema, key: str) -> Subschema:
        """The subschema that a reference means.

        >>> root = {"$defs": {"a/b": {"type": "null"}}, "$ref": "#/$defs/a~1b"}
        >>> Document(root).target(Subschema("#", root), "$ref").path
        '#/$defs/a~1b'
        """
        ref = part.schema[key]
        place = below(part.path, key)
        uri, _, fragment = text_or_empty(ref).partition("#")
        resource = join_uris(part.base, uri) if uri else part.base
        if not isinstance(ref, str) or resource not in self.named:
            raise schema_error(place, quoted(ref), "a path into this schema, such as #/$defs/name")
        if not fragment or fragment.startswith("/"):
            found = self.follow_pointer(self.named[resource], fragment, ref, place)
        else:
            found = self.find_anchor(f"{resource}#{fragment}", ref, place)
        if key != "$ref":
            found = self.outermost(found, fragment, part.scope)
        return replace(found, sign=part.sign, scope=part.scope)

    def follow_pointer(self, part: Subschema, pointer: str, ref: str, place: str) -> Subschema:
        """The subschema at a JSON pointer below another one."""
        for step in pointer.split("/")[1:]:
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            inside = part.schema
            if isinstance(inside, list):
                inside = {str(number): item for number, item in enumerate(inside)}
            if not isinstance(inside, dict):
                inside = {}
            if key not in inside:
                expected = f"a path that exists; {show_path(part.path)} has no {quoted(key)}"
                raise schema_error(place, quoted(ref), expected, nearest(key, list(map(str, inside))))
            part = part.at(inside[key], key)
            part = replace(part, base=self.bases.get(part.path, part.base))
        self.scan(part)
        return part

    def find_anchor(self, name: str, ref: str, place: str) -> Subschema:
        """The subschema with this anchor."""
        if name not in self.named:
            anchors = [known.partition("#")[2] for known in self.named if "#" in known]
            near = nearest(name.partition("#")[2], anchors)
            raise schema_error(place, quoted(ref), "a path into this schema, or an $anchor that exists", near)
        return self.named[name]

    def outermost(self, found: Subschema, anchor: str, scope: Scope) -> Subschema:
        """What a dynamic reference means: the schema with the same anchor in the outermost resource that has it."""
        anchors = self.dynamic.get(anchor, {})
        outer = dict(scope).get(anchor)
        if outer is not None and found in anchors.values():
            return anchors[outer]
        return found

    def resolve(self, part: Subschema) -> Subschema:
        """The subschema that a reference means, if there is nothing else in the schema."""
        for _ in range(MOST_REFERENCES):
            part = self.enter(part)
            if not isinstance(part.schema, dict) or "$ref" not in part.schema:
                break
            if part.schema.keys() - ANNOTATIONS != {"$ref"}:
                break
            part = self.target(part, "$ref")
        return part


def text_or_empty(value: Any) -> str:
    """The text, or an empty one for a value that is no text."""
    return value if isinstance(value, str) else ""


def join_uris(base: str, uri: str) -> str:
    """A URI relative to another; one that Python's urljoin cannot read is kept as it is."""
    try:
        return urljoin(base, uri)
    except ValueError:
        return uri
