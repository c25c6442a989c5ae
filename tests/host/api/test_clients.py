"""Claims about the clients of OpenAI that people use: each reads what the host answers."""

import importlib.metadata
from importlib.util import find_spec

import pytest
from pydantic import BaseModel

from tests.host.api.asking import ABOUT, ADD, SUM
from tests.host.running import TOKEN

TEXT = f"{ABOUT}\n"


class Person(BaseModel):
    name: str
    age: int


@pytest.fixture(scope="module")
def openai():
    """Loaded by the worker that needs it, and not by each that collects the tests."""
    return pytest.importorskip("openai")


@pytest.fixture(scope="module")
def client(clerk_host, openai):
    return openai.OpenAI(base_url=f"{clerk_host.address}/v1", api_key="none", max_retries=0)


@pytest.fixture(scope="module")
def scout(scout_host, openai):
    return openai.OpenAI(base_url=f"{scout_host.address}/v1", api_key="none", max_retries=0)


def test_the_client_parses_a_pydantic_class(client, openai):
    asked = {"model": "clerk", "messages": [{"role": "user", "content": ABOUT}], "temperature": 0}
    with client.chat.completions.stream(**asked, response_format=Person) as stream:
        kinds = [event.type for event in stream]
    assert kinds.count("content.done") == 1
    streamed = stream.get_final_completion()
    whole = client.chat.completions.parse(**asked, response_format=Person)
    for said in (streamed, whole):
        assert said.choices[0].message.parsed == Person(name="Ada Lovelace", age=36)
    assert whole.guidedviz["run"].startswith("http://127.0.0.1")
    with pytest.raises(openai.LengthFinishReasonError):
        client.chat.completions.parse(**asked, response_format=Person, max_tokens=2)


def test_the_client_adds_up_a_call_of_a_tool(scout):
    with scout.chat.completions.stream(**SUM, tools=[ADD]) as stream:
        *_, last = stream
    (call,) = stream.get_final_completion().choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("add", '{"a": 137, "b": 248}')
    assert last.type == "chunk" or last.type.endswith("done")


FLAT = {"type": "function", **ADD["function"]}


def test_the_client_reads_responses(client):
    asked = {"model": "clerk", "input": ABOUT, "temperature": 0}
    said = client.responses.parse(**asked, text_format=Person)
    assert (said.status, said.output_parsed.name) == ("completed", "Ada Lovelace")
    cut = client.responses.create(**asked, max_output_tokens=2)
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_the_client_reads_a_stream_of_items(scout):
    with scout.responses.stream(model="scout", input=SUM["messages"], tools=[FLAT], temperature=0) as stream:
        kinds = [event.type for event in stream]
        reasoning, call = stream.get_final_response().output
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert "response.function_call_arguments.done" in kinds
    assert (reasoning.type, call.type, call.arguments) == ("reasoning", "function_call", '{"a": 137, "b": 248}')


def test_an_error_is_that_of_the_client_with_our_four_parts(client, openai):
    with pytest.raises(openai.BadRequestError, match=r"guided_json: saw a field that was removed.*structured_outputs"):
        client.completions.create(model="clerk", prompt=TEXT, extra_body={"guided_json": {}})
    with pytest.raises(openai.NotFoundError, match="this host: clerk"):
        client.models.retrieve("gpt/9")
    assert client.models.retrieve("clerk").owned_by == "guidedviz"


def test_a_token_is_the_key_of_the_client(guarded, openai):
    def list_models(key):
        return openai.OpenAI(base_url=f"{guarded.address}/v1", api_key=key, max_retries=0).models.list()

    with pytest.raises(openai.AuthenticationError, match="an unknown token"):
        list_models("x")
    assert [model.id for model in list_models(TOKEN)] == ["bard"]


@pytest.mark.skipif(not find_spec("instructor"), reason="instructor is not installed")
@pytest.mark.parametrize("mode", ["JSON_SCHEMA", "TOOLS"])
def test_instructor_gets_a_pydantic_object(clerk_host, mode, openai):
    import instructor

    plain = openai.OpenAI(base_url=f"{clerk_host.address}/v1", api_key="none", max_retries=0)
    client = instructor.from_openai(plain, mode=getattr(instructor.Mode, mode))
    messages = [{"role": "user", "content": "Ada Lovelace is 36 years old."}]
    said = client.chat.completions.create(model="clerk", messages=messages, response_model=Person, temperature=0)
    assert isinstance(said, Person), importlib.metadata.version("instructor")
