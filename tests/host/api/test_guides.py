"""Claims about the guides that the host keeps."""

import json

from guidedviz.host.api.plan import Guides, plan_constraint
from guidedviz.host.api.request import read_chat
from tests.host.api.asking import CHAT


def plan_of(schema, vocabulary):
    """The plan of a request for a schema, as it came over the wire."""
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": "HERE"}}
    body = json.dumps(CHAT | {"response_format": wanted}).replace('"HERE"', schema)
    return plan_constraint("", read_chat(body.encode()).constraint, vocabulary, [])


def test_a_schema_that_is_asked_again_has_the_guide_that_it_had(clerk):
    guides = Guides(clerk.vocabulary, 2)
    first = guides.of(plan_of('{"const": 1}', clerk.vocabulary))
    assert guides.of(plan_of('{ "const":  1 }', clerk.vocabulary)) is first
    assert guides.of(plan_of('{"const": true}', clerk.vocabulary)) is not first
    assert guides.of(plan_of('{"const": 1}', clerk.vocabulary)) is first


def test_the_guide_that_was_asked_longest_ago_makes_room(clerk):
    guides = Guides(clerk.vocabulary, 2)
    first, second = (guides.of(plan_of(f'{{"const": {number}}}', clerk.vocabulary)) for number in (1, 2))
    guides.of(plan_of('{"const": 1}', clerk.vocabulary))
    guides.of(plan_of('{"const": 3}', clerk.vocabulary))
    assert guides.of(plan_of('{"const": 1}', clerk.vocabulary)) is first
    assert guides.of(plan_of('{"const": 2}', clerk.vocabulary)) is not second
