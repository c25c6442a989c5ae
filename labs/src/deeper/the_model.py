# %% [markdown]
# # Deeper · The model in eighty lines
#
# **Question.** A model takes tokens and gives logits. What does it compute in between?
#
# **Goal.** You can read the forward pass of `clerk`, you have written two of its parts, and you can say where the mask
# is applied.
#
# **Time.** {minutes} minutes, two exercises. [Lab 02](../02_static_masks.ipynb) comes before this page; no later lab
# needs it.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **embedding** | the vector that represents a token inside the model; in `clerk` it has 256 numbers |
# | **layer** | a function that adds something to the vector of every token; `clerk` has four |
# | **RMSNorm** | divides a vector by the root of the mean of its squares |
# | **attention** | a weighted sum over the token itself and all tokens before it |
# | **rotary embedding** | a rotation of queries and keys by an angle that grows with the position |
# | **KV cache** | the keys and values of all tokens so far, stored so that they are computed only once |

# %%
import inspect
from time import perf_counter

import numpy as np

import guidedviz as gv
from guidedviz.models import llama

# %% [markdown]
# ## 1 · What a model is
#
# A model is a file of learned numbers, the *weights*, and about eighty lines of code. Here are the sizes of `clerk`:

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
    "`clerk` has 4.3 million weights. Which has more of them: the table of embeddings, one row per token of the "
    "vocabulary, or the four layers together?",
    choices=["the table", "the four layers", "both the same"],
    answer="the four layers",
    reveal=[
        draw_sizes,
        """The layers have three times as many as the table (`embedding` in the picture). `clerk` uses the table twice.
        At the start it looks up one row per token. At the end the logits are the dot products of the last vector with
        all rows.""",
    ],
)

# %% [markdown]
# The first step of the pass: each token of the prompt is replaced by its row of the table.

# %%
tokens = clerk.encode("Ada is 36.\nJSON with name, age:\n")
x = network.embedding[tokens]
print([clerk.vocabulary.display(token) for token in tokens])
x.shape

# %% [markdown]
# ## Exercise 1 · RMSNorm ★★
#
# Each layer has two parts, and each part first scales its input. Write this scaling, `rms_norm(x, weights)`. `x` has
# one row per token. Divide each row by √(mean of its squares + 0.000001). Then multiply it by `weights`, element by
# element.
#
# hint: `(x**2).mean(axis=-1, keepdims=True)` is the mean of the squares of each row, as a column.
#
# hint: Add `1e-6` to this column, take `np.sqrt`, divide `x` by it, and multiply by `weights`.

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
# Attention is the only part of the model in which one token depends on other tokens. Three matrices turn the vector of
# each token into a **query**, a **key** and a **value**. The query of a token is compared with the keys of the tokens
# before it and with its own. The better a key matches, the more of that token's value is added. `clerk` does this four
# times in parallel, in four *heads*; each vector of a head has 64 numbers.

# %% [markdown]
# ## Exercise 2 · One token looks back ★★
#
# Write `look(query, keys, values)`, the attention of one head for one token. `query` is a vector; `keys` and `values`
# have one row per token, up to the token itself. The *match* with a token is the dot product of its key with the query,
# divided by √(length of the query). The softmax of the matches gives the weights. The result is the weighted sum of the
# values.
#
# hint: `keys @ query` computes all dot products at once. The softmax is the one of lab 01: subtract the maximum first.
#
# hint: `matches = keys @ query / np.sqrt(len(query))`; after the softmax return `weights @ values`.

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
# The library computes the same for all heads and all new tokens at once. A token must not depend on the tokens after
# it. So their matches are set to −∞ before the softmax, as a mask does with the logits of illegal tokens.

# %%
print(inspect.getsource(llama.attention))

# %% [markdown]
# ## 3 · The position of a token
#
# The sum in attention is the same for any order of the earlier tokens. So the position must enter the computation. A
# rotary embedding takes the 64 numbers of each query and key as 32 pairs: number 0 with number 32, number 1 with number
# 33, and so on. Each pair is a point (x, y) in the plane. It is rotated by the angle position · frequency, and each
# pair has its own frequency. In the code, `one` holds all x, `other` holds all y, and `turn` the cosines and sines of
# the angles.

# %%
print(inspect.getsource(llama.rotated))

# %% [markdown]
# `match` rotates a random query and a random key to two positions and takes their dot product.

# %%
def match(query_position, key_position):
    angles = [position * network.shape.frequencies for position in (query_position, key_position)]
    query, key = (llama.rotated(vector, (np.cos(a), np.sin(a))) for vector, a in zip(pair, angles, strict=True))
    return round(float(query @ key), 3)


pair = np.random.default_rng(0).normal(size=(2, 64))

# %% [question]
gv.predict(
    "A query is at position 7 and a key at position 5. Then both move to positions 107 and 105. Is the match the same?",
    choices=["yes", "no: both are rotated by other angles", "no: the match falls with the position"],
    answer="yes",
    reveal=[
        lambda: print(match(7, 5), match(107, 105), match(7, 3)),
        """The first two numbers are equal: only the distance of the positions matters. A rotation of both vectors by
        the same angle (here 100 · frequency) does not change their dot product. The third number, for 7 and 3, is
        different.""",
    ],
)

# %% [markdown]
# ## 4 · The whole pass
#
# Each layer adds two vectors to the vector of every token. The first comes from attention (`_attend`), the second from
# a small neural network that takes one token at a time (`_think`). After the last layer come one more RMSNorm and the
# product with the table of embeddings. This is the whole pass. (`copies` is 1 here, `turn` has the cosines and sines
# for `rotated`, and `linear(x, weights)` is `x @ weights.T`.)

# %%
print(inspect.getsource(llama.Llama.read))

# %% [markdown]
# `_attend` has four steps. One matrix product gives the queries, keys and values of all new tokens. Queries and keys
# are rotated by their positions. For each text, the new keys and values go into its cache, and `attention` runs on all
# keys and values there. The last matrix, `out`, puts the heads together.

# %%
print(inspect.getsource(llama.Llama._attend) + inspect.getsource(llama.Llama._think))

# %% [markdown]
# `read` takes several texts in one pass, with one KV cache per text. We call it with one text.

# %%
cache = network.new_cache()
(logits,) = network.read([cache], [tokens])
best = np.argsort(logits[-1])[::-1][:5]
print(cache.length, logits.shape, [clerk.vocabulary.display(token) for token in best])

# %% [markdown]
# These are the five likeliest tokens after the prompt. Now a second way: one pass per token, with a cache.

# %%
slow = network.new_cache()
for token in tokens:
    (one_by_one,) = network.read([slow], [[token]])
difference = abs(one_by_one - logits).max()

# %% [question]
gv.predict(
    "The same tokens are read in one pass, and one by one with the cache. Are the last logits the same?",
    choices=["yes, to the last bit", "yes, up to rounding", "no"],
    answer="yes, up to rounding",
    reveal=[
        lambda: print(difference < 1e-3, bool((one_by_one == logits).all())),
        """The first value says that no logit differs by 0.001, the second that not all bits are equal. A sum of floats
        depends on the order of its terms, and a product of two matrices may use another order than a product of a
        matrix and a vector.""",
    ],
)

# %% [markdown]
# How much time does the cache save? The next cell measures one more token, with the cache and without it.

# %%
# NBVAL_IGNORE_OUTPUT
for name, cache, new in (("with", slow, [300]), ("without", network.new_cache(), [*tokens, 300])):
    began = perf_counter()
    network.read([cache], [new])
    print(f"{name:8}{(perf_counter() - began) * 1000:6.1f} ms")

# %% [markdown]
# ## 5 · The mask comes after the pass
#
# The pass ends with the logits, and the mask of lab 02 is applied to them. The first line is without a mask, the second
# with the mask of a JSON object (lab 06).

# %%
guide = gv.guide(gv.json_schema({"type": "object", "properties": {"name": {"type": "string"}}}), clerk.vocabulary)
for legal in (None, guide.mask(guide.initial)):
    masked = logits[-1] if legal is None else gv.sampling.apply_mask(logits[-1], legal)
    chances = gv.sampling.softmax(masked)
    print([f"{clerk.vocabulary.display(token)} {chances[token]:.2f}" for token in np.argsort(chances)[::-1][:2]])

# %% [markdown]
# ## 6 · Other ways to the logits
#
# A loop with masks does not ask how the logits were computed. Servers have several ways:
#
# * *KV cache*: what was computed for earlier tokens is kept.
# * *Chunked prefill*: a long prompt is read in parts.
# * *Speculation*: tokens that were only guessed are judged in one pass.
# * *Quantization*: a weight is stored in few bits.
#
# We try all four on the prompt and the masks of lab 02: five small letters, then a new line. The quantized model is a
# copy of `bard` whose last matrix, which gives the logits, is rounded to 4 bits per weight.

# %%
bard = gv.load_model("bard")
classes = gv.char_classes(bard.vocabulary)
LOWER = classes["LOWER"]
five = gv.static_masks(bard.vocabulary, [LOWER] * 5 + [classes["NEWLINE"]])
line = "JULIET:\nGood night, good night! parting is such sweet "
text = bard.encode(line)
n = len(text)

# %%
rough = bard.side_by_side(1)  # a copy with the same weights
size = np.abs(rough.network.head).max(axis=1, keepdims=True) / 7
rough.network.head = np.round(rough.network.head / size) * size  # 15 values in each row


# %%
def read_in(places):
    """The logits after the prompt, which is read up to each of these places in turn."""
    bard.forget()  # keep nothing of what was read before
    return [bard.logits(text[:place]) for place in places][-1]


ways = {"at once": read_in([n]), "KV cache": read_in(range(1, n + 1)), "chunked prefill": read_in([20, 40, n])}
ways["speculation"] = bard.all_logits(bard.encode(line + "sorrow"), start=n - 1)[0]  # six guessed tokens
ways["quantization"] = rough.logits(text)

# %%
for way, found in ways.items():
    p = gv.sampling.masked_softmax(found, LOWER)
    apart = np.abs(found - ways["at once"]).max()
    top = ", ".join(f"{bard.vocabulary.display(token)} {p[token]:.3f}" for token in np.argsort(-p)[:4])
    print(f"{way:15} logits differ by {apart:.2f}   {np.count_nonzero(p)} tokens above 0: {top}")

# %% [markdown]
# The first four ways give the same logits, up to rounding in the sixth decimal. The quantized copy gives other ones.
# After the mask all five have 26 tokens above 0.

# %% [question]
gv.predict(
    "`bard` and its quantized copy decode with the same masks, each with the seeds 0 to 39. What is equal in all 40 "
    "pairs of runs?",
    choices=["the text", "the legal tokens at each position", "Z at each position", "the order of the legal tokens"],
    answer="the legal tokens at each position",
    reveal=[
        lambda: print(
            sum(
                gv.record(rough, line, five, seed=seed).text == gv.record(bard, line, five, seed=seed).text
                for seed in range(40)
            ),
            "of 40 texts equal",
        ),
        """This list of masks never looks at the logits, so both models write five letters and a new line, always.
        Rounded weights give other probabilities. So Z changes, and the order of the less likely letters, and half of
        the texts.""",
    ],
)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * A token becomes a vector. Each layer adds to it a weighted sum over earlier tokens (attention) and the output of a
#   small network.
# * The keys and values of a token never change, so they are computed once and stored.
# * The logits are the products of the last vector with the table of embeddings. The mask comes after that.
# * The same weights on another device give the same logits up to rounding.
# * A mask is the same whatever way the logits were computed.

# %% [markdown]
# ## How the production engines do it
#
# * **The parts** are those of [Llama](https://arxiv.org/abs/2302.13971):
#   [RMSNorm](https://arxiv.org/abs/1910.07467), [rotary embedding](https://arxiv.org/abs/2104.09864) and
#   [SwiGLU](https://arxiv.org/abs/2002.05202) as the small network.
# * **Larger models** often share each key and value among several queries:
#   [grouped-query attention](https://arxiv.org/abs/2305.13245). `read` supports it; `clerk` does not use it.
# * **vLLM** stores the KV cache in blocks of fixed size, so that little memory is wasted:
#   [PagedAttention](https://arxiv.org/abs/2309.06180).

# %% [markdown]
# * **SGLang** stores it in a tree of prefixes, so that texts with the same beginning share it:
#   [RadixAttention](https://arxiv.org/abs/2312.07104).
# * **FlashAttention** computes attention in blocks and never writes all matches to the memory of the graphics card:
#   [the paper](https://arxiv.org/abs/2205.14135).
# * **llama.cpp** can store weights in a few bits instead of 16 or 32:
#   [its quantisation tool](https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md).
