# %% [markdown]
# # Deeper · Who is right?
#
# **Question.** Several engines compute the legal tokens of the same text. Where two masks differ, which one is right?
#
# **Goal.** You write the referee that decides, find a fault of a real engine, and tell a fault from a lawful choice.
#
# **Time.** {minutes} minutes, one exercise. [Lab 10](../10_walk_the_trie.ipynb) comes before this page; no later lab
# needs it.

# %% [markdown]
# ## Five words
#
# | word | meaning |
# | --- | --- |
# | **referee** | a slow and simple program that decides whether one token is legal |
# | **missing** | a token that is legal, and that an engine's mask omits |
# | **extra** | a token that is illegal, and that an engine's mask allows |
# | **forced only** | the mask holds only the tokenizer's token of a forced text, on purpose (ours: the longest) |
# | **lawful choice** | the constraint leaves it open, for example where JSON may have blanks |

# %%
import guidedviz as gv
from guidedviz.machines.machine import read

llama = gv.Vocabulary.llama3()

# %% [markdown]
# ## 1 · One question, several masks
#
# `gv.compare_engines` follows a text token by token and asks every installed engine for its mask. It marks the places
# where a mask differs from ours. Two engines take part twice: *llguidance, forcing* and *xgrammar, special text* run
# with the engine's default settings, *llguidance* and *xgrammar* with settings that match ours.

# %%
nested = gv.grammar('root ::= "(" root ")" | "x"')
found = gv.compare_engines(nested, llama, "((x))")

# %% [question]
# NBVAL_IGNORE_OUTPUT
gv.predict(
    "Brackets around an `x`, and the text `((x))`. At one place some masks differ from ours. Where?",
    choices=["at the start", "after `((`", "after `((x`", "at the end"],
    answer="after `((x`",
    reveal=[
        lambda: gv.draw_comparison(found),
        """With xgrammar 0.2.8 and llguidance 1.9.1 they agree at every place but one, after `((x`. There `)` and `))`
        are legal. XGrammar's mask omits `))`, though its own `accept_token` takes it. With forcing, llguidance omits
        `)`, because the tokenizer has one token for what must follow.""",
    ],
)

# %% [markdown]
# Our mask comes from a program too, and may be wrong. So a doubtful token is decided by a **referee**: it feeds the
# bytes of this token to the machine, one by one, without trie, slice or table.

# %% [markdown]
# ## Exercise 1 · The referee ★★
#
# Write `faults(machine, state, pieces, allowed)`. `allowed` is the set of ids that an engine allows in this state.
# Return two sets of ids: the missing ones and the extra ones.
#
# hint: A token is legal if `read(machine, piece, state)` is not `None`. Which ids are legal?
#
# hint: With the set `legal`, the missing ids are `legal - allowed`. The extra ids are the other difference.

# %%
def faults(machine, state, pieces, allowed):
    # solution:
    legal = {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}
    return legal - allowed, allowed - legal
    # open:
    # ...  # which ids are legal?
    # end


gv.checks.faults(faults)

# %% [markdown]
# ## 2 · A regex with a point
#
# Outlines-core compiles a regex into an index. Here is the decimal of lab 05.

# %%
decimal = gv.regex(r"[0-9]+(\.[0-9]+)?")
compared = gv.compare_engines(decimal, llama, "3.14")

# %% [question]
# NBVAL_IGNORE_OUTPUT
gv.predict(
    "After `3` the number may end or go on. Apart from EOS, one kind of token is missing in the mask of outlines-core "
    "0.2.14. Which?",
    choices=["digits, such as `14`", "a point with digits, such as `.5`", "the point alone"],
    answer="the point alone",
    reveal=[
        lambda: gv.draw_comparison(compared),
        """After `3` the text may end; after `3.` it may not. The engine drops a token that leads from the one kind of
        state to the other. The output is still a correct decimal: a missing token is never seen in a text. (The second
        mark: Llama 3 has three EOS ids, and the engine takes one.)""",
    ],
)

# %% [markdown]
# `print(found)` names the tokens of each place.
#
# Now yours: change the regex and the text. A text with `::=` is read as a grammar, a dict as a JSON Schema. Try
# `r"a|ab"` with `"ab"`, or `r"name: [a-z]+"` with `"name: ada"`.

# %% [markdown]
# ## 3 · The museum
#
# We did this for two vocabularies and twenty constraints and kept what was seen. It holds for the versions named
# below: an engine is repaired faster than a page.

# %% [question]
gv.predict(
    "Fourteen kinds of differences were found. One of these three is a lawful choice, and no fault. Which?",
    choices=["a mask omits a token that the engine's own `accept` takes", "no blank is allowed after a comma of JSON",
             "of `a|ab` only `a` is taken: the first alternative that fits"],
    answer="no blank is allowed after a comma of JSON",
    reveal=[
        lambda: print(
            "RECORDED 2026-11-20: outlines-core 0.2.14, xgrammar 0.2.8, llguidance 1.9.1",
            "known fault    its mask omits what its accept takes                  xgrammar",
            "known fault    takes surrogates, which UTF-8 has not                 xgrammar",
            "known fault    takes special ids for text                            xgrammar, its default",
            "known fault    takes a newline for .                                 xgrammar",
            "known fault    reads more than two digits after \\x                   xgrammar",
            "known fault    enters a rule that can never finish                   xgrammar, llguidance",
            "known fault    knows one EOS id                                      outlines-core",
            "known fault    drops a token that leaves an end with its last byte   outlines-core",
            "known fault    takes the first alternative that fits                 outlines-core",
            "forced only    the canonical token of a forced run                   llguidance, its default",
            "lawful choice  JSON written in fewer ways                            all",
            "lawful choice  JSON written in more ways                             outlines-core",
            "lawful choice  reads \\d, \\w and \\s as Unicode                          llguidance, outlines-core",
            "lawful choice  reads the regex in another way than Python            xgrammar",
            sep="\n",
        ),
        """A schema says nothing on blanks, so both forms are right. A mask and an `accept` that disagree cannot both be
        right, and `a|ab` names two texts. In all nine are faults, one is forced text, on purpose, and four are lawful:
        what `\\d` means outside of ASCII, how a regex is read, and where JSON may have blanks.""",
    ],
)  # fmt: skip

# %% [markdown]
# An extra token is noticed when the text is parsed. A missing token is hardly ever noticed: the text is correct, and
# only a small Z shows that the model wanted another token.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * Masks of good engines differ. A referee that reads bytes one by one decides.
# * Ask first whether the constraint is clear. If it is not, both may be right.
# * Missing tokens are the quiet faults. Compare masks, not only texts.

# %% [markdown]
# ## How the production engines do it
#
# * **XGrammar**: a mask and `accept_token` that disagree were reported more than once
#   ([#382](https://github.com/mlc-ai/xgrammar/issues/382), [#701](https://github.com/mlc-ai/xgrammar/issues/701)). In
#   [#618](https://github.com/mlc-ai/xgrammar/issues/618) both allowed tokens that are illegal.
# * **llguidance** turns forcing off with `no_forcing`
#   ([docs/fast_forward.md](https://github.com/guidance-ai/llguidance/blob/main/docs/fast_forward.md)).
# * **JSONSchemaBench** compares engines on the schemas of the wild ([arXiv
#   2501.10868](https://arxiv.org/abs/2501.10868)).
