"""A text that another server wrote, read as a run: POST /v1/inspect with the text, its prompt and the constraint."""

from dataclasses import asdict
from typing import Any

from guidedviz.decoding.inspection import inspect_text
from guidedviz.errors import SettingError
from guidedviz.host.api.fields import JsonObject, read_fields
from guidedviz.host.api.plan import Guides
from guidedviz.host.api.request import CompletionRequest, read_messages, read_rest
from guidedviz.host.api.runs import KeptRun

USUAL_PROMPT = "\n"  # a model needs a token before the first one


def read_inspected(body: bytes, model: str) -> tuple[CompletionRequest, str]:
    """What the body asks for, and the text."""
    fields = read_fields(body)
    text = fields.text("text")
    fields.left.setdefault("model", model)
    given = fields.take("messages", list, "a list of messages")
    messages = read_messages(given) if given else ()
    request = read_rest(fields, messages, fields.text("prompt", USUAL_PROMPT), None)
    if not request.constraint:
        hint = '"structured_outputs": {"json": ...}'
        raise SettingError("inspect", seen="no constraint", expected="the one that the text has to meet", hint=hint)
    return request, text


def inspect_run(guides: Guides, run: KeptRun, text: str) -> JsonObject:
    """Read the text into the run, and say what the constraint says of it."""
    guide: Any = guides.of(run.plan).guide
    trace = inspect_text(run.model, run.plan.prompt, text, guide)
    run.inspected = text
    for step in trace.steps:
        run.add(step)
    run.close()
    mass, step_place = run.least
    refusal = trace.refusal
    said = {"verdict": run.verdict, "least": {"Z": mass, "step": step_place}, "refused": refusal and asdict(refusal)}
    return {**said, "words": refusal.words if refusal else "the constraint allows the text, and it is complete"}
