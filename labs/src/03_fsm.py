# question: What must a mask remember?

# %% [markdown]
# # Lab 03 · Finite-state machines
#
# **Question.** A mask for each position cannot say *one or more letters*. What is the least that a mask has to
# remember?
#
# **Goal.** You can build a machine by hand and let a model write inside it, you can say the same as a pattern and as
# a regex, and you know what a mask keeps of the model and what it changes.
#
# **Time.** {minutes} minutes, three exercises. [Lab 02](02_static_masks.ipynb) comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **state** | all that is remembered of what was written: one of a few numbers |
# | **transition** | from one state to another, or to itself, by any of a set of characters |
# | **machine** | states and transitions, and a state to start in; in full: *finite-state machine* |
# | **accepting** | a state in which the text may end |
# | **quantifier** | how often something may come: `1`, `?`, `*`, `+`, `{2,4}` |
# | **conditioning** | keep the texts that fit, throw the others away, scale up once |

# %%
import re
from datetime import date
from itertools import pairwise

import numpy as np

import guidedviz as gv

# %% [markdown]
# ## 1 · What has to be remembered
#
# Lab 02 ended with names whose length the *model* should choose. Here is a whole line of that kind: a name in capitals,
# a colon, a space, one word, a new line. For short `UPPER+: LOWER+\n`, where `+` means *one or more*.
#
# Positions do not help. `ROM` and `K: ` are three characters each, but only after `ROM` may a colon come. And after the
# longer `ROMEO` the same may come as after `ROM`.
#
# What have two beginnings in common that need the same masks from there on? **The endings that make them complete.** We
# put six endings after each of ten beginnings. The judge is Python's `re`.

# %%
beginnings = ["", "R", "ROM", "ROMEO", "ROMEO:", "K:", "K: ", "K: s", "K: so", "K: so\n"]
endings = ["A: a\n", ": a\n", " a\n", "a\n", "\n", ""]


def fits(text):
    return bool(re.fullmatch("[A-Z]+: [a-z]+\n", text))

# %%
rows = {beginning: [fits(beginning + ending) for ending in endings] for beginning in beginnings}


def show_rows():
    """A row for each beginning, a tick for each ending that completes it."""
    print(" " * 10, *(f"{ending!r:>9}" for ending in endings))
    for beginning, row in rows.items():
        print(f"{beginning!r:10}", *("        ✓" if yes else "        ·" for yes in row))


# %% [question]
gv.predict(
    "There are ten rows. How many of them are different?",
    number=lambda: len(set(map(tuple, rows.values()))),
    reveal=[
        show_rows,
        """Six. `R`, `ROM` and `ROMEO` share a row: no need to know which of them it was. Different rows must be told
        apart, because some ending is right after one and wrong after the other. So whatever makes our masks has to
        be in one of at least six states, and a beginning's length is not what tells them apart. Are six enough? The
        next section builds them.""",
    ],
)

# %% [markdown]
# ## 2 · A machine by hand
#
# A **transition** says: in this state, with one of these characters, go to that state. A line of the format needs
# seven of them.

# %%
bard = gv.load_model("bard")
classes = gv.char_classes(bard.vocabulary)
UPPER, LOWER, SPACE, NEWLINE = (classes[name] for name in ("UPPER", "LOWER", "SPACE", "NEWLINE"))
COLON = set(bard.vocabulary.ids(b":"))

# %%
transitions = [
    (0, UPPER, 1),
    (1, UPPER, 1),
    (1, COLON, 2),
    (2, SPACE, 3),
    (3, LOWER, 4),
    (4, LOWER, 4),
    (4, NEWLINE, 5),
]

# %%
fsm = gv.GuidedFSM(bard.vocabulary, accepting=5)
for source, characters, target in transitions:
    fsm.add_transition(source, characters, target)
gv.draw_machine(fsm, title="UPPER+: LOWER+↵")

# %% [markdown]
# The double ring marks an **accepting** state. Put a finger on the start and spell `K: so↵`: every character moves it,
# and it ends in the double ring. Now try `K so↵`: after the `K` it is stuck.
#
# The legal tokens of a state are those on the arrows that leave it. That is the whole mask.

# %%
def spell(text):
    """Follow a text through the machine, and count the legal tokens before each character."""
    fsm.reset()
    for character in text:
        print(f"state {fsm.state}, {len(fsm.allowed_tokens()):2} legal, then {character!r}")
        fsm.advance(bard.encode(character)[0])
    print(f"state {fsm.state}, {len(fsm.allowed_tokens()):2} legal, complete: {fsm.is_complete()}")


# %% [question]
gv.predict(
    "The line begins with `K`. How many of the 65 tokens are legal after it?",
    number=27,
    reveal=[lambda: spell("K: so\n"), "In state 1 the 26 capitals and the colon are legal."],
)

# %% [markdown]
# ## Exercise 1 · Advance ★★
#
# Be the finger. `transitions` is a list like the one above. Write `advance(transitions, state, token)`: the state that
# the token leads to, or `None` if no transition fits.

# %%
def advance(transitions, state, token):
    # solution:
    for source, tokens, target in transitions:
        if source == state and token in tokens:
            return target
    return None
    # open:
    # ...  # for source, tokens, target in transitions: which one fits?
    # end


gv.checks.advance(advance)

# %% [markdown]
# Here is lab 02's loop again. There a list said what is legal; here the state does, and the last line moves it with
# your `advance`. (Until that is right, the loop stops after one letter.)

# %%
def write(model, prompt, transitions, seed=0):
    tokens, written, state = model.encode(prompt), "", 0
    while state in range(5):  # 5 is the end, and None is no state
        legal = set().union(*(ids for source, ids, _ in transitions if source == state))
        logits = gv.sampling.apply_mask(model.logits(tokens), legal)
        tokens.append(gv.sampling.sample(gv.sampling.softmax(logits), seed, len(written)))
        written += model.vocabulary.pieces[tokens[-1]].decode()
        state = advance(transitions, state, tokens[-1])
    return written


[write(bard, "\n", transitions, seed) for seed in range(2)]

# %% [markdown]
# The library does the same with a guide. Same seed, same text as yours, but live: the machine is on the stage now, its
# states named `q0` to `q5`, and below it the mask over all 65 tokens. Step through it and watch where the machine is,
# where it goes round, and what *Z* says.

# %%
guide = gv.guide(fsm.machine(), bard.vocabulary)
gv.stage(bard, "\n", guide, seed=0, constraint="UPPER+: LOWER+↵", show=7)

# %%
runs = [gv.record(bard, "\n", guide, seed=seed) for seed in range(5)]


def show_runs():
    for run in runs:
        name, word = run.text.rstrip("\n").split(": ")
        print(f"{run.text!r:28} fits: {fits(run.text)}   {len(name):2} + {len(word)} letters")


# %% [question]
gv.predict(
    "Five runs with five seeds. How many fit, and are the names equally long?",
    choices=["all fit, equally long", "all fit, of different lengths", "only some fit"],
    answer="all fit, of different lengths",
    reveal=[
        show_runs,
        """All fit, and the model chose the lengths, by writing the colon and the new line. It also chose the letters:
        Oxford and Leontes are people of the plays, and the machine knows no names.""",
    ],
)

# %% [markdown]
# Where do the letters come from, the model or the machine? Here is the same machine
# around a **toy model** that has no wishes at all, only equal logits.

# %%
dice = gv.ToyModel(bard.vocabulary.pieces, lambda tokens: np.zeros(65))
for seed in range(3):
    print(repr(gv.record(dice, "\n", guide, seed=seed).text))

# %% [markdown]
# As valid as the five runs, and nonsense. The machine gives the form, the model gives everything else, and in
# Shakespeare's case that has survived.
#
# **What breaks.** Look at `FRIARGILE` above. Here is Z at each of its letters.

# %%
friar = runs[2]
labels = [f"{step.position}: {bard.vocabulary.display(step.token)}" for step in friar.steps][:9]
gv.draw_bars(labels, {"Z": [step.mass for step in friar.steps][:9]}, title="legal mass at each letter")

# %% [markdown]
# After `FRIAR` nearly nothing of the model's wish was legal: it wanted a space, as in *FRIAR LAURENCE*. Our format has
# no names of two words, so something had to be glued on. We come back to it twice: exercise 2 mends the format, and
# section 5 asks what the mask has done here.

# %% [markdown]
# ## 3 · One or more
#
# Why did `UPPER+` take *two* states, 0 and 1? Somebody saves one of them: a capital leads from 0 back to 0, and so does
# a colon from 0 on to the next. The same for `LOWER+`. A and B mark the states that have become one.

# %%
lazy = gv.GuidedFSM(bard.vocabulary, accepting=3)
lazy_transitions = [(0, UPPER, 0), (0, COLON, 1), (1, SPACE, 2), (2, LOWER, 2), (2, NEWLINE, 3)]
for source, characters, target in lazy_transitions:
    lazy.add_transition(source, characters, target)
gv.views.draw_machines(fsm.machine(), lazy.machine(), titles=("ours", "two states saved"))

# %% [question]
gv.predict(
    "Which is the shortest text on which the two machines disagree?",
    choices=["`: ↵`", "`: s↵`", "`K: ↵`", "none: they accept the same texts"],
    answer="`: ↵`",
    reveal=[
        lambda: print(gv.machines.shortest_difference(fsm.machine(), lazy.machine())),
        """A line without a name and without a word. The two states of `+` remember different things: "none yet", from
        where there is no way on, and "at least one", from where one may stay or go. A single state with a loop
        means none or more, which is written `*`.""",
    ],
)

# %% [markdown]
# A **quantifier** is how often something may come. `gv.pattern` makes machines from pairs of *what* and *how often*.

# %%
def show_sizes():
    for often in ("1", "?", "*", "+", "{2,4}"):
        machine = gv.pattern([("LOWER", often)])
        print(f"{often:6} {machine!r:32} empty text: {machine.accepts(b'')}")


# %% [question]
gv.predict(
    "`LOWER` with each of these quantifiers is a machine. Which machine has only one state?",
    choices=["`1`", "`?`", "`*`", "`+`"],
    answer="`*`",
    reveal=[show_sizes, "One state with a loop. It accepts the empty text."],
)

# %% [markdown]
# ## Exercise 2 · Names of several words ★★
#
# Build the machine for lines like `FRIAR LAURENCE: well↵`: a name may be several words in capitals, with **one** space
# between two of them. The rest is as before. For `add_transition`, a class may be given by its name and a character by
# itself. Number the states as you like; the first transition is there.
#
# The check compares machines. If yours is wrong, you see it drawn, with the shortest text on which it is wrong.

# %%
several = gv.GuidedFSM(bard.vocabulary, accepting=6)
several.add_transition(0, "UPPER", 1)
# solution:
several.add_transition(1, "UPPER", 1)
several.add_transition(1, " ", 2)
several.add_transition(2, "UPPER", 1)
several.add_transition(1, ":", 3)
several.add_transition(3, " ", 4)
several.add_transition(4, "LOWER", 5)
several.add_transition(5, "LOWER", 5)
several.add_transition(5, "\n", 6)
# open:
# ...  # eight more, the last of them to state 6
# end
gv.checks.several_words(several)

# %%
for seed in range(5):
    print(repr(gv.record(bard, "\n", gv.guide(several.machine(), bard.vocabulary), seed=seed).text))

# %% [markdown]
# Once the exercise is solved, the friar has a name of his own. (Until then nothing is complete, and the five texts are
# empty.) *A small Z is the sound of a format that does not fit*, said lab 02: you have heard it, and mended the format.
#
# Seven states were wired, yet the check speaks of six. Which two could be one? (What may come after a space inside a
# name, and what at the start?) A transition may lead *back*, too.

# %% [markdown]
# ### Nobody draws machines for a living
#
# The pattern below says in a line what took us seven. So does a **regex**, which you know from Python.

# %%
speaker = gv.pattern([("UPPER", "+"), (":", "1"), (" ", "1"), ("LOWER", "+"), ("\n", "1")])
by_regex = gv.regex("[A-Z]+: [a-z]+\n")

# %% [question]
gv.predict(
    "How do these two machines compare with the one by hand?",
    choices=["they are larger", "they are as large, with other states", "they are the same machine"],
    answer="they are the same machine",
    reveal=[
        lambda: print(speaker, sum(map(len, speaker.edges)), "transitions"),
        lambda: print(speaker == fsm.machine(), by_regex == fsm.machine()),
        """Equal, as values. Every machine here is made as small as it can be and its states are numbered in a fixed
        order, so two machines that accept the same texts are the same. (How a regex becomes a machine is the
        subject of lab 04.)""",
    ],
)

# %% [markdown]
# The smallest machine worth knowing well is that of a decimal number, `\d+(\.\d+)?`: digits, and perhaps a point with
# more digits.

# %%
decimal = gv.regex(r"\d+(\.\d+)?")


def show_beginnings():
    for text in (b"", b"3", b"3.", b"3.1"):
        print(f"{text.decode():4} complete: {decimal.accepts(text)!s:6} a beginning: {decimal.accepts_prefix(text)}")


# %% [question]
gv.predict(
    "How many states of this machine are accepting?",
    number=2,
    reveal=[
        show_beginnings,
        lambda: gv.draw_machine(decimal, title=r"\d+(\.\d+)?"),
        """Two of four states: a number may end before the point or after a digit behind it, and it may go on from
        both. At the point itself it may not end: one more "none yet". In an accepting state the text may stop and
        need not: the model decides, by EOS if it has one.""",
    ],
)

# %% [markdown]
# ## Exercise 3 · The time of day ★★
#
# Write a regex for the time of day, from `00:00` to `23:59`: always two digits, a colon, two digits. How it is
# written does not matter; the check compares machines.

# %%
# solution:
clock = r"([01]\d|2[0-3]):[0-5]\d"
# open:
# clock = r""
# end
gv.checks.clock(clock)

# %%
print(f"{gv.machines.count_texts(gv.regex(clock), 5):,} texts of five characters")

# %% [markdown]
# A day has 24 × 60 = 1,440 minutes. A machine can be *counted*: walk it from the start and add up the ways, a character
# at a time. It is a check that costs one line, and we need it now.

# %% [markdown]
# ## 4 · Whatever the model thinks
#
# A guarantee that needs a good model is none. So here are two bad ones, over all printable characters of ASCII. The
# first makes **noise**: random logits as large as 10<sup>30</sup>. The second is **spiteful**: it gives every character
# that a date could use −10<sup>30</sup>, and all others 10<sup>30</sup>.

# %%
printable = [bytes([code]) for code in range(32, 127)]
useful = np.isin(printable, [b"%d" % digit for digit in range(10)] + [b"-"])
models = [
    gv.ToyModel(printable, lambda tokens: np.random.default_rng(tokens).normal(scale=1e30, size=95)),
    gv.ToyModel(printable, lambda tokens: np.where(useful, -1e30, 1e30)),
]

# %%
def hostile_runs(machine):
    """500 texts, half from each model; each run has a prompt of its own, so that the noise is new."""
    guide = gv.guide(machine, models[0].vocabulary)
    return [gv.record(models[seed % 2], f"run {seed}", guide, seed=seed).text for seed in range(500)]


print([gv.record(model, "run 0", max_tokens=10).text for model in models], "without a mask")

# %% [markdown]
# The format is dates from 2000 to 2099.

# %%
dates = r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"


def exists(text):
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False

# %%
texts = hostile_runs(gv.regex(dates))
fitting = [text for text in texts if re.fullmatch(dates, text)]

# %% [question]
gv.predict(
    "500 hostile runs. How many of the texts are days that exist?",
    number=lambda: sum(map(exists, texts)),
    within=25,
    reveal=[
        lambda: print(len(fitting), "fit,", sum(map(exists, texts)), "exist"),
        lambda: print([text for text in texts if not exists(text)][:5]),
        """All 500 fit. And some do not exist: there is no 31st of November. A mask guarantees what the machine says,
        not what you meant.""",
    ],
)

# %% [markdown]
# A count tells it without a model: how many texts does the machine accept, and how many days has a century?

# %%
print(f"{gv.machines.count_texts(gv.regex(dates), 10):,} texts, {(date(2100, 1, 1) - date(2000, 1, 1)).days:,} days")

# %% [markdown]
# So we say what we mean: months of 31 days, months of 30, February, and the 29th in leap years, whose number ends in a
# multiple of four.

# %%
long_month, short_month = r"(0[13578]|1[02])-(0[1-9]|[12]\d|3[01])", r"(0[469]|11)-(0[1-9]|[12]\d|30)"
february, leap_day = r"02-(0[1-9]|1\d|2[0-8])", "([02468][048]|[13579][26])-02-29"
calendar = gv.regex(rf"20(\d\d-({long_month}|{short_month}|{february})|{leap_day})")
print(calendar, f"{gv.machines.count_texts(calendar, 10):,} texts")

# %% [question]
gv.predict(
    "And now: how many of 500 hostile runs exist?",
    number=500,
    reveal=[
        lambda: print(sum(map(exists, hostile_runs(calendar))), "of 500 exist"),
        """All, and not by luck: 36,525 different texts of which each is a day. Python's calendar is the judge, and it
        shares nothing with our machine.""",
    ],
)

# %% [markdown]
# The machine never asked who was writing, and it cannot: `guide.mask(state)` has no model among its arguments. Lab
# 02 called that **orthogonal**. Once more, with the machine: Shakespeare, Shakespeare without his cache, and dice.

# %%
def legal_counts(model):
    return {step.state: step.legal for seed in range(5) for step in gv.decode(model, "\n", guide, seed=seed)}


print(legal_counts(bard))
print(legal_counts(dice) == legal_counts(bard))

# %%
bard.keep_cache = False
print([gv.record(bard, "\n", guide, seed=seed).text for seed in range(5)] == [run.text for run in runs])
bard.keep_cache = True

# %% [markdown]
# ## 5 · What a mask keeps, and what it changes
#
# **It keeps** the model's preferences among the legal tokens, at each single step. We take the legal candidates at all
# steps of the five runs, divide the probability of each by that of the next, before and after the mask, and compare.

# %%
ratios = []
for step in (step for run in runs for step in run.steps):
    legal = [c for c in step.candidates if c.legal]
    ratios += [(a.raw / b.raw) / (a.masked / b.masked) for a, b in pairwise(legal)]
print(f"{len(ratios)} ratios, before : after lies between {min(ratios):.6f} and {max(ratios):.6f}")

# %% [markdown]
# **It changes** the preferences among whole *texts*. The smallest example: a toy that has to write a month in two
# digits. It is nearly sure of `19`, which is no month. If it begins with `0`, it goes on with `7` or `6`.

# %%
wish = {
    "month ": {"1": 0.9, "0": 0.1},
    "1": {"9": 0.97, "0": 0.01, "1": 0.01, "2": 0.01},
    "0": {"7": 0.8, "6": 0.2},
}
pieces = [*"0123456789", "month "]


def rule(tokens):
    return np.log([wish.get(pieces[tokens[-1]], {}).get(piece, 1e-9) for piece in pieces])

# %%
toy = gv.ToyModel([piece.encode() for piece in pieces], rule)
months = gv.guide(gv.regex("0[1-9]|1[0-2]"), toy.vocabulary)
gv.stage(toy, "month ", months, seed=0, constraint="0[1-9]|1[0-2]", show=1)

# %% [markdown]
# Step to the second digit. The wish for `9` is struck, Z is 0.03, and one of three leftovers gets all.
#
# What *should* have come out? Suppose we draw texts from the free model, throw away all that are no month, and keep the
# rest: that is **conditioning**. Only twelve texts are months, so we can compute both, exactly and without a draw.

# %%
def chance(text, guide=None):
    """The probability that this text is drawn, step by step, with or without a mask."""
    tokens, result, state = toy.encode("month "), 1.0, guide and guide.initial
    for token in toy.encode(text):
        odds = gv.sampling.masked_softmax(toy.logits(tokens), guide.mask(state) if guide else range(len(pieces)))
        result *= odds[token]
        tokens.append(token)
        state = guide and guide.advance(state, token)
    return result

# %%
valid = [f"{month:02}" for month in range(1, 13)]
free = np.array([chance(text) for text in valid])
conditioned = free / free.sum()
masked = np.array([chance(text, months) for text in valid])
print(f"all masked chances: {masked.sum():.3f}; a free text is a month with chance {free.sum():.3f}")

# %% [question]
gv.predict(
    "In which of these months do the two differ most?",
    choices=["`01`", "`07`", "`10`", "`12`"],
    answer="`07`",
    reveal=[
        lambda: gv.draw_bars(valid, {"conditioned": conditioned, "masked": masked}, title="chance of each month"),
        """Of the free texts that are months, 63% are `07`. The masked decode writes `07` in 8 of 100. In 90 it has
        begun with `1`: that was legal, and likely, only not for a reason that stayed legal. When the `9` turned out
        to be forbidden, there was no way back.

        A mask scales up at each step what is legal now; it does not know how much of it will survive. Conditioning
        scales up once, at the end. Keeping ratios at each step is not keeping them among texts.""",
    ],
)

# %%
def show_weights():
    draws = [gv.record(toy, "month ", months, seed=seed) for seed in range(1000)]
    text = np.array([draw.text for draw in draws])
    weight = np.array([np.prod([step.mass for step in draw.steps]) for draw in draws])
    for month in sorted(set(text)):
        here = text == month
        print(f"{month}   drawn {here.mean():.3f}   weighed by its Zs {weight[here].sum() / weight.sum():.3f}")


# %% [question]
gv.predict(
    "Each masked text is drawn too often or too rarely by a factor. What decides it? (The stage showed it.)",
    choices=["the Z of its last step", "the product of the Zs of all its steps", "the number of its tokens"],
    answer="the product of the Zs of all its steps",
    reveal=[
        show_weights,
        """The factor is 0.127 divided by the product of the Zs on its way: `07` by 0.127 ÷ 1, `10` by 0.127 ÷ 0.03,
        which is four times too often. Weigh each draw by its product, and the conditioned numbers of the picture
        come back: `07` near 63%, `10` to `12` near 7% each (a thousand draws, so the last digits are chance).""",
    ],
)

# %% [markdown]
# And bard? The product of the Zs for the five runs of section 2, the largest set to 1:

# %%
products = np.array([np.prod([step.mass for step in run.steps]) for run in runs])
for run, share in zip(runs, products / products.max(), strict=True):
    print(f"{run.text!r:28} {share:.0e}")

# %% [markdown]
# Each was drawn once. By the model's own taste the line of `FRIARGILE` should be more than ten million times rarer
# beside the first than the mask has made it. So, honestly: **masked decoding gives valid texts, but not in the
# proportions in which the model would give them.**
#
# What helps: a format that the model wants to write anyway, for where every Z is 1 the two are the same; so ask for it
# in the prompt, and leave the model its words, as in exercise 2. There are methods that draw several times and weigh,
# at a price. Simply throwing away is no way where hardly any free text fits.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * Two beginnings share a **state** if the same endings complete them.
# * The mask of a state is what stands on the arrows out of it.
# * `+` needs two states: *none yet* and *at least one*.
# * By hand, as a pattern, as a regex: the same texts give the same machine.
# * The guarantee holds for every model and for every text that comes to its end, and says only what the machine says.
# * Ratios among tokens stay, at each step. Ratios among texts do not: the product of the Zs says by how much.
#
# Next: [lab 04](04_regex_to_tokens.ipynb). Real tokens are no characters; one of them may walk several transitions.

# %% [markdown]
# ## How the production engines do it
#
# * **Outlines**: Willard & Louf, *Efficient Guided Generation for Large Language Models*, arXiv 2307.09702, 2023: from
#   regex to machine, and for each state the list of its legal tokens.
# * **vLLM** and **SGLang** take a regex with the request: `structured_outputs={"regex": …}` and `regex`.
# * **Section 5**: Park et al., *Grammar-Aligned Decoding*, NeurIPS 2024, arXiv 2405.21047, shows the effect on large
#   models, and a decoder that nears conditioning the more it draws.
# * **Section 1** is the theorem of Myhill and Nerode: with all endings for columns, as many states as different rows.
#   Nerode, *Linear Automaton Transformations*, Proceedings of the AMS 9, 1958.
#
# `GuidedFSM` and the patterns follow the published NanoGPT lesson.
