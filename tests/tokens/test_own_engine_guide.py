"""A class of one's own is an engine: a guide gives its masks, and says where they are against the machine."""

from random import Random

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.errors import IllegalToken, SettingError
from tests.checks.answers.own_engine import engine_space
from tests.common import assert_alike, choose_tokens

MyEngine = engine_space()["MyEngine"]
PIECES = [b"(", b")", b"x", b"x)", b"((", b"", b"</s>", b"x"]
V = gv.Vocabulary(PIECES, eos={6}, special={6})
NESTED = 'root ::= "(" root ")" | "x"'


class WithArrays(MyEngine):
    def mask(self, state):
        mask = np.zeros(len(self.pieces), bool)
        mask[list(super().mask(state))] = True
        return mask


@pytest.mark.parametrize("machine", [gv.grammar(NESTED), gv.regex(r"\(*x?\)?")], ids=["grammar", "regex"])
def test_its_masks_states_and_ends_are_those_of_our_engine(machine):
    ours = gv.guide(machine, V)
    for engine in (MyEngine, WithArrays):
        own = gv.guide(machine, V, engine=engine)
        for seed in range(10):
            assert_alike(own, ours, choose_tokens(ours, Random(seed), 8))


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


@pytest.mark.parametrize("mask", [7, {True}, {99}, "ab"])
def test_a_mask_of_another_form_is_an_error_that_says_so(mask):
    class Wrong(MyEngine):
        def mask(self, state):
            return mask

    guide = gv.guide(gv.regex("x"), V, engine=Wrong)
    with pytest.raises(SettingError, match="the mask of your engine: saw "):
        guide.mask(guide.initial)


def test_what_has_no_table_is_refused():
    with pytest.raises(SettingError, match=r"an engine of your own: saw .*, expected a regex, a grammar or a schema"):
        gv.guide(gv.earley('root ::= root "a" | "a"'), V, engine=MyEngine)
    with pytest.raises(SettingError, match="guide, engine: saw 7"):
        gv.guide(gv.regex("a"), V, engine=7)
