# question: Can a fixed mask for each position do it?

# %% [markdown]
# # Lab 02 · Static masks
#
# **Question.** A constant knows nothing of time. What if the mask may change from one position to the next?
#
# **Goal.** You add one line to a decode loop and get output that fits a format every single time, you see what the
# line leaves alone, and where fixed positions end.
#
# **Time.** {minutes} minutes, three exercises. [Lab 01](01_logit_bias.ipynb) comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **mask** | the set of legal tokens at one step |
# | **legal** | a token that the mask leaves; all others get the logit −∞ |
# | **legal mass Z** | the probability that the legal tokens had *before* the mask, added up |
# | **position** | how many tokens have been written: 0, 1, 2, … |
# | **character class** | a named set of characters, such as DIGIT or UPPER |
# | **KV cache** | what a model keeps of the text so far, so as not to compute it again |

# %%
import re
from collections import Counter
from itertools import pairwise

import numpy as np

import guidedviz as gv

# %% [markdown]
# ## 1 · A vocabulary you can see whole
#
# `bard` learned Shakespeare letter by letter, so one token is one character and all 65 fit on a line.

# %%
bard = gv.load_model("bard")
print("".join(bard.vocabulary.display(token) for token in range(len(bard.vocabulary))))

# %% [markdown]
# A **character class** is a set of these ids with a name. Masks are built from them.

# %%
classes = gv.char_classes(bard.vocabulary)

# %% [question]
gv.predict(
    "How many different digits did Shakespeare need?",
    number=lambda: len(classes["DIGIT"]),
    reveal=[
        lambda: gv.draw_bars(list(classes), {"tokens": list(map(len, classes.values()))}, title="tokens in each class"),
        "The text that `bard` was trained on has a single kind of digit, a `3`.",
    ],
)

# %% [markdown]
# And count the punctuation yourself:

# %%
print(" ".join(bard.vocabulary.display(token) for token in sorted(classes["PUNCT"])))

# %% [markdown]
# Ten. The published NanoGPT lesson that this lab follows prints 11. Sets that are counted by the machine and looked at
# by a person are right more often than either alone.

# %% [markdown]
# ## 2 · One mask, one step
#
# What does `bard` want to write after `ROMEO:` and a new line, and what is left of it if only lower-case letters are
# legal?

# %%
prompt = "ROMEO:\n"
lower_first = gv.static_masks(bard.vocabulary, [classes["LOWER"]])
step = next(gv.decode(bard, prompt, lower_first))
gv.draw_distribution(step, title="after ROMEO:")

# %% [markdown]
# Lines begin with a capital, so nearly all of the model's wish is struck. **Z**, the legal mass, says how much was
# left. What is left is scaled up: each legal probability is divided by Z, so that they add up to 1 again.

# %%
legal = [c for c in step.candidates if c.legal][:5]


def compare_pairs():
    for a, b in pairwise(legal):
        print(f"{a.piece.decode()} / {b.piece.decode()}   before {a.raw / b.raw:.3f}   after {a.masked / b.masked:.3f}")


# %% [question]
gv.predict(
    "Take two legal letters, one of them twice as likely as the other before the mask. And after the mask?",
    choices=["more than twice as likely", "less than twice as likely", "exactly twice as likely"],
    answer="exactly twice as likely",
    reveal=[
        compare_pairs,
        """The ratio of each pair is the same before and after. Both probabilities were divided by the same Z, which a
        ratio cancels. This is what a mask preserves: among the legal tokens, the model's own preferences.""",
    ],
)

# %% [markdown]
# In the next picture the two bars of each letter are its shares among the five, before and after the mask.

# %%
letters = [c.piece.decode() for c in legal]
share = np.array([c.raw for c in legal]) / sum(c.raw for c in legal)
kept = np.array([c.masked for c in legal]) / sum(c.masked for c in legal)
gv.draw_bars(letters, {"before": share, "after": kept}, title="shares among these five")

# %% [markdown]
# ## Exercise 1 · The mask ★★
#
# Write `apply_token_mask(logits, legal)`. It gives new logits: those of the ids in the set `legal` as they were, all
# others −∞ (`-np.inf`). Leave the array you were given alone. If nothing is legal, raise a `ValueError`: there would
# be nothing to draw.

# %%
def apply_token_mask(logits, legal):
    # solution:
    if not legal:
        raise ValueError("no legal token")
    masked = np.full(len(logits), -np.inf)
    ids = list(legal)
    masked[ids] = logits[ids]
    return masked
    # open:
    # ...  # np.full(len(logits), -np.inf) is a start
    # end


gv.checks.token_mask(apply_token_mask)

# %% [markdown]
# ## 3 · A mask for each position
#
# Now a list of masks: five lower-case letters, then a new line. The **guide** that `gv.static_masks` makes keeps one
# thing in mind, its state: the position.

# %%
masks = [classes["LOWER"]] * 5 + [classes["NEWLINE"]]
five = gv.static_masks(bard.vocabulary, masks)
line = "JULIET:\nGood night, good night! parting is such sweet "

# %%
gv.stage(bard, line, five, seed=1, constraint="five lower-case letters, then a new line", show=5)

# %% [markdown]
# Step through it and watch three things: the **state** counts the positions; what is not legal at its position
# stays visible but **struck**; before the last step **one** token is legal, and even letters are struck. It is drawn
# with probability 1, whatever the model thought of it. Press the bar of a struck token: the stage refuses and tells you
# why.

# %% [markdown]
# ## Exercise 2 · How many texts? ★★
#
# Write `count_texts(masks)`: how many different texts can a list of masks let through, if each token is a character?

# %%
def count_texts(masks):
    # solution:
    count = 1
    for legal in masks:
        count *= len(legal)
    return count
    # open:
    # ...  # every choice at one position goes with every choice at the next
    # end


print(count_texts(masks))
gv.checks.count_texts(count_texts)

# %% [markdown]
# Among so many texts the model still has a choice to make. A constraint is no script. We let it choose 200 times, each
# time with another seed. The judge is Python's `re`, which knows nothing about masks.

# %%
runs = [gv.record(bard, line, five, seed=seed).text for seed in range(200)]


def judge():
    fit = sum(bool(re.fullmatch(r"[a-z]{5}\n", text)) for text in runs)
    print(f"{fit} of {len(runs)} fit, {len(set(runs))} of them different; the commonest:")
    print(Counter(text.strip() for text in runs).most_common(6))


# %% [question]
gv.predict(
    "How many of the 200 runs fit the format?",
    number=200,
    reveal="""All of them, and it could not be otherwise: there is no seed, no model and no temperature at which a
           token of probability 0 is drawn. Compare that with lab 00, where the best we could say was "usually".""",
)

# %% [question]
gv.predict(
    "How many different words are among the 200?",
    choices=["1", "about 20", "more than 100"],
    answer="more than 100",
    reveal=[judge, "The mask fixes the form. The model still chooses the word."],
)

# %% [markdown]
# ## 4 · The one added line
#
# Here is a whole decode loop, in six lines. Without the marked one it is the loop of every language model.

# %%
def write(model, prompt, masks, seed=0):
    tokens = model.encode(prompt)
    for position, legal in enumerate(masks):
        logits = model.logits(tokens)
        logits = gv.sampling.apply_mask(logits, legal)  # the one added line
        tokens.append(gv.sampling.sample(gv.sampling.softmax(logits), seed, position))
    return b"".join(model.vocabulary.pieces[token] for token in tokens).decode()


print(write(bard, line, masks, seed=1))

# %% [markdown]
# Remember its place: after the model, before the softmax. Every engine in these labs, up to the fastest, computes
# `legal` in its own way and then does just this. What stands before it, the model, is eighty lines of NumPy, and
# [a page of its own](deeper/the_model.ipynb) reads them with you.

# %%
def write_twice(count=10):
    """Whether the runs without the cache are the runs with it."""
    bard.keep_cache = False
    slow = [gv.record(bard, line, five, seed=seed).text for seed in range(count)]
    bard.keep_cache = True
    print("the same without the cache:", slow == runs[:count])


# %% [question]
gv.predict(
    "The line sits between model and draw. Which other part of a decode loop has to know about the mask?",
    choices=[
        "the cache",
        "the temperature",
        "top-k, which keeps the k likeliest tokens and drops the rest",
        "none of these",
    ],
    answer="none of these",
    reveal=[
        write_twice,
        """Without its KV cache the model computes the whole text anew at each step: slower, and the same tokens.
        Temperature and top-k come after the mask and get legal tokens only.""",
    ],
)

# %% [markdown]
# Three settings, twenty runs each:

# %%
for settings in ({"temperature": 0}, {"temperature": 3.0}, {"top_k": 2}):
    texts = [gv.record(bard, line, five, seed=seed, **settings).text for seed in range(20)]
    fit = sum(bool(re.fullmatch(r"[a-z]{5}\n", text)) for text in texts)
    print(f"{settings}: {fit} of 20 fit, {len(set(texts))} different")

# %% [markdown]
# Two parts that do not have to know of each other are called **orthogonal**. It is why constrained decoding could be
# added to every engine there is without touching a model.
#
# The order matters, though: first mask, or first top-k?

# %%
top_two = gv.sampling.top_k(gv.sampling.softmax(bard.logits(bard.encode(prompt))), 2)

# %% [question]
gv.predict(
    "`top_two` keeps the two likeliest tokens after `ROMEO:`. How much of their probability is lower-case letters?",
    number=lambda: top_two[list(classes["LOWER"])].sum(),
    within=0.1,
    reveal="Nothing. Both were capitals, and there is no token left to draw. So: mask first, cut after.",
)

# %% [markdown]
# ## 5 · Where fixed positions end
#
# Valid is not the same as good. In the play, Juliet's next word is *sorrow*: six letters. Our guide forbids
# Shakespeare's own word. Look at what it cut off in the run above: Z at each of the six positions.

# %%
trace = gv.record(bard, line, five, seed=1)
labels = [f"{step.position}: {bard.vocabulary.display(step.token)}" for step in trace.steps]
gv.draw_bars(labels, {"Z": [step.mass for step in trace.steps]}, title="legal mass at each position")

# %% [markdown]
# In the middle of a word Z is near 1: letters are what the model wants as well. It falls twice. At position 3 the word
# *man* was over, and the mark that was wanted (step to position 3 above to see which) is not legal. At position 5
# *manage* would have gone on, but only the new line is legal. **A small Z is the sound of a format that does not fit.**

# %%
free = [gv.record(bard, line, seed=seed, max_tokens=12).text for seed in range(100)]
lengths = Counter(len(re.match("[a-z]*", text)[0]) for text in free)


def draw_lengths():
    sizes = sorted(lengths)
    return gv.draw_bars([f"{n} letters" for n in sizes], {"words": [lengths[n] for n in sizes]}, title="next word")


# %% [question]
gv.predict(
    "The model writes its next word freely, 100 times. How many of the 100 words have five letters?",
    number=lambda: lengths[5],
    within=10,
    reveal=draw_lengths,
)

# %% [markdown]
# Words come in many lengths (0 means that it began with something else), and `masks` was fixed before the first letter
# was known. What we want to say is *one or more letters, then a new line*.
#
# You may have an idea: allow a letter **or** the new line from the second position on. Try it.

# %%
either = classes["LOWER"] | classes["NEWLINE"]
loose = gv.static_masks(bard.vocabulary, [classes["LOWER"]] + [either] * 7)
texts = [gv.record(bard, line, loose, seed=seed).text for seed in range(100)]
words = [text for text in texts if re.fullmatch(r"[a-z]+\n", text)]

# %% [question]
gv.predict(
    "How many of the 100 texts are one word and then one new line?",
    number=lambda: len(words),
    within=10,
    reveal=[
        lambda: print("the others, for example:", [text for text in texts if "\n" in text[:-1]][:5]),
        """Eight masks always write eight tokens, so only a word of exactly seven letters can fit: the list cannot stop
        early. The others go on after the new line, or never come to one. The mask of position 3 is the same whether
        the line ended at position 2 or not. A list of positions cannot do better, for it never looks at what was
        written.""",
    ],
)

# %% [markdown]
# ## Exercise 3 · `Name: ` ★★
#
# Many scripts begin a line with `Romeo: `. Write `name_masks(letters)` for a name with that many letters: a capital,
# the rest in lower case, a colon, a space.

# %%
def name_masks(letters):
    colon, space = set(bard.vocabulary.ids(b":")), classes["SPACE"]
    # solution:
    return [classes["UPPER"], *[classes["LOWER"]] * (letters - 1), colon, space]
    # open:
    # ...  # a list of sets, one a position
    # end


gv.checks.name_masks(name_masks)

# %%
for letters in (5, 8, 10):
    found = name_masks(letters)
    print(letters, found and gv.record(bard, "\nSpeak, good ", gv.static_masks(bard.vocabulary, found), seed=0).text)

# %% [markdown]
# **What breaks.** Once your masks are right every line fits, but the name ends where *you* said: too early, too late,
# or right by luck. You could have a list for each length, but the loop would have to pick one before the first letter.
# The model should decide when the name is over, by writing the colon.
#
# So the state must be more than a position. It must say *where in the format we are*, and the token just written must
# move it. A thing that has states and moves by what it reads is a **machine**.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * One line, between model and softmax, makes invalid output impossible: 200 of 200.
# * Among legal tokens the ratios stay as they were. Z says how much was cut away.
# * The mask is orthogonal to cache, temperature and top-k, as long as it comes first.
# * A list of masks fixes the length. Formats with *one or more* need a state that reads.
#
# Next: [lab 03](03_fsm.ipynb) builds that machine.

# %% [markdown]
# ## How the production engines do it
#
# * **Transformers**, `generate(prefix_allowed_tokens_fn=…)`: your function is given all tokens so far and returns the
#   legal ids; `PrefixConstrainedLogitsProcessor` puts the rest to −∞ and, like your exercise, refuses an empty list.
#   It comes from De Cao et al., *Autoregressive Entity Retrieval*, arXiv 2010.00904.
# * **vLLM**, `SamplingParams(allowed_token_ids=…)`: one mask for all positions. The page `vllm.v1.sample.sampler`
#   lists the order: allowed ids first, then bias, temperature, top-k.
# * **XGrammar**, `apply_token_bitmask_inplace`: the added line as one call on the graphics card, with one bit a token.
#
# The 65 characters and their order are those of `data/shakespeare_char/prepare.py` in nanoGPT.
