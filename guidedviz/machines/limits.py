"""The limits of machines: how large one thing may become, each with its reason.

The work of a whole compilation is limited too: `work.py` counts it where it is done. The limits of stacks stand in
`pushdown/`, those of schemas in `schema/`.
"""

WORK = 2_300_000  # steps of one compilation: about a second and a half, and 200 MB

# The text of a constraint.
REGEX_CHARACTERS = 100_000  # Python's parser reads so many in a tenth of a second
GBNF_CHARACTERS = 1_000_000
NESTED_PARENTHESES = 100  # of a grammar: the parser recurses for each
REPEATS = 1_000_000  # a count in a grammar
NESTED_FORMATS = 60  # of a structural tag: the reader recurses for each
TAG_LETTERS = 4_000  # of all begins and ends of tags: one machine reads them all
TREE_CHARACTERS = 1_000_000  # of the text of a tree

# Finite machines.
FINITE_TRIAL = 600_000  # steps of work for a DFA, before one automaton per rule is built instead
NFA_STATES = 40_000
DFA_STATES = 40_000
DFA_MOVES = 1_500_000  # visited states and edges of the NFA: about one second
PRODUCT_EDGES = 1_000_000  # that are visited
COMPARED_PAIRS = 50_000  # pairs of states in a comparison: a few seconds
DIFFERENCE_PAIRS = 100_000  # until a difference must be found
TRIED_CHARACTERS = 200  # of a regex without texts: a machine is built for each of its parts

# Counted repeats. Measured on the schemas of `bench schemas`, whose strings take 20 states per character: with 1,000
# states the whole request takes twice as long as with 400; with 100 it takes as long.
COPIED_STATES = 400  # of the copies of one repeat; a larger one is counted
FINITE_COPIED_STATES = 1_000  # the same if the machine is finite without counts: it has an index
FEWEST_COPIED_STATES = 30  # below this a repeat is never counted
RULE_STATES = 8_000  # of a rule, before smaller repeats are counted too: about one second
TICKED_PLACES = 50_000  # of a net that is copied for each count

# Rules that are inlined. Measured on 20 closed schemas that count, the whole request: with no rule inlined it takes
# 1.02 of the time, with 50 states 0.99, with 200 0.99, with 1,000 0.97; a table's noise is 0.03.
INLINED_STATES = 10_000  # of a rule's NFA afterwards: about one second
COPIES_OF_INLINED = 2  # so many times this are all rules together, for what is called at several places
INLINED_WHERE_CALLED = 200  # the same for a schema that has a stack anyway: of 0, 50, 200 and 1,000 the fastest
FEW_RULES = 16  # up to here such a schema is inlined as others are, for faster masks

# Earley's algorithm, for texts that can be read in very many ways.
COLUMN_ROWS = 1_000  # of one column, in addition to those of the grammar
COLUMN_MOVES = 10_000
CHART_COLUMNS = 20_000  # of a chart, or of states one behind the other; 4 kB each
EARLEY_STATES = 50_000  # then the known states are dropped
