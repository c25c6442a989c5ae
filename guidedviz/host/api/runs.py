"""The runs that a host keeps in memory: each choice of each answer, with all of its steps.

They are bounded by their number, per student too, and by their bytes: the oldest leave first. Who knows the name of a
run may open it, and a name cannot be guessed; a list has the runs of one student, and for the teacher those that are
shared.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from secrets import token_urlsafe

from guidedviz.decoding.loop import make_trace
from guidedviz.decoding.recording import End
from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import quoted, shorten
from guidedviz.host.api.fields import JsonObject
from guidedviz.host.api.plan import TurnPlan
from guidedviz.host.api.request import CompletionRequest
from guidedviz.host.limits import Refused
from guidedviz.models.language_model import LanguageModel

MOST_RUNS = 400
MOST_OF_ONE = 60  # runs of one student
RUNS_BYTES = 1 << 26
STEP_BYTES = 600  # of a step without its candidates, about; measured with pickle and doubled
CANDIDATE_BYTES = 120
SHOWN_TEXT = 120  # characters of a text in a list
VERDICTS: dict[End, str] = {
    "": "going on",
    "eos": "complete",
    "complete": "complete",
    "max_tokens": "cut",
    "context": "cut",
    "stop": "stopped",
    "dead_end": "dead end",
    "refused": "refused",
    "cut": "cut",
}


@dataclass(eq=False)
class KeptRun:
    """One choice of an answer."""

    owner: str
    shared: bool
    request: CompletionRequest
    plan: TurnPlan
    model: LanguageModel
    place: int  # which choice it is
    name: str = field(default_factory=lambda: token_urlsafe(16))
    began: float = field(default_factory=time.time)
    steps: list[Step] = field(default_factory=list)
    nbytes: int = 0
    ended: bool = False
    inspected: str = ""  # the text, if another server wrote it
    recording: str = ""  # what its page shows, once somebody has opened it

    def add(self, step: Step) -> None:
        """Keep one more step."""
        self.steps.append(step)
        self.nbytes += STEP_BYTES + CANDIDATE_BYTES * len(step.candidates)

    def close(self) -> None:
        """Mark the run as ended, whatever ended it."""
        self.ended = True
        if self.steps and not self.steps[-1].end:
            self.steps[-1] = replace(self.steps[-1], end="stop")

    @property
    def seed(self) -> int:
        """The seed of this choice."""
        return self.request.settings.seed + self.place

    @property
    def verdict(self) -> str:
        """How it ended, in a word."""
        if not self.steps:
            return VERDICTS["stop" if self.ended else ""]
        return VERDICTS[self.steps[-1].end]

    @property
    def least(self) -> tuple[float, int]:
        """The least Z of all steps, and where it is; 1 at step 0 for a run without steps."""
        masses = [(step.mass, place) for place, step in enumerate(self.steps) if step.how != "none"]
        return min(masses, default=(1.0, 0))

    @property
    def trace(self) -> Trace:
        """The run as a trace, without its guide."""
        prompt = self.plan.prompt
        made = make_trace(self.model, prompt, self.plan.enforced, self.seed, self.request.settings.temperature)
        return replace(made, steps=tuple(self.steps))


FindRun = Callable[[str], KeptRun]  # by its name


class KeptRuns:
    """The last runs of all students."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, KeptRun] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, run: KeptRun) -> KeptRun:
        """Keep a run; the oldest ones make room for it."""
        self._kept[run.name] = run
        own = [other for other in self._kept.values() if other.owner == run.owner]
        for oldest in own[:-MOST_OF_ONE]:
            del self._kept[oldest.name]
        total = sum(other.nbytes for other in self._kept.values())
        while len(self._kept) > MOST_RUNS or (total > RUNS_BYTES and len(self._kept) > 1):
            _, oldest = self._kept.popitem(last=False)
            total -= oldest.nbytes
        return run

    def find(self, name: str) -> KeptRun:
        """The run with this name."""
        if name not in self._kept:
            hint = "ask again: the host keeps the last runs only, and none over a restart"
            raise Refused(404, "run", quoted(name, 40), "the name of a run that is kept", hint)
        return self._kept[name]

    def of(self, student: str, teacher: bool) -> list[KeptRun]:
        """The runs of a student, the newest first; for the teacher also those that are shared."""
        runs = reversed(self._kept.values())
        return [run for run in runs if run.owner == student or (teacher and run.shared)]


def sum_up_run(run: KeptRun) -> JsonObject:
    """A run in a list."""
    mass, step = run.least
    taken = len(run.steps) or 1
    return {
        "name": run.name,
        "began": run.began,
        "enforced": run.plan.enforced,
        "verdict": run.verdict,
        "least": mass,
        "step": step,
        "tokens": len(run.steps),
        "model_ms": sum(one.forward_ms for one in run.steps) / taken,
        "mask_ms": sum(one.mask_ms for one in run.steps) / taken,
        "text": shorten(run.trace.text, SHOWN_TEXT),
    }
