# question: How does a machine that reads bytes become a mask over 128,256 tokens?

# %% [markdown]
# # Lab 05 · Machine × vocabulary
#
# **Question.** A machine reads bytes. A model writes tokens such as `42`, `.5` or `",`. How does a machine become a
# mask over 128,256 tokens?
#
# **Goal.** You can say which tokens are legal in a state. You walk a trie with a machine, and you know what an index of
# all states is, what it costs, and when it must not be used.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 04](04_regex_to_machine.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **guide** | a machine combined with a vocabulary; it has a mask for each state |
# | **trie** | a tree of all tokens; tokens with the same first bytes share a branch |
# | **subtree** | a node of a tree with all that is below it |
# | **index** | a table: for each state its legal tokens, and the state after each |
# | **fingerprint** | a short number computed from long data; other data give another number |
# | **seam** | a place where the borders of the tokens and of the format do not agree |

# %% [markdown]
# **Lost?** *DFA* is a word of lab 04, section 3. *Accepting* is in lab 03, section 2, and how a mask removes tokens is
# in lab 02, section 1.

# %%
# slide: The machine reads bytes, the model writes tokens: between them we put a trie and an index.
import time

import numpy as np

import guidedviz as gv

clerk, llama = gv.load_model("clerk"), gv.Vocabulary.llama3()
clerks = clerk.vocabulary
gv.views.draw_loop("index")

# %% [markdown]
# The trie and the index are new. They stand between the DFA of lab 04 and the mask. (`llama` is Llama 3's vocabulary
# alone, without a model.)
#
# ## 1 · Characters are not tokens
#
# Here is a decimal number, and a vocabulary of ten tokens: nine texts and EOS. `(\.\d+)?` is a point with digits after
# it, or nothing. So q1 and q3 are accepting: the text may end there, and it may go on.

# %%
# slide: This machine reads decimal numbers; in the two double rings the text may end.
decimal = gv.regex(r"\d+(\.\d+)?")
pieces = [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x", b"</s>"]
toy = gv.Vocabulary(pieces, eos={9})
number = gv.guide(decimal, toy)
gv.draw_machine(decimal, title="a decimal number")

# %% [markdown]
# Two parts work together:
#
# * A **machine** reads bytes and knows no tokens.
# * A **guide** combines a machine with a vocabulary. It has the masks: `guide.mask(state)`.
#
# Two rules define the mask of a state:
#
# 1. A token is legal if the machine can read **all of its bytes** from this state.
# 2. **EOS** adds no bytes to the text (`</s>` is only its name). It is legal exactly in the accepting states.

# %% [question]
# slide: Only the bytes count, not where one token ends and the next begins.
gv.predict(
    "The output so far is `3`, so the machine is in q1. How many of the ten tokens are legal now? Check `3.` and `7.5` "
    "with care.",
    number=lambda: number.mask(1).sum(),
    reveal=[
        lambda: print([toy.display(token) for token in np.flatnonzero(number.mask(1))]),
        """`7.5` is legal after `3` because `37.5` is a number. Only the bytes count, not where one token ends and the
        next begins. `3.` is legal too: `33.` is not a number yet, but it can become one. EOS is legal because q1 is an
        accepting state. The machine takes one step per byte, so one token can take several:""",
        lambda: gv.draw_machine(decimal, at=number.path(1, pieces.index(b"7.5")), title="after 3, the token 7.5"),
    ],
)

# %% [markdown]
# As a program, rule 1 is two loops (EOS is left to rule 2, and other special tokens are left out). They are slow: they
# read common beginnings again and again. Below are the legal ids in q2, after the point.

# %%
def legal_tokens(machine, state, pieces):
    legal = set()
    for token, piece in enumerate(pieces):
        here = state
        for byte in piece:
            here = machine.step(here, byte) if here is not None else None
        if here is not None:
            legal.add(token)
    return legal


legal_tokens(decimal, 2, pieces)

# %% [markdown]
# ## 2 · Walk the trie
#
# `3`, `3.` and `3x` begin with the same byte, and `legal_tokens` reads it three times. A **trie** stores each common
# beginning once. The machine walks down the trie. Where it refuses a byte, all tokens below are illegal, and the whole
# subtree is cut. Here the walk starts in q2, after the point:

# %%
# slide: After the point the walk starts in this state.
gv.draw_machine(decimal, at=2, title="where the walk starts")

# %% [markdown]
# Each arrow of the trie is one byte. A node shows the bytes so far, and a double ring says that a token ends there.
# Go to the first frame of the film and step. A tag at a node, such as q3, is the state in which the machine is there.
# The last frame says which tokens are legal.

# %%
# slide: Where the machine refuses a byte, the whole branch of the trie is left out.
gv.film(gv.views.trie_frames(decimal, toy, state=2), show=1)

# %% [markdown]
# The walk goes *depth first*: where a byte can be read it goes on to the children, before it tries the next branch.

# %% [markdown]
# ## Exercise 1 · The recursive walk ★★
#
# Write `walk(node, machine, state)`. It returns a dictionary: its keys are the ids of the legal tokens at `node` and
# below, its values the states after them. `node.tokens` lists the ids that end here. `node.children` is a dictionary
# from bytes to nodes. `machine.step(state, byte)` gives the next state, or `None`. The check counts its calls. In the
# film the result is `{0: 3, 1: 3}`: `3` and `42` lead to q3.
#
# hint: The tokens of this node are legal. Then try each child. A function may call itself.
#
# hint: Begin with `found = dict.fromkeys(node.tokens, state)`. For each child that can be read, use
# `found.update(walk(child, machine, after))`.

# %%
# slide: Exercise 1: write the walk as a recursion.
def walk(node, machine, state):
    # solution:
    found = dict.fromkeys(node.tokens, state)
    for byte, child in node.children.items():
        after = machine.step(state, byte)
        if after is not None:
            found.update(walk(child, machine, after))
    return found
    # open:
    # ...  # the tokens that end here, then the children that the machine can read
    # end


gv.checks.walk(walk)

# %% [markdown]
# Now a real vocabulary. Llama 3 has a token for each text of one, two or three digits, and no longer token that begins
# with a digit. Its trie has 274,520 nodes below the start.

# %% [question]
# slide: In a trie of 274,520 nodes the walk reads 1,110.
gv.predict(
    "The walk starts in q2, after the point. How many of Llama 3's 274,520 nodes can be read?",
    number=lambda: len([*gv.tokens.walk_steps(llama.trie, decimal, 2)]),
    reveal=[
        lambda: [
            print(f"{name:8}{len(v.trie) - 1:8,} nodes, {len([*gv.tokens.walk_steps(v.trie, decimal, 2)]):6,} are read")
            for name, v in {"toy": toy, "clerk": clerks, "Llama 3": llama}.items()
        ],
        """10 + 100 + 1,000: after the point only digits are legal, and each text of up to three digits is a node. Any
        other token is cut at its first byte that is no digit. The walk reads 0.4% of the trie, so this mask over
        128,256 tokens is quick to make. Section 5 has a mask that is not.""",
    ],
)

# %% [markdown]
# Below is this mask as a map. Each token is one cell. The cells lie in the order of their bytes along a winding curve,
# so tokens that begin alike are neighbours. All legal tokens are in one small patch, *0–9*.

# %%
# slide: After the point the legal tokens are one small patch of the map: 1,110 of 128,256.
gv.draw_map(gv.guide(decimal, llama), 2, title="after the point: one cell per token")

# %% [markdown]
# ## 3 · The index
#
# Do this walk once per state, before the first token is written, and keep the results: this is the **index**. Then a
# mask is one look-up, and so is the next state. Outlines introduced this idea. Here is the index of the ten tokens:

# %%
# slide: An index keeps the walk of every state: a row per state, a column per token.
gv.views.draw_token_table(number)

# %% [question]
# slide: A column is decided by all bytes of a token.
gv.predict(
    "In this table the columns of `3` and `42` are equal. For which regex do they get different columns in its table? "
    "(`{2,}` means twice or more.)",
    choices=[r"`\d*`", r"`\d+,\d+`", r"`\d{2,}`", "for none: both are digits"],
    answer=r"`\d{2,}`",
    reveal=[
        lambda: gv.views.draw_token_table(gv.guide(gv.regex(r"\d{2,}"), toy)),
        """This machine counts up to two digits, so it goes to q1 with `3`, and to q2 with `42`. That both
        tokens are digits is not enough: their number counts, too.""",
    ],
)

# %% [markdown]
# `gv.build_index` walks for all states together, in NumPy. This is the index of a date over all 128,256 tokens of
# Llama 3. Tokens that behave alike share a column: `00 +99` means `00` and 99 more, all texts of two digits.
# The first column holds the tokens that are never legal. Llama 3 has three end tokens. After the year, in q4, one token
# is legal: the dash.

# %%
# slide: At each step of a decode the mask is one row of the index.
date = gv.regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
gv.views.draw_token_table(gv.guide(date, llama))

# %% [markdown]
# What does an index cost? We take Llama 3's vocabulary, the date (11 states) and an email address (66 states). The trie
# is built once per vocabulary and serves every regex.

# %%
email = gv.regex(r"[a-z0-9._]{1,32}@[a-z0-9]{1,24}\.(com|org|net)")
fresh = gv.Vocabulary(llama.pieces, eos=llama.eos)  # the same tokens, without a trie yet


def milliseconds(work):
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


# %%
# slide: The trie is the largest cost, and it is paid once per vocabulary; then an index is quick.
# NBVAL_IGNORE_OUTPUT
costs = {
    "two loops, 1 state": milliseconds(lambda: legal_tokens(date, 0, fresh.pieces)),
    "trie, fingerprint, once": milliseconds(lambda: (fresh.trie.root.tokens, fresh.fingerprint)),
    "index: date, 11 states": milliseconds(lambda: gv.build_index(date, fresh)),
    "index: email, 66 states": milliseconds(lambda: gv.build_index(email, fresh)),
    "email again: it is kept": milliseconds(lambda: gv.build_index(email, fresh)),
}
columns, rows = gv.build_index(email, fresh).after.shape
print(f"the index of the email address: {columns} columns, {rows} rows")
gv.draw_bars([*costs], {"ms": [*costs.values()]}, title="milliseconds, measured here")

# %% [markdown]
# The trie is the largest cost, and it is paid once. After that, each of the two indexes takes less time than the two
# loops for one state. An index also takes memory. With a column per token, the email address has 66 × 128,256 cells,
# over eight million. Ours keeps 76 columns: one per group of tokens that behave alike.

# %% [markdown]
# ## Exercise 2 · The index from walks ★ · home
#
# Write `build_index(root, machine, walk)`. It returns a dictionary. Its keys are states; each value is the row of the
# state, which `walk(root, machine, state)` gives. Begin with `machine.initial`. Add a row for each state that some row
# leads to, and for no other. Walk once per state. EOS is not in the trie. The regex `a` and one token `a` give
# `{0: {0: 1}, 1: {}}`.
#
# hint: Keep a list of states that wait for their row.
#
# hint: Use `waiting = [machine.initial]` and `for state in waiting:`. If the state has no row yet, store its row and
# extend `waiting` by `row.values()`.

# %%
# slide: Exercise 2: build the index from the walks.
def build_index(root, machine, walk):
    # solution:
    index, waiting = {}, [machine.initial]
    for state in waiting:
        if state not in index:
            index[state] = walk(root, machine, state)
            waiting.extend(index[state].values())
    return index
    # open:
    # ...  # a row for each state that can be reached
    # end


gv.checks.index(build_index)

# %% [markdown]
# ## 4 · What breaks: a stale index
#
# An index holds token *ids*, and an id has a meaning in one vocabulary only. Suppose a tokenizer is updated: EOS moves
# from the end to the front, so every other id grows by one. The index of yesterday is still in use. This is what some
# ids meant yesterday, and what they mean today:

# %%
yesterday = gv.Vocabulary([*clerks.pieces[1:], clerks.pieces[0]], eos={len(clerks) - 1})
ids = range(clerks.ids(b",")[0], clerks.ids(b"9")[0] + 1)
for name, pieces_of in {"id": None, "yesterday": yesterday, "today": clerks}.items():
    print(f"{name:9}", *(f"{pieces_of.display(one) if pieces_of else one:>3}" for one in ids))

# %%
def write(index, tokens, state=0):
    """The decode loop: the model's logits, the mask from an index, one token drawn."""
    # The index was built for the ids of its own vocabulary. The texts are those of clerk, today.
    start = len(tokens)
    while not index.machine.is_accepting(state):
        logits = gv.sampling.apply_mask(clerk.logits(tokens), index.mask(state))
        tokens = [*tokens, gv.sampling.sample(gv.sampling.softmax(logits), seed=0, position=len(tokens) - start)]
        state = index.next_state(state, tokens[-1])
    return b"".join(clerks.pieces[token] for token in tokens[start:]).decode()

met = "We met on June 19, 1987.\nDate as YYYY-MM-DD:\n"

# %% [question]
# slide: An index holds ids, and with another tokenizer the same ids mean other texts.
gv.predict(
    "With the right index `clerk` writes `1987-06-19`. And with the stale one?",
    choices=["nothing: there is an error", "`0876,/5,08`", "`1887,18,57`", "`1987-06-19`"],
    answer="`1887,18,57`",
    reveal=[
        lambda: print("right index", write(gv.build_index(date, clerks), clerk.encode(met))),
        lambda: print("stale index", write(gv.build_index(date, yesterday), clerk.encode(met))),
        """Nearly a date, and no error. Yesterday's ten digits are the tokens from `/` to `8` today, and the dash became
        a comma. The model still chooses among the legal tokens: `1` is one of them, `9` is none, so it writes 1887. For
        the stale index every step was legal.""",
    ],
)

# %% [markdown]
# So our index carries a **fingerprint** of its vocabulary and of its machine, and a guide refuses any other:

# %%
try:
    gv.guide(date, clerks, index=gv.build_index(date, yesterday))
except gv.GuidedVizError as error:
    print(error)

# %% [markdown]
# ## 5 · Seams
#
# Tokens know nothing of the format. At a **seam** one token holds, for example, the end of a name and the comma after
# it. The machine below reads a record, and `inside` is its state after `{"name": "Zoe`. (`[^…]` is any character but
# those inside; here it leaves out the quote, the backslash and the control characters.)

# %%
record = gv.regex(r'\{"name": "[^"\\\x00-\x1f]*", "age": \d{1,3}\}')
took = milliseconds(lambda: gv.build_index(record, llama))
small, large = gv.guide(record, clerks), gv.guide(record, llama)
inside = small.initial
for token in clerk.encode('{"name": "Zoe'):
    inside = small.advance(inside, token)

# %% [question]
# NBVAL_IGNORE_OUTPUT
# slide: Inside a name 96 percent of all tokens are legal.
gv.predict(
    "How many percent of Llama 3's tokens are legal here, inside the name?",
    choices=["under 1, as after the point", "about 10: the letters", "about 50", "over 90"],
    answer="over 90",
    reveal=[
        lambda: gv.draw_map(large, inside, title="inside the name: one cell per token"),
        """96 percent: a name may hold nearly any text. Most of the illegal tokens hold a line end or a tab. The others
        hold a backslash or a quote in the wrong place, begin in the middle of a character, or are special, such as
        EOS. Here a walk cuts almost nothing, and a plain Python loop takes long for one state. `gv.build_index` works
        out all states together, in NumPy. After that a mask is one look-up:""",
        lambda: print(f"legal {large.mask(inside).mean():.1%} · nodes read",
                      f"{len([*gv.tokens.walk_steps(llama.trie, record, inside)]):,} of {len(llama.trie) - 1:,}"),
        lambda: print(f"one walk {milliseconds(lambda: [*gv.tokens.walk_steps(llama.trie, record, inside)]):.0f} ms",
                      f"· the index of all {len(record)} states {took:.0f} ms",
                      f"· a look-up {milliseconds(lambda: large.mask(inside)):.2f} ms, measured here"),
    ],
)

# %% [markdown]
# The first kind of seam is **one token across several parts** of the format.

# %% [question]
# slide: A token may end one part of the format and begin the next.
gv.predict(
    'Which of the tokens `",` and `"}` and `":` and `{"` are legal inside the name?',
    choices=['only `",`', '`",` and `"}`', '`",` and `{"`', "all four"],
    answer='`",` and `{"`',
    reveal=[
        lambda: print([clerks.display(t) for t in np.flatnonzero(small.mask(inside)) if b'"' in clerks.pieces[t]]),
        """`",` ends the name and writes the comma after it. `"}` is illegal: its quote may end the name, but then the
        brace is refused, because the age is missing. `":` is illegal, too: after the quote a comma must come. `{"` puts
        a brace into the name and ends it: strange, but a correct string. Each token is judged by all its bytes.""",
    ],
)

# %% [markdown]
# ## 6 · One character across several tokens
#
# At the second kind of seam a token ends inside a character. In UTF-8 only ASCII characters have one byte. `é`, `ê` and
# `ë` have two: the same first byte, and three different second ones. `clerk` has one token for each byte, and no token
# with both bytes of one of these letters.

# %% [question]
# slide: A machine that reads bytes has states in the middle of a character.
gv.predict(
    "A machine accepts `é`, `ê` or `ë`, and the first byte is written. How many of `clerk`'s 4,096 tokens are legal?",
    number=3,
    reveal=[
        lambda: gv.draw_machine(gv.regex("[é-ë]"), title="é, ê or ë"),
        """Three, one byte each. A machine that reads bytes has a state in the middle of the character. A machine that
        reads characters has no such state, only two bad choices. It can forbid all tokens that hold a part of a
        character: then `clerk` can never write `é`. Or it can allow them all: then the output may end in the middle
        of a character.""",
    ],
)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | often said | what we measured | where |
# | --- | --- | --- |
# | "99% of all tokens are illegal." | True after a decimal point; inside a string 4% are. | sections 2, 5 |
# | "A token is legal if the text may end after it." | `.` is legal, and a number cannot end there. | section 1 |
# | "An index belongs to a regex." | And to one vocabulary: a stale one writes `1887,18,57`. | section 4 |

# %% [markdown]
# ## Recap
#
# * A token is legal if the machine can read all of its bytes. EOS is legal in accepting states.
# * The walk of the trie cuts whole subtrees. One walk per state gives the index of one machine and one vocabulary.
# * The trie belongs to the vocabulary, the machine to the regex, and the index to both. A fingerprint says to which.
# * A machine over bytes handles both kinds of seams.
#
# Who writes the regex of a whole JSON object? A program does, in [lab 06](06_json_schema.ipynb).

# %% [markdown]
# ## How the production engines do it
#
# * **Outlines** builds this index ([Willard and Louf, 2023](https://arxiv.org/abs/2307.09702), Algorithm 4), today in
#   Rust, in [outlines-core](https://github.com/dottxt-ai/outlines-core). The key under which
#   it kept an index once left out the tokenizer: [issue 872](https://github.com/dottxt-ai/outlines/issues/872).
#   Version 0.2.14 breaks rule 1 in one case:
#   in an accepting state it allows only tokens that lead to an accepting state. So after `3` it refuses `.`.
# * **XGrammar** also checks most tokens before decoding, with a machine that has a stack
#   ([Dong et al., 2024](https://arxiv.org/abs/2411.15100)).
# * **llguidance** keeps no index and walks the trie at every step
#   ([`docs/optimizations.md`](https://github.com/guidance-ai/llguidance/blob/main/docs/optimizations.md)).

# %% [markdown]
# ## Further reading
#
# * [Willard and Louf, *Efficient Guided Generation for Large Language Models*](https://arxiv.org/abs/2307.09702): the
#   paper that introduced the index. In its decimal example `42` is legal in the start state, as here.
# * [Koo, Liu and He, *Automata-based constraints for language model decoding*](https://arxiv.org/abs/2407.08103): the
#   step from characters to tokens as an automaton of its own.
# * [Fredkin, *Trie Memory*](https://doi.org/10.1145/367390.367400) (1960): the paper that gave the trie its name.

# %% [markdown]
# ## A puzzle
#
# The index of the date has 11 rows, but fewer different masks. How many are there for `clerk`, and how many for Llama
# 3? Why more? Which states share a mask?
#
# hint: Count `{guide.mask(state).tobytes() for state in range(11)}`. A digit of `clerk` is a token of its own. How many
# digits may a token of Llama 3 have, and how many may come before the next dash?
