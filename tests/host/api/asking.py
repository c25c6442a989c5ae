"""What a client sends, and what it reads: plain HTTP, as any language sends it."""

import json
from http.client import HTTPConnection

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
ABOUT = "Ada Lovelace is 36 years old and lives in London.\nJSON with name, age:"
CHAT = {"model": "clerk", "messages": [{"role": "user", "content": ABOUT}], "temperature": 0}
PERSON = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}
SUM = {"model": "scout", "messages": [{"role": "user", "content": "What is 137 plus 248?"}], "temperature": 0}


def send(host, path, body=None, *, token="", **headers):
    """The status, the headers and the bytes of an answer; a dict becomes JSON."""
    line = HTTPConnection("127.0.0.1", host.port, timeout=20)
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
        body = body if isinstance(body, bytes) else json.dumps(body)
    line.request("GET" if body is None else "POST", path, body, headers)
    answer = line.getresponse()
    found = answer.status, answer.headers, answer.read()
    line.close()
    return found


def ask_chat(host, body, path="/v1/chat/completions", **more):
    """The JSON of an answer, which has to succeed."""
    status, _, found = send(host, path, body, **more)
    assert status == 200, found
    return json.loads(found)


def stream_chat(host, body, path="/v1/chat/completions"):
    """The chunks of a stream."""
    status, headers, found = send(host, path, body | {"stream": True})
    assert (status, headers["Content-Type"]) == (200, "text/event-stream; charset=utf-8"), found
    events = found.decode().removesuffix("\n\n").split("\n\n")
    assert events.pop() == "data: [DONE]"
    return [json.loads(event.removeprefix("data: ")) for event in events]


def refusal(host, body, path="/v1/chat/completions", **more):
    """The status of a refusal, the field that it names, and its message."""
    status, _, found = send(host, path, body, **more)
    error = json.loads(found)["error"]
    assert error["message"].startswith(error["where"])
    assert error["try"] in error["message"]
    return status, error["param"], error["message"]
