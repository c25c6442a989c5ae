"""What lab 12 says in prose is what its outputs show; what none of them shows is measured here."""

import pytest

import guidedviz as gv
from guidedviz.checks.machines import GIVEN, NAMED, SERVICE
from tests.labs.solved import read_solved

LAB = read_solved("12_when_it_goes_wrong")
output_of = LAB.output_of
ARGMAX, LOOP, BLANKS = "Which token does `argmax` give", "What does the model want to write", "Which setting repairs"
PEAR, RETRY, LEGAL, STORED = (
    "No pear was mentioned",
    "`retry(temperature=0)`",
    "The record names",
    "The stored masks allow",
)


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("Token 0 of Llama 3 is `!`", ARGMAX, "0 · !"),
        ("the regex needs a character that no token has", "gv.diagnose(gv.record(bard", "expects 4 5, and no token begins"),
        ("and each of them alone leaves some tokens", "rules = {", "'min_tokens': 4095, 'bad words': 4095} legal for all: set()"),
        ("allows only EOS after `yes`", "rules = {", "{'grammar': 1"),
        ("Here the run leaves the loop after 17 steps", "loop = gv.record", "10}}}" + r"\n" * 17 + "}' · 36 tokens"),
        ("wants to end, with 99.9%", LOOP, ">0.99 to forbidden"),
        ("The line break is the likeliest of the seven", LOOP, "↵ 1 in 67,000 to 1, } 1 in 130,000 to 0"),
        ("Z is small before the first blank: at step 13 it wanted a string", "gv.diagnose(loop)", "over-tight constraint, at step 13"),
        ("without its quote mark", "gv.diagnose(loop)", 'the model wanted "box" (0.99)'),
        ("The bracket is likelier, and the run ends", BLANKS, "space    19 tokens"),
        ("loops inside a string until the limit", BLANKS, "compact  60 tokens"),
        ("A tighter rule is not a safer rule", BLANKS, "repetition loop"),
        ("The toy model wants line breaks", "NAMED = ", "whitespace loop"),
        ("Each output parses", "service = {", '{"product": "pear", "price": 12}'),
        ("`pear` for an umbrella, with Z = 0.002", PEAR, "4 pear Z 1 in 520"),
        ("At step 12 it wants the point", PEAR, "12 } Z 1 in 9,000"),
        ("At step 4 the model wants `umbrella`", "gv.diagnose(pear)", 'the model wanted "umbrella" (>0.99) and took "pear"'),
        ("`gv.diagnose` names the first only", "gv.diagnose(pear)", "Z is below 0.1 at 2 of 14 steps"),
        ("and the sum is wrong", "lemons = ", "31 + 25 = 59"),
        ("Some faults leave no trace at all", "lemons = ", "the run looks sound"),
        ("all seeds give the same wrong text", RETRY, "1 (None, 10)"),
        ("With sampling the fourth call is right", RETRY, "31 + 25 = 56. Answer: 56', 4)"),
        ("This service catches an error and goes on", "def serve", "Sure, here is the JSON:"),
        ("The service caught the error", LEGAL, "at each of 21 steps all 4,096 tokens were legal"),
        ("So `!` is written until the limit", STORED, "op!!!!!!!!!!!!!!!!!! stale mask"),
    ],
)  # fmt: skip
def test_what_is_said_is_what_is_shown(said, words, shown):
    assert said in LAB.prose
    assert shown in output_of(words)


def test_the_lab_gives_what_its_checks_expect():
    code = "\n".join(cell.source for cell in LAB.cells if cell.cell_type == "code")
    given = code.split("NAMED = r'''")[1].split("'''")[0]
    assert given.split() == GIVEN[NAMED].split()
    scope = {}
    exec(next(cell.source for cell in LAB.cells if cell.source.startswith("service =")).split("umbrella =")[0], scope)
    assert scope["service"] == SERVICE


def test_the_model_wants_the_end_at_the_first_blank_and_seven_tokens_are_legal():
    clerk = gv.load_model("clerk")
    prompt = "The box holds a bag, which holds a box, which holds a bag, which holds a box.\nNested JSON:\n"
    step = gv.record(clerk, prompt, gv.guide(gv.json(), clerk.vocabulary), temperature=0).steps[17]
    assert step.candidates[0].token in clerk.vocabulary.eos
    assert (round(step.candidates[0].raw, 3), step.legal, round(step.mass, 5)) == (0.999, 7, 0.00002)
    assert step.piece == b"\n"


def test_the_stale_masks_name_the_ids_of_n_and_o():
    pieces = gv.load_model("clerk").vocabulary.pieces
    shifted = [b"<|tool|>", *pieces[:-1]]
    ids = [shifted.index(piece) for piece in (b"n", b"o")]
    assert [pieces[token] for token in (*ids, 1)] == [b"o", b"p", b"!"]


def test_the_number_of_the_puzzle_is_33():
    bard = gv.load_model("bard")
    digits = [piece for piece in bard.vocabulary.pieces if piece.isdigit()]
    guide = gv.guide(gv.regex("[A-Z]+ [0-9]{2}:"), bard.vocabulary)
    runs = [gv.record(bard, "\n", guide, seed=seed) for seed in range(3)]
    assert digits == [b"3"]
    assert {run.text[-4:] for run in runs} == {" 33:"}
    assert [step.legal for step in runs[0].steps[-3:]] == [1, 1, 1]
