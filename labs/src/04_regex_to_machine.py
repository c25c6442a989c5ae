# question: How does a regex become a machine that is in one state at a time?

# %% [markdown]
# # Lab 04 · From regex to machine
#
# **Question.** In a regex such as `\d+|\d+\.\d+`, a first digit can belong to either part. How does such a regex become
# a machine that is in one state at a time?
#
# **Goal.** You can follow an NFA through a text, and turn it into a DFA and into the smallest DFA. You can tell whether
# two regexes mean the same, and you know which regexes give a machine that is too large.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 03](03_fsm.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **DFA** | deterministic finite automaton: a machine in exactly one state, as in lab 03 |
# | **NFA** | nondeterministic finite automaton: it can be in several states at once |
# | **epsilon edge** (ε) | an edge of an NFA that reads nothing |
# | **epsilon closure** | a set of states, with all states that epsilon edges lead to |
# | **subset construction** | the way from an NFA to a DFA: each set of NFA states becomes one state |
# | **equivalent states** | states from which the same endings complete a text |

# %% [markdown]
# **Lost?** *State*, *transition* and *accepting* are words of lab 03, sections 1 and 2; the quantifiers `?`, `*` and
# `+` are in its section 3. An *edge* is a transition in the drawing of an NFA. In a regex `x|y` is one of the two, `\d`
# is a digit, `[ab]` is one of the letters, and `\.` is a point: see [Python's
# documentation](https://docs.python.org/3/library/re.html).

# %%
# slide: Today nobody draws the machine: a program makes it from a regex.
import re
from timeit import repeat

from IPython.display import display

import guidedviz as gv

gv.views.draw_loop("regex")

# %% [markdown]
# The lower row is new: the machine comes from a regex.
#
# ## 1 · Two transitions for one character
#
# Lab 03 had a pattern for which *the first transition that fits* is wrong. The regex `a?b|a` is a smaller case.
# It accepts `ab`, `b` and `a`. At an `a` two transitions are needed: one for `ab`, and one for `a` alone. Which of them
# is right depends on the next byte, which is not written yet. (In this lab each character is one byte.)

# %% [markdown]
# There are two ways out. One can try the first transition and *go back* if it fails: this is backtracking, and Python's
# `re` works like this. `(a+)+b` can cut a row of `a` into groups in many ways. If no `b` follows, `re` tries them all,
# and each further letter doubles their number. Below are the microseconds of `re`, and of a DFA as section 3 builds it
# (its bars are too short to be seen):

# %%
# NBVAL_IGNORE_OUTPUT
# slide: Python's re tries one way after the other: each further letter about doubles its time.
def microseconds(read, text):
    return round(1e6 * min(repeat(lambda: read(text), number=1, repeat=3)))


texts = [n * b"a" for n in (16, 18, 20, 22)]
readers = {"re": re.compile(b"(a+)+b").fullmatch, "a DFA": gv.regex("(a+)+b").accepts}
times = {name: [microseconds(read, text) for text in texts] for name, read in readers.items()}
gv.draw_bars([f"{len(text)} letters" for text in texts], times, title="microseconds")

# %% [markdown]
# Or one can take *both* transitions, and remember all states in which the machine may be. We do this, because a mask
# must allow every byte that can come next.

# %% [markdown]
# ## 2 · An NFA is in several states at once
#
# Each part of a regex becomes a few states. Where a part may be left out or repeated, there is an **epsilon edge**: it
# reads nothing. (This is Thompson's construction.)

# %%
for part, said in {
    "a?": "ε leaves the a out",
    "a+": "ε leads back, for one more a",
    "ab|c": "the b begins where the a ends, and both options end in one state",
}.items():
    nfa, _, _ = gv.machines.machine_stages(part)
    display(gv.draw_machine(nfa, title=f"{part} · {said}"))

# %% [markdown]
# Here is `a?b|a`. Two edges read an `a` in n0. One belongs to `a?` and leads to n1, where the `b` begins. The other one
# is the `a` after the `|`, and leads to the end.

# %%
# slide: Two arrows fit the letter a, and an epsilon edge reads nothing.
small, _, _ = gv.machines.machine_stages("a?b|a")
gv.draw_machine(small, title="the NFA of a?b|a")

# %% [markdown]
# A state is *lit* if the machine may be in it. A byte does two things:
#
# 1. Each lit state takes every edge that reads the byte. Now only the targets are lit.
# 2. From the lit states all epsilon edges are followed, also from the states that are added by this. The result is
#    called the **epsilon closure**.
#
# This is how the NFA reads the text `b`:
#
# | read | 1: targets of the byte | 2: with epsilon edges |
# | --- | --- | --- |
# | nothing | n0, the start | n0, n1 |
# | `b` | n2, from n1 | n2 |

# %% [question]
# slide: The machine takes both ways at once, so it can be in two states.
gv.predict(
    "Now the NFA reads the text `a`. Before it, n0 and n1 are lit. Which states are lit after it?",
    choices=["n1", "n2", "n1 and n2", "n0, n1 and n2"],
    answer="n1 and n2",
    reveal=[
        lambda: gv.draw_machine(gv.views.nfa_reading_frames("a?b|a", "a")[2]),
        """n0 has two edges that read an `a`, and both are taken. n0 itself is not lit any more: no edge leads there.
        n2 is accepting, so the text may end. n1 can read a `b`, so the text may go on.""",
    ],
)

# %% [markdown]
# Now a clumsy regex: a whole number, or one with a point, or one with a comma. Its NFA has three branches. The boxes on
# top are the text `4.2`: the line marks what is read, the frame is around the next byte. The film opens after the `4`
# (step back to see why). Nine states are lit. Which branches die at the point? Step on.

# %%
# slide: An NFA reads a number: follow the lit states, of which there are many at first.
clumsy = r"\d+|\d+\.\d+|\d+,\d+"
gv.film(gv.views.nfa_reading_frames(clumsy, "4.2"), show=3)

# %% [markdown]
# And the mask? **After the epsilon edges are added, it holds the bytes on all edges that leave lit states.** The text
# may end if an accepting state is lit.

# %%
clumsy_nfa, clumsy_dfa, clumsy_least = gv.machines.machine_stages(clumsy)


def mask(text):
    lit = gv.views.nfa_reading_frames(clumsy, text)[-1].lit
    edges = [edge for state in lit for edge in clumsy_nfa.edges[state]]
    return "".join(sorted({chr(byte) for low, high, _ in edges for byte in range(low, high + 1)}))


# %% [question]
# slide: A byte moves the whole set of states, and a branch that cannot read it is dropped.
gv.predict(
    "Which bytes does the mask allow after `4`, and which after `4.2`?",
    choices=["digits, `.` and `,` after both", "digits, `.` and `,`; then digits", "digits after both",
             "digits, `.` and `,`; then digits and `,`"],
    answer="digits, `.` and `,`; then digits",
    reveal=[
        lambda: [print(f"{text:5} {mask(text) or 'refused: no state is lit'}") for text in ("4", "4.2", "4,2", "4,2.")],
        lambda: gv.draw_machine(gv.views.nfa_reading_frames(clumsy, "4.2")[-1]),
        """After `4` all three branches are alive. The point leaves only the middle one, and it reads no second point
        and no comma. A dead branch stays dead: no edge leads into it from the middle one.""",
    ],
)

# %% [markdown]
# ## Exercise 1 · One step of all states ★★
#
# Write `step_set(nfa, states, byte)`: the set of all states after the byte, with the epsilon closure.
# `nfa.edges[state]` holds `(low, high, target)`: such an edge reads the bytes from `low` to `high`, both included.
# `nfa.epsilon[state]` holds the targets of the epsilon edges. They can form a cycle. For `a?b|a`,
# `step_set(small, {0, 1}, ord("a"))` is `{1, 2}`.
#
# hint: First collect the targets of the edges that read the byte. Then keep a list of states to visit.
#
# hint: Begin with `waiting = list(found)`, where `found` is the set of targets. For each `state` in `waiting`, add each
# new target in `nfa.epsilon[state]` to both.

# %%
# slide: Exercise 1: write one step of all states.
def step_set(nfa, states, byte):
    # solution:
    found = {target for state in states for low, high, target in nfa.edges[state] if low <= byte <= high}
    waiting = list(found)
    for state in waiting:
        for target in nfa.epsilon[state]:
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found
    # open:
    # ...  # the edges that read the byte, then the epsilon closure
    # end


gv.checks.step_set(step_set)

# %% [markdown]
# ## 3 · Each set becomes one state
#
# `step_set` works out a new set at every byte. But n states have only 2ⁿ sets. So all sets can be worked out before
# reading: each gets a number, and a table says where each byte leads. This is a **DFA**. It is in one state at a time,
# because its state *is* a set. For `a?b|a`:
#
# | DFA state | its set | after `a` | after `b` |
# | --- | --- | --- | --- |
# | q0, the start | {n0, n1} | {n1, n2}, new: q1 | {n2}, new: q2 |
# | q1 | {n1, n2} | … | … |
# | q2 | {n2} | … | … |
#
# A DFA state is accepting if its set contains the accepting state of the NFA, n2.

# %% [question]
# slide: Each set of states becomes one state of a table, and an empty set refuses the byte.
gv.predict(
    "Fill in the row of q1, the set {n1, n2}. Where do the bytes `a` and `b` lead?",
    choices=["`a` to q1, `b` to q2", "`a` nowhere, `b` to q2", "`a` nowhere, `b` to a new set", "`a` to q0, `b` to q2"],
    answer="`a` nowhere, `b` to q2",
    reveal=[
        lambda: gv.draw_machine(gv.views.dfa_frames("a?b|a")[-1], [0, 1, 2], title="the DFA of a?b|a reads ab"),
        """No edge of n1 or n2 reads an `a`, so the set after it is empty, and the DFA refuses the byte. `b` leads from
        n1 to n2: the set {n2}, which is q2 already. q2 has no edges, so the table is complete. Three of the eight sets
        occur. In the picture, {1,2} in the name of q1 is the set {n1, n2}.""",
    ],
)

# %% [markdown]
# This is the **subset construction**: begin with the set at the start and apply `step_set` with every byte. Each new
# set is a new state, except the empty set. Repeat until no set is new. Now the clumsy regex.

# %% [question]
# slide: Of 65,536 sets only six occur.
gv.predict(
    "Its NFA has 16 states, so there are 65,536 sets of states. How many of these sets occur?",
    number=lambda: len(gv.views.dfa_frames(clumsy)),
    reveal=[
        lambda: gv.draw_machine(gv.views.dfa_frames(clumsy)[-1], [0, 1, 3, 5], title="4.2: one state at a time"),
        """Six, one for each kind of text so far: nothing; digits; digits and a point; digits and a comma; and each of
        these two with more digits. A longer number lights the same states. q1 holds the nine states of the film.""",
    ],
)

# %% [markdown]
# One by one:

# %%
# slide: One set after the other is found, and each becomes a state.
gv.film(gv.views.dfa_frames(clumsy), show=3)

# %% [markdown]
# ## Exercise 2 · All sets ★★ · home
#
# Write `subsets(start, step)`: a list of all sets that occur, `start` first. `start` is a frozenset, which is a set
# that cannot change. `step(states, byte)` gives the frozenset after a byte from 0 to 255; it is `step_set` for one NFA.
# The empty set is not in the list. For `a?b|a`: the three sets of the table.
#
# hint: A `for` loop over a list also visits what is appended to the list while it runs.
#
# hint: Begin with `sets = [start]`. For each set in `sets` and each `byte in range(256)`, append what `step` gives, if
# it is not empty and not in `sets` yet.

# %%
# slide: Exercise 2: write the subset construction, which finds all sets that occur.
def subsets(start, step):
    # solution:
    sets = [start]
    for states in sets:
        for byte in range(256):
            after = step(states, byte)
            if after and after not in sets:
                sets.append(after)
    return sets
    # open:
    # ...  # from each set that is found, every byte
    # end


gv.checks.subsets(subsets)

# %% [markdown]
# ## 4 · The smallest DFA
#
# Two states are **equivalent** if the same endings complete a text from both. Equivalent states can be merged into one.
# Here is the clumsy DFA again.

# %%
# slide: The table has six states, and some of them do the same.
gv.draw_machine(clumsy_dfa, title="six states")

# %% [question]
# slide: States that the same endings complete are equivalent, so they can be merged.
gv.predict(
    "Which states are equivalent?",
    choices=["none", "q4 and q5", "q1, q4 and q5", "q4 and q5, and also q2 and q3"],
    answer="q4 and q5, and also q2 and q3",
    reveal=[
        """After q4 and q5 any digits may follow, or nothing. q2 and q3 need one digit or more: `4.` and `4,` have the
        same endings. q1 is accepting too, but from q1 the ending `.5` completes a text, and from q4 it
        does not.""",
    ],
)

# %% [markdown]
# A program finds this by splitting. Begin with two blocks: the accepting states, and all others. Two states of one
# block are separated if some byte leads them into different blocks, or if only one of them can read it. Repeat until no
# block can be split. Then each block becomes one state. This is **minimisation**. At the end {2,3} is
# the block of q2 and q3.

# %%
# slide: Split the blocks until no byte tells two states of a block apart: four states remain.
gv.film(gv.views.minimal_frames(clumsy), show=0)

# %% [markdown]
# Except for the names of its states, the smallest DFA is unique. `gv.regex` builds it, with the names in a fixed order.
# So `gv.regex(one) == gv.regex(other)` says whether two regexes accept the same texts.

# %% [question]
# slide: Two regexes mean the same if their smallest machines are the same.
gv.predict(
    r"Which regex has the same smallest DFA as `\d+|\d+\.\d+`?",
    choices=[r"`\d+\.?\d*`", r"`(\d+\.)?\d+`", r"`\d*(\.\d+)?`", r"`\d+(\.\d)*`"],
    answer=r"`(\d+\.)?\d+`",
    reveal=[
        lambda: [
            print(f"{other:14} differs on {gv.machines.shortest_difference(gv.regex(other), gv.regex(wanted))!r}")
            for wanted in [r"\d+|\d+\.\d+"]
            for other in [r"\d+\.?\d*", r"(\d+\.)?\d+", r"\d*(\.\d+)?", r"\d+(\.\d)*"]
        ],
        """Both accept digits, with or without digits and a point in front. The others differ: the first accepts `0.`,
        the third the empty text, and the last refuses `0.00`. (`None` means: on no text.)""",
    ],
)

# %% [markdown]
# The smallest DFA guides a model. The stage opens after `12`. There 13 tokens are legal: ten digits, the point, the
# comma and the end. Step on: after the point only the digits are.

# %%
# slide: Four states guide a model: after a point there is no second point and no comma.
clerk = gv.load_model("clerk")
lamp = "Hi! The lamp costs $12.50.\nThe price as a number:\n"
gv.stage(clerk, lamp, gv.guide(clumsy_least, clerk.vocabulary), constraint="a number", show=2)

# %% [markdown]
# ## 5 · What breaks
#
# A DFA can also be much larger than its NFA. Take the texts of `a` and `b` whose **second** letter from the end is an
# `a`. A machine that reads from left to right does not know where the end is. So it must remember the last two letters.
# Here each state is named by these two letters. The start is `bb`: an empty text holds no `a`, as if two `b` stood
# there.

# %%
# slide: The second letter from the end must be an a, so the machine remembers two letters.
two_letters = gv.GuidedFSM(gv.Vocabulary([b"a", b"b"]), start="bb", accepting=["aa", "ab"])
for state in ("bb", "ba", "aa", "ab"):
    for token, letter in enumerate("ab"):
        two_letters.add_transition(state, {token}, state[1] + letter)
gv.draw_machine(two_letters, title="the second letter from the end is an a")

# %% [markdown]
# And if the **tenth** letter from the end must be an `a`? Then ten letters must be remembered, each an `a` or a `b`:

# %%
# slide: Each letter further from the end doubles the number of states.
for place in (2, 3, 9, 10):
    nfa, _, least = gv.machines.machine_stages(f"[ab]*a[ab]{{{place - 1}}}")
    print(f"letter {place:2} from the end: NFA {len(nfa):3} states, smallest DFA {len(least):5,}")

# %% [markdown]
# The DFA doubles: 2¹⁰ = 1,024 states. Minimisation cannot help, because no two of these states are equivalent. The NFA
# grows by one state per letter: its row of states counts the letters after each `a`.

# %% [markdown]
# ## Your own regex · home
#
# Change `mine` in the next cell and run it. It shows its NFA and its smallest DFA.

# %%
mine = r"\d+(,\d\d\d)*"
nfa, dfa, least = gv.machines.machine_stages(mine)
print("NFA", len(nfa), "states · DFA", len(dfa), "· smallest DFA", len(least))
display(gv.draw_machine(nfa, title="your NFA"))
gv.draw_machine(least, title="your smallest DFA")

# %% [markdown]
# A service that accepts regexes from strangers needs a limit, and an error that says what to change. (This takes some
# seconds.)

# %%
try:
    gv.regex("[ab]*a[ab]{20}")
except gv.GuidedVizError as error:
    print(error)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | often said | what we measured | section |
# | --- | --- | --- |
# | "An NFA guesses the right branch." | It follows all of them, and nothing goes back. | 2 |
# | "A regex engine tries one way after the other." | `re` does. A DFA takes one step per byte. | 1 |
# | "n states of an NFA become 2ⁿ of the DFA." | 16 became 6, then 4. But 13 became 1,024. | 3, 5 |
# | "Different regexes are different machines." | `\d+\|\d+\.\d+` and `(\d+\.)?\d+` have the same smallest DFA. | 4 |

# %% [markdown]
# ## Recap
#
# * Two transitions for one character: take both. An **NFA** is in a set of states.
# * A byte moves the whole set; then the epsilon closure is added. A branch that cannot read the byte is dropped.
# * **Subset construction**: each set that occurs is one state of a **DFA**.
# * **Minimisation** merges equivalent states. Regexes for the same texts give the same machine.
# * A DFA can be exponentially larger than its NFA.
#
# This machine reads bytes, and a model writes tokens of several bytes.
# [Lab 05](05_machine_times_vocabulary.ipynb) combines the two.

# %% [markdown]
# ## How the production engines do it
#
# * **outlines-core** builds a dense DFA before decoding, with the Rust crate
#   [`regex-automata`](https://docs.rs/regex-automata/latest/regex_automata/dfa/dense/index.html).
# * **XGrammar**: [`cpp/fsm.cc`](https://github.com/mlc-ai/xgrammar/blob/main/cpp/fsm.cc) has epsilon edges, `ToDFA` and
#   `MinimizeDFA`, which refuses machines with too many states. (Read, not run.)
# * **llguidance** builds the states of its DFA only when a text reaches them, from derivatives of the regex
#   ([`docs/optimizations.md`](https://github.com/guidance-ai/llguidance/blob/main/docs/optimizations.md)).

# %% [markdown]
# ## Further reading
#
# * [Cox, *Regular Expression Matching Can Be Simple And Fast*](https://swtch.com/~rsc/regexp/regexp1.html): the NFA
#   that reads in all states at once, in under 400 lines of C, beside engines that go back.
# * [Thompson, *Regular Expression Search Algorithm*](https://doi.org/10.1145/363347.363387) (1968): the construction of
#   section 2, on four pages.
# * [Rabin and Scott, *Finite Automata and Their Decision Problems*](https://doi.org/10.1147/rd.32.0114) (1959): the
#   paper that introduced the NFA and the subset construction.

# %% [markdown]
# ## A puzzle
#
# Write the minimisation of section 4: split blocks of states until nothing changes. Take the DFA
# `clumsy_dfa`; its `edges[state]` hold `(low, high, target)`. How many blocks must remain?
#
# hint: Give each state a signature: its block, and per byte the block of the next state. States with equal signatures
# stay together. `len(gv.regex(clumsy))` blocks must remain.
