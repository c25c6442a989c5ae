"""What lab 02 says in prose is what its outputs show."""

import pytest

from tests.labs.solved import read_solved

LAB = read_solved("02_static_masks")


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("The only digit in the training text", "How many different digits", "DIGIT tokens 1"),
        ("`char_classes` counts 10", "How many different digits", "PUNCT tokens 10"),
        ("nearly all likely tokens are illegal", "lower_first", "26 legal, Z 1 in 1,200"),
        ("The ratio of each pair is the same", "one of them twice as likely", "s / t before 1.189 after 1.189"),
        ("At the last position one token is legal", "gv.views.draw_positions(run)", "position 5: 1 of 65 legal"),
        ("200 of 200 texts fit", "How many different words", "200 of 200 fit, 157 of them different"),
        ("The same seed gives the text of the stage", "written = write(", r"stage: 'manag\n' yours: 'manag\n'"),
        ("Z falls at position 3, where the word *man*", "legal mass Z at each", "3: a Z 0.03, 4: g Z >0.99"),
        ("at position 5, where *manage* could go on", "legal mass Z at each", "5: ↵ Z 1 in 230,000"),
        ("only a word of seven letters can fit", "are one word and then one new line", "13 the others"),
        ("as in the picture", "are one word and then one new line", "position 3: 27 of 65 legal, ↵ drawn"),
    ],
)
def test_a_figure_in_the_prose_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in " ".join(LAB.output_of(words).split())


def test_the_largest_list_of_two_masks_inside_the_hours_has_twenty_texts():
    hours = {f"{hour:02}" for hour in range(24)}
    firsts = [{"0", "1"}, {"0", "1", "2"}, {"2"}]
    seconds = [set.intersection(*({hour[1] for hour in hours if hour[0] == one} for one in first)) for first in firsts]
    assert max(len(first) * len(second) for first, second in zip(firsts, seconds, strict=True)) == 20
