# question: What must a mask remember?

# %% [markdown]
# # Lab 03 · Finite-state machines
#
# **Question.** A list of masks cannot say *one or more letters*. What must be remembered of the text so far?
#
# **Goal.** You can build a finite-state machine by hand, as a pattern and as a regex. You write the step that moves it,
# and you can say what its guarantee covers.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 02](02_static_masks.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **prefix** | a text that can be the start of a longer one |
# | **state** | what is remembered of the text so far: one of finitely many numbers |
# | **transition** | leads from one state to another, or back to the same, for each character of a set |
# | **finite-state machine** | states and transitions, with one state to start in; short *FSM* |
# | **accepting state** | a state in which the text may end |
# | **quantifier** | how often something may come: `1`, `?`, `*`, `+`, `{2,4}` |

# %%
import re
from datetime import date

import numpy as np

import guidedviz as gv

gv.views.draw_loop("fsm")

# %% [markdown]
# ## 1 · What must be remembered
#
# Here is a format in which the model chooses the lengths: a name in capitals, a colon, a space, one word, a new line.
# As a regex it is `[A-Z]+: [a-z]+\n`, where `+` means *one or more*.
#
# The position does not determine the mask: `ROM` and `K: ` have three characters each, and a colon may come only after
# `ROM`. So which prefixes need the same masks? **Those that the same endings complete.** We test ten prefixes with six
# endings. Python's `re` decides.

# %%
beginnings = ["", "R", "ROM", "ROMEO", "ROMEO:", "K:", "K: ", "K: s", "K: so", "K: so\n"]
endings = ["A: a\n", ": a\n", " a\n", "a\n", "\n", ""]


def fits(text):
    return bool(re.fullmatch("[A-Z]+: [a-z]+\n", text))

# %%
rows = {beginning: [fits(beginning + ending) for ending in endings] for beginning in beginnings}


def show_rows():
    """A row per prefix, a tick per ending that completes it."""
    print(" " * 10, *(f"{ending!r:>9}" for ending in endings))
    for beginning, row in rows.items():
        print(f"{beginning!r:10}", *("        ✓" if yes else "        ·" for yes in row))


# %% [question]
gv.predict(
    "The ten prefixes give ten rows of ticks. How many of the rows are different?",
    number=lambda: len(set(map(tuple, rows.values()))),
    reveal=[
        show_rows,
        """Six. `R`, `ROM` and `ROMEO` have the same row, so the masks need not tell them apart. Prefixes with different
        rows must be told apart, because some ending is right after one and wrong after the other. So at least six
        states are needed.""",
    ],
)

# %% [markdown]
# ## 2 · A machine by hand
#
# A **transition** is a triple: in this state, with one of these characters, go to that state. Our format needs seven
# of them. `gv.GuidedFSM` builds the machine from them. It starts in state 0.

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
# The double ring marks an **accepting** state. Follow `K: so↵` in the picture: each character takes one transition, and
# the last one leads to the double ring. With `K so↵` there is no transition for the space after `K`.
#
# Each arrow is a transition. The mask of a state is the set of tokens on the arrows that leave it.

# %%
def spell(text):
    """The state and the number of legal tokens before each character."""
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
# The machine reads several texts in the table below. A box marks the first character that cannot come. Its place is
# counted from 0. Add texts of your own: can you find one that is illegal at its last character?

# %%
tried = ["ROMEO: so\n", "ROMEO: so", "ROMEO", "Romeo: so\n", "ROMEO:so\n", "K: so well\n", "FRIAR LAURENCE: well\n"]
gv.views.draw_verdicts(fsm, tried)

# %% [markdown]
# ## Exercise 1 · Advance ★
#
# `transitions` is a list of triples: state, set of tokens, next state. Write `advance(transitions, state, token)`: the
# next state, or `None` if no transition fits. For example, `advance([(3, {49, 50}, 4)], 3, 50)` is 4.
#
# hint: A transition fits if it leaves this state and its set holds this token. State 0 is a state, too.
#
# hint: Loop with `for source, tokens, target in transitions:` and return the target of the one that fits. After the
# loop return None.

# %%
def advance(transitions, state, token):
    # solution:
    for source, tokens, target in transitions:
        if source == state and token in tokens:
            return target
    return None
    # open:
    # ...
    # end


gv.checks.advance(advance)

# %% [markdown]
# Here is the loop of lab 02 again. Now the state determines the mask, and the last line moves the state with your
# `advance`. (While the exercise is open, the loop stops after one letter.)

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
# A guide of the library does the same on the stage. `fsm.machine()` is our machine; its states are named `q0` to `q5`
# now. Press `Home` and step through it. Watch the state, the mask and Z.

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
    "Five runs with five seeds. In how many of the six states does the model choose between staying and going on?",
    number=2,
    reveal=[
        show_runs,
        """In two, q1 and q4: each has a loop and an arrow to the next state. There the model ends the name and the word
        when it wants, so the lengths differ. All five texts fit. The model also chose the letters. Oxford and Leontes
        are persons of the plays, and the machine knows no names.""",
    ],
)

# %% [markdown]
# **What breaks.** One of the five names is `FRIARGILE`. Here is Z at each of its letters.

# %%
friar = runs[2]
labels = [f"{step.position}: {bard.vocabulary.display(step.token)}" for step in friar.steps][:9]
gv.draw_bars(labels, {"Z": [step.mass for step in friar.steps][:9]}, title="legal mass at each letter")

# %% [markdown]
# After `F` the model wanted a small letter. After `FRIAR` it wanted a space, as in *FRIAR LAURENCE*: only 1 part in 800
# of the probability was legal. The format has no names of two words. Exercise 2 corrects this.

# %% [markdown]
# ## 3 · One or more
#
# `UPPER+` took *two* states, 0 and 1. Can we save one? In the second machine below, capitals loop on state 0, and the
# same is done for `LOWER+`. A and B mark the states that were merged.

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
        """A line without a name and without a word. The two states of `+` remember different things: "none yet" and "at
        least one". The text may go on only from the second. A single state with a loop means "none or more", which is
        written `*`.""",
    ],
)

# %% [markdown]
# ## Exercise 2 · Names of several words ★★
#
# Build the machine for lines like `FRIAR LAURENCE: well↵`: a name has one or more words in capitals, with **one** space
# between two words. `add_transition` takes a state, a class or a character, and a state. State 6 is the end.
#
# hint: After a word in capitals three things may come: a capital, a space, or the colon. After that space only a
# capital may come.
#
# hint: Begin with `(1, "UPPER", 1)`, `(1, " ", 2)` and `(2, "UPPER", 1)`: the last one leads *back*. Then come the
# colon, the space, the letters, a loop for more letters, and the new line.

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
# Once the exercise is solved, the third name is `FRIAR PETER`. (While it is open, the five texts are empty.)
#
# ### Patterns and regexes
#
# A **pattern** is a list of pairs: what may come, and its **quantifier**. One line replaces our seven transitions. A
# **regex** does the same.

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
        """They are equal. The library makes every finite machine as small as possible and numbers its states in a
        fixed order, so two machines for the same texts are the same. Lab 04 shows how, and explains the name
        `DFA`.""",
    ],
)

# %% [markdown]
# The machine of a decimal number, `\d+(\.\d+)?`, has two accepting states:

# %%
decimal = gv.regex(r"\d+(\.\d+)?")
gv.draw_machine(decimal, title=r"\d+(\.\d+)?")

# %% [question]
gv.predict(
    "Which of these prefixes cannot be a complete decimal number?",
    choices=["`3`", "`3.`", "`3.1`", "each can"],
    answer="`3.`",
    reveal=[
        lambda: print(*(f"{text}: {decimal.accepts(text.encode())}" for text in ("3", "3.", "3.1")), sep="   "),
        """After the point at least one digit is missing. In an accepting state the text may end, and it
        may go on. The model decides, by writing EOS or another token.""",
    ],
)

# %% [markdown]
# ## 4 · The guarantee does not depend on the model
#
# We test this with two hostile models; their tokens are the printable characters of ASCII. The first gives random
# logits of a size around 10<sup>30</sup>. The second gives −10<sup>30</sup> to every character that a date can use, and
# 10<sup>30</sup> to all others.

# %%
printable = [bytes([code]) for code in range(32, 127)]
useful = np.isin(printable, [b"%d" % digit for digit in range(10)] + [b"-"])
models = [
    gv.ToyModel(printable, lambda tokens: np.random.default_rng(tokens).normal(scale=1e30, size=95)),
    gv.ToyModel(printable, lambda tokens: np.where(useful, -1e30, 1e30)),
]

# %%
def hostile_runs(machine):
    """500 texts, half from each model, each with its own prompt."""
    guide = gv.guide(machine, models[0].vocabulary)
    return [gv.record(models[seed % 2], f"run {seed}", guide, seed=seed).text for seed in range(500)]


print("without a mask:", [gv.record(model, "run 0", max_tokens=10).text for model in models])

# %% [markdown]
# The format is a date from 2000 to 2099. Every month may have 31 days. `exists` asks Python's calendar.

# %%
dates = r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"


def exists(text):
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


texts = hostile_runs(gv.regex(dates))
fitting = [text for text in texts if re.fullmatch(dates, text)]

# %% [question]
gv.predict(
    "500 hostile runs. How many of the texts are days that exist?",
    choices=["all 500", "about 475", "about 250"],
    answer="about 475",
    reveal=[
        lambda: print(len(fitting), "fit,", sum(map(exists, texts)), "exist"),
        lambda: print([text for text in texts if not exists(text)][:5]),
        """All 500 fit the format. Some days do not exist, such as the 31st of November. A mask guarantees what the
        machine says, not what you meant.""",
    ],
)

# %% [markdown]
# A machine can also be *counted*: how many texts does it accept? That finds the fault without a model. Below is a regex
# for months of 31 days, of 30 days, February, and the 29th of February in leap years.

# %%
long_month, short_month = r"(0[13578]|1[02])-(0[1-9]|[12]\d|3[01])", r"(0[469]|11)-(0[1-9]|[12]\d|30)"
february, leap_day = r"02-(0[1-9]|1\d|2[0-8])", "([02468][048]|[13579][26])-02-29"
calendar = gv.regex(rf"20(\d\d-({long_month}|{short_month}|{february})|{leap_day})")
century = (date(2100, 1, 1) - date(2000, 1, 1)).days
for machine in (gv.regex(dates), calendar):
    print(machine, f"{gv.machines.count_texts(machine, 10):,} texts, {century:,} days")

# %% [question]
gv.predict(
    "And with the second machine: how many of the 500 dates exist?",
    number=500,
    reveal=[
        lambda: print(sum(map(exists, hostile_runs(calendar))), "of 500 exist"),
        """All of them. Equal counts alone would not prove it: 36,525 wrong texts have the same count. But if every
        accepted text is a day, equal counts mean that no day is missing.""",
    ],
)

# %% [markdown]
# `guide.mask(state)` does not know the model. So the guarantee holds for every model, every temperature and every seed.
# What a mask *changes* in the texts of a model is another matter:
# [lab 12](12_what_masks_change.ipynb) measures it.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "The text is complete at the first accepting state." | `3` is accepted, and so is `3.1`: it may go on. | 3 |
# | "`+` is a loop on one state." | That is `*`: the two machines differ. | 3 |
# | "It fits the date regex, so it is a date." | 37,200 texts fit; a century has 36,525 days. | 4 |

# %% [markdown]
# ## Recap
#
# * Two prefixes share a **state** if the same endings complete them.
# * The mask of a state is the set of tokens on its arrows; a drawn token moves the state.
# * `+` needs two states: *none yet* and *at least one*.
# * By hand, as a pattern or as a regex: the same texts give the same machine.
# * The guarantee holds for every model, and it says only what the machine says.
#
# Next: [lab 04](04_regex_to_machine.ipynb). There a regex becomes a machine.

# %% [markdown]
# ## How the production engines do it
#
# * **Outlines**: Willard and Louf, [*Efficient Guided Generation for Large Language
#   Models*](https://arxiv.org/abs/2307.09702) (2023): from a regex to a machine, and per state the legal tokens.
# * **vLLM** takes a regex per request: [structured outputs](https://docs.vllm.ai/en/latest/features/structured_outputs/).
# * **SGLang** does, too: [structured outputs](https://docs.sglang.io/advanced_features/structured_outputs.html).
# * **NanoGPT**: `GuidedFSM` and the patterns follow a lesson on [nanoGPT](https://github.com/karpathy/nanoGPT).
# * Section 1 is the [Myhill–Nerode theorem](https://en.wikipedia.org/wiki/Myhill%E2%80%93Nerode_theorem): with all
#   prefixes as rows and all endings as columns, the smallest machine has one state per different row. (Ours leave out
#   the row without a tick.)

# %% [markdown]
# ## Further reading
#
# * [*Regular Expression Matching Can Be Simple And Fast*](https://swtch.com/~rsc/regexp/regexp1.html) by Russ Cox: why
#   machines are faster than backtracking.
# * [Python's `re`](https://docs.python.org/3/library/re.html): the syntax that `gv.regex` reads.
# * [*Grammar-Aligned Decoding*](https://arxiv.org/abs/2405.21047): what masks change in the distribution of texts.

# %% [markdown]
# ## A puzzle
#
# A loop stops as soon as the state is accepting. Which texts of `[A-Z]+` can it write? How must the loop decide
# instead?
#
# hint: The state after one capital is accepting already. Who should decide whether the text goes on?
