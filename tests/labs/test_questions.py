"""The question bank: its forms say the same, and its answers are computed.

No right choice shows itself by its length or by its place.
"""

import doctest
import json
import re
from collections import Counter
from itertools import combinations, product

import jsonschema
import numpy as np
import pytest

import guidedviz as gv
from guidedviz.machines.machine import read
from tests.common import BYTES
from tests.labs.sources import NUMBERED, import_module

bank = import_module("question_bank")
BY_LAB = {lab: bank.read_questions(lab) for lab in bank.lab_numbers()}
INVENTORY = bank.read_questions(bank.INVENTORY)
QUESTIONS = {question.name: question for questions in BY_LAB.values() for question in questions}
EVERY = [*QUESTIONS.values(), *INVENTORY]
EXAMS = bank.read_exams()


# -- what a question has ----------------------------------------------------------------------------------------------


def test_each_lab_has_six_questions_and_the_inventory_twelve():
    assert {lab: len(questions) for lab, questions in BY_LAB.items()} == {name[:2]: 6 for name in NUMBERED}
    assert len(INVENTORY) == 12


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.name)
def test_a_question_has_one_right_choice_and_a_reason_for_each(question):
    texts = [choice.text for choice in question.choices]
    assert sum(choice.right for choice in question.choices) == 1
    assert len(set(texts)) == len(texts) >= 3
    assert all(choice.why.endswith(".") for choice in question.choices)


def test_the_right_choice_is_not_shown_by_its_length():
    longest, shortest = 0, 0
    for question in EVERY:
        others = [len(choice.text) for choice in question.choices if not choice.right]
        longest += len(question.right.text) > max(others)
        shortest += len(question.right.text) < min(others)
    assert longest <= len(EVERY) / 3
    assert shortest <= len(EVERY) / 3


def test_the_right_choices_are_spread_over_the_places():
    for questions in (*BY_LAB.values(), INVENTORY, *(exam["choice"] for exam in EXAMS)):
        places = Counter(question.letter for question in questions)
        assert max(places.values()) <= len(questions) / 4 + 1, questions[0].name


def test_a_place_that_a_lab_does_not_have_is_an_error():
    with pytest.raises(ValueError, match="lab 00 has no heading that begins with '9 · '"):
        bank.name_place("00", 9)


def test_an_exam_takes_an_hour_and_asks_nothing_that_only_the_homework_teaches():
    for exam in EXAMS:
        assert len({question.name for question in exam["choice"]}) == 18
        assert not [question.place for question in exam["choice"] if "home" in question.place]
        for part in ("minutes", "points"):
            assert bank.POINTS * len(exam["choice"]) + sum(task[part] for task in exam["written"]) == 60
    names = [{question.name for question in exam["choice"]} for exam in EXAMS]
    first, second = names
    assert not first & second


def test_the_answers_to_the_written_tasks_are_computed():
    first, last = EXAMS[0]["written"][0]["answer"], EXAMS[1]["written"][1]["answer"]
    machine = gv.regex("[ab]+c?")
    assert len(machine) == 3
    legal = [token for token in ("a", "bc", "cb", "c") if machine.accepts_prefix(b"ab" + token.encode())]
    assert machine.accepts(b"ab")
    listed = ", ".join(f"`{token}`" for token in legal)
    assert f"After `ab`: {listed} and EOS." in first
    for requests, compiles, (once, per_mask) in product([1000], [1, 1000], [(40, 0.02), (1, 0.4)]):
        total = compiles * once + requests * 100 * per_mask
        assert f"{total:,.0f} ms" in last


# -- the forms --------------------------------------------------------------------------------------------------------


def read_gift(text):
    """Each question of a GIFT file: its category, text, choices with their reasons, and which one is right."""
    found, category = {}, ""
    for block in text.split("\n\n"):
        if block.startswith("$CATEGORY: guidedviz/"):
            category = block.strip().removeprefix("$CATEGORY: guidedviz/")
        if not block.startswith("::"):
            continue
        name, ask, body = re.fullmatch(r"::(.+?)::\[markdown\](.+?)(?<!\\) \{\n(.*)\n\}\n?", block, re.DOTALL).groups()
        choices = []
        for line in body.split("\n"):
            if not line.startswith("####"):
                said, _, why = re.fullmatch(r"[=~]((?:[^\\#]|\\.)*)(#((?:[^\\#]|\\.)*))?", line).groups()
                reason = unescape(why or "")
                choices.append((unescape(said), reason, line.startswith("=")))
        assert name not in found
        found[name] = (category, unescape(ask), choices)
    return found


def unescape(text):
    assert not re.search(r"(?<!\\)(?:\\\\)*[~=#{}:]", text), text
    return re.sub(r"\\(.)", r"\1", text)


def test_the_file_for_platforms_says_what_the_sources_say():
    places = {name: f"lab {name[:2]}" for name in QUESTIONS}
    wanted = {}
    for number, exam in enumerate(EXAMS, 1):
        places |= {question.name: f"exam {number}" for question in exam["choice"]}
        for place, task in enumerate(exam["written"], 1):
            wanted[f"exam {number}, in writing {place}"] = (f"exam {number}", task["ask"], [])
    for question in EVERY:
        reasons = [choice.why if question.name in QUESTIONS else "" for choice in question.choices]
        choices = [(one.text, why, one.right) for one, why in zip(question.choices, reasons, strict=True)]
        place = places.get(question.name, "before and after the course")
        wanted[question.name] = (place, question.ask, choices)
    assert read_gift(bank.GIFT.read_text(encoding="utf-8")) == wanted


SHEETS = {f"exam-{number}.md": exam["choice"] for number, exam in enumerate(EXAMS, 1)} | {
    "before-and-after.md": INVENTORY
}


@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_has_the_questions_and_no_answers(name):
    sheet = (bank.TEACHING / name).read_text(encoding="utf-8")
    for number, question in enumerate(SHEETS[name], 1):
        after = sheet.split(f"\n**{number}** ")[1]
        block = after.split("\n\n**")[0].strip()
        lines = [f"* {letter} · {one.text}" for letter, one in zip("ABCD", question.choices, strict=False)]
        assert block == "\n".join([question.ask, "", *lines])
    answers = [choice.why for question in SHEETS[name] for choice in question.choices]
    answers += [task["answer"] for exam in EXAMS for task in exam["written"]]
    assert not [answer for answer in answers if f" {answer}" in sheet]


def test_the_page_says_what_the_sources_say():
    page = bank.PAGE.read_text(encoding="utf-8")
    for question in EVERY:
        after = page.split(f"\n**{question.name}** ")[1]
        block = after.split("\n\n**")[0]
        assert block.startswith(f"{question.ask}\n")
        assert re.findall(r"^\* (\w) .*\*\*Right\.\*\*", block, re.MULTILINE) == [question.letter]
        for choice in question.choices:
            assert f" · {choice.text} · " in block


def test_the_gain_is_computed_as_the_page_says():
    page = bank.PAGE.read_text(encoding="utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    space = {}
    exec(code, space)
    gain = space["gain"]([5, 6, 4], [9, 9, 9])
    assert round(gain, 2) == 0.57
    assert space["gain"]([12, 0], [12, 12]) == 1


def test_the_examples_of_the_writer_hold():
    assert doctest.testmod(bank).failed == 0


# -- answers that the library computes --------------------------------------------------------------------------------


def asked_by_the_walk(regex, tokens):
    vocabulary = gv.Vocabulary(tokens.encode().split())
    walk = gv.tokens.lazy_walk(gv.regex(regex), vocabulary, "")
    return f"{walk.asked} times"


def hits(name, way, what):
    rows = gv.decoding.Rates.load(name).table
    return next(row["hits"] for row in rows if (row["way"], row["what"]) == (way, what))


def nested(kinds, depth):
    inside = ""
    for _ in range(depth):
        inside = "(" + "|".join(rf"\{opening}{inside}\{closing}" for opening, closing in kinds) + ")*"
    return inside


def next_bytes(machine, text):
    return [byte for byte in range(256) if machine.accepts_prefix(text + bytes([byte]))]


def opened_within(budget):
    opener = gv.ToyModel([b"(", b")", b"start", b"</s>"], lambda tokens: [9, 0, 0, 0], eos={3})
    machine = gv.grammar('root ::= ("(" root ")")*')
    guide = gv.within(gv.guide(machine, opener.vocabulary), budget)
    return gv.record(opener, "start", guide, max_tokens=budget).text.count("(")


def longest_name_before_the_slice():
    name = gv.regex('[^"]{0,15}')
    return max(size for size in range(16) if name.accepts_prefix(b"x" * (size + 10)))


def place_in_packed_mask(token):
    mask = np.arange(128)[None] == token
    [words] = gv.serving.pack_masks(mask)
    [word] = np.flatnonzero(words)
    bit = int(words[word]).bit_length() - 1
    return f"word {word}, bit {bit}"


def texts_at_temperature_0():
    clerk = gv.load_model("clerk")
    guide = gv.guide(gv.regex("[0-9]{2}"), clerk.vocabulary)
    return len({gv.record(clerk, "Age:\n", guide, temperature=0, seed=seed).text for seed in range(10)})


RECORD = gv.regex(r'\{"name": "[^"\\\x00-\x1f]*", "age": \d{1,3}\}')
SUMS = gv.earley('root ::= root "+" term | term\nterm ::= [0-9]+ | "(" root ")"')
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "city": {"type": "string", "default": "Oslo"}},
    "required": ["name"],
}
FIGURES = {  # the text of the right choice
    "01-3": lambda: f"token {'AB'[int(np.argmax(gv.sampling.apply_bias([250.0, 0.0], {0: -100})))]}",
    "02-1": lambda: f"{gv.sampling.masked_softmax(np.log([0.02, 0.03, 0.95]), {0, 1})[0]:.2f}",
    "03-2": lambda: str(len(gv.regex("[a-z]+@[a-z]+"))),
    "03-3": lambda: f"`{gv.machines.shortest_difference(gv.regex('a+b'), gv.regex('a*b')).decode()}`",
    "04-4": lambda: str(len(gv.regex("[ab]*a[ab]{5}"))),
    "05-3": lambda: asked_by_the_walk("b", "a ab abc b"),
    "06-5": lambda: str(len([keys for size in range(7) for keys in combinations("abcdef", size)])),
    "07-2": lambda: str(len(gv.regex(nested(["()", "[]"], 4)))),
    "08-3": lambda: str(len(next_bytes(SUMS, b"(7"))),
    "08-4": lambda: str(opened_within(11)),
    "10-2": lambda: asked_by_the_walk("a*", "a b ba bb"),
    "10-3": lambda: f"after at most {longest_name_before_the_slice()}",
    "11-1": lambda: f"`{gv.guide(gv.regex('colou?r'), gv.Vocabulary(BYTES)).forced(0).decode()}`",
    "12-4": lambda: str(hits("smollm2/sums-one", "number, mask", "last number is right")),
    "13-3": lambda: str(texts_at_temperature_0()),
    "14-3": lambda: place_in_packed_mask(70),
}


@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_of_an_answer_is_computed(name):
    assert QUESTIONS[name].right.text == FIGURES[name]()


def is_read(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def need_one_state(pair):
    one, other = re.findall("`(.*?)`", pair)
    machine = gv.regex("[0-9]+,[0-9]+")
    return read(machine, one.encode()) == read(machine, other.encode())


def is_legal_after_the_point(token):
    machine = gv.regex(r"\d+(\.\d+)?")
    if token == "EOS":
        return machine.accepts(b"3.")
    return machine.accepts_prefix(b"3." + token.encode())


def is_dependent(piece):
    rule = gv.regex('"[a-z]+"')
    fits = [rule.accepts_prefix(('"a' + piece[:size]).encode()) for size in range(len(piece) + 1)]
    ended = [rule.accepts(('"a' + piece[:size]).encode()) for size in range(len(piece) + 1)]
    return not fits[-1] and any(ended)


PAIRS = 'object ::= "{" pair (", " pair)* "}"\npair ::= "\\"" [a-z] "\\": " [0-9]'
RANGE = gv.json_schema({"type": "integer", "minimum": 0, "maximum": 120})
VERDICTS = {  # true of the right choice only, whose text comes without its quotes
    "00-2": is_read,
    "03-1": need_one_state,
    "03-5": gv.regex(r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])").accepts,
    "04-3": lambda regex: gv.regex(regex) == gv.regex("a(ba)*"),
    "05-1": is_legal_after_the_point,
    "05-6": lambda piece: not RECORD.accepts_prefix(b'{"name": "Zoe' + piece.encode()),
    "06-1": lambda text: gv.json_schema(PERSON).accepts(text.encode()),
    "06-4": lambda digit: RANGE.accepts_prefix(b"12" + digit[:1].encode()),
    "07-5": lambda text: not gv.grammar(PAIRS, root="object").accepts(text.encode()),
    "09-2": is_dependent,
}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_verdict_is_true_of_the_right_choice_only(name):
    for choice in QUESTIONS[name].choices:
        text = choice.text
        if text.count("`") == 2:
            text = text.strip("`")
        verdict = VERDICTS[name]
        judged = text.encode() if name == "03-5" else text
        assert bool(verdict(judged)) == choice.right, choice.text


def test_the_right_number_is_not_shown_by_an_order_of_the_others():
    shown, numbers = 0, 0
    for question in EVERY:
        found = [re.match(r"[\d,.]+\b", choice.text) for choice in question.choices]
        if not all(found):
            continue
        values = [float(one[0].replace(",", "")) for one in found]
        others = [value for value, choice in zip(values, question.choices, strict=True) if not choice.right]
        numbers += 1
        shown += others == sorted(others) and values != sorted(values)
    assert numbers > 15
    assert shown < numbers / 3


def test_what_other_answers_say_is_so():
    assert not is_read('Sure: {"a": 1}')  # 00-1
    assert f"It was {hits('smollm2/json', 'keys, mask', 'right')}." in QUESTIONS["00-5"].right.why
    person = gv.json_schema({"type": "object", "properties": {"city": {"minLength": 1}}, "required": ["city"]})
    assert [person.accepts(f'{{"city": {value}}}'.encode()) for value in ('""', '"Oslo"')] == [False, True]  # 06-6
    same = [gv.sampling.softmax(np.array(logits)) for logits in ([3.0, 1.0, 1.0], [0.0, -2.0, -2.0])]
    np.testing.assert_allclose(*same)  # 01-1
    kept = gv.sampling.top_k(np.array([0.6, 0.3, 0.1]), 2)
    assert kept[2] == 0  # 02-4
    inside = gv.guide(RECORD, gv.load_model("clerk").vocabulary).mask(read(RECORD, b'{"name": "Zoe'))
    assert inside.mean() > 0.9  # 05-5
    assert jsonschema.Draft202012Validator({"type": "object", "requird": ["age"]}).is_valid({})  # 06-2
    with pytest.raises(gv.PatternError):
        gv.json_schema({"type": "int"})  # 13-5
