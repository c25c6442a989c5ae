# question: Can a constant nudge do it?

# %% [markdown]
# # Lab 01 · Logit bias
#
# **Question.** Can you control what a model writes by adding a constant to the logits of some tokens?
#
# **Goal.** You can compute next-token probabilities by hand, change them with a bias, and say what a bias can and
# cannot do.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 00](00_start_here.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **logit** | the number that the model gives to a token before it becomes a probability; any size, any sign |
# | **softmax** | turns logits into probabilities: exponentiate each, divide by the sum |
# | **temperature** | a divisor of all logits; below 1 the likely tokens gain, above 1 the unlikely ones do |
# | **sample** | draw one token by its probability; at temperature 0 the likeliest token is taken |
# | **bias** | a constant added to a token's logit, the same at every step |
# | **mask** | the set of legal tokens; all other tokens get the logit −∞ |

# %%
import json

import numpy as np

import guidedviz as gv

# %% [markdown]
# A bias is one new step in the decoding loop, between the logits and the softmax:

# %%
gv.views.draw_loop("bias")

# %% [markdown]
# ## 1 · Logits, softmax, sample
#
# A model computes one logit per token. Here are three tokens.

# %%
words = ["yes", "no", "maybe"]
logits = np.array([2.0, 1.0, 0.0])
gv.draw_bars(words, {"logit": logits, "probability": gv.sampling.softmax(logits)}, title="three tokens")

# %% [markdown]
# A difference of 1 between two logits is a factor of *e* ≈ 2.72 between their probabilities: 0.665 is 2.72 times 0.245,
# and 0.245 is 2.72 times 0.090.

# %% [question]
gv.predict(
    "Add 5 to all three logits. Which probability grows most?",
    choices=["that of `yes`", "that of `maybe`", "all grow alike", "none of them grows"],
    answer="none of them grows",
    reveal=[
        lambda: [print(gv.sampling.softmax(scores).round(3)) for scores in (logits, logits + 5)],
        """Every exponential is multiplied by e⁵, and so is their sum. The division cancels this factor. Only the
        differences between logits matter: raising one logit lowers the probability of all other tokens.""",
    ],
)

# %% [markdown]
# The **temperature** T divides all logits before the softmax. A small T makes the likeliest token dominate, a large T
# makes all tokens nearly equal.

# %%
hot_and_cold = {f"T = {t}": gv.sampling.softmax(logits, t) for t in (0.3, 1.0, 3.0)}
gv.draw_bars(words, hot_and_cold, title="temperature")

# %% [markdown]
# ## Exercise 1 · Softmax with temperature ★
#
# Write `softmax(logits, temperature)` in NumPy, without `gv`. It returns one probability per logit: `[0, 0]` gives
# `[0.5, 0.5]`. It must also work for large logits, although `np.exp(1000)` is too large for a float.
#
# hint: Only differences between logits matter. So you may subtract the same number from all of them first.
#
# hint: Divide by the temperature, subtract the maximum, exponentiate, divide by the sum.

# %%
def softmax(logits, temperature):
    # solution:
    scaled = np.asarray(logits) / temperature
    powers = np.exp(scaled - scaled.max())
    return powers / powers.sum()
    # open:
    # ...
    # end


gv.checks.softmax(softmax)

# %% [markdown]
# ## 2 · A bias is added to a logit
#
# Now we use a trained model, `clerk`. It must label a sentence, and each label is a single token.

# %%
clerk = gv.load_model("clerk")
mood = "The staff was rude and charming.\nLabel (positive, negative, neutral):\n"
labels = ["positive", "negative", "neutral"]

# %%
gv.bias_sliders(clerk, mood, tokens=labels)

# %% [markdown]
# The cell shows one slider per label. Each slider adds its number to one logit. Drag one and watch *all* bars:
# when one probability grows, the others shrink.

# %%
positive, negative, neutral = (clerk.vocabulary.ids(label.encode())[0] for label in labels)
scores = clerk.logits(clerk.encode(mood))


def compare(amount):
    p = gv.sampling.softmax(gv.sampling.apply_bias(scores, {positive: amount}))
    print(f"bias {amount}: positive / negative = {p[positive] / p[negative]:.3g}")


# %% [question]
gv.predict(
    "You add 1 to the logit of `positive`. Divide its probability by that of `negative`: by which factor does this "
    "ratio grow?",
    number=2.718,
    within=0.1,
    reveal=[
        lambda: [compare(amount) for amount in (0, 1, 3)],
        """A bias b multiplies the ratio of this token's probability to any other by e to the power of b: by 2.72 for
        b = 1, by 20 for b = 3, by more than 10⁴³ for b = 100. This holds for every text and at every step.""",
    ],
)

# %% [markdown]
# OpenAI's API allows a bias from −100 to 100. Is −100 a ban? We compare it with a mask.

# %%
print(gv.sampling.softmax(gv.sampling.apply_bias([0.0, 200.0], {1: -100})))
print(gv.sampling.softmax(gv.sampling.apply_mask([0.0, 200.0], {0})))

# %% [markdown]
# In the first line the logit of the second token is 200 larger, so −100 is not enough. In the second line a **mask**
# sets this logit to −∞, and the probability is exactly 0. The logits of `clerk` differ by much less than 100, so for
# this model −100 is a ban. But bans have another problem.

# %% [markdown]
# ## 3 · Ban a word
#
# Suppose that the word *Prague* must never appear. We look up its token in the prompt and ban it.

# %%
plain = "Maria Cohen is 42 years old and lives in Prague.\nJSON with name, age, city:\n"
(in_the_text,) = clerk.encode(" Prague")
print(in_the_text, clerk.vocabulary.display(in_the_text))

# %% [question]
gv.predict(
    "This token is banned. Which city will the model write now?",
    choices=["Prague", "another city", "none: the value stays empty"],
    answer="Prague",
    reveal=[
        lambda: print(gv.record(clerk, plain, temperature=0, bias={in_the_text: -100}).text),
        """The ban changes nothing. The banned token is `␣Prague`, with a space. After a quote the model writes another
        token, `Prague` without the space. For the model these are two different ids. Here is the word in four
        spellings, with the ids of each:""",
        lambda: [print(f"{text!r:10}", clerk.encode(text)) for text in (" Prague", "Prague", "prague", "PRAGUE")],
    ],
)

# %% [markdown]
# ## Exercise 2 · All ids that spell a word ★
#
# Write `spellings(pieces, word)`. It returns the ids of all pieces that spell `word` in small or capital letters, with
# or without blanks around it. `pieces[id]` is a `bytes` object; `word` is a lower-case `str`. For example,
# `spellings([b"no", b" Yes"], "yes")` is `[1]`.
#
# hint: `bytes` objects have `.strip()` and `.lower()`, as `str` objects have. `word.encode()` makes bytes of a `str`.
#
# hint: It is one list: `token for token, piece in enumerate(pieces)`, if the stripped lower-case piece is the word.

# %%
def spellings(pieces, word):
    # solution:
    return [token for token, piece in enumerate(pieces) if piece.strip().lower() == word.encode()]
    # open:
    # ...
    # end


gv.checks.spellings(spellings)

# %%
found = spellings(clerk.vocabulary.pieces, "prague") or []
print([clerk.vocabulary.display(token) for token in found])
print(gv.record(clerk, plain, temperature=0, bias={token: -100 for token in found}).text)

# %% [markdown]
# Once your list is right, both tokens are banned and the model writes **another city**. The output is JSON, and it is
# wrong: the ban removes the word, and the next likely word takes its place.
#
# A word can also be written in several tokens. We count the ways to build *Prague* from pieces of the vocabulary.

# %%
pieces = {clerk.vocabulary.pieces[token].decode("utf-8", "replace") for token in clerk.vocabulary.text_ids}


def ways(word):
    """Every sequence of pieces that spells a word."""
    heads = [word[:n] for n in range(1, len(word) + 1) if word[:n] in pieces]
    return [[head, *rest] for head in heads for rest in ways(word[len(head) :])] if word else [[]]


print(len(ways("Prague")), "ways, among them", ways("Prague")[-4:])

# %% [markdown]
# The bans close one of these ways, the last. To close all of them, you would have to ban pieces such as `P` too, and
# then many other words could not be written either. A bias acts on one token; a word is a *sequence* of tokens.

# %% [markdown]
# ## 4 · A constant does not depend on the text
#
# Can a bias give the output *structure*? Can it make the model close its JSON object? The token `"}` ends
# a text value and closes the object. We add larger and larger numbers to its logit. (`max_tokens=24` ends an output
# after 24 tokens at the latest.)

# %%
(close,) = clerk.vocabulary.ids(b'"}')


def show_closed():
    for amount in (0, 10, 12, 18):
        text = gv.record(clerk, plain, temperature=0, bias={close: amount}, max_tokens=24).text
        print(f"{amount:2}  {text}")


# %% [question]
gv.predict(
    'We add 10, 12 and 18 to the logit of `"}`. Which of them make the model close its object with all keys in it?',
    choices=["all three", "10 and 12", "only 10", "only 18"],
    answer="only 10",
    reveal=[
        show_closed,
        """Up to 10 nothing changes, because the model closes its object anyway. At 12 it closes the object too early,
        and keys are missing. At 18 it writes `"}` only.""",
    ],
)

# %% [markdown]
# That was one text at temperature 0. Now we draw 30 texts at temperature 1 per bias. How many parse as JSON, and how
# many have all three keys? Most of the texts begin alike. `remember` keeps the logits, so that the model reads no text
# twice.

# %%
def has_all_keys(text):
    try:
        return {"name", "age", "city"} <= set(json.loads(text))
    except ValueError:
        return None


amounts = (0, 6, 8, 10, 12, 14, 18)
known, found = gv.decoding.remember(clerk), []
for amount in amounts:
    texts = [gv.record(known, plain, seed=seed, bias={close: amount}, max_tokens=30).text for seed in range(30)]
    found.append([has_all_keys(text) for text in texts])

# %%
parsed = [sum(one is not None for one in row) / 30 for row in found]
whole = [sum(one is True for one in row) / 30 for row in found]
gv.draw_bars([f"bias {amount}" for amount in amounts], {"parses": parsed, "all keys": whole}, title="share of 30 texts")

# %% [markdown]
# A bias of 6 helps a little: one more text parses. From 8 on, keys are lost: at 10 nine texts in ten parse, but only
# seven in ten have all keys. None of these biases gives all keys in all 30 texts.

# %% [markdown]
# The next picture shows why: the probability of `"}` just before each token.

# %%
tokens, wish = clerk.encode(plain), []
for step in gv.decode(clerk, plain, temperature=0):
    wish.append(gv.sampling.softmax(clerk.logits(tokens))[close])
    tokens.append(step.token)
written = [clerk.vocabulary.display(token) for token in tokens[-len(wish) :]]
gv.draw_bars(written, {'p of "}': wish}, title='probability of "} just before each token')

# %% [markdown]
# The probability is near 0, and near 1 at the only right place. It *depends on the text*. A constant bias raises all
# these bars together: it is too small at the right place or too large at the other places.

# %%
gv.stage(clerk, plain, temperature=0, bias={close: 12}, max_tokens=24, show=6)

# %% [markdown]
# Press `Home` and step through this run with a bias of 12. Up to the end of the name the output is the same as without
# a bias. There the bias makes `"}` likelier than `",`, and the object ends without the other keys. Every token is legal
# here: there is no mask.
#
# **What breaks.** Whether `"}` is right depends on the text before it. A constant does not.

# %% [markdown]
# ## 5 · What a bias is good for
#
# A bias works where the whole answer is a single token out of a few. There is only one step, so the bias need not
# change. The model is then a classifier.

# %% [markdown]
# ## Exercise 3 · Yes or no, and nothing else ★
#
# Choose biases so that the *next token* is `yes` or `no` for any prompt. Which of them is more likely must stay as the
# model has it. `only` maps token ids to numbers from −100 to 100: `{263: 5}` adds 5 to the logit of token 263.
#
# hint: `clerk.vocabulary.ids(b"yes")` gives the ids of `yes`. A bias is a number from −100 to 100.
#
# hint: Give the same large bias to all ids of both words. Then the difference between the two logits stays the same.

# %%
# solution:
only = {token: 100 for word in (b"yes", b"no") for token in clerk.vocabulary.ids(word)}
# open:
# only = {}  # token id: a number from -100 to 100
# end
gv.checks.only_answers(only, clerk)

# %% [question]
gv.predict(
    "The prompt asks whether there is a pen in a bag. Your bias is right for the first token. What will the model "
    "write if you let it go on for twelve?",
    choices=["`yes` or `no`, then it ends", "twelve times `yes` or `no`", "its answer, then the reason for it"],
    answer="twelve times `yes` or `no`",
    reveal=[
        lambda: [
            print(repr(gv.record(clerk, question, bias=only, max_tokens=count).text))
            for question in ["The bag holds a tent, a pen and a sofa. Is there a pen in it?\nYes or no:\n"]
            for count in (1, 12)
        ],
        """The bias also acts at the second and the third step. EOS would be right there, but its logit has no bias.
        So this method needs `max_tokens=1`. (While the exercise is open there is no bias, and both lines show the
        model's own answer.)""",
    ],
)

# %% [markdown]
# Is each label a single token? In the 49,152 tokens of SmolLM2 `positive`, `negative` and `neutral` are, and so are
# `Positive` and `Negative`. `Neutral` is not: it is `Ne`, `utral`. So look the labels up before you use a bias.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "A bias of −100 is a ban." | Not if a logit is 200 larger. Only −∞ gives probability 0. | 2 |
# | "To ban a word, ban its token." | Two tokens spell *Prague*; 11 more ways use several tokens. | 3 |
# | "A bias can force JSON." | No bias gave all keys in all 30 texts; large ones lost keys. | 4 |

# %% [markdown]
# ## Recap
#
# * Softmax depends on differences only. A bias *b* multiplies the ratio of a token's probability to any other by
#   *e*<sup>*b*</sup>.
# * A word has many spellings in tokens: with a space, with a capital, in parts. Bans are incomplete.
# * Structure depends on the text so far. A constant does not.
# * A bias is good for a preference, and for a choice among single-token answers.
#
# Next: [lab 02](02_static_masks.ipynb) uses a mask, and a different one per position.

# %% [markdown]
# ## How the production engines do it
#
# * **OpenAI**: [`logit_bias`](https://platform.openai.com/docs/api-reference/chat/create) maps token ids to numbers
#   from −100 to 100, which are added to the logits before sampling.
# * **llama.cpp**: [the server](https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md) takes ids or
#   texts; `false` instead of a number means *never*.
# * **Transformers**: [`SequenceBiasLogitsProcessor`](https://huggingface.co/docs/transformers/internal/generation_utils)
#   biases the last token of a sequence once the others are written.

# %% [markdown]
# * **vLLM**: [`SamplingParams(logit_bias=…)`](https://docs.vllm.ai/en/latest/api/vllm/sampling_params/).
# * **tiktoken**: [the tokenizer](https://github.com/openai/tiktoken) that gives the ids for OpenAI's models.

# %% [markdown]
# ## Further reading
#
# * [*The Curious Case of Neural Text Degeneration*](https://arxiv.org/abs/1904.09751): what sampling and temperature do
#   to text.
# * [*Lexically Constrained Decoding*](https://arxiv.org/abs/1704.07138): how to force words to appear, without a bias.
# * [The tokenizer tutorial of Andrej Karpathy](https://github.com/karpathy/minbpe/blob/master/lecture.md): why `Prague`
#   and ` Prague` are different tokens.

# %% [markdown]
# ## A puzzle
#
# `yes` has the probability 0.02 and `no` has 0.01; all other tokens have the rest. Which equal bias on both gives them
# 99% together?
#
# hint: The sum of both is multiplied by *e*<sup>*b*</sup>, the rest is not. Solve for *b*.
