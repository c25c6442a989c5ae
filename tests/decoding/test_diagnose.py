"""Each broken run is diagnosed from its record, and sound runs are not."""

import re
import warnings
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
import tasks

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.tokens.guide import Guide
from tests.common import PERSON, constant_model, regex_guide

PAREN = 'root ::= ("(" root ")" | "[" root "]")*'
ADA = "Ada is 36.\nJSON with name, age:\n"
ONE_KEY = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@cache
def clerk():
    return gv.load_model("clerk")


def person_guide():
    return gv.guide(gv.json_schema(PERSON), clerk().vocabulary)


def writer(pieces, *wanted, eos=None):
    """A toy model that wants these pieces one after the other, then EOS, or without one the last of them again."""
    ending = [eos] if eos else []
    pieces = [*pieces, *ending]
    ids = [pieces.index(piece) for piece in [*wanted, *ending]]

    def rule(tokens):
        place = min(len(tokens), len(ids)) - 1
        return 8 * np.eye(len(pieces))[ids[place]]

    return gv.ToyModel(pieces, rule, eos=map(pieces.index, ending))


class Altered(Guide):
    """A guide over another vocabulary, or with another mask or end."""

    def __init__(self, guide, vocabulary=None, allowed=True, ends=True):
        self.guide = guide
        self.machine = guide.machine
        self.initial = guide.initial
        self.at = guide.at
        self.vocabulary = vocabulary or guide.vocabulary
        self.allowed = allowed
        self.ends = ends

    def mask(self, state):
        return self.guide.mask(state) & self.allowed

    def advance(self, state, token):
        return self.guide.advance(state, token)

    def is_accepting(self, state):
        return self.ends and self.guide.is_accepting(state)


# -- broken runs ---------------------------------------------------------------------------------------------------


def no_token_for_a_character(text=r"ab\$"):
    toy = writer([b"a", b"b"], b"a", b"b", eos=b"</s>")
    return gv.record(toy, "a", regex_guide(toy, text))


def emptied_by_another_rule(gives_way=False):
    """vllm #53665: the grammar allows only EOS, and min_tokens forbids it."""
    toy = writer([b"yes", b"no"], b"yes", eos=b"</s>")
    guide = regex_guide(toy, "yes|no")
    allowed = np.array([True, True, False])
    return gv.record(toy, "yes", Altered(guide, allowed=allowed, ends=gives_way))


def open_brackets(cure=lambda guide: guide):
    pieces = [b"(", b")", b"[", b"]", b"</s>"]
    toy = constant_model(pieces, [9, 0, 8, 0, 0], eos={4})
    guide = gv.guide(gv.grammar(PAREN), toy.vocabulary)
    return gv.record(toy, "(", cure(guide), max_tokens=40)


def blank_lines(whitespace="any"):
    pieces = [b"{", b"}", b'"a"', b":", b"1", b"\n", b" "]
    toy = writer(pieces, b"{", b"\n")
    guide = gv.guide(gv.json_schema(ONE_KEY, whitespace=whitespace), toy.vocabulary)
    return gv.record(toy, "{", guide, max_tokens=30)


def broken_lines(whitespace="compact"):
    after = {0: [0, 0, 5, 9, 0], 1: [0, 0, 0, 0, 9], 2: [0, 9, 0, 0, 0], 3: [0, 0, 9, 0, 0], 5: [9, 0, 0, 0, 0]}
    toy = gv.ToyModel([b"{", b"}", b'"a":1', b"\n", b"</s>", b"?"], lambda tokens: [*after[tokens[-1]], -9], eos={4})
    guide = gv.guide(gv.json_schema(ONE_KEY, whitespace=whitespace), toy.vocabulary)
    return gv.record(toy, "?", guide, max_tokens=30, temperature=0)


def the_same_words(text='[^"]*"'):
    def rule(tokens):
        return [0, 0, 5, 0] if tokens[-1] == 1 else [0, 5, 0, 0]

    toy = gv.ToyModel([b'"', b"ha", b" ", b"</s>"], rule, eos={3})
    return gv.record(toy, '"', regex_guide(toy, text), max_tokens=30, temperature=0)


def cut_in_the_middle(cure=lambda guide: guide, max_tokens=8):
    guide = cure(person_guide())
    return gv.record(clerk(), ADA, guide, max_tokens=max_tokens, temperature=0)


def a_limit_that_cuts_words(most=6):
    prompt = "The umbrella is red and costs $12.50.\nJSON with product, price:\n"
    guide = regex_guide(clerk(), rf'\{{"product": "[a-z]{{1,{most}}}", "price": [0-9.]+\}}')
    return gv.record(clerk(), prompt, guide, temperature=0)


def thinks_first(machine=None):
    pieces = [b"Hm", b", ", b"36", b"{", b"}"]
    toy = writer(pieces, b"Hm", b", ", b"36", eos=b"</s>")
    machine = machine or gv.regex(r"\{36\}")
    return gv.record(toy, "Hm", gv.guide(machine, toy.vocabulary))


def fell_back(guide=None):
    """The constraint does not compile, and the server goes on without it."""
    guide = guide and guide()
    return gv.record(clerk(), ADA, guide, constraint="schema of a person", max_tokens=20)


def other_tokenizer(anew=False):
    """The index of an old tokenizer is used for a new one, in which each id is one higher."""
    toy = constant_model([b"<new>", b"yes", b"no", b"x"], [3, 0, 5, 0])
    guide = regex_guide(toy, "yes|no")
    if not anew:
        stale = gv.guide(guide.machine, gv.Vocabulary([b"yes", b"no", b"x", b"</s>"]))
        guide = Altered(stale, vocabulary=toy.vocabulary)
    return gv.record(toy, "x", guide, max_tokens=3)


def a_ban_of_one_id(banned=(0,)):
    toy = constant_model([b"Sure", b"Sure", b"No"], [4.0, 4.0, 1.0])
    bias = dict.fromkeys(banned, -100)
    return gv.record(toy, "No", regex_guide(toy, "Sure|No"), bias=bias)


def a_keyword_with_a_typo(key="minimun"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gv.errors.SchemaWarning)
        machine = gv.json_schema({"type": "integer", key: 5, "maximum": 9})
    toy = writer([b"3", b"7"], b"3", eos=b"</s>")
    return gv.record(toy, "3", gv.guide(machine, toy.vocabulary))


WITHIN_20 = {"cure": partial(gv.within, tokens=20), "max_tokens": 20}
THOUGHT = {"machine": gv.regex(r"[ -z]*(\{36\}[ -z]*)*")}
RUNS = [  # a broken run, the name of its finding, what was seen, and what cures it
    (no_token_for_a_character, "empty mask", 'after "ab" the machine expects $, and no token begins', {"text": "ab"}),
    (emptied_by_another_rule, "empty mask", "state q3; the machine alone allows 1 token", {"gives_way": True}),
    (open_brackets, "unbounded nesting", "and 39 are open at the end", {"cure": partial(gv.within, tokens=40)}),
    (blank_lines, "whitespace loop", "29 tokens of whitespace in a row", {"whitespace": "space"}),
    (the_same_words, "repetition loop", 'the last 30 tokens repeat "ha␣"', {"text": '[^"]{0,9}"'}),
    (cut_in_the_middle, "cut in the middle", "its shortest end takes", WITHIN_20),
    (a_limit_that_cuts_words, "over-tight constraint", 'wanted "umbrella" (>0.99) and took "pear"', {"most": 30}),
    (broken_lines, "whitespace refused", 'the model wanted "↵"', {"whitespace": "any"}),
    (thinks_first, "early mask", 'the model wanted "Hm"', THOUGHT),
    (fell_back, "no mask", "names the constraint 'schema of a person'", {"guide": person_guide}),
    (other_tokenizer, "stale mask", "each token was legal by the mask, and the machine refuses", {"anew": True}),
    (a_ban_of_one_id, "same bytes, several ids", '"Sure" is the text of ids 0, 1', {"banned": (0, 1)}),
    (a_keyword_with_a_typo, "keyword not enforced", 'did you mean "minimum"?', {"key": "minimum"}),
]
CURES = {
    cut_in_the_middle: "more tokens (for gv.within 8 are too few: expected at least 20)",
    open_brackets: "gv.within(guide, 40), or a deepest level",
}


@pytest.mark.parametrize(("run", "name", "seen", "cure"), RUNS, ids=[run[0].__name__ for run in RUNS])
def test_a_broken_run_has_one_likely_cause_and_its_cure_ends_the_text_and_the_finding(run, name, seen, cure):
    (finding,) = gv.diagnose(run()).findings
    assert finding.name == name
    assert seen in finding.seen
    assert CURES.get(run, finding.cure) == finding.cure
    cured = run(**cure)
    assert name not in gv.diagnose(cured).names
    assert cured.steps[-1].end in ("eos", "complete")


def test_a_late_switch_is_seen_with_the_right_guide():
    """vllm #48516: a token holds the end of the reasoning and the first byte of the answer, and the mask comes late."""
    pieces = [b"</", b"think", b">{", b"{", b"1", b"}"]
    toy = writer([*pieces, b">"], *pieces, eos=b"</s>")
    run = gv.record(toy, "</", None)
    late = [replace(step, legal=1) for step in run.steps[3:]]
    run = replace(run, steps=(*run.steps[:3], *late))
    guide = regex_guide(toy, r"[A-Z]?[a-z]*(</think>\{1\})?")
    (finding,) = gv.diagnose(run, guide).findings
    assert (finding.name, finding.step) == ("text outside the language", 3)


# -- sound runs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ada-schema", "person-asked"])
def test_a_right_answer_in_another_layout_is_not_called_over_tight(name):
    run = gv.Trace.load(shipped(f"traces/smollm2/{name}.trace.json"))
    assert gv.diagnose(run).names == ("whitespace refused",)


@pytest.mark.slow
def test_no_sound_run_of_clerk_is_called_broken():
    """The constraints fit what the model writes."""
    for seed, (task, chatty) in zip(range(30), tasks.stream(3, held_out=True), strict=False):
        if not chatty and task.family != "reason":
            guide = regex_guide(clerk(), task.pattern)
            run = gv.record(clerk(), task.prompt, guide, temperature=seed % 2, seed=seed)
            assert gv.diagnose(run).names == (), run.text


def test_a_sound_run_is_sound_also_from_a_file_without_its_guide(bard, tmp_path):
    lines = regex_guide(bard, "[A-Za-z',.:;!?\n -]*")
    run = gv.record(bard, "KING:\n", lines, max_tokens=10)
    run.save(tmp_path / "run.json")
    kept = gv.Trace.load(tmp_path / "run.json")
    for said in (gv.diagnose(run), gv.diagnose(kept, lines), gv.diagnose(kept)):
        assert said.names == ()
    assert "this needs the guide" in str(said)


# -- what it says --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "alone"),
    [
        (no_token_for_a_character, ("empty mask",)),
        (a_keyword_with_a_typo, ()),
        (cut_in_the_middle, ("cut in the middle",)),
        (open_brackets, ("unbounded nesting",)),
    ],
)
def test_a_run_from_a_file_needs_the_guide_for_some_findings(tmp_path, run, alone):
    run = run()
    run.save(tmp_path / "run.json")
    kept = gv.Trace.load(tmp_path / "run.json")
    assert gv.diagnose(kept, run.guide).names == gv.diagnose(run).names
    assert gv.diagnose(kept).names == alone


def test_a_run_that_a_limit_ended_is_cut_unless_it_is_known_that_it_may_end_there(tmp_path):
    complete = gv.record(clerk(), "12", regex_guide(clerk(), "[0-9]*"), max_tokens=3)
    complete.save(tmp_path / "run.json")
    assert gv.diagnose(gv.Trace.load(tmp_path / "run.json")).names == ()
    free = gv.record(clerk(), ADA, max_tokens=2)
    assert gv.diagnose(free).names == ()
    unknown = gv.diagnose(replace(free, constraint="of a server", vocabulary_size=9999))
    assert "only the guide knows whether it is complete" in unknown.findings[0].seen
    assert "sound" not in str(unknown) + str(gv.diagnose(free))


def test_another_guide_than_that_of_the_run_is_named(tmp_path):
    run = a_limit_that_cuts_words(30)
    run.save(tmp_path / "run.json")
    kept = gv.Trace.load(tmp_path / "run.json")
    assert gv.diagnose(kept, run.guide).other_guide == ""
    other = gv.diagnose(kept, a_limit_that_cuts_words(9).guide)
    assert other.other_guide.startswith("the guide that was given is not that of the run: at step ")


def test_a_loop_that_follows_from_a_refusal_comes_after_it_also_from_a_file(tmp_path):
    prompt = "Ada Lovelace is 36 years old and lives in London.\nJSON with name, age, city:\n"
    run = gv.record(clerk(), prompt, regex_guide(clerk(), r'\{"name": "[A-Za-z ]+'), temperature=0, max_tokens=40)
    run.save(tmp_path / "run.json")
    for one in (run, gv.Trace.load(tmp_path / "run.json")):
        refused, loop = gv.diagnose(one).findings
        assert (refused.name, refused.step, loop.name) == ("over-tight constraint", 6, "repetition loop")
        assert "it might have ended before each of them; it follows from step 7" in loop.seen
        assert loop.cure == "first what is to try at step 7"
    (alone,) = gv.diagnose(the_same_words()).findings
    assert not re.search("follows|ended", alone.seen)


def test_a_free_run_is_judged_by_the_guide_that_it_should_have_had():
    run = gv.record(clerk(), "Hello! " + ADA, None, max_tokens=20, seed=1)
    (finding,) = gv.diagnose(run, person_guide()).findings
    assert finding.name == "no mask"
    assert re.search("steps all 4,096 tokens were legal.*the guide would have refused", finding.seen)


def test_a_guide_over_another_vocabulary_is_named():
    run = gv.record(writer([b"a", b"b"], b"a"), "a", max_tokens=2)
    other = gv.guide(gv.regex("b*"), gv.Vocabulary([b"b", b"a"]))
    (finding,) = gv.diagnose(run, other).findings
    assert finding.seen == 'token 0 is "a" in the record and "b" in the vocabulary of the guide'


def test_hostile_text_is_escaped():
    toy = writer([b"<script>\x1b", b"a"], b"<script>\x1b", eos=b"</s>")
    free = replace(gv.record(toy, "a", None, max_tokens=3), constraint="<img src=x onerror=alert(1)>\x1b")
    for run in (free, gv.record(toy, "a", regex_guide(toy, "aa<b>"))):
        diagnosis = gv.diagnose(run)
        assert "\x1b" not in str(diagnosis) + diagnosis._repr_html_()
        assert not re.search("<(img|script|b>)", diagnosis._repr_html_())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (lambda run: ("run",), "trace: saw str"),
        (lambda run: (run, "[0-9]"), "guide"),
        (lambda run: (replace(run, steps=()),), "no steps"),
    ],
)
def test_what_is_no_run_is_refused(arguments, said):
    with pytest.raises(gv.SettingError, match=f"diagnose.*{said}"):
        gv.diagnose(*arguments(no_token_for_a_character()))
