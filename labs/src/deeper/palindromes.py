# %% [markdown]
# # Deeper · Palindromes, or several stacks at once
#
# **Question.** A palindrome reads the same from both ends. No letter marks its middle. How can a machine with a stack
# read it?
#
# **Goal.** You can say why some grammars need several stacks at once, how these stacks share their memory, and which
# rules need no place on a stack.
#
# **Time.** {minutes} minutes, one exercise. [Lab 07](../07_pda.ipynb) comes before this page; no later lab needs it.

# %% [markdown]
# ## Three words
#
# | word | meaning |
# | --- | --- |
# | **palindrome** | a text that reads the same from both ends, such as `abba` |
# | **nondeterministic** | a machine is nondeterministic if it has two moves for the same byte |
# | **frame** | a rule on the stack, and the node where it goes on |

# %%
import guidedviz as gv

palindromes = 'root ::= "a" root "a" | "b" root "b" | [ab]?'
machine = gv.grammar(palindromes)

# %% [markdown]
# ## 1 · Two moves for one byte
#
# The grammar is short: the same letter on both sides, or at most one letter in the middle. But lab 07 asked for one
# move per node and byte, and here there are two.

# %%
try:
    gv.machines.pushdown_moves(machine)
except gv.SettingError as error:
    print(error)

# %% [markdown]
# The automaton has read `a`, and another `a` follows. It may open a new pair, or it may close the pair that is open.
# Which of the two is right depends on letters that come later. The machine is **nondeterministic**.
#
# So it follows both ways, and keeps **all** possible stacks.
#
# The rule as an automaton in DOT, which Graphviz and many other programs read:

# %%
try:
    print(gv.to_dot(machine).source)
except gv.SettingError:
    print("the package graphviz is not installed here")

# %% [markdown]
# After a first `a` the rule is in `n1`. It may end there (a double circle), or call itself, which opens a new pair.

# %% [question]
gv.predict(
    "The automaton has read `aaa`. How many stacks are possible? (Count only stacks that are not empty.)",
    number=3,
    reveal=[
        lambda: gv.views.draw_shared_stacks(machine, "aaa"),
        """Three. Each orange frame is the top of a stack, and the arrows lead down. In the stack of height 3 the middle
        is still to come. In the stack of height 2 the third letter is the middle, so two letters wait for a partner.
        In the stack of height 1 the middle lies between the second and the third letter. There is also an empty
        stack: the second letter is the middle, and `aaa` is complete. The heights 3, 2 and 1 make six frames, and the
        picture has three.""",
    ],
)

# %% [markdown]
# ## 2 · Shared frames
#
# Each stack is stored as its top frame and a link to the stack below it. Stacks with the same lower part share that
# part, so the picture above has fewer frames than the stacks have together. No stored frame is ever changed: this is
# the **persistent stack** of the XGrammar paper.
#
# Stacks of different texts share frames, too. Here are four texts of nested brackets; each points to its top frame
# (orange).

# %%
brackets = gv.grammar('root ::= "(" root ")" | "[" root "]" | "x"')
gv.views.draw_branches(brackets, ["((", "((x", "([", "(("])

# %% [markdown]
# All four texts begin with `(`. It opened a call, which returns to n4, and this frame is stored once for all of them.
# Text 4 is text 1 again. To go back, an engine takes the old state, which still points to its frames. Nothing is copied
# or undone.
#
# Back to the palindromes:


# %%
def count_frames(text):
    state = machine.initial
    for byte in text.encode():
        state = machine.step(state, byte)
    tops = sum(len(cells) for _, cells in state.tops)
    print(f"{len(text):2} letters: {tops:2} stacks, {len(machine.branches(state)):2} frames")


# %% [question]
gv.predict(
    "After 40 letters `a` there are 40 stacks, with 40 · 41 / 2 = 820 frames if each stack were stored alone. How many "
    "frames are stored?",
    number=40,
    reveal=[
        lambda: count_frames("a" * 40),
        "Forty, one per letter. The work per letter still grows with the number of stacks.",
    ],
)

# %% [question]
gv.predict(
    "And after `ab` repeated 20 times, again 40 letters: are there more than 40 stacks, 40, or fewer?",
    choices=["more", "40", "fewer"],
    answer="fewer",
    reveal=[
        lambda: count_frames("ab" * 20),
        """Fewer. A letter that differs from the one that a stack waits for removes this stack. In `aaaa…` no letter
        ever differs, so no stack is removed.""",
    ],
)

# %% [markdown]
# ## Exercise 1 · Mark the middle ★
#
# Change the grammar: the texts are `a` and `b` with exactly one `c` in the middle, such as `abcba`, and the letters
# after the `c` mirror those before it. Then one stack is enough, and `gv.machines.pushdown_moves` accepts the grammar.
#
# hint: Which part of the given rule stands for the middle?
#
# hint: The `c` must come exactly once, so it replaces `[ab]?`, without a question mark.

# %%
# solution:
mirror = 'root ::= "a" root "a" | "b" root "b" | "c"'
# open:
# mirror = 'root ::= "a" root "a" | "b" root "b" | [ab]?'
# end
gv.checks.mirror(mirror)

# %% [markdown]
# JSON needs two stacks for a moment, too. After the digit in `[1` the library keeps both: in one the number goes on, in
# the other it has ended. The `step` of lab 07 has one stack, because it decides only when it sees the next byte.

# %% [markdown]
# ## 3 · A shorter stack
#
# The library keeps a shorter stack than the program of lab 07. In the grammar of JSON the rule `member` ends with a
# call of `value`, and `value` ends with a call of `object`. Such a call is a *last call*: after it nothing is left to
# read in the rule. So no return node is pushed, and the called rule takes the place of the rule that called it.

# %% [markdown]
# Take the text `{"key": {"b": 1}}`. A short description of its walk may say: push object, push key, push object, push
# key, pop, pop, and *the stack is empty*. That cannot be: four rules were pushed and two popped.

# %% [question]
gv.predict(
    "The library's table of this text shows the rules `object` and `member`. How many of them are pushed, replaced and "
    "popped?",
    choices=[
        "4 pushes, no replacement, 4 pops",
        "4 pushes, 1 replacement, 3 pops",
        "3 pushes, 1 replacement, 3 pops",
        "2 pushes, 2 replacements, 2 pops",
    ],
    answer="3 pushes, 1 replacement, 3 pops",
    reveal=[
        lambda: gv.draw_stack_table(gv.json(), '{"key": {"b": 1}}'),
        """In row 3 the inner object takes the place of the outer member, whose last part it is. A member cannot replace
        its object, because the object still waits for its brace. So three rules are pushed, and three are popped: row 5
        pops two of them with one brace. (A rule that cannot contain itself, such as `number`, has no row of its own in
        the table. While a number is read, the table still says `member`.)""",
    ],
)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * In a palindrome no byte marks the middle, so the automaton has two moves for one byte.
# * It keeps all possible stacks. A stack disappears when it cannot read the next byte.
# * Stacks share their lower parts. In all our runs, n letters gave at most n stacks and n frames.
# * With a mark in the middle the grammar is deterministic, and one stack is enough.
# * A rule that ends with a call leaves the stack before the call, so the library's stack is shorter.

# %% [markdown]
# ## How the production engines do it
#
# * **llama.cpp** keeps a list of all possible stacks, each stored alone ([pull request
#   1773](https://github.com/ggml-org/llama.cpp/pull/1773)).
# * **XGrammar** first stored the stacks in one tree, where they share their lower parts ([arXiv
#   2411.15100](https://arxiv.org/abs/2411.15100)). XGrammar-2 uses Earley's algorithm (lab 08) instead ([arXiv
#   2601.04426](https://arxiv.org/abs/2601.04426)).
# * **GLR parsers** share upper parts as well, in a *graph-structured stack* ([Tomita
#   1985](https://docslib.org/doc/2603502/an-efficient-context-free-parsing-algorithm-for-natural-languages1)).
