"""A class of one's own is an engine: a guide gives its masks, and says where they are against the machine."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.errors import IllegalToken, SettingError
from tests.checks.answers.own_engine import engine_space
from tests.common import legal_tokens

MyEngine = engine_space()["MyEngine"]
PIECES = [b"(", b")", b"x", b"x)", b"((", b"", b"</s>", b"x"]
V = gv.Vocabulary(PIECES, eos={6}, special={6})
NESTED = 'root ::= "(" root ")" | "x"'


@pytest.mark.parametrize("machine", [gv.grammar(NESTED), gv.regex(r"\(*x?\)?")], ids=["grammar", "regex"])
def test_its_masks_states_and_ends_are_those_of_our_engine(machine):
    own = gv.guide(machine, V, engine=MyEngine)
    ours = gv.guide(machine, V)
    waiting = [(own.initial, ours.initial)]
    for mine, state in waiting[:40]:
        assert own.mask(mine).tolist() == ours.mask(state).tolist()
        assert own.is_accepting(mine) == ours.is_accepting(state)
        assert own.forced(mine) == ours.forced(state)
        for token in np.flatnonzero(own.mask(mine) & V.text_mask):
            if len(waiting) < 40:
                after = ours.advance(state, token)
                waiting.append((own.advance(mine, token), after))


def test_it_decodes_and_jumps_like_ours():
    clerk = gv.load_model("clerk")
    person = gv.regex(r'\{"name": "(Ada|Grace)"\}')
    prompt = "Ada is 36.\nJSON with name:\n"
    ways = {"temperature": 0, "jump_forward": "longest"}
    words = clerk.vocabulary
    guides = [gv.guide(person, words, engine=engine) for engine in ("auto", MyEngine)]
    runs = [gv.record(clerk, prompt, guide, **ways) for guide in guides]
    assert runs[0].text == runs[1].text
    assert runs[0].passes == runs[1].passes


def test_it_is_a_logits_processor():
    guide = gv.guide(gv.grammar(NESTED), V, engine=MyEngine)
    processor = gv.LogitsProcessor(guide)
    for row in ([[0]], [[0, 0]], [[0, 0, 2]]):
        zeros = np.zeros((1, len(V)), np.float32)
        scores = processor(np.array(row), zeros)
    legal = np.flatnonzero(np.isfinite(scores[0]))
    assert legal.tolist() == [1]  # after (x


class Careless(MyEngine):
    def mask(self, state):
        return super().mask(state) | {1}


def test_a_token_against_the_machine_is_explained_in_these_words():
    guide = gv.guide(gv.grammar(NESTED), V, engine=Careless)
    why = guide.explain(guide.initial, 1)
    assert why.legal
    assert why.reason.startswith("Careless allows it, against the machine: ")
    with pytest.raises(IllegalToken, match="Careless refuses token 1"):
        guide.advance(guide.initial, 1)


@pytest.mark.parametrize("mask", [7, {True}, {99}, {-1}, "ab", None, [1.5]])
def test_a_mask_of_another_form_is_an_error_that_says_so(mask):
    class Wrong(MyEngine):
        def mask(self, state):
            return mask

    guide = gv.guide(gv.regex("x"), V, engine=Wrong)
    with pytest.raises(SettingError, match="the mask of your engine: saw "):
        guide.mask(guide.initial)


def test_a_mask_may_be_an_array():
    class Array(MyEngine):
        def mask(self, state):
            mask = np.zeros(len(self.pieces), bool)
            mask[list(super().mask(state))] = True
            return mask

    nested = gv.grammar(NESTED)
    mine = gv.guide(nested, V, engine=Array)
    ours = gv.guide(nested, V)
    assert legal_tokens(mine, mine.initial) == legal_tokens(ours, ours.initial)


def test_what_has_no_table_is_refused():
    with pytest.raises(SettingError, match=r"an engine of your own: saw .*, expected a regex, a grammar or a schema"):
        gv.guide(gv.earley('root ::= root "a" | "a"'), V, engine=MyEngine)
    with pytest.raises(SettingError, match="guide, engine: saw 7"):
        gv.guide(gv.regex("a"), V, engine=7)
