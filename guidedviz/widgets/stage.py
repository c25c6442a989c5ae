"""`gv.stage`: watch a model decode, stop it, go back, choose another token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guidedviz.decoding.loop import check_fit, fit, make_trace
from guidedviz.decoding.player import ClosedWalk, LiveWalk, Player, ReplayWalk, recorded_settings
from guidedviz.decoding.settings import Settings
from guidedviz.decoding.trace import Trace
from guidedviz.errors import SettingError, expect, quoted
from guidedviz.models.model import Model, check_model, check_text
from guidedviz.models.remote import find_host
from guidedviz.tokens.guide import Guide, check_guide, name_guide
from guidedviz.views.machine.highlight import check_recording
from guidedviz.widgets.edit import compile_guide, name_text, read_wish
from guidedviz.widgets.live_stage import Stage
from guidedviz.widgets.panels.machine_panel import machine_of
from guidedviz.widgets.sharing.follower import Follower
from guidedviz.widgets.sharing.publisher import Publisher


def stage(
    model: Model | Trace,
    prompt: str = "",
    guide: Guide | None = None,
    *,
    temperature: float = 1.0,
    seed: int = 0,
    max_tokens: int = 60,
    top_k: int = 0,
    top_p: float = 1.0,
    bias: Mapping[int, float] | None = None,
    constraint: str = "",
    steps: int | None = None,
    show: int | None = None,
    jump_forward: bool | str = False,
    draft: Any = None,
    edit: bool | str | tuple[str, str] = False,
    stack: bool = False,
    share: bool = False,
    follow: bool = False,
) -> Stage:
    """A live stage for a model, or the replay of a trace; `steps` are taken before it is shown.

    It opens at the place after `show` tokens, live as well as in the picture of a saved notebook, which shows all steps
    where nobody can click.
    With a guide the stage also shows its machine and its stack; a trace needs the guide it was recorded with.
    `constraint` names the constraint. `jump_forward` appends forced tokens without the model, and `draft` guesses
    tokens that it judges together, as in `gv.decode`.
    `edit` adds a box to change the constraint in: its text (regex, JSON Schema or GBNF), or a pair of kind and text,
    or True to take the text from the guide. Without a guide the text of the box is the constraint. With `stack` the
    map of a split also shows which tokens depend on the stack.
    With `share` the teacher shows the stage to the class, on the host of the model, and `gv.stage(model, follow=True)`
    follows it live until the student goes on alone.
    """
    for name, wish in (("stack", stack), ("share", share), ("follow", follow)):
        expect(wish, bool, f"gv.stage, {name}", "True or False")
    for name, count in (("steps", steps), ("show", show)):
        if count is not None and not (isinstance(count, int) and count >= 0):
            raise SettingError(f"gv.stage, {name}", seen=quoted(count), expected="a whole number from 0 up")
    if isinstance(model, Trace):
        given = {"prompt": prompt, "temperature": temperature, "seed": seed, "max_tokens": max_tokens, "top_k": top_k}
        given |= {"top_p": top_p, "bias": bias, "constraint": constraint, "jump_forward": jump_forward, "draft": draft}
        given |= {"edit": edit, "share": share, "follow": follow}
        return _replay(model, guide, steps, given).prepare(show, stack)
    check_model(model, "gv.stage, model")
    check_text("gv.stage, constraint", constraint)
    if follow:
        return _follow(model, prompt, guide, share)
    if not prompt:
        raise SettingError("gv.stage, prompt", seen="no prompt", expected="gv.stage(model, prompt, guide)")
    given_bias = {} if bias is None else bias
    settings = fit(Settings(temperature, top_k, top_p, seed, max_tokens, given_bias, jump_forward, draft), model)
    box = read_wish(edit, guide)
    if box and box[1] and guide is None:
        guide, constraint = compile_guide(*box, model.vocabulary), constraint or name_text(*box)
    player = Player(LiveWalk(model, prompt, guide), settings)
    constraint = constraint or (name_guide(guide) if guide else "")
    head = make_trace(model, prompt, (), constraint=constraint, seed=seed, temperature=temperature)
    shown = Stage(player, head, guide, steps, box).prepare(show, stack)
    return shown.join(Publisher(find_host(model, "gv.stage, share"), model.vocabulary.fingerprint)) if share else shown


def _follow(model: Model, prompt: str, guide: Guide | None, share: bool) -> Stage:
    """A stage that follows the teacher's; without a guide it takes the teacher's."""
    where, expected = "gv.stage, follow", "gv.stage(model, follow=True): the prompt is the teacher's"
    if prompt or share:
        raise SettingError(where, seen="share" if share else "a prompt", expected=expected)
    if guide is not None:
        check_fit(guide, model.vocabulary, model.name)
    role = Follower(model, find_host(model, where), guide)
    head = make_trace(model, "", ())
    return Stage(Player(ClosedWalk(), Settings()), head, None, 0).join(role)


def _replay(trace: Trace, guide: Guide | None, steps: int | None, given: dict[str, Any]) -> Stage:
    """A stage that replays a trace and refuses settings of its own."""
    defaults = {"prompt": "", **(stage.__kwdefaults__ or {})}
    if name := next((name for name, value in given.items() if value != defaults[name]), ""):
        where, seen = f"gv.stage(trace), {name}", quoted(given[name])
        raise SettingError(where, seen=seen, expected="no settings: a recording has its own")
    if guide is not None:
        check_guide(guide)
    if machine := machine_of(guide):
        check_recording(machine, trace.steps)
    return Stage(Player(ReplayWalk(trace), recorded_settings(trace)), trace, guide, steps)
