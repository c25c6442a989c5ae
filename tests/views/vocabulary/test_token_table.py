"""State x token: every cell against the guide itself."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.tokens.index import build_index
from guidedviz.views.vocabulary.tables import MOST_STATE_ROWS, MOST_TOKEN_COLUMNS, token_groups

TOY = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>", b"<script>", b"\n", b"4.2", b""], eos={5})
NUMBER = r"[0-9]+(\.[0-9]+)?"


@pytest.fixture(scope="module")
def clerk():
    return gv.load_model("clerk").vocabulary


def test_each_cell_of_a_small_table_is_what_the_guide_says():
    guide = gv.guide(gv.regex(NUMBER), TOY)
    _, *rows = gv.views.draw_token_table(guide).alt.split("; ")
    for state, row in enumerate(rows):
        mask = guide.mask(state)
        legal = [token for token in TOY.order.tolist() if mask[token]]
        cells = [f"{TOY.display(token)}→q{guide.advance(state, token)}" for token in legal]
        assert row == f"q{state}: {' '.join(cells)}"


@pytest.mark.parametrize(
    ("text", "columns"), [(NUMBER, 4), (r'\{"name": "[A-Za-z ]{1,30}", "age": [0-9]{1,3}\}', MOST_TOKEN_COLUMNS)]
)
def test_of_many_tokens_those_that_lead_alike_share_a_column_and_the_largest_groups_have_one(clerk, text, columns):
    guide = gv.guide(gv.regex(text), clerk)
    index = build_index(guide.machine, clerk)
    groups = token_groups(index, clerk.order.astype(np.int64))
    assert len(groups) == columns
    for group in groups:
        rows = index.after[index.kind[group]].tolist()
        assert len({tuple(row) for row in rows}) == 1
    hidden = len(clerk) - sum(map(len, groups))
    drawn = gv.views.draw_token_table(guide).svg
    assert (f"{hidden:,} more tokens no column" in drawn) == bool(hidden)


def test_only_so_many_states_have_a_row_and_the_rest_is_said():
    drawn = gv.views.draw_token_table(gv.guide(gv.regex("x{100}"), TOY))
    assert f"{101 - MOST_STATE_ROWS} more states have no row" in drawn.svg
