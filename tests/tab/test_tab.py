"""In a simulated browser tab every lab runs from top to bottom, and its checks give the verdicts of elsewhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tab.run import is_compared

ROOT = Path(__file__).resolve().parents[2]
LABS = sorted(path.relative_to(ROOT) for path in (ROOT / "labs" / "solutions").rglob("*.ipynb"))
JUMPS = Path("labs/solutions/11_jump_forward.ipynb")  # it has a stage, a slider that measures, and questions
OTHERS = [lab for lab in LABS if lab != JUMPS]


def elsewhere(path):
    """What the checks of a notebook said when it was built."""
    cells = [cell for cell in json.loads((ROOT / path).read_text())["cells"] if is_compared(cell)]
    return {cell["id"]: "".join(cell["outputs"][-1]["data"]["text/plain"]) for cell in cells}


def test_scout_talks_in_a_tab_and_a_tool_without_end_is_stopped():
    words = [sys.executable, str(ROOT / "tests" / "tab" / "talk.py")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    results, answer, stopped = json.loads(done.stdout)
    assert results == ["45", "75"]
    assert answer.endswith("The price of the lamp plus 30 is 75.")
    assert stopped.startswith("error: it does not end or takes too long")


@pytest.mark.parametrize("group", [[JUMPS], *(OTHERS[part::4] for part in range(4))], ids=["jumps", 0, 1, 2, 3])
@pytest.mark.quick("jumps")
def test_labs_run_in_a_tab_with_the_verdicts_that_they_have_elsewhere(group):
    words = [sys.executable, str(ROOT / "tests" / "tab" / "run.py"), *map(str, group)]
    seen = {name: value for name, value in os.environ.items() if name != "GUIDEDVIZ_HEADLESS"}
    done = subprocess.run(words, cwd=ROOT, env=seen, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for line in done.stdout.splitlines():
        name, said, _ = json.loads(line)
        assert said == elsewhere(name), name
    assert len(done.stdout.splitlines()) == len(group)
