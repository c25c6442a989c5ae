"""What lab 04 says in prose and no output of it shows, measured."""

from pathlib import Path

import nbformat
import pytest

import guidedviz as gv
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import parse_regex

LAB = Path(__file__).resolve().parents[2] / "labs" / "04_regex_to_tokens.ipynb"
DECIMAL = r"[0-9]+(\.[0-9]+)?"  # in Rust, \d is more digits than ours


@pytest.fixture(scope="module")
def llama3():
    return gv.Vocabulary.llama3()


def test_no_token_of_llama3_has_a_point_and_a_digit(llama3):
    pieces = [llama3.pieces[token] for token in llama3.text_ids]
    assert not [piece for piece in pieces if b"." in piece and any(byte in b"0123456789" for byte in piece)]


def test_outlines_core_loses_the_point(llama3):
    core = pytest.importorskip("outlines_core")
    text, (end, *_) = set(llama3.text_ids), sorted(llama3.eos)
    ids: dict[bytes, list[int]] = {}
    for token in text:
        ids.setdefault(llama3.pieces[token], []).append(token)
    index = core.Index(DECIMAL, core.Vocabulary(end, ids))
    after = index.get_next_state(index.get_initial_state(), llama3.ids(b"3")[0])
    allowed = [llama3.pieces[token] for token in index.get_allowed_tokens(after) if token != end]
    assert len(allowed) == 1110
    assert all(piece.isdigit() for piece in allowed), "whole numbers and nothing else"


def test_the_clumsy_regex_has_so_many_states():
    clumsy = r"\d+|\d+\.\d+|\d+,\d+"
    assert len(build_nfa(parse_regex(clumsy))) == 16
    assert len(gv.sketches.dfa_frames(clumsy)[-1].names) == 6
    assert [len(build_nfa(parse_regex(f"[ab]*a[ab]{{{n}}}"))) for n in (4, 5, 6)] == [8, 9, 10]


def test_numbers_in_the_prose_are_those_of_the_outputs():
    cells = nbformat.read(LAB, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    shown = str([cell.outputs for cell in cells if cell.cell_type == "code"])
    for said, output in {"3,959": "3959 legal", "0.0003": "p 0.0003", "64 tokens": "64 legal"}.items():
        assert said in prose
        assert output in shown


def test_what_the_first_guided_record_shows():
    clerk, text = gv.load_model("clerk", device="cpu"), {"type": "string"}
    age = {"type": "integer", "minimum": 0, "maximum": 120}
    person = {"type": "object", "properties": {"name": text, "age": age, "city": text}}
    machine = gv.json_schema(person | {"required": ["name", "age", "city"]})
    prompt = "Hi! Tamsin Okoro is 42 years old and lives in Varnhem.\nJSON with name, age, city:\n"
    steps = gv.record(clerk, prompt, gv.guide(machine, clerk.vocabulary)).steps
    assert f"{steps[0].mass:.2f}" == "0.58"
    assert {b"Sure", b"Here", b"Of"} <= {c.piece for c in steps[0].candidates if c.raw > 0.05 and not c.legal}
    assert min(step.mass for step in steps[2:]) > 0.85
    assert steps[0].legal == 2
    comma = next(step for step in steps if step.piece == b",")
    assert comma.legal == 1
