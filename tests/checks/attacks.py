"""Answers that attack the check itself: they stop, they disarm its clocks, they take all memory.

They run in a small process. There a fork takes a few milliseconds of processor time, and an answer that waits is told
from one that works also on a busy machine.
"""

import os
import signal

from guidedviz.checks import guard
from guidedviz.checks.guard import Outcome, run

WALL = 0.8
IDLE_AT_MOST = 0.1


def turn_for_ever() -> None:
    while True:
        pass


def take_all_memory() -> bytearray:
    return bytearray(1 << 40)


def stop_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def disarm_the_timer() -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
    turn_for_ever()


def block_all_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    turn_for_ever()


def outcomes_of(attack: str) -> list[list[Outcome]]:
    """What a check says of an attack, and what it says of an honest answer after it."""
    guard.WALL_SECONDS = WALL
    guard.IDLE = IDLE_AT_MOST
    attacked = run(globals()[attack], [()])
    return [attacked, run(divmod, [(7, 2)])]
