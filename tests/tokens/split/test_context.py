"""Groups of context-dependent tokens: merged groups are those of the pairs, however many there are."""

from types import SimpleNamespace

import numpy as np
import pytest

from guidedviz.tokens.split.context import Asking, merge, single


@pytest.mark.parametrize("size", [40, 70_000])
def test_tokens_are_together_that_are_together_at_every_node(size):
    dice = np.random.default_rng(0)
    rank = dice.permutation(size).astype(np.int32)
    vocabulary, legal = SimpleNamespace(rank=rank), dice.random(size) < 0.1
    parts = [single(np.argsort(rank).astype(np.int32))]
    for kinds in (3, 7):
        tokens = np.flatnonzero(dice.random(size) < 0.8).astype(np.int32)
        parts.append(Asking(tokens[np.argsort(rank[tokens])], dice.integers(0, kinds, len(tokens)).astype(np.int32)))
    for some in (parts, parts[:1] * 2, parts[1:]):
        found = merge(vocabulary, some, legal)
        at = [dict(zip(part.tokens.tolist(), part.group.tolist(), strict=True)) for part in some]
        wanted = sorted({token for part in at for token in part if not legal[token]}, key=rank.__getitem__)
        assert found.tokens.tolist() == wanted
        pairs = dict[tuple, int]()
        groups = [pairs.setdefault(tuple(part.get(token) for part in at), len(pairs)) for token in wanted]
        assert found.group.tolist() == groups
