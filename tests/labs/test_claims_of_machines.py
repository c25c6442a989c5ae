"""What the labs on machines, grammars and tokens tell and no output shows is measured here."""

import json
import re
import timeit
from itertools import product
from math import comb
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import guidedviz as gv
from guidedviz.checks.walks import flatten
from guidedviz.decoding.sampling import apply_mask, softmax
from guidedviz.files import shipped
from guidedviz.machines.earley.items import Item, complete
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.moves import move_stack
from guidedviz.machines.regular.regex import regex
from tests.checks.answers import FUNCTIONS
from tests.common import bytes_of, texts_up_to
from tests.labs.sources import run_cells

BENCH = Path(__file__).resolve().parents[2] / "assets" / "bench"
DECIMAL = r"[0-9]+(\.[0-9]+)?"  # in Rust, \d is more digits than ours
CLUMSY = r"\d+|\d+\.\d+|\d+,\d+"


# -- 04: regexes and machines --------------------------------------------------------------------------------------


def test_the_clumsy_regex_has_so_many_states():
    nfa, dfa, least = gv.machines.machine_stages(CLUMSY)
    sizes = [len(machine) for machine in (nfa, dfa, least)]
    assert sizes == [16, 6, 4]
    assert gv.views.dfa_frames(CLUMSY)[-1].sketch.arrows == gv.views.dfa_frames(CLUMSY)[5].sketch.arrows
    assert gv.regex(CLUMSY) == gv.regex(r"\d+([.,]\d+)?")
    assert gv.regex(r"\d+(\.\d+)?") == gv.regex(r"(\d+\.)?\d+")


def test_the_branches_of_the_film_die_at_the_point_and_a_loop_leads_back_to_a_dead_branch():
    lit = [sorted(frame.lit) for frame in gv.views.nfa_reading_frames(CLUMSY, "4.2")]
    assert lit[3] == [1, 2, 3, 4, 5, 9, 10, 11, 15]
    assert lit[5] == [6, 7], "the branch with the point alone"
    assert lit[-1] == [7, 8, 15]
    assert not gv.views.nfa_reading_frames(CLUMSY, "4,2.")[-1].lit
    again = gv.views.nfa_reading_frames("(ab|cd)*", "abc")
    assert again[2].lit == {2}, "after a the branch of cd is dark"
    assert again[5].lit == {3}, "after ab the c is read"


def test_the_stage_of_the_smallest_dfa_has_three_more_legal_tokens_before_the_point_than_after_it(clerk):
    guide = gv.guide(gv.machines.machine_stages(CLUMSY)[2], clerk.vocabulary)
    steps = gv.record(clerk, "Hi! The lamp costs $12.50.\nThe price as a number:\n", guide).steps
    assert [(step.piece, step.legal) for step in steps[2:5]] == [(b".", 13), (b"5", 10), (b"0", 11)]


@pytest.mark.slow
def test_the_dfa_doubles_with_each_letter_and_a_large_one_is_refused():
    sizes = {n: [len(one) for one in gv.machines.machine_stages(f"[ab]*a[ab]{{{n - 1}}}")] for n in (9, 10, 11)}
    assert {n: (nfa, least) for n, (nfa, _, least) in sizes.items()} == {9: (12, 512), 10: (13, 1024), 11: (14, 2048)}
    with pytest.raises(gv.GuidedVizError, match="try: a smaller repeat"):
        gv.regex("[ab]*a[ab]{20}")


def test_backtracking_takes_a_multiple_per_letter_and_the_dfa_has_three_states():
    def fastest(letters):
        return min(timeit.repeat(lambda: re.fullmatch("(a+)+b", "a" * letters), number=1, repeat=3))

    assert fastest(20) > 5 * fastest(16), "twice per letter: 16 times"
    assert len(gv.regex("(a+)+b")) == 3


def test_the_walks_of_the_exercises_give_the_index_of_the_engine(llama3):
    date = gv.regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
    ours, theirs = gv.build_index(date, llama3), FUNCTIONS["index"](llama3.trie.root, date, FUNCTIONS["walk"])
    assert len(theirs) == len(date) == 11
    assert ours.legal.tolist()[:-1] == [len(theirs[state]) for state in range(10)]
    assert all(ours.next_state(state, token) == after for state in theirs for token, after in theirs[state].items())
    assert date.accepts(b"0000-00-00")


# -- 05: machine × vocabulary --------------------------------------------------------------------------------------


def test_the_index_of_an_email_address_keeps_a_column_per_kind_of_token(llama3):
    email = gv.regex(r"[a-z0-9._]{1,32}@[a-z0-9]{1,24}\.(com|org|net)")
    assert gv.build_index(email, llama3).after.shape == (76, 66)


def test_the_start_state_of_the_decimal_allows_42_and_both_columns_are_equal():
    toy = gv.Vocabulary([b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x", b"</s>"], eos={9})
    number = gv.guide(gv.regex(DECIMAL), toy)
    assert [np.flatnonzero(number.mask(state)).tolist() for state in range(4)] == [
        [0, 1, 4, 5], [0, 1, 2, 3, 4, 5, 9], [0, 1], [0, 1, 9],
    ]  # fmt: skip
    index = gv.build_index(number.machine, toy)
    assert [index.next_state(state, 0) for state in range(4)] == [index.next_state(state, 1) for state in range(4)]


def test_the_walk_from_the_point_reads_a_node_per_text_of_digits(llama3):
    pieces = [llama3.pieces[token] for token in llama3.text_ids]
    digits = [piece for piece in pieces if piece[:1].isdigit()]
    assert sorted(digits) == sorted(f"{n:0{size}}".encode() for size in (1, 2, 3) for n in range(10**size))
    assert len(llama3.trie) == 274_521
    assert len([*gv.tokens.walk_steps(llama3.trie, gv.regex(DECIMAL), 2)]) == len(digits) == 1110


def test_the_recorded_times_are_those_of_the_bench():
    cases, grammars = (json.loads((BENCH / f"{name}.json").read_text())["cases"] for name in ("masks", "grammars"))
    times = {name: case["outlines-core 0.2.14"] for name, case in cases.items() if "outlines-core 0.2.14" in case}
    compiled = {name: round(1000 * times[name]["compile"]) for name in ("decimal", "date", "email")}
    assert compiled == {"decimal": 30, "date": 38, "email": 287}
    assert round(1000 * times["four fields, a schema"]["first"]) == 249
    assert round(1000 * grammars["llama3, code"]["xgrammar 0.2.8"]["first"]) == 724


def test_the_stage_with_the_index_has_ten_digits_or_a_dash_or_the_end(clerk):
    date, prompt = gv.regex("[0-9]{4}-[0-9]{2}-[0-9]{2}"), "Hi! We met on June 19, 1987.\nDate as YYYY-MM-DD:\n"
    guide = gv.guide(date, clerk.vocabulary)
    run = gv.record(clerk, prompt, guide, seed=0)
    assert [step.legal for step in run.steps] == [10, 10, 10, 10, 1, 10, 10, 1, 10, 10, 1]
    assert (run.steps[0].candidates[0].piece, f"{run.steps[0].mass:.2f}") == (b"Sure", "0.25")


PIANO = "Hi! The piano holds a kettle, which holds a wallet, which holds a lemon, which holds a ring.\nNested JSON:\n"


def test_the_stage_of_json_opens_where_half_of_the_probability_is_removed(clerk):
    guide = gv.guide(gv.json(), clerk.vocabulary)
    steps = gv.record(clerk, PIANO, guide).steps
    assert f"{steps[0].mass:.2f}" == "0.50"
    assert [(one.piece, one.legal) for one in steps[0].candidates[:2]] == [(b'{"', True), (b"Sure", False)]
    assert steps[1].stack == ("string", "member", "object", "root")
    assert (steps[14].stack, steps[14].piece) == (("string", *4 * ["object"], "root"), b'"}}}}')
    assert steps[15].stack == ("root",)


def test_the_stage_of_json_with_seed_1_opens_before_the_token_that_closes_a_string_and_four_objects(clerk):
    steps = gv.record(clerk, PIANO, gv.guide(gv.json(), clerk.vocabulary), seed=1).steps
    assert steps[14].piece == b'"}}}}'
    assert steps[14].stack == ("string", "object", "object", "object", "object", "root")
    assert steps[15].stack == ("root",)


@pytest.mark.slow
def test_after_the_missing_quote_the_model_wants_to_end_a_text_that_is_open_and_never_ends(clerk):
    guide = gv.guide(gv.json(), clerk.vocabulary)
    steps = gv.record(clerk, PIANO, guide, seed=2).steps
    assert steps[-1].end == "max_tokens"
    assert (f"{steps[15].mass:.2f}", steps[15].stack) == ("0.12", ("string", *4 * ["object"], "root"))
    assert (steps[15].candidates[0].piece, steps[15].candidates[0].legal) == (b"<|end|>", False)
    assert (steps[19].piece, round(1 / steps[19].mass, -2)) == (b" Hope", 1400)


def test_the_puzzle_of_the_date_has_three_masks_and_five(llama3, clerk):
    date = gv.regex("[0-9]{4}-[0-9]{2}-[0-9]{2}")
    guides = gv.guide(date, clerk.vocabulary), gv.guide(date, llama3)
    assert [len({guide.mask(state).tobytes() for state in range(11)}) for guide in guides] == [3, 5]


def test_what_the_stale_index_writes(clerk):
    """Yesterday each id stood for the sign of the next id; that a guide refuses it is held in tests/tokens."""
    pieces, date = clerk.vocabulary.pieces, gv.regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
    assert b"".join(pieces[12:26]) == b",-./0123456789"
    yesterday = gv.Vocabulary(pieces[1:] + pieces[:1], eos={len(pieces) - 1})
    index, state, written = gv.build_index(date, yesterday), 0, []
    prompt = clerk.encode("We met on June 19, 1987.\nDate as YYYY-MM-DD:\n")
    while not date.is_accepting(state):
        logits = clerk.logits([*prompt, *written])
        chances = softmax(apply_mask(logits, index.mask(state)))
        token = gv.sampling.sample(chances, seed=0, position=len(written))
        written.append(token)
        state = index.next_state(state, token)
    assert bytes_of(clerk.vocabulary, written) == b"1887,18,57"


def test_99_percent_are_illegal_after_the_point_and_three_bytes_are_legal_inside_the_character(llama3, clerk):
    assert gv.guide(gv.regex(DECIMAL), llama3).mask(2).mean() < 0.01
    record = gv.regex(r'\{"name": "[^"\\\x00-\x1f]*", "age": \d{1,3}\}')
    inside = read(record, b'{"name": "Zoe')
    assert len([*gv.tokens.walk_steps(llama3.trie, record, inside)]) == 265_982, "of 274,520: the walk saves nothing"
    illegal = [llama3.pieces[token] for token in np.flatnonzero(~gv.guide(record, llama3).mask(inside))]
    assert sum(any(end in piece for end in (b"\n", b"\r", b"\t")) for piece in illegal) > len(illegal) / 2
    accents = gv.guide(gv.regex("[é-ë]"), clerk.vocabulary)
    assert [int(accents.mask(state).sum()) for state in range(3)] == [1, 3, 1]


def test_99_percent_are_illegal_after_the_point_and_most_illegal_ones_in_a_name_end_a_line(llama3):
    decimal = gv.guide(gv.regex(DECIMAL), llama3)
    assert decimal.mask(2).mean() < 0.01
    entry = gv.regex(r'\{"name": "[^"\\\x00-\x1f]*", "age": \d{1,3}\}')
    inside = read(entry, b'{"name": "Zoe')
    steps = [*gv.tokens.walk_steps(llama3.trie, entry, inside)]
    assert len(steps) == 265_982, "of 274,520: the walk saves nothing"
    illegal = [llama3.pieces[token] for token in np.flatnonzero(~gv.guide(entry, llama3).mask(inside))]
    assert sum(bool(re.search(rb"[\n\r\t]", piece)) for piece in illegal) > len(illegal) / 2


def test_no_token_of_llama3_has_a_point_and_a_digit(llama3):
    pieces = [llama3.pieces[token] for token in llama3.text_ids]
    assert not [piece for piece in pieces if b"." in piece and any(byte in b"0123456789" for byte in piece)]


@pytest.mark.slow
def test_outlines_core_loses_the_point(llama3):
    core = pytest.importorskip("outlines_core")
    text = set(llama3.text_ids)
    end, *_ = sorted(llama3.eos)
    ids: dict[bytes, list[int]] = {}
    for token in text:
        ids.setdefault(llama3.pieces[token], []).append(token)
    index = core.Index(DECIMAL, core.Vocabulary(end, ids))
    after = index.get_next_state(index.get_initial_state(), llama3.ids(b"3")[0])
    tokens = index.get_allowed_tokens(after)
    allowed = [llama3.pieces[token] for token in tokens if token != end]
    assert len(allowed) == 1110
    assert all(piece.isdigit() for piece in allowed), "whole numbers and nothing else"


# -- 06: schemas ---------------------------------------------------------------------------------------------------

ONE = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
TEXTS = ['{"age":42}', '{"age": 42}', '{ "age" : 42 }', '{"age": 42, "pets": 3}']


TEXT = {"type": "string"}
AGE = {"type": "integer", "minimum": 0, "maximum": 120}


def person(*keys):
    """The machine of a record with these keys, in this order."""
    values = {key: AGE if key == "age" else TEXT for key in keys}
    return gv.json_schema({"type": "object", "properties": values, "required": list(keys)})


def introduce(name, age, city):
    return f"Hi! {name} is {age} years old and lives in {city}.\nJSON with name, age, city:\n"


def test_the_first_guided_record(clerk):
    guide = gv.guide(person("name", "age", "city"), clerk.vocabulary)
    steps = gv.record(clerk, introduce("Tamsin Okoro", 42, "Varnhem"), guide).steps
    assert f"{steps[0].mass:.2f}" == "0.58"
    assert {b"Sure", b"Here", b"Of"} <= {c.piece for c in steps[0].candidates if c.raw > 0.05 and not c.legal}
    legal = [steps[place].legal for place in (0, 4, 17)]
    assert legal == [2, 3959, 1]
    assert steps[17].piece == b","


@pytest.mark.slow
def test_what_engines_make_of_a_schema_is_a_regex_or_rules():
    core, xgrammar = pytest.importorskip("outlines_core"), pytest.importorskip("xgrammar")
    flag = json.dumps({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]})
    assert re.fullmatch(core.json_schema.build_regex_from_schema(flag), '{"ok": true}')
    rules = str(xgrammar.Grammar.from_json_schema(flag)).splitlines()
    assert {"root ::=", "basic_boolean ::="} <= {rule.partition(" (")[0] for rule in rules}


def test_outlines_core_copies_a_repeated_part():
    core = pytest.importorskip("outlines_core")
    letters = core.Vocabulary(0, {chr(97 + place): [place + 1] for place in range(26)})
    assert [len(core.Index(f"[a-z]{{0,{n}}}", letters).get_transitions()) for n in (10, 20, 40)] == [11, 21, 41]


PEOPLE = [("Tamsin Okoro", 42, "Varnhem"), ("Maria Cohen", 35, "Prague"), ("Jonas Weber", 8, "Lyon")]
PEOPLE += [("Ida Brook", 61, "Oslo"), ("Zoe Marin", 27, "Kyoto"), ("Omar Haddad", 54, "Dakar")]
PEOPLE += [("Priya Nagy", 19, "Lima"), ("Lars Quill", 70, "Hollum"), ("Ana Sousa", 33, "Porto")]
PEOPLE += [("Ben Carter", 12, "Leeds")]


def probability_of_a_right_record(model, guide, prompt, right, least=3e-4):
    """The sum over all ways to spell it in tokens, of which those below `least` are left out."""
    members = [json.dumps(key) + ":{}" + json.dumps(value) for key, value in right.items()]
    frame = "{{" + ",{}".join(members) + "}}"
    spellings = [frame.format(*blanks).encode() for blanks in product(["", " "], repeat=5)]
    found, waiting = 0.0, [(model.encode(prompt), guide.initial, b"", 1.0)]
    for tokens, state, text, chance in waiting:
        chances = chance * softmax(apply_mask(model.logits(tokens), guide.mask(state)))
        for token in map(int, np.flatnonzero(chances > least)):
            longer = text + model.vocabulary.pieces[token]
            if token in model.vocabulary.eos:
                found += chances[token] * (text in spellings)
            elif any(spelling.startswith(longer) for spelling in spellings):
                waiting.append(([*tokens, token], guide.advance(state, token), longer, chances[token]))
    return found


def test_with_age_first_the_model_wants_to_close_the_object_after_the_name(clerk):
    guide, closing = gv.guide(person("age", "name", "city"), clerk.vocabulary), []
    for name, years, city in (PEOPLE[0], PEOPLE[1], PEOPLE[6]):
        run, written = gv.record(clerk, introduce(name, years, city), guide, temperature=0), ""
        for step in run.steps:
            if written.endswith(name):
                closing.append(sum(c.raw for c in step.candidates if c.piece.startswith(b'"}') and not c.legal))
                assert step.raw / step.mass < 0.9
                break
            written += step.piece.decode()
    assert min(closing) > 0.5


def test_with_age_first_the_model_is_overruled_at_three_tokens(clerk):
    guide = gv.guide(person("age", "name", "city"), clerk.vocabulary)
    prompt = introduce("Priya Nagy", 19, "Lima")
    steps = gv.record(clerk, prompt, guide, temperature=0).steps
    overruled = [(step.candidates[0].piece, step.piece) for step in steps if not step.candidates[0].legal]
    assert overruled == [(b"name", b"age"), (b'"}', b'"'), (b"<|end|>", b",")]


def test_the_model_invents_a_city_also_if_the_key_may_be_missing(clerk):
    record = {"name": TEXT, "age": AGE, "city": TEXT}
    schema = {"type": "object", "properties": record, "required": ["name", "age"]}
    nowhere = "Hi! Maria Cohen is 35 years old.\nJSON with name, age, city:\n"
    guide = gv.guide(gv.json_schema(schema), clerk.vocabulary)
    run = gv.record(clerk, nowhere, guide, temperature=0)
    assert json.loads(run.text)["city"] == "Auckland"


def test_no_order_has_more_than_three_items():
    cases = json.loads(shipped("traces/smollm2/orders.json").read_text(encoding="utf-8"))["cases"]
    assert {len(case["right"]["items"]) for case in cases} == {1, 2, 3}


@pytest.mark.slow
def test_age_first_makes_a_right_record_less_probable_and_most_of_all_for_priya(clerk):
    known, found = gv.decoding.remember(clerk), {}
    for keys in (("name", "age", "city"), ("age", "name", "city")):
        guide, found[keys] = gv.guide(person(*keys), clerk.vocabulary), []
        for name, years, city in PEOPLE:
            facts = {"name": name, "age": years, "city": city}
            right = {key: facts[key] for key in keys}
            prompt = introduce(name, years, city)
            found[keys].append(probability_of_a_right_record(known, guide, prompt, right))
    name_first, age_first = map(np.array, found.values())
    assert name_first.mean() == pytest.approx(0.82, abs=0.006)
    assert age_first.mean() == pytest.approx(0.76, abs=0.006)
    assert PEOPLE[np.argmax(name_first - age_first)][0] == "Priya Nagy"


@pytest.mark.slow
def test_the_seeds_of_the_lab_are_no_special_ones(clerk):
    known, guide = gv.decoding.remember(clerk), gv.guide(person("age", "name", "city"), clerk.vocabulary)
    right = {"age": 19, "name": "Priya Nagy", "city": "Lima"}
    texts = [gv.record(known, introduce("Priya Nagy", 19, "Lima"), guide, seed=seed).text for seed in range(100)]
    assert sum(json.loads(text) == right for text in texts) == 69


def test_a_counted_character_may_be_a_pair_of_escapes_and_no_half_of_one():
    free, counted = gv.json_schema({"type": "string"}), gv.json_schema({"type": "string", "maxLength": 1})
    assert free.accepts(b'"\\ud83d"')
    assert not counted.accepts(b'"\\ud83d"')
    assert counted.accepts(b'"\\ud83d\\ude00"')


@pytest.mark.slow
def test_with_age_first_fewer_records_of_priya_are_right(clerk):
    known = gv.decoding.remember(clerk)
    right = {"name": "Priya Nagy", "age": 19, "city": "Lima"}
    hits = []
    for keys in (("name", "age", "city"), ("age", "name", "city")):
        guide = gv.guide(person(*keys), clerk.vocabulary)
        runs = [gv.record(known, introduce(**right), guide, seed=seed) for seed in range(100)]
        records = [json.loads(run.text) for run in runs]
        hits.append(records.count(right))
    assert hits[1] == 69 < hits[0]


def test_copies_for_a_long_text_would_be_many_states():
    for length in (10, 40, 100):
        copies = gv.machines.schema_regex({"type": "string", "maxLength": length})
        assert len(regex(copies)) == 20 * length + 3, "20,003 for 1,000 characters"


def test_outlines_core_ignores_a_bound():
    core = pytest.importorskip("outlines_core")
    age = {"type": "integer", "maximum": 120}
    bound = {"type": "object", "properties": {"age": age}, "required": ["age"]}
    assert re.fullmatch(core.json_schema.build_regex_from_schema(json.dumps(bound)), '{"age": 999}')


def test_llguidance_follows_the_standard_in_white_space_and_other_keys():
    llguidance = pytest.importorskip("llguidance")
    from guidedviz.tokens.engines import build_tokenizer

    tokenizer = build_tokenizer(gv.Vocabulary([bytes([byte]) for byte in range(256)] + [b"</s>"], eos={256}))
    for text in TEXTS:
        matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(json.dumps(ONE)))
        assert matcher.consume_tokens(list(text.encode()))
        assert matcher.is_accepting()
        assert jsonschema.Draft202012Validator(ONE).is_valid(json.loads(text))


@pytest.mark.slow
def test_xgrammar_allows_any_white_space_and_no_other_keys():
    xgrammar = pytest.importorskip("xgrammar")
    pieces = [bytes([byte]) for byte in range(256)] + [b"</s>"]
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo(pieces, stop_token_ids=[256]))
    compiled = compiler.compile_json_schema(json.dumps(ONE))
    accepted = [xgrammar.GrammarMatcher(compiled).accept_string(text) for text in TEXTS]
    assert accepted == [True, True, True, False]


def test_the_answer_to_the_puzzle_is_the_machine_of_a_schema_with_optional_keys():
    a, b, c = (f'"{key}": (true|false)' for key in "abc")
    written = gv.regex(rf"\{{({a}(, {b})?(, {c})?|{b}(, {c})?|{c})?\}}")
    schemas = [
        {"type": "object", "properties": {key: {"type": "boolean"} for key in keys}}
        for keys in ("abc", "abcdef", "abcdefghijkl")
    ]
    assert written == gv.json_schema(schemas[0], whitespace="one")
    sizes = [len(gv.json_schema(schema)) for schema in schemas]
    assert sizes == [43, 85, 169]


# -- 07 and 08: stacks and grammars --------------------------------------------------------------------------------

PAIRS = """object ::= "{" string ": " value "}"
string ::= "\\"" [a-z]+ "\\""
value ::= object | number
number ::= [0-9]+"""
GRAMMARS = {
    "ambiguous": 'root ::= root "+" root | [0-9]',
    "left-recursive": 'root ::= root "+" [0-9] | [0-9]',
    "neither": 'root ::= [0-9] "+" root | [0-9]',
}


def test_the_price_in_lark_is_the_price_in_gbnf(clerk):
    lab = run_cells("deeper/a_request", "gbnf = ", gv=gv)
    one, other = (gv.guide(m, clerk.vocabulary) for m in (gv.grammar(lab["gbnf"]), gv.lark(lab["lark"])))
    state = one.initial
    other_state = other.initial
    for token in clerk.encode("$12.50"):
        assert np.array_equal(one.mask(state), other.mask(other_state))
        state = one.advance(state, token)
        other_state = other.advance(other_state, token)
    assert one.is_accepting(state)
    assert other.is_accepting(other_state)


def test_each_call_of_the_film_has_its_return():
    frames = gv.views.stack_frames(gv.grammar(PAIRS, root="object"), '{"key": {"b": 1}}')
    moves = [frame.move for frame in frames]
    assert (moves.count("call"), moves.count("return")) == (6, 7)
    assert frames[23].stack == (5, 12, 5, 12, 14)


def test_in_the_walk_of_the_library_three_rules_are_pushed_and_three_popped():
    rows = gv.views.draw_stack_table(gv.json(), '{"key": {"b": 1}}').text.splitlines()[1:-1]
    actions = [" ".join(row.split()[2:]) for row in rows]
    assert [action.split()[0] for action in actions] == ["push", "push", "object", "push", "pop", "pop"]
    assert actions[2].startswith("object in place of member")
    assert actions[4].startswith("pop member object")


def test_in_python_three_lines_of_a_block_need_the_same_blanks():
    """With a, b and c blanks it is the language a^n b a^n b a^n, which has no context-free grammar."""
    for blanks in product(range(1, 5), repeat=3):
        block = "if x:\n" + "".join(" " * count + "x\n" for count in blanks)
        try:
            compile(block, "", "exec")
            right = True
        except IndentationError:
            right = False
        assert right == (len(set(blanks)) == 1)


def test_the_rule_of_the_puzzle_has_as_many_b_as_a():
    machine = gv.grammar('root ::= "a" root? "b"')
    for many, others in product(range(7), repeat=2):
        assert machine.accepts(b"a" * many + b"b" * others) == (many == others > 0)


def test_the_deepest_stack_of_a_thousand_objects():
    moves, ends = gv.machines.pushdown_moves(gv.grammar(PAIRS, root="object"))
    stack, deepest = [0], 0
    for byte in b'{"a": ' * 1000 + b"1" + b"}" * 1000:
        stack = move_stack(moves, ends, stack, byte)
        deepest = max(deepest, len(stack))
    assert (deepest, stack) == (2001, [6])


def test_the_stacks_of_palindromes_grow_with_the_length():
    machine = gv.grammar('root ::= "a" root "a" | "b" root "b" | [ab]?')
    for text in texts_up_to("ab", 7):
        state = read(machine, text.encode())
        assert sum(len(cells) for _, cells in state.tops) <= max(1, len(text))
        assert len(machine.branches(state)) <= max(1, len(text))


def test_the_three_grammars_give_the_same_masks_at_every_place():
    machines = [gv.grammar(rules) for rules in GRAMMARS.values()]
    texts = [b""]
    for text in texts:
        assert len({(one.accepts_prefix(text), one.accepts(text)) for one in machines}) == 1
        if len(text) < 6:
            texts += [text + bytes([byte]) for byte in b"1+(" if machines[0].accepts_prefix(text)]


def test_under_a_budget_of_20_tokens_the_model_of_brackets_opens_nine():
    opener = gv.ToyModel([b"(", b")", b"[", b"]", b"start", b"</s>"], lambda tokens: [9, 0, 8, 0, 0, 0], eos={5})
    brackets = gv.guide(gv.grammar('root ::= ("(" root ")" | "[" root "]")*'), opener.vocabulary)
    text = gv.record(opener, "start", gv.within(brackets, 20), max_tokens=20).text
    assert (sum(text.count(one) for one in "(["), len(text)) == (9, 18)


def test_a_sum_has_as_many_trees_as_the_lab_says_and_left_recursion_needs_the_fewest_items():
    trees = [comb(2 * signs, signs) // (signs + 1) for signs in (9, 40)]
    assert (trees[0], trees[1] > 10**21) == (4862, True)
    charts = [gv.earley(grammar).chart(b"1" + b"+1" * 40) for grammar in GRAMMARS.values()]
    assert [sum(len(column.items) for column in chart) for chart in charts] == [2666, 166, 1066]


def test_the_parser_of_the_exercises_misses_a_nullable_rule_as_the_puzzle_says():
    rules = {"root": [("blank", "blank", "x")], "blank": [(), (" ", "blank")]}
    column, chart = [Item("start", ("root",), 0, 0)], []
    for place, character in enumerate(["x", ""]):
        chart.append(column)
        for item in column:  # it grows
            found = FUNCTIONS["predict"](rules, [item], place) if item.wanted else complete(chart, item)
            column += [one for one in found if one not in column]
        column = FUNCTIONS["scan"](column, character)
    assert Item("start", ("root",), 1, 0) not in chart[-1]
    assert gv.earley('root ::= blank blank "x"\nblank ::= "" | " " blank').accepts(b"x")


@pytest.mark.parametrize(("depth", "nodes"), [(3, 16), (20, 101)])
def test_a_depth_cap_bounds_the_depth_grows_with_it_and_needs_no_recursion(depth, nodes):
    rules = ['expr_d0 ::= ""']
    rules += [f'expr_d{n + 1} ::= ("(" expr_d{n} ")" | "[" expr_d{n} "]")*' for n in range(depth)]
    capped = gv.grammar("\n".join(rules), root=f"expr_d{depth}")
    assert (len(capped.nodes), capped.finite) == (nodes, True)
    assert capped.accepts(b"(" * depth + b")" * depth + b"[]" * 30)
    assert not capped.accepts_prefix(b"(" * (depth + 1))


def test_of_the_four_outputs_only_the_replies_need_a_stack():
    number = {"type": "array", "items": {"type": "number"}}
    keys = {f"key {n}": {"type": "string"} for n in range(8)} | {"counts": number, "prices": number}
    date = {"type": "string", "format": "date"}
    order = {"type": "object", "properties": keys, "required": list(keys)}
    for schema in (date, order):
        assert type(gv.json_schema(schema)).__name__ == "DFA"
    assert not gv.grammar('root ::= "(" [a-z]+ root* ")"').finite


def test_column_0_of_the_film_has_five_items_and_one_of_them_reads_the_bracket():
    rules = {"sum": [("sum", "+", "term"), ("term",)], "term": [("number",), ("(", "sum", ")")]}
    frames = gv.views.earley_frames(rules, "(12)", {"number": "[0-9]+"})
    columns = frames[-1].columns
    assert len(columns[0]) == 5
    kinds = [kind for kind, _ in columns[1]]
    assert kinds.count("scan") == 1


# -- 09 and 10: the split, and the walk ----------------------------------------------------------------------------

BOXES = r"""value  ::= object | list | string
object ::= "{" (string ": " value (", " string ": " value)*)? "}"
list   ::= "[" value (", " value)* "]"
string ::= "\"" [a-z]+ "\""
"""


def test_json_has_58_nodes_and_after_a_digit_nodes_of_the_number_and_of_the_object(clerk):
    pda = gv.json()
    assert len(gv.build_split(pda, clerk.vocabulary, inline=False).standing) == 58
    assert {pda.nodes.name_of(place) for place in pda.places(read(pda, b'{"a": 1'))} == {"number", "object"}


def test_the_bracket_after_a_digit_is_sorted_outside_the_number_and_only_a_colon_ends_a_key(clerk):
    split = gv.build_split(gv.json(), clerk.vocabulary, inline=False)
    places = split.pda.places(read(split.pda, b'{"a": 1'))
    nodes = [split.node(node).verdicts for node in places]
    tokens = [token for piece in (b"2", b"}", b"}}", b":") for token in clerk.vocabulary.ids(piece)]
    assert [verdicts[tokens].tolist() for verdicts in nodes] == [[1, 0, 0, 0], [0, 1, 2, 0]]
    key = read(split.pda, b'{"a')
    (node,) = split.pda.places(key)
    dependent = split.node(node).dependent
    assert len(dependent) == 13
    legal = dependent[split.mask(key)[dependent]]
    assert bytes_of(clerk.vocabulary, legal) == b'":'


def test_each_dependent_token_is_legal_on_one_stack_and_not_on_another(clerk):
    machine = gv.grammar(BOXES, root="value")
    split = gv.build_split(machine, clerk.vocabulary, inline=False)
    parts, (node,) = split.build(), machine.places(read(machine, b'["a'))
    assert (sum(len(part.dependent) for part in parts), len(parts)) == (16, 16)
    for token in split.node(node).dependent:
        piece = split.vocabulary.pieces[token]
        begun = [b'["a', b'{"a', b'{"a": ' * 4 + b'"a', b'{"a": "a']
        assert {machine.accepts_prefix(text + piece) for text in begun} == {True, False}


def test_after_a_space_the_whole_vocabulary_of_words_depends_on_the_stack(llama3):
    split = gv.build_split(gv.json(), llama3, inline=False, expand=False)
    begun = {token for token in llama3.text_ids if re.match(rb"[ \t\n\r]+[^ \t\n\r]", llama3.pieces[token])}
    most = max(split.build(), key=lambda part: len(part.dependent))
    assert set(most.dependent.tolist()) == begun
    assert round(len(begun) / len(llama3), 2) == 0.46
    counts = {}
    for text in (b"[1", b'"\\', b'"'):
        node, *_ = split.pda.places(read(split.pda, text))
        dependent = split.node(node).dependent
        counts[text] = (split.pda.nodes.name_of(node), len(dependent))
    assert counts == {b"[1": ("number", 0), b'"\\': ("string", 62), b'"': ("string", 1151)}


def test_with_context_expansion_most_tokens_depend_on_the_stack_before_the_last_digit_of_an_escape(llama3):
    split = gv.build_split(gv.json(), llama3, inline=False)
    (node,) = split.pda.places(read(split.pda, b'"\\u00e'))
    counts = [len(part.dependent) for part in split.build()]
    assert len(split.node(node).dependent) == max(counts) == 11_242
    assert f"{max(counts) / len(llama3):.2%}" == "8.77%"


def test_the_figures_beside_the_published_ones_are_those_of_the_benches(llama3):
    grammars, ablation = (json.loads((BENCH / f"{name}.json").read_text()) for name in ("grammars", "ablation"))
    rows = grammars["cases"]["llama3, JSON"]
    found = {name: [round(1e6 * rows[name][key], 1) for key in ("mask", "mask_p99")] for name in rows}
    assert found["xgrammar 0.2.8, schema"] == [9.1, 27.9]
    assert found["xgrammar 0.2.8"] == [214.8, 46_210.1]
    assert found["guidedviz 0.1.0"] == [0.4, 216.2]
    assert [round(row["ms"], 2) for row in ablation["rows"].values()][:5] == [3.07, 3.05, 1.08, 0.26, 0.09]
    assert [row[0] for row in ablation["paper"].values()][:5] == [65.8, 38.3, 0.154, 0.035, 0.018]
    split = gv.build_split(gv.json(), llama3)
    assert split.build()
    assert (round(len(split.standing) * len(llama3) / 8e6, 2), round(split.nbytes / 1e6, 2)) == (0.91, 0.19)


def test_without_recursion_inlining_leaves_no_context_dependent_token():
    flat = gv.grammar('root ::= "[" word ("," word)* "]"\nword ::= "\\"" [a-z]* "\\""')
    for inline, most in ((True, 0), (False, 1)):
        parts = gv.build_split(flat, gv.Vocabulary([b"a", b'"', b'a"', b'",', b'"]']), inline=inline).build()
        assert bool(max(len(part.dependent) for part in parts)) == bool(most)


@pytest.mark.parametrize(("machine", "text"), [(gv.regex(r"\d+(\.\d+)?"), b"3."), (gv.json(), b'{"a')])
def test_the_jump_and_the_slice_of_the_exercises_find_the_mask_of_brute_force(machine, text, llama3):
    jump, whole = FUNCTIONS["jump"], FUNCTIONS["whole"]
    pieces = [piece for piece in llama3.pieces[:128_000:400] if piece]
    state = read(machine, text)
    legal = {token for token, piece in enumerate(pieces) if machine.accepts_prefix(text + piece)}
    assert legal
    assert jump(machine, state, flatten(pieces)) == legal
    part = gv.regex(r'[^"\\\x00-\x1f\x7f]*')
    taken = {token for token, piece in enumerate(pieces) if part.accepts_prefix(piece)}
    assert whole(machine, state, part) == (taken <= legal)
    if taken <= legal:
        rest = [token for token in range(len(pieces)) if token not in taken]
        others = jump(machine, state, flatten([pieces[token] for token in rest]))
        assert taken | {rest[token] for token in others} == legal


def test_a_lazy_table_reads_with_few_entries_what_has_two_million_states():
    lexer = run_cells("10_walk_the_trie", "class LazyTable", "lexer = ")["lexer"]
    for text, entries in (("ab" * 500, 22), ("abb" * 500, 42)):
        state = frozenset()
        for place, letter in enumerate(text, 1):
            state = lexer.step(state, letter)
            assert (21 in state) == bool(re.fullmatch("[ab]*a[ab]{20}", text[max(0, place - 40) : place]))
        assert len(lexer.table) == entries


def test_in_words_of_letters_no_slice_is_legal_as_a_whole_and_the_walk_asks_nearly_100_times_as_often(llama3):
    sql = gv.grammar("""root ::= "SELECT " word (", " word)* " FROM " word (" WHERE " word " = '" [A-Za-z ]+ "'")? ";"
                        word ::= [a-z]+""")
    asked = [gv.tokens.lazy_walk(*given).asked for given in ((sql, llama3, "SELECT ti"), (gv.json(), llama3, '{"a'))]
    assert asked == [31_526, 330]


@pytest.mark.slow
def test_the_lexer_answers_alone_at_nearly_all_nodes(llama3):
    """A finite machine for the rest of a string is at the nodes at which the rule of a string is open."""
    rest, trie = gv.regex(r'([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"'), llama3.trie
    lexer = dict(gv.tokens.walk_steps(trie, rest, rest.initial))
    inside = {node for node, state in lexer.items() if not rest.is_accepting(state)}
    start = read(gv.json(), b'{"a')
    whole = dict(gv.tokens.walk_steps(trie, gv.json(), start))
    in_string = {node for node, state in whole.items() if "string" in gv.json().stack(state)}
    assert (len(whole), len(in_string)) == (266_178, 265_905)
    assert inside <= in_string
    assert len(in_string - inside) == 10  # the first bytes of a second string


def test_of_4221_questions_beside_the_slice_most_are_nodes_at_which_no_token_ends(llama3):
    machine = gv.json()
    plain = gv.regex(r'[^"\\\x00-\x1f\x7f]*')
    inside = read(machine, b'{"a')
    pieces = [llama3.pieces[token] for token in llama3.text_ids]
    others = {piece for piece in pieces if read(plain, piece) is None}
    nodes = {piece[:end] for piece in others for end in range(1, len(piece) + 1)}
    accepted = {node for node in nodes if read(machine, node, inside) is not None}
    asked = {node for node in nodes if len(node) == 1 or node[:-1] in accepted}
    assert (len(asked), len(asked - accepted), len(accepted & others)) == (4221, 1710, 367)
    assert len(accepted - others) == 2144
