"""The page of a run: in words what was asked and what came of it, and below them the run, which plays.

Two runs stand on one page with the first token where they part. A run that goes on is shown as text, and the page asks
for itself again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from guidedviz import lazy
from guidedviz.decoding.diagnosis import Diagnosis, advice_for, diagnose
from guidedviz.decoding.parting import parting_of, say_parting
from guidedviz.decoding.sampling import LIVE_SETTINGS, probability
from guidedviz.decoding.trace import END_IN_WORDS, Trace
from guidedviz.errors import escaped
from guidedviz.host.api.again import question_of
from guidedviz.host.api.plan import Guides
from guidedviz.host.api.run_code import USUAL_SETTINGS, code_of
from guidedviz.host.api.runs import KeptRun
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import NOTHING, Element, node, together

PAGE_STYLE = (
    ".gv-beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 50em), 1fr)); gap: 1em; }"
    "main:has(section + section) { max-width: none; }"
    "section { min-width: 0; } section > :not(.gv-place) { max-width: 60em; } h1 { font-size: 1.4em; }"
    "dt { font-weight: 600; } dd { margin: 0 0 .5em; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }"
    ".gv-stage .gv-seed { width: 136px; } "  # the host draws seeds of ten digits
    "a { color: inherit; } pre, code { font-family: ui-monospace, monospace; } details { margin: .5em 0 1em; }"
)
ASKS_AGAIN = 2  # seconds until the page of a run that goes on asks for itself again
SETTING_WORDS = {"top_k": "top-k", "top_p": "top-p", "repetition_penalty": "repetition penalty"}
NO_CONSTRAINT = "nothing: no constraint was asked for"
PAGE_HEADERS = {  # no other page has it in a frame, and no address of a run leaves it
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def show_runs(guides: Guides, runs: Sequence[KeptRun], step: int) -> str:
    """The page of one run, or of two side by side."""
    for run in runs:
        if not (run.ended and run.steps):
            return show_going(run)
    traces = [trace_with_guide(guides, run) for run in runs]
    writer: Any = lazy.load_writer()
    parts: list[Element] = [node("style", PAGE_STYLE), say_links(runs)]
    if len(runs) == 2:
        one, other = (trace.steps for trace in traces)
        parts.append(node("p", say_parting(one, other), role="status"))
        step = parting_of(one, other)
    beside = []
    for place, (run, trace) in enumerate(zip(runs, traces, strict=True)):
        if not run.recording:
            run.recording = writer.recording_of(trace)
            run.nbytes += len(run.recording)
        again = tell_changes(run)
        if len(runs) == 2:
            left = 1 - place
            again |= {"other": runs[left].name, **writer.pack_pair(trace.steps, traces[left].steps)}
        beside.append(writer.RunBeside(tell_run(run, trace), run.recording, min(step, len(trace.steps)), again))
    page: str = writer.page_beside(f"Run: {runs[0].verdict}", together(parts), beside)
    return page


def trace_with_guide(guides: Guides, run: KeptRun) -> Trace:
    """The run as a trace, with its guide."""
    return replace(run.trace, guide=guides.of(run.plan).guide)


def tell_changes(run: KeptRun) -> dict[str, Any]:
    """What a person may change on the page: the settings, and the prompt where it can be edited."""
    settings = {name: getattr(run.request.settings, name) for name in LIVE_SETTINGS}
    asked = question_of(run.request)
    return {"run": run.name, "asked": asked, "settings": {**settings, "seed": run.seed}}


def show_going(run: KeptRun) -> str:
    """The page of a run that goes on, or that ended before its first token."""
    again = node("meta", http_equiv="refresh", content=ASKS_AGAIN)
    said = f"{len(run.steps)} tokens so far. This page asks again every {ASKS_AGAIN} seconds."
    if run.ended:
        again = NOTHING
        said = "It ended before its first token."
    head = node("head", node("meta", charset="utf-8"), again, node("title", f"Run: {run.verdict}"))
    text = node("pre", escaped(run.trace.text))
    main = node("main", say_head(run), node("p", said, role="status"), text)
    return f"<!doctype html>\n{node('html', head, node('body', main), lang='en')}\n"


def say_links(runs: Sequence[KeptRun]) -> Element:
    """The ways to other pages."""
    links = [node("a", "all runs", href="/runs")]
    for number, run in enumerate(runs, 1):
        if len(runs) > 1:
            links.append(node("a", f"run {number} alone", href=f"/runs/{run.name}"))
    parts: list[Element | str] = []
    for link in links:
        parts += [link, " "]
    return node("nav", *parts)


def tell_run(run: KeptRun, trace: Trace) -> Element:
    """What was asked, what came of it, and the same in code."""
    found = diagnose(trace)
    rows = [
        ("Enforced", node("span", run.plan.enforced or NO_CONSTRAINT)),
        ("Drawn with", node("span", say_settings(run))),
        ("Not as asked", as_list(run.plan.notes) if run.plan.notes else node("span", "nothing")),
        ("The text", node("span", say_verdict(run, trace))),
        ("Least Z", say_least(run)),
        ("Diagnosis", say_diagnosis(run, found)),
    ]
    body = [node("dt", name) + node("dd", said) for name, said in rows]
    code = node("details", node("summary", "The same in a notebook"), node("pre", code_of(run)))
    texts = [node("pre", escaped(text)) for text in (trace.prompt, trace.text)]
    output = node("details", node("summary", "Prompt and text"), *texts)
    return together([say_head(run), node("dl", *body), code, output])


def say_head(run: KeptRun) -> Element:
    """The run in a line."""
    return node("h1", f"A run of {run.model.name}: {run.verdict}")


def say_settings(run: KeptRun) -> str:
    """The settings of a run, and whether a person has put tokens into it."""
    settings = run.request.settings
    said = [f"temperature {settings.temperature:g}"]
    for name, words in SETTING_WORDS.items():
        value = getattr(settings, name)
        if value != USUAL_SETTINGS[name]:
            said.append(f"{words} {value:g}")
    said.append(f"seed {run.seed}")
    put = sum(step.how == "inserted" for step in run.steps)
    if put:
        said.append(f"{counted(put, 'token')} put there by a person")
    return ", ".join(said)


def say_verdict(run: KeptRun, trace: Trace) -> str:
    """Whether the text is complete and valid."""
    end = END_IN_WORDS[trace.steps[-1].end]
    count = len(trace.tokens)
    if run.verdict != "complete":
        return f"not complete after {count} tokens: {end}"
    if not run.plan.build:
        return f"complete after {count} tokens: {end}; there was nothing to be valid for"
    return f"complete and valid after {count} tokens: {end}"


def say_least(run: KeptRun) -> Element:
    """The least Z, and the step where it is."""
    mass, place = run.least
    step = run.steps[place]
    taken = visible(step.piece)
    said = f'{probability(mass)}: this share of the model\'s probability was legal where "{taken}" was taken'
    return node("span", said, ", ") + step_link(run, place)


def say_diagnosis(run: KeptRun, found: Diagnosis) -> Element:
    """What a diagnosis finds, with the step to look at, what to check and what to try."""
    if not found.findings:
        return node("span", f"{found.result}; looked at: {'; '.join(found.looked)}")
    rows = []
    for finding in found.findings:
        check, cure = advice_for(finding)
        said = f": {escaped(finding.seen)}. Check: {check}; try: {cure}. "
        rows.append(node("li", node("strong", finding.name), said, step_link(run, finding.step)))
    return node("ol", *rows)


def step_link(run: KeptRun, step: int) -> Element:
    """A link that opens the run before a step, which is counted from 1 in words."""
    return node("a", f"look at step {step + 1}", href=f"/runs/{run.name}?step={step}")


def as_list(texts: Iterable[str]) -> Element:
    """A list of texts."""
    return node("ul", *(node("li", escaped(text)) for text in texts))
