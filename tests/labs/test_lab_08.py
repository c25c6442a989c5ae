"""What lab 08 says in prose is what its outputs show; what none of them shows is measured here."""

import json
import re
from importlib.metadata import version
from time import perf_counter

import pytest

import guidedviz as gv
from guidedviz.checks.token_sorting import sort_by_ends
from guidedviz.machines.machine import read
from tests.labs.solved import read_solved

LAB = read_solved("08_token_splitting")
WRITTEN = "Inside a string 1,151 of"


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("More than 800,000, and still a quarter of a million", "How many moves does", "820,000 moves piece by piece, 266,242 on"),
        ("nearly everything is legal", "How many moves does", "123,315 of 128,256 are legal"),
        ('`":` needs an object that waits for a colon', "How many of the eleven", '":   legal after 2 of 8   {"a  [{"a\n'),
        ('`A` and `"A` never are', "How many of the eleven", '"A   legal after 0 of 8   \nA    legal after 0 of 8'),
        ("Fifteen, less than half a percent", "How many of the 4,096 tokens ask?", "yours: {'yes': 1850, 'no': 2230, 'ask': 15}"),
        ("Fifteen, less than half a percent", "How many of the 4,096 tokens ask?", "NodeSplit(node 18: 1,850 yes, 2,231 no, 15 ask)"),
        ('Look at `"The` and `"A`', "in plain.node(node).ask", '"A "The'),
        ("Eight. (A line break is no blank", "Keep only those of the fifteen", '", ": "] "} "}, "}} "}}} "}}}}'),
        ("Of 65,536 cells 16 ask", "asks, cells =", "16 of 16 × 4,096 cells ask: 0.024%"),
        ("and no bit is wrong", "sum(same)", "130 of 130 masks are the same in all 4096 bits"),
        ("Two of eight, both at a comma", "The careless split writes", """[{"nameganshelf",                          no JSON"""),
        ("16 of the 20: at the four ends", "gv.views.draw_split_nodes(split)", "Split: 16 nodes over 4,096 tokens"),
        ("16 of the 20: at the four ends", "gv.draw_machine(nested", "machine: 4 rules, 20 nodes"),
        ('"No" at a node means: not from', "json_split =", "number NodeSplit(node 46: 13 yes, 4,083 no, 0 ask)"),
        ("1,151 ask; with expansion 195", WRITTEN, "expanded       58 nodes, 25 ask; in a string   195"),
        ("1,151 ask; with expansion 195", WRITTEN, "inlined        57 nodes, 23 ask; in a string 1,151"),
        ("and with inlining too 169", WRITTEN, "both           57 nodes, 12 ask; in a string   169"),
        ("it is far worse, 58,824", WRITTEN, "in a string 1,151, most 58,824"),
        ("| 160 MB | 0.91 MB |", "draw_split_nodes(full", "57 nodes over 128,256 tokens"),
        ("| 160 MB | 0.91 MB |", "draw_split_nodes(full", "of a dense table's 913,824"),
        ("75 to 169, and the 120 of the paper lie between", "allows fewer blanks", "in a string    75"),
        ("There only 2 are left", "gv.views.draw_split_nodes(full", "any character but controls   123,257    4,997    2"),
        ("Nearly every node of JSON has fewer", "For JSON, which kind", "JSON         {'accepted': 51, 'rejected': 0, 'bits': 6}"),
        ("where nearly all text is allowed they are not", "For JSON, which kind", "'rejected': 1"),
        ("about 18, 6 and 29", "If nothing is kept", "nothing kept          128,256\nsure ones kept          7,068\n"),
        ("about 18, 6 and 29", "If nothing is kept", "and inlined             1,181\nand expanded               40\n"),
        ("Here are four, and a step back", "gv.views.draw_branches", "as after text 1"),
        ("Not at all, as long as the mask is there first", "When both go on", "RECORDED"),
        ("a small model of 37 million random", "When both go on", "random weights: 4 layers of 256, 37 million"),
        ("and the root is one more", "Ten thousand brackets", "10001 open rules, 6001 after going back"),
        ("There they are, the same 121,060 tokens", '"char*"', "NodeSplit(node 50: 4,635 yes, 2,561 no, 121,060 ask)"),
        ("with `inline` they are gone", '"char*"', "NodeSplit(node 3: 123,180 yes, 3,925 no, 1,151 ask)"),
    ],
)  # fmt: skip
def test_what_the_prose_says_stands_in_an_output(said, words, shown):
    assert said in LAB.prose
    assert shown in LAB.output_of(words)


def test_two_of_eight_careless_texts_are_broken_at_a_comma_after_a_key():
    broken = [line for line in LAB.output_of("The careless split writes").splitlines() if "no JSON" in line]
    assert len(broken) == 2
    assert all("Expecting ':' delimiter" in line for line in broken)


def test_on_the_stage_thirteen_ask_inside_a_string_and_else_none():
    assert "Inside a string thirteen ask, and nowhere else in this text does any." in LAB.prose
    clerk = gv.load_model("clerk")
    split = gv.build_split(gv.json(), clerk.vocabulary, inline=False)
    shown = re.search(r'"(\{.*\})"', LAB.output_of("gv.stage("))[1]
    state, asked, passed = split.pda.initial, set(), []
    for token in clerk.encode(shown):
        asks = split.answers(state) == 2
        within = split.pda.stack(state)[0] == "string"
        asked.add((within, int(asks.sum())))
        passed += [int(split.mask(state)[asks].sum())] * within
        for byte in clerk.vocabulary.pieces[token]:
            state = split.pda.step(state, byte)
    assert asked == {(True, 13), (False, 0)}
    assert passed == [1] * 8 + [10] * 2, "two in each of four keys and in the last value"


def test_a_json_text_stands_at_58_nodes():
    assert "58 at which a JSON text can stand" in LAB.prose
    pda = gv.json()
    assert len([node for node in range(len(pda.nodes)) if node not in pda.nodes.last]) == 58


def test_the_count_without_expansion_does_not_depend_on_the_blanks():
    assert "Without expansion it is 1,151 each time." in LAB.prose
    counts = re.findall(r"in a string +([0-9,]+),", LAB.output_of("allows fewer blanks"))
    assert counts[::2] == ["1,151"] * 4
    assert counts[1::2] == ["169", "156", "75", "75"]


def test_a_number_alone_would_let_nearly_all_ask():
    assert "Your `sort_token` would say *ask* for nearly all tokens after `1`" in LAB.prose
    clerks, number = gv.load_model("clerk").vocabulary, gv.regex(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
    begun = read(number, b"1")
    said = [sort_by_ends(number, begun, clerks.pieces[token])[0] for token in clerks.text_ids]
    assert [said.count(answer) for answer in ("yes", "no", "ask")] == [13, 0, 4082]


def test_two_tokens_ask_in_a_key_and_go_on_after_the_value():
    assert 'There only 2 are left, `":"","` and one like it, which go on after the value.' in LAB.prose
    llama = gv.Vocabulary.llama3()
    (key,) = [part for part in gv.build_split(gv.json(), llama).build() if part.sure.count == 123_257]
    assert [llama.pieces[token] for token in key.ask] == [b'":"",\n', b'":"","']


def test_what_is_kept_takes_190_000_bytes():
    assert "| kept in memory | 0.46 MB | 0.19 MB |" in LAB.prose
    kept = int(re.search(r"both .* ([0-9,]+) bytes", LAB.output_of(WRITTEN))[1].replace(",", ""))
    assert round(kept / 1e6, 2) == 0.19


def test_side_by_side_the_logits_wait_for_no_mask_and_a_step_gains_less_than_the_wait_was():
    assert "and a step gains less than the wait was" in LAB.prose
    said = LAB.output_of("When both go on")
    waits, steps = ([float(ms) for ms in re.findall(f"{name} ([0-9.]+) ms", said)] for name in ("wait", "in all"))
    assert waits[0] > waits[1] == 0
    assert steps[0] - steps[1] < waits[0]


def test_a_full_table_of_160_mb_would_have_about_ten_thousand_rows():
    assert "one could keep 10,000 such rows" in LAB.prose
    assert round(160e6 / (128_256 // 8), -2) == 10_000


def test_inside_a_string_96_of_100_tokens_are_legal_and_a_list_pays_up_to_one_in_32():
    assert "In a string 96 % of the tokens are legal" in LAB.prose
    assert round(100 * 123_180 / 128_256) == 96
    assert "up to one token in 32" in LAB.prose
    assert 4 * 128_256 // 32 == 128_256 // 8


@pytest.fixture(scope="module")
def compiler():
    """That of the version which the prose speaks of, and our vocabulary in it."""
    xgrammar = pytest.importorskip("xgrammar")
    if version("xgrammar") != "0.2.8":
        pytest.skip("the prose speaks of 0.2.8")
    llama = gv.Vocabulary.llama3()
    hidden = llama.special - llama.eos
    pieces = [b"" if token in hidden else piece for token, piece in enumerate(llama.pieces)]
    return xgrammar.GrammarCompiler(xgrammar.TokenizerInfo(pieces, stop_token_ids=sorted(llama.eos)), max_threads=1)


def asks_of_a_rule_for_each_character():
    """The sets that ask when what is repeated in a string is a rule of its own."""
    text = gv.json().grammar.text.replace(r'([^"\\\x00-\x1F] | "\\" escape)*', "char*")
    text += r'char   ::= [^"\\\x00-\x1F] | "\\" escape'
    made = gv.build_split(gv.grammar(text), gv.Vocabulary.llama3(), inline=False, expand=False)
    return [set(part.ask.tolist()) for part in made.build()]


def test_most_of_what_xgrammar_keeps_are_our_sets(compiler):
    assert "of its 24 nodes with uncertain tokens 18 have, token for token, one of our sets" in LAB.prose
    compiled = compiler.compile_grammar(gv.json().grammar.text)
    kept, words = json.loads(compiled.serialize_json()), json.loads(compiled.tokenizer_info.serialize_json())
    rules, ids = [rule[0] for rule in kept["grammar"]["rules"]], [token for token, _ in words["sorted_decoded_vocab"]]
    sets = [
        (rules[place[0]], {ids[index] for index in entry["uncertain_indices"]})
        for place, entry in kept["adaptive_token_mask_cache"]
        if entry["uncertain_indices"]
    ]
    split = gv.build_split(gv.json(), gv.Vocabulary.llama3(), inline=False, expand=False)
    ours = [set(part.ask.tolist()) for part in split.build()]
    assert (len(sets), sum(tokens in ours for _, tokens in sets)) == (24, 18)
    assert "The six others have 121,060, 423, 207, 13, 3 and 2." in LAB.prose
    others = sorted(((len(tokens), rule, tokens) for rule, tokens in sets if tokens not in ours), reverse=True)
    assert [count for count, _, _ in others] == [121_060, 423, 207, 13, 3, 2]
    assert others[0][1] == "string_1_1"
    assert "There they are, the same 121,060 tokens" in LAB.prose
    assert others[0][2] in asks_of_a_rule_for_each_character()


def test_xgrammar_is_slower_by_far_with_the_text_of_the_rfc(compiler):
    assert "needs 40,000 µs for a mask inside a string." in LAB.prose
    assert "Its own text for JSON, with objects and lists only at the root, takes 5:" in LAB.prose
    import xgrammar

    words, best = xgrammar.allocate_token_bitmask(1, 128_256), []
    for compiled in (compiler.compile_grammar(gv.json().grammar.text), compiler.compile_builtin_json_grammar()):
        matcher, times = xgrammar.GrammarMatcher(compiled), []
        matcher.accept_string('{"piano')
        for _ in range(10):
            began = perf_counter()
            matcher.fill_next_token_bitmask(words)
            times.append(perf_counter() - began)
        best.append(min(times))
    assert best[0] > 500 * best[1]
