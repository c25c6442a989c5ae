"""What lab 15 and its page for the teacher tell of `scout`, and no output shows, is measured here."""

import json

import pytest

import guidedviz as gv
from guidedviz.checks.turns import TURN_PARTS
from guidedviz.files import shipped
from tests.labs.sources import build, run_cells

NAME = "15_think_then_call"
CELLS = build.read_cells(build.read_source(NAME))
CODES = [code for kind, code in CELLS if kind == "code"]


@pytest.fixture(scope="module")
def lab():
    """The names of the lab after its first cells: the model, the tools, a prompt and two guides."""
    space = {}
    for code in CODES[:3]:
        exec(code, space)
    turn = gv.turn(space["tools"], choice="required")
    space["call"] = gv.guide(turn, space["vocabulary"])
    return space


def counts(way, what):
    """How many of how many, in the table of the model card."""
    rows = json.loads(shipped("models/scout/figures.json").read_text())["rows"]
    return next((row["hits"], row["of"]) for row in rows if (row["way"], row["what"]) == (way, what))


def test_the_figures_of_scout_are_those_of_its_card():
    assert counts("auto", "right") == (112, 150)
    assert counts("auto, no thoughts", "right") == (75, 150)
    assert counts("auto, thoughts of at most 8 tokens", "right") == (59, 150)
    assert counts("auto", "calls fit") == (120, 122)
    assert counts("auto", "calls right") == (109, 122)
    assert counts("required", "calls right") == (122 - 11, 122)
    false = "the answer says the false result"
    assert [counts(f"marks read as {how}", false) for how in ("text", "special tokens")] == [(0, 77), (69, 77)]


def test_the_check_of_a_turn_has_the_rules_of_the_lab():
    """The turns that it shows are turns of these rules, and it knows no tool that a student has not seen."""
    space = {}
    rules = next(code for code in CODES if "PARTS = " in code)
    exec(rules.partition("\n\n\n")[0], space)
    assert space["PARTS"] == TURN_PARTS


def test_the_stage_of_the_conversation_opens_at_the_end_of_the_thought(lab):
    [shown] = [code for code in CODES if "gv.stage(gv.decoding.Conversation" in code]
    question = "What is the price of the lamp plus 30?"
    first = next(gv.converse(lab["scout"], question, lab["tools"], temperature=0))
    assert "show=24)" in shown
    assert lab["vocabulary"].display(first.steps[23].token) == "</think>"


def test_the_server_that_waits_calls_after_a_thought_and_never_without(lab):
    waits = run_cells(NAME, "waits = ", **lab)["waits"]
    scout = lab["scout"]
    thought = gv.record(scout, lab["prompt"], waits, temperature=0)
    assert thought.parts[-2] == "</tool_call>"
    assert min(step.legal for step in thought.steps) == 1, "the mask holds"
    without_thought = scout.chat("What is 137 plus 248?", lab["tools"], think=False)
    silent = gv.record(scout, without_thought, waits)
    assert silent.text.startswith("137 plus 248 is")
    assert min(step.legal for step in silent.steps) > 4000, "no mask begins"


@pytest.mark.slow
def test_with_a_needless_call_the_answer_fails(lab):
    omar = "Omar lives in Cairo and works as a pilot. What is Omar's job?"
    scout = lab["scout"]
    tools = lab["tools"]
    [free] = gv.converse(scout, omar, tools, temperature=0)
    required = gv.converse(scout, omar, tools, temperature=0, choice="required")
    first, result, answer = required
    assert free.text.endswith("Omar works as a pilot.")
    assert "pilot" in first.text
    assert result.failed
    assert "pilot" not in answer.text


def test_the_numbers_of_legal_tokens_around_the_end_of_the_thought(lab):
    run = gv.record(lab["scout"], lab["prompt"], lab["call"], temperature=0)
    steps = run.steps
    assert len(lab["vocabulary"]) == 4104
    assert {step.legal for step in steps[1:21]} == {4019}
    around = [(step.legal, lab["vocabulary"].display(step.token)) for step in steps[20:23]]
    assert around == [(4019, "</think>"), (2, "↵"), (2, "↵")]


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "number", "total"), [("70", 30, "100"), ("45, then + 1000", 1000, "1045")])
def test_scout_adds_to_the_result_that_a_person_types_on_the_stage(lab, typed, number, total):
    talk = gv.converse(lab["scout"], "What is the price of the lamp plus 30?", lab["tools"], temperature=0)
    next(talk)
    next(talk)
    _, result, answer = [talk.send(typed), *talk]
    assert result.call.arguments == {"x": int(typed[:2]), "y": number}
    assert answer.text.endswith(f"is {total}.")


@pytest.mark.slow
def test_where_no_text_has_an_angle_bracket_scout_spells_a_call_without_markers(lab):
    """The answer to the puzzle."""
    assert "[^\\x00]" in TURN_PARTS
    machine = gv.grammar("root ::= thought answer" + TURN_PARTS.replace("[^\\x00]", "[^<]"))
    said = gv.record(lab["scout"], lab["prompt"], gv.guide(machine, lab["vocabulary"]), temperature=0, max_tokens=90)
    call = json.loads(said.parts[-1])
    assert call == {"name": "plus", "arguments": {"x": 137, "y": 248}}
