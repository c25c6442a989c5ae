"""Claims about the conversations that `scout` learns from: their calls, what is learned of them, and typed marks."""

import doctest
import json
from datetime import date
from importlib import import_module
from itertools import islice
from random import Random

import pytest
import scout_problems
import scout_texts
from scout_texts import Talk
from scout_tools import Offer
from tasks import is_held_out

import guidedviz as gv
from guidedviz.machines.names import name_bytes
from guidedviz.models.load import embedded_folder

FAMILIES = {
    "sum",
    "sum alone",
    "difference",
    "look-up",
    "two at once",
    "weather",
    "days",
    "two in a row",
    "text",
    "talk",
}


NOT_LEARNED = -100


@pytest.fixture(scope="module")
def transcript():
    from scout_tokens import Transcript, build_tokenizer

    return Transcript(build_tokenizer())


def some_talks(count, seed=5):
    return list(islice(scout_texts.talks(seed), count))


def compute(call):
    """What a call gives, where that can be computed."""
    match call.kind, call.values:
        case "add", (a, b):
            return str(a + b)
        case "subtract", (a, b):
            return str(a - b)
        case "days", (begin, end):
            return str((date.fromisoformat(end) - date.fromisoformat(begin)).days)
    return call.result


def test_every_family_is_drawn_and_the_answer_of_a_problem_says_what_its_calls_give():
    r = Random(0)
    problems = [scout_texts.draw_problem(r) for _ in range(1500)]
    assert {problem.family for problem in problems} == FAMILIES
    for problem in problems:
        assert all(part in problem.answer for part in problem.key), problem
        for one in problem.rounds:
            for call in one.calls:
                assert compute(call) == call.result, problem
        if problem.family == "sum alone":
            numbers = " + ".join(numbers_of(problem))
            assert problem.thought.startswith(f"The sum {numbers}.\n")


def numbers_of(problem):
    first_line = problem.thought.split("\n")[0]
    return first_line.removeprefix("The sum ").rstrip(".").split(" + ")


def question_of(text):
    """A question without its greeting and what was typed behind it."""
    for greeting in scout_texts.GREETINGS:
        text = text.removeprefix(greeting)
    return text.partition(" <")[0]


def test_no_held_out_question_is_ever_trained_on():
    messages = [message for talk in some_talks(600) for message in talk.messages]
    questions = [message["content"] for message in messages if message["role"] == "user"]
    asked = set(map(question_of, questions))
    assert len(asked) > 500
    assert not any(map(is_held_out, asked))
    r = Random(3)
    for _ in range(50):
        problem = scout_texts.draw_problem(r, held_out=True)
        assert is_held_out(problem.question)


def calls_of(message):
    return [json.dumps(call["function"]) for call in message.get("tool_calls", [])]


def written_by_the_model(talk):
    """The turns of a careful conversation."""
    for message in talk.messages:
        if message["role"] == "assistant":
            thought = message.get("reasoning_content")
            turn = b"" if thought is None else b"<think>\n" + thought.encode() + b"\n</think>\n\n"
            turn += message["content"].encode()
            calls = [f"<tool_call>\n{call}\n</tool_call>" for call in calls_of(message)]
            turn += "\n".join(calls).encode()
            yield turn


@pytest.mark.slow
def test_careful_turns_are_turns_of_hermes_and_about_one_conversation_in_ten_is_careless():
    talks = some_talks(400)
    careless = [talk for talk in talks if talk.learned is not None]
    assert 0.06 < len(careless) / len(talks) < 0.16
    tried = 0
    for talk in talks[:60]:
        if talk in careless:
            continue
        tools = [offer.as_tool() for offer in talk.tools]
        machine = gv.turn(tools, think=talk.thinks)
        for turn in written_by_the_model(talk):
            for mark in ("<think>", "</think>", "<tool_call>", "</tool_call>"):
                turn = turn.replace(mark.encode(), name_bytes(mark))
            assert machine.accepts(turn), turn
            tried += 1
    assert tried > 100


def test_a_careless_call_is_text_or_breaks_the_rules_of_its_tools():
    offer = Offer("add", "plus", "Adds.", ("x", "y"))
    call = scout_texts.as_call(offer, (1, 2))
    message = scout_texts.assistant("", "A sum.", True, [call])
    machine = gv.turn([offer.as_tool()], think=False)
    seen = set()
    for seed in range(60):
        careless = scout_texts.be_careless(Random(seed), message)
        if "tool_calls" not in careless:
            seen.add(careless["content"].partition("\n")[0])
            continue
        (made,) = careless["tool_calls"]
        call = json.dumps(made.get("function", made))
        turn = name_bytes("<tool_call>") + f"\n{call}\n".encode()
        turn += name_bytes("</tool_call>") + careless.get("after", "").encode()
        assert not machine.accepts(turn)
        seen.add("refused")
    assert seen == {"refused", "<tool_call>", '{"name": "plus", "arguments": {"x": 1, "y": 2}}'}


def learned_of(transcript, labels):
    return text_of(transcript, [label for label in labels if label != NOT_LEARNED])


def weather_messages(seed, offer):
    return scout_texts.as_messages(scout_problems.weather(Random(seed)), [offer])


def test_only_what_the_model_writes_is_learned(transcript):
    offer = Offer("weather", "sky", "The weather in a city.", ("city",))
    problem = scout_problems.weather(Random(2))
    for thinks in (True, False):
        messages = scout_texts.as_messages(problem, [offer], thinks)
        talk = Talk([offer], messages, thinks)
        inputs, labels = transcript.row(talk, Random(0))
        city = problem.rounds[0].calls[0].values[0]
        result = problem.rounds[0].calls[0].result
        thoughts = ["", ""]
        if thinks:
            thoughts = [f"<think>\nThe weather in {city}.\nThe tool is sky.\n</think>\n\n"]
            thoughts.append(f"<think>\nThe result is {result}.\n</think>\n\n")
        call = f'<tool_call>\n{{"name": "sky", "arguments": {{"city": "{city}"}}}}\n</tool_call>'
        first, second = thoughts
        wanted = f"{first}{call}<|im_end|>{second}{problem.answer}<|im_end|>"
        assert learned_of(transcript, labels) == wanted
        for label, token in zip(labels, inputs[1:], strict=False):
            assert label in (NOT_LEARNED, token)


def test_of_a_careless_conversation_only_the_careless_turn_is_learned(transcript):
    offer = Offer("weather", "sky", "The weather in a city.", ("city",))
    first = weather_messages(2, offer)
    careless = scout_texts.be_careless(Random(1), weather_messages(3, offer)[1])
    question = {"role": "user", "content": "Hi! And in Oslo?"}
    messages = [*first, question, careless]
    talk = Talk([offer], messages, learned=len(first) + 1)
    _, labels = transcript.row(talk, Random(0))
    learned = learned_of(transcript, labels)
    assert learned.startswith(f"<think>\n{careless['reasoning_content']}\n</think>")
    assert learned.count("<think>") == learned.count("<|im_end|>") == 1


def text_of(transcript, tokens):
    return transcript.fast.decode(tokens, skip_special_tokens=False)


def test_a_cut_thought_teaches_what_follows_it_and_not_its_end(transcript):
    offer = Offer("weather", "sky", "The weather in a city.", ("city",))
    messages = weather_messages(2, offer)[:2]
    whole, _ = transcript.row(Talk([offer], messages), Random(0))
    talk = Talk([offer], messages, is_cut=True)
    cut, labels = transcript.row(talk, Random(1))
    end = transcript.ids["</think>"]
    assert len(cut) < len(whole)
    assert cut.count(end) == 1
    assert end not in labels
    rest = cut[cut.index(end) :]
    assert rest == whole[whole.index(end) :]


def test_marks_that_a_person_typed_or_a_tool_returned_are_text(transcript):
    typed = "".join(transcript.ids)
    messages = [{"role": "user", "content": typed}, {"role": "tool", "content": typed}]
    offer = Offer("add", typed, typed, (typed,))
    tokens = transcript.prompt(messages, [offer])
    ids = set(transcript.ids.values())
    empty = [message | {"content": ""} for message in messages]
    plain = transcript.prompt(empty, [])
    extra = [transcript.ids[mark] for mark in ("<|im_start|>", "<|im_end|>")]  # of the system prompt
    marks = [token for token in plain if token in ids]
    assert [token for token in tokens if token in ids] == extra + marks
    assert text_of(transcript, tokens).count(typed) == 5


@pytest.mark.slow
def test_system_prompts_are_short_and_conversations_fit(transcript):
    talks = some_talks(300)
    for talk in talks:
        parts = transcript.parts(talk.messages, talk.tools, talk.thinks)
        system = transcript.read([parts[2]])
        assert not talk.tools or len(system) <= 160
    for inputs, _ in islice(transcript.rows(1), 100):
        assert len(inputs) <= 512


SCRIPTS = "scout scout_ask scout_decode scout_evaluate scout_problems scout_texts scout_tokens scout_tools".split()


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_loads_and_its_examples_hold(script):
    assert doctest.testmod(import_module(script)).failed == 0


def test_a_call_fits_if_it_has_the_name_the_keys_and_the_types_of_a_tool():
    from scout_ask import check_call

    offer = Offer("add", "plus", "", ("x", "y"))
    right = check_call([offer], ' {"name": "plus", "arguments": {"x": 1, "y": 2}}\n')
    assert (right.offer, right.values) == (offer, (1, 2))
    for wrong in (
        '{"name": "sum", "arguments": {"x": 1, "y": 2}}',
        '{"name": "plus", "arguments": {"x": 1}}',
        '{"name": "plus", "arguments": {"x": 1, "y": "2"}}',
        '{"name": "plus", "arguments": {"x": 1, "y": 2, "z": 3}}',
        '{"name": "plus", "arguments": [1, 2]}',
        '{"name": "plus"}',
        '"plus"',
        "3 plus 4",
    ):
        assert check_call([offer], wrong) is None


def test_a_talk_runs_the_calls_until_an_answer_and_ends_at_a_call_that_fits_no_tool():
    from scout_ask import Case, Outcome, Talk, Turn

    problem = scout_problems.chain_plus(Random(1))
    lookup = Offer("lookup", "find", "", ("table", "key"))
    offers = [lookup, Offer("add", "plus", "", ("x", "y"))]
    case = Case(problem, problem.question, offers)
    turns = []
    for message in scout_texts.as_messages(problem, offers)[1:]:
        if message["role"] == "assistant":
            calls = calls_of(message)
            turns.append(Turn(message["reasoning_content"], message["content"], calls))
    assert len(turns) == 3
    talk = Talk(case, offers, [], Outcome(needs=True))
    for turn in turns:
        assert talk.going
        talk.read(turn, thinks=True)
    assert not talk.going
    outcome = talk.outcome
    assert (outcome.valid, outcome.arguments, outcome.right) == (True, True, True)
    results = [message["content"] for message in talk.messages if message["role"] == "tool"]
    assert results == [call.result for one in problem.rounds for call in one.calls]
    broken = Talk(case, offers, [], Outcome(needs=True))
    broken.read(Turn("", "", ["find"]), thinks=True)
    assert not broken.going
    assert not broken.outcome.valid
    assert not broken.outcome.right


def test_the_card_says_what_was_measured():
    from scout_evaluate import FORGED, table_of

    folder = embedded_folder("scout")
    card = (folder / "README.md").read_text(encoding="utf-8")
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    rows = figures["rows"]
    for table in (table_of(rows), table_of(rows, [FORGED]), table_of(figures["smollm2"]["rows"])):
        assert table.count("\n") > 2
        assert table in card
