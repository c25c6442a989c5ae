"""Claims about POST /v1/again: a run is decoded again with what is changed, and what cannot be changed is refused."""

import json
import re
from html import unescape

import pytest

from guidedviz.widgets.player_page import play_page
from tests.host.api.asking import ABOUT, CHAT, PERSON, SUM, ask_chat, refusal, send, stream_chat
from tests.host.api.test_completions import join_stream
from tests.host.api.test_runs import ADA, BOB, TEACHER, open_run, path_of, run_code
from tests.host.running import hosting

WARM = CHAT | {"temperature": 1, "seed": 7, "max_tokens": 40, "response_format": PERSON}
PLAIN = {"model": "clerk", "prompt": ABOUT, "max_tokens": 6, "temperature": 0}
AGAIN = "/v1/again"


def name_of(said):
    """The name of an answer's run."""
    return path_of(said).removeprefix("/runs/")


def text_of(said):
    """The text of an answer."""
    choice = said["choices"][0]
    return choice["message"]["content"] if "message" in choice else choice["text"]


@pytest.fixture(scope="module")
def warm(clerk_host):
    """An answer that was drawn at temperature 1."""
    return ask_chat(clerk_host, WARM)


def again(host, said, **changes):
    """The answer of the same run with changes."""
    return ask_chat(host, {"run": name_of(said)} | changes, AGAIN)


def test_the_same_settings_give_the_same_text_as_another_run(clerk_host, warm):
    other = again(clerk_host, warm)
    assert text_of(other) == text_of(warm)
    assert name_of(other) != name_of(warm)


@pytest.mark.parametrize(
    ("body", "path", "changes"),
    [
        (
            WARM,
            "/v1/chat/completions",
            {"temperature": 0.4, "top_k": 3, "top_p": 0.8, "repetition_penalty": 1.2, "seed": 11},
        ),
        (
            {"model": "clerk", "prompt": ABOUT, "max_tokens": 6, "temperature": 0},
            "/v1/completions",
            {"prompt": "Is it red?"},
        ),
    ],
)
def test_other_settings_and_another_prompt_give_what_a_request_with_them_gives(clerk_host, body, path, changes):
    said = ask_chat(clerk_host, body, path)
    afresh = ask_chat(clerk_host, body | changes, path)
    assert text_of(again(clerk_host, said, **changes)) == text_of(afresh)


def test_each_choice_has_its_own_seed(clerk_host):
    said = ask_chat(clerk_host, WARM | {"n": 2})
    second = said["guidedviz"]["runs"][1].rpartition("/")[2]
    other = ask_chat(clerk_host, {"run": second}, AGAIN)
    assert text_of(other) == said["choices"][1]["message"]["content"]


def test_a_question_is_replaced_and_the_other_messages_stay(scout_host):
    system = {"role": "system", "content": "Be brief."}
    said = ask_chat(scout_host, SUM | {"max_tokens": 2, "messages": [system, *SUM["messages"]]})
    other = again(scout_host, said, prompt="Who?")
    run = scout_host.service.runs.find(name_of(other))
    assert run.request.messages == (system, {"role": "user", "content": "Who?"})


def test_a_text_is_put_after_the_first_tokens_and_the_code_gives_the_same_tokens(clerk_host, warm):
    runs = clerk_host.service.runs
    first = runs.find(name_of(warm)).steps[0]
    said = again(clerk_host, warm, forced={"step": 1, "text": 'name": "Zoe'})
    assert text_of(said).startswith(first.piece.decode() + 'name": "Zoe')
    run = runs.find(name_of(said))
    assert run.steps[0] is first
    put = [step.how for step in run.steps].count("inserted")
    assert run.steps[put].how == "inserted"
    twice = runs.find(name_of(again(clerk_host, said, forced={"step": 1 + put, "text": "y"})))
    for one in (run, twice):
        assert run_code(one) == one.trace.tokens


def test_a_token_is_put_after_the_first_tokens(clerk_host, warm):
    run = clerk_host.service.runs.find(name_of(warm))
    choices = [
        (place, one) for place, step in enumerate(run.steps) for one in step.candidates if one.token != step.token
    ]
    place, other = next(choice for choice in choices if choice[1].legal)
    said = again(clerk_host, warm, forced={"step": place, "token": other.token})
    made = clerk_host.service.runs.find(name_of(said))
    assert made.steps[:place] == run.steps[:place]
    assert made.steps[place].token == other.token
    assert made.steps[place].how == "inserted"
    place, forbidden = next(choice for choice in choices if not choice[1].legal)
    changes = {"run": run.name, "forced": {"step": place, "token": forbidden.token}}
    assert refusal(clerk_host, changes, AGAIN)[0] == 400


def test_a_stream_has_the_same_text(clerk_host, warm):
    changes = {"forced": {"step": 1, "text": "na"}}
    chunks = stream_chat(clerk_host, changes | {"run": name_of(warm)}, AGAIN)
    message, _ = join_stream(chunks)
    assert message["content"] == text_of(again(clerk_host, warm, **changes))


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"run": "unknown"}, 404, "run"),
        ({"run": 7}, 400, "run"),
        ({"temperature": "hot"}, 400, "temperature"),
        ({"top_k": 1.5}, 400, "top_k"),
        ({"top_p": 0}, 400, "top_p"),
        ({"repetition_penalty": -1}, 400, "repetition_penalty"),
        ({"seed": -1}, 400, "seed"),
        ({"prompt": ["x"]}, 400, "prompt"),
        ({"messages": []}, 400, "messages"),
        ({"forced": {"step": 0}}, 400, "forced"),
        ({"forced": {"step": 10_000, "text": "x"}}, 400, "forced.step"),
        ({"forced": {"step": 15, "text": "x"}}, 400, "forced.step"),  # the end of the run
        ({"forced": {"step": 0, "text": "x", "how": 1}}, 400, "forced.how"),
        ({"forced": {"step": 0, "text": "x"}, "seed": 1}, 400, "seed"),
        ({"forced": {"step": 0, "text": "x"}}, 400, "the inserted text, token 1 of 1"),
        ({"forced": {"step": 0, "token": -1}}, 400, "forced.token"),
        ({"forced": {"step": 0, "token": 1 << 40}}, 400, "token 1099511627776"),
    ],
)
def test_what_cannot_be_changed_is_refused_and_leaves_no_run(clerk_host, warm, changes, status, field):
    before = len(clerk_host.service.runs)
    assert refusal(clerk_host, {"run": name_of(warm)} | changes, AGAIN)[:2] == (status, field)
    assert len(clerk_host.service.runs) == before


def test_the_prompt_of_a_run_that_ends_with_a_result_stays(scout_host):
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}
    said = {"role": "assistant", "content": "", "tool_calls": [call]}
    turns = [*SUM["messages"], said, {"role": "tool", "tool_call_id": "c1", "content": "3"}]
    run = ask_chat(scout_host, SUM | {"messages": turns, "max_tokens": 2})
    assert refusal(scout_host, {"run": name_of(run), "prompt": "Why?"}, AGAIN)[:2] == (400, "prompt")


@pytest.mark.parametrize("path", [AGAIN, "/v1/look"])
def test_only_the_runs_of_ones_own_list_are_decoded_again(bard, path):
    body = {"model": "bard", "prompt": "To be", "max_tokens": 2}
    with hosting(bard, {"ada": ADA, "bob": BOB, "teacher": TEACHER}) as host:
        runs = []
        for share in (False, True):
            said = ask_chat(host, body | {"guidedviz": {"share": share}}, "/v1/completions", token=ADA)
            runs.append({"run": name_of(said)} | ({"step": 2} if path == "/v1/look" else {}))
        own, shared = runs
        asked = [(own, ADA), (own, BOB), (own, TEACHER), (own, ""), (shared, BOB), (shared, TEACHER)]
        statuses = [send(host, path, one, token=token)[0] for one, token in asked]
        assert statuses == [200, 403, 403, 401, 403, 200]
        listed = ask_chat(host, None, "/v1/runs", token=TEACHER)["runs"]
        assert len(listed) == 1 + (path == AGAIN), "a new run is the teacher's own"


def test_nothing_of_it_is_printed(clerk_host, warm, capfd):
    again(clerk_host, warm, prompt="a secret")
    refusal(clerk_host, {"run": name_of(warm), "prompt": "a secret", "seed": "x"}, AGAIN)
    assert capfd.readouterr() == ("", "")


def test_the_page_says_what_can_be_changed_and_what_was(clerk_host, warm):
    other = again(clerk_host, warm, top_k=2, repetition_penalty=1.5)
    page = open_run(clerk_host, f"{path_of(other)}/{name_of(warm)}")
    for settings in ("temperature 1, seed 7</span>", "temperature 1, top-k 2, repetition penalty 1.5, seed 7</span>"):
        assert settings in page
    first, second = [json.loads(unescape(said)) for said in re.findall(r'data-again="([^"]*)"', page)]
    assert first["run"] == second["other"]
    assert first["other"] == second["run"]
    assert first["settings"]["top_k"] == 2
    assert first["asked"] == ABOUT
    assert first["beside"]["words"].startswith(("They part after", "Both runs have"))
    put = again(clerk_host, warm, forced={"step": 1, "text": "name"})
    assert "seed 7, 1 token put there by a person</span>" in open_run(clerk_host, path_of(put))


def test_only_the_page_of_a_run_may_ask_its_host(clerk_host, warm):
    allowed = "; connect-src &#x27;self&#x27;"
    assert allowed in send(clerk_host, path_of(warm))[2].decode()
    assert allowed not in play_page("a run", "stage", "", 0)
