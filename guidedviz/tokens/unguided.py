"""No constraint as a guide: every token that is text is legal, and EOS. The loop needs no second case for it."""

from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.explain import illegal_token
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary


class Unguided(Guide):
    """A guide under which every token that is text, and EOS, is always legal."""

    initial = None

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def mask(self, state: None) -> Mask:
        """Text and EOS."""
        return self.vocabulary.text_mask

    def advance(self, state: None, token: int) -> None:
        """The same state after any token that the mask allows."""
        if not self.mask(state)[self.vocabulary.as_id(token)]:
            raise illegal_token(self.vocabulary, self.explain(state, token))

    def is_accepting(self, state: None) -> bool:
        """Any text may end."""
        return True

    def label(self, state: None) -> str:
        """Its one state has no name."""
        return ""
