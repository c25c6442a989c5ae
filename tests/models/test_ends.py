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
@pytest.mark.quick("numpy")
def test_the_settings_the_tokenizer_and_the_template_each_name_ends(folder, device):
    vocabulary = gv.load_model(str(folder), device).vocabulary
    assert vocabulary.eos == {0, 4094, 4095}
    assert {4093, 4094, 4095} <= vocabulary.special
    (folder / "generation_config.json").unlink()
    (folder / "chat_template.jinja").write_text(CHATML.replace("im_end", "stop"))
    assert gv.load_model(str(folder), device).vocabulary.eos == {0, 4095}


@pytest.mark.parametrize(
    ("engine", "machine"),
    [("index", gv.regex("(ab)+")), ("split", gv.grammar('root ::= "ab" root?')), ("trie", gv.regex("(ab)+"))],
    ids=["index", "split", "trie"],
)
def test_all_ends_are_legal_exactly_where_a_text_may_end(model, engine, machine):
    guide = gv.guide(machine, model.vocabulary, engine)
    state = guide.initial
    legal = []
    for token in (*model.encode("a"), *model.encode("b")):
        legal.append(legal_ends(guide, state))
        state = guide.advance(state, token)
    assert [*legal, legal_ends(guide, state)] == [set(), set(), {0, 4094, 4095}]


@pytest.mark.parametrize("end", [0, 4094, 4095])
def test_any_end_stops_a_decode_also_on_a_host(model, far_model, end):
    for one in (model, far_model):
        trace = gv.record(one, one.chat("ab"), regex_guide(one, "a*"), bias={end: 100.0})
        assert trace.tokens == (end,)
        assert trace.steps[-1].end == "eos"
        assert trace.text == ""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return gv.load_model(str(build_folder(tmp_path_factory.mktemp("ends") / "mine")), "numpy")


@pytest.fixture(scope="module")
def far_model(model):
    with hosting(model) as host:
        yield host.model()


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
