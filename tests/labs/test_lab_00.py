"""The true answers of the predictions of lab 00 are what its outputs show."""

from tests.labs.solved import read_solved

LAB = read_solved("00_start_here")


def test_two_of_ten_outputs_parse_after_the_greeting_and_nineteen_of_twenty_without_it():
    assert LAB.output_of("print([parses(text)").count("True") == 2
    assert LAB.output_of("print([parses(gv.record(").count("True") == 19
    assert LAB.output_of("Of these ten outputs").startswith("2\n")
    assert LAB.output_of("And the plain prompt").startswith("19\n")


def test_read_prints_an_error_for_the_output_with_the_greeting():
    assert "json.loads: Expecting value" in LAB.output_of("What does `read` print")
