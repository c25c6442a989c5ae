# question: How does a regex become a mask over 128,256 tokens?

# %% [markdown]
# # Lab 04 · From regex to tokens
#
# **Question.** A machine reads characters. A model writes tokens: `42`, `.5`, `",`. How does a regex become a mask
# over 128,256 of them?
#
# **Goal.** You turn a regex into the smallest machine, and the machine into a table of legal tokens. You know what the
# table costs and when it goes stale, and you pull records out of a text that are never malformed.
#
# **Time.** {minutes} minutes, three exercises. [Lab 03](03_fsm.ipynb) comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **NFA** | a machine that can be in several states at once |
# | **DFA** | a machine that is in exactly one state |
# | **minimal** | the DFA with the fewest states; two regexes for the same texts have the same one |
# | **trie** | all pieces of a vocabulary as one tree: what begins alike shares a branch |
# | **index** | a table: for each state its legal tokens, and where each of them leads |
# | **JSON Schema** | a description of JSON in JSON: which keys, which values |

# %%
import json
import time

import jsonschema
import numpy as np

import guidedviz as gv

# %% [markdown]
# ## 1 · Characters are not tokens
#
# Here is the decimal of lab 03 again: digits, and perhaps a point with more digits.

# %%
decimal = gv.regex(r"\d+(\.\d+)?")
gv.draw_machine(decimal, title="a decimal number")

# %% [markdown]
# It takes one character at a time. Now a model comes that writes whole pieces. Ten are enough to see all the trouble:
# nine texts and EOS.
#
# In lab 03 one `GuidedFSM` was both things at once. From here on they are two: the **machine** (`gv.regex` gives a DFA)
# knows bytes and states and no tokens; a **guide** joins it with a vocabulary, and only the guide has masks.

# %%
pieces = [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x", b"</s>"]
toy = gv.Vocabulary(pieces, eos={9})
number = gv.guide(decimal, toy)

# %% [question]
gv.predict(
    "The output so far is `3`, so the machine is in q1. How many of the ten tokens are legal now? Take your time over "
    "`3.` and `7.5`.",
    number=lambda: number.mask(1).sum(),
    reveal=[
        lambda: print([toy.display(token) for token in np.flatnonzero(number.mask(1))]),
        """`7.5` is legal after `3`, for `37.5` is a number: only the characters count, not where the tokens end. `3.`
        is legal as well. It is not a number yet, but it can become one. The rule in one sentence: a token is legal
        if the machine can read all of its bytes and still reach an accepting state. EOS has no bytes: it is legal
        exactly where the text is complete, in an accepting state. `3` is a number, so EOS is one of the legal ones.""",
    ],
)

# %% [markdown]
# Inside one token the machine takes several steps:

# %%
path = number.path(1, pieces.index(b"7.5"))
gv.draw_machine(decimal, at=path, title="after 3, the token 7.5")

# %% [markdown]
# Of an illegal token the machine can say at which byte it died:

# %%
for piece in (b"x", b"3x", b".."):
    print(f"{piece.decode():3}", number.explain(1, pieces.index(piece)).reason)

# %% [markdown]
# ## Exercise 1 · The legal tokens ★★
#
# Write `legal_tokens(machine, state, pieces)`: the set of ids whose piece the machine can read from `state`.
# `machine.step(state, byte)` gives the next state, or `None` if there is none; then no accepting state can be reached
# any more. A `for` over a `bytes` object gives its bytes.

# %%
def legal_tokens(machine, state, pieces):
    # solution:
    legal = set()
    for token, piece in enumerate(pieces):
        here = state
        for byte in piece:
            here = machine.step(here, byte) if here is not None else None
        if here is not None:
            legal.add(token)
    return legal
    # open:
    # ...  # every piece starts again from `state`
    # end


gv.checks.legal_tokens(legal_tokens)

# %% [markdown]
# **What breaks.** You might think: a number may end in q1, so after it keep only tokens after which it may end as well.
# Then the output is complete all the time. One engine does this: outlines-core 0.2.14.

# %%
def apply_rule():
    """What the rule keeps in q1, and what it loses."""
    legal = np.flatnonzero(number.mask(1))
    kept = [token for token in legal if decimal.is_accepting(number.path(1, token)[-1])]
    print("kept", [toy.display(token) for token in kept])
    print("lost", [toy.display(token) for token in legal if token not in kept])


# %% [question]
gv.predict(
    "Which legal tokens does that rule lose in q1?",
    choices=["none", "`.` and `3.`", "`.5` and `7.5`", "`.`, `.5`, `3.` and `7.5`"],
    answer="`.` and `3.`",
    reveal=[
        apply_rule,
        """`3.5` can still be written, by the token `.5`. `3.42` cannot, for the only way there led through the point.
        And Llama 3 has no token like `.5` at all: none of its tokens has a point and a digit. There, that engine's
        mask for our decimal lets nothing through but whole numbers. No error, no warning; half of the regex is
        gone.""",
    ],
)

# %% [markdown]
# ## 2 · From a regex to a machine
#
# Where do machines come from? From a regex in three moves. We take one that was written clumsily: a whole number, or
# one with a point, or one with a comma.

# %%
clumsy = r"\d+|\d+\.\d+|\d+,\d+"
gv.film(gv.sketches.nfa_frames(clumsy))

# %% [markdown]
# **First move: a machine for each part, wired together.** Step through it with the arrows: each part of the regex adds
# its states. A dashed edge is free, it reads nothing. The result is an **NFA**: after a digit it may stand in all three
# branches, and it need not know yet which will turn out right. Twice the regex, twice the states, and no more.

# %% [markdown]
# **Second move: be everywhere at once.** Let a DFA state stand for the *set* of NFA states in which one could be. The
# set stands in its name; states that read nothing and only pass on are left out.

# %% [question]
gv.predict(
    "The NFA has 16 states. How many sets of them really occur?",
    number=6,
    within=2,
    reveal="Six, and now there is one state at a time and no free edge. The film below finds them one by one.",
)

# %% [predict]
gv.film(gv.sketches.dfa_frames(clumsy))

# %% [markdown]
# **Third move: merge what nobody can tell apart.** Begin
# with two groups, *may end here* and *may not*, and split a group whenever some byte leads its members into different
# groups. States that are still together at the end are one state.

# %%
gv.film(gv.sketches.minimal_frames(clumsy))

# %% [markdown]
# Two states waited for a digit, one after the point and one after the comma. Whatever follows, they agree; so nothing
# is lost if they are one. There is only *one* smallest machine for a set of texts. Thus you can ask whether two regexes
# mean the same: build both and compare.

# %%
print(gv.regex(clumsy) == gv.regex(r"\d+([.,]\d+)?"), gv.regex(clumsy) == decimal)

# %% [markdown]
# **What breaks.** Here the DFA was smaller than the NFA. Not always. Take texts of `a` and `b` in which the letter `n`
# places before the last is an `a`.

# %%
def grow():
    print([len(gv.regex(f"[ab]*a[ab]{{{n}}}")) for n in range(1, 10)])
    try:
        gv.regex("[ab]*a[ab]{24}")
    except gv.PatternError as error:
        print(error)


# %% [question]
gv.predict(
    "The NFA grows by one state when `n` grows by one. And the minimal DFA?",
    choices=["by one state", "by two states", "it doubles"],
    answer="it doubles",
    reveal=[
        grow,
        """It has to remember each of the last letters. Regexes for formats seldom do this, but a service that takes
        them from strangers needs a bound.""",
    ],
)

# %% [markdown]
# ## Exercise 2 · A price ★★
#
# `clerk` can turn a sentence into a price. Write the regex: a dollar sign; dollars, one to five digits with no zero in
# front, save a single `0`; a point; two digits. `$0.50` and `$12.00` are prices, `$012.00` and `$12` are not.

# %%
# solution:
price = r"\$(0|[1-9][0-9]{0,4})\.[0-9]{2}"
# open:
# price = r""  # a dollar sign is \$
# end
gv.checks.price(price)

# %% [markdown]
# The check compares *machines*, so it is right about every text there is, and it shows the shortest on which you are
# wrong. Now let your machine hold the pen. (While the exercise is open, the stage takes any digits and points, with or
# without the dollar.)

# %%
clerk = gv.load_model("clerk")
clerks = clerk.vocabulary
costs = "Hello! The lamp costs twelve dollars and fifty cents.\nPrice:\n"

# %%
priced = gv.regex(price or r"\$?[0-9.]+")
gv.stage(clerk, costs, gv.guide(priced, clerks), constraint="a price", show=6)

# %% [markdown]
# Step through it and watch the machine: the state that is lit says what has been read, the mask says what may follow.

# %% [markdown]
# ## 3 · Machine × vocabulary = index
#
# Your `legal_tokens` looks at every piece, from its first byte. But pieces begin alike: what is known about `3` helps
# with `3.` and with `3x`. A **trie** holds them so that each beginning is there once.

# %%
gv.film(gv.sketches.trie_frames(decimal, toy, state=2))

# %% [markdown]
# The machine walks the tree, here from q2, right after a point. Where it cannot go on, everything below is illegal at
# a stroke: at the first `.` three tokens fall together. The wider the vocabulary, the more of it is never looked at.

# %%
llama = gv.Vocabulary.llama3()


def count_reached():
    for name, vocabulary in {"toy": toy, "clerk": clerks, "Llama 3": llama}.items():
        trie = vocabulary.trie
        reached = len(list(gv.tokens.walk_steps(trie, decimal, 2)))
        print(f"{name:8}{len(vocabulary):8,} tokens {len(trie):8,} nodes {reached:6,} reached")


# %% [question]
gv.predict(
    "Llama 3 has 128,256 tokens. How many nodes of its trie does the walk from q2 reach?",
    choices=["all", "about half", "fewer than one in a hundred"],
    answer="fewer than one in a hundred",
    reveal=[
        count_reached,
        """Only digits are left, and Llama 3 has a token for each number of one to three digits: 10 + 100 + 1,000.""",
    ],
)

# %% [markdown]
# Do this for
# *every* state before the first token, write down what you find, and you have the **index**: from then on a mask is
# looked up. Here it is for the ten tokens: one row per state, one column per token.

# %%
gv.views.draw_token_table(number)

# %%
index = gv.build_index(decimal, llama)
print(index)
print("legal tokens in q0 to q3:", index.legal.tolist())

# %% [markdown]
# A few *kinds*: tokens that move every state alike are one kind, and the index keeps each kind once. And the time? The
# trie, your loop for one state (once you have written it), the whole index, and the same index asked for again:

# %%
# NBVAL_IGNORE_OUTPUT
date = gv.regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
for what, work in {
    "the trie, once per vocabulary": lambda: gv.Vocabulary(llama.pieces, eos=llama.eos).trie,
    "your legal_tokens, one state ": lambda: legal_tokens(date, 0, llama.pieces),
    "index, all 11 states         ": lambda: gv.build_index(date, llama),
    "the same index again         ": lambda: gv.build_index(date, llama),
}.items():
    began = time.perf_counter()
    work()
    print(f"{what}{1000 * (time.perf_counter() - began):8.2f} ms")

# %% [markdown]
# Once your loop is written you can see it: with the trie at hand, eleven states at once take less time than one state
# in a loop. The trie itself is built once and serves every regex. And the second time nothing is walked at all: the
# index was kept.
#
# Now the whole vocabulary at a glance. In the next picture each of the 128,256 tokens is one cell. They lie in the
# order of their bytes along a winding curve, so that tokens that begin alike are neighbours.

# %%
quoted = gv.guide(gv.regex(r'"[^"\\\x00-\x1f]*"'), llama)

# %% [question]
gv.predict(
    "This machine reads a text in quotes, and stands inside the quotes. How many percent of all tokens are legal?",
    number=lambda: round(100 * quoted.mask(1).mean()),
    within=5,
    reveal="Nearly all: a text may hold nearly everything. The map below shows which tokens are not legal.",
)

# %% [predict]
gv.vocabulary_map(quoted, state=1)

# %%
gv.draw_map(gv.guide(decimal, llama), 1, title="a decimal, after its first digit")

# %% [markdown]
# Nearly all in the first: an ocean, with reefs where a token holds a quote, a backslash, a line break. In the second
# one lake: the digits. The masks differ in size by a factor of a hundred, and to look one up takes the same time.

# %% [markdown]
# **What breaks.** An index is worth keeping: in memory, and a large one on the disk. But it holds *ids*, and an id
# means something in one vocabulary only. Suppose the tokenizer is updated, EOS moves from the end to the front, and so
# every other id grows by one. The index that was kept is yesterday's.

# %%
yesterday = gv.Vocabulary(clerks.pieces[1:] + clerks.pieces[:1], eos={len(clerks) - 1})
fresh, stale = gv.build_index(date, clerks), gv.build_index(date, yesterday)

# %%
def write(index, prompt):
    """The loop of lab 02, with its masks out of an index."""
    tokens, state = clerk.encode(prompt), 0
    start = len(tokens)
    while not index.machine.is_accepting(state):
        logits = gv.sampling.apply_mask(clerk.logits(tokens), index.mask(state))
        tokens.append(gv.sampling.sample(gv.sampling.softmax(logits), seed=0, position=len(tokens) - start))
        state = index.next_state(state, tokens[-1])
    return b"".join(clerks.pieces[token] for token in tokens[start:]).decode()


# %%
met = "We met on June 19, 1987.\nDate as YYYY-MM-DD:\n"

# %% [question]
gv.predict(
    "What will the stale index do?",
    choices=["raise an error", "write something nothing like a date", "write nearly a date", "write the right date"],
    answer="write nearly a date",
    reveal=[
        lambda: print("fresh ", write(fresh, met)),
        lambda: print("stale ", write(stale, met)),
        """Nearly a date, and no error: the worst of all. What used to be the id of `0` is today the id of `/`, that of
        `1` is today's `0`, and so on up to `8`; where there was a dash is now a comma. There is no `9` among the
        legal tokens, so 1987 became 1887. By the stale index, every step was legal.""",
    ],
)

# %% [markdown]
# So an index has to know whose it is. Ours carries a **fingerprint** of its vocabulary and of its machine, and a guide
# refuses any other:

# %%
try:
    gv.guide(date, clerks, index=stale)
except gv.SettingError as error:
    print(error)

# %% [markdown]
# ## 4 · From a JSON Schema to a record
#
# Nobody wants to write the regex of a JSON object. A **JSON Schema** says which keys there are and what their values
# may be, and that *is* a regex as long as nothing is nested without end.

# %%
text, age = {"type": "string"}, {"type": "integer", "minimum": 0, "maximum": 120}
person = {
    "type": "object",
    "properties": {"name": text, "age": age, "city": text},
    "required": ["name", "age", "city"],
}
print(gv.machines.schema_regex(person))

# %% [markdown]
# Find in it the three keys; the blank that may follow a colon or a comma; what a JSON string may hold; the numbers up
# to 120. From here on you know every step: regex, NFA, DFA, minimal machine, index.

# %%
machine = gv.json_schema(person)
guide = gv.guide(machine, clerks)
print(machine, guide.index)

# %% [markdown]
# Now the friendly prompt of lab 00, which made the model chat.

# %%
def ask(name, age, city):
    return f"Hi! {name} is {age} years old and lives in {city}.\nJSON with name, age, city:\n"


gv.stage(clerk, ask("Tamsin Okoro", 42, "Varnhem"), guide, constraint="a person", show=14)

# %% [markdown]
# At the first step Z is 0.58: a good part of the model's wish was *Sure*, *Here* or *Of* (course), and the mask forbids
# them. Two steps later hardly any mass is cut any more: a good beginning was all it needed.
#
# Watch the number of legal tokens, too: two at the start, 3,959 inside the name, and after `42` a single one, the
# comma. A third digit would make more than 120.

# %%
people = [("Tamsin Okoro", 42, "Varnhem"), ("Maria Cohen", 35, "Prague"), ("Jonas Weber", 8, "Lyon")]
people += [("Ida Brook", 61, "Oslo"), ("Zoe Marin", 27, "Kyoto"), ("Omar Haddad", 54, "Dakar")]
people += [("Priya Nagy", 19, "Lima"), ("Lars Quill", 70, "Hollum"), ("Ana Sousa", 33, "Porto")]
people += [("Ben Carter", 12, "Leeds")]

# %% [markdown]
# Ten such prompts, first free, then guided by the same seeds. The judge is the `jsonschema` package, which knows
# nothing of our machines and tokens.

# %%
def write_all(how):
    return [gv.record(clerk, ask(*facts), how, seed=seed).text for seed, facts in enumerate(people)]


def fits(output):
    try:
        return jsonschema.Draft202012Validator(person).is_valid(json.loads(output))
    except ValueError:  # not JSON
        return False


free, outputs = write_all(None), write_all(guide)
fitting = [list(map(fits, texts)) for texts in (free, outputs)]

# %% [question]
gv.predict(
    "How many of the ten free outputs fit the schema?",
    number=lambda: sum(fitting[0]),
    within=2,
    reveal=lambda: print("free", sum(fitting[0]), "of 10, guided", sum(fitting[1]), "of 10"),
)

# %% [markdown]
# Fitting is not the same as being right. Which of the guided outputs hold a wrong
# value?

# %%
for output, facts in zip(outputs, people, strict=True):
    if list(json.loads(output).values()) != list(facts):
        print(output, " but it was", facts)

# %% [markdown]
# Both fit the schema, both are false. Form is guaranteed, truth is not: that was lab 00's warning.

# %% [markdown]
# ## Exercise 3 · A schema of your own ★★
#
# Write the schema of an event, with three keys that all have to be there, in this order: `event`, one of *concert*,
# *meeting*, *wedding* (`{"enum": [...]}`); `date`, a string with `"format": "date"`; `seats`, an integer from 1 to 999.

# %%
event = {
    "type": "object",
    # solution:
    "properties": {
        "event": {"enum": ["concert", "meeting", "wedding"]},
        "date": {"type": "string", "format": "date"},
        "seats": {"type": "integer", "minimum": 1, "maximum": 999},
    },
    "required": ["event", "date", "seats"],
    # open:
    # "properties": {},
    # end
}
gv.checks.event_schema(event)

# %%
party = "Hi! The wedding is on June 19, 1987, takes place in Lyon and has 120 seats.\nJSON with event, date, seats:\n"
print(gv.record(clerk, party, gv.guide(gv.json_schema(event), clerks)).text)

# %% [markdown]
# ## 5 · Seams
#
# The cuts between tokens and the joints of a format need not meet. Where they do not, there is a **seam**.
#
# First kind: *one token across several parts*. The output so far is `{"name": "Zoe`: the machine stands inside the
# name.

# %%
inside = guide.initial
for token in clerk.encode('{"name": "Zoe'):
    inside = guide.advance(inside, token)

# %% [question]
gv.predict(
    'Which of the tokens `",` and `"}` and `":` and `{"` are legal?',
    choices=['only `",`', '`",` and `"}`', '`",` and `{"`', "all four"],
    answer='`",` and `{"`',
    reveal=[
        lambda: print([clerks.display(t) for t in np.flatnonzero(guide.mask(inside)) if b'"' in clerks.pieces[t]]),
        """`",` closes the name and goes on to the next key. `"}` is not there: the name may be closed, but then the
        brace is illegal, for the age is missing. And `{"` puts a brace at the end of the name and closes it: odd,
        and a correct string. Each token is judged by all its bytes.""",
    ],
)

# %%
gv.draw_machine(machine, at=guide.path(inside, clerks.ids(b'",')[0]), title='the token ", inside a name')

# %% [markdown]
# Second kind: *one character across several tokens*. Text is bytes, and only ASCII characters are one byte each. `é` is
# the two bytes C3 A9, and `clerk` has no token for both.

# %%
print([clerks.display(token) for token in clerk.encode("é")])
accents = gv.guide(gv.regex("[é-ë]"), clerks)
gv.draw_machine(accents.machine, title="é, ê or ë")

# %% [question]
gv.predict(
    "How many of `clerk`'s 4,096 tokens are legal in the middle of the character, in q1?",
    number=3,
    reveal=[
        lambda: print([int(accents.mask(state).sum()) for state in range(len(accents.machine))]),
        """One in q0, three in q1, and EOS at the end. A state inside a character is nothing special to our machines,
        for they read bytes.""",
    ],
)

# %% [markdown]
# Now look back at the guided output of Lars Quill, at what came instead of his name.

# %%
lars = gv.record(clerk, ask("Lars Quill", 70, "Hollum"), guide, seed=7)
gv.draw_strip(lars)

# %%
for step in lars.steps[4:10]:
    print(f"{step.state:4}{clerks.display(step.token):8}{step.legal:5} legal   Z {step.mass:.3f}   p {step.raw:.4f}")

# %% [markdown]
# After `Lars` a stray byte was drawn, EC, with a probability of 0.0003: legal in a string, for a Korean letter may
# begin there. From then on the machine had to see the letter through. Only 64 tokens were legal, the model wanted none
# of them, and Z fell to nothing, twice. The result is valid UTF-8, valid JSON, and not a name.
#
# **What breaks.** A machine that reads *characters* has no state for half a letter. It can forbid all such tokens, then
# there is no `é` either; or let them pass, then the output may end in half a letter, and nothing can decode it.

# %% [markdown]
# The schema was too generous. Say what a name looks like, and the stray byte is not legal in the first place:

# %%
text["pattern"] = "^[A-Z][A-Za-z .'-]*$"
strict = gv.guide(gv.json_schema(person), clerks)
print(strict.machine)
print(gv.record(clerk, ask("Lars Quill", 70, "Hollum"), strict, seed=7).text)

# %% [markdown]
# A smaller machine and a better form, and still not his name. You can only forbid what you can describe.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * Tokens are judged byte by byte. Legal means: a complete text can still be reached.
# * Regex, NFA, DFA, minimal machine: the smallest one is unique, so regexes can be compared.
# * Machine × vocabulary = index. The trie cuts whole subtrees, and a mask becomes a row to look up.
# * An index belongs to one vocabulary. A stale one goes wrong without an error, so let it be refused.
# * A JSON Schema is a regex as long as nothing nests without end.

# %% [markdown]
# And what does nest: a list in a list in a list? No finite machine can count brackets. It takes a machine with a
# **stack**: [lab 06](06_pda.ipynb).

# %% [markdown]
# ## How the production engines do it
#
# * **Outlines**: Willard and Louf, *Efficient Guided Generation for Large Language Models*, arXiv 2307.09702 (2023).
#   Section 3 has a decimal and five tokens, Algorithm 4 builds the index. Its cache on the disk once left out the
#   tokenizer: issue 872 of `outlines`, mended in 2024.
# * **outlines-core** 0.2.14, `src/index.rs`: the same in Rust; the lost point of section 1 is there.

# %% [markdown]
# * **XGrammar**: Dong et al., arXiv 2411.15100 (2024). Checks most tokens before decoding, as the index does, for a
#   machine with a stack. What it saves carries its tokenizer's size and stop tokens; with others it is refused.
# * **llguidance**, `docs/optimizations.md`: keeps no index; it walks the trie at every step.
# * Koo, Liu and He, *Automata-based constraints for language model decoding*, arXiv 2407.08103 (2024): the step from
#   characters to tokens as a machine of its own.
