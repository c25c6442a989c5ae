"""Checks of the exercises on machines: automata, grammars, schemas, parsers."""
