"""Claims about models with several tokens that end a text: all are legal where it may end, and each stops a decode."""

import pytest

import guidedviz as gv
from guidedviz.models.chat import ChatTemplate
from guidedviz.models.tokenizer import Tokenizer
from tests.common import legal_tokens, regex_guide
from tests.host.running import hosting
from tests.models.chat_folder import CHATML, build_folder


def legal_ends(guide, state):
    return {0, 4093, 4094, 4095}.intersection(legal_tokens(guide, state))


@pytest.fixture
def folder(tmp_path):
    return build_folder(tmp_path / "mine")


@pytest.mark.parametrize("device", ["numpy", "torch"])
def test_the_settings_the_tokenizer_and_the_template_each_name_ends(folder, device):
    vocabulary = gv.load_model(str(folder), device).vocabulary
    assert vocabulary.eos == {0, 4094, 4095}
    assert {4093, 4094, 4095} <= vocabulary.special
    (folder / "generation_config.json").unlink()
    (folder / "chat_template.jinja").write_text(CHATML.replace("im_end", "stop"))
    assert gv.load_model(str(folder), device).vocabulary.eos == {0, 4095}


def test_all_ends_are_legal_exactly_where_a_text_may_end_and_any_stops_a_decode(folder):
    model = gv.load_model(str(folder), "numpy")
    with hosting(model) as host:
        for one in (model, host.model()):
            assert one.vocabulary.eos == {0, 4094, 4095}
            regex = gv.regex("(ab)+")
            grammar = gv.grammar('root ::= "ab" root?')
            for engine, machine in (("index", regex), ("split", grammar), ("trie", regex)):
                guide = gv.guide(machine, one.vocabulary, engine)
                state = guide.initial
                legal = []
                for token in (*one.encode("a"), *one.encode("b")):
                    legal.append(legal_ends(guide, state))
                    state = guide.advance(state, token)
                assert legal == [set(), set()]
                assert legal_ends(guide, state) == {0, 4094, 4095}
            for end in (0, 4094, 4095):
                guide = regex_guide(one, "a*")
                trace = gv.record(one, one.chat("ab"), guide, bias={end: 100.0})
                assert trace.tokens == (end,)
                assert trace.steps[-1].end == "eos"
                assert trace.text == ""


TOKENS = {"<|im_start|>": 4093, "<|im_end|>": 4094}


@pytest.mark.parametrize(
    ("source", "end"),
    [
        (CHATML, "<|im_end|>"),
        ("{% for m in messages %}<|im_start|>{{ m.content }}\n{% endfor %}", "<|im_start|>"),
        ("{% for m in messages %}{{ m.content }} {% endfor %}", None),
        ("{{ raise_exception('no') }}", None),
        ("{{ messages[0].content }}", None),
    ],
)
def test_the_end_of_a_turn_is_what_follows_an_answer_in_the_template(folder, source, end):
    assert ChatTemplate(source, Tokenizer(folder)).end_of_turn() == TOKENS.get(end)
