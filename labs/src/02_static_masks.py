# question: Can a fixed mask for each position do it?

# %% [markdown]
# # Lab 02 · Static masks
#
# **Question.** A constant bias is the same at every position. What if the set of legal tokens changes from one position
# to the next?
#
# **Goal.** You write the loop of masked decoding. Its output fits a format every time. You know what a mask keeps of
# the model, and what a list of masks cannot say.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 01](01_logit_bias.ipynb)
# comes before this one.

# %% [markdown]
# ## Five words
#
# | word | meaning |
# | --- | --- |
# | **mask** | the set of legal tokens at one step |
# | **legal** | a token in the mask; all other tokens are *illegal* and get the logit −∞ |
# | **legal mass Z** | the sum of the probabilities of the legal tokens *before* the mask |
# | **position** | how many tokens have been written: 0, 1, 2, … |
# | **character class** | a named set of characters, such as DIGIT or UPPER |

# %%
import re
from collections import Counter
from itertools import pairwise

import numpy as np

import guidedviz as gv

# %% [markdown]
# The mask is one new step in the decoding loop. It stands between the logits and the softmax.

# %%
gv.views.draw_loop("static")

# %% [markdown]
# ## 1 · A vocabulary of 65 tokens
#
# `bard` writes in the style of Shakespeare's plays, and each of its tokens is one character. Its vocabulary is the 65
# different characters of its training text. A **character class** is a named set of token ids, such as DIGIT. We build
# masks from such sets.

# %%
bard = gv.load_model("bard")
classes = gv.char_classes(bard.vocabulary)


def show_vocabulary():
    print("".join(map(bard.vocabulary.display, range(len(bard.vocabulary)))))


# %% [question]
gv.predict(
    "How many different digits occur in a million characters of Shakespeare's plays?",
    number=lambda: len(classes["DIGIT"]),
    reveal=[
        show_vocabulary,
        lambda: gv.draw_bars(list(classes), {"tokens": list(map(len, classes.values()))}, title="tokens in each class"),
        "One. The only digit in the training text of `bard` is `3`.",
    ],
)

# %% [markdown]
# ## 2 · One mask, one step
#
# The prompt is `ROMEO:` and a new line. We allow lower-case letters only.

# %%
prompt = "ROMEO:\n"
lower_first = gv.static_masks(bard.vocabulary, [classes["LOWER"]])
step = next(gv.decode(bard, prompt, lower_first))
gv.draw_distribution(step, title="after ROMEO:")

# %% [markdown]
# A line of a play begins with a capital, so nearly all likely tokens are illegal here. The **legal mass Z** is the
# probability that remains. Each legal probability is divided by Z, so that all legal ones add up to 1 again.

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
        """The ratio of each pair is the same before and after: both probabilities were divided by the same Z. A mask
        keeps the model's preferences among the legal tokens.""",
    ],
)

# %% [markdown]
# ## Exercise 1 · The mask ★
#
# Write `apply_token_mask(logits, legal)`. It returns new logits: the ids in the set `legal` keep their logits, all
# others get −∞ (`-np.inf`). Do not change the array that you were given. If `legal` is empty, raise a `ValueError`,
# because no token could be drawn. For example, the logits `[1, 2]` and the set `{0}` give `[1, -inf]`.
#
# hint: `np.full(len(logits), -np.inf)` makes an array of minus infinities. An array can be indexed with a list of ids.
#
# hint: After `masked = np.full(...)` and `ids = list(legal)`, assign `masked[ids] = logits[ids]`.

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
    # ...
    # end


gv.checks.token_mask(apply_token_mask)

# %% [markdown]
# ## 3 · A mask for each position
#
# Now we use a list of masks: five lower-case letters, then a new line. `gv.static_masks` makes a **guide** of this
# list. A guide has a *state* that says which mask comes next. Here the state is the position.

# %%
masks = [classes["LOWER"]] * 5 + [classes["NEWLINE"]]
five = gv.static_masks(bard.vocabulary, masks)
line = "JULIET:\nGood night, good night! parting is such sweet "

# %%
gv.stage(bard, line, five, seed=1, constraint="five letters and a new line", show=5)

# %% [markdown]
# Press `Home` and step through it. The **state** counts the positions. Illegal tokens are crossed out; press one to
# read why it is illegal. At the last position one token is legal, so it gets probability 1, whatever the model prefers.
#
# The next picture shows the whole run: one row per position, one column per token of the vocabulary.

# %%
run = gv.record(bard, line, five, seed=1)
gv.views.draw_positions(run)

# %% [markdown]
# The format leaves 26⁵ texts, about twelve million. We decode 200 times with different seeds. Many texts begin alike,
# so `remember` keeps the logits, as in lab 01. Python's `re` judges the texts; it does not know the masks.

# %%
known = gv.decoding.remember(bard)
runs = [gv.record(known, line, five, seed=seed).text for seed in range(200)]


def judge():
    fit = sum(bool(re.fullmatch(r"[a-z]{5}\n", text)) for text in runs)
    print(f"{fit} of {len(runs)} fit, {len(set(runs))} of them different; the most frequent:")
    print(Counter(text.strip() for text in runs).most_common(6))


# %% [question]
gv.predict(
    "How many of the 200 texts fit the format?",
    number=200,
    reveal="""All of them. An illegal token has probability 0 and is never drawn, with any seed, any model and any
           temperature.""",
)

# %% [question]
gv.predict(
    "How many different words are among the 200?",
    choices=["1", "about 20", "more than 100"],
    answer="more than 100",
    reveal=[judge, "The mask fixes the form. The model chooses the word."],
)

# %% [markdown]
# ## 4 · The loop
#
# This is a complete decoding loop without a mask:

# %%
def write_free(model, tokens, count, seed):
    new = []
    for position in range(count):
        probabilities = gv.sampling.softmax(model.logits([*tokens, *new]))
        new.append(gv.sampling.sample(probabilities, seed, position))
    return new


# %% [markdown]
# ## Exercise 2 · The loop with masks ★★
#
# Write `write(model, tokens, masks, seed)`. It draws one token per mask as `write_free` does, but applies the mask to
# the logits first. It returns the list of the new tokens. An EOS token ends the loop and is part of the list;
# `model.vocabulary.eos` is the set of EOS ids. Use `gv.sampling.apply_mask(logits, legal)`. For example, the masks
# `[{5}, {7}]` give `[5, 7]`.
#
# hint: `for position, legal in enumerate(masks)` gives each mask with its position. The mask must come before the
# softmax, which then divides by Z.
#
# hint: `logits = gv.sampling.apply_mask(model.logits([*tokens, *new]), legal)`, draw as `write_free` does, append,
# and `break` if the token is in `model.vocabulary.eos`.

# %%
def write(model, tokens, masks, seed):
    # solution:
    new = []
    for position, legal in enumerate(masks):
        logits = gv.sampling.apply_mask(model.logits([*tokens, *new]), legal)
        new.append(gv.sampling.sample(gv.sampling.softmax(logits), seed, position))
        if new[-1] in model.vocabulary.eos:
            break
    return new
    # open:
    # ...  # copy `write_free`; one line is new, and the stop at EOS
    # end


gv.checks.masked_loop(write)

# %% [markdown]
# The same seed gives the text of the stage. (While the exercise is open, your loop writes nothing.)

# %%
written = write(bard, bard.encode(line), masks, seed=1)
print("stage:", repr(run.text))
print("yours:", written and repr(b"".join(bard.vocabulary.pieces[token] for token in written).decode()))

# %% [markdown]
# Every engine in these labs computes the mask in its own way and then applies it at this place: after the model, before
# the softmax. The model itself is eighty lines of NumPy; [a page of its own](deeper/the_model.ipynb) explains them.
#
# Other settings change the probabilities too: the temperature, and **top-k**, which keeps only the k likeliest tokens.

# %%
top_two = gv.sampling.top_k(gv.sampling.softmax(bard.logits(bard.encode(prompt))), 2)

# %% [question]
gv.predict(
    "Suppose that top-k came before the mask. `top_two` keeps the two likeliest tokens after `ROMEO:`. How much of "
    "their probability belongs to lower-case letters?",
    number=lambda: top_two[list(classes["LOWER"])].sum(),
    within=0.1,
    reveal="None. Both are capitals, so after the mask no token would remain. The mask comes first, top-k after it.",
)

# %% [markdown]
# ## 5 · What a list of masks cannot say
#
# In the play Juliet's next word is *sorrow*. It has six letters, so our guide forbids it. The legal mass Z shows at
# which positions the format forbids likely tokens:

# %%
labels = [f"{step.position}: {bard.vocabulary.display(step.token)}" for step in run.steps]
gv.draw_bars(labels, {"Z": [step.mass for step in run.steps]}, title="legal mass Z at each position")

# %% [markdown]
# Inside a word Z is near 1: nearly all likely tokens are letters. Z falls at position 3, where the word *man* could
# end, and at position 5, where *manage* could go on and only the new line is legal. **A small Z means that the format
# forbids nearly all likely tokens.**

# %%
free = [gv.record(known, line, seed=seed, max_tokens=12).text for seed in range(100)]
lengths = Counter(len(re.match("[a-z]*", text)[0]) for text in free)


def draw_lengths():
    sizes = sorted(lengths)
    return gv.draw_bars([f"{n} letters" for n in sizes], {"words": [lengths[n] for n in sizes]}, title="next word")


# %% [question]
gv.predict(
    "The model writes its next word without a mask, 100 times. How many of the 100 words have five letters?",
    choices=["fewer than 10", "about 25", "more than 50"],
    answer="about 25",
    reveal=[draw_lengths, "(0 letters: the text began with another character.)"],
)

# %% [markdown]
# Words have many lengths, and the list of masks was fixed before the first letter. We want to say *one or more letters,
# then a new line*. One idea: from the second position on, allow a letter **or** the new line.

# %%
either = classes["LOWER"] | classes["NEWLINE"]
loose = gv.static_masks(bard.vocabulary, [classes["LOWER"]] + [either] * 7)
texts = [gv.record(known, line, loose, seed=seed).text for seed in range(100)]
words = [text for text in texts if re.fullmatch(r"[a-z]+\n", text)]

# %% [question]
gv.predict(
    "How many of the 100 texts are one word and then one new line?",
    choices=["about 10", "about 50", "nearly all"],
    answer="about 10",
    reveal=[
        lambda: print("the others, for example:", [text for text in texts if "\n" in text[:-1]][:5]),
        lambda: gv.views.draw_positions(gv.record(bard, line, loose, seed=1), title="one of the others"),
        """Eight masks always write eight tokens, so only a word of seven letters can fit. The other texts go on after
        the new line, as in the picture, or never reach one. The mask of position 4 is the same whether or not the
        line has ended at position 3.""",
    ],
)

# %% [markdown]
# A mask per character class has another limit. `bard` has one character per token, so each token has one class. In a
# larger vocabulary a token such as `␣the` holds a space and letters, and fits no class: the mask cuts it. Here is what
# that means for SmolLM2.

# %%
cut = gv.decoding.Rates.load("smollm2/classes")
print(cut)
print(cut.shares("tokens that mix classes")["vocabulary"], "of the tokens of its vocabulary mix classes")
print(cut.shares("written tokens that mix classes")["dates: free"], "of the tokens that it wrote about dates")

# %% [markdown]
# **What breaks.** The mask must depend on what was written, not only on how many tokens. So the state must be more than
# a position: it must say *where in the format we are*, and each written token must change it. That is a
# **finite-state machine**.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "A prompt that asks for the format is enough." | 19 of 20 texts in lab 00. With masks 200 of 200 texts fit. | 3 |
# | "A mask makes the model say the same each time." | More than 100 different words in 200 runs. | 3 |
# | "PUNCT has 11 characters" (a NanoGPT lesson) | `char_classes` counts 10 on the same 65 characters. | 1 |

# %% [markdown]
# ## Recap
#
# * One line of code between logits and softmax makes illegal output impossible.
# * Among legal tokens the ratios stay as they were. Z says how much probability was legal.
# * The mask comes first; temperature and top-k come after it.
# * A list of masks fixes the length. *One or more* needs a state that depends on the text.
#
# Next: [lab 03](03_fsm.ipynb) builds that machine.

# %% [markdown]
# ## How the production engines do it
#
# * **Transformers**: [`prefix_allowed_tokens_fn`](https://huggingface.co/docs/transformers/main_classes/text_generation)
#   gets all tokens so far and returns the legal ids.
#   [`PrefixConstrainedLogitsProcessor`](https://huggingface.co/docs/transformers/internal/generation_utils) sets all
#   other logits to −∞ and refuses an empty list.
# * Its origin: De Cao et al., [*Autoregressive Entity Retrieval*](https://arxiv.org/abs/2010.00904) (2020).
# * **vLLM**: [`SamplingParams(allowed_token_ids=…)`](https://docs.vllm.ai/en/latest/api/vllm/sampling_params/) is
#   one mask for all positions.

# %% [markdown]
# * **XGrammar**: the mask has one bit per token. It is applied on the graphics card by `apply_token_bitmask_inplace`,
#   in [`matcher.py`](https://github.com/mlc-ai/xgrammar/blob/main/python/xgrammar/matcher.py).
# * The 65 characters are those of
#   [`data/shakespeare_char/prepare.py`](https://github.com/karpathy/nanoGPT/blob/master/data/shakespeare_char/prepare.py)
#   in nanoGPT.

# %% [markdown]
# ## Further reading
#
# * [nanoGPT](https://github.com/karpathy/nanoGPT): the decoding loop of `model.generate`, to compare with yours.
# * [The transformers guide to generation](https://huggingface.co/docs/transformers/generation_strategies): greedy
#   search, sampling and beam search, other ways to choose the next token.
# * [*Autoregressive Entity Retrieval*](https://arxiv.org/abs/2010.00904): masks from a trie of Wikipedia's titles, an
#   early use of this loop.

# %% [markdown]
# ## A puzzle
#
# Hours are the 24 texts `00` to `23`. No list of two masks allows exactly these texts. Why? Which list of two masks
# allows as many of them as possible and nothing else?
#
# hint: A list of two masks allows every first digit together with every second digit.
