"""How far the engine of each student has come (labs/project.ipynb), and how its times compare with ours in `gv.race`.

Both are reports as all others: a milestone is the check of its part, a ratio is a place with a number. They are what a
student's kernel says, and any cell can forge them.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from guidedviz.host.standing import KEPT_SECONDS, STUDENTS, Report
from guidedviz.models.remote import mark_used
from guidedviz.models.reports import RACE_PLACES

ENGINE_PARTS = {  # the check of a milestone -> what is built, in the order of the project
    "check trie": "trie",
    "check rows": "index",
    "check push": "stack",
    "check split_node": "split",
    "check engine_masks": "masks",
    "check forced_moves": "jump",
}
NOT_REACHED = "open"


@dataclass
class Project:
    """What one student has reached: the state of each milestone, and the last ratio of each column of the race."""

    nickname: str
    at: float
    states: dict[str, str] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)


class Projects:
    """The projects of a class."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self.forget()

    def forget(self) -> None:
        """Forget all of them."""
        self._kept: OrderedDict[str, Project] = OrderedDict()

    def take(self, key: str, report: Report) -> None:
        """Keep a milestone or a ratio; a report about anything else changes nothing."""
        if report.place not in (*ENGINE_PARTS, *RACE_PLACES):
            return
        project = self._kept.setdefault(key, Project(report.nickname, 0.0))
        project.nickname = report.nickname
        project.at = self._now()
        if report.place in ENGINE_PARTS:
            project.states[report.place] = report.state
        elif isinstance(report.answer, float) and report.answer > 0:
            project.ratios[report.place] = report.answer
        mark_used(self._kept, key, STUDENTS)

    def summary(self) -> dict[str, Any]:
        """What the teacher's page shows: the state of each milestone per student, and the ratios of the races."""
        since = self._now() - KEPT_SECONDS
        self._kept = OrderedDict((key, one) for key, one in self._kept.items() if one.at >= since)
        rows = []
        for project in sorted(self._kept.values(), key=lambda one: one.nickname):
            milestones = [(name, project.states.get(check, NOT_REACHED)) for check, name in ENGINE_PARTS.items()]
            ratios = [project.ratios.get(place) for place in RACE_PLACES]
            rows.append({"nickname": project.nickname, "milestones": milestones, "ratios": ratios})
        return {"projects": rows}
