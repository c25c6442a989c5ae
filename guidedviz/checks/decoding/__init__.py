"""Checks of the exercises on decoding: sampling, drafts, diagnosis, production."""
