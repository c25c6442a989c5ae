# question: Can a fixed mask for each position do it?

# %% [markdown]
# # Lab 02 · Static masks
#
# **Question.** A constant bias is the same at every position. What if the set of legal tokens changes from one position
# to the next?
#
# **Goal.** You write the loop of masked decoding. Its output fits a format every time. You know what a mask keeps of
# the model, where it stands beside other settings, and what a list of masks cannot say.
#
# **Time.** {minutes} minutes in class. There is no homework. [Lab 01](01_logit_bias.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **mask** | the set of *legal* tokens at one step; all other tokens are *illegal* and get the logit −∞ |
# | **legal mass Z** | the sum of the probabilities of the legal tokens *before* the mask |
# | **position** | how many tokens have been written: 0, 1, 2, … |
# | **guide** | an object that gives the mask of each step |
# | **character class** | a named set of characters, such as DIGIT or UPPER |
# | **top-k, top-p** | keep only the k likeliest tokens, or the fewest likely ones whose probabilities add up to p |

# %% [markdown]
# **Lost?** For *logit*, *softmax* and *temperature* reread lab 01, section 2. For *token*, *seed* and *EOS* reread
# lab 00.

# %%
import re
from collections import Counter
from itertools import pairwise

import numpy as np

import guidedviz as gv

# %% [markdown]
# The mask is one new step in the decoding loop. It stands between the logits and the softmax.

# %%
# slide: The mask is one new step in the loop, between the logits and the softmax.
gv.views.draw_loop("static")

# %% [markdown]
# ## 1 · One mask, one step
#
# `bard` writes in the style of Shakespeare's plays. Each of its 65 tokens is one character. Here is its whole
# vocabulary, from id 0 to id 64. (`↵` is the new line, `␣` the space.)

# %%
# slide: This model has 65 tokens, and each of them is one character.
bard = gv.load_model("bard")
for first in range(0, 65, 13):
    print(*(f"{token:2} {bard.vocabulary.display(token)}" for token in range(first, first + 13)), sep="   ")

# %% [markdown]
# So we can build masks from **character classes**, which are named sets of token ids:

# %%
# slide: Character classes are named sets of tokens, and from them we build masks.
classes = gv.char_classes(bard.vocabulary)
LOWER, NEWLINE = classes["LOWER"], classes["NEWLINE"]
print({name: len(ids) for name, ids in classes.items()})

# %% [markdown]
# There is one DIGIT, `3`: no other digit stands in the plays from which `bard` learned. ANY is the whole vocabulary.
# The prompt is `ROMEO:` and a new line. We allow lower-case letters only.

# %%
# slide: We allow lower-case letters only: the outlines are the model, the filled bars what may be drawn.
prompt = "ROMEO:\n"
step = next(gv.decode(bard, prompt, gv.static_masks(bard.vocabulary, [LOWER])))
gv.draw_distribution(step, title="the first letter after ROMEO")

# %% [markdown]
# An outlined bar is a probability before the mask, a filled bar one after it; `✕` marks an illegal token. A line of a
# play begins with a capital, so the likeliest tokens are illegal here. The dashed column at the right is the
# probability that the mask **removed**. The **legal mass Z** is the probability that remains. Each legal probability
# is divided by Z, so that all legal ones add up to 1 again:

# %%
likeliest = next(candidate for candidate in step.candidates if candidate.legal)
print(f"Z is {step.mass:.6f}, which is {gv.sampling.probability(step.mass)}")
print(f"{likeliest.piece.decode()} had {likeliest.raw:.6f}; {likeliest.raw:.6f} / Z = {likeliest.masked:.2f}")

# %% [question]
# slide: A mask keeps the ratio of any two legal tokens.
gv.predict(
    "Take two legal letters, one of them twice as likely as the other before the mask. And after the mask?",
    choices=["more than twice as likely", "less than twice as likely", "exactly twice as likely", "it depends on Z"],
    answer="exactly twice as likely",
    reveal=[
        lambda: [
            print(f"{a.piece.decode()} / {b.piece.decode()}  {a.raw / b.raw:.3f} before, {a.masked / b.masked:.3f} now")
            for a, b in pairwise([c for c in step.candidates if c.legal][:5])
        ],
        """The ratio of each pair is the same before and after: both probabilities were divided by the same Z, whatever
        Z is. A mask keeps the model's preferences among the legal tokens.""",
    ],
)

# %% [markdown]
# ## Exercise 1 · The mask ★
#
# Write `apply_token_mask(logits, legal)` in NumPy, without `gv`. It returns new logits: the ids in the set `legal` keep
# their logits, all others get −∞ (`-np.inf`). Do not change the array that you were given. If `legal` is empty, raise a
# `ValueError`, because no token could be drawn. For example, the logits `[1, 2]` and the set `{0}` give `[1, -inf]`.
#
# hint: `np.full(len(logits), -np.inf)` makes an array of minus infinities. An array can be indexed with a list of ids.
#
# hint: After `masked = np.full(...)` and `ids = list(legal)`, assign `masked[ids] = logits[ids]`.

# %%
# slide: Exercise 1: write the mask, which is one line of NumPy.
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
# ## 2 · A mask for each position
#
# Now we use a list of masks: five lower-case letters, then a new line. `gv.static_masks` makes a **guide** of this
# list. A guide has a *state* that says which mask comes next. Here the state is the position.

# %%
masks = [LOWER] * 5 + [NEWLINE]
five = gv.static_masks(bard.vocabulary, masks)
line = "JULIET:\nGood night, good night! parting is such sweet "

# %%
# slide: Five letters and a new line: each position has its own mask.
gv.stage(bard, line, five, seed=2, constraint="five letters and a new line", show=5)

# %% [markdown]
# The left panel is the **map** of the vocabulary: one cell per token, blue if the token is legal. The cells follow
# a winding curve in the order of the ids. At this last position one token is legal, so it gets probability 1, whatever
# the model prefers. Of the two numbers at a drawn token, *of the legal* is its probability after the mask, and *of all*
# the one before it.

# %% [markdown]
# On the stage you can
#
# * click a token with a `×`, to read why it is illegal (the stage says *forbidden*);
# * press `Home` and step through the run with `→`;
# * press `q`, and step: before each step the stage asks you a question, and hides what tells the answer. If it asks for
#   Z, the map stays: beside each likely token stands its probability before the mask.
#
# The next picture shows the whole run: one row per position, one column per token of the vocabulary.

# %%
# slide: A row is a position, a column is a token: the last row has one legal token.
run = gv.record(bard, line, five, seed=2)
gv.views.draw_positions(run)

# %% [markdown]
# The format leaves 26⁵ texts, about twelve million. We decode 120 times with different seeds. Many texts begin alike,
# so `remember` stores the logits of each text that the model has read. Python's `re` judges the texts; it does not know
# the masks.

# %%
# slide: All 120 texts fit the format, but not all of them are words.
known = gv.decoding.remember(bard)
texts = [gv.record(known, line, five, seed=seed).text for seed in range(120)]
fit = sum(bool(re.fullmatch(r"[a-z]{5}\n", text)) for text in texts)
print(f"{fit} of {len(texts)} fit, {len(set(texts))} of them different; the most frequent:")
print(Counter(text.strip() for text in texts).most_common(8))


# %% [markdown]
# All of them fit: an illegal token has probability 0 and is never drawn, with any seed, model or temperature. The mask
# fixes the form, and the model chooses the word. But `cousi`, `sorro` and `assis` are no words.

# %%
def p_next(word):
    """The probabilities of the character after this beginning of a word, before the mask."""
    return gv.sampling.softmax(known.logits(bard.encode(line + word)))


def show_next():
    print(*(f"{sign} {p_next('cousi'[:place])[bard.encode(sign)].item():.3f}" for place, sign in enumerate("cousi")))
    for word in ("souls", "dukes", "cousi", "sorro"):
        likely = p_next(word).argmax()
        shares = [gv.sampling.probability(p_next(word)[token]) for token in (likely, 0)]
        print(f"{word}  likeliest next: {bard.vocabulary.display(likely)!r} {shares[0]:5}  new line: {shares[1]}")


# %% [question]
# slide: The next letter of the word was forbidden, so the word was cut.
gv.predict(
    "Why does this model write `cousi`, and more than once?",
    choices=[
        "it has seen few words of five letters",
        "a small Z made a wrong letter likely",
        "its next letter was forbidden",
        "unlikely letters were drawn",
    ],
    answer="its next letter was forbidden",
    reveal=[
        show_next,
        lambda: print(f"seed 73 writes {texts[73]!r}"),
        """The model was writing `cousin`. The first line shows the probability of each letter before the mask; each
        was among the likely ones. Then only the new line was legal: the mask for position 5 is fixed and cannot know
        where a word ends. After `souls` and `dukes` the word is complete. A word that is too short gets one more
        letter: after `lady` the likeliest token was `.` (0.21), which is illegal here, so seed 73 wrote an `s`.""",
    ],
)

# %% [markdown]
# ## 3 · The loop
#
# This is a complete decoding loop without a mask. `sample(p, seed, position)` draws a token; the same seed and position
# always give the same draw.

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
# slide: Exercise 2: write the decoding loop with a mask per position.
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
# With the same seed your loop writes the text of the stage. (While the exercise is open, it writes nothing.)

# %%
# slide: The same seed gives the same text as the stage.
written = write(bard, bard.encode(line), masks, seed=2) or []
yours = b"".join(bard.vocabulary.pieces[token] for token in written).decode()
print(repr(run.text), "and yours:", repr(yours))

# %% [markdown]
# ## 4 · The order of the settings
#
# Other settings change the probabilities as well: a bias, the temperature, **top-k** and **top-p**. Which of them may
# come before the mask? We return to the step of section 1 and try each of three settings in both orders.

# %%
logits = bard.logits(bard.encode(prompt))
(s,) = bard.encode("s")
p_all, p_legal = gv.sampling.softmax(logits), gv.sampling.masked_softmax(logits, LOWER)
early = gv.sampling.masked_softmax(gv.sampling.apply_bias(logits, {s: 3}), LOWER)
late = gv.sampling.softmax(gv.sampling.apply_bias(gv.sampling.apply_mask(logits, LOWER), {s: 3}))


def show_orders():
    print("                   before the mask       after the mask")
    for name, cut, n in (("top-k, k = 10", gv.sampling.top_k, 10), ("top-p, p = 0.95", gv.sampling.top_p, 0.95)):
        counts = [np.count_nonzero(p[[*LOWER]]) for p in (cut(p_all, n), cut(p_legal, n))]
        print(f"{name:18}", *(f"{count:2} legal tokens left  " for count in counts))
    print(f"{'bias of 3 on s':18}", *(f"s has {p[s]:.2f}          " for p in (early, late)))


# %% [question]
# slide: Before the mask, top-k and top-p may leave no legal token; a bias may come first.
gv.predict(
    "Three settings: top-k with k = 10, top-p with p = 0.95, and a bias on `s`. Which of them can stand before the "
    "mask or after it, with the same result?",
    choices=["all three", "top-k and top-p", "the bias alone", "none: the mask must come first"],
    answer="the bias alone",
    reveal=[
        show_orders,
        """Before the mask, top-k keeps the ten likeliest tokens of all, and top-p the likeliest that add up to 0.95.
        None of them is a lower-case letter, so the mask removes them all. The bias adds 3 to one logit in both orders,
        and −∞ stays −∞.""",
    ],
)

# %% [markdown]
# So there is a rule. **A setting that changes each logit by itself may come before the mask or after it**: a bias, the
# temperature, a *repetition penalty*. (This penalty lowers the logits of the tokens that are in the text already.) **A
# setting that compares tokens comes after the mask**: top-k and top-p.

# %% [markdown]
# A bias and a mask go together well: the mask says what is legal, the bias what you prefer. Here `w` gets a bias of 3:

# %%
# slide: A bias and a mask go well together: one says what is legal, the other what is preferred.
(w,) = bard.encode("w")
biased = [gv.record(known, line, five, seed=seed, bias={w: 3}).text for seed in range(40)]
print("fit:", sum(bool(re.fullmatch(r"[a-z]{5}\n", text)) for text in biased), "of 40")
print("with a w:", sum("w" in text for text in biased), "instead of", sum("w" in text for text in texts[:40]))

# %% [markdown]
# ## 5 · What a list of masks cannot say
#
# In the play Juliet's next word is *sorrow*. It has six letters, so our guide cuts it to `sorro`. Words have many
# lengths, and the list was fixed before the first letter. We want to say *one or more letters, then a new line*. One
# idea: from the second position on, allow a letter **or** the new line.

# %%
loose = gv.static_masks(bard.vocabulary, [LOWER] + [LOWER | NEWLINE] * 7)
tries = [gv.record(known, line, loose, seed=seed).text for seed in range(60)]

# %% [question]
# slide: A list of masks cannot say "one or more letters", so most texts are wrong.
gv.predict(
    "How many of the 60 texts are one word and then one new line?",
    choices=["about 10", "about 30", "about 50", "all 60"],
    answer="about 10",
    reveal=[
        lambda: print(sum(bool(re.fullmatch(r"[a-z]+\n", text)) for text in tries), "of 60; others, for example:"),
        lambda: print([text for text in tries if "\n" in text[:-1]][:4]),
        lambda: gv.views.draw_positions(gv.record(bard, line, loose, seed=1), title="one of the others"),
        """Eight masks always write eight tokens, so only a word of seven letters can fit. The other texts go on after
        the new line, as in the picture, or never reach one. In the picture the line ends at position 3. The mask of
        position 4 cannot know that.""",
    ],
)

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
# | "The output fits, so it is right." | All fit; `cousi` and `sorro` are cut words. | 2 |
# | "A mask changes which legal token the model prefers." | Two legal letters keep their ratio. | 1 |
# | "Top-k first, then the mask." | After `ROMEO:` all of the 10 likeliest tokens are illegal: nothing is left. | 4 |

# %% [markdown]
# ## Recap
#
# * One line of code between logits and softmax makes illegal output impossible.
# * Among legal tokens the ratios stay as they were. Z says how much probability was legal.
# * Top-k and top-p compare tokens, so they come after the mask. Bias, penalty and temperature may come before it or
#   after it.
# * A list of masks fixes the length and cuts words. *One or more* needs a state that depends on the text.
#
# Next: [lab 03](03_fsm.ipynb) builds that machine. [An optional page](deeper/the_model.ipynb) computes the logits of
# `clerk` in eighty lines, and shows that a mask does not depend on how a server computes them.

# %% [markdown]
# ## How the production engines do it
#
# * **Transformers** 5.24 (read, not run here):
#   [`generate`](https://huggingface.co/docs/transformers/main_classes/text_generation) applies the repetition penalty,
#   then `prefix_allowed_tokens_fn`, then temperature, top-k, top-p.
# * **vLLM** 0.22 (read):
#   [the sampler](https://docs.vllm.ai/en/v0.22.1/api/vllm/v1/sample/sampler/) applies `allowed_token_ids` (one mask for
#   all positions), bias, penalties, temperature, then top-k and top-p.
# * **llama.cpp** (read, 2026):
#   [`common/sampling.h`](https://github.com/ggml-org/llama.cpp/blob/master/common/sampling.h) draws with all settings
#   first and checks that token. Only if the grammar refuses it does it mask all tokens and draw again.
# * **XGrammar**: the mask has one bit per token. It is applied on the graphics card by `apply_token_bitmask_inplace`,
#   in [`matcher.py`](https://github.com/mlc-ai/xgrammar/blob/main/python/xgrammar/matcher.py).

# %% [markdown]
# ## Further reading
#
# * [nanoGPT](https://github.com/karpathy/nanoGPT): the decoding loop of `model.generate`, to compare with yours.
# * [*CTRL*](https://arxiv.org/abs/1909.05858): the paper that introduced the repetition penalty, in section 4.1.
# * [*Autoregressive Entity Retrieval*](https://arxiv.org/abs/2010.00904): masks from a trie of Wikipedia's titles, an
#   early use of this loop.

# %% [markdown]
# ## A puzzle
#
# Hours are the 24 texts `00` to `23`. No list of two masks allows exactly these texts. Why? Which list of two masks
# allows as many of them as possible and nothing else?
#
# hint: A list of two masks allows every first digit together with every second digit.
