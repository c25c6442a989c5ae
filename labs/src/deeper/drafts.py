# question: Can a model check several tokens at once, and where must the mask be then?

# %% [markdown]
# # Drafts and masks
#
# **Question.** A model can check several guessed tokens in one forward pass. What must a mask do then, so that the
# texts keep their probabilities?
#
# **Goal.** You can build the rule that accepts or rejects a guess, compare three sources of guesses, and say what goes
# wrong if only one of the two models is masked.
#
# **Time.** {minutes} minutes, one exercise. An optional page after [lab 11](../11_jump_forward.ipynb).

# %% [markdown]
# ## Four words
#
# | word | meaning |
# | --- | --- |
# | **draft** | tokens that are guessed cheaply, before the model is asked |
# | **acceptance** | a guess stands, because the model finds it likely enough |
# | **residual** | the probabilities that remain after a rejection: what the model gives more than the draft |
# | **bonus token** | the token that the model adds in the same pass after an accepted draft |

# %%
import numpy as np

import guidedviz as gv
from guidedviz.decoding.speculation import Forced, LookUp, Small, accept_chance, residual

clerk, small = gv.load_model("clerk"), gv.load_model("clerk-small")
fields = {"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}}
person = gv.json_schema({"type": "object", "properties": fields, "required": list(fields)})
guide = gv.guide(person, clerk.vocabulary)
ada = "Ada Lovelace is 36 and lives in London.\nJSON with name, age, city:\n"

# %% [markdown]
# ## 1 · Several tokens in one pass
#
# Lab 11 measured that a pass over several tokens takes little longer than one over a single token. Jump-forward uses
# this for forced tokens. **Speculative decoding** uses it for *guessed* ones: a small model writes a draft, and the
# large model reads the draft in one pass. Each row of this pass is the distribution after one guess, so the model can
# accept or reject every guess. `clerk-small` has a fifth of the weights of `clerk`.

# %%
sums = "Ada has 14 books and buys 5 more. How many books are there now?\nThink, then answer:\n"
thought = gv.guide(gv.regex("[^:]{1,80}: [0-9]{1,3}"), clerk.vocabulary)
gv.stage(clerk, sums, thought, temperature=0, draft=Small(small, 4), constraint="thought: number", show=18)

# %% [markdown]
# An accepted token has a tick and a green line below it. A rejected draft is struck out, in the chip of the token that
# came instead: the small model guessed `9.`, for 29, and `clerk` wrote `1`, for 21. Both sums are wrong. A draft
# changes the number of passes, never the text.
#
# The machine masks the draft *and* the model. Its states along the draft are values, so a rejected guess is simply
# dropped.

# %%
def count(draft, prompt=ada):
    run = gv.record(clerk, prompt, guide, temperature=0, draft=draft)
    accepted, drafted = run.drafted
    return f"{len(run.tokens)} tokens, {run.passes:2} passes, {accepted:2} of {drafted:2} guesses accepted: {run.text}"


print("no draft", count(None))

# %% [question]
gv.predict(
    "Three drafts: look-up copies what followed the last tokens where they stood before; forced takes the bytes that "
    "the machine forces; small asks `clerk-small`. Which one needs the fewest passes?",
    choices=["look-up", "forced", "small"],
    answer="small",
    reveal=[
        lambda: [print(f"{name:8} {count(draft)}") for name, draft in
                 (("look-up", LookUp(4)), ("forced", Forced()), ("small", Small(small, 4)))],
        """All three write the same text. Look-up finds the names and numbers of the prompt. Forced finds the keys, and
        the model still judges how they are spelled; jump-forward does not ask it. The small model finds both.""",
    ],
)

# %% [markdown]
# Is it faster? `python -m bench speculation` writes ten structures in all ways. Where a pass is slow (`clerk`
# on torch) the small model makes it 1.5 to 1.7 times as fast. Where a pass is quick (`clerk` on NumPy) its drafts cost
# more than they save, and only forced runs gain.

# %% [markdown]
# ## 2 · The rule
#
# Let p be the distribution of the model and q that of the draft, both masked. A guess x was drawn from q.
#
# * Accept x with probability min(1, p(x) / q(x)).
# * After a rejection draw from the residual: max(0, p − q), divided by its sum.
#
# Example: p is 0.2 for a and 0.8 for b, q is 0.5 for both. The guess a is accepted with probability 0.4. After a
# rejection only b has more in p than in q, so b is drawn.
#
# So the token has *exactly* the distribution p, whatever the draft is. A bad draft costs time only.

# %% [markdown]
# ## Exercise 1 · Judge a guess ★★
#
# Write `accept(p, q, token, u)`. `p` and `q` are dicts from tokens to probabilities, `token` is the guess, `u` a random
# number from 0 to 1. If `u` is below min(1, p / q) of the guess, return None. Otherwise return the residual, a dict
# with the probabilities above 0: in the example `{"b": 1.0}`.
#
# hint: `q[token]` is above 0, because the guess was drawn from `q`. A token that is missing in `p` has probability 0.
#
# hint: `{t: p[t] - q.get(t, 0) for t in p if p[t] > q.get(t, 0)}`, then divide by the sum.

# %%
def accept(p, q, token, u):
    # solution:
    if u < min(1, p.get(token, 0) / q[token]):
        return None
    more = {t: p[t] - q.get(t, 0) for t in p if p[t] > q.get(t, 0)}
    whole = sum(more.values())
    return {t: share / whole for t, share in more.items()}
    # open:
    # ...
    # end


gv.checks.accept(accept)

# %% [markdown]
# ## 3 · What leaks
#
# Four tokens, and the machine forbids the last one. The model wants it, and so does the draft.

# %%
tokens, legal = ["a", "b", "c", "x"], np.array([1, 1, 1, 0])
model, draft = np.array([0.30, 0.15, 0.05, 0.50]), np.array([0.05, 0.15, 0.20, 0.60])
p, q = model * legal / (model @ legal), draft * legal / (draft @ legal)


def written(p, q, cut=False):
    """The distribution of the token that is written; with `cut` an illegal guess is cut, and p is drawn from."""
    found = np.zeros(4)
    for guess in np.flatnonzero(q):
        chance = 0.0 if cut and not legal[guess] else accept_chance(p, q, guess)
        found[guess] += q[guess] * chance
        found += q[guess] * (1 - chance) * (p if cut and not legal[guess] else residual(p, q, guess))
    return found

# %% [question]
gv.predict(
    "Only the model is masked; the draft is not. Is the written token still distributed like p?",
    choices=["yes, but more guesses are rejected", "no: an illegal guess can be accepted",
             "no: what the draft wants too much comes too often"],
    answer="yes, but more guesses are rejected",
    reveal=[
        lambda: print(f"difference from p: {np.abs(written(p, draft) - p).max():.2f}; accepted "
                      f"{np.minimum(p, draft).sum():.2f}, with a masked draft {np.minimum(p, q).sum():.2f}"),
        """An illegal guess has p = 0. It is rejected, and the residual repairs the rest. A mask on the draft costs the
        small model some masks and saves rejections. What the draft wants too much is rejected more often: a guess is
        accepted with p / q.""",
    ],
)  # fmt: skip

# %% [question]
gv.predict(
    "Only the draft is masked; the model is not. With which probability is the illegal `x` written?",
    number=0.5,
    within=0.02,
    reveal=[
        lambda: print(f"x {written(model, q)[3]:.2f}"),
        """The rule gives exactly the distribution of the model, and this model is not masked. The illegal token comes
        from the residual and, in a longer draft, as the bonus token.""",
    ],
)

# %% [markdown]
# A third way looks harmless. The draft is not masked; it is *cut* at its first illegal guess, and there a new token is
# drawn from p, as if nothing had been guessed.

# %% [question]
gv.predict(
    "Which distribution does this give?",
    choices=["p: the new token is drawn from p", "legal tokens only, but not p", "illegal tokens too, as above"],
    answer="legal tokens only, but not p",
    reveal=[
        lambda: gv.draw_bars(tokens, {"p": p, "cut and drawn again": written(p, draft, cut=True)}, title="the token"),
        """What the draft wanted too much must be drawn less often afterwards. This is what the residual does. A draw
        from p forgets it. Without probabilities, as for look-up, a guess is certain, q = 1; then p without the guess
        is the residual, and cutting at an illegal guess is exact.""",
    ],
)

# %% [markdown]
# The tests of this library enumerate every random decision of small models with seven kinds of drafts, and
# compare the probability of each text with plain masked decoding.

# %% [markdown]
# And a real model? SmolLM2 wrote 24 records under schemas, at temperature 0. `clerk` cannot draft for it: their
# vocabularies differ, so a token of one means nothing to the other.

# %%
drafts = gv.decoding.Rates.load("smollm2/drafts")
print(drafts)
for row in drafts.table:
    print("{draft:8} {passes} passes, {accepted:3} of {guessed:3} guesses kept, {same text} equal texts".format(**row))

# %% [markdown]
# Forced runs save four of ten passes, and every text stays the same. Lab 11 appended the same runs unasked: 287 passes,
# and other values in four of the 24.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * A draft is judged in one pass; the rule keeps the distribution exactly.
# * Mask the model always. Mask the draft too, so that fewer guesses are rejected.
# * A forced run is a very good draft, and the model still chooses how it is spelled.

# %% [markdown]
# ## How the production engines do it
#
# * The rule is by Leviathan et al. ([arXiv 2211.17192](https://arxiv.org/abs/2211.17192)) and Chen et al.
#   ([arXiv 2302.01318](https://arxiv.org/abs/2302.01318)); trees of guesses are in SpecInfer
#   ([arXiv 2305.09781](https://arxiv.org/abs/2305.09781)).
# * Look-up: [prompt look-up decoding](https://github.com/apoorvumang/prompt-lookup-decoding).
# * **vLLM** validates drafted tokens against the grammar and keeps the longest valid prefix
#   ([`validate_tokens`](https://docs.vllm.ai/en/latest/api/vllm/v1/structured_output/index.html)).
