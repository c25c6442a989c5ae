"""The same pattern twice, in a notation for grammars and as a regex, for hypothesis."""

from hypothesis import strategies as st

Twin = tuple[str, str]


def in_sequence(twins: tuple[Twin, Twin]) -> Twin:
    (first, first_regex), (second, second_regex) = twins
    return f"{first} {second}", first_regex + second_regex


def alternatives(twins: tuple[Twin, Twin]) -> Twin:
    (first, first_regex), (second, second_regex) = twins
    return f"({first} | {second})", f"(?:{first_regex}|{second_regex})"


def repeated(twins: tuple[Twin, Twin]) -> Twin:
    (part, part_regex), (count, count_regex) = twins
    return f"({part}){count}", f"(?:{part_regex}){count_regex}"


def grow_twins(inner: st.SearchStrategy[Twin], counts: list[Twin]) -> st.SearchStrategy[Twin]:
    pairs = st.tuples(inner, inner)
    repeats = st.tuples(inner, st.sampled_from(counts)).map(repeated)
    return pairs.map(in_sequence) | pairs.map(alternatives) | repeats
