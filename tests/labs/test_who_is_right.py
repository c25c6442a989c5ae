"""What the page on the engines says is what its outputs show."""

import json
from pathlib import Path

import pytest

from tests.labs.solved import read_solved

ROOT = Path(__file__).resolve().parents[2]
PAGE = read_solved("deeper/who_is_right")
NESTED, DECIMAL, MUSEUM = "Brackets around an", "After `3` the number", "Fourteen kinds"


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("they agree at every place but one", NESTED, "xgrammar: differs in 1 of 4"),
        ("though its own `accept_token` takes it", NESTED, "its mask omits what its accept takes: in 1, first before ))"),
        ("With forcing, llguidance omits `)`", NESTED, "forced only, the canonical token of a forced run: in 1"),
        ("the point alone", DECIMAL, "drops a token that leaves an end with its last byte: in 1, first before ."),
        ("asks every installed engine", MUSEUM, "RECORDED 20"),
    ],
)  # fmt: skip
def test_what_the_page_says_stands_in_an_output(said, words, shown):
    assert said in PAGE.prose + PAGE.output_of(words)
    assert shown in PAGE.output_of(words)


def test_the_museum_is_the_recorded_survey():
    """The table in the page has each kind and each name of assets/differences.json, and no other."""
    record = json.loads((ROOT / "assets/differences.json").read_text())
    seen = {(row["kind"], row["name"]) for row in record["rows"] if row["kind"] not in ("cannot take it", "stops")}
    head, *lines = PAGE.output_of(MUSEUM).split("RECORDED ")[1].splitlines()[:15]
    assert {(line[:15].strip(), line[15:69].strip()) for line in lines} == seen
    assert (len(seen), sum(kind == "known fault" for kind, _ in seen)) == (14, 9)
    assert head.startswith(record["about"]["date"][:10])
    assert all(version in record["about"]["versions"] for version in head.partition(": ")[2].split(", "))
