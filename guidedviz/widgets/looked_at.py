"""What the token at the cursor depends on, for the page of a stage.

A person asks for it; the worker computes it, and the page shows it until the cursor moves or another token is taken.
"""

from collections.abc import Callable
from functools import partial

from guidedviz.decoding.left_out import Dependence, leave_out
from guidedviz.decoding.player import LiveWalk, Player, TakenSteps, shared_steps
from guidedviz.errors import SettingError
from guidedviz.views.dependence import pack_dependence
from guidedviz.widgets.display import Message
from guidedviz.widgets.runner import LiveStage, begin_work, say_failure

READING_AGAIN = "the model reads the text again, each time without one part of it …"


class LookedAt:
    """What a stage tells its page about the token at the cursor, from when a person asks until the stage moves."""

    def __init__(self, stage: LiveStage) -> None:
        self._stage = stage
        self._told: Message | None = None
        self._run: TakenSteps = ()  # the steps that it belongs to

    def ask(self) -> None:
        """Compute it, in the worker where there is an event loop."""
        player = self._stage.player
        self._run = run_so_far(player)
        self._told = {"place": player.cursor, "words": [READING_AGAIN], "rows": []}
        self._stage.tell()
        begin_work(partial(find_dependence, player), partial(self._finish, self._run))

    def _finish(self, run: TakenSteps, found: Callable[[], Dependence]) -> None:
        self._run = run
        self._told = None
        try:
            self._told = pack_dependence(found(), len(run))
        except Exception as error:  # the notebook goes on whatever a model does
            self._stage.note = say_failure(error)
        self._stage.tell()

    def pack(self) -> Message | None:
        """What the page shows at the cursor."""
        run = run_so_far(self._stage.player)
        same = shared_steps(self._run, run)
        return self._told if same == len(run) == len(self._run) else None


def run_so_far(player: Player) -> TakenSteps:
    """The steps up to the cursor."""
    return player.taken[: player.cursor]


def find_dependence(player: Player) -> Dependence:
    """What the token before the cursor depends on."""
    where = "what the model looked at"
    step = player.current
    walk = player.walk
    if not isinstance(walk, LiveWalk):
        raise SettingError(where, seen="a recording", expected="a live stage")
    if step is None or step.token < 0:
        raise SettingError(where, seen="no token at the cursor", expected="one", hint="take a step first")
    before = player.point(player.cursor - 1).back(step.back)
    return leave_out(walk.model, before.tokens, step.token)
