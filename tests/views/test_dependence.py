"""What a token depends on, as a picture."""

import guidedviz as gv
from guidedviz.decoding import Dependence, LeftOut

FOUND = Dependence(b"35", 0.98, (LeftOut((b" 3", b"5"), 0.01), LeftOut((b"<script>",), 0.99)))


def test_each_part_has_its_number_and_its_shade_and_the_words_say_what_they_mean():
    figure = gv.views.draw_dependence(FOUND)
    assert figure.text == '"35" has probability 0.98 · without ␣35 0.01 · without <script> 0.99'
    assert "probability of “35”, before the mask, without that part of the text" in figure.svg
    assert "not how the model computes it" in figure.svg
    assert 'fill-opacity="0.49' in figure.svg
    assert 'fill-opacity="0"' in figure.svg
    assert "<script>" not in figure.svg
