"""What can go wrong, each said the same way: where, what was seen, what was expected, what to try."""

from __future__ import annotations


class GuidedVizError(ValueError):
    """Every error of this library.

    >>> print(GuidedVizError("logit bias of token 3", seen="120", expected="-100 to 100", hint="clip it"))
    logit bias of token 3: saw 120, expected -100 to 100; try: clip it
    """

    def __init__(self, where: str, *, seen: str = "", expected: str = "", hint: str = "") -> None:
        self.where, self.seen, self.expected, self.hint = where, seen, expected, hint
        said = ", ".join(part for part in (seen and f"saw {seen}", expected and f"expected {expected}") if part)
        super().__init__(where + (f": {said}" if said else "") + (f"; try: {hint}" if hint else ""))


class PatternError(GuidedVizError):
    """A regex, grammar or schema that cannot become a machine."""


class GrammarError(PatternError):
    """A grammar's text that cannot be read: the line is shown with a caret, and the hint stands beside it."""

    def __init__(
        self, where: str, *, seen: str, expected: str = "", hint: str = "", picture: str = "", position: int = 0
    ) -> None:
        super().__init__(where, seen=seen, expected=expected, hint=hint)
        self.picture, self.position = picture, position  # the line and its caret; characters before it in the text
        said = f"{where}: {seen}" + (f", expected {expected}" if expected else "")
        self.args = ("\n".join(filter(None, [said, picture + (f" {hint}" if hint else "")])),)


class VocabularyError(GuidedVizError):
    """A tokenizer or token list that cannot become a vocabulary."""


class IllegalToken(GuidedVizError):
    """A token that the mask of this state forbids."""


class EmptyMask(GuidedVizError):
    """A mask that leaves nothing to choose from."""


class SettingError(GuidedVizError):
    """A temperature, bias, seed or other setting out of its range."""


class ModelError(GuidedVizError):
    """A model that cannot be found, loaded, or run in the memory there is."""


class TraceError(GuidedVizError):
    """A trace file that is damaged or of another version."""
