# question: How can a sampler draw legal texts with the probabilities that the model gives them?

# %% [markdown]
# # Draw from the target
#
# **Question.** Masked decoding gives legal texts with the wrong probabilities. Which samplers give the right ones, and
# what do they cost?
#
# **Goal.** You can explain weights, rejection, particles and ASAp, and build the step that needs no mask at all.
#
# **Time.** {minutes} minutes, one exercise. An optional page after [lab 12](../12_what_masks_change.ipynb).

# %% [markdown]
# ## Four words
#
# | word | meaning |
# | --- | --- |
# | **importance sampling** | draw from one distribution and count each draw by a weight, to estimate another one |
# | **rejection** | draw without a mask, and begin again if the text is illegal |
# | **particles** | several texts that grow together; those with small weights are replaced (*sequential Monte Carlo*) |
# | **unbiased** | right on average: an estimate that is neither too large nor too small in the mean |

# %%
import numpy as np

import guidedviz as gv
from guidedviz.decoding import distribution as samplers

clerk = gv.load_model("clerk")
wish = {"month ": {"1": 0.9, "0": 0.1}, "1": {"9": 0.97, "0": 0.01, "1": 0.01, "2": 0.01}, "0": {"7": 0.8, "6": 0.2}}
pieces = [*"0123456789", "month "]


def rule(tokens):
    return np.log([wish.get(pieces[tokens[-1]], {}).get(piece, 1e-9) for piece in pieces])

# %% [markdown]
# ## 1 · Weights
#
# We use the months of lab 12 again. In the target 63% of them are `07`; masked decoding draws `07` in 8%.

# %%
toy = gv.ToyModel([piece.encode() for piece in pieces], rule)
months = samplers.Task(toy, "month ", gv.guide(gv.regex("0[1-9]|1[0-2]"), toy.vocabulary))
target = {text.tokens: text.conditioned for text in samplers.all_texts(months)}
gv.text_tree(months)

# %%
draws = [samplers.Masked(months).draw(seed) for seed in range(1000)]


def july(draws):
    return samplers.shares(draws).get((0, 7), 0.0)


# %% [question]
gv.predict(
    "Of 1,000 masked draws, `07` is about 8%. Now each draw counts by its weight, the product of its Zs. What is the "
    "share of `07`?",
    choices=["about 8%", "about 30%", "about 60%, near the target"],
    answer="about 60%, near the target",
    reveal=[
        lambda: print(f"weighted {july(draws):.2f}, target {target[0, 7]:.2f}"),
        """Masked decoding draws a text with its free probability divided by the product of its Zs. The weight undoes
        this division. This is importance sampling. But the texts are the same: if no draw was good, no
        weight helps.""",
    ],
)

# %% [markdown]
# ## 2 · Samplers that come nearer to the target
#
# * *Rejection* draws without a mask, and begins again at the first illegal token. It is exact.
# * *Particles* grow several texts under the mask. If their weights become uneven, texts are drawn again by weight.
# * *ASAp* remembers for each beginning how much of its probability can still become legal, and corrects the mask.
# * *Adaptive* (AWRS) draws a token without a mask and asks the machine for *this token only*; see section 3. Alone it
#   draws the same texts as masked decoding. Its weights correct estimates, or serve as the weights of particles.

# %%
kinds = {
    "masked": samplers.Masked(months),
    "rejection": samplers.Rejection(months),
    "8 particles": samplers.Particles(months, 8),
    "64 particles": samplers.Particles(months, 64),
    "ASAp": samplers.Asap(months),
}

# %% [question]
gv.predict(
    "13% of the free texts are months. A text has two tokens; an illegal one is noticed at its second. How many "
    "forward passes does rejection need per month?",
    number=16,
    within=2,
    reveal=[
        lambda: [print(f"{name:13} total variation {samplers.total_variation(samplers.shares(found), target):.2f}, "
                       f"{sum(draw.calls for draw in found) / 300:6.2f} forward passes per text")
                 for name, sampler in kinds.items()
                 for found in [[samplers.Draw(d.tokens, d.text, calls=d.calls) for d in map(sampler.draw, range(300))]
                               ]],
        """1 / 0.127 is about 8 tries of two passes. 300 draws differ from their own distribution by about 0.05, by
        chance. Particles of one group share passes, because equal beginnings are computed once. ASAp knows all
        beginnings of this small task after some draws, and then needs no pass at all.""",
    ],
)

# %% [markdown]
# ## 3 · A step without a mask
#
# A mask asks the machine about every token. The likeliest tokens are often legal, so a few questions could be enough.
# The adaptive step draws tokens *without putting back*, until one is legal. It also needs an unbiased estimate of Z:
#
# * `left` is 1 minus the probabilities of the illegal tokens that were drawn;
# * `share` is the probability of the legal token divided by `left`;
# * one more token is drawn: `more` is 1 if it is legal, else 0 (0 also if there is none);
# * the estimate is `left * (share + (1 - share) * more)`.

# %% [markdown]
# ## Exercise 1 · An adaptive step ★★
#
# Write `adaptive(order, chances, legal)`. `order` lists the tokens in the order of the draws, `chances` is a dict from
# tokens to probabilities, `legal` a set of tokens. Return the first legal token and the estimate of Z, or
# None if no token is legal. For `["b", "a", "c"]`, `{"a": 0.5, "b": 0.2, "c": 0.3}` and `{"a"}` it is `("a", 0.5)`:
# `left` is 0.8, `share` 0.625, and `c` is illegal.
#
# hint: Go through `order` with `enumerate`. For an illegal token subtract its probability from `left`, which begins at
# 1.
#
# hint: The token after the first legal one is `order[place + 1]`, if `place + 1 < len(order)`.

# %%
def adaptive(order, chances, legal):
    # solution:
    left = 1.0
    for place, token in enumerate(order):
        if token in legal:
            share = chances[token] / left
            more = place + 1 < len(order) and order[place + 1] in legal
            return token, left * (share + (1 - share) * more)
        left -= chances[token]
    return None
    # open:
    # left = 1.0
    # ...
    # end


gv.checks.adaptive(adaptive)

# %% [markdown]
# On `clerk` the questions can be counted. A full mask asks about all of its 4,096 tokens.

# %%
fields = {"name": {"type": "string", "maxLength": 40}, "age": {"type": "integer"}}
person = gv.guide(
    gv.json_schema({"type": "object", "properties": fields, "required": list(fields)}), clerk.vocabulary
)
cue = "JSON with name, age:\n"


def ask(prompt, count):
    work = samplers.Task(gv.decoding.remember(clerk), prompt, person, max_tokens=60)
    some = [samplers.Adaptive(work).draw(seed) for seed in range(count)]
    asked = sum(draw.asked for draw in some) / sum(len(draw.tokens) for draw in some)
    print(f"{asked:4.1f} tokens per token, P(legal) {samplers.legal_of(some)}: {prompt!r}")

# %% [question]
gv.predict(
    "The prompt asks for JSON. How many tokens does the adaptive sampler ask for, per token that it writes?",
    choices=["about 2", "about 200: a part of the vocabulary", "about 4,000: nearly all tokens are illegal"],
    answer="about 2",
    reveal=[
        lambda: [ask("Hi! Ada is 36.\n" + cue, 40), ask("Ada is 36.\n", 10)],
        """The first line is the prompt that asks for JSON: one question for the legal token, one more for the estimate,
        and some for illegal tokens such as `Sure`. The prompt of the second line does not ask for JSON. There the model
        wants something illegal at nearly every step, and about 30 tokens are drawn for each one that is written. (Ten
        draws say nothing precise about so small a P(legal).)""",
    ],
)

# %% [markdown]
# **What breaks.** On a real model rejection, particles and ASAp need more passes than masked decoding, and
# adaptive steps ask more if Z is small. A format that the model wants to write anyway needs none of them:
# where every Z is near 1, the mask draws nearly from the target.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * Weights correct estimates, not texts.
# * Rejection is exact and slow where legal texts are rare. Particles and ASAp come near the target with less work.
# * An adaptive step asks for a few tokens instead of the mask, and its weights stay unbiased.

# %% [markdown]
# ## How the production engines do it
#
# * The engines of labs 09 to 11 all use plain masks. Park et al.,
#   [*Grammar-Aligned Decoding*](https://arxiv.org/abs/2405.21047) (2024), measure the distortion and give ASAp.
# * Lew et al., [*Sequential Monte Carlo Steering*](https://arxiv.org/abs/2306.03081) (2023): particles.
# * Lipkin et al., [*Adaptive Weighted Rejection Sampling*](https://arxiv.org/abs/2504.05410) (2025): the step of
#   section 3; [`genlm-control`](https://github.com/genlm/genlm-control) implements it.
