"""Guides of schemas that are asked for again: a server gets the same few schemas with each request.

A guide is kept by what its schema says, not by its text or object, so that a schema that was read anew from JSON finds
it. The order of keys counts, because texts have it, too. A kept guide also has the masks that were asked for before.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.machines.schema.values import load_schema
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

MOST_SCHEMA_GUIDES = 8  # each keeps up to 128 MB of masks


@dataclass(frozen=True)
class KeptSchema:
    """A schema, compared by what it says: numbers are exact, and 1 is not 1.0."""

    said: str
    schema: Any = field(compare=False, repr=False)


def schema_guide(schema: Any, vocabulary: Vocabulary, **settings: Any) -> Guide:
    """The guide of a schema, with the settings of `json_schema`; the latest ones are kept.

    >>> v = gv.Vocabulary([b"1", b"2"])
    >>> first = schema_guide('{"const": 1}', v)
    >>> schema_guide({"const": 1}, v) is first, schema_guide({"const": 2}, v) is first
    (True, False)
    """
    loaded = load_schema(schema)
    try:
        said = repr(loaded)
    except RecursionError:
        return guide(json_schema(loaded, **settings), vocabulary)  # which raises the error of its own
    return _keep(KeptSchema(said, loaded), vocabulary, **settings)


@lru_cache(maxsize=MOST_SCHEMA_GUIDES)
def _keep(kept: KeptSchema, vocabulary: Vocabulary, **settings: Any) -> Guide:
    return guide(json_schema(kept.schema, **settings), vocabulary)


def kept_guides() -> Any:
    """How many schemas were kept when they were asked for, and how many were not: `hits` and `misses`."""
    return _keep.cache_info()
