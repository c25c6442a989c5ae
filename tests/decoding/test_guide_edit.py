"""A new guide during a decode keeps the budget of the old one."""

import guidedviz as gv
from guidedviz.tokens.budget import keep_budget
from tests.common import with_end

VOCABULARY = with_end([b"a", b"b", b"c"])


def guide(text):
    return gv.guide(gv.regex(text), VOCABULARY)


def test_a_new_guide_keeps_the_budget_of_the_old_one():
    kept = keep_budget(gv.within(guide("a*"), 7), guide("b*"))
    assert kept.initial.left == 7
    assert keep_budget(guide("a*"), new := guide("b*")) is new
