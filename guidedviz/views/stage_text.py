"""The stage as text, for a terminal or a script: the same words as on the page, and the candidates in rows."""

from collections.abc import Iterator

from guidedviz.decoding.recording import PackedStep
from guidedviz.decoding.trace import Trace
from guidedviz.errors import escaped
from guidedviz.views.strip import pack_trace
from guidedviz.views.words import align, prompt_parts, say_badge


def write_stage(trace: Trace, cursor: int, note: str = "", reason: str = "") -> str:
    """The stage after `cursor` steps of a trace, as text; the token of the last of them is in brackets.

    Below stands the distribution of the next token or, after the last step, of the last one, as on the page. `reason`
    says why its likeliest forbidden token cannot come.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [0.0, 0.0])
    >>> print(write_stage(gv.record(toy, "a", max_tokens=2, seed=1), 1))
    ◆ TOY · toy · cpu · 2 tokens · no constraint
    prompt  a
    text    [b] a
    step 1 of 2 · “b” sampled, p 0.50
    next token: “a” sampled, p 0.50 · stopped at the token limit
         id  token   own  after the mask
      >   0  a      0.50            0.50
          1  b      0.50            0.50
    """
    steps = pack_trace(trace)
    labels = [step["label"] for step in steps]
    if cursor:
        labels[cursor - 1] = f"[{labels[cursor - 1]}]"
    lines = [
        f"{say_badge(trace)} · {trace.constraint or 'no constraint'}",
        f"prompt  {''.join(prompt_parts(trace))}",
        f"text    {' '.join(labels)}",
    ]
    if note:
        lines.append(note)
    if cursor:
        lines.append(f"step {cursor} of {len(steps)} · {steps[cursor - 1]['words']}")
    else:
        lines.append("at the prompt" if steps else "no step yet")
    if steps:
        lines += say_draw(trace, steps, cursor, reason)
    return escaped("\n".join(lines))


def say_draw(trace: Trace, steps: list[PackedStep], cursor: int, reason: str) -> Iterator[str]:
    """The draw of the next token or, after the last step, of the last one: Z, why a token is forbidden, all rows."""
    shown = steps[min(cursor, len(steps) - 1)]
    if cursor < len(steps):
        yield f"next token: {shown['words']}"
    if trace.constraint and shown["rows"]:
        yield f"Z {shown['massText']} · {shown['legal']:,} of {trace.vocabulary_size:,} legal"
    if reason:
        yield reason
    yield from list_candidates(shown)


def list_candidates(step: PackedStep) -> Iterator[str]:
    """The distribution of a step in rows, with the ids of the tokens, and the state before it."""
    if step["rows"]:
        rows = [("", "id", "token", "own", step["after"])]
        for row in step["rows"]:
            mark = ">" if row.token == step["token"] else ""
            rows.append((mark, str(row.token), row.label, row.rawText, row.drawnText))
        yield from (f"  {line}" for line in align(rows, {1, 3, 4}))
    if step["state"]:
        stack = " › ".join(reversed(step["stack"]))
        yield f"state {step['state']}" + (f" · stack {stack}" if stack else "")
