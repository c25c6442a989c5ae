"""The teacher's page, `/class`: who is connected, steps per second, how long they take. All of it is in memory only.

The page itself holds nothing; it asks `/v1/class` with the teacher's token, every two seconds. What it shows is set as
text, never as HTML.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from guidedviz.host.limits import Account

TEACHER = "teacher"  # the name of the token that may see the class
MINUTE = 60.0

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; font-weight: bold; padding: 0.5rem 0; }
th, td { text-align: right; padding: 0.25rem 0.75rem; border-bottom: 1px solid; }
th:first-child, td:first-child { text-align: left; }
input, button { font: inherit; padding: 0.25rem 0.5rem; }
"""
SCRIPT = """
const find = (id) => document.getElementById(id);
let token = "", timer = 0;
async function look() {
  clearTimeout(timer);
  try {
    const headers = token ? { Authorization: "Bearer " + token } : {};
    const answer = await fetch("v1/class", { headers, cache: "no-store" });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.error.seen + "; expected " + said.error.expected);
    find("enter").hidden = true;
    show(said);
  } catch (error) {
    find("facts").textContent = String(error.message);
    if (find("rows").childElementCount === 0) find("enter").hidden = false;
  }
  timer = setTimeout(look, 2000);
}
function show(said) {
  const { students, facts } = said;
  find("facts").textContent = facts;
  find("rows").replaceChildren(...students.map((student) => {
    const row = document.createElement("tr");
    for (const text of [student.name, student.steps, student.ms, student.ago]) {
      row.appendChild(document.createElement("td")).textContent = String(text);
    }
    return row;
  }));
}
find("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = find("token").value.trim();
  look();
});
look();
"""
PAGE = f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>The class</title>
<style>{STYLE}</style></head>
<body><main>
<h1>The class</h1>
<form id="enter" hidden><label for="token">Token of the teacher</label>
<input id="token" type="password" autocomplete="off"> <button>Show</button></form>
<p id="facts" role="status"></p>
<table><caption>Students of the last minute</caption>
<thead><tr><th scope="col">student</th><th scope="col">steps</th><th scope="col">median, ms</th>
<th scope="col">seconds since the last step</th></tr></thead>
<tbody id="rows"></tbody></table>
</main><script>{SCRIPT}</script></body>
</html>
"""


def digest(text: str) -> str:
    """The digest by which a page allows one script or style."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


POLICY = (
    f"default-src 'none'; script-src {digest(SCRIPT)}; style-src {digest(STYLE)}; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def sum_up_class(
    accounts: Mapping[str, Account], card: Mapping[str, Any], waiting: int, named: bool, now: float | None = None
) -> dict[str, Any]:
    """What the page shows: the students who took a step in the last minute, and the class as a whole.

    With a token of the whole class students have numbers instead of names.
    """
    now = time.monotonic() if now is None else now
    students, every = [], list[float]()
    for name, account in accounts.items():
        recent = [(at, took) for at, took in account.steps if at > now - MINUTE]
        if not recent:
            continue
        times = [1e3 * took for _, took in recent]
        every += times
        known = name if named else f"student {account.number}"
        median, ago = round(float(np.median(times)), 1), round(now - recent[-1][0])
        students.append({"name": known, "steps": len(recent), "ms": median, "ago": ago})
    levels = [float(np.percentile(every, level)) for level in (50, 95)] if every else [0.0, 0.0]
    facts = (
        f"{card['name']} · {card['device']} · {len(students)} students · {len(every) / MINUTE:.1f} steps per second · "
        f"median {levels[0]:.0f} ms, 95 of 100 within {levels[1]:.0f} ms · {waiting} texts wait"
    )
    return {"facts": facts, "students": sorted(students, key=lambda student: str(student["name"]))}
