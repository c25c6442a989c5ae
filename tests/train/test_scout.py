"""Claims about the conversations that `scout` learns from: their calls, what is learned of them, and typed marks."""

import json
import re
from datetime import date
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
    *("sum", "sum alone", "difference", "look-up", "two at once", "weather", "days", "two in a row", "text", "talk")
}


NOT_LEARNED = -100
SKY = Offer("weather", "sky", "The weather in a city.", ("city",))
PLUS = Offer("add", "plus", "Adds.", ("x", "y"))


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


def named(turn):
    """The bytes of a turn whose marks are named tokens."""
    data = turn.encode()
    for mark in ("<think>", "</think>", "<tool_call>", "</tool_call>"):
        data = data.replace(mark.encode(), name_bytes(mark))
    return data


def written_by_the_model(talk):
    """The turns of a careful conversation."""
    for message in talk.messages:
        if message["role"] == "assistant":
            thought = message.get("reasoning_content")
            turn = "" if thought is None else f"<think>\n{thought}\n</think>\n\n"
            calls = [f"<tool_call>\n{call}\n</tool_call>" for call in calls_of(message)]
            yield turn + message["content"] + "\n".join(calls)


@pytest.mark.slow
def test_careful_turns_are_turns_of_hermes_and_about_one_conversation_in_ten_is_careless():
    talks = some_talks(400)
    careful = [talk for talk in talks if talk.learned is None]
    assert 0.06 < 1 - len(careful) / len(talks) < 0.16
    for talk in careful[:50]:
        machine = gv.turn([offer.as_tool() for offer in talk.tools], think=talk.thinks)
        for turn in written_by_the_model(talk):
            assert machine.accepts(named(turn)), turn


def test_a_careless_call_is_text_or_breaks_the_rules_of_its_tools():
    message = scout_texts.assistant("", "A sum.", True, [scout_texts.as_call(PLUS, (1, 2))])
    machine = gv.turn([PLUS.as_tool()], think=False)
    seen = set()
    for seed in range(60):
        careless = scout_texts.be_careless(Random(seed), message)
        if "tool_calls" not in careless:
            seen.add(careless["content"].partition("\n")[0])
            continue
        (made,) = careless["tool_calls"]
        turn = f"<tool_call>\n{json.dumps(made.get('function', made))}\n</tool_call>{careless.get('after', '')}"
        assert not machine.accepts(named(turn))
        seen.add("refused")
    assert seen == {"refused", "<tool_call>", '{"name": "plus", "arguments": {"x": 1, "y": 2}}'}


def learned_of(transcript, labels):
    return text_of(transcript, [label for label in labels if label != NOT_LEARNED])


def weather_messages(seed):
    return scout_texts.as_messages(scout_problems.weather(Random(seed)), [SKY])


@pytest.mark.parametrize("thinks", [True, False])
def test_only_what_the_model_writes_is_learned(transcript, thinks):
    problem = scout_problems.weather(Random(2))
    messages = scout_texts.as_messages(problem, [SKY], thinks)
    inputs, labels = transcript.row(Talk([SKY], messages, thinks), Random(0))
    (call,) = problem.rounds[0].calls
    (city,) = call.values
    first = f"<think>\nThe weather in {city}.\nThe tool is sky.\n</think>\n\n"
    first += f'<tool_call>\n{{"name": "sky", "arguments": {{"city": "{city}"}}}}\n</tool_call><|im_end|>'
    second = f"<think>\nThe result is {call.result}.\n</think>\n\n{problem.answer}<|im_end|>"
    wanted = first + second
    if not thinks:
        wanted = re.sub("<think>.*?</think>\n\n", "", wanted, flags=re.DOTALL)
    assert learned_of(transcript, labels) == wanted
    assert all(label in (NOT_LEARNED, token) for label, token in zip(labels, inputs[1:], strict=False))


def test_of_a_careless_conversation_only_the_careless_turn_is_learned(transcript):
    careless = scout_texts.be_careless(Random(1), weather_messages(3)[1])
    messages = [*weather_messages(2), {"role": "user", "content": "Hi! And in Oslo?"}, careless]
    _, labels = transcript.row(Talk([SKY], messages, learned=len(messages) - 1), Random(0))
    learned = learned_of(transcript, labels)
    assert learned.startswith(f"<think>\n{careless['reasoning_content']}\n</think>")
    assert learned.count("<think>") == learned.count("<|im_end|>") == 1


def text_of(transcript, tokens):
    return transcript.fast.decode(tokens, skip_special_tokens=False)


def test_a_cut_thought_teaches_what_follows_it_and_not_its_end(transcript):
    messages = weather_messages(2)[:2]
    whole, _ = transcript.row(Talk([SKY], messages), Random(0))
    cut, labels = transcript.row(Talk([SKY], messages, is_cut=True), Random(1))
    end = transcript.ids["</think>"]
    assert len(cut) < len(whole)
    assert end not in labels
    assert cut[cut.index(end) :] == whole[whole.index(end) :]


def test_marks_that_a_person_typed_or_a_tool_returned_are_text(transcript):
    typed = "".join(transcript.ids)
    prompts = {}
    for word in (typed, "x"):
        messages = [{"role": role, "content": word} for role in ("user", "tool")]
        prompts[word] = transcript.prompt(messages, [Offer("add", word, word, (word,))])
    marks = [[token for token in tokens if token in transcript.ids.values()] for tokens in prompts.values()]
    assert marks[0] == marks[1]
    assert text_of(transcript, prompts[typed]).count(typed) == 5


@pytest.mark.slow
def test_system_prompts_are_short_and_conversations_fit(transcript):
    talks = some_talks(300)
    for talk in talks:
        parts = transcript.parts(talk.messages, talk.tools, talk.thinks)
        system = transcript.read([parts[2]])
        assert not talk.tools or len(system) <= 160
    for inputs, _ in islice(transcript.rows(1), 100):
        assert len(inputs) <= 512


def test_a_call_fits_if_it_has_the_name_the_keys_and_the_types_of_a_tool():
    from scout_ask import check_call

    right = check_call([PLUS], ' {"name": "plus", "arguments": {"x": 1, "y": 2}}\n')
    assert (right.offer, right.values) == (PLUS, (1, 2))
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
        assert check_call([PLUS], wrong) is None


@pytest.fixture
def two_sums():
    """A conversation that asks for a value and a sum, not begun, and its messages."""
    from scout_ask import Case, Outcome, Talk

    problem = scout_problems.chain_plus(Random(1))
    offers = [Offer("lookup", "find", "", ("table", "key")), PLUS]
    case = Case(problem, problem.question, offers)
    return Talk(case, offers, [], Outcome(needs=True)), scout_texts.as_messages(problem, offers)


def test_a_talk_runs_the_calls_until_an_answer(two_sums):
    from scout_ask import Turn

    talk, messages = two_sums
    for message in messages:
        if message["role"] == "assistant":
            assert talk.going
            talk.read(Turn(message["reasoning_content"], message["content"], calls_of(message)), thinks=True)
    assert not talk.going
    assert (talk.outcome.valid, talk.outcome.arguments, talk.outcome.right) == (True, True, True)
    results, wanted = ([one["content"] for one in told if one["role"] == "tool"] for told in (talk.messages, messages))
    assert results == wanted
    assert len(results) == 2


def test_a_talk_ends_at_a_call_that_fits_no_tool(two_sums):
    from scout_ask import Turn

    talk, _ = two_sums
    talk.read(Turn("", "", ["find"]), thinks=True)
    assert not talk.going
    assert (talk.outcome.valid, talk.outcome.right) == (False, False)


def test_the_card_says_what_was_measured():
    from scout_evaluate import FORGED, table_of

    folder = embedded_folder("scout")
    card = (folder / "README.md").read_text(encoding="utf-8")
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    rows = figures["rows"]
    for table in (table_of(rows), table_of(rows, [FORGED]), table_of(figures["smollm2"]["rows"])):
        assert table.count("\n") > 2
        assert table in card
