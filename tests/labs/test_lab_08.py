"""What lab 08 and its optional page say in prose is what their outputs show; what none shows is measured here."""

import json
import re
from importlib.metadata import version
from time import perf_counter

import pytest

import guidedviz as gv
from guidedviz.machines.machine import read
from tests.labs.solved import read_solved

LAB, PAGE = read_solved("08_token_splitting"), read_solved("deeper/xgrammar_forensics")


@pytest.mark.parametrize(
    ("lab", "said", "words", "shown"),
    [
        (LAB, "About 800,000. Inside a string nearly every token is legal", "How many bytes", "123,315 of 128,256 tokens are legal"),
        (LAB, "About 800,000. Inside a string nearly every token is legal", "How many bytes", "they have 804,118 bytes"),
        (LAB, '`":` needs an object that waits for a colon', "Eleven tokens", '":   legal after 2 of 8   {"a  [{"a\n'),
        (LAB, '`A` and `"A` are legal on none of the eight', "Eleven tokens", '"A   legal after 0 of 8   \nA    legal after 0 of 8'),
        (LAB, "`string` reads the quote and has then ended", "draw_cut", 'string reads ", the stack decides }]: context-dependent'),
        (LAB, "Fifteen, less than half a percent", "of the 4,096", "yours:   {'accepted': 1850, 'rejected': 2230, 'dependent': 15}"),
        (LAB, "Fifteen, less than half a percent", "of the 4,096", "1,850 accepted, 2,231 rejected, 15 context-dependent"),
        (LAB, 'Two of the context-dependent tokens are `"The` and `"A`', "enlarged tokens", '", ": "] "} "}, "}} "}}} "}}}}'),
        (LAB, "Here it fills the masks after our eight texts", "def my_mask", '[{"a": "a    1,853 legal tokens; the same: yours True, library True'),
        (LAB, 'Two of eight. Both end at `",` after a key', "without reading the stack", '[{"nameganshelf",                     illegal at byte 16: expected :'),
        (LAB, "Seven. Inside a string 1,151 tokens, 0.9%", "at how many of the 58 nodes", "inside a string 1,151 tokens, 0.90%"),
        (LAB, "it is 46%, and the mean over all nodes is 2.1%", "at how many of the 58 nodes", "mean over all 58 nodes 2.098%, most 45.86%"),
        (LAB, "less than 1%", "at how many of the 58 nodes", "the paper: 0.89%"),
        (LAB, "Seven. Inside a string", "at how many of the 58 nodes", "nodes with more than 1%: 7"),
        (LAB, "169, and no node has more", "With both ideas", "inside a string 169 tokens, 0.13%\nmean over all 57 nodes 0.006%, most 0.13%"),
        (LAB, "124,702 tokens. Nearly every token", "does that test call", "differs between nodes:    124,702 tokens"),
        (LAB, "only 317 tokens are context-dependent at any node", "does that test call", "at some node:       317 tokens"),
        (LAB, "(The root is one more rule.)", "Ten thousand lists", "10001 open rules, 6001 after going back"),
        (LAB, "three ways to go on from one state, and a step back to it", "Ten thousand lists", "as after text 1"),
        (LAB, "Look at the stack: it has four objects", "gv.stage(", '"{"piano": {"kettle": {"wallet": {"lemon": "ring"'),
        (PAGE, "it is always 1,151", "allows less whitespace", "one             not expanded 1,151, expanded    75"),
        (PAGE, "lets follow: 75 to 169", "allows less whitespace", "RFC 8259        not expanded 1,151, expanded   169"),
        (PAGE, "The factors are about 18, 6 and 29", "largest factor", "tables                  7,068\nand rule inlining       1,181\nand expansion              40"),
        (PAGE, "One node has 121,060 uncertain tokens", "character =", "4,635 accepted, 2,561 rejected, 121,060 context-dependent"),
        (PAGE, "Rule inlining removes them", "character =", "123,180 accepted, 3,925 rejected, 1,151 context-dependent"),
        (PAGE, "Most nodes of JSON accept fewer", "57 nodes of JSON", "{'accepted': 51, 'rejected': 0, 'bits': 6}"),
    ],
)  # fmt: skip
def test_what_the_prose_says_stands_in_an_output(lab, said, words, shown):
    assert said in lab.prose
    assert shown in lab.output_of(words)


def test_two_of_eight_texts_without_the_stack_end_at_a_comma_after_a_key():
    broken = [line for line in LAB.output_of("without reading the stack").splitlines() if line[:1] == "✗"]
    assert len(broken) == 2
    assert all(re.fullmatch(r'✗ \[\{"[a-z]+", +illegal at byte [0-9]+: expected :', line) for line in broken)


def test_at_each_node_of_json_the_count_is_of_58():
    assert "there are only 58 **nodes**" in LAB.prose
    assert len(gv.build_split(gv.json(), gv.load_model("clerk").vocabulary, inline=False).standing) == 58


def test_after_a_digit_the_closure_has_nodes_of_the_number_and_of_the_object():
    assert "the closure has a node in `number` and nodes in `object`" in LAB.prose
    pda = gv.json()
    names = [pda.nodes.name_of(place) for place in pda.places(read(pda, b'{"a": 1'))]
    assert set(names) == {"number", "object"}


def boxes():
    """The grammar of objects and lists, and its split with context expansion."""
    cell = next(cell for cell in LAB.cells if cell.cell_type == "code" and "nested = " in cell.source)
    machine = gv.grammar(re.search(r'r"""(.*?)"""', cell.source, re.DOTALL)[1], root="value")
    return machine, gv.build_split(machine, gv.load_model("clerk").vocabulary, inline=False)


def test_sixteen_verdicts_of_all_nodes_are_context_dependent():
    assert "only 16 of 65,536 verdicts" in LAB.prose
    parts = boxes()[1].build()
    assert (sum(len(part.dependent) for part in parts), len(parts) * 4096) == (16, 65_536)


def test_each_of_the_eight_is_legal_on_one_stack_and_not_on_another():
    assert "For each of the eight there is a stack on which it is legal and one on which it is not." in LAB.prose
    machine, split = boxes()
    (node,) = machine.places(read(machine, b'["a'))
    for token in split.node(node).dependent:
        piece = split.vocabulary.pieces[token]
        begun = [b'["a', b'{"a', b'{"a": ' * 4 + b'"a', b'{"a": "a']
        assert {machine.accepts_prefix(text + piece) for text in begun} == {True, False}


def test_without_recursion_inlining_leaves_no_context_dependent_token():
    assert "which grammars need no stack at all" in LAB.prose
    flat = gv.grammar('root ::= "[" word ("," word)* "]"\nword ::= "\\"" [a-z]* "\\""')
    for inline, most in ((True, 0), (False, 1)):
        parts = gv.build_split(flat, gv.Vocabulary([b"a", b'"', b'a"', b'",', b'"]']), inline=inline).build()
        assert bool(max(len(part.dependent) for part in parts)) == bool(most)


def test_one_verdict_in_all_states_is_what_few_tokens_have():
    assert "true of 3,554 of 128,256 tokens" in LAB.prose
    assert 128_256 - 124_702 == 3_554
    assert "127,939 tokens pass it at every node" in LAB.prose
    assert 128_256 - 317 == 127_939


def test_a_list_is_shorter_up_to_one_token_in_32():
    assert "up to one token in 32" in PAGE.prose
    assert 4 * 128_256 // 32 == 128_256 // 8
    assert "96% of the tokens are accepted" in PAGE.prose
    assert round(100 * 123_180 / 128_256) == 96


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
    return [set(part.dependent.tolist()) for part in made.build()]


def test_most_of_what_xgrammar_keeps_are_our_sets(compiler):
    assert "18 (with xgrammar 0.2.8" in PAGE.prose
    compiled = compiler.compile_grammar(gv.json().grammar.text)
    kept, words = json.loads(compiled.serialize_json()), json.loads(compiled.tokenizer_info.serialize_json())
    rules, ids = [rule[0] for rule in kept["grammar"]["rules"]], [token for token, _ in words["sorted_decoded_vocab"]]
    sets = [
        (rules[place[0]], {ids[index] for index in entry["uncertain_indices"]})
        for place, entry in kept["adaptive_token_mask_cache"]
        if entry["uncertain_indices"]
    ]
    split = gv.build_split(gv.json(), gv.Vocabulary.llama3(), inline=False, expand=False)
    ours = [set(part.dependent.tolist()) for part in split.build()]
    assert (len(sets), sum(tokens in ours for _, tokens in sets)) == (24, 18)
    others = sorted(((len(tokens), rule, tokens) for rule, tokens in sets if tokens not in ours), reverse=True)
    assert [count for count, _, _ in others] == [121_060, 423, 207, 13, 3, 2]
    assert others[0][1] == "string_1_1"
    assert "Our split has the same set if we write the grammar that way." in PAGE.prose
    assert others[0][2] in asks_of_a_rule_for_each_character()


def test_xgrammar_is_slower_by_far_with_the_text_of_the_rfc(compiler):
    assert "We measured 40,000 µs and 5 µs." in PAGE.prose
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
    assert best[0] > 1000 * best[1]


def test_ten_of_23_compiled_rules_have_a_lookahead_and_sets_of_a_thousand_are_bits(compiler):
    assert "10 of 23 compiled rules" in LAB.prose
    assert "10 of its 23 rules" in PAGE.prose
    kept = json.loads(compiler.compile_grammar(gv.json().grammar.text).serialize_json())
    ahead = [rule[2] >= 0 for rule in kept["grammar"]["rules"]]
    assert (sum(ahead), len(ahead)) == (10, 23)
    assert "at least 1,000 tokens are accepted and 1,000 rejected" in LAB.prose
    for _, entry in kept["adaptive_token_mask_cache"]:
        assert max(len(entry["accepted_indices"]), len(entry["rejected_indices"])) < 1000
        assert (entry["store_type"] == 2) == (len(entry["accepted_bitset"]) > 2)
