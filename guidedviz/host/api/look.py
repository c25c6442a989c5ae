"""What a token of a run depends on: POST /v1/look. The passes are some of those that the host makes for all."""

from math import ceil

from guidedviz.decoding.left_out import MOST_PASSES, Dependence, dependence_of, part_size, texts_to_read
from guidedviz.decoding.loop import start
from guidedviz.decoding.sampling import softmax
from guidedviz.errors import SettingError
from guidedviz.host.api.fields import read_fields
from guidedviz.host.api.runs import FindRun, KeptRun
from guidedviz.host.batcher import Engine


def read_look(body: bytes, find: FindRun) -> tuple[KeptRun, int]:
    """The run, and the number of the token in it."""
    fields = read_fields(body)
    run = find(fields.text("run"))
    step = fields.whole("step", 1, max(1, len(run.steps)), 1)
    fields.refuse_others()
    if not run.steps or run.steps[step - 1].token < 0:
        hint = "the number of a step that has a token"
        raise SettingError("step", seen="no token there", expected="a token of the run", hint=hint)
    return run, step


async def look_at(engine: Engine, place: str, run: KeptRun, step: int) -> Dependence:
    """What a token depends on; `place` says whose turns in the passes it takes."""
    begin = await engine.run("encode", start, engine.model, run.plan.prompt)
    before = [*begin.tokens, *(one.token for one in run.steps[: step - 1])]
    token = run.steps[step - 1].token
    if len(before) < 2:
        raise SettingError("step", seen="one token before it", expected="two or more", hint="a later token")
    size = max(part_size(engine.model, len(before)), ceil(len(before) / MOST_PASSES))
    chances = []
    for text in texts_to_read(before, size):
        row = await engine.row(place, tuple(text))
        chances.append(float(softmax(row)[token]))
    return dependence_of(engine.model.vocabulary.pieces, token, before, size, chances)
