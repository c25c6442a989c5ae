# question: How does a regex become a machine that is in one state at a time?

# %% [markdown]
# # Lab 04 · From regex to machine
#
# **Question.** A regex such as `\d+|\d+\.\d+` leaves open which part will match. How does it become a machine that is
# in one state at a time?
#
# **Goal.** You can turn a regex into an NFA, the NFA into a DFA, and the DFA into the smallest one. You know when the
# DFA is much larger than the regex.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 03](03_fsm.ipynb)
# comes before this one.

# %% [markdown]
# ## Four words
#
# | word | meaning |
# | --- | --- |
# | **DFA** | deterministic finite automaton: a machine in exactly one state, as in lab 03 |
# | **NFA** | nondeterministic finite automaton: it can be in several states at once |
# | **epsilon edge** (ε) | an edge of an NFA that reads nothing |
# | **epsilon closure** | a set of states, with all states that epsilon edges lead to from there |

# %%
import guidedviz as gv

gv.views.draw_loop("regex")

# %% [markdown]
# ## 1 · From a regex to a DFA
#
# Here is a clumsy regex: a whole number, or one with a point, or one with a comma. In the first step each part of the
# regex becomes a few states, and epsilon edges connect them (Thompson's construction). The result is an **NFA** with
# three branches. It reads a text in all branches at the same time. Step through it:

# %%
clumsy = r"\d+|\d+\.\d+|\d+,\d+"
gv.film(gv.views.nfa_reading_frames(clumsy, "42"))

# %% [markdown]
# The NFA reads a byte in two steps. First it takes every edge that reads this byte. The targets of these edges are a
# set of states. Then it follows the epsilon edges: the target of an epsilon edge that leaves a state of the set is
# added to the set, and the epsilon edges of this target are followed too. The set is finished when all epsilon edges
# that leave it lead back into it. It is called the *epsilon closure*. In the film, the byte `4` leads from four states
# to nine.

# %% [markdown]
# ## Exercise 1 · One step of all states ★★
#
# Write `step_set(nfa, states, byte)`: the set of all states after the byte, with the epsilon closure.
# `nfa.edges[state]` holds `(low, high, target)`: such an edge reads the bytes from `low` to `high`, both included.
# `nfa.epsilon[state]` holds the targets of the epsilon edges. They can form a cycle.
#
# hint: First collect the targets of the edges that read the byte. Then keep a list of states to visit.
#
# hint: Begin with `waiting = list(found)`, where `found` is the set of targets. For each `state` in `waiting`, add each
# new target in `nfa.epsilon[state]` to both.

# %%
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
# **From NFA to DFA** (subset construction). Each *set* of NFA states becomes one DFA state. Begin with the set at the
# start, and apply `step_set` with every byte. Each new set is a new state, except the empty set: there the DFA refuses
# the byte. Repeat until no set is new.

# %% [question]
gv.predict(
    "The NFA has 16 states, so there are 65,536 sets of states. How many of these sets occur?",
    number=6,
    within=2,
    reveal=[
        lambda: gv.draw_machine(gv.views.dfa_frames(clumsy)[-1], [0, 1, 1], title="the DFA reads 42: one state lit"),
        """Six. The name of each state contains its set; states with nothing but epsilon edges are left out of the name.
        `gv.film(gv.views.dfa_frames(clumsy))` finds the sets one by one.""",
    ],
)

# %% [markdown]
# **Minimise.** Two states are equivalent if the same endings complete a text from both. Begin with two blocks: the
# accepting states, and all others. Take two states of one block. If some byte leads them into different blocks, or if
# only one of them can read it, they are not equivalent, and the block is split between them. Repeat until no block can
# be split. Then each block becomes one state.

# %% [predict]
gv.film(gv.views.minimal_frames(clumsy))

# %% [markdown]
# The state after the point and the state after the comma need the same endings, so they are one state now. Each set of
# texts has only one minimal DFA. So `gv.regex(one) == gv.regex(other)` tells whether two regexes mean the same.
#
# **What breaks.** A DFA can be much larger than its regex. The texts of `a` and `b` whose tenth letter from the end is
# an `a` need 1,024 states; with the eleventh letter it is 2,048, and so on. A service that accepts regexes needs a
# limit.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | often said | what we measured | where |
# | --- | --- | --- |
# | "A DFA is never larger than its NFA." | 1,024 states for `[ab]*a[ab]{9}`. | section 1 |

# %% [markdown]
# ## Recap
#
# * Regex → NFA → DFA → minimal DFA. A DFA state is a set of NFA states.
#
# The machine reads bytes. A model writes tokens: [lab 05](05_machine_times_vocabulary.ipynb).

# %% [markdown]
# ## How the production engines do it
#
# * **Outlines** builds its index on such a machine ([Willard and Louf, 2023](https://arxiv.org/abs/2307.09702)).

# %% [markdown]
# ## Further reading
#
# * [Cox, *Regular Expression Matching Can Be Simple And Fast*](https://swtch.com/~rsc/regexp/regexp1.html): the NFA
#   that reads in all states at once, in under 400 lines of C.
# * [Thompson, *Regular expression search algorithm*](https://doi.org/10.1145/363347.363387): the construction.
# * [Rabin and Scott, *Finite Automata and Their Decision Problems*](https://doi.org/10.1147/rd.32.0114): the subsets.

# %% [markdown]
# ## A puzzle
#
# Write the minimisation of section 1: split blocks of states until nothing changes. Take the DFA
# `gv.machines.machine_stages(clumsy)[1]`. How many blocks must remain?
#
# hint: Give each state a signature: its block, and per byte the block of the next state. States with equal signatures
# stay together. `len(gv.regex(clumsy))` blocks must remain.
