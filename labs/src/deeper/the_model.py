# %% [markdown]
# # Deeper · The model in eighty lines
#
# **Question.** Between the tokens and the logits lies the model. What does it compute?
#
# **Goal.** You read the whole forward pass of `clerk`, write two of its parts, and run it by hand up to the line that
# all these labs add.
#
# **Time.** {minutes} minutes, two exercises. [Lab 02](../02_static_masks.ipynb) comes before this page; no later lab
# needs it.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **vector** | the list of numbers that stands for a token inside the model; `clerk` has 256 per token |
# | **layer** | a step that adds something to every vector; `clerk` has four |
# | **RMSNorm** | a vector divided by the root of the mean of its squares |
# | **attention** | how a token reads the vectors of the tokens before it |
# | **rotary embedding** | how attention learns the distance between two tokens |
# | **KV cache** | the keys and values of the text so far, kept so that they are not computed again |

# %%
import inspect
from time import perf_counter

import numpy as np

import guidedviz as gv
from guidedviz.models import llama

# %% [markdown]
# ## 1 · What a model is
#
# A file of numbers and about eighty lines of NumPy. Here are the sizes of `clerk`:

# %%
clerk = gv.load_model("clerk")
network = clerk.network
network.shape

# %%
matrices = ("query_key_value", "out", "gate_up", "down")
sizes = {name: sum(getattr(layer, name).size for layer in network.layers) for name in matrices}


def draw_sizes():
    numbers = [network.embedding.size, *sizes.values()]
    return gv.draw_bars(["embedding", *sizes], {"numbers": numbers}, title="numbers in clerk")


# %% [question]
gv.predict(
    "`clerk` has 4.3 million numbers. Which holds more of them: the table with a vector per token, or the four layers?",
    choices=["the table", "the four layers", "both alike"],
    answer="the four layers",
    reveal=[
        draw_sizes,
        """The layers, by three to one. The table is used twice: at the start it gives each token its vector, and at
        the end the logits are the products of the last vector with all rows of the same table.""",
    ],
)

# %%
tokens = clerk.encode("Ada is 36.\nJSON with name, age:\n")
x = network.embedding[tokens]
print([clerk.vocabulary.display(token) for token in tokens])
x.shape

# %% [markdown]
# ## Exercise 1 · RMSNorm ★★
#
# Before each part of a layer reads a vector, the vector is scaled to a common size: divided by √(mean of its squares
# + 0.000001), then multiplied by learned weights, number by number. `x` has one row per token.

# %%
def rms_norm(x, weights):
    # solution:
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6) * weights
    # open:
    # ...  # each row by its own mean
    # end


gv.checks.rms_norm(rms_norm)

# %% [markdown]
# ## 2 · Attention
#
# From its vector each token computes three shorter ones. The **query** says what it looks for, the **key** what it
# offers, the **value** what it hands over. `clerk` does this four times side by side, in four *heads* of 64 numbers.

# %% [markdown]
# ## Exercise 2 · One token looks back ★★
#
# One head, one token: `query` is its query, `keys` and `values` have one row per token up to itself. The match with
# each token is key · query / √(length of a key). Softmax turns the matches into weights. The result is the weighted sum
# of the values.

# %%
def look(query, keys, values):
    # solution:
    matches = keys @ query / np.sqrt(len(query))
    weights = np.exp(matches - matches.max())
    return weights / weights.sum() @ values
    # open:
    # ...  # softmax the matches, then sum the values
    # end


gv.checks.look(look)

# %% [markdown]
# The library does the same for all heads and all new tokens at once. A token must not see the tokens after it, so
# their matches become −∞. That is the same trick as a mask on logits, one floor below.

# %%
print(inspect.getsource(llama.attention))

# %% [markdown]
# ## 3 · Where a token stands
#
# Nothing so far knows the order of the tokens. So queries and keys are rotated, pair of numbers by pair of numbers, by
# an angle that grows with the place.

# %%
print(inspect.getsource(llama.rotated))

# %%
def match(query_place, key_place):
    angles = [place * network.shape.frequencies for place in (query_place, key_place)]
    query, key = (llama.rotated(vector, (np.cos(a), np.sin(a))) for vector, a in zip(pair, angles, strict=True))
    return round(float(query @ key), 3)


pair = np.random.default_rng(0).normal(size=(2, 64))

# %% [question]
gv.predict(
    "A query at place 7 and a key at place 5, then the same two at places 107 and 105. Is the match the same?",
    choices=["yes", "no"],
    answer="yes",
    reveal=[
        lambda: print(match(7, 5), match(107, 105), match(7, 3)),
        "Only the distance counts. Rotating both by the same angle leaves their product as it was.",
    ],
)

# %% [markdown]
# ## 4 · The whole pass
#
# Each layer adds what attention gives, then what a small network gives that looks at one vector at a time. After the
# last layer come one more RMSNorm and the product with the table. This is all:

# %%
print(inspect.getsource(llama.Llama.read))

# %%
print(inspect.getsource(llama.Llama._attend) + inspect.getsource(llama.Llama._think))

# %% [markdown]
# The real loop reads several texts in one pass and keeps a cache per text. Let us call it for one text.

# %%
cache = network.new_cache()
(logits,) = network.read([cache], [tokens])
best = np.argsort(logits[-1])[::-1][:5]
print(cache.length, logits.shape, [clerk.vocabulary.display(token) for token in best])

# %%
slow = network.new_cache()
for token in tokens:
    (one_by_one,) = network.read([slow], [[token]])
difference = abs(one_by_one - logits).max()

# %% [question]
gv.predict(
    "Read the same tokens in one pass, and one after the other with the cache. Are the logits the same?",
    choices=["yes, to the last bit", "yes, up to rounding", "no"],
    answer="yes, up to rounding",
    reveal=[
        lambda: print(difference < 1e-3, bool((one_by_one == logits).all())),
        """A product of matrices adds its terms in another order than a product with one vector. So a decode that
        should give the same bits again must read its tokens in the same passes.""",
    ],
)

# %% [markdown]
# What does the cache save? Here is the time of the next token, with it and without.

# %%
# NBVAL_IGNORE_OUTPUT
for name, cache, new in (("with", slow, [300]), ("without", network.new_cache(), [*tokens, 300])):
    began = perf_counter()
    network.read([cache], [new])
    print(f"{name:8}{(perf_counter() - began) * 1000:6.1f} ms")

# %% [markdown]
# ## 5 · And the added line
#
# The logits are what lab 02 began with. From here on you know everything:

# %%
guide = gv.guide(gv.json_schema({"type": "object", "properties": {"name": {"type": "string"}}}), clerk.vocabulary)
for legal in (None, guide.mask(guide.initial)):
    masked = logits[-1] if legal is None else gv.sampling.apply_mask(logits[-1], legal)
    chances = gv.sampling.softmax(masked)
    print([f"{clerk.vocabulary.display(token)} {chances[token]:.2f}" for token in np.argsort(chances)[::-1][:3]])

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * A token becomes a vector. Each layer adds to it what the token reads from the tokens before it, and what a small
#   network makes of it.
# * Keys and values never change once computed, so they are kept.
# * The last vector times the table gives the logits, and the mask comes after that.
# * The same weights on another device differ by rounding: a test holds NumPy and torch equal to 0.001.

# %% [markdown]
# ## How the production engines do it
#
# * **The shape** is Llama's: Touvron et al., arXiv 2302.13971; RMSNorm is 1910.07467, rotary embedding 2104.09864,
#   SwiGLU 2002.05202, grouped heads 2305.13245.
# * **vLLM** keeps the cache in pages, so that texts of any length share the memory (PagedAttention, arXiv 2309.06180).
#   **SGLang** keeps it in a tree of prefixes, so that texts that begin alike share it (RadixAttention, 2312.07104).
# * **FlashAttention** (arXiv 2205.14135) never writes the matches to memory.
# * **llama.cpp** stores the weights in four to eight bits.
