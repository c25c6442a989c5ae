# question: How can an engine be quick without a table for each grammar?

# %% [markdown]
# # Lab 09 · Walk the trie
#
# **Question.** XGrammar fills a table before the first token. llguidance keeps no table for a grammar, and is still
# quick enough to do all its work at every step. How?
#
# **Goal.** You write the loop that makes it so, count what it saves, and read the chart of the parser behind it. You
# know when to build a table and when to walk, and you can tell which of two engines is right.
#
# **Time.** {minutes} minutes, three exercises. [Lab 08](08_token_splitting.ipynb) comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **subtree** | a node of the trie with all that lies below it |
# | **depth first** | an order of the nodes: first a node, then all below it, then the next branch |
# | **slice** | all tokens that one small machine can read from its start |
# | **item** | in Earley's chart: an alternative of a rule with a dot in it, and the column where it began |
# | **lexer** | a flat machine that cuts a text into words: a string, a number, a brace |
# | **break-even** | how often a table must be used until it has paid for itself |

# %%
import re
import time
from collections import namedtuple

import guidedviz as gv

# %% [markdown]
# ## 1 · From a slow loop to a fast one
#
# Here is the decimal of lab 04 and a vocabulary of ten pieces. The output so far is `3.`, so the machine is in q2 and
# only digits may come. Step through the walk.

# %%
decimal = gv.regex(r"\d+(\.\d+)?")
toy = [b"1", b"12", b"125", b"12.", b"1.5", b".", b".5", b"a", b"and", b"ant"]
gv.film(gv.sketches.trie_frames(decimal, gv.Vocabulary(toy), state=2))

# %% [markdown]
# You know this walk from lab 04. Now we write it as a program, in four steps, all with the same result, and each with
# less to do than the one before. What costs time is asking the machine, so that is what we count.

# %%
class Counted:
    """A machine that counts how often it is asked."""

    def __init__(self, machine):
        self.machine, self.asked = machine, 0

    def step(self, state, byte):
        self.asked += 1
        return self.machine.step(state, byte)

# %% [markdown]
# **Step 1: every token, every byte.** This is your `legal_tokens` of lab 04.

# %%
def every_token(machine, state, pieces):
    legal = set()
    for token, piece in enumerate(pieces):
        here = state
        for byte in piece:
            here = machine.step(here, byte) if here is not None else None
        if here is not None:
            legal.add(token)
    return legal

# %% [markdown]
# **Step 2: read what is shared once.** Sort the pieces: then neighbours begin alike, and what is known of the one helps
# with the next. So keep the states of the last piece as a pile, one for each byte. From the byte on in which the next
# piece differs, take the old states away and read its own.

# %%
def alike(one, other):
    """How many bytes two pieces have in common at their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))

# %%
def share_beginnings(machine, state, pieces):
    legal, states, last = set(), [state], b""
    for token in sorted(range(len(pieces)), key=lambda token: pieces[token]):
        piece = pieces[token]
        del states[alike(piece, last) + 1 :]  # back to where the two part
        for byte in piece[len(states) - 1 :]:
            states.append(machine.step(states[-1], byte) if states[-1] is not None else None)
        if states[-1] is not None:
            legal.add(token)
        last = piece
    return legal

# %%
def count(walk, machine, state, pieces):
    counted = Counted(machine)
    legal = walk(counted, state, pieces)
    said = "is not written yet" if legal is None else f"{len(legal):7,} legal, asked {counted.asked:9,} times"
    print(f"{walk.__name__:17}{said}")

# %%
def count_toy():
    count(every_token, decimal, 2, toy)
    count(share_beginnings, decimal, 2, toy)


# %% [question]
gv.predict(
    "Ten pieces have 22 bytes. `every_token` asks the machine 16 times. How often does `share_beginnings` ask?",
    number=7,
    within=2,
    reveal=[
        count_toy,
        """The same three tokens, with fewer than half the questions. `12.` asks only about its point, and `.5` asks
        nothing at all: its first byte was refused a moment ago.""",
    ],
)

# %% [markdown]
# **Step 3: jump.** One thing is still slow: the loop comes by at *every* token, if only to see that it begins like a
# refused one. In a trie these lie together, in a subtree. So write the trie down **depth first**: each node, then all
# below it. Then a subtree is one piece of the list, and whoever knows its size can jump over it.

# %%
Flat = namedtuple("Flat", "byte depth size ends")


def flatten(pieces):
    """For each node the byte that leads to it, its depth, the size of its subtree, and the tokens that end there."""
    nodes, last = [], b""
    for token in sorted(range(len(pieces)), key=lambda token: pieces[token]):
        piece = pieces[token]
        nodes += [(piece[place], place + 1, []) for place in range(alike(piece, last), len(piece))]
        nodes[-1][2].append(token)
        last = piece
    byte, depth, ends = zip(*nodes, strict=True)
    return Flat(byte, depth, sizes(depth), ends)

# %% [markdown]
# The size of a subtree, itself included: begin behind the node and jump from subtree to subtree as long as they lie
# deeper.

# %%
def sizes(depth):
    size = [1] * len(depth)
    for node in reversed(range(len(depth))):
        while node + size[node] < len(depth) and depth[node + size[node]] > depth[node]:
            size[node] += size[node + size[node]]
    return size

# %%
tree = flatten(toy)
print("byte ", *[f"{chr(byte):>2}" for byte in tree.byte])
print("depth", *[f"{depth:2}" for depth in tree.depth])
print("size ", *[f"{size:2}" for size in tree.size])

# %% [markdown]
# The first `1` stands at place 2, counted from 0, and has size 6. Whoever is refused there goes on at place 8, with
# `a`, and has left six nodes and five pieces behind.

# %% [markdown]
# ## Exercise 1 · The jump ★★
#
# Write the loop. `i` is the place in the list. `states` is the pile; at its bottom lies `state`, and the state
# *before* node `i` is at `tree.depth[i] - 1`. What lies above that belongs to other branches. Ask the machine about
# `tree.byte[i]`. If it refuses, jump: `i += tree.size[i]`. If not, put the new state on the pile, take the tokens
# `tree.ends[i]`, and go one on. Return the set of legal tokens.

# %%
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
    # ...  # a while loop over i
    # end

# %%
gv.checks.jump(jump)

# %% [markdown]
# This is llguidance's loop: its library `toktrie` holds the trie in one flat list, eight bytes a node, and goes through
# it in this way. Now all three on Llama 3, right after the point of a decimal. Its 128,000 pieces have 274,520 nodes.

# %%
llama = gv.Vocabulary.llama3()
texts = [llama.pieces[token] for token in llama.text_ids]
large = flatten(texts)
print(f"{len(texts):,} pieces, {sum(map(len, texts)):,} bytes, {len(large.byte):,} nodes")

# %%
def count_decimal():
    count(every_token, decimal, 2, texts)
    count(share_beginnings, decimal, 2, texts)
    count(jump, decimal, 2, large)


# %% [question]
gv.predict(
    "How often will the jump ask on Llama 3?",
    choices=["about 1,400 times", "about 27,000 times", "about 270,000 times"],
    answer="about 1,400 times",
    reveal=[
        count_decimal,
        """The last two ask as often. But the loop of step 2 goes round 128,000 times to do so, and the jump 1,356
        times, once for each question: 99.5 % of the trie is not even looked at.""",
    ],
)

# %% [markdown]
# In a picture, with one branch for all bytes that lead to the same state:

# %%
gv.views.draw_walk(gv.tokens.lazy_walk(decimal, llama, "3."))

# %% [markdown]
# ## 2 · Whole slices at once
#
# Jumping is good where little is legal. Now JSON, inside a string: after `{"a`.

# %%
def state_after(machine, text):
    state = machine.initial
    for byte in text:
        state = machine.step(state, byte)
    return state


inside = state_after(gv.json(), b'{"a')

# %%
def count_inside():
    count(share_beginnings, gv.json(), inside, texts)
    count(jump, gv.json(), inside, large)


# %% [question]
gv.predict(
    "How many of the 274,520 possible questions does the jump ask this time?",
    choices=["about 1,400", "about 27,000", "nearly all"],
    answer="nearly all",
    reveal=[
        count_inside,
        """Nearly all of them, for nearly all is legal, and a loop that jumps over what is refused finds nothing to
        jump over. And a model spends much of its time inside strings.""",
    ],
)

# %% [markdown]
# **What breaks.** The jump helps only where little is legal. Can the inside of a string be made quick, too?
#
# What fills a JSON string is the same in every schema that does not restrict it: text without quotes, backslashes and
# control characters. A small machine reads just that. The tokens that it can read are a **slice**: they are found once
# for the vocabulary, before there is any grammar.

# %%
plain = gv.regex(r'[^"\\\x00-\x1f\x7f]*')
taken = share_beginnings(plain, plain.initial, texts)
rest = flatten([text for token, text in enumerate(texts) if token not in taken])
print(f"{len(taken):,} tokens in the slice; the trie of the others has {len(rest.byte):,} nodes")

# %% [markdown]
# **Step 4: take a slice whole.** If the grammar's machine can read, from where it stands, *whatever* the small machine
# can read, then every token of the slice is legal, and only the trie of the others has to be walked.

# %%
def count_rest():
    count(jump, gv.json(), inside, rest)


# %% [question]
gv.predict(
    'After `{"a` that is so. How many questions are left?',
    choices=["about 4,000", "about 40,000", "about 130,000"],
    answer="about 4,000",
    reveal=[
        count_rest,
        """(If your jump is written.) 4,221 instead of 267,888, and the mask is the same: the 122,892 tokens of the
        slice and 367 others are 123,259.""",
    ],
)

# %% [markdown]
# But may one do so always? Suppose a schema says that a name has at most three letters. After `"a` two more may come,
# and a token of nine letters, which is in the slice, is illegal. So before a slice is taken whole, one has to be sure.

# %% [markdown]
# ## Exercise 2 · May it be taken whole? ★★
#
# Write `whole(machine, state, part)`: can `machine`, from `state`, read every text that `part` can read from
# `part.initial`? Let both walk side by side, as a pair of states, by each byte that `part` can read. If `machine` ever
# refuses one, the answer is `False`. Each pair has to be looked at only once, and there are only so many. If they are
# all done and nothing was refused, it is `True`.

# %%
def whole(machine, state, part):
    # solution:
    pairs = [(state, part.initial)]
    for here, there in pairs:  # it grows while we go through it
        for byte in range(256):
            if (inner := part.step(there, byte)) is not None:
                after = machine.step(here, byte)
                if after is None:
                    return False
                if (after, inner) not in pairs:
                    pairs.append((after, inner))
    return True
    # open:
    # pairs = [(state, part.initial)]
    # ...  # a for loop over `pairs`, to which you append new pairs
    # end


gv.checks.whole(whole)

# %%
for name, pattern in {"any text": r'"[^"\\\x00-\x1f]*"', "at most 3": r'"[^"\\\x00-\x1f]{0,3}"'}.items():
    machine = gv.regex(pattern)
    print(f"{name:10}", whole(machine, state_after(machine, b'"a'), plain))

# %% [markdown]
# (While the exercise is open, this says `None`.) For strings with a limit llguidance has two more slices, texts of at
# most 10 and of at most 30 characters: where 40 may still come, both can be taken whole.
#
# So something is kept after all. But it belongs to the vocabulary, not to the grammar: it is made once, when a model is
# loaded, and a new grammar needs no other.

# %% [markdown]
# ### Step by step
#
# The jump and the slice together are our `engine="trie"`. Here are its walks before each token of a text: a bar for the
# nodes that the machine was asked about, dashed how many they would be without slices.

# %% [question]
gv.predict(
    "Before which tokens will the bars be longest?",
    choices=["inside a string", "where a value may begin", "where only a colon may come"],
    answer="where a value may begin",
    reveal="The next cell draws them.",
)

# %% [predict]
record = '{"name": "Ada Byron", "born": 1815, "friends": ["Mary", "Charles"]}'
walks = [gv.tokens.lazy_walks(gv.json(), llama, record, slices=slices) for slices in (True, False)]
gv.views.draw_walks(*walks)

# %% [markdown]
# Mind the scale: each tick is ten times as many. The longest bar is 3,629 of 274,520 nodes, where a value may begin.
# What is legal there?

# %%
legal = [llama.pieces[token] for token in gv.tokens.lazy_walk(gv.json(), llama, '{"a":').mask.nonzero()[0]]
numbers, blanks = sum(map(bytes.isdigit, legal)), sum(map(bytes.isspace, legal))
print(f"{len(legal):,} legal, of these {numbers:,} only digits and {blanks} only blanks")

# %% [markdown]
# Inside a string the walk asks even less than our 4,221: the library goes one step further. Of `abc":` and `xyz":` it
# reads only what stands behind the text of the slice, and that once.

# %%
gv.views.draw_walk(gv.tokens.lazy_walk(gv.json(), llama, '{"a'), levels=2)

# %% [markdown]
# ## 3 · Earley in one page
#
# Whoever walks asks a machine thousands of times before each token. Which machine? For JSON a stack did well. But think
# of intervals, `(x)` with both ends open and `(x]` with only one, and intervals inside intervals. At a `(` nobody knows
# yet which of the two it is.

# %%
rules = {
    "root": [("open",), ("half",), ("x",)],
    "open": [("(", "root", ")")],
    "half": [("(", "root", "]")],
}
intervals = 'root ::= open | half | "x"\nopen ::= "(" root ")"\nhalf ::= "(" root "]"'

# %% [markdown]
# A machine that keeps a **list of stacks** has to note both. Here a stack is what must still come, innermost first.

# %%
def show_stacks(most):
    stacks = [""]
    for opened in range(1, most + 1):
        stacks = [closing + stack for stack in stacks for closing in ")]"]
        print(f"{opened:2} opened {len(stacks):5,} stacks   {' '.join(stacks[:8])}")


# %% [question]
gv.predict(
    "How many stacks are there after ten brackets?",
    number=1024,
    within=100,
    reveal=[lambda: show_stacks(10), "It doubles with each bracket."],
)

# %% [markdown]
# llama.cpp keeps such a list. Our pushdown machine lets stacks share what they can: each bracket after the first costs
# one more row of four frames.

# %%
gv.views.draw_shared_stacks(gv.grammar(intervals), "((((")

# %% [markdown]
# Jay Earley's idea of 1970 is another one: do not write down whole stacks, write down for each place **what may have
# begun there**. What waits for it stands in the column where it began, once, however many ways led there.

# %% [markdown]
# A rule lists its alternatives, with `|` between them. An **item** is one of them, with a dot that says how far it has
# come, and the column where it began.

# %%
Item = namedtuple("Item", "rule symbols dot origin")


def wanted(item):
    """What stands behind the dot; None if the item is finished."""
    return item.symbols[item.dot] if item.dot < len(item.symbols) else None


def moved(item):
    """The same with its dot one place on."""
    return item._replace(dot=item.dot + 1)

# %% [markdown]
# Three moves fill a column.
#
# * **Scan.** An item wants a character, and it comes: into the next column, with the dot moved.
# * **Predict.** An item wants a rule: each alternative of that rule may begin here.
# * **Complete.** An item is finished. In the column where it began, some wanted its rule: they come here, with the dot
#   moved.

# %% [markdown]
# ## Exercise 3 · Complete ★★
#
# Write `complete(chart, done)`: the list of new items that the finished item `done` brings. `chart` is the list of all
# columns, each a list of items; `done.origin` is the number of the column where `done` began.

# %%
def complete(chart, done):
    # solution:
    return [moved(item) for item in chart[done.origin] if wanted(item) == done.rule]
    # open:
    # ...
    # end


gv.checks.complete(complete)

# %% [markdown]
# With it the parser is complete, too. (No rule may be empty here; that takes one case more.)

# %%
def read_chart(rules, text):
    chart, column = [], [Item("start", ("root",), 0, 0)]
    for character in [*text, ""]:
        chart.append(column)
        for item in column:  # it grows while we go through it
            if wanted(item) is None:
                new = complete(chart, item) or []
            else:
                new = [Item(wanted(item), symbols, 0, len(chart) - 1) for symbols in rules.get(wanted(item), [])]
            column += [item for item in new if item not in column]
        column = [moved(item) for item in column if wanted(item) == character]
    return chart

# %%
ten = "(" * 10 + "x" + "])" * 5


def show_columns():
    print("yours       ", [len(column) for column in read_chart(rules, ten)])
    print("guidedviz's ", [len(column.items) for column in gv.earley(intervals).chart(ten.encode())])


# %% [question]
gv.predict(
    "Ten brackets open, an `x`, and they close by turns, `]` and `)`. How many items has the longest column?",
    number=7,
    within=3,
    reveal=[show_columns, "Seven, at every depth, where the list had 1,024 stacks."],
)

# %% [markdown]
# Look at the chart of `(x]` and find the move that decides: in
# the last column `half` is finished and completes what wanted it, in column 0. Its twin `open` is still waiting for its
# bracket in column 2, and no harm is done.

# %%
gv.views.draw_chart(gv.earley(intervals), "(x]")

# %% [markdown]
# A text is complete when `start → root •` stands in the last column. Earley takes any grammar: rules that begin with
# themselves, texts that can be read in several ways.
#
# **What breaks** is the time. Each byte fills a column, and that is far more work than one look into a table.

# %% [markdown]
# ### A lexer in front
#
# llguidance pays the price only where it must. Inside a string the rules do not matter: a flat machine knows how a
# string goes on. So a **lexer**, made of such machines, cuts the text into words, and Earley reads words instead of
# bytes.

# %%
kinds = {"s": r'"[^"\\]*"', "n": r"-?[0-9.eE+-]+", "sign": r"[][{},:]", "blank": r"\s+"}
lexer = re.compile("|".join(f"(?P<{kind}>{regex})" for kind, regex in kinds.items()))


def words_of(text):
    """One letter a word: s a string, n a number, a sign itself."""
    found = [(match.lastgroup, match[0]) for match in lexer.finditer(text)]
    return "".join(word if kind == "sign" else kind for kind, word in found if kind != "blank")


print(words_of(record))

# %%
by_words = gv.earley("""
root   ::= object | array | "s" | "n"
object ::= "{" (member ("," member)*)? "}"
member ::= "s:" root
array  ::= "[" (root ("," root)*)? "]"
""")

# %%
def count_items():
    for name, machine, text in [("bytes", gv.earley(gv.json()), record), ("words", by_words, words_of(record))]:
        chart = machine.chart(text.encode())
        print(f"{name}: {len(chart):3} columns, {sum(len(column.items) for column in chart):6,} items")


# %% [question]
gv.predict(
    "By bytes, the charts of this record have 1,008 items in all. How many have they by words?",
    number=93,
    within=60,
    reveal=[
        count_items,
        """Fewer columns, and far fewer items in each: nothing has to be said about what may come inside a word.""",
    ],
)

# %% [markdown]
# For a mask
# it matters more. Once more the trie, inside a string: at how many of its 274,520 nodes can the string end?

# %%
string = re.compile(rb'([^"\\\x00-\x1f]|\\["\\/bfnrtu])*"')
ends = {match[0] for text in texts if (match := string.match(text))}
print(f"at {len(ends)} nodes a string ends")

# %% [markdown]
# At these the rules are asked, and at the few nodes behind them that a walk still looks at. At all others of its
# 267,888 nodes the lexer answers alone, and its answer is one look into a table. That is why llguidance can afford
# Earley: it is **Earley over a lexer**. (Our own `gv.earley` has no lexer. It reads bytes, to be looked at.)

# %% [markdown]
# ## 4 · Build or walk?
#
# A table costs at first, and then each mask is nearly free. A walk costs hardly anything at first, and then something
# each time. So the answer is a number: after how many masks is the table the cheaper of the two? That is its
# **break-even**.
#
# The grammar is the SQL of lab 06. It has no nesting, so it is also a regex; the real engines get it as such.

# %%
sql = gv.grammar("""
root      ::= "SELECT " column (", " column)* " FROM " table (" WHERE " condition)? ";"
condition ::= column " " [<>=] " " value
value     ::= [0-9]+ | "'" [A-Za-z ]+ "'"
column    ::= [a-z]+
table     ::= [a-z]+
""")
condition = r" WHERE [a-z]+ [<>=] ([0-9]+|'[A-Za-z ]+')"
same = gv.regex(rf"SELECT [a-z]+(, [a-z]+)* FROM [a-z]+({condition})?;")

# %%
asked = "SELECT title, author FROM books WHERE author = 'Ada Byron';"
tokens = [llama.ids(walk.piece)[0] for walk in gv.tokens.lazy_walks(sql, llama, asked)]


def each_mask(guide):
    """Milliseconds for one mask on the way of the query."""
    state, spent = guide.initial, 0.0
    for token in tokens:
        began = time.perf_counter()
        guide.mask(state)
        spent += time.perf_counter() - began
        state = guide.advance(state, token)
    return 1000 * spent / len(tokens)

# %%
def cost(make):
    """Milliseconds until the first mask can be asked for, and for each mask; the best of three."""
    firsts, masks = [], []
    for _ in range(3):
        began = time.perf_counter()
        guide = make()
        firsts.append(1000 * (time.perf_counter() - began))
        masks.append(each_mask(guide))
    return min(firsts), min(masks)

# %%
def make_split():
    """Lab 08, with the table of every node filled at once."""
    split = gv.build_split(sql, llama)
    split.build()
    return gv.tokens.split_guide(split)

# %% [markdown]
# **Predict before you press.** Which line begins low, which one ends low? Where will they cross: before 10 masks, 100,
# 1,000? Times are of *your* machine. (An engine that is not installed is left out.)

# %% [predict]
# NBVAL_IGNORE_OUTPUT
costs = {"split": cost(make_split), "trie": cost(lambda: gv.guide(sql, llama, "trie"))}
for name in ("xgrammar", "llguidance"):
    try:
        gv.guide(gv.regex("a"), llama, name)  # it prepares the vocabulary, once
        costs[name] = cost(lambda name=name: gv.guide(same, llama, name))
    except gv.SettingError as error:
        print(error)
gv.views.draw_break_even(costs, title="one grammar, many masks: as measured when this cell ran")

# %% [markdown]
# Both axes go in powers of ten. Compare the pairs: our split with our walk, XGrammar with llguidance. Each time the
# table begins higher and rises more slowly, and the dot is the break-even. Two tables or two walks in different
# languages say little about the idea: ours are Python and NumPy, llguidance is Rust, XGrammar C++.

# %% [markdown]
# So it depends on how often a grammar comes again.
#
# * **Build**, if one schema serves all day, or many requests at once: a table is shared, and its cost is spread.
# * **Walk**, if every request brings its own grammar, as with tools that a user defines: nobody wants to wait for a
#   table of which only a few rows are needed.
#
# In practice the two come closer: XGrammar-2 (2026) compiles parts of its table only when they are needed, and
# llguidance keeps its slices.

# %% [markdown]
# ## 5 · Who is right?
#
# Many engines, and one question with one answer: which tokens are legal? `gv.compare_engines` takes the real ones that
# are installed along a text, two of them in two settings, and looks where their masks differ from ours. *llguidance,
# forcing* and *xgrammar, special text* are the engines as they come. In the other two rows forcing is off, and special
# tokens have no text. Then the bytes of each doubtful token are fed to our machine, one at a time, without trie or
# table: that decides.
#
# **Predict before you press.** Brackets around an `x`. Will all agree?

# %%
constraint, text = 'root ::= "(" root ")" | "x"', "((x))"

# %% [predict]
# NBVAL_IGNORE_OUTPUT
found = gv.compare_engines(constraint, llama, text)
gv.draw_comparison(found)

# %% [markdown]
# When this page was made (xgrammar 0.2.8, llguidance 1.9.1), they agreed at every place but one: after `((x`.
#
# * `))` closes both brackets. XGrammar's mask omits it, though its own `accept_token` takes it: a **fault**.
# * `)` is legal as well. As it comes, llguidance omits it, since only `))` can follow and the tokenizer has one token
#   for that. It is not a fault: it is on purpose, and can be switched off. The table calls it **forced only**.
# * outlines-core cannot be asked: it has no stack.

# %% [markdown]
# Now yours: change `constraint` to a regex, a grammar or a schema of your choice, `text` to one that it accepts, and
# run both cells again. A text with `::=` is read as a grammar; a dict, or its JSON text, as a schema; anything else as
# a regex. Try `r"[0-9]+(\.[0-9]+)?"` with `"3.14"`, our decimal; `r"name: [a-z]+"` with `"name: ada"`; `r"a|ab"` with
# `"ab"`. `gv.views.draw_disagreement(found, 2, "xgrammar")` names the tokens of one place and shows them.

# %% [markdown]
# ### The museum
#
# This has been done before, on two vocabularies and twenty constraints, and what was seen is kept. It holds for these
# versions: an engine is mended faster than a page is.

# %%
gv.views.draw_museum()

# %% [markdown]
# Three kinds, and they are not equally bad.
#
# * **Forced only.** One text is possible, and the mask holds only the token that the tokenizer would take for it.
#   On purpose, and it can be switched off.
# * **Lawful choice.** The constraint leaves it open: how JSON is laid out, what `\d` means outside of ASCII.
# * **Known fault.** A token is allowed that the constraint forbids, or one is legal and cannot be chosen.

# %% [markdown]
# The second fault is the quieter one. Who allows too much is found out when the text is read. Who allows too little is
# hardly ever found out: the text is correct, and only a small Z tells that the model wanted something else.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * Depth first, a subtree is one piece of the list, and a refused node is one jump.
# * Jumping helps where little is legal. Where nearly all is, take a slice whole; but be sure that you may.
# * Earley writes down what began where, not whole stacks: any grammar, and nothing doubles.
# * A lexer in front keeps Earley out of the inside of words.
# * A table pays from its break-even on. Few masks for a grammar: walk. Many: build.
# * No engine is an oracle. Feed the bytes to a machine, one by one.

# %% [markdown]
# You have now seen three of the four engines of this course: the index, the split, the walk. What is left is to write
# text without asking the model at all, where only one text is possible.

# %% [markdown]
# ## How the production engines do it
#
# * **llguidance**, *Making Structured Outputs Go Brrr*, guidance-ai.github.io/llguidance/llg-go-brrr (2025-06-11): the
#   lexer, the loop and the slices. Its figures: 50 µs for a mask on average, eight bytes for a node, and the parser is
#   needed in 0.1 to 1 % of the token checks. `toktrie/src/toktree.rs` is the loop.
# * **vLLM** and **SGLang** offer it as `guidance` and `llguidance` beside XGrammar; llama.cpp can be built with it.

# %% [markdown]
# * **llama.cpp**, `src/llama-grammar.cpp`: the list of stacks.
# * The parser: Earley, *An Efficient Context-Free Parsing Algorithm*, Communications of the ACM 13 (1970).
# * **XGrammar** has parsed with Earley, too, since version 0.1.21; it keeps its table all the same.
# * Its second paper, which fills the table when it is needed: *XGrammar-2*, arXiv 2601.04426 (2026).
# * Where engines were compared on many schemas: Geng et al., *JSONSchemaBench*, arXiv 2501.10868 (2025).
# * The engines compared here: xgrammar 0.2.8, llguidance 1.9.1, outlines-core 0.2.14.
