"""A run as code for a notebook, which gives the same tokens."""

from collections.abc import Iterable

from guidedviz.decoding.trace import Step
from guidedviz.host.api.runs import KeptRun
from guidedviz.models.chat import Prompt


def code_of(run: KeptRun) -> str:
    """Lines of Python that decode as the host did."""
    request = run.request
    settings = request.settings
    lines = ["import guidedviz as gv", ""]
    lines.append(f"model = gv.load_model({run.model.name!r})")
    lines.append(f"prompt = {say_prompt(run)}")
    used = ""
    if run.plan.build:
        lines += [f"machine = {run.plan.code}", "guide = gv.guide(machine, model.vocabulary)"]
        used = ", guide"
    said = []
    for name, usual in USUAL_SETTINGS.items():
        value = getattr(settings, name)
        if value != usual:
            said.append(f"{name}={value!r}")
    if settings.bias:
        said.append(f"bias={settings.bias!r}")
    options = ", ".join([*said, f"seed={run.seed}", f"max_tokens={settings.max_tokens}"])
    made = f"gv.record(model, prompt{used}, {options})"
    moves = say_moves(run.steps)
    if moves:
        made = f"gv.stage(model, prompt{used}, {options}, steps=0){moves}.take({settings.max_tokens}).trace"
    if run.inspected:
        made = f"gv.inspect_text(model, prompt, {run.inspected!r}, guide)"
    lines += [f"trace = {made}", "gv.diagnose(trace)", "gv.stage(trace)"]
    return "\n".join(lines)


def say_moves(steps: Iterable[Step]) -> str:
    """The moves of a stage up to the last token that a person put there; "" if there is none."""
    said = ""
    drawn = 0
    for step in steps:
        if step.how != "inserted":
            drawn += 1
            continue
        if drawn:
            said += f".take({drawn})"
        said += f".choose({step.token})"
        drawn = 0
    return said


USUAL_SETTINGS = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "repetition_penalty": 1.0}


def say_prompt(run: KeptRun) -> str:
    """The prompt as code: a text, or the messages by the model's chat template."""
    request = run.request
    if not isinstance(run.plan.prompt, Prompt):
        return repr(str(run.plan.prompt))
    messages = [*request.messages]
    tools = [*request.offered.told]
    return f"model.chat({messages!r}, tools={tools!r}, think={bool(run.plan.thinks)})"
