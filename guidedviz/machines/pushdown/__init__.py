"""The pushdown machine of a grammar, and what is asked of it.

The core, in this order: `automaton` (each rule as an automaton), `stack` (the open calls), `step` (one byte) and `pda`
(the machine, also in words). Beside it: `counting` and `counted_stacks` (large repeats and lengths; most grammars have
none), `unknown_bottom` (what is legal whatever lies below on the stack, for `tokens/split.py`), `distance` (the fewest
bytes to a complete text), `moves` (the textbook's table of a deterministic machine) and `large_regex` (`gv.regex`).
"""
