# question: Which texts does a mask make more or less probable?

# %% [markdown]
# # What a mask changes
#
# **Question.** A mask keeps the model's preferences at each step. Does it keep them among whole texts?
#
# **Goal.** You can compute the distribution of masked texts of a small model exactly, compare it with the conditioned
# distribution, and say how the legal masses Z connect the two.
#
# **Time.** {minutes} minutes, one exercise. An optional page after [lab 03](../03_fsm.ipynb).

# %% [markdown]
# ## Three words
#
# | word | meaning |
# | --- | --- |
# | **conditioning** | keep the legal texts of a distribution and divide their probabilities by their sum |
# | **target** | the model's distribution over texts, conditioned on the legal ones |
# | **weight** | the product of all legal masses Z of a run |

# %%
from collections import Counter
from itertools import pairwise

import numpy as np

import guidedviz as gv
from guidedviz.decoding.distribution import exact, samplers, task

bard = gv.load_model("bard")
guide = gv.guide(gv.regex("[A-Z]+: [a-z]+\n"), bard.vocabulary)
runs = [gv.record(bard, "\n", guide, seed=seed) for seed in range(5)]

# %% [markdown]
# ## 1 · One step
#
# At a single step a mask keeps the ratios. We take the legal candidates at all steps of five runs under the format of
# lab 03, divide the probability of each by that of the next, and compare before and after the mask.

# %%
ratios = []
for step in (step for run in runs for step in run.steps):
    legal = [c for c in step.candidates if c.legal]
    ratios += [(a.raw / b.raw) / (a.masked / b.masked) for a, b in pairwise(legal)]
print(f"{len(ratios)} ratios, before : after lies between {min(ratios):.6f} and {max(ratios):.6f}")

# %% [markdown]
# ## 2 · Whole texts
#
# The smallest example is a toy model that writes a month in two digits. It gives `19` a high probability, and `19` is
# no month. After `0` it writes `7` or `6`.

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
# Step to the second digit. `9` is illegal, Z is 0.03, and one of three unlikely digits is drawn.
#
# What *should* be drawn? If we draw texts without a mask and keep only the months, we get the **target**: this is
# **conditioning**. There are twelve months, so both distributions can be computed exactly.

# %%
work = task.Task(toy, "month ", months)
texts = exact.all_texts(work)
free = {text.text.decode(): float(text.free) for text in texts}
print("months:", len(texts), " probability of a month without a mask:", round(sum(free.values()), 3))

# %% [markdown]
# ## Exercise 1 · Conditioning ★
#
# Write `conditioned(chances, legal)`. `chances` is a dict from texts to probabilities, `legal` a set of texts. Return a
# dict with the probability of each legal text among the legal texts. For `{"a": 0.2, "b": 0.3, "c": 0.5}` and
# `{"a", "b"}` it is `{"a": 0.4, "b": 0.6}`.
#
# hint: All legal texts are divided by the same number.
#
# hint: This number is `sum(chances[text] for text in legal)`.

# %%
def conditioned(chances, legal):
    # solution:
    whole = sum(chances[text] for text in legal)
    return {text: chances[text] / whole for text in legal}
    # open:
    # ...
    # end


gv.checks.conditioned(conditioned)

# %%
names = [f"{month:02}" for month in range(1, 13)]
target = {text.text.decode(): text.conditioned for text in texts}
masked = {text.text.decode(): text.masked for text in texts}


def draw_both():
    bars = {"target": [target[name] for name in names], "masked": [masked[name] for name in names]}
    return gv.draw_bars(names, bars, title="probability of each month")


# %% [question]
gv.predict(
    "In which of these months do the target and the masked distribution differ most?",
    choices=["`01`", "`07`", "`10`", "`12`"],
    answer="`07`",
    reveal=[
        draw_both,
        """In the target 63% of the months are `07`. Masked decoding writes `07` in 8%. In 90% it begins with `1`, which
        is legal and likely. Then `9` is illegal, and there is no way back. A mask divides by Z at each step; it does
        not know how much of the probability will stay legal. Conditioning divides once, at the end.""",
    ],
)

# %% [question]
gv.predict(
    "The total variation of two distributions is 0 if they are equal and 1 if they share no text. How large is it "
    "here?",
    number=lambda: round(float(exact.total_variation(target, masked)), 2),
    within=0.15,
    reveal=lambda: print(f"total variation {exact.total_variation(target, masked):.2f}"),
)

# %% [markdown]
# ## 3 · The product of the Zs
#
# `Masked` draws texts by masked decoding and returns a **weight** with each: the product of its Zs.

# %%
draws = [samplers.Masked(work).draw(seed) for seed in range(1000)]
share = Counter(draw.text.decode() for draw in draws)
weighted = Counter()
for draw in draws:
    weighted[draw.text.decode()] += draw.weight
whole = sum(weighted.values())


# %% [question]
gv.predict(
    "Of 1,000 masked draws, `07` is about 8%. Now each draw counts by its weight. What is the share of `07`?",
    choices=["about 8%", "about 30%", "about 60%, near the target"],
    answer="about 60%, near the target",
    reveal=[
        lambda: [print(f"{m}  drawn {n / 1000:.3f}  weighted {weighted[m] / whole:.3f}  target {target[m]:.3f}")
                 for m, n in sorted(share.items())],
        """A text is drawn by masked decoding with its free probability divided by the product of its Zs. So the
        weights undo the difference. The method is *importance sampling*.""",
    ],
)

# %% [markdown]
# Here are the weights of the five runs of `bard`, the largest set to 1:

# %%
weights = np.array([np.prod([step.mass for step in run.steps]) for run in runs])
for run, weight in zip(runs, weights / weights.max(), strict=True):
    print(f"{run.text!r:28} {weight:.0e}")

# %% [markdown]
# Each was drawn once. Under the target the line of `FRIARGILE` would be more than ten million times rarer than the
# first line. So **masked decoding gives legal texts, but not with the probabilities that the model gives them.**

# %% [markdown]
# ## 4 · Other samplers
#
# These samplers come closer to the target. They need more forward passes.

# %%
kinds = {
    "masked": samplers.Masked(work),
    "rejection": samplers.Rejection(work),
    "8 particles": samplers.Particles(work, 8),
    "64 particles": samplers.Particles(work, 64),
    "ASAp": samplers.Asap(work),
}
tokens = {text.tokens: text.conditioned for text in texts}

# %%
for name, sampler in kinds.items():
    drawn = [sampler.draw(seed) for seed in range(300)]
    found = exact.shares([task.Draw(draw.tokens, draw.text) for draw in drawn])
    apart, calls = exact.total_variation(found, tokens), sum(draw.calls for draw in drawn) / 300
    print(f"{name:13} total variation {apart:.2f}, {calls:6.2f} forward passes per text")

# %% [markdown]
# *Rejection* throws away every text that becomes illegal. *Particles* grow several texts at once and replace those with
# a small weight. *ASAp* remembers which beginnings led to illegal tokens; on this small task it soon needs no forward
# pass, because it knows all beginnings. (300 draws differ from their distribution by chance, by about 0.05.)
#
# **What breaks.** On a real model all of them are expensive. What helps is a format that the model wants to write
# anyway: where every Z is near 1, the two distributions are nearly equal.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * A mask keeps the ratios of legal tokens at each step.
# * It changes the probabilities of whole texts. The product of the Zs says by how much.
# * Weights, rejection, particles and ASAp correct this, with more forward passes.

# %% [markdown]
# ## How the production engines do it
#
# * The engines of labs 08 to 10 all use plain masks. The effect on large models was measured by Park et al.,
#   [*Grammar-Aligned Decoding*](https://arxiv.org/abs/2405.21047) (2024), with ASAp as a cure.
# * Lew et al., [*Sequential Monte Carlo Steering*](https://arxiv.org/abs/2306.03081) (2023): particles.
# * Lipkin et al., [*Adaptive Weighted Rejection Sampling*](https://arxiv.org/abs/2504.05410) (2025): weights without
#   the whole mask; [`genlm-control`](https://github.com/genlm/genlm-control) implements it.
