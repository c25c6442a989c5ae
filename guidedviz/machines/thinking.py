"""The machine of an answer that begins with thinking, and how long the thinking may be.

It stands apart from `turn.py`, which builds it, so that a guide knows it without the formats and schemas of tools.
"""

from dataclasses import dataclass

from guidedviz.machines.pushdown.pda import PDA


@dataclass(frozen=True)
class Thinking:
    """How a machine reads the begin and the end of thinking, and the tokens that may stand between them."""

    begin: bytes  # b"" if the prompt has begun it
    end: bytes
    limit: int


class TurnMachine(PDA):
    """The machine of a whole answer; a guide counts the tokens of its thinking, if these are limited."""

    thinking: Thinking | None = None
