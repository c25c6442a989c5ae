"""The decoding loop: logits, mask, softmax, sample, advance.

`decode_plainly` is the whole of it, for a text. What follows does the same in steps that can be shown: `take_step` from
a `Point`, which says where a decode stands. A point is a value, so a stage can go back to any point and take another
way from there. A step may append forced tokens, or take several tokens of one forward pass. A test holds the two equal.
`trace.py` makes the records.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from guidedviz.decoding.recording import End
from guidedviz.decoding.sampling import (
    MOST_WRITTEN,
    SETTING_NAMES,
    Settings,
    check_bias,
    masked_softmax,
    sample,
    sampler_stages,
    softmax,
)
from guidedviz.decoding.speculation import Dice, Guess, Judged, as_draft, inside_share, judge, room
from guidedviz.decoding.trace import Pending, Point, Step, Trace, find_end, make_step, start_watch
from guidedviz.errors import SettingError, quoted
from guidedviz.files import text_of
from guidedviz.models.chat import Prompt
from guidedviz.models.model import Model, check_model, check_utf8, context_of, warn_of_plain_text
from guidedviz.progress import with_progress
from guidedviz.tokens.build_guide import name_guide
from guidedviz.tokens.by_hand import Unguided
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.jump import Jump, find_jump
from guidedviz.tokens.vocabulary import Vocabulary


def decode_plainly(model: Model, prompt: str, guide: Guide, seed: int = 0, max_tokens: int = 200) -> bytes:
    """All of constrained decoding: logits, mask, softmax, sample, advance.

    >>> clerk = gv.load_model("clerk")
    >>> decode_plainly(clerk, "March 3rd 2024 is ", gv.guide(gv.regex("2024-0[1-9]-03"), clerk.vocabulary))
    b'2024-03-03'
    """
    tokens = list(model.encode(prompt))
    text = b""
    state = guide.initial
    for position in range(max_tokens):
        mask = guide.mask(state)
        if not mask.any():
            break
        token = sample(masked_softmax(model.logits(tokens), mask), seed, position)
        if token in model.vocabulary.eos:
            break
        state = guide.advance(state, token)
        text += model.vocabulary.pieces[token]
        tokens.append(token)
    return text


def take_step(
    model: Model, point: Point, guide: Guide | None, settings: Settings, choice: int | None = None
) -> tuple[Step, Point]:
    """Take one step from a point. A person may insert a legal token: the `choice`."""
    guide = guide or Unguided(model.vocabulary)
    if choice is None:
        if point.pending and point.pending[0].settings == settings:
            return take_pending(point.pending)
        if settings.jump_forward:
            lap = start_watch()
            jump = find_next_jump(model, point, guide, settings.jump_forward)
            if jump:
                return put_forced(guide, point, jump, settings, lap())
    if len(point.tokens) > context_of(model):
        return make_step(guide, point, end="context"), point
    steps = take_pass(model, point, guide, settings, Dice(settings.seed), choice)
    return take_pending(steps)


def take_pending(steps: Sequence[Pending]) -> tuple[Step, Point]:
    """The first of the steps that one forward pass gave; the point after it keeps the others."""
    first, *others = steps
    return first.step, replace(first.after, pending=tuple(others))


def find_next_jump(model: Model, point: Point, guide: Guide, way: str) -> Jump | None:
    """The forced tokens that come next, which are appended without asking the model."""
    if point.ahead:
        return Jump(0, point.ahead)
    return find_jump(guide, model.encode, point.output, point.states, way)


def take_pass(
    model: Model, point: Point, guide: Guide, settings: Settings, dice: Dice, choice: int | None = None
) -> tuple[Pending, ...]:
    """All steps of one forward pass: the accepted guesses, if a draft guesses, and one token after them."""
    lap = start_watch()
    guesses: Sequence[Guess] = ()
    if settings.draft and choice is None:
        fitting = room(model, point, settings)
        guesses = settings.draft.guess(model, guide, point, settings, dice)[:fitting]
    rows = rows_after(model, point, guesses)
    forward_ms = lap()
    taken: list[Pending] = []
    for place, logits in enumerate(rows):
        mask = guide.mask(point.state)
        mask_ms = lap()
        raw = softmax(logits)
        if not mask.any():
            end: End = "complete" if guide.is_accepting(point.state) else "dead_end"
            measured = raw, mask, np.zeros(len(raw))
            step = make_step(guide, point, measured=measured, end=end, forward_ms=forward_ms, mask_ms=mask_ms)
            taken.append(Pending(step, point, settings))
            break
        *stages, chances = sampler_stages(logits, mask, settings, point.tokens)
        if choice is None:
            drawn = judge(chances, guesses[place:], point.position, dice)
        else:
            drawn = Judged(guide.vocabulary.as_id(choice), "inserted")
        sample_ms = lap()
        after = point.then(drawn.token, guide.advance(point.state, drawn.token))
        step = make_step(
            guide,
            point,
            drawn.token,
            drawn.how,
            (raw, mask, chances),
            drawn.dropped,
            stages[1:],
            end=find_end(guide, after, settings.max_tokens),
            changes=settings.changes,
            inside=inside_share(chances, drawn, settings.seed, point.position),
            forward_ms=forward_ms,
            mask_ms=mask_ms,
            sample_ms=sample_ms,
        )
        taken.append(Pending(step, after, settings))
        if step.end or drawn.how != "accepted":
            break
        point = after
        forward_ms = 0.0  # the pass is counted at its first step
        lap()
    return tuple(taken)


def rows_after(model: Model, point: Point, guesses: Sequence[Guess]) -> Iterable[Any]:
    """The logits after the last token, and after each guess."""
    tokens = [*point.tokens, *(guess.token for guess in guesses)]
    if guesses:
        return model.all_logits(tokens, len(point.tokens) - 1)
    return [model.logits(tokens)]


def put_forced(guide: Guide, point: Point, jump: Jump, settings: Settings, spent_ms: float) -> tuple[Step, Point]:
    """Append the first token of a forced run. The model reads it in its next forward pass."""
    token, *ahead = jump.tokens
    before = point.back(jump.back)
    state = guide.advance(before.state, token)
    after = before.then(token, state, tuple(ahead))
    end = find_end(guide, after, settings.max_tokens)
    return make_step(guide, before, token, "forced", mask_ms=spent_ms, end=end, back=jump.back), after


def decode(
    model: Model,
    prompt: str,
    guide: Guide | None = None,
    *,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    bias: Mapping[int, float] | None = None,
    seed: int = 0,
    max_tokens: int = MOST_WRITTEN,
    jump_forward: bool | str = False,
    draft: Any = None,
    repetition_penalty: float = 1.0,
    stop: Callable[[], bool] | None = None,
) -> Iterator[Step]:
    """Decode step by step. The last step says in `end` why it is the last.

    `jump_forward` appends forced tokens without asking the model: True, or the way to spell them, "canonical" (the
    same), "longest", "minimal" or "raw" (see tokens/jump.py). `draft` guesses tokens that the model judges in one
    forward pass: "lookup", "forced", a smaller model, or a draft of decoding/speculation. `repetition_penalty` weakens
    the tokens of the prompt and of the output so far, as transformers does. `stop` is called before every step; when it
    returns True, a closing step with end "stop" follows. The prompt may be the path of a file.
    """
    settings = settings_for(model, locals())
    prompt = text_of(prompt, "prompt")
    point = start(model, prompt, guide)
    return _decode(model, point, guide, settings, stop or (lambda: False))


def settings_for(model: Model, given: Mapping[str, Any]) -> Settings:
    """The settings among these arguments, with a draft that guesses for this model; a bias may name its tokens only."""
    check_model(model)
    wanted = {name: given[name] for name in SETTING_NAMES if name in given}
    if wanted.get("draft") is not None:
        wanted["draft"] = as_draft(wanted["draft"], model)
    settings = Settings(**wanted)
    check_bias(settings.bias, len(model.vocabulary))
    return settings


def _decode(
    model: Model, point: Point, guide: Guide | None, settings: Settings, stop: Callable[[], bool]
) -> Iterator[Step]:
    while not stop():
        step, point = take_step(model, point, guide, settings)
        yield step
        if step.end:
            return
    yield make_step(guide or Unguided(model.vocabulary), point, end="stop")


def start(model: Model, prompt: str, guide: Guide | None = None) -> Point:
    """The point before the first new token."""
    check_model(model)
    if isinstance(prompt, Prompt):
        tokens = prompt.tokens
    else:
        tokens = tuple(model.encode(check_utf8("prompt", prompt)))
        warn_of_plain_text(model)
    if not tokens:
        hint = "start with a space or a line break"
        raise SettingError("prompt", seen=quoted(prompt), expected="at least one token", hint=hint)
    most = context_of(model)
    if len(tokens) > most:
        expected = f"at most {most}, the context of {model.name}"
        raise SettingError("prompt", seen=f"{len(tokens)} tokens", expected=expected, hint="shorten the prompt")
    if guide is not None:
        check_fit(guide, model.vocabulary, model.name)
    return Point(tokens, (guide.initial if guide else None,))


def check_fit(guide: Any, vocabulary: Vocabulary, name: str) -> None:
    """Refuse what is not a guide over the vocabulary of the model."""
    hint = "gv.guide(machine, model.vocabulary)"
    check_guide(guide, hint=hint)
    if guide.vocabulary != vocabulary:
        seen = f"a guide over {guide.vocabulary} and {name} with {vocabulary}"
        raise SettingError("guide", seen=seen, expected="the same vocabulary", hint=hint)


def record(model: Model, prompt: str, guide: Guide | None = None, *, constraint: str = "", **settings: Any) -> Trace:
    """Decode to the end and keep all steps."""
    prompt = text_of(prompt, "prompt")
    check_utf8("constraint", constraint)
    most = settings.get("max_tokens", MOST_WRITTEN)
    steps = tuple(with_progress(decode(model, prompt, guide, **settings), "record", "token", most))
    constraint = constraint or (name_guide(guide) if guide else "")
    made = make_trace(model, prompt, constraint, settings.get("seed", 0), settings.get("temperature", 1.0))
    return replace(made, steps=steps, guide=guide)


def make_trace(model: Model, prompt: str, constraint: str = "", seed: int = 0, temperature: float = 1.0) -> Trace:
    """A trace without steps that says where they come from."""
    return Trace(
        (),
        prompt,
        model.name,
        model.device,
        date.today().isoformat(),
        constraint,
        seed,
        temperature,
        len(model.vocabulary),
        model.source,
        prompt_parts=prompt.parts if isinstance(prompt, Prompt) else (),
    )
