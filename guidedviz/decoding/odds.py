"""Probabilities in words, as pictures and texts show them."""

from __future__ import annotations

from math import log10

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def probability(p: float, digits: int = 2) -> str:
    """A probability with two decimals; a smaller one as "1 in so many". Only zero itself is shown as 0, only one as 1.

    >>> probability(0.876), probability(0.0), probability(0.9999, digits=3)
    ('0.88', '0', '>0.999')
    >>> probability(0.0004), probability(0.0000123), probability(1e-9)
    ('1 in 2,500', '1 in 81,000', '1 in 10⁹')
    """
    if p <= 0 or p >= 1:
        return "0" if p <= 0 else "1"
    least = 10**-digits
    if p < least:
        return one_in(p)
    return f">{1 - least:g}" if p > 1 - least / 2 else f"{p:.{digits}f}"


def one_in(p: float) -> str:
    """A small probability as "1 in so many", in two digits."""
    if p < 1e-6:
        return f"1 in 10{str(round(-log10(p))).translate(RAISED)}"
    return f"1 in {int(float(f'{1 / p:.2g}')):,}"
