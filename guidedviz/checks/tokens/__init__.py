"""Checks of the exercises on tokens: masks, indexes, splits, forced runs."""
