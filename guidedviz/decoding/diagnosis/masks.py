"""Whether the mask was the right one: applied at all, for this vocabulary, and for everything that was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from guidedviz.decoding.diagnosis.finding import Finding
from guidedviz.decoding.diagnosis.run import Placed, Run
from guidedviz.decoding.odds import probability
from guidedviz.machines.machine import read
from guidedviz.machines.visible import visible

NEARLY_ALL = 0.99  # of the vocabulary, legal at each step


def find_no_mask(run: Run) -> Iterator[Finding]:
    """The record names a constraint, and each step allowed everything."""
    if not run.trace.constraint and run.guide is None:
        return
    if not run.asked or min(one.step.legal for one in run.asked) < NEARLY_ALL * run.trace.vocabulary_size:
        return
    if run.guide is not None and not run.replay.refused and run.trace.guide is run.guide:
        return  # the guide itself allows this much
    size, least = run.trace.vocabulary_size, min(one.step.legal for one in run.asked)
    share = f"all {size:,}" if least == size else f"at least {least:,} of {size:,}"
    seen = f"at each of {len(run.asked)} steps {share} tokens were legal"
    if run.trace.constraint:
        seen += f", although the record names the constraint {run.trace.constraint!r}"
    place = run.asked[0].place
    if run.guide and (refused := run.replay.refused):
        seen += f'; the guide would have refused "{visible(refused.step.piece)}" at step {refused.place}'
        place = refused.place
    check = "the log of the server: did the constraint compile, and what happens if it does not?"
    yield Finding("no mask", place, seen, check, "let the request fail: do not catch the error of gv.guide")


def find_wrong_mask(run: Run) -> Iterator[Finding]:
    """The guide refuses a token of the text, or another vocabulary was used, or the machine refuses the text."""
    assert run.guide is not None
    check = "one vocabulary for model and guide: guide.vocabulary.fingerprint == model.vocabulary.fingerprint"
    cure = "gv.guide(machine, model.vocabulary) after each change of the tokenizer; key stored masks by its fingerprint"
    if other := _other_piece(run):
        token, pieces = other.step.token, run.guide.vocabulary.pieces
        mine = f'"{visible(pieces[token])}"' if token < len(pieces) else "no token"
        seen = f'token {token} is "{visible(other.step.piece)}" in the record and {mine} in the vocabulary of the guide'
        yield Finding("stale mask", other.place, seen, check, cure)
    elif refused := run.replay.refused:
        if list(find_no_mask(run)):
            return
        seen = f'the guide refuses "{visible(refused.step.piece)}" at step {refused.place}: {run.replay.why}'
        check = "where the mask was switched on, and whether each token reached the guide"
        yield Finding(
            "text outside the language", refused.place, seen, check, "let one guide read all tokens: gv.tagged"
        )
    elif run.machine and (died := _refused_by_machine(run)):
        seen = f'each token was legal by the mask, and the machine refuses the text at "{visible(died.step.piece)}"'
        yield Finding("stale mask", died.place, seen, check, cure)


def _other_piece(run: Run) -> Placed | None:
    """The first token that has other bytes in the vocabulary of the guide."""
    assert run.guide is not None
    pieces = run.guide.vocabulary.pieces
    others = (one for one in run.steps if one.step.token >= len(pieces) or pieces[one.step.token] != one.step.piece)
    return next(others, None)


def _refused_by_machine(run: Run) -> Placed | None:
    """The first step after which the machine cannot read the text."""
    assert run.guide is not None
    state = run.machine.initial
    for one in run.steps:
        if one.step.token not in run.guide.vocabulary.eos:
            state = read(run.machine, one.step.piece, state)
        if state is None:
            return one
    return None


def find_same_bytes(run: Run) -> Iterator[Finding]:
    """A chosen token has the bytes of another id: the probability is divided, and a ban of one id leaves the other."""
    for one in run.asked:
        ids = {candidate.token for candidate in one.step.candidates if candidate.piece == one.step.piece}
        known = run.guide.vocabulary.ids(one.step.piece) if run.guide else ()
        if run.guide and one.step.token in known:
            ids = {token for token in known if run.guide.vocabulary.is_text(token)}  # not the name of a special token
        if len(ids) > 1 and one.step.piece:
            seen = f'"{visible(one.step.piece)}" is the text of ids {", ".join(map(str, sorted(ids)))}; '
            seen += f"{one.step.token} was taken ({probability(one.step.raw)})"
            check = "vocabulary.audit(), and which ids a ban or a bias names"
            cure = "name tokens by their bytes: vocabulary.ids(piece) gives all ids"
            yield Finding("same bytes, several ids", one.place, seen, check, cure)
            return


def find_notes(run: Run) -> Iterator[Finding]:
    """The machine does not enforce all that its source says."""
    if notes := getattr(run.machine, "notes", ()):
        check = "machine.notes; judge the output with a validator, too"
        cure = 'correct the keyword, or gv.json_schema(schema, unknown="error")'
        yield Finding("keyword not enforced", 0, "; ".join(notes), check, cure)
