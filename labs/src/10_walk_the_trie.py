# question: How can an engine be quick without a table for each grammar?

# %% [markdown]
# # Lab 10 · Walk the trie
#
# **Question.** XGrammar fills a table per grammar before the first token. llguidance starts at once and computes each
# mask when it is needed. How can that be quick?
#
# **Goal.** You write its loop and count what it saves. You know which tables llguidance does keep, and you can compute
# when a table per grammar pays.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 09](09_token_splitting.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **subtree** | a node of the trie and all nodes below it |
# | **depth first** | an order of the nodes: each node, then everything below it, then the next branch |
# | **slice** | the tokens that one small regex can read; found once per vocabulary |
# | **lexer** | a finite machine that cuts the bytes into lexemes (lab 08), in front of the parser |
# | **lazy table** | a table whose entries are computed when they are first needed, then kept |
# | **break-even** | the number of masks after which two engines have cost the same time |

# %% [markdown]
# **Lost?** The walk of a trie is section 2 of [lab 05](05_machine_times_vocabulary.ipynb). Items, charts and lexemes
# are section 3 of [lab 08](08_grammars_at_work.ipynb).

# %%
# slide: Now no table per grammar: the trie is walked at every step.
import time
from collections import Counter, namedtuple

import guidedviz as gv
import guidedviz.machines.earley.items as earley
from guidedviz.machines.machine import read

gv.views.draw_loop("walk")

# %% [markdown]
# ## 1 · The walk as one loop
#
# In lab 05 you walked a trie by recursion: where the machine refuses a byte, all tokens below are illegal. A recursion
# over nodes that point to other nodes is slow: each call costs time, and the nodes are scattered in memory. llguidance
# stores the trie as one flat list instead, **depth first**: a node, then everything below it, then the next branch. So
# a subtree is one piece of the list, and a loop can jump over it.
#
# Here are ten tokens. The machine reads a decimal and has read `3.`, so only digits may come.

# %%
# slide: The trie as a list: a refused node is one jump over all that stands below it.
decimal = gv.regex(r"\d+(\.\d+)?")  # state 2: after the point
toy = [b"1", b"12", b"125", b"12.", b"1.5", b".", b".5", b"a", b"and", b"ant"]
gv.views.draw_flat_trie(decimal, toy, state=2)

# %% [markdown]
# Read it from the left; the rows are the depths. The machine refuses the `.` at place 0. The subtree of this node has
# size 2, the node itself and `.5`, so the loop continues at place 0 + 2. There it accepts the `1` and goes on to place
# 3, one row deeper. It asks the machine at 7 of the 12 places.
#
# As a program, the trie is four lists with one entry per node: its `byte`, its `depth`, the `size` of its subtree, and
# in `ends` the tokens that end at this node. You need not read how `flatten` makes them.

# %%
Flat = namedtuple("Flat", "byte depth size ends")


def flatten(pieces):
    ends = {piece[:end]: [] for piece in pieces for end in range(1, len(piece) + 1)}
    for token, piece in enumerate(pieces):
        ends[piece].append(token)
    nodes = sorted(ends)  # a node stands before all nodes that begin with it
    size = [1] * len(nodes)
    for node in reversed(range(len(nodes))):
        while (after := node + size[node]) < len(nodes) and nodes[after].startswith(nodes[node]):
            size[node] += size[after]
    return Flat([node[-1] for node in nodes], [*map(len, nodes)], size, [ends[node] for node in nodes])


# %%
# slide: Each place of the list knows how large its subtree is.
flatten(toy).size

# %% [markdown]
# To read a node, the machine starts in the state after the bytes above it. The loop keeps these states in a list:
# `states[0]` is the state at the start, `states[d]` the state after the first `d` bytes of the current branch. When
# place 7 (`125`, depth 3) is read, the list has three states: before `1`, after `1` and after `12`. Entries of an
# earlier branch are deleted first, so the last entry is the state from which the next place is read.
#
# What costs time is asking the machine. So we count how often it is asked.


# %%
class Counted:
    def __init__(self, machine):
        self.machine, self.asked, self.refused = machine, 0, 0

    def step(self, state, byte):
        after = self.machine.step(state, byte)
        self.asked += 1
        self.refused += after is None
        return after


# %%
def count(walk, machine, state, tokens):
    legal = walk(counted := Counted(machine), state, tokens)
    if legal is None:
        print(walk.__name__, "is not written yet")
    else:
        print(f"{len(legal):,} legal, asked {counted.asked:,} times, refused {counted.refused:,} times")


# %% [markdown]
# ## Exercise 1 · The jump ★★
#
# Write `jump(machine, state, tree)`, a loop over places `i`. It returns the set of legal tokens. `tree` has the four
# lists. If the machine refuses `tree.byte[i]`, jump over the subtree: continue at `i + tree.size[i]`, and do not look
# at the nodes in between. Otherwise add all tokens of the list `tree.ends[i]`, and continue at `i + 1`. Keep the list
# `states`, which begins as `[state]`. State 0 is a state; `None` means refused.
#
# hint: A node of depth `d` is read from `states[d - 1]`. Later entries belong to an earlier branch.
#
# hint: The step is `machine.step(states[-1], tree.byte[i])`. A list is added to a set by `legal.update(...)`.


# %%
# slide: Exercise 1: write the loop with the jump.
def jump(machine, state, tree):
    # solution:
    legal, states, i = set(), [state], 0
    while i < len(tree.byte):
        del states[tree.depth[i] :]
        after = machine.step(states[-1], tree.byte[i])
        if after is None:
            i += tree.size[i]
        else:
            states.append(after)
            legal.update(tree.ends[i])
            i += 1
    return legal
    # open:
    # legal, states, i = set(), [state], 0
    # while i < len(tree.byte):
    #     del states[tree.depth[i] :]  # the last one is the state before place i
    #     after = ...  # one step of the machine
    #     if after is None:
    #         i += 1  # not yet right: jump over the subtree
    #     else:
    #         ...  # keep the state, and take the tokens that end here
    #         i += 1
    # ...  # return the legal ids
    # end


# %%
gv.checks.jump(jump)

# %% [markdown]
# This is the loop of llguidance's library `toktrie`. Now all pieces of Llama 3:

# %%
# slide: All pieces of Llama 3 are 274,520 nodes.
llama = gv.Vocabulary.llama3()
texts = [llama.pieces[token] for token in llama.text_ids]
large = flatten(texts)  # takes some seconds
print(f"{len(texts):,} pieces, {sum(map(len, texts)):,} bytes, {len(large.byte):,} nodes")

# %% [question]
# slide: The jump asks the machine 1,356 times instead of 274,520 times.
gv.predict(
    "Llama 3 has a token for each number of one to three digits: 1,110 tokens are legal after `3.`. How often does the "
    "jump ask the machine?",
    choices=[
        "1,110 times: once per legal token",
        "1,110 times and a few hundred more",
        "128,000 times: once per token",
        "274,520 times: once per node",
    ],
    answer="1,110 times and a few hundred more",
    reveal=[
        lambda: count(jump, decimal, 2, large),
        """1,356 times: once per node that it accepts, and once per node that it refuses. The 246 refused nodes are the
        first bytes that are no digits. The 273,164 nodes below them are never asked about.""",
    ],
)

# %% [markdown]
# ## 2 · Whole slices at once
#
# Jumping helps where little is legal. Inside a JSON string nearly everything is legal, so there is little to jump over.
# And a model spends much of its time inside strings.
#
# A string that a schema does not restrict may hold the same in every schema: anything but quotes, backslashes and
# control characters, which need an escape. A small regex reads just that. (It is llguidance's, below `plain`; JSON
# also allows `\x7f`.) The tokens that the regex can read are a **slice**. It is found once, when the vocabulary is
# loaded.

# %%
# slide: Inside a string nearly everything is legal, and the jump saves little there.
inside = read(gv.json(), b'{"a')
count(jump, gv.json(), inside, large)
plain = gv.regex(r'[^"\\\x00-\x1f\x7f]*')
taken = {token for token, piece in enumerate(texts) if read(plain, piece) is not None}
others = [text for token, text in enumerate(texts) if token not in taken]
rest = flatten(others)
print(f"{len(taken):,} tokens in the slice; the trie of the others has {len(rest.byte):,} nodes")

# %% [markdown]
# If, from its state, the machine can read everything that the regex can read, the whole slice is legal at once. Only
# the trie of the other tokens is walked.

# %% [question]
# slide: Take the slice whole, and 4,221 questions are left of 267,888.
gv.predict(
    'After `{"a` the slice can be taken whole. How often is the machine asked about the other tokens?',
    choices=[
        "about 400 times: few of them are legal",
        "about 4,000 times: also about refused nodes, and about nodes where no token ends",
        "10,853 times: once per node of their trie",
    ],
    answer="about 4,000 times: also about refused nodes, and about nodes where no token ends",
    reveal=[
        lambda: count(jump, gv.json(), inside, rest),
        """4,221 times instead of 267,888. 1,710 nodes are refused. At 2,144 accepted nodes no token ends, for example
        at the `();` of `();⏎`. 367 are legal tokens; with the 122,892 of the slice they make 123,259, so the mask is
        the same. Our engine `trie` goes one step further. After any text of the slice, such as `();` or `]);`, this
        machine is in the same state again. So `();⏎` and `]);⏎` need only one question, about their `⏎`: 330 questions
        in all. Here are its masks along a record, one bar per mask, named by the token that comes next. A pale bar is
        the walk without slices. The axis goes in powers of ten:""",
        lambda: gv.views.draw_walks(
            *(gv.tokens.lazy_walks(gv.json(), llama, '{"name": "Ada", "age": 36}', slices=on) for on in (True, False))
        ),
    ],
)

# %% [markdown]
# ## Exercise 2 · May it be taken whole? ★
#
# Write `whole(machine, state, part)`: can `machine`, from `state`, read every text that `part` can read from
# `part.initial`? For `a*b` and the part `a*` the result is `True`; for `a{0,3}` and `a*` it is `False`, because of
# `aaaa`. Let both read the same bytes side by side, and look at each pair of states once. The loop is given.
#
# hint: If `part` refuses the byte, nothing is to be done. If only `machine` refuses it, the answer is `False`.
#
# hint: If both read it, append `(after, inner)`, unless this pair is in the list.


# %%
# slide: Exercise 2: write the test whether a slice may be taken whole.
def whole(machine, state, part):
    # solution:
    pairs = [(state, part.initial)]
    for here, there in pairs:  # it grows
        for byte in range(256):
            after, inner = machine.step(here, byte), part.step(there, byte)
            if inner is not None:
                if after is None:
                    return False
                if (after, inner) not in pairs:
                    pairs.append((after, inner))
    return True
    # open:
    # pairs = [(state, part.initial)]
    # for here, there in pairs:  # the list may grow while the loop runs
    #     for byte in range(256):
    #         after, inner = machine.step(here, byte), part.step(there, byte)
    #         ...  # what if `part` reads this byte: does `machine` read it, too?
    # ...  # no byte was refused
    # end


gv.checks.whole(whole)

# %%
short = gv.json_schema({"type": "string", "maxLength": 8})
print("in any string:", whole(gv.json(), inside, plain))
print("in a string of at most 8 characters:", whole(short, read(short, b'"'), plain))

# %% [markdown]
# In the second string the answer is `False`, because a text of the slice can be longer than 8 characters. So the same
# slice is right in one string and wrong in another. An engine checks it once per state and keeps the answer, since the
# check asks, too: in the first string 2,048 times.

# %% [markdown]
# ## 3 · A chart instead of stacks · home
#
# The walk asks a machine many times per mask. Which machine, if the constraint is a grammar? Take intervals as
# an example: `(x)` is open, `(x]` is half open, and they may be nested. At a `(` it is not known which of the two it
# is. llama.cpp keeps a list of stacks, one per possibility. A stack is here the closings still to come, and each `(`
# doubles the list:

# %%
stacks, sizes = [""], []
for _ in range(10):  # the text goes on with one more "("
    stacks = [closing + stack for stack in stacks for closing in ")]"]
    sizes.append(len(stacks))
sizes

# %% [markdown]
# Lab 08's parser keeps a chart instead. `chart_of` is `parse` of lab 08, but it returns the chart. You need not read it
# again.

# %%
rules = {"root": [("open",), ("half",), ("x",)], "open": [("(", "root", ")")], "half": [("(", "root", "]")]}


def chart_of(text, complete=earley.complete):
    column, chart = [earley.Item("start", ("root",), 0, 0)], []
    for place, character in enumerate([*text, ""]):
        chart.append(column)
        for item in column:  # it grows
            new = complete(chart, item) if item.wanted is None else earley.predict(rules, [item], place)
            column += [one for one in new or [] if one not in column]
        column = earley.scan(column, character)
    return chart


# %% [question]
# slide: The chart stores what began where, so its columns do not grow with the depth.
gv.predict(
    "How many items has the column of the chart after ten `(`? Count those that were scanned, then those that are "
    "predicted.",
    number=7,
    reveal=[
        lambda: print(*chart_of("(" * 10)[10], sep="\n"),
        lambda: gv.draw_bars(
            [f"after {n} (" for n in range(1, 11)],
            {"stacks": sizes, "items of the column": [len(column) for column in chart_of("(" * 10)[1:]]},
            title="what is kept",
        ),
        """Seven at every depth: two were scanned, and they predict the three alternatives of `root`, one of `open` and
        one of `half`. The chart does not store whole stacks. For each place it stores each item once, however many ways
        lead to it.""",
    ],
)

# %% [markdown]
# ## Exercise 3 · Complete ★ · home
#
# Write `complete(chart, done)`: the list of items that the finished item `done` adds. `chart` is the list of all
# columns, each a list of items. In the column where `done` began (`done.origin`), some items want its rule. If `digit →
# 1 •` began in column 0, and `sum → • digit` stands there, the result is `[sum → digit •]`.
#
# hint: Go through one column and keep the items whose `wanted` fits. Which column is it?
#
# hint: The column is `chart[done.origin]`, the name that they want is `done.rule`, and each new item is `item.moved`.


# %%
# slide: Exercise 3: write the last move of Earley's parser, complete.
def complete(chart, done):
    # solution:
    return [item.moved for item in chart[done.origin] if item.wanted == done.rule]
    # open:
    # ...
    # end


gv.checks.complete(complete)

# %%
for function in (complete, earley.complete):
    print("items per column:", [len(column) for column in chart_of("((x])", function)])

# %% [markdown]
# With your function the chart has as many items as with the library's. (While the exercise is open, it has fewer.)

# %% [markdown]
# ## 4 · A lexer and its lazy table
#
# For a grammar the walk asks a parser, such as Earley's of lab 08. A parser takes more work per byte than a look-up in
# the table of a finite machine. But inside a string no rule calls another one, so there a finite machine is enough.
# How many nodes of the walk lie inside a string?

# %%
# slide: A lexer answers nearly all questions of the walk, each with one look-up in a table.
nodes = Counter(state for _, state in gv.tokens.walk_steps(llama.trie, gv.json(), inside))
# stack: the rules that are open
in_string = sum(count for state, count in nodes.items() if "string" in gv.json().stack(state))
print(f"{nodes.total():,} nodes are accepted, {in_string:,} of them inside a string")

# %% [markdown]
# So llguidance puts a **lexer** in front, a finite machine that reads inside a lexeme, such as a string. Of these
# nodes only the other 273, behind the closing quote, are left for the parser. (Without a limit of length, a
# slice takes most others.) The number of questions stays the same; what changes is who answers.
#
# The lexer is a DFA, and its table is the one table per grammar that llguidance has. It is a **lazy table**: at the
# start it is empty, and each entry is computed when a walk first needs it. That is why llguidance starts at once.

# %% [markdown]
# Lab 04 refused the regex `[ab]*a[ab]{20}`, because its whole DFA has more than two million states. Here it is as a
# lazy table. A state holds the places of each `a`, counted from the end of the text: after `abba` it is {1, 4}. The
# regex asks only whether place 21 is an `a`, so places beyond 21 are dropped. `compute` computes an entry, and `step`
# keeps it.


# %%
class LazyTable:
    def __init__(self, compute):
        self.compute, self.table = compute, {}

    def step(self, state, letter):
        if (state, letter) not in self.table:
            self.table[state, letter] = self.compute(state, letter)
        return self.table[state, letter]


def compute(places, letter):
    """The places of each `a` after one more letter: all move by one, and a new `a` has place 1."""
    moved = {place + 1 for place in places if place < 21}
    return frozenset(moved | {1} if letter == "a" else moved)


# %%
lexer = LazyTable(compute)


def read_lazily(text):
    state = frozenset()
    for letter in text:
        state = lexer.step(state, letter)
    print(f"{len(text):,} letters are read; entries so far: {len(lexer.table):,}")


# %% [question]
# slide: A lazy table computes the entries that a text needs, and no more.
gv.predict(
    "The lazy table reads `ab` 500 times, which is 1,000 letters. Its whole DFA has more than two million states, with "
    "two entries each. How many entries are computed?",
    choices=["about 20", "1,000, one per letter", "about a million", "all: a DFA needs its whole table"],
    answer="about 20",
    reveal=[
        *(lambda text=text: read_lazily(text) for text in ("ab" * 500, "abb" * 500)),
        """After the first 21 letters the text goes round in two states, and all other steps are look-ups. Another text
        adds the entries that it needs, and no more. A table that is filled before decoding must hold all entries,
        whether or not a text ever needs them. llguidance computes its entries from *derivatives* of the regex: a
        state is the regex of what may still follow.""",
    ],
)

# %% [markdown]
# ## 5 · Build or walk?
#
# A table costs time at first, and then each mask is nearly free. A walk costs nearly nothing at first, and then time
# per mask. The **break-even** is the number of masks after which both have cost the same.

# %% [question]
# slide: For one answer the table takes less time in total, but the walk has its first token sooner.
gv.predict(
    "A table takes 40 ms before the first mask and 0.02 ms for each mask. A walk takes nothing before the first mask "
    "and 1.02 ms for each. An answer has 200 tokens, and the next request has another grammar. Which is better?",
    choices=[
        "the table: it takes less time in total, and its first token comes sooner",
        "the table takes less time in total, but the walk has its first token sooner",
        "the walk: a table that is used once does not pay",
    ],
    answer="the table takes less time in total, but the walk has its first token sooner",
    reveal=[
        lambda: print(f"200 masks: the table {40 + 200 * 0.02:.0f} ms, the walk {200 * 1.02:.0f} ms"),
        """Each mask saves 1 ms, so the break-even is at 40 masks, within one answer. But the user waits for the first
        token, and with the table this one comes 39 ms later.""",
    ],
)

# %% [markdown]
# We measure it for two of our engines, `split` (lab 09) and `trie`, on a small part of SQL. The times of XGrammar and
# llguidance were RECORDED on 2026-11-25 (versions 0.2.8 and 1.9.1, one thread, the same SQL as a regex). Both
# run here after `pip install -e ".[engines]"`.

# %%
sql = gv.grammar("""root ::= "SELECT " word (", " word)* " FROM " word (" WHERE " word " = '" [A-Za-z ]+ "'")? ";"
                    word ::= [a-z]+""")
query = [*gv.tokens.longest_tokens(llama, b"SELECT title, author FROM books WHERE author = 'Ada Byron';")]
print(len(query), "tokens")


# %%
def cost(make):
    began, spent = time.perf_counter(), 0.0
    guide = make()
    first, state = time.perf_counter() - began, guide.initial
    for token in query:
        began = time.perf_counter()
        guide.mask(state)
        spent += time.perf_counter() - began
        state = guide.advance(state, token)
    return 1000 * first, 1000 * spent / len(query)


# %%
def make_split():
    split = gv.build_split(sql, llama)
    split.build()  # the table of each node, as in lab 09
    return gv.tokens.split_guide(split)


# %%
# slide: Build if one grammar serves many requests; walk if each request brings its own.
# NBVAL_IGNORE_OUTPUT
makes = {"split": make_split, "trie": lambda: gv.guide(sql, llama, "trie")}
costs = {name: tuple(map(min, *(cost(make) for _ in range(3)))) for name, make in makes.items()}
costs |= {"xgrammar, recorded": (46, 0.026), "llguidance, recorded": (2.8, 0.26)}
gv.views.draw_break_even(costs, pairs=[("split", "trie"), ("xgrammar, recorded", "llguidance, recorded")])

# %% [markdown]
# Both axes go in powers of ten; a dot is a break-even. In each pair the first keeps tables and the second walks.
# Compare within a pair only: our two are written in NumPy, XGrammar in C++ and llguidance in Rust.
#
# XGrammar and llguidance break even at 185 masks. This query has 13 tokens, so if it is asked once, the walk takes less
# time in total. For an answer of 200 tokens the table takes less.

# %% [markdown]
# In the `[a-z]+` of this SQL no slice is legal as a whole, and a mask of llguidance takes 0.26 ms. Its authors cite
# 0.05 ms on average over JSON Schemas, whose strings take whole slices. The quicker the walk, the later a table pays.
# And with a table the first token waits until the whole table is ready: 46 ms here, 724 ms for the grammar of a
# programming language (`assets/bench/grammars.json`).
#
# So **build** if one grammar serves many requests: all but the first find its table ready. **Walk** if each request
# brings its own grammar.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "llguidance keeps no tables." | Slices per vocabulary, and a lazy table for its lexer. | 2, 4 |
# | "99.9 % of the tokens are illegal." | Inside a JSON string, 123,259 of 128,000 are legal. | 2 |
# | "Open alternatives make a parser exponential." | 1,024 possible stacks, 7 items in a column. | 3, home |

# %% [markdown]
# ## Recap
#
# * Depth first, a subtree is one piece of a list, and a refused node is one jump.
# * Where nearly all is legal, take a slice whole, after a check that this is right.
# * A lexer answers inside lexemes, so that the slower parser is asked less. (Homework: Earley's chart stores what began
#   where, not whole stacks.)
# * A table per grammar pays from its break-even on, but the first token waits for it.
#
# Next: [lab 11](11_jump_forward.ipynb), text without asking the model. Which engine is right when two masks differ is a
# page of its own: [who is right](deeper/who_is_right.ipynb).

# %% [markdown]
# ## How the production engines do it
#
# * **llguidance** describes the lexer, the loop and the slices in [Making Structured Outputs Go
#   Brrr](https://guidance-ai.github.io/llguidance/llg-go-brrr) and
#   [docs/optimizations.md](https://github.com/guidance-ai/llguidance/blob/main/docs/optimizations.md). The loop is in
#   [toktree.rs](https://github.com/guidance-ai/llguidance/blob/main/toktrie/src/toktree.rs).
# * **llama.cpp** keeps the list of stacks
#   ([llama-grammar.cpp](https://github.com/ggml-org/llama.cpp/blob/master/src/llama-grammar.cpp)).
# * **XGrammar** parses with Earley too, and keeps its table. XGrammar-2 compiles parts of it when they are needed
#   ([arXiv 2601.04426](https://arxiv.org/abs/2601.04426)).

# %% [markdown]
# ## Further reading
#
# * [Making Structured Outputs Go Brrr](https://guidance-ai.github.io/llguidance/llg-go-brrr): the lexer, the loop and
#   the slices, with measurements.
# * [Regular-expression derivatives re-examined](https://www.khoury.northeastern.edu/home/turon/re-deriv.pdf): how a DFA
#   is computed state by state, as llguidance's lexer does it.
# * [JSONSchemaBench](https://arxiv.org/abs/2501.10868): six engines compared on 10,000 schemas.

# %% [markdown]
# ## A puzzle
#
# The nodes of a subtree could also be stored breadth first, level by level. Then the children of one node are
# neighbours. What is gained if many walks run at once, as in NumPy, and what is lost for the jump?
#
# hint: With all nodes of a level side by side, one array operation can ask the machine about all of them.
#
# hint: A subtree is then no longer one piece of the list. What would have to be left out instead of jumped over?
