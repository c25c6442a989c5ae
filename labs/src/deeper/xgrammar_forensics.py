# %% [markdown]
# # Deeper · What xgrammar keeps
#
# **Question.** A compiled grammar of xgrammar can be saved as JSON. What does it hold, and does it agree with our
# split?
#
# **Goal.** You read the tables of a production engine, explain where they differ from ours, and see that the text of a
# grammar can matter more than the engine.
#
# **Time.** {minutes} minutes, two exercises. [Lab 09](../09_token_splitting.ipynb) comes before this page; no later lab
# needs it.

# %% [markdown]
# ## Five words
#
# | word | meaning |
# | --- | --- |
# | **uncertain token** | xgrammar's name for a context-dependent token |
# | **lookahead** | what may follow a rule; xgrammar derives it for some rules and rejects tokens with it |
# | **rule inlining** | putting a copy of a rule in each place where it is called |
# | **adaptive storage** | each set of tokens is kept in the form that is chosen for its size |
# | **bitset** | one bit per token of the vocabulary |

# %%
import json
import time

import numpy as np

import guidedviz as gv

try:
    import xgrammar
except ImportError:  # two answers compare with it
    xgrammar = None

# %% [markdown]
# ## 1 · A count belongs to a text of a grammar
#
# The XGrammar paper counts 1,134 context-dependent tokens for JSON before context expansion, and 120 after it. Lab 09
# counted 1,151 and 169 inside a string. We do not have the paper's text of the grammar. But one thing can be varied:
# how much whitespace a grammar allows.

# %%
llama = gv.Vocabulary.llama3()


def after(machine, data):
    state = machine.initial
    for byte in data:
        state = machine.step(state, byte)
    return state


# %%
def in_string(machine, expand):
    """The number of context-dependent tokens inside a string."""
    split = gv.build_split(machine, llama, expand=expand)
    return len(split.node(*split.pda.places(after(split.pda, b'"'))).dependent)


# %%
base = gv.json().grammar.text.split("ws     ::=")[0]


# %%
def show_whitespace():
    for name, blanks in {"RFC 8259": r"[ \t\n\r]*", "space, newline": r"[ \n]*", "one": '" "?', "none": '""'}.items():
        machine = gv.grammar(f"{base}ws ::= {blanks}")
        print(f"{name:15} not expanded {in_string(machine, False):5,}, expanded {in_string(machine, True):5,}")


# %% [question]
gv.predict(
    "If the grammar allows less whitespace, which count inside a string changes?",
    choices=["the one without expansion", "the one with expansion", "both", "neither"],
    answer="the one with expansion",
    reveal=[
        show_whitespace,
        """Without expansion it is always 1,151: the rule `string` is the same. Expansion rejects what cannot follow a
        string, so its result depends on what the grammar lets follow: 75 to 169. The paper's 120 lies between.""",
    ],
)

# %% [markdown]
# ## 2 · What each idea saves
#
# Lab 09 has tables per node and context expansion. The third idea of the paper is **rule inlining**. A rule that does
# not call itself, directly or over others, is copied to the places where it is called. Here the rule `blank` is called
# twice:

# %%
lists = gv.grammar(r"""
list  ::= "[" blank (list | "1") blank "]"
blank ::= " "*
""", root="list")  # fmt: skip
few = gv.Vocabulary([b"[", b"]", b"1", b" ", b" 1", b" ]", b" ["])
apart, copied = (gv.build_split(lists, few, inline=inline, expand=False) for inline in (False, True))
gv.draw_machine(apart.pda, title="two rules")

# %%
gv.draw_machine(copied.pda, title="the same, with blank inlined")

# %%
for split in (apart, copied):
    print(*split.build(), "", sep="\n")

# %% [markdown]
# At n6 of the first picture `blank` may have ended, and only the stack says what comes next. So ` 1`, ` ]` and ` [` are
# context-dependent there. In the second picture the next byte belongs to the same rule, and no token is
# context-dependent. There are fewer nodes, too: n1, n6 and n2 became one node, because nothing is read between them.

# %% [markdown]
# Now JSON. Along one text, before each of its characters: how many tokens must be read on the real stack?

# %%
text = b'{"piano": {"kettle": ["wallet", 1.5, true]}, "lamp": "a\\n\\u00e9"}'
plain = gv.build_split(gv.json(), llama, inline=False, expand=False)
full = gv.build_split(gv.json(), llama)


# %%
def count_dependent(split):
    """How many tokens are context-dependent, on average over the text."""
    states = [after(split.pda, text[:end]) for end in range(len(text) + 1)]
    return float(np.mean([(split.answers(state) == 2).sum() for state in states]))


def show_savings():
    inlined = gv.build_split(gv.json(), llama, expand=False)
    print(f"no tables           {len(llama):9,}")
    for name, split in {"tables": plain, "and rule inlining": inlined, "and expansion": full}.items():
        print(f"{name:20}{count_dependent(split):9,.0f}")


# %% [question]
gv.predict(
    "Without tables all 128,256 tokens are read. Three ideas are added one after the other, in the order below. Which "
    "one divides the number of tokens by the largest factor?",
    choices=["tables of accepted and rejected tokens", "rule inlining", "context expansion"],
    answer="context expansion",
    reveal=[
        show_savings,
        """The factors are about 18, 6 and 29. In the paper's times the tables save most, from 38.3 to 0.154 ms: a mask
        takes some time however few tokens are read, because the table must be copied.""",
    ],
)

# %% [markdown]
# The times of one mask of JSON in milliseconds, with one idea more from column to column:
#
# | | read all tokens | merge equal nodes | keep tables | inline rules | expand |
# | --- | --- | --- | --- | --- | --- |
# | the paper | 65.8 | 38.3 | 0.154 | 0.035 | 0.018 |
# | here | 3.07 | 3.05 | 1.08 | 0.26 | 0.09 |
#
# The paper has Llama 3.1 and a Ryzen 9 7950X, we have Llama 3 and one thread of an AMD EPYC (November 2026, in
# `assets/bench/ablation.json`). Our first two steps walk the trie.

# %% [markdown]
# ## 3 · The tables of xgrammar
#
# `serialize_json` gives all that a compiled grammar holds: its rules and, for each node, the accepted or rejected
# tokens and the uncertain ones. We compile the same text of JSON for the same vocabulary.

# %%
compiled, rules, tables = None, [], []
if xgrammar:
    spelled = [b"" if token in llama.special - llama.eos else piece for token, piece in enumerate(llama.pieces)]
    info = xgrammar.TokenizerInfo(spelled, stop_token_ids=sorted(llama.eos))
    compiler = xgrammar.GrammarCompiler(info, max_threads=1)
    compiled = compiler.compile_grammar(gv.json().grammar.text)
    ids = [token for token, _ in json.loads(info.serialize_json())["sorted_decoded_vocab"]]
    kept = json.loads(compiled.serialize_json())
    rules, tables = kept["grammar"]["rules"], kept["adaptive_token_mask_cache"]


# %%
def compare():
    ours = {frozenset(part.dependent.tolist()) for part in plain.build()}
    nodes = [(rules[node[0]][0], entry["uncertain_indices"]) for node, entry in tables]
    sets = [(rule, frozenset(ids[index] for index in uncertain)) for rule, uncertain in nodes if uncertain]
    print(f"{len(sets)} nodes have uncertain tokens; {sum(tokens in ours for _, tokens in sets)} sets are also ours")
    for rule, tokens in sorted(sets, key=lambda pair: -len(pair[1]))[:8]:
        print(f"    {rule:12}{len(tokens):8,}", "the same set at a node of ours" * (tokens in ours))
    print(f"{sum(rule[2] >= 0 for rule in rules)} of {len(rules)} rules have a lookahead")


# %% [question]
# NBVAL_IGNORE_OUTPUT
gv.predict(
    "xgrammar 0.2.8 has 24 nodes with uncertain tokens. How many of these sets are, token for token, a set of ours "
    "without expansion and inlining? The table of words helps.",
    choices=["none: the programs were written apart", "most of them, not all", "all 24: both follow the paper"],
    answer="most of them, not all",
    reveal=[
        compare,
        """18 (with xgrammar 0.2.8; without xgrammar nothing is counted here). So for most rules it does not use
        expansion. It derives a lookahead only for a rule that is called from exactly one place, not at the end: 10 of
        its 23 rules.""",
    ],
)

# %% [markdown]
# **What breaks.** One node has 121,060 uncertain tokens. The name of its rule, `string_1_1`, tells why: xgrammar made a
# rule of the part that is repeated. Such a rule ends after *one* character, so every longer token leaves it. Our split
# has the same set if we write the grammar that way.

# %%
character = r'[^"\\\x00-\x1F] | "\\" escape'
machine = gv.grammar(gv.json().grammar.text.replace(f"({character})*", "char*") + f"char ::= {character}")
made = [gv.build_split(machine, llama, inline=inline, expand=False).build() for inline in (False, True)]
print(*(max(parts, key=lambda part: len(part.dependent) * (part.accepted.count > 1000)) for parts in made), sep="\n")

# %% [markdown]
# Rule inlining removes them. xgrammar's own text of JSON has no such rule, and this decides its time. These masks were
# measured along whole JSON texts with Llama 3 (November 2026, in `assets/bench/grammars.json`). Half of all masks take
# at most the *median*, and 99 of 100 at most the *p99*.
#
# | engine, and the text of the grammar | median | p99 |
# | --- | ---: | ---: |
# | xgrammar 0.2.8, its own text | 0.009 ms | 0.028 ms |
# | xgrammar 0.2.8, our text | 0.215 ms | 46 ms |
# | our split, our text (most masks from its memory) | 0.0004 ms | 0.216 ms |

# %% [markdown]
# The paper says "under 40 µs", which is 0.040 ms, on a Ryzen 9 7950X. With its own text of JSON, xgrammar stays below
# that on one thread of our AMD EPYC, too. The paper is also cited for masks "100 times as fast". It compares with
# Outlines 1.0, llama.cpp and lm-format-enforcer, which we did not repeat.
#
# Can our text do without such a rule?

# %% [markdown]
# ## Exercise 1 · A string without a repeat ★★
#
# Write the strings of JSON without `*`, `+` and counts: a rule that calls itself takes the place of the repeat. For
# this exercise an escape is a backslash and one of the characters `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t`. (The escape
# with `u` is left out.)
#
# hint: `root` reads the first quote and calls `rest`. What can follow the first quote?
#
# hint: `rest` has three options: the last quote; a character, then `rest`; an escape, then `rest`.

# %%
# solution:
text_rules = r"""
root ::= "\"" rest
rest ::= "\"" | [^"\\\x00-\x1F] rest | "\\" ["\\/bfnrt] rest
"""
# open:
# text_rules = r"""
# root ::= "\"" ([^"\\\x00-\x1F] | "\\" ["\\/bfnrt])* "\""
# """
# end

gv.checks.no_repeat(text_rules)

# %% [markdown]
# How long does xgrammar take for one mask inside a string: with our text, with the rule that calls itself (and all
# escapes), and with its own text?


# %%
def microseconds(compiled):
    matcher, words = xgrammar.GrammarMatcher(compiled), xgrammar.allocate_token_bitmask(1, len(llama))
    matcher.accept_string('{"piano')
    times = []
    for _ in range(10):
        began = time.perf_counter()
        matcher.fill_next_token_bitmask(words)
        times.append(1e6 * (time.perf_counter() - began))
    return min(times)


# %%
def show_times():
    if not xgrammar:
        return
    text = gv.json().grammar.text
    rest = character.replace(" |", " rest |")
    calling = text.replace(f'({character})* "\\""', "rest") + f'rest ::= "\\"" | {rest} rest'
    texts = {"a repeat": compiler.compile_grammar(text), "a rule that calls itself": compiler.compile_grammar(calling)}
    texts["its own text"] = compiler.compile_builtin_json_grammar()
    print(*(f"{name}: {microseconds(made):,.0f} µs" for name, made in texts.items()), sep="\n")


# %% [question]
# NBVAL_IGNORE_OUTPUT
gv.predict(
    "In our text the repeat is now a rule that calls itself. How many times faster is xgrammar's mask inside a string? "
    "(The best of ten masks counts.)",
    choices=["about as fast: the texts are the same", "about ten times", "more than five hundred times"],
    answer="more than five hundred times",
    reveal=[
        show_times,
        """We measured 85,000 µs with the repeat, 64 µs with the rule that calls itself, and 10 µs with xgrammar's own
        text (November 2026, xgrammar 0.2.8). The language is the same each time. So how a grammar is written can
        matter more than which engine runs it.""",
    ],
)

# %% [markdown]
# ## 4 · How a set is stored
#
# A node's accepted tokens can be kept as a list of ids, four bytes per id, as a list of the ids that are *not*
# accepted, or as a bitset.

# %% [markdown]
# ## Exercise 2 · The smallest form ★★
#
# Write `storage(count, size)`: of `size` tokens `count` are in the set. Return a pair: the form that needs the fewest
# bytes (`"accepted"`, `"rejected"` or `"bits"`), and its number of bytes.
#
# hint: Compute the bytes of all three forms, then take the smallest.
#
# hint: `4 * count`, `4 * (size - count)` and `(size + 7) // 8`: eight bits are a byte, and the last byte may be partly
# used.


# %%
def storage(count, size):
    # solution:
    kinds = {"accepted": 4 * count, "rejected": 4 * (size - count), "bits": (size + 7) // 8}
    kind = min(kinds, key=kinds.get)
    return kind, kinds[kind]
    # open:
    # ...  # the bytes of each form first
    # end


gv.checks.storage(storage)


# %%
def show_kinds():
    forms = [part.accepted.form for part in full.build()]
    print({form: forms.count(form) for form in ("accepted", "rejected", "bits")})


# %% [question]
gv.predict(
    "Our split keeps 57 nodes of JSON in the form with the fewest bytes. Which form is used most often?",
    choices=["accepted", "rejected", "bits"],
    answer="accepted",
    reveal=[
        show_kinds,
        lambda: print(*(f"{sum(count(part.accepted.count) for part in full.build()) / 1e6:.2f} MB {how}"
                        for how, count in {
                            "if all were bitsets,": lambda _: len(llama) // 8,
                            "in the smallest forms": lambda n: min(4 * n, 4 * (len(llama) - n), len(llama) // 8),
                        }.items())),
        lambda: gv.views.draw_split_nodes(full),
        """A list of ids is shorter than the bits for up to one token in 32. Most nodes of JSON accept fewer. Inside a
        string 96% of the tokens are accepted, but the other 4% are still too many for a list. xgrammar does not compare
        bytes: it uses a bitset where at least 1,000 tokens are accepted and 1,000 rejected. The paper reports
        0.46 MB instead of 160 MB for its tables of JSON; its text of the grammar has other nodes than our 57.""",
    ],
)  # fmt: skip

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * A number of context-dependent tokens belongs to a vocabulary and to a text of a grammar, with its whitespace.
# * Of the three ideas, context expansion saves most tokens on the real stack.
# * xgrammar's tables are the ones of lab 09: 18 of 24 sets are the same, token for token.
# * A rule that ends after one character makes nearly all tokens uncertain. Rule inlining repairs it, and so does a rule
#   that calls itself.

# %% [markdown]
# ## How the production engines do it
#
# * xgrammar: [the stored sets and the threshold of 1,000](https://github.com/mlc-ai/xgrammar/blob/main/cpp/compiled_grammar_impl.h),
#   and [the derived lookahead](https://github.com/mlc-ai/xgrammar/blob/main/cpp/grammar_functor.cc).
# * [XGrammar](https://arxiv.org/abs/2411.15100) has the three ideas and their times.
# * [XGrammar-2](https://arxiv.org/abs/2601.04426) shares tables between grammars and compresses repetitions.
