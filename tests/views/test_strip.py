"""In a strip a token that was appended without a pass has a dark dashed frame, and one that was taken back no fill."""

import re

import guidedviz as gv


def test_a_forced_token_is_dashed_in_ink_and_a_token_that_was_taken_back_has_no_fill():
    toy = gv.ToyModel([b"n", b"o", b"no", b"t", b"!"], lambda tokens: [5, 4, 3, 2, 1])
    guide = gv.guide(gv.regex("(n|x)o[t!]"), toy.vocabulary)
    svg = gv.draw_strip(gv.record(toy, "t", guide, temperature=0, jump_forward=True)).svg
    back, forced, chosen = re.findall(r"<rect [^>]*fill-opacity[^>]*>", svg)
    assert 'fill-opacity="0"' in back
    assert "--gv-ink" in forced
    assert "stroke-dasharray" in forced
    assert 'fill-opacity="0"' not in chosen
