"""A text that a person inserts as what comes next: it is cut into tokens, and all of them must be legal."""

from guidedviz.decoding.inspection import as_bytes, cut_text
from guidedviz.decoding.player import LiveWalk, Player
from guidedviz.errors import IllegalToken, SettingError, quoted
from guidedviz.machines.visible import visible
from guidedviz.tokens.by_hand import Unguided
from guidedviz.tokens.guide import guide_states


def cut_inserted(player: Player, text: str) -> list[int]:
    """The tokens of a text that is to come next; an IllegalToken says where and why the mask refuses it.

    >>> toy = gv.ToyModel([b"3", b"36", b"x"], lambda tokens: [0, 0, 0])
    >>> walk = LiveWalk(toy, "x", gv.guide(gv.regex("[0-9]+"), toy.vocabulary))
    >>> cut_inserted(Player(walk, gv.decoding.Settings()), "363")
    [1, 0]
    """
    walk = player.walk
    if not isinstance(walk, LiveWalk):
        raise SettingError("the inserted text", seen="a recording", expected="a live stage")
    if player.at_end:
        raise SettingError("the inserted text", seen="a run that has ended", expected="an earlier step")
    if not text:
        raise SettingError("the inserted text", seen="no text", expected="at least one character")
    guide = walk.guide or Unguided(walk.model.vocabulary)
    state = player.point(player.cursor).state
    tokens = cut_text(walk.model, guide, as_bytes(text))
    states = guide_states(guide, state, tokens)
    passed = len(states) - 1
    if passed < len(tokens):
        why = guide.explain(states[-1], tokens[passed])
        where = f"the inserted text, token {passed + 1} of {len(tokens)}"
        expected = f"a token that the mask allows ({why.reason})"
        hint = "another text, or the same one at another step"
        raise IllegalToken(where, seen=quoted(visible(why.piece)), expected=expected, hint=hint)
    return tokens
